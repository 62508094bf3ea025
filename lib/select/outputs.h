/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/outputs.h: scorers of several outputs, and those that are networks: what they make beside the score becomes planes
 * of the image.
 */
#ifndef TVLM_SELECT_OUTPUTS_H
#define TVLM_SELECT_OUTPUTS_H

#include "core/backend.h"
#include "stack/stack.h"
#include "texturevlm/score.h"

/* Makes all outputs but 0 of the linear scorer of the parameters, of which output 0 was made. The question has been put to
 * the image. */
tvlm_status tvlm_outputs_of_linear(tvlm_stack *stack, const struct tvlm_query *query,
                                   const struct tvlm_score_params *params, const tvlm_candidates *candidates);

/* Makes all outputs of the checked network of the parameters. *scores is the stack's. `asked`: there is a question, which
 * has been put to the image. */
tvlm_status tvlm_outputs_of_network(tvlm_stack *stack, bool asked, const struct tvlm_score_params *params,
                                    const tvlm_candidates *candidates, tvlm_buffer **scores);

#endif
