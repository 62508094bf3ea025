/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ink.c: the range of colours in each block: of the texels around it those are taken that touch it.
 */
#include <math.h>

#include "reference/reference.h"
#include "reference/texture.h"

enum { CHANNELS = 3, LARGEST = 4 /* the byte of the largest r */ };

/* Whether texel i of `side`, of which all cover `size` pixels, touches the pixels from `begin` to `end`. */
static bool touches(int32_t i, int32_t side, int32_t size, int32_t begin, int32_t end) {
    /* In pixels times `side`, which are whole numbers. */
    const int64_t first = (int64_t)i * size, after = (int64_t)(i + 1) * size;
    return first < (int64_t)end * side && after > (int64_t)begin * side;
}

static unsigned char byte_of(double value) {
    return (unsigned char)round(255.0 * fmin(fmax(value, 0.0), 1.0));
}

static int32_t smaller(int32_t a, int32_t b) {
    return a < b ? a : b;
}

/* One axis of a block: its pixels, and texels among which all are that touch it. */
typedef struct span {
    int32_t side, size, begin, end, first, last;
} span;

static span span_of(int32_t side, int32_t size, int32_t begin) {
    const int32_t end = smaller(begin + TVLM_INK_BLOCK, size);
    const int32_t first = (int32_t)((int64_t)begin * side / size) - 1,
                  last = (int32_t)((int64_t)end * side / size) + 1;
    return (span){side, size, begin, end, first < 0 ? 0 : first, smaller(last, side - 1)};
}

static bool is_in(const span *s, int32_t i) {
    return touches(i, s->side, s->size, s->begin, s->end);
}

static void look(const tvlm_texture *source, int32_t image, int32_t left, int32_t top, unsigned char *out) {
    const int32_t level = smaller(TVLM_INK_LEVEL, source->levels - 1);
    const span across = span_of(tvlm_level_side(source->width, level), source->width, left);
    const span down = span_of(tvlm_level_side(source->height, level), source->height, top);
    double least[CHANNELS] = {1.0, 1.0, 1.0}, largest[CHANNELS] = {0.0, 0.0, 0.0};
    for (int32_t y = down.first; y <= down.last; ++y)
        for (int32_t x = across.first; x <= across.last; ++x) {
            const float *const texel =
                tvlm_reference_fetch(source, level, reference_slice(source, image, 0), x, y);
            if (!is_in(&across, x) || !is_in(&down, y)) continue;
            for (int c = 0; c < CHANNELS; ++c) {
                least[c] = fmin(least[c], (double)texel[c]);
                largest[c] = fmax(largest[c], (double)texel[c]);
            }
        }
    for (int c = 0; c < CHANNELS; ++c) {
        out[c] = byte_of(least[c]);
        out[LARGEST + c] = byte_of(largest[c]);
    }
    out[CHANNELS] = out[LARGEST + CHANNELS] = 0;
}

tvlm_status tvlm_reference_ink(tvlm_device *device, const tvlm_texture *source, int32_t image,
                               tvlm_buffer *blocks, size_t offset) {
    unsigned char *out = (unsigned char *)reference_data(blocks) + offset;
    (void)device;
    for (int32_t top = 0; top < source->height; top += TVLM_INK_BLOCK)
        for (int32_t left = 0; left < source->width; left += TVLM_INK_BLOCK, out += TVLM_INK_BYTES)
            look(source, image, left, top, out);
    return TVLM_OK;
}
