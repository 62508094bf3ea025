/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clip_helper.h: small drawn videos, and tokens that two devices decided.
 */
#ifndef TVLM_TESTS_CLIP_HELPER_H
#define TVLM_TESTS_CLIP_HELPER_H

#include <string.h>

#include "support.h"
#include "texturevlm/clip.h"

enum { WIDTH = 96, HEIGHT = 64, PATCH = 16, TILES = 24, THING = 16 };

/* A frame: a still texture, and a bright thing that moves by a patch every `step` frames, if that is not 0. */
static inline void draw_frame(int frame, int step, uint8_t *pixels) {
    uint64_t random = 4;
    const int left = step > 0 ? frame / step * PATCH % WIDTH : WIDTH;
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        const bool in_thing =
            i % WIDTH >= left && i % WIDTH < left + THING && i / WIDTH >= 16 && i / WIDTH < 16 + THING;
        const int shade = in_thing ? 255 * (i % WIDTH / 2 % 2) : (int)(test_random(&random) % 96);
        if (in_thing) (void)test_random(&random);
        memset(pixels + 3 * i, shade, 3);
    }
}

static inline tvlm_clip *open_clip(tvlm_device *device, const struct tvlm_clip_params *params) {
    tvlm_clip *clip = NULL;
    if (tvlm_clip_create(device, WIDTH, HEIGHT, params, &clip) != TVLM_OK) fail_msg("%s", test_last_log());
    return clip;
}

/* How many of the tokens are among the others, too. */
static inline int32_t common(const tvlm_clip_token *tokens, int32_t count, const tvlm_clip_token *others,
                             int32_t other_count) {
    int32_t found = 0;
    for (int32_t i = 0; i < count; ++i)
        for (int32_t j = 0; j < other_count; ++j)
            if (memcmp(&tokens[i], &others[j], sizeof tokens[i]) == 0) {
                ++found;
                break;
            }
    return found;
}

/* The share of tokens that another device must decide alike. A half has fewer digits than these pixels. */
static inline double least_common(const test_target *target) {
    return target->format == TVLM_FORMAT_F32 ? 0.99 : 0.7;
}

/* Opened once for all tests of a program. */
static tvlm_device *reference;

static inline int open_reference(void **unused) {
    (void)unused;
    return tvlm_device_open(tvlm_device_params(.name = "reference", .log = &test_log), &reference) != TVLM_OK;
}

static inline int close_reference(void **unused) {
    (void)unused;
    tvlm_device_destroy(&reference);
    return 0;
}

#endif
