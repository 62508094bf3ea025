/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.cl: 1 in regions of text-like strokes, read off four levels of the source.
 *
 * What is written has many thin strokes (gradients of one sign closely followed by the other, bright ones and
 * dark ones alike) and, unlike most textures, lies in a line: the band above it or the one below it is quiet,
 * or the gap between it and the next line.
 *
 * 1. text_strokes: sums over blocks of 4 x 4 pixels of a level, of what the gradients along x say. Luma is
 * taken in whole steps, so all is integers and the same on every device.
 * 2. text_mark: each block by the sums over a window around it, against its contrast and the quietest of
 * those places.
 * 3. text_grow: marks that stand alone in their row are dropped, the others grow.
 * 4. text_combine: a texel is text where it is on any of the levels.
 *
 * Blocks lie level after level, row after row: (image * TVLM_TEXT_SUMS + sum) * blocks + start of the level +
 * index. Work-items do RUN blocks or texels of a row; z is the image, or (image, level).
 */
#include "region.clh"
#include "texture.clh"

// check-kernels: -DRUN=1
// check-kernels: -DRUN=64
// check-kernels: -DRUN=16 -DTILE_LIST=1
#ifndef RUN
#define RUN 1
#endif

#define LEVELS TVLM_TEXT_LEVELS
#define BLOCK  TVLM_TEXT_BLOCK
#define RX     TVLM_TEXT_RX
#define RY     TVLM_TEXT_RY
#define SPAN   (BLOCK * RUN)           /* pixels of a work-item's row */
#define AHEAD  (SPAN + TVLM_TEXT_THIN) /* and those after it that a stroke may end at */

/* A level's blocks: columns, rows, how many come before it. */
inline int4 text_blocks(int4 size, int level) {
    int start = 0;
    for (int n = 0; n < level; ++n)
        start +=
            ((level_side(size.x, n) + BLOCK - 1) / BLOCK) * ((level_side(size.y, n) + BLOCK - 1) / BLOCK);
    return (int4)((level_side(size.x, level) + BLOCK - 1) / BLOCK,
                  (level_side(size.y, level) + BLOCK - 1) / BLOCK, start, 0);
}

kernel void text_strokes(TEXTURE_IN(source), const int blocks, const int levels,
                         global int *restrict strokes REGION_IN) {
    const int level = ITEM_Z % levels, image = ITEM_Z / levels, slice = image * source_size.z;
    const int first = ITEM_X * RUN, row = ITEM_Y;
    const int4 grid = text_blocks(source_size, level);
    if (first >= grid.x || row >= grid.y) return;
    const int4 place = level_place_(TEXTURE(source), slice, level);
    float luma[AHEAD + 2];
    int y[AHEAD + 2], gradient[AHEAD], rise[AHEAD], fall[AHEAD], sums[TVLM_TEXT_SUMS][SPAN];
    for (int s = 0; s < TVLM_TEXT_SUMS; ++s)
        for (int i = 0; i < SPAN; ++i) sums[s][i] = 0;
    for (int line = 0; line < BLOCK; ++line) {
        /* outside the level pixels repeat: no gradient */
        for (int i = 0; i < AHEAD + 2; ++i)
            luma[i] = texel_fetch_at_(TEXTURE(source), place, slice, level, BLOCK * first + i - 1,
                                      BLOCK * row + line)
                          .w;
        for (int i = 0; i < AHEAD + 2; ++i) y[i] = (int)(luma[i] * TVLM_TEXT_STEPS + 0.5f);
        for (int i = 0; i < AHEAD; ++i) {
            gradient[i] = y[i + 2] - y[i];
            rise[i] = max(gradient[i] - TVLM_TEXT_FLOOR, 0);
            fall[i] = max(-gradient[i] - TVLM_TEXT_FLOOR, 0);
        }
        for (int i = 0; i < SPAN; ++i) {
            int rises = 0, falls = 0;
            for (int d = 1; d <= TVLM_TEXT_THIN; ++d) {
                rises = max(rises, rise[i + d]);
                falls = max(falls, fall[i + d]);
            }
            sums[TVLM_TEXT_BRIGHT][i] += min(rise[i], falls);
            sums[TVLM_TEXT_DARK][i] += min(fall[i], rises);
            sums[TVLM_TEXT_RISE][i] += max(gradient[i], 0);
            sums[TVLM_TEXT_FALL][i] += max(-gradient[i], 0);
            sums[TVLM_TEXT_LUMA][i] += y[i + 1];
            sums[TVLM_TEXT_SQUARE][i] += y[i + 1] * y[i + 1];
        }
    }
    for (int s = 0; s < TVLM_TEXT_SUMS; ++s) {
        global int *restrict out =
            strokes + (image * TVLM_TEXT_SUMS + s) * blocks + grid.z + row * grid.x + first;
        for (int i = 0; i < min(RUN, grid.x - first); ++i) {
            int sum = 0;
            for (int j = 0; j < BLOCK; ++j) sum += sums[s][BLOCK * i + j];
            out[i] = sum;
        }
    }
}

/* Sums over the windows around RUN blocks from (first, row), `ry` rows each way, the level's edge blocks
 * repeated. */
inline void text_windows(global const int *restrict sums, int4 grid, int first, int row, int ry,
                         int *windows) {
    int columns[RUN + 2 * RX];
    for (int i = 0; i < RUN + 2 * RX; ++i) columns[i] = 0;
    for (int dy = -ry; dy <= ry; ++dy) {
        global const int *restrict line = sums + clamp(row + dy, 0, grid.y - 1) * grid.x;
        if (first >= RX && first + RUN + RX <= grid.x)
            for (int i = 0; i < RUN + 2 * RX; ++i) columns[i] += line[first - RX + i];
        else
            for (int i = 0; i < RUN + 2 * RX; ++i) columns[i] += line[clamp(first - RX + i, 0, grid.x - 1)];
    }
    for (int i = 0; i < RUN; ++i) {
        int sum = 0;
        for (int dx = 0; dx <= 2 * RX; ++dx) sum += columns[i + dx];
        windows[i] = sum;
    }
}

/* The lesser of rises and falls in the windows around a row, where that is less than `least`. */
inline void text_quiet(global const int *restrict strokes, int4 grid, int blocks, int first, int row, int ry,
                       int *least) {
    int rise[RUN], fall[RUN];
    row = clamp(row, 0, grid.y - 1);
    text_windows(strokes + TVLM_TEXT_RISE * blocks, grid, first, row, ry, rise);
    text_windows(strokes + TVLM_TEXT_FALL * blocks, grid, first, row, ry, fall);
    for (int i = 0; i < RUN; ++i) least[i] = min(least[i], min(rise[i], fall[i]));
}

kernel void text_mark(global const int *restrict strokes, const int4 source_size, const int blocks,
                      const int levels, global uchar *restrict marks REGION_IN) {
    const int level = ITEM_Z % levels, image = ITEM_Z / levels;
    const int first = ITEM_X * RUN, row = ITEM_Y;
    const int4 grid = text_blocks(source_size, level);
    if (first >= grid.x || row >= grid.y) return;
    strokes += image * TVLM_TEXT_SUMS * blocks + grid.z;
    int bright[RUN], dark[RUN], luma[RUN], square[RUN], band[RUN], gap[RUN];
    text_windows(strokes + TVLM_TEXT_BRIGHT * blocks, grid, first, row, RY, bright);
    text_windows(strokes + TVLM_TEXT_DARK * blocks, grid, first, row, RY, dark);
    text_windows(strokes + TVLM_TEXT_LUMA * blocks, grid, first, row, RY, luma);
    text_windows(strokes + TVLM_TEXT_SQUARE * blocks, grid, first, row, RY, square);
    for (int i = 0; i < RUN; ++i) band[i] = gap[i] = INT_MAX;
    for (int side = -1; side <= 1; side += 2) {
        text_quiet(strokes, grid, blocks, first, row + side * TVLM_TEXT_APART, RY, band);
        for (int away = TVLM_TEXT_GAP_FIRST; away <= TVLM_TEXT_GAP_LAST; ++away)
            text_quiet(strokes, grid, blocks, first, row + side * away, 0, gap);
    }

    /* From here on in floats, per pixel, black to white being 1; a gradient is half a difference. */
    const float area = TVLM_TEXT_AREA * TVLM_TEXT_STEPS, gradients = 1.0f / (2.0f * area);
    global uchar *restrict out = marks + image * blocks + grid.z + row * grid.x + first;
    for (int i = 0; i < min(RUN, grid.x - first); ++i) {
        const float thin = min(bright[i], dark[i]) * gradients;
        /* a gap is one row, a window 2 RY + 1 */
        const float least = min((float)band[i], TVLM_TEXT_GAP * (2 * RY + 1) * gap[i]);
        const float quiet = least * gradients + TVLM_TEXT_QUIET;
        const long variance = (long)TVLM_TEXT_AREA * square[i] - (long)luma[i] * luma[i];
        const float contrast = sqrt(variance / (area * area) + TVLM_TEXT_CONTRAST * TVLM_TEXT_CONTRAST);
        out[i] = thin > TVLM_TEXT_STRENGTH * quiet * quiet * contrast;
    }
}

/* Dropped: marks without both neighbours in the row (outside the level they count as marked). Kept ones grow.
 */
kernel void text_grow(global const uchar *restrict marks, const int4 source_size, const int blocks,
                      const int levels, global uchar *restrict grown REGION_IN) {
    const int level = ITEM_Z % levels, image = ITEM_Z / levels;
    const int first = ITEM_X * RUN, row = ITEM_Y;
    const int4 grid = text_blocks(source_size, level);
    if (first >= grid.x || row >= grid.y) return;
    enum { GX = TVLM_TEXT_GROW_X, GY = TVLM_TEXT_GROW_Y };
    uchar line[RUN + 2 * GX + 2], columns[RUN + 2 * GX];
    marks += image * blocks + grid.z;
    for (int i = 0; i < RUN + 2 * GX; ++i) columns[i] = 0;
    for (int dy = -GY; dy <= GY; ++dy) {
        global const uchar *restrict from = marks + clamp(row + dy, 0, grid.y - 1) * grid.x;
        for (int i = 0; i < RUN + 2 * GX + 2; ++i) line[i] = from[clamp(first - GX - 1 + i, 0, grid.x - 1)];
        for (int i = 0; i < RUN + 2 * GX; ++i) columns[i] |= line[i] & line[i + 1] & line[i + 2];
    }
    global uchar *restrict out = grown + image * blocks + grid.z + row * grid.x + first;
    for (int i = 0; i < min(RUN, grid.x - first); ++i) {
        uchar any = 0;
        for (int dx = 0; dx <= 2 * GX; ++dx) {
            const int column = first - GX + i + dx;
            any |= column >= 0 && column < grid.x ? columns[i + dx] : 0;
        }
        out[i] = any;
    }
}

/* A texel's centre lies in one block of each level. */
kernel void text_combine(global const uchar *restrict grown, const int4 source_size, const int blocks,
                         const int levels, TEXTURE_OUT(result) REGION_IN) {
    const int first = ITEM_X * RUN, y = ITEM_Y, image = ITEM_Z;
    if (first >= result_size.x || y >= result_size.y) return;
    const int count = min(RUN, result_size.x - first);
    uchar any[RUN];
    for (int i = 0; i < RUN; ++i) any[i] = 0;
    for (int level = 0; level < levels; ++level) {
        const int4 grid = text_blocks(source_size, level);
        const int w = level_side(source_size.x, level), h = level_side(source_size.y, level);
        const int row = (2 * y + 1) * h / (2 * BLOCK * result_size.y);
        global const uchar *restrict from = grown + image * blocks + grid.z + row * grid.x;
        for (int i = 0; i < count; ++i)
            any[i] |= from[(2 * (first + i) + 1) * w / (2 * BLOCK * result_size.x)];
    }
    for (int i = 0; i < count; ++i)
        texel_store(result, first + i, y, image * result_size.z, (float4)(any[i], 0.0f, 0.0f, 0.0f));
}
