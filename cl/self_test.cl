/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self_test.cl: kernels with known answers, for what drivers were found to get wrong: writing, fetching and
 * sampling texels, rounding to half, running loops, and rounding products. lib/opencl/self_test.c runs them and knows the
 * answers. Each work-item writes one texel or one number.
 */
#include "texture.clh"

/* A texel that tells where it stands. Its components are exact in half. */
HELPER float4 pattern(int x, int y, int slice) {
    return (float4)(x, y, slice, 0.5f * x + 0.25f * y);
}

/* Writes the pattern to all texels of level 0. */
kernel void self_test_write(TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1), slice = get_global_id(2);
    texel_store(result, x, y, slice, pattern(x, y, slice));
}

/* Writes out[slice][y][x] = the texel as it is fetched. */
kernel void self_test_fetch(TEXTURE_IN(source), global float4 *restrict out) {
    const int x = get_global_id(0), y = get_global_id(1), slice = get_global_id(2);
    out[(slice * source_size.y + y) * source_size.x + x] = texel_fetch(source, x, y, slice, 0);
}

/* Writes out[i] = the bilinear value at points[i] = (x, y, slice), x and y in texels. */
kernel void self_test_bilinear(TEXTURE_IN(source), global const float4 *restrict points,
                               global float4 *restrict out) {
    const int i = get_global_id(0);
    out[i] = texel_bilinear(source, points[i].x, points[i].y, (int)points[i].z, 0);
}

/* Writes out[i] = the sample at points[i] = (x, y, slice, level), x and y in pixels of the image. */
kernel void self_test_sample(TEXTURE_IN(source), global const float4 *restrict points,
                             global float4 *restrict out) {
    const int i = get_global_id(0);
    out[i] = texel_sample(source, points[i].x, points[i].y, (int)points[i].z, points[i].w);
}

/* Writes the n-th number of a linear congruential generator, with a loop that no compiler shortens. */
kernel void self_test_loop(const int n, global uint *restrict out) {
    uint number = 1;
    for (int i = 0; i < n; ++i) number = number * 1664525u + 1013904223u;
    *out = number;
}

/* Writes a * b + c, which is 0 where the product is rounded before the sum, for numbers that the host picks. */
kernel void self_test_contraction(const float a, const float b, const float c, global float *restrict out) {
    *out = a * b + c;
}

/* Writes values[i] to texel i of each row of slice 0, so that the host sees how the format rounds. */
kernel void self_test_store(global const float4 *restrict values, TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1);
    texel_store(result, x, y, 0, values[x]);
}
