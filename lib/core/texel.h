/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texel.h: what a component of a texel can hold in each format.
 *
 *   - F32: any float, in four bytes.
 *   - F16: the nearest half (half.h), in two bytes.
 *   - U8: a byte n that stands for n / 255. Values outside [0, 1] become 0 or 1. A value becomes the nearest
 *     byte, and a tie goes to the even one. A value within 2^-11 of a step of a tie counts as a tie, so that
 *     means of bytes are rounded alike everywhere.
 *   - S8: a signed byte n that stands for n / 127, rounded in the same way. Values outside [-1, 1] become -1
 *     or 1. -128 is never written.
 *
 * NaN becomes any byte; no channel is NaN.
 */
#ifndef TVLM_CORE_TEXEL_H
#define TVLM_CORE_TEXEL_H

#include <stddef.h>

#include "core/operands.h"

/* The format of a texture's components. In a stack of bytes the texture's range says whether it is U8, S8 or
 * F16. */
tvlm_format tvlm_texture_format(const tvlm_texture *texture);

static inline size_t tvlm_component_bytes(tvlm_format format) {
    return format == TVLM_FORMAT_F32 ? 4 : format == TVLM_FORMAT_F16 ? 2 : 1;
}

/* The value that is read back where `value` was stored. */
float tvlm_component_round(tvlm_format format, float value);

/* Writes `count` components as they are stored, taking the first of every `step` values; and reads components
 * back. */
void tvlm_components_store(tvlm_format format, const float *values, size_t step, size_t count, void *stored);
void tvlm_components_load(tvlm_format format, const void *stored, size_t count, float *values);

#endif
