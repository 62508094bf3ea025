/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm_select: what is asked is checked and completed, and the strategy runs.
 */
#include "select/select.h"
#include "core/check.h"
#include "core/owner.h"
#include "core/try.h"
#include "select/best.h"
#include "select/own.h"
#include "select/strategy.h"

static tvlm_status check_params(const tvlm_log *log, const struct tvlm_query *query,
                                const struct tvlm_select_params *params) {
    TVLM_CHECK_RESERVED(log, tvlm_select_params, params);
    TVLM_CHECK_RESERVED(log, tvlm_best_params, &params->best);
    TVLM_CHECK_RESERVED(log, tvlm_foveated_params, &params->foveated);
    TVLM_CHECK_RESERVED(log, tvlm_cascade_params, &params->cascade);
    TVLM_CHECK_RESERVED(log, tvlm_budget_params, &params->budget);
    TVLM_TRY(tvlm_own_check(log, query, params));
    return tvlm_strategy_check(log, params);
}

tvlm_status tvlm_select_check(const tvlm_log *log, const struct tvlm_query *query,
                              const struct tvlm_select_params *params) {
    const struct tvlm_select_params defaults = {0};
    return check_params(log, query, params != NULL ? params : &defaults);
}

static void complete(struct tvlm_select_params *params) {
    params->strategy = tvlm_strategy_meant(params);
    if (params->patch == 0.0f) params->patch = TVLM_PATCH_DEFAULT;
}

/* Makes a task of what is asked. */
static tvlm_status begin(tvlm_stack *stack, const struct tvlm_query *query,
                         const struct tvlm_select_params *params, tvlm_task *task) {
    *task = (tvlm_task){.stack = stack, .query = query};
    if (params != NULL) task->params = *params;
    TVLM_TRY(tvlm_stack_check_index(stack, task->params.score.index));
    TVLM_TRY(check_params(tvlm_stack_log(stack), query, &task->params));
    complete(&task->params);
    return TVLM_OK;
}

static tvlm_status run(const tvlm_task *task, tvlm_selection **selection) {
    tvlm_selection *made;
    TVLM_TRY(tvlm_selection_make(task->stack, &task->params, &made));
    const tvlm_status status = tvlm_strategy_run(task, made);
    if (status == TVLM_OK)
        *selection = made;
    else
        tvlm_selection_destroy(&made);
    return status;
}

tvlm_status tvlm_select(tvlm_stack *stack, const struct tvlm_query *query,
                        const struct tvlm_select_params *params, tvlm_selection **selection) {
    tvlm_task task;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    TVLM_NEED(tvlm_stack_log(stack), selection);
    TVLM_TRY(begin(stack, query, params, &task));
    return run(&task, selection);
}

/* ---- Into memory of the device ---- */

/* Whether the strategy needs nothing of the host: it chooses the best of all candidates, and nothing else. */
static bool stays_there(const struct tvlm_select_params *params) {
    return (params->strategy == TVLM_STRATEGY_GRID || params->strategy == TVLM_STRATEGY_EXHAUSTIVE) &&
           params->best.min_distance == 0.0f && params->best.overview == 0.0f &&
           params->best.diversity == 0.0f;
}

/* Chooses on the host, and writes what came out. */
static tvlm_status deliver(const tvlm_task *task, tvlm_buffer *out, size_t offset, int32_t *count) {
    tvlm_device *const device = tvlm_stack_device(task->stack);
    tvlm_selection *selection = NULL;
    TVLM_TRY(run(task, &selection));
    const size_t bytes = (size_t)selection->count * sizeof *selection->positions;
    tvlm_status status = tvlm_selection_fits(task->stack, selection->count, out, offset);
    if (status == TVLM_OK)
        status = device->backend->buffer_write(device, out, offset, bytes, selection->positions);
    if (status == TVLM_OK) *count = selection->count;
    tvlm_selection_destroy(&selection);
    return status;
}

tvlm_status tvlm_select_into(tvlm_stack *stack, const struct tvlm_query *query,
                             const struct tvlm_select_params *params, tvlm_buffer *out, size_t offset,
                             int32_t *count) {
    tvlm_task task;
    TVLM_TRY(begin(stack, query, params, &task));
    if (task.params.keep_scores)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT,
                         "keep_scores: positions in a cl_mem have no selection that could keep scores");
    if (!stays_there(&task.params)) return deliver(&task, out, offset, count);
    if (task.params.strategy == TVLM_STRATEGY_EXHAUSTIVE) task.params.score.dense = true;
    return tvlm_best_into(&task, out, offset, count);
}
