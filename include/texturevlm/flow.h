/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h: estimates dense optical flow between two images, on the device: where each place of one image is in
 * the other, and how sure that is. A stream (stream.h) estimates flow by itself.
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
 * *Direction.* At (x, y) of `from`, (u, v) is the step to where that place is in `to`. A stack moves its
 * memory (temporal.h) along the flow from the present frame to the previous one, so `from` is the present
 * frame. The files of Middlebury and of other benchmarks have the other direction: they hold the flow from the
 * earlier frame to the later one.
 *
 * *Method.* Patches of 8 x 8 texels, 4 apart, are found coarse to fine on the levels of the source, and
 * blended by how well they fit (DIS: Kroeger, Timofte, Dai & Van Gool 2016). The flow is then refined
 * variationally, with constancy of brightness and gradients (Brox, Bruhn, Papenberg & Weickert 2004). It is
 * the same on every device except for rounding. Identical images give exactly 0.
 *
 * *How far it finds motion.* The coarsest level has 24 to 47 texels along its longer side, and a patch of 8
 * must find its place there from rest, in twelve steps.
 *
 *   - Where the whole picture moves, in photos of 640 x 480, the flow of this share of the pixels is found to
 *     within 2 pixels: 99 % for motion by a twentieth of the longer side, 84 % by a tenth, 73 % by an eighth,
 *     20 % by a fifth.
 *   - An object that moves over other ground is found if it moves by up to two fifths of its own side. Squares of
 *     80 pixels that move by 32, and of 160 that move by 64, are found at 89 to 98 % of their pixels. Where object
 *     and ground have nothing but fine texture, it is found if it moves by up to a fifth of its side.
 *   - Motion that is much too far has a low confidence: it is below 0.25 at 9 of 10 pixels. Where the motion is
 *     only a little too far, that may be so at only half of them.
 *
 * *What was covered* in `to` cannot be found there, yet some of its pixels have a confidence of 0.25 or more. A
 * square of 160 pixels that moves in 640 x 480 uncovers a strip behind it. Of the pixels of that strip, these have
 * such a confidence:
 *
 *   - over texture, 4 to 12 % of a strip 8 pixels wide, and 2 to 7 % of one 16 wide;
 *   - over photos, which have smooth parts, 40 to 50 % of a strip 8 wide (80 % at worst), 20 % of one 16
 *     wide, 7 % of one 24 wide, and nothing of one 32 wide.
 *
 * A strip 4 pixels wide is hardly noticed. Of the pixels of the square itself, 92 to 99 % have such a confidence,
 * if its motion is found.
 */
#ifndef TEXTUREVLM_FLOW_H
#define TEXTUREVLM_FLOW_H

#include <stdbool.h>

#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tvlm_flow tvlm_flow;

/* The default, all zero, is a flow at half the image's size. */
struct tvlm_flow_params {
    /* The flow has the image's full size: a third less error for four times the work. */
    bool full;
    uint64_t reserved[4];
};
#define tvlm_flow_params(...) TVLM_PARAMS(tvlm_flow_params, __VA_ARGS__)

/*
 * Estimates the flow from image index_from of one stack to image index_to of another stack, or of the same
 * one. Both stacks are of one device, one size and one format. *flow is NULL, or a flow that an earlier call made
 * on the same device. The memory of such a flow is used again, and nothing is allocated if it is large enough.
 * `params` NULL means all defaults. The call only enqueues work.
 *
 * Errors: ARGUMENT (an index, stacks of different devices, sizes or formats, a flow of another device),
 * UNSUPPORTED (more than some 140 million texels), DEVICE_MEMORY, MEMORY. After an error *flow is still valid or
 * NULL as before, but what it holds may be neither the old flow nor the new one.
 */
TVLM_API tvlm_status tvlm_flow_compute(tvlm_stack *stack_from, int32_t index_from, tvlm_stack *stack_to,
                                       int32_t index_to, const struct tvlm_flow_params *params,
                                       tvlm_flow **flow);

/* Frees a flow and sets *flow to NULL. It must happen before the device is destroyed. NULL and *flow NULL are
 * fine. */
TVLM_API void tvlm_flow_destroy(tvlm_flow **flow);

typedef struct tvlm_flow_info {
    /* The size of the grid: that of the image's level 1, or of level 0 with `full`. */
    int32_t width, height;
    /* The size of the stacks' images, which the grid covers: texel (i, j) stands for the point
     * ((i + 0.5) image_width / width, (j + 0.5) image_height / height). */
    int32_t image_width, image_height;
    uint64_t reserved[4];
} tvlm_flow_info;
TVLM_API tvlm_status tvlm_flow_get_info(const tvlm_flow *flow, tvlm_flow_info *info);

/*
 * Reads u, v and the confidence of every texel, row-major. `values` has room for `capacity` floats, at least
 * 3 * width * height. u is to the right and v downwards, in pixels of the stacks' images. The call waits.
 *
 * The confidence is in [0, 1].
 *   - It falls with the distance by which the flow back misses the place where the flow began. It falls to a half
 *     where Sundaram, Brox & Keutzer (2010) call a point occluded.
 *   - It falls with the difference of the images along the flow.
 *   - It is 0 where the flow leads out of the image.
 */
TVLM_API tvlm_status tvlm_flow_read(const tvlm_flow *flow, size_t capacity, float *values);

/*
 * Puts a flow into the channels flow_u, flow_v and flow_confidence of image `index`, within device memory. It
 * is the same as tvlm_stack_set_grid (input.h) with what tvlm_flow_read returns, which is how a flow of the
 * application's own comes in. The call only enqueues work. Errors: ARGUMENT (index, another device or size),
 * DEVICE_MEMORY, MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_set_flow(tvlm_stack *stack, int32_t index, const tvlm_flow *flow);

#ifdef __cplusplus
}
#endif
#endif
