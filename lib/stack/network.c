/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/network.c: the stack's network: which grids it reads, and the shape of what it makes.
 */
#include "stack/network.h"

#include "core/learned.h"
#include "core/try.h"
#include "stack/inside.h"

/* Returns all grids that a channel may ever be stored in: the generated one, and the one that may be handed
 * in for it later. */
static tvlm_grid_mask grids_of_input(int32_t channel) {
    const tvlm_grid made = tvlm_channel_get_place(channel).grid,
                    handed_in = tvlm_channel_get_replacement(channel).grid;
    return (made < TVLM_GRID_COUNT ? TVLM_GRID_BIT(made) : 0) |
           (handed_in < TVLM_GRID_COUNT ? TVLM_GRID_BIT(handed_in) : 0);
}

/* Refuses inputs that are made only after the family `learned`. */
static tvlm_status check_order(const tvlm_log *log, const tvlm_learned *network) {
    for (int32_t i = 0; i < network->input_count; ++i) {
        const tvlm_grid grid = tvlm_channel_get_place(network->inputs[i]).grid;
        tvlm_channel_info info;
        if (grid != TVLM_GRID_LEARNED && grid != TVLM_GRID_QUERY) continue;
        TVLM_TRY(tvlm_channel_get_info(network->inputs[i], &info));
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "input %d of the network: '%s' cannot be one, since it comes after the network",
                         (int)i, info.name);
    }
    return TVLM_OK;
}

tvlm_status tvlm_stack_take_network(tvlm_stack *stack, const struct tvlm_network *network) {
    if (network == NULL) return TVLM_OK;
    TVLM_TRY(tvlm_learned_check(network, &stack->device->log));
    const tvlm_learned given = tvlm_networks.describe(network);
    TVLM_TRY(check_order(&stack->device->log, &given));
    stack->network = tvlm_networks.copy(network);
    if (stack->network == NULL)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for a network");
    stack->learned = tvlm_networks.describe(stack->network);
    for (int32_t i = 0; i < stack->learned.input_count; ++i)
        stack->network_reads |= grids_of_input(stack->learned.inputs[i]);
    return TVLM_OK;
}

int32_t tvlm_stack_network_layers(const tvlm_stack *stack) {
    const tvlm_learned *const learned = &stack->learned;
    const int32_t most =
        learned->input_count > learned->output_count ? learned->input_count : learned->output_count;
    return (most + 3) / 4;
}

tvlm_texture tvlm_stack_learned_shape(const tvlm_stack *stack, int32_t images, int32_t width,
                                      int32_t height) {
    const tvlm_learned_size size =
        tvlm_learned_size_of(&stack->learned, width, height, tvlm_level_count(width, height));
    return (tvlm_texture){.width = size.width,
                          .height = size.height,
                          .layers = (stack->learned.output_count + 3) / 4,
                          .images = images,
                          .format = stack->format,
                          .extent_x = size.extent_x,
                          .extent_y = size.extent_y};
}

tvlm_grid_mask tvlm_stack_dependents(const tvlm_stack *stack, tvlm_grid_mask grids) {
    const tvlm_grid_mask all = tvlm_grids_with_dependents(grids);
    return (all & stack->network_reads) != 0 ? all | TVLM_GRID_BIT(TVLM_GRID_LEARNED) : all;
}
