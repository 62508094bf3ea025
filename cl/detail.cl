/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail.cl: two measures of detail in the source's luma:
 *
 *   - laplacian, for each pixel: a quarter of the sum of its four neighbours, less the pixel;
 *   - entropy, for each cell of 16 x 16 pixels: Shannon's entropy of a histogram of 16 bins, over its largest
 *     value of 4 bits. A cell at the image's edge counts only the pixels that the image has.
 *
 * laplacian uses the tiles of tile.clh. The kernel `entropy` says how its work is laid out.
 */
// check-kernels: -DLANES=1 -DCELLS=1
// check-kernels: -DTILE_LIST=1
// check-kernels: -DRAGGED=1
#include "entropy.clh"
#include "tile.clh"

#define BORDER 1
#define W      BORDERED_W(BORDER)

/* Writes the laplacian of a tile: at the image's edge pixels repeat. */
TILE_KERNEL void laplacian(TEXTURE_IN(source), TEXTURE_OUT(result) REGION_IN) {
    local float luma[BORDERED(BORDER)];
    const int image = GROUP_Z;
    INPUT_OF_IMAGE(source, image)
    OUTPUT_OF_IMAGE(result, image)
    tile_load_w(source, SLICE_OF(source, image), BORDER, luma);
    barrier(CLK_LOCAL_MEM_FENCE);

    FOR_TILE(result_size, tx, ty) {
        local const float *at = luma + BORDERED_AT(BORDER, tx + BORDER, ty + BORDER);
        const float value = 0.25f * (at[-W] + at[W] + at[-1] + at[1]) - at[0];
        texel_store_scalar(result, TILE_X + tx, TILE_Y + ty, SLICE_OF(result, image), value);
    }
}

/* A work-group makes CELLS cells with LANES work-items each: 4 cells with 16 on GPUs, 1 cell with 1 on
 * CPUs. */
#ifndef LANES
#define LANES 16
#define CELLS 4
#endif

/*
 * Writes the entropy of CELLS cells beside each other. Work-item (lane, cell) counts every LANES-th column of
 * its cell into bins of its own; then the lanes divide the bins among themselves, and each sums its bins over
 * all lanes. That needs no atomics. Counts are integers, so every device finds the same ones.
 */
kernel __attribute__((reqd_work_group_size(LANES, CELLS, 1))) void entropy(TEXTURE_IN(source),
                                                                           TEXTURE_OUT(result) REGION_IN) {
    local int counts[CELLS][BINS][LANES];
    local float terms[CELLS][BINS];
    const int lane = get_local_id(0), cell = get_local_id(1);
    const int column = GROUP_X * CELLS + cell, row = GROUP_Y, image = GROUP_Z;
    INPUT_OF_IMAGE(source, image)
    OUTPUT_OF_IMAGE(result, image)
    const int rows = min(CELL, source_size.y - row * CELL),
              columns = min(CELL, source_size.x - column * CELL);
    for (int bin = 0; bin < BINS; ++bin) counts[cell][bin][lane] = 0;
    for (int y = 0; y < rows; ++y)
        for (int x = lane; x < columns; x += LANES) {
            const float luma =
                texel_fetch(source, column * CELL + x, row * CELL + y, SLICE_OF(source, image), 0).w;
            ++counts[cell][entropy_bin(luma)][lane];
        }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int bin = lane; bin < BINS; bin += LANES) {
        int count = 0;
        for (int i = 0; i < LANES; ++i) count += counts[cell][bin][i];
        terms[cell][bin] = entropy_term(count, rows * columns);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    if (lane == 0 && column < result_size.x && row < result_size.y)
        texel_store(result, column, row, SLICE_OF(result, image),
                    (float4)(entropy_of(terms[cell]), 0.0f, 0.0f, 0.0f));
}
