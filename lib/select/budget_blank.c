/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_blank.c: which cells of a thumbnail are blank, and the finest thumbnail of so many that are not.
 */
#include "select/budget_blank.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/constants.h"
#include "core/memory.h"

enum {
    BLOCK = TVLM_INK_BLOCK,
    BYTES = TVLM_INK_BYTES,
    CHANNELS = 3,
    LARGEST = 4 /* byte of the largest r */
};

/* A thumbnail's cells, and what is known of them. A kept cell has layer 0, one beside it 1, one beside that 2, and so
 * on: in this order they are filled. */
typedef struct field {
    const tvlm_budget_ink *ink;
    int32_t columns, rows, block_columns, block_rows;
    uint8_t *blank;
    uint8_t *ranges;      /* [columns * rows][BYTES]: of each cell, as those of blocks */
    uint8_t *low, *high;  /* [block_columns][BYTES]: the range of a column of blocks over a row of cells */
    int32_t *first, *end; /* [columns]: the blocks that a column of cells touches */
    int32_t *layer, *queue;
    float (*filled)[CHANNELS];
} field;

/* ---- Ranges ---- */

/* The first block that cell c of `count` of a side of `size` pixels touches, and the one after the last. */
static int32_t first_block(int32_t c, int32_t count, int32_t size) {
    return (int32_t)((int64_t)c * size / ((int64_t)count * BLOCK));
}
static int32_t end_block(int32_t c, int32_t count, int32_t size) {
    const int64_t side = (int64_t)count * BLOCK;
    return (int32_t)(((int64_t)(c + 1) * size + side - 1) / side);
}

static int32_t blocks_of(int32_t side) {
    return side / BLOCK + (side % BLOCK != 0);
}

static void widen(const uint8_t *restrict from, size_t bytes, uint8_t *restrict low, uint8_t *restrict high) {
    for (size_t i = 0; i < bytes; ++i) {
        low[i] = low[i] < from[i] ? low[i] : from[i];
        high[i] = high[i] > from[i] ? high[i] : from[i];
    }
}

/* The range of each column of blocks over one row of cells. */
static void range_columns(const field *f, int32_t row) {
    const size_t line = (size_t)f->block_columns * BYTES;
    memset(f->low, 255, line);
    memset(f->high, 0, line);
    const int32_t end = end_block(row, f->rows, f->ink->height);
    for (int32_t y = first_block(row, f->rows, f->ink->height); y < end; ++y)
        widen(f->ink->blocks + (size_t)y * line, line, f->low, f->high);
}

static void range_cell(const field *f, int32_t column, uint8_t range[BYTES]) {
    uint8_t least[CHANNELS] = {255, 255, 255}, largest[CHANNELS] = {0};
    for (int32_t b = f->first[column]; b < f->end[column]; ++b)
        for (int c = 0; c < CHANNELS; ++c) {
            const uint8_t low = f->low[(size_t)b * BYTES + (size_t)c],
                          high = f->high[(size_t)b * BYTES + LARGEST + (size_t)c];
            least[c] = low < least[c] ? low : least[c];
            largest[c] = high > largest[c] ? high : largest[c];
        }
    memcpy(range, least, CHANNELS);
    memcpy(range + LARGEST, largest, CHANNELS);
}

static bool is_flat(const uint8_t range[BYTES]) {
    for (int c = 0; c < CHANNELS; ++c)
        if (range[LARGEST + c] - range[c] > TVLM_BUDGET_INK) return false;
    return true;
}

/* Finds the ranges of all cells, and which are flat. */
static void find_flat(const field *f) {
    for (int32_t c = 0; c < f->columns; ++c) {
        f->first[c] = first_block(c, f->columns, f->ink->width);
        f->end[c] = end_block(c, f->columns, f->ink->width);
    }
    for (int32_t row = 0; row < f->rows; ++row) {
        range_columns(f, row);
        for (int32_t column = 0; column < f->columns; ++column) {
            const size_t cell = (size_t)row * (size_t)f->columns + (size_t)column;
            range_cell(f, column, f->ranges + cell * BYTES);
            f->blank[cell] = is_flat(f->ranges + cell * BYTES);
        }
    }
}

/* ---- Filling ---- */

static float middle(const uint8_t range[BYTES], int channel) {
    return 0.5f * (float)(range[channel] + range[LARGEST + channel]);
}

/* How much of block b lies between two pixels of a side. */
static float overlap(int32_t b, float from, float to) {
    return fmaxf(0.0f, fminf(to, (float)(b + 1) * BLOCK) - fmaxf(from, (float)b * BLOCK));
}

/* A rectangle of the image, in pixels. */
typedef struct area {
    float left, top, right, bottom;
} area;

/* Adds the mean over an area of the middles of blocks. */
static void add_area(const field *f, area a, float sum[CHANNELS]) {
    float own[CHANNELS] = {0.0f}, weights = 0.0f;
    const int32_t right = (int32_t)fminf(a.right / BLOCK, (float)(f->block_columns - 1));
    const int32_t bottom = (int32_t)fminf(a.bottom / BLOCK, (float)(f->block_rows - 1));
    for (int32_t y = (int32_t)(a.top / BLOCK); y <= bottom; ++y)
        for (int32_t x = (int32_t)(a.left / BLOCK); x <= right; ++x) {
            const float weight = overlap(x, a.left, a.right) * overlap(y, a.top, a.bottom);
            const uint8_t *const range =
                f->ink->blocks + ((size_t)y * (size_t)f->block_columns + (size_t)x) * BYTES;
            for (int c = 0; c < CHANNELS; ++c) own[c] += weight * middle(range, c);
            weights += weight;
        }
    for (int c = 0; c < CHANNELS; ++c) sum[c] += own[c] / weights;
}

/* The sides of a cell. */
typedef struct neighbour {
    int32_t x, y;
} neighbour;
static const neighbour sides[] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
enum { SIDES = sizeof sides / sizeof *sides };

/* The neighbour of a cell on one side, or -1. */
static int32_t neighbour_of(const field *f, int32_t cell, int side) {
    const int32_t column = cell % f->columns + sides[side].x, row = cell / f->columns + sides[side].y;
    if (column < 0 || column >= f->columns || row < 0 || row >= f->rows) return -1;
    return row * f->columns + column;
}

/* The line of texels of a neighbour that faces a cell. */
static area facing(const field *f, int32_t cell, int side) {
    const float width = (float)f->ink->width / (float)f->columns,
                height = (float)f->ink->height / (float)f->rows;
    const float texel_x = width / (float)f->ink->patch, texel_y = height / (float)f->ink->patch;
    area a = {(float)(cell % f->columns) * width, (float)(cell / f->columns) * height, 0.0f, 0.0f};
    a.right = a.left + width;
    a.bottom = a.top + height;
    if (sides[side].x < 0) return (area){a.left - texel_x, a.top, a.left, a.bottom};
    if (sides[side].x > 0) return (area){a.right, a.top, a.right + texel_x, a.bottom};
    if (sides[side].y < 0) return (area){a.left, a.top - texel_y, a.right, a.top};
    return (area){a.left, a.bottom, a.right, a.bottom + texel_y};
}

/* Fills a cell from the neighbours of the layer before. */
static void fill(const field *f, int32_t cell) {
    float sum[CHANNELS] = {0.0f};
    int count = 0;
    for (int side = 0; side < SIDES; ++side) {
        const int32_t beside = neighbour_of(f, cell, side);
        if (beside < 0 || f->layer[beside] != f->layer[cell] - 1) continue;
        ++count;
        if (f->layer[beside] == 0)
            add_area(f, facing(f, cell, side), sum);
        else
            for (int c = 0; c < CHANNELS; ++c) sum[c] += f->filled[beside][c];
    }
    for (int c = 0; c < CHANNELS; ++c) f->filled[cell][c] = sum[c] / (float)count;
}

static bool is_off(const field *f, int32_t cell) {
    for (int c = 0; c < CHANNELS; ++c)
        if (fabsf(f->filled[cell][c] - middle(f->ranges + (size_t)cell * BYTES, c)) > TVLM_BUDGET_OFF)
            return true;
    return false;
}

/* Puts the neighbours of a cell that are in no layer into the one after its own. */
static int32_t reach(const field *f, int32_t cell, int32_t queued) {
    for (int side = 0; side < SIDES; ++side) {
        const int32_t beside = neighbour_of(f, cell, side);
        if (beside < 0 || f->layer[beside] >= 0) continue;
        f->layer[beside] = f->layer[cell] + 1;
        f->queue[queued++] = beside;
    }
    return queued;
}

/*
 * Fills all blank cells once, and keeps those that are off. From there on such a cell has its own colour, so that of a
 * slow change only every so many cells are kept. Returns how many were.
 */
static int32_t keep_off(const field *f) {
    const int32_t cells = f->columns * f->rows;
    int32_t queued = 0, kept = 0;
    for (int32_t i = 0; i < cells; ++i) f->layer[i] = f->blank[i] ? -1 : 0;
    for (int32_t i = 0; i < cells; ++i)
        if (!f->blank[i]) queued = reach(f, i, queued);
    for (int32_t n = 0; n < queued; ++n) {
        const int32_t cell = f->queue[n];
        fill(f, cell);
        if (is_off(f, cell)) {
            f->blank[cell] = 0;
            ++kept;
            for (int c = 0; c < CHANNELS; ++c)
                f->filled[cell][c] = middle(f->ranges + (size_t)cell * BYTES, c);
        }
        queued = reach(f, cell, queued);
    }
    return kept;
}

/* ---- Blank cells ---- */

static bool make(field *f) {
    const size_t cells = (size_t)f->columns * (size_t)f->rows, columns = (size_t)f->columns;
    f->ranges = tvlm_allocate(cells, BYTES);
    f->low = tvlm_allocate((size_t)f->block_columns, BYTES);
    f->high = tvlm_allocate((size_t)f->block_columns, BYTES);
    f->first = tvlm_allocate(columns, sizeof *f->first);
    f->end = tvlm_allocate(columns, sizeof *f->end);
    f->layer = tvlm_allocate(cells, sizeof *f->layer);
    f->queue = tvlm_allocate(cells, sizeof *f->queue);
    f->filled = tvlm_allocate(cells, sizeof *f->filled);
    return f->ranges != NULL && f->low != NULL && f->high != NULL && f->first != NULL && f->end != NULL &&
           f->layer != NULL && f->queue != NULL && f->filled != NULL;
}

static void release(field *f) {
    free(f->ranges);
    free(f->low);
    free(f->high);
    free(f->first);
    free(f->end);
    free(f->layer);
    free(f->queue);
    free(f->filled);
}

static int32_t count_kept(const field *f) {
    int32_t kept = 0;
    for (int32_t i = 0; i < f->columns * f->rows; ++i) kept += !f->blank[i];
    return kept;
}

int32_t tvlm_budget_blank(const tvlm_budget_ink *ink, int32_t columns, int32_t rows, uint8_t *blank) {
    field f = {.ink = ink,
               .columns = columns,
               .rows = rows,
               .block_columns = blocks_of(ink->width),
               .block_rows = blocks_of(ink->height),
               .blank = blank};
    int32_t kept = -1;
    if (make(&f)) {
        find_flat(&f);
        kept = count_kept(&f);
        if (kept == 0) {
            blank[0] = 0;
            kept = 1;
        }
        for (int32_t more = keep_off(&f); more > 0; more = keep_off(&f)) kept += more;
    }
    release(&f);
    return kept;
}

/* ---- The finest grid ---- */

static int32_t between(double value, int32_t high) {
    return value < 1.0 ? 1 : value > high ? high : (int32_t)value;
}

static int32_t patches_of(int32_t side, int32_t patch) {
    return side / patch + (side % patch != 0);
}

/* What a grid leaves out: detail along both sides, and that it leaves out more along one (budget_grids.c has the same). */
static double cost_of(const tvlm_budget_ink *ink, int32_t columns, int32_t rows) {
    const double x = fmin(1.0, (double)columns * ink->patch / ink->width),
                 y = fmin(1.0, (double)rows * ink->patch / ink->height);
    return -log(x) - log(y) + 0.5 * fabs(log(x / y));
}

void tvlm_budget_near_square(const tvlm_budget_ink *ink, int64_t n, int32_t *columns, int32_t *rows) {
    const int32_t across = patches_of(ink->width, ink->patch), down = patches_of(ink->height, ink->patch);
    const double x = sqrt((double)n * ink->width / ink->height),
                 y = sqrt((double)n * ink->height / ink->width);
    double best = INFINITY;
    *columns = across;
    *rows = down;
    if (n >= (int64_t)across * down) return;
    for (int up = 0; up < 4; ++up) {
        /* One side next to what it would be, the other as long as that leaves, but no longer than it would be. */
        int32_t c = between(floor(x) + up % 2, across), r = between(floor(y) + up % 2, down);
        if (up < 2)
            r = between(fmin(floor((double)n / c), ceil(y)), down);
        else
            c = between(fmin(floor((double)n / r), ceil(x)), across);
        const double cost = (int64_t)c * r <= n ? cost_of(ink, c, r) : INFINITY;
        if (cost >= best) continue;
        best = cost;
        *columns = c;
        *rows = r;
    }
}

int32_t tvlm_budget_finest(const tvlm_budget_ink *ink, int32_t n, int32_t *columns, int32_t *rows,
                           uint8_t *blank) {
    /* A grid of `low` cells is fine enough; one of `high`, which is one more than there can be, is not. */
    int64_t low = n,
            high = (int64_t)patches_of(ink->width, ink->patch) * patches_of(ink->height, ink->patch) + 1;
    int64_t tried = low < high ? high - 1 : low;
    for (;;) {
        tvlm_budget_near_square(ink, tried, columns, rows);
        const int32_t kept = tvlm_budget_blank(ink, *columns, *rows, blank);
        if (kept < 0 || (kept <= n && (tried == low || tried + 1 >= high))) return kept;
        if (kept <= n)
            low = tried;
        else
            high = tried;
        tried = high - low > 1 ? low + (high - low) / 2 : low;
    }
}
