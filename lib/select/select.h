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
 * Puts the query's grid into the chunk of image `index` (query_similarity; 0 for all other images), or
 * forgets the last one where `query` is NULL: what a question sees never depends on the one before.
 */
tvlm_status tvlm_query_upload(tvlm_stack *stack, int32_t index, const struct tvlm_query *query);

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

#define TVLM_TOPK_MAX (1 << 28) /* n is below */

#endif
