/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget_plan.c: plans of pictures (select/budget_plan.h): the level that each is made from, what memory it has,
 * and its weights, which are Lanczos' by their definition.
 */
#include <math.h>
#include <string.h>

#include "select/budget_plan.h"
#include "support.h"

static tvlm_texture texture_of(int32_t width, int32_t height, int32_t levels) {
    return (tvlm_texture){.width = width, .height = height, .layers = 1, .images = 1, .levels = levels};
}

static void expect_level(int32_t width, int32_t height, int32_t levels, int32_t wide, int32_t high,
                         int32_t from) {
    const tvlm_texture source = texture_of(width, height, levels);
    const tvlm_budget_size size = {wide, high, 0.0};
    tvlm_budget_plan plan;
    assert_true(tvlm_budget_plan_make(&source, 0, 16, &size, 1, NULL, &plan));
    if (plan.pictures[0].from != from)
        fail_msg("%d x %d of %d x %d from level %d", (int)wide, (int)high, (int)width, (int)height,
                 (int)plan.pictures[0].from);
    assert_int_equal(plan.levels, from + 1);
    tvlm_budget_plan_free(&plan);
}

/* The highest level that is three times as large, or the one that has just this size. */
static void test_levels(void **state) {
    (void)state;
    expect_level(96, 96, 7, 16, 16, 1);
    expect_level(96, 96, 7, 17, 16, 0);
    expect_level(96, 96, 7, 16, 17, 0);
    expect_level(96, 96, 7, 8, 8, 2);
    expect_level(96, 96, 7, 9, 8, 1);
    expect_level(96, 96, 7, 8, 9, 1);
    expect_level(96, 96, 2, 8, 8, 1);
    expect_level(96, 96, 1, 8, 8, 0);
    expect_level(96, 96, 7, 48, 48, 1);
    expect_level(96, 96, 7, 48, 40, 0);
    expect_level(96, 96, 7, 40, 48, 0);
    expect_level(96, 96, 7, 96, 96, 0);
    expect_level(96, 48, 7, 1, 1, 6);
    expect_level(64, 64, 7, 1, 1, 6);
    expect_level(64, 64, 6, 1, 1, 4);
}

/* Lanczos' filter, stretched where the picture shrinks, normalised, and cut off at the borders. */
static void check_axis(const tvlm_budget_plan *plan, tvlm_budget_axis axis, int32_t source, int32_t size,
                       double scale) {
    const double stretch = fmax(scale, 1.0), pi = 3.14159265358979323846;
    for (int32_t o = 0; o < size; ++o) {
        const float *const entry = plan->table + axis.offset + (ptrdiff_t)o * (axis.taps + TVLM_BUDGET_HEAD);
        const int32_t first = (int32_t)entry[0], count = (int32_t)entry[1];
        double exact[256], sum = 0.0;
        assert_in_range(count, 1, axis.taps);
        assert_true(source <= 256 && first >= 0 && first + count <= source);
        for (int32_t i = 0; i < source; ++i) {
            const double x = fabs((i + 0.5 - (o + 0.5) * scale) / stretch);
            exact[i] = x < 1e-9  ? 1.0
                       : x < 3.0 ? 3.0 * sin(pi * x) * sin(pi * x / 3.0) / (pi * pi * x * x)
                                 : 0.0;
            if (scale == 1.0) exact[i] = i == o;
            sum += exact[i];
        }
        for (int32_t i = 0; i < source; ++i) {
            const double got =
                i >= first && i < first + count ? (double)entry[TVLM_BUDGET_HEAD + i - first] : 0.0;
            if (!(fabs(got - exact[i] / sum) < 1e-6))
                fail_msg("%d to %d, output %d, weight %d: %g", (int)source, (int)size, (int)o, (int)i, got);
        }
    }
}

static void check_picture(const tvlm_budget_plan *plan, const tvlm_texture *source,
                          const tvlm_budget_size *size, int p) {
    const tvlm_budget_picture *const picture = &plan->pictures[p];
    const int32_t across = tvlm_level_side(source->width, picture->from),
                  down = tvlm_level_side(source->height, picture->from);
    const double texel = size->texel, w = source->width, h = source->height;
    assert_int_equal(picture->width, size->width);
    assert_int_equal(picture->height, size->height);
    check_axis(plan, picture->reduce_x, across, size->width,
               texel > 0.0 ? texel * across / w : (double)across / size->width);
    check_axis(plan, picture->reduce_y, down, size->height,
               texel > 0.0 ? texel * down / h : (double)down / size->height);
    check_axis(plan, picture->enlarge_x, size->width, source->width,
               texel > 0.0 ? 1.0 / texel : size->width / w);
    check_axis(plan, picture->enlarge_y, size->height, source->height,
               texel > 0.0 ? 1.0 / texel : size->height / h);
}

/* A second plan, of sizes in another order, copies what it can, and says the same. */
static void test_weights(void **state) {
    static const tvlm_budget_size sizes[] = {{16, 16, 0.0},       {25, 13, 0.0}, {48, 20, 0.0},
                                             {75, 31, 4.0 / 3.0}, {34, 14, 3.0}, {1, 1, 0.0}};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    const tvlm_texture source = texture_of(100, 41, 7);
    tvlm_budget_size turned[COUNT];
    tvlm_budget_plan plan, again;
    (void)state;
    for (int i = 0; i < COUNT; ++i) turned[i] = sizes[COUNT - 1 - i];
    assert_true(tvlm_budget_plan_make(&source, 2, 14, sizes, COUNT, NULL, &plan));
    assert_true(tvlm_budget_plan_make(&source, 2, 14, turned, COUNT, plan.weights, &again));
    assert_int_equal(plan.count, COUNT);
    assert_int_equal(plan.image, 2);
    assert_int_equal(plan.columns, 8);
    assert_int_equal(plan.rows, 3);
    for (int i = 0; i < COUNT; ++i) {
        check_picture(&plan, &source, &sizes[i], i);
        check_picture(&again, &source, &turned[i], i);
    }
    tvlm_budget_plan_free(&plan);
    tvlm_budget_plan_free(&again);
}

/* A plan that goes on with weights finds there what it has in common with earlier ones, where it was; others are added
 * behind it. Weights that would grow to more than twice their size are left as they are. */
static void test_going_on(void **state) {
    static const tvlm_budget_size first[] = {{40, 30, 0.0}, {20, 15, 0.0}, {24, 17, 0.0}},
                                  next[] = {{40, 30, 0.0}, {10, 15, 0.0}};
    const tvlm_texture source = texture_of(112, 40, 3);
    tvlm_budget_plan plan, more, again;
    (void)state;
    assert_true(tvlm_budget_plan_make(&source, 0, 14, first, 3, NULL, &plan));
    const size_t floats = plan.table_floats;
    float *const before = malloc(floats * sizeof *before);
    assert_non_null(before);
    memcpy(before, plan.table, floats * sizeof *before);
    assert_true(tvlm_budget_plan_go_on(&source, 2, 14, next, 2, plan.weights, &more));
    assert_true(more.weights == NULL && more.count == 2 && more.image == 2 && more.columns == 8);
    assert_true(more.table_floats > floats && more.table_floats <= 2 * floats);
    assert_memory_equal(more.table, before, floats * sizeof *before);
    assert_memory_equal(&more.pictures[0].reduce_x, &plan.pictures[0].reduce_x, 4 * sizeof(tvlm_budget_axis));
    for (int i = 0; i < 2; ++i) check_picture(&more, &source, &next[i], i);
    assert_true(tvlm_budget_plan_go_on(&source, 0, 14, first, 3, plan.weights, &again));
    assert_int_equal(again.table_floats, more.table_floats);
    assert_memory_equal(again.pictures, plan.pictures, 3 * sizeof *plan.pictures);
    tvlm_budget_plan_free(&again);
    for (int32_t i = 1; i < 40; ++i) {
        const tvlm_budget_size size = {i, i, 0.0};
        const bool went = tvlm_budget_plan_go_on(&source, 0, 14, &size, 1, plan.weights, &again);
        assert_true(again.table_floats <= 2 * floats);
        tvlm_budget_plan_free(&again);
        if (!went) break;
        assert_true(i < 39);
    }
    assert_true(tvlm_budget_plan_go_on(&source, 0, 14, next, 2, plan.weights, &again));
    assert_memory_equal(again.table, before, floats * sizeof *before);
    for (int i = 0; i < 2; ++i) check_picture(&again, &source, &next[i], i);
    tvlm_budget_plan_free(&again);
    tvlm_budget_plan_free(&more);
    tvlm_budget_plan_free(&plan);
    free(before);
}

/* Where pictures lie, one behind the other; and pictures that would take too much stay for the next plan. */
static void test_memory(void **state) {
    static const tvlm_budget_size sizes[] = {{16, 16, 0.0}, {25, 13, 0.0}, {16, 17, 0.0}};
    static const tvlm_texture small = {.width = 96, .height = 64, .layers = 1, .images = 1, .levels = 7},
                              large = {.width = 4096, .height = 4096, .layers = 1, .images = 1, .levels = 13};
    /* The larger of the level's columns and the image's rows, with what lies between two of either: of the first picture the
     * rows, of the others the columns. */
    static const int32_t between[] = {0, 112 * 16, 112 * 16 + 96 * 16},
                         texels[] = {0, 16 * 16, 16 * 16 + 25 * 16};
    tvlm_budget_plan plan;
    (void)state;
    assert_true(tvlm_budget_plan_make(&small, 0, 16, sizes, 3, NULL, &plan));
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(plan.pictures[i].between, between[i]);
        assert_int_equal(plan.pictures[i].texels, texels[i]);
    }
    assert_int_equal(plan.between_texels, between[2] + 96 * 48); /* a column of 17 takes 48 */
    assert_int_equal(plan.picture_texels, texels[2] + 16 * 48);
    tvlm_budget_plan_free(&plan);
    tvlm_budget_size many[64];
    for (int i = 0; i < 64; ++i) many[i] = (tvlm_budget_size){3000 + i, 3000, 0.0};
    assert_true(tvlm_budget_plan_make(&large, 0, 16, many, 64, NULL, &plan));
    const size_t each = 4112 * 3000; /* columns of 3000 take 3024, and 4096 rows of them are less */
    assert_int_equal(plan.between_texels, (size_t)plan.count * (4096 * 3024 > each ? 4096 * 3024 : each));
    assert_true(plan.count < 64 && plan.between_texels <= TVLM_BUDGET_TEXELS_MAX);
    assert_true(plan.between_texels / (size_t)plan.count * ((size_t)plan.count + 1) > TVLM_BUDGET_TEXELS_MAX);
    tvlm_budget_plan_free(&plan);
}

/* Entries have room for all taps that an output may have, and axes that are alike are there once: reduced by 2, three lobes on
 * either side are twelve pixels, and one more where they begin between two; enlarged, they are six. */
static void test_table(void **state) {
    static const tvlm_budget_size sizes[] = {{4, 4, 0.0}, {8, 6, 0.0}};
    const tvlm_texture square = texture_of(8, 8, 1), oblong = texture_of(16, 12, 2);
    enum { HALF = 13 + TVLM_BUDGET_HEAD, TWICE = 7 + TVLM_BUDGET_HEAD, SAME = 1 + TVLM_BUDGET_HEAD };
    tvlm_budget_plan plan;
    (void)state;
    assert_true(tvlm_budget_plan_make(&square, 0, 16, sizes, 1, NULL, &plan));
    const tvlm_budget_picture *const p = &plan.pictures[0];
    assert_true(p->reduce_x.offset == 0 && p->reduce_x.taps == 13 && p->reduce_y.offset == 0);
    assert_true(p->enlarge_x.offset == 4 * HALF && p->enlarge_x.taps == 7);
    assert_true(p->enlarge_y.offset == 4 * HALF && p->enlarge_y.taps == 7);
    assert_int_equal(plan.table_floats, 4 * HALF + 8 * TWICE);
    tvlm_budget_plan_free(&plan);
    assert_true(plan.table == NULL && plan.weights == NULL && plan.pictures == NULL);
    /* That of 8 x 6 texels is the level 1 as it is. */
    assert_true(tvlm_budget_plan_make(&oblong, 0, 16, sizes + 1, 1, NULL, &plan));
    const tvlm_budget_picture *const level = &plan.pictures[0];
    assert_true(level->from == 1 && level->reduce_x.taps == 1 && level->reduce_y.taps == 1);
    assert_true(level->reduce_x.offset == 0 && level->enlarge_x.offset == 8 * SAME);
    assert_int_equal(level->reduce_y.offset, 8 * SAME + 16 * TWICE);
    assert_int_equal(level->enlarge_y.offset, 14 * SAME + 16 * TWICE);
    assert_int_equal(plan.table_floats, 14 * SAME + 28 * TWICE);
    tvlm_budget_plan_free(&plan);
}

/* The levels that a plan needs are those up to the highest that a picture is made from, whichever comes first. */
static void test_highest_level(void **state) {
    static const tvlm_budget_size falling[] = {{8, 8, 0.0}, {90, 90, 0.0}},
                                  rising[] = {{90, 90, 0.0}, {8, 8, 0.0}};
    const tvlm_texture source = texture_of(96, 96, 7);
    (void)state;
    for (int i = 0; i < 2; ++i) {
        tvlm_budget_plan plan;
        assert_true(tvlm_budget_plan_make(&source, 0, 16, i == 0 ? falling : rising, 2, NULL, &plan));
        assert_int_equal(plan.levels, 3);
        assert_true(plan.columns == 6 && plan.rows == 6);
        tvlm_budget_plan_free(&plan);
    }
}

/* Pictures that take just as much as there may be between the passes are taken, and nothing beside them. Of 4096 rows, a column
 * of 4049 takes 4080, and one of 4081 takes 4112: two of each are 64 Mi. */
static void test_full(void **state) {
    static const tvlm_budget_size sizes[] = {
        {1, 4049, 0.0}, {1, 4081, 0.0}, {1, 4049, 0.0}, {1, 4081, 0.0}, {1, 1, 0.0}};
    const tvlm_texture source = texture_of(4096, 4096, 1);
    tvlm_budget_plan plan;
    (void)state;
    assert_true(tvlm_budget_plan_make(&source, 0, 16, sizes, 5, NULL, &plan));
    assert_int_equal(plan.count, 4);
    assert_int_equal(plan.between_texels, TVLM_BUDGET_TEXELS_MAX);
    tvlm_budget_plan_free(&plan);
    const tvlm_budget_size huge[] = {{1, 20000, 0.0}, {1, 1, 0.0}}; /* at least one, however much it takes */
    assert_true(tvlm_budget_plan_make(&source, 0, 16, huge, 2, NULL, &plan));
    assert_int_equal(plan.count, 1);
    tvlm_budget_plan_free(&plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_levels),   cmocka_unit_test(test_weights),
                                       cmocka_unit_test(test_going_on), cmocka_unit_test(test_memory),
                                       cmocka_unit_test(test_table),    cmocka_unit_test(test_highest_level),
                                       cmocka_unit_test(test_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
