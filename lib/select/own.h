/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/own.h: the scores of a task: the caller's own, or computed ones.
 */
#ifndef TVLM_SELECT_OWN_H
#define TVLM_SELECT_OWN_H

#include "select/choose.h"

/* Refuses scores of the caller's own that are none, or that come together with what would be ignored. */
tvlm_status tvlm_own_check(const tvlm_log *log, const struct tvlm_query *query,
                           const struct tvlm_select_params *params);

/*
 * Enqueues the scores of the candidates: computed as tvlm_score_enqueue does it (`asked`: as tvlm_score_again
 * does), or the caller's own; and their ranking, unless that is NULL. *scores is the stack's, and keeps them until
 * the next scores of this image. It waits where own scores on the device are checked.
 */
tvlm_status tvlm_task_score(const tvlm_task *task, const tvlm_candidates *candidates, bool asked,
                            const tvlm_ranking *ranking, tvlm_buffer **scores);

/* Hands out the caller's own scores on the host, checked; *owned is what the caller frees, also after an
 * error. Waits where they are on the device. */
tvlm_status tvlm_own_read(tvlm_stack *stack, const struct tvlm_scores *own, const tvlm_candidates *candidates,
                          const float **scores, float **owned);

#endif
