/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h: dense optical flow between two images on the device: where each place of one is in the other, and
 * how sure that is.
 *
 *     tvlm_flow *flow = NULL;
 *     for (each frame) {
 *         tvlm_stack_set_image(now, 0, &frame);
 *         tvlm_flow_compute(now, 0, last, 0, NULL, &flow);  // from this frame to the last one: see below
 *         tvlm_stack_set_flow(now, 0, flow);                // what temporal channels are moved along
 *         ...
 *     }
 *     tvlm_flow_destroy(&flow);
 *
 * *Direction*: at (x, y) of `from`, (u, v) is the step to where that place is in `to`. What a stack moves its
 * memory along (temporal.h) is the flow from the present frame to the previous one: `from` is the present.
 * Middlebury's files and others' benchmarks hold the flow from the earlier frame to the later one.
 *
 * Method: patches of 8 x 8 texels, 4 apart, found coarse to fine on the levels that the source has anyway,
 * blended by how well they fit (DIS: Kroeger, Timofte, Dai & Van Gool 2016), then refined variationally with
 * constant brightness and gradients (Brox, Bruhn, Papenberg & Weickert 2004). The same on every device but
 * for rounding. Identical images give exactly 0.
 *
 * *How far*: the coarsest level has 24 to 47 texels along its longer side, and a patch of 8 must find its
 * place there from 0, in twelve steps. Where everything moves, in photos of 640 x 480: by a twentieth of the
 * longer side 99 % of the pixels are within 2, by a tenth 84 %, by an eighth 73 %, by a fifth 20 %. A thing
 * that moves over another ground: by up to two fifths of its own side (squares of 80 by 32 and of 160 by 64,
 * 89 to 98 % of their pixels), where both have nothing but fine texture by a fifth. What is much too far has
 * a low confidence, below 0.25 at 9 of 10 pixels; a little beyond the limit perhaps at half of them only.
 *
 * *What was covered* is not in `to` at all. Of the strip that a square of 160 pixels uncovers in 640 x 480,
 * so much has a confidence of 0.25 or more all the same: over texture 4 to 12 % of a strip 8 wide, 2 to 7 %
 * of 16; over photos, which have smooth parts, 40 to 50 % of one 8 wide (the worst: 80 %), 20 % of 16, 7 %
 * of 24, none of 32. A strip 4 wide is hardly seen. Of the square itself 92 to 99 % have it, where its motion
 * is found.
 */
#ifndef TEXTUREVLM_FLOW_H
#define TEXTUREVLM_FLOW_H

#include <stdbool.h>

#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tvlm_flow tvlm_flow;

/* All zero: at half the image's size. */
struct tvlm_flow_params {
    bool full; /* at the image's full size: a third less error, four times the work */
    uint64_t reserved[4];
};
#define tvlm_flow_params(...) TVLM_PARAMS(tvlm_flow_params, __VA_ARGS__)

/*
 * The flow from image index_from of one stack to image index_to of another, or of the same one. Both stacks
 * are of one device and one size. *flow is NULL or what an earlier call made, on the same device: its memory
 * is used again where it fits, and nothing is allocated then. Only enqueues. `params` NULL: all defaults.
 * Errors: ARGUMENT (an index, stacks of different devices or sizes, a flow of another device), UNSUPPORTED
 * (more than some 140 million texels), DEVICE_MEMORY, MEMORY. After an error *flow is as it was, but what it
 * holds may be neither the old nor the new.
 */
TVLM_API tvlm_status tvlm_flow_compute(tvlm_stack *stack_from, int32_t index_from, tvlm_stack *stack_to,
                                       int32_t index_to, const struct tvlm_flow_params *params,
                                       tvlm_flow **flow);

/* Frees it and sets *flow to NULL; before its device is destroyed. NULL and *NULL are fine. */
TVLM_API void tvlm_flow_destroy(tvlm_flow **flow);

typedef struct tvlm_flow_info {
    int32_t width, height;             /* of the grid: the image's level 1, or 0 with `full` */
    int32_t image_width, image_height; /* of the stacks, which the grid covers: texel (i, j) stands for the
                                          point ((i + 0.5) image_width / width, ...) */
    uint64_t reserved[4];
} tvlm_flow_info;
TVLM_API tvlm_status tvlm_flow_get_info(const tvlm_flow *flow, tvlm_flow_info *info);

/*
 * u, v, confidence of every texel, row-major: `capacity` floats at `values`, at least 3 * width * height. u
 * to the right and v downwards, in pixels of the stacks' images. Confidence is in [0, 1]: it falls as the
 * flow back does not return to where it came from (a half where Sundaram, Brox & Keutzer 2010 call a point
 * occluded) and as the images differ along the flow; 0 where the flow leads out of the image. Waits.
 */
TVLM_API tvlm_status tvlm_flow_read(const tvlm_flow *flow, size_t capacity, float *values);

/*
 * Puts the flow into flow_u, flow_v and flow_confidence of image `index`, from device to device: the same as
 * tvlm_stack_set_grid (input.h) with what tvlm_flow_read returns; a flow of the application's own comes in
 * that way. Enqueues only. Errors: ARGUMENT (index, another device or size), DEVICE_MEMORY, MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_set_flow(tvlm_stack *stack, int32_t index, const tvlm_flow *flow);

#ifdef __cplusplus
}
#endif
#endif
