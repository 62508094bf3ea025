/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scores that are kept for the next pass: the channel previous_pass. They stay on the device.
 */
#include "select/pass.h"
#include "core/try.h"
#include "stack/given.h"
#include "stack/stack.h"

tvlm_status tvlm_pass_keep(tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates,
                           tvlm_buffer *scores) {
    const tvlm_given size = {.columns = candidates->columns,
                             .rows = candidates->rows,
                             .layers = 1,
                             .extent_x = (float)candidates->columns * candidates->step_x,
                             .extent_y = (float)candidates->rows * candidates->step_y};
    tvlm_device *device = tvlm_stack_device(stack);
    tvlm_texture *texture;
    /* With candidates of another size, the scores that were kept before are dropped for all images. */
    tvlm_stack_given_make_room(stack, TVLM_GRID_PREVIOUS_PASS, &size);
    TVLM_TRY(tvlm_stack_given_begin(stack, index, TVLM_GRID_PREVIOUS_PASS, &size, "previous_pass", &texture));
    const tvlm_status status = device->backend->keep_pass(device, scores, candidates->image, texture);
    tvlm_stack_given_end(stack, index, TVLM_GRID_PREVIOUS_PASS);
    if (status != TVLM_OK) tvlm_stack_given_clear(stack, index, TVLM_GRID_PREVIOUS_PASS);
    return status;
}
