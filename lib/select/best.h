/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/best.h: what the strategies that choose the best of many candidates have in common. If asked for,
 * the chosen ones keep a distance from each other, and an overview comes before them.
 */
#ifndef TVLM_SELECT_BEST_H
#define TVLM_SELECT_BEST_H

#include "select/choose.h"
#include "select/overview.h"
#include "select/ranking.h"
#include "select/score.h"

/* A task, and what follows from it: its candidates, and how its k positions are divided. */
typedef struct tvlm_best {
    const tvlm_task *task;
    tvlm_candidates candidates;
    int32_t count;          /* of candidates */
    tvlm_overview overview; /* without columns where none is asked for */
    int32_t k;              /* how many candidates are to be chosen; 0 where the overview takes all */
} tvlm_best;

/* The result of a ranking. */
typedef struct tvlm_best_ranking {
    tvlm_ranked *ranked; /* [count] best first; the caller frees it */
    int32_t count;
    tvlm_buffer *scores; /* of all candidates, the stack's */
    /* Where `spanned` is true, `spans` has the range of each part of the score over what was looked at: its
     * highest value less its lowest. Where it is false, the ranges are those over all candidates. */
    bool spanned;
    float spans[TVLM_SCORE_PARTS];
} tvlm_best_ranking;

/* Scores the candidates, and ranks at least the best `wanted` of them. It adds its stages to the report. */
typedef tvlm_status tvlm_rank_function(const tvlm_best *best, int32_t wanted, tvlm_best_ranking *ranking,
                                       tvlm_selection_report *report);

/* Scores all candidates. */
tvlm_rank_function tvlm_rank_all;

/* Fills in a selection of the best candidates, as `rank` ranks them. */
tvlm_status tvlm_choose_best(const tvlm_task *task, tvlm_rank_function *rank, tvlm_selection *selection);

/* Writes the best candidates of a task without a distance and without an overview to `out` as positions, from
 * byte `offset` on. It only enqueues, unless something that was handed in is to be checked. */
tvlm_status tvlm_best_into(const tvlm_task *task, tvlm_buffer *out, size_t offset, int32_t *count);

#endif
