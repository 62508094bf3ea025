/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strategy `foveated`: squares that are small around fixations. If none is given, the peak of a coarse
 * map of the scores is the fixation.
 */
#include <math.h>

#include "core/memory.h"
#include "core/try.h"
#include "lab/foveated.h"
#include "select/ranking.h"
#include "select/score.h"
#include "select/squares.h"

/* Cells of the coarse map along the image's longer side. */
#define COARSE_CELLS 16

/* Scores the coarse map and finds its best cell. With a query, only the query's part of the score counts. */
static tvlm_status best_cell(const tvlm_task *task, const struct tvlm_score_params *coarse,
                             const tvlm_candidates *cells, int32_t *cell) {
    static const float relevance[3] = {0.0f, 0.0f, 1.0f};
    tvlm_stack *const stack = task->stack;
    const tvlm_backend *const backend = tvlm_stack_device(stack)->backend;
    const bool asked = task->query != NULL;
    struct tvlm_score_params score = *coarse;
    tvlm_buffer *buffer, *best;
    tvlm_ranked peak;
    score.weights = asked ? relevance : task->params.score.weights;
    score.scorer = asked ? NULL : task->params.score.scorer;
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_RANKING, sizeof peak, &best));
    const tvlm_ranking ranking = {1, best};
    TVLM_TRY(tvlm_score_enqueue(stack, task->query, &score, cells, &ranking, &buffer));
    TVLM_TRY(backend->buffer_read(tvlm_stack_device(stack), best, 0, sizeof peak, &peak));
    *cell = peak.index;
    return TVLM_OK;
}

/* Where cell c of the coarse map begins, across and down. */
static double left_of(const tvlm_candidates *cells, const tvlm_stack *stack, int32_t c) {
    return tvlm_scoremap_corner(c, cells->step_x, tvlm_stack_width(stack));
}
static double top_of(const tvlm_candidates *cells, const tvlm_stack *stack, int32_t c) {
    return tvlm_scoremap_corner(c, cells->step_y, tvlm_stack_height(stack));
}

/* Finds the cell of the coarse map with the highest mean of scores that were handed in. */
static int32_t highest_cell(const tvlm_stack *stack, const tvlm_candidates *cells, const tvlm_scoremap *map) {
    double most = -INFINITY;
    int32_t best = 0;
    for (int32_t cell = 0; cell < tvlm_candidate_count(cells); ++cell) {
        const int32_t column = cell % cells->columns, row = cell / cells->columns;
        const double x0 = left_of(cells, stack, column), x1 = left_of(cells, stack, column + 1);
        const double y0 = top_of(cells, stack, row), y1 = top_of(cells, stack, row + 1);
        const double mean = tvlm_scoremap_sum(map, x0, y0, x1, y1) / ((x1 - x0) * (y1 - y0));
        if (mean <= most) continue;
        most = mean;
        best = cell;
    }
    return best;
}

/* Finds the centre of the best cell of a coarse map. The map is made of `own`, the scores that were handed
 * in, or of the library's scores if `own` is NULL. */
static tvlm_status find_peak(const tvlm_task *task, const tvlm_scoremap *own, float fixation[2]) {
    tvlm_stack *const stack = task->stack;
    const float longest =
        (float)(tvlm_stack_width(stack) > tvlm_stack_height(stack) ? tvlm_stack_width(stack)
                                                                   : tvlm_stack_height(stack));
    const struct tvlm_score_params coarse = {.index = task->params.score.index,
                                             .stride = fmaxf(1.0f, longest / (float)COARSE_CELLS)};
    tvlm_candidates cells;
    int32_t cell = 0;
    TVLM_TRY(tvlm_score_candidates(stack, &coarse, &cells));
    if (own != NULL)
        cell = highest_cell(stack, &cells, own);
    else
        TVLM_TRY(best_cell(task, &coarse, &cells, &cell));
    const int32_t column = cell % cells.columns, row = cell / cells.columns;
    fixation[0] = (float)(0.5 * (left_of(&cells, stack, column) + left_of(&cells, stack, column + 1)));
    fixation[1] = (float)(0.5 * (top_of(&cells, stack, row) + top_of(&cells, stack, row + 1)));
    return TVLM_OK;
}

/* Places the positions, without their scores. `own` is the map of the scores that were handed in, or NULL if
 * there were none. *peaked says whether a peak was looked for. Without `own`, the question was put to the
 * image for that. */
static tvlm_status place(const tvlm_task *task, const tvlm_scoremap *own, bool *peaked,
                         tvlm_selection *selection) {
    const struct tvlm_select_params *const params = &task->params;
    const tvlm_stack *const stack = task->stack;
    const double patch = (double)params->patch,
                 room = (double)tvlm_stack_width(stack) * tvlm_stack_height(stack) / (patch * patch);
    const int32_t k = params->k > 0 ? params->k : (int32_t)fmin(fmax(room, 1.0), TVLM_K_DEFAULT);
    float peak[2];
    struct tvlm_foveated_params foveated = params->foveated;
    if (k > room && k > 1)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT,
                         "k is %d, but there is room for %d patches of %g pixels", (int)k,
                         (int)fmax(room, 1.0), patch);
    *peaked = foveated.fixation_count == 0;
    if (*peaked) {
        TVLM_TRY(find_peak(task, own, peak));
        foveated.fixations = peak;
        foveated.fixation_count = 1;
    }
    TVLM_TRY(tvlm_selection_reserve(stack, k, selection));
    return tvlm_foveated_place(tvlm_stack_width(stack), tvlm_stack_height(stack), params->k, params->patch,
                               &foveated, tvlm_stack_log(stack), k, selection->positions, &selection->count);
}

static tvlm_status choose(const tvlm_task *task, tvlm_scoremap *map, tvlm_selection *selection) {
    const bool own = task->params.scores != NULL;
    bool peaked;
    if (own) TVLM_TRY(tvlm_squares_score(task, false, map));
    /* The peak is found before the map is made. The image keeps the scores that were made last, and these
     * must be those of the map. */
    TVLM_TRY(place(task, own ? map : NULL, &peaked, selection));
    if (!own) TVLM_TRY(tvlm_squares_score(task, peaked, map));
    for (int32_t i = 0; i < selection->count; ++i) {
        tvlm_position *const p = &selection->positions[i];
        p->score = tvlm_scoremap_mean(map, (double)p->x, (double)p->y, (double)p->size);
    }
    return tvlm_squares_deliver(task, map, selection);
}

tvlm_status tvlm_choose_foveated(const tvlm_task *task, tvlm_selection *selection) {
    tvlm_scoremap map = {0};
    const tvlm_status status = choose(task, &map, selection);
    tvlm_scoremap_free(&map);
    return status;
}
