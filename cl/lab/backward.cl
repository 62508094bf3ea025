/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backward.cl: the backward pass of texel_sample (texture.clh). Given the gradients by the samples, it makes
 * the gradients by the texels of all levels, and the gradients by x, y and the level of each point.
 *
 * The host lists which texels each point gives to, and with what weight, sorted by texel. So one work-item
 * adds up what a texel gets, in an order that is always the same. Atomics would add in any order.
 *
 *   - backward_parts adds up segments of the list. A coarse texel may be in the list a million times, and
 *     then has many segments.
 *   - backward_level adds up a texel's segments, and what the next coarser level hands down to it.
 *   - backward_steps makes the gradients by x, y and the level of each point.
 *
 * Points and texels have vectors of 4 * layers components, which lie beside each other.
 */
#include "texture.clh"

/* Makes parts[segment * layers + layer], the sum over a segment's entries of weight * given. An entry of the
 * list is the number of a point and the bits of its weight. A segment is the entries from begins[segment] to
 * before begins[segment + 1]. A work-item makes one layer of one of `count` segments. */
kernel void backward_parts(global const int2 *restrict entries, global const int *restrict begins,
                           const int count, const int layers, global const float4 *restrict given,
                           global float4 *restrict parts) {
    const size_t item = get_global_id(0);
    const int segment = (int)(item / layers), layer = (int)(item % layers);
    if (segment >= count) return;
    float4 sum = 0.0f;
    for (int i = begins[segment]; i < begins[segment + 1]; ++i)
        sum += as_float(entries[i].y) * given[(size_t)entries[i].x * layers + layer];
    parts[item] = sum;
}

/* Texel x of a side is part of one or two texels of the next level. This is the first of them. */
HELPER int first_above(int side, int x) {
    return side % 2 == 0 ? x / 2 : max(0, (x - 1) / 2);
}

/* The weight with which texel x of a side counts in texel `above` of the next level (mips.cl). A side of
 * 2m + 1 texels becomes one of m. */
HELPER float share_above(int side, int x, int above) {
    if (side == 1) return 1.0f;
    if (side % 2 == 0) return 0.5f;
    const int half_side = side / 2, within = x - 2 * above;
    return (float)(within == 0 ? half_side - above : within == 1 ? half_side : above + 1) / (float)side;
}

/* Makes the gradients by the texels of one level, in `out` from vector out_at on. `begins` has, from number
 * begins_at on, the first segment of each texel. From vector above_at on, `above` has the gradients of the
 * next coarser level, of size `next`; next.x is 0 where no point reached that level. A work-item makes one
 * layer of a texel. */
kernel void backward_level(global const int *restrict begins, const int begins_at,
                           global const float4 *restrict parts, const int2 size, const int2 next,
                           const int layers, global const float4 *above, const ulong above_at,
                           global float4 *out, const ulong out_at) {
    const size_t item = get_global_id(0);
    const int texel = (int)(item / layers), layer = (int)(item % layers);
    if (texel >= size.x * size.y) return;
    const int x = texel % size.x, y = texel / size.x;
    float4 sum = 0.0f;
    begins += begins_at;
    for (int i = begins[texel]; i < begins[texel + 1]; ++i) sum += parts[(size_t)i * layers + layer];
    for (int v = first_above(size.y, y); v <= min(y / 2, next.y - 1); ++v)
        for (int u = first_above(size.x, x); u <= min(x / 2, next.x - 1); ++u)
            sum += share_above(size.x, x, u) * share_above(size.y, y, v) *
                   above[above_at + (size_t)(v * next.x + u) * layers + layer];
    out[out_at + item] = sum;
}

/*
 * The product of a point's sample at one level with the gradients that were given, and the derivatives of
 * this product by x and y, per pixel. Left of the first texel's centre, and above it, the sample is constant.
 * Beyond the last centre, both texels of the interpolation are the last one.
 */
HELPER float3 level_step(TEXTURE_IN(from), int slice, int layers, int level, float2 point,
                         global const float4 *given) {
    const int4 place = level_place_(TEXTURE(from), slice, level);
    const float2 scale = (float2)((float)place.x / from_extent.x, (float)place.y / from_extent.y);
    const float2 at = point * scale - 0.5f;
    const float2 clamped = clamp(at, (float2)(0.0f), (float2)((float)(place.x - 1), (float)(place.y - 1)));
    const int x = (int)clamped.x, y = (int)clamped.y;
    const float2 t = clamped - (float2)((float)x, (float)y);
    float3 sum = 0.0f;
    for (int layer = 0; layer < layers; ++layer) {
        const int4 own = level_place_(TEXTURE(from), slice + layer, level);
        const float4 a = texel_fetch_at_(TEXTURE(from), own, slice + layer, level, x, y);
        const float4 b = texel_fetch_at_(TEXTURE(from), own, slice + layer, level, x + 1, y);
        const float4 c = texel_fetch_at_(TEXTURE(from), own, slice + layer, level, x, y + 1);
        const float4 d = texel_fetch_at_(TEXTURE(from), own, slice + layer, level, x + 1, y + 1);
        const float4 top = a + (b - a) * t.x, bottom = c + (d - c) * t.x;
        const float4 g = given[layer];
        sum += (float3)(dot(g, top + (bottom - top) * t.y), dot(g, (b - a) + ((d - c) - (b - a)) * t.y),
                        dot(g, bottom - top));
    }
    return sum * (float3)(1.0f, at.x >= 0.0f ? scale.x : 0.0f, at.y >= 0.0f ? scale.y : 0.0f);
}

/* Writes steps[point]: the gradients by x, y and the level, and 0. A point is (x, y, level, image). Work-item
 * i makes point i. */
kernel void backward_steps(TEXTURE_IN(from), const int first_layer, const int layers,
                           global const float4 *restrict points, const int count,
                           global const float4 *restrict given, global float4 *restrict steps) {
    const int i = get_global_id(0);
    if (i >= count) return;
    const float4 point = points[i];
    const int slice = (int)point.w * from_size.z + first_layer;
    const float wanted = point.z - from_extent.z, last = (float)(LEVEL_COUNT(from_size) - 1);
    const float own = clamp(wanted, 0.0f, last);
    const int lower = (int)own;
    const float between = own - lower;
    given += (size_t)i * layers;
    const float3 here = level_step(TEXTURE(from), slice, layers, lower, point.xy, given);
    float3 next = here;
    if (lower + 1 < LEVEL_COUNT(from_size))
        next = level_step(TEXTURE(from), slice, layers, lower + 1, point.xy, given);
    const float3 mixed = here + (next - here) * between;
    const float rise = wanted >= 0.0f && wanted < last ? next.x - here.x : 0.0f;
    steps[i] = (float4)(mixed.y, mixed.z, rise, 0.0f);
}
