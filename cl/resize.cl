/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize.cl: resizes images of bytes to RGB bytes, exactly as Pillow does (ImagingResample for 8 bits).
 *
 * A first pass filters along rows, and a second one along columns. In Pillow 13 the order is the other way
 * round for some pictures. Weights are whole numbers of 2^-22, and sums are rounded to bytes and clamped
 * after each pass. All of it is integers, so every device finds the same bytes.
 *
 * The host makes a table of weights for each pass (lib/core/resize.h). An entry of it, for one place of the
 * result, is TVLM_RESIZE_HEAD + `taps` ints: the first source place, how many there are, and their weights.
 *
 * The host compiles for PIXEL_CHANNELS (1 gray, 2 gray and alpha, 3 RGB, 4 RGBA; alpha is not read) and for
 * RUN, the number of results beside each other that a work-item makes: 1 on GPUs, and many on CPUs, where the
 * loops over them vectorise.
 */
#include "constants.h"
#include "helper.clh"

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

/* The byte of a sum of weighted bytes that began as HALF, so that it is rounded to nearest. */
HELPER uchar to_byte(int sum) {
    return (uchar)clamp(sum >> TVLM_RESIZE_BITS, 0, 255);
}

/*
 * The first pass: filters `rows` source rows from first_row on to `width` RGB pixels each. The entry of
 * column x begins at table[table_offset + x * (taps + TVLM_RESIZE_HEAD)]. Work-item (n, row) makes RUN pixels
 * of a row.
 */
kernel void resize_rows(global const uchar *restrict pixels, const ulong offset, const ulong row_stride,
                        const int first_row, const int rows, global const int *restrict table,
                        const int table_offset, const int taps, const int width,
                        global uchar *restrict result, const ulong result_offset) {
    const int begin = get_global_id(0) * RUN, row = get_global_id(1);
    if (begin >= width || row >= rows) return;
    global const uchar *line = pixels + offset + (first_row + row) * row_stride;
    global uchar *to = result + result_offset + ((ulong)row * width) * 3;
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

/* Sums `length` bytes of a row over `count` source rows. It is inlined, so where `length` is the constant RUN
 * the compiler knows the length of its loops. */
HELPER void sum_column(global const uchar *from, const int bytes, global const int *weights, const int count,
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

/*
 * The second pass: filters along columns. `between` is the result of the first pass: the source rows from
 * first_row on, of `bytes` bytes each. The result has `height` such rows from byte `offset` on. Work-item (n,
 * y) makes RUN bytes of row y.
 */
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

/*
 * The pass along columns where it comes first. It filters the source of `width` pixels a row to `height` rows
 * of RGB pixels. The pass along rows, of RGB, follows. Work-item (n, y) makes RUN pixels of row y.
 */
kernel void resize_columns_first(global const uchar *restrict pixels, const ulong offset,
                                 const ulong row_stride, const int width, const int height,
                                 global const int *restrict table, const int table_offset, const int taps,
                                 global uchar *restrict result) {
    const int begin = get_global_id(0) * RUN, y = get_global_id(1);
    if (begin >= width || y >= height) return;
    global const int *entry = table + table_offset + y * (taps + TVLM_RESIZE_HEAD);
    global const int *weights = entry + TVLM_RESIZE_HEAD;
    const int count = entry[1];
    for (int x = begin; x < min(begin + RUN, width); ++x) {
        global const uchar *from = pixels + offset + entry[0] * row_stride + x * PIXEL_CHANNELS;
        global uchar *to = result + ((ulong)y * width + x) * 3;
        int red = HALF, green = HALF, blue = HALF;
        for (int i = 0; i < count; ++i) {
            const int weight = weights[i];
            red += weight * from[i * row_stride];
            green += weight * from[i * row_stride + GREEN];
            blue += weight * from[i * row_stride + BLUE];
        }
        to[0] = to_byte(red);
        to[1] = to_byte(green);
        to[2] = to_byte(blue);
    }
}
