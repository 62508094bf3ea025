/*
 * stack/given.h: grids that are handed in, and which images have one.
 */
#ifndef TVLM_STACK_GIVEN_H
#define TVLM_STACK_GIVEN_H

#include "stack/inside.h"

/*
 * Makes room for a grid of that size for image `index`: its texture, with whatever the chunk's other images
 * have in it. ARGUMENT where another image's grid has another size (`name` for the line).
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

/* The slices of images that have none: zeros, or what the grid stands for, which is made. */
tvlm_status tvlm_stack_given_complete(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid grid,
                                      tvlm_texture *texture);

#endif
