/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/query.h: the question to an image: a grid of similarities, which is the channel query_similarity.
 */
#ifndef TVLM_STACK_QUERY_H
#define TVLM_STACK_QUERY_H

#include "stack/stack.h"
#include "texturevlm/score.h"

/*
 * Puts the query's grid, or what its vectors make of the features, into the chunk of image `index`
 * (query_similarity; 0 for all other images), or forgets the last one where `query` is NULL: what a question
 * sees never depends on the one before.
 */
tvlm_status tvlm_query_upload(tvlm_stack *stack, int32_t index, const struct tvlm_query *query);

/* ---- Some of the cells ---- */

typedef struct tvlm_sparse_query {
    tvlm_features features; /* the image's, or its embedding */
    int32_t count, stride;  /* of the vectors */
    bool mean;              /* of several cosines; else the largest */
    float *vectors;         /* [count * stride] what cells are multiplied with; zeros behind the dimension */
} tvlm_sparse_query;

/* Of a query with vectors. To be ended in any case. */
tvlm_status tvlm_sparse_query_begin(tvlm_stack *stack, int32_t index, const struct tvlm_query *query,
                                    tvlm_sparse_query *sparse);
void tvlm_sparse_query_end(tvlm_sparse_query *sparse);
/* What several vectors' similarities [count] come to. */
float tvlm_sparse_query_combine(const tvlm_sparse_query *sparse, const float *similarities);
/* The similarities of the `count` cells (row * width + column of the features) listed. Waits. */
tvlm_status tvlm_sparse_query_cells(tvlm_stack *stack, const tvlm_sparse_query *sparse, const int32_t *cells,
                                    int32_t count, float *similarities);
/* Makes a map of similarities [height * width], of the features' size, the query_similarity of that image. */
tvlm_status tvlm_sparse_query_upload(tvlm_stack *stack, int32_t index, const tvlm_sparse_query *sparse,
                                     const float *map);

#endif
