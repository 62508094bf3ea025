/*
 * stack/grids.h: the shapes of grids, where channels are stored in them, and what of them is out of date.
 */
#ifndef TVLM_STACK_GRIDS_H
#define TVLM_STACK_GRIDS_H

#include "stack/inside.h"

/* The texture of a grid, created when there is none; its content is not made. */
tvlm_status tvlm_stack_grid_texture(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid grid,
                                    tvlm_texture **texture);

/* The shape of a grid for `images` images; QUERY has the size of the present query, or the image's without
 * one. */
tvlm_texture tvlm_stack_grid_shape(const tvlm_stack *stack, tvlm_grid grid, int32_t images);

/* Forgets the query: query_similarity is 0 everywhere again. */
void tvlm_stack_drop_query(tvlm_stack *stack);

/* Where a channel of this stack is stored: handed in, generated, a formula, or nowhere (NONE: 0 everywhere).
 */
tvlm_channel_place tvlm_stack_place(const tvlm_stack *stack, int32_t channel);

/* The grids that channels are stored in. */
tvlm_grid_mask tvlm_stack_grids_of(const tvlm_stack *stack, const int32_t *channels, int32_t count);

/* What `grids` hold has changed: whatever was made from them is out of date, and their levels are. */
void tvlm_stack_outdate(tvlm_chunk *chunk, tvlm_grid_mask grids);

#endif
