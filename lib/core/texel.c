/* SPDX-License-Identifier: Apache-2.0 */
#include "core/texel.h"

#include <math.h>
#include <string.h>

#include "core/half.h"

tvlm_format tvlm_texture_format(const tvlm_texture *texture) {
    if (texture->format != TVLM_FORMAT_U8) return texture->format;
    return texture->range == TVLM_RANGE_UNIT     ? TVLM_FORMAT_U8
           : texture->range == TVLM_RANGE_SIGNED ? TVLM_FORMAT_S8
                                                 : TVLM_FORMAT_F16;
}

/* The same operations in float as in cl/texture.clh. */
#define BYTE_PARTS 1024.0f

static float nearest(float value, float low, float steps) {
    return rintf(rintf(fminf(fmaxf(value, low), 1.0f) * (steps * BYTE_PARTS)) * (1.0f / BYTE_PARTS));
}
static uint8_t unsigned_byte(float value) {
    return (uint8_t)nearest(value, 0.0f, 255.0f);
}
static int8_t signed_byte(float value) {
    return (int8_t)nearest(value, -1.0f, 127.0f);
}
static float of_unsigned(uint8_t byte) {
    return (float)byte * (1.0f / 255.0f);
}
static float of_signed(int8_t byte) {
    return (float)byte * (1.0f / 127.0f);
}

float tvlm_component_round(tvlm_format format, float value) {
    switch (format) {
    case TVLM_FORMAT_F16: return tvlm_half_to_float(tvlm_half_from_float(value));
    case TVLM_FORMAT_U8: return of_unsigned(unsigned_byte(value));
    case TVLM_FORMAT_S8: return of_signed(signed_byte(value));
    case TVLM_FORMAT_F32:
    case TVLM_FORMAT_AUTO: break;
    }
    return value;
}

void tvlm_components_store(tvlm_format format, const float *values, size_t step, size_t count, void *stored) {
    switch (format) {
    case TVLM_FORMAT_F16:
        if (step == 1) { /* many at once */
            tvlm_half_from_floats(values, stored, count);
            return;
        }
        for (size_t i = 0; i < count; ++i) ((uint16_t *)stored)[i] = tvlm_half_from_float(values[step * i]);
        return;
    case TVLM_FORMAT_U8:
        for (size_t i = 0; i < count; ++i) ((uint8_t *)stored)[i] = unsigned_byte(values[step * i]);
        return;
    case TVLM_FORMAT_S8:
        for (size_t i = 0; i < count; ++i) ((int8_t *)stored)[i] = signed_byte(values[step * i]);
        return;
    case TVLM_FORMAT_F32:
    case TVLM_FORMAT_AUTO: break;
    }
    for (size_t i = 0; i < count; ++i) ((float *)stored)[i] = values[step * i];
}

void tvlm_components_load(tvlm_format format, const void *stored, size_t count, float *values) {
    switch (format) {
    case TVLM_FORMAT_F16: tvlm_half_to_floats(stored, values, count); return;
    case TVLM_FORMAT_U8:
        for (size_t i = 0; i < count; ++i) values[i] = of_unsigned(((const uint8_t *)stored)[i]);
        return;
    case TVLM_FORMAT_S8:
        for (size_t i = 0; i < count; ++i) values[i] = of_signed(((const int8_t *)stored)[i]);
        return;
    case TVLM_FORMAT_F32:
    case TVLM_FORMAT_AUTO: break;
    }
    memcpy(values, stored, count * sizeof *values);
}
