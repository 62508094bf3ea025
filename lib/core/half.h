/* SPDX-License-Identifier: Apache-2.0 */
/*
 * half.h: IEEE 754 binary16 as the bits of a uint16_t, without help from the compiler or the CPU.
 *
 * Floats are rounded to the nearest half, ties to even. 65520 and beyond becomes infinite, subnormals are
 * kept, and NaN stays NaN (quiet, with its sign). The way back to float is exact.
 */
#ifndef TVLM_CORE_HALF_H
#define TVLM_CORE_HALF_H

#include <stddef.h>
#include <stdint.h>

uint16_t tvlm_half_from_float(float value);
float tvlm_half_to_float(uint16_t half);

/* The same for `count` values. */
void tvlm_half_from_floats(const float *values, uint16_t *halves, size_t count);
void tvlm_half_to_floats(const uint16_t *halves, float *values, size_t count);

#endif
