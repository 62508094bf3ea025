/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/explain.h: what a strategy says of why it chose. The public header is texturevlm/explain.h.
 */
#ifndef TVLM_SELECT_EXPLAIN_H
#define TVLM_SELECT_EXPLAIN_H

#include "select/choose.h"
#include "texturevlm/explain.h"

/* What is to be explained. It has been checked. `reasons` has `capacity` entries; where that is 0, nothing is
 * to be filled in. */
typedef struct tvlm_explanation {
    const tvlm_task *task;
    const tvlm_selection *selection;
    int32_t capacity;
    tvlm_reason *reasons;
} tvlm_explanation;

/* Sets *channel_count, and fills in the reasons. */
typedef tvlm_status tvlm_explain_function(const tvlm_explanation *explanation, int32_t *channel_count);

/* For all strategies that choose by the score: explains a position by the channels of the score. */
tvlm_explain_function tvlm_explain_scores;

/* For the budget: finds no channels, since none has a share in what a tile lowers the loss by. The positions
 * say how much that was. */
tvlm_explain_function tvlm_explain_budget;

#endif
