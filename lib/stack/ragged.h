/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/ragged.h: batches of images of different sizes (tvlm_stack_params.sizes).
 */
#ifndef TVLM_STACK_RAGGED_H
#define TVLM_STACK_RAGGED_H

#include "stack/stack.h"

/* What a ragged batch has where no layout is given: all that it can have. */
#define TVLM_LAYOUT_RAGGED                                                                                   \
    "r,g,b,edges,edges_inv,high,low,x,y,eccentricity,laplacian,entropy,sharpness,edge_x,edge_y,rgb_var,rgb_mean"

/* Checks the sizes, sets width and height, which are 0, to the largest, and says the layout if there is none. Parameters
 * without sizes stay as they are. */
tvlm_status tvlm_stack_check_sizes(const tvlm_device *device, struct tvlm_stack_params *params);

/* Takes a copy of the sizes, if there are any. The stack has its images. */
tvlm_status tvlm_stack_take_sizes(tvlm_stack *stack, const int32_t *sizes);

/* Fails with the name of a grid that a ragged batch cannot have, if there is one among those. */
tvlm_status tvlm_stack_check_ragged(const tvlm_stack *stack, tvlm_grid_mask mask);

/* The size of a working image. */
void tvlm_stack_size_of(const tvlm_stack *stack, int32_t index, int32_t *width, int32_t *height);

/* Makes room for what a texture of that many images says of each (struct tvlm_texture); *parts is NULL where the batch is not
 * ragged. The caller frees it. */
tvlm_status tvlm_stack_parts(const tvlm_stack *stack, int32_t images, tvlm_texture_part **parts);

/* How many levels a working image has. */
int32_t tvlm_stack_levels_of(const tvlm_stack *stack, int32_t index);

/* Refuses an image that the batch has not. tvlm_stack_check_index also refuses all images of ragged batches. */
tvlm_status tvlm_stack_check_image_number(const tvlm_stack *stack, int32_t index);

#endif
