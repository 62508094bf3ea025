/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.cl: computes C = alpha A B + beta C of matrices of floats on CPUs, where CLBlast would compile for
 * many seconds. GPUs use CLBlast (lib/opencl/gemm.c).
 *
 * gemm_pack first copies B into panels of PANEL columns, row after row, with 0 beyond its last column. So the
 * inner loop of gemm reads whole vectors, however B lay in memory, and no work-item needs to check where B
 * ends. gemm makes blocks of ROWS x PANEL values, which stay in registers while it goes along the inner
 * dimension.
 *
 * Element (row, column) of a matrix is at offset + row * its row stride + column * its column stride, in
 * floats.
 */
#include "helper.clh"

#define PANEL 16
#define ROWS  4
/* How many rows of the result a work-item makes. */
#ifndef RUN
#define RUN 32
#endif
/* How many rows of a panel a work-item of gemm_pack copies. */
#define LINES 64

/* Copies `b`, of `rows` x `columns`, into panels. Work-item (n, panel) copies LINES rows of one panel. */
kernel void gemm_pack(global const float *b, ulong offset, ulong row_stride, ulong column_stride, int rows,
                      int columns, global float *panels) {
    const int panel = get_global_id(1), first = get_global_id(0) * LINES, last = min(first + LINES, rows);
    const int column = panel * PANEL, count = min(PANEL, columns - column);
    global const float *from = b + offset + (ulong)column * column_stride;
    global float *to = panels + (ulong)panel * (ulong)rows * PANEL;
    for (int row = first; row < last; ++row)
        for (int i = 0; i < PANEL; ++i)
            to[(ulong)row * PANEL + i] =
                i < count ? from[(ulong)row * row_stride + (ulong)i * column_stride] : 0.0f;
}

/* Writes the first `count` values of a row of a block. With beta = 0 the old values are not read. */
HELPER void gemm_store(float16 sum, global float *to, ulong column_stride, int count, float alpha,
                       float beta) {
    float values[PANEL];
    vstore16(alpha * sum, 0, values);
    for (int i = 0; i < count; ++i) {
        global float *out = to + (ulong)i * column_stride;
        *out = beta != 0.0f ? values[i] + beta * *out : values[i];
    }
}

/* Makes `c`, of m x n, from `a`, of m x k, and the panels of B. Work-item (n, panel) makes RUN rows of one
 * panel. */
kernel void gemm(global const float *a, ulong a_offset, ulong a_row, ulong a_column,
                 global const float *panels, global float *c, ulong c_offset, ulong c_row, ulong c_column,
                 int m, int n, int k, float alpha, float beta) {
    const int panel = get_global_id(1), first = get_global_id(0) * RUN, last = min(first + RUN, m);
    const int column = panel * PANEL, count = min(PANEL, n - column);
    global const float *b = panels + (ulong)panel * (ulong)k * PANEL;
    if (first >= m || count <= 0) return;
    for (int row = first; row < last; row += ROWS) {
        global const float *rows[ROWS];
        float16 sums[ROWS];
        /* A block that reaches beyond the last row computes the last row again, and does not store it. */
        for (int r = 0; r < ROWS; ++r) {
            rows[r] = a + a_offset + (ulong)min(row + r, last - 1) * a_row;
            sums[r] = (float16)(0.0f);
        }
        for (int i = 0; i < k; ++i) {
            const float16 line = vload16(i, b);
            const ulong at = (ulong)i * a_column;
            for (int r = 0; r < ROWS; ++r) sums[r] = mad((float16)(rows[r][at]), line, sums[r]);
        }
        for (int r = 0; r < ROWS && row + r < last; ++r)
            gemm_store(sums[r], c + c_offset + (ulong)(row + r) * c_row + (ulong)column * c_column, c_column,
                       count, alpha, beta);
    }
}
