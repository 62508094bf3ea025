/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.cl: copies a grid that an application hands in into a texture, and finds its first value that is not
 * finite.
 *
 * The grid is `shape` = (columns, rows, channels) of values in a buffer: the channels of a cell lie beside
 * each other, and rows begin `row_stride` bytes apart, the first at byte `offset`. Values are float, or half
 * where INPUT_HALF is 1. All kernels are the same on GPUs and CPUs.
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

/* How many values of a row a work-item of input_check looks at. */
#define CHECK_SPAN 1024
/* How many layers of a cell a work-item of input writes. It writes all layers of unit vectors. */
#define INPUT_LAYERS 8

/*
 * Finds the first value in reading order that is not finite: *first becomes its index, counted over all rows
 * without the padding between them. *first is TVLM_INPUT_NONE at the beginning, and stays so if all values
 * are finite. Work-item (n, y) looks at the n-th span of CHECK_SPAN values of row y.
 */
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

/* Sets *any to 1 if the vector of some cell has a direction. Such a vector is not shorter than
 * TVLM_FEATURE_FLOOR, and none of its values lies beyond TVLM_FEATURE_LIMIT. Work-item (x, y) looks at one
 * cell. */
kernel void input_directions(global const uchar *restrict data, const ulong offset, const ulong row_stride,
                             const int4 shape, global int *restrict any) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= shape.x || y >= shape.y) return;
    global const uchar *row = data + offset + y * row_stride;
    float sum = 0.0f;
    for (int i = 0; i < shape.z; ++i) {
        float value = INPUT_LOAD(row, x * shape.z + i);
        value = isfinite(value) ? value : 0.0f;
        if (fabs(value) > TVLM_FEATURE_LIMIT) return;
        sum += value * value;
    }
    if (sqrt(sum) >= TVLM_FEATURE_FLOOR) atomic_or(any, 1);
}

/* A value as the texture holds it, except that vectors are scaled later. A value that is not finite becomes
 * 0. Then the value is converted as `mode` (TVLM_INPUT_*) says. */
HELPER float input_value(float value, int mode, float low, float high) {
    value = isfinite(value) ? value : 0.0f;
    if (mode == TVLM_INPUT_BINARY) return value >= 0.5f ? 1.0f : 0.0f;
    return mode == TVLM_INPUT_CLAMP ? clamp(value, low, high) : value;
}

/*
 * Writes one image of the texture. Work-item (x, y, n) writes the n-th INPUT_LAYERS layers of cell (x, y).
 * With TVLM_INPUT_UNIT work-item (x, y, 0) writes all layers, since the length of a vector needs all its
 * components. low and high are the range of each component with TVLM_INPUT_CLAMP; `fill` is the value of
 * components beyond the last channel.
 */
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
        /* Components are divided by the largest before they are squared, since the square of a finite float
         * may overflow. */
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
