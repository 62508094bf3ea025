/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texel.h: what a component of a texel can hold, by its format.
 *
 *   - F32: any float, in four bytes.
 *   - F16: the nearest half (half.h), in two.
 *   - U8: a byte n that stands for n / 255, the nearest, ties to even; what lies within 2^-11 of a step
 *     of a tie counts as one, so that means of bytes are rounded alike everywhere. What lies outside [0, 1] becomes 0 or 1.
 *   - S8: a signed byte n that stands for n / 127, likewise, and outside [-1, 1] becomes -1 or 1. -128 is not written.
 *
 * NaN, which no channel is, becomes any byte.
 */
#ifndef TVLM_CORE_TEXEL_H
#define TVLM_CORE_TEXEL_H

#include <stddef.h>

#include "core/operands.h"

/* The format of a texture's components, which in a stack of bytes is U8, S8 or F16, as its range says. */
tvlm_format tvlm_texture_format(const tvlm_texture *texture);

/* The bytes of a component. */
static inline size_t tvlm_component_bytes(tvlm_format format) {
    return format == TVLM_FORMAT_F32 ? 4 : format == TVLM_FORMAT_F16 ? 2 : 1;
}

/* The value as it is kept. */
float tvlm_component_round(tvlm_format format, float value);

/* Writes `count` components, the first of every `step` values, as they are stored, and reads such. */
void tvlm_components_store(tvlm_format format, const float *values, size_t step, size_t count, void *stored);
void tvlm_components_load(tvlm_format format, const void *stored, size_t count, float *values);

#endif
