/* SPDX-License-Identifier: Apache-2.0 */
#include "video_library.h"

#include <dlfcn.h>
#include <string.h>

#include "signals.h"

#ifdef TVLM_VIDEO_LIBRARY

/* Copies a pointer to a function byte by byte, since C has no cast for it. */
static bool find(void *handle, const char *name, void *function) {
    void *const symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

int video_library_load(struct tool *tool, const char *what, const video_library **library) {
    static video_library loaded;
    video_library found = {0};
    if (loaded.reader_open != NULL) *library = &loaded;
    if (loaded.reader_open != NULL) return TOOL_DONE;
    void *const handle = dlopen(TVLM_VIDEO_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) return tool_fail(tool, "%s: needs texturevlm-video: %s", what, dlerror());
    if (!find(handle, "tvlm_video_reader_open", &found.reader_open) ||
        !find(handle, "tvlm_video_reader_destroy", &found.reader_destroy) ||
        !find(handle, "tvlm_video_reader_get_info", &found.reader_get_info) ||
        !find(handle, "tvlm_video_reader_next", &found.reader_next) ||
        !find(handle, "tvlm_video_writable", &found.writable) ||
        !find(handle, "tvlm_video_writer_open", &found.writer_open) ||
        !find(handle, "tvlm_video_writer_set_regions", &found.writer_set_regions) ||
        !find(handle, "tvlm_video_writer_add", &found.writer_add) ||
        !find(handle, "tvlm_video_writer_finish", &found.writer_finish) ||
        !find(handle, "tvlm_video_writer_destroy", &found.writer_destroy) ||
        !find(handle, "tvlm_video_remove_temporaries", &found.remove_temporaries))
        return tool_fail(tool, "%s: " TVLM_VIDEO_LIBRARY " is of another version: %s", what, dlerror());
    loaded = found;
    signals_remove_also(loaded.remove_temporaries);
    *library = &loaded;
    return TOOL_DONE;
}

#else

int video_library_load(struct tool *tool, const char *what, const video_library **library) {
    (void)library;
    return tool_fail(tool, "%s: this tvlm was built without FFmpeg's libraries and knows no videos", what);
}

#endif
