/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/mapped.h: scorers that a query changes.
 */
#ifndef TVLM_SELECT_MAPPED_H
#define TVLM_SELECT_MAPPED_H

#include "stack/stack.h"
#include "texturevlm/score.h"

/*
 * Makes *resolved the linear scorer of the parameters, checked, with no number left at its default, and with the weights
 * that its matrix gives it for that query. *weights holds them, and the caller frees it; it is NULL where the query changes
 * nothing, and after an error. Errors: MEMORY; ARGUMENT where something is wrong with the scorer, and where the query has
 * another dimension than the matrix.
 */
tvlm_status tvlm_scorer_for_query(const tvlm_stack *stack, const struct tvlm_score_params *params,
                                  const struct tvlm_query *query, tvlm_scorer *resolved, float **weights);

/* Finds what a scorer sees of a query that has vectors: mean[dimension], of its vectors less their mean and of length 1. */
tvlm_status tvlm_query_direction(tvlm_device *device, const struct tvlm_query *query, double *mean);

#endif
