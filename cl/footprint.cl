/* SPDX-License-Identifier: Apache-2.0 */
/*
 * footprint.cl: averages any channels (bundle.clh) over ellipses, as anisotropic texture filtering does: an
 * ellipse is sampled by probes along its longer axis, at the level at which a texel is as wide as the shorter
 * axis.
 */
// check-kernels: -DRUN=1
// check-kernels: -DRUN=1 -DBUNDLE_UNIT=1 -DBUNDLE_SIZE=4
#include "bundle.clh"

/*
 * Writes out[ellipse][group of four channels]; refs has the references of each of the count4 groups. `places`
 * has two entries for each of the `count` ellipses: (x and y of the centre in pixels, level, image), and
 * (step from one probe to the next in x and in y, number of probes, unused). The weight of a probe is the
 * width of the ellipse where the probe stands. Work-item (group, ellipse) makes four channels. The host
 * compiles with RUN 1.
 */
kernel void footprint(BUNDLE_IN, global const int4 *restrict refs, const int count4,
                      global const float4 *restrict places, const int count, global float4 *restrict out) {
    const int group = get_global_id(0), i = get_global_id(1);
    if (group >= count4 || i >= count) return;
    const float4 at = places[2 * i], step = places[2 * i + 1];
    const int probes = (int)step.z;
    float4 sum = 0.0f;
    float weights = 0.0f;
    /* The loop is not unrolled, since each turn inlines the samplers of all textures. */
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
