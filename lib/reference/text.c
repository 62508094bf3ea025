/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c: where there is text, from strokes on several levels (core/constants.h defines it at TVLM_TEXT_*).
 */
#include "reference/text.h"

#include <math.h>

#include "core/memory.h"
#include "reference/reference.h"
#include "reference/texture.h"

static int32_t clamp(int32_t value, int32_t low, int32_t high) {
    return value < low ? low : value > high ? high : value;
}

reference_blocks tvlm_reference_blocks_create(const tvlm_texture *source, int32_t level) {
    const int32_t width = tvlm_level_side(source->width, level),
                  height = tvlm_level_side(source->height, level);
    reference_blocks blocks = {.columns = (width + TVLM_TEXT_BLOCK - 1) / TVLM_TEXT_BLOCK,
                               .rows = (height + TVLM_TEXT_BLOCK - 1) / TVLM_TEXT_BLOCK};
    const size_t count = (size_t)blocks.columns * (size_t)blocks.rows;
    blocks.strokes = tvlm_allocate(count, sizeof *blocks.strokes);
    blocks.marks = tvlm_allocate(count, sizeof *blocks.marks);
    blocks.grown = tvlm_allocate(count, sizeof *blocks.grown);
    return blocks;
}

void tvlm_reference_blocks_destroy(reference_blocks *blocks) {
    free(blocks->strokes);
    free(blocks->marks);
    free(blocks->grown);
    *blocks = (reference_blocks){0};
}

/* The index of a block. Outside the level it is that of the nearest block inside. */
static size_t at(const reference_blocks *blocks, int32_t column, int32_t row) {
    return (size_t)clamp(row, 0, blocks->rows - 1) * (size_t)blocks->columns +
           (size_t)clamp(column, 0, blocks->columns - 1);
}

/* ---- Strokes ---- */

/* Luma in whole steps, rounded in float as in the kernels. */
static int32_t luma(const tvlm_texture *source, int32_t level, int32_t slice, int32_t x, int32_t y) {
    return (int32_t)(tvlm_reference_fetch(source, level, slice, x, y)[3] * TVLM_TEXT_STEPS + 0.5f);
}

/* The difference of luma across a pixel, between its two neighbours. Beyond the level pixels repeat. */
static int32_t gradient(const tvlm_texture *source, int32_t level, int32_t slice, int32_t x, int32_t y) {
    return luma(source, level, slice, x + 1, y) - luma(source, level, slice, x - 1, y);
}

static int32_t above_floor(int32_t value) {
    return value > TVLM_TEXT_FLOOR ? value - TVLM_TEXT_FLOOR : 0;
}

/* The strength of the stroke that begins at a pixel, which is that of the weaker of its two sides. Sign 1
 * looks for bright strokes, and sign -1 for dark ones. */
static int32_t stroke(const tvlm_texture *source, int32_t level, int32_t slice, int32_t x, int32_t y,
                      int32_t sign) {
    const int32_t begins = above_floor(sign * gradient(source, level, slice, x, y));
    int32_t ends = 0;
    for (int32_t d = 1; d <= TVLM_TEXT_THIN && begins > 0; ++d) {
        const int32_t side = above_floor(-sign * gradient(source, level, slice, x + d, y));
        ends = side > ends ? side : ends;
    }
    return begins < ends ? begins : ends;
}

static void add_pixel(const tvlm_texture *source, int32_t level, int32_t slice, int32_t x, int32_t y,
                      int64_t *sums) {
    const int32_t g = gradient(source, level, slice, x, y), value = luma(source, level, slice, x, y);
    sums[TVLM_TEXT_BRIGHT] += stroke(source, level, slice, x, y, 1);
    sums[TVLM_TEXT_DARK] += stroke(source, level, slice, x, y, -1);
    sums[TVLM_TEXT_RISE] += g > 0 ? g : 0;
    sums[TVLM_TEXT_FALL] += g < 0 ? -g : 0;
    sums[TVLM_TEXT_LUMA] += value;
    sums[TVLM_TEXT_SQUARE] += (int64_t)value * value;
}

void tvlm_reference_text_strokes(const tvlm_texture *source, int32_t slice, int32_t level,
                                 reference_blocks *blocks) {
    enum { SIDE = TVLM_TEXT_BLOCK };
    for (int32_t row = 0; row < blocks->rows; ++row) {
        for (int32_t column = 0; column < blocks->columns; ++column) {
            reference_strokes strokes = {{0}};
            for (int32_t i = 0; i < SIDE * SIDE; ++i)
                add_pixel(source, level, slice, SIDE * column + i % SIDE, SIDE * row + i / SIDE,
                          strokes.sums);
            blocks->strokes[at(blocks, column, row)] = strokes;
        }
    }
}

/* ---- Marks ---- */

/* A sum over the window around a block, divided by the window's pixels. The window has `ry` rows of blocks
 * above and below. */
static double window(const reference_blocks *blocks, int32_t column, int32_t row, int32_t ry, int which) {
    int64_t sum = 0;
    for (int32_t dy = -ry; dy <= ry; ++dy)
        for (int32_t dx = -TVLM_TEXT_RX; dx <= TVLM_TEXT_RX; ++dx)
            sum += blocks->strokes[at(blocks, column + dx, row + dy)].sums[which];
    return (double)sum / ((2 * TVLM_TEXT_RX + 1) * (2 * ry + 1) * TVLM_TEXT_BLOCK * TVLM_TEXT_BLOCK);
}

/* The lesser of rises and falls around a block, as gradients. A gradient is half a difference of luma; black
 * to white is a difference of 1. */
static double activity(const reference_blocks *blocks, int32_t column, int32_t row, int32_t ry) {
    const int32_t inside = clamp(row, 0, blocks->rows - 1);
    return fmin(window(blocks, column, inside, ry, TVLM_TEXT_RISE),
                window(blocks, column, inside, ry, TVLM_TEXT_FALL)) /
           (2 * TVLM_TEXT_STEPS);
}

/* The least activity of the bands above and below a block and of the rows that may be gaps between lines. */
static double quietest(const reference_blocks *blocks, int32_t column, int32_t row) {
    double least = INFINITY;
    for (int32_t side = -1; side <= 1; side += 2) {
        least = fmin(least, activity(blocks, column, row + side * TVLM_TEXT_APART, TVLM_TEXT_RY));
        for (int32_t away = TVLM_TEXT_GAP_FIRST; away <= TVLM_TEXT_GAP_LAST; ++away)
            least = fmin(least, (double)TVLM_TEXT_GAP * activity(blocks, column, row + side * away, 0));
    }
    return least;
}

double tvlm_reference_text_ratio(const reference_blocks *blocks, int32_t column, int32_t row) {
    const double steps = TVLM_TEXT_STEPS;
    const double thin = fmin(window(blocks, column, row, TVLM_TEXT_RY, TVLM_TEXT_BRIGHT),
                             window(blocks, column, row, TVLM_TEXT_RY, TVLM_TEXT_DARK)) /
                        (2 * steps);
    const double quiet = quietest(blocks, column, row) + (double)TVLM_TEXT_QUIET;
    const double mean = window(blocks, column, row, TVLM_TEXT_RY, TVLM_TEXT_LUMA);
    const double square = window(blocks, column, row, TVLM_TEXT_RY, TVLM_TEXT_SQUARE);
    const double variance = (square - mean * mean) / (steps * steps);
    const double contrast = sqrt(variance + (double)TVLM_TEXT_CONTRAST * (double)TVLM_TEXT_CONTRAST);
    return thin / ((double)TVLM_TEXT_STRENGTH * quiet * quiet * contrast);
}

void tvlm_reference_text_mark(reference_blocks *blocks) {
    for (int32_t row = 0; row < blocks->rows; ++row)
        for (int32_t column = 0; column < blocks->columns; ++column)
            blocks->marks[at(blocks, column, row)] = tvlm_reference_text_ratio(blocks, column, row) > 1;
}

/* ---- Regions ---- */

/* Whether a block is marked, and so are its neighbours in the row, as far as there are any. */
static bool holds(const reference_blocks *blocks, int32_t column, int32_t row) {
    return blocks->marks[at(blocks, column - 1, row)] && blocks->marks[at(blocks, column, row)] &&
           blocks->marks[at(blocks, column + 1, row)];
}

/* Whether a mark that holds grows over a block. */
static bool holds_near(const reference_blocks *blocks, int32_t column, int32_t row) {
    for (int32_t y = row - TVLM_TEXT_GROW_Y; y <= row + TVLM_TEXT_GROW_Y; ++y)
        for (int32_t x = column - TVLM_TEXT_GROW_X; x <= column + TVLM_TEXT_GROW_X; ++x)
            if (x >= 0 && x < blocks->columns && y >= 0 && y < blocks->rows && holds(blocks, x, y))
                return true;
    return false;
}

void tvlm_reference_text_grow(reference_blocks *blocks) {
    for (int32_t row = 0; row < blocks->rows; ++row)
        for (int32_t column = 0; column < blocks->columns; ++column)
            blocks->grown[at(blocks, column, row)] = holds_near(blocks, column, row);
}

/* The block in which the centre of a texel lies. The grid has `side` texels along the axis, the level
 * `pixels`. */
static int32_t block_of(int32_t texel, int32_t side, int32_t pixels) {
    return (int32_t)((2 * (int64_t)texel + 1) * pixels / (2 * (int64_t)side * TVLM_TEXT_BLOCK));
}

void tvlm_reference_text_combine(const reference_blocks *levels, int32_t count, const tvlm_texture *source,
                                 int32_t image, tvlm_texture *out) {
    for (int32_t y = 0; y < out->height; ++y) {
        for (int32_t x = 0; x < out->width; ++x) {
            double value[4] = {0, 0, 0, 0};
            for (int32_t level = 0; level < count; ++level) {
                const int32_t column = block_of(x, out->width, tvlm_level_side(source->width, level));
                const int32_t row = block_of(y, out->height, tvlm_level_side(source->height, level));
                if (levels[level].grown[at(&levels[level], column, row)]) value[0] = 1;
            }
            tvlm_reference_store(out, 0, reference_slice(out, image, 0), x, y, value);
        }
    }
}

/* ---- The family ---- */

static bool make_image(const tvlm_texture *source, int32_t image, tvlm_texture *out) {
    reference_blocks levels[TVLM_TEXT_LEVELS] = {{0}};
    const int32_t count = source->levels < TVLM_TEXT_LEVELS ? source->levels : TVLM_TEXT_LEVELS;
    bool made = true;
    for (int32_t level = 0; made && level < count; ++level) {
        reference_blocks *blocks = &levels[level];
        *blocks = tvlm_reference_blocks_create(source, level);
        made = blocks->strokes != NULL && blocks->marks != NULL && blocks->grown != NULL;
        if (!made) break;
        tvlm_reference_text_strokes(source, reference_slice(source, image, 0), level, blocks);
        tvlm_reference_text_mark(blocks);
        tvlm_reference_text_grow(blocks);
    }
    if (made) tvlm_reference_text_combine(levels, count, source, image, out);
    for (int32_t level = 0; level < count; ++level) tvlm_reference_blocks_destroy(&levels[level]);
    return made;
}

tvlm_status tvlm_reference_text(tvlm_device *device, const tvlm_generate_args *args) {
    bool made = true;
    for (int32_t image = 0; made && image < args->out->images; ++image)
        made = make_image(args->grids[TVLM_GRID_SOURCE], image, args->out);
    return made ? TVLM_OK : tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "reference: no memory for the text");
}
