/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/embedding.h: the embedding as compressed features.
 */
#ifndef TVLM_STACK_EMBEDDING_H
#define TVLM_STACK_EMBEDDING_H

#include "stack/stack.h"

/* Hands out the embedding of image `index` as if it were its features. Their dimension is 4 * layers; behind
 * the last channel they are zeros. ARGUMENT where there is no embedding. */
tvlm_status tvlm_stack_embedded(tvlm_stack *stack, int32_t index, tvlm_features *features);

/* Sets [cells] how long each cell's embedding was, relative to its vector, before it was brought to unit
 * length: 0 .. 1. They are forgotten when another embedding is set. */
tvlm_status tvlm_stack_set_shares(tvlm_stack *stack, int32_t index, const float *shares);

/* Does what tvlm_stack_similarity does, for questions that are coordinates [count * dimension] in the basis.
 * They are not longer than 1, and are taken as they are. */
tvlm_status tvlm_stack_embedded_similarity(tvlm_stack *stack, const tvlm_features *features,
                                           const float *coordinates, int32_t count, int32_t how,
                                           tvlm_texture *out);

#endif
