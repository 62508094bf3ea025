/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strategy `grid`: the best cells of a regular grid.
 */
#include "select/best.h"

tvlm_status tvlm_choose_grid(const tvlm_task *task, tvlm_selection *selection) {
    return tvlm_choose_best(task, tvlm_rank_all, selection);
}
