/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_shapes.c: polygons are filled as the even-odd rule says, wherever their points lie, and nothing
 * outside of the mask is touched. tools/lab/uses/shapes.c is compiled into this program.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shapes.h"
#include "support.h"

enum { WIDTH = 37, HEIGHT = 29, GUARD = 4096 };

/* A mask with a guard before and behind it. */
static uint8_t memory[GUARD + WIDTH * HEIGHT + GUARD];
static const shape_mask mask = {memory + GUARD, WIDTH, HEIGHT, 1};

static void clear(void) {
    memset(memory, 77, sizeof memory);
    memset(mask.pixels, 0, WIDTH * HEIGHT);
}

static void check_guard(void) {
    for (size_t i = 0; i < GUARD; ++i) {
        assert_int_equal(memory[i], 77);
        assert_int_equal(memory[GUARD + WIDTH * HEIGHT + i], 77);
    }
    for (size_t i = 0; i < WIDTH * HEIGHT; ++i) assert_true(mask.pixels[i] <= 1);
}

static double uniform(uint64_t *state, double from, double to) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return from + (to - from) * (double)(*state >> 11) / 9007199254740992.0;
}

/* By definition: a ray to the left from the pixel's centre crosses the outline an odd number of times. */
static bool is_inside(const double *xy, int points, double x, double y) {
    int crossings = 0;
    for (int i = 0; i < points; ++i) {
        const double *const a = xy + 2 * i, *const b = xy + 2 * ((i + 1) % points);
        if ((a[1] <= y) != (b[1] <= y)) crossings += a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1]) <= x;
    }
    return crossings % 2 == 1;
}

static void polygons_are_even_odd(void **state) {
    uint64_t random = 5;
    double xy[2 * 24];
    (void)state;
    for (int run = 0; run < 3000; ++run) {
        const int points = 3 + run % 22;
        const double far = run % 3 == 0 ? 200.0 : 5.0;
        for (int i = 0; i < 2 * points; i += 2) {
            xy[i] = uniform(&random, -far, WIDTH + far);
            xy[i + 1] = uniform(&random, -far, HEIGHT + far);
            if (run % 5 == 0) xy[i] = floor(2.0 * xy[i]) / 2.0; /* through centres and corners */
            if (run % 5 == 0) xy[i + 1] = floor(2.0 * xy[i + 1]) / 2.0;
        }
        clear();
        shape_polygon(&mask, xy, points);
        check_guard();
        for (int y = 0; y < HEIGHT; ++y)
            for (int x = 0; x < WIDTH; ++x)
                if (mask.pixels[y * WIDTH + x] != is_inside(xy, points, x + 0.5, y + 0.5))
                    fail_msg("run %d: pixel %d, %d", run, x, y);
    }
}

/* Drawing over another shape leaves what is outside of the polygon as it is. */
static void keeps_what_is_there(void **state) {
    const double xy[] = {10, 10, 20, 10, 20, 20, 10, 20};
    (void)state;
    clear();
    shape_box(&mask, 0, 0, 12, 12);
    shape_polygon(&mask, xy, 4);
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x)
            assert_int_equal(mask.pixels[y * WIDTH + x],
                             (x < 12 && y < 12) || (x >= 10 && x < 20 && y >= 10 && y < 20));
}

/* Differences of these overflow, and what is made of them is not a number. */
static void huge_numbers_stay_inside(void **state) {
    static const double values[] = {-1.7e308, -1e308, -1e300, -1e18,   0.0,      3.5,       20.0, 1e10,
                                    1e18,     1e300,  1e308,  1.7e308, INFINITY, -INFINITY, NAN};
    enum { COUNT = sizeof values / sizeof *values };
    uint64_t random = 9;
    double xy[2 * 6];
    (void)state;
    for (int run = 0; run < 20000; ++run) {
        for (int i = 0; i < 12; ++i) xy[i] = values[(int)uniform(&random, 0.0, COUNT)];
        clear();
        shape_polygon(&mask, xy, 3 + run % 4);
        shape_box(&mask, xy[0], xy[1], xy[2], xy[3]);
        check_guard();
    }
    /* A square that holds the whole mask does so at any size. */
    for (double far = 100.0; far < 1.7e308; far *= 1e10) {
        const double square[] = {-far, -far, far, -far, far, far, -far, far};
        clear();
        shape_polygon(&mask, square, 4);
        for (int i = 0; i < WIDTH * HEIGHT; ++i) assert_int_equal(mask.pixels[i], 1);
    }
    /* A slanted edge whose differences are not finite goes through the origin. */
    const double triangle[] = {-1.7e308, -1.7e308, 1.7e308, -1.7e308, 1.7e308, 1.7e308};
    clear();
    shape_polygon(&mask, triangle, 3);
    assert_int_equal(mask.pixels[WIDTH - 1], 1);
}

/* 100,000 points of which every edge goes through a third of the rows: it took minutes. */
static void many_points_take_no_minutes(void **state) {
    enum { SIDE = 3000, POINTS = 100000 };
    double *const xy = malloc(2 * POINTS * sizeof *xy);
    const shape_mask large = {calloc(SIDE, SIDE), SIDE, SIDE, 1};
    uint64_t random = 3;
    size_t inside = 0;
    (void)state;
    assert_non_null(xy);
    assert_non_null(large.pixels);
    for (int i = 0; i < 2 * POINTS; ++i) xy[i] = uniform(&random, 0.0, SIDE);
    const clock_t begin = clock();
    shape_polygon(&large, xy, POINTS);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (seconds > 20.0) fail_msg("%g seconds", seconds);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; ++i) inside += large.pixels[i];
    assert_true(inside > (size_t)SIDE * SIDE / 3 && inside < (size_t)SIDE * SIDE * 2 / 3);
    free(large.pixels);
    free(xy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polygons_are_even_odd),
        cmocka_unit_test(keeps_what_is_there),
        cmocka_unit_test(huge_numbers_stay_inside),
        cmocka_unit_test(many_points_take_no_minutes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
