/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/scoremap.h: the scores of candidates on the host, and their mean over any square.
 */
#ifndef TVLM_SELECT_SCOREMAP_H
#define TVLM_SELECT_SCOREMAP_H

#include "core/backend.h"
#include "stack/stack.h"

typedef struct tvlm_scoremap {
    tvlm_candidates cells;
    int32_t width, height; /* of the image */
    float *scores;         /* [rows * columns] */
    double *sums;    /* [(rows + 1) * (columns + 1)] the sum of score * area above and left of each corner */
    float low, high; /* the lowest and the highest score that is finite; 0 where none is */
} tvlm_scoremap;

/* Reads the scores of those cells from a buffer of the device, and waits for them. The caller frees the map,
 * also where this fails. */
tvlm_status tvlm_scoremap_read(const tvlm_stack *stack, const tvlm_candidates *cells, tvlm_buffer *scores,
                               tvlm_scoremap *map);
void tvlm_scoremap_free(tvlm_scoremap *map);

/* Makes the sums, which the functions below need. A score that is not finite counts as the lowest finite
 * one. */
tvlm_status tvlm_scoremap_sum_up(const tvlm_stack *stack, tvlm_scoremap *map);

/* Returns the sum of score * area in a rectangle. */
double tvlm_scoremap_sum(const tvlm_scoremap *map, double x0, double y0, double x1, double y1);

/* Returns the mean of the scores over that part of a square around x, y that lies in the image. */
float tvlm_scoremap_mean(const tvlm_scoremap *map, double x, double y, double size);

/* Returns where cell c of a row or column begins. */
static inline double tvlm_scoremap_corner(int32_t c, float step, int32_t side) {
    const double at = c * (double)step;
    return at < (double)side ? at : (double)side;
}

#endif
