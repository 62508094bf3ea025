/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/ridge.h: learns a projection (lab/projection.h) by ridge regression.
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_RIDGE_H
#define TEXTUREVLM_LAB_RIDGE_H

#include "texturevlm/device.h"
#include "texturevlm/lab/projection.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_RIDGE_L2_DEFAULT 1.0f

struct tvlm_ridge_params {
    /* x is [count * inputs]: what is known of each place. y is [count * outputs]: the vector that each place is to
     * become. Both are row-major and finite, and are read during the call only. */
    int64_t count;
    int32_t inputs, outputs;
    const float *x, *y;
    /* The strength of the regularisation, >= 0: the weight of the sum of the squared weights beside the sum of the
     * squared errors. 0 means 1. TVLM_EXPLICIT_ZERO means 0. */
    float l2;
    uint64_t reserved[4];
};
#define tvlm_ridge_params(...) TVLM_PARAMS(tvlm_ridge_params, __VA_ARGS__)

/*
 * Finds weights[outputs * inputs] and bias[outputs] for which
 *
 *     sum over rows of |y - weights x - bias|^2 + l2 * sum of weights^2
 *
 * is least; the bias costs nothing. This is the least-squares solution for the rows (x, 1), with further rows
 * sqrt(l2) e_j of target 0 below them.
 *
 * Products are made on the device in blocks, and added up in double. The means are taken off first. The normal
 * equations of what is left are solved by Cholesky's method in double. The solution is then corrected twice by its
 * residual, which makes up for what was lost in float. Waits.
 *
 * Errors: ARGUMENT (fewer than 1 row, sizes, a number that is not finite, an l2 below 0, an l2 of 0 with inputs
 * that depend linearly on each other), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_ridge(tvlm_device *device, const struct tvlm_ridge_params *params, float *weights,
                                float *bias);

#ifdef __cplusplus
}
#endif
#endif
