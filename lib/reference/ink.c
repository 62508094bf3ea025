/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ink.c: the colours of level 2 in bytes, and for each how far apart the colours of level 1 beneath it are.
 */
#include <math.h>

#include "reference/reference.h"
#include "reference/texture.h"

enum { CHANNELS = 3 };

static unsigned char byte_of(double value) {
    return (unsigned char)round(255.0 * fmin(fmax(value, 0.0), 1.0));
}

/* The largest range of r, g or b among the texels of the finer level that lie beneath texel x, y of a
 * level. */
static double range_under(const tvlm_texture *source, int32_t level, int32_t slice, int32_t x, int32_t y) {
    const int32_t wide = tvlm_level_side(source->width, level - 1),
                  to_w = tvlm_level_side(source->width, level);
    const int32_t high = tvlm_level_side(source->height, level - 1),
                  to_h = tvlm_level_side(source->height, level);
    double range = 0.0;
    for (int c = 0; c < CHANNELS; ++c) {
        double least = 1.0, largest = 0.0;
        for (int64_t j = (int64_t)y * high / to_h; j * to_h < (int64_t)(y + 1) * high; ++j)
            for (int64_t i = (int64_t)x * wide / to_w; i * to_w < (int64_t)(x + 1) * wide; ++i) {
                const double value =
                    (double)tvlm_reference_fetch(source, level - 1, slice, (int32_t)i, (int32_t)j)[c];
                least = fmin(least, fmin(fmax(value, 0.0), 1.0));
                largest = fmax(largest, fmin(fmax(value, 0.0), 1.0));
            }
        range = fmax(range, largest - least);
    }
    return range;
}

tvlm_status tvlm_reference_ink(tvlm_device *device, const tvlm_texture *source, int32_t image,
                               tvlm_buffer *colours, size_t offset) {
    unsigned char *out = (unsigned char *)reference_data(colours) + offset;
    const int32_t level = source->levels > TVLM_INK_LEVEL ? TVLM_INK_LEVEL : source->levels - 1;
    const int32_t slice = reference_slice(source, image, 0);
    (void)device;
    for (int32_t y = 0; y < tvlm_level_side(source->height, level); ++y)
        for (int32_t x = 0; x < tvlm_level_side(source->width, level); ++x, out += TVLM_INK_BYTES) {
            const float *const texel = tvlm_reference_fetch(source, level, slice, x, y);
            for (int c = 0; c < CHANNELS; ++c) out[c] = byte_of((double)texel[c]);
            out[CHANNELS] = level > 0 ? byte_of(range_under(source, level, slice, x, y)) : 0;
        }
    return TVLM_OK;
}
