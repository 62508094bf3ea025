/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.cl: pictures of an image, and what each of them loses of every tile's luma (lib/core/budget.h).
 *
 * Luma is copied out of the source first, level after level, so that everything else reads plain floats. The
 * kernels that follow work on all pictures of a plan; z is the number of the picture. A picture is reduced
 * along columns and along rows, and enlarged along rows. The last kernel enlarges it along columns, a row of a
 * tile at a time, and compares that with the image at once, so that nothing as large as the image is written.
 *
 * Each filter along an axis runs over the other one, where its values lie beside each other: so what is
 * between the passes lies column after column, but for what the last kernel reads.
 *
 * The host compiles for BLOCK, the side of a block in pixels, and for RUN, how many values beside each other
 * a work-item makes: many on CPUs, where the loops over them become vectors, and 1 on GPUs.
 */
#include "texture.clh"

// check-kernels: -DBLOCK=4 -DRUN=32
// check-kernels: -DBLOCK=7 -DRUN=1
#ifndef BLOCK
#define BLOCK 4
#define RUN   1
#endif

#define SIDE   (TVLM_BUDGET_BLOCKS * BLOCK)
#define COUNT  (TVLM_BUDGET_BLOCKS * TVLM_BUDGET_BLOCKS)
#define STARTS (TVLM_BUDGET_BLOCKS - TVLM_BUDGET_WINDOW + 1)

/* Where a level of the copied luma begins. */
inline int luma_offset(int width, int height, int level) {
    int offset = 0;
    for (int n = 0; n < level; ++n) offset += level_side(width, n) * level_side(height, n);
    return offset;
}

/* Copies luma of the first `levels` levels. Work-item (n, y) copies RUN texels of a row; y counts the rows of
 * all levels. */
kernel void losses_luma(TEXTURE_IN(source), const int slice, const int levels, global float *restrict luma) {
    const int x = get_global_id(0) * RUN;
    int y = get_global_id(1), level = 0, offset = 0;
    while (level < levels && y >= level_side(source_size.y, level)) {
        offset += level_side(source_size.x, level) * level_side(source_size.y, level);
        y -= level_side(source_size.y, level++);
    }
    if (level >= levels) return;
    const int4 place = level_place_(TEXTURE(source), slice, level);
    for (int i = x; i < min(x + RUN, place.x); ++i)
        luma[offset + y * place.x + i] = texel_inside_(TEXTURE(source), place, slice, level, i, y).w;
}

/* ---- Pictures ---- */

/* Where the length of a loop is an argument, it becomes a constant only if the function is inlined. */
#define INLINED inline __attribute__((always_inline))

/* The entry of the table for place o of an axis, whose offset and taps stand at `axis` of a picture. */
inline global const float *entry_of(global const float *table, global const int *axis, int o) {
    return table + axis[0] + o * (axis[1] + TVLM_BUDGET_HEAD);
}

/* sums[i] = the sum over the entry's places n of weight * from[n * stride + i], for `length` of them. */
INLINED void filter(global const float *entry, global const float *from, const int stride, const int length,
                    float *sums) {
    const int first = (int)entry[0], count = (int)entry[1];
    for (int i = 0; i < length; ++i) sums[i] = 0.0f;
    for (int n = 0; n < count; ++n) {
        global const float *line = from + (first + n) * stride;
        const float weight = entry[TVLM_BUDGET_HEAD + n];
        for (int i = 0; i < length; ++i) sums[i] += weight * line[i];
    }
}

/* The same for at most RUN of them: where there are RUN, the compiler knows the length of the loops. */
INLINED int filter_run(global const float *entry, global const float *from, const int stride, const int left,
                       float *sums) {
    if (left >= RUN)
        filter(entry, from, stride, RUN, sums);
    else
        filter(entry, from, stride, left, sums);
    return min(left, RUN);
}

/*
 * Where a filter's values are to lie along the other axis, a work-item makes GROUP of its outputs, and writes
 * each value of all of them together: values that lie far apart, written one by one, take far longer.
 */
#if RUN > 1
#define GROUP 16
#else
#define GROUP 1
#endif

/* to[i * stride + g] = value i of output first + g, for as many of both as there are. */
INLINED void filter_across(global const float *table, global const int *axis, const int first,
                           const int outputs, global const float *from, const int from_stride, const int left,
                           global float *to, const int stride) {
    float sums[GROUP][RUN];
    const int made = min(left, RUN);
    for (int g = 0; g < outputs; ++g)
        filter_run(entry_of(table, axis, first + g), from, from_stride, left, sums[g]);
    for (int i = 0; i < made; ++i)
        for (int g = 0; g < outputs; ++g) to[i * stride + g] = sums[g][i];
}

/* Reduces the columns of a level. Work-item (n, m) makes RUN texels of GROUP rows. */
kernel void losses_reduce_columns(global const int *restrict pictures, global const float *restrict table,
                                  global const float *restrict luma, const int width, const int height,
                                  global float *restrict between) {
    global const int *picture = pictures + get_global_id(2) * TVLM_BUDGET_PICTURE;
    const int x = get_global_id(0) * RUN, y = get_global_id(1) * GROUP, level = picture[TVLM_BUDGET_FROM];
    const int wide = level_side(width, level), high = picture[TVLM_BUDGET_HEIGHT];
    if (x >= wide || y >= high) return;
    filter_across(table, picture + TVLM_BUDGET_REDUCE_Y, y, min(GROUP, high - y),
                  luma + luma_offset(width, height, level) + x, wide, wide - x,
                  between + picture[TVLM_BUDGET_BETWEEN] + x * high + y, high);
}

/* Reduces the rows of that. Work-item (n, x) makes RUN texels of column x of the picture. */
kernel void losses_reduce_rows(global const int *restrict pictures, global const float *restrict table,
                               global const float *restrict between, global float *restrict texels) {
    global const int *picture = pictures + get_global_id(2) * TVLM_BUDGET_PICTURE;
    const int y = get_global_id(0) * RUN, x = get_global_id(1), high = picture[TVLM_BUDGET_HEIGHT];
    if (y >= high || x >= picture[TVLM_BUDGET_WIDTH]) return;
    float sums[RUN];
    const int made = filter_run(entry_of(table, picture + TVLM_BUDGET_REDUCE_X, x),
                                between + picture[TVLM_BUDGET_BETWEEN] + y, high, high - y, sums);
    global float *to = texels + picture[TVLM_BUDGET_TEXELS] + x * high + y;
    for (int i = 0; i < made; ++i) to[i] = clamp(sums[i], 0.0f, 1.0f);
}

/* Enlarges the rows of the pictures to the width of the image. Work-item (n, m) makes RUN texels of GROUP columns,
 * and puts them into rows. */
kernel void losses_enlarge_rows(global const int *restrict pictures, global const float *restrict table,
                                global const float *restrict texels, const int width,
                                global float *restrict between) {
    global const int *picture = pictures + get_global_id(2) * TVLM_BUDGET_PICTURE;
    const int y = get_global_id(0) * RUN, x = get_global_id(1) * GROUP, high = picture[TVLM_BUDGET_HEIGHT];
    if (y >= high || x >= width) return;
    filter_across(table, picture + TVLM_BUDGET_ENLARGE_X, x, min(GROUP, width - x),
                  texels + picture[TVLM_BUDGET_TEXELS] + y, high, high - y,
                  between + picture[TVLM_BUDGET_BETWEEN] + y * width + x, width);
}

/* ---- Losses ---- */

/* What is known of a tile, whatever the picture: of each block the mean of luma less that of the tile's first
 * pixel, and the mean of its square; then the first pixel. */
#define KNOWN (2 * COUNT + 1)

/* How many pixels of the block that begins at x, y lie in the image. */
inline float pixels_of(int x, int y, int width, int height) {
    return (float)(clamp(width - x, 0, BLOCK) * clamp(height - y, 0, BLOCK));
}

/* Work-item (column, row) looks at that tile. What is known of tiles goes to luma from `tiles` on. */
kernel void losses_tiles(global float *luma, const int width, const int height, const int columns,
                         const int rows, const ulong tiles) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= columns || row >= rows) return;
    global float *known = luma + tiles + (row * columns + column) * KNOWN;
    const float first = luma[row * SIDE * width + column * SIDE];
    for (int b = 0; b < COUNT; ++b) {
        const int x0 = column * SIDE + b % TVLM_BUDGET_BLOCKS * BLOCK;
        const int y0 = row * SIDE + b / TVLM_BUDGET_BLOCKS * BLOCK;
        const float pixels = max(pixels_of(x0, y0, width, height), 1.0f);
        float sum = 0.0f, squares = 0.0f;
        for (int y = y0; y < min(y0 + BLOCK, height); ++y)
            for (int x = x0; x < min(x0 + BLOCK, width); ++x) {
                const float value = luma[y * width + x] - first;
                sum += value;
                squares += value * value;
            }
        known[2 * b] = sum / pixels;
        known[2 * b + 1] = squares / pixels;
    }
    known[2 * COUNT] = first;
}

/* Sums over the pixels of each block: of the picture less the tile's first pixel, of its square, and of its
 * product with the image (less the same); and of the squared error. */
typedef struct sums {
    float y[COUNT], yy[COUNT], xy[COUNT], error[COUNT];
} sums;

/* What a row of a tile's blocks is compared with: the image, the picture that is enlarged along its columns, and
 * the table for that; and the rows of the image. */
typedef struct band {
    global const float *image, *picture, *table;
    global const int *axis;
    int width, top, bottom;
    float first;
} band;

/* Adds up a row of blocks, of which `length` pixels lie in the image. */
INLINED void add_blocks(const band *a, const int left, const int length, const int block, sums *s) {
    float y[SIDE], yy[SIDE], xy[SIDE], error[SIDE], enlarged[SIDE];
    for (int i = 0; i < SIDE; ++i) y[i] = yy[i] = xy[i] = error[i] = 0.0f;
    for (int row = a->top; row < a->bottom; ++row) {
        global const float *image = a->image + row * a->width + left;
        filter(entry_of(a->table, a->axis, row), a->picture + left, a->width, length, enlarged);
        for (int i = 0; i < length; ++i) {
            const float value = clamp(enlarged[i], 0.0f, 1.0f), away = image[i] - value;
            const float p = image[i] - a->first, q = value - a->first;
            error[i] += away * away;
            y[i] += q;
            yy[i] += q * q;
            xy[i] += p * q;
        }
    }
    for (int b = 0; b < TVLM_BUDGET_BLOCKS; ++b) {
        float4 sum = 0.0f;
        for (int i = b * BLOCK; i < (b + 1) * BLOCK; ++i) sum += (float4)(y[i], yy[i], xy[i], error[i]);
        s->y[block + b] = sum.x;
        s->yy[block + b] = sum.y;
        s->xy[block + b] = sum.z;
        s->error[block + b] = sum.w;
    }
}

/* Adds up a row of blocks, a block at a time: what suits GPUs, whose work-items have few registers. */
inline void add_each_block(const band *a, const int left, const int length, const int block, sums *s) {
    for (int b = 0; b < TVLM_BUDGET_BLOCKS; ++b) {
        float4 sum = 0.0f;
        for (int row = a->top; row < a->bottom; ++row) {
            global const float *entry = entry_of(a->table, a->axis, row);
            for (int i = left + b * BLOCK; i < left + min((b + 1) * BLOCK, length); ++i) {
                float enlarged;
                filter(entry, a->picture + i, a->width, 1, &enlarged);
                const float image = a->image[row * a->width + i], value = clamp(enlarged, 0.0f, 1.0f);
                const float p = image - a->first, q = value - a->first, away = image - value;
                sum += (float4)(q, q * q, p * q, away * away);
            }
        }
        s->y[block + b] = sum.x;
        s->yy[block + b] = sum.y;
        s->xy[block + b] = sum.z;
        s->error[block + b] = sum.w;
    }
}

/* The means of a window over its `pixels`: of the image (x), of the picture (y), of squares and products. */
inline float dissimilarity(const float x, const float xx, const float y, const float yy, const float xy,
                           const float first) {
    const float variance_x = max(xx - x * x, 0.0f), variance_y = max(yy - y * y, 0.0f);
    const float covariance = xy - x * y, mean_x = x + first, mean_y = y + first;
    return 1.0f - (2.0f * mean_x * mean_y + TVLM_BUDGET_C1) * (2.0f * covariance + TVLM_BUDGET_C2) /
                      ((mean_x * mean_x + mean_y * mean_y + TVLM_BUDGET_C1) *
                       (variance_x + variance_y + TVLM_BUDGET_C2));
}

/* Compares. Work-item (column, row) looks at that tile and writes its two losses. */
kernel void losses_compare(global const int *restrict pictures, global const float *restrict table,
                           global const float *restrict luma, const int width, const int height,
                           global const float *restrict between, const ulong tiles, const int columns,
                           const int rows, const ulong offset, global float *restrict losses) {
    global const int *picture = pictures + get_global_id(2) * TVLM_BUDGET_PICTURE;
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= columns || row >= rows) return;
    global const float *known = luma + tiles + (row * columns + column) * KNOWN;
    const int left = column * SIDE, length = min(SIDE, width - left);
    sums s;
    band a = {luma,  between + picture[TVLM_BUDGET_BETWEEN],
              table, picture + TVLM_BUDGET_ENLARGE_Y,
              width, 0,
              0,     known[2 * COUNT]};
    for (int j = 0; j < TVLM_BUDGET_BLOCKS; ++j) {
        a.top = min(row * SIDE + j * BLOCK, height);
        a.bottom = min(a.top + BLOCK, height);
#if RUN > 1
        if (length == SIDE) {
            add_blocks(&a, left, SIDE, j * TVLM_BUDGET_BLOCKS, &s);
            continue;
        }
#endif
        add_each_block(&a, left, length, j * TVLM_BUDGET_BLOCKS, &s);
    }

    float error = 0.0f, sum = 0.0f, windows = 0.0f;
    for (int b = 0; b < COUNT; ++b) error += s.error[b];
    for (int n = 0; n < STARTS * STARTS; ++n) {
        float pixels = 0.0f, x = 0.0f, xx = 0.0f, y = 0.0f, yy = 0.0f, xy = 0.0f;
        for (int i = 0; i < TVLM_BUDGET_WINDOW * TVLM_BUDGET_WINDOW; ++i) {
            const int at_x = n % STARTS + i % TVLM_BUDGET_WINDOW, at_y = n / STARTS + i / TVLM_BUDGET_WINDOW;
            const int b = at_y * TVLM_BUDGET_BLOCKS + at_x;
            const float own = pixels_of(left + at_x * BLOCK, row * SIDE + at_y * BLOCK, width, height);
            pixels += own;
            x += own * known[2 * b];
            xx += own * known[2 * b + 1];
            y += s.y[b];
            yy += s.yy[b];
            xy += s.xy[b];
        }
        if (pixels == 0.0f) continue;
        sum += dissimilarity(x / pixels, xx / pixels, y / pixels, yy / pixels, xy / pixels, a.first);
        windows += 1.0f;
    }
    const ulong at = offset + 2 * (((ulong)get_global_id(2) * rows + row) * columns + column);
    losses[at] = error;
    losses[at + 1] = (float)(length * min(SIDE, height - row * SIDE)) * sum / windows;
}
