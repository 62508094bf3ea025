/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/features.h: the encoder's vectors of an image, what is kept beside them, and cosines with them.
 */
#ifndef TVLM_STACK_FEATURES_H
#define TVLM_STACK_FEATURES_H

#include "stack/stack.h"

/*
 * Hands out the features of image `index` with the lengths of their vectors, which are computed once for each
 * set of features. No levels are made. ARGUMENT where there are no features.
 */
tvlm_status tvlm_stack_features(tvlm_stack *stack, int32_t index, tvlm_features *features);

/* Hands out the features as a matrix of floats, cells x dimension, row-major. It is made when it is first
 * asked for, kept for the image that asked last, and belongs to the stack. */
tvlm_status tvlm_stack_features_matrix(tvlm_stack *stack, const tvlm_features *features,
                                       tvlm_buffer **matrix);

/*
 * Takes `mean` (NULL: nothing) off `count` vectors [count * dimension] and brings them to unit length:
 * out[count * stride], stride >= dimension, with zeros behind each. ARGUMENT for a value that is not finite
 * or a vector of zeros, with a line that begins with `what`, and says which of several it is.
 */
tvlm_status tvlm_unit_vectors(const tvlm_log *log, const char *what, const float *vectors, int32_t count,
                              int32_t dimension, const float *mean, int32_t stride, float *out);

/*
 * Computes the cosines of all cells with each of `count` vectors by one SGEMM: cosines[query * cells + cell],
 * which is scratch of the stack. ARGUMENT for another dimension than that of the features, and where
 * tvlm_unit_vectors says so.
 */
tvlm_status tvlm_stack_cosines(tvlm_stack *stack, const tvlm_features *features, const float *vectors,
                               int32_t count, int32_t dimension, const float *mean, tvlm_buffer **cosines);

/* Writes the cosines with one vector, or the largest or the mean (TVLM_MAPS_*) of those with several, to
 * component 0 of `out`, which has the features' size, for the features' image. Errors are those of
 * tvlm_stack_cosines. */
tvlm_status tvlm_stack_similarity(tvlm_stack *stack, const tvlm_features *features, const float *vectors,
                                  int32_t count, int32_t dimension, const float *mean, int32_t how,
                                  tvlm_texture *out);

/* ---- Inside lib/stack ---- */

struct tvlm_chunk;

/* Frees the memory that is kept beside the chunk's features. */
void tvlm_stack_features_release(tvlm_stack *stack, struct tvlm_chunk *chunk);

/* Gives the chunk's features a texture that has all levels, the first time that one is read, with their level
 * 0 in it. */
tvlm_status tvlm_stack_features_levels(tvlm_stack *stack, struct tvlm_chunk *chunk);

#endif
