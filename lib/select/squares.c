/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strategies whose positions stand for squares of different sizes: foveated, quadtree, and the cascade where
 * it covers the image. All read a map of the grid's scores (cells of `stride`; the cascade's are those that
 * it looked at); a square's score is the map's mean over it.
 */
#include <math.h>

#include "core/memory.h"
#include "core/try.h"
#include "select/quadtree.h"
#include "select/scoremap.h"
#include "select/select.h"
#include "stack/frame.h"
#include "stack/stack.h"
#include "texturevlm/foveated.h"

/* Cells of the coarse map along the image's longer side, whose peak is looked at when no fixation is given.
 */
#define COARSE_CELLS 16

typedef struct squares {
    tvlm_stack *stack;
    const struct tvlm_select_params *params;
    const struct tvlm_query *query;
    float patch;
    tvlm_scoremap map;
    tvlm_position *positions; /* in working pixels until they are delivered */
    int32_t count;
    tvlm_selection_report report;
} squares;

/* ---- The map ---- */

/* The scores of all cells. */
static tvlm_status read_scores(squares *s, const struct tvlm_score_params *score) {
    tvlm_buffer *buffer;
    TVLM_TRY(tvlm_score_enqueue(s->stack, s->query, score, &s->map.cells, &buffer));
    return tvlm_scoremap_read(tvlm_stack_device(s->stack), buffer, &s->map);
}

/* Those of the cells that the cascade looks at; no number elsewhere. */
static tvlm_status read_cascade(squares *s, const struct tvlm_score_params *score) {
    const size_t count = (size_t)tvlm_candidate_count(&s->map.cells);
    const int32_t wanted = s->params->k > 0 ? s->params->k : TVLM_K_DEFAULT;
    const int32_t k = (size_t)wanted < count ? wanted : (int32_t)count;
    int32_t seen = 0;
    tvlm_ranked *ranking = tvlm_allocate(count, sizeof *ranking);
    if (ranking == NULL)
        return tvlm_fail(tvlm_stack_log(s->stack), TVLM_ERROR_MEMORY, "no memory for a ranking of %zu",
                         count);
    const tvlm_status status =
        tvlm_cascade_rank(s->stack, s->query, s->params, score, &s->map.cells, k, ranking, &seen, &s->report);
    for (size_t i = 0; i < count; ++i) s->map.scores[i] = NAN;
    for (int32_t i = 0; status == TVLM_OK && i < seen; ++i)
        s->map.scores[ranking[i].index] = ranking[i].score;
    free(ranking);
    return status;
}

static tvlm_status read_map(squares *s) {
    const struct tvlm_score_params score = s->params->score;
    const bool cascade = s->params->strategy == TVLM_STRATEGY_CASCADE;
    tvlm_candidates cells;
    TVLM_TRY(tvlm_score_candidates(s->stack, &score, &cells));
    TVLM_TRY(tvlm_scoremap_make(s->stack, &cells, &s->map));
    TVLM_TRY(cascade ? read_cascade(s, &score) : read_scores(s, &score));
    tvlm_scoremap_finish(&s->map);
    return TVLM_OK;
}

/* ---- Foveated ---- */

/* The centre of the best cell of a coarse map: of the query's part alone where there is a query. */
static tvlm_status find_peak(const squares *s, float fixation[2]) {
    static const float relevance[3] = {0.0f, 0.0f, 1.0f};
    tvlm_device *device = tvlm_stack_device(s->stack);
    const bool asked = s->query != NULL;
    const float longest =
        (float)(tvlm_stack_width(s->stack) > tvlm_stack_height(s->stack) ? tvlm_stack_width(s->stack)
                                                                         : tvlm_stack_height(s->stack));
    const struct tvlm_score_params score = {.index = s->params->score.index,
                                            .stride = fmaxf(1.0f, longest / (float)COARSE_CELLS),
                                            .weights = asked ? relevance : s->params->score.weights,
                                            .scorer = asked ? NULL : s->params->score.scorer};
    tvlm_candidates cells;
    tvlm_buffer *buffer, *best;
    tvlm_ranked peak;
    TVLM_TRY(tvlm_score_candidates(s->stack, &score, &cells));
    TVLM_TRY(tvlm_score_enqueue(s->stack, s->query, &score, &cells, &buffer));
    TVLM_TRY(tvlm_stack_scratch(s->stack, TVLM_SCRATCH_RANKING, sizeof peak, &best));
    TVLM_TRY(device->backend->topk(device, buffer, tvlm_candidate_count(&cells), 1, best));
    TVLM_TRY(device->backend->buffer_read(device, best, 0, sizeof peak, &peak));
    const int32_t column = peak.index % cells.columns, row = peak.index / cells.columns;
    fixation[0] = (float)(0.5 * (tvlm_scoremap_corner(column, cells.step_x, tvlm_stack_width(s->stack)) +
                                 tvlm_scoremap_corner(column + 1, cells.step_x, tvlm_stack_width(s->stack))));
    fixation[1] = (float)(0.5 * (tvlm_scoremap_corner(row, cells.step_y, tvlm_stack_height(s->stack)) +
                                 tvlm_scoremap_corner(row + 1, cells.step_y, tvlm_stack_height(s->stack))));
    return TVLM_OK;
}

static tvlm_status foveated(squares *s) {
    const struct tvlm_select_params *params = s->params;
    const tvlm_log *log = tvlm_stack_log(s->stack);
    const double room = (double)tvlm_stack_width(s->stack) * tvlm_stack_height(s->stack) /
                        ((double)s->patch * (double)s->patch);
    const int32_t k = params->k > 0 ? params->k : (int32_t)fmin(fmax(room, 1.0), TVLM_K_DEFAULT);
    float peak[2];
    struct tvlm_foveated_params place = {.k = params->k,
                                         .fixations = params->fixations,
                                         .fixation_count = params->fixation_count,
                                         .e0 = params->e0,
                                         .arrangement = params->arrangement,
                                         .patch = s->patch};
    if (k > room && k > 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "k is %d, but there is room for %d patches of %g pixels",
                         (int)k, (int)fmax(room, 1.0), (double)s->patch);
    if (params->fixations == NULL || params->fixation_count == 0) {
        TVLM_TRY(find_peak(s, peak));
        place.fixations = peak;
        place.fixation_count = 1;
    }
    s->positions = tvlm_allocate((size_t)k, sizeof *s->positions);
    if (s->positions == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for %d positions", (int)k);
    return tvlm_foveated_place(tvlm_stack_width(s->stack), tvlm_stack_height(s->stack), &place, log, k,
                               s->positions, &s->count);
}

/* ---- Quadtree ---- */

/* The score above the lowest; where all are equal, the area. */
static double mass_in(const void *user, double x0, double y0, double x1, double y1) {
    const tvlm_scoremap *m = user;
    const double area = (x1 - x0) * (y1 - y0), range = (double)m->high - (double)m->low;
    if (range <= (double)TVLM_SCORE_FLOOR) return area;
    const double share = (tvlm_scoremap_sum(m, x0, y0, x1, y1) - area * (double)m->low) / range;
    return share > 1e-9 * area ? share : 0.0; /* the rest is rounding */
}

static tvlm_position position_of_leaf(const squares *s, const tvlm_leaf *leaf) {
    const double x1 = fmin(leaf->x + leaf->side, (double)s->map.width);
    const double y1 = fmin(leaf->y + leaf->side, (double)s->map.height);
    return (tvlm_position){.x = (float)(0.5 * (leaf->x + x1)),
                           .y = (float)(0.5 * (leaf->y + y1)),
                           .level = (float)log2(leaf->side / (double)s->patch),
                           .score = (float)(tvlm_scoremap_sum(&s->map, leaf->x, leaf->y, x1, y1) /
                                            ((x1 - leaf->x) * (y1 - leaf->y))),
                           .size = (float)leaf->side,
                           .column = -1,
                           .row = -1};
}

static tvlm_status quadtree(squares *s) {
    const double most =
        ceil((double)s->map.width / (double)s->patch) * ceil((double)s->map.height / (double)s->patch);
    const int32_t k = (int32_t)fmin(s->params->k > 0 ? s->params->k : TVLM_K_DEFAULT, most);
    tvlm_leaf *leaves = tvlm_allocate((size_t)k, sizeof *leaves);
    s->positions = tvlm_allocate((size_t)k, sizeof *s->positions);
    const bool made =
        leaves != NULL && s->positions != NULL &&
        tvlm_quadtree(s->map.width, s->map.height, (double)s->patch, k, mass_in, &s->map, leaves, &s->count);
    for (int32_t i = 0; made && i < s->count; ++i) s->positions[i] = position_of_leaf(s, &leaves[i]);
    free(leaves);
    if (made) return TVLM_OK;
    return tvlm_fail(tvlm_stack_log(s->stack), TVLM_ERROR_MEMORY, "no memory for %d positions", (int)k);
}

/* ---- What comes out ---- */

typedef struct ordered {
    tvlm_position position;
    int32_t index;
} ordered;

static int compare_scores(const void *a, const void *b) {
    const ordered *p = a, *q = b;
    if (p->position.score != q->position.score) return p->position.score > q->position.score ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

static tvlm_status best_first(const squares *s) {
    ordered *list = tvlm_allocate((size_t)s->count, sizeof *list);
    if (list == NULL)
        return tvlm_fail(tvlm_stack_log(s->stack), TVLM_ERROR_MEMORY, "no memory for a ranking of %d",
                         (int)s->count);
    for (int32_t i = 0; i < s->count; ++i) list[i] = (ordered){s->positions[i], i};
    qsort(list, (size_t)s->count, sizeof *list, compare_scores);
    for (int32_t i = 0; i < s->count; ++i) s->positions[i] = list[i].position;
    free(list);
    return TVLM_OK;
}

/* Working pixels to pixels of the image as it was handed in. */
static tvlm_status deliver(squares *s, tvlm_selection **selection) {
    const tvlm_original original = tvlm_stack_original(s->stack, s->params->score.index);
    float *kept;
    TVLM_TRY(tvlm_stack_keep_positions(s->stack, s->params->score.index, s->count, &kept));
    for (int32_t i = 0; i < s->count; ++i) {
        tvlm_position *p = &s->positions[i];
        kept[2 * i] = p->x;
        kept[2 * i + 1] = p->y;
        p->x = (float)((double)p->x * original.scale_x);
        p->y = (float)((double)p->y * original.scale_y);
        p->size = (float)((double)p->size * sqrt(original.scale_x * original.scale_y));
    }
    const tvlm_selection_info info = {
        .width = original.width, .height = original.height, .strategy = s->params->strategy};
    TVLM_TRY(tvlm_selection_make(s->stack, &info, &s->report, s->positions, s->count, selection));
    s->positions = NULL; /* the selection's now */
    return TVLM_OK;
}

static tvlm_status choose(squares *s, tvlm_selection **selection) {
    const bool fovea = s->params->strategy == TVLM_STRATEGY_FOVEATED;
    if (fovea) TVLM_TRY(foveated(s)); /* first: what the scores of the present frame are is the map's */
    TVLM_TRY(read_map(s));
    for (int32_t i = 0; i < s->count; ++i) {
        tvlm_position *p = &s->positions[i];
        p->score = tvlm_scoremap_mean(&s->map, (double)p->x, (double)p->y, (double)p->size);
    }
    if (!fovea) TVLM_TRY(quadtree(s));
    TVLM_TRY(best_first(s));
    return deliver(s, selection);
}

tvlm_status tvlm_select_squares(tvlm_stack *stack, const struct tvlm_query *query,
                                const struct tvlm_select_params *params, tvlm_selection **selection) {
    squares s = {.stack = stack, .params = params, .query = query};
    const tvlm_log *log = tvlm_stack_log(stack);
    TVLM_TRY(tvlm_stack_check_index(stack, params->score.index));
    if (params->min_distance > 0.0f)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a minimum distance is for the strategy grid; %s covers all",
                         tvlm_strategy_name(params->strategy));
    if (params->overview != 0.0f)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "an overview is for the strategies that choose the best; %s covers the image itself",
                         tvlm_strategy_name(params->strategy));
    s.patch = params->patch > 0.0f ? params->patch : TVLM_PATCH_DEFAULT;
    const tvlm_status status = choose(&s, selection);
    free(s.positions);
    tvlm_scoremap_free(&s.map);
    return status;
}
