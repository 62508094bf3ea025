/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/backward.h: the gradients of sampling (tvlm_stack_sample), for learning through textures. They are taken with
 * respect to the texels, and to the places and the levels of the points.
 *
 * A loss is some function of the sampled values. The caller hands in `gradients`, the derivative of the loss with
 * respect to each sampled value. The call returns the derivatives of the loss with respect to the texels and to
 * the points:
 *
 *     tvlm_stack_sample(stack, points, n, channels, 2, out);
 *     for (int32_t i = 0; i < 2 * n; ++i) gradients[i] = 2.0f * (out[i] - wanted[i]); // of the squared error
 *     tvlm_sample_backward(stack, tvlm_sample_backward_params(.points = points, .count = n, .channels = channels,
 *                                                             .channel_count = 2, .gradients = gradients),
 *                          capacity, texels, steps);
 *     for (int32_t i = 0; i < n; ++i) points[i].x -= rate * steps[3 * i];
 *
 * The gradients mean what nvdiffrast documents for `texture` with trilinear filtering and a given level (Laine et
 * al. 2020, arXiv 2011.03277):
 *   - The gradient of a texel of level 1 or above is handed down to level 0 through the means that the level was
 *     made of. So one point at a coarse level has a gradient at all texels of level 0 below it.
 *   - Where a place or a level is clamped, its derivative is 0.
 * Two things differ: places are in pixels here, and sides need not be even.
 *
 * Between texel centres, and between whole levels, a sample is a polynomial of x, y and the level. On a texel
 * centre or a whole level two polynomials meet. There the derivative is the one to the right, downwards, and
 * towards the next coarser level.
 *
 * Texels in half precision are read as they are. The rounding of each level to half is left out of the derivative.
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_BACKWARD_H
#define TEXTUREVLM_LAB_BACKWARD_H

#include "texturevlm/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most points that one call takes. */
#define TVLM_BACKWARD_POINTS_MAX 100000000

/* What was sampled, and the gradients of the loss. All arrays are read during the call only. */
struct tvlm_sample_backward_params {
    /* The image of the batch, to which all points belong. */
    int32_t index;
    int32_t count;
    const tvlm_sample_point *points;
    /* [channel_count]: the channels, each of them once. */
    const int32_t *channels;
    int32_t channel_count;
    /* [count * channel_count]: the derivative of the loss by each sampled value, in the order in which
     * tvlm_stack_sample writes the values. They are finite. */
    const float *gradients;
    uint64_t reserved[4];
};
#define tvlm_sample_backward_params(...) TVLM_PARAMS(tvlm_sample_backward_params, __VA_ARGS__)

/*
 * Finds the gradients, in two arrays. Either may be NULL, which saves the time that it takes.
 *   - `texels`, with room for `capacity` floats, gets the gradients of level 0 of each channel's own grid, one
 *     channel behind the other. Each channel is row-major, and as large as tvlm_stack_channel_size says.
 *   - `points`, [count][3], gets the gradients of x and y (per pixel) and of the level of each point.
 *
 * The same call gives the same bits on every run. No atomics are used: the parts of one texel's gradient are added
 * in the order of the points. The call waits. Sums are in float (in double on the reference device).
 *
 * The gradient of a channel that is not available is 0. These channels have no gradients, and are refused:
 *   - those of position, which have no texels;
 *   - identifiers, and others whose levels are not means;
 *   - embeddings, which are brought to length 1 where they are read.
 *
 * Errors: ARGUMENT (an index; a point that is NaN or of another image; a gradient that is not finite; a channel
 * that is listed twice or has no gradients; a capacity that is too small), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_sample_backward(tvlm_stack *stack, const struct tvlm_sample_backward_params *params,
                                          size_t capacity, float *texels, float *points);

/*
 * The same, computed by the definition, in double from end to end, and without a device. It shows how far floats
 * are from the exact values, and it is precise enough to compare derivatives with finite differences. It is slow.
 */
struct tvlm_sample_double_params {
    /* [height * width * channels], at most 2^28: the texels, with the channels of a texel beside each other. They
     * are finite. */
    const double *texels;
    int32_t width, height, channels;
    int32_t count;
    /* [count * 3]: x and y, in texels, whose centres are at + 0.5, and the level. They are clamped as those of a
     * tvlm_sample_point. NaN is refused. */
    const double *points;
    const tvlm_log *log;
    uint64_t reserved[4];
};
#define tvlm_sample_double_params(...) TVLM_PARAMS(tvlm_sample_double_params, __VA_ARGS__)

/* Samples the points: out[count * channels]. Errors: ARGUMENT, MEMORY. */
TVLM_API tvlm_status tvlm_sample_double(const struct tvlm_sample_double_params *params, double *out);

/* Finds texels[height * width * channels] and points[count * 3], the derivatives of the loss, from `gradients`
 * [count * channels], its derivatives by the sampled values. `texels` and `points` may be NULL. Errors: ARGUMENT,
 * MEMORY. */
TVLM_API tvlm_status tvlm_sample_double_backward(const struct tvlm_sample_double_params *params,
                                                 const double *gradients, double *texels, double *points);

#ifdef __cplusplus
}
#endif
#endif
