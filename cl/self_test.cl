/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self_test.cl: known answers for what drivers get wrong. lib/opencl/self_test.c knows what must come out.
 */
#include "texture.clh"

/* A texel that tells where it stands; exact in half. */
inline float4 pattern(int x, int y, int slice) {
    return (float4)(x, y, slice, 0.5f * x + 0.25f * y);
}

kernel void self_test_write(TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1), slice = get_global_id(2);
    texel_store(result, x, y, slice, pattern(x, y, slice));
}

/* out[slice][y][x]: the texels as they are read. */
kernel void self_test_fetch(TEXTURE_IN(source), global float4 *restrict out) {
    const int x = get_global_id(0), y = get_global_id(1), slice = get_global_id(2);
    out[(slice * source_size.y + y) * source_size.x + x] = texel_fetch(source, x, y, slice, 0);
}

/* out[i]: bilinear at points[i] = (x, y, slice), in texels. */
kernel void self_test_bilinear(TEXTURE_IN(source), global const float4 *restrict points,
                               global float4 *restrict out) {
    const int i = get_global_id(0);
    out[i] = texel_bilinear(source, points[i].x, points[i].y, (int)points[i].z, 0);
}

/* out[i]: sampled at points[i] = (x, y, slice, level). */
kernel void self_test_sample(TEXTURE_IN(source), global const float4 *restrict points,
                             global float4 *restrict out) {
    const int i = get_global_id(0);
    out[i] = texel_sample(source, points[i].x, points[i].y, (int)points[i].z, points[i].w);
}

/* The n-th number of a generator: a loop that nothing shortens. */
kernel void self_test_loop(const int n, global uint *restrict out) {
    uint number = 1;
    for (int i = 0; i < n; ++i) number = number * 1664525u + 1013904223u;
    *out = number;
}

/* Texel i of row 0 is values[i], stored as this format stores it. */
kernel void self_test_store(global const float4 *restrict values, TEXTURE_OUT(result)) {
    const int x = get_global_id(0);
    texel_store(result, x, 0, 0, values[x]);
}
