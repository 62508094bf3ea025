/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.cl: grids that an application hands in -> texels; and whether all their values are finite.
 *
 * Values are float or half (INPUT_HALF), the channels of a cell beside each other, rows a stride apart.
 */
// check-kernels: -DINPUT_HALF=0
// check-kernels: -DINPUT_HALF=1
#include "texture.clh"

#ifndef INPUT_HALF
#define INPUT_HALF 0
#endif

#if INPUT_HALF
#define INPUT_LOAD(row, index) vload_half(index, (global const half *)(row))
#else
#define INPUT_LOAD(row, index) ((global const float *)(row))[index]
#endif

#define CHECK_SPAN   1024 /* values of a row that a work-item of input_check looks at */
#define INPUT_LAYERS 8    /* that a work-item of input writes; of unit vectors it writes all */

/* shape: columns, rows, channels. Work-item (span of a row, row); *first begins as TVLM_INPUT_NONE. */
kernel void input_check(global const uchar *restrict data, const ulong offset, const ulong row_stride,
                        const int4 shape, global int *restrict first) {
    const int y = get_global_id(1), width = shape.x * shape.z, begin = (int)get_global_id(0) * CHECK_SPAN;
    if (y >= shape.y) return;
    global const uchar *row = data + offset + y * row_stride;
    int found = TVLM_INPUT_NONE;
    for (int i = min(begin + CHECK_SPAN, width) - 1; i >= begin; --i) {
        const float value = INPUT_LOAD(row, i);
        if (!isfinite(value)) found = i;
    }
    if (found != TVLM_INPUT_NONE) atomic_min(first, y * width + found);
}

/* `value` as the texture holds it but for the length of vectors. */
inline float input_value(float value, int mode, float low, float high) {
    value = isfinite(value) ? value : 0.0f;
    if (mode == TVLM_INPUT_BINARY) return value >= 0.5f ? 1.0f : 0.0f;
    return mode == TVLM_INPUT_CLAMP ? clamp(value, low, high) : value;
}

/* One work-item a cell and some of its layers; of unit vectors all, since their length is that of all. */
kernel void input(global const uchar *restrict data, const ulong offset, const ulong row_stride,
                  const int4 shape, const int mode, const float4 low, const float4 high, const float4 fill,
                  const int image, TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1);
    const bool unit = mode == TVLM_INPUT_UNIT;
    if (x >= shape.x || y >= shape.y) return;
    global const uchar *row = data + offset + y * row_stride;
    const int first = x * shape.z;
    float largest = 1.0f, length = 1.0f;
    if (unit) {
        /* Over the largest first: squares of what float can hold need not be finite. */
        float sum = 0.0f;
        largest = 0.0f;
        for (int i = 0; i < shape.z; ++i)
            largest = max(largest, fabs(input_value(INPUT_LOAD(row, first + i), mode, 0.0f, 0.0f)));
        largest = largest > 0.0f ? largest : 1.0f;
        for (int i = 0; i < shape.z; ++i) {
            const float part = input_value(INPUT_LOAD(row, first + i), mode, 0.0f, 0.0f) / largest;
            sum += part * part;
        }
        length = sum > 0.0f ? sqrt(sum) : 1.0f;
    }
    const int begin = unit ? 0 : (int)get_global_id(2) * INPUT_LAYERS;
    const int end = unit ? result_size.z : min(begin + INPUT_LAYERS, result_size.z);
    for (int layer = begin; layer < end; ++layer) {
        float4 texel = fill;
        const int left = shape.z - 4 * layer, at = first + 4 * layer;
        if (left > 0) texel.x = input_value(INPUT_LOAD(row, at), mode, low.x, high.x);
        if (left > 1) texel.y = input_value(INPUT_LOAD(row, at + 1), mode, low.y, high.y);
        if (left > 2) texel.z = input_value(INPUT_LOAD(row, at + 2), mode, low.z, high.z);
        if (left > 3) texel.w = input_value(INPUT_LOAD(row, at + 3), mode, low.w, high.w);
        if (unit) texel = texel / largest / length;
        texel_store(result, x, y, image * result_size.z + layer, texel);
    }
}
