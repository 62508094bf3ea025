/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_emphasis.c: how much each tile matters.
 */
#include <math.h>

#include "core/check.h"
#include "core/try.h"
#include "select/budget.h"
#include "select/own.h"
#include "select/score.h"
#include "stack/query.h"
#include "texturevlm/input.h"

/* What m, which is how much a tile matters, is made of. */
typedef enum meaning { MEANS_CHANNEL, MEANS_SCORES, MEANS_SCORER, MEANS_QUERY } meaning;

static meaning meaning_of(const tvlm_task *task) {
    if (task->params.budget.emphasis_channel != 0) return MEANS_CHANNEL;
    if (task->params.scores != NULL) return MEANS_SCORES;
    if (task->params.score.scorer != NULL) return MEANS_SCORER;
    return task->query != NULL ? MEANS_QUERY : MEANS_CHANNEL;
}

static int32_t channel_of(const tvlm_task *task) {
    return task->params.budget.emphasis_channel != 0 ? task->params.budget.emphasis_channel
                                                     : TVLM_CHANNEL_SALIENCY;
}

static double emphasis_of(const tvlm_task *task) {
    const meaning m = meaning_of(task);
    const float otherwise = m == MEANS_CHANNEL ? 0.0f
                            : m == MEANS_QUERY ? TVLM_EMPHASIS_QUERY
                                               : TVLM_EMPHASIS_ASKED;
    return (double)tvlm_or_default(task->params.budget.emphasis, otherwise);
}

/* Refuses a channel that says what matters beside a scorer or a query, which would then be ignored. The
 * channel query_similarity may stand beside a query. */
static tvlm_status check_alone(const tvlm_log *log, const tvlm_task *task) {
    const int32_t channel = task->params.budget.emphasis_channel;
    if (channel == 0) return TVLM_OK;
    if (task->params.score.scorer != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an emphasis on a channel, and a scorer");
    if (task->query != NULL && channel != TVLM_CHANNEL_QUERY_SIMILARITY)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an emphasis on a channel, and a query");
    return TVLM_OK;
}

tvlm_status tvlm_budget_find_emphasis(const tvlm_task *task, double *emphasis) {
    const tvlm_log *const log = tvlm_stack_log(task->stack);
    const int32_t channel = channel_of(task), index = task->params.score.index;
    tvlm_channel_info info;
    TVLM_TRY(check_alone(log, task));
    *emphasis = emphasis_of(task);
    if (*emphasis == 0.0 || meaning_of(task) != MEANS_CHANNEL) return TVLM_OK;
    bool has = false;
    TVLM_TRY(tvlm_stack_check_channel(task->stack, channel));
    TVLM_TRY(tvlm_stack_has_channel(task->stack, index, channel, &has));
    if (has || (channel == TVLM_CHANNEL_QUERY_SIMILARITY && task->query != NULL)) return TVLM_OK;
    if (tvlm_channel_get_info(channel, &info) != TVLM_OK) info = (tvlm_channel_info){.name = "of a plane"};
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                     "an emphasis on the channel %s (%d), for which the image has no input", info.name,
                     (int)channel);
}

tvlm_status tvlm_budget_score(const tvlm_task *task, tvlm_buffer **scores) {
    static const float relevance[3] = {0.0f, 0.0f, 1.0f};
    const float one = 1.0f;
    const int32_t channel = channel_of(task);
    const struct tvlm_scorer of_channel = {
        .channel_count = 1, .channels = &channel, .taps = 1, .weights = &one};
    struct tvlm_score_params params = {.index = task->params.score.index, .stride = task->params.patch};
    const meaning m = meaning_of(task);
    tvlm_candidates cells;
    if (m == MEANS_CHANNEL) params.scorer = &of_channel;
    if (m == MEANS_SCORER) params.scorer = task->params.score.scorer;
    if (m == MEANS_QUERY) params.weights = relevance;
    TVLM_TRY(tvlm_score_candidates(task->stack, &params, &cells));
    if (m == MEANS_SCORES) {
        tvlm_task own = *task;
        own.params.score = params;
        return tvlm_task_score(&own, &cells, false, NULL, scores);
    }
    return tvlm_score_enqueue(task->stack, task->query, &params, &cells, NULL, scores);
}

tvlm_status tvlm_budget_look(const tvlm_task *task) {
    tvlm_buffer *scores;
    if (meaning_of(task) != MEANS_CHANNEL) return tvlm_budget_score(task, &scores);
    return tvlm_query_upload(task->stack, task->params.score.index, task->query);
}

/* The median of the values that are finite, which lie between `low` and `high`. It is found by halving that
 * range. Unlike sorting, this needs no memory. */
static float median_of(const float *values, int32_t count, float low, float high) {
    enum { STEPS = 24 };
    for (int step = 0; step < STEPS; ++step) {
        const float middle = low + 0.5f * (high - low);
        int32_t above = 0, below = 0;
        for (int32_t i = 0; i < count; ++i) {
            above += isfinite(values[i]) && values[i] > middle;
            below += isfinite(values[i]) && values[i] <= middle;
        }
        *(above > below ? &low : &high) = middle;
    }
    return high;
}

void tvlm_budget_importance(const tvlm_task *task, float *scores, int32_t count) {
    tvlm_channel_info info = {.low = -INFINITY, .high = INFINITY};
    float low = INFINITY, high = -INFINITY;
    for (int32_t i = 0; i < count; ++i) {
        low = isfinite(scores[i]) ? fminf(low, scores[i]) : low;
        high = isfinite(scores[i]) ? fmaxf(high, scores[i]) : high;
    }
    if (meaning_of(task) == MEANS_CHANNEL) {
        (void)tvlm_channel_get_info(channel_of(task), &info);
        low = isfinite(info.low) ? info.low : low;
        high = isfinite(info.high) ? info.high : high;
    }
    const bool asked = meaning_of(task) == MEANS_QUERY;
    if (asked && high > low) low = fminf(median_of(scores, count, low, high), low + 0.5f * (high - low));
    for (int32_t i = 0; i < count; ++i) {
        const float share = high > low ? (scores[i] - low) / (high - low) : 0.0f;
        const float m = share > 0.0f ? fminf(share, 1.0f) : 0.0f; /* NaN: it does not matter */
        scores[i] = asked ? m * m : m;
    }
}
