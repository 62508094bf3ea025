/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradient.cl: edge_x, edge_y (signed Sobel / 4), rgb_var, rgb_mean (over the 3x3 neighbourhood and three
 * colours).
 */
// check-kernels: -DGROUP_W=16 -DGROUP_H=16
// check-kernels: -DTILE_LIST=1
#include "tile.clh"

#define BORDER 1
#define W      BORDERED_W(BORDER)

/* Of a 3x3 neighbourhood around p[0]. */
inline float box_sum(local const float *p) {
    return (p[-W - 1] + p[-W] + p[-W + 1]) + (p[-1] + p[0] + p[1]) + (p[W - 1] + p[W] + p[W + 1]);
}

TILE_KERNEL void gradient(TEXTURE_IN(source), TEXTURE_OUT(result) REGION_IN) {
    local float luma[BORDERED(BORDER)], sums[BORDERED(BORDER)], squares[BORDERED(BORDER)];
    const int image = GROUP_Z;
    FOR_BORDERED(BORDER, tx, ty) {
        const float4 texel =
            texel_fetch(source, TILE_X + tx - BORDER, TILE_Y + ty - BORDER, image * source_size.z, 0);
        /* About mid-gray: squares lose less that way. */
        const float r = texel.x - 0.5f, g = texel.y - 0.5f, b = texel.z - 0.5f;
        const int at = BORDERED_AT(BORDER, tx, ty);
        luma[at] = texel.w;
        sums[at] = r + g + b;
        squares[at] = r * r + g * g + b * b;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    FOR_TILE(result_size, tx, ty) {
        const int at = BORDERED_AT(BORDER, tx + BORDER, ty + BORDER);
        local const float *l = luma + at, *up = l - W, *down = l + W;
        const float gx = (up[1] - up[-1]) + 2.0f * (l[1] - l[-1]) + (down[1] - down[-1]);
        const float gy = (down[-1] - up[-1]) + 2.0f * (down[0] - up[0]) + (down[1] - up[1]);
        const float mean = box_sum(sums + at) / 27.0f;
        const float variance = box_sum(squares + at) / 27.0f - mean * mean;
        texel_store(result, TILE_X + tx, TILE_Y + ty, image,
                    (float4)(0.25f * gx, 0.25f * gy, clamp(4.0f * variance, 0.0f, 1.0f),
                             clamp(mean + 0.5f, 0.0f, 1.0f)));
    }
}
