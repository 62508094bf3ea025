/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.cl: the channel `text`, which is 1 where there is text and 0 elsewhere. It is made from the source's
 * luma on up to four levels, which find text of different sizes. constants.h defines it at TVLM_TEXT_*, and
 * says how its numbers were chosen.
 *
 * Text has many thin strokes, bright ones and dark ones alike. A stroke is a gradient along x of one sign,
 * closely followed by one of the other sign. And, unlike most textures, text lies in a line: the band above
 * it or below it, or the gap before the next line, is quiet.
 *
 * 1. text_strokes makes six sums over each block of 4 x 4 pixels of each level: of strokes, gradients along
 *    x, and luma. Luma is taken in whole steps, so that all sums are integers and the same on every device.
 * 2. text_mark decides for each block, by the sums over a window around it. It compares the strokes with the
 *    contrast, and with the quietest band or gap above or below.
 * 3. text_grow drops marks that stand alone in their row, and grows the others.
 * 4. text_combine makes a texel text where its block is text on any level.
 *
 * `blocks` is the number of blocks of all levels of an image. Sum s of a block lies at (image *
 * TVLM_TEXT_SUMS + s) * blocks + (blocks of the levels before) + row * columns + column; marks lie in the
 * same way, without s. Work-items make RUN blocks or texels of a row: 1 on GPUs, and many on CPUs, where the
 * loops over them vectorise.
 */
#include "region.clh"
#include "texture.clh"

// check-kernels: -DRUN=1
// check-kernels: -DRUN=64
// check-kernels: -DRUN=16 -DTILE_LIST=1
// check-kernels: -DRUN=64 -DLONG_SIDES=1
#ifndef RUN
#define RUN 1
#endif

#define LEVELS TVLM_TEXT_LEVELS
#define BLOCK  TVLM_TEXT_BLOCK
#define RX     TVLM_TEXT_RX
#define RY     TVLM_TEXT_RY
/* SPAN is how many pixels of a row a work-item sums. AHEAD also includes the pixels after them at which a
 * stroke may end. */
#define SPAN  (BLOCK * RUN)
#define AHEAD (SPAN + TVLM_TEXT_THIN)

/* A type that holds the product of two sides. With LONG_SIDES an image may have more than 32767 pixels along
 * a side. */
#if LONG_SIDES
typedef long product;
#else
typedef int product;
#endif

/* The blocks of a level: columns, rows, and how many blocks the levels before it have. */
HELPER int4 text_blocks(int4 size, int level) {
    int start = 0;
    for (int n = 0; n < level; ++n)
        start +=
            ((level_side(size.x, n) + BLOCK - 1) / BLOCK) * ((level_side(size.y, n) + BLOCK - 1) / BLOCK);
    return (int4)((level_side(size.x, level) + BLOCK - 1) / BLOCK,
                  (level_side(size.y, level) + BLOCK - 1) / BLOCK, start, 0);
}

/*
 * Writes the six sums (TVLM_TEXT_BRIGHT ..) of blocks. Work-item (n, row, image * levels + level) makes RUN
 * blocks of a row of one level. A stroke counts at the pixel where it begins, with the lesser of its two
 * gradients.
 */
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
        /* Outside the level pixels repeat, so that there is no gradient. */
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

/* Adds up one of the sums over windows around RUN blocks from (first, row) on: RX blocks to the left and
 * right and `ry` above and below. Blocks at the level's edge repeat. */
HELPER void text_windows(global const int *restrict sums, int4 grid, int first, int row, int ry,
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

/* Lowers least[i] to the lesser of rises and falls in the windows around RUN blocks. */
HELPER void text_quiet(global const int *restrict strokes, int4 grid, int blocks, int first, int row, int ry,
                       int *least) {
    int rise[RUN], fall[RUN];
    row = clamp(row, 0, grid.y - 1);
    text_windows(strokes + TVLM_TEXT_RISE * blocks, grid, first, row, ry, rise);
    text_windows(strokes + TVLM_TEXT_FALL * blocks, grid, first, row, ry, fall);
    for (int i = 0; i < RUN; ++i) least[i] = min(least[i], min(rise[i], fall[i]));
}

/* Writes 1 for blocks that are text and 0 for others. Work-item (n, row, image * levels + level) makes RUN
 * blocks of a row of one level. */
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

    /* From here on values are floats for each pixel, black to white being 1. A gradient is half the
     * difference of the two neighbours. */
    const float area = TVLM_TEXT_AREA * TVLM_TEXT_STEPS, gradients = 1.0f / (2.0f * area);
    global uchar *restrict out = marks + image * blocks + grid.z + row * grid.x + first;
    for (int i = 0; i < min(RUN, grid.x - first); ++i) {
        const float thin = min(bright[i], dark[i]) * gradients;
        /* A gap is one row of blocks, where a window has 2 RY + 1. */
        const float least = min((float)band[i], TVLM_TEXT_GAP * (2 * RY + 1) * gap[i]);
        const float quiet = least * gradients + TVLM_TEXT_QUIET;
        const long variance = (long)TVLM_TEXT_AREA * square[i] - (long)luma[i] * luma[i];
        const float contrast = sqrt(variance / (area * area) + TVLM_TEXT_CONTRAST * TVLM_TEXT_CONTRAST);
        out[i] = thin > TVLM_TEXT_STRENGTH * quiet * quiet * contrast;
    }
}

/*
 * Drops marks that do not have both neighbours in the row marked (blocks at the level's edge repeat), and
 * grows the others by GX blocks to the left and right and GY above and below. Work-items as in text_mark.
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

/* Writes the channel. A texel is text where the block that its centre lies in is text on any level. Work-item
 * (n, y, image) makes RUN texels of row y. */
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
        const int row = (int)((product)(2 * y + 1) * h / (2 * BLOCK * result_size.y));
        global const uchar *restrict from = grown + image * blocks + grid.z + row * grid.x;
        for (int i = 0; i < count; ++i)
            any[i] |= from[(product)(2 * (first + i) + 1) * w / (2 * BLOCK * result_size.x)];
    }
    for (int i = 0; i < count; ++i) texel_store_scalar(result, first + i, y, image * result_size.z, any[i]);
}
