/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strategy `exhaustive`: every texel of a level is a candidate. All other strategies are measured by what
 * it chooses.
 */
#include "select/best.h"

tvlm_status tvlm_choose_exhaustive(const tvlm_task *task, tvlm_selection *selection) {
    tvlm_task dense = *task;
    dense.params.score.dense = true;
    return tvlm_choose_best(&dense, tvlm_rank_all, selection);
}
