/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/cascade.h: the cells that are worth scoring, and their scores.
 */
#ifndef TVLM_SELECT_CASCADE_H
#define TVLM_SELECT_CASCADE_H

#include "select/ranking.h"
#include "select/score.h"
#include "texturevlm/select.h"

/* What a cascade found. */
typedef struct tvlm_cascade_result {
    tvlm_ranked *ranking;          /* [count] what it looked at, best first; the caller frees it */
    int32_t count;                 /* at least k */
    tvlm_buffer *scores;           /* of all candidates, the stack's; what was not looked at has the lowest */
    tvlm_select_stage stages[2];   /* of regions, and of cells */
    float spans[TVLM_SCORE_PARTS]; /* the range of each part of the score over what it looked at */
} tvlm_cascade_result;

/* Looks for the best k of those candidates, in the regions that the parameters of the cascade ask for. */
tvlm_status tvlm_cascade_run(tvlm_stack *stack, const struct tvlm_query *query,
                             const struct tvlm_select_params *params, const tvlm_candidates *candidates,
                             int32_t k, tvlm_cascade_result *result);

#endif
