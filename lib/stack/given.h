/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/given.h: grids that are handed in, and which images have one.
 */
#ifndef TVLM_STACK_GIVEN_H
#define TVLM_STACK_GIVEN_H

#include "stack/stack.h"

/* What the grids that were handed in for one family have in common. It has 0 columns if there is no such
 * grid. */
typedef struct tvlm_given {
    int32_t columns, rows, layers;
    int32_t dimension; /* how long the vectors of features are; 0 for other grids */
    float extent_x, extent_y;
    int32_t images; /* how many images have such a grid */
} tvlm_given;

/* Returns the dimension of the features that were handed in, or 0 if there are none. */
int32_t tvlm_stack_given_dimension(const tvlm_stack *stack, tvlm_grid grid);

/*
 * Makes room for a grid of that size for image `index`. *texture is the texture that holds it; what other
 * images have in this texture stays as it is. The caller writes the image's slices, and then calls
 * tvlm_stack_given_end. It fails with ARGUMENT if the grid of another image has another size; the line begins
 * with `name`.
 */
tvlm_status tvlm_stack_given_begin(tvlm_stack *stack, int32_t index, tvlm_grid grid, const tvlm_given *size,
                                   const char *name, tvlm_texture **texture);

/* Says that the slices of image `index` are written. From now on the image has a grid. */
void tvlm_stack_given_end(tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* Says that image `index` has no grid, whatever is in its slices. Textures that no image needs any more are
 * destroyed. */
void tvlm_stack_given_clear(tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* Does the same, but keeps the texture. It is meant for cases where another grid is expected soon, since
 * drivers take long to create textures. Returns false if the image had no grid. */
bool tvlm_stack_given_pause(tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* Clears the grids of all images, unless the grids have this size. */
void tvlm_stack_given_make_room(tvlm_stack *stack, tvlm_grid grid, const tvlm_given *size);

/*
 * Exchanges the grid's texture for *texture, as if the content of *texture had been handed in. The stack must
 * have one image, and *texture must have the grid's shape. Afterwards *texture is the grid's former texture,
 * or NULL if it had none, and belongs to the caller.
 */
void tvlm_stack_given_exchange(tvlm_stack *stack, tvlm_grid grid, tvlm_texture **texture);

/* ---- Inside lib/stack ---- */

struct tvlm_chunk;

/* Fills the slices of those images of the chunk that have no such grid. They get the generated channels that
 * the grid replaces, if these are made, and otherwise zeros. */
tvlm_status tvlm_stack_given_complete(tvlm_stack *stack, struct tvlm_chunk *chunk, tvlm_grid grid,
                                      tvlm_texture *texture);

#endif
