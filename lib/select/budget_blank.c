/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_blank.c: which cells of a thumbnail are blank, and the finest thumbnail that keeps at most a given
 * number of cells.
 */
#include "select/budget_blank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum { BYTES = TVLM_INK_BYTES, CHANNELS = 3 };

/* ---- What is seen ---- */

/* The difference of two bytes, without its sign. */
static uint8_t apart(uint8_t a, uint8_t b) {
    const uint8_t least = a < b ? a : b, largest = a < b ? b : a;
    return (uint8_t)(largest - least);
}

/* Finds for each byte of a row of texels how far it is from the same byte of the next texel, or from that of
 * the texel below, whichever is farther. The last texel of the row is left out. Compilers vectorise a loop
 * like this one. */
static void find_steps(const uint8_t *restrict row, const uint8_t *restrict below, size_t bytes,
                       uint8_t *restrict steps) {
    for (size_t i = 0; i < bytes; ++i) {
        const uint8_t beside = apart(row[i], row[i + BYTES]), under = apart(row[i], below[i]);
        steps[i] = beside > under ? beside : under;
    }
}

/* Counts the texels of a row that make a step larger than TVLM_BUDGET_INK, and adds the counts to the sums of
 * the row above. */
static void add_steps(const uint8_t *restrict steps, const uint32_t *restrict above, int32_t count,
                      uint32_t *restrict sums) {
    uint32_t sum = 0;
    sums[0] = 0;
    for (int32_t x = 0; x < count; ++x) {
        const uint8_t *const step = steps + (size_t)x * BYTES;
        sum += (step[0] > TVLM_BUDGET_INK) | (step[1] > TVLM_BUDGET_INK) | (step[2] > TVLM_BUDGET_INK);
        sums[x + 1] = above[x + 1] + sum;
    }
}

bool tvlm_budget_ink_make(const uint8_t *colours, int32_t width, int32_t height, int32_t patch,
                          tvlm_budget_ink *ink) {
    const int32_t wide = tvlm_level_side(width, TVLM_INK_LEVEL),
                  high = tvlm_level_side(height, TVLM_INK_LEVEL);
    const size_t line = (size_t)wide * BYTES;
    uint32_t *const sums = tvlm_allocate((size_t)wide * (size_t)high, sizeof *sums);
    uint8_t *const steps = tvlm_allocate((size_t)wide, BYTES);
    *ink = (tvlm_budget_ink){colours, width, height, patch, wide, high, sums};
    if (sums != NULL && steps != NULL) {
        memset(sums, 0, (size_t)wide * sizeof *sums);
        for (int32_t y = 0; y + 1 < high; ++y) {
            const uint8_t *const row = colours + (size_t)y * line;
            uint32_t *const above = sums + (size_t)y * (size_t)wide;
            find_steps(row, row + line, line - BYTES, steps);
            add_steps(steps, above, wide - 1, above + wide);
        }
    }
    free(steps);
    if (sums == NULL || steps == NULL) tvlm_budget_ink_free(ink);
    return ink->steps != NULL;
}

/* ---- The cells ---- */

/* The texels that a column or a row of cells touches: the first, and the one after the last. */
typedef struct span {
    int32_t first, end;
} span;

/*
 * A thumbnail's cells, and what is known of them. A kept cell is in layer 0, a blank cell beside it in layer
 * 1, a blank cell beside that one in layer 2, and so on. Blank cells are filled in the order of their layers.
 * The arrays of cells have a border of cells that are in no layer, so that every cell has a neighbour on each
 * side.
 */
typedef struct field {
    const tvlm_budget_ink *ink;
    int32_t columns, rows, stride; /* a row of cells with its border */
    uint8_t *blank;
    uint8_t *low, *high;       /* [wide][BYTES]: the range of a column of texels over a row of cells */
    span *across, *down;       /* [columns], [rows] */
    int32_t *layer;            /* OUT at the border, NONE where a blank cell is in none yet */
    float (*middle)[CHANNELS]; /* of blank cells */
    float (*filled)[CHANNELS];
    float *spread; /* of blank cells: the variance of luma, as if it were spread evenly over its range */
    int32_t *queue;
} field;

enum { NONE = -1, OUT = -2 };

/* Room for grids of up to columns x rows cells. */
static bool make(const tvlm_budget_ink *ink, int32_t columns, int32_t rows, field *f) {
    const size_t cells = ((size_t)columns + 2) * ((size_t)rows + 2);
    *f = (field){.ink = ink};
    f->low = tvlm_allocate((size_t)ink->wide, BYTES);
    f->high = tvlm_allocate((size_t)ink->wide, BYTES);
    f->across = tvlm_allocate((size_t)columns, sizeof *f->across);
    f->down = tvlm_allocate((size_t)rows, sizeof *f->down);
    f->layer = tvlm_allocate(cells, sizeof *f->layer);
    f->middle = tvlm_allocate(cells, sizeof *f->middle);
    f->filled = tvlm_allocate(cells, sizeof *f->filled);
    f->spread = tvlm_allocate(cells, sizeof *f->spread);
    f->queue = tvlm_allocate(cells, sizeof *f->queue);
    return f->low != NULL && f->high != NULL && f->across != NULL && f->down != NULL && f->layer != NULL &&
           f->middle != NULL && f->filled != NULL && f->spread != NULL && f->queue != NULL;
}

static void release(field *f) {
    free(f->low);
    free(f->high);
    free(f->across);
    free(f->down);
    free(f->layer);
    free(f->middle);
    free(f->filled);
    free(f->spread);
    free(f->queue);
}

static int32_t cell_at(const field *f, int32_t column, int32_t row) {
    return (row + 1) * f->stride + column + 1;
}

static void find_spans(span *spans, int32_t count, int32_t side) {
    for (int32_t i = 0; i < count; ++i) {
        spans[i].first = (int32_t)((int64_t)i * side / count);
        spans[i].end = (int32_t)(((int64_t)(i + 1) * side + count - 1) / count);
    }
}

/* ---- Ranges ---- */

/* Whether a cell has both texels of a step. A cell without one may still have texels that differ by as much,
 * where the colour changes slowly. */
static bool has_step(const tvlm_budget_ink *ink, span across, span down) {
    const uint32_t *const top = ink->steps + (size_t)down.first * (size_t)ink->wide,
                          *const bottom = ink->steps + (size_t)(down.end - 1) * (size_t)ink->wide;
    return bottom[across.end - 1] - bottom[across.first] != top[across.end - 1] - top[across.first];
}

static void widen(const uint8_t *restrict from, size_t bytes, uint8_t *restrict low, uint8_t *restrict high) {
    for (size_t i = 0; i < bytes; ++i) {
        low[i] = low[i] < from[i] ? low[i] : from[i];
        high[i] = high[i] > from[i] ? high[i] : from[i];
    }
}

/* The range of each column of texels over a row of cells. */
static void range_columns(const field *f, span across, span down) {
    const size_t line = (size_t)f->ink->wide * BYTES, first = (size_t)across.first * BYTES;
    const size_t bytes = (size_t)(across.end - across.first) * BYTES;
    memcpy(f->low + first, f->ink->colours + (size_t)down.first * line + first, bytes);
    memcpy(f->high + first, f->low + first, bytes);
    for (int32_t y = down.first + 1; y < down.end; ++y)
        widen(f->ink->colours + (size_t)y * line + first, bytes, f->low + first, f->high + first);
}

/* What each channel counts for in luma. */
static const float lumas[CHANNELS] = {0.299f, 0.587f, 0.114f};

/* Says whether a cell is flat, and finds its middle and its spread. */
static bool is_flat(const field *f, span across, float middle[CHANNELS], float *spread) {
    float range = 0.0f;
    uint8_t low[BYTES], high[BYTES];
    memcpy(low, f->low + (size_t)across.first * BYTES, BYTES);
    memcpy(high, f->high + (size_t)across.first * BYTES, BYTES);
    for (int32_t x = across.first + 1; x < across.end; ++x)
        for (int c = 0; c < BYTES; ++c) {
            const uint8_t l = f->low[(size_t)x * BYTES + (size_t)c],
                          h = f->high[(size_t)x * BYTES + (size_t)c];
            low[c] = l < low[c] ? l : low[c];
            high[c] = h > high[c] ? h : high[c];
        }
    bool flat = high[CHANNELS] <= TVLM_BUDGET_FINE;
    for (int c = 0; c < CHANNELS; ++c) {
        flat = flat && high[c] - low[c] <= TVLM_BUDGET_INK;
        middle[c] = 0.5f * (float)(low[c] + high[c]);
        range += lumas[c] * (float)(high[c] - low[c]);
    }
    *spread = range * range / 12.0f;
    return flat;
}

/* Finds which cells of a row are flat, and returns how many are not. Texels are looked at only in cells
 * without a step. Where such cells lie side by side, their texels are looked at together. */
static int32_t find_flat_in(const field *f, int32_t row) {
    uint8_t *const blank = f->blank + (size_t)row * (size_t)f->columns;
    int32_t kept = 0;
    for (int32_t c = 0; c < f->columns; ++c) blank[c] = !has_step(f->ink, f->across[c], f->down[row]);
    for (int32_t c = 0, end; c < f->columns; c = end) {
        end = c + 1;
        if (!blank[c]) {
            ++kept;
            continue;
        }
        while (end < f->columns && blank[end]) ++end;
        range_columns(f, (span){f->across[c].first, f->across[end - 1].end}, f->down[row]);
        for (int32_t i = c; i < end; ++i) {
            const int32_t cell = cell_at(f, i, row);
            blank[i] = is_flat(f, f->across[i], f->middle[cell], &f->spread[cell]);
            kept += !blank[i];
        }
    }
    return kept;
}

static int32_t find_flat(const field *f) {
    int32_t kept = 0;
    find_spans(f->across, f->columns, f->ink->wide);
    find_spans(f->down, f->rows, f->ink->high);
    for (int32_t row = 0; row < f->rows; ++row) kept += find_flat_in(f, row);
    return kept;
}

/* ---- Filling ---- */

/* A rectangle of the image, in texels of `ink`. */
typedef struct area {
    float left, top, right, bottom;
} area;

/* Adds the mean colour of an area. */
static void add_area(const tvlm_budget_ink *ink, area a, float sum[CHANNELS]) {
    const int32_t x0 = (int32_t)a.left, y0 = (int32_t)a.top;
    const int32_t x1 = (int32_t)fminf(ceilf(a.right), (float)ink->wide),
                  y1 = (int32_t)fminf(ceilf(a.bottom), (float)ink->high);
    const float before = a.left - (float)x0,
                after = (float)x1 - a.right; /* the part of the outer texels that lies outside */
    const float scale = 1.0f / ((a.right - a.left) * (a.bottom - a.top));
    for (int32_t y = y0; y < y1; ++y) {
        const uint8_t *const row = ink->colours + ((size_t)y * (size_t)ink->wide + (size_t)x0) * BYTES;
        const uint8_t *const last = row + (size_t)(x1 - x0 - 1) * BYTES;
        const float weight = scale * (fminf(a.bottom, (float)(y + 1)) - fmaxf(a.top, (float)y));
        uint32_t whole[BYTES] = {0};
        for (const uint8_t *t = row; t <= last; t += BYTES)
            for (int c = 0; c < BYTES; ++c) whole[c] += t[c];
        for (int c = 0; c < CHANNELS; ++c)
            sum[c] += weight * ((float)whole[c] - before * (float)row[c] - after * (float)last[c]);
    }
}

enum { SIDES = 4 };

/* How far away, in the arrays of cells, the neighbour of a cell is on each side: left, right, above,
 * below. */
static void find_sides(const field *f, int32_t sides[SIDES]) {
    sides[0] = -1;
    sides[1] = 1;
    sides[2] = -f->stride;
    sides[3] = f->stride;
}

/* The line of texels of a neighbour that faces a cell. */
static area facing(const field *f, int32_t cell, int side) {
    const float width = (float)f->ink->wide / (float)f->columns,
                height = (float)f->ink->high / (float)f->rows;
    const float texel_x = width / (float)f->ink->patch, texel_y = height / (float)f->ink->patch;
    const int32_t column = cell % f->stride - 1, row = cell / f->stride - 1;
    const float left = (float)column * width, right = (float)(column + 1) * width;
    const float top = (float)row * height, bottom = (float)(row + 1) * height;
    if (side == 0) return (area){left - texel_x, top, left, bottom};
    if (side == 1) return (area){right, top, right + texel_x, bottom};
    if (side == 2) return (area){left, top - texel_y, right, top};
    return (area){left, bottom, right, bottom + texel_y};
}

/* Fills a cell from the neighbours of the layer before. */
static void fill(const field *f, const int32_t sides[SIDES], int32_t cell) {
    float sum[CHANNELS] = {0.0f};
    int count = 0;
    for (int side = 0; side < SIDES; ++side) {
        const int32_t beside = cell + sides[side];
        if (f->layer[beside] != f->layer[cell] - 1) continue;
        ++count;
        if (f->layer[beside] == 0)
            add_area(f->ink, facing(f, cell, side), sum);
        else
            for (int c = 0; c < CHANNELS; ++c) sum[c] += f->filled[beside][c];
    }
    for (int c = 0; c < CHANNELS; ++c) f->filled[cell][c] = sum[c] / (float)count;
}

static bool is_off(const field *f, int32_t cell) {
    for (int c = 0; c < CHANNELS; ++c)
        if (fabsf(f->filled[cell][c] - f->middle[cell][c]) > TVLM_BUDGET_OFF) return true;
    return false;
}

/* Queues the neighbours of a cell that are in no layer yet, in the layer after its own. Returns how many
 * cells are queued. */
static int32_t reach(const field *f, const int32_t sides[SIDES], int32_t cell, int32_t queued) {
    for (int side = 0; side < SIDES; ++side) {
        const int32_t beside = cell + sides[side];
        if (f->layer[beside] != NONE) continue;
        f->layer[beside] = f->layer[cell] + 1;
        f->queue[queued++] = beside;
    }
    return queued;
}

/* Puts the kept cells into layer 0, and queues the blank ones beside them, in layer 1. Returns how many are
 * queued. */
static int32_t begin_layers(const field *f, const int32_t sides[SIDES]) {
    int32_t queued = 0;
    for (int32_t i = 0; i < f->stride * (f->rows + 2); ++i) f->layer[i] = OUT;
    for (int32_t row = 0; row < f->rows; ++row)
        for (int32_t column = 0; column < f->columns; ++column)
            f->layer[cell_at(f, column, row)] = f->blank[row * f->columns + column] ? NONE : 0;
    for (int32_t row = 0; row < f->rows; ++row)
        for (int32_t column = 0; column < f->columns; ++column)
            if (!f->blank[row * f->columns + column])
                queued = reach(f, sides, cell_at(f, column, row), queued);
    return queued;
}

/*
 * Fills all blank cells once, and keeps those that are filled badly (is_off). Such a cell has its own colour
 * from then on, and the cells after it are filled from that colour. So where the colour changes slowly, only
 * a cell now and then is kept. Returns how many cells were kept.
 */
static int32_t keep_off(const field *f) {
    int32_t sides[SIDES], kept = 0;
    find_sides(f, sides);
    int32_t queued = begin_layers(f, sides);
    for (int32_t n = 0; n < queued; ++n) {
        const int32_t cell = f->queue[n];
        fill(f, sides, cell);
        if (is_off(f, cell)) {
            f->blank[(cell / f->stride - 1) * f->columns + cell % f->stride - 1] = 0;
            ++kept;
            memcpy(f->filled[cell], f->middle[cell], sizeof f->filled[cell]);
        }
        queued = reach(f, sides, cell, queued);
    }
    return kept;
}

/* ---- Blank cells ---- */

/* Finds the blank cells of a grid, and returns how many cells are kept. As soon as more than `most` cells are
 * kept, it ends and returns some number above `most`. */
static int32_t keep(field *f, int32_t columns, int32_t rows, int32_t most, uint8_t *blank) {
    f->columns = columns;
    f->rows = rows;
    f->stride = columns + 2;
    f->blank = blank;
    int32_t kept = find_flat(f);
    if (kept == 0) {
        blank[0] = 0;
        kept = 1;
    }
    for (int32_t more = 1; more > 0 && kept <= most; kept += more) more = keep_off(f);
    return kept;
}

/* The squared error of luma of blank cells as they were filled last. */
static double error_of(const field *f) {
    const double pixels = (double)f->ink->width * f->ink->height / ((double)f->columns * f->rows);
    double sum = 0.0;
    for (int32_t i = 0; i < f->columns * f->rows; ++i) {
        const int32_t cell = cell_at(f, i % f->columns, i / f->columns);
        float off = 0.0f;
        if (!f->blank[i]) continue;
        for (int c = 0; c < CHANNELS; ++c) off += lumas[c] * (f->filled[cell][c] - f->middle[cell][c]);
        sum += (double)(off * off + f->spread[cell]);
    }
    return pixels * sum / (255.0 * 255.0);
}

int32_t tvlm_budget_blank(const tvlm_budget_ink *ink, int32_t columns, int32_t rows, uint8_t *blank,
                          double *error) {
    field f;
    const int32_t kept = make(ink, columns, rows, &f) ? keep(&f, columns, rows, INT32_MAX, blank) : -1;
    if (kept >= 0 && error != NULL) *error = error_of(&f);
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

void tvlm_budget_near_square(const tvlm_budget_ink *ink, int64_t n, int32_t *columns, int32_t *rows) {
    const int32_t across = patches_of(ink->width, ink->patch), down = patches_of(ink->height, ink->patch);
    const double x = sqrt((double)n * ink->width / ink->height),
                 y = sqrt((double)n * ink->height / ink->width);
    double best = INFINITY;
    *columns = across;
    *rows = down;
    if (n >= (int64_t)across * down) return;
    for (int up = 0; up < 4; ++up) {
        /* One side is its exact length rounded down or up. The other is as long as n cells allow, but no
         * longer than its own exact length rounded up. */
        int32_t c = between(floor(x) + up % 2, across), r = between(floor(y) + up % 2, down);
        if (up < 2)
            r = between(fmin(floor((double)n / c), ceil(y)), down);
        else
            c = between(fmin(floor((double)n / r), ceil(x)), across);
        const double cost = (int64_t)c * r <= n ? tvlm_budget_grid_cost(ink, c, r) : INFINITY;
        if (cost >= best) continue;
        best = cost;
        *columns = c;
        *rows = r;
    }
}

/*
 * A ladder of grids, from the least number of cells that is wanted to the image's own grid. Each has STEP
 * times as many cells as the one before. kept[step] is:
 * - 0 for a grid that was not tried,
 * - how many cells the grid keeps, if these are at most most[step],
 * - else some number above most[step].
 */
#define STEP 1.02
enum { STEPS_MAX = 1100 /* up to 2^31 cells */, IN_TURN = 3, JUMPS = 6 };

/* Where a grid of FULL_AT times the wanted cells keeps more than the share FULL of them, too few cells are
 * blank to matter. */
#define FULL    0.97
#define FULL_AT 1.3

typedef struct ladder {
    field f;
    uint8_t *blank;
    int32_t least, steps;
    int32_t kept[STEPS_MAX], most[STEPS_MAX];
} ladder;

typedef struct grid {
    int32_t columns, rows;
} grid;

static bool make_ladder(const tvlm_budget_ink *ink, int32_t least, ladder *l) {
    const int32_t across = patches_of(ink->width, ink->patch), down = patches_of(ink->height, ink->patch);
    const double all = (double)across * down;
    memset(l, 0, sizeof *l);
    l->least = least;
    l->steps = all > least ? 1 + (int32_t)ceil(log(all / least) / log(STEP)) : 1;
    l->blank = tvlm_allocate((size_t)across * (size_t)down, 1);
    return make(ink, across, down, &l->f) && l->blank != NULL;
}

static grid grid_of(const ladder *l, int32_t step) {
    const int64_t n = step + 1 < l->steps ? (int64_t)(l->least * pow(STEP, step)) : INT64_MAX;
    grid g;
    tvlm_budget_near_square(l->f.ink, n, &g.columns, &g.rows);
    return g;
}

/* How many steps of the ladder lead from one number of cells to another, rounded down. */
static int32_t steps_between(double from, double to) {
    return (int32_t)floor(log(to / from) / log(STEP));
}

static int32_t on_ladder(const ladder *l, int32_t step) {
    return step < 0 ? 0 : step < l->steps ? step : l->steps - 1;
}

/* How many cells are kept of a grid, if at most `most` are; else a number above that. */
static int32_t kept_at(ladder *l, int32_t step, int32_t most) {
    if (l->kept[step] == 0 || (l->kept[step] > l->most[step] && l->kept[step] <= most)) {
        const grid g = grid_of(l, step);
        l->kept[step] = keep(&l->f, g.columns, g.rows, most, l->blank);
        l->most[step] = most;
    }
    return l->kept[step];
}

/* The highest step, from about `at` on, that keeps at most n cells. */
static int32_t climb(ladder *l, int32_t n, int32_t at) {
    for (int jump = 0, by = 1; jump < JUMPS && by != 0; ++jump) {
        by = steps_between(kept_at(l, at, 0), n); /* cells that are not flat: nearly all that are kept */
        at = on_ladder(l, at + by);
    }
    while (at > 0 && kept_at(l, at, n) > n) --at;
    grid last = grid_of(l, at);
    for (int32_t step = at + 1, over = 0; step < l->steps && over < IN_TURN; ++step) {
        const grid next = grid_of(l, step);
        if (next.columns == last.columns && next.rows == last.rows) continue;
        last = next;
        ++over;
        if (kept_at(l, step, n) > n) continue;
        at = step;
        over = 0;
    }
    return at;
}

/* Whether hardly any cell is blank. */
static bool is_full(ladder *l, int32_t n) {
    const int32_t step = on_ladder(l, steps_between(l->least, FULL_AT * n));
    const grid g = grid_of(l, step);
    const int32_t most = (int32_t)(FULL * g.columns * g.rows);
    return kept_at(l, step, most) > most;
}

static void climb_all(ladder *l, tvlm_budget_fit *fits, int32_t count) {
    int32_t step = l->steps - 1;
    for (int32_t i = 0; i < count; ++i) {
        const int32_t n = fits[i].n;
        if (kept_at(l, step, n) > n) {
            const double before = i > 0 ? fits[i - 1].n : FULL_AT * n;
            if (i == 0) step = steps_between(l->least, FULL_AT * n);
            step = climb(l, n, on_ladder(l, step + steps_between(before, n)));
        }
        const grid g = grid_of(l, step);
        fits[i] = (tvlm_budget_fit){n, g.columns, g.rows, kept_at(l, step, n)};
    }
}

bool tvlm_budget_finest(const tvlm_budget_ink *ink, tvlm_budget_fit *fits, int32_t count) {
    ladder l;
    const bool made = make_ladder(ink, fits[count - 1].n, &l);
    for (int32_t i = 0; i < count; ++i) fits[i] = (tvlm_budget_fit){.n = fits[i].n};
    if (made && !is_full(&l, fits[0].n)) climb_all(&l, fits, count);
    release(&l.f);
    free(l.blank);
    return made;
}
