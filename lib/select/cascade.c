/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cascade: regions first (cascade_regions.c), then the cells that touch the best of them
 * (cascade_cells.c), then the top K.
 */
#include "select/cascade.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "select/cascade_inside.h"
#include "select/own.h"
#include "select/pass.h"
#include "stack/frame.h"

static bool reads_query(const tvlm_score_program *program) {
    for (int32_t i = 0; i < 4 * program->count; ++i)
        if (program->channels[i] == TVLM_CHANNEL_QUERY_SIMILARITY) return true;
    return false;
}

/* Adds what a stream gives positions that stay (lib/video/stream_steady.c), as score.c does. */
static void add_bonus(tvlm_cascade *c) {
    const float *const bonus = tvlm_stack_bonus(c->stack, c->params->score.index, c->grid);
    if (bonus == NULL) return;
    for (int32_t n = 0; n < c->cells.count; ++n) c->cells.scores[n] += bonus[c->listed[n]];
}

/* ---- What comes out ---- */

/* Finds the lowest of the cells' scores that are finite; 0 where none is. */
static float lowest_score(const tvlm_cascade *c) {
    float lowest = INFINITY;
    for (int32_t n = 0; n < c->cells.count; ++n)
        if (isfinite(c->cells.scores[n])) lowest = fminf(lowest, c->cells.scores[n]);
    return isfinite(lowest) ? lowest : 0.0f;
}

/* Makes the scores of the cells those of the image. Cells that were not looked at get the lowest of these
 * scores. */
static tvlm_status keep_scores(const tvlm_cascade *c, tvlm_buffer **buffer) {
    const tvlm_backend *const backend = tvlm_stack_device(c->stack)->backend;
    const int32_t index = c->params->score.index;
    const size_t count = (size_t)tvlm_candidate_count(c->grid);
    float *const scores = tvlm_allocate(count, sizeof *scores), lowest = lowest_score(c);
    if (scores == NULL) return tvlm_cascade_no_memory(c);
    for (size_t i = 0; i < count; ++i) scores[i] = lowest;
    for (int32_t n = 0; n < c->cells.count; ++n) scores[c->listed[n]] = c->cells.scores[n];
    tvlm_status status = tvlm_stack_scores(c->stack, index, c->grid, buffer);
    if (status == TVLM_OK)
        status =
            backend->buffer_write(tvlm_stack_device(c->stack), *buffer, 0, count * sizeof *scores, scores);
    if (status == TVLM_OK) tvlm_stack_mark_scored(c->stack, index);
    if (status == TVLM_OK && c->params->score.keep_pass)
        status = tvlm_pass_keep(c->stack, index, c->grid, *buffer);
    free(scores);
    return status;
}

/* Puts the question to the image, and finds its guide. A map of similarities that was made elsewhere becomes
 * a channel like any other. Vectors are first compared with the means of the guide alone. */
static tvlm_status prepare(tvlm_cascade *c) {
    const int32_t index = c->params->score.index;
    const bool vectors = c->query != NULL && tvlm_query_has_vectors(c->query);
    if (vectors) TVLM_TRY(tvlm_sparse_query_begin(c->stack, index, c->query, &c->sparse));
    c->vectors = vectors && reads_query(&c->program);
    TVLM_TRY(tvlm_query_upload(c->stack, index, vectors ? NULL : c->query));
    return tvlm_guide_of(c->stack, index, c->grid, c->vectors ? &c->sparse.features : NULL,
                         c->vectors && c->query->basis != NULL, &c->guide);
}

static tvlm_status rank_cells(const tvlm_cascade *c, tvlm_cascade_result *result) {
    result->count = c->cells.count;
    result->ranking = tvlm_allocate((size_t)c->cells.count, sizeof *result->ranking);
    if (result->ranking == NULL) return tvlm_cascade_no_memory(c);
    for (int32_t n = 0; n < c->cells.count; ++n)
        result->ranking[n] = (tvlm_ranked){c->listed[n], c->cells.scores[n]};
    qsort(result->ranking, (size_t)c->cells.count, sizeof *result->ranking, tvlm_ranked_compare);
    return TVLM_OK;
}

/* ---- Scores that were handed in ---- */

/* A region is as good as the best of its cells. */
static tvlm_status take_own_regions(tvlm_cascade *c, const float *own) {
    TVLM_TRY(tvlm_cascade_places_make(c, &c->regions, c->guide->regions));
    for (int32_t r = 0; r < c->regions.count; ++r) {
        float best = -INFINITY;
        for (int32_t i = c->guide->begins[r]; i < c->guide->begins[r + 1]; ++i)
            best = fmaxf(best, own[c->guide->touched[i]]);
        c->regions.scores[r] = best;
    }
    const size_t touched = (size_t)c->guide->begins[c->regions.count];
    c->stages[0] = (tvlm_select_stage){
        .name = "regions", .candidates = c->regions.count, .bytes = touched * sizeof *own};
    return TVLM_OK;
}

static tvlm_status run_own(tvlm_cascade *c, const float *own, tvlm_cascade_result *result) {
    TVLM_TRY(tvlm_query_upload(c->stack, c->params->score.index, NULL));
    TVLM_TRY(tvlm_guide_of(c->stack, c->params->score.index, c->grid, NULL, false, &c->guide));
    TVLM_TRY(take_own_regions(c, own));
    TVLM_TRY(tvlm_cascade_rank_regions(c));
    TVLM_TRY(tvlm_cascade_list_cells(c));
    for (int32_t n = 0; n < c->cells.count; ++n) c->cells.scores[n] = own[c->listed[n]];
    c->stages[1] = (tvlm_select_stage){.name = "cells",
                                       .candidates = c->cells.count,
                                       .kept = c->k,
                                       .bytes = (size_t)c->cells.count * sizeof *own};
    add_bonus(c);
    TVLM_TRY(rank_cells(c, result));
    return keep_scores(c, &result->scores);
}

static tvlm_status run_with_own(tvlm_cascade *c, tvlm_cascade_result *result) {
    const float *scores;
    float *owned;
    tvlm_status status = tvlm_own_read(c->stack, c->params->scores, c->grid, &scores, &owned);
    if (status == TVLM_OK) status = run_own(c, scores, result);
    free(owned);
    return status;
}

static tvlm_status run(tvlm_cascade *c, tvlm_cascade_result *result) {
    if (c->params->scores != NULL) return run_with_own(c, result);
    TVLM_TRY(prepare(c));
    TVLM_TRY(tvlm_cascade_score_regions(c));
    TVLM_TRY(tvlm_cascade_rank_regions(c));
    TVLM_TRY(tvlm_cascade_list_cells(c));
    TVLM_TRY(tvlm_cascade_score_cells(c));
    tvlm_cascade_ranges_reset(c);
    tvlm_cascade_ranges_widen(c, &c->regions, c->taken); /* regions looked into count by their cells */
    tvlm_cascade_ranges_widen(c, &c->cells, NULL);
    tvlm_cascade_combine(c, &c->cells);
    for (int p = 0; p < TVLM_SCORE_PARTS; ++p) result->spans[p] = c->ranges[p].high - c->ranges[p].low;
    add_bonus(c);
    TVLM_TRY(rank_cells(c, result));
    return keep_scores(c, &result->scores);
}

tvlm_status tvlm_cascade_run(tvlm_stack *stack, const struct tvlm_query *query,
                             const struct tvlm_select_params *params, const tvlm_candidates *candidates,
                             int32_t k, tvlm_cascade_result *result) {
    tvlm_cascade c = {.stack = stack, .params = params, .query = query, .grid = candidates, .k = k};
    tvlm_status status = tvlm_score_program_make(stack, query, &params->score, &c.program);
    if (status == TVLM_OK) status = run(&c, result);
    memcpy(result->stages, c.stages, sizeof c.stages);
    tvlm_score_program_free(&c.program);
    tvlm_sparse_query_end(&c.sparse);
    tvlm_cascade_places_free(&c.regions);
    tvlm_cascade_places_free(&c.cells);
    free(c.order);
    free(c.taken);
    free(c.inside);
    free(c.listed);
    return status;
}
