/*
 * detail.cl: laplacian (per pixel) and entropy (per cell of 16 x 16 pixels) of the source's luma.
 */
#include "tile.clh"

#define BORDER 1
#define W      BORDERED_W(BORDER)

TILE_KERNEL void laplacian(TEXTURE_IN(source), TEXTURE_OUT(result)) {
    local float luma[BORDERED(BORDER)];
    const int image = get_group_id(2);
    FOR_BORDERED(BORDER, tx, ty)
        luma[BORDERED_AT(BORDER, tx, ty)] =
            texel_fetch(source, TILE_X + tx - BORDER, TILE_Y + ty - BORDER, image * source_size.z, 0).w;
    barrier(CLK_LOCAL_MEM_FENCE);

    FOR_TILE(result_size, tx, ty) {
        local const float *at = luma + BORDERED_AT(BORDER, tx + BORDER, ty + BORDER);
        const float value = 0.25f * (at[-W] + at[W] + at[-1] + at[1]) - at[0];
        texel_store(result, TILE_X + tx, TILE_Y + ty, image, (float4)(value, 0.0f, 0.0f, 0.0f));
    }
}

#define CELL  TVLM_ENTROPY_CELL
#define BINS  TVLM_ENTROPY_BINS
#define CELLS 4 /* a work-group does so many cells, CELL work-items each */

/*
 * Work-item (lane, cell): counts one column of the cell into bins of its own, then sums one bin over the lanes: no
 * atomics, and integers until the last step, so every device finds the same counts.
 */
kernel __attribute__((reqd_work_group_size(CELL, CELLS, 1)))
void entropy(TEXTURE_IN(source), TEXTURE_OUT(result)) {
    local int counts[CELLS][BINS][CELL];
    local float terms[CELLS][BINS];
    const int lane = get_local_id(0), cell = get_local_id(1);
    const int column = get_group_id(0) * CELLS + cell, row = get_group_id(1), image = get_global_id(2);
    const int x = column * CELL + lane;
    for (int bin = 0; bin < BINS; ++bin) counts[cell][bin][lane] = 0;
    const int rows = min(CELL, source_size.y - row * CELL);
    if (x < source_size.x)
        for (int i = 0; i < rows; ++i) {
            const float luma = texel_fetch(source, x, row * CELL + i, image * source_size.z, 0).w;
            ++counts[cell][min(BINS - 1, (int)(luma * BINS))][lane];
        }
    barrier(CLK_LOCAL_MEM_FENCE);

    int count = 0;
    for (int i = 0; i < CELL; ++i) count += counts[cell][lane][i];
    const int pixels = rows * min(CELL, source_size.x - column * CELL);
    const float p = count / (float)max(pixels, 1);
    terms[cell][lane] = count > 0 ? -p * log2(p) : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);

    if (lane == 0 && column < result_size.x) {
        float bits = 0.0f;
        for (int bin = 0; bin < BINS; ++bin) bits += terms[cell][bin];
        texel_store(result, column, row, image, (float4)(clamp(bits / TVLM_ENTROPY_BITS, 0.0f, 1.0f), 0.0f, 0.0f, 0.0f));
    }
}
