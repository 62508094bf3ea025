/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/score.h: candidates, and their scores as programs for the backend. The public header is
 * texturevlm/score.h.
 */
#ifndef TVLM_SELECT_SCORE_H
#define TVLM_SELECT_SCORE_H

#include "core/backend.h"
#include "stack/stack.h"
#include "texturevlm/score.h"

/* Checks the parameters, and finds the candidates that they ask for. */
tvlm_status tvlm_score_candidates(const tvlm_stack *stack, const struct tvlm_score_params *params,
                                  tvlm_candidates *candidates);

/* How many candidates there are; at most INT32_MAX. */
static inline int32_t tvlm_candidate_count(const tvlm_candidates *candidates) {
    return candidates->columns * candidates->rows;
}

/* The centre of the part of a candidate's cell that lies in the image, in pixels of the working image. */
void tvlm_candidate_centre(const tvlm_stack *stack, const tvlm_candidates *candidates, int32_t number,
                           double *x, double *y);

/* Puts the question to the image and enqueues the scores of those candidates, and their ranking unless that
 * is NULL. *scores is the stack's, and keeps them until the next scores of this image. */
tvlm_status tvlm_score_enqueue(tvlm_stack *stack, const struct tvlm_query *query,
                               const struct tvlm_score_params *params, const tvlm_candidates *candidates,
                               const tvlm_ranking *ranking, tvlm_buffer **scores);

/* The same where the last question to the image was this one. It is not answered a second time. */
tvlm_status tvlm_score_again(tvlm_stack *stack, const struct tvlm_query *query,
                             const struct tvlm_score_params *params, const tvlm_candidates *candidates,
                             const tvlm_ranking *ranking, tvlm_buffer **scores);

/* Finishes scores that were written to the stack's memory (tvlm_stack_scores) from elsewhere. It adds a
 * stream's bonus, ranks the scores unless `ranking` is NULL, and lets the image keep them as after
 * tvlm_score_enqueue. */
tvlm_status tvlm_score_finish(tvlm_stack *stack, const struct tvlm_score_params *params,
                              const tvlm_candidates *candidates, const tvlm_ranking *ranking,
                              tvlm_buffer *scores);

/* Scores by a scorer that is a network: with `ask` as tvlm_score_enqueue does, without it as tvlm_score_again
 * does. It checks the parameters. The function is in the lab, and lib/parts says where. In a build without
 * the lab it is NULL, and such scorers are refused. */
typedef tvlm_status tvlm_network_score_function(tvlm_stack *stack, const struct tvlm_query *query, bool ask,
                                                const struct tvlm_score_params *params,
                                                const tvlm_candidates *candidates,
                                                const tvlm_ranking *ranking, tvlm_buffer **scores);
extern tvlm_network_score_function *const tvlm_network_scorer;

/* ---- Programs ---- */

/* A score as a program whose channels are not yet references: group g has channels[4 g .. 4 g + 3]. */
typedef struct tvlm_score_program {
    tvlm_score_group *groups;
    int32_t *channels; /* TVLM_CHANNEL_NONE where a place is unused */
    int32_t *refs;
    int32_t count, capacity; /* of groups */
    tvlm_score_combination combination;
} tvlm_score_program;

/* Makes the program of a linear score. For a scorer with several outputs it is the program of output 0. The
 * program is to be freed in any case. */
tvlm_status tvlm_score_program_make(const tvlm_stack *stack, const struct tvlm_query *query,
                                    const struct tvlm_score_params *params, tvlm_score_program *program);
/* The same for a scorer that was checked (select/scorer.h), and whose weights no query changes any more.
 * `query`: there is a query. */
tvlm_status tvlm_score_program_linear(const tvlm_stack *stack, int32_t index, const tvlm_scorer *scorer,
                                      bool query, tvlm_score_program *program);
void tvlm_score_program_free(tvlm_score_program *program);

/* Runs a program into a buffer of the caller's, with room for all candidates. The scores answer the last
 * question to the image. The image does not keep them. */
tvlm_status tvlm_score_map(tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates,
                           tvlm_score_program *program, tvlm_buffer *scores);

#endif
