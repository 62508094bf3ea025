/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/grids.h: the shapes of grids, where channels are stored in them, which textures there are, and which
 * of them are out of date.
 */
#ifndef TVLM_STACK_GRIDS_H
#define TVLM_STACK_GRIDS_H

#include "stack/stack.h"

/* Returns where a channel of this stack is stored: in a grid that was handed in, in a generated grid, as a
 * formula, or nowhere (TVLM_GRID_NONE), so that it is 0 everywhere. */
tvlm_channel_place tvlm_stack_place(const tvlm_stack *stack, int32_t channel);

/* Returns the grids that the channels are stored in. */
tvlm_grid_mask tvlm_stack_grids_of(const tvlm_stack *stack, const int32_t *channels, int32_t count);

/* Returns the texture that holds a grid of image `index`, or NULL if it was never made or is out of date. */
tvlm_texture *tvlm_stack_made(const tvlm_stack *stack, int32_t index, tvlm_grid grid);
/* Returns the same, whether or not it is up to date. */
tvlm_texture *tvlm_stack_held(const tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* Returns whether image `index` has this grid: the grid was handed in, or the image has all that it is made
 * from. */
bool tvlm_stack_has_grid(const tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* Returns how often the content of these grids for image `index` went out of date. If the number has changed,
 * whatever was made from the grids before is out of date. */
uint64_t tvlm_stack_outdated(const tvlm_stack *stack, int32_t index, tvlm_grid_mask grids);

/* ---- Inside lib/stack ---- */

struct tvlm_chunk;
struct tvlm_stack_image;

/* Returns the shape of a grid for `images` images. The query grid has the size of the present question or, if
 * there is none, that of the image. */
tvlm_texture tvlm_stack_grid_shape(const tvlm_stack *stack, tvlm_grid grid, int32_t images);

/* Returns the shape of a grid for one image of a ragged batch, as if it were alone. */
tvlm_texture tvlm_stack_image_shape(const tvlm_stack *stack, tvlm_grid grid, int32_t index);

/* Hands out the texture of a grid, and creates it if there is none. Its content is not made. */
tvlm_status tvlm_stack_grid_texture(tvlm_stack *stack, struct tvlm_chunk *chunk, tvlm_grid grid,
                                    tvlm_texture **texture);

/* Notes that the content of `grids` has changed. These grids and their levels are out of date then, and so is
 * all that was made from them. */
void tvlm_stack_outdate(const tvlm_stack *stack, struct tvlm_chunk *chunk, tvlm_grid_mask grids);

/* Returns false for a grid that needs a previous frame (motion, temporal), if the chunk has none. */
bool tvlm_stack_has_previous(const struct tvlm_chunk *chunk, tvlm_grid grid);

/* Forgets the question, so that query_similarity is 0 everywhere again. */
void tvlm_stack_drop_query(tvlm_stack *stack);

#endif
