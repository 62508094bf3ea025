/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scores that are kept for the next pass: the channel previous_pass. They stay on the device.
 */
#include "select/select.h"

/* Candidates of another size: what was kept before, of any image, goes. */
static void make_room(tvlm_stack *stack, const tvlm_given *size) {
    const tvlm_given *given = &stack->given[TVLM_GRID_PREVIOUS_PASS];
    if (given->columns == size->columns && given->rows == size->rows && given->extent_x == size->extent_x &&
        given->extent_y == size->extent_y)
        return;
    for (int32_t i = 0; i < stack->images; ++i) tvlm_stack_given_clear(stack, i, TVLM_GRID_PREVIOUS_PASS);
}

tvlm_status tvlm_pass_keep(tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates,
                           tvlm_buffer *scores) {
    const tvlm_given size = {.columns = candidates->columns,
                             .rows = candidates->rows,
                             .layers = 1,
                             .extent_x = (float)candidates->columns * candidates->step_x,
                             .extent_y = (float)candidates->rows * candidates->step_y};
    tvlm_texture *texture;
    make_room(stack, &size);
    TVLM_TRY(tvlm_stack_given_begin(stack, index, TVLM_GRID_PREVIOUS_PASS, &size, "previous_pass", &texture));
    const tvlm_status status =
        stack->device->backend->keep_pass(stack->device, scores, candidates->image, texture);
    tvlm_stack_given_end(stack, index, TVLM_GRID_PREVIOUS_PASS);
    if (status != TVLM_OK) tvlm_stack_given_clear(stack, index, TVLM_GRID_PREVIOUS_PASS);
    return status;
}
