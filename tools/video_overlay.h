/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_overlay.h: annotated frames, as a PNG each in a folder, or as a video.
 */
#ifndef TVLM_TOOLS_VIDEO_OVERLAY_H
#define TVLM_TOOLS_VIDEO_OVERLAY_H

#include "canvas.h"
#include "tool.h"
#include "video_library.h"

typedef struct video_overlay {
    struct tool *tool;
    const char *path; /* NULL: nothing is drawn */
    double rate;
    const video_library *library; /* NULL: a folder */
    tvlm_video_writer *writer;    /* from the first frame on */
} video_overlay;

/*
 * Before any work: a path that ends with '/', has no ending or is a folder is a folder, which is made if it
 * is not there; any other is a video.
 */
int video_overlay_open(struct tool *tool, const char *path, double rate, video_overlay *overlay);

/* The next frame; all have one size. PNGs are called frame-NNNNNN.png by the number. */
int video_overlay_add(video_overlay *overlay, const struct canvas *canvas, int64_t number, double time);

/* Completes the video. */
int video_overlay_finish(video_overlay *overlay);

/* Without finish before it, no video is left. */
void video_overlay_release(video_overlay *overlay);

#endif
