/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_visual.c: edges, edges_inv, high, low against the reference.
 */
#include "support_stage.h"

static const char *const names[4] = {"edges", "edges_inv", "high", "low"};

/*
 * Sums of at most 25 products of [0, 1] in float, each rounded (6e-8), against double: some 1e-7. edges: sqrt
 * is 3 ulp, and near 0 takes the root of a cancelled difference, hence ten times that.
 */
static const test_tolerance tolerances[4] = {{1e-6f, 1e-7f, TEST_HALF_ULP},
                                             {1e-6f, 1e-7f, TEST_HALF_ULP},
                                             {5e-7f, 1e-7f, TEST_HALF_ULP},
                                             {5e-7f, 1e-7f, TEST_HALF_ULP}};

static void visual(const test_target *target, tvlm_device *reference) {
    test_family(target, reference, TVLM_GRID_VISUAL, names, tolerances);
}

static void tuned(const test_target *target, tvlm_device *reference) {
    test_with_tunings(target, reference, visual);
}

static void test_visual(void **state) {
    (void)state;
    test_on_targets(tuned);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_visual)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
