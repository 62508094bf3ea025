/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attend.c: attention over the vectors of grids, by its definition (lab/attention.h), one row after another.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "lab/operations.h"
#include "reference/reference.h"

typedef struct ranked {
    double score;
    int32_t cell;
} ranked;

/* A row: for each cell of all levels, the first level first, its score, its area and its part of the
 * softmax. */
typedef struct row {
    const tvlm_attention *plan;
    const float *query; /* the row's head of the query */
    int32_t head, total, at[TVLM_ATTENTION_LEVELS];
    double *scores, *areas, *parts;
    ranked *order;
} row;

static int32_t cells_of(const tvlm_attention_level *level) {
    return level->columns * level->rows;
}

/* ---- Scores ---- */

static double score_of(const row *r, const tvlm_attention_level *level, int32_t cell) {
    const int32_t size = r->plan->key_dimension / r->plan->heads;
    const float *const key = (const float *)reference_data(r->plan->keys) +
                             (size_t)(level->first + cell) * (size_t)r->plan->key_dimension +
                             (size_t)r->head * (size_t)size;
    double sum = 0.0;
    for (int32_t i = 0; i < size; ++i) sum += (double)r->query[i] * (double)key[i];
    return sum * (double)r->plan->scale;
}

static void score_present(row *r, int32_t n) {
    for (int32_t cell = 0; cell < cells_of(&r->plan->levels[n]); ++cell)
        if (r->areas[r->at[n] + cell] > 0.0)
            r->scores[r->at[n] + cell] = score_of(r, &r->plan->levels[n], cell);
}

/* ---- Areas ---- */

/* Returns how much of cell `from` lies in cell `to`. The first is one of `count` cells of a row, the second
 * one of `others` cells that cover the same row. If the row is count * others units long, cell `from` is
 * `others` units long. */
static double share_in(int64_t from, int64_t count, int64_t to, int64_t others) {
    const int64_t begin = from * others > to * count ? from * others : to * count;
    const int64_t end = (from + 1) * others < (to + 1) * count ? (from + 1) * others : (to + 1) * count;
    return end > begin ? (double)(end - begin) / (double)others : 0.0;
}

/* Returns how much of their values the cells of level `from` hand on to a cell of level `to`. */
static double handed_on(const tvlm_attention_level *from, const double *values,
                        const tvlm_attention_level *to, int32_t column, int32_t line) {
    const int32_t left = (int32_t)((int64_t)column * from->columns / to->columns);
    const int32_t top = (int32_t)((int64_t)line * from->rows / to->rows);
    double sum = 0.0;
    for (int32_t y = top; y < from->rows && y <= top + 1; ++y)
        for (int32_t x = left; x < from->columns && x <= left + 1; ++x)
            sum += values[y * from->columns + x] * share_in(x, from->columns, column, to->columns) *
                   share_in(y, from->rows, line, to->rows);
    return sum;
}

/* Puts the best scores first, and of equal ones that of the lower cell. */
static int compare(const void *a, const void *b) {
    const ranked *const p = a, *const q = b;
    if (p->score != q->score) return p->score > q->score ? -1 : 1;
    return p->cell < q->cell ? -1 : 1;
}

/* Chooses cells of level n, and hands their areas on to level n + 1. `gives` gets the areas of those that are
 * chosen, and 0 for the others. */
static void refine(row *r, int32_t n, double *gives) {
    const tvlm_attention_level *const from = &r->plan->levels[n], *const to = from + 1;
    double *const areas = r->areas + r->at[n];
    int32_t present = 0;
    memset(gives, 0, (size_t)cells_of(from) * sizeof *gives);
    for (int32_t cell = 0; cell < cells_of(from); ++cell)
        if (areas[cell] > 0.0) r->order[present++] = (ranked){r->scores[r->at[n] + cell], cell};
    qsort(r->order, (size_t)present, sizeof *r->order, compare);
    for (int32_t i = 0; i < tvlm_attention_chosen(r->plan->share, present); ++i) {
        const int32_t cell = r->order[i].cell;
        gives[cell] = areas[cell];
        if (r->plan->mix == 0.0f) areas[cell] = 0.0;
    }
    for (int32_t cell = 0; cell < cells_of(to); ++cell)
        r->areas[r->at[n + 1] + cell] = handed_on(from, gives, to, cell % to->columns, cell / to->columns);
}

/* ---- What comes out ---- */

/* Makes a softmax over cells begin .. end - 1. Each cell counts by its area, and all parts together are
 * `scale`. Returns how many cells had an area. */
static int32_t softmax(row *r, int32_t begin, int32_t end, double scale) {
    double most = -INFINITY, sum = 0.0;
    int32_t count = 0;
    for (int32_t i = begin; i < end; ++i)
        if (r->areas[i] > 0.0) most = fmax(most, r->scores[i]);
    for (int32_t i = begin; i < end; ++i) {
        r->parts[i] = r->areas[i] > 0.0 ? r->areas[i] * exp(r->scores[i] - most) : 0.0;
        sum += r->parts[i];
        count += r->areas[i] > 0.0;
    }
    for (int32_t i = begin; i < end; ++i) r->parts[i] *= scale / sum;
    return count;
}

static void write_values(const row *r, float *out) {
    const int32_t dimension = r->plan->value_dimension, size = dimension / r->plan->heads;
    const float *const values = reference_data(r->plan->values);
    for (int32_t i = 0; i < size; ++i) {
        double sum = 0.0;
        for (int32_t n = 0; n < r->plan->level_count; ++n)
            for (int32_t cell = 0; cell < cells_of(&r->plan->levels[n]); ++cell)
                sum += r->parts[r->at[n] + cell] *
                       (double)values[(size_t)(r->plan->levels[n].first + cell) * (size_t)dimension +
                                      (size_t)(r->head * size + i)];
        out[r->head * size + i] = (float)sum;
    }
}

static void add_map(const row *r, double *map) {
    const tvlm_attention_level *const last = &r->plan->levels[r->plan->level_count - 1];
    for (int32_t n = 0; n < r->plan->level_count; ++n)
        for (int32_t cell = 0; cell < cells_of(last); ++cell)
            map[cell] += handed_on(&r->plan->levels[n], r->parts + r->at[n], last, cell % last->columns,
                                   cell / last->columns);
}

static void attend_row(row *r, double *gives, double *map, float *out, int32_t reads[2]) {
    const tvlm_attention *const plan = r->plan;
    const int32_t first = cells_of(&plan->levels[0]);
    const int32_t last = cells_of(&plan->levels[plan->level_count - 1]);
    for (int32_t cell = 0; cell < first; ++cell) r->areas[cell] = (double)last / first;
    score_present(r, 0);
    reads[0] = first;
    for (int32_t n = 0; n + 1 < plan->level_count; ++n) {
        refine(r, n, gives);
        score_present(r, n + 1);
        for (int32_t cell = 0; cell < cells_of(&plan->levels[n + 1]); ++cell)
            reads[0] += r->areas[r->at[n + 1] + cell] > 0.0;
    }
    reads[1] = plan->mix == 0.0f ? softmax(r, 0, r->total, 1.0)
                                 : softmax(r, 0, first, (double)plan->mix) +
                                       softmax(r, first, r->total, 1.0 - (double)plan->mix);
    write_values(r, out);
    if (map != NULL) add_map(r, map);
}

tvlm_status tvlm_reference_attend(tvlm_device *device, const tvlm_attention *plan) {
    const int32_t size = plan->key_dimension / plan->heads, rows = plan->count * plan->heads;
    const int32_t cells = cells_of(&plan->levels[plan->level_count - 1]);
    row r = {.plan = plan};
    for (int32_t n = 0; n < plan->level_count; ++n) {
        r.at[n] = r.total;
        r.total += cells_of(&plan->levels[n]);
    }
    double *const memory = tvlm_allocate(5, (size_t)r.total * sizeof *memory);
    r.order = tvlm_allocate((size_t)r.total, sizeof *r.order);
    if (memory == NULL || r.order == NULL) {
        free(memory);
        free(r.order);
        return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for an attention over %d cells",
                         (int)cells);
    }
    r.scores = memory;
    r.areas = memory + r.total;
    r.parts = memory + 2 * (size_t)r.total;
    double *const gives = memory + 3 * (size_t)r.total, *const map = memory + 4 * (size_t)r.total;
    for (int32_t n = 0; n < rows; ++n) {
        const size_t query = (size_t)(n / plan->heads);
        r.head = n % plan->heads;
        r.query = (const float *)reference_data(plan->queries) + query * (size_t)plan->key_dimension +
                  (size_t)r.head * (size_t)size;
        attend_row(&r, gives, plan->map != NULL ? map : NULL,
                   (float *)reference_data(plan->out) + query * (size_t)plan->value_dimension,
                   (int32_t *)reference_data(plan->reads) + 2 * (size_t)n);
    }
    for (int32_t cell = 0; plan->map != NULL && cell < cells; ++cell)
        ((float *)reference_data(plan->map))[cell] = (float)(map[cell] / rows);
    free(memory);
    free(r.order);
    return TVLM_OK;
}
