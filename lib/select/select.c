/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm_select: what is asked is checked and completed, and the strategy runs.
 */
#include <math.h>

#include "core/check.h"
#include "core/owner.h"
#include "core/try.h"
#include "select/strategy.h"

static tvlm_status check_params(const tvlm_stack *stack, const struct tvlm_select_params *params) {
    const tvlm_log *const log = tvlm_stack_log(stack);
    if (params->k < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "k is %d; it is at least 1", (int)params->k);
    if (!(params->patch >= 0.0f) || !isfinite(params->patch))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a patch of %g pixels", (double)params->patch);
    if (!(params->min_distance >= 0.0f) || !isfinite(params->min_distance))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a minimum distance of %g pixels",
                         (double)params->min_distance);
    if (!(params->diversity >= 0.0 && params->diversity <= 1.0))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a diversity of %g; it is 0 to 1", params->diversity);
    TVLM_TRY(tvlm_stack_check_index(stack, params->score.index));
    return tvlm_strategy_check(log, params);
}

static void complete(struct tvlm_select_params *params) {
    params->strategy = tvlm_strategy_meant(params->strategy);
    if (params->patch == 0.0f) params->patch = TVLM_PATCH_DEFAULT;
}

tvlm_status tvlm_select(tvlm_stack *stack, const struct tvlm_query *query,
                        const struct tvlm_select_params *params, tvlm_selection **selection) {
    tvlm_task task = {.stack = stack, .query = query};
    tvlm_selection *made;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    TVLM_NEED(tvlm_stack_log(stack), selection);
    TVLM_CHECK_RESERVED(tvlm_stack_log(stack), tvlm_select_params, params);
    if (params != NULL) task.params = *params;
    TVLM_TRY(check_params(stack, &task.params));
    complete(&task.params);
    TVLM_TRY(tvlm_selection_make(stack, &task.params, &made));
    const tvlm_status status = tvlm_strategy_run(&task, made);
    if (status == TVLM_OK)
        *selection = made;
    else
        tvlm_selection_destroy(&made);
    return status;
}
