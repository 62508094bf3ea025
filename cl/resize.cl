/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize.cl: bytes resized as Pillow does it (ImagingResample, 8 bit): weights of 22 bits, along rows first,
 * rounded to bytes and clamped after each pass. All in integers, so every device finds the same bytes.
 *
 * Compiled for PIXEL_CHANNELS (1 gray, 2 gray + alpha, 3 RGB, 4 RGBA; alpha is not read). RUN outputs of a
 * row a work-item: 1 on GPUs, many on CPUs, where the loops over them become vector code.
 */
#include "constants.h"

// check-kernels: -DPIXEL_CHANNELS=1 -DRUN=64
// check-kernels: -DPIXEL_CHANNELS=4 -DRUN=1
#ifndef PIXEL_CHANNELS
#define PIXEL_CHANNELS 3
#endif
#ifndef RUN
#define RUN 1
#endif

#define HALF (1 << (TVLM_RESIZE_BITS - 1))
#if PIXEL_CHANNELS >= 3
#define GREEN 1
#define BLUE  2
#else
#define GREEN 0
#define BLUE  0
#endif

inline uchar to_byte(int sum) {
    return (uchar)clamp(sum >> TVLM_RESIZE_BITS, 0, 255);
}

/* Along rows: `rows` rows from first_row on, to RGB. */
kernel void resize_rows(global const uchar *restrict pixels, const ulong offset, const ulong row_stride,
                        const int first_row, const int rows, global const int *restrict table,
                        const int table_offset, const int taps, const int width,
                        global uchar *restrict result) {
    const int begin = get_global_id(0) * RUN, row = get_global_id(1);
    if (begin >= width || row >= rows) return;
    global const uchar *line = pixels + offset + (first_row + row) * row_stride;
    global uchar *to = result + ((ulong)row * width) * 3;
    for (int x = begin; x < min(begin + RUN, width); ++x) {
        global const int *entry = table + table_offset + x * (taps + TVLM_RESIZE_HEAD);
        global const int *weights = entry + TVLM_RESIZE_HEAD;
        global const uchar *from = line + entry[0] * PIXEL_CHANNELS;
        const int count = entry[1];
        int red = HALF, green = HALF, blue = HALF;
        for (int i = 0; i < count; ++i) {
            const int weight = weights[i];
            red += weight * from[i * PIXEL_CHANNELS];
            green += weight * from[i * PIXEL_CHANNELS + GREEN];
            blue += weight * from[i * PIXEL_CHANNELS + BLUE];
        }
        to[3 * x] = to_byte(red);
        to[3 * x + 1] = to_byte(green);
        to[3 * x + 2] = to_byte(blue);
    }
}

/* `length` bytes of a row; inlined, with RUN in place of `length` its loops are of known length. */
inline void sum_column(global const uchar *from, const int bytes, global const int *weights, const int count,
                       global uchar *to, const int length) {
    int sums[RUN];
    for (int i = 0; i < length; ++i) sums[i] = HALF;
    for (int n = 0; n < count; ++n) {
        global const uchar *line = from + (ulong)n * bytes;
        const int weight = weights[n];
        for (int i = 0; i < length; ++i) sums[i] += weight * line[i];
    }
    for (int i = 0; i < length; ++i) to[i] = to_byte(sums[i]);
}

/* Along columns: `between` holds the rows from first_row on, `bytes` each. */
kernel void resize_columns(global const uchar *restrict between, const int bytes, const int first_row,
                           const int height, global const int *restrict table, const int table_offset,
                           const int taps, global uchar *restrict result, const ulong offset) {
    const int begin = get_global_id(0) * RUN, y = get_global_id(1);
    if (begin >= bytes || y >= height) return;
    global const int *entry = table + table_offset + y * (taps + TVLM_RESIZE_HEAD);
    global const uchar *from = between + (ulong)(entry[0] - first_row) * bytes + begin;
    global uchar *to = result + offset + (ulong)y * bytes + begin;
    const int length = min(RUN, bytes - begin);
    if (length == RUN)
        sum_column(from, bytes, entry + TVLM_RESIZE_HEAD, entry[1], to, RUN);
    else
        sum_column(from, bytes, entry + TVLM_RESIZE_HEAD, entry[1], to, length);
}
