/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_helper.h: what the tests of grids that are handed in share: random grids in memory, a small stack, and
 * what a channel of it has to hold.
 */
#ifndef TVLM_TESTS_INPUT_HELPER_H
#define TVLM_TESTS_INPUT_HELPER_H

#include "core/half.h"
#include "core/input.h"
#include "stack_helper.h"
#include "support_stage.h"

typedef struct grid_bytes {
    unsigned char *bytes;
    size_t size;
    tvlm_input input;
} grid_bytes;

/* Random values in rows with gaps behind an offset; one in sixteen not finite where asked. */
static inline grid_bytes random_grid(uint64_t *random, test_size size, int32_t channels, bool half,
                                     bool wild) {
    const size_t value = half ? 2 : 4;
    grid_bytes grid = {
        .input = {.columns = size.width, .rows = size.height, .channels = channels, .half = half}};
    grid.input.offset = 3 * value;
    grid.input.row_stride = ((size_t)size.width * (size_t)channels + 5) * value;
    grid.size = grid.input.offset + (size_t)size.height * grid.input.row_stride;
    grid.bytes = calloc(grid.size, 1);
    assert_non_null(grid.bytes);
    for (size_t i = 0; i < grid.size / value; ++i) {
        float f = 3.0f * test_random_unit(random) - 1.5f;
        if (wild && test_random(random) % 16 == 0) f = test_random(random) % 2 == 0 ? NAN : -INFINITY;
        if (test_random(random) % 32 == 0) f = 0.0f;
        const uint16_t h = tvlm_half_from_float(f);
        if (half)
            memcpy(grid.bytes + i * value, &h, value);
        else
            memcpy(grid.bytes + i * value, &f, value);
    }
    return grid;
}

static inline tvlm_stack *small_stack(tvlm_device *device, tvlm_format format, int32_t images) {
    tvlm_stack *stack = NULL;
    assert_int_equal(
        tvlm_stack_create(
            device, tvlm_stack_params(.width = 40, .height = 24, .images = images, .format = format), &stack),
        TVLM_OK);
    return stack;
}

static inline void expect_level(tvlm_stack *stack, int32_t index, int32_t channel, int32_t level,
                                const float *expected, size_t expected_count, const char *what) {
    size_t count;
    float *got = read_level(stack, index, channel, level, &count);
    if (count != expected_count) fail_msg("%s: %zu texels, not %zu", what, count, expected_count);
    test_compare(what, got, expected, count, 1e-3f, 1e-3f);
    free(got);
}

static inline void expect_zero(tvlm_stack *stack, int32_t index, int32_t channel) {
    size_t count;
    float *got = read_level(stack, index, channel, 0, &count);
    for (size_t i = 0; i < count; ++i) assert_true(got[i] == 0.0f);
    free(got);
}

#endif
