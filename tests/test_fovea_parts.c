/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fovea_parts.c: the steps of placing positions around fixations, each by itself: distances and faults that can be counted
 * by hand, and where positions start and come to rest against numbers that were found once.
 */
#include <math.h>
#include <string.h>

#include "lab/foveated.h"
#include "support.h"

static void near(const char *what, double got, double expected, double tolerance) {
    if (!(fabs(got - expected) <= tolerance * (1.0 + fabs(expected))))
        fail_msg("%s: %.12g, not %.12g", what, got, expected);
}

static void measures_distances(void **state) {
    const tvlm_fovea three = {
        .width = 30, .height = 20, .x = {3, 12, 3}, .y = {4, 4, 16}, .fixations = 3, .e0 = 1};
    (void)state;
    near("the nearest is the first", tvlm_fovea_eccentricity(&three, 6, 8), 5, 1e-12);
    near("the nearest is the second", tvlm_fovea_eccentricity(&three, 15, 0), 5, 1e-12);
    near("the nearest is the last", tvlm_fovea_eccentricity(&three, 0, 20), 5, 1e-12);
    near("there", tvlm_fovea_eccentricity(&three, 12, 4), 0, 1e-12);
    near("to the left", tvlm_fovea_reach(&three, 0, -1, 0), 3, 1e-12);
    near("up", tvlm_fovea_reach(&three, 0, 0, -1), 4, 1e-12);
    near("to the right, halfway to the second", tvlm_fovea_reach(&three, 0, 1, 0), 4.5, 1e-12);
    near("down, halfway to the last", tvlm_fovea_reach(&three, 0, 0, 1), 6, 1e-12);
    near("to the right of the second", tvlm_fovea_reach(&three, 1, 1, 0), 18, 1e-12);
    near("down from the last", tvlm_fovea_reach(&three, 2, 0, 1), 4, 1e-12);
    near("aslant", tvlm_fovea_reach(&three, 0, 0.6, 0.8), 7.5,
         1e-12); /* 144 / (2 * 12 * 0.8); 81 / (2 * 9 * 0.6) */
    near("aslant, to the side", tvlm_fovea_reach(&three, 1, 0.8, -0.6), 4 / 0.6, 1e-12);
    const tvlm_fovea corner = {.width = 30, .height = 20, .x = {30}, .y = {0}, .fixations = 1, .e0 = 1};
    near("out of the corner", tvlm_fovea_reach(&corner, 0, 1, 0), 0, 1e-12);
    near("along the border", tvlm_fovea_reach(&corner, 0, -1, 0), 30, 1e-12);
    near("into the image", tvlm_fovea_reach(&corner, 0, -0.8, 0.6), 20 / 0.6, 1e-12);
}

/* Points are at the middles of 64 x 64 parts of the image. A square has those from its left and upper border on, but not those
 * on the other two. */
static void counts_faults(void **state) {
    const tvlm_fovea square = {.width = 64, .height = 64}, wide = {.width = 128, .height = 32};
    const tvlm_placed all = {32, 32, 64}, left = {16, 32, 64}, part = {7, 7, 7}, beyond = {-20, 30, 10},
                      corner = {64, 64, 9}, small = {20, 12, 0.9};
    (void)state;
    near("nothing", tvlm_fovea_fault(&square, 0, &all), 20, 1e-12);
    near("all", tvlm_fovea_fault(&square, 1, &all), 0, 1e-12);
    near("but for the right quarter", tvlm_fovea_fault(&square, 1, &left), 5, 1e-12);
    near("49 points", tvlm_fovea_fault(&square, 1, &part), 4047 / 204.8, 1e-12);
    near("none of them", tvlm_fovea_fault(&square, 1, &beyond), 20, 1e-12);
    near("a corner of 4.5 x 4.5", tvlm_fovea_fault(&square, 1, &corner), 4071 / 204.8, 1e-12);
    near("between points", tvlm_fovea_fault(&square, 1, &small), 20, 1e-12);
    const tvlm_placed twice[3] = {all, all, all}, half[2] = {all, left};
    near("all of it twice", tvlm_fovea_fault(&square, 2, twice), 4, 1e-12);
    near("all of it three times", tvlm_fovea_fault(&square, 3, twice), 4, 1e-12);
    near("three quarters of it twice", tvlm_fovea_fault(&square, 2, half), 3, 1e-12);
    const tvlm_placed low = {32, 16, 64}; /* of an image of 128 x 32: its left half */
    near("half of a wide image", tvlm_fovea_fault(&wide, 1, &low), 10, 1e-12);
    const tvlm_placed step = {65, 16.25, 1.5}; /* a point across, 3 down */
    near("3 points of a wide image", tvlm_fovea_fault(&wide, 1, &step), 4093 / 204.8, 1e-12);
}

typedef struct row {
    const char *what;
    bool rings;
    int32_t k;
    tvlm_fovea fovea;
    double spacing, begun[2]; /* the sums of x and y, each times the number of its place, when they begin */
    double ended[3];          /* and of x, y and size when they are spread */
} row;

#define ONE                                                                                                  \
    { .width = 200, .height = 150, .x = {100}, .y = {75}, .fixations = 1, .e0 = 25 }
#define THREE                                                                                                \
    {                                                                                                        \
        .width = 300, .height = 120, .x = {30, 200, 290}, .y = {40, 100, 5}, .fixations = 3, .e0 = 12,       \
        .turn = 0.5                                                                                          \
    }
#define BORDER                                                                                               \
    { .width = 90, .height = 400, .x = {0, 90}, .y = {0, 400}, .fixations = 2, .e0 = 3, .turn = 2 }
#define FLAT                                                                                                 \
    { .width = 100, .height = 80, .x = {41}, .y = {22}, .fixations = 1, .e0 = 1e7 }

static const row rows[] = {
    {"one", false, 1, ONE, 3.189309768, {200.0000001, 75}, {103.1861522, 75, 200}},
    {"one", false, 2, ONE, 1.917513715, {171.3064759, 375}, {266.068449, 234.3736142, 412.3857389}},
    {"one", false, 9, ONE, 0.7687593461, {5034.999522, 3390.805226}, {4299.397002, 3243.427614, 3157.725897}},
    {"one",
     false,
     150,
     ONE,
     0.1804856776,
     {1141407.423, 820701.2655},
     {1144954.189, 832897.7906, 201846.2331}},
    {"one",
     false,
     260,
     ONE,
     0.1376409236,
     {3390022.663, 2601943.637},
     {3390796.095, 2580559.121, 457883.9607}},
    {"one", true, 1, ONE, 984.9853461, {100, 75}, {100, 75, 200}},
    {"one", true, 11, ONE, 0.7093458206, {6735.281916, 4622.590509}, {6990.343975, 4372.042078, 4166.707057}},
    {"one", true, 210, ONE, 0.15413693, {2251547.655, 1624863.015}, {2247909.191, 1624448.951, 332171.4021}},
    {"three",
     false,
     3,
     THREE,
     2.301418302,
     {971.1820517, 285.0846116},
     {730.3275002, 401.3098187, 929.9424218}},
    {"three",
     false,
     60,
     THREE,
     0.5080633035,
     {284058.0709, 118748.6201},
     {277577.6925, 110933.3459, 56420.95343}},
    {"three",
     false,
     201,
     THREE,
     0.2707243092,
     {3046037.8, 1209477.163},
     {3047361.994, 1207752.348, 345660.4192}},
    {"three",
     true,
     60,
     THREE,
     0.518528833,
     {298199.6386, 111541.0368},
     {292503.0672, 111874.1794, 55797.03335}},
    {"border",
     false,
     40,
     BORDER,
     0.4698359059,
     {38566.57001, 158406.8767},
     {37390.44293, 164428.123, 31317.04595}},
    {"border",
     true,
     40,
     BORDER,
     0.4957468804,
     {36232.55754, 176161.069},
     {38822.58669, 174723.9084, 30957.48743}},
    {"flat",
     false,
     30,
     FLAT,
     1.663247102e-06,
     {26291.75995, 22335.16189},
     {25687.71377, 22197.06142, 8572.854154}},
    {"flat",
     true,
     30,
     FLAT,
     1.608006585e-06,
     {23342.11772, 21903.67795},
     {23741.7737, 22200.64006, 8592.957492}},
};

static void places_the_same(void **state) {
    (void)state;
    for (size_t n = 0; n < sizeof rows / sizeof *rows; ++n) {
        const row *const r = &rows[n];
        tvlm_placed placed[300 + 1];
        double spacing, begun[2] = {0}, ended[3] = {0};
        memset(placed, 0, sizeof placed);
        assert_true(
            (r->rings ? tvlm_fovea_log_polar : tvlm_fovea_sunflower)(&r->fovea, r->k, placed, &spacing));
        for (int32_t i = 0; i < r->k; ++i)
            begun[0] += (i + 1) * placed[i].x, begun[1] += (i + 1) * placed[i].y;
        assert_true(tvlm_fovea_spread(&r->fovea, spacing, r->k, placed));
        for (int32_t i = 0; i < r->k; ++i) {
            ended[0] += (i + 1) * placed[i].x;
            ended[1] += (i + 1) * placed[i].y;
            ended[2] += (i + 1) * placed[i].size;
        }
        assert_true(placed[r->k].x == 0.0 && placed[r->k].size == 0.0);
        const double got[6] = {spacing, begun[0], begun[1], ended[0], ended[1], ended[2]},
                     expected[6] = {r->spacing,  r->begun[0], r->begun[1],
                                    r->ended[0], r->ended[1], r->ended[2]};
        /* Places that are as far from two others move to one of these, which hangs on the last bit of a sine: Windows' has other ones. */
#ifdef _WIN32
        const double near = 2e-2;
#else
        const double near = 1e-6;
#endif
        for (int i = 0; i < 6; ++i)
            if (!(fabs(got[i] - expected[i]) <= (i < 3 ? 1e-6 : near) * fabs(expected[i])))
                fail_msg("%s, %d: %.10g, {%.10g, %.10g}, {%.10g, %.10g, %.10g}", r->what, (int)n, got[0],
                         got[1], got[2], got[3], got[4], got[5]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(measures_distances), cmocka_unit_test(counts_faults),
                                       cmocka_unit_test(places_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
