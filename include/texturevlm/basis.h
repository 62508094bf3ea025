/* SPDX-License-Identifier: Apache-2.0 */
/*
 * basis.h: few numbers in place of an encoder's vectors: orthonormal directions, and what lies along them.
 *
 * A basis has k directions of D components (and, centred, a mean that is taken off first). The k coordinates
 * of a cell's vector, scaled to unit length, are the channels embedding_0 .. embedding_(k-1): 64 x 64 cells
 * of 768 components take 6 MB in half, 16 coordinates of them 128 KB, and a question reads those. Answers are
 * close, not exact: see the table in bench/bases.py. For ranking the patches of one image, a basis of that
 * image's own patches, *not centred*, is the best by far (tvlm_basis_of_image), and the default wherever a
 * basis is made: the mean of the patches is where questions differ from them most, and subtracting it changes
 * what a cosine compares.
 *
 * A basis lives on the host, belongs to no device and never changes: any number of threads may read one.
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

typedef enum tvlm_basis_method {
    TVLM_BASIS_AUTO = 0,
    TVLM_BASIS_COVARIANCE,  /* the exact one: all D x D products, and their eigenvectors */
    TVLM_BASIS_RANGE_FINDER /* randomized (Halko, Martinsson & Tropp 2011): D x (k + 16) numbers */
} tvlm_basis_method;

struct tvlm_basis_params {
    int32_t dimension, k; /* 1 <= k <= dimension */
    bool centred;
    int64_t vectors;         /* that it was made from; 0: unknown */
    const char *method;      /* one short word or two; NULL: "given" */
    const float *mean;       /* [dimension], looked at when centred; NULL: 0 */
    const float *components; /* [k * dimension], row-major: orthonormal to 1e-3 */
    const float *variance; /* [k]: share of the variance (not centred: of the squares) along each; NULL: 0 */
    uint64_t reserved[4];
};
#define tvlm_basis_params(...) TVLM_PARAMS(tvlm_basis_params, __VA_ARGS__)

/*
 * A basis from numbers; everything is copied. Errors: ARGUMENT (k larger than the dimension, a value that is
 * not finite, rows that are not orthonormal), MEMORY.
 */
TVLM_API tvlm_status tvlm_basis_create(const struct tvlm_basis_params *params, const tvlm_log *log,
                                       tvlm_basis **basis);
TVLM_API void tvlm_basis_destroy(tvlm_basis **basis);

/* What tvlm_basis_create was given; nothing in it is NULL (a basis that is not centred has a mean of zeros).
 * Valid while the basis lives. */
TVLM_API void tvlm_basis_get(const tvlm_basis *basis, struct tvlm_basis_params *params);

/*
 * The coordinates of `count` vectors [count * dimension] on the host: out[count * k], not scaled.
 * A vector v gives components (v - mean).
 */
TVLM_API void tvlm_basis_project(const tvlm_basis *basis, const float *vectors, int64_t count, float *out);

/* ---- Training: any number of vectors, a few at a time ---- */

struct tvlm_trainer_params {
    int32_t dimension;
    int32_t k;                /* 0: 16 */
    bool centred;             /* as scikit-learn's PCA; otherwise the truncated SVD of what was added */
    tvlm_basis_method method; /* AUTO: covariance up to 1536 dimensions */
    uint64_t reserved[4];
};
#define tvlm_trainer_params(...) TVLM_PARAMS(tvlm_trainer_params, __VA_ARGS__)

typedef struct tvlm_trainer tvlm_trainer;

/*
 * Products of vectors are made on `device`, in blocks, after a first mean was taken off them, and are added
 * up in double: what is asked for stays small beside what is lost in float. The trainer must be destroyed
 * before the device. Errors: ARGUMENT (k > dimension, dimension > TVLM_BASIS_DIMENSION_MAX), MEMORY,
 * DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_trainer_create(tvlm_device *device, const struct tvlm_trainer_params *params,
                                         tvlm_trainer **trainer);
TVLM_API void tvlm_trainer_destroy(tvlm_trainer **trainer);

/* Adds `count` vectors [count * dimension]. ARGUMENT for one that is not finite, by its number among all that
 * were added; the trainer is of no more use then. */
TVLM_API tvlm_status tvlm_trainer_add(tvlm_trainer *trainer, const float *vectors, int64_t count);

/*
 * How often all vectors must be added, in any order: 1 for the covariance, 3 for the range finder (which the
 * later passes sharpen). tvlm_trainer_next_pass stands between two passes; what is added must be as many each
 * time (ARGUMENT otherwise).
 */
TVLM_API int32_t tvlm_trainer_passes(const tvlm_trainer *trainer);
TVLM_API tvlm_status tvlm_trainer_next_pass(tvlm_trainer *trainer);

/*
 * The basis of what was added. Each direction points to where its largest component is positive. Errors:
 * ARGUMENT (fewer vectors than k; centred, fewer than k + 1; all of them 0, or, centred, alike), MEMORY.
 */
TVLM_API tvlm_status tvlm_trainer_finish(tvlm_trainer *trainer, tvlm_basis **basis);

/* ---- An image's own ---- */

struct tvlm_image_basis_params {
    int32_t k; /* 1 .. 64, at most the features' dimension and cells; 0: 16, or as many as there can be */
    /* Directions that come first, so that what is asked along them is exact: their span. [queries *
     * dimension]; vectors that depend on others take no place. */
    const float *queries;
    int32_t query_count; /* 0 with queries: 1 */
    int32_t query_dimension;
    uint64_t reserved[4];
};
#define tvlm_image_basis_params(...) TVLM_PARAMS(tvlm_image_basis_params, __VA_ARGS__)

/*
 * The first k right singular vectors of the features of image `index`, not centred, by a randomized range
 * finder on the device (Halko, Martinsson & Tropp 2011, algorithms 4.4 and 5.1; the same numbers every time).
 * Features are taken as they are: long vectors count more than short ones. Waits. Errors: ARGUMENT (no
 * features, k too large, queries of another dimension, or not finite, or all 0), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_basis_of_image(tvlm_stack *stack, int32_t index,
                                         const struct tvlm_image_basis_params *params, tvlm_basis **basis);

/*
 * The coordinates of the features of image `index` become its embedding, as tvlm_stack_set_grid takes one in:
 * unit vectors, on the features' grid. On the device. Errors: ARGUMENT (no features, another dimension than
 * theirs, k > 64, another size than another image's embedding), DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_embed(tvlm_stack *stack, int32_t index, const tvlm_basis *basis);

#ifdef __cplusplus
}
#endif
#endif
