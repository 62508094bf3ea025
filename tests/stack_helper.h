/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_helper.h: what the tests of stacks, scores and selections share.
 */
#ifndef TVLM_TESTS_STACK_HELPER_H
#define TVLM_TESTS_STACK_HELPER_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stack/stack.h"
#include "support.h"

static inline tvlm_device *open_reference(void) {
    tvlm_device *device = NULL;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "reference", .log = &test_log), &device),
                     TVLM_OK);
    return device;
}

static inline tvlm_image u8_image(const void *pixels, int32_t width, int32_t height, int32_t channels) {
    return (tvlm_image){
        .pixels = pixels, .width = width, .height = height, .channels = channels, .type = TVLM_PIXEL_U8};
}

static inline tvlm_stack *stack_of(tvlm_device *device, tvlm_format format, const tvlm_image *image) {
    tvlm_stack *stack = NULL;
    assert_int_equal(tvlm_stack_create_for_image(device, image, tvlm_stack_params(.format = format), &stack),
                     TVLM_OK);
    return stack;
}

/* Whether this build has a strategy: without the lab it has no foveated one. */
static inline bool has_strategy(tvlm_strategy strategy) {
    return tvlm_select_check(NULL, NULL, tvlm_select_params(.strategy = strategy)) == TVLM_OK;
}

/* Returns a stack of one RGB image of random pixels. */
static inline tvlm_stack *random_stack(tvlm_device *device, tvlm_format format, int32_t width, int32_t height,
                                       uint64_t seed) {
    uint8_t *pixels = test_random_pixels(&seed, width, height, 3);
    const tvlm_image image = u8_image(pixels, width, height, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    free(pixels);
    return stack;
}

/* Reads a level of a channel into new memory, and tells its size. The caller frees it. */
static inline float *read_level(tvlm_stack *stack, int32_t index, int32_t channel, int32_t level,
                                size_t *count) {
    int32_t width, height;
    assert_int_equal(tvlm_stack_channel_size(stack, channel, level, &width, &height), TVLM_OK);
    *count = (size_t)width * (size_t)height;
    float *texels = malloc(*count * sizeof *texels);
    assert_non_null(texels);
    assert_int_equal(tvlm_stack_read(stack, index, channel, level, *count, texels), TVLM_OK);
    return texels;
}

/* Checks that two selections are the same to the bit. */
static inline void same_positions(const tvlm_selection *got, const tvlm_selection *expected) {
    int32_t count, expected_count;
    const tvlm_position *p = tvlm_selection_positions(got, &count);
    const tvlm_position *q = tvlm_selection_positions(expected, &expected_count);
    assert_int_equal(count, expected_count);
    assert_memory_equal(p, q, (size_t)count * sizeof *p);
}

/* Checks that a call was refused with that status and a line that says so. */
static inline void refused(tvlm_status status, tvlm_status expected, const char *line) {
    assert_int_equal(status, expected);
    if (strstr(test_last_log(), line) == NULL) fail_msg("'%s' does not say '%s'", test_last_log(), line);
}

typedef void device_check(tvlm_device *device, tvlm_format format);

/*
 * Makes three tests of the checks: on the reference device in either format, and on every device under test. An
 * interpreter sees what is read beside a buffer and not beside an image, so that small checks need no images.
 */
#define DEVICE_CHECKS(...)                                                                                   \
    static void run_checks(tvlm_device *device, tvlm_format format) {                                        \
        static device_check *const checks[] = {__VA_ARGS__};                                                 \
        for (size_t i = 0; i < sizeof checks / sizeof checks[0]; ++i) checks[i](device, format);             \
    }                                                                                                        \
    static void on_reference(tvlm_format format) {                                                           \
        tvlm_device *device = open_reference();                                                              \
        run_checks(device, format);                                                                          \
        tvlm_device_destroy(&device);                                                                        \
    }                                                                                                        \
    static void test_reference_f32(void **state) {                                                           \
        (void)state;                                                                                         \
        on_reference(TVLM_FORMAT_F32);                                                                       \
    }                                                                                                        \
    static void test_reference_f16(void **state) {                                                           \
        (void)state;                                                                                         \
        on_reference(TVLM_FORMAT_F16);                                                                       \
    }                                                                                                        \
    static void on_target(const test_target *target, tvlm_device *reference) {                               \
        (void)reference;                                                                                     \
        if (test_small() && target->device->info.storage == TVLM_STORAGE_IMAGE) return;                      \
        run_checks(target->device, target->format);                                                          \
    }                                                                                                        \
    static void test_targets(void **state) {                                                                 \
        (void)state;                                                                                         \
        if (test_for_each_target(on_target) == 0) skip();                                                    \
    }

/* The same, and the main function of a test program that has no other tests. */
#define DEVICE_CHECKS_MAIN(...)                                                                              \
    DEVICE_CHECKS(__VA_ARGS__)                                                                               \
    int main(void) {                                                                                         \
        const struct CMUnitTest tests[] = {                                                                  \
            cmocka_unit_test(test_reference_f32),                                                            \
            cmocka_unit_test(test_reference_f16),                                                            \
            cmocka_unit_test(test_targets),                                                                  \
        };                                                                                                   \
        return cmocka_run_group_tests(tests, NULL, NULL);                                                    \
    }

#endif
