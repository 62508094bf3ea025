/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/choose.h: the strategies. Each is one function in a file choose_NAME.c and one entry of the table in
 * strategy.c.
 */
#ifndef TVLM_SELECT_CHOOSE_H
#define TVLM_SELECT_CHOOSE_H

#include "select/selection.h"
#include "stack/stack.h"

/* What is asked of a strategy. */
typedef struct tvlm_task {
    tvlm_stack *stack;
    const struct tvlm_query *query;   /* NULL: nothing is asked */
    struct tvlm_select_params params; /* the strategy is the one that runs, and the patch is not 0 */
} tvlm_task;

/* Refuses parameters that the strategy reads and cannot use, before any work. */
typedef tvlm_status tvlm_check_function(const tvlm_log *log, const struct tvlm_select_params *params);

/* Scores what the strategy looks at, and fills in the selection: its positions and whatever else
 * selection.h says a strategy knows. */
typedef tvlm_status tvlm_choose_function(const tvlm_task *task, tvlm_selection *selection);

tvlm_choose_function tvlm_choose_grid;
tvlm_choose_function tvlm_choose_foveated;
tvlm_choose_function tvlm_choose_quadtree;
tvlm_choose_function tvlm_choose_exhaustive;
tvlm_check_function tvlm_check_cascade;
tvlm_choose_function tvlm_choose_cascade;
tvlm_check_function tvlm_check_budget;
tvlm_choose_function tvlm_choose_budget;

#endif
