/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patches.cl: cuts square patches of any channels (bundle.clh) out of the images, normalised and laid out in
 * planes, as an encoder takes them. Texels of a patch need not be pixels: a patch has a step between its
 * texels and is read at a level, so it can cover any area.
 *
 * A work-item makes up to four channels of RUN texels of a patch's row: 1 on GPUs, more on CPUs. OUT_HALF 1
 * writes half instead of float. REFLECT 1 mirrors the image at its edges; otherwise the pixels of the edge
 * repeat beyond it.
 */
// check-kernels: -DRUN=1
// check-kernels: -DRUN=16 -DBUNDLE_UNIT=1 -DOUT_HALF=1
// check-kernels: -DRUN=1 -DREFLECT=1 -DBUNDLE_SIZE=1
// gpu: -DBUNDLE_SIZE=1
// gpu: -DBUNDLE_SIZE=4
// gpu: -DBUNDLE_SIZE=16
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

/* A coordinate mirrored at 0 and `side` until it lies between them. A coordinate inside stays as it is, to
 * the bit. */
HELPER float reflected(float x, float side) {
    if (x >= 0.0f && x <= side) return x;
    const float period = 2.0f * side, into = x - floor(x / period) * period;
    return into > side ? period - into : into;
}

/*
 * For each place it writes out[patch][channel][side][side] = (value - mean) / deviation.
 *
 *   - `plan` has count4 entries each of references, means, and deviations, the latter two as the bits of
 *     floats.
 *   - `places` has two entries for each of the `count` patches: (x and y of its centre in pixels, level,
 *     image), and (pixels from one of its texels to the next in x and in y, the bits of `patch`, unused).
 *
 * Work-item (n, row, patch * count4 + group) makes RUN texels of a row, of up to four channels. With REFLECT
 * the host compiles with RUN 1, since mirrored points are not a row.
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
    const size_t base = ((size_t)as_int(step.z) * channels + (size_t)(4 * group)) * (size_t)area +
                        (size_t)(row * side + first);
    for (int i = 0; i < wide; ++i) {
        const float4 v = (values[i] - mean) / deviation;
        OUT_STORE(out, base + i, v.x);
        if (kept > 1) OUT_STORE(out, base + area + i, v.y);
        if (kept > 2) OUT_STORE(out, base + 2 * area + i, v.z);
        if (kept > 3) OUT_STORE(out, base + 3 * area + i, v.w);
    }
}
