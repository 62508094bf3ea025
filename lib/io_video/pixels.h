/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pixels.h: a decoded frame as RGB, turned as the file asks.
 */
#ifndef TVLM_IO_VIDEO_PIXELS_H
#define TVLM_IO_VIDEO_PIXELS_H

#include <libavutil/frame.h>
#include <libswscale/swscale.h>
#include <stdbool.h>

#include "texturevlm/image.h"

/* How what is shown lies in what is stored: the pixel at x, y is read at x, y, or at y, x (across), which are
 * then counted from the other side (back_x, back_y). */
typedef struct video_turn {
    bool across, back_x, back_y;
} video_turn;

typedef struct video_pixels {
    struct SwsContext *scaler;
    uint8_t *rgb, *turned; /* turned: only where there is something to turn */
    size_t capacity, turned_capacity;
} video_pixels;

/* Returns 0 or FFmpeg's error. */
int video_pixels_convert(video_pixels *pixels, const AVFrame *frame, video_turn turn, tvlm_image *image);
void video_pixels_release(video_pixels *pixels);

#endif
