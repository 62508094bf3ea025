/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scoremap.h: the grid's scores on the host, and their mean over any square.
 */
#ifndef TVLM_SELECT_SCOREMAP_H
#define TVLM_SELECT_SCOREMAP_H

#include "core/backend.h"
#include "texturevlm/stack.h"

typedef struct tvlm_scoremap {
    tvlm_candidates cells;
    int32_t width, height; /* of the image */
    float *scores;         /* [rows * columns], finite once the map is finished */
    double *sums;          /* [(rows + 1) * (columns + 1)] of score * area above and left of each corner */
    float low, high;       /* of the scores */
} tvlm_scoremap;

/* Room for the scores of those cells, to be filled in and finished. To be freed in any case. */
tvlm_status tvlm_scoremap_make(const tvlm_stack *stack, const tvlm_candidates *cells, tvlm_scoremap *map);
void tvlm_scoremap_free(tvlm_scoremap *map);

/* Fills in the scores from a buffer of the device. Waits. */
tvlm_status tvlm_scoremap_read(tvlm_device *device, tvlm_buffer *scores, tvlm_scoremap *map);

/* What is not finite counts as the lowest that is. */
void tvlm_scoremap_finish(tvlm_scoremap *map);

/* Of score * area in a rectangle. */
double tvlm_scoremap_sum(const tvlm_scoremap *map, double x0, double y0, double x1, double y1);

/* Over what the image leaves of a square around x, y. */
float tvlm_scoremap_mean(const tvlm_scoremap *map, double x, double y, double size);

/* Where cell c of a row or column begins. */
static inline double tvlm_scoremap_corner(int32_t c, float step, int32_t side) {
    const double at = c * (double)step;
    return at < (double)side ? at : (double)side;
}

#endif
