/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/features.h: the encoder's vectors of an image, what is kept beside them, and cosines with them.
 */
#ifndef TVLM_STACK_FEATURES_H
#define TVLM_STACK_FEATURES_H

#include "stack/stack.h"

/*
 * The features of image `index`, with the lengths of their vectors, which are made once for each set of them.
 * ARGUMENT where there are none. No levels are made.
 */
tvlm_status tvlm_stack_features(tvlm_stack *stack, int32_t index, tvlm_features *features);

/* As rows of a matrix of floats, cells x dimension, row-major. Made when first asked for, kept for the image
 * that asked last; the stack's. */
tvlm_status tvlm_stack_features_matrix(tvlm_stack *stack, const tvlm_features *features,
                                       tvlm_buffer **matrix);

/*
 * `count` vectors of `dimension` (row-major), less `mean` (NULL: 0), as unit vectors out[count * stride],
 * stride >= dimension, zeros behind each. ARGUMENT with a line that begins with `what`: a value that is not
 * finite, a zero vector (`what` of them by number where there are several).
 */
tvlm_status tvlm_unit_vectors(const tvlm_log *log, const char *what, const float *vectors, int32_t count,
                              int32_t dimension, const float *mean, int32_t stride, float *out);

/*
 * The cosines of every cell with each of `count` vectors: cosines[query * cells + cell], the stack's scratch.
 * One SGEMM. ARGUMENT: another dimension than the features', and as tvlm_unit_vectors.
 */
tvlm_status tvlm_stack_cosines(tvlm_stack *stack, const tvlm_features *features, const float *vectors,
                               int32_t count, int32_t dimension, const float *mean, tvlm_buffer **cosines);

/* Into component 0 of the features' image of `out`, which has their size: the cosine with one vector, or the
 * largest or mean (TVLM_MAPS_*) of those with several. Errors as tvlm_stack_cosines. */
tvlm_status tvlm_stack_similarity(tvlm_stack *stack, const tvlm_features *features, const float *vectors,
                                  int32_t count, int32_t dimension, const float *mean, int32_t how,
                                  tvlm_texture *out);

/* ---- Inside lib/stack ---- */

struct tvlm_chunk;

/* The memory beside the chunk's features goes. */
void tvlm_stack_features_release(tvlm_stack *stack, struct tvlm_chunk *chunk);

/* Level 0 of the chunk's features into a texture that has all levels: the first time that one is read. */
tvlm_status tvlm_stack_features_levels(tvlm_stack *stack, struct tvlm_chunk *chunk);

#endif
