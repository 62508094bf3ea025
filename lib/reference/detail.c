/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail.c: the laplacian of luma for each pixel, and the entropy of luma for each cell of 16 x 16 pixels.
 */
#include <math.h>

#include "reference/filter.h"
#include "reference/reference.h"

static void laplacian(const tvlm_texture *source, int32_t slice, int32_t x, int32_t y, double value[4]) {
    const double around = reference_luma(source, slice, x, y - 1) + reference_luma(source, slice, x, y + 1) +
                          reference_luma(source, slice, x - 1, y) + reference_luma(source, slice, x + 1, y);
    value[0] = (around - 4 * reference_luma(source, slice, x, y)) / 4;
}

tvlm_status tvlm_reference_laplacian(tvlm_device *device, const tvlm_generate_args *args) {
    if (args->out->parts != NULL) return tvlm_reference_each(device, args, tvlm_reference_laplacian);
    tvlm_texture *const *grids = args->grids;
    tvlm_texture *out = args->out;
    (void)device;
    reference_each_texel(grids[TVLM_GRID_SOURCE], out, laplacian);
    return TVLM_OK;
}

/* The entropy over the pixels of one cell. In cells at the right and the bottom, only the pixels that lie in
 * the image count. */
static void entropy(const tvlm_texture *source, int32_t slice, int32_t column, int32_t row, double value[4]) {
    int counts[TVLM_ENTROPY_BINS] = {0}, total = 0;
    for (int32_t y = row * TVLM_CELL; y < (row + 1) * TVLM_CELL && y < source->height; ++y) {
        for (int32_t x = column * TVLM_CELL; x < (column + 1) * TVLM_CELL && x < source->width; ++x) {
            const double scaled = reference_luma(source, slice, x, y) * TVLM_ENTROPY_BINS;
            ++counts[(int)fmin(fmax(scaled, 0), TVLM_ENTROPY_BINS - 1)];
            ++total;
        }
    }
    double bits = 0;
    for (int i = 0; i < TVLM_ENTROPY_BINS; ++i) {
        const double p = (double)counts[i] / total;
        if (counts[i] > 0) bits -= p * log2(p);
    }
    value[0] = bits / (double)TVLM_ENTROPY_BITS;
}

tvlm_status tvlm_reference_entropy(tvlm_device *device, const tvlm_generate_args *args) {
    if (args->out->parts != NULL) return tvlm_reference_each(device, args, tvlm_reference_entropy);
    tvlm_texture *const *grids = args->grids;
    tvlm_texture *out = args->out;
    (void)device;
    reference_each_texel(grids[TVLM_GRID_SOURCE], out, entropy);
    return TVLM_OK;
}
