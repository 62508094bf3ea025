/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/own.h: the scores of a task: the caller's own, or computed ones.
 */
#ifndef TVLM_SELECT_OWN_H
#define TVLM_SELECT_OWN_H

#include "select/choose.h"

/* Refuses scores of the caller's own:
 * - without values,
 * - with values both on the host and on the device,
 * - together with something that would be ignored. */
tvlm_status tvlm_own_check(const tvlm_log *log, const struct tvlm_query *query,
                           const struct tvlm_select_params *params);

/*
 * Enqueues the scores of the candidates, and their ranking unless that is NULL. The scores are the caller's
 * own where there are some; otherwise they are computed as tvlm_score_enqueue does it, or with `asked` as
 * tvlm_score_again does. *scores is the stack's, and keeps them until the next scores of this image. It waits
 * where the caller's own scores are on the device and are checked.
 */
tvlm_status tvlm_task_score(const tvlm_task *task, const tvlm_candidates *candidates, bool asked,
                            const tvlm_ranking *ranking, tvlm_buffer **scores);

/* Checks the caller's own scores, and hands them out on the host. *owned is to be freed, also after an error.
 * Waits where the scores are on the device. */
tvlm_status tvlm_own_read(tvlm_stack *stack, const struct tvlm_scores *own, const tvlm_candidates *candidates,
                          const float **scores, float **owned);

#endif
