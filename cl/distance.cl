/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distance.cl: the exact Euclidean distance of each pixel from the nearest edge pixel, over R = max(W, H) / 8
 * and at most 1. It is the two-pass distance transform of Meijster, Roerdink & Hesselink (2000), first along
 * columns and then along rows. Since the distance saturates at R, no step looks farther than `reach`, which
 * is R rounded up; this makes it cheaper than jump flooding, which also would not be exact.
 *
 * 1. distance_mask finds edge pixels (ridges of the channel `edges`) and stores them as bits, 32 rows of a
 *    column in a word.
 * 2. Each pixel gets its distance from the nearest edge pixel of its column, or reach + 1 where that distance
 *    is more than `reach`:
 *      - distance_columns_search looks up and down in the bits, one work-item for each pixel (GPUs);
 *      - distance_columns_scan passes over the rows once down and once up, many columns at a time (CPUs).
 * 3. Each pixel gets the square root of the least (x - i)^2 + column[i]^2 over all i in its row:
 *      - distance_rows_search looks outwards from x until no farther i can be nearer (GPUs);
 *      - distance_rows_search_global does so without local memory, for rows that are too long for it;
 *      - distance_rows_envelope walks along the lower envelope of those parabolas, one row for each
 *        work-item, in a few steps for each pixel whatever the distance (CPUs).
 */
// check-kernels: -DRUN=1
// check-kernels: -DRUN=16 -DTILE_LIST=1
// check-kernels: -DLONG_SIDES=1 -DENVELOPE_GLOBAL=1
#include "tile.clh"

/*
 * `span` holds a distance along one axis, and `square` the square of any distance. With LONG_SIDES images may
 * have more than 32767 pixels along a side. The squares of such distances fit no int.
 */
#if LONG_SIDES
typedef uint span;
typedef long square;
#else
typedef ushort span;
typedef int square;
#endif

/* The mask of an image is words_of(height) rows of words: bit row % 32 of word (row / 32) * width + x is
 * pixel (x, row). */
HELPER int words_of(int height) {
    return (height + 31) / 32;
}

/* A pixel is an edge pixel where `edges` is high, and is a maximum along that axis on which it falls off
 * faster. Of two equal maxima beside each other it is the later one. */
HELPER bool is_ridge(float e, float left, float right, float up, float down) {
    const bool across_x = left + right <= up + down;
    const float before = across_x ? left : up, after = across_x ? right : down;
    return e > TVLM_DISTANCE_EDGE && e >= before && e > after;
}

/* Work-item (n, word, image) makes RUN words beside each other: 1 on GPUs, more on CPUs. */
#ifndef RUN
#define RUN 1
#endif
kernel void distance_mask(TEXTURE_IN(visual), global uint *restrict mask REGION_IN) {
    const int first = ITEM_X * RUN, word = ITEM_Y, image = ITEM_Z;
    const int w = visual_size.x, h = visual_size.y, slice = image * visual_size.z, words = words_of(h);
    if (first >= w || word >= words) return;
    float above[RUN + 2], here[RUN + 2], below[RUN + 2];
    uint bits[RUN];
    for (int i = 0; i < RUN + 2; ++i) {
        above[i] = texel_fetch(visual, first + i - 1, 32 * word - 1, slice, 0).x;
        here[i] = texel_fetch(visual, first + i - 1, 32 * word, slice, 0).x;
    }
    for (int i = 0; i < RUN; ++i) bits[i] = 0;
    for (int row = 0; row < min(32, h - 32 * word); ++row) {
        for (int i = 0; i < RUN + 2; ++i)
            below[i] = texel_fetch(visual, first + i - 1, 32 * word + row + 1, slice, 0).x;
        for (int i = 0; i < RUN; ++i)
            bits[i] |= (uint)is_ridge(here[i + 1], here[i], here[i + 2], above[i + 1], below[i + 1]) << row;
        for (int i = 0; i < RUN + 2; ++i) {
            above[i] = here[i];
            here[i] = below[i];
        }
    }
    for (int i = 0; i < min(RUN, w - first); ++i) mask[(image * words + word) * w + first + i] = bits[i];
}

/*
 * Work-item (x, y, image) makes one pixel: columns[(image * height + y) * width + x] becomes the distance
 * from the nearest edge pixel of the column, or reach + 1.
 */
kernel void distance_columns_search(global const uint *restrict mask, const int2 size, const int reach,
                                    global span *restrict columns REGION_IN) {
    const int x = ITEM_X, y = ITEM_Y, image = ITEM_Z, words = words_of(size.y);
    if (x >= size.x || y >= size.y) return;
    global const uint *restrict column = mask + image * words * size.x + x;
    const int word = y / 32, bit = y % 32;
    int best = reach + 1;
    /* It looks upwards from this row first, where the highest bit of each word is the nearest. Then it looks
     * downwards, where the lowest bit is. */
    for (int n = word; n >= 0 && y - 32 * n - 31 <= best; --n) {
        const uint bits = n == word ? column[n * size.x] << (31 - bit) >> (31 - bit) : column[n * size.x];
        if (bits != 0) {
            best = min(best, y - (32 * n + 31 - (int)clz(bits)));
            break;
        }
    }
    for (int n = word; n < words && 32 * n - y <= best; ++n) {
        const uint bits = n == word ? column[n * size.x] >> bit << bit : column[n * size.x];
        if (bits != 0) {
            /* bits & -bits is the lowest bit that is set. */
            best = min(best, 32 * n + 31 - (int)clz(bits & (~bits + 1u)) - y);
            break;
        }
    }
    columns[(image * size.y + y) * size.x + x] = (span)best;
}

/* The same as distance_columns_search. Work-item (n, 0, image) makes SCAN whole columns beside each other. */
#define SCAN 64
kernel void distance_columns_scan(global const uint *restrict mask, const int2 size, const int reach,
                                  global span *restrict columns REGION_IN) {
    const int first = ITEM_X * SCAN, image = ITEM_Z, count = min(SCAN, size.x - first);
    if (first >= size.x) return;
    global const uint *restrict bits = mask + image * words_of(size.y) * size.x + first;
    global span *restrict out = columns + image * size.y * size.x + first;
    span last[SCAN];
    for (int i = 0; i < SCAN; ++i) last[i] = (span)(reach + 1);
    for (int y = 0; y < size.y; ++y)
        for (int i = 0; i < count; ++i) {
            const bool edge = bits[y / 32 * size.x + i] >> (y % 32) & 1u;
            last[i] = edge ? (span)0 : min((span)(last[i] + 1), (span)(reach + 1));
            out[y * size.x + i] = last[i];
        }
    for (int y = size.y - 2; y >= 0; --y)
        for (int i = 0; i < count; ++i) {
            last[i] = min(out[y * size.x + i], (span)(last[i] + 1));
            out[y * size.x + i] = last[i];
        }
}

/* The channel for a squared distance in pixels; `range` is R. */
HELPER float channel_of(square distance, float range) {
    return min(1.0f, sqrt((float)distance) / range);
}

/*
 * A work-group makes ROW pixels of a row, one for each work-item; y is the row and z the image. `near` is
 * local memory for ROW + 2 reach values, which are the columns' distances at those pixels and at `reach`
 * pixels on either side. No work-item returns before the barrier.
 */
#define ROW 256
kernel __attribute__((reqd_work_group_size(ROW, 1, 1))) void
distance_rows_search(global const span *restrict columns, const int reach, const float range,
                     TEXTURE_OUT(result), local span *restrict near REGION_IN) {
    const int lane = get_local_id(0), start = GROUP_X * ROW, y = ITEM_Y, image = ITEM_Z;
    const int w = result_size.x;
    global const span *restrict row = columns + (image * result_size.y + y) * w;
    for (int i = lane; i < ROW + 2 * reach; i += ROW) {
        const int x = start + i - reach;
        near[i] = x >= 0 && x < w ? row[x] : (span)(reach + 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (start + lane >= w) return;
    local const span *at = near + lane + reach;
    const square far = (square)(reach + 1) * (reach + 1);
    square best = (int)at[0] > reach ? far : (square)at[0] * at[0];
    for (int d = 1; d <= reach && (square)d * d < best; ++d) {
        const int side = (int)min(at[-d], at[d]);
        if (side <= reach) best = min(best, (square)d * d + (square)side * side);
    }
    texel_store_scalar(result, start + lane, y, image, channel_of(best, range));
}

/* The same as distance_rows_search. Work-item (x, y, image) makes one pixel. */
kernel void distance_rows_search_global(global const span *restrict columns, const int reach,
                                        const float range, TEXTURE_OUT(result) REGION_IN) {
    const int x = ITEM_X, y = ITEM_Y, image = ITEM_Z, w = result_size.x;
    if (x >= w || y >= result_size.y) return;
    global const span *restrict row = columns + (image * result_size.y + y) * w;
    const square far = (square)(reach + 1) * (reach + 1);
    square best = (int)row[x] > reach ? far : (square)row[x] * row[x];
    for (int d = 1; d <= reach && (square)d * d < best; ++d) {
        const int left = x >= d ? (int)row[x - d] : reach + 1,
                  right = x + d < w ? (int)row[x + d] : reach + 1;
        const int side = min(left, right);
        if (side <= reach) best = min(best, (square)d * d + (square)side * side);
    }
    texel_store_scalar(result, x, y, image, channel_of(best, range));
}

/* The squared distance of pixel x from the edge pixel that column i has at distance `height`. */
HELPER square parabola(int x, int i, int height) {
    return (square)(x - i) * (x - i) + (square)height * height;
}

/* The x from which on the parabola of column u is lower than that of column i. Column i is before column
 * u. */
HELPER int crossing(int i, int below, int u, int height) {
    const square difference = (square)u * u - (square)i * i + (square)height * height - (square)below * below;
    return (int)(1 + difference / (2 * (u - i)));
}

/*
 * Work-item (0, y, image) makes a row. Its envelope is in two arrays of an int for each pixel. The parabola
 * of column places[q] is the lowest from x = starts[q] on, up to starts[q + 1]. The arrays are in local
 * memory, or with ENVELOPE_GLOBAL in global memory, with room for each row of each image.
 */
#ifndef ENVELOPE_GLOBAL
#define ENVELOPE_GLOBAL 0
#endif
#if ENVELOPE_GLOBAL
#define ENVELOPE global
#else
#define ENVELOPE local
#endif
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
distance_rows_envelope(global const span *restrict columns, const int reach, const float range,
                       TEXTURE_OUT(result), ENVELOPE int *restrict all_places,
                       ENVELOPE int *restrict all_starts REGION_IN) {
    const int y = ITEM_Y, image = ITEM_Z, w = result_size.x, first = (image * result_size.y + y) * w;
    global const span *restrict row = columns + first;
    ENVELOPE int *places = all_places + ENVELOPE_GLOBAL * first;
    ENVELOPE int *starts = all_starts + ENVELOPE_GLOBAL * first;
    int q = -1;
    for (int u = 0; u < w; ++u) {
        const int height = (int)row[u];
        if (height > reach) continue;
        while (q >= 0 && parabola(starts[q], places[q], (int)row[places[q]]) > parabola(starts[q], u, height))
            --q;
        const int start = q >= 0 ? crossing(places[q], (int)row[places[q]], u, height) : 0;
        if (start < w) {
            ++q;
            places[q] = u;
            starts[q] = start;
        }
    }
    if (q < 0)
        for (int x = 0; x < w; ++x) texel_store_scalar(result, x, y, image, 1.0f);
    for (int end = w; q >= 0; end = starts[q], --q) {
        const int i = places[q], height = (int)row[i];
        for (int x = starts[q]; x < end; ++x)
            texel_store_scalar(result, x, y, image, channel_of(parabola(x, i, height), range));
    }
}
