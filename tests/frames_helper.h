/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames_helper.h: what the tests of frames on the device share: stacks of one size, and what is made of a frame
 * against what is made of the same pixels from the host, or against a refusal.
 */
#ifndef TVLM_TESTS_FRAMES_HELPER_H
#define TVLM_TESTS_FRAMES_HELPER_H

#include "interop_helper.h"
#include "stack/stack.h"

enum { WIDTH = 75, HEIGHT = 49, MOST = 160 * 120 };

static inline tvlm_stack *open_stack(const application *app) {
    tvlm_stack *stack = NULL;
    assert_int_equal(
        tvlm_stack_create(app->device,
                          tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .format = TVLM_FORMAT_F32),
                          &stack),
        TVLM_OK);
    return stack;
}

static inline void check(tvlm_status status) {
    if (status != TVLM_OK) fail_msg("status %d: %s", (int)status, test_last_log());
}

/* The sources of two stacks, and the sizes that their images came in. The tolerance is of one division, one
 * compositing and the shares of resampling, in float. */
static inline void compare(const char *what, tvlm_stack *got, tvlm_stack *expected) {
    static const int32_t channels[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G, TVLM_CHANNEL_B};
    static float values[2][WIDTH * HEIGHT];
    for (int c = 0; c < 3; ++c) {
        check(tvlm_stack_read(got, 0, channels[c], 0, WIDTH * HEIGHT, values[0]));
        check(tvlm_stack_read(expected, 0, channels[c], 0, WIDTH * HEIGHT, values[1]));
        test_compare(what, values[0], values[1], WIDTH * HEIGHT, 1.5e-6f, 3e-7f);
    }
    const tvlm_original a = tvlm_stack_original(got, 0), b = tvlm_stack_original(expected, 0);
    assert_int_equal(a.width, b.width);
    assert_int_equal(a.height, b.height);
}

static inline void poison(tvlm_stack *stack) {
    static const uint8_t gray[WIDTH * HEIGHT] = {7};
    const tvlm_image image = {.pixels = gray, .width = WIDTH, .height = HEIGHT, .channels = 1};
    check(tvlm_stack_set_image(stack, 0, &image));
}

static inline void check_frame(const application *app, const char *what, tvlm_opencl_frame frame,
                               tvlm_stack *expected) {
    tvlm_stack *got = open_stack(app);
    check(tvlm_stack_set_frame_opencl(got, 0, &frame));
    compare(what, got, expected);
    poison(got);
    check(tvlm_stack_update_frame_opencl(got, 0, &frame, NULL, NULL));
    compare(what, got, expected);
    tvlm_stack_destroy(&got);
}

/* Refused with one line by both functions, and the source stays as it was. */
static inline void refused(tvlm_stack *stack, tvlm_opencl_frame frame, tvlm_status expected,
                           const char *why) {
    static float before[WIDTH * HEIGHT], after[WIDTH * HEIGHT];
    check(tvlm_stack_read(stack, 0, TVLM_CHANNEL_R, 0, WIDTH * HEIGHT, before));
    for (int update = 0; update < 2; ++update) {
        const tvlm_status status = update ? tvlm_stack_update_frame_opencl(stack, 0, &frame, NULL, NULL)
                                          : tvlm_stack_set_frame_opencl(stack, 0, &frame);
        if (status != expected || strstr(test_last_log(), why) == NULL)
            fail_msg("status %d; '%s' is not in: %s", (int)status, why, test_last_log());
    }
    check(tvlm_stack_read(stack, 0, TVLM_CHANNEL_R, 0, WIDTH * HEIGHT, after));
    assert_memory_equal(before, after, sizeof before);
}

#endif
