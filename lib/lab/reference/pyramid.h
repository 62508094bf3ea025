/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pyramid.h: a texture of one image in double, whose levels are means, and how samples of it and their
 * gradients are made.
 *
 * A sample is a sum over at most eight texels, the *taps* of its point, each times a weight. Its derivatives
 * with respect to x, y and the level are sums over the same texels with other weights. All gradients follow
 * from these sums.
 */
#ifndef TVLM_LAB_REFERENCE_PYRAMID_H
#define TVLM_LAB_REFERENCE_PYRAMID_H

#include "reference/texture.h"

typedef struct reference_pyramid {
    int32_t width, height, levels, components;
    double extent_x, extent_y;          /* as in tvlm_texture */
    size_t first[REFERENCE_LEVELS_MAX]; /* the number of each level's first texel */
    size_t count;                       /* of all texels */
    double *texels;                     /* [count][components] */
} reference_pyramid;

/* Makes all levels, filled with zeros, of a pyramid whose first six members are set. Returns false when there
 * is no memory. */
bool tvlm_reference_pyramid_allocate(reference_pyramid *p);

/* Makes levels 1 and up from level 0. */
void tvlm_reference_pyramid_reduce(reference_pyramid *p);

/* Does the transpose of that: from each level from 1 on, hands what stands there down to those texels of
 * level 0 that it was made of. */
void tvlm_reference_pyramid_hand_down(reference_pyramid *p);

typedef struct reference_tap {
    size_t texel;
    double weight, dx, dy, dlevel;
} reference_tap;
typedef struct reference_taps {
    int count;
    reference_tap tap[8];
} reference_taps;

/* Finds the taps of a point, which is given in pixels and levels of the image. Where a coordinate or the
 * level is clamped, the derivative with respect to it is 0. */
reference_taps tvlm_reference_find_taps(const reference_pyramid *p, double x, double y, double level);

/* Makes the sample: out[components]. */
void tvlm_reference_gather(const reference_pyramid *p, const reference_taps *taps, double *out);

/* Adds the gradient of a sample, given[components], to the texels that it was made of. */
void tvlm_reference_scatter(reference_pyramid *p, const reference_taps *taps, const double *given);

/* Makes the gradient of a sample, given[components], with respect to x, y and the level. */
void tvlm_reference_step(const reference_pyramid *p, const reference_taps *taps, const double *given,
                         double step[3]);

#endif
