/* SPDX-License-Identifier: Apache-2.0 */
/*
 * half.h: IEEE 754 binary16 as the bits of a uint16_t, without types or instructions of half.
 *
 * Floats are rounded to the nearest half, ties to even. 65520 and beyond becomes infinite, subnormals are
 * kept, and NaN stays NaN (quiet, with its sign). The way back to float is exact. Floats must be added with
 * rounding to the nearest, which is the default of every program.
 */
#ifndef TVLM_CORE_HALF_H
#define TVLM_CORE_HALF_H

#include <stddef.h>
#include <stdint.h>

uint16_t tvlm_half_from_float(float value);
float tvlm_half_to_float(uint16_t half);

/* The same for `count` values. The arrays do not overlap. */
void tvlm_half_from_floats(const float *restrict values, uint16_t *restrict halves, size_t count);
void tvlm_half_to_floats(const uint16_t *restrict halves, float *restrict values, size_t count);

#endif
