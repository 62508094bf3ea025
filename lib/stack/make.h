/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/make.h: making grids when something first reads them.
 */
#ifndef TVLM_STACK_MAKE_H
#define TVLM_STACK_MAKE_H

#include "stack/stack.h"

/* Makes the grids of `mask` and what they need, with their levels, in the textures that hold image `index`.
 * What cannot be made stays as it is: tvlm_stack_made says what there is. */
tvlm_status tvlm_stack_make(tvlm_stack *stack, int32_t index, tvlm_grid_mask mask);

/*
 * Hands out the texture in which a channel of image `index` is stored, and where in it. Its content and
 * levels are made if need be. The image is number index - *first_image in it. ARGUMENT for a channel that is
 * not stored: one of the family position, one that is not available, or query_similarity where the chunk has
 * no query.
 */
tvlm_status tvlm_stack_texture(tvlm_stack *stack, int32_t index, int32_t channel, tvlm_texture **texture,
                               int32_t *layer, int32_t *component, int32_t *first_image);

/*
 * Makes level 0 of a grid, and its levels together with the next ones that are made, if not before, when somebody reads
 * them. Until then tvlm_stack_held has it, and tvlm_stack_made does not.
 */
tvlm_status tvlm_stack_make_later(tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* ---- Inside lib/stack ---- */

struct tvlm_chunk;

/* Does what tvlm_stack_make does, for a chunk. */
tvlm_status tvlm_stack_ensure(tvlm_stack *stack, struct tvlm_chunk *chunk, tvlm_grid_mask mask);

/* The same with level 0 of one grid alone, for who reads it once: it counts as out of date still. */
tvlm_status tvlm_stack_ensure_level_0(tvlm_stack *stack, struct tvlm_chunk *chunk, tvlm_grid grid);

/* Returns what the backend gets to make a grid of that chunk, in the texture `out`. */
tvlm_generate_args tvlm_stack_generate_args(tvlm_stack *stack, struct tvlm_chunk *chunk, tvlm_texture *out);

#endif
