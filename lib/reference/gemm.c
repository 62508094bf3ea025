/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.c: the product of two matrices of floats, by its definition.
 */
#include "reference/reference.h"

/* Element (row, column) of a matrix, or of its transpose; `stride` is the length of a row in memory. */
static double at(const float *x, bool transposed, int32_t stride, int32_t row, int32_t column) {
    return transposed ? x[(size_t)column * (size_t)stride + (size_t)row]
                      : x[(size_t)row * (size_t)stride + (size_t)column];
}

tvlm_status tvlm_reference_gemm(tvlm_device *device, const tvlm_gemm *gemm) {
    const float *a = (const float *)reference_data(gemm->a) + gemm->a_offset;
    const float *b = (const float *)reference_data(gemm->b) + gemm->b_offset;
    float *c = (float *)reference_data(gemm->c) + gemm->c_offset;
    (void)device;
    for (int32_t row = 0; row < gemm->m; ++row)
        for (int32_t column = 0; column < gemm->n; ++column) {
            float *out = c + (size_t)row * (size_t)gemm->ldc + (size_t)column;
            double sum = 0.0;
            for (int32_t i = 0; i < gemm->k; ++i)
                sum += at(a, gemm->transpose_a, gemm->lda, row, i) *
                       at(b, gemm->transpose_b, gemm->ldb, i, column);
            const double kept = gemm->beta != 0.0f ? (double)gemm->beta * (double)*out : 0.0;
            *out = (float)((double)gemm->alpha * sum + kept);
        }
    return TVLM_OK;
}
