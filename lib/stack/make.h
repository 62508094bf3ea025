/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/make.h: making grids when something first reads them.
 */
#ifndef TVLM_STACK_MAKE_H
#define TVLM_STACK_MAKE_H

#include "stack/stack.h"

/* Makes the grids of `mask` (bits 1 << tvlm_grid) and what they need, with their levels, in the textures that
 * hold image `index`. What cannot be made stays as it is: tvlm_stack_made says what there is. */
tvlm_status tvlm_stack_make(tvlm_stack *stack, int32_t index, tvlm_grid_mask mask);

/*
 * The texture in which a channel of image `index` is stored, made if need be, with its levels. The image is
 * number index - *first_image in it. ARGUMENT for a channel that is not stored (position, or not available,
 * or query_similarity of a chunk without a query).
 */
tvlm_status tvlm_stack_texture(tvlm_stack *stack, int32_t index, int32_t channel, tvlm_texture **texture,
                               int32_t *layer, int32_t *component, int32_t *first_image);

/* ---- Inside lib/stack ---- */

struct tvlm_chunk;

/* tvlm_stack_make of one chunk. */
tvlm_status tvlm_stack_ensure(tvlm_stack *stack, struct tvlm_chunk *chunk, tvlm_grid_mask mask);

/* What the backend gets to make a grid of that chunk into its texture. */
tvlm_generate_args tvlm_stack_generate_args(tvlm_stack *stack, struct tvlm_chunk *chunk, tvlm_texture *out);

#endif
