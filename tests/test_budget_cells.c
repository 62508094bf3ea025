/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget_cells.c: which cells are blank (select/budget_blank.h), at the limits and against the definition in plain double,
 * where what is seen of an image is given texel by texel; and grids of nearly squares.
 */
#include <math.h>
#include <string.h>

#include "select/budget_blank.h"
#include "support.h"

enum { SIDE_MOST = 48, BYTES = TVLM_INK_BYTES };

/* What is seen: r, g, b and what is finer than a texel, of WIDE x HIGH texels of four pixels each way. */
typedef struct seen {
    int32_t wide, high;
    uint8_t texels[SIDE_MOST * SIDE_MOST * BYTES];
    tvlm_budget_ink ink;
} seen;

static uint8_t *texel(seen *s, int32_t x, int32_t y) {
    return s->texels + ((ptrdiff_t)y * s->wide + x) * BYTES;
}

static void put(seen *s, int32_t x, int32_t y, int r, int g, int b, int fine) {
    const uint8_t bytes[BYTES] = {(uint8_t)r, (uint8_t)g, (uint8_t)b, (uint8_t)fine};
    memcpy(texel(s, x, y), bytes, BYTES);
}

static void fill(seen *s, int32_t wide, int32_t high, int gray) {
    *s = (seen){.wide = wide, .high = high};
    for (int32_t i = 0; i < wide * high; ++i) put(s, i % wide, i / wide, gray, gray, gray, 0);
}

static void look(seen *s, int32_t patch) {
    assert_true(tvlm_budget_ink_make(s->texels, 4 * s->wide, 4 * s->high, patch, &s->ink));
    assert_true(s->ink.wide == s->wide && s->ink.high == s->high);
}

/* ---- Steps ---- */

/* A difference of more than 12 in any colour from the next texel or from the one below is a step; one of 12 is none, nor is what
 * is finer. Of the last row and column no step is known. */
static void test_steps(void **state) {
    static seen s;
    (void)state;
    fill(&s, 4, 4, 100);
    put(&s, 1, 0, 100, 113, 100, 0);  /* beside 0, 0 and 2, 0, above 1, 1: steps at 0, 0 and 1, 0 */
    put(&s, 2, 2, 112, 88, 100, 255); /* none */
    put(&s, 3, 3, 0, 0, 0, 0);        /* below 3, 2 and beside 2, 3, which are the last */
    put(&s, 0, 2, 100, 100, 87, 0);   /* below 0, 1, beside 1, 2 and above 0, 3: steps at 0, 1 and 0, 2 */
    look(&s, 16);
    static const uint32_t sums[16] = {0, 0, 0, 0, 0, 1, 2, 2, 0, 2, 3, 3, 0, 3, 4, 4};
    for (int i = 0; i < 16; ++i) assert_int_equal(s.ink.steps[i], sums[i]);
    tvlm_budget_ink_free(&s.ink);
    assert_null(s.ink.steps);
}

/* Of each colour, larger or smaller, and of a texel in the corner or in the middle, whose neighbours on the left and above make a
 * step, too. */
static void test_steps_of_colours(void **state) {
    static seen s;
    (void)state;
    for (int c = 0; c < BYTES; ++c)
        for (int by = -13; by <= 13; ++by)
            for (int at = 0; at < 2; ++at) {
                fill(&s, 3, 3, 100);
                texel(&s, at, at)[c] = (uint8_t)(c < 3 ? 100 + by : 200);
                look(&s, 16);
                const uint32_t steps = c < 3 && abs(by) == 13 ? (at == 0 ? 1 : 3) : 0;
                assert_int_equal(s.ink.steps[8], steps);
                tvlm_budget_ink_free(&s.ink);
            }
}

/* ---- At the limits ---- */

/* How many of two cells beside each other are kept where the right one differs as given; the left one is kept always. */
static int32_t kept_of(int left, int from, int to, int fine) {
    static seen s;
    uint8_t blank[2];
    fill(&s, 16, 8, left); /* all that is averaged is exact */
    for (int32_t i = 0; i < 8; ++i) put(&s, 0, i, left + 40, left + 40, left + 40, 0); /* its own ink */
    for (int32_t y = 0; y < 8; ++y)
        for (int32_t x = 8; x < 16; ++x) {
            const int value = from + (to - from) * (x - 8) / 7;
            put(&s, x, y, value, value, value, y == 7 && x == 15 ? fine : 0);
        }
    look(&s, 16);
    const int32_t kept = tvlm_budget_blank(&s.ink, 2, 1, blank, NULL);
    assert_int_equal(kept, 2 - blank[0] - blank[1]);
    assert_int_equal(blank[0], 0);
    tvlm_budget_ink_free(&s.ink);
    return kept;
}

/* Over a cell a colour may change by 12, what is finer may be 12, and a cell's middle may be 6 off what it is filled with, which
 * is the line that faces it. */
static void test_limits(void **state) {
    (void)state;
    assert_int_equal(kept_of(100, 100, 100, 0), 1);
    assert_int_equal(kept_of(100, 94, 106, 0), 1);
    assert_int_equal(kept_of(100, 94, 107, 0), 2);
    assert_int_equal(kept_of(100, 106, 94, 12), 1);
    assert_int_equal(kept_of(100, 100, 100, 13), 2);
    assert_int_equal(kept_of(100, 106, 106, 0), 1);
    assert_int_equal(kept_of(100, 94, 94, 0), 1);
    assert_int_equal(kept_of(100, 106, 107, 0), 2); /* 6.5 */
    assert_int_equal(kept_of(100, 93, 94, 0), 2);
}

/* ---- By the definition ---- */

typedef struct plain {
    int32_t columns, rows, kept;
    bool blank[SIDE_MOST * SIDE_MOST];
    double middle[SIDE_MOST * SIDE_MOST][3], filled[SIDE_MOST * SIDE_MOST][3], spread[SIDE_MOST * SIDE_MOST];
    double nearest; /* how near any cell came to the limit of filling */
} plain;

static const double lumas[3] = {0.299, 0.587, 0.114};

/* Whether the texels that a cell touches are alike, and their middle and spread. */
static void find_flat(seen *s, plain *p, int32_t cell) {
    const int32_t column = cell % p->columns, row = cell / p->columns;
    double low[BYTES] = {255.0, 255.0, 255.0, 255.0}, high[BYTES] = {0.0}, range = 0.0;
    for (int32_t y = 0; y < s->high; ++y)
        for (int32_t x = 0; x < s->wide; ++x) {
            /* texel x is touched where it begins before the cell ends and ends behind where the cell begins */
            if (x * p->columns >= (column + 1) * s->wide || (x + 1) * p->columns <= column * s->wide)
                continue;
            if (y * p->rows >= (row + 1) * s->high || (y + 1) * p->rows <= row * s->high) continue;
            for (int c = 0; c < BYTES; ++c) {
                low[c] = fmin(low[c], texel(s, x, y)[c]);
                high[c] = fmax(high[c], texel(s, x, y)[c]);
            }
        }
    p->blank[cell] = high[3] <= 12.0;
    for (int c = 0; c < 3; ++c) {
        if (high[c] - low[c] > 12.0) p->blank[cell] = false;
        p->middle[cell][c] = (high[c] + low[c]) / 2.0;
        range += lumas[c] * (high[c] - low[c]);
    }
    p->spread[cell] = range * range / 12.0;
}

/* The mean colour of an area in texels. */
static void mean_of(seen *s, double left, double top, double right, double bottom, double mean[3]) {
    double sums[3] = {0.0}, all = 0.0;
    for (int32_t y = 0; y < s->high; ++y)
        for (int32_t x = 0; x < s->wide; ++x) {
            const double wide = fmin(right, x + 1) - fmax(left, x), high = fmin(bottom, y + 1) - fmax(top, y);
            if (wide <= 0.0 || high <= 0.0) continue;
            for (int c = 0; c < 3; ++c) sums[c] += wide * high * texel(s, x, y)[c];
            all += wide * high;
        }
    for (int c = 0; c < 3; ++c) mean[c] = sums[c] / all;
}

/* Adds what a neighbour fills a cell with; `layer` is the neighbour's. */
static void add_side(seen *s, const plain *p, int32_t cell, int side, int layer, double sum[3]) {
    static const int across[4] = {-1, 1, 0, 0}, down[4] = {0, 0, -1, 1};
    const int32_t beside = cell + across[side] + down[side] * p->columns;
    const double w = (double)s->wide / p->columns, h = (double)s->high / p->rows;
    const double left = cell % p->columns * w, top = cell / p->columns * h;
    const double tx = w / s->ink.patch, ty = h / s->ink.patch;
    const double areas[4][4] = {{left - tx, top, left, top + h},
                                {left + w, top, left + w + tx, top + h},
                                {left, top - ty, left + w, top},
                                {left, top + h, left + w, top + h + ty}};
    double mean[3];
    memcpy(mean, p->filled[beside], sizeof mean);
    if (layer == 0) mean_of(s, areas[side][0], areas[side][1], areas[side][2], areas[side][3], mean);
    for (int c = 0; c < 3; ++c) sum[c] += mean[c];
}

/* The neighbour of a cell on a side; -1: there is none. */
static int32_t neighbour(const plain *p, int32_t cell, int side) {
    const int32_t column = cell % p->columns, row = cell / p->columns;
    if (side == 0) return column > 0 ? cell - 1 : -1;
    if (side == 1) return column + 1 < p->columns ? cell + 1 : -1;
    if (side == 2) return row > 0 ? cell - p->columns : -1;
    return row + 1 < p->rows ? cell + p->columns : -1;
}

/* Fills all blank cells, layer after layer, and keeps those that are off. Returns how many. */
static int32_t keep_off(seen *s, plain *p) {
    int layers[SIDE_MOST * SIDE_MOST];
    int32_t kept = 0;
    for (int32_t i = 0; i < p->columns * p->rows; ++i) layers[i] = p->blank[i] ? -1 : 0;
    for (int layer = 1; layer < p->columns + p->rows; ++layer)
        for (int32_t i = 0; i < p->columns * p->rows; ++i) {
            double sum[3] = {0.0}, off = 0.0;
            int count = 0;
            if (layers[i] != -1) continue;
            for (int side = 0; side < 4; ++side) {
                const int32_t beside = neighbour(p, i, side);
                if (beside < 0 || layers[beside] != layer - 1) continue;
                add_side(s, p, i, side, layer - 1, sum);
                ++count;
            }
            if (count == 0) continue;
            layers[i] = layer;
            for (int c = 0; c < 3; ++c) {
                p->filled[i][c] = sum[c] / count;
                off = fmax(off, fabs(p->filled[i][c] - p->middle[i][c]));
            }
            p->nearest = fmin(p->nearest, fabs(off - 6.0));
            if (off <= 6.0) continue;
            memcpy(p->filled[i], p->middle[i], sizeof p->filled[i]);
            p->blank[i] = false;
            ++kept;
        }
    return kept;
}

static double error_of(seen *s, const plain *p) {
    double sum = 0.0;
    for (int32_t i = 0; i < p->columns * p->rows; ++i) {
        double off = 0.0;
        for (int c = 0; c < 3; ++c) off += lumas[c] * (p->filled[i][c] - p->middle[i][c]);
        if (p->blank[i]) sum += off * off + p->spread[i];
    }
    return sum / 65025.0 * (16.0 * s->wide * s->high) / (p->columns * p->rows);
}

static void find_plain(seen *s, int32_t columns, int32_t rows, plain *p) {
    int32_t more = 1;
    *p = (plain){.columns = columns, .rows = rows, .nearest = 1.0};
    for (int32_t i = 0; i < columns * rows; ++i) {
        find_flat(s, p, i);
        p->kept += !p->blank[i];
    }
    if (p->kept == 0) {
        p->blank[0] = false;
        p->kept = 1;
    }
    for (; more > 0; p->kept += more) more = keep_off(s, p);
}

/* Slopes of all colours, some ink, and some of what is finer. */
static void draw(seen *s, uint64_t *random) {
    fill(s, 6 + (int32_t)(test_random(random) % 40), 6 + (int32_t)(test_random(random) % 40), 0);
    const int ink = (int)(test_random(random) % 12), noise = 1 + (int)(test_random(random) % 5);
    double slopes[3][2];
    for (int c = 0; c < 6; ++c) slopes[c / 2][c % 2] = 3.0 * (double)test_random_unit(random) - 1.5;
    for (int32_t i = 0; i < s->wide * s->high; ++i) {
        int values[3];
        for (int c = 0; c < 3; ++c)
            values[c] = 120 + (int)(slopes[c][0] * (i % s->wide) + slopes[c][1] * (i / s->wide)) +
                        (int)(test_random(random) % (uint64_t)noise);
        put(s, i % s->wide, i / s->wide, values[0], values[1], values[2],
            (int)(test_random(random) % 8) + (test_random(random) % 300 == 0 ? 6 : 0));
    }
    for (int i = 0; i < ink; ++i)
        texel(s, (int32_t)(test_random(random) % (uint64_t)s->wide),
              (int32_t)(test_random(random) % (uint64_t)s->high))[test_random(random) % 3] += 20;
}

static void test_plain(void **state) {
    static seen s;
    static plain p;
    static uint8_t blank[SIDE_MOST * SIDE_MOST];
    uint64_t random = 12;
    int tried = 0;
    double share = 0.0;
    (void)state;
    for (int round = 0; round < 400; ++round) {
        double error = -1.0;
        draw(&s, &random);
        look(&s, 7 + (int32_t)(test_random(&random) % 20));
        find_plain(&s, 1 + (int32_t)(test_random(&random) % (uint64_t)(s.wide / 2)),
                   1 + (int32_t)(test_random(&random) % (uint64_t)(s.high / 2)), &p);
        const int32_t kept = tvlm_budget_blank(&s.ink, p.columns, p.rows, blank, &error);
        tvlm_budget_ink_free(&s.ink);
        if (p.nearest < 1e-3) continue; /* rounding decides there */
        ++tried;
        share += (double)p.kept / (p.columns * p.rows);
        for (int32_t i = 0; i < p.columns * p.rows; ++i)
            if (blank[i] != p.blank[i])
                fail_msg("round %d: cell %d of %dx%d", round, (int)i, (int)p.columns, (int)p.rows);
        assert_int_equal(kept, p.kept);
        assert_true(fabs(error - error_of(&s, &p)) <= 1e-3 * error_of(&s, &p) + 1e-9);
    }
    if (tried < 200 || share < 0.1 * tried || share > 0.9 * tried)
        fail_msg("%d tried, of whose cells %g are kept", tried, share / tried);
}

/* ---- Grids ---- */

/* The least cost of grids of at most n cells, no finer than the image. */
static double least_cost(const tvlm_budget_ink *ink, int32_t n) {
    const int32_t across = (ink->width + ink->patch - 1) / ink->patch,
                  down = (ink->height + ink->patch - 1) / ink->patch;
    double least = INFINITY;
    for (int32_t columns = 1; columns <= across && columns <= n; ++columns) {
        const int32_t rows = n / columns < down ? n / columns : down;
        least = fmin(least, tvlm_budget_grid_cost(ink, columns, rows));
    }
    return least;
}

/* Nearly always the cheapest of all grids, and else hardly dearer. */
static void test_near_square(void **state) {
    static const int32_t sizes[][2] = {{640, 480}, {1240, 1754}, {170, 160},
                                       {333, 222}, {100, 100},   {30, 900}};
    int cheapest = 0, all = 0;
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const tvlm_budget_ink ink = {.width = sizes[i][0], .height = sizes[i][1], .patch = 16};
        const int32_t most = ((ink.width + 15) / 16) * ((ink.height + 15) / 16);
        for (int32_t n = 1; n <= most + 2; n += 1 + most / 300, ++all) {
            int32_t columns, rows;
            tvlm_budget_near_square(&ink, n, &columns, &rows);
            assert_true(columns >= 1 && rows >= 1 && columns * rows <= n);
            const double off = tvlm_budget_grid_cost(&ink, columns, rows) - least_cost(&ink, n);
            if (off > 0.21)
                fail_msg("%d cells of %dx%d: %dx%d", (int)n, (int)ink.width, (int)ink.height, (int)columns,
                         (int)rows);
            cheapest += off < 1e-9;
        }
    }
    if (cheapest < all * 95 / 100) fail_msg("%d of %d are the cheapest", cheapest, all);
}

/* How many cells of a grid are kept. */
static int32_t kept_by(const seen *s, int32_t columns, int32_t rows) {
    static uint8_t blank[SIDE_MOST * SIDE_MOST];
    return tvlm_budget_blank(&s->ink, columns, rows, blank, NULL);
}

/* A grid of the ladder whose next three keep too many; each of the ladder has a fiftieth more cells than the one before. */
static void check_fit(const seen *s, int32_t least, const tvlm_budget_fit *fit) {
    int32_t columns = 0, rows = 0, after = -1;
    const int32_t side = (4 * s->wide + s->ink.patch - 1) / s->ink.patch;
    assert_true(fit->kept >= 1 && fit->kept <= fit->n);
    assert_int_equal(fit->kept, kept_by(s, fit->columns, fit->rows));
    for (double n = least; after < 3 && columns * rows < side * side; n *= 1.02) {
        int32_t next_columns, next_rows;
        tvlm_budget_near_square(&s->ink, (int64_t)n, &next_columns, &next_rows);
        if (next_columns == columns && next_rows == rows) continue;
        columns = next_columns;
        rows = next_rows;
        if (columns == fit->columns && rows == fit->rows)
            after = 0;
        else if (after >= 0 && ++after > 0 && kept_by(s, columns, rows) <= fit->n)
            fail_msg("%d cells: %dx%d is finer than %dx%d", (int)fit->n, (int)columns, (int)rows,
                     (int)fit->columns, (int)fit->rows);
    }
    assert_true(after >= 0);
}

/* Ink in the left part of the image: of each number of cells the finest grid. */
static void test_finest(void **state) {
    static seen s;
    uint64_t random = 4;
    (void)state;
    for (int32_t part = 6; part <= 30; part += 8) {
        static const int32_t wanted[] = {150, 100, 60, 59, 20, 7};
        enum { COUNT = sizeof wanted / sizeof *wanted };
        tvlm_budget_fit fits[COUNT];
        fill(&s, SIDE_MOST, SIDE_MOST, 200);
        for (int32_t i = 0; i < part * SIDE_MOST; ++i) {
            const int value = (int)(test_random(&random) % 256);
            put(&s, i % part, i / part, value, value, value, 50);
        }
        look(&s, 8); /* 24 x 24 cells */
        for (int i = 0; i < COUNT; ++i)
            fits[i] = (tvlm_budget_fit){.n = wanted[i], .columns = -1, .kept = -1};
        assert_true(tvlm_budget_finest(&s.ink, fits, COUNT));
        for (int i = 0; i < COUNT; ++i) {
            assert_int_equal(fits[i].n, wanted[i]);
            check_fit(&s, wanted[COUNT - 1], &fits[i]);
        }
        /* Where all of a grid of 1.3 times as many cells is kept, none is known. */
        tvlm_budget_ink_free(&s.ink);
        fill(&s, SIDE_MOST, SIDE_MOST, 200);
        for (int32_t i = 0; i < SIDE_MOST * SIDE_MOST; ++i)
            put(&s, i % SIDE_MOST, i / SIDE_MOST, 0, 0, 0, 50);
        look(&s, 8);
        assert_true(tvlm_budget_finest(&s.ink, fits, COUNT));
        for (int i = 0; i < COUNT; ++i)
            assert_true(fits[i].n == wanted[i] && fits[i].kept == 0 && fits[i].columns == 0 &&
                        fits[i].rows == 0);
        tvlm_budget_ink_free(&s.ink);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps), cmocka_unit_test(test_steps_of_colours), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_plain), cmocka_unit_test(test_near_square),      cmocka_unit_test(test_finest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
