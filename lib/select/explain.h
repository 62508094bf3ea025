/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/explain.h: what a strategy says of why it chose. The public header is texturevlm/explain.h.
 */
#ifndef TVLM_SELECT_EXPLAIN_H
#define TVLM_SELECT_EXPLAIN_H

#include "select/choose.h"
#include "texturevlm/explain.h"

/* What is to be explained, checked. `reasons` has `capacity` entries; there is nothing to be filled in where
 * that is 0. */
typedef struct tvlm_explanation {
    const tvlm_task *task;
    const tvlm_selection *selection;
    int32_t capacity;
    tvlm_reason *reasons;
} tvlm_explanation;

/* Sets *channel_count, and fills in the reasons. */
typedef tvlm_status tvlm_explain_function(const tvlm_explanation *explanation, int32_t *channel_count);

/* By the channels of the score: of all strategies that choose by it. */
tvlm_explain_function tvlm_explain_scores;

/* Of a budget: no channel has a share in what a tile lowers the loss by; positions say what that was. */
tvlm_explain_function tvlm_explain_budget;

#endif
