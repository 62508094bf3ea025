/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradient.c: edge_x, edge_y, rgb_var, rgb_mean against the reference.
 */
#include "kernels/family.h"

static const char *const names[4] = {"edge_x", "edge_y", "rgb_var", "rgb_mean"};

/*
 * Sums of at most 27 values of [0, 1] in float against double. The variance is 4 times a difference of
 * moments about the centre's gray, which are at most 1. Its error is 4 * 2^-23, and a few roundings of the
 * sums.
 */
static const test_tolerance tolerances[4] = {{5e-7f, 1e-7f, TEST_HALF_ULP},
                                             {5e-7f, 1e-7f, TEST_HALF_ULP},
                                             {2e-6f, 3e-7f, TEST_HALF_ULP},
                                             {5e-7f, 1e-7f, TEST_HALF_ULP}};

TEST_FAMILY(gradient, {"gradient", TEST_TUNED, .grid = TVLM_GRID_GRADIENT, .components = names,
                       .tolerances = tolerances})
