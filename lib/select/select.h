/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/select.h: what the files of lib/select share. The public headers are texturevlm/score.h and
 * select.h.
 */
#ifndef TVLM_SELECT_SELECT_H
#define TVLM_SELECT_SELECT_H

#include "core/backend.h"
#include "texturevlm/patches.h"

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

/* One entry of a ranking, as backend->topk writes it. */
typedef struct tvlm_ranked {
    int32_t index;
    float score;
} tvlm_ranked;

/* A score as a program whose channels are not yet references: those of group g are channels[4 g .. 4 g + 3].
 */
typedef struct tvlm_score_program {
    tvlm_score_group *groups;
    int32_t *channels; /* TVLM_CHANNEL_NONE where a place is unused */
    int32_t *refs;
    int32_t count, capacity; /* groups */
    tvlm_score_combination combination;
} tvlm_score_program;

/* To be freed in any case. */
tvlm_status tvlm_score_program_make(const tvlm_stack *stack, const struct tvlm_query *query,
                                    const struct tvlm_score_params *params, tvlm_score_program *program);
void tvlm_score_program_free(tvlm_score_program *program);

/* Candidates there are; at most INT32_MAX. */
static inline int32_t tvlm_candidate_count(const tvlm_candidates *candidates) {
    return candidates->columns * candidates->rows;
}

/* ---- cost.c: what a score reads ---- */

/* Bytes of the texels that a candidate at that level reads: four in each layer and level that it touches,
 * over all taps. */
size_t tvlm_cost_of_candidate(const tvlm_stack *stack, int32_t index, const tvlm_score_program *program,
                              float level);
/* Bytes of a cell's vector and its length. */
size_t tvlm_cost_of_vector(const tvlm_features *features);
/* Of tvlm_score_enqueue, which has just been run. */
tvlm_status tvlm_cost_of_score(tvlm_stack *stack, const struct tvlm_query *query,
                               const struct tvlm_score_params *params, const tvlm_candidates *candidates,
                               size_t *bytes);

/* ---- cascade.c ---- */

/*
 * The candidates that the cascade looks at, best first: ranking has room for all candidates, *count of it is
 * filled, at least k of it. The scores become the image's: what was not looked at has the lowest.
 */
tvlm_status tvlm_cascade_rank(tvlm_stack *stack, const struct tvlm_query *query,
                              const struct tvlm_select_params *params, const struct tvlm_score_params *score,
                              const tvlm_candidates *candidates, int32_t k, tvlm_ranked *ranking,
                              int32_t *count, tvlm_selection_report *report);

/* ---- exhaustive.c ---- */

/* The candidates that the exhaustive strategy asks for. */
tvlm_status tvlm_exhaustive_score(const tvlm_log *log, const struct tvlm_select_params *params,
                                  struct tvlm_score_params *score);

/* squares.c: the strategies whose positions stand for squares of different sizes. */
tvlm_status tvlm_select_squares(tvlm_stack *stack, const struct tvlm_query *query,
                                const struct tvlm_select_params *params, tvlm_selection **selection);

/* A selection that owns `positions` from then on; not on failure. */
tvlm_status tvlm_selection_make(const tvlm_stack *stack, const tvlm_selection_info *info,
                                const tvlm_selection_report *report, tvlm_position *positions, int32_t count,
                                tvlm_selection **selection);

/* patches.c: tvlm_patches_extract into a buffer, from `offset` on. */
tvlm_status tvlm_patches_into(tvlm_stack *stack, const tvlm_position *positions, int32_t count,
                              const struct tvlm_patches_params *params, tvlm_buffer *there, size_t offset);

#define TVLM_TOPK_MAX (1 << 28) /* n is below */

#endif
