/*
 * sample.cl: channels of many families at points, and at every texel of a new array.
 */
#include "bundle.clh"

/* out[point][4 * count4]; points are (x, y in pixels of the image, level, image). Work-item (group of four, point). */
kernel void sample(BUNDLE_IN, global const int4 *restrict refs, const int count4, global const float4 *restrict points,
                   const int count, global float4 *restrict out) {
    const int group = get_global_id(0), i = get_global_id(1);
    if (group >= count4 || i >= count) return;
    const float4 p = points[i];
    out[i * count4 + group] = bundle_gather(BUNDLE, refs[group], p.x, p.y, p.z, (int)p.w);
}

/* Four channels a layer: refs[layer]. Work-item a texel; z is the slice. */
kernel void pack(BUNDLE_IN, global const int4 *restrict refs, const float level, TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1), slice = get_global_id(2);
    if (x >= result_size.x || y >= result_size.y) return;
    const float px = (x + 0.5f) * (view.x / result_size.x), py = (y + 0.5f) * (view.y / result_size.y);
    const float4 value =
        bundle_gather(BUNDLE, refs[slice % result_size.z], px, py, level, slice / result_size.z);
    texel_store(result, x, y, slice, value);
}
