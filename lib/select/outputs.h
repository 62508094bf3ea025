/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/outputs.h: scorers of several outputs, and scorers that are networks. Their output 0 is the score;
 * the others become planes of the image.
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

/* Makes all outputs of the checked network of the parameters. *scores is the stack's. `asked`: there is a
 * question, which has been put to the image. */
tvlm_status tvlm_outputs_of_network(tvlm_stack *stack, bool asked, const struct tvlm_score_params *params,
                                    const tvlm_candidates *candidates, tvlm_buffer **scores);

#endif
