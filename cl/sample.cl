/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.cl: channels of many families at points, and at every texel of a new array.
 */
// check-kernels: -DRUN=1
// check-kernels: -DRUN=16 -DBUNDLE_UNIT=1
#include "bundle.clh"

/*
 * out[point][4 * count4]; points are (x, y in pixels of the image, level, image). Work-item (group of four,
 * point). Compiled with RUN 1: each point is somewhere else.
 */
kernel void sample(BUNDLE_IN, global const int4 *restrict refs, const int count4,
                   global const float4 *restrict points, const int count, global float4 *restrict out) {
    const int group = get_global_id(0), i = get_global_id(1);
    if (group >= count4 || i >= count) return;
    const float4 p = points[i];
    float x[RUN];
    float4 values[RUN];
    for (int r = 0; r < RUN; ++r) x[r] = p.x;
    bundle_gather(BUNDLE, refs[group], x, p.y, p.z, (int)p.w, values);
    out[i * count4 + group] = values[0];
}

/*
 * Four channels a layer: refs[layer]. The bundle's images go to those of the result from `to` on. Work-item
 * RUN texels of a row; z is the slice.
 */
kernel void pack(BUNDLE_IN, global const int4 *restrict refs, const float level, const int to,
                 TEXTURE_OUT(result)) {
    const int first = get_global_id(0) * RUN, y = get_global_id(1), slice = get_global_id(2);
    if (first >= result_size.x || y >= result_size.y) return;
    const float step_x = view.x / result_size.x, step_y = view.y / result_size.y;
    float x[RUN];
    float4 values[RUN];
    for (int i = 0; i < RUN; ++i) x[i] = (first + i + 0.5f) * step_x;
    bundle_gather(BUNDLE, refs[slice % result_size.z], x, (y + 0.5f) * step_y, level, slice / result_size.z,
                  values);
    for (int i = 0; i < min(RUN, result_size.x - first); ++i)
        texel_store(result, first + i, y, to * result_size.z + slice, values[i]);
}
