/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h: what the families of per-pixel filters share: luma with its border, Sobel's derivatives, and a
 * loop over texels.
 */
#ifndef TVLM_REFERENCE_FILTER_H
#define TVLM_REFERENCE_FILTER_H

#include "reference/texture.h"

/* The luma of the source at a pixel. Outside the image it is that of the nearest pixel inside. */
static inline double reference_luma(const tvlm_texture *source, int32_t slice, int32_t x, int32_t y) {
    return tvlm_reference_fetch(source, 0, slice, x, y)[3];
}

/* Sobel's derivatives of luma (3x3, 1 2 1), x to the right and y downwards. A step from black to white gives
 * 4. */
static inline void reference_sobel(const tvlm_texture *source, int32_t slice, int32_t x, int32_t y,
                                   double *gx, double *gy) {
    static const double smooth[3] = {1, 2, 1};
    *gx = *gy = 0;
    for (int32_t i = -1; i <= 1; ++i) {
        *gx += smooth[i + 1] *
               (reference_luma(source, slice, x + 1, y + i) - reference_luma(source, slice, x - 1, y + i));
        *gy += smooth[i + 1] *
               (reference_luma(source, slice, x + i, y + 1) - reference_luma(source, slice, x + i, y - 1));
    }
}

/* Computes a family's four components at one texel, from one slice of the source. */
typedef void reference_texel_function(const tvlm_texture *source, int32_t slice, int32_t x, int32_t y,
                                      double value[4]);

/* Makes level 0 of all images of `out` by a function for each texel. */
static inline void reference_each_texel(const tvlm_texture *source, tvlm_texture *out,
                                        reference_texel_function *texel) {
    for (int32_t image = 0; image < out->images; ++image) {
        for (int32_t y = 0; y < out->height; ++y) {
            for (int32_t x = 0; x < out->width; ++x) {
                double value[4] = {0, 0, 0, 0};
                texel(source, reference_slice(source, image, 0), x, y, value);
                tvlm_reference_store(out, 0, reference_slice(out, image, 0), x, y, value);
            }
        }
    }
}

#endif
