/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget_grids.c: which thumbnails are tried, against all grids there are; which pictures are measured, and how what they
 * lose lies in the tree; and when blank cells are kept after all. On the reference.
 */
#include <math.h>
#include <string.h>

#include "select/budget.h"
#include "stack_helper.h"

/* ---- A budget on an image ---- */

typedef struct opened {
    tvlm_device *device;
    tvlm_stack *stack;
    uint8_t *pixels;
    tvlm_task task;
    tvlm_budget *budget;
} opened;

static opened *open_image(uint8_t *pixels, int32_t width, int32_t height, const tvlm_budget_grid *grids,
                          int32_t count) {
    opened *const o = calloc(1, sizeof *o);
    assert_non_null(o);
    const tvlm_image image = u8_image(pixels, width, height, 3);
    o->device = open_reference();
    o->pixels = pixels;
    o->stack = stack_of(o->device, TVLM_FORMAT_F32, &image);
    o->task = (tvlm_task){.stack = o->stack, .params = {.patch = 16.0f}};
    assert_int_equal(tvlm_budget_open(&o->task, grids, count, &o->budget), TVLM_OK);
    return o;
}

/* Noise, in which nothing is blank. */
static opened *open_noise(int32_t width, int32_t height, const tvlm_budget_grid *grids, int32_t count) {
    const size_t bytes = 3 * (size_t)width * (size_t)height;
    uint8_t *const pixels = malloc(bytes);
    uint64_t random = 3;
    assert_non_null(pixels);
    for (size_t i = 0; i < bytes; ++i) pixels[i] = (uint8_t)(test_random(&random) % 256);
    return open_image(pixels, width, height, grids, count);
}

static void close_image(opened *o) {
    tvlm_budget_close(&o->budget);
    tvlm_stack_destroy(&o->stack);
    tvlm_device_destroy(&o->device);
    free(o->pixels);
    free(o);
}

/* Lists thumbnails in place of those that were given. */
static tvlm_budget *list_again(opened *o, int32_t n, double emphasis) {
    tvlm_budget *const b = o->budget;
    free(b->colours);
    tvlm_budget_ink_free(&b->ink);
    b->n = n;
    b->emphasis = emphasis;
    assert_int_equal(tvlm_budget_list_grids(b), TVLM_OK);
    return b;
}

static void measure_again(tvlm_budget *b) {
    free(b->memory);
    free(b->values);
    free(b->reading.detail);
    b->emphasis = 0.0;
    assert_int_equal(tvlm_budget_measure(b), TVLM_OK);
}

/* ---- Which thumbnails ---- */

static bool is_among(const tvlm_budget_grid *grids, int32_t count, int32_t columns, int32_t rows) {
    for (int32_t i = 0; i < count; ++i)
        if (grids[i].columns == columns && grids[i].rows == rows) return true;
    return false;
}

static double cost_of(const tvlm_budget *b, tvlm_budget_grid grid) {
    return tvlm_budget_grid_cost(&b->ink, grid.columns, grid.rows);
}

/* The grid of least cost of at most n patches that is not among the first `count`, of those with as many columns as their rows
 * allow or as many rows as their columns do: with fewer columns, of equal ones. None: no columns. */
static tvlm_budget_grid cheapest(const tvlm_budget *b, int32_t n, int32_t count) {
    tvlm_budget_grid best = {0, 0};
    for (int32_t i = 0; i < 2 * n; ++i) {
        const int32_t side = i / 2 + 1, other = n / side;
        int32_t columns = i % 2 == 0 ? side : other, rows = i % 2 == 0 ? other : side;
        columns = columns < b->tree.columns ? columns : b->tree.columns;
        rows = rows < b->tree.rows ? rows : b->tree.rows;
        const tvlm_budget_grid grid = {columns, rows};
        const double cost = cost_of(b, grid);
        if (is_among(b->grids, count, columns, rows)) continue;
        if (best.columns == 0 || cost < cost_of(b, best) ||
            (cost == cost_of(b, best) && columns < best.columns))
            best = grid;
    }
    return best;
}

/* Whether thumbnail i is the cheapest of at most n patches that none before it is. */
static void expect_cheapest(const tvlm_budget *b, int32_t i, int32_t n) {
    const tvlm_budget_grid best = cheapest(b, n, i);
    assert_true(i < b->grid_count);
    if (b->grids[i].columns != best.columns || b->grids[i].rows != best.rows)
        fail_msg("%d of %d patches: %dx%d, not %dx%d", (int)i, (int)n, (int)b->grids[i].columns,
                 (int)b->grids[i].rows, (int)best.columns, (int)best.rows);
    assert_int_equal(b->cells[i], tvlm_budget_patches(&b->grids[i]));
    assert_true(b->filled[i] == 0.0);
}

/* Six of n patches, and one of each share; more shares where some tiles matter more. */
static void test_shares(void **state) {
    static const double few[] = {0.7, 0.4, 0.2, 0.1, 0.05, 0.0},
                        many[] = {0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0};
    static const tvlm_budget_grid one = {1, 1};
    static const int32_t counts[] = {200, 150, 97, 40};
    (void)state;
    opened *const o = open_noise(333, 222, &one, 1);
    for (int emphasised = 0; emphasised < 2; ++emphasised)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
            const int32_t n = counts[c], shares = emphasised ? 11 : 6;
            const tvlm_budget *const b = list_again(o, n, emphasised ? 2.0 : 0.0);
            assert_int_equal(b->alone, 6);
            assert_int_equal(b->grid_count, 6 + shares);
            for (int32_t i = 0; i < 6; ++i) expect_cheapest(b, i, n);
            for (int32_t i = 0; i < shares; ++i)
                expect_cheapest(b, 6 + i, (int32_t)fmax(round((emphasised ? many : few)[i] * n), 1.0));
        }
    close_image(o);
}

/* Of few patches there are fewer thumbnails than six, and no share of them twice. */
static void test_few(void **state) {
    static const tvlm_budget_grid one = {1, 1};
    (void)state;
    opened *const o = open_noise(96, 96, &one, 1);
    const tvlm_budget *b = list_again(o, 1, 0.0);
    assert_int_equal(b->alone, 1);
    assert_int_equal(b->grid_count, 1);
    expect_cheapest(b, 0, 1);
    b = list_again(o, 2, 0.0); /* 1 x 2, 2 x 1; of .7 and less one patch: 1 x 1 */
    assert_int_equal(b->alone, 2);
    assert_int_equal(b->grid_count, 3);
    expect_cheapest(b, 0, 2);
    expect_cheapest(b, 1, 2);
    expect_cheapest(b, 2, 1);
    assert_true(b->grids[0].columns == 1 && b->grids[1].columns == 2 && b->grids[2].columns == 1);
    b = list_again(o, 4,
                   2.0); /* 1 x 3, 1 x 4, 2 x 2, 3 x 1, 4 x 1; of the shares 3, 3, 2, 2, 2, 1 ... three */
    assert_int_equal(b->alone, 5);
    assert_int_equal(b->grid_count, 8);
    for (int32_t i = 0; i < 8; ++i) expect_cheapest(b, i, i < 5 ? 4 : 8 - i);
    b = list_again(o, 35, 0.0); /* of 36 */
    assert_int_equal(b->alone, 6);
    for (int32_t i = 0; i < 6; ++i) expect_cheapest(b, i, 35);
    close_image(o);
}

/* With a tolerance: each of half as many patches more than the one before, and of one more at least; all of them fewer than
 * there are tiles. */
static void test_ladder(void **state) {
    static const int32_t sizes[][2] = {{333, 222}, {222, 333}, {64, 48}};
    static const tvlm_budget_grid one = {1, 1};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
        opened *const o = open_noise(sizes[s][0], sizes[s][1], &one, 1);
        const tvlm_budget *const b = list_again(o, 0, 0.0);
        int32_t i = 0;
        for (double n = 1.0; n < b->tiles; n = fmax(1.5 * n, n + 1.0), ++i) expect_cheapest(b, i, (int32_t)n);
        assert_int_equal(b->grid_count, i);
        close_image(o);
    }
}

/* A page of which the lower two thirds are blank: finer thumbnails that leave blank cells out, none of them twice, of which each
 * keeps no more than its share. */
static void test_blank(void **state) {
    enum { WIDTH = 480, HEIGHT = 480, N = 100 };
    static const double shares[] = {1.0, 0.93, 0.8, 0.6, 0.4};
    static const tvlm_budget_grid one = {1, 1};
    uint8_t *const pixels = malloc(3 * WIDTH * HEIGHT);
    uint64_t random = 8;
    (void)state;
    assert_non_null(pixels);
    for (int i = 0; i < WIDTH * HEIGHT; ++i)
        memset(pixels + 3 * i, i < WIDTH * HEIGHT / 3 ? (int)(test_random(&random) % 256) : 255, 3);
    opened *const o = open_image(pixels, WIDTH, HEIGHT, &one, 1);
    const tvlm_budget *const b = list_again(o, N, 0.0);
    tvlm_budget_fit fits[5];
    int32_t at = 12;
    for (int i = 0; i < 5; ++i) fits[i] = (tvlm_budget_fit){.n = (int32_t)floor(shares[i] * N)};
    assert_true(tvlm_budget_finest(&b->ink, fits, 5));
    for (int i = 0; i < 5; ++i) {
        assert_true(fits[i].kept > 0 && fits[i].kept <= fits[i].n);
        if (is_among(b->grids, at, fits[i].columns, fits[i].rows)) continue;
        assert_true(at < b->grid_count && b->grids[at].columns == fits[i].columns &&
                    b->grids[at].rows == fits[i].rows && b->cells[at] == fits[i].kept);
        ++at;
    }
    assert_int_equal(at, b->grid_count);
    assert_true(at >= 15);
    for (int32_t i = 0; i < b->grid_count; ++i)
        assert_true(b->cells[i] <= N && b->cells[i] <= tvlm_budget_patches(&b->grids[i]));
    close_image(o);
}

/* ---- What is measured ---- */

/* Pictures of one size are measured once: the thumbnail of one patch, and those that are cut to the image's size. */
static void test_sizes(void **state) {
    static const tvlm_budget_grid grids[] = {{1, 1}, {2, 1}, {9, 5}, {1, 2}, {2, 1}, {8, 4}, {4, 4}};
    (void)state;
    opened *const o = open_noise(8 * 16 - 3, 4 * 16 - 5, grids, 7);
    const tvlm_budget *const b = o->budget;
    static const int32_t expected[] = {0, 1, 2, 3, 4, 4, 5, 6, 7, 5, 6, 8};
    assert_int_equal(b->measured_count, 9);
    for (int i = 0; i < TVLM_BUDGET_FIRST + 7; ++i) assert_int_equal(b->measured[i], expected[i]);
    assert_true(b->grid_count == 7 && b->alone == 7 && b->tiles == 32 && b->patch == 16 &&
                b->emphasis == 0.0);
    /* A thumbnail of the image's own size loses nothing. */
    assert_true(b->losses[TVLM_BUDGET_FIRST + 2].sums[TVLM_BUDGET_ERROR] == 0.0);
    assert_true(b->losses[TVLM_BUDGET_FIRST + 1].sums[TVLM_BUDGET_ERROR] > 0.0);
    close_image(o);
}

/* What is measured are pictures of these sizes: what they lose is what a plan of them alone measures. */
static void test_pictures(void **state) {
    enum { WIDTH = 125, HEIGHT = 59, TILES = 8 * 4 };
    static const tvlm_budget_grid grids[] = {{3, 2}, {9, 1}, {1, 3}};
    static const tvlm_budget_size sizes[] = {{62, 29, 0.0},    {31, 14, 0.0}, {94, 45, 4.0 / 3.0},
                                             {42, 20, 3.0},    {16, 16, 0.0}, {48, 32, 0.0},
                                             {WIDTH, 16, 0.0}, {16, 48, 0.0}};
    (void)state;
    opened *const o = open_noise(WIDTH, HEIGHT, grids, 3);
    const tvlm_budget *const b = o->budget;
    assert_int_equal(b->tiles, TILES);
    for (int i = 0; i < 8; ++i) {
        float lost[2 * TILES];
        tvlm_budget_plan plan;
        tvlm_buffer *buffer = NULL;
        assert_true(tvlm_budget_plan_make(b->source, 0, 16, &sizes[i], 1, NULL, &plan));
        assert_int_equal(o->device->backend->buffer_create(o->device, sizeof lost, &buffer), TVLM_OK);
        assert_int_equal(o->device->backend->losses(o->device, b->source, &plan, buffer, 0), TVLM_OK);
        assert_int_equal(o->device->backend->buffer_read(o->device, buffer, 0, sizeof lost, lost), TVLM_OK);
        assert_memory_equal(tvlm_budget_values(b, i), lost, sizeof lost);
        o->device->backend->buffer_destroy(o->device, &buffer);
        tvlm_budget_plan_free(&plan);
    }
    close_image(o);
}

/* With an emphasis, however weak, a tile counts as much more as it matters: here by its saliency. */
static void test_emphasised(void **state) {
    enum { TILES = 10 * 8 };
    static const tvlm_budget_grid one = {1, 1};
    float before[TILES], matters[TILES], most = 0.0f;
    tvlm_buffer *scores;
    (void)state;
    opened *const o = open_noise(160, 128, &one, 1);
    tvlm_budget *const b = o->budget;
    assert_int_equal(b->tiles, TILES);
    for (int i = 0; i < TILES; ++i)
        before[i] = b->losses[TVLM_BUDGET_LEAST].parts[TVLM_BUDGET_ERROR][b->tree.place_of[i]];
    assert_int_equal(tvlm_budget_score(&o->task, &scores), TVLM_OK);
    assert_int_equal(o->device->backend->buffer_read(o->device, scores, 0, sizeof matters, matters), TVLM_OK);
    tvlm_budget_importance(&o->task, matters, TILES);
    free(b->memory);
    free(b->values);
    free(b->reading.detail);
    b->emphasis = 0.5;
    assert_int_equal(tvlm_budget_measure(b), TVLM_OK);
    for (int i = 0; i < TILES; ++i) {
        const float after = b->losses[TVLM_BUDGET_LEAST].parts[TVLM_BUDGET_ERROR][b->tree.place_of[i]];
        assert_true(tvlm_budget_matters(b)[i] == matters[i]);
        assert_true(fabsf(after / before[i] - 1.0f - 0.5f * matters[i]) < 1e-5f);
        assert_true(fabsf(b->reading.counts[i] - 1.0f - 0.5f * matters[i]) < 1e-6f);
        most = fmaxf(most, matters[i]);
    }
    assert_true(most > 0.1f);
    close_image(o);
}

/* Whether a square of `side` tiles around a tile lies in an image of width x height pixels as a whole. */
static bool is_whole(int32_t column, int32_t row, int32_t side, int32_t width, int32_t height) {
    return column / side * side * 16 + side * 16 <= width && row / side * side * 16 + side * 16 <= height;
}

/* Where a nine or a third would lie across the border, be it by a pixel, it is never chosen; beyond it nothing is lost. */
static void test_broken(void **state) {
    static const int32_t sizes[][2] = {{192, 192}, {191, 192}, {192, 191}, {193, 225}};
    static const tvlm_budget_grid one = {1, 1};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
        const int32_t width = sizes[s][0], height = sizes[s][1];
        opened *const o = open_noise(width, height, &one, 1);
        const tvlm_budget *const b = o->budget;
        const float *const nine = b->losses[TVLM_BUDGET_THREE_QUARTERS].parts[0],
                           *const third = b->losses[TVLM_BUDGET_A_THIRD].parts[1],
                           *const under = b->losses[TVLM_BUDGET_LEAST].parts[0];
        for (int32_t i = 0; i < b->tree.places; ++i) {
            const int32_t tile = b->tree.tile_of[i], column = tile % b->tree.columns,
                          row = tile / b->tree.columns;
            const bool four = tile >= 0 && is_whole(column, row, 4, width, height);
            const bool three = tile >= 0 && is_whole(column, row, 3, width, height);
            assert_true((nine[i] == TVLM_BUDGET_NEVER) == !four);
            assert_true((third[i] == TVLM_BUDGET_NEVER) == !three);
            assert_true(tile < 0 ? under[i] == 0.0f : under[i] > 0.0f);
        }
        close_image(o);
    }
}

/* Blank cells are kept after all where filling them adds more than a tenth to what the thumbnail loses, or a five hundredth where
 * that gets all patches. */
static void test_filled(void **state) {
    static const tvlm_budget_grid grids[] = {{2, 2}, {3, 3}, {4, 3}};
    (void)state;
    opened *const o = open_noise(160, 128, grids, 3);
    tvlm_budget *const b = o->budget;
    b->alone = 1;
    for (int i = 0; i < 6; ++i) {
        const int32_t grid = i / 2;
        const double share = grid == 0 ? 0.002 : 0.1,
                     limit = share * b->losses[TVLM_BUDGET_FIRST + grid].sums[TVLM_BUDGET_ERROR];
        const bool more = i % 2 == 1;
        for (int n = 0; n < 3; ++n) {
            b->cells[n] = 1;
            b->filled[n] = 0.0;
        }
        b->filled[grid] = more ? limit * (1.0 + 1e-9) : limit;
        measure_again(b);
        for (int n = 0; n < 3; ++n) {
            const bool kept = more && n == grid;
            assert_int_equal(b->cells[n], kept ? grids[n].columns * grids[n].rows : 1);
            assert_true(b->filled[n] == (kept || n != grid ? 0.0 : limit));
        }
    }
    close_image(o);
}

/* ---- Equal tiles ---- */

enum { EQUAL_WIDTH = 5 * 16 + 6, EQUAL_HEIGHT = 4 * 16 + 2, ACROSS = 6, DOWN = 5 };

/* Tiles of four kinds, which differ in one pixel at most: in none, in the first, in the last of the first row, or in the last. */
static uint8_t *draw_kinds(const int *kinds) {
    uint8_t *const pixels = malloc(3 * EQUAL_WIDTH * EQUAL_HEIGHT);
    assert_non_null(pixels);
    for (int i = 0; i < EQUAL_WIDTH * EQUAL_HEIGHT; ++i) {
        const int x = i % EQUAL_WIDTH, y = i / EQUAL_WIDTH, kind = kinds[y / 16 * ACROSS + x / 16];
        const int column = x % 16, row = y % 16;
        const bool marked = (kind == 1 && column == 0 && row == 0) ||
                            (kind == 2 && column == 15 && row == 0) ||
                            (kind == 3 && column == 15 && row == 15);
        for (int c = 0; c < 3; ++c)
            pixels[3 * i + c] = (uint8_t)(7 * column + 3 * row + (marked && c == 2 ? 1 : 0));
    }
    return pixels;
}

/* Whether two tiles are: those that the border cuts off do not have all of the pixels that differ. */
static bool are_equal(const int *kinds, int a, int b) {
    if ((a % ACROSS == ACROSS - 1) != (b % ACROSS == ACROSS - 1)) return false;
    if ((a / ACROSS == DOWN - 1) != (b / ACROSS == DOWN - 1)) return false;
    const bool narrow = a % ACROSS == ACROSS - 1, low = a / ACROSS == DOWN - 1;
    const int p = narrow && kinds[a] >= 2 ? 0
                  : low && kinds[a] == 3  ? 0
                                          : kinds[a],
              q = narrow && kinds[b] >= 2 ? 0
                  : low && kinds[b] == 3  ? 0
                                          : kinds[b];
    return p == q;
}

/* A tile that equals the one on the left, or else the one above, is named after the first of them all. */
static void test_equal(void **state) {
    static const tvlm_budget_grid one = {1, 1};
    uint64_t random = 31;
    int found[3] = {0};
    (void)state;
    for (int round = 0; round < 6; ++round) {
        int kinds[ACROSS * DOWN], origin[ACROSS * DOWN];
        for (int i = 0; i < ACROSS * DOWN; ++i) kinds[i] = (int)(test_random(&random) % 4);
        opened *const o = open_image(draw_kinds(kinds), EQUAL_WIDTH, EQUAL_HEIGHT, &one, 1);
        assert_int_equal(tvlm_budget_equal(o->budget), TVLM_OK);
        for (int i = 0; i < ACROSS * DOWN; ++i) {
            const bool left = i % ACROSS > 0 && are_equal(kinds, i, i - 1),
                       above = i >= ACROSS && are_equal(kinds, i, i - ACROSS);
            origin[i] = left ? origin[i - 1] : above ? origin[i - ACROSS] : i;
            ++found[left ? 1 : above ? 2 : 0];
            if (o->budget->origin[i] != origin[i])
                fail_msg("round %d: tile %d equals %d, not %d", round, i, (int)o->budget->origin[i],
                         origin[i]);
        }
        close_image(o);
    }
    assert_true(found[0] > 20 && found[1] > 20 && found[2] > 20);
}

/* The pixels are those of the image, row after row. */
static void test_pixels(void **state) {
    static const tvlm_budget_grid one = {1, 1};
    float *rgba = NULL;
    (void)state;
    opened *const o = open_noise(37, 21, &one, 1);
    assert_int_equal(tvlm_budget_pixels(o->budget, &rgba), TVLM_OK);
    for (int i = 0; i < 37 * 21; ++i)
        for (int c = 0; c < 3; ++c)
            assert_true(fabsf(rgba[4 * i + c] - (float)o->pixels[3 * i + c] / 255.0f) < 1e-6f);
    free(rgba);
    close_image(o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),   cmocka_unit_test(test_few),        cmocka_unit_test(test_ladder),
        cmocka_unit_test(test_blank),    cmocka_unit_test(test_sizes),      cmocka_unit_test(test_broken),
        cmocka_unit_test(test_filled),   cmocka_unit_test(test_equal),      cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_pictures), cmocka_unit_test(test_emphasised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
