/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visual.cl: four channels for each pixel, from the source's luma Y (at the image's edge pixels repeat):
 *
 *   - edges: the magnitude of Sobel's gradient over 4, at most 1;
 *   - edges_inv: 1 - edges;
 *   - high: what `low` leaves, as 0.5 + 0.5 (Y - low);
 *   - low: Y under the 5x5 binomial filter, (1 4 6 4 1) / 16 in each direction.
 *
 * The layout is that of tile.clh. The binomial filter is separable: rows are summed first.
 */
// check-kernels: -DGROUP_W=16 -DGROUP_H=16
// check-kernels: -DTILE_LIST=1
#include "tile.clh"

#define BORDER 2
#define W      BORDERED_W(BORDER)

/* The binomial filter of the row around r[0], times 16. */
HELPER float row_sum(local const float *r) {
    return r[-2] + 4.0f * r[-1] + 6.0f * r[0] + 4.0f * r[1] + r[2];
}

/* Writes a tile. `rows` holds the row sums of luma, each of which five pixels of a column read. */
TILE_KERNEL void visual(TEXTURE_IN(source), TEXTURE_OUT(result) REGION_IN) {
    local float luma[BORDERED(BORDER)];
    local float rows[TILE_W * BORDERED_H(BORDER)];
    const int image = GROUP_Z;
    tile_load_w(source, image * source_size.z, BORDER, luma);
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
        /* The row sum two pixels above this one. */
        local const float *row = rows + ty * TILE_W + tx;
        const float sum =
            row[0] + 4.0f * row[TILE_W] + 6.0f * row[2 * TILE_W] + 4.0f * row[3 * TILE_W] + row[4 * TILE_W];
        const float low = clamp(sum / 256.0f, 0.0f, 1.0f);
        const float high = clamp(0.5f + 0.5f * (at[0] - low), 0.0f, 1.0f);
        texel_store(result, TILE_X + tx, TILE_Y + ty, image, (float4)(edges, 1.0f - edges, high, low));
    }
}
