/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_foveated.c: exactly K positions that cover the image, dense at the fixations; also as a strategy of
 * tvlm_select.
 */
#include <math.h>
#include <stdio.h>

#include "spot_helper.h"
#include "texturevlm/lab/foveated.h"

/* ---- Placing ---- */

enum { RASTER = 400, MOST = 1500 };

typedef struct cover {
    double once, twice; /* shares of the image */
} cover;

/* Counted at the centres of RASTER points along the longer side. */
static cover measure(int32_t width, int32_t height, const tvlm_position *positions, int32_t count) {
    static uint8_t hits[RASTER * RASTER];
    const double step = (double)(width > height ? width : height) / RASTER;
    const int32_t columns = (int32_t)fmax(1, round(width / step)),
                  rows = (int32_t)fmax(1, round(height / step));
    cover c = {0, 0};
    memset(hits, 0, sizeof hits);
    for (int32_t i = 0; i < count; ++i)
        for (int32_t y = 0; y < rows; ++y) {
            if (fabs((y + 0.5) * height / rows - (double)positions[i].y) > 0.5 * (double)positions[i].size)
                continue;
            for (int32_t x = 0; x < columns; ++x)
                if (fabs((x + 0.5) * width / columns - (double)positions[i].x) <=
                    0.5 * (double)positions[i].size)
                    hits[y * columns + x] = (uint8_t)(hits[y * columns + x] + (hits[y * columns + x] < 255));
        }
    for (int32_t i = 0; i < rows * columns; ++i) {
        c.once += hits[i] > 0;
        c.twice += hits[i] > 1;
    }
    return (cover){c.once / (rows * columns), c.twice / (rows * columns)};
}

/* Without a k and a patch, `wanted` and `given` are 0. */
static void check_place(int32_t width, int32_t height, int32_t wanted, float given,
                        const struct tvlm_foveated_params *params, int32_t k) {
    static tvlm_position p[MOST], again[MOST];
    const float patch = given > 0.0f ? given : 16.0f;
    int32_t count = 0;
    assert_int_equal(tvlm_foveated_place(width, height, wanted, given, params, &test_log, MOST, p, &count),
                     TVLM_OK);
    assert_int_equal(count, k);
    for (int32_t i = 0; i < count; ++i) {
        assert_true(isfinite(p[i].x) && isfinite(p[i].y) && isfinite(p[i].size));
        assert_true(p[i].x >= 0 && p[i].x <= (float)width && p[i].y >= 0 && p[i].y <= (float)height);
        assert_true(p[i].size >= patch && p[i].level >= 0.0f);
        assert_true(fabsf(patch * exp2f(p[i].level) - p[i].size) < 1e-4f * p[i].size);
        assert_true(p[i].column == -1 && p[i].row == -1);
    }
    assert_int_equal(
        tvlm_foveated_place(width, height, wanted, given, params, &test_log, MOST, again, &count), TVLM_OK);
    assert_memory_equal(p, again, (size_t)count * sizeof *p);
    const int32_t longer = width > height ? width : height, shorter = width < height ? width : height;
    if ((k > 1 && k < 5) || longer > 20 * shorter) return;
    if (2.0f * patch > (float)shorter) return; /* nor where there is hardly room for them */
    const cover c = measure(width, height, p, count);
    if (c.once < 0.95 || c.twice > 0.25)
        fail_msg("%dx%d, K %d: %g covered, %g twice", (int)width, (int)height, (int)k, c.once, c.twice);
}

/* Random shapes, K, fixations, e0, patches, either arrangement. */
static void test_place(void **state) {
    uint64_t random = 31;
    (void)state;
    for (int n = 0; n < (test_small() ? 8 : 150); ++n) {
        const int32_t width = 1 + (int32_t)(test_random(&random) % 2000);
        const int32_t height = n % 3 == 0
                                   ? 1 + (int32_t)(test_random(&random) % 60)
                                   : (int32_t)((float)width * (0.34f + 2.6f * test_random_unit(&random))) + 1;
        const float patch = (float)(1 + test_random(&random) % 20);
        const double room = fmax(1, floor((double)width * height / ((double)patch * (double)patch)));
        const int32_t k = 1 + (int32_t)fmin(fmin(room, MOST) - 1, (double)(test_random(&random) % 700));
        float fixations[10];
        for (int i = 0; i < 10; ++i)
            fixations[i] = (float)(i % 2 == 0 ? width : height) * test_random_unit(&random);
        if (n % 7 == 0) fixations[2] = fixations[0], fixations[3] = fixations[1]; /* twice the same */
        if (n % 5 == 0) fixations[0] = 0.0f, fixations[1] = (float)height;        /* a corner */
        check_place(width, height, k, patch,
                    tvlm_foveated_params(.fixations = fixations, .fixation_count = n % 6,
                                         .e0 = n % 4 == 0 ? 0.0f : 0.05f + test_random_unit(&random),
                                         .arrangement = n % 2 == 0 ? TVLM_ARRANGEMENT_SUNFLOWER
                                                                   : TVLM_ARRANGEMENT_LOG_POLAR),
                    k);
    }
    check_place(1024, 1024, 0, 0.0f, NULL, 273);
    check_place(80, 50, 0, 0.0f, NULL, 15); /* as many as there is room for */
    for (int32_t k = 1; k <= 80; ++k)
        for (int arrangement = 0; arrangement < 2; ++arrangement)
            check_place(k % 3 == 0 ? 900 : 2000, k % 3 == 1 ? 103 : 1000, k, 0.0f,
                        tvlm_foveated_params(.arrangement = (tvlm_arrangement)arrangement), k);
    check_place(1, 1, 1, 0.0f, NULL, 1);
    check_place(3, 4000, 1, 0.0f, NULL, 1);
}

/* Squares grow as e + e0; the density of the positions is that of M(e)^2. */
static void test_law(void **state) {
    static tvlm_position p[MOST];
    const double half = hypot(1600, 1600) / 2, e0 = 0.2 * half;
    int32_t count, near = 0;
    (void)state;
    assert_int_equal(tvlm_foveated_place(1600, 1600, 500, 0.0f, NULL, NULL, MOST, p, &count), TVLM_OK);
    for (int32_t i = 0; i < count; ++i) {
        const double e = hypot((double)p[i].x - 800, (double)p[i].y - 800);
        const double first = hypot((double)p[0].x - 800, (double)p[0].y - 800);
        /* Sizes are set after the last move: exactly by the law. */
        assert_true(fabs((double)p[i].size / (e + e0) - (double)p[0].size / (first + e0)) <
                    1e-4 * (double)p[i].size / (e + e0));
        near += e < 400;
    }
    /* The integral of 2 pi r / (r + e0)^2 to 400, over that of the whole square (numerically, 0.4906). */
    double inside = 0, all = 0;
    for (int32_t i = 0; i < 400 * 400; ++i) {
        const double e = hypot((i % 400 + 0.5) * 4 - 800, (i / 400 + 0.5) * 4 - 800),
                     density = 1 / ((e + e0) * (e + e0));
        all += density;
        if (e < 400) inside += density;
    }
    if (fabs((double)near / count - inside / all) > 0.03)
        fail_msg("%g of the positions within 400 pixels; the law says %g", (double)near / count,
                 inside / all);
}

#define REFUSE_PLACE(LINE, W, H, K, PATCH, ...)                                                              \
    refused(                                                                                                 \
        tvlm_foveated_place(W, H, K, PATCH, tvlm_foveated_params(__VA_ARGS__), &test_log, MOST, p, &count),  \
        TVLM_ERROR_ARGUMENT, LINE)

static void test_place_refusals(void **state) {
    static tvlm_position p[MOST];
    static const float outside[] = {10, 101}, nan[] = {NAN, 1};
    int32_t count;
    (void)state;
    REFUSE_PLACE("k is -1", 100, 100, -1, 0, 0);
    REFUSE_PLACE("room for 39 patches", 100, 100, 40, 0, 0);
    REFUSE_PLACE("room for 1500 positions; there are 1501", 2000, 2000, 1501, 0, 0);
    REFUSE_PLACE("fixation at 10,101", 100, 100, 0, 0, .fixations = outside, .fixation_count = 1);
    REFUSE_PLACE("fixation at nan,1", 100, 100, 0, 0, .fixations = nan, .fixation_count = 1);
    REFUSE_PLACE("65 fixations", 100, 100, 0, 0, .fixations = outside, .fixation_count = 65);
    REFUSE_PLACE("e0 is -1", 100, 100, 0, 0, .e0 = -1.0f);
    REFUSE_PLACE("e0 is nan", 100, 100, 0, 0, .e0 = NAN);
    REFUSE_PLACE("a patch of -2", 100, 100, 0, -2.0f, 0);
    REFUSE_PLACE("no arrangement 2", 100, 100, 0, 0, .arrangement = (tvlm_arrangement)2);
    REFUSE_PLACE("image of 0x5", 0, 5, 1, 0, 0);
    assert_int_equal(tvlm_foveated_place(9, 9, 0, 0, NULL, NULL, 1, NULL, &count), TVLM_ERROR_ARGUMENT);
}

/* ---- The strategy ---- */

static void check_foveated(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = spot(device, format);
    static const float fixation[] = {40, 150};
    tvlm_selection *selection = NULL;
    tvlm_selection_info info;
    int32_t count;
    for (int given = 0; given < 2; ++given) {
        const float x = given ? fixation[0] : 230, y = given ? fixation[1] : 90;
        assert_int_equal(
            tvlm_select(stack, NULL,
                        tvlm_select_params(.strategy = TVLM_STRATEGY_FOVEATED, .k = 100, .patch = 8,
                                           .foveated.fixations = given ? fixation : NULL,
                                           .foveated.fixation_count = given),
                        &selection),
            TVLM_OK);
        const tvlm_position *p = tvlm_selection_positions(selection, &count);
        tvlm_selection_get_info(selection, &info);
        assert_int_equal(count, 100);
        assert_true(info.columns == 0 && info.rows == 0 && info.strategy == TVLM_STRATEGY_FOVEATED);
        assert_true(info.width == WIDTH && info.height == HEIGHT);
        const tvlm_position *smallest = p;
        for (int32_t i = 0; i < count; ++i) {
            assert_true(isfinite(p[i].score) && (i == 0 || p[i].score <= p[i - 1].score));
            if (p[i].size < smallest->size) smallest = &p[i];
        }
        /* The peak is one of cells of 19 pixels in a square of 60; the nearest square is some pixels off. */
        assert_true(hypotf(smallest->x - x, smallest->y - y) < (given ? 20.0f : 50.0f));
        const cover c = measure(WIDTH, HEIGHT, p, count);
        assert_true(c.once >= 0.95 && c.twice <= 0.25);
        tvlm_selection_destroy(&selection);
    }
    tvlm_stack_destroy(&stack);
}

static void test_refusals(void **state) {
    static const float outside[] = {301, 10};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = spot(device, TVLM_FORMAT_F32);
    tvlm_selection *selection = NULL;
    (void)state;
    refused(tvlm_select(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_FOVEATED, .k = 235),
                        &selection),
            TVLM_ERROR_ARGUMENT, "room for 234 patches");
    refused(tvlm_select(stack, NULL,
                        tvlm_select_params(.strategy = TVLM_STRATEGY_FOVEATED, .best.min_distance = 3),
                        &selection),
            TVLM_ERROR_ARGUMENT,
            "min_distance is for the strategy grid, exhaustive and cascade, not for foveated");
    refused(tvlm_select(stack, NULL,
                        tvlm_select_params(.strategy = TVLM_STRATEGY_FOVEATED, .foveated.fixations = outside,
                                           .foveated.fixation_count = 1),
                        &selection),
            TVLM_ERROR_ARGUMENT, "fixation at 301,10");
    refused(tvlm_select(stack, NULL,
                        tvlm_select_params(.strategy = TVLM_STRATEGY_FOVEATED, .foveated.fixation_count = 1),
                        &selection),
            TVLM_ERROR_ARGUMENT, "1 fixations, but no array of them");
    assert_null(selection);
    assert_int_equal(tvlm_strategy_find("foveated"), TVLM_STRATEGY_FOVEATED);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

DEVICE_CHECKS(check_foveated)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place),          cmocka_unit_test(test_law),
        cmocka_unit_test(test_place_refusals), cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16),  cmocka_unit_test(test_targets),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
