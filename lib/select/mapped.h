/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/mapped.h: scorers that a query changes.
 */
#ifndef TVLM_SELECT_MAPPED_H
#define TVLM_SELECT_MAPPED_H

#include "stack/stack.h"
#include "texturevlm/score.h"

/*
 * Makes *resolved the linear scorer of the parameters. The scorer has been checked, its defaults are filled
 * in, and it has the weights that its matrix gives it for the query.
 *
 * *weights is the memory of these weights, which the caller frees. It is NULL where the query changes
 * nothing, and after an error. Errors: MEMORY; ARGUMENT where something is wrong with the scorer, or the
 * query has another dimension than the matrix.
 */
tvlm_status tvlm_scorer_for_query(const tvlm_stack *stack, const struct tvlm_score_params *params,
                                  const struct tvlm_query *query, tvlm_scorer *resolved, float **weights);

/* Finds mean[dimension], which is all that a scorer sees of a query with vectors. query->mean is subtracted
 * from each vector, each is brought to length 1, and then their mean is taken. */
tvlm_status tvlm_query_direction(tvlm_device *device, const struct tvlm_query *query, double *mean);

#endif
