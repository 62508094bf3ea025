/*
 * Strategies whose positions stand for squares of different sizes: foveated, quadtree, and the cascade where
 * it covers the image. All read a map of the grid's scores (cells of `stride`; the cascade's are those that
 * it looked at); a square's score is the map's mean over it.
 */
#include <math.h>

#include "core/memory.h"
#include "select/quadtree.h"
#include "select/select.h"
#include "texturevlm/foveated.h"

/* Cells of the coarse map along the image's longer side, whose peak is looked at when no fixation is given.
 */
#define COARSE_CELLS 16

typedef struct map {
    tvlm_candidates cells;
    int32_t width, height; /* of the image */
    float *scores;         /* [rows * columns], finite */
    double *sums;          /* [(rows + 1) * (columns + 1)] of score * area above and left of each corner */
    float low, high;       /* of the scores */
} map;

typedef struct squares {
    tvlm_stack *stack;
    const struct tvlm_select_params *params;
    const struct tvlm_query *query;
    float patch;
    map map;
    tvlm_position *positions; /* in working pixels until they are delivered */
    int32_t count;
    tvlm_selection_report report;
} squares;

/* ---- The map ---- */

/* What is not finite counts as the lowest that is. */
static void find_range(map *m, size_t count) {
    m->low = INFINITY;
    m->high = -INFINITY;
    for (size_t i = 0; i < count; ++i) {
        if (!isfinite(m->scores[i])) continue;
        m->low = fminf(m->low, m->scores[i]);
        m->high = fmaxf(m->high, m->scores[i]);
    }
    if (m->low > m->high) m->low = m->high = 0.0f;
    for (size_t i = 0; i < count; ++i)
        if (!isfinite(m->scores[i])) m->scores[i] = m->low;
}

static double corner(int32_t c, float step, int32_t side) {
    return fmin(c * (double)step, (double)side);
}

static void sum_up(map *m) {
    const int32_t columns = m->cells.columns, rows = m->cells.rows;
    for (int32_t row = 0; row < rows; ++row) {
        const double high =
            corner(row + 1, m->cells.step_y, m->height) - corner(row, m->cells.step_y, m->height);
        const double *above = m->sums + (size_t)row * (size_t)(columns + 1);
        double *below = m->sums + (size_t)(row + 1) * (size_t)(columns + 1), sum = 0.0;
        for (int32_t column = 0; column < columns; ++column) {
            const double wide =
                corner(column + 1, m->cells.step_x, m->width) - corner(column, m->cells.step_x, m->width);
            sum += wide * high * (double)m->scores[(size_t)row * (size_t)columns + (size_t)column];
            below[column + 1] = above[column + 1] + sum;
        }
    }
}

/* The scores of all cells. */
static tvlm_status read_scores(squares *s, const struct tvlm_score_params *score, size_t count) {
    tvlm_device *device = s->stack->device;
    tvlm_buffer *buffer;
    TVLM_TRY(tvlm_score_enqueue(s->stack, s->query, score, &s->map.cells, &buffer));
    return device->backend->buffer_read(device, buffer, 0, count * sizeof *s->map.scores, s->map.scores);
}

/* Those of the cells that the cascade looks at; no number elsewhere. */
static tvlm_status read_cascade(squares *s, const struct tvlm_score_params *score, size_t count) {
    const int32_t wanted = s->params->k > 0 ? s->params->k : TVLM_K_DEFAULT;
    const int32_t k = (size_t)wanted < count ? wanted : (int32_t)count;
    int32_t seen = 0;
    tvlm_ranked *ranking = tvlm_allocate(count, sizeof *ranking);
    if (ranking == NULL)
        return tvlm_fail(&s->stack->device->log, TVLM_ERROR_MEMORY, "no memory for a ranking of %zu", count);
    const tvlm_status status =
        tvlm_cascade_rank(s->stack, s->query, s->params, score, &s->map.cells, k, ranking, &seen, &s->report);
    for (size_t i = 0; i < count; ++i) s->map.scores[i] = NAN;
    for (int32_t i = 0; status == TVLM_OK && i < seen; ++i)
        s->map.scores[ranking[i].index] = ranking[i].score;
    free(ranking);
    return status;
}

static tvlm_status read_map(squares *s) {
    tvlm_device *device = s->stack->device;
    map *m = &s->map;
    const struct tvlm_score_params score = {.index = s->params->index,
                                            .stride = s->params->stride,
                                            .weights = s->params->weights,
                                            .scorer = s->params->scorer,
                                            .keep_pass = s->params->keep_pass};
    TVLM_TRY(tvlm_score_candidates(s->stack, &score, &m->cells));
    const size_t count = (size_t)tvlm_candidate_count(&m->cells);
    m->width = s->stack->width;
    m->height = s->stack->height;
    m->scores = tvlm_allocate(count, sizeof *m->scores);
    m->sums = tvlm_allocate(((size_t)m->cells.columns + 1) * ((size_t)m->cells.rows + 1), sizeof *m->sums);
    if (m->scores == NULL || m->sums == NULL)
        return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for %zu scores", count);
    const bool cascade = s->params->strategy == TVLM_STRATEGY_CASCADE;
    TVLM_TRY(cascade ? read_cascade(s, &score, count) : read_scores(s, &score, count));
    find_range(m, count);
    sum_up(m);
    return TVLM_OK;
}

/* The cell that a coordinate lies in, and how far into it. */
static int32_t cell_at(double at, float step, int32_t cells, int32_t side, double *fraction) {
    const int32_t c = (int32_t)fmin(fmax(floor(at / (double)step), 0.0), cells - 1);
    const double begin = corner(c, step, side), end = corner(c + 1, step, side);
    *fraction = fmin(fmax((at - begin) / (end - begin), 0.0), 1.0);
    return c;
}

/* The integral over everything above and left of a point: cells are flat, so it is bilinear within each. */
static double integral(const map *m, double x, double y) {
    double fx, fy;
    const size_t stride = (size_t)m->cells.columns + 1;
    const int32_t column = cell_at(x, m->cells.step_x, m->cells.columns, m->width, &fx);
    const int32_t row = cell_at(y, m->cells.step_y, m->cells.rows, m->height, &fy);
    const double *at = m->sums + (size_t)row * stride + (size_t)column;
    const double above = at[0] + (at[1] - at[0]) * fx;
    const double below = at[stride] + (at[stride + 1] - at[stride]) * fx;
    return above + (below - above) * fy;
}

static double sum_in(const map *m, double x0, double y0, double x1, double y1) {
    return integral(m, x1, y1) - integral(m, x0, y1) - integral(m, x1, y0) + integral(m, x0, y0);
}

/* Over what the image leaves of a square; its sum is rounded, its mean is never outside the scores. */
static float mean_in(const map *m, double x, double y, double size) {
    const double x0 = fmax(x - 0.5 * size, 0.0), x1 = fmin(x + 0.5 * size, (double)m->width);
    const double y0 = fmax(y - 0.5 * size, 0.0), y1 = fmin(y + 0.5 * size, (double)m->height);
    const double mean = sum_in(m, x0, y0, x1, y1) / ((x1 - x0) * (y1 - y0));
    return fminf(fmaxf((float)mean, m->low), m->high);
}

/* ---- Foveated ---- */

/* The centre of the best cell of a coarse map: of the query's part alone where there is a query. */
static tvlm_status find_peak(const squares *s, float fixation[2]) {
    static const float relevance[3] = {0.0f, 0.0f, 1.0f};
    tvlm_device *device = s->stack->device;
    const bool asked = s->query != NULL;
    const float longest = (float)(s->stack->width > s->stack->height ? s->stack->width : s->stack->height);
    const struct tvlm_score_params score = {.index = s->params->index,
                                            .stride = fmaxf(1.0f, longest / (float)COARSE_CELLS),
                                            .weights = asked ? relevance : s->params->weights,
                                            .scorer = asked ? NULL : s->params->scorer};
    tvlm_candidates cells;
    tvlm_buffer *buffer, *best;
    tvlm_ranked peak;
    TVLM_TRY(tvlm_score_candidates(s->stack, &score, &cells));
    TVLM_TRY(tvlm_score_enqueue(s->stack, s->query, &score, &cells, &buffer));
    TVLM_TRY(tvlm_stack_scratch(s->stack, TVLM_SCRATCH_RANKING, sizeof peak, &best));
    TVLM_TRY(device->backend->topk(device, buffer, tvlm_candidate_count(&cells), 1, best));
    TVLM_TRY(device->backend->buffer_read(device, best, 0, sizeof peak, &peak));
    const int32_t column = peak.index % cells.columns, row = peak.index / cells.columns;
    fixation[0] = (float)(0.5 * (corner(column, cells.step_x, s->stack->width) +
                                 corner(column + 1, cells.step_x, s->stack->width)));
    fixation[1] = (float)(0.5 * (corner(row, cells.step_y, s->stack->height) +
                                 corner(row + 1, cells.step_y, s->stack->height)));
    return TVLM_OK;
}

static tvlm_status foveated(squares *s) {
    const struct tvlm_select_params *params = s->params;
    const tvlm_log *log = &s->stack->device->log;
    const double room = (double)s->stack->width * s->stack->height / ((double)s->patch * (double)s->patch);
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
    return tvlm_foveated_place(s->stack->width, s->stack->height, &place, log, k, s->positions, &s->count);
}

/* ---- Quadtree ---- */

/* The score above the lowest; where all are equal, the area. */
static double mass_in(const void *user, double x0, double y0, double x1, double y1) {
    const map *m = user;
    const double area = (x1 - x0) * (y1 - y0), range = (double)m->high - (double)m->low;
    if (range <= (double)TVLM_SCORE_FLOOR) return area;
    const double share = (sum_in(m, x0, y0, x1, y1) - area * (double)m->low) / range;
    return share > 1e-9 * area ? share : 0.0; /* the rest is rounding */
}

static tvlm_position position_of_leaf(const squares *s, const tvlm_leaf *leaf) {
    const double x1 = fmin(leaf->x + leaf->side, (double)s->map.width);
    const double y1 = fmin(leaf->y + leaf->side, (double)s->map.height);
    return (tvlm_position){
        .x = (float)(0.5 * (leaf->x + x1)),
        .y = (float)(0.5 * (leaf->y + y1)),
        .level = (float)log2(leaf->side / (double)s->patch),
        .score = (float)(sum_in(&s->map, leaf->x, leaf->y, x1, y1) / ((x1 - leaf->x) * (y1 - leaf->y))),
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
    return tvlm_fail(&s->stack->device->log, TVLM_ERROR_MEMORY, "no memory for %d positions", (int)k);
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
        return tvlm_fail(&s->stack->device->log, TVLM_ERROR_MEMORY, "no memory for a ranking of %d",
                         (int)s->count);
    for (int32_t i = 0; i < s->count; ++i) list[i] = (ordered){s->positions[i], i};
    qsort(list, (size_t)s->count, sizeof *list, compare_scores);
    for (int32_t i = 0; i < s->count; ++i) s->positions[i] = list[i].position;
    free(list);
    return TVLM_OK;
}

/* Working pixels to pixels of the image as it was handed in. */
static tvlm_status deliver(squares *s, tvlm_selection **selection) {
    const tvlm_stack_image *original = &s->stack->originals[s->params->index];
    const double scale_x = (double)original->width / s->stack->width;
    const double scale_y = (double)original->height / s->stack->height;
    float *kept;
    TVLM_TRY(tvlm_stack_keep_positions(s->stack, s->params->index, s->count, &kept));
    for (int32_t i = 0; i < s->count; ++i) {
        tvlm_position *p = &s->positions[i];
        kept[2 * i] = p->x;
        kept[2 * i + 1] = p->y;
        p->x = (float)((double)p->x * scale_x);
        p->y = (float)((double)p->y * scale_y);
        p->size = (float)((double)p->size * sqrt(scale_x * scale_y));
    }
    const tvlm_selection_info info = {original->width, original->height, 0, 0, s->params->strategy};
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
        p->score = mean_in(&s->map, (double)p->x, (double)p->y, (double)p->size);
    }
    if (!fovea) TVLM_TRY(quadtree(s));
    TVLM_TRY(best_first(s));
    return deliver(s, selection);
}

tvlm_status tvlm_select_squares(tvlm_stack *stack, const struct tvlm_query *query,
                                const struct tvlm_select_params *params, tvlm_selection **selection) {
    squares s = {.stack = stack, .params = params, .query = query};
    const tvlm_log *log = &stack->device->log;
    TVLM_TRY(tvlm_stack_check_index(stack, params->index));
    if (params->min_distance > 0.0f)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a minimum distance is for the strategy grid; %s covers all",
                         tvlm_strategy_name(params->strategy));
    s.patch = params->patch > 0.0f ? params->patch : TVLM_PATCH_DEFAULT;
    const tvlm_status status = choose(&s, selection);
    free(s.positions);
    free(s.map.scores);
    free(s.map.sums);
    return status;
}
