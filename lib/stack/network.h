/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/network.h: the network of the family `learned`: what that is made from, how large it is and what its channels are
 * called differ from stack to stack.
 */
#ifndef TVLM_STACK_NETWORK_H
#define TVLM_STACK_NETWORK_H

#include "stack/stack.h"

/* Checks and copies the network that the stack gets; NULL: it has none. */
tvlm_status tvlm_stack_take_network(tvlm_stack *stack, const tvlm_network *network);

/* Returns the most layers of a texture that the network reads or makes; 0 without one. */
int32_t tvlm_stack_network_layers(const tvlm_stack *stack);

/* Returns the shape of what the network makes of images of that size, with all levels, for a stack that has one. */
tvlm_texture tvlm_stack_learned_shape(const tvlm_stack *stack, int32_t images, int32_t width, int32_t height);

/* Returns the grids and all that is made from them: tvlm_grids_with_dependents, and the network's outputs where
 * it reads one of these. */
tvlm_grid_mask tvlm_stack_dependents(const tvlm_stack *stack, tvlm_grid_mask grids);

/* Does what tvlm_layout_parse does, with the outputs of a network (NULL: of none) among the names (names.c). */
tvlm_status tvlm_network_parse(const tvlm_network *network, const char *text, const tvlm_log *log,
                               int32_t capacity, int32_t *channels, int32_t *count);

#endif
