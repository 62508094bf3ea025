/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/footprint.h: samples ellipses instead of points. A long and narrow area is read at the level of its width and
 * not of its length, as graphics hardware does it for surfaces seen at an angle (anisotropic filtering).
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_FOOTPRINT_H
#define TEXTUREVLM_LAB_FOOTPRINT_H

#include "texturevlm/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The ellipse x + a u + b v with a^2 + b^2 <= 1/4, in pixels of the working image. u and v are two of its
 * diameters, which need not be orthogonal. A circle of diameter d is u = (d, 0), v = (0, d). For a texture
 * that is read by a warped grid, u and v are the steps from a sample to its neighbours (the gradients).
 */
typedef struct tvlm_footprint {
    float x, y; /* The centre. */
    float u[2], v[2];
    int32_t index; /* The image of the batch. */
} tvlm_footprint;

/*
 * Writes the average of channels over footprints: out[footprint * channel_count + c]. Positions and values
 * are as in tvlm_stack_sample. Waits.
 *
 * Several probes along the longer axis are read at the level of the shorter axis. Each is weighted by how wide
 * the ellipse is at its place (Feline: McCormack et al. 1999). An ellipse longer than 16 : 1 is widened to
 * that. Identifiers are read at the centre only. test_footprint_stack prints the errors against the integral over
 * the ellipse's area, for 1 : 1 to 16 : 1.
 *
 * Errors: ARGUMENT (a centre that is NaN, axes that are not finite, no such channel or image), MEMORY,
 * DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_sample_footprint(tvlm_stack *stack, const tvlm_footprint *footprints,
                                                 int32_t count, const int32_t *channels,
                                                 int32_t channel_count, float *out);

/*
 * Makes footprints that follow the image: long in the direction in which it changes little, and narrow across.
 * Each has the area of a circle of diameter sizes[i] (in pixels, > 0) around points[i]. Of a point, x, y and index
 * are read, and the level is not. Waits.
 *
 * The shape comes from the structure tensor of luma over the square whose side is the size, by 8 x 8 gradients at
 * the level whose texels are an eighth of that side. The ratio of the axes is the ratio of the gradients'
 * strengths, at most 16.
 *   - u is the longer axis. It points to the right, or down where it is upright. v is u turned by a right angle,
 *     from x towards y.
 *   - Where the image has no direction (a ratio below 1.01), u = (size, 0) and v = (0, size), up to rounding of
 *     their lengths.
 *   - Lines of text are followed at sizes from the line's height on. At smaller sizes the strokes are followed.
 *
 * Errors: as above.
 */
TVLM_API tvlm_status tvlm_stack_structure(tvlm_stack *stack, const tvlm_sample_point *points,
                                          const float *sizes, int32_t count, tvlm_footprint *footprints);

#ifdef __cplusplus
}
#endif
#endif
