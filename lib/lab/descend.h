/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/descend.h: the minimum of a function of many numbers.
 */
#ifndef TVLM_LAB_DESCEND_H
#define TVLM_LAB_DESCEND_H

#include "texturevlm/status.h"

/* Returns the value at a point, and writes the gradient there. */
typedef double tvlm_slope(void *user, const double *at, double *gradient);

/*
 * Minimises a function by L-BFGS (Nocedal & Wright 2006, algorithm 7.5). It begins at at[size], takes at most
 * `steps` steps, and leaves in `at` where it ends. The same call does the same every time. The value never
 * grows from step to step; the last value goes to *least, which may be NULL.
 */
tvlm_status tvlm_descend(const tvlm_log *log, tvlm_slope *slope, void *user, int32_t size, int32_t steps,
                         double *at, double *least);

#endif
