/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail.c: laplacian and entropy against the reference.
 */
#include "kernels/family.h"

static const char *const laplacian_names[4] = {"laplacian", "component 1", "component 2", "component 3"};
static const char *const entropy_names[4] = {"entropy", "component 1", "component 2", "component 3"};

/* A sum of five values of [0, 1], in float against double. */
static const test_tolerance laplacian_tolerances[4] = {{3e-7f, 5e-8f, TEST_HALF_ULP}};

/*
 * Luma is identical on both sides, and its product with 16 is exact, so every device counts the same bins. A
 * pixel in another bin would change the entropy by at least 1e-3, in a cell of 256 pixels. What is left is
 * log2 (3 ulp), and a sum of 16 terms of at most 0.53, divided by 4.
 */
static const test_tolerance entropy_tolerances[4] = {{1e-6f, 3e-7f, TEST_HALF_ULP}};

TEST_FAMILY(detail,
            {"laplacian", TEST_TUNED, .grid = TVLM_GRID_LAPLACIAN, .components = laplacian_names,
             .tolerances = laplacian_tolerances},
            {"entropy", TEST_TUNED, .grid = TVLM_GRID_ENTROPY, .components = entropy_names,
             .tolerances = entropy_tolerances})
