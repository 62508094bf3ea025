/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scores of the caller's own: their shape and values are checked, and they take the place of computed ones.
 */
#include "select/own.h"

#include <math.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "core/wrap.h"
#include "select/score.h"
#include "stack/frame.h"
#include "stack/query.h"

tvlm_status tvlm_own_check(const tvlm_log *log, const struct tvlm_query *query,
                           const struct tvlm_select_params *params) {
    const struct tvlm_scores *const own = params->scores;
    if (own == NULL) return TVLM_OK;
    TVLM_CHECK_RESERVED(log, tvlm_scores, own);
    if (own->values == NULL && own->values_in == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "scores of one's own, but none given");
    if (own->values != NULL && own->values_in != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "scores of one's own on the host and on the device");
    if (query != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a query and scores of one's own, which it cannot change");
    if (params->score.weights != NULL || params->score.scorer != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s and scores of one's own, which it cannot change",
                         params->score.scorer != NULL ? "a scorer" : "weights");
    if (params->budget.emphasis_channel != 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an emphasis on a channel, and on scores of one's own");
    return TVLM_OK;
}

static tvlm_status check_shape(const tvlm_log *log, const struct tvlm_scores *own,
                               const tvlm_candidates *candidates) {
    if (own->columns == candidates->columns && own->rows == candidates->rows) return TVLM_OK;
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "scores of %d x %d, but there are %d x %d candidates",
                     (int)own->columns, (int)own->rows, (int)candidates->columns, (int)candidates->rows);
}

static tvlm_status not_finite(const tvlm_log *log, const tvlm_candidates *candidates, int64_t number) {
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "score %lld (row %lld, column %lld) is not finite",
                     (long long)number, (long long)(number / candidates->columns),
                     (long long)(number % candidates->columns));
}

static tvlm_status check_values(const tvlm_log *log, const float *values, const tvlm_candidates *candidates) {
    const int32_t count = tvlm_candidate_count(candidates);
    for (int32_t i = 0; i < count; ++i)
        if (!isfinite(values[i])) return not_finite(log, candidates, i);
    return TVLM_OK;
}

static tvlm_status check_values_there(tvlm_device *device, const struct tvlm_memory *memory,
                                      tvlm_buffer *values, const tvlm_candidates *candidates) {
    const tvlm_input input = {.columns = candidates->columns,
                              .rows = candidates->rows,
                              .channels = 1,
                              .offset = memory->byte_offset,
                              .row_stride = (size_t)candidates->columns * sizeof(float)};
    int64_t first = -1;
    if (memory->unchecked) return TVLM_OK;
    TVLM_TRY(device->backend->input_check(device, values, &input, &first));
    return first < 0 ? TVLM_OK : not_finite(&device->log, candidates, first);
}

/* Brings the scores to the stack's memory, once they are checked. */
static tvlm_status bring(const tvlm_task *task, const tvlm_candidates *candidates, tvlm_buffer **scores) {
    tvlm_device *const device = tvlm_stack_device(task->stack);
    const struct tvlm_scores *const own = task->params.scores;
    const struct tvlm_memory *const memory = own->values_in;
    const size_t bytes = (size_t)tvlm_candidate_count(candidates) * sizeof(float);
    const int32_t index = task->params.score.index;
    tvlm_buffer *there = NULL;
    if (memory == NULL) {
        TVLM_TRY(check_values(&device->log, own->values, candidates));
        TVLM_TRY(tvlm_stack_scores(task->stack, index, candidates, scores));
        return device->backend->buffer_write(device, *scores, 0, bytes, own->values);
    }
    TVLM_TRY(tvlm_wrap(device, "scores", memory, bytes, false, &there));
    tvlm_status status = check_values_there(device, memory, there, candidates);
    if (status == TVLM_OK) status = tvlm_stack_scores(task->stack, index, candidates, scores);
    if (status == TVLM_OK)
        status = device->backend->buffer_copy(device, there, memory->byte_offset, *scores, 0, bytes);
    device->backend->buffer_destroy(device, &there);
    return status;
}

tvlm_status tvlm_task_score(const tvlm_task *task, const tvlm_candidates *candidates, bool asked,
                            const tvlm_ranking *ranking, tvlm_buffer **scores) {
    const struct tvlm_score_params *const params = &task->params.score;
    if (task->params.scores == NULL)
        return (asked ? tvlm_score_again : tvlm_score_enqueue)(task->stack, task->query, params, candidates,
                                                               ranking, scores);
    TVLM_TRY(check_shape(tvlm_stack_log(task->stack), task->params.scores, candidates));
    TVLM_TRY(bring(task, candidates, scores));
    TVLM_TRY(tvlm_query_upload(task->stack, params->index, NULL));
    return tvlm_score_finish(task->stack, params, candidates, ranking, *scores);
}

tvlm_status tvlm_own_read(tvlm_stack *stack, const struct tvlm_scores *own, const tvlm_candidates *candidates,
                          const float **scores, float **owned) {
    tvlm_device *const device = tvlm_stack_device(stack);
    const size_t bytes = (size_t)tvlm_candidate_count(candidates) * sizeof **owned;
    void *read = NULL;
    *owned = NULL;
    *scores = own->values;
    TVLM_TRY(check_shape(&device->log, own, candidates));
    if (own->values_in == NULL) return check_values(&device->log, *scores, candidates);
    TVLM_TRY(tvlm_wrap_read(device, "scores", own->values_in, bytes, &read));
    *scores = *owned = read;
    return own->values_in->unchecked ? TVLM_OK : check_values(&device->log, *scores, candidates);
}
