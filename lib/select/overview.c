/* SPDX-License-Identifier: Apache-2.0 */
#include "select/overview.h"

#include <math.h>

/* ---- The grid ---- */

/* Squares may be larger by this factor than they have to be, if fewer of them then cover the image. For
 * example, 6 x 4 squares cover 640 x 427 pixels nearly as finely as 6 x 5. */
#define LARGER (1.0 + 1.0 / 16.0)

static int32_t squares_along(int32_t side, double square) {
    return (int32_t)ceil((double)side / square);
}

/* Returns the side of the smallest squares that fit exactly along `side` of the image, and that cover it with
 * no more than `count` of them. */
static double smallest_along(int32_t side, int32_t across, int32_t count) {
    int64_t n = 1; /* along the side; across it takes n across / side, rounded up */
    while (n < side && (n + 1) * ((across * (n + 1) + side - 1) / side) <= count) ++n;
    return n * ((across * n + side - 1) / side) <= count ? (double)side / (double)n : INFINITY;
}

tvlm_overview tvlm_overview_fit(int32_t width, int32_t height, double smallest, int32_t count) {
    const double least =
        fmax(smallest, fmin(smallest_along(width, height, count), smallest_along(height, width, count)));
    tvlm_overview fit = {squares_along(width, least * LARGER), squares_along(height, least * LARGER),
                         smallest};
    fit.side = fmax(smallest, fmax((double)width / fit.columns, (double)height / fit.rows));
    return fit;
}

tvlm_status tvlm_overview_count(const tvlm_log *log, const struct tvlm_select_params *params, int32_t k,
                                int32_t *count) {
    const double share = (double)params->best.overview;
    *count = (int32_t)floor(share * k * (1.0 + 1e-6)); /* the float 0.7 of 10 is 7 */
    if (share > 0.0 && *count < 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "an overview of %g of k = %d is no position; it takes at least 1", share, (int)k);
    return TVLM_OK;
}

/* ---- Its positions ---- */

void tvlm_overview_place(const tvlm_overview *overview, const tvlm_scoremap *map, const tvlm_scale *scale,
                         double patch, tvlm_position *positions) {
    const double step_x = (double)map->width / overview->columns;
    const double step_y = (double)map->height / overview->rows;
    for (int32_t i = 0; i < tvlm_overview_size(overview); ++i) {
        const double x = (i % overview->columns + 0.5) * step_x, y = (i / overview->columns + 0.5) * step_y;
        positions[i] = (tvlm_position){.x = (float)(x * scale->x),
                                       .y = (float)(y * scale->y),
                                       .level = (float)log2(overview->side / patch),
                                       .score = tvlm_scoremap_mean(map, x, y, overview->side),
                                       .size = (float)(overview->side * scale->size),
                                       .column = -1,
                                       .row = -1};
    }
}
