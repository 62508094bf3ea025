/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h: grids as applications have them: any stride, float or half, cells of one or more values. What is
 * converted and how is the same wherever it is done: here on the host (and in the reference), in cl/input.cl
 * on a device.
 */
#ifndef TVLM_CORE_INPUT_H
#define TVLM_CORE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tvlm_input {
    int32_t columns, rows, channels; /* channels of a cell lie beside each other */
    bool half;
    size_t offset, row_stride; /* bytes, multiples of a value's */
    int32_t mode;              /* TVLM_INPUT_* */
    float low[4], high[4];     /* CLAMP: by component, the same for every layer */
    float fill[4];             /* components that cells do not have */
} tvlm_input;

/* One value; what is not finite is passed on. `data` need not be aligned. */
float tvlm_input_value(const tvlm_input *input, const void *data, int32_t column, int32_t row,
                       int32_t channel);

/* The number of the first value that is not finite, (row * columns + column) * channels + channel; -1: all
 * are. */
int64_t tvlm_input_check(const tvlm_input *input, const void *data);

/* One cell as the texture holds it: rgba[4 * layers]. What is not finite is 0. */
void tvlm_input_convert(const tvlm_input *input, const void *data, int32_t column, int32_t row,
                        int32_t layers, float *rgba);

#endif
