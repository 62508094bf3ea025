/* SPDX-License-Identifier: Apache-2.0 */
/*
 * half.c: conversions between float and half, on the bits of both. For each value the results of all cases
 * are computed, and one is picked without a branch, so that compilers can vectorise the loops.
 */
#include "core/half.h"

#include <stdbool.h>
#include <string.h>

/*
 * Bits of floats and halves:
 *   - float_half_overflow is 65520, halfway between the largest half and the next number, which is infinite.
 *   - float_half_normal is 2^-14, the smallest normal half.
 *   - rebias is the difference of the biases of the exponents.
 */
enum {
    float_infinity = 0x7f800000,
    float_half_overflow = 0x477ff000,
    float_half_normal = 0x38800000,
    rebias = (127 - 15) << 23,
    half_infinity = 0x7c00,
    half_quiet = 0x7e00,
    half_fraction = 0x03ff
};

static inline uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Returns a where the condition holds, else b. Compilers would turn a ternary into a branch. */
static inline uint32_t pick(bool condition, uint32_t a, uint32_t b) {
    return b ^ ((a ^ b) & (0u - (uint32_t)condition));
}

/* Turns a magnitude below 2^-14 into a number of units of 2^-24. Adding 0.5 rounds the magnitude to these
 * units, since floats from 0.5 on are 2^-24 apart. */
static inline uint32_t subnormal(uint32_t magnitude) {
    const uint32_t below = pick(magnitude < float_half_normal, magnitude, 0);
    return bits_of(float_of(below) + 0.5f) - bits_of(0.5f);
}

uint16_t tvlm_half_from_float(float value) {
    const uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    /* A carry out of the fraction rightly raises the exponent. */
    const uint32_t digits = magnitude - rebias;
    const uint32_t normal = (digits + 0x0fff + (digits >> 13 & 1)) >> 13;
    const uint32_t small = subnormal(magnitude), nan = half_quiet | (magnitude >> 13 & half_fraction);
    uint32_t half = pick(magnitude < float_half_normal, small, normal);
    half = pick(magnitude >= float_half_overflow, half_infinity, half);
    half = pick(magnitude > float_infinity, nan, half);
    return (uint16_t)(sign | half);
}

/* Zero and subnormals are their bits times 2^-24. */
float tvlm_half_to_float(uint16_t half) {
    const uint32_t magnitude = half & 0x7fff, sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t normal = (magnitude << 13) + rebias, small = bits_of((float)(int32_t)magnitude * 0x1p-24f);
    const uint32_t infinite = float_infinity | (magnitude & half_fraction) << 13;
    const uint32_t bits = pick(magnitude > half_fraction, normal, small);
    return float_of(pick(magnitude >= half_infinity, infinite, bits) | sign);
}

void tvlm_half_from_floats(const float *restrict values, uint16_t *restrict halves, size_t count) {
    for (size_t i = 0; i < count; ++i) halves[i] = tvlm_half_from_float(values[i]);
}

void tvlm_half_to_floats(const uint16_t *restrict halves, float *restrict values, size_t count) {
    for (size_t i = 0; i < count; ++i) values[i] = tvlm_half_to_float(halves[i]);
}
