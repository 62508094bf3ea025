/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/squares.h: what the strategies whose positions stand for squares of different sizes have in common.
 * A square's score is the mean of the cells' scores over it.
 */
#ifndef TVLM_SELECT_SQUARES_H
#define TVLM_SELECT_SQUARES_H

#include "select/choose.h"

/* Makes a map of the scores of all cells of the grid. `asked`: the last question to the image was the task's,
 * so that it need not be put again. */
tvlm_status tvlm_squares_score(const tvlm_task *task, bool asked, tvlm_scoremap *map);

/* Fills in positions that are the leaves of a quadtree, in pixels of the working image. There are at most k.
 * They are small where the map's scores are high. */
tvlm_status tvlm_squares_cut(const tvlm_task *task, const tvlm_scoremap *map, tvlm_selection *selection);

/* Brings positions in pixels of the working image to those of the image as it was handed in, best first, and
 * hands the map's scores over where they are asked for. */
tvlm_status tvlm_squares_deliver(const tvlm_task *task, tvlm_scoremap *map, tvlm_selection *selection);

#endif
