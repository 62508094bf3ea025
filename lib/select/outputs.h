/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/outputs.h: scorers of several outputs. Their output 0 is the score; the others become planes of the
 * image.
 */
#ifndef TVLM_SELECT_OUTPUTS_H
#define TVLM_SELECT_OUTPUTS_H

#include "core/backend.h"
#include "stack/stack.h"
#include "texturevlm/score.h"

/* Makes the outputs of the linear scorer of the parameters, but for output 0, which was made before. The
 * question must have been put to the image. */
tvlm_status tvlm_outputs_of_linear(tvlm_stack *stack, const struct tvlm_query *query,
                                   const struct tvlm_score_params *params, const tvlm_candidates *candidates);

/* Makes planes of outputs 1 to outputs - 1 of a scorer, which lie one behind the other from byte `offset` of the
 * buffer on, each with a float for each candidate. */
tvlm_status tvlm_outputs_keep(tvlm_stack *stack, const struct tvlm_score_params *params,
                              const tvlm_candidates *candidates, int32_t outputs, tvlm_buffer *planes,
                              size_t offset);

#endif
