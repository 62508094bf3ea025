/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.cl: the product of two matrices of floats where CLBlast would compile for many seconds: on CPUs. GPUs
 * have CLBlast (lib/opencl/gemm.c).
 *
 * The right matrix is brought into panels of PANEL columns first, row after row, 0 beyond its last column:
 * whatever way it lay, the inner loop reads whole vectors, and no work-item asks where the matrix ends. A
 * work-item then makes ROWS x PANEL values at a time, which stay in registers, for RUN rows.
 */
#define PANEL 16
#define ROWS  4
#ifndef RUN
#define RUN 32
#endif
#define LINES 64 /* of a panel that one work-item packs */

/* (row, column) of a matrix is at offset + row * its row stride + column * its column stride, in floats. */
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

/* One row of the result, as far as it goes. */
inline void gemm_store(float16 sum, global float *to, ulong column_stride, int count, float alpha,
                       float beta) {
    float values[PANEL];
    vstore16(alpha * sum, 0, values);
    for (int i = 0; i < count; ++i) {
        global float *out = to + (ulong)i * column_stride;
        *out = beta != 0.0f ? values[i] + beta * *out : values[i];
    }
}

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
        /* Beyond the last row the last one is made again, and not stored. */
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
