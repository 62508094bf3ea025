/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best of many candidates: how many there are to be, their ranking, and the positions they stand for.
 */
#include "select/best.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "select/cost.h"
#include "select/own.h"
#include "select/pick.h"
#include "stack/frame.h"

/* ---- What is asked ---- */

static tvlm_status resolve_overview(tvlm_best *best) {
    const tvlm_task *const task = best->task;
    const double step = (double)fmaxf(best->candidates.step_x, best->candidates.step_y);
    int32_t share;
    TVLM_TRY(tvlm_overview_count(tvlm_stack_log(task->stack), &task->params, best->k, &share));
    if (share == 0) return TVLM_OK;
    best->overview = tvlm_overview_fit(tvlm_stack_width(task->stack), tvlm_stack_height(task->stack),
                                       fmax((double)task->params.patch, step), share);
    best->k -= tvlm_overview_size(&best->overview);
    return TVLM_OK;
}

static tvlm_status resolve(tvlm_best *best) {
    const struct tvlm_select_params *const params = &best->task->params;
    const tvlm_log *const log = tvlm_stack_log(best->task->stack);
    TVLM_TRY(tvlm_score_candidates(best->task->stack, &params->score, &best->candidates));
    best->count = tvlm_candidate_count(&best->candidates);
    if (best->count >= TVLM_TOPK_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d candidates are too many; use a larger stride",
                         (int)best->count);
    if (params->k > best->count)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "k is %d, but there are only %d candidates",
                         (int)params->k, (int)best->count);
    const int32_t most = TVLM_K_DEFAULT < best->count ? TVLM_K_DEFAULT : best->count;
    best->k = params->k > 0 ? params->k : most;
    return resolve_overview(best);
}

/* ---- Ranking ---- */

/* Scores all candidates, and ranks them on the device: the best `wanted` of them. */
static tvlm_status rank_there(const tvlm_best *best, int32_t wanted, tvlm_buffer **scores,
                              tvlm_buffer **ranking) {
    tvlm_stack *const stack = best->task->stack;
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_RANKING, (size_t)wanted * sizeof(tvlm_ranked), ranking));
    const tvlm_ranking wish = {wanted, *ranking};
    return tvlm_task_score(best->task, &best->candidates, false, &wish, scores);
}

tvlm_status tvlm_rank_all(const tvlm_best *best, int32_t wanted, tvlm_best_ranking *ranking,
                          tvlm_selection_report *report) {
    const tvlm_task *const task = best->task;
    const struct tvlm_score_params *const score = &task->params.score;
    const tvlm_backend *const backend = tvlm_stack_device(task->stack)->backend;
    const size_t bytes = (size_t)wanted * sizeof *ranking->ranked;
    tvlm_select_stage *const stage = &report->stages[report->stage_count++];
    tvlm_buffer *result;
    *stage = (tvlm_select_stage){.name = "cells", .candidates = best->count, .kept = best->k};
    ranking->count = wanted;
    ranking->ranked = tvlm_allocate((size_t)wanted, sizeof *ranking->ranked);
    if (ranking->ranked == NULL)
        return tvlm_fail(tvlm_stack_log(task->stack), TVLM_ERROR_MEMORY, "no memory for a ranking of %d",
                         (int)wanted);
    TVLM_TRY(rank_there(best, wanted, &ranking->scores, &result));
    if (task->params.scores != NULL)
        stage->bytes = (size_t)best->count * sizeof(float);
    else
        TVLM_TRY(tvlm_cost_of_score(task->stack, task->query, score, &best->candidates, &stage->bytes));
    return backend->buffer_read(tvlm_stack_device(task->stack), result, 0, bytes, ranking->ranked);
}

/* ---- Positions ---- */

/* Keeps the positions with the image, for the next frame's fixation (texturevlm/stream.h). */
static tvlm_status keep_positions(const tvlm_best *best, const tvlm_ranked *ranked, int32_t count) {
    float *kept;
    TVLM_TRY(tvlm_stack_keep_positions(best->task->stack, best->task->params.score.index, count, &kept));
    for (int32_t i = 0; i < count; ++i) {
        double x, y;
        tvlm_candidate_centre(best->task->stack, &best->candidates, ranked[i].index, &x, &y);
        kept[2 * i] = (float)x;
        kept[2 * i + 1] = (float)y;
    }
    return TVLM_OK;
}

/* The level of all positions. */
static float level_of(const tvlm_best *best) {
    return fmaxf(0.0f, log2f(best->candidates.step_x / best->task->params.patch));
}

static tvlm_position position_of(const tvlm_best *best, const tvlm_ranked *ranked, const tvlm_scale *scale) {
    const float stride = best->candidates.step_x;
    double x, y;
    tvlm_candidate_centre(best->task->stack, &best->candidates, ranked->index, &x, &y);
    return (tvlm_position){.x = (float)(x * scale->x),
                           .y = (float)(y * scale->y),
                           .level = level_of(best),
                           .score = ranked->score,
                           .size = (float)(stride * scale->size),
                           .column = ranked->index % best->candidates.columns,
                           .row = ranked->index / best->candidates.columns};
}

/* The overview's squares first, then the candidates. */
static tvlm_status fill_positions(const tvlm_best *best, const tvlm_ranked *ranked, int32_t count,
                                  const tvlm_scoremap *map, tvlm_selection *selection) {
    const tvlm_stack *const stack = best->task->stack;
    const tvlm_scale scale = tvlm_scale_of(stack, best->task->params.score.index);
    const int32_t squares = tvlm_overview_size(&best->overview);
    TVLM_TRY(tvlm_selection_reserve(stack, squares + count, selection));
    for (int32_t i = 0; i < count; ++i)
        selection->positions[squares + i] = position_of(best, &ranked[i], &scale);
    if (squares > 0)
        tvlm_overview_place(&best->overview, map, &scale, (double)best->task->params.patch,
                            selection->positions);
    selection->info.columns = best->candidates.columns;
    selection->info.rows = best->candidates.rows;
    selection->info.overview_columns = best->overview.columns;
    selection->info.overview_rows = best->overview.rows;
    selection->report.stages[selection->report.stage_count - 1].kept = count;
    return TVLM_OK;
}

/* ---- best.h ---- */

/* The scores of all candidates, where the overview or the caller wants them. */
static tvlm_status read_scores(const tvlm_best *best, tvlm_buffer *scores, tvlm_scoremap *map) {
    const bool overview = tvlm_overview_size(&best->overview) > 0;
    if (!overview && !best->task->params.keep_scores) return TVLM_OK;
    TVLM_TRY(tvlm_scoremap_read(best->task->stack, &best->candidates, scores, map));
    return overview ? tvlm_scoremap_sum_up(best->task->stack, map) : TVLM_OK;
}

static tvlm_status pick(const tvlm_best *best, tvlm_best_ranking *ranking, int32_t *kept) {
    const struct tvlm_select_params *const params = &best->task->params;
    const tvlm_pick_from from = {.stack = best->task->stack,
                                 .index = params->score.index,
                                 .candidates = &best->candidates,
                                 .ranked = ranking->ranked,
                                 .count = ranking->count};
    return tvlm_pick(&from, best->k, params->best.min_distance, params->best.diversity, kept);
}

static tvlm_status choose(const tvlm_best *best, tvlm_rank_function *rank, tvlm_best_ranking *ranking,
                          tvlm_scoremap *map, tvlm_selection *selection) {
    /* With a minimum distance or a diversity, any number of candidates may be passed over, so all of them are
     * ranked. Where the overview takes all of k, one candidate is still ranked, since that makes the scores
     * that the overview needs. */
    const bool picky =
        best->task->params.best.min_distance > 0.0f || best->task->params.best.diversity > 0.0f;
    int32_t kept = best->k;
    TVLM_TRY(rank(best, picky ? best->count : best->k > 0 ? best->k : 1, ranking, &selection->report));
    if (picky) TVLM_TRY(pick(best, ranking, &kept));
    TVLM_TRY(read_scores(best, ranking->scores, map));
    TVLM_TRY(keep_positions(best, ranking->ranked, kept));
    TVLM_TRY(fill_positions(best, ranking->ranked, kept, map, selection));
    tvlm_selection_take_scores(&best->task->params, map, selection);
    selection->spanned = ranking->spanned;
    memcpy(selection->spans, ranking->spans, sizeof ranking->spans);
    return TVLM_OK;
}

tvlm_status tvlm_choose_best(const tvlm_task *task, tvlm_rank_function *rank, tvlm_selection *selection) {
    tvlm_best best = {.task = task};
    tvlm_best_ranking ranking = {0};
    tvlm_scoremap map = {0};
    TVLM_TRY(resolve(&best));
    const tvlm_status status = choose(&best, rank, &ranking, &map, selection);
    free(ranking.ranked);
    tvlm_scoremap_free(&map);
    return status;
}

tvlm_status tvlm_best_into(const tvlm_task *task, tvlm_buffer *out, size_t offset, int32_t *count) {
    tvlm_stack *const stack = task->stack;
    tvlm_device *const device = tvlm_stack_device(stack);
    const int32_t index = task->params.score.index;
    const tvlm_scale scale = tvlm_scale_of(stack, index);
    tvlm_best best = {.task = task};
    tvlm_buffer *scores, *ranking;
    TVLM_TRY(resolve(&best));
    TVLM_TRY(tvlm_selection_fits(stack, best.k, out, offset));
    TVLM_TRY(rank_there(&best, best.k, &scores, &ranking));
    tvlm_placing placing = {.candidates = best.candidates,
                            .width = tvlm_stack_width(stack),
                            .height = tvlm_stack_height(stack),
                            .scale_x = (float)scale.x,
                            .scale_y = (float)scale.y,
                            .level = level_of(&best),
                            .size = (float)(best.candidates.step_x * scale.size),
                            .out = out,
                            .out_offset = offset};
    TVLM_TRY(tvlm_stack_looked(stack, index, best.k, &placing.looked));
    TVLM_TRY(device->backend->place(device, &placing, ranking, best.k));
    tvlm_stack_mark_looked(stack, index, best.k);
    *count = best.k;
    return TVLM_OK;
}
