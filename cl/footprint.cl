/* SPDX-License-Identifier: Apache-2.0 */
/*
 * footprint.cl: channels averaged over ellipses: probes along the longer axis, each as wide as the shorter.
 */
// check-kernels: -DRUN=1
// check-kernels: -DRUN=1 -DBUNDLE_UNIT=1 -DBUNDLE_SIZE=4
#include "bundle.clh"

/*
 * out[point][4 * count4]. places: two for a point, (x, y in pixels, level, image) and (step between probes in
 * x, in y, probes, -). A probe's weight is the ellipse's width where it stands. Work-item (group of four,
 * point).
 */
kernel void footprint(BUNDLE_IN, global const int4 *restrict refs, const int count4,
                      global const float4 *restrict places, const int count, global float4 *restrict out) {
    const int group = get_global_id(0), i = get_global_id(1);
    if (group >= count4 || i >= count) return;
    const float4 at = places[2 * i], step = places[2 * i + 1];
    const int probes = (int)step.z;
    float4 sum = 0.0f;
    float weights = 0.0f;
    /* Not unrolled: each turn inlines every texture's sampler. */
#pragma unroll 1
    for (int probe = 0; probe < probes; ++probe) {
        const float along = probe - 0.5f * (probes - 1), t = 2.0f * along / probes;
        const float weight = sqrt(1.0f - t * t);
        float x[RUN];
        float4 values[RUN];
        for (int r = 0; r < RUN; ++r) x[r] = at.x + along * step.x;
        bundle_gather(BUNDLE, refs[group], x, at.y + along * step.y, at.z, (int)at.w, values);
        sum += weight * values[0];
        weights += weight;
    }
    out[i * count4 + group] = sum / weights;
}
