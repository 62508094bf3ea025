/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/query.h: the question about an image. Its answer is a grid of similarities, which is the channel
 * query_similarity.
 */
#ifndef TVLM_STACK_QUERY_H
#define TVLM_STACK_QUERY_H

#include "stack/stack.h"
#include "texturevlm/score.h"

/* Refuses a query that no image could answer. It checks the parts that the query consists of, their counts,
 * and whether all values are finite. */
tvlm_status tvlm_query_check(const tvlm_log *log, const struct tvlm_query *query);

/*
 * Sets the question about image `index`. From then on, query_similarity of this image is the query's own
 * grid, or the similarity of the image's features with the query's vectors; it is 0 for all other images. If
 * `query` is NULL, the last question is forgotten, so that a selection never depends on the question before
 * it. After an error, either the last question is still set, or there is none.
 */
tvlm_status tvlm_query_upload(tvlm_stack *stack, int32_t index, const struct tvlm_query *query);

/* Returns whether a query has vectors, on the host or on the device. */
static inline bool tvlm_query_has_vectors(const struct tvlm_query *query) {
    return query->vectors != NULL || query->vectors_in != NULL;
}

/* Hands out the query's vectors on the host. If they are on the device, they are read into *owned, and the
 * call waits for that. The caller frees *owned, also after an error. */
tvlm_status tvlm_query_vectors(tvlm_device *device, const struct tvlm_query *query, const float **vectors,
                               float **owned);

/* ---- Some of the cells ---- */

/* A question whose answer is wanted for only some of the cells. */
typedef struct tvlm_sparse_query {
    /* The features of the image, or its embedding as if it were features. */
    tvlm_features features;
    /* The number of vectors, and the floats from one to the next. */
    int32_t count, stride;
    /* If set, a cell's answer is the mean of its cosines; otherwise the largest of them. */
    bool mean;
    /* The vectors [count * stride] that each cell is multiplied with. Each is filled up with zeros. */
    float *vectors;
} tvlm_sparse_query;

/* Begins such a question. The query must have vectors. The caller ends the question even after an error. */
tvlm_status tvlm_sparse_query_begin(tvlm_stack *stack, int32_t index, const struct tvlm_query *query,
                                    tvlm_sparse_query *sparse);
void tvlm_sparse_query_end(tvlm_sparse_query *sparse);
/* Returns the answer for a cell that has these similarities, one for each vector. */
float tvlm_sparse_query_combine(const tvlm_sparse_query *sparse, const float *similarities);
/* Computes the answers for `count` cells, each given as row * width + column of the features. A cell's answer
 * combines its similarities with all vectors. Waits for the device. */
tvlm_status tvlm_sparse_query_cells(tvlm_stack *stack, const tvlm_sparse_query *sparse, const int32_t *cells,
                                    int32_t count, float *similarities);
/* Sets a map of similarities [height * width], which has the size of the features, as the query_similarity of
 * image `index`, in the same way as tvlm_query_upload. */
tvlm_status tvlm_sparse_query_upload(tvlm_stack *stack, int32_t index, const tvlm_sparse_query *sparse,
                                     const float *map);

#endif
