/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pixels.h: converts a decoded frame to RGB, and turns it as the file asks.
 */
#ifndef TVLM_IO_VIDEO_PIXELS_H
#define TVLM_IO_VIDEO_PIXELS_H

#include <libavutil/frame.h>
#include <libswscale/swscale.h>
#include <stdbool.h>

#include "texturevlm/image.h"

/* How the picture that is shown lies in the one that is stored. */
typedef struct video_turn {
    bool across; /* the pixel that is shown at x, y is stored at y, x */
    bool back_x; /* the column that is read is counted from the right */
    bool back_y; /* the row that is read is counted from below */
} video_turn;

typedef struct video_pixels {
    struct SwsContext *scaler;
    uint8_t *rgb;    /* the pixels as they are stored */
    uint8_t *turned; /* the pixels as they are shown; NULL as long as there is nothing to turn */
    size_t capacity, turned_capacity;
} video_pixels;

/*
 * Converts a frame to *image. The image's pixels belong to `pixels`, and are valid until the next call.
 * Returns 0 or FFmpeg's error.
 */
int video_pixels_convert(video_pixels *pixels, const AVFrame *frame, video_turn turn, tvlm_image *image);

void video_pixels_release(video_pixels *pixels);

#endif
