/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/overview.h: a coarse regular grid of squares over the whole image, of a share of the positions.
 */
#ifndef TVLM_SELECT_OVERVIEW_H
#define TVLM_SELECT_OVERVIEW_H

#include "select/selection.h"

typedef struct tvlm_overview {
    int32_t columns, rows; /* 0: there is no overview */
    double side;           /* the side of its squares, in pixels of the working image */
} tvlm_overview;

/*
 * The grid of the smallest squares, but not smaller than `smallest`, of which at most `count` >= 1 cover
 * width x height pixels, one every width / columns and height / rows pixels.
 */
tvlm_overview tvlm_overview_fit(int32_t width, int32_t height, double smallest, int32_t count);

/* Tells how many of k positions the overview is given. Fails with ARGUMENT where an overview is asked for
 * that would have none, or that there cannot be. */
tvlm_status tvlm_overview_count(const tvlm_log *log, const struct tvlm_select_params *params, int32_t k,
                                int32_t *count);

/*
 * Its positions [columns * rows], row after row, in pixels of the image as it was handed in. The score of one
 * is the mean of the map's over its square.
 */
void tvlm_overview_place(const tvlm_overview *overview, const tvlm_scoremap *map, const tvlm_scale *scale,
                         double patch, tvlm_position *positions);

static inline int32_t tvlm_overview_size(const tvlm_overview *overview) {
    return overview->columns * overview->rows;
}

#endif
