/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visual.c: edges, edges_inv, high and low of luma.
 */
#include <math.h>

#include "reference/filter.h"
#include "reference/reference.h"

/* Luma under the 5x5 binomial filter, (1 4 6 4 1) / 16 along each axis. */
static double low_pass(const tvlm_texture *source, int32_t slice, int32_t x, int32_t y) {
    static const double binomial[5] = {1, 4, 6, 4, 1};
    double sum = 0;
    for (int32_t j = 0; j < 5; ++j)
        for (int32_t i = 0; i < 5; ++i)
            sum += binomial[i] * binomial[j] * reference_luma(source, slice, x + i - 2, y + j - 2);
    return sum / 256;
}

static void visual(const tvlm_texture *source, int32_t slice, int32_t x, int32_t y, double value[4]) {
    double gx, gy;
    reference_sobel(source, slice, x, y, &gx, &gy);
    const double edges = fmin(1, sqrt(gx * gx + gy * gy) / 4);
    const double low = low_pass(source, slice, x, y);
    value[0] = edges;
    value[1] = 1 - edges;
    value[2] = 0.5 + 0.5 * (reference_luma(source, slice, x, y) - low);
    value[3] = low;
}

tvlm_status tvlm_reference_visual(tvlm_device *device, const tvlm_generate_args *args) {
    if (args->out->parts != NULL) return tvlm_reference_each(device, args, tvlm_reference_visual);
    tvlm_texture *const *grids = args->grids;
    reference_each_texel(grids[TVLM_GRID_SOURCE], args->out, visual);
    if (args->beside == NULL) return TVLM_OK;
    return tvlm_reference_entropy(device, &(tvlm_generate_args){.grids = grids, .out = args->beside});
}
