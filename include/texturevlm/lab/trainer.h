/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/trainer.h: makes bases (features.h): of any number of vectors, and of the features of one image.
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_TRAINER_H
#define TEXTUREVLM_LAB_TRAINER_H

#include "texturevlm/features.h"
#include "texturevlm/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The basis of many vectors ---- */

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
    /* true: the basis is the PCA of the vectors, as scikit-learn makes it. false: it is their truncated SVD. */
    bool centred;
    tvlm_basis_method method;
    uint64_t reserved[4];
};
#define tvlm_trainer_params(...) TVLM_PARAMS(tvlm_trainer_params, __VA_ARGS__)

typedef struct tvlm_trainer tvlm_trainer;

/*
 * Creates a trainer, which must be destroyed before its device. The device multiplies vectors with each other
 * in float, block by block. Two things keep the error of float small: the mean of the first block is
 * subtracted from all vectors before that, and the products of the blocks are added up in double. Errors:
 * ARGUMENT (k > dimension, dimension > TVLM_BASIS_DIMENSION_MAX), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_trainer_create(tvlm_device *device, const struct tvlm_trainer_params *params,
                                         tvlm_trainer **trainer);
TVLM_API void tvlm_trainer_destroy(tvlm_trainer **trainer);

/* Adds `count` vectors [count * dimension]. Errors: ARGUMENT (a vector that is not finite), DEVICE_MEMORY.
 * For a vector that is not finite, the log has its number among all vectors that were added. After that the
 * trainer can only be destroyed. */
TVLM_API tvlm_status tvlm_trainer_add(tvlm_trainer *trainer, const float *vectors, int64_t count);

/*
 * tvlm_trainer_passes returns how often all vectors must be added, in any order: once for the covariance, and
 * three times for the range finder, whose directions get more exact in the later passes.
 * tvlm_trainer_next_pass is called between two passes. Its errors: ARGUMENT (there are no more passes; another
 * number of vectors than in the first pass).
 */
TVLM_API int32_t tvlm_trainer_passes(const tvlm_trainer *trainer);
TVLM_API tvlm_status tvlm_trainer_next_pass(tvlm_trainer *trainer);

/*
 * Makes the basis of the vectors that were added. The sign of each direction is such that its largest
 * component in size is positive. After that the trainer can only be destroyed. Errors: MEMORY, and ARGUMENT for
 *   - fewer vectors than k, or, if centred, than k + 1;
 *   - vectors that are all 0, or, if centred, all alike.
 */
TVLM_API tvlm_status tvlm_trainer_finish(tvlm_trainer *trainer, tvlm_basis **basis);

/* ---- The basis of an image ---- */

struct tvlm_image_basis_params {
    /* How many directions are wanted: 1 .. 64, at most the dimension and the number of the features. 0 means
     * 16, or as many as there can be. */
    int32_t k;
    /* [query_count * query_dimension]: vectors of questions. The first directions of the basis span them, so
     * that these questions are answered exactly. A vector that depends linearly on those before it takes no
     * direction of its own. */
    const float *queries;
    /* How many vectors `queries` has; 0 means 1 where there are queries. */
    int32_t query_count;
    int32_t query_dimension;
    uint64_t reserved[4];
};
#define tvlm_image_basis_params(...) TVLM_PARAMS(tvlm_image_basis_params, __VA_ARGS__)

/*
 * Makes a basis of the first k right singular vectors of the features of image `index`. It is not centred. The
 * method is a randomized range finder on the device (Halko, Martinsson & Tropp 2011, algorithms 4.4 and 5.1).
 * Its random numbers are the same every time. Features are taken as they are, so that long vectors count more
 * than short ones. The call waits. Errors: ARGUMENT (no features, k too large, queries of another dimension,
 * or not finite, or all 0), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_basis_of_image(tvlm_stack *stack, int32_t index,
                                         const struct tvlm_image_basis_params *params, tvlm_basis **basis);

#ifdef __cplusplus
}
#endif
#endif
