/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delta_frame.c: keeps a frame on the host, and compares the next one with it.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "stack/delta.h"
#include "stack/inside.h"

tvlm_status tvlm_delta_prepare(tvlm_stack *stack, tvlm_delta **delta) {
    if (stack->delta == NULL) {
        tvlm_delta *made = tvlm_allocate(1, sizeof *made);
        if (made != NULL) made->frames = tvlm_allocate((size_t)stack->images, sizeof *made->frames);
        if (made == NULL || made->frames == NULL) {
            free(made);
            return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory to keep frames");
        }
        stack->delta = made;
    }
    *delta = stack->delta;
    return TVLM_OK;
}

/* These functions return whether any values of a run differ by more than a limit. Their loops have no branch,
 * so that the compiler can vectorise them. */
static bool differ_u8(const uint8_t *a, const uint8_t *b, size_t count, int limit) {
    int most = 0;
    for (size_t i = 0; i < count; ++i) {
        const int away = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        most = away > most ? away : most;
    }
    return most > limit;
}

static bool differ_u16(const unsigned char *a, const unsigned char *b, size_t count, int limit) {
    int most = 0;
    for (size_t i = 0; i < count; ++i) {
        /* Rows may begin at any byte, so values are copied. */
        uint16_t x, y;
        memcpy(&x, a + 2 * i, sizeof x);
        memcpy(&y, b + 2 * i, sizeof y);
        const int away = x > y ? x - y : y - x;
        most = away > most ? away : most;
    }
    return most > limit;
}

/* A value as the source takes it: clamped to [0, 1], and 0 for NaN. */
static float unit(const unsigned char *at) {
    float value;
    memcpy(&value, at, sizeof value);
    return value >= 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f;
}

static bool differ_f32(const unsigned char *a, const unsigned char *b, size_t count, float threshold) {
    float most = 0.0f;
    for (size_t i = 0; i < count; ++i) {
        const float away = fabsf(unit(a + 4 * i) - unit(b + 4 * i));
        most = away > most ? away : most;
    }
    return most > threshold;
}

/* Returns the largest difference, in steps, that does not exceed the threshold. A caller may have written the
 * threshold as n / steps, which rounding can make slightly smaller, so the threshold counts as slightly
 * more. */
static int limit_of(float threshold, int steps) {
    return (int)floor((double)threshold * steps + 1e-4);
}

static bool differ(const unsigned char *a, const unsigned char *b, size_t bytes, tvlm_pixel_type type,
                   float threshold) {
    if (threshold <= 0.0f) return memcmp(a, b, bytes) != 0;
    switch (type) {
    case TVLM_PIXEL_U16: return differ_u16(a, b, bytes / 2, limit_of(threshold, 65535));
    case TVLM_PIXEL_F32: return differ_f32(a, b, bytes / 4, threshold);
    default: return differ_u8(a, b, bytes, limit_of(threshold, 255));
    }
}

/* How many columns of pixels a column of tiles has. */
static int32_t tile_width(const tvlm_tiles *tiles, int32_t column) {
    const int32_t left = tiles->width - column * tiles->side;
    return left < tiles->side ? left : tiles->side;
}

bool tvlm_delta_fits(const tvlm_delta_frame *frame, uint64_t changes, const tvlm_delta_pixels *pixels) {
    return frame->of > 0 && frame->of == changes && frame->channels == pixels->channels &&
           frame->type == pixels->type;
}

/* Compares row by row, in the order in which rows lie in memory. A tile that is known to differ is not
 * compared any further. */
void tvlm_delta_compare(const tvlm_delta_frame *frame, const tvlm_delta_pixels *pixels, float threshold,
                        const tvlm_tiles *tiles, uint8_t *changed, int32_t *count) {
    const size_t step = (size_t)tiles->side * pixels->pixel_bytes;
    memset(changed, 0, (size_t)tiles->columns * (size_t)tiles->rows);
    *count = 0;
    for (int32_t y = 0; y < pixels->height; ++y) {
        uint8_t *row = changed + (size_t)(y / tiles->side) * (size_t)tiles->columns;
        const unsigned char *now = pixels->pixels + (size_t)y * pixels->row_stride;
        const unsigned char *before = frame->pixels + (size_t)y * pixels->row;
        for (int32_t column = 0; column < tiles->columns; ++column) {
            const size_t at = (size_t)column * step;
            const size_t bytes = (size_t)tile_width(tiles, column) * pixels->pixel_bytes;
            if (row[column] || !differ(now + at, before + at, bytes, pixels->type, threshold)) continue;
            row[column] = 1;
            ++*count;
        }
    }
}

tvlm_status tvlm_delta_keep(const tvlm_log *log, tvlm_delta_frame *frame, uint64_t changes,
                            const tvlm_delta_pixels *pixels) {
    const size_t bytes = pixels->row * (size_t)pixels->height; /* the image's check showed that it fits */
    frame->of = 0;
    if (frame->bytes < bytes) {
        free(frame->pixels);
        frame->bytes = 0;
        frame->pixels = tvlm_allocate(bytes, 1);
        if (frame->pixels == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to keep a frame");
        frame->bytes = bytes;
    }
    for (size_t y = 0; y < (size_t)pixels->height; ++y)
        memcpy(frame->pixels + y * pixels->row, pixels->pixels + y * pixels->row_stride, pixels->row);
    frame->channels = pixels->channels;
    frame->type = pixels->type;
    frame->of = changes;
    return TVLM_OK;
}

/* If `pack` is set, copies the changed tiles out of an image so that they lie one after the other; otherwise
 * copies them back into an image. */
static void copy_tiles(const tvlm_delta_pixels *pixels, const tvlm_tiles *tiles, size_t row_stride,
                       const unsigned char *from, unsigned char *to, bool pack) {
    const size_t side = (size_t)tiles->side, stride = side * pixels->pixel_bytes;
    size_t tile = 0;
    for (int32_t row = 0; row < tiles->rows; ++row)
        for (int32_t column = 0; column < tiles->columns; ++column) {
            if (!tiles->changed[(size_t)row * (size_t)tiles->columns + (size_t)column]) continue;
            const size_t bytes = (size_t)tile_width(tiles, column) * pixels->pixel_bytes;
            const size_t top = (size_t)row * side, left = (size_t)column * stride;
            for (size_t y = 0; y < side && top + y < (size_t)pixels->height; ++y) {
                const size_t spread = (top + y) * row_stride + left, packed = tile + y * stride;
                memcpy(to + (pack ? packed : spread), from + (pack ? spread : packed), bytes);
            }
            tile += side * stride;
        }
}

void tvlm_delta_pack(const tvlm_delta_pixels *pixels, const tvlm_tiles *tiles, unsigned char *packed) {
    copy_tiles(pixels, tiles, pixels->row_stride, pixels->pixels, packed, true);
}

void tvlm_delta_take(tvlm_delta_frame *frame, uint64_t changes, const tvlm_delta_pixels *pixels,
                     const tvlm_tiles *tiles, const unsigned char *packed) {
    frame->of = changes;
    copy_tiles(pixels, tiles, pixels->row, packed, frame->pixels, false);
}
