/* SPDX-License-Identifier: Apache-2.0 */
#include "video_overlay.h"

#include <stdio.h>
#include <string.h>

#include "platform/file.h"
#include "texturevlm/io.h"
#include "video_files.h"

static bool names_folder(const char *path) {
    tvlm_file_facts facts;
    const char *const slash = strrchr(path, '/');
    if (tvlm_path_facts(path, &facts)) return facts.folder;
    return (slash != NULL && slash[1] == '\0') || strchr(slash != NULL ? slash + 1 : path, '.') == NULL;
}

/* Loads what writes the video. `hint` follows the refusal of a name that has no video's ending. */
static int load_library(video_overlay *overlay, const char *hint) {
    TOOL_TRY(video_library_load(overlay->tool, overlay->path, &overlay->library));
    if (overlay->library->writable(overlay->path)) return TOOL_DONE;
    return tool_fail(overlay->tool, "%s: there is no video format of that ending%s", overlay->path, hint);
}

int video_overlay_open(struct tool *tool, const char *path, double rate, video_overlay *overlay) {
    *overlay = (video_overlay){.tool = tool, .path = path, .rate = rate};
    if (path == NULL) return TOOL_DONE;
    if (names_folder(path)) return video_folder_make(tool, path);
    TOOL_TRY(files_output(tool, "--overlay", path));
    return load_library(overlay, " (for PNGs name a folder)");
}

int video_overlay_open_video(struct tool *tool, const char *path, double rate, double bit_rate,
                             video_overlay *overlay) {
    *overlay = (video_overlay){.tool = tool, .path = path, .rate = rate, .bit_rate = bit_rate};
    return path != NULL ? load_library(overlay, "") : TOOL_DONE;
}

static int add_picture(video_overlay *overlay, const tvlm_image *picture, int64_t number) {
    char path[4096];
    const size_t length = strlen(overlay->path);
    const int written = snprintf(path, sizeof path, "%s%sframe-%06lld.png", overlay->path,
                                 overlay->path[length - 1] == '/' ? "" : "/", (long long)number);
    if (written >= (int)sizeof path) return tool_fail(overlay->tool, "%.64s...: the path is too long", path);
    TOOL_TRY(files_output(overlay->tool, "--overlay", path));
    return tool_status(overlay->tool, tvlm_png_write(path, picture->width, picture->height, 3,
                                                     picture->pixels, &overlay->tool->log));
}

int video_overlay_begin(video_overlay *overlay, int32_t width, int32_t height) {
    const struct tvlm_video_writer_params params = {
        .rate = overlay->rate, .bit_rate = overlay->bit_rate, .log = &overlay->tool->log};
    if (overlay->library == NULL || overlay->writer != NULL) return TOOL_DONE;
    return tool_status(overlay->tool, overlay->library->writer_open(overlay->path, width, height, &params,
                                                                    &overlay->writer));
}

int video_overlay_add_regions(video_overlay *overlay, const tvlm_image *picture, double time,
                              const tvlm_video_region *regions, int32_t count) {
    TOOL_TRY(video_overlay_begin(overlay, picture->width, picture->height));
    TOOL_TRY(
        tool_status(overlay->tool, overlay->library->writer_set_regions(overlay->writer, regions, count)));
    return tool_status(overlay->tool, overlay->library->writer_add(overlay->writer, picture, time));
}

int video_overlay_add(video_overlay *overlay, const tvlm_image *picture, int64_t number, double time) {
    if (overlay->library == NULL) return add_picture(overlay, picture, number);
    TOOL_TRY(video_overlay_begin(overlay, picture->width, picture->height));
    return tool_status(overlay->tool, overlay->library->writer_add(overlay->writer, picture, time));
}

int video_overlay_finish(video_overlay *overlay) {
    if (overlay->writer == NULL) return TOOL_DONE;
    return tool_status(overlay->tool, overlay->library->writer_finish(overlay->writer));
}

void video_overlay_release(video_overlay *overlay) {
    if (overlay->library != NULL) overlay->library->writer_destroy(&overlay->writer);
}
