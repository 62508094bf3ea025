/*
 * warp.cl: the encoder's vectors of one image moved into its next frame, and new ones mixed in.
 */
#include "texture.clh"

/* The centre, in pixels, of what the image leaves of a cell. */
inline float centre_of(int cell, float step, float side) {
    return 0.5f * (cell * step + min((cell + 1.0f) * step, max(side, cell * step)));
}

/*
 * Each cell from where it was by the (backward) flow at its centre. `known`: 1 where a cell has a vector,
 * else 0; the others are 0 in `from`, so that what the filter mixes in of them is divided out again. view:
 * width and height of the image, in pixels; limits: the least confidence, the longest step. Work-item a
 * layer of a cell.
 */
kernel void warp(TEXTURE_IN(from), TEXTURE_IN(flow), const int has_flow, const float4 view,
                 const float2 limits, const float level, global const float *restrict known,
                 global float *restrict still_known, TEXTURE_OUT(result)) {
    const int column = get_global_id(0), row = get_global_id(1), layer = get_global_id(2);
    if (column >= result_size.x || row >= result_size.y) return;
    const float step_x = from_extent.x / result_size.x, step_y = from_extent.y / result_size.y;
    float2 moved = (float2)(0.0f, 0.0f);
    bool valid = true;
    if (has_flow) {
        const float x = centre_of(column, step_x, view.x), y = centre_of(row, step_y, view.y);
        const float4 step = texel_sample(flow, x, y, 0, level);
        const float2 to = (float2)(x + step.x, y + step.y);
        /* Not finite fails these too. */
        valid = step.z >= limits.x && step.x * step.x + step.y * step.y <= limits.y * limits.y &&
                to.x >= 0.0f && to.x <= view.x && to.y >= 0.0f && to.y <= view.y;
        if (valid) moved = step.xy;
    }
    const float x = clamp(column + 0.5f + moved.x / step_x, 0.5f, result_size.x - 0.5f),
                y = clamp(row + 0.5f + moved.y / step_y, 0.5f, result_size.y - 0.5f);
    const int x0 = (int)(x - 0.5f), y0 = (int)(y - 0.5f);
    const int x1 = min(x0 + 1, result_size.x - 1), y1 = min(y0 + 1, result_size.y - 1);
    const float ax = x - 0.5f - x0, ay = y - 0.5f - y0;
    const float above = known[y0 * result_size.x + x0] * (1.0f - ax) + known[y0 * result_size.x + x1] * ax;
    const float below = known[y1 * result_size.x + x0] * (1.0f - ax) + known[y1 * result_size.x + x1] * ax;
    const float share = above * (1.0f - ay) + below * ay;
    valid = valid && share >= TVLM_WARP_SHARE;
    float4 value = 0.0f;
    if (valid) value = texel_bilinear(from, x, y, layer, 0) / share;
    texel_store(result, column, row, layer, value);
    if (layer == 0) still_known[row * result_size.x + column] = valid ? 1.0f : 0.0f;
}

/* old + weight (fresh - old), a weight a cell. */
kernel void warp_blend(TEXTURE_IN(old), TEXTURE_IN(fresh), global const float *restrict weights,
                       TEXTURE_OUT(result)) {
    const int column = get_global_id(0), row = get_global_id(1), layer = get_global_id(2);
    if (column >= result_size.x || row >= result_size.y) return;
    const float weight = weights[row * result_size.x + column];
    const float4 before = texel_fetch(old, column, row, layer, 0),
                 now = texel_fetch(fresh, column, row, layer, 0);
    texel_store(result, column, row, layer, before * (1.0f - weight) + now * weight);
}
