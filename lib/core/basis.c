/* SPDX-License-Identifier: Apache-2.0 */
/*
 * basis.c: bases as objects, which are checked, copied and read.
 */
#include "core/basis.h"
#include "core/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"

static tvlm_status check_orthonormal(const tvlm_log *log, const struct tvlm_basis_params *p) {
    for (int32_t i = 0; i < p->k; ++i)
        for (int32_t j = 0; j <= i; ++j) {
            const float *a = p->components + (size_t)i * (size_t)p->dimension;
            const float *b = p->components + (size_t)j * (size_t)p->dimension;
            double sum = 0.0;
            for (int32_t d = 0; d < p->dimension; ++d) sum += (double)a[d] * (double)b[d];
            if (fabs(sum - (i == j ? 1.0 : 0.0)) > 1e-3)
                return tvlm_fail(
                    log, TVLM_ERROR_ARGUMENT,
                    "a basis: its components %d and %d are not orthonormal (their product is %.4g)", (int)j,
                    (int)i, sum);
        }
    return TVLM_OK;
}

static tvlm_status check_params(const tvlm_log *log, const struct tvlm_basis_params *p) {
    if (p == NULL || p->components == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a basis without components");
    TVLM_CHECK_RESERVED(log, tvlm_basis_params, p);
    if (p->dimension < 1 || p->dimension > TVLM_BASIS_DIMENSION_MAX || p->k < 1 || p->k > p->dimension)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a basis of %d components in %d dimensions", (int)p->k,
                         (int)p->dimension);
    const size_t k = (size_t)p->k, dimension = (size_t)p->dimension;
    TVLM_TRY(tvlm_check_magnitude(log, "a basis", "components", p->components, k * dimension));
    TVLM_TRY(tvlm_check_magnitude(log, "a basis", "mean", p->centred ? p->mean : NULL, dimension));
    TVLM_TRY(tvlm_check_shares(log, "a basis", p->variance, k));
    if (p->vectors < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a basis of %lld vectors", (long long)p->vectors);
    return check_orthonormal(log, p);
}

tvlm_status tvlm_basis_create(const struct tvlm_basis_params *params, const tvlm_log *log,
                              tvlm_basis **basis) {
    TVLM_NEED(log, basis);
    TVLM_TRY(check_params(log, params));
    const size_t k = (size_t)params->k, dimension = (size_t)params->dimension;
    tvlm_basis *made = tvlm_allocate(1, sizeof *made + (dimension * (k + 1) + k) * sizeof(float));
    if (made == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a basis");
    float *mean = made->numbers, *components = mean + dimension, *variance = components + k * dimension;
    if (params->centred && params->mean != NULL) memcpy(mean, params->mean, dimension * sizeof *mean);
    memcpy(components, params->components, k * dimension * sizeof *components);
    if (params->variance != NULL) memcpy(variance, params->variance, k * sizeof *variance);
    snprintf(made->method, sizeof made->method, "%s", params->method != NULL ? params->method : "given");
    made->params = *params;
    made->params.mean = mean;
    made->params.components = components;
    made->params.variance = variance;
    made->params.method = made->method;
    *basis = made;
    return TVLM_OK;
}

void tvlm_basis_destroy(tvlm_basis **basis) {
    if (basis == NULL) return;
    free(*basis);
    *basis = NULL;
}

tvlm_status tvlm_basis_get_params(const tvlm_basis *basis, struct tvlm_basis_params *params) {
    TVLM_NEED(NULL, basis);
    TVLM_NEED(NULL, params);
    *params = basis->params;
    return TVLM_OK;
}

void tvlm_basis_project(const tvlm_basis *basis, const float *vectors, int64_t count, float *out) {
    const struct tvlm_basis_params *p = &basis->params;
    for (int64_t n = 0; n < count; ++n, vectors += p->dimension)
        for (int32_t i = 0; i < p->k; ++i) {
            const float *row = p->components + (size_t)i * (size_t)p->dimension;
            double sum = 0.0;
            for (int32_t d = 0; d < p->dimension; ++d)
                sum += (double)row[d] * ((double)vectors[d] - (double)p->mean[d]);
            *out++ = (float)sum;
        }
}
