/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporal.h: what a stack remembers from one frame of a video to the next: the channels motion,
 * prev_relevance, prev_saliency and fixation. A stream (stream.h) does all this by itself.
 *
 *     for (each frame) {
 *         tvlm_stack_set_image(stack, 0, &frame);
 *         tvlm_stack_set_grid(...);                    // optional: the flow from this frame to the last one
 *         tvlm_select(stack, NULL, NULL, &selection);  // may read motion, fixation, ...
 *         tvlm_stack_advance(stack, 0, NULL);          // this frame becomes the previous one
 *     }
 *
 * Every image of a batch is a video of its own. In a batch, advance all images before the first of them is
 * set again: the result is the same, but families are not made twice.
 *
 * The flow (flow_u, flow_v, flow_confidence; texturevlm/input.h) is the *backward* flow: at each place of the
 * present frame, (u, v) is the step to where that place was in the previous frame, in pixels of the working
 * image. What the previous frame had at (x + u, y + v) comes to (x, y). A forward flow, as in Middlebury's files,
 * is another field: it is the step from each place of the previous frame to the present frame. It does not fit
 * here; estimate the flow with the two frames exchanged instead. A flow holds for one frame only: advancing takes
 * it back, so it must be set anew for each frame.
 */
#ifndef TEXTUREVLM_TEMPORAL_H
#define TEXTUREVLM_TEMPORAL_H

#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_DECAY_DEFAULT      0.8f
#define TVLM_SIGMA_DEFAULT      24.0f
#define TVLM_CONFIDENCE_DEFAULT 0.5f

/* All zero means the relevance and the positions of the stack's own last selection. */
struct tvlm_advance_params {
    /*
     * The relevance of the frame that ends, [rows * columns], row-major, over the whole image; finite, and
     * clamped to [0, 1]. NULL means the scores of the last tvlm_select or tvlm_score of this image, clamped to
     * [0, 1], with 0 for NaN. If there was none since the image was set, NULL means 0 everywhere.
     */
    const float *relevance;
    int32_t columns, rows;
    /*
     * The positions that were looked at, [2 * position_count]: x, y in pixels of the image as it was handed in;
     * finite. NULL means the positions of the last tvlm_select of this image since it was set, if any. If this is
     * not NULL, and position_count is 0, nothing was looked at.
     */
    const float *positions;
    int32_t position_count;
    /* The factor by which the fixation decays at each frame, 0 to 1. 0 means 0.8. TVLM_ZERO forgets it at
     * once. */
    float decay;
    /* The standard deviation of a position's Gaussian in pixels of the working image, 0.1 to 1e6. 0 means
     * 24. */
    float sigma;
    /* Where the confidence of the flow is below this, the flow does not count; >= 0. 0 means 0.5. TVLM_ZERO lets
     * all flow count. */
    float confidence;
    uint64_t reserved[4];
};
#define tvlm_advance_params(...) TVLM_PARAMS(tvlm_advance_params, __VA_ARGS__)

/*
 * Makes the present frame of image `index` the previous one. `params` NULL means all defaults. The call only
 * enqueues work, except for what is handed in.
 *
 * *What is kept* of the frame: its luma at half size (level 1), and for each cell of 16 x 16 pixels
 *
 *   - its relevance and its saliency, both read at the cell's centre at level 4. A saliency that was handed in is
 *     the one that is kept;
 *   - the fixation: min(1, decay * fixation + max over positions p of exp(-|p - centre|^2 / (2 sigma^2))),
 *     where the Gaussian is cut off at 5 sigma. It has the largest of the Gaussians and not their sum, so that
 *     hundreds of positions beside each other do not fill the map.
 *
 * *From then on*, in every image that is set until the next advance,
 *
 *   - motion is |Y - Y of the previous frame|, at half size;
 *   - prev_relevance, prev_saliency and fixation are the values that were kept, moved along the flow. Each cell
 *     reads them bilinearly, at its centre plus the flow there (read at level 4). They are 0 where the flow's
 *     confidence is below `confidence`, or the flow is not finite or leads out of the image. The new Gaussians of
 *     the fixation are moved with the rest: their positions were chosen in the previous frame, and what was
 *     looked at there is now where the flow says.
 *
 * Without a flow for this image nothing moves. The values are kept in the stack's format. Only those are kept
 * whose channels the layout has, or which were ever read: a stack that never reads motion keeps no luma. Before
 * the first call, these channels are 0 and take no memory. Errors: ARGUMENT, MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_advance(tvlm_stack *stack, int32_t index,
                                        const struct tvlm_advance_params *params);

/* Forgets the previous frame of image `index`, as after a cut: the channels are 0 until the next advance. */
TVLM_API tvlm_status tvlm_stack_forget(tvlm_stack *stack, int32_t index);

#ifdef __cplusplus
}
#endif
#endif
