/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ink.c: the colours of level 2 in bytes.
 */
#include <math.h>

#include "reference/reference.h"
#include "reference/texture.h"

enum { CHANNELS = 3 };

static unsigned char byte_of(double value) {
    return (unsigned char)round(255.0 * fmin(fmax(value, 0.0), 1.0));
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
            out[CHANNELS] = 0;
        }
    return TVLM_OK;
}
