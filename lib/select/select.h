/*
 * select/select.h: what the files of lib/select share. The public headers are texturevlm/score.h and
 * select.h.
 */
#ifndef TVLM_SELECT_SELECT_H
#define TVLM_SELECT_SELECT_H

#include "core/backend.h"
#include "stack/stack.h"
#include "texturevlm/select.h"

/*
 * Puts the query's grid, or what its vectors make of the features, into the chunk of image `index`
 * (query_similarity; 0 for all other images), or forgets the last one where `query` is NULL: what a question
 * sees never depends on the one before.
 */
tvlm_status tvlm_query_upload(tvlm_stack *stack, int32_t index, const struct tvlm_query *query);

/* Makes the scores of those candidates the previous_pass of image `index`. */
tvlm_status tvlm_pass_keep(tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates,
                           tvlm_buffer *scores);

/*
 * The scorer as that query changes it (mapped.c). *weights is what resolved->weights may point to, free() it;
 * NULL where the query changes nothing. ARGUMENT: a query of another dimension than the scorer's matrix.
 */
tvlm_status tvlm_scorer_for_query(const tvlm_log *log, const tvlm_scorer *scorer,
                                  const struct tvlm_query *query, tvlm_scorer *resolved, float **weights);

/* The candidates that checked parameters ask for. */
tvlm_status tvlm_score_candidates(const tvlm_stack *stack, const struct tvlm_score_params *params,
                                  tvlm_candidates *candidates);

/* Enqueues the scores of those candidates; *scores is the stack's, and keeps them until the next ones of this
 * image. */
tvlm_status tvlm_score_enqueue(tvlm_stack *stack, const struct tvlm_query *query,
                               const struct tvlm_score_params *params, const tvlm_candidates *candidates,
                               tvlm_buffer **scores);

/* Candidates there are; at most INT32_MAX. */
static inline int32_t tvlm_candidate_count(const tvlm_candidates *candidates) {
    return candidates->columns * candidates->rows;
}

/* One entry of a ranking, as backend->topk writes it. */
typedef struct tvlm_ranked {
    int32_t index;
    float score;
} tvlm_ranked;

/* squares.c: the strategies whose positions stand for squares of different sizes. */
tvlm_status tvlm_select_squares(tvlm_stack *stack, const struct tvlm_query *query,
                                const struct tvlm_select_params *params, tvlm_selection **selection);

/* A selection that owns `positions` from then on; not on failure. */
tvlm_status tvlm_selection_make(const tvlm_stack *stack, const tvlm_selection_info *info,
                                tvlm_position *positions, int32_t count, tvlm_selection **selection);

#define TVLM_TOPK_MAX (1 << 28) /* n is below */

#endif
