/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visual.cl: edges, edges_inv, high, low from the source's luma.
 *
 * edges: Sobel 3x3, magnitude / 4, at most 1; edges_inv = 1 - edges; low: 5x5 binomial (1 4 6 4 1)/16;
 * high = 0.5 + 0.5 (Y - low). Borders clamp to the edge.
 */
// check-kernels: -DGROUP_W=16 -DGROUP_H=16
// check-kernels: -DTILE_LIST=1
#include "tile.clh"

#define BORDER 2
#define W      BORDERED_W(BORDER)

/* The binomial's row sum around r[0]. */
inline float row_sum(local const float *r) {
    return r[-2] + 4.0f * r[-1] + 6.0f * r[0] + 4.0f * r[1] + r[2];
}

TILE_KERNEL void visual(TEXTURE_IN(source), TEXTURE_OUT(result) REGION_IN) {
    local float luma[BORDERED(BORDER)];
    local float
        rows[TILE_W * BORDERED_H(BORDER)]; /* of luma, summed along x: once, for the five that read each */
    const int image = GROUP_Z;
    FOR_BORDERED(BORDER, tx, ty)
    luma[BORDERED_AT(BORDER, tx, ty)] =
        texel_fetch(source, TILE_X + tx - BORDER, TILE_Y + ty - BORDER, image * source_size.z, 0).w;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int ty = (int)get_local_id(1); ty < BORDERED_H(BORDER); ty += GROUP_H)
        for (int tx = (int)get_local_id(0); tx < TILE_W; tx += GROUP_W)
            rows[ty * TILE_W + tx] = row_sum(luma + BORDERED_AT(BORDER, tx + BORDER, ty));
    barrier(CLK_LOCAL_MEM_FENCE);

    FOR_TILE(result_size, tx, ty) {
        local const float *at = luma + BORDERED_AT(BORDER, tx + BORDER, ty + BORDER), *up = at - W,
                          *down = at + W;
        const float gx = (up[1] - up[-1]) + 2.0f * (at[1] - at[-1]) + (down[1] - down[-1]);
        const float gy = (down[-1] - up[-1]) + 2.0f * (down[0] - up[0]) + (down[1] - up[1]);
        const float edges = min(1.0f, 0.25f * sqrt(gx * gx + gy * gy));
        local const float *row = rows + ty * TILE_W + tx; /* two above this one */
        const float sum =
            row[0] + 4.0f * row[TILE_W] + 6.0f * row[2 * TILE_W] + 4.0f * row[3 * TILE_W] + row[4 * TILE_W];
        const float low = clamp(sum / 256.0f, 0.0f, 1.0f);
        const float high = clamp(0.5f + 0.5f * (at[0] - low), 0.0f, 1.0f);
        texel_store(result, TILE_X + tx, TILE_Y + ty, image, (float4)(edges, 1.0f - edges, high, low));
    }
}
