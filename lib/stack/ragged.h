/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/ragged.h: batches of images of different sizes (tvlm_stack_params.sizes).
 */
#ifndef TVLM_STACK_RAGGED_H
#define TVLM_STACK_RAGGED_H

#include "stack/stack.h"

/* The layout of a ragged batch if none is given: all channels that such a batch can have. */
#define TVLM_LAYOUT_RAGGED                                                                                   \
    "r,g,b,edges,edges_inv,high,low,x,y,eccentricity,laplacian,entropy,sharpness,edge_x,edge_y,rgb_var,rgb_mean"

/* Checks the sizes of a ragged batch. Sets width and height, which must be 0, to the largest ones, and fills
 * in the layout if none is given. Parameters without sizes stay as they are. */
tvlm_status tvlm_stack_check_sizes(const tvlm_device *device, struct tvlm_stack_params *params);

/* Takes a copy of the sizes, if there are any. The stack's images must have been created. */
tvlm_status tvlm_stack_take_sizes(tvlm_stack *stack, const int32_t *sizes);

/* Fails if the stack is a ragged batch and one of these grids is one that such a batch cannot have. The line
 * names the grid. */
tvlm_status tvlm_stack_check_ragged(const tvlm_stack *stack, tvlm_grid_mask mask);

/* Finds the size of a working image. */
void tvlm_stack_size_of(const tvlm_stack *stack, int32_t index, int32_t *width, int32_t *height);

/* Makes room for what a ragged texture of that many images says of each of them (struct tvlm_texture). *parts
 * is NULL if the batch is not ragged. The caller frees it. */
tvlm_status tvlm_stack_parts(const tvlm_stack *stack, int32_t images, tvlm_texture_part **parts);

/* Returns how many levels a working image has. */
int32_t tvlm_stack_levels_of(const tvlm_stack *stack, int32_t index);

/* Refuses an index that is not one of the batch's images. tvlm_stack_check_index also refuses every image of
 * a ragged batch. */
tvlm_status tvlm_stack_check_image_number(const tvlm_stack *stack, int32_t index);

#endif
