/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/choose.h: the strategies. Each is one function in a file choose_NAME.c, here or in the lab. It has a name in
 * strategy.c, a bit in the table of parameters that says what it reads (parameters.c), and one entry of the table
 * below, which says what runs it.
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
tvlm_choose_function tvlm_choose_quadtree;
tvlm_choose_function tvlm_choose_exhaustive;
tvlm_check_function tvlm_check_cascade;
tvlm_choose_function tvlm_choose_cascade;
tvlm_check_function tvlm_check_budget;
tvlm_choose_function tvlm_choose_budget;

/* What runs a strategy. `check` is NULL if nothing is left to check. `choose` is NULL if this build leaves the
 * strategy out, which tvlm_strategy_check then refuses. */
typedef struct tvlm_chooser {
    tvlm_check_function *check;
    tvlm_choose_function *choose;
} tvlm_chooser;

/* By the number of the strategy. The table is in lib/parts, since the lab has strategies, too. */
enum { TVLM_STRATEGY_COUNT = TVLM_STRATEGY_BUDGET + 1 };
extern const tvlm_chooser tvlm_choosers[TVLM_STRATEGY_COUNT];

/* The entries of the core. */
#define TVLM_CORE_CHOOSERS                                                                                   \
    [TVLM_STRATEGY_GRID] = {NULL, tvlm_choose_grid},                                                         \
    [TVLM_STRATEGY_QUADTREE] = {NULL, tvlm_choose_quadtree},                                                 \
    [TVLM_STRATEGY_EXHAUSTIVE] = {NULL, tvlm_choose_exhaustive},                                             \
    [TVLM_STRATEGY_CASCADE] = {tvlm_check_cascade, tvlm_choose_cascade},                                     \
    [TVLM_STRATEGY_BUDGET] = {tvlm_check_budget, tvlm_choose_budget}

#endif
