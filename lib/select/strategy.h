/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/strategy.h: which strategy is meant, and what it reads.
 */
#ifndef TVLM_SELECT_STRATEGY_H
#define TVLM_SELECT_STRATEGY_H

#include "select/choose.h"

/* The strategy that parameters mean: where they name none it is the budget, or the grid if they ask for an
 * overview, which shows the whole image beside the best cells. */
tvlm_strategy tvlm_strategy_meant(const struct tvlm_select_params *params);

/* Refuses a strategy that does not exist or that this build leaves out, parameters outside their range, parameters
 * that the strategy would ignore, and what its own check refuses. */
tvlm_status tvlm_strategy_check(const tvlm_log *log, const struct tvlm_select_params *params);

/* Runs the strategy of a task that was checked. */
tvlm_status tvlm_strategy_run(const tvlm_task *task, tvlm_selection *selection);

#endif
