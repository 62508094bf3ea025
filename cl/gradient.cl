/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradient.cl: four channels for each pixel of the source, from its 3x3 neighbourhood (at the image's edge
 * pixels repeat):
 *
 *   - edge_x and edge_y: Sobel's derivatives of luma, over 4, with their sign;
 *   - rgb_var: four times the variance of the 27 values r, g and b, at most 1;
 *   - rgb_mean: their mean.
 *
 * The layout is that of tile.clh: a work-group loads a tile of pixels and the pixels around it into local
 * memory, and makes the tile from there.
 */
// check-kernels: -DGROUP_W=16 -DGROUP_H=16
// check-kernels: -DTILE_LIST=1
// check-kernels: -DRAGGED=1
#include "tile.clh"

#define BORDER 1
#define W      BORDERED_W(BORDER)

/* The sum of the 3x3 neighbourhood of p[0] in an array with the tile's border. */
HELPER float box_sum(local const float *p) {
    return (p[-W - 1] + p[-W] + p[-W + 1]) + (p[-1] + p[0] + p[1]) + (p[W - 1] + p[W] + p[W + 1]);
}

/* Writes a tile. Local memory holds each pixel's luma and the sum and sum of squares of its three colours. */
TILE_KERNEL void gradient(TEXTURE_IN(source), TEXTURE_OUT(result) REGION_IN) {
    local float luma[BORDERED(BORDER)], sums[BORDERED(BORDER)], squares[BORDERED(BORDER)];
    const int image = GROUP_Z;
    INPUT_OF_IMAGE(source, image)
    OUTPUT_OF_IMAGE(result, image)
    FOR_BORDERED(BORDER, tx, ty) {
        const float4 texel =
            texel_fetch(source, TILE_X + tx - BORDER, TILE_Y + ty - BORDER, SLICE_OF(source, image), 0);
        /* Mid-gray is subtracted from colours, so that the variance loses less to rounding. */
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
        texel_store(result, TILE_X + tx, TILE_Y + ty, SLICE_OF(result, image),
                    (float4)(0.25f * gx, 0.25f * gy, clamp(4.0f * variance, 0.0f, 1.0f),
                             clamp(mean + 0.5f, 0.0f, 1.0f)));
    }
}
