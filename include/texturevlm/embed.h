/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.h: the encoder's own vectors, and many questions to them at once.
 *
 * A CLIP or SigLIP encoder gives each patch of an image a vector. They are handed to a stack as they are:
 *
 *     tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
 *                         tvlm_grid_input(.data = features, .columns = 64, .rows = 64, .channels = 768,
 *                                         .type = TVLM_VALUE_F16));
 *
 * (texturevlm/opencl.h takes device memory), are kept in the stack's format, four to a layer, on their own
 * grid, and can be read as the channels feature_0 .. like any other. They are not normalised: cosines are.
 * One question is a tvlm_query (score.h); here are those who ask many.
 *
 * Vectors of questions may have any length but 0; values must be finite. Components of features beyond +-1e15
 * (in half format +-65504) are clamped; vectors shorter than 1e-15 are zero vectors, and similar to nothing:
 * 0.
 */
#ifndef TEXTUREVLM_EMBED_H
#define TEXTUREVLM_EMBED_H

#include "input.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The channels word_0 .. word_(count-1) of image `index`: the cosine of its features with each of up to
 * TVLM_WORDS_MAX vectors [count * dimension], on the features' grid. The vectors are free to change when it
 * returns. Words stay until they are set anew or the image's features are (they are 0 then); count 0 takes
 * them back. All images of a stack that have words have equally many layers of four: take them back from all
 * to change that.
 * Errors: ARGUMENT (no features, another dimension than theirs, more than 64, a value that is not finite, a
 * zero vector), DEVICE_MEMORY, MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_set_words(tvlm_stack *stack, int32_t index, const float *vectors,
                                          int32_t count, int32_t dimension);

/*
 * The cosines of image `index`'s features with any number of vectors [count * dimension], on the host:
 * out[query * rows * columns + row * columns + column], in [-1, 1], `capacity` floats there; columns and rows
 * are those of tvlm_stack_channel_size(stack, TVLM_CHANNEL_FEATURE_0, 0, ...). Nothing of the stack changes.
 * One SGEMM for all of them. Waits. Errors as above, and a capacity that is too small.
 */
TVLM_API tvlm_status tvlm_similarity(tvlm_stack *stack, int32_t index, const float *vectors, int32_t count,
                                     int32_t dimension, size_t capacity, float *out);

#ifdef __cplusplus
}
#endif
#endif
