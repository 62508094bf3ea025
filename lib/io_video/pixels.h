/*
 * pixels.h: a decoded frame as RGB, turned as the file asks.
 */
#ifndef TVLM_IO_VIDEO_PIXELS_H
#define TVLM_IO_VIDEO_PIXELS_H

#include <libavutil/frame.h>
#include <libswscale/swscale.h>

#include "texturevlm/image.h"

typedef struct video_pixels {
    struct SwsContext *scaler;
    uint8_t *rgb, *turned; /* turned: only where there is something to turn */
    size_t capacity, turned_capacity;
} video_pixels;

/* `quarters`: clockwise quarter turns, 0 .. 3. Returns 0 or FFmpeg's error. */
int video_pixels_convert(video_pixels *pixels, const AVFrame *frame, int quarters, tvlm_image *image);
void video_pixels_release(video_pixels *pixels);

#endif
