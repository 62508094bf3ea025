/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/mapped.h: scorers that a query changes.
 */
#ifndef TVLM_SELECT_MAPPED_H
#define TVLM_SELECT_MAPPED_H

#include "texturevlm/score.h"

/*
 * Makes *resolved the scorer with the weights that its matrix gives it for that query. *weights holds them,
 * and the caller frees it; it is NULL where the query changes nothing. Errors: MEMORY; ARGUMENT where the
 * query has another dimension than the matrix.
 */
tvlm_status tvlm_scorer_for_query(tvlm_device *device, const tvlm_scorer *scorer,
                                  const struct tvlm_query *query, tvlm_scorer *resolved, float **weights);

#endif
