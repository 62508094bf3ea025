/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/bytes.h: stacks of bytes (TVLM_FORMAT_U8): which of their grids are bytes, and what such a stack
 * cannot have.
 */
#ifndef TVLM_STACK_BYTES_H
#define TVLM_STACK_BYTES_H

#include "core/learned.h"
#include "stack/stack.h"

/* Return the range of a grid's values, which decides whether a stack of bytes stores the grid in bytes. The
 * first function takes the network of the stack, or NULL if the stack has none. */
tvlm_range tvlm_learned_range(const tvlm_learned *learned, tvlm_grid grid);
tvlm_range tvlm_stack_range(const tvlm_stack *stack, tvlm_grid grid);

/*
 * Both do nothing unless the stack is one of bytes.
 * - tvlm_stack_check_bytes refuses a device that cannot have such stacks, and a channel of the layout that
 *   bytes cannot hold.
 * - tvlm_stack_check_plane refuses a plane of the application's own that bytes cannot hold.
 */
tvlm_status tvlm_stack_check_bytes(const tvlm_stack *stack);
tvlm_status tvlm_stack_check_plane(const tvlm_stack *stack, const tvlm_channel_info *plane);

#endif
