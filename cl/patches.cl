/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patches.cl: square patches of any channels around points, as planes for an encoder.
 */
// check-kernels: -DRUN=1
// check-kernels: -DRUN=16 -DBUNDLE_UNIT=1 -DOUT_HALF=1
// check-kernels: -DRUN=1 -DREFLECT=1 -DBUNDLE_SIZE=1
#include "bundle.clh"

#ifndef OUT_HALF
#define OUT_HALF 0
#endif

#ifndef REFLECT
#define REFLECT 0
#endif

#if OUT_HALF
typedef half out_t;
#define OUT_STORE(out, index, value) vstore_half_rte(value, index, out)
#else
typedef float out_t;
#define OUT_STORE(out, index, value) (out)[index] = (value)
#endif

/* Mirrored at the edges of the image, as often as it takes. Inside nothing is done to it. */
inline float reflected(float x, float side) {
    if (x >= 0.0f && x <= side) return x;
    const float period = 2.0f * side, into = x - floor(x / period) * period;
    return into > side ? period - into : into;
}

/*
 * out[patch][channel][side][side] = (value - mean) / deviation. plan: refs[count4], means[count4],
 * deviations[count4] (the latter two as floats). places: two for a patch, (x, y in pixels, level, image) of
 * its centre and (step between its texels in x, in y, -, -). Work-item RUN texels of a row; z is (patch,
 * group of four channels). With REFLECT compiled with RUN 1: folded rows are no rows.
 */
kernel void patches(BUNDLE_IN, global const int4 *restrict plan, const int count4, const int channels,
                    global const float4 *restrict places, const int count, const int side,
                    global out_t *restrict out) {
    const int first = get_global_id(0) * RUN, row = get_global_id(1);
    const int patch = get_global_id(2) / count4, group = get_global_id(2) % count4;
    if (first >= side || row >= side || patch >= count) return;
    const float4 at = places[2 * patch], step = places[2 * patch + 1];
    const float4 mean = as_float4(plan[count4 + group]), deviation = as_float4(plan[2 * count4 + group]);
    float x[RUN], y = at.y + (row + 0.5f - 0.5f * side) * step.y;
    float4 values[RUN];
    for (int i = 0; i < RUN; ++i) x[i] = at.x + (first + i + 0.5f - 0.5f * side) * step.x;
#if REFLECT
    for (int i = 0; i < RUN; ++i) x[i] = reflected(x[i], view.x);
    y = reflected(y, view.y);
#endif
    bundle_gather(BUNDLE, plan[group], x, y, at.z, (int)at.w, values);
    const int wide = min(RUN, side - first), area = side * side;
    const int kept = min(4, channels - 4 * group);
    const size_t base =
        ((size_t)patch * channels + (size_t)(4 * group)) * (size_t)area + (size_t)(row * side + first);
    for (int i = 0; i < wide; ++i) {
        const float4 v = (values[i] - mean) / deviation;
        OUT_STORE(out, base + i, v.x);
        if (kept > 1) OUT_STORE(out, base + area + i, v.y);
        if (kept > 2) OUT_STORE(out, base + 2 * area + i, v.z);
        if (kept > 3) OUT_STORE(out, base + 3 * area + i, v.w);
    }
}
