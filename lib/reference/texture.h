/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texture.h: textures of the reference backend. Texels are four floats. They lie level after level, in each
 * level slice after slice, and in each slice row after row. What is stored has been rounded to the texture's
 * format, so that a half texture holds floats that are halves.
 */
#ifndef TVLM_REFERENCE_TEXTURE_H
#define TVLM_REFERENCE_TEXTURE_H

#include "core/backend.h"

#define REFERENCE_LEVELS_MAX 32

/* `texels` is one allocation for all levels, and `levels` says where in it each of them begins. */
typedef struct reference_texture {
    tvlm_texture base;
    float *texels;
    float *levels[REFERENCE_LEVELS_MAX];
} reference_texture;

/* Gives one image of a ragged texture as a texture of its own, which shares the texels. */
reference_texture tvlm_reference_image(const tvlm_texture *texture, int32_t image);

/* The slice of one layer of one image. */
static inline int32_t reference_slice(const tvlm_texture *texture, int32_t image, int32_t layer) {
    return image * texture->layers + layer;
}

static inline int32_t reference_slices(const tvlm_texture *texture) {
    return texture->images * texture->layers;
}

/* The four components of a texel. Outside the level they are those of the nearest texel inside. */
const float *tvlm_reference_fetch(const tvlm_texture *texture, int32_t level, int32_t slice, int32_t x,
                                  int32_t y);

/* Stores a texel, rounded to the texture's format. It must lie inside. */
void tvlm_reference_store(tvlm_texture *texture, int32_t level, int32_t slice, int32_t x, int32_t y,
                          const double value[4]);

static inline double reference_lerp(double a, double b, double t) {
    return a + t * (b - a);
}

/*
 * The two texels of a side between which a coordinate lies, and how far it is from the first one. Texel
 * centres are at + 0.5, and the coordinate is clamped to the edge. The value there is lerp(texel[first],
 * texel[second], fraction).
 */
typedef struct reference_between {
    int32_t first, second;
    double fraction;
} reference_between;
reference_between tvlm_reference_locate(double coordinate, int32_t side);

#endif
