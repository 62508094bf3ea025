/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_detail.c: laplacian and entropy against the reference.
 */
#include "support_stage.h"

static const char *const laplacian_names[4] = {"laplacian", "component 1", "component 2", "component 3"};
static const char *const entropy_names[4] = {"entropy", "component 1", "component 2", "component 3"};

/* Five values of [0, 1] in float against double. */
static const test_tolerance laplacian_tolerances[4] = {{3e-7f, 5e-8f, TEST_HALF_ULP}};

/*
 * Luma is identical, times 16 exact, so every device counts the same bins: a pixel in another bin would be at
 * least 1e-3 in a cell of 256. What is left is log2 (3 ulp) and 16 terms of at most 0.53 over 4.
 */
static const test_tolerance entropy_tolerances[4] = {{1e-6f, 3e-7f, TEST_HALF_ULP}};

static void laplacian(const test_target *target, tvlm_device *reference) {
    test_family(target, reference, TVLM_GRID_LAPLACIAN, laplacian_names, laplacian_tolerances);
}

static void entropy(const test_target *target, tvlm_device *reference) {
    test_family(target, reference, TVLM_GRID_ENTROPY, entropy_names, entropy_tolerances);
}

static void detail(const test_target *target, tvlm_device *reference) {
    test_with_tunings(target, reference, laplacian);
    test_with_tunings(target, reference, entropy);
}

static void test_detail(void **state) {
    (void)state;
    test_on_targets(detail);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_detail)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
