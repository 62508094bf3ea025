/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_select_parts.c: parts of the choosing that need no device: heaps, sums of scores over rectangles, squares that are cut by
 * them, the cell of vectors under a place, and quadtrees whose leaves are known one by one.
 */
#include <math.h>
#include <string.h>

#include "log_helper.h"
#include "select/heap.h"
#include "select/overview.h"
#include "select/quadtree.h"
#include "select/ranking.h"
#include "select/scoremap.h"
#include "select/squares.h"
#include "select/vectors.h"
#include "stack/frame.h"
#include "stack_helper.h"

/* ---- Heaps ---- */

enum { ITEMS = 40 };

/* The larger value first, of equal ones the lower number. */
static bool larger(const void *user, int32_t a, int32_t b) {
    const int *const values = user;
    return values[a] != values[b] ? values[a] > values[b] : a < b;
}

/* Takes all out of a heap, which must be in order. */
static void empty_heap(tvlm_heap *heap, const int *values, int32_t count) {
    assert_int_equal(heap->count, count);
    for (int32_t i = 0, last = -1; i < count; ++i) {
        const int32_t item = tvlm_heap_pop(heap);
        assert_int_equal(heap->count, count - 1 - i);
        if (i > 0) assert_true(larger(values, last, item));
        last = item;
    }
}

static void test_heap(void **state) {
    int values[ITEMS];
    int32_t items[ITEMS];
    uint64_t random = 6;
    (void)state;
    for (int round = 0; round < 60; ++round) {
        const int32_t count = round % ITEMS;
        tvlm_heap heap = {larger, values, items, 0};
        for (int32_t i = 0; i < count; ++i) values[i] = (int)(test_random(&random) % 20);
        for (int32_t i = 0; i < count; ++i) tvlm_heap_push(&heap, i);
        empty_heap(&heap, values, count);
        for (int32_t i = 0; i < count; ++i) items[i] = i;
        heap.count = count;
        tvlm_heap_order_all(&heap);
        for (int32_t i = 1; i < count; ++i) assert_true(larger(values, items[(i - 1) / 2], items[i]));
        for (int n = 0; count > 0 && n < 20; ++n) {
            values[heap.items[0]] -= 1 + (int)(test_random(&random) % 9);
            tvlm_heap_sink_top(&heap);
            for (int32_t i = 1; i < count; ++i) assert_true(larger(values, items[(i - 1) / 2], items[i]));
        }
        empty_heap(&heap, values, count);
    }
}

/* ---- Rankings ---- */

/* The larger score first, of equal ones (0 and -0, too) the lower index, and what is no number last. */
static void test_ranking(void **state) {
    static const tvlm_ranked in_order[] = {{7, INFINITY}, {3, 2.0f},  {4, 2.0f},      {0, 0.0f}, {1, -0.0f},
                                           {2, 0.0f},     {5, -1.0f}, {9, -INFINITY}, {6, NAN},  {8, NAN}};
    (void)state;
    for (int i = 0; i < 10; ++i)
        for (int j = 0; j < 10; ++j) {
            const int order = tvlm_ranked_compare(&in_order[i], &in_order[j]);
            assert_true(i < j ? order < 0 : i > j ? order > 0 : order == 0);
        }
}

/* ---- Scores over rectangles ---- */

/* 3 x 2 cells of 4 x 4 pixels, of which the last column and row are cut to 2 and 3. */
static tvlm_scoremap map_of(float *scores) {
    tvlm_scoremap map = {.cells = {.columns = 3, .rows = 2, .step_x = 4.0f, .step_y = 4.0f},
                         .width = 10,
                         .height = 7,
                         .scores = scores};
    assert_int_equal(tvlm_scoremap_sum_up(NULL, &map), TVLM_OK);
    return map;
}

static bool is_near(double a, double b) {
    return fabs(a - b) < 1e-9;
}

static void test_sums(void **state) {
    float scores[] = {1.0f, 2.0f, 3.0f, 5.0f, 7.0f, 11.0f};
    tvlm_scoremap map = map_of(scores);
    (void)state;
    assert_true(map.low == 1.0f && map.high == 11.0f);
    assert_true(is_near(tvlm_scoremap_sum(&map, 0, 0, 4, 4), 16.0));
    assert_true(is_near(tvlm_scoremap_sum(&map, 8, 4, 10, 7), 6.0 * 11.0));
    assert_true(is_near(tvlm_scoremap_sum(&map, 0, 0, 10, 7), 16.0 + 32.0 + 24.0 + 60.0 + 84.0 + 66.0));
    /* Half of a cell each way, over four of them: 2 x 2 pixels of two, 2 x 2 and 1 x 2 of others. */
    assert_true(is_near(tvlm_scoremap_sum(&map, 2, 2, 6, 6), 4.0 * (1.0 + 2.0 + 5.0 + 7.0)));
    assert_true(is_near(tvlm_scoremap_sum(&map, 7, 3, 9, 5), 2.0 + 3.0 + 7.0 + 11.0));
    assert_true(is_near(tvlm_scoremap_sum(&map, 4.5, 0, 5, 1), 0.5 * 2.0));
    /* Of the mean that part counts which lies in the image. */
    assert_true(tvlm_scoremap_mean(&map, 2.0, 2.0, 2.0) == 1.0f);
    assert_true(tvlm_scoremap_mean(&map, 0.0, 0.0, 8.0) == 1.0f);
    assert_true(tvlm_scoremap_mean(&map, 10.0, 7.0, 4.0) == 11.0f);
    assert_true(fabsf(tvlm_scoremap_mean(&map, 4.0, 4.0, 2.0) - 3.75f) < 1e-6f);
    assert_true(fabsf(tvlm_scoremap_mean(&map, 9.0, 1.0, 4.0) - (1.0f * 2.0f + 2.0f * 3.0f) / 3.0f) < 1e-6f);
    assert_true(fabsf(tvlm_scoremap_mean(&map, 1.0, 6.0, 6.0) - (1.0f + 3.0f * 5.0f) / 4.0f) < 1e-6f);
    free(map.sums);
}

/* Where cells fill the image, at its border too; and beyond it there is nothing. */
static void test_borders(void **state) {
    float scores[] = {1.0f, 2.0f, 3.0f, 5.0f, 7.0f, 11.0f}, tall[] = {1.0f, 2.0f, 3.0f};
    tvlm_scoremap map = {.cells = {.columns = 3, .rows = 2, .step_x = 4.0f, .step_y = 4.0f},
                         .width = 12,
                         .height = 8,
                         .scores = scores};
    (void)state;
    assert_int_equal(tvlm_scoremap_sum_up(NULL, &map), TVLM_OK);
    assert_true(is_near(tvlm_scoremap_sum(&map, 0, 0, 12, 8), 16.0 * 29.0));
    assert_true(is_near(tvlm_scoremap_sum(&map, 10, 6, 12, 8), 4.0 * 11.0));
    assert_true(is_near(tvlm_scoremap_sum(&map, -5, -3, 30, 20), 16.0 * 29.0));
    assert_true(tvlm_scoremap_mean(&map, 12.0, 8.0, 2.0) == 11.0f);
    free(map.sums);
    map = (tvlm_scoremap){.cells = {.columns = 1, .rows = 3, .step_x = 4.0f, .step_y = 4.0f},
                          .width = 4,
                          .height = 12,
                          .scores = tall};
    assert_int_equal(tvlm_scoremap_sum_up(NULL, &map), TVLM_OK);
    assert_true(is_near(tvlm_scoremap_sum(&map, 0, 2, 4, 12), 8.0 * 1.0 + 16.0 * 2.0 + 16.0 * 3.0));
    assert_true(tvlm_scoremap_mean(&map, 2.0, 12.0, 4.0) == 3.0f);
    free(map.sums);
}

/* The range is that of the scores, also where all are below 0, or all alike. */
static void test_range(void **state) {
    float below[] = {-1.0f, -2.0f, -3.0f, -5.0f, -7.0f, -11.0f}, alike[6];
    tvlm_scoremap map = map_of(below);
    (void)state;
    assert_true(map.low == -11.0f && map.high == -1.0f);
    assert_true(tvlm_scoremap_mean(&map, 2.0, 2.0, 4.0) == -1.0f);
    free(map.sums);
    for (int i = 0; i < 6; ++i) alike[i] = 3.0f;
    map = map_of(alike);
    assert_true(map.low == 3.0f && map.high == 3.0f);
    assert_true(tvlm_scoremap_mean(&map, 5.0, 3.0, 3.3) == 3.0f);
    free(map.sums);
}

/* What is not finite counts as the lowest that is; where none is all is 0. */
static void test_not_finite(void **state) {
    float some[] = {NAN, 2.0f, INFINITY, 5.0f, -INFINITY, 11.0f}, none[6];
    tvlm_scoremap map = map_of(some);
    (void)state;
    assert_true(map.low == 2.0f && map.high == 11.0f);
    assert_true(is_near(tvlm_scoremap_sum(&map, 0, 0, 10, 4), 2.0 * 40.0));
    assert_true(is_near(tvlm_scoremap_sum(&map, 4, 4, 8, 7), 2.0 * 12.0));
    free(map.sums);
    for (int i = 0; i < 6; ++i) none[i] = i % 2 == 0 ? NAN : INFINITY;
    map = map_of(none);
    assert_true(map.low == 0.0f && map.high == 0.0f && tvlm_scoremap_sum(&map, 0, 0, 10, 7) == 0.0);
    free(map.sums);
}

/* ---- Squares ---- */

static void cut(float *scores, int32_t columns, int32_t rows, int32_t width, int32_t height, int32_t k,
                tvlm_selection *selection) {
    const tvlm_task task = {.params = {.patch = 16.0f, .k = k}};
    tvlm_scoremap map = {.cells = {.columns = columns, .rows = rows, .step_x = 16.0f, .step_y = 16.0f},
                         .width = width,
                         .height = height,
                         .scores = scores};
    *selection = (tvlm_selection){0};
    assert_int_equal(tvlm_scoremap_sum_up(NULL, &map), TVLM_OK);
    assert_int_equal(tvlm_squares_cut(&task, &map, selection), TVLM_OK);
    free(map.sums);
}

static void expect_square(const tvlm_position *p, float x, float y, float level, float size, float score) {
    if (p->x != x || p->y != y || p->level != level || p->size != size || fabsf(p->score - score) > 1e-5f)
        fail_msg("%g, %g, level %g, size %g: %g", (double)p->x, (double)p->y, (double)p->level,
                 (double)p->size, (double)p->score);
    assert_true(p->column == -1 && p->row == -1 && p->height == 0.0f);
}

/* The middle is that of the part in the image, whose mean is the score. */
static void test_squares(void **state) {
    float scores[] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 4.0f};
    tvlm_selection s;
    (void)state;
    cut(scores, 3, 2, 40, 24, 1, &s); /* of which 8 x 8 pixels score 4 */
    assert_int_equal(s.count, 1);
    expect_square(&s.positions[0], 20.0f, 12.0f, 2.0f, 64.0f, 4.0f * 64.0f / 960.0f);
    free(s.positions);
    cut(scores, 3, 2, 40, 24, 2, &s); /* left and right; nothing is below */
    assert_int_equal(s.count, 2);
    expect_square(&s.positions[0], 16.0f, 12.0f, 1.0f, 32.0f, 0.0f);
    expect_square(&s.positions[1], 36.0f, 12.0f, 1.0f, 32.0f, 4.0f * 64.0f / 192.0f);
    free(s.positions);
    cut(scores, 3, 2, 40, 24, 3, &s); /* the right one above and below; the left one has no mass */
    assert_int_equal(s.count, 3);
    expect_square(&s.positions[1], 36.0f, 8.0f, 0.0f, 16.0f, 0.0f);
    expect_square(&s.positions[2], 36.0f, 20.0f, 0.0f, 16.0f, 4.0f);
    free(s.positions);
    for (int32_t k = 4; k <= 8; k += 2) { /* there are no smaller ones */
        cut(scores, 3, 2, 40, 24, k == 8 ? 0 : k, &s);
        assert_int_equal(s.count, 3);
        free(s.positions);
    }
}

/* Where all scores are equal areas count: the largest is cut first. As many as there are patches at most. */
static void test_equal_scores(void **state) {
    float scores[6] = {3.0f, 3.0f, 3.0f, 3.0f, 3.0f, 3.0f};
    tvlm_selection s;
    (void)state;
    cut(scores, 3, 2, 40, 24, 100, &s);
    assert_int_equal(s.count, 6);
    for (int i = 0; i < 6; ++i) assert_true(s.positions[i].size == 16.0f && s.positions[i].score == 3.0f);
    free(s.positions);
    cut(scores, 3, 2, 40, 24, 5, &s);
    assert_int_equal(s.count, 5);
    expect_square(&s.positions[1], 36.0f, 12.0f, 1.0f, 32.0f, 3.0f);
    free(s.positions);
}

/* What is above the lowest score counts, not the scores themselves. In an image that is higher than wide there may be as many
 * squares, too. */
static void test_above_the_lowest(void **state) {
    float scores[] = {10.0f, 10.0f, 10.0f, 10.0f, 10.0f, 11.0f}, equal[6] = {0};
    tvlm_selection s;
    (void)state;
    cut(scores, 2, 3, 24, 40, 2, &s);
    assert_int_equal(s.count, 2);
    expect_square(&s.positions[0], 12.0f, 16.0f, 1.0f, 32.0f, 10.0f);
    free(s.positions);
    cut(scores, 2, 3, 24, 40, 3, &s); /* not the upper one, though its scores add up to more */
    assert_int_equal(s.count, 3);
    expect_square(&s.positions[0], 12.0f, 16.0f, 1.0f, 32.0f, 10.0f);
    expect_square(&s.positions[1], 8.0f, 36.0f, 0.0f, 16.0f, 10.0f);
    expect_square(&s.positions[2], 20.0f, 36.0f, 0.0f, 16.0f, 11.0f);
    free(s.positions);
    cut(equal, 2, 3, 24, 40, 100, &s);
    assert_int_equal(s.count, 6);
    free(s.positions);
}

/* Squares come best first, of equal ones in the order in which they were; in pixels of the image that was handed in, which is
 * twice as high and 2.01 times as wide as the working image, in whose pixels they are kept. */
static void test_delivered(void **state) {
    static const float at[5][4] = {
        {8, 8, 16, 1}, {40, 24, 16, 3}, {60, 8, 32, 3}, {90, 40, 16, -2}, {10, 30, 8, 3}};
    static const int order[5] = {1, 2, 4, 0, 3};
    static uint8_t pixels[201 * 100];
    tvlm_device *device = open_reference();
    tvlm_stack *stack = NULL;
    const tvlm_image image = u8_image(pixels, 201, 100, 1);
    tvlm_selection s = {.count = 5, .positions = calloc(5, sizeof(tvlm_position))};
    float *const scores = calloc(2, sizeof *scores);
    tvlm_scoremap map = {.cells = {.columns = 2, .rows = 1}, .scores = scores};
    const float *kept;
    int32_t count;
    (void)state;
    assert_int_equal(
        tvlm_stack_create_for_image(device, &image,
                                    tvlm_stack_params(.format = TVLM_FORMAT_F32, .max_side = 100), &stack),
        TVLM_OK);
    assert_true(tvlm_stack_width(stack) == 100 && tvlm_stack_height(stack) == 50);
    assert_true(s.positions != NULL && scores != NULL);
    for (int i = 0; i < 5; ++i)
        s.positions[i] =
            (tvlm_position){.x = at[i][0], .y = at[i][1], .size = at[i][2], .score = at[i][3], .row = i};
    const tvlm_task task = {.stack = stack, .params = {.keep_scores = true}};
    assert_int_equal(tvlm_squares_deliver(&task, &map, &s), TVLM_OK);
    assert_int_equal(tvlm_stack_positions(stack, 0, &kept, &count), TVLM_OK);
    assert_int_equal(count, 5);
    for (int i = 0; i < 5; ++i) {
        const float *const from = at[order[i]];
        const tvlm_position *const p = &s.positions[i];
        assert_true(p->row == order[i] && p->score == from[3]);
        assert_true(fabsf(p->x - 2.01f * from[0]) < 1e-4f && p->y == 2.0f * from[1]);
        assert_true(fabsf(p->size - sqrtf(4.02f) * from[2]) < 1e-4f);
        assert_true(kept[2 * i] == from[0] && kept[2 * i + 1] == from[1]);
    }
    assert_true(s.scores == scores && s.score_columns == 2 && s.score_rows == 1 && map.scores == NULL);
    free(scores);
    free(s.positions);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* ---- Overviews ---- */

static void expect_fit(int32_t width, int32_t height, double smallest, int32_t count, int32_t columns,
                       int32_t rows, double side) {
    const tvlm_overview fit = tvlm_overview_fit(width, height, smallest, count);
    if (fit.columns != columns || fit.rows != rows || !is_near(fit.side, side))
        fail_msg("%d squares of %dx%d: %dx%d of %g", (int)count, (int)width, (int)height, (int)fit.columns,
                 (int)fit.rows, fit.side);
    assert_int_equal(tvlm_overview_size(&fit), columns * rows);
}

/* The smallest squares of so many that fit along a side; and fewer, where these are up to a 16th larger. */
static void test_overview(void **state) {
    (void)state;
    expect_fit(640, 427, 1.0, 23, 5, 4, 128.0);       /* 4 along the height would be 24 */
    expect_fit(640, 427, 1.0, 24, 6, 4, 427.0 / 4.0); /* which is 5.996 along the width */
    expect_fit(640, 427, 1.0, 29, 6, 4, 427.0 / 4.0);
    expect_fit(640, 427, 1.0, 30, 6, 4, 427.0 / 4.0); /* 6 x 5 of 106.67 fit, but 4 rows are nearly as fine */
    expect_fit(427, 640, 1.0, 24, 4, 6, 427.0 / 4.0);
    expect_fit(100, 100, 60.0, 9, 2, 2, 60.0); /* no smaller ones are wanted */
    expect_fit(10, 1000, 1.0, 5, 1, 5, 200.0);
    expect_fit(1000, 10, 1.0, 1, 1, 1, 1000.0);
    expect_fit(2, 2, 0.5, 100, 2, 2, 1.0); /* no more than there are pixels */
}

/* A share of k, which is one position at least. */
static void test_overview_count(void **state) {
    static const struct {
        float share;
        int32_t k, count;
    } cases[] = {{0.7f, 10, 7}, {0.25f, 4, 1}, {0.25f, 7, 1}, {0.25f, 8, 2}, {1.0f, 3, 3}, {0.0f, 100, 0}};
    int32_t count = -1;
    (void)state;
    nothing_said();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const struct tvlm_select_params params = {.best.overview = cases[i].share};
        assert_int_equal(tvlm_overview_count(&noting, &params, cases[i].k, &count), TVLM_OK);
        assert_int_equal(count, cases[i].count);
    }
    assert_int_equal(said.errors, 0);
    const struct tvlm_select_params none = {.best.overview = 0.25f};
    assert_int_equal(tvlm_overview_count(&noting, &none, 3, &count), TVLM_ERROR_ARGUMENT);
    assert_string_equal(said.last, "an overview of 0.25 of k = 3 is no position; it takes at least 1");
}

/* Squares stand in the middle of equal parts of the image, and have the mean score of what is under them. */
static void test_overview_places(void **state) {
    float scores[] = {1.0f, 2.0f, 3.0f, 5.0f, 7.0f, 11.0f};
    tvlm_scoremap map = map_of(scores);
    const tvlm_overview overview = {.columns = 2, .rows = 1, .side = 5.0};
    const tvlm_scale scale = {2.0, 3.0, 2.5};
    tvlm_position p[2];
    (void)state;
    tvlm_overview_place(&overview, &map, &scale, 2.5, p);
    /* Rows 1 to 6: of the columns 0 to 5, 12 pixels of 1, 3 of 2, 8 of 5 and 2 of 7; of 5 to 10 9, 6, 6 and 4. */
    expect_square(&p[0], 5.0f, 10.5f, 1.0f, 12.5f, 72.0f / 25.0f);
    expect_square(&p[1], 15.0f, 10.5f, 1.0f, 12.5f, (9.0f * 2 + 6.0f * 3 + 6.0f * 7 + 4.0f * 11) / 25.0f);
    free(map.sums);
}

/* ---- The cell of a place ---- */

/* Two columns and three rows of vectors over 20 x 30 pixels; what lies beyond is of the last ones. */
static void test_cells(void **state) {
    const tvlm_texture t = {.width = 2, .height = 3, .extent_x = 20.0f, .extent_y = 30.0f};
    (void)state;
    assert_int_equal(tvlm_vectors_cell(&t, 0.0f, 0.0f), 0);
    assert_int_equal(tvlm_vectors_cell(&t, 9.5f, 9.5f), 0);
    assert_int_equal(tvlm_vectors_cell(&t, 10.0f, 9.5f), 1);
    assert_int_equal(tvlm_vectors_cell(&t, 9.5f, 10.0f), 2);
    assert_int_equal(tvlm_vectors_cell(&t, 19.5f, 29.5f), 5);
    assert_int_equal(tvlm_vectors_cell(&t, 20.0f, 5.0f), 1);
    assert_int_equal(tvlm_vectors_cell(&t, 5.0f, 30.0f), 4);
    assert_int_equal(tvlm_vectors_cell(&t, 25.0f, 45.0f), 5);
}

/* ---- Quadtrees ---- */

/* Left of 8 there is nothing, right of it as much as there is area. */
static double right_half(const void *user, double x0, double y0, double x1, double y1) {
    (void)user;
    return fmax(x1 - fmax(x0, 8.0), 0.0) * (y1 - y0);
}

static void expect_leaf(const tvlm_leaf *leaf, double x, double y, double side, double mass) {
    if (leaf->x != x || leaf->y != y || leaf->side != side || leaf->mass != mass)
        fail_msg("%g, %g, %g: %g", leaf->x, leaf->y, leaf->side, leaf->mass);
}

static void test_leaves(void **state) {
    tvlm_leaf leaves[10];
    int32_t count;
    (void)state;
    assert_true(tvlm_quadtree(16, 16, 4, 10, right_half, NULL, leaves, &count));
    assert_int_equal(count, 10);
    expect_leaf(&leaves[0], 0, 0, 8, 0);
    expect_leaf(&leaves[1], 8, 0, 4, 16); /* its first quarter, in its place */
    expect_leaf(&leaves[2], 0, 8, 8, 0);
    expect_leaf(&leaves[3], 8, 8, 4, 16);
    expect_leaf(&leaves[4], 12, 0, 4, 16);
    expect_leaf(&leaves[5], 8, 4, 4, 16);
    expect_leaf(&leaves[6], 12, 4, 4, 16);
    expect_leaf(&leaves[9], 12, 12, 4, 16);
    /* Of equal ones that is cut which was made first, and where four quarters are too many, one of fewer. */
    assert_true(tvlm_quadtree(16, 16, 4, 9, right_half, NULL, leaves, &count));
    assert_int_equal(count, 7);
    expect_leaf(&leaves[1], 8, 0, 4, 16);
    expect_leaf(&leaves[3], 8, 8, 8, 64);
    assert_true(tvlm_quadtree(20, 16, 4, 5, right_half, NULL, leaves, &count));
    assert_int_equal(count,
                     5); /* 16 x 16 and 4 x 16; the former would be four more, the latter is one, then two */
    expect_leaf(&leaves[0], 0, 0, 8, 0);
    expect_leaf(&leaves[1], 16, 0, 16, 64);
    expect_leaf(&leaves[4], 8, 8, 8, 64);
    /* A side may be as long as the image, and no cell is smaller than the smallest. */
    assert_true(tvlm_quadtree(16, 8, 16, 9, right_half, NULL, leaves, &count));
    assert_int_equal(count, 1);
    expect_leaf(&leaves[0], 0, 0, 16, 64);
}

/* The quarters of 16 x 16 have .1, .2, .4 and .8 of each pixel; `user` is what that is multiplied by. */
static double of_quarters(const void *user, double x0, double y0, double x1, double y1) {
    const double left = fmax(fmin(x1, 8.0) - x0, 0.0), right = fmax(x1 - fmax(x0, 8.0), 0.0);
    const double above = fmax(fmin(y1, 8.0) - y0, 0.0), below = fmax(y1 - fmax(y0, 8.0), 0.0);
    return *(const double *)user *
           (0.1 * left * above + 0.2 * right * above + 0.4 * left * below + 0.8 * right * below);
}

/* The heaviest is cut first, whichever was made first, and however light it is. */
static void test_heaviest(void **state) {
    tvlm_leaf leaves[13];
    int32_t count;
    (void)state;
    for (double scale = 1.0; scale > 1e-6; scale *= 1e-3) {
        assert_true(tvlm_quadtree(16, 16, 4, 7, of_quarters, &scale, leaves, &count));
        assert_int_equal(count, 7);
        for (int i = 0; i < 7; ++i) assert_true(leaves[i].side == (i < 3 ? 8.0 : 4.0));
        assert_true(leaves[3].x == 8.0 && leaves[3].y == 8.0 && leaves[6].x == 12.0 && leaves[6].y == 12.0);
        assert_true(tvlm_quadtree(16, 16, 4, 10, of_quarters, &scale, leaves, &count));
        assert_int_equal(count, 10);
        for (int i = 0; i < 10; ++i) assert_true(leaves[i].side == (i < 2 ? 8.0 : 4.0));
    }
}

/* The first leaf is the smallest that holds the image, which stays where there is no mass; quarters that would begin at the
 * border are none. */
static void test_sides(void **state) {
    static const double sizes[][4] = {{16, 16, 4, 16}, {8, 8, 4, 8}, {8, 32, 4, 32},
                                      {33, 8, 4, 64},  {3, 2, 4, 4}, {4, 4, 4, 4}};
    tvlm_leaf leaves[8];
    const double none = 0.0, one = 1.0;
    int32_t count;
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        assert_true(
            tvlm_quadtree(sizes[i][0], sizes[i][1], sizes[i][2], 8, of_quarters, &none, leaves, &count));
        assert_int_equal(count, 1);
        expect_leaf(&leaves[0], 0, 0, sizes[i][3], 0);
    }
    assert_true(tvlm_quadtree(16, 8, 8, 8, of_quarters, &one, leaves, &count));
    assert_int_equal(count, 2);
    assert_true(tvlm_quadtree(8, 16, 8, 8, of_quarters, &one, leaves, &count));
    assert_int_equal(count, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heap),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_squares),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_leaves),
        cmocka_unit_test(test_equal_scores),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_ranking),
        cmocka_unit_test(test_overview),
        cmocka_unit_test(test_overview_count),
        cmocka_unit_test(test_overview_places),
        cmocka_unit_test(test_above_the_lowest),
        cmocka_unit_test(test_delivered),
        cmocka_unit_test(test_heaviest),
        cmocka_unit_test(test_sides),
        cmocka_unit_test(test_borders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
