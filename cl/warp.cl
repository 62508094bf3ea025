/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warp.cl: carries the encoder's vectors of an image into its next frame, so that not every frame needs the
 * encoder: `warp` moves them along the flow, and `warp_blend` mixes new vectors in. Vectors lie in the cells
 * of a grid, four components to a layer. Each work-item makes one layer of one cell.
 */
#include "texture.clh"

/* The centre, in pixels, of that part of a cell that lies in the image; cells are `step` pixels wide. */
HELPER float centre_of(int cell, float step, float side) {
    return 0.5f * (cell * step + min((cell + 1.0f) * step, max(side, cell * step)));
}

/* The indices and bilinear weights of the four texels around a point in texels, clamped to the edge. */
typedef struct taps {
    int at[4];
    float weight[4];
} taps;

HELPER taps taps_at(float x, float y, int4 size) {
    x = clamp(x, 0.5f, size.x - 0.5f) - 0.5f;
    y = clamp(y, 0.5f, size.y - 0.5f) - 0.5f;
    const int x0 = (int)x, y0 = (int)y, x1 = min(x0 + 1, size.x - 1), y1 = min(y0 + 1, size.y - 1);
    const float ax = x - x0, ay = y - y0;
    const taps found = {{y0 * size.x + x0, y0 * size.x + x1, y1 * size.x + x0, y1 * size.x + x1},
                        {(1.0f - ax) * (1.0f - ay), ax * (1.0f - ay), (1.0f - ax) * ay, ax * ay}};
    return found;
}

/*
 * The path at a point in texels, averaged over those of the four texels around it that have a path. x and y
 * are in pixels, and z is the share of the weights that belongs to texels with a path. A texel of `path` is
 * (x, y, 1 if there is a path).
 */
HELPER float4 path_at(global const float4 *restrict path, float x, float y, int4 size) {
    const taps around = taps_at(x, y, size);
    float4 sum = 0.0f;
    for (int i = 0; i < 4; ++i) {
        const float4 one = path[around.at[i]];
        const float weight = around.weight[i] * one.z;
        sum += (float4)(weight * one.x, weight * one.y, weight, 0.0f);
    }
    return sum.z > 0.0f ? (float4)(sum.x / sum.z, sum.y / sum.z, sum.z, 0.0f) : sum;
}

/*
 * Moves the vectors by one frame. The backward flow at a cell's centre says where the cell was a frame ago.
 * From there `path` leads on to the frame in which the encoder made `from`. So vectors are sampled once,
 * however many frames ago that frame was. The new path goes to `next`.
 *
 * The filter also mixes in cells that have no vector, where both `known` and `from` are 0. Dividing by the
 * share of the other cells undoes that. A cell has no vector, and no path, where
 *
 *   - the flow's confidence is below limits.x, its length above limits.y, or it leaves the image;
 *   - less than TVLM_WARP_SHARE of the filter's weight falls on cells that have a path, or on cells that have
 *     a vector.
 *
 * view = (width and height of the image in pixels, unused, unused); `level` is the level of the image at
 * which the flow is read. Without flow (`has_flow` 0) nothing moves.
 */
kernel void warp(TEXTURE_IN(from), TEXTURE_IN(flow), const int has_flow, const float4 view,
                 const float2 limits, const float level, global const float *restrict known,
                 global const float4 *restrict path, global float4 *restrict next, TEXTURE_OUT(result)) {
    const int column = get_global_id(0), row = get_global_id(1), layer = get_global_id(2);
    if (column >= result_size.x || row >= result_size.y) return;
    const float step_x = from_extent.x / result_size.x, step_y = from_extent.y / result_size.y;
    float2 moved = (float2)(0.0f, 0.0f);
    bool valid = true;
    if (has_flow) {
        const float x = centre_of(column, step_x, view.x), y = centre_of(row, step_y, view.y);
        const float4 step = texel_sample(flow, x, y, 0, level);
        const float2 to = (float2)(x + step.x, y + step.y);
        /* Flow that is not finite fails these comparisons, too. */
        valid = step.z >= limits.x && step.x * step.x + step.y * step.y <= limits.y * limits.y &&
                to.x >= 0.0f && to.x <= view.x && to.y >= 0.0f && to.y <= view.y;
        if (valid) moved = step.xy;
    }
    const float4 before =
        path_at(path, column + 0.5f + moved.x / step_x, row + 0.5f + moved.y / step_y, result_size);
    const float x = column + 0.5f + (moved.x + before.x) / step_x,
                y = row + 0.5f + (moved.y + before.y) / step_y;
    const taps around = taps_at(x, y, result_size);
    float share = 0.0f;
    for (int i = 0; i < 4; ++i) share += around.weight[i] * known[around.at[i]];
    valid = valid && before.z >= TVLM_WARP_SHARE && share >= TVLM_WARP_SHARE;
    float4 value = 0.0f;
    if (valid) value = texel_bilinear(from, x, y, layer, 0) / share;
    texel_store(result, column, row, layer, value);
    if (layer == 0)
        next[row * result_size.x + column] =
            valid ? (float4)(moved.x + before.x, moved.y + before.y, 1.0f, 0.0f) : (float4)(0.0f);
}

/* Writes old + weight (fresh - old), with a weight for each cell. */
kernel void warp_blend(TEXTURE_IN(old), TEXTURE_IN(fresh), global const float *restrict weights,
                       TEXTURE_OUT(result)) {
    const int column = get_global_id(0), row = get_global_id(1), layer = get_global_id(2);
    if (column >= result_size.x || row >= result_size.y) return;
    const float weight = weights[row * result_size.x + column];
    const float4 before = texel_fetch(old, column, row, layer, 0),
                 now = texel_fetch(fresh, column, row, layer, 0);
    texel_store(result, column, row, layer, before * (1.0f - weight) + now * weight);
}
