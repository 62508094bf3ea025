/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cascade_parts.c: parts of the cascade by hand: which regions are looked into and which cells are listed, ranges and
 * scores of places, and the means of the vectors of a region.
 */
#include <math.h>
#include <string.h>

#include "select/cascade_inside.h"
#include "select/score.h"
#include "stack/features.h"
#include "stack_helper.h"

/* ---- Which regions, which cells ---- */

enum { REGIONS_MOST = 3000, CELLS_MOST = 130 * 130 };

/* A cascade over columns x rows cells, with regions that touch one cell after the other, and their scores. */
typedef struct listing {
    struct tvlm_select_params params;
    tvlm_candidates grid;
    tvlm_guide guide;
    tvlm_cascade c;
    float distances[CELLS_MOST], nearest[REGIONS_MOST], scores[REGIONS_MOST];
    int32_t begins[REGIONS_MOST + 1], touched[CELLS_MOST];
} listing;

/* Each region touches `each` cells, one behind the other, and none lies far from an edge. The better the later. */
static listing *make_listing(int32_t columns, int32_t rows, int32_t regions, int32_t each, int32_t k) {
    listing *const l = calloc(1, sizeof *l);
    assert_non_null(l);
    assert_true(regions * each <= columns * rows && columns * rows <= CELLS_MOST);
    l->grid = (tvlm_candidates){.columns = columns, .rows = rows, .step_x = 16.0f, .step_y = 16.0f};
    l->guide = (tvlm_guide){.cells = l->grid,
                            .regions = regions,
                            .distances = l->distances,
                            .nearest = l->nearest,
                            .begins = l->begins,
                            .touched = l->touched};
    for (int32_t i = 0; i < regions * each; ++i) l->touched[i] = i;
    for (int32_t r = 0; r <= regions; ++r) l->begins[r] = r * each;
    for (int32_t r = 0; r < regions; ++r) l->scores[r] = (float)r;
    l->c = (tvlm_cascade){.params = &l->params, .grid = &l->grid, .guide = &l->guide, .k = k};
    return l;
}

static void list(listing *l) {
    tvlm_cascade *const c = &l->c;
    assert_int_equal(tvlm_cascade_places_make(c, &c->regions, l->guide.regions), TVLM_OK);
    memcpy(c->regions.scores, l->scores, (size_t)l->guide.regions * sizeof *l->scores);
    assert_int_equal(tvlm_cascade_rank_regions(c), TVLM_OK);
    assert_int_equal(tvlm_cascade_list_cells(c), TVLM_OK);
    for (int32_t n = 0; n < c->cells.count; ++n) {
        assert_true(n == 0 || c->listed[n] > c->listed[n - 1]);
        assert_true(c->inside[c->listed[n]]);
    }
}

static void destroy(listing *l) {
    tvlm_cascade_places_free(&l->c.regions);
    tvlm_cascade_places_free(&l->c.cells);
    free(l->c.order);
    free(l->c.taken);
    free(l->c.inside);
    free(l->c.listed);
    free(l);
}

/* How many cells are listed of how many regions, which are the last ones; what is read of them is 8 bytes a cell. */
static void expect_listed(int32_t columns, int32_t rows, int32_t regions, int32_t each, int32_t k,
                          int32_t keep, int32_t taken) {
    listing *const l = make_listing(columns, rows, regions, each, k);
    l->params.cascade.keep_regions = keep;
    list(l);
    if (l->c.cells.count != taken * each || l->c.stages[0].kept != taken)
        fail_msg("k %d, at least %d regions of %d cells: %d cells of %d", (int)k, (int)keep, (int)each,
                 (int)l->c.cells.count, (int)l->c.stages[0].kept);
    for (int32_t r = 0; r < regions; ++r) {
        assert_int_equal(l->c.taken[r], r >= regions - taken);
        assert_int_equal(l->c.order[r], regions - 1 - r);
    }
    for (int32_t n = 0; n < l->c.cells.count; ++n)
        assert_int_equal(l->c.listed[n], (regions - taken) * each + n);
    assert_int_equal(l->c.stages[0].bytes, 8 * (size_t)taken * (size_t)each);
    destroy(l);
}

/* Ten regions, or as many as are asked for, and more until there are eight cells for each position; but once these are there,
 * no more than an eighth of all cells. */
static void test_enough(void **state) {
    (void)state;
    expect_listed(10, 10, 40, 1, 1, 0, 10);
    expect_listed(10, 10, 40, 1, 1, 9, 9);
    expect_listed(10, 10, 40, 1, 1, 1, 8); /* 8 cells are enough */
    expect_listed(10, 10, 40, 1, 1, 12, 12);
    expect_listed(10, 10, 40, 1, 1, 13, 12); /* 13 are more than an eighth of a hundred */
    expect_listed(10, 10, 40, 1, 2, 0, 16);
    expect_listed(10, 10, 20, 5, 1, 0, 2);
    expect_listed(10, 10, 33, 3, 1, 0, 4); /* 9, and 12 at most */
    expect_listed(10, 10, 5, 1, 1, 0, 5);  /* there are no more */
}

/* From 16384 cells on, two for each position or a sixteenth of all are enough where that is less. */
static void test_enough_of_many(void **state) {
    (void)state;
    expect_listed(128, 128, 3000, 1, 1, 1, 8);
    expect_listed(128, 128, 3000, 1, 100, 1, 800);
    expect_listed(128, 128, 3000, 1, 200, 1, 1024);
    expect_listed(128, 128, 3000, 1, 512, 1, 1024);
    expect_listed(128, 128, 3000, 1, 600, 1, 1200);
    expect_listed(127, 129, 3000, 1, 200, 1, 1600); /* one fewer */
}

/* Of equal scores the first region comes first, and one whose score is no number last. */
static void test_ranks(void **state) {
    static const int32_t order[] = {1, 3, 0, 4, 2};
    listing *const l = make_listing(10, 10, 5, 1, 1);
    (void)state;
    l->scores[0] = l->scores[4] = -1.0f;
    l->scores[1] = l->scores[3] = 5.0f;
    l->scores[2] = NAN;
    list(l);
    for (int i = 0; i < 5; ++i) assert_int_equal(l->c.order[i], order[i]);
    destroy(l);
}

/* Regions and cells at a distance of 1 or more are left out, or of what is asked for, unless too few cells are left. What two
 * regions touch counts once, and is read twice. */
static void test_culled(void **state) {
    (void)state;
    listing *l = make_listing(10, 10, 4, 2, 1);
    l->distances[7] = 1.0f;
    l->distances[6] = 0.99f;
    l->nearest[2] = 1.0f;
    l->nearest[1] = 0.99f;
    l->touched[3] = 6;
    list(l);
    static const int32_t left[] = {0, 1, 2, 6};
    assert_int_equal(l->c.cells.count, 4);
    for (int i = 0; i < 4; ++i) assert_int_equal(l->c.listed[i], left[i]);
    assert_true(l->c.taken[0] && l->c.taken[1] && !l->c.taken[2] && l->c.taken[3]);
    assert_int_equal(l->c.stages[0].kept, 3);
    assert_int_equal(l->c.stages[0].bytes, 6 * 8);
    destroy(l);
    l = make_listing(10, 10, 4, 2, 1);
    l->params.cascade.cull_distance = 0.5f;
    for (int i = 0; i < 8; ++i) l->distances[i] = i == 7 ? 0.49f : 0.5f;
    list(l);
    assert_int_equal(l->c.cells.count, 1);
    assert_int_equal(l->c.listed[0], 7);
    destroy(l);
    l = make_listing(10, 10, 4, 2, 2); /* one is too few for two positions: none is left out */
    l->params.cascade.cull_distance = 0.5f;
    for (int i = 0; i < 8; ++i) l->distances[i] = i == 7 ? 0.49f : 0.5f;
    for (int r = 0; r < 4; ++r) l->nearest[r] = r == 3 ? 0.49f : 0.5f;
    list(l);
    assert_int_equal(l->c.cells.count, 8);
    assert_int_equal(l->c.stages[0].bytes, (2 + 8) * 8); /* of the first try, too */
    destroy(l);
}

/* ---- Places ---- */

static void test_taps(void **state) {
    tvlm_score_group groups[3] = {{.taps = 1}, {.taps = 1}, {.taps = 1}};
    const tvlm_score_program program = {.groups = groups, .count = 3};
    const tvlm_sample_point centre = {10.0f, 20.0f, 2.0f, 7};
    tvlm_sample_point points[9] = {{0}};
    (void)state;
    assert_int_equal(tvlm_cascade_taps(&program), 1);
    groups[2].taps = 9;
    assert_int_equal(tvlm_cascade_taps(&program), 9);
    tvlm_cascade_place_taps(centre, 3.0f, 4.0f, 1, points);
    assert_true(points[0].x == 10.0f && points[0].y == 20.0f && points[0].level == 2.0f &&
                points[0].index == 7 && points[1].x == 0.0f);
    tvlm_cascade_place_taps(centre, 3.0f, 4.0f, 9, points);
    for (int i = 0; i < 9; ++i) {
        assert_true(points[i].x == 7.0f + 3.0f * (float)(i % 3) &&
                    points[i].y == 16.0f + 4.0f * (float)(i / 3));
        assert_true(points[i].level == 2.0f && points[i].index == 7);
    }
}

/* Parts are brought to their range over the places that are not left out, where they are to be; one whose range is nothing is 0,
 * and one without a weight does not count. */
static void test_combined(void **state) {
    float parts[TVLM_SCORE_PARTS * 4] = {1.0f,  2.0f,  3.0f, 9.0f, 10.0f, 20.0f,
                                         10.0f, 20.0f, 5.0f, 5.0f, 5.0f,  NAN};
    float scores[4];
    const bool left_out[4] = {false, false, false, true};
    tvlm_cascade_places places = {.count = 4, .parts = parts, .scores = scores};
    tvlm_cascade c = {.program.combination = {
                          .bias = 0.5f, .weight = {2.0f, 0.25f, 4.0f}, .normalise = {true, false, true}}};
    (void)state;
    tvlm_cascade_ranges_reset(&c);
    tvlm_cascade_ranges_widen(&c, &places, left_out);
    assert_true(c.ranges[0].low == 1.0f && c.ranges[0].high == 3.0f);
    assert_true(c.ranges[1].low == 10.0f && c.ranges[1].high == 20.0f);
    tvlm_cascade_combine(&c, &places);
    assert_true(scores[0] == 0.5f + 2.5f && scores[1] == 0.5f + 1.0f + 5.0f &&
                scores[2] == 0.5f + 2.0f + 2.5f);
    assert_true(isnan(scores[3]));
    tvlm_cascade_ranges_widen(&c, &places, NULL);
    assert_true(c.ranges[0].low == 1.0f && c.ranges[0].high == 9.0f);
    assert_true(c.ranges[2].low == 5.0f && c.ranges[2].high == 5.0f); /* passes over what is no number */
    c.program.combination.weight[2] = 0.0f;
    tvlm_cascade_combine(&c, &places);
    assert_true(scores[3] == 0.5f + 2.0f + 5.0f && scores[1] == 0.5f + 2.0f * 0.125f + 5.0f);
}

/* ---- Which cells regions touch ---- */

enum { ACROSS = 40, DOWN = 27 };

/* Whether a region has a corner of a cell, which is the pixel right of it and below it, its middle, or its own centroid there. */
static bool touches(const tvlm_guide *g, const int32_t *labels, int32_t region, int32_t cell) {
    const int32_t step = (int32_t)g->cells.step_x, column = cell % g->cells.columns,
                  row = cell / g->cells.columns;
    const int32_t left = column * step, right = left + step < ACROSS ? left + step : ACROSS;
    const int32_t top = row * step, below = top + step < DOWN ? top + step : DOWN;
    const int32_t x[2] = {left, right < ACROSS ? right : ACROSS - 1},
                  y[2] = {top, below < DOWN ? below : DOWN - 1};
    for (int i = 0; i < 4; ++i)
        if (labels[y[i / 2] * ACROSS + x[i % 2]] == region) return true;
    if (labels[(top + below) / 2 * ACROSS + (left + right) / 2] == region) return true;
    return g->table[region].x >= (float)left && g->table[region].x < (float)right &&
           g->table[region].y >= (float)top && g->table[region].y < (float)below;
}

/* Labels drawn pixel by pixel in blocks, cells of several sides, of which the last are cut off: what touches is listed, nothing
 * else is, and the nearest edge is that of any cell that is listed. */
static void test_touched(void **state) {
    static const float strides[] = {16.0f, 8.0f, 5.0f, 100.0f};
    static int32_t labels[ACROSS * DOWN], read[ACROSS * DOWN];
    uint64_t random = 9;
    tvlm_device *device = open_reference();
    (void)state;
    for (int round = 0; round < 8; ++round) {
        tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, ACROSS, DOWN, (uint64_t)round);
        const int block = 1 + round % 4 * 3;
        tvlm_candidates cells;
        const tvlm_guide *guide;
        int32_t of_block[ACROSS * DOWN];
        for (int i = 0; i < ACROSS * DOWN; ++i) of_block[i] = (int32_t)(test_random(&random) % 30);
        for (int i = 0; i < ACROSS * DOWN; ++i)
            labels[i] = of_block[i / ACROSS / block * ACROSS + i % ACROSS / block];
        assert_int_equal(tvlm_stack_set_labels(stack, 0, labels, ACROSS, DOWN, 0), TVLM_OK);
        assert_int_equal(
            tvlm_score_candidates(stack, tvlm_score_params(.stride = strides[round % 4]), &cells), TVLM_OK);
        assert_int_equal(tvlm_guide_of(stack, 0, &cells, NULL, false, &guide), TVLM_OK);
        assert_int_equal(tvlm_stack_labels(stack, 0, ACROSS * DOWN, read), TVLM_OK);
        assert_true(guide->regions > 2 && guide->begins[0] == 0);
        for (int32_t r = 0; r < guide->regions; ++r) {
            float nearest = INFINITY;
            int32_t at = guide->begins[r];
            for (int32_t cell = 0; cell < cells.columns * cells.rows; ++cell) {
                if (!touches(guide, read, r, cell)) continue;
                if (at == guide->begins[r + 1] || guide->touched[at] != cell)
                    fail_msg("round %d: region %d does not list cell %d", round, (int)r, (int)cell);
                nearest = fminf(nearest, guide->distances[cell]);
                ++at;
            }
            assert_int_equal(at, guide->begins[r + 1]);
            assert_true(guide->nearest[r] == nearest);
        }
        tvlm_stack_destroy(&stack);
    }
    tvlm_device_destroy(&device);
}

/* ---- The means of vectors ---- */

enum { WIDE = 8, HIGH = 2, VECTORS = WIDE * HIGH };

static bool is_near(float a, double b) {
    return fabs((double)a - b) < 1e-5;
}

static bool is_mean(const tvlm_guide *g, int region, int group, double x, double y, double spread) {
    const float *const mean = g->means + (region * TVLM_GUIDE_GROUPS + group) * 2;
    return is_near(mean[0], x) && is_near(mean[1], y) &&
           is_near(g->spreads[region * TVLM_GUIDE_GROUPS + group], spread);
}

/*
 * Region 0 has three vectors, two of them alike: the first mean is that of all three, and is left without vectors once the other
 * two are there. Region 1 has none, and takes the one under its centroid; region 2 has one; region 3 has two that are alike, of
 * other lengths; and region 4 has five, of which two share a mean.
 */
static void test_means(void **state) {
    static const float vectors[VECTORS][2] = {{2, 0}, {3, 0}, {0, 0.5f}, {0, -1}, {-4, 0}, {3, 4},
                                              {6, 8}, {1, 0}, {0, 1},    {-1, 0}, {0, -1}, {0.6f, 0.8f},
                                              {0, 0}, {0, 0}, {0, 0},    {0, 0}};
    static const int32_t labels[VECTORS] = {0, 0, 0, 2, 9, 3, 3, 4, 4, 4, 4, 4, 9, 9, 9, 9};
    tvlm_region table[5] = {{.pixels = 1}};
    tvlm_guide guide = {.regions = 5, .table = table};
    tvlm_features features;
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, WIDE * 16, HIGH * 16, 3);
    (void)state;
    table[1].x = 70.0f; /* of the fifth column */
    table[1].y = 3.0f;
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                                         tvlm_grid_input(.data = vectors, .columns = WIDE, .rows = HIGH,
                                                         .channels = 2, .cell = 16.0f)),
                     TVLM_OK);
    assert_int_equal(tvlm_stack_features(stack, 0, &features), TVLM_OK);
    for (int again = 0; again < 2; ++again) { /* what was made before is replaced */
        assert_int_equal(tvlm_guide_means(stack, &features, labels, &guide), TVLM_OK);
        assert_int_equal(guide.dimension, 2);
        assert_int_equal(guide.groups[0], 3);
        assert_true(is_mean(&guide, 0, 0, 2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0));
        assert_true(is_mean(&guide, 0, 1, 0.0, 1.0, 0.0) && is_mean(&guide, 0, 2, 1.0, 0.0, 0.0));
        assert_int_equal(guide.groups[1], 1);
        assert_true(is_mean(&guide, 1, 0, -1.0, 0.0, 0.0));
        assert_int_equal(guide.groups[2], 1);
        assert_true(is_mean(&guide, 2, 0, 0.0, -1.0, 0.0));
        assert_int_equal(guide.groups[3], 1);
        assert_true(is_mean(&guide, 3, 0, 0.6, 0.8, 0.0));
        assert_int_equal(guide.groups[4], 4);
    }
    /* (1, 0), (0, 1), (-1, 0), (0, -1) and (.6, .8), whose mean is (.12, .16): (0, -1) is the farthest, then (-1, 0), which is
     * farther from both than (1, 0) is; then (1, 0). The first mean keeps (0, 1) and (.6, .8). */
    assert_true(is_mean(&guide, 4, 0, 0.3, 0.9, sqrt(0.1)));
    assert_true(is_mean(&guide, 4, 3, 1.0, 0.0, 0.0));
    free(guide.groups);
    free(guide.means);
    free(guide.spreads);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enough), cmocka_unit_test(test_enough_of_many), cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_culled), cmocka_unit_test(test_taps),           cmocka_unit_test(test_combined),
        cmocka_unit_test(test_means),  cmocka_unit_test(test_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
