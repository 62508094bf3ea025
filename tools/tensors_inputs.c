/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/file.h"
#include "platform/stdio.h"
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "texturevlm/stack.h"
#include "video_frames.h"

/* ---- Inputs beside the pictures ---- */

static const option_spec specs[] = {
    {0, OPTION_INTEGER, "clusters", offsetof(handed_options, clusters), "N",
     "regions of each picture, for a scorer that reads channels about them (default: 50)", 1,
     TVLM_REGIONS_MAX, NULL},
};
const option_specs export_clusters_specs = OPTION_SPECS("What is known of the image", specs);

/* The export calls this before it scores a picture. */
static tvlm_status hand_in(void *user, int32_t image, tvlm_stack *stack) {
    export_inputs *const inputs = user;
    struct tool *const tool = inputs->tool;
    const tvlm_image *const picture = &inputs->pictures->images[image];
    const char *const subject = tool->subject;
    tool->subject = inputs->paths[image];
    const int code = handed_set(tool, &inputs->read, inputs->paths[image], picture->width, picture->height,
                                inputs->middle, stack);
    inputs->failed = code != TOOL_DONE;
    if (code == TOOL_DONE) {
        tool->subject = subject;
        return TVLM_OK;
    }
    return tool->status != TVLM_OK ? tool->status : TVLM_ERROR_ARGUMENT;
}

int export_inputs_set(export_inputs *inputs, const export_pictures *pictures, tvlm_export *export) {
    const char *const given = handed_given(inputs->options);
    if (given != NULL && pictures->of_video)
        return tool_usage(inputs->tool, "%s is for images; of a video hand in the frames as such", given);
    inputs->pictures = pictures;
    return tool_status(inputs->tool,
                       tvlm_export_set_inputs(
                           export, &(struct tvlm_export_inputs){.set = given != NULL ? hand_in : NULL,
                                                                .user = inputs,
                                                                .clusters = inputs->options->clusters.value,
                                                                .network = inputs->network}));
}

/* ---- Pictures ---- */

/* Recognises a video by its first bytes. Those of HEIF and AVIF images differ from those of MP4 only by the
 * brand. */
static bool is_video(const char *path) {
    static const char *const images[] = {"heic", "heix", "heim", "heis", "hevc", "hevx", "mif1",
                                         "msf1", "avif", "avis", "crx ", "jp2 ", "jpx ", "jxl "};
    unsigned char head[12] = {0};
    tvlm_file_facts facts;
    if (!tvlm_path_facts(path, &facts) || !facts.ordinary) return false; /* a pipe would lose what is read */
    FILE *const file = tvlm_stdio_open(path, "rb");
    const size_t size = file != NULL ? fread(head, 1, sizeof head, file) : 0;
    if (file != NULL) fclose(file);
    if (size < sizeof head) return false;
    if (memcmp(head, "\x1A\x45\xDF\xA3", 4) == 0) return true; /* Matroska or WebM */
    if (memcmp(head, "RIFF", 4) == 0 && memcmp(head + 8, "AVI ", 4) == 0) return true;
    if (memcmp(head + 4, "ftyp", 4) != 0) return false;
    for (size_t i = 0; i < sizeof images / sizeof *images; ++i)
        if (memcmp(head + 8, images[i], 4) == 0) return false;
    return true;
}

int export_pictures_load(struct tool *tool, char *const *paths, int count, bool among_frames,
                         export_pictures *pictures) {
    int code = TOOL_DONE;
    pictures->loaded = calloc((size_t)count, sizeof *pictures->loaded);
    pictures->images = calloc((size_t)count, sizeof *pictures->images);
    if (pictures->loaded == NULL || pictures->images == NULL) return tool_fail(tool, "no memory");
    for (int i = 0; code == TOOL_DONE && i < count; ++i) {
        tool->subject = paths[i];
        if (is_video(paths[i])) {
            code = tool_fail(tool, "%s is a video: %s", paths[i],
                             among_frames ? "with --video it is the only file"
                                          : "--video takes its frames (of the Qwen-VL models)");
            break;
        }
        code = tool_status(tool, tvlm_image_load(paths[i], &tool->log, &pictures->loaded[i]));
        if (code != TOOL_DONE) break;
        pictures->images[i] = *pictures->loaded[i];
        ++pictures->count;
    }
    if (count > 1) tool->subject = NULL; /* an error from here on may be about any of them */
    return code;
}

/* Adds a copy of a frame. The frame itself belongs to the reader, and is valid only until the next one. */
static int copy_frame(struct tool *tool, const video_frame *frame, export_pictures *pictures) {
    video_held held = {0};
    if (pictures->count == EXPORT_FRAMES_MAX)
        return tool_fail(tool, "more than %d frames; --fps and --every take fewer of them",
                         EXPORT_FRAMES_MAX);
    TOOL_TRY(video_held_copy(tool, frame, &held));
    pictures->images[pictures->count++] = held.frame.image; /* whose pixels export_pictures_release frees */
    return TOOL_DONE;
}

int export_pictures_decode(struct tool *tool, char *const *path, const sampling_options *sampling,
                           export_pictures *pictures) {
    video_frames frames = {0};
    video_sampling wanted = {0};
    video_frame frame = {0};
    int code = sampling_set(tool, sampling, &wanted);
    if (code == TOOL_DONE) code = video_frames_open(tool, path, 1, &wanted, NULL, &frames);
    if (code == TOOL_DONE && frames.library != NULL) {
        pictures->of_video = true;
        pictures->images = calloc(EXPORT_FRAMES_MAX, sizeof *pictures->images);
        if (pictures->images == NULL) code = tool_fail(tool, "no memory");
        while (code == TOOL_DONE && (code = video_frames_next(&frames, &frame)) == TOOL_DONE && !frame.end)
            code = copy_frame(tool, &frame, pictures);
        if (code == TOOL_DONE) pictures->partly = video_frames_end(&frames);
    }
    video_frames_release(&frames);
    return code;
}

void export_pictures_release(export_pictures *pictures) {
    for (int i = 0; i < pictures->count; ++i) {
        if (pictures->of_video)
            free((void *)(uintptr_t)pictures->images[i].pixels);
        else
            tvlm_image_destroy(&pictures->loaded[i]);
    }
    free(pictures->loaded);
    free(pictures->images);
    *pictures = (export_pictures){0};
}
