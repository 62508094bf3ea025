/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_spacing.c: points that keep a distance (select/spacing.h) against all pairs, for sides of buckets that
 * fit the distance and larger ones; and no more buckets than the image needs.
 */
#include <math.h>
#include <stdlib.h>

#include "select/spacing.h"
#include "support.h"

static double between(uint64_t *random, double high) {
    return high * (double)(test_random(random) % 100000) / 100000.0;
}

/* Some points lie just as far from another one as they must: these are taken. */
static void compare(uint64_t *random, float distance, float side, int32_t width, int32_t height) {
    enum { POINTS = 400 };
    static double x[POINTS], y[POINTS];
    tvlm_spacing spacing;
    int32_t count = 0, refused = 0;
    assert_true(tvlm_spacing_make(&spacing, distance, side, width, height, POINTS));
    assert_int_equal(spacing.columns, (int32_t)floor((double)width / (double)side) + 1);
    assert_int_equal(spacing.rows, (int32_t)floor((double)height / (double)side) + 1);
    for (int i = 0; i < POINTS; ++i) {
        double at_x = between(random, width), at_y = between(random, height);
        bool near = false;
        if (count > 0 && i % 4 == 0) {
            const int32_t other = (int32_t)(test_random(random) % (uint64_t)count);
            at_x = x[other] + (i % 8 == 0 ? (double)distance : 0.0);
            at_y = y[other] - (i % 8 == 0 ? 0.0 : (double)distance);
            if (at_x > width || at_y < 0.0) continue;
        }
        for (int32_t j = 0; j < count; ++j) near = near || hypot(x[j] - at_x, y[j] - at_y) < (double)distance;
        assert_int_equal(tvlm_spacing_add(&spacing, at_x, at_y), !near);
        refused += near;
        if (near) continue;
        x[count] = at_x;
        y[count++] = at_y;
    }
    assert_int_equal(spacing.count, count);
    assert_true(count > 1 && (refused > 0 || distance < 2.0f));
    tvlm_spacing_free(&spacing);
    assert_null(spacing.head);
}

static void test_against_all_pairs(void **state) {
    uint64_t random = 3;
    (void)state;
    for (int turn = 0; turn < 5; ++turn) {
        compare(&random, 1.0f, 1.0f, 40, 30);
        compare(&random, 5.5f, 5.5f, 64, 48);
        compare(&random, 7.0f, 16.0f, 100, 41);
        compare(&random, 30.0f, 30.0f, 200, 90);
        compare(&random, 3.0f, 400.0f, 150, 150);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_all_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
