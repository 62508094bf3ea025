/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_helper.h: what the tests of streams share: small frames, and a world that a camera moves over.
 */
#ifndef TVLM_TESTS_STREAM_HELPER_H
#define TVLM_TESTS_STREAM_HELPER_H

#include "stack_helper.h"
#include "texturevlm/stream.h"
#include "video/inside.h"

enum { WIDTH = 192, HEIGHT = 128, WORLD = 512 };

static inline uint8_t *world(uint64_t seed) {
    return test_random_pixels(&seed, WORLD, WORLD, 3);
}

/* Copies what the camera sees from (x, y). */
static inline void look(const uint8_t *from, int32_t x, int32_t y, uint8_t *pixels) {
    for (int32_t row = 0; row < HEIGHT; ++row)
        memcpy(pixels + (size_t)row * WIDTH * 3, from + ((size_t)(y + row) * WORLD + (size_t)x) * 3,
               WIDTH * 3);
}

static inline tvlm_stream *open_stream(tvlm_device *device, const struct tvlm_stream_params *params) {
    tvlm_stream *stream = NULL;
    if (tvlm_stream_create(device, WIDTH, HEIGHT, params, &stream) != TVLM_OK)
        fail_msg("%s", test_last_log());
    return stream;
}

#endif
