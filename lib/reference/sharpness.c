/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sharpness.c: the variance of `laplacian` for each cell of 16 x 16 pixels, times a scale, at most 1.
 */
#include <math.h>

#include "reference/filter.h"
#include "reference/reference.h"

/* Cells at the right and the bottom have only those pixels that lie in the image. */
static void sharpness(const tvlm_texture *laplacian, int32_t slice, int32_t column, int32_t row,
                      double value[4]) {
    const int32_t left = column * TVLM_CELL, top = row * TVLM_CELL;
    double values[TVLM_CELL * TVLM_CELL], mean = 0, variance = 0;
    int count = 0;
    for (int32_t y = top; y < top + TVLM_CELL && y < laplacian->height; ++y)
        for (int32_t x = left; x < left + TVLM_CELL && x < laplacian->width; ++x)
            values[count++] = (double)tvlm_reference_fetch(laplacian, 0, slice, x, y)[0];
    for (int i = 0; i < count; ++i) mean += values[i] / count;
    for (int i = 0; i < count; ++i) variance += (values[i] - mean) * (values[i] - mean) / count;
    value[0] = fmin(variance * (double)tvlm_grid_get_info(TVLM_GRID_SHARPNESS)->scale, 1);
}

tvlm_status tvlm_reference_sharpness(tvlm_device *device, const tvlm_generate_args *args) {
    if (args->out->parts != NULL) return tvlm_reference_each(device, args, tvlm_reference_sharpness);
    (void)device;
    reference_each_texel(args->grids[TVLM_GRID_LAPLACIAN], args->out, sharpness);
    return TVLM_OK;
}
