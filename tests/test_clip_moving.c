/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_clip_moving.c: how much more what moves counts.
 */
#include "clip/inside.h"
#include "support.h"

enum { TILES = 4, PATCH = 16, SLOT = 2 };
static const double LEVEL = 8.0 / 255.0; /* the error at which m is one half */

/* The losses of tiles whose pixels are off by so many levels of 8. */
static void lose(const double levels[TILES], float parts[2 * TILES]) {
    for (int i = 0; i < TILES; ++i) {
        parts[2 * i + TVLM_BUDGET_ERROR] =
            (float)(PATCH * PATCH * SLOT * levels[i] * levels[i] * LEVEL * LEVEL);
        parts[2 * i + TVLM_BUDGET_DETAIL] = 1e9f; /* which says nothing about motion */
    }
}

static void check(float emphasis, const double *came, const double *goes, const double expected[TILES]) {
    const tvlm_clip clip = {
        .params = {.emphasis = emphasis}, .patch = PATCH, .temporal = SLOT, .tiles = TILES};
    float before[2 * TILES], after[2 * TILES];
    double times[TILES] = {0.0};
    if (came != NULL) lose(came, before);
    if (goes != NULL) lose(goes, after);
    tvlm_clip_emphasise(&clip, came != NULL ? before : NULL, goes != NULL ? after : NULL, times);
    for (int i = 0; i < TILES; ++i) assert_true(fabs(times[i] - expected[i]) < 1e-3);
}

static void test_what_moves(void **state) {
    static const double still[TILES] = {0.0}, one[TILES] = {0.0, 1.0}, other[TILES] = {0.0, 0.0, 3.0};
    static const double all[TILES] = {1.0, 1.0, 1.0, 1.0};
    const double lone = 0.875 * 0.875; /* (1 - M)^2, where M is an eighth */
    const double both = (1.0 - 1.4 / 4.0) * (1.0 - 1.4 / 4.0);
    (void)state;
    check(4.0f, NULL, NULL, (double[]){1.0, 1.0, 1.0, 1.0});
    check(4.0f, still, still, (double[]){1.0, 1.0, 1.0, 1.0});
    check(4.0f, one, NULL, (double[]){1.0, 1.0 + 4.0 * 0.5 * lone, 1.0, 1.0});
    check(4.0f, NULL, one, (double[]){1.0, 1.0 + 4.0 * 0.5 * lone, 1.0, 1.0});
    check(4.0f, one, one, (double[]){1.0, 1.0 + 4.0 * 0.5 * lone, 1.0, 1.0}); /* the larger of both */
    check(4.0f, one, other, (double[]){1.0, 1.0 + 4.0 * 0.5 * both, 1.0 + 4.0 * 0.9 * both, 1.0});
    check(4.0f, all, NULL, (double[]){1.5, 1.5, 1.5, 1.5}); /* the camera moves */
}

static void test_emphases(void **state) {
    static const double one[TILES] = {0.0, 1.0};
    const double lone = 0.875 * 0.875;
    (void)state;
    check(TVLM_EXPLICIT_ZERO, one, one, (double[]){1.0, 1.0, 1.0, 1.0});
    check(0.0f, one, one, (double[]){1.0, 1.0 + 3.0 * 0.5 * lone, 1.0, 1.0}); /* the default */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_moves), cmocka_unit_test(test_emphases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
