/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cascade_cells.c: scores of the cells that were listed. Vectors of the features are read for these cells
 * only.
 */
#include <math.h>

#include "core/memory.h"
#include "core/try.h"
#include "select/cascade_inside.h"
#include "select/cost.h"

/* ---- The question, where the cells are ---- */

/* Finds the first and the last of the `side` vectors along an axis that a sample at `at` pixels and at level
 * `own` is made of. The axis is `extent` pixels long. */
static void span(float at, float extent, int32_t side, float own, int32_t *first, int32_t *last) {
    *first = side - 1;
    *last = 0;
    for (int32_t level = (int32_t)floorf(own); level <= (int32_t)ceilf(own); ++level) {
        const int32_t count = tvlm_level_side(side, level);
        const double x = (double)at * count / (double)extent - 0.5, scale = (double)side / count;
        const double lower = fmin(fmax(floor(x), 0.0), count - 1.0);
        const double upper = fmin(fmax(x - floor(x) > 1e-6 ? floor(x) + 1.0 : floor(x), 0.0), count - 1.0);
        const int32_t begin = (int32_t)floor(lower * scale), end = (int32_t)ceil((upper + 1.0) * scale) - 1;
        if (begin < *first) *first = begin;
        if (end > *last) *last = end < side ? end : side - 1;
    }
}

static void mark_vectors(const tvlm_cascade *c, const tvlm_sample_point *point, bool *marked) {
    const tvlm_texture *const texture = c->sparse.features.texture;
    const float bias = fmaxf(log2f(texture->extent_x / (float)texture->width),
                             log2f(texture->extent_y / (float)texture->height));
    const float top = (float)(tvlm_level_count(texture->width, texture->height) - 1);
    const float own = fminf(fmaxf(point->level - fmaxf(bias, 0.0f), 0.0f), top);
    int32_t left, right, above, below;
    span(point->x, texture->extent_x, texture->width, own, &left, &right);
    span(point->y, texture->extent_y, texture->height, own, &above, &below);
    for (int32_t y = above; y <= below; ++y)
        for (int32_t x = left; x <= right; ++x) marked[y * texture->width + x] = true;
}

/* Compares the marked vectors with the query, and makes their similarities the channel query_similarity. It
 * is 0 elsewhere. */
static tvlm_status answer_cells(tvlm_cascade *c, const bool *marked, int32_t *cells, float *similarities,
                                float *map) {
    const tvlm_texture *const texture = c->sparse.features.texture;
    c->vector_count = 0;
    for (int32_t i = 0; i < texture->width * texture->height; ++i)
        if (marked[i]) cells[c->vector_count++] = i;
    TVLM_TRY(tvlm_sparse_query_cells(c->stack, &c->sparse, cells, c->vector_count, similarities));
    for (int32_t i = 0; i < c->vector_count; ++i) map[cells[i]] = similarities[i];
    return tvlm_sparse_query_upload(c->stack, c->params->score.index, &c->sparse, map);
}

static tvlm_status ask_cells(tvlm_cascade *c, const tvlm_sample_point *points, size_t count) {
    if (!c->vectors) return TVLM_OK;
    const tvlm_texture *const texture = c->sparse.features.texture;
    const size_t all = (size_t)texture->width * (size_t)texture->height;
    bool *const marked = tvlm_allocate(all, sizeof *marked);
    int32_t *const cells = tvlm_allocate(all, sizeof *cells);
    float *const similarities = tvlm_allocate(all, sizeof *similarities);
    float *const map = tvlm_allocate(all, sizeof *map);
    const bool made = marked != NULL && cells != NULL && similarities != NULL && map != NULL;
    for (size_t i = 0; made && i < count; ++i) mark_vectors(c, &points[i], marked);
    const tvlm_status status =
        made ? answer_cells(c, marked, cells, similarities, map) : tvlm_cascade_no_memory(c);
    free(marked);
    free(cells);
    free(similarities);
    free(map);
    return status;
}

/* ---- Cells ---- */

static float middle(int32_t cell, float step, int32_t side) {
    return 0.5f * ((float)cell * step + fminf((float)(cell + 1) * step, (float)side));
}

tvlm_status tvlm_cascade_score_cells(tvlm_cascade *c) {
    const int32_t taps = tvlm_cascade_taps(&c->program), columns = c->grid->columns;
    const size_t count = (size_t)c->cells.count;
    tvlm_sample_point *const points = tvlm_allocate(count, (size_t)taps * sizeof *points);
    if (points == NULL) return tvlm_cascade_no_memory(c);
    for (size_t n = 0; n < count; ++n) {
        const int32_t column = c->listed[n] % columns, row = c->listed[n] / columns;
        tvlm_cascade_place_taps(
            (tvlm_sample_point){middle(column, c->grid->step_x, tvlm_stack_width(c->stack)),
                                middle(row, c->grid->step_y, tvlm_stack_height(c->stack)), c->grid->level,
                                c->params->score.index},
            c->grid->step_x, c->grid->step_y, taps, points + n * (size_t)taps);
    }
    tvlm_status status = ask_cells(c, points, count * (size_t)taps);
    if (status == TVLM_OK) status = tvlm_cascade_places_score(c, &c->cells, taps, points);
    free(points);
    size_t bytes =
        count * tvlm_cost_of_candidate(c->stack, c->params->score.index, &c->program, c->grid->level);
    if (c->vectors)
        bytes += (size_t)c->vector_count * (size_t)c->sparse.count * tvlm_cost_of_vector(&c->sparse.features);
    c->stages[1] =
        (tvlm_select_stage){.name = "cells", .candidates = c->cells.count, .kept = c->k, .bytes = bytes};
    return status;
}
