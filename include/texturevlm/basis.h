/* SPDX-License-Identifier: Apache-2.0 */
/*
 * basis.h: puts few numbers in place of an encoder's vectors: their coordinates along orthonormal directions.
 *
 *     tvlm_basis *basis = NULL;
 *     tvlm_basis_of_image(stack, 0, NULL, &basis); // 16 directions of the image's own features
 *     tvlm_stack_embed(stack, 0, basis);           // their coordinates become the image's embedding
 *
 * A basis has k directions of D components. If it is centred, it also has a mean, which is subtracted first.
 * The k coordinates of a cell's vector, scaled to unit length, are the channels embedding_0 ..
 * embedding_(k-1). The vectors of 64 x 64 cells with 768 components take 6 MB in half, and 16 coordinates of
 * them 128 KB, which is what a question then reads. Answers are close and not exact: bench/bases.py has a
 * table.
 *
 * To rank the patches of one image, a basis of that image's own patches that is *not centred* is the best by
 * far (tvlm_basis_of_image). Not centred is the default wherever a basis is made: the mean of the patches is
 * where questions differ from them most, and subtracting it changes what a cosine compares.
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
    /* D and k: 1 <= k <= dimension. */
    int32_t dimension, k;
    bool centred;
    /* How many vectors it was made from, 0 or more; 0 means that this is unknown. */
    int64_t vectors;
    /* How it was made, in one short word or two. NULL means "given". */
    const char *method;
    /* [dimension]: the mean, which is looked at if the basis is centred; within -1e15 .. 1e15. NULL means 0. */
    const float *mean;
    /* [k * dimension], row-major: the directions, which are orthonormal to 1e-3. */
    const float *components;
    /* [k]: the share of the variance along each direction (not centred: of the sum of squares), 0 to 1 but
     * for 1e-3 of rounding. NULL means 0. */
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

/* Tells what tvlm_basis_create was given. No pointer in it is NULL (a basis that is not centred has a mean of
 * zeros), and all are valid while the basis lives. */
TVLM_API tvlm_status tvlm_basis_get_params(const tvlm_basis *basis, struct tvlm_basis_params *params);

/*
 * Computes the coordinates of `count` vectors [count * dimension] on the host: out[count * k]. A vector v has
 * the coordinates components (v - mean); they are not scaled to unit length.
 */
TVLM_API void tvlm_basis_project(const tvlm_basis *basis, const float *vectors, int64_t count, float *out);

/* ---- Training ---- */

/*
 * A trainer makes a basis from any number of vectors, which are added a few at a time:
 *
 *     tvlm_trainer_create(device, tvlm_trainer_params(.dimension = 768), &trainer);
 *     for (int32_t pass = 0; pass < tvlm_trainer_passes(trainer); ++pass) {
 *         if (pass > 0) tvlm_trainer_next_pass(trainer);
 *         for (each block of vectors) tvlm_trainer_add(trainer, vectors, count);
 *     }
 *     tvlm_trainer_finish(trainer, &basis);
 */
struct tvlm_trainer_params {
    int32_t dimension;
    /* How many directions are wanted; 0 means 16. */
    int32_t k;
    /* Make the PCA, as scikit-learn does; otherwise it is the truncated SVD of what was added. */
    bool centred;
    tvlm_basis_method method;
    uint64_t reserved[4];
};
#define tvlm_trainer_params(...) TVLM_PARAMS(tvlm_trainer_params, __VA_ARGS__)

typedef struct tvlm_trainer tvlm_trainer;

/*
 * Creates a trainer, which must be destroyed before its device. Products of vectors are made on the device,
 * in blocks, after the mean of the first block was subtracted from them, and are added up in double, so that
 * what is lost in float stays small. Errors: ARGUMENT (k > dimension, dimension > TVLM_BASIS_DIMENSION_MAX),
 * MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_trainer_create(tvlm_device *device, const struct tvlm_trainer_params *params,
                                         tvlm_trainer **trainer);
TVLM_API void tvlm_trainer_destroy(tvlm_trainer **trainer);

/* Adds `count` vectors [count * dimension]. Errors: ARGUMENT (a vector that is not finite; the log names its
 * number among all that were added, and the trainer can only be destroyed then), DEVICE_MEMORY. */
TVLM_API tvlm_status tvlm_trainer_add(tvlm_trainer *trainer, const float *vectors, int64_t count);

/*
 * Returns how often all vectors must be added, in any order: once for the covariance, and three times for the
 * range finder, which gets sharper in the later passes. tvlm_trainer_next_pass stands between two passes.
 * Errors: ARGUMENT (there are no more passes; another number of vectors than in the first pass).
 */
TVLM_API int32_t tvlm_trainer_passes(const tvlm_trainer *trainer);
TVLM_API tvlm_status tvlm_trainer_next_pass(tvlm_trainer *trainer);

/*
 * Makes the basis of what was added. The sign of each direction is such that its largest component is
 * positive. Errors: ARGUMENT (fewer vectors than k, or, centred, fewer than k + 1; all of them 0, or,
 * centred, all alike), MEMORY.
 */
TVLM_API tvlm_status tvlm_trainer_finish(tvlm_trainer *trainer, tvlm_basis **basis);

/* ---- The basis of an image ---- */

struct tvlm_image_basis_params {
    /* How many directions are wanted: 1 .. 64, at most the dimension and the number of the features. 0 means
     * 16, or as many as there can be. */
    int32_t k;
    /* Vectors [query_count * query_dimension] whose span comes first, so that questions along them are
     * answered exactly. Those that depend on others take no place. */
    const float *queries;
    /* How many they are; 0 with queries means 1. */
    int32_t query_count;
    int32_t query_dimension;
    uint64_t reserved[4];
};
#define tvlm_image_basis_params(...) TVLM_PARAMS(tvlm_image_basis_params, __VA_ARGS__)

/*
 * Makes a basis of the first k right singular vectors of the features of image `index`, not centred, by a
 * randomized range finder on the device (Halko, Martinsson & Tropp 2011, algorithms 4.4 and 5.1), whose
 * random numbers are the same every time. Features are taken as they are, so that long vectors count more
 * than short ones. The call waits. Errors: ARGUMENT (no features, k too large, queries of another dimension,
 * or not finite, or all 0), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_basis_of_image(tvlm_stack *stack, int32_t index,
                                         const struct tvlm_image_basis_params *params, tvlm_basis **basis);

/*
 * Makes the coordinates of the features of image `index` its embedding, as tvlm_stack_set_grid would: unit
 * vectors, on the grid of the features. It happens on the device. Errors: ARGUMENT (no features, another
 * dimension than theirs, k > 64, another size than another image's embedding), DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_embed(tvlm_stack *stack, int32_t index, const tvlm_basis *basis);

#ifdef __cplusplus
}
#endif
#endif
