/* SPDX-License-Identifier: Apache-2.0 */
/*
 * footprint.cl: averages any channels (bundle.clh) over ellipses, as anisotropic texture filtering does: an
 * ellipse is sampled by probes along its longer axis, at the level at which a texel is as wide as the shorter
 * axis. A work-item makes four channels of one ellipse.
 */
// check-kernels: -DRUN=1
// check-kernels: -DRUN=1 -DBUNDLE_UNIT=1 -DBUNDLE_SIZE=4
// gpu: -DBUNDLE_SIZE=1
// gpu: -DBUNDLE_SIZE=4
// gpu: -DBUNDLE_SIZE=16
#include "bundle.clh"

/* An ellipse, as it stands in `places` of the kernel below. */
typedef struct ellipse {
    float4 at, step;
} ellipse;

/* Where a probe stands, and its weight. */
HELPER float2 probe_at(ellipse e, int probe, float *weight) {
    const float along = probe - 0.5f * (e.step.z - 1.0f), t = 2.0f * along / e.step.z;
    *weight = sqrt(1.0f - t * t);
    return e.at.xy + along * e.step.xy;
}

/* Sets those components of `sum` whose references are to texture `t`, the n-th of its bundle, to their sums
 * over all probes. */
INLINED void sum_from_(TEXTURE_IN(t), int n, int4 refs, ellipse e, float4 *sum) {
    float4 part = 0.0f;
#pragma unroll 1
    for (int probe = 0; probe < (int)e.step.z; ++probe) {
        float weight;
        const float2 at = probe_at(e, probe, &weight);
        const float x = at.x;
        float4 value = 0.0f;
        gather_from_(TEXTURE(t), n, refs, &x, at.y, e.at.z, (int)e.at.w, &value);
        part += weight * value;
    }
    *sum += part;
}
/*
 * Writes out[ellipse][group of four channels]; all_refs has the references of each of the count4 groups.
 * `places` has two entries for each of the `count` ellipses: (x and y of the centre in pixels, level, image),
 * and (step from one probe to the next in x and in y, number of probes, unused). The weight of a probe is the
 * width of the ellipse where the probe stands. Work-item (ellipse, group) makes four channels, so that
 * work-items beside each other read the same texture. The host compiles with RUN 1.
 */
kernel void footprint(BUNDLE_IN, global const int4 *restrict all_refs, const int count4,
                      global const float4 *restrict places, const int count, global float4 *restrict out) {
    const int group = get_global_id(1), i = get_global_id(0);
    if (group >= count4 || i >= count) return;
    const ellipse e = {places[2 * i], places[2 * i + 1]};
    const int4 refs = all_refs[group];
    const int used = textures_of(refs);
    float4 sum = 0.0f;
    float weights = 0.0f, weight;
#define SUM(n)                                                                                               \
    if (used >> n & 1) sum_from_(TEXTURE(b##n), n, refs, e, &sum);
    BUNDLE_EACH(SUM)
#undef SUM
    float4 computed = 0.0f;
    for (int probe = 0; probe < (int)e.step.z; ++probe) {
        const float2 at = probe_at(e, probe, &weight);
        const float x = at.x;
        float4 value = 0.0f;
        if (used >> TVLM_BUNDLE_FORMULA & 1) gather_formula(view, formula, refs, &x, at.y, &value);
        computed += weight * value;
        weights += weight;
    }
    out[i * count4 + group] = (sum + computed) / weights;
}
