/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/basis.h: the linear algebra of small matrices, which all files that make bases share.
 */
#ifndef TVLM_LAB_BASIS_H
#define TVLM_LAB_BASIS_H

#include "core/basis.h"

/* How many columns the range finder has in addition to the k that are wanted (Halko, Martinsson & Tropp 2011,
 * section 4.2). */
#define TVLM_BASIS_OVERSAMPLING 16

/*
 * Finds the `wanted` largest eigenvalues of a symmetric matrix [n * n], largest first, and their vectors: the
 * n numbers from vectors[i * n] on belong to values[i]. Only the upper triangle of the matrix is read, and
 * the matrix is destroyed. This is LAPACK's dsyevr.
 */
tvlm_status tvlm_eigen(const tvlm_log *log, double *matrix, int32_t n, int32_t wanted, double *values,
                       double *vectors);

/*
 * Makes rows [count * dimension] orthonormal by Gram-Schmidt: from each row, its part along the rows before
 * it is subtracted, twice. Rows before `first` must be orthonormal already. If `drop` is set, rows that
 * depend on others are removed; otherwise each of them is replaced by some direction that the rows do not
 * span yet. Returns how many rows there are afterwards.
 */
int32_t tvlm_orthonormalise(double *rows, int32_t first, int32_t count, int32_t dimension, bool drop);

/* Writes normally distributed numbers, the same ones every time. */
void tvlm_normal_numbers(float *out, size_t count);

/* Chooses the sign of a direction so that its largest component is positive. The sign has no meaning, but is
 * the same on every device then. */
void tvlm_turn(double *row, int32_t dimension);

/* Makes a basis of orthonormal rows, which are in double. Each row gets the sign with which its largest
 * component is positive. */
tvlm_status tvlm_basis_from_rows(const tvlm_log *log, double *rows, const double *mean,
                                 const double *variance, const struct tvlm_basis_params *about,
                                 tvlm_basis **basis);

#endif
