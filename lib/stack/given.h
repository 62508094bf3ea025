/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/given.h: grids that are handed in, and which images have one.
 */
#ifndef TVLM_STACK_GIVEN_H
#define TVLM_STACK_GIVEN_H

#include "stack/stack.h"

/* What the grids that were handed in for one family have in common. It has 0 columns where there is none. */
typedef struct tvlm_given {
    int32_t columns, rows, layers;
    int32_t dimension; /* how long the vectors of features are; 0 for other grids */
    float extent_x, extent_y;
    int32_t images; /* how many images have one */
} tvlm_given;

/* Returns how long the vectors of the features are that were handed in; 0 where there are none. */
int32_t tvlm_stack_given_dimension(const tvlm_stack *stack, tvlm_grid grid);

/*
 * Makes room for a grid of that size for image `index`: *texture is the one that holds it, with whatever
 * other images have in it. Once the image's slices are written, tvlm_stack_given_end is to follow. ARGUMENT
 * where another image's grid has another size, with a line that begins with `name`.
 */
tvlm_status tvlm_stack_given_begin(tvlm_stack *stack, int32_t index, tvlm_grid grid, const tvlm_given *size,
                                   const char *name, tvlm_texture **texture);

/* Says that the slices of image `index` are written: it has a grid now. */
void tvlm_stack_given_end(tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* Says that image `index` has no grid, whatever is in its slices. Textures that no image needs any more are
 * destroyed. */
void tvlm_stack_given_clear(tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* Does the same, but keeps the texture for the next grid, where one is expected: drivers take long to create
 * textures. False where the image had none. */
bool tvlm_stack_given_pause(tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* Clears the grids of all images where they have another size than this. */
void tvlm_stack_given_make_room(tvlm_stack *stack, tvlm_grid grid, const tvlm_given *size);

/*
 * In a stack of one image, makes *texture, which has the shape of the grid's own, the grid's texture, as if
 * its content had been handed in. *texture becomes the one that the grid had, or NULL, and belongs to the
 * caller.
 */
void tvlm_stack_given_exchange(tvlm_stack *stack, tvlm_grid grid, tvlm_texture **texture);

/* ---- Inside lib/stack ---- */

struct tvlm_chunk;

/* Fills the slices of the chunk's images that have no grid: with what the grid stands for, where that is
 * made, else with zeros. */
tvlm_status tvlm_stack_given_complete(tvlm_stack *stack, struct tvlm_chunk *chunk, tvlm_grid grid,
                                      tvlm_texture *texture);

#endif
