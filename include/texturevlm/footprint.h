/* SPDX-License-Identifier: Apache-2.0 */
/*
 * footprint.h: sampling ellipses instead of points: what lies in a long, narrow area, read at the level of
 * its width and not of its length, as graphics hardware does for surfaces seen at an angle.
 */
#ifndef TEXTUREVLM_FOOTPRINT_H
#define TEXTUREVLM_FOOTPRINT_H

#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The ellipse x + a u + b v, a^2 + b^2 <= 1/4, in pixels of the working image: u and v are two diameters of
 * it, for a texture read by a warped grid the steps from a sample to its neighbours (the gradients). They
 * need not be orthogonal. Circles: u = (d, 0), v = (0, d).
 */
typedef struct tvlm_footprint {
    float x, y; /* centre */
    float u[2], v[2];
    int32_t index; /* image of the batch */
} tvlm_footprint;

/*
 * The average of channels over footprints: out[footprint * channel_count + c]. Probes along the longer axis,
 * at the level of the shorter one, weighted by the ellipse's width where they stand (Feline: McCormack et al.
 * 1999); an ellipse longer than 16 : 1 is widened to that. Identifiers are read at the centre only. Positions
 * and values as in tvlm_stack_sample. Against the area integral of the ellipse: test_footprint prints the
 * errors at 1:1 to 16:1. Waits. Errors: ARGUMENT (a centre that is NaN, axes that are not finite, ...).
 */
TVLM_API tvlm_status tvlm_stack_sample_footprint(tvlm_stack *stack, const tvlm_footprint *footprints,
                                                 int32_t count, const int32_t *channels,
                                                 int32_t channel_count, float *out);

/*
 * Footprints that follow the image: around points (x, y, index; the level is not read), each of the area of a
 * circle of diameter sizes[i] (pixels, > 0), long where the image changes little and narrow across, by the
 * structure tensor of luma over the square of that side (8 x 8 gradients at the level of an eighth of it):
 * the axes' ratio is that of the gradients' strengths, at most 16. u is the longer axis, to the right (down
 * where it is upright), v is u turned by a quarter from x to y; where nothing has a direction (a ratio below
 * 1.01), u = (size, 0), v = (0, size) but for rounding of the lengths. Text lines are followed at sizes of
 * the line's height and above (below it strokes are). Waits.
 */
TVLM_API tvlm_status tvlm_stack_structure(tvlm_stack *stack, const tvlm_sample_point *points,
                                          const float *sizes, int32_t count, tvlm_footprint *footprints);

#ifdef __cplusplus
}
#endif
#endif
