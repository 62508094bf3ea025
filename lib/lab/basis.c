/* SPDX-License-Identifier: Apache-2.0 */
/*
 * basis.c: linear algebra with the small matrices that bases are made from.
 */
#include "lab/basis.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/random.h"

/* ---- Small matrices ---- */

tvlm_status tvlm_eigen(const tvlm_log *log, double *matrix, int32_t n, int32_t wanted, double *values,
                       double *vectors) {
    double *all = tvlm_allocate((size_t)n, sizeof *all),
           *columns = tvlm_allocate((size_t)wanted, (size_t)n * sizeof *columns);
    lapack_int *support = tvlm_allocate((size_t)n, 2 * sizeof *support), found = 0, info = -1;
    if (all != NULL && columns != NULL && support != NULL)
        info = LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'I', 'L', n, matrix, n, 0.0, 0.0, n - wanted + 1, n, 0.0,
                              &found, all, columns, n, support);
    /* LAPACK returns the smallest eigenvalue first. */
    for (int32_t i = 0; info == 0 && i < wanted; ++i) {
        values[i] = all[wanted - 1 - i];
        memcpy(vectors + (size_t)i * (size_t)n, columns + (size_t)(wanted - 1 - i) * (size_t)n,
               (size_t)n * sizeof *vectors);
    }
    const bool memory = all == NULL || columns == NULL || support == NULL;
    free(all);
    free(columns);
    free(support);
    if (memory)
        return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for the eigenvectors of a %d x %d matrix", (int)n,
                         (int)n);
    if (info != 0 || found != wanted)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "the eigenvectors of a %d x %d matrix were not found (LAPACK: %d)", (int)n, (int)n,
                         (int)info);
    return TVLM_OK;
}

static double dot(const double *a, const double *b, int32_t n) {
    double sum = 0.0;
    for (int32_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

/* Subtracts from a row its part along `count` orthonormal rows, and scales the rest to unit length. Returns
 * the length of the rest as a share of the row's former length. */
static double reject(double *row, const double *others, int32_t count, int32_t dimension) {
    const double before = sqrt(dot(row, row, dimension));
    for (int twice = 0; twice < 2; ++twice)
        for (int32_t i = 0; i < count; ++i) {
            const double *other = others + (size_t)i * (size_t)dimension, along = dot(row, other, dimension);
            for (int32_t d = 0; d < dimension; ++d) row[d] -= along * other[d];
        }
    const double after = sqrt(dot(row, row, dimension));
    for (int32_t d = 0; after > 0.0 && d < dimension; ++d) row[d] /= after;
    return before > 0.0 ? after / before : 0.0;
}

int32_t tvlm_orthonormalise(double *rows, int32_t first, int32_t count, int32_t dimension, bool drop) {
    /* If less than this share of a row is left, the row counts as dependent on the others. The share is not 0
     * because the values come from floats. */
    const double dependent = 1e-6;
    int32_t kept = first, axis = 0;
    for (int32_t i = first; i < count; ++i) {
        double *row = rows + (size_t)kept * (size_t)dimension;
        if (kept != i) memcpy(row, rows + (size_t)i * (size_t)dimension, (size_t)dimension * sizeof *row);
        bool good = reject(row, rows, kept, dimension) > dependent;
        /* An axis takes the place of a row that depends on others. There is an axis that the rows do not span
         * yet, since fewer than `dimension` rows are kept. */
        while (!good && !drop && axis < dimension) {
            memset(row, 0, (size_t)dimension * sizeof *row);
            row[axis++] = 1.0;
            good = reject(row, rows, kept, dimension) > 1e-3;
        }
        kept += good;
    }
    return kept;
}

/* This is the transform of Box & Muller. */
void tvlm_normal_numbers(float *out, size_t count) {
    uint64_t state = 1;
    for (size_t i = 0; i < count; ++i) {
        const double radius = sqrt(-2.0 * log(tvlm_random_unit(&state)));
        out[i] = (float)(radius * cos(6.283185307179586 * tvlm_random_unit(&state)));
    }
}

/* ---- A basis from rows ---- */

void tvlm_turn(double *row, int32_t dimension) {
    int32_t largest = 0;
    for (int32_t d = 1; d < dimension; ++d)
        if (fabs(row[d]) > fabs(row[largest])) largest = d;
    const double sign = row[largest] < 0.0 ? -1.0 : 1.0;
    for (int32_t d = 0; d < dimension; ++d) row[d] *= sign;
}

tvlm_status tvlm_basis_from_rows(const tvlm_log *log, double *rows, const double *mean,
                                 const double *variance, const struct tvlm_basis_params *about,
                                 tvlm_basis **basis) {
    const size_t k = (size_t)about->k, dimension = (size_t)about->dimension;
    float *numbers = tvlm_allocate(dimension * (k + 1) + k, sizeof *numbers);
    if (numbers == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a basis");
    float *components = numbers + dimension, *shares = components + k * dimension;
    for (size_t i = 0; i < k; ++i) tvlm_turn(rows + i * dimension, about->dimension);
    for (size_t i = 0; mean != NULL && i < dimension; ++i) numbers[i] = (float)mean[i];
    for (size_t i = 0; i < k * dimension; ++i) components[i] = (float)rows[i];
    /* Rounding may leave the range from 0 to 1. */
    for (size_t i = 0; i < k; ++i) shares[i] = (float)fmin(fmax(variance[i], 0.0), 1.0);
    struct tvlm_basis_params params = *about;
    params.mean = numbers;
    params.components = components;
    params.variance = shares;
    const tvlm_status status = tvlm_basis_create(&params, log, basis);
    free(numbers);
    return status;
}
