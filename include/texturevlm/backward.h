/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backward.h: the gradients of sampling (tvlm_stack_sample), for who learns through textures: with respect to the
 * texels, to the places and to the levels of the points.
 *
 * A loss is some function of what was sampled, and `gradients` is its derivative with respect to each of these
 * numbers. What comes back is its derivative with respect to what they were sampled from:
 *
 *     tvlm_stack_sample(stack, points, n, channels, 2, out);
 *     for (int32_t i = 0; i < 2 * n; ++i) gradients[i] = 2.0f * (out[i] - wanted[i]); // of the squared error
 *     tvlm_sample_backward(stack, tvlm_sample_backward_params(.points = points, .count = n, .channels = channels,
 *                                                             .channel_count = 2, .gradients = gradients),
 *                          capacity, texels, steps);
 *     for (int32_t i = 0; i < n; ++i) points[i].x -= rate * steps[3 * i];
 *
 * The meaning is that of differentiable texturing, as nvdiffrast documents it for `texture` with trilinear filtering
 * and a given level (Laine et al. 2020, arXiv 2011.03277): what reaches a level from 1 on goes down to level 0
 * through the means that the level was made of, so that one point at a coarse level moves all texels below it; and
 * where a place or a level is clamped, its derivative is 0. Two things differ: places are in pixels here, and sides
 * need not be even.
 *
 * Between texel centres, and between whole levels, a sample is a polynomial of x, y and the level. On a centre or a
 * whole level, where two of them meet, the derivative is that to the right, downwards, and to the next coarser level.
 * Half texels are taken as they are: that each level was rounded to half does not count.
 */
#ifndef TEXTUREVLM_BACKWARD_H
#define TEXTUREVLM_BACKWARD_H

#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most points that one call takes. */
#define TVLM_BACKWARD_POINTS_MAX 100000000

/* What was sampled, and what the loss makes of it. All are read during the call only. */
struct tvlm_sample_backward_params {
    /* The image of the batch. All points are of this image. */
    int32_t index;
    int32_t count;
    const tvlm_sample_point *points;
    /* [channel_count]; none of them twice. */
    const int32_t *channels;
    int32_t channel_count;
    /* [count * channel_count], as tvlm_stack_sample lays out its values; finite. */
    const float *gradients;
    uint64_t reserved[4];
};
#define tvlm_sample_backward_params(...) TVLM_PARAMS(tvlm_sample_backward_params, __VA_ARGS__)

/*
 * Finds the gradients. `texels`, where there is room for `capacity` floats, gets those of level 0 of each channel's
 * own grid, one channel behind the other, each row-major and as large as tvlm_stack_channel_size says. `points`, [count *
 * 3], gets those of x, y (per pixel) and the level of each point. Either may be NULL, which saves its time.
 *
 * The same call gives the same bits on every run. No atomics are used: what falls on one texel is added in the order
 * of the points. The call waits, and sums are in float (in double on the reference).
 *
 * Errors: ARGUMENT (an index, a point that is NaN or of another image, a gradient that is not finite, a channel that is
 * listed twice or has no gradient: those of position, which have no texels; identifiers and others whose levels are
 * no means; embeddings, which are brought to length 1 where they are read; a capacity that is too small), MEMORY,
 * DEVICE_MEMORY. The gradient of a channel that is not available is 0.
 */
TVLM_API tvlm_status tvlm_sample_backward(tvlm_stack *stack, const struct tvlm_sample_backward_params *params,
                                          size_t capacity, float *texels, float *points);

/*
 * The same by the definition, in double from end to end, without a device: it tells how far floats are from the
 * truth, and derivatives can be held against differences. Slow.
 */
struct tvlm_sample_double_params {
    /* [height * width * channels], the channels of a texel beside each other; finite. */
    const double *texels;
    int32_t width, height, channels;
    int32_t count;
    /* [count * 3]: x and y in texels, whose centres are at + 0.5, and the level. They are clamped as in tvlm_sample_point; NaN
     * is refused. */
    const double *points;
    const tvlm_log *log;
    uint64_t reserved[4];
};
#define tvlm_sample_double_params(...) TVLM_PARAMS(tvlm_sample_double_params, __VA_ARGS__)

/* Samples: out[count * channels]. Errors: ARGUMENT, MEMORY. */
TVLM_API tvlm_status tvlm_sample_double(const struct tvlm_sample_double_params *params, double *out);

/* Finds the gradients, of `gradients` [count * channels]: texels[height * width * channels] and points[count * 3], of
 * which either may be NULL. Errors: ARGUMENT, MEMORY. */
TVLM_API tvlm_status tvlm_sample_double_backward(const struct tvlm_sample_double_params *params,
                                                 const double *gradients, double *texels, double *points);

#ifdef __cplusplus
}
#endif
#endif
