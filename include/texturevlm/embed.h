/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.h: works with the encoder's own vectors, and asks many questions of them at once. A single question is a
 * tvlm_query (score.h).
 *
 * A CLIP or SigLIP encoder gives each patch of an image a vector. These *features* are handed to a stack as
 * they are:
 *
 *     tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
 *                         tvlm_grid_input(.data = features, .columns = 64, .rows = 64, .channels = 768,
 *                                         .type = TVLM_VALUE_F16));
 *
 * (texturevlm/opencl.h takes them from device memory.) They are kept in the stack's format on their own grid,
 * and can be read as the channels feature_0, feature_1 and so on, like any other channel. Their lengths stay as
 * they are; only cosines divide by them.
 *
 * The vectors of questions may have any length except 0, and all values must be finite. Components of
 * features beyond +-1e15 (in half format +-65504) are clamped. Features shorter than 1e-15 are zero vectors,
 * and their cosine with anything is 0.
 */
#ifndef TEXTUREVLM_EMBED_H
#define TEXTUREVLM_EMBED_H

#include "input.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes the channels word_0 .. word_(count-1) of image `index`. Channel i is the cosine of the image's features
 * with vector i, on the grid of the features. There are up to TVLM_WORDS_MAX vectors, [count * dimension], which
 * may be changed or freed once the call has returned.
 *
 * Words stay until they are set anew. Where the image's features are set anew, its words become 0. A count of 0
 * removes the words of the image. All images of a stack that have words have the same number of them, rounded up
 * to a multiple of four. To change that number, remove the words of all images first.
 *
 * Errors: ARGUMENT (no features, another dimension than theirs, more than TVLM_WORDS_MAX vectors, a value
 * that is not finite, a zero vector), DEVICE_MEMORY, MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_set_words(tvlm_stack *stack, int32_t index, const float *vectors,
                                          int32_t count, int32_t dimension);

/* Tells how large the features of image `index` are: columns and rows of their grid, and the dimension of the
 * vectors. Errors: ARGUMENT (no features, an index, NULL). */
TVLM_API tvlm_status tvlm_stack_get_features(tvlm_stack *stack, int32_t index, int32_t *columns,
                                             int32_t *rows, int32_t *dimension);

/*
 * Computes the cosines of the features of image `index` with any number of vectors, [count * dimension], by one
 * matrix product, and reads them to the host: out[query * rows * columns + row * columns + column], in [-1, 1].
 * `out` has room for `capacity` floats. columns and rows are those of
 * tvlm_stack_channel_size(stack, TVLM_CHANNEL_FEATURE_0, 0, ...). Nothing in the stack changes. The call waits.
 * Errors: those of tvlm_stack_set_words, but with no limit to the number of vectors; ARGUMENT (a capacity that is
 * too small).
 */
TVLM_API tvlm_status tvlm_similarity(tvlm_stack *stack, int32_t index, const float *vectors, int32_t count,
                                     int32_t dimension, size_t capacity, float *out);

#ifdef __cplusplus
}
#endif
#endif
