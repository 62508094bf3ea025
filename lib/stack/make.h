/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/make.h: making grids when something first reads them.
 */
#ifndef TVLM_STACK_MAKE_H
#define TVLM_STACK_MAKE_H

#include "stack/stack.h"

/* Makes the grids of `mask` and what they need, with their levels, in the textures that hold image `index`. A
 * grid that cannot be made is passed over without an error: tvlm_stack_made says which grids there are. */
tvlm_status tvlm_stack_make(tvlm_stack *stack, int32_t index, tvlm_grid_mask mask);

/*
 * Hands out the texture in which a channel of image `index` is stored, with the channel's layer and
 * component. The texture's content and levels are made if need be. In this texture, the image has the number
 * index - *first_image.
 *
 * It fails with ARGUMENT for a channel that is not stored: one of the family position, one that is not
 * available, or query_similarity if the chunk has no query.
 */
tvlm_status tvlm_stack_texture(tvlm_stack *stack, int32_t index, int32_t channel, tvlm_texture **texture,
                               int32_t *layer, int32_t *component, int32_t *first_image);

/*
 * Makes level 0 of a grid now. Its other levels are made later, together with those of the next grids that
 * are made; this happens at the latest when something reads the grid. Until then tvlm_stack_held returns the
 * grid's texture, and tvlm_stack_made returns NULL.
 */
tvlm_status tvlm_stack_make_later(tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* ---- Inside lib/stack ---- */

struct tvlm_chunk;

/* Does what tvlm_stack_make does, for a chunk. */
tvlm_status tvlm_stack_ensure(tvlm_stack *stack, struct tvlm_chunk *chunk, tvlm_grid_mask mask);

/* Does the same with level 0 of one grid alone, for a caller that reads it once. The grid still counts as out
 * of date afterwards. */
tvlm_status tvlm_stack_ensure_level_0(tvlm_stack *stack, struct tvlm_chunk *chunk, tvlm_grid grid);

/* Returns the arguments with which the backend makes a grid of that chunk in the texture `out`. */
tvlm_generate_args tvlm_stack_generate_args(tvlm_stack *stack, struct tvlm_chunk *chunk, tvlm_texture *out);

#endif
