/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spot_helper.h: an image in which one square is worth looking at.
 */
#ifndef TVLM_TESTS_SPOT_HELPER_H
#define TVLM_TESTS_SPOT_HELPER_H

#include "stack_helper.h"

enum { WIDTH = 300, HEIGHT = 200 };

/* Dark, but for noise in a square at 200..260, 60..120. */
static inline tvlm_stack *spot(tvlm_device *device, tvlm_format format) {
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    uint64_t random = 51;
    for (int32_t i = 0; i < WIDTH * HEIGHT; ++i) {
        const int32_t x = i % WIDTH, y = i / WIDTH;
        const bool inside = x >= 200 && x < 260 && y >= 60 && y < 120;
        for (int c = 0; c < 3; ++c) pixels[3 * i + c] = inside ? (uint8_t)test_random(&random) : 20;
    }
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    return stack_of(device, format, &image);
}

#endif
