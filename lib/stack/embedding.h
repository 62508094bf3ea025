/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/embedding.h: the embedding as compressed features.
 */
#ifndef TVLM_STACK_EMBEDDING_H
#define TVLM_STACK_EMBEDDING_H

#include "stack/stack.h"

/* The embedding of image `index` as if it were its features (dimension: 4 * layers, zeros behind the last
 * channel). ARGUMENT where there is none. */
tvlm_status tvlm_stack_embedded(tvlm_stack *stack, int32_t index, tvlm_features *features);

/* How long each cell's embedding was beside its vector, before it was brought to unit length: [cells], 0
 * .. 1. They go when another embedding is set. */
tvlm_status tvlm_stack_set_shares(tvlm_stack *stack, int32_t index, const float *shares);

/* As tvlm_stack_similarity, with questions that are coordinates [count * dimension], not longer than 1, taken
 * as they are. */
tvlm_status tvlm_stack_embedded_similarity(tvlm_stack *stack, const tvlm_features *features,
                                           const float *coordinates, int32_t count, int32_t how,
                                           tvlm_texture *out);

#endif
