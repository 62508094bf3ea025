/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c: checks and converts grids of values on the host.
 */
#include "core/input.h"

#include <math.h>
#include <string.h>

#include "core/constants.h"
#include "core/half.h"

float tvlm_input_value(const tvlm_input *input, const void *data, int32_t column, int32_t row,
                       int32_t channel) {
    const size_t size = input->half ? sizeof(uint16_t) : sizeof(float);
    const size_t place = (size_t)column * (size_t)input->channels + (size_t)channel;
    const unsigned char *at =
        (const unsigned char *)data + input->offset + (size_t)row * input->row_stride + place * size;
    uint16_t half;
    float value;
    if (!input->half) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    memcpy(&half, at, sizeof half);
    return tvlm_half_to_float(half);
}

/*
 * Whether all values of a row are finite. A value with all ones in its exponent is not. The loops look at
 * bits and never end early, so that compilers vectorise them.
 */
static bool row_is_finite(const tvlm_input *input, const unsigned char *row) {
    const size_t count = (size_t)input->columns * (size_t)input->channels;
    uint32_t found = 0;
    if (input->half)
        for (size_t i = 0; i < count; ++i) {
            uint16_t bits;
            memcpy(&bits, row + 2 * i, sizeof bits);
            found |= (uint32_t)((bits & 0x7c00u) == 0x7c00u);
        }
    else
        for (size_t i = 0; i < count; ++i) {
            uint32_t bits;
            memcpy(&bits, row + 4 * i, sizeof bits);
            found |= (uint32_t)((bits & 0x7f800000u) == 0x7f800000u);
        }
    return found == 0;
}

int64_t tvlm_input_check(const tvlm_input *input, const void *data) {
    const int64_t in_row = (int64_t)input->columns * input->channels;
    int64_t index = 0;
    for (int32_t row = 0; row < input->rows; ++row) {
        const unsigned char *begin =
            (const unsigned char *)data + input->offset + (size_t)row * input->row_stride;
        if (row_is_finite(input, begin)) {
            index += in_row;
            continue;
        }
        for (int32_t column = 0; column < input->columns; ++column)
            for (int32_t channel = 0; channel < input->channels; ++channel, ++index)
                if (!isfinite(tvlm_input_value(input, data, column, row, channel))) return index;
    }
    return -1;
}

static bool has_direction(const tvlm_input *input, const void *data, int32_t column, int32_t row) {
    double sum = 0.0;
    for (int32_t i = 0; i < input->channels; ++i) {
        const float value = tvlm_input_value(input, data, column, row, i);
        if (!isfinite(value)) continue;
        if (fabsf(value) > TVLM_FEATURE_LIMIT) return false;
        sum += (double)value * (double)value;
    }
    return sqrt(sum) >= (double)TVLM_FEATURE_FLOOR;
}

/* As a rule this looks at a single vector, since nearly all vectors have a direction. */
bool tvlm_input_directions(const tvlm_input *input, const void *data) {
    for (int32_t row = 0; row < input->rows; ++row)
        for (int32_t column = 0; column < input->columns; ++column)
            if (has_direction(input, data, column, row)) return true;
    return false;
}

/* What a vector is divided by: its length, or 1 for the zero vector, which stays what it is. */
static double length_of(const float *values, int32_t count) {
    double sum = 0;
    for (int32_t i = 0; i < count; ++i) sum += (double)values[i] * (double)values[i];
    return sum > 0 ? sqrt(sum) : 1;
}

void tvlm_input_convert(const tvlm_input *input, const void *data, int32_t column, int32_t row,
                        int32_t layers, float *rgba) {
    for (int32_t i = 0; i < 4 * layers; ++i) {
        rgba[i] = input->fill[i & 3];
        if (i >= input->channels) continue;
        const float value = tvlm_input_value(input, data, column, row, i);
        rgba[i] = isfinite(value) ? value : 0.0f;
        if (input->mode == TVLM_INPUT_CLAMP)
            rgba[i] = fminf(fmaxf(rgba[i], input->low[i & 3]), input->high[i & 3]);
        if (input->mode == TVLM_INPUT_BINARY) rgba[i] = rgba[i] >= 0.5f ? 1.0f : 0.0f;
    }
    if (input->mode != TVLM_INPUT_UNIT) return;
    const double length = length_of(rgba, input->channels);
    for (int32_t i = 0; i < input->channels; ++i) rgba[i] = (float)((double)rgba[i] / length);
}
