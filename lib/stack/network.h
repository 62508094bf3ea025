/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/network.h: the network of the family `learned`. What this family is made from, its size, and the
 * names of its channels depend on the stack's network.
 */
#ifndef TVLM_STACK_NETWORK_H
#define TVLM_STACK_NETWORK_H

#include "core/learned.h"
#include "stack/stack.h"

/* Checks a network and copies it into the stack. NULL: the stack has no network. */
tvlm_status tvlm_stack_take_network(tvlm_stack *stack, const struct tvlm_network *network);

/* Returns how many layers the larger of the network's two textures has: its inputs or its outputs. It is 0 if
 * there is no network. */
int32_t tvlm_stack_network_layers(const tvlm_stack *stack);

/* Returns the shape of what the network makes of images of that size, which have all their levels. The stack
 * must have a network. */
tvlm_texture tvlm_stack_learned_shape(const tvlm_stack *stack, int32_t images, int32_t width, int32_t height);

/* Returns these grids and all that are made from them. Those are the grids of tvlm_grids_with_dependents, and
 * the network's outputs if the network reads one of these grids. */
tvlm_grid_mask tvlm_stack_dependents(const tvlm_stack *stack, tvlm_grid_mask grids);

/* Does what tvlm_layout_parse does, but also knows the names of a network's outputs (names.c). There may
 * be none. */
tvlm_status tvlm_learned_parse(const tvlm_learned *learned, const char *text, const tvlm_log *log,
                               int32_t capacity, int32_t *channels, int32_t *count);

#endif
