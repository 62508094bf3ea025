/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gradient.c: edge_x, edge_y, rgb_var, rgb_mean against the reference.
 */
#include "support_stage.h"

static const char *const names[4] = {"edge_x", "edge_y", "rgb_var", "rgb_mean"};

/*
 * Sums of at most 27 values of [0, 1] in float against double. The variance is a difference of moments about
 * the centre's gray, at most 1, times 4: 4 * 2^-23 and a few roundings of the sums.
 */
static const test_tolerance tolerances[4] = {{5e-7f, 1e-7f, TEST_HALF_ULP},
                                             {5e-7f, 1e-7f, TEST_HALF_ULP},
                                             {2e-6f, 3e-7f, TEST_HALF_ULP},
                                             {5e-7f, 1e-7f, TEST_HALF_ULP}};

static void gradient(const test_target *target, tvlm_device *reference) {
    test_family(target, reference, TVLM_GRID_GRADIENT, names, tolerances);
}

static void tuned(const test_target *target, tvlm_device *reference) {
    test_with_tunings(target, reference, gradient);
}

static void test_gradient(void **state) {
    (void)state;
    test_on_targets(tuned);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradient)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
