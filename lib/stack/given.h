/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/given.h: grids that are handed in, and which images have one.
 */
#ifndef TVLM_STACK_GIVEN_H
#define TVLM_STACK_GIVEN_H

#include "stack/stack.h"

/* What the grids of all images that were handed in for one family have in common; 0 columns where there is
 * none. */
typedef struct tvlm_given {
    int32_t columns, rows, layers;
    int32_t dimension; /* of features, else 0 */
    float extent_x, extent_y;
    int32_t images; /* that have one */
} tvlm_given;

/* How long the vectors of the features are that were handed in; 0 where there are none. */
int32_t tvlm_stack_given_dimension(const tvlm_stack *stack, tvlm_grid grid);

/*
 * Makes room for a grid of that size for image `index`: its texture, with whatever other images have in it.
 * ARGUMENT where another image's grid has another size (`name` for the line). tvlm_stack_given_end is to
 * follow once the image's slices are written.
 */
tvlm_status tvlm_stack_given_begin(tvlm_stack *stack, int32_t index, tvlm_grid grid, const tvlm_given *size,
                                   const char *name, tvlm_texture **texture);

/* The image's slices are written: it has one. */
void tvlm_stack_given_end(tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* It has none, whatever is in its slices. */
void tvlm_stack_given_clear(tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* The same, but the texture stays for the next one, which may be expected: drivers take their time for
 * textures. False where the image had none. */
bool tvlm_stack_given_pause(tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* Where the images' grids have another size than this, all of them are cleared. */
void tvlm_stack_given_make_room(tvlm_stack *stack, tvlm_grid grid, const tvlm_given *size);

/*
 * Of a stack of one image: the texture handed in, of the same shape as the grid's own, is the grid's from now
 * on, as if its content had been handed in; *texture is the one that it had, or NULL, the caller's.
 */
void tvlm_stack_given_exchange(tvlm_stack *stack, tvlm_grid grid, tvlm_texture **texture);

/* ---- Inside lib/stack ---- */

struct tvlm_chunk;

/* The slices of images that have none: zeros, or what the grid stands for, which is made. */
tvlm_status tvlm_stack_given_complete(tvlm_stack *stack, struct tvlm_chunk *chunk, tvlm_grid grid,
                                      tvlm_texture *texture);

#endif
