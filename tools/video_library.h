/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_library.h: loads the library texturevlm-video, when the first video is met. If it were linked, every
 * command would have to load FFmpeg's hundred libraries.
 */
#ifndef TVLM_TOOLS_VIDEO_LIBRARY_H
#define TVLM_TOOLS_VIDEO_LIBRARY_H

#include "texturevlm/io_video.h"
#include "tool.h"

/* The functions of io_video.h, with the same types. */
typedef struct video_library {
    tvlm_status (*reader_open)(const char *, const struct tvlm_video_reader_params *, tvlm_video_reader **);
    void (*reader_destroy)(tvlm_video_reader **);
    tvlm_status (*reader_get_info)(const tvlm_video_reader *, tvlm_video_info *);
    tvlm_status (*reader_next)(tvlm_video_reader *, tvlm_video_frame *);
    bool (*writable)(const char *);
    tvlm_status (*writer_open)(const char *, int32_t, int32_t, const struct tvlm_video_writer_params *,
                               tvlm_video_writer **);
    tvlm_status (*writer_set_regions)(tvlm_video_writer *, const tvlm_video_region *, int32_t);
    tvlm_status (*writer_add)(tvlm_video_writer *, const tvlm_image *, double);
    tvlm_status (*writer_finish)(tvlm_video_writer *);
    void (*writer_destroy)(tvlm_video_writer **);
    void (*remove_temporaries)(void);
} video_library;

/* Loads the library once. It is never unloaded, since FFmpeg's libraries do not support that. `what` names
 * what needs the library, for the error. */
int video_library_load(struct tool *tool, const char *what, const video_library **library);

#endif
