/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Squares of different sizes: the map of scores that they are judged by, the leaves of a quadtree, and what
 * comes out.
 */
#include "select/squares.h"

#include <math.h>

#include "core/memory.h"
#include "core/try.h"
#include "select/own.h"
#include "select/quadtree.h"
#include "select/score.h"
#include "stack/frame.h"

tvlm_status tvlm_squares_score(const tvlm_task *task, bool asked, tvlm_scoremap *map) {
    const struct tvlm_score_params *const params = &task->params.score;
    tvlm_candidates cells;
    tvlm_buffer *scores;
    TVLM_TRY(tvlm_score_candidates(task->stack, params, &cells));
    TVLM_TRY(tvlm_task_score(task, &cells, asked, NULL, &scores));
    TVLM_TRY(tvlm_scoremap_read(task->stack, &cells, scores, map));
    return tvlm_scoremap_sum_up(task->stack, map);
}

/* ---- Leaves ---- */

/* The mass in a rectangle: the integral of how far scores are above the lowest one, as a share of their
 * range. Where all scores are equal, it is the area. */
static double mass_in(const void *user, double x0, double y0, double x1, double y1) {
    const tvlm_scoremap *m = user;
    const double area = (x1 - x0) * (y1 - y0), range = (double)m->high - (double)m->low;
    if (range <= (double)TVLM_SCORE_FLOOR) return area;
    const double share = (tvlm_scoremap_sum(m, x0, y0, x1, y1) - area * (double)m->low) / range;
    return share > 1e-9 * area ? share : 0.0; /* the rest is rounding */
}

static tvlm_position position_of(const tvlm_scoremap *map, double patch, const tvlm_leaf *leaf) {
    const double x1 = fmin(leaf->x + leaf->side, (double)map->width);
    const double y1 = fmin(leaf->y + leaf->side, (double)map->height);
    return (tvlm_position){.x = (float)(0.5 * (leaf->x + x1)),
                           .y = (float)(0.5 * (leaf->y + y1)),
                           .level = (float)log2(leaf->side / patch),
                           .score = (float)(tvlm_scoremap_sum(map, leaf->x, leaf->y, x1, y1) /
                                            ((x1 - leaf->x) * (y1 - leaf->y))),
                           .size = (float)leaf->side,
                           .column = -1,
                           .row = -1};
}

tvlm_status tvlm_squares_cut(const tvlm_task *task, const tvlm_scoremap *map, tvlm_selection *selection) {
    const double patch = (double)task->params.patch;
    const double most = ceil((double)map->width / patch) * ceil((double)map->height / patch);
    const int32_t k = (int32_t)fmin(task->params.k > 0 ? task->params.k : TVLM_K_DEFAULT, most);
    TVLM_TRY(tvlm_selection_reserve(task->stack, k, selection));
    tvlm_leaf *const leaves = tvlm_allocate((size_t)k, sizeof *leaves);
    const bool made = leaves != NULL && tvlm_quadtree(map->width, map->height, patch, k, mass_in, map, leaves,
                                                      &selection->count);
    for (int32_t i = 0; made && i < selection->count; ++i)
        selection->positions[i] = position_of(map, patch, &leaves[i]);
    free(leaves);
    if (made) return TVLM_OK;
    return tvlm_fail(tvlm_stack_log(task->stack), TVLM_ERROR_MEMORY, "no memory for %d positions", (int)k);
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

static tvlm_status best_first(const tvlm_stack *stack, tvlm_selection *selection) {
    ordered *const list = tvlm_allocate((size_t)selection->count, sizeof *list);
    if (list == NULL)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_MEMORY, "no memory for a ranking of %d",
                         (int)selection->count);
    for (int32_t i = 0; i < selection->count; ++i) list[i] = (ordered){selection->positions[i], i};
    qsort(list, (size_t)selection->count, sizeof *list, compare_scores);
    for (int32_t i = 0; i < selection->count; ++i) selection->positions[i] = list[i].position;
    free(list);
    return TVLM_OK;
}

tvlm_status tvlm_squares_deliver(const tvlm_task *task, tvlm_scoremap *map, tvlm_selection *selection) {
    const int32_t index = task->params.score.index;
    const tvlm_scale scale = tvlm_scale_of(task->stack, index);
    float *kept; /* for the next frame's fixation (texturevlm/stream.h) */
    TVLM_TRY(best_first(task->stack, selection));
    TVLM_TRY(tvlm_stack_keep_positions(task->stack, index, selection->count, &kept));
    for (int32_t i = 0; i < selection->count; ++i) {
        tvlm_position *const p = &selection->positions[i];
        kept[2 * i] = p->x;
        kept[2 * i + 1] = p->y;
        p->x = (float)((double)p->x * scale.x);
        p->y = (float)((double)p->y * scale.y);
        p->size = (float)((double)p->size * scale.size);
    }
    tvlm_selection_take_scores(&task->params, map, selection);
    return TVLM_OK;
}
