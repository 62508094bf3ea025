/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sides_helper.h: sides of patches that the strategy `budget` is tested with: the smallest and the largest, what cannot
 * be divided by 4 or by 2, and those that encoders have.
 */
#ifndef TVLM_TESTS_SIDES_HELPER_H
#define TVLM_TESTS_SIDES_HELPER_H

#include "support.h"

static const int32_t all_sides[] = {14, 4, 16, 63, 28, 5, 6, 7, 9, 15, 18, 21, 42, 64};

/* The sides for a device, and how many they are: each takes it a second to compile, and an interpreter minutes. */
static inline const int32_t *sides_for_devices(size_t *count) {
    *count = test_small() ? 2 : test_quick() ? 5 : sizeof all_sides / sizeof *all_sides;
    return all_sides;
}

#endif
