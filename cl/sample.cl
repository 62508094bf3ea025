/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.cl: reads any channels of many textures (bundle.clh), at points that are listed (`sample`) or at
 * every texel of a new texture (`pack`). refs has one int4 for each group of four channels: their references.
 * A work-item reads one group of channels, either at one point or at RUN texels of each of ROWS rows.
 */
// check-kernels: -DRUN=1
// check-kernels: -DRUN=16 -DBUNDLE_UNIT=1
// check-kernels: -DRUN=64 -DROWS=8 -DBUNDLE_SIZE=4 -DRAGGED=1
// check-kernels: -DRUN=64 -DROWS=8 -DBUNDLE_SIZE=4 -DSTREAM=1
// gpu: -DBUNDLE_SIZE=1
// gpu: -DBUNDLE_SIZE=4
// gpu: -DBUNDLE_SIZE=16
#include "block.clh"

/*
 * Writes out[point][group of four channels]. A point is (x, y, level, image), x and y in pixels of the image.
 * Work-item (point, group) reads four of the 4 * count4 channels of one of `count` points, so that work-items
 * beside each other read the same texture. The host compiles it with RUN 1, since neighbouring points of the
 * list have nothing in common.
 */
kernel void sample(BUNDLE_IN, global const int4 *restrict refs, const int count4,
                   global const float4 *restrict points, const int count, global float4 *restrict out) {
    const int i = get_global_id(0), group = get_global_id(1);
    if (group >= count4 || i >= count) return;
    const float4 p = points[i];
    VIEW_OF_IMAGE((int)p.w)
    float x[RUN];
    float4 values[RUN];
    for (int r = 0; r < RUN; ++r) x[r] = p.x;
    bundle_gather(BUNDLE, refs[group], x, p.y, p.z, (int)p.w, values);
    out[i * count4 + group] = values[0];
}

/* The middle of the part of texel i that lies in an image of `side` pixels. A texel covers `step` pixels. */
HELPER float texel_centre(int i, float step, float side) {
    return 0.5f * (i * step + min((i + 1) * step, side));
}

/*
 * Makes a texture of chosen channels at one level of the image: layer n of the result has the four channels
 * refs[n], and each texel covers step.x x step.y pixels. Image images.x + i of the bundle becomes image
 * images.y + i of the result. Work-item (n, m, slice) makes RUN texels of each of ROWS rows; slice counts
 * from the first of these images on.
 */
kernel void pack(BUNDLE_IN, global const int4 *restrict refs, const float level, const int2 images,
                 ALL_ALIKE float2 step, TEXTURE_OUT(result)) {
    const int first = get_global_id(0) * RUN, row = get_global_id(1) * ROWS, slice = get_global_id(2);
    const int from = images.x + slice / result_size.z, to = images.y + slice / result_size.z;
    const int layer = slice % result_size.z;
    VIEW_OF_IMAGE(from)
    OUTPUT_OF_IMAGE(result, to)
    STEP_OF_IMAGE(result, to, step)
    if (first >= result_size.x || row >= result_size.y) return;
    const int columns = min(RUN, result_size.x - first);
    float x[RUN], y[ROWS];
    for (int i = 0; i < RUN; ++i) x[i] = texel_centre(first + i, step.x, view.x);
    for (int j = 0; j < ROWS; ++j) y[j] = texel_centre(row + j, step.y, view.y);
#if ROWS > 1
    const int rows = min(ROWS, result_size.y - row);
    float values[4][BLOCK];
#pragma unroll 1
    for (int c = 0; c < 4; ++c)
        block_gather(BUNDLE, ref_of(refs[layer], c), x, y, LEVEL_OF_IMAGE(level), from, values[c]);
    block_store(OUTPUT(result), first, row, SLICE_OF(result, to) + layer, columns, rows, values);
#else
    float4 values[RUN];
    bundle_gather(BUNDLE, refs[layer], x, y[0], LEVEL_OF_IMAGE(level), from, values);
    for (int i = 0; i < columns; ++i)
        texel_store(result, first + i, row, SLICE_OF(result, to) + layer, values[i]);
#endif
}
