/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/vectors.h: the encoder's vectors of an image on the host.
 */
#ifndef TVLM_SELECT_VECTORS_H
#define TVLM_SELECT_VECTORS_H

#include "stack/stack.h"

/* Reads the vectors of all cells into vectors[cells * dimension]. They have length 1, except those of an
 * embedding, which are as long as their share (stack/embedding.h). `lengths` is memory for one number for
 * each cell. The device keeps no second copy of the vectors. */
tvlm_status tvlm_vectors_read(tvlm_stack *stack, const tvlm_features *features, float *vectors,
                              float *lengths);

/* Returns the cell of the vectors in which a place of the working image lies. */
int32_t tvlm_vectors_cell(const tvlm_texture *texture, float x, float y);

#endif
