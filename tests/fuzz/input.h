/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h: numbers out of the bytes of an input, one after the other; what is missing is 0.
 */
#ifndef TVLM_FUZZ_INPUT_H
#define TVLM_FUZZ_INPUT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct input {
    const uint8_t *at;
    size_t left;
} input;

static inline uint8_t next_byte(input *from) {
    if (from->left == 0) return 0;
    --from->left;
    return *from->at++;
}

/* One of the numbers that are worth trying, or any. */
static inline float next_float(input *from) {
    static const float known[] = {0.0f,  1.0f,  16.0f, 0.5f,  2.0f,  -1.0f,    1e-30f, 1e30f,
                                  3e38f, -0.0f, 0.25f, 14.0f, 1e-3f, INFINITY, NAN,    7.0f};
    const uint8_t which = next_byte(from);
    uint8_t bytes[4];
    float value;
    if (which < 240) return known[which % 16];
    for (int i = 0; i < 4; ++i) bytes[i] = next_byte(from);
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* Bytes as they come, and zeros behind them. */
static inline void fill(input *from, void *bytes, size_t size) {
    memset(bytes, 0, size);
    const size_t there = from->left < size ? from->left : size;
    if (there > 0) memcpy(bytes, from->at, there);
    from->at += there;
    from->left -= there;
}

#endif
