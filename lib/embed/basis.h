/* SPDX-License-Identifier: Apache-2.0 */
/*
 * basis.h (inside): the linear algebra of small matrices that those who make bases share.
 */
#ifndef TVLM_EMBED_BASIS_H
#define TVLM_EMBED_BASIS_H

#include "core/basis.h"

/* Columns of the range finder beside the k that are wanted (Halko et al. 2011, section 4.2). */
#define TVLM_BASIS_OVERSAMPLING 16

/*
 * The `wanted` largest eigenvalues of a symmetric matrix [n * n] (its upper triangle; destroyed), largest
 * first, and their vectors: vectors[i * n ..] belongs to values[i]. LAPACK's dsyevr.
 */
tvlm_status tvlm_eigen(const tvlm_log *log, double *matrix, int32_t n, int32_t wanted, double *values,
                       double *vectors);

/*
 * Rows [count * dimension] become orthonormal, each with its part along the ones before it taken off, twice
 * (Gram-Schmidt); from row `first` on, the ones before it are orthonormal already. With `drop`, rows that
 * depend on others are taken out; without, some direction that is left takes their place. Returns how many
 * rows there are.
 */
int32_t tvlm_orthonormalise(double *rows, int32_t first, int32_t count, int32_t dimension, bool drop);

/* Normal deviates: the same ones every time. */
void tvlm_normal_numbers(float *out, size_t count);

/* A basis from orthonormal rows in double. Each row is turned to where its largest component is positive. */
tvlm_status tvlm_basis_from_rows(const tvlm_log *log, double *rows, const double *mean,
                                 const double *variance, const struct tvlm_basis_params *about,
                                 tvlm_basis **basis);

#endif
