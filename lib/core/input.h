/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h: grids of values as applications have them: any stride, float or half, cells of one or more values.
 * They are converted here on the host (and in the reference), and by cl/input.cl on a device, with the same
 * result.
 */
#ifndef TVLM_CORE_INPUT_H
#define TVLM_CORE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest number that a half holds. */
#define TVLM_HALF_MAX 65504.0f

typedef struct tvlm_input {
    /* The channels of a cell lie beside each other. */
    int32_t columns, rows, channels;
    /* Whether values are half instead of float. */
    bool half;
    /* Bytes to the first row, and from one row to the next. Both are multiples of a value's bytes. */
    size_t offset, row_stride;
    /* What is done to values: TVLM_INPUT_*. */
    int32_t mode;
    /* With TVLM_INPUT_CLAMP: the range of each component, the same for every layer. */
    float low[4], high[4];
    /* The values of the components that the cells do not have. */
    float fill[4];
} tvlm_input;

/* Reads one value, finite or not. `data` need not be aligned. */
float tvlm_input_value(const tvlm_input *input, const void *data, int32_t column, int32_t row,
                       int32_t channel);

/* Returns the number of the first value that is not finite, (row * columns + column) * channels + channel, or
 * -1 if all are finite. */
int64_t tvlm_input_check(const tvlm_input *input, const void *data);

/*
 * Whether any cell has a direction as a vector. A cell has one if its vector is not shorter than
 * TVLM_FEATURE_FLOOR and has no value beyond TVLM_FEATURE_LIMIT, which would be clamped. Values that are not
 * finite count as 0.
 */
bool tvlm_input_directions(const tvlm_input *input, const void *data);

/* Converts one cell to what the texture holds: rgba[4 * layers]. Values that are not finite become 0. */
void tvlm_input_convert(const tvlm_input *input, const void *data, int32_t column, int32_t row,
                        int32_t layers, float *rgba);

#endif
