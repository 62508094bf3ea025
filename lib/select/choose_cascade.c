/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strategy `cascade`: the best cells of the best regions, or squares that are small in them.
 *
 * On a GPU the grid is faster:
 * - tests/test_counts.c counts 15 commands and 4 waits for the cascade, and 5 commands and 1 wait for the
 *   grid. If a launch takes 6 us and a wait 15 us, that is about 0.15 ms against 0.05 ms.
 * - With vectors of 64 x 64 x 768 numbers, reading what the cascade need not read would take 3 us.
 * Still the cascade does not become the grid on a GPU. Its answer would then depend on the kind of device,
 * and would change where a job goes on on another device. Who wants the grid asks for it.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "select/best.h"
#include "select/cascade.h"
#include "select/squares.h"

tvlm_status tvlm_check_cascade(const tvlm_log *log, const struct tvlm_select_params *params) {
    if (params->cascade.cover && params->best.min_distance != 0.0f)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a min_distance with cover: its squares cover the image");
    if (params->cascade.cover && params->best.diversity != 0.0f)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "diversity with cover: its squares cover the image");
    if (params->cascade.cover && params->best.overview != 0.0f)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an overview with cover: its squares cover the image");
    return TVLM_OK;
}

static void report_stages(const tvlm_cascade_result *result, tvlm_selection_report *report) {
    report->stage_count = 2;
    memcpy(report->stages, result->stages, sizeof result->stages);
}

static tvlm_status rank(const tvlm_best *best, int32_t wanted, tvlm_best_ranking *ranking,
                        tvlm_selection_report *report) {
    const tvlm_task *const task = best->task;
    const int32_t k = best->k > 0 ? best->k : 1;
    tvlm_cascade_result result = {0};
    (void)wanted; /* it ranks all that it looked at */
    const tvlm_status status =
        tvlm_cascade_run(task->stack, task->query, &task->params, &best->candidates, k, &result);
    *ranking = (tvlm_best_ranking){result.ranking, result.count, result.scores, .spanned = true};
    memcpy(ranking->spans, result.spans, sizeof result.spans);
    report_stages(&result, report);
    return status;
}

/* Scores by a cascade. It looks for as many cells as squares are wanted. */
static tvlm_status score(const tvlm_task *task, tvlm_scoremap *map, tvlm_selection *selection) {
    const int32_t wanted = task->params.k > 0 ? task->params.k : TVLM_K_DEFAULT;
    tvlm_cascade_result result = {0};
    tvlm_candidates cells;
    TVLM_TRY(tvlm_score_candidates(task->stack, &task->params.score, &cells));
    const int32_t count = tvlm_candidate_count(&cells);
    tvlm_status status = tvlm_cascade_run(task->stack, task->query, &task->params, &cells,
                                          wanted < count ? wanted : count, &result);
    free(result.ranking);
    report_stages(&result, &selection->report);
    selection->spanned = true;
    memcpy(selection->spans, result.spans, sizeof result.spans);
    if (status == TVLM_OK) status = tvlm_scoremap_read(task->stack, &cells, result.scores, map);
    return status == TVLM_OK ? tvlm_scoremap_sum_up(task->stack, map) : status;
}

static tvlm_status cover(const tvlm_task *task, tvlm_scoremap *map, tvlm_selection *selection) {
    TVLM_TRY(score(task, map, selection));
    TVLM_TRY(tvlm_squares_cut(task, map, selection));
    selection->report.stages[1].kept = selection->count;
    return tvlm_squares_deliver(task, map, selection);
}

tvlm_status tvlm_choose_cascade(const tvlm_task *task, tvlm_selection *selection) {
    tvlm_scoremap map = {0};
    if (!task->params.cascade.cover) return tvlm_choose_best(task, rank, selection);
    const tvlm_status status = cover(task, &map, selection);
    tvlm_scoremap_free(&map);
    return status;
}
