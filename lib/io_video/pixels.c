/* SPDX-License-Identifier: Apache-2.0 */
#include "io_video/pixels.h"

#include <errno.h>
#include <libavutil/error.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* swscale writes a few bytes beyond a row. */
#define SLACK 64

static bool reserve(uint8_t **bytes, size_t *capacity, size_t size) {
    if (*capacity >= size) return true;
    uint8_t *const larger = realloc(*bytes, size);
    if (larger == NULL) return false;
    *bytes = larger;
    *capacity = size;
    return true;
}

/* Tells swscale how the frame's colours are coded, as far as the frame says it. The rest swscale guesses. */
static void set_colors(struct SwsContext *scaler, const AVFrame *frame) {
    const bool full = frame->color_range == AVCOL_RANGE_JPEG || frame->format == AV_PIX_FMT_YUVJ420P ||
                      frame->format == AV_PIX_FMT_YUVJ422P || frame->format == AV_PIX_FMT_YUVJ444P;
    const int *const table = sws_getCoefficients(
        frame->colorspace == AVCOL_SPC_UNSPECIFIED ? SWS_CS_DEFAULT : (int)frame->colorspace);
    /* This fails for formats that are RGB already. For those there is nothing to set. */
    (void)sws_setColorspaceDetails(scaler, table, full, sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, 1 << 16,
                                   1 << 16);
}

static void turn_pixels(const uint8_t *in, int32_t width, int32_t height, video_turn turn, uint8_t *out) {
    const int32_t out_width = turn.across ? height : width, out_height = turn.across ? width : height;
    for (int32_t y = 0; y < out_height; ++y) {
        for (int32_t x = 0; x < out_width; ++x) {
            const int32_t along = turn.across ? y : x, down = turn.across ? x : y;
            const int32_t from_x = turn.back_x ? width - 1 - along : along;
            const int32_t from_y = turn.back_y ? height - 1 - down : down;
            memcpy(out, in + 3 * ((size_t)from_y * (size_t)width + (size_t)from_x), 3);
            out += 3;
        }
    }
}

int video_pixels_convert(video_pixels *pixels, const AVFrame *frame, video_turn turn, tvlm_image *image) {
    const int width = frame->width, height = frame->height;
    const size_t size = 3 * (size_t)width * (size_t)height;
    pixels->scaler =
        sws_getCachedContext(pixels->scaler, width, height, (enum AVPixelFormat)frame->format, width, height,
                             AV_PIX_FMT_RGB24, SWS_BICUBIC | SWS_ACCURATE_RND, NULL, NULL, NULL);
    if (pixels->scaler == NULL) return AVERROR(ENOSYS);
    set_colors(pixels->scaler, frame);
    if (!reserve(&pixels->rgb, &pixels->capacity, size + SLACK)) return AVERROR(ENOMEM);
    uint8_t *const planes[4] = {pixels->rgb};
    const int strides[4] = {3 * width};
    const int code = sws_scale(pixels->scaler, (const uint8_t *const *)frame->data, frame->linesize, 0,
                               height, planes, strides);
    if (code < 0) return code;
    *image = (tvlm_image){
        .pixels = pixels->rgb, .width = width, .height = height, .channels = 3, .type = TVLM_PIXEL_U8};
    if (!turn.across && !turn.back_x && !turn.back_y) return 0;
    if (!reserve(&pixels->turned, &pixels->turned_capacity, size)) return AVERROR(ENOMEM);
    turn_pixels(pixels->rgb, width, height, turn, pixels->turned);
    image->pixels = pixels->turned;
    image->width = turn.across ? height : width;
    image->height = turn.across ? width : height;
    return 0;
}

void video_pixels_release(video_pixels *pixels) {
    sws_freeContext(pixels->scaler);
    free(pixels->rgb);
    free(pixels->turned);
}
