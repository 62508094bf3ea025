/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_descend.c: the path of the descent, step by step, against numbers that were found once: through a bent valley, over a
 * corner, and from where a function bends downwards. All of it is sums, products and roots, which are the same everywhere.
 */
#include <math.h>
#include <string.h>

#include "lab/descend.h"
#include "support.h"

enum { SIZE = 5 };

static int calls; /* of the function */

/* Rosenbrock's valley. */
static double valley(void *user, const double *at, double *gradient) {
    double sum = 0.0;
    (void)user;
    ++calls;
    for (int i = 0; i < SIZE; ++i) gradient[i] = 0.0;
    for (int i = 0; i + 1 < SIZE; ++i) {
        const double up = at[i + 1] - at[i] * at[i], off = 1.0 - at[i];
        sum += 20.0 * up * up + off * off;
        gradient[i] -= 80.0 * up * at[i] + 2.0 * off;
        gradient[i + 1] += 40.0 * up;
    }
    return sum;
}

/* A bowl with an edge: where the first two numbers are equal the slope jumps. */
static double edge(void *user, const double *at, double *gradient) {
    const double across = at[0] - at[1];
    double sum = 3.0 * fabs(across);
    (void)user;
    ++calls;
    for (int i = 0; i < SIZE; ++i) {
        sum += (i + 1) * (at[i] - i) * (at[i] - i);
        gradient[i] = 2.0 * (i + 1) * (at[i] - i);
    }
    gradient[0] += across > 0.0 ? 3.0 : -3.0;
    gradient[1] -= across > 0.0 ? 3.0 : -3.0;
    return sum;
}

/* A hill at 0 between two valleys, in each direction, and some more in the sum of them. */
static double hill(void *user, const double *at, double *gradient) {
    double sum = 0.0, all = 0.0;
    (void)user;
    ++calls;
    for (int i = 0; i < SIZE; ++i) all += at[i];
    for (int i = 0; i < SIZE; ++i) {
        const double square = at[i] * at[i];
        sum += square * square / 4.0 - square / (2.0 + i);
        gradient[i] = square * at[i] - 2.0 * at[i] / (2.0 + i) + 0.2 * all;
    }
    return sum + 0.1 * all * all;
}

/* A plane: the first step is limited to the length 1 where the slope is steeper. */
static double slant(void *user, const double *at, double *gradient) {
    const double *const slope = user;
    double sum = 0.0;
    ++calls;
    for (int i = 0; i < SIZE; ++i) {
        sum += slope[i] * at[i];
        gradient[i] = slope[i];
    }
    return sum;
}

typedef struct row {
    const char *what;
    tvlm_slope *function;
    double begin[SIZE];
    int32_t steps;
    int calls;
    double value, place; /* the sum of (i + 1) at[i] */
} row;

static const row rows[] = {
    {"valley", valley, {-1.2, 1.0, 0.5, -0.7, 2.0}, 0, 1, 80.504, 9.5},
    {"valley", valley, {-1.2, 1.0, 0.5, -0.7, 2.0}, 1, 2, 43.1221786763, 3.81088745272},
    {"valley", valley, {-1.2, 1.0, 0.5, -0.7, 2.0}, 2, 3, 30.0684493807, 3.78605932465},
    {"valley", valley, {-1.2, 1.0, 0.5, -0.7, 2.0}, 3, 4, 22.8708254938, 2.18933240574},
    {"valley", valley, {-1.2, 1.0, 0.5, -0.7, 2.0}, 6, 8, 4.26062606925, 0.24927212577},
    {"valley", valley, {-1.2, 1.0, 0.5, -0.7, 2.0}, 11, 14, 3.42990774592, 2.00141989275},
    {"valley", valley, {-1.2, 1.0, 0.5, -0.7, 2.0}, 14, 18, 1.7199652256, 3.96311004435},
    {"valley", valley, {-1.2, 1.0, 0.5, -0.7, 2.0}, 24, 30, 0.038453033307, 13.0578343052},
    {"valley", valley, {-1.2, 1.0, 0.5, -0.7, 2.0}, 1000, 41, 1.61708168266e-18, 15.0000000066},
    {"edge", edge, {4.0, -3.0, 2.5, 1.0, 9.0}, 4, 5, 1.51200293055, 40.6934945076},
    {"edge", edge, {4.0, -3.0, 2.5, 1.0, 9.0}, 8, 14, 0.796362558003, 40.6681212431},
    {"edge", edge, {4.0, -3.0, 2.5, 1.0, 9.0}, 20, 37, 0.66729628583, 39.9672978537},
    {"edge", edge, {4.0, -3.0, 2.5, 1.0, 9.0}, 1000, 114, 0.666666668722, 39.9999895389},
    {"hill", hill, {0.01, -0.02, 0.015, 0.001, -0.03}, 1, 2, -0.00097518036884, -0.101426795667},
    {"hill", hill, {0.01, -0.02, 0.015, 0.001, -0.03}, 3, 4, -0.00850139436274, -0.145269929736},
    {"hill", hill, {0.01, -0.02, 0.015, 0.001, -0.03}, 9, 11, -0.409249616227, -2.61034051225},
    {"hill", hill, {0.01, -0.02, 0.015, 0.001, -0.03}, 1000, 24, -0.486398877617, -3.33836512134},
    {"hill", hill, {1.0, 2.0, -3.0, 4.0, 1.5}, 5, 6, 0.149347593594, 5.87523583676},
    {"hill", hill, {1.0, 2.0, -3.0, 4.0, 1.5}, 1000, 31, -0.490888315741, -4.7260138556},
};

static void takes_the_same_path(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const row *const r = &rows[i];
        double at[SIZE + 1], least = NAN, place = 0.0;
        memcpy(at, r->begin, sizeof r->begin);
        at[SIZE] = 7.0;
        calls = 0;
        assert_int_equal(tvlm_descend(&test_log, r->function, NULL, SIZE, r->steps, at, &least), TVLM_OK);
        for (int j = 0; j < SIZE; ++j) place += (j + 1) * at[j];
        assert_true(at[SIZE] == 7.0);
        if (calls != r->calls || !(fabs(least - r->value) <= 1e-9 * (fabs(r->value) + 1e-6)) ||
            !(fabs(place - r->place) <= 1e-9 * (fabs(r->place) + 1e-6)))
            fail_msg("%s, %d steps: {%d, %.12g, %.12g}", r->what, (int)r->steps, calls, least, place);
    }
}

/* The first step goes down the slope, by its length or by 1, whichever is less. */
static void limits_the_first_step(void **state) {
    double steep[SIZE] = {3.0, 0.0, -4.0, 0.0, 0.0}, flat[SIZE] = {0.0, 0.6, 0.0, 0.0, -0.8};
    double at[SIZE] = {0.0}, least = 0.0;
    (void)state;
    assert_int_equal(tvlm_descend(&test_log, slant, steep, SIZE, 1, at, &least), TVLM_OK);
    assert_true(fabs(at[0] + 0.6) < 1e-12 && fabs(at[2] - 0.8) < 1e-12 && fabs(least + 5.0) < 1e-12);
    memset(at, 0, sizeof at);
    assert_int_equal(tvlm_descend(&test_log, slant, flat, SIZE, 1, at, NULL), TVLM_OK);
    assert_true(fabs(at[1] + 0.6) < 1e-12 && fabs(at[4] - 0.8) < 1e-12);
    flat[1] = 0.3, flat[4] = -0.4;
    memset(at, 0, sizeof at);
    assert_int_equal(tvlm_descend(&test_log, slant, flat, SIZE, 1, at, NULL), TVLM_OK);
    assert_true(fabs(at[1] + 0.3) < 1e-12 && fabs(at[4] - 0.4) < 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(takes_the_same_path),
                                       cmocka_unit_test(limits_the_first_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
