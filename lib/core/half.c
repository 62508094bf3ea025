/* SPDX-License-Identifier: Apache-2.0 */
/*
 * half.c: conversions between float and half, on the bits of both.
 */
#include "core/half.h"

#include <string.h>

/*
 * Bits of floats and halves:
 *   - float_implicit is the leading 1 of a normal number, which is not stored.
 *   - float_half_overflow is 65520, halfway between the largest half and the next number, which is infinite.
 *   - float_half_normal is 2^-14, the smallest normal half.
 *   - rebias is the difference of the biases of the exponents.
 */
enum {
    float_infinity = 0x7f800000,
    float_fraction = 0x007fffff,
    float_implicit = 0x00800000,
    float_half_overflow = 0x477ff000,
    float_half_normal = 0x38800000,
    rebias = (127 - 15) << 23,
    half_infinity = 0x7c00,
    half_quiet = 0x7e00,
    half_fraction = 0x03ff
};

/* value / 2^shift, rounded to nearest with ties to even, for a shift of 1 to 31. */
static uint32_t shift_right_to_even(uint32_t value, uint32_t shift) {
    const uint32_t kept = value >> shift, rest = value & ((1u << shift) - 1), tie = 1u << (shift - 1);
    return kept + (rest > tie || (rest == tie && (kept & 1u) != 0));
}

/* A magnitude below 2^-14 in units of 2^-24. Below 2^-25 it is 0, which covers all floats without an implicit
 * 1. */
static uint32_t subnormal(uint32_t magnitude) {
    const uint32_t exponent = magnitude >> 23;
    const uint32_t digits = (magnitude & float_fraction) | float_implicit;
    if (exponent < 102) return 0;
    return shift_right_to_even(digits, 126 - exponent);
}

uint16_t tvlm_half_from_float(float value) {
    uint32_t bits, half;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > float_infinity)
        half = half_quiet | (magnitude >> 13 & half_fraction);
    else if (magnitude >= float_half_overflow)
        half = half_infinity;
    else if (magnitude < float_half_normal)
        half = subnormal(magnitude);
    else /* A carry out of the fraction rightly raises the exponent. */
        half = shift_right_to_even(magnitude - rebias, 13);
    return (uint16_t)(sign | half);
}

float tvlm_half_to_float(uint16_t half) {
    const uint32_t magnitude = half & 0x7fff, sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t bits;
    float value;
    if (magnitude >= half_infinity) {
        bits = float_infinity | (magnitude & half_fraction) << 13;
    } else if (magnitude > half_fraction) {
        bits = (magnitude << 13) + rebias;
    } else { /* Zero and subnormals are their bits times 2^-24. */
        value = (float)magnitude * 0x1p-24f;
        memcpy(&bits, &value, sizeof bits);
    }
    bits |= sign;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void tvlm_half_from_floats(const float *values, uint16_t *halves, size_t count) {
    for (size_t i = 0; i < count; ++i) halves[i] = tvlm_half_from_float(values[i]);
}

void tvlm_half_to_floats(const uint16_t *halves, float *values, size_t count) {
    for (size_t i = 0; i < count; ++i) values[i] = tvlm_half_to_float(halves[i]);
}
