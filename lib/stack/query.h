/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/query.h: the question to an image: a grid of similarities, which is the channel query_similarity.
 */
#ifndef TVLM_STACK_QUERY_H
#define TVLM_STACK_QUERY_H

#include "stack/stack.h"
#include "texturevlm/score.h"

/*
 * Begins a question about image `index` and commits it: from then on query_similarity is the query's own
 * grid, or what its vectors make of the image's features, and 0 for all other images. Where `query` is NULL,
 * the last question is forgotten: what a question sees never depends on the one before. After an error
 * there is no question, or still the last one.
 */
tvlm_status tvlm_query_upload(tvlm_stack *stack, int32_t index, const struct tvlm_query *query);

/* ---- Some of the cells ---- */

/* A question whose answer is wanted for some of the cells only. */
typedef struct tvlm_sparse_query {
    tvlm_features features; /* those of the image, or its embedding as if it were features */
    int32_t count, stride;  /* how many vectors, and from one to the next */
    bool mean;              /* a cell's answer is the mean of several cosines, not the largest */
    float *vectors;         /* [count * stride] what cells are multiplied with; zeros behind the dimension */
} tvlm_sparse_query;

/* Begins such a question; the query must have vectors. It is to be ended even after an error. */
tvlm_status tvlm_sparse_query_begin(tvlm_stack *stack, int32_t index, const struct tvlm_query *query,
                                    tvlm_sparse_query *sparse);
void tvlm_sparse_query_end(tvlm_sparse_query *sparse);
/* The answer of a cell with these similarities, one for each vector. */
float tvlm_sparse_query_combine(const tvlm_sparse_query *sparse, const float *similarities);
/* The answers of the `count` cells that are listed (row * width + column of the features). Waits for the
 * device. */
tvlm_status tvlm_sparse_query_cells(tvlm_stack *stack, const tvlm_sparse_query *sparse, const int32_t *cells,
                                    int32_t count, float *similarities);
/* Makes a map of similarities [height * width], which has the size of the features, the query_similarity of
 * image `index`, as tvlm_query_upload does. */
tvlm_status tvlm_sparse_query_upload(tvlm_stack *stack, int32_t index, const tvlm_sparse_query *sparse,
                                     const float *map);

#endif
