/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/cost.h: how many bytes a score reads.
 */
#ifndef TVLM_SELECT_COST_H
#define TVLM_SELECT_COST_H

#include "select/score.h"

/* Returns the bytes of the texels that a candidate at that level reads: four texels in each layer and level
 * that it touches, over all taps. */
size_t tvlm_cost_of_candidate(const tvlm_stack *stack, int32_t index, const tvlm_score_program *program,
                              float level);

/* Returns the bytes of a cell's vector and of its length. */
size_t tvlm_cost_of_vector(const tvlm_features *features);

/* Sets *bytes to the number of bytes that tvlm_score_enqueue read with these parameters. */
tvlm_status tvlm_cost_of_score(tvlm_stack *stack, const struct tvlm_query *query,
                               const struct tvlm_score_params *params, const tvlm_candidates *candidates,
                               size_t *bytes);

#endif
