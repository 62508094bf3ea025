/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm_select: candidates, scores, ranking, and the positions they stand for.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "select/overview.h"
#include "select/select.h"
#include "select/spacing.h"
#include "select/strategy.h"
#include "stack/frame.h"
#include "stack/stack.h"

struct tvlm_selection {
    tvlm_selection_info info;
    tvlm_selection_report report;
    int32_t count;
    tvlm_position *positions;
};

static const char *const strategy_names[] = {
    [TVLM_STRATEGY_GRID] = "grid",         [TVLM_STRATEGY_FOVEATED] = "foveated",
    [TVLM_STRATEGY_QUADTREE] = "quadtree", [TVLM_STRATEGY_EXHAUSTIVE] = "exhaustive",
    [TVLM_STRATEGY_CASCADE] = "cascade",
};
#define STRATEGY_COUNT ((int)(sizeof strategy_names / sizeof strategy_names[0]))

/* What was asked, checked and completed. */
typedef struct task {
    tvlm_stack *stack;
    const struct tvlm_select_params *params;
    struct tvlm_score_params score;
    tvlm_candidates candidates;
    int32_t count; /* of candidates */
    tvlm_overview overview;
    int32_t k; /* of candidates to be chosen, 0 where the overview takes all */
    float patch;
    tvlm_selection_report report;
} task;

/* ---- Checking ---- */

static tvlm_status check_params(const tvlm_log *log, const struct tvlm_select_params *params) {
    if ((int)params->strategy < 0 || (int)params->strategy >= STRATEGY_COUNT)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no strategy %d", (int)params->strategy);
    if (params->k < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "k is %d; it is at least 1", (int)params->k);
    if (!(params->patch >= 0.0f) || !isfinite(params->patch))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a patch of %g pixels", (double)params->patch);
    if (!(params->min_distance >= 0.0f) || !isfinite(params->min_distance))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a minimum distance of %g pixels",
                         (double)params->min_distance);
    if (params->keep_regions < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d regions to keep; it is at least 1",
                         (int)params->keep_regions);
    if (!(params->cull_distance >= 0.0f))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a distance of %g from edges",
                         (double)params->cull_distance);
    return TVLM_OK;
}

static tvlm_status resolve_overview(task *t) {
    const double smallest = fmax((double)t->patch, (double)fmaxf(t->candidates.step_x, t->candidates.step_y));
    int32_t share;
    TVLM_TRY(tvlm_overview_count(tvlm_stack_log(t->stack), t->params, t->k, &share));
    if (share == 0) return TVLM_OK;
    t->overview = tvlm_overview_fit(tvlm_stack_width(t->stack), tvlm_stack_height(t->stack), smallest, share);
    t->k -= tvlm_overview_size(&t->overview);
    return TVLM_OK;
}

static tvlm_status resolve(task *t) {
    const struct tvlm_select_params *params = t->params;
    const tvlm_log *log = tvlm_stack_log(t->stack);
    t->score = params->score;
    if (params->strategy == TVLM_STRATEGY_EXHAUSTIVE) TVLM_TRY(tvlm_exhaustive_score(log, params, &t->score));
    TVLM_TRY(tvlm_score_candidates(t->stack, &t->score, &t->candidates));
    t->count = tvlm_candidate_count(&t->candidates);
    if (t->count >= TVLM_TOPK_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d candidates are too many; use a larger stride",
                         (int)t->count);
    if (params->k > t->count)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "k is %d, but there are only %d candidates",
                         (int)params->k, (int)t->count);
    t->k = params->k > 0 ? params->k : TVLM_K_DEFAULT < t->count ? TVLM_K_DEFAULT : t->count;
    t->patch = params->patch > 0.0f ? params->patch : TVLM_PATCH_DEFAULT;
    return resolve_overview(t);
}

/* ---- Ranking ---- */

/* The best `wanted` candidates into ranking[]. */
static tvlm_status rank(task *t, const struct tvlm_query *query, int32_t wanted, tvlm_ranked *ranking) {
    const tvlm_backend *backend = tvlm_stack_device(t->stack)->backend;
    const size_t bytes = (size_t)wanted * sizeof *ranking;
    tvlm_select_stage *const stage = &t->report.stages[0];
    tvlm_buffer *scores, *result;
    t->report.stage_count = 1;
    *stage = (tvlm_select_stage){"cells", t->count, t->k, 0};
    TVLM_TRY(tvlm_score_enqueue(t->stack, query, &t->score, &t->candidates, &scores));
    TVLM_TRY(tvlm_stack_scratch(t->stack, TVLM_SCRATCH_RANKING, bytes, &result));
    TVLM_TRY(backend->topk(tvlm_stack_device(t->stack), scores, t->count, wanted, result));
    TVLM_TRY(tvlm_cost_of_score(t->stack, query, &t->score, &t->candidates, &stage->bytes));
    return backend->buffer_read(tvlm_stack_device(t->stack), result, 0, bytes, ranking);
}

/* ---- Positions ---- */

/* The centre of what the image leaves of cell c. */
static double cell_centre(int32_t c, float step, int32_t side) {
    const double begin = c * (double)step, end = fmin((c + 1) * (double)step, (double)side);
    return 0.5 * (begin + end);
}

static double centre_x(const task *t, const tvlm_ranked *ranked) {
    /* NOLINTNEXTLINE(clang-analyzer-*): there is a column where there is a candidate */
    return cell_centre(ranked->index % t->candidates.columns, t->candidates.step_x,
                       tvlm_stack_width(t->stack));
}

static double centre_y(const task *t, const tvlm_ranked *ranked) {
    return cell_centre(ranked->index / t->candidates.columns, t->candidates.step_y,
                       tvlm_stack_height(t->stack));
}

/* Keeps the best that are far enough from all better ones, at most k, at the front; *kept of them. */
static tvlm_status space_out(const task *t, int32_t ranked, tvlm_ranked *ranking, int32_t *kept) {
    tvlm_spacing spacing;
    const float side = fmaxf(t->params->min_distance, t->candidates.step_x);
    if (!tvlm_spacing_make(&spacing, t->params->min_distance, side, tvlm_stack_width(t->stack),
                           tvlm_stack_height(t->stack), t->k))
        return tvlm_fail(tvlm_stack_log(t->stack), TVLM_ERROR_MEMORY, "no memory for %d positions",
                         (int)t->k);
    *kept = 0;
    for (int32_t i = 0; i < ranked && *kept < t->k; ++i)
        if (tvlm_spacing_add(&spacing, centre_x(t, &ranking[i]), centre_y(t, &ranking[i])))
            ranking[(*kept)++] = ranking[i];
    tvlm_spacing_free(&spacing);
    return TVLM_OK;
}

/* Working pixels to pixels of the image as it was handed in. A square that became a rectangle keeps its area.
 */
static tvlm_position position_of(const task *t, const tvlm_ranked *ranked) {
    const tvlm_original original = tvlm_stack_original(t->stack, t->params->score.index);
    const float stride = t->candidates.step_x;
    return (tvlm_position){.x = (float)(centre_x(t, ranked) * original.scale_x),
                           .y = (float)(centre_y(t, ranked) * original.scale_y),
                           .level = fmaxf(0.0f, log2f(stride / t->patch)),
                           .score = ranked->score,
                           .size = (float)(stride * sqrt(original.scale_x * original.scale_y)),
                           .column = ranked->index % t->candidates.columns,
                           .row = ranked->index / t->candidates.columns};
}

tvlm_status tvlm_selection_make(const tvlm_stack *stack, const tvlm_selection_info *info,
                                const tvlm_selection_report *report, tvlm_position *positions, int32_t count,
                                tvlm_selection **selection) {
    tvlm_selection *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_MEMORY, "no memory for a selection of %d",
                         (int)count);
    *made = (tvlm_selection){.info = *info, .report = *report, .count = count, .positions = positions};
    if (report->stage_count > 0)
        made->report.stages[report->stage_count - 1].kept =
            count - info->overview_columns * info->overview_rows;
    *selection = made;
    return TVLM_OK;
}

static tvlm_status fill_positions(const task *t, const tvlm_ranked *ranking, int32_t count,
                                  tvlm_position *positions) {
    const int32_t first = tvlm_overview_size(&t->overview);
    for (int32_t i = 0; i < count; ++i) positions[first + i] = position_of(t, &ranking[i]);
    if (first == 0) return TVLM_OK;
    return tvlm_overview_place(t->stack, t->params->score.index, &t->candidates, &t->overview,
                               (double)t->patch, positions);
}

static tvlm_status selection_of(const task *t, const tvlm_ranked *ranking, int32_t count,
                                tvlm_selection **selection) {
    const tvlm_original original = tvlm_stack_original(t->stack, t->params->score.index);
    const tvlm_selection_info info = {.width = original.width,
                                      .height = original.height,
                                      .columns = t->candidates.columns,
                                      .rows = t->candidates.rows,
                                      .strategy = t->params->strategy,
                                      .overview_columns = t->overview.columns,
                                      .overview_rows = t->overview.rows};
    const int32_t all = tvlm_overview_size(&t->overview) + count;
    tvlm_position *positions = tvlm_allocate((size_t)all, sizeof *positions);
    if (positions == NULL)
        return tvlm_fail(tvlm_stack_log(t->stack), TVLM_ERROR_MEMORY, "no memory for a selection of %d",
                         (int)all);
    tvlm_status status = fill_positions(t, ranking, count, positions);
    if (status == TVLM_OK)
        status = tvlm_selection_make(t->stack, &info, &t->report, positions, all, selection);
    if (status != TVLM_OK) free(positions);
    return status;
}

/* For the next frame's fixation (texturevlm/temporal.h). */
static tvlm_status keep_positions(const task *t, const tvlm_ranked *ranking, int32_t count) {
    float *kept;
    TVLM_TRY(tvlm_stack_keep_positions(t->stack, t->params->score.index, count, &kept));
    for (int32_t i = 0; i < count; ++i) {
        kept[2 * i] = (float)centre_x(t, &ranking[i]);
        kept[2 * i + 1] = (float)centre_y(t, &ranking[i]);
    }
    return TVLM_OK;
}

/* A minimum distance may pass over any number of candidates: all of them are ranked then. The cascade ranks
 * what it saw. Where the overview takes all of k, one is ranked for nothing: it is made of scores, too. */
static tvlm_status choose(task *t, const struct tvlm_query *query, tvlm_selection **selection) {
    const bool spaced = t->params->min_distance > 0.0f;
    const bool cascade = t->params->strategy == TVLM_STRATEGY_CASCADE;
    const int32_t chosen = t->k > 0 ? t->k : 1, wanted = spaced || cascade ? t->count : chosen;
    int32_t kept = t->k, ranked = wanted;
    tvlm_ranked *ranking = tvlm_allocate((size_t)wanted, sizeof *ranking);
    if (ranking == NULL)
        return tvlm_fail(tvlm_stack_log(t->stack), TVLM_ERROR_MEMORY, "no memory for a ranking of %d",
                         (int)wanted);
    tvlm_status status = cascade ? tvlm_cascade_rank(t->stack, query, t->params, &t->score, &t->candidates,
                                                     chosen, ranking, &ranked, &t->report)
                                 : rank(t, query, wanted, ranking);
    if (status == TVLM_OK && spaced) status = space_out(t, ranked, ranking, &kept);
    if (status == TVLM_OK) status = keep_positions(t, ranking, kept);
    if (status == TVLM_OK) status = selection_of(t, ranking, kept, selection);
    free(ranking);
    return status;
}

/* ---- select.h ---- */

tvlm_status tvlm_select(tvlm_stack *stack, const struct tvlm_query *query,
                        const struct tvlm_select_params *params, tvlm_selection **selection) {
    struct tvlm_select_params resolved = {0};
    task t = {.stack = stack, .params = &resolved};
    if (stack == NULL || selection == NULL) return TVLM_ERROR_ARGUMENT;
    if (params != NULL) resolved = *params;
    resolved.strategy = tvlm_strategy_meant(resolved.strategy);
    TVLM_TRY(check_params(tvlm_stack_log(stack), t.params));
    if (t.params->cover && t.params->strategy != TVLM_STRATEGY_CASCADE)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT, "to cover the image is for the cascade");
    if (t.params->strategy == TVLM_STRATEGY_FOVEATED || t.params->strategy == TVLM_STRATEGY_QUADTREE ||
        t.params->cover)
        return tvlm_select_squares(stack, query, t.params, selection);
    TVLM_TRY(resolve(&t));
    return choose(&t, query, selection);
}

void tvlm_selection_destroy(tvlm_selection **selection) {
    if (selection == NULL || *selection == NULL) return;
    free((*selection)->positions);
    free(*selection);
    *selection = NULL;
}

const tvlm_position *tvlm_selection_positions(const tvlm_selection *selection, int32_t *count) {
    if (count != NULL) *count = selection != NULL ? selection->count : 0;
    return selection != NULL ? selection->positions : NULL;
}

void tvlm_selection_get_info(const tvlm_selection *selection, tvlm_selection_info *info) {
    if (selection != NULL && info != NULL) *info = selection->info;
}

void tvlm_selection_get_report(const tvlm_selection *selection, tvlm_selection_report *report) {
    if (selection != NULL && report != NULL) *report = selection->report;
}

tvlm_strategy tvlm_strategy_meant(tvlm_strategy strategy) {
    return strategy == TVLM_STRATEGY_DEFAULT ? TVLM_STRATEGY_GRID : strategy;
}

const char *tvlm_strategy_name(tvlm_strategy strategy) {
    const int meant = (int)tvlm_strategy_meant(strategy);
    return meant > 0 && meant < STRATEGY_COUNT ? strategy_names[meant] : "unknown";
}

int tvlm_strategy_find(const char *name) {
    for (int i = TVLM_STRATEGY_GRID; name != NULL && i < STRATEGY_COUNT; ++i)
        if (strcmp(name, strategy_names[i]) == 0) return i;
    return -1;
}
