/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose_helper.h: a small selection on a device, and whether it is the reference's. For tests in which drivers fail.
 */
#ifndef TVLM_TESTS_CHOOSE_HELPER_H
#define TVLM_TESTS_CHOOSE_HELPER_H

#include <string.h>

#include "log_helper.h"

enum { SIDE = 48, K = 4 };

static uint8_t pixels[SIDE * SIDE * 3];
static const tvlm_image image = {.pixels = pixels, .width = SIDE, .height = SIDE, .channels = 3};

static inline void make_pixels(void) {
    uint64_t random = 5;
    uint8_t *made = test_random_pixels(&random, SIDE, SIDE, 3);
    memcpy(pixels, made, sizeof pixels);
    free(made);
}

static inline tvlm_status choose(tvlm_device *device, tvlm_position *positions) {
    tvlm_stack *stack = NULL;
    tvlm_selection *selection = NULL;
    int32_t count = 0;
    tvlm_status status =
        tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.layout = "edges,entropy"), &stack);
    if (status == TVLM_OK)
        status =
            tvlm_select(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = K), &selection);
    if (status == TVLM_OK) {
        const tvlm_position *found = tvlm_selection_positions(selection, &count);
        assert_int_equal(count, K);
        memcpy(positions, found, K * sizeof *positions);
    }
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    return status;
}

static inline tvlm_device *opened(const char *name) {
    tvlm_device *device = NULL;
    if (tvlm_device_open(tvlm_device_params(.name = name, .log = &noting), &device) != TVLM_OK)
        fail_msg("%s", said.last);
    return device;
}

static inline void check_reference(tvlm_device *device) {
    tvlm_position got[K], expected[K];
    tvlm_device *reference = opened("reference");
    assert_int_equal(choose(device, got), TVLM_OK);
    assert_int_equal(choose(reference, expected), TVLM_OK);
    for (int i = 0; i < K; ++i) assert_true(got[i].x == expected[i].x && got[i].y == expected[i].y);
    tvlm_device_destroy(&reference);
}

#endif
