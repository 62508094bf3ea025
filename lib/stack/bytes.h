/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/bytes.h: stacks of bytes (TVLM_FORMAT_U8): which of their grids are bytes, and what such a stack cannot have.
 */
#ifndef TVLM_STACK_BYTES_H
#define TVLM_STACK_BYTES_H

#include "stack/stack.h"

/* What bytes hold of a grid, that of a stack with that network or NULL, or of that stack. */
tvlm_range tvlm_network_range(const tvlm_network *network, tvlm_grid grid);
tvlm_range tvlm_stack_range(const tvlm_stack *stack, tvlm_grid grid);

/* Of stacks of bytes: refuse a device that cannot have them, and a channel of the layout or a plane of the application's
 * that they do not hold. */
tvlm_status tvlm_stack_check_bytes(const tvlm_stack *stack);
tvlm_status tvlm_stack_check_plane(const tvlm_stack *stack, const tvlm_channel_info *plane);

#endif
