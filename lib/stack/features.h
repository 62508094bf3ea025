/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/features.h: the encoder's vectors of an image, what the stack keeps beside them, and their cosines
 * with other vectors.
 */
#ifndef TVLM_STACK_FEATURES_H
#define TVLM_STACK_FEATURES_H

#include "stack/stack.h"

/*
 * Hands out the features of image `index` with the lengths of their vectors. The lengths are computed once
 * for each set of features. No levels are made. It fails with ARGUMENT if there are no features.
 */
tvlm_status tvlm_stack_features(tvlm_stack *stack, int32_t index, tvlm_features *features);

/* Returns the value of tvlm_grid_input.cell for a grid that covers the image as this grid of features
 * does. */
float tvlm_stack_features_cell(const tvlm_stack *stack, const tvlm_texture *grid);

/* Returns whether each texel of a level is the mean of the texels below it (tvlm_stack_set_reduce). */
bool tvlm_stack_features_are_means(const tvlm_stack *stack);

/* Hands out the features as a matrix of floats, cells x dimension, row-major. The matrix is made when it is
 * first asked for. The stack owns it, and keeps it only for the image that was asked for last. */
tvlm_status tvlm_stack_features_matrix(tvlm_stack *stack, const tvlm_features *features,
                                       tvlm_buffer **matrix);

/* Hands out such matrices of levels 0 .. levels - 1, one behind the other. The grid must have its levels:
 * tvlm_stack_make must have been called for it before tvlm_stack_features. */
tvlm_status tvlm_stack_features_matrices(tvlm_stack *stack, const tvlm_features *features, int32_t levels,
                                         tvlm_buffer **matrix);

/*
 * Subtracts `mean`, if it is not NULL, from `count` vectors [count * dimension] and normalizes them to unit
 * length. The result is out[count * stride], stride >= dimension, with zeros after each vector.
 *
 * It fails with ARGUMENT if a value is not finite or a vector is zero. The line in the log begins with `what`
 * and, if there are several vectors, says which one is wrong.
 */
tvlm_status tvlm_unit_vectors(const tvlm_log *log, const char *what, const float *vectors, int32_t count,
                              int32_t dimension, const float *mean, int32_t stride, float *out);

/* The vectors of a question [count * dimension]. They are in the device's memory if `memory` is not NULL, and
 * otherwise on the host. If `mean` [dimension] is not NULL, it is subtracted from each of them. */
typedef struct tvlm_vectors {
    const float *vectors;
    const struct tvlm_memory *memory;
    const float *mean;
    int32_t count, dimension;
} tvlm_vectors;

/*
 * Computes the cosines of all cells with each vector by one SGEMM: cosines[query * cells + cell]. The buffer
 * is scratch memory of the stack. It fails with ARGUMENT if the dimension is not that of the features, or
 * where tvlm_unit_vectors would.
 */
tvlm_status tvlm_stack_cosines(tvlm_stack *stack, const tvlm_features *features, const tvlm_vectors *vectors,
                               tvlm_buffer **cosines);

/*
 * Writes the cosine of each cell with a vector to component 0 of `out`, in the slice of the features' image.
 * If there are several vectors, it writes the largest or the mean of the cosines with them (TVLM_MAPS_*).
 * `out` has the features' size. The errors are those of tvlm_stack_cosines.
 */
tvlm_status tvlm_stack_similarity(tvlm_stack *stack, const tvlm_features *features,
                                  const tvlm_vectors *vectors, int32_t how, tvlm_texture *out);

/* ---- Inside lib/stack ---- */

struct tvlm_chunk;

/* Frees the memory that is kept beside the chunk's features. */
void tvlm_stack_features_release(tvlm_stack *stack, struct tvlm_chunk *chunk);

/* Gives the chunk's features a texture that has all levels, and copies their level 0 into it. This happens
 * when a level other than 0 is read for the first time. */
tvlm_status tvlm_stack_features_levels(tvlm_stack *stack, struct tvlm_chunk *chunk);

#endif
