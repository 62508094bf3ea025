/* SPDX-License-Identifier: Apache-2.0 */
/*
 * basis.h: replaces an encoder's long vectors by a few numbers each: their coordinates along orthonormal
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
#ifndef TEXTUREVLM_BASIS_H
#define TEXTUREVLM_BASIS_H

#include <stdbool.h>

#include "input.h"

#ifdef __cplusplus
extern "C" {
#endif

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
