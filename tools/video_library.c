/* SPDX-License-Identifier: Apache-2.0 */
#include "video_library.h"

#include "platform/ending.h"
#include "platform/library.h"

#ifdef TVLM_VIDEO_LIBRARY

static int fail(struct tool *tool, const char *what, const char *how) {
    char why[512];
    tvlm_library_explain(why, sizeof why);
    return tool_fail(tool, "%s: %s: %s", what, how, why);
}

int video_library_load(struct tool *tool, const char *what, const video_library **library) {
    static video_library loaded;
    video_library found = {0};
    if (loaded.reader_open != NULL) *library = &loaded;
    if (loaded.reader_open != NULL) return TOOL_DONE;
    void *const handle = tvlm_library_open(TVLM_VIDEO_LIBRARY);
    if (handle == NULL) return fail(tool, what, "needs texturevlm-video");
    if (!tvlm_library_find(handle, "tvlm_video_reader_open", &found.reader_open) ||
        !tvlm_library_find(handle, "tvlm_video_reader_destroy", &found.reader_destroy) ||
        !tvlm_library_find(handle, "tvlm_video_reader_get_info", &found.reader_get_info) ||
        !tvlm_library_find(handle, "tvlm_video_reader_next", &found.reader_next) ||
        !tvlm_library_find(handle, "tvlm_video_writable", &found.writable) ||
        !tvlm_library_find(handle, "tvlm_video_writer_open", &found.writer_open) ||
        !tvlm_library_find(handle, "tvlm_video_writer_set_regions", &found.writer_set_regions) ||
        !tvlm_library_find(handle, "tvlm_video_writer_add", &found.writer_add) ||
        !tvlm_library_find(handle, "tvlm_video_writer_finish", &found.writer_finish) ||
        !tvlm_library_find(handle, "tvlm_video_writer_destroy", &found.writer_destroy) ||
        !tvlm_library_find(handle, "tvlm_video_remove_temporaries", &found.remove_temporaries))
        return fail(tool, what, TVLM_VIDEO_LIBRARY " is of another version");
    loaded = found;
    tvlm_ending_remove_also(loaded.remove_temporaries);
    *library = &loaded;
    return TOOL_DONE;
}

#else

int video_library_load(struct tool *tool, const char *what, const video_library **library) {
    (void)library;
    return tool_fail(tool, "%s: this tvlm was built without FFmpeg's libraries and knows no videos", what);
}

#endif
