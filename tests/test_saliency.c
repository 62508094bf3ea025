/*
 * test_saliency.c: saliency and its three scales against the reference, from identical levels of the source.
 */
#include "support_stage.h"

static const char *const names[4] = {"saliency", "saliency_fine", "saliency_mid", "saliency_coarse"};

/*
 * L*a*b* in float: pow is 16 ulp, cbrt 2 ulp, then 500 * a difference of values near 1: some 1e-4 of a distance of 100,
 * so 1e-6 before the division by the image's largest contrast, which is above 0.02 in these pictures (that of the flat
 * one is below the floor, and all is 0).
 */
static const test_tolerance tolerances[4] = {{5e-5f, 1e-5f, TEST_HALF_ULP},
                                             {5e-5f, 1e-5f, TEST_HALF_ULP},
                                             {5e-5f, 1e-5f, TEST_HALF_ULP},
                                             {5e-5f, 1e-5f, TEST_HALF_ULP}};

static void saliency(const test_target *target, tvlm_device *reference) {
    test_family(target, reference, TVLM_GRID_SALIENCY, names, tolerances);
}

static void test_saliency(void **state) {
    (void)state;
    test_on_targets(saliency);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_saliency)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
