/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/grids.h: the shapes of grids, where channels are stored in them, which textures there are, and what
 * of them is out of date.
 */
#ifndef TVLM_STACK_GRIDS_H
#define TVLM_STACK_GRIDS_H

#include "stack/stack.h"

/* Where a channel of this stack is stored: handed in, generated, a formula, or nowhere (NONE: 0 everywhere).
 */
tvlm_channel_place tvlm_stack_place(const tvlm_stack *stack, int32_t channel);

/* The grids that channels are stored in. */
tvlm_grid_mask tvlm_stack_grids_of(const tvlm_stack *stack, const int32_t *channels, int32_t count);

/* The texture of a grid that holds image `index`; NULL where it was never made, or is out of date. */
tvlm_texture *tvlm_stack_made(const tvlm_stack *stack, int32_t index, tvlm_grid grid);
/* The same, whether or not it is up to date. */
tvlm_texture *tvlm_stack_held(const tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* Image `index` has what the grid holds, or is made of. */
bool tvlm_stack_has_grid(const tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* How often what these grids hold for image `index` went out of date: another number than before says that
 * whatever was made from them is old. */
uint64_t tvlm_stack_outdated(const tvlm_stack *stack, int32_t index, tvlm_grid_mask grids);

/* ---- Inside lib/stack ---- */

struct tvlm_chunk;
struct tvlm_stack_image;

/* The shape of a grid for `images` images; QUERY has the size of the present query, or the image's without
 * one. */
tvlm_texture tvlm_stack_grid_shape(const tvlm_stack *stack, tvlm_grid grid, int32_t images);

/* The texture of a grid, created when there is none; its content is not made. */
tvlm_status tvlm_stack_grid_texture(tvlm_stack *stack, struct tvlm_chunk *chunk, tvlm_grid grid,
                                    tvlm_texture **texture);

/* What `grids` hold has changed: whatever was made from them is out of date, and their levels are. */
void tvlm_stack_outdate(struct tvlm_chunk *chunk, tvlm_grid_mask grids);

/* False for grids that need a previous frame (motion, temporal) where no image of the chunk has one. */
bool tvlm_stack_has_previous(const struct tvlm_chunk *chunk, tvlm_grid grid);

/* Forgets the query: query_similarity is 0 everywhere again. */
void tvlm_stack_drop_query(tvlm_stack *stack);

#endif
