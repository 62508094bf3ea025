/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <texturevlm/io.h>

/* White between pictures, in pixels. */
#define GAP 8

/* Which token a pixel belongs to. A model of one size sees the picture in the middle of a square. */
static int32_t token_at(const struct tvlm_mtmd_picture *picture, bool square, int32_t x, int32_t y) {
    const int32_t width = (int32_t)mtmd_bitmap_get_nx(picture->bitmap),
                  height = (int32_t)mtmd_bitmap_get_ny(picture->bitmap);
    const int32_t longer = width > height ? width : height;
    const int32_t wide = square ? longer : width, high = square ? longer : height;
    const int64_t column = (int64_t)(x + (wide - width) / 2) * picture->columns / wide;
    const int64_t row = (int64_t)(y + (high - height) / 2) * picture->rows / high;
    return (int32_t)(row * picture->columns + column);
}

/* Draws a picture, in which tokens that are dropped are nearly white. */
static void draw(const struct tvlm_mtmd_picture *picture, bool square, int32_t left, int32_t all,
                 uint8_t *pixels) {
    const int32_t width = (int32_t)mtmd_bitmap_get_nx(picture->bitmap),
                  height = (int32_t)mtmd_bitmap_get_ny(picture->bitmap);
    const unsigned char *from = mtmd_bitmap_get_data(picture->bitmap);
    for (int32_t y = 0; y < height; ++y)
        for (int32_t x = 0; x < width; ++x)
            for (int32_t c = 0; c < 3; ++c) {
                const int value = from[((size_t)y * (size_t)width + (size_t)x) * 3 + (size_t)c];
                pixels[((size_t)y * (size_t)all + (size_t)(left + x)) * 3 + (size_t)c] =
                    (uint8_t)(picture->kept[token_at(picture, square, x, y)] ? value
                                                                             : 255 - (255 - value) / 8);
            }
}

int program_may_write(const char *path) {
    FILE *there = fopen(path, "rb"), *file = fopen(path, "ab");
    const int reason = errno;
    if (there != NULL) fclose(there);
    if (file == NULL) return program_fail("cannot write %s: %s", path, strerror(reason));
    fclose(file);
    if (there == NULL) remove(path);
    return 0;
}

int program_overlay(const tvlm_mtmd_plan *plan, bool square, const char *path) {
    struct tvlm_mtmd_plan_info info;
    struct tvlm_mtmd_picture picture;
    int32_t width = 0, height = 0, left = 0;
    if (tvlm_mtmd_plan_get_info(plan, &info) != TVLM_OK) return 1;
    for (int32_t i = 0; i < info.pictures && tvlm_mtmd_plan_picture(plan, i, &picture) == TVLM_OK; ++i) {
        const int32_t high = (int32_t)mtmd_bitmap_get_ny(picture.bitmap);
        width += (int32_t)mtmd_bitmap_get_nx(picture.bitmap) + (i > 0 ? GAP : 0);
        height = high > height ? high : height;
    }
    const size_t bytes = (size_t)width * (size_t)height * 3;
    if (bytes == 0) return program_fail("%s: there is no picture to draw", path);
    uint8_t *pixels = malloc(bytes);
    if (pixels == NULL) return program_fail("%s: no memory for the picture", path);
    memset(pixels, 255, bytes);
    for (int32_t i = 0; i < info.pictures && tvlm_mtmd_plan_picture(plan, i, &picture) == TVLM_OK; ++i) {
        draw(&picture, square, left, width, pixels);
        left += (int32_t)mtmd_bitmap_get_nx(picture.bitmap) + GAP;
    }
    const tvlm_status status = tvlm_png_write(path, width, height, 3, pixels, tvlm_log_stderr());
    free(pixels);
    return status != TVLM_OK;
}
