/* SPDX-License-Identifier: Apache-2.0 */
#include "video_files.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/file.h"
#include "platform/stdio.h"
#include "texturevlm/io_flow.h"

#define UNKNOWN 1e9f /* larger components stand for unknown vectors, as io_flow.h says */

/* ---- Folders ---- */

int video_folder_check(struct tool *tool, const char *path) {
    tvlm_file_facts facts;
    if (path == NULL) return TOOL_DONE;
    if (!tvlm_path_facts(path, &facts)) return tool_fail(tool, "%s: %s", path, strerror(errno));
    return facts.folder ? TOOL_DONE : tool_fail(tool, "%s: is not a folder", path);
}

int video_folder_make(struct tool *tool, const char *path) {
    if (!tvlm_folder_make(path, false) && errno != EEXIST)
        return tool_fail(tool, "%s: cannot be made: %s", path, strerror(errno));
    const int code = video_folder_check(tool, path);
    if (code == TOOL_DONE && !tvlm_path_writable(path))
        return tool_fail(tool, "%s: cannot be written to", path);
    return code;
}

bool video_file_name(const char *folder, const char *ending, const video_frame *frame, bool video, char *path,
                     size_t size) {
    char stem[512];
    tool_stem(frame->path, stem, sizeof stem);
    if (video) snprintf(stem, sizeof stem, "frame-%06lld", (long long)frame->number);
    const int length = snprintf(path, size, "%s/%s.%s", folder, stem, ending);
    return length > 0 && (size_t)length < size;
}

/* ---- Flow ---- */

static void take_vectors(const tvlm_flo *file, float scale_x, float scale_y, float *values) {
    const size_t count = (size_t)file->width * (size_t)file->height;
    for (size_t i = 0; i < count; ++i) {
        const float u = file->vectors[2 * i], v = file->vectors[2 * i + 1];
        const bool known = fabsf(u) <= UNKNOWN && fabsf(v) <= UNKNOWN; /* false also for NaN */
        values[3 * i] = known ? u * scale_x : 0.0f;
        values[3 * i + 1] = known ? v * scale_y : 0.0f;
        values[3 * i + 2] = known ? 1.0f : 0.0f;
    }
}

int video_flow_read(struct tool *tool, const char *path, const tvlm_image *image, int32_t width,
                    int32_t height, video_flow *flow) {
    tvlm_flo *file = NULL;
    int code = tool_status(tool, tvlm_flo_read(path, &tool->log, &file));
    if (code == TOOL_DONE && (file->width != image->width || file->height != image->height))
        code = tool_fail(tool, "%s: %d x %d vectors for a frame of %d x %d pixels", path, (int)file->width,
                         (int)file->height, (int)image->width, (int)image->height);
    const size_t count = code == TOOL_DONE ? 3 * (size_t)file->width * (size_t)file->height : 0;
    if (count > flow->capacity) {
        float *const larger = realloc(flow->values, count * sizeof *larger);
        if (larger == NULL) code = tool_fail(tool, "%s: no memory", path);
        if (larger != NULL) {
            flow->values = larger;
            flow->capacity = count;
        }
    }
    if (code == TOOL_DONE) {
        take_vectors(file, (float)width / (float)image->width, (float)height / (float)image->height,
                     flow->values);
        flow->grid = (struct tvlm_grid_input){
            .data = flow->values, .columns = file->width, .rows = file->height, .channels = 3};
    }
    tvlm_flo_destroy(&file);
    return code;
}

void video_flow_release(video_flow *flow) {
    free(flow->values);
    *flow = (video_flow){0};
}

/* ---- Features of some cells ---- */

static bool is_nan(const struct tvlm_grid_input *input, size_t at) {
    if (input->type == TVLM_VALUE_F16) return (((const uint16_t *)input->data)[at] & 0x7fff) > 0x7c00;
    return isnan(((const float *)input->data)[at]);
}

static int begin_partial(struct tool *tool, size_t cells, size_t cell_size, video_partial *partial) {
    partial->mask = malloc(cells);
    partial->values = malloc(cells * cell_size);
    if (partial->mask == NULL || partial->values == NULL) return tool_fail(tool, "no memory for features");
    memset(partial->mask, 1, cells);
    memcpy(partial->values, partial->input.data, cells * cell_size);
    partial->input.data = partial->values;
    return TOOL_DONE;
}

int video_partial_take(struct tool *tool, const struct tvlm_grid_input *input, video_partial *partial) {
    const size_t cells = (size_t)input->rows * (size_t)input->columns, channels = (size_t)input->channels;
    const size_t size = channels * (input->type == TVLM_VALUE_F16 ? sizeof(uint16_t) : sizeof(float));
    *partial = (video_partial){.input = *input};
    for (size_t i = 0; i < cells; ++i) {
        size_t c = 0;
        while (c < channels && is_nan(input, i * channels + c)) ++c;
        if (c < channels) continue;
        const int code = partial->mask == NULL ? begin_partial(tool, cells, size, partial) : TOOL_DONE;
        if (code != TOOL_DONE) return code;
        partial->mask[i] = 0;
        memset((uint8_t *)partial->values + i * size, 0, size);
    }
    return TOOL_DONE;
}

void video_partial_release(video_partial *partial) {
    free(partial->mask);
    free(partial->values);
    *partial = (video_partial){0};
}

/* ---- Masks ---- */

int video_mask_note(struct tool *tool, const char *folder, const char *frame) {
    char path[4096];
    if (!video_file_name(folder, "npy", &(video_frame){.path = frame}, false, path, sizeof path))
        return tool_fail(tool, "%.64s...: the path is too long", folder);
    return files_output(tool, "--needs", path);
}

int video_mask_write(struct tool *tool, const char *path, const tvlm_stream *stream,
                     const tvlm_stream_report *report) {
    const int64_t shape[] = {report->rows, report->columns};
    const size_t cells = (size_t)report->rows * (size_t)report->columns;
    uint8_t *const mask = malloc(cells);
    if (mask == NULL) return tool_fail(tool, "%s: no memory", path);
    int code = tool_status(tool, tvlm_stream_needs(stream, 0, cells, mask));
    if (code == TOOL_DONE)
        code = tool_status(tool, tvlm_npy_write(path, TVLM_ELEMENT_U8, 2, shape, mask, &tool->log));
    free(mask);
    return code;
}
