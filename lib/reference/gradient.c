/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradient.c: Sobel's derivatives of luma, and the mean and variance of the colours around each pixel.
 */
#include <math.h>

#include "reference/filter.h"
#include "reference/reference.h"

/* The mean and the population variance of the 27 values of 3x3 pixels and three colours. */
static void colour_moments(const tvlm_texture *source, int32_t slice, int32_t x, int32_t y, double *mean,
                           double *variance) {
    double values[27], sum = 0, squares = 0;
    int count = 0;
    for (int32_t j = -1; j <= 1; ++j)
        for (int32_t i = -1; i <= 1; ++i)
            for (int c = 0; c < 3; ++c)
                values[count++] = tvlm_reference_fetch(source, 0, slice, x + i, y + j)[c];
    for (int i = 0; i < count; ++i) sum += values[i];
    *mean = sum / count;
    for (int i = 0; i < count; ++i) squares += (values[i] - *mean) * (values[i] - *mean);
    *variance = squares / count;
}

static void gradient(const tvlm_texture *source, int32_t slice, int32_t x, int32_t y, double value[4]) {
    double gx, gy, mean, variance;
    reference_sobel(source, slice, x, y, &gx, &gy);
    colour_moments(source, slice, x, y, &mean, &variance);
    value[0] = gx / 4;
    value[1] = gy / 4;
    value[2] = fmin(1, 4 * variance);
    value[3] = mean;
}

tvlm_status tvlm_reference_gradient(tvlm_device *device, const tvlm_generate_args *args) {
    if (args->out->parts != NULL) return tvlm_reference_each(device, args, tvlm_reference_gradient);
    tvlm_texture *const *grids = args->grids;
    tvlm_texture *out = args->out;
    (void)device;
    reference_each_texel(grids[TVLM_GRID_SOURCE], out, gradient);
    return TVLM_OK;
}
