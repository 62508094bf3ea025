/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sharpness.cl: how sharp each cell of 16 x 16 pixels is: the variance of `laplacian` over its pixels, times
 * a scale, at most 1. A cell at the image's edge counts only the pixels that the image has. A work-group
 * makes CELLS cells, and LANES work-items share each of them.
 */
// check-kernels: -DLANES=1 -DCELLS=1
// check-kernels: -DTILE_LIST=1
// check-kernels: -DRAGGED=1
#include "region.clh"
#include "texture.clh"

#define CELL TVLM_CELL
/* A work-group makes CELLS cells with LANES work-items each: 4 cells with 16 on GPUs, 1 cell with 1 on
 * CPUs. */
#ifndef LANES
#define LANES 16
#define CELLS 4
#endif

/*
 * Writes the sharpness of CELLS cells beside each other. Work-item (lane, cell) sums every LANES-th column of
 * its cell, first the values and then their squared distances from the mean. A mean of squares less a squared
 * mean would lose a small variance to rounding.
 */
kernel __attribute__((reqd_work_group_size(LANES, CELLS, 1))) void
sharpness(TEXTURE_IN(laplacian), TEXTURE_OUT(result), const float scale REGION_IN) {
    local float values[CELLS][CELL * CELL], sums[2][CELLS][LANES];
    const int lane = get_local_id(0), cell = get_local_id(1);
    const int column = GROUP_X * CELLS + cell, row = GROUP_Y, image = GROUP_Z;
    INPUT_OF_IMAGE(laplacian, image)
    OUTPUT_OF_IMAGE(result, image)
    const int rows = min(CELL, laplacian_size.y - row * CELL),
              columns = min(CELL, laplacian_size.x - column * CELL);
    const float share = 1.0f / (float)max(rows * columns, 1);
    float sum = 0.0f, mean = 0.0f, squares = 0.0f;
    for (int y = 0; y < rows; ++y)
        for (int x = lane; x < columns; x += LANES) {
            const float value =
                texel_scalar(laplacian, column * CELL + x, row * CELL + y, SLICE_OF(laplacian, image), 0);
            values[cell][y * CELL + x] = value;
            sum += value;
        }
    sums[0][cell][lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int i = 0; i < LANES; ++i) mean += sums[0][cell][i];
    mean *= share;
    for (int y = 0; y < rows; ++y)
        for (int x = lane; x < columns; x += LANES) {
            const float apart = values[cell][y * CELL + x] - mean;
            squares += apart * apart;
        }
    sums[1][cell][lane] = squares;
    barrier(CLK_LOCAL_MEM_FENCE);

    if (lane == 0 && column < result_size.x && row < result_size.y) {
        float variance = 0.0f;
        for (int i = 0; i < LANES; ++i) variance += sums[1][cell][i];
        texel_store(result, column, row, SLICE_OF(result, image),
                    (float4)(min(variance * share * scale, 1.0f), 0.0f, 0.0f, 0.0f));
    }
}
