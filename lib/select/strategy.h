/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/strategy.h: which strategy is meant, and what it reads.
 */
#ifndef TVLM_SELECT_STRATEGY_H
#define TVLM_SELECT_STRATEGY_H

#include "select/choose.h"

/* The strategy that is meant where parameters name none, first without and then with an overview. An overview
 * shows the whole image beside the best cells, and `grid` finds the best cells. */
#define TVLM_STRATEGY_USUAL         TVLM_STRATEGY_BUDGET
#define TVLM_STRATEGY_WITH_OVERVIEW TVLM_STRATEGY_GRID

/* The strategy that parameters mean. */
static inline tvlm_strategy tvlm_strategy_meant(const struct tvlm_select_params *params) {
    if (params->strategy != TVLM_STRATEGY_DEFAULT) return params->strategy;
    return params->best.overview != 0.0f ? TVLM_STRATEGY_WITH_OVERVIEW : TVLM_STRATEGY_USUAL;
}

/* Refuses a strategy that does not exist or that this build leaves out, parameters outside their range, parameters
 * that the strategy would ignore, and what its own check refuses. */
tvlm_status tvlm_strategy_check(const tvlm_log *log, const struct tvlm_select_params *params);

/* Runs the strategy of a task that was checked. */
static inline tvlm_status tvlm_strategy_run(const tvlm_task *task, tvlm_selection *selection) {
    return tvlm_choosers[task->params.strategy].choose(task, selection);
}

#endif
