/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/embedding.h: the embedding as compressed features.
 */
#ifndef TVLM_STACK_EMBEDDING_H
#define TVLM_STACK_EMBEDDING_H

#include "stack/stack.h"

/* Hands out the embedding of image `index` as if it were the image's features. The dimension of these
 * features is 4 * layers, with zeros after the last channel. It fails with ARGUMENT if there is no
 * embedding. */
tvlm_status tvlm_stack_embedded(tvlm_stack *stack, int32_t index, tvlm_features *features);

/* Sets how long each cell's embedding was before it was normalized to unit length, as a share of the length
 * of the cell's vector: shares[cells], each 0 to 1. The shares are forgotten when another embedding is
 * set. */
tvlm_status tvlm_stack_set_shares(tvlm_stack *stack, int32_t index, const float *shares);

/* Does what tvlm_stack_similarity does, for questions that are given by their coordinates in the basis
 * [count * dimension]. A vector of coordinates has at most length 1, and is not normalized. */
tvlm_status tvlm_stack_embedded_similarity(tvlm_stack *stack, const tvlm_features *features,
                                           const float *coordinates, int32_t count, int32_t how,
                                           tvlm_texture *out);

#endif
