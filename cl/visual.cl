/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visual.cl: four channels for each pixel, from the source's luma Y (at the image's edge pixels repeat):
 *
 *   - edges: the magnitude of Sobel's gradient over 4, at most 1;
 *   - edges_inv: 1 - edges;
 *   - high: what `low` leaves, as 0.5 + 0.5 (Y - low);
 *   - low: Y under the 5x5 binomial filter, (1 4 6 4 1) / 16 in each direction.
 *
 * The layout is that of tile.clh: a work-group loads a tile of pixels and the pixels around it into local
 * memory, and makes the tile from there. The binomial filter is separable: rows are summed first.
 *
 * With ENTROPY it also makes the entropy of detail.cl, since its cells are parts of a tile, whose luma is
 * loaded already.
 */
// check-kernels: -DGROUP_W=16 -DGROUP_H=16
// check-kernels: -DENTROPY=1
// check-kernels: -DENTROPY=1 -DRAGGED=1
// gpu:
// gpu: -DENTROPY=1
// check-kernels: -DTILE_LIST=1
#include "entropy.clh"
#include "tile.clh"

#define BORDER 2
#define W      BORDERED_W(BORDER)

/* The binomial filter of the row around r[0], times 16. */
HELPER float row_sum(local const float *r) {
    return r[-2] + 4.0f * r[-1] + 6.0f * r[0] + 4.0f * r[1] + r[2];
}

#ifdef ENTROPY
#define ENTROPY_OUT , TEXTURE_OUT(entropy)

/* The cells of a tile, and the number of the cell in which a pixel of the tile lies. */
#define CELLS_X       (TILE_W / CELL)
#define CELLS         (CELLS_X * (TILE_H / CELL))
#define CELL_AT(x, y) ((y) / CELL * CELLS_X + (x) / CELL)

/* The bin of pixel (tx, ty) of a tile. */
HELPER int bin_at(local const float *luma, int tx, int ty) {
    return entropy_bin(luma[BORDERED_AT(BORDER, tx + BORDER, ty + BORDER)]);
}

/* A group has counters of its own for each column of a cell, so that few of its work-items meet in one
 * counter. A group of one work-item needs neither these nor atomics. It finds the bins of a row first, in a
 * loop that compilers vectorise, which they do not do with a loop that counts. */
#if GROUP_W * GROUP_H == 1
#define LANES 1
INLINED void count_bins(int4 size, int left, int top, local const float *luma, local int *counts) {
    for (int ty = 0; ty < min(TILE_H, size.y - top); ++ty) {
        int bins[TILE_W];
        for (int tx = 0; tx < TILE_W; ++tx) bins[tx] = bin_at(luma, tx, ty);
        for (int tx = 0; tx < min(TILE_W, size.x - left); ++tx) ++counts[CELL_AT(tx, ty) * BINS + bins[tx]];
    }
}
#else
#define LANES CELL
#endif

/* Writes the entropy of a tile's cells. All work-items of a group call it, once the counts are complete. */
HELPER void write_entropy(int4 source_size, TEXTURE_OUT(entropy), int2 corner, int slice,
                          local const int *counts, local float *terms) {
    const int item = get_local_id(1) * GROUP_W + get_local_id(0), items = GROUP_W * GROUP_H;
    for (int i = item; i < CELLS * BINS; i += items) {
        const int x = corner.x + i / BINS % CELLS_X * CELL, y = corner.y + i / BINS / CELLS_X * CELL;
        int count = 0;
        for (int lane = 0; lane < LANES; ++lane) count += counts[i * LANES + lane];
        terms[i] = entropy_term(count, min(CELL, source_size.x - x) * min(CELL, source_size.y - y));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int cell = item; cell < CELLS; cell += items) {
        const int column = corner.x / CELL + cell % CELLS_X, row = corner.y / CELL + cell / CELLS_X;
        if (column < entropy_size.x && row < entropy_size.y)
            texel_store(entropy, column, row, slice,
                        (float4)(entropy_of(terms + cell * BINS), 0.0f, 0.0f, 0.0f));
    }
}
#else
#define ENTROPY_OUT
#endif

/* Writes a tile. `rows` holds the row sums of luma. Five pixels of a column read each row sum. */
TILE_KERNEL void visual(TEXTURE_IN(source) ENTROPY_OUT, TEXTURE_OUT(result) REGION_IN) {
    local float luma[BORDERED(BORDER)];
    local float rows[TILE_W * BORDERED_H(BORDER)];
    const int image = GROUP_Z;
    INPUT_OF_IMAGE(source, image)
    OUTPUT_OF_IMAGE(result, image)
#ifdef ENTROPY
    OUTPUT_OF_IMAGE(entropy, image)
    local int counts[CELLS * BINS * LANES];
    local float terms[CELLS * BINS];
    for (int i = get_local_id(1) * GROUP_W + get_local_id(0); i < CELLS * BINS * LANES;
         i += GROUP_W * GROUP_H)
        counts[i] = 0;
#endif
    tile_load_w(source, SLICE_OF(source, image), BORDER, luma);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int ty = (int)get_local_id(1); ty < BORDERED_H(BORDER); ty += GROUP_H)
        for (int tx = (int)get_local_id(0); tx < TILE_W; tx += GROUP_W)
            rows[ty * TILE_W + tx] = row_sum(luma + BORDERED_AT(BORDER, tx + BORDER, ty));
#if defined(ENTROPY) && GROUP_W * GROUP_H == 1
    count_bins(source_size, TILE_X, TILE_Y, luma, counts);
#elif defined(ENTROPY)
    FOR_TILE(source_size, tx, ty) {
        const int bin = bin_at(luma, tx, ty);
        atomic_inc(&counts[(CELL_AT(tx, ty) * BINS + bin) * LANES + tx % LANES]);
    }
#endif
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
        tile_store(result, tx, ty, SLICE_OF(result, image), (float4)(edges, 1.0f - edges, high, low));
    }
#ifdef ENTROPY
    write_entropy(source_size, OUTPUT(entropy), (int2)(TILE_X, TILE_Y), SLICE_OF(entropy, image), counts,
                  terms);
#endif
}
