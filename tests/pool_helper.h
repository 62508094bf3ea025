/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_helper.h: what the tests of pools share: pictures, and selections that must be equal.
 */
#ifndef TVLM_TESTS_POOL_HELPER_H
#define TVLM_TESTS_POOL_HELPER_H

#include <stdio.h>
#include <string.h>

#include "log_helper.h"

/* ---- Pictures, and what is selected on them ---- */

enum { PICTURES = 14, PICTURE_MAX = 96 * 64 * 4 };

/* Pictures of three shapes, some in runs and some in turn. */
static uint8_t picture_bytes[PICTURES][PICTURE_MAX];
static tvlm_image pictures[PICTURES];

static inline void make_pictures(void) {
    static const int32_t shapes[3][3] = {{96, 64, 3}, {70, 55, 3}, {40, 64, 1}};
    uint64_t seed = 21;
    for (int i = 0; i < PICTURES; ++i) {
        const int32_t *shape = shapes[i < 6 ? 0 : i % 3];
        uint8_t *made = test_random_pixels(&seed, shape[0], shape[1], shape[2]);
        memcpy(picture_bytes[i], made, (size_t)(shape[0] * shape[1] * shape[2]));
        free(made);
        pictures[i] = (tvlm_image){
            .pixels = picture_bytes[i], .width = shape[0], .height = shape[1], .channels = shape[2]};
    }
}

static const struct tvlm_stack_params small_stack = {.layout = "r,g,b,edges,entropy,saliency"};
static const struct tvlm_select_params few_places = {
    .k = 9, .strategy = TVLM_STRATEGY_GRID, .score = {.stride = 8}};

/* One picture on one device. */
static inline tvlm_status select_one(tvlm_device *device, int number, const struct tvlm_select_params *params,
                                     tvlm_selection **selection) {
    tvlm_stack *stack = NULL;
    tvlm_status status = tvlm_stack_create_for_image(device, &pictures[number], &small_stack, &stack);
    if (status == TVLM_OK) status = tvlm_select(stack, NULL, params, selection);
    tvlm_stack_destroy(&stack);
    return status;
}

/* The selections on one device: what a pool has to give, bit for bit. */
static inline void select_alone(const char *name, const struct tvlm_select_params *params,
                                tvlm_selection *selections[PICTURES]) {
    tvlm_device *device = NULL;
    if (tvlm_device_open(tvlm_device_params(.name = name, .log = &noting), &device) != TVLM_OK)
        fail_msg("%s", said.last);
    for (int i = 0; i < PICTURES; ++i)
        if (select_one(device, i, params, &selections[i]) != TVLM_OK) fail_msg("%s", said.last);
    tvlm_device_destroy(&device);
}

static inline void destroy_selections(tvlm_selection *selections[PICTURES]) {
    for (int i = 0; i < PICTURES; ++i) tvlm_selection_destroy(&selections[i]);
}

static inline void check_same_places(tvlm_selection *const got[PICTURES],
                                     tvlm_selection *const expected[PICTURES]) {
    for (int i = 0; i < PICTURES; ++i) {
        int32_t count = 0, others = 0;
        const tvlm_position *a = tvlm_selection_positions(got[i], &count);
        const tvlm_position *b = tvlm_selection_positions(expected[i], &others);
        if (count != others || count == 0 || memcmp(a, b, (size_t)count * sizeof *a) != 0)
            fail_msg("picture %d: %d other positions than the %d of one device", i, (int)count, (int)others);
    }
}

#endif
