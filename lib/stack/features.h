/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/features.h: the encoder's vectors of an image, what is kept beside them, and cosines with them.
 */
#ifndef TVLM_STACK_FEATURES_H
#define TVLM_STACK_FEATURES_H

#include "stack/stack.h"

/*
 * Hands out the features of image `index` with the lengths of their vectors, which are computed once for each
 * set of features. No levels are made. It fails with ARGUMENT if there are no features.
 */
tvlm_status tvlm_stack_features(tvlm_stack *stack, int32_t index, tvlm_features *features);

/* What tvlm_grid_input calls the cell of a grid that lies in the image as this one of features does. */
float tvlm_stack_features_cell(const tvlm_stack *stack, const tvlm_texture *grid);

/* Whether each texel of a level is the mean of those below it (tvlm_stack_set_reduce). */
bool tvlm_stack_features_are_means(const tvlm_stack *stack);

/* Hands out the features as a matrix of floats, cells x dimension, row-major. It is made when it is first
 * asked for, kept for the image that asked last, and belongs to the stack. */
tvlm_status tvlm_stack_features_matrix(tvlm_stack *stack, const tvlm_features *features,
                                       tvlm_buffer **matrix);

/* Hands out the same of levels 0 .. levels - 1, one behind the other. The grid has its levels: tvlm_stack_make
 * was asked for them before tvlm_stack_features. */
tvlm_status tvlm_stack_features_matrices(tvlm_stack *stack, const tvlm_features *features, int32_t levels,
                                         tvlm_buffer **matrix);

/*
 * Subtracts `mean`, if it is not NULL, from `count` vectors [count * dimension] and normalizes them to unit
 * length: out[count * stride], stride >= dimension, with zeros after each vector. It fails with ARGUMENT if a
 * value is not finite or a vector is zero; the line begins with `what`, and says which of several vectors it
 * is.
 */
tvlm_status tvlm_unit_vectors(const tvlm_log *log, const char *what, const float *vectors, int32_t count,
                              int32_t dimension, const float *mean, int32_t stride, float *out);

/* The vectors of a question: [count * dimension] on the host, or in memory of the device where `memory` is not
 * NULL; less `mean` [dimension] where that is not NULL. */
typedef struct tvlm_vectors {
    const float *vectors;
    const struct tvlm_memory *memory;
    const float *mean;
    int32_t count, dimension;
} tvlm_vectors;

/*
 * Computes the cosines of all cells with each vector by one SGEMM: cosines[query * cells + cell]. The buffer
 * is scratch memory of the stack. It fails with ARGUMENT if the dimension is not that of the features, or if
 * tvlm_unit_vectors does.
 */
tvlm_status tvlm_stack_cosines(tvlm_stack *stack, const tvlm_features *features, const tvlm_vectors *vectors,
                               tvlm_buffer **cosines);

/*
 * Writes the cosines with one vector, or the largest or the mean (TVLM_MAPS_*) of the cosines with several,
 * to component 0 of `out` for the features' image. `out` has the features' size. The errors are those of
 * tvlm_stack_cosines.
 */
tvlm_status tvlm_stack_similarity(tvlm_stack *stack, const tvlm_features *features,
                                  const tvlm_vectors *vectors, int32_t how, tvlm_texture *out);

/* ---- Inside lib/stack ---- */

struct tvlm_chunk;

/* Frees the memory that is kept beside the chunk's features. */
void tvlm_stack_features_release(tvlm_stack *stack, struct tvlm_chunk *chunk);

/* Gives the chunk's features a texture that has all levels, the first time that one of these is read, and
 * copies their level 0 into it. */
tvlm_status tvlm_stack_features_levels(tvlm_stack *stack, struct tvlm_chunk *chunk);

#endif
