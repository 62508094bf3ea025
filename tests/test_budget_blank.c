/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget_blank.c: which cells of a thumbnail are blank, of pages whose ink is known, and the finest grid of so many
 * that are not. What is seen of them is the reference's.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "select/budget_blank.h"
#include "support_stage.h"

/* ---- Pages ---- */

enum { WIDTH = 640, HEIGHT = 480, PATCH = 16, LAYERS_MAX = 4096 };

typedef struct page {
    int32_t width, height;
    uint8_t *rgb; /* [height][width][3] */
    uint8_t *colours;
    tvlm_budget_ink ink;
} page;

static uint8_t *pixel(const page *p, int32_t x, int32_t y) {
    return p->rgb + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
}

static void box(page *p, int32_t left, int32_t top, int32_t width, int32_t height, int r, int g, int b) {
    const uint8_t colour[3] = {(uint8_t)r, (uint8_t)g, (uint8_t)b};
    for (int32_t y = top; y < top + height && y < p->height; ++y)
        for (int32_t x = left; x < left + width && x < p->width; ++x) memcpy(pixel(p, x, y), colour, 3);
}

static page paper(int32_t width, int32_t height, int gray) {
    page p = {.width = width, .height = height};
    p.rgb = malloc(3 * (size_t)width * (size_t)height);
    assert_non_null(p.rgb);
    box(&p, 0, 0, width, height, gray, gray, gray);
    return p;
}

/* Finds what is seen of what was drawn. */
static void look(page *p) {
    const tvlm_texture shape = test_shape((test_size){p->width, p->height}, 1, 1, TVLM_FORMAT_F32);
    const size_t pixels = (size_t)p->width * (size_t)p->height;
    const size_t bytes = tvlm_budget_ink_bytes(p->width, p->height);
    tvlm_device *device = NULL;
    float *const rgba = calloc(4 * pixels, sizeof *rgba);
    p->colours = malloc(bytes);
    assert_true(rgba != NULL && p->colours != NULL);
    for (size_t i = 0; i < 3 * pixels; ++i) rgba[i / 3 * 4 + i % 3] = (float)p->rgb[i] / 255.0f;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "reference", .log = &test_log), &device),
                     TVLM_OK);
    tvlm_texture *source = test_texture(device, &shape);
    assert_int_equal(device->backend->texture_write(device, source, 0, rgba), TVLM_OK);
    assert_int_equal(device->backend->mips(device, &source, 1), TVLM_OK);
    tvlm_buffer *buffer = test_buffer(device, bytes, NULL);
    assert_int_equal(device->backend->ink(device, source, 0, buffer, 0), TVLM_OK);
    test_buffer_take(device, &buffer, bytes, p->colours);
    device->backend->texture_destroy(device, &source);
    tvlm_device_destroy(&device);
    free(rgba);
    assert_true(tvlm_budget_ink_make(p->colours, p->width, p->height, PATCH, &p->ink));
}

static void release(page *p) {
    tvlm_budget_ink_free(&p->ink);
    free(p->rgb);
    free(p->colours);
}

/* ---- What holds of every answer ---- */

/* Whether a cell has pixels that differ by more than `bytes` from its first one. */
static bool has_ink(const page *p, int32_t columns, int32_t rows, int32_t cell, int bytes) {
    const int32_t column = cell % columns, row = cell / columns;
    const int32_t left = column * p->width / columns, right = (column + 1) * p->width / columns;
    const int32_t top = row * p->height / rows, bottom = (row + 1) * p->height / rows;
    for (int32_t y = top; y < bottom; ++y)
        for (int32_t x = left; x < right; ++x)
            for (int c = 0; c < 3; ++c)
                if (abs(pixel(p, x, y)[c] - pixel(p, left, top)[c]) > bytes) return true;
    return false;
}

/* The mean of the pixels of a rectangle, whose sides are no whole numbers. */
static void mean_of(const page *p, double left, double top, double right, double bottom, double mean[3]) {
    double weights = 0.0, sums[3] = {0.0};
    for (int32_t y = (int32_t)top; y < fmin(ceil(bottom), p->height); ++y)
        for (int32_t x = (int32_t)left; x < fmin(ceil(right), p->width); ++x) {
            const double weight = (fmin(right, x + 1) - fmax(left, x)) * (fmin(bottom, y + 1) - fmax(top, y));
            for (int c = 0; c < 3; ++c) sums[c] += weight * pixel(p, x, y)[c];
            weights += weight;
        }
    for (int c = 0; c < 3; ++c) mean[c] = sums[c] / weights;
}

/* Fills blank cells as who draws the thumbnail does, with the page's own pixels where a line of texels is meant, and
 * returns by how much a cell is off its mean at most. */
static double worst_fill(const page *p, int32_t columns, int32_t rows, const uint8_t *blank) {
    static double filled[LAYERS_MAX][3];
    static int layer[LAYERS_MAX];
    const double w = (double)p->width / columns, h = (double)p->height / rows, tx = w / PATCH, ty = h / PATCH;
    double worst = 0.0;
    assert_true(columns * rows <= LAYERS_MAX);
    for (int32_t i = 0; i < columns * rows; ++i) layer[i] = blank[i] ? -1 : 0;
    for (int n = 1; n < columns + rows; ++n)
        for (int32_t i = 0; i < columns * rows; ++i) {
            const int32_t x = i % columns, y = i / columns;
            double sum[3] = {0.0}, count = 0.0, own[3];
            const double left = x * w, top = y * h;
            if (layer[i] >= 0) continue;
            for (int side = 0; side < 4; ++side) {
                const int32_t dx = side < 2 ? 2 * side - 1 : 0, dy = side < 2 ? 0 : 2 * side - 5;
                if (x + dx < 0 || x + dx >= columns || y + dy < 0 || y + dy >= rows) continue;
                const int32_t j = i + dx + dy * columns;
                double line[3];
                if (layer[j] != n - 1) continue;
                if (n > 1)
                    memcpy(line, filled[j], sizeof line);
                else
                    mean_of(p,
                            dx < 0   ? left - tx
                            : dx > 0 ? left + w
                                     : left,
                            dy < 0   ? top - ty
                            : dy > 0 ? top + h
                                     : top,
                            dx < 0   ? left
                            : dx > 0 ? left + w + tx
                                     : left + w,
                            dy < 0   ? top
                            : dy > 0 ? top + h + ty
                                     : top + h,
                            line);
                for (int c = 0; c < 3; ++c) sum[c] += line[c];
                count += 1.0;
            }
            if (count == 0.0) continue;
            layer[i] = n;
            mean_of(p, left, top, left + w, top + h, own);
            for (int c = 0; c < 3; ++c) {
                filled[i][c] = sum[c] / count;
                worst = fmax(worst, fabs(filled[i][c] - own[c]));
            }
        }
    return worst;
}

/* Blank cells of a grid: none has ink, and all are filled well, but for what blocks do not tell: where in them the ink is, by
 * which a line of texels may be off its blocks' middles. */
static int32_t blank_of(const page *p, int32_t columns, int32_t rows, uint8_t *blank) {
    const int32_t kept = tvlm_budget_blank(&p->ink, columns, rows, blank, NULL);
    int32_t counted = 0;
    for (int32_t i = 0; i < columns * rows; ++i) {
        assert_true(blank[i] <= 1);
        counted += !blank[i];
        if (blank[i] && has_ink(p, columns, rows, i, 16))
            fail_msg("cell %d of %dx%d has ink", (int)i, (int)columns, (int)rows);
    }
    assert_int_equal(kept, counted);
    assert_true(kept >= 1);
    const double worst = worst_fill(p, columns, rows, blank);
    if (worst > 13.0) fail_msg("%dx%d: a cell is filled %g off", (int)columns, (int)rows, worst);
    return kept;
}

/* The same for grids of many sizes; *least is the smallest share of the cells that was kept, and *most the largest. */
static void try_grids(const page *p, double *least, double *most) {
    static uint8_t blank[LAYERS_MAX];
    *least = 1.0;
    *most = 0.0;
    for (int32_t columns = 7; columns <= 40; columns += 3) {
        const int32_t rows = columns * p->height / p->width;
        const double share = (double)blank_of(p, columns, rows, blank) / (columns * rows);
        *least = fmin(*least, share);
        *most = fmax(*most, share);
    }
}

/* ---- Pages whose ink is known ---- */

/* Twelve lines of boxes like letters, six by ten pixels, of words of seven, in the middle of the page. */
static void write_lines(page *p, int ink) {
    for (int32_t line = 0; line < 12; ++line)
        for (int32_t letter = 0; letter < 48; ++letter)
            if (letter % 8 < 7) box(p, 123 + 8 * letter, 90 + 18 * line, 6, 10, ink, ink, ink);
}

static void on_paper(int gray, int ink) {
    page p = paper(WIDTH, HEIGHT, gray);
    double least, most;
    write_lines(&p, ink);
    look(&p);
    try_grids(&p, &least, &most);
    /* The lines have 378 x 208 pixels of 640 x 480, .26 of the page, and cells at their border. */
    assert_true(least < 0.36 && most < 0.60);
    release(&p);
}

static void test_letter(void **state) {
    (void)state;
    on_paper(255, 0);
}

static void test_dark(void **state) {
    (void)state;
    on_paper(30, 220);
}

/* A page without ink: one cell says all. */
static void test_flat(void **state) {
    uint8_t blank[20 * 15];
    page p = paper(WIDTH, HEIGHT, 200);
    (void)state;
    look(&p);
    assert_int_equal(blank_of(&p, 20, 15, blank), 1);
    assert_int_equal(blank[0], 0);
    release(&p);
}

/* A sidebar that ends where cells do: no cell has ink, but what is beside it would be filled with the wrong colour. */
static void test_sidebar(void **state) {
    uint8_t blank[20 * 15];
    double least, most;
    page p = paper(WIDTH, HEIGHT, 255);
    (void)state;
    box(&p, 0, 0, 160, HEIGHT, 40, 60, 120);
    look(&p);
    const int32_t kept = blank_of(&p, 20, 15, blank);
    /* The first cell, and of each row one that is right of the border. */
    assert_true(kept >= 2 && kept <= 31);
    assert_true(worst_fill(&p, 20, 15, blank) < 1.0);
    try_grids(&p, &least, &most);
    assert_true(most < 0.4);
    release(&p);
}

/* Only the colour changes: luma is the same. */
static void test_colours(void **state) {
    uint8_t blank[20 * 15];
    page p = paper(WIDTH, HEIGHT, 128);
    (void)state;
    box(&p, 100, 100, 40, 40, 128, 128, 160);
    look(&p);
    (void)blank_of(&p, 20, 15, blank);
    assert_int_equal(blank[3 * 20 + 3], 0); /* of its corners: pixels 96 to 128 */
    assert_int_equal(blank[4 * 20 + 4], 0);
    release(&p);
}

/* A slow change from left to right: the colour is carried on as far as it holds, and no further. */
static void test_gradient(void **state) {
    static uint8_t blank[40 * 30];
    page p = paper(WIDTH, HEIGHT, 0);
    (void)state;
    for (int32_t x = 0; x < WIDTH; ++x) box(&p, x, 0, 1, HEIGHT, 100 + x / 8, 100 + x / 8, 100 + x / 8);
    look(&p);
    const int32_t kept = blank_of(&p, 40, 30, blank);
    assert_true(worst_fill(&p, 40, 30, blank) < 9.0);
    assert_true(kept >= 8 && kept < 600);
    release(&p);
}

/* Whether the cell of a pixel is. */
static bool is_kept(const page *p, int32_t columns, int32_t rows, int32_t x, int32_t y) {
    static uint8_t blank[LAYERS_MAX];
    (void)tvlm_budget_blank(&p->ink, columns, rows, blank, NULL);
    return !blank[y * rows / p->height * columns + x * columns / p->width];
}

/* Ink so small or so light that only its cell is kept, wherever it is. */
static void check_kept(page *p, int32_t x, int32_t y) {
    look(p);
    for (int32_t columns = 3; columns <= 40; ++columns)
        if (!is_kept(p, columns, columns * 3 / 4, x, y))
            fail_msg("the cell of %d, %d is blank in %d columns", (int)x, (int)y, (int)columns);
    release(p);
}

static void test_dot(void **state) {
    (void)state;
    for (int32_t at = 0; at < 40; at += 3) {
        page p = paper(WIDTH, HEIGHT, 255);
        box(&p, 200 + at, 300 + at, 1, 1, 0, 0, 0);
        check_kept(&p, 200 + at, 300 + at);
    }
}

/* Where 4 does not divide the sides texels part a pixel, and it is seen as little as 4 bytes; one of 2 x 2 always is. */
static void test_dot_of_odd_sides(void **state) {
    (void)state;
    for (int32_t at = 0; at < 40; at += 3) {
        page p = paper(WIDTH + 3, HEIGHT + 1, 255);
        box(&p, 200 + at, 300 + at, 2, 2, 0, 0, 0);
        look(&p);
        for (int32_t columns = 3; columns <= 40; ++columns)
            assert_true(is_kept(&p, columns, columns * 3 / 4, 200 + at, 300 + at) ||
                        is_kept(&p, columns, columns * 3 / 4, 201 + at, 301 + at));
        release(&p);
    }
}

static void test_hairline(void **state) {
    (void)state;
    for (int32_t at = 0; at < 40; at += 3) {
        page p = paper(WIDTH, HEIGHT, 255);
        box(&p, 0, 200 + at, WIDTH, 1, 155, 155, 155);
        check_kept(&p, 11 * at, 200 + at);
    }
}

static void test_watermark(void **state) {
    (void)state;
    for (int32_t at = 0; at < 40; at += 3) {
        page p = paper(WIDTH, HEIGHT, 250);
        box(&p, 200 + at, 100, 12, 200, 230, 230, 230);
        check_kept(&p, 206 + at, 200);
    }
}

/* A black rule that ends where cells do: what is below it must not become black. */
static void test_rule(void **state) {
    uint8_t blank[20 * 15];
    page p = paper(WIDTH, HEIGHT, 255);
    (void)state;
    box(&p, 0, 318, WIDTH, 2, 0, 0, 0);
    look(&p);
    (void)blank_of(&p, 20, 15, blank);
    for (int32_t x = 0; x < 20; ++x) assert_int_equal(blank[9 * 20 + x], 0); /* rows 288 to 320 */
    assert_true(worst_fill(&p, 20, 15, blank) < 1.0);
    release(&p);
}

/* ---- The finest grid ---- */

static void test_grids(void **state) {
    static const int32_t sizes[][2] = {{640, 480}, {1240, 1754}, {17, 16}, {1025, 17}, {1, 900}, {3000, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const tvlm_budget_ink ink = {.width = sizes[i][0], .height = sizes[i][1], .patch = PATCH};
        const int32_t across = (ink.width + 15) / 16, down = (ink.height + 15) / 16;
        for (int32_t n = 1; n < across * down + 9; ++n) {
            int32_t columns, rows;
            tvlm_budget_near_square(&ink, n, &columns, &rows);
            assert_true(columns >= 1 && columns <= across && rows >= 1 && rows <= down);
            assert_true(columns * rows <= n);
            if (n >= across * down) assert_true(columns == across && rows == down);
            /* Texels are nearly squares where there are enough of them. */
            const double ratio = (double)columns * ink.height / ((double)rows * ink.width);
            if (columns > 8 && rows > 8) assert_true(ratio > 0.85 && ratio < 1.18);
            if (columns > 8 && rows > 8 && n < across * down) assert_true(columns * rows > 0.85 * n);
        }
    }
}

/* The finest grid of at most n kept cells. */
static tvlm_budget_fit finest(const page *p, int32_t n) {
    tvlm_budget_fit fit = {.n = n};
    assert_true(tvlm_budget_finest(&p->ink, &fit, 1));
    assert_int_equal(fit.n, n);
    return fit;
}

static void test_finest(void **state) {
    static uint8_t blank[40 * 30];
    page p = paper(WIDTH, HEIGHT, 255);
    int32_t last = 0;
    (void)state;
    write_lines(&p, 0);
    look(&p);
    for (int32_t n = 1; n < 1200; n += 37) {
        const tvlm_budget_fit fit = finest(&p, n);
        const int32_t cells = fit.columns * fit.rows;
        if (n == 1 && fit.kept == 0) continue; /* a cell alone is not blank */
        assert_true(fit.kept >= 1 && fit.kept <= n);
        assert_int_equal(fit.kept, blank_of(&p, fit.columns, fit.rows, blank));
        if (n > 40) assert_true(cells > n); /* blank cells pay for finer ones */
        if (n > 40) assert_true(cells >= 0.9 * last);
        last = cells;
    }
    assert_int_equal(last, 40 * 30);
    release(&p);
}

/* A letter at 150 dots an inch: an address, and paragraphs of words of boxes that are flush left as letters are: those have
 * ascenders, and bearings of their own. */
static void write_letter(page *p) {
    uint64_t random = 7;
    for (int32_t y = 170, line = 0; y < 1500; y += 34, ++line) {
        if (line == 5 || line == 8 || line % 9 == 0) continue;
        const int32_t width = line < 5              ? 300
                              : (line + 1) % 9 == 0 ? 400
                                                    : 880 + (int32_t)(60.0f * test_random_unit(&random));
        for (int32_t x = 150, letter = 0; x < 150 + width; x += 14, ++letter)
            if (letter % 7 < 6) {
                const int32_t bearing = (int32_t)(6.0f * test_random_unit(&random)),
                              ascender = test_random_unit(&random) < 0.3f ? 7 : 0;
                box(p, x + bearing, y - ascender, 10 - bearing / 2, 16 + ascender, 20, 20, 20);
            }
    }
}

/* A line of `count` numbers, each `step` after the other, reduced to n by Lanczos' filter. */
static void reduce_line(const float *in, int32_t count, ptrdiff_t step, float *out, int32_t n) {
    const double pi = acos(-1.0), scale = (double)count / n;
    for (int32_t i = 0; i < n; ++i) {
        const double middle = (i + 0.5) * scale - 0.5;
        double sum = 0.0, weights = 0.0;
        for (int32_t at = (int32_t)ceil(middle - 3.0 * scale); at <= middle + 3.0 * scale; ++at) {
            const double x = pi * (at - middle) / scale;
            const double weight = fabs(x) < 1e-6 ? 1.0 : 3.0 * sin(x) * sin(x / 3.0) / (x * x);
            if (at < 0 || at >= count) continue;
            sum += weight * (double)in[at * step];
            weights += weight;
        }
        out[i * step] = (float)(sum / weights);
    }
}

/* The green of a page on wide x high texels, where rows of both have the page's length. */
static float *reduced(const page *p, int32_t wide, int32_t high) {
    const ptrdiff_t line = p->width;
    const size_t texels = (size_t)p->width * (size_t)p->height;
    float *const in = malloc(texels * sizeof *in);
    float *const out = malloc(texels * sizeof *out);
    assert_non_null(in);
    assert_non_null(out);
    for (int32_t i = 0; i < p->width * p->height; ++i) in[i] = (float)p->rgb[3 * i + 1];
    for (int32_t y = 0; y < p->height; ++y) reduce_line(in + y * line, p->width, 1, out + y * line, wide);
    for (int32_t x = 0; x < wide; ++x) reduce_line(out + x, p->height, line, in + x, high);
    free(out);
    return in;
}

/* How many cells of the page reduced to the grid have texels that differ by more than TVLM_BUDGET_INK. */
static int32_t plainly_kept(const page *p, int32_t columns, int32_t rows) {
    float *const texels = reduced(p, columns * PATCH, rows * PATCH);
    int32_t kept = 0;
    for (int32_t cell = 0; cell < columns * rows; ++cell) {
        const int32_t left = cell % columns * PATCH, top = cell / columns * PATCH;
        float least = 255.0f, largest = 0.0f;
        for (int32_t i = 0; i < PATCH * PATCH; ++i) {
            const float texel = texels[(top + i / PATCH) * p->width + left + i % PATCH];
            least = fminf(least, fmaxf(texel, 0.0f));
            largest = fmaxf(largest, fminf(texel, 255.0f));
        }
        kept += largest - least > TVLM_BUDGET_INK;
    }
    free(texels);
    return kept;
}

/* What cells touch beyond their sides costs hardly any: as many are kept as of the page in the grid's own size. */
static void test_plain(void **state) {
    static const int32_t wanted[] = {430, 400, 344, 258, 172};
    enum { COUNT = sizeof wanted / sizeof *wanted };
    tvlm_budget_fit fits[COUNT];
    page p = paper(1240, 1754, 255);
    (void)state;
    write_letter(&p);
    look(&p);
    for (int i = 0; i < COUNT; ++i) fits[i].n = wanted[i];
    assert_true(tvlm_budget_finest(&p.ink, fits, COUNT));
    for (int i = 0; i < COUNT; ++i) {
        const int32_t plain = plainly_kept(&p, fits[i].columns, fits[i].rows);
        if (fits[i].kept > 1.03 * plain)
            fail_msg("of %dx%d are kept %d, plainly %d", (int)fits[i].columns, (int)fits[i].rows,
                     (int)fits[i].kept, (int)plain);
    }
    release(&p);
}

/* Those of several numbers at once are as fine as those of each alone, but for a few steps of a fiftieth. */
static void test_together(void **state) {
    static const int32_t wanted[] = {400, 372, 320, 240, 160};
    enum { COUNT = sizeof wanted / sizeof *wanted };
    tvlm_budget_fit fits[COUNT];
    page p = paper(WIDTH, HEIGHT, 255);
    (void)state;
    write_lines(&p, 0);
    look(&p);
    for (int i = 0; i < COUNT; ++i) fits[i].n = wanted[i];
    assert_true(tvlm_budget_finest(&p.ink, fits, COUNT));
    for (int i = 0; i < COUNT; ++i) {
        const tvlm_budget_fit alone = finest(&p, wanted[i]);
        const double ratio = (double)(fits[i].columns * fits[i].rows) / (alone.columns * alone.rows);
        assert_int_equal(fits[i].n, wanted[i]);
        assert_true(fits[i].kept >= 0.85 * wanted[i] && fits[i].kept <= wanted[i]);
        assert_true(ratio > 0.94 && ratio < 1.06);
    }
    release(&p);
}

/* A page without ink is shown in its own grid, by one cell; one that is full of it has no finest grid. */
static void test_extremes(void **state) {
    page flat = paper(WIDTH, HEIGHT, 200), full = paper(WIDTH, HEIGHT, 255);
    (void)state;
    look(&flat);
    const tvlm_budget_fit fit = finest(&flat, 100);
    assert_true(fit.columns == 40 && fit.rows == 30 && fit.kept == 1);
    release(&flat);
    for (int32_t x = 0; x < WIDTH; x += 12) box(&full, x, 0, 6, HEIGHT, 0, 0, 0);
    look(&full);
    assert_int_equal(finest(&full, 100).kept, 0);
    assert_int_equal(finest(&full, 1200).kept, 0);
    release(&full);
}

/* Stripes of two pixels, which are an even gray at a quarter of the size, are not blank: not one cell of them. */
static void test_stripes(void **state) {
    enum { COLUMNS = 30, ROWS = 20 };
    uint8_t blank[COLUMNS * ROWS];
    page p = paper(WIDTH, HEIGHT, 255);
    (void)state;
    for (int32_t x = 0; x < WIDTH; x += 4) box(&p, x, 0, 2, HEIGHT, 0, 0, 0);
    look(&p);
    assert_int_equal(tvlm_budget_blank(&p.ink, COLUMNS, ROWS, blank, NULL), COLUMNS * ROWS);
    release(&p);
}

/* Filling even paper errs by nothing; of a slope of 6 bytes a cell by the spread of each and by what is off. */
static void test_error(void **state) {
    enum { COLUMNS = 20, ROWS = 15 };
    uint8_t blank[COLUMNS * ROWS];
    double error = -1.0;
    page even = paper(WIDTH, HEIGHT, 200), slope = paper(WIDTH, HEIGHT, 0);
    (void)state;
    look(&even);
    assert_int_equal(tvlm_budget_blank(&even.ink, COLUMNS, ROWS, blank, &error), 1);
    assert_true(error == 0.0);
    release(&even);
    for (int32_t x = 0; x < WIDTH; ++x) {
        const uint8_t value = (uint8_t)(100 + 120 * x / WIDTH);
        box(&slope, x, 0, 1, HEIGHT, value, value, value);
    }
    look(&slope);
    const int32_t kept = tvlm_budget_blank(&slope.ink, COLUMNS, ROWS, blank, &error);
    const double pixels = (double)WIDTH * HEIGHT * (COLUMNS * ROWS - kept) / (COLUMNS * ROWS);
    assert_true(kept < COLUMNS * ROWS);
    /* 5 to 7 bytes over each cell, and up to TVLM_BUDGET_OFF off. */
    assert_true(error > pixels * 25.0 / 12.0 / 65025.0 && error < pixels * (64.0 / 12.0 + 36.0) / 65025.0);
    release(&slope);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_letter),   cmocka_unit_test(test_dark),
        cmocka_unit_test(test_flat),     cmocka_unit_test(test_sidebar),
        cmocka_unit_test(test_colours),  cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_dot),      cmocka_unit_test(test_dot_of_odd_sides),
        cmocka_unit_test(test_hairline), cmocka_unit_test(test_watermark),
        cmocka_unit_test(test_rule),     cmocka_unit_test(test_stripes),
        cmocka_unit_test(test_grids),    cmocka_unit_test(test_finest),
        cmocka_unit_test(test_plain),    cmocka_unit_test(test_error),
        cmocka_unit_test(test_together), cmocka_unit_test(test_extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
