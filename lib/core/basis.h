/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/basis.h: a basis as an object on the host (texturevlm/features.h). lib/features makes bases; questions
 * that have a basis (stack/query.c) read it.
 */
#ifndef TVLM_CORE_BASIS_H
#define TVLM_CORE_BASIS_H

#include <math.h>

#include "core/backend.h"
#include "texturevlm/features.h"

/* The pointers in `params` point into `numbers`, which holds the mean, the components and the variance. */
struct tvlm_basis {
    struct tvlm_basis_params params;
    char method[48];
    float numbers[];
};

/* How far shares may lie outside [0, 1]: eigenvalues are rounded, and the shares in files may be those of
 * other programs. */
#define TVLM_SHARE_SLACK 1e-3

/* Refuses numbers that cannot be shares of a variance. `what` names what they belong to, such as "a basis".
 * `shares` may be NULL, which passes. */
static inline tvlm_status tvlm_check_shares(const tvlm_log *log, const char *what, const float *shares,
                                            size_t count) {
    for (size_t i = 0; shares != NULL && i < count; ++i)
        if (!((double)shares[i] >= -TVLM_SHARE_SLACK && (double)shares[i] <= 1.0 + TVLM_SHARE_SLACK))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                             "%s: number %zu of its variance is %g; it is a share, 0 to 1", what, i,
                             (double)shares[i]);
    return TVLM_OK;
}

/* Refuses numbers that are not finite, or so large that sums of their products would not be finite. */
static inline tvlm_status tvlm_check_magnitude(const tvlm_log *log, const char *what, const char *which,
                                               const float *values, size_t count) {
    for (size_t i = 0; values != NULL && i < count; ++i) {
        if (!isfinite(values[i]))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: number %zu of its %s is not finite", what, i,
                             which);
        if (fabsf(values[i]) > TVLM_FEATURE_LIMIT)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: number %zu of its %s is %g, beyond %g", what, i,
                             which, (double)values[i], (double)TVLM_FEATURE_LIMIT);
    }
    return TVLM_OK;
}

#endif
