/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/overview.h: a coarse regular grid of squares over the whole image, which takes a share of the
 * positions. It is not of the lab, since it is an option of tvlm_select (tvlm_best_params.overview) and of
 * exports.
 */
#ifndef TVLM_SELECT_OVERVIEW_H
#define TVLM_SELECT_OVERVIEW_H

#include "select/selection.h"

typedef struct tvlm_overview {
    int32_t columns, rows; /* 0: there is no overview */
    double side;           /* the side of its squares, in pixels of the working image */
} tvlm_overview;

/*
 * Finds the overview of the smallest squares that cover width x height pixels with at most `count` of them,
 * count >= 1. No square is smaller than `smallest`. They lie width / columns and height / rows pixels apart.
 */
tvlm_overview tvlm_overview_fit(int32_t width, int32_t height, double smallest, int32_t count);

/* Tells how many of k positions the overview is given. Fails with ARGUMENT where an overview that is asked
 * for would have no position. */
tvlm_status tvlm_overview_count(const tvlm_log *log, const struct tvlm_select_params *params, int32_t k,
                                int32_t *count);

/*
 * Writes the overview's positions [columns * rows], row after row, in pixels of the image as it was handed
 * in. The score of a position is the mean of the map's scores over its square.
 */
void tvlm_overview_place(const tvlm_overview *overview, const tvlm_scoremap *map, const tvlm_scale *scale,
                         double patch, tvlm_position *positions);

static inline int32_t tvlm_overview_size(const tvlm_overview *overview) {
    return overview->columns * overview->rows;
}

#endif
