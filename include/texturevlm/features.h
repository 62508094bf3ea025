/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features.h: works with the encoder's own vectors, and asks many questions of them at once. A single question is a
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
#ifndef TEXTUREVLM_FEATURES_H
#define TEXTUREVLM_FEATURES_H

#include <stdbool.h>

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

/* ---- Bases ---- */

/*
 * Replaces an encoder's long vectors by a few numbers each: their coordinates along orthonormal
 * directions.
 *
 *     tvlm_basis *basis = NULL;
 *     tvlm_basis_load("basis.safetensors", log, &basis); // io_basis.h
 *     tvlm_stack_embed(stack, 0, basis); // the features' coordinates become the image's embedding
 *
 * A basis has k directions of D components. If it is centred, it also has a mean, which is subtracted first.
 * The k coordinates of a cell's vector, scaled to unit length, are the channels embedding_0 ..
 * embedding_(k-1). A question then reads far less: the vectors of 64 x 64 cells with 768 components take 6 MB
 * in half precision, and 16 coordinates of each take 128 KB. Answers are close and not exact: bench/bases.py
 * has a table.
 *
 * To rank the patches of one image, a basis of that image's own patches that is *not centred* is the best by
 * far (tvlm_basis_of_image in lab/trainer.h). Not centred is the default wherever a basis is made. The reason is
 * that questions differ from patches most along the mean of the patches, and subtracting that mean changes what a
 * cosine compares.
 *
 * A basis lives on the host, belongs to no device, and never changes: any number of threads may read it.
 */

#define TVLM_BASIS_K_DEFAULT     16
#define TVLM_BASIS_DIMENSION_MAX 65536

typedef struct tvlm_basis tvlm_basis;

/* How a basis is made from vectors of D components. */
typedef enum tvlm_basis_method {
    /* The covariance up to 1536 components, and the range finder beyond. */
    TVLM_BASIS_AUTO = 0,
    /* The exact method: all D x D products, and their eigenvectors. */
    TVLM_BASIS_COVARIANCE,
    /* The randomized range finder of Halko, Martinsson & Tropp (2011): it needs D x (k + 16) numbers. */
    TVLM_BASIS_RANGE_FINDER
} tvlm_basis_method;

/* What a basis consists of. */
struct tvlm_basis_params {
    /* D and k, with 1 <= k <= dimension. */
    int32_t dimension, k;
    bool centred;
    /* How many vectors it was made from, 0 or more; 0 means that this is unknown. */
    int64_t vectors;
    /* How it was made, in one short word or two. NULL means "given". */
    const char *method;
    /* [dimension]: the mean, within -1e15 .. 1e15. It is read only if the basis is centred. NULL means 0. */
    const float *mean;
    /* [k * dimension], row-major: the directions, which are orthonormal to 1e-3. */
    const float *components;
    /* [k]: the share of the variance along each direction, or, if the basis is not centred, of the sum of
     * squares. It is 0 to 1, and may be beyond by 1e-3 for rounding. NULL means 0. */
    const float *variance;
    uint64_t reserved[4];
};
#define tvlm_basis_params(...) TVLM_PARAMS(tvlm_basis_params, __VA_ARGS__)

/*
 * Creates a basis from numbers, which are copied. Errors: ARGUMENT (k larger than the dimension, a value that
 * is not finite, rows that are not orthonormal), MEMORY.
 */
TVLM_API tvlm_status tvlm_basis_create(const struct tvlm_basis_params *params, const tvlm_log *log,
                                       tvlm_basis **basis);
TVLM_API void tvlm_basis_destroy(tvlm_basis **basis);

/* Tells what tvlm_basis_create was given. No pointer in it is NULL: a basis that is not centred has a mean of
 * zeros. All pointers are valid while the basis lives. */
TVLM_API tvlm_status tvlm_basis_get_params(const tvlm_basis *basis, struct tvlm_basis_params *params);

/*
 * Computes the coordinates of `count` vectors [count * dimension] on the host: out[count * k]. A vector v has
 * the coordinates components (v - mean); they are not scaled to unit length.
 */
TVLM_API void tvlm_basis_project(const tvlm_basis *basis, const float *vectors, int64_t count, float *out);

/*
 * Computes the coordinates of the features of image `index` and makes them the image's embedding, as
 * tvlm_stack_set_grid would: unit vectors, on the grid of the features. It happens on the device. Errors:
 * ARGUMENT (no features; a basis of another dimension than theirs, or with k > 64; an embedding of another
 * size than that of another image), DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_embed(tvlm_stack *stack, int32_t index, const tvlm_basis *basis);

#ifdef __cplusplus
}
#endif
#endif
