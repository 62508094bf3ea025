/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_overlay.h: writes annotated frames, as PNGs in a folder or as a video.
 */
#ifndef TVLM_TOOLS_VIDEO_OVERLAY_H
#define TVLM_TOOLS_VIDEO_OVERLAY_H

#include "tool.h"
#include "video_library.h"

/* Where annotated frames go: each as a PNG in a folder, or all as a video. */
typedef struct video_overlay {
    struct tool *tool;
    const char *path; /* the folder or the video; NULL: nothing is drawn */
    double rate;
    double bit_rate;              /* of a video; 0: an even quality */
    const video_library *library; /* NULL: the path is a folder */
    tvlm_video_writer *writer;    /* NULL before it is begun */
} video_overlay;

/*
 * Opens an overlay, before any work. A path that ends with '/', has no ending, or is a folder is taken for a
 * folder, which is made if it does not exist. Any other path is taken for a video.
 */
int video_overlay_open(struct tool *tool, const char *path, double rate, video_overlay *overlay);

/* The same for what must be a video, with so many bits a second. */
int video_overlay_open_video(struct tool *tool, const char *path, double rate, double bit_rate,
                             video_overlay *overlay);

/* Begins a video of so many pixels, which may refuse them. In a folder, and where the first frame began it, it does nothing. */
int video_overlay_begin(video_overlay *overlay, int32_t width, int32_t height);

/* Adds the next frame with regions of better or worse quality to a video. */
int video_overlay_add_regions(video_overlay *overlay, const tvlm_image *picture, double time,
                              const tvlm_video_region *regions, int32_t count);

/* Adds the next frame. All frames have the same size. A PNG is called frame-NNNNNN.png, with the number of
 * the frame. */
int video_overlay_add(video_overlay *overlay, const tvlm_image *picture, int64_t number, double time);

/* Completes the video. */
int video_overlay_finish(video_overlay *overlay);

/* Releases the overlay. If it was not finished, no video is left. */
void video_overlay_release(video_overlay *overlay);

#endif
