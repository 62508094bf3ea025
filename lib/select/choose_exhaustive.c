/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strategy `exhaustive`: every texel of a level is a candidate. What it chooses is what all others are
 * measured by.
 */
#include "select/best.h"

tvlm_status tvlm_choose_exhaustive(const tvlm_task *task, tvlm_selection *selection) {
    tvlm_task dense = *task;
    dense.params.score.dense = true;
    return tvlm_choose_best(&dense, tvlm_rank_all, selection);
}
