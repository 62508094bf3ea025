/* SPDX-License-Identifier: Apache-2.0 */
#include "channels.h"

#include <stdio.h>
#include <stdlib.h>

#include "files.h"
#include "json.h"
#include "platform/file.h"
#include "progress.h"
#include "texturevlm/io.h"

enum { PATH_BYTES = 4096, STEM_BYTES = 256 };

/* How many files get their final names together. They are few, so that a program that is killed can remove
 * its temporary files. */
enum { FILES_TOGETHER = 32 };

/* Keeps the files that are complete. If the device is lost afterwards, the command still begins anew, and
 * makes these files again. */
static int keep_files(struct tool *tool) {
    const int code = tool_status(tool, tvlm_files_commit(&tool->log));
    tvlm_files_begin();
    return code;
}

/* What a run works with. */
typedef struct run {
    struct tool *tool;
    const ragged_options *options;
    int count;
    char *const *paths;
    char (*outputs)[PATH_BYTES]; /* [count] */
    tvlm_image **images;         /* [count] */
    int32_t (*sizes)[2];         /* [count] */
    tvlm_device *device;
    tvlm_stack *stack;
    tvlm_packed *packed;
    int32_t channels;
} run;

/* Makes the names of all outputs, so that two images of one name are noticed before anything is made. */
static int name_outputs(run *r) {
    tvlm_file_facts facts;
    int code = TOOL_DONE;
    if (!tvlm_path_facts(r->options->folder, &facts) || !facts.folder)
        return tool_fail(r->tool, "--ragged: there is no folder %s", r->options->folder);
    for (int i = 0; code == TOOL_DONE && i < r->count; ++i) {
        char stem[STEM_BYTES];
        tool_stem(r->paths[i], stem, sizeof stem);
        if (snprintf(r->outputs[i], PATH_BYTES, "%s/%s.npy", r->options->folder, stem) >= PATH_BYTES)
            return tool_fail(r->tool, "%.64s...: the path is too long", r->options->folder);
        code = files_output(r->tool, "--output", r->outputs[i]);
    }
    return code;
}

/* How many levels an image has: the longer side is halved down to 1. */
static int32_t levels_of(const int32_t size[2]) {
    int32_t side = size[0] > size[1] ? size[0] : size[1], levels = 1;
    for (; side > 1; side /= 2) ++levels;
    return levels;
}

static int load_images(run *r) {
    int code = TOOL_DONE;
    for (int i = 0; code == TOOL_DONE && i < r->count; ++i) {
        r->tool->subject = r->paths[i];
        code = tool_status(r->tool, tvlm_image_load(r->paths[i], &r->tool->log, &r->images[i]));
        if (code != TOOL_DONE) break;
        r->sizes[i][0] = r->images[i]->width;
        r->sizes[i][1] = r->images[i]->height;
        code = channels_check_level(r->tool, r->options->level, r->sizes[i], levels_of(r->sizes[i]));
    }
    if (code == TOOL_DONE) r->tool->subject = NULL;
    return code;
}

static int make_batch(run *r) {
    const struct tvlm_stack_params params = {.layout = r->options->layout,
                                             .images = r->count,
                                             .format = (tvlm_format)r->options->common->format.value,
                                             .network = r->options->network,
                                             .sizes = r->sizes[0]};
    int code = tool_open_device(r->tool, r->options->common, &r->device);
    if (code == TOOL_DONE) code = tool_status(r->tool, tvlm_stack_create(r->device, &params, &r->stack));
    if (code == TOOL_DONE) code = r->options->prepare(r->tool, r->options->values, r->stack);
    for (int i = 0; code == TOOL_DONE && i < r->count; ++i) {
        code = tool_status(r->tool, tvlm_stack_set_image(r->stack, i, r->images[i]));
        tvlm_image_destroy(&r->images[i]);
    }
    if (code == TOOL_DONE)
        code = tool_status(
            r->tool,
            tvlm_stack_pack(r->stack, tvlm_pack_params(.level = (float)r->options->level), &r->packed));
    return code;
}

static int write_image(run *r, int32_t index) {
    int32_t width = 0, height = 0;
    tvlm_npy_writer *writer = NULL;
    int code = tool_status(r->tool, tvlm_packed_size_of(r->packed, index, &width, &height));
    if (code != TOOL_DONE) return code;
    const int64_t shape[] = {r->channels, height, width};
    const size_t count = (size_t)r->channels * (size_t)width * (size_t)height;
    float *const planes = malloc(count * sizeof *planes);
    if (planes == NULL) code = tool_fail(r->tool, "no memory for planes of %d x %d", (int)width, (int)height);
    if (code == TOOL_DONE) code = tool_status(r->tool, tvlm_packed_read(r->packed, index, count, planes));
    if (code == TOOL_DONE)
        code = tool_status(r->tool, tvlm_npy_writer_open(r->outputs[index], TVLM_ELEMENT_F32, 3, shape,
                                                         &r->tool->log, &writer));
    if (code == TOOL_DONE) code = tool_status(r->tool, tvlm_npy_writer_append(writer, planes, count));
    if (code == TOOL_DONE) code = tool_status(r->tool, tvlm_npy_writer_finish(writer));
    tvlm_npy_writer_destroy(&writer);
    free(planes);
    return code;
}

static int write_images(run *r) {
    int code = TOOL_DONE;
    progress_start("images", r->count);
    for (int i = 0; code == TOOL_DONE && i < r->count; ++i) {
        code = write_image(r, i);
        if (code == TOOL_DONE && (i + 1) % FILES_TOGETHER == 0) code = keep_files(r->tool);
        progress_step(i + 1);
    }
    progress_clear();
    return code;
}

static int print_summary(run *r) {
    int32_t count = 0;
    const int32_t *const channels = tvlm_stack_channels(r->stack, &count);
    json_writer json = {0};
    json_open_object(&json, NULL, false);
    json_open_array(&json, "images", false);
    for (int i = 0; i < r->count; ++i) {
        json_open_object(&json, NULL, true);
        json_string(&json, "path", r->paths[i]);
        json_integer(&json, "width", r->sizes[i][0]);
        json_integer(&json, "height", r->sizes[i][1]);
        json_string(&json, "output", r->outputs[i]);
        json_close(&json);
    }
    json_close(&json);
    json_device(&json, r->device);
    json_open_array(&json, "channels", true);
    for (int32_t i = 0; i < count; ++i) {
        tvlm_channel_info info = {.name = ""};
        (void)tvlm_stack_get_channel_info(r->stack, channels[i], &info); /* the stack has it */
        json_string(&json, NULL, info.name);
    }
    json_close(&json);
    return tool_print_json(r->tool, &json);
}

static int run_all(run *r) {
    int code = name_outputs(r);
    if (code == TOOL_DONE) code = load_images(r);
    if (code == TOOL_DONE) code = make_batch(r);
    if (code != TOOL_DONE) return code;
    (void)tvlm_stack_channels(r->stack, &r->channels);
    code = write_images(r);
    return code == TOOL_DONE && r->options->common->json > 0 ? print_summary(r) : code;
}

int generate_ragged(struct tool *tool, const ragged_options *options, int count, char *const *paths) {
    const size_t images = (size_t)count;
    run r = {.tool = tool,
             .options = options,
             .count = count,
             .paths = paths,
             .outputs = calloc(images, sizeof *r.outputs),
             .images = calloc(images, sizeof(tvlm_image *)),
             .sizes = calloc(images, sizeof *r.sizes)};
    const bool allocated = r.outputs != NULL && r.images != NULL && r.sizes != NULL;
    const int code = allocated ? run_all(&r) : tool_fail(tool, "no memory for %d images", count);
    for (int i = 0; r.images != NULL && i < count; ++i) tvlm_image_destroy(&r.images[i]);
    tvlm_packed_destroy(&r.packed);
    tvlm_stack_destroy(&r.stack);
    tvlm_device_destroy(&r.device);
    free(r.outputs);
    free(r.images);
    free(r.sizes);
    return code;
}
