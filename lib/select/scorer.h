/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/scorer.h: checks what a scorer is made of, and says which channels it reads.
 */
#ifndef TVLM_SELECT_SCORER_H
#define TVLM_SELECT_SCORER_H

#include "stack/stack.h"
#include "texturevlm/score.h"

/* Checks a linear scorer whose taps and outputs are not 0. */
tvlm_status tvlm_scorer_check(const tvlm_stack *stack, const tvlm_scorer *scorer);

/* Whether channel c of a scorer of one output can change that output. A channel that cannot is neither read
 * nor made. */
bool tvlm_scorer_reads(const tvlm_scorer *scorer, int32_t c);

/* Output `output` of a checked linear scorer as a scorer of its own. It points to the same arrays. */
tvlm_scorer tvlm_scorer_output(const tvlm_scorer *scorer, int32_t output);

/* Sets *has to whether the image has anything to read for a channel that counts in a scorer. `query` says
 * that there is a question. Fails with ARGUMENT where the image lacks an input that it should have. */
tvlm_status tvlm_scorer_find_input(const tvlm_stack *stack, int32_t index, int32_t channel, bool query,
                                   bool *has);

#endif
