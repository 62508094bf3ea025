/* SPDX-License-Identifier: Apache-2.0 */
#include "select/scoremap.h"

#include <math.h>

#include "core/memory.h"

static size_t cell_count(const tvlm_scoremap *map) {
    return (size_t)map->cells.columns * (size_t)map->cells.rows;
}

tvlm_status tvlm_scoremap_read(const tvlm_stack *stack, const tvlm_candidates *cells, tvlm_buffer *scores,
                               tvlm_scoremap *map) {
    *map = (tvlm_scoremap){
        .cells = *cells, .width = tvlm_stack_width(stack), .height = tvlm_stack_height(stack)};
    const size_t count = cell_count(map);
    map->scores = tvlm_allocate(count, sizeof *map->scores);
    if (map->scores == NULL)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_MEMORY, "no memory for %zu scores", count);
    return tvlm_stack_device(stack)->backend->buffer_read(tvlm_stack_device(stack), scores, 0,
                                                          count * sizeof *map->scores, map->scores);
}

void tvlm_scoremap_free(tvlm_scoremap *map) {
    free(map->scores);
    free(map->sums);
    *map = (tvlm_scoremap){0};
}

static void find_range(tvlm_scoremap *m) {
    const size_t count = cell_count(m);
    m->low = INFINITY;
    m->high = -INFINITY;
    for (size_t i = 0; i < count; ++i) {
        if (!isfinite(m->scores[i])) continue;
        m->low = fminf(m->low, m->scores[i]);
        m->high = fmaxf(m->high, m->scores[i]);
    }
    if (m->low > m->high) m->low = m->high = 0.0f;
}

static double cell_side(int32_t c, float step, int32_t side) {
    return tvlm_scoremap_corner(c + 1, step, side) - tvlm_scoremap_corner(c, step, side);
}

static void fill_sums(tvlm_scoremap *m) {
    const int32_t columns = m->cells.columns, rows = m->cells.rows;
    for (int32_t row = 0; row < rows; ++row) {
        const double high = cell_side(row, m->cells.step_y, m->height);
        const double *above = m->sums + (size_t)row * (size_t)(columns + 1);
        double *below = m->sums + (size_t)(row + 1) * (size_t)(columns + 1), sum = 0.0;
        for (int32_t column = 0; column < columns; ++column) {
            const double wide = cell_side(column, m->cells.step_x, m->width);
            const float score = m->scores[(size_t)row * (size_t)columns + (size_t)column];
            sum += wide * high * (double)(isfinite(score) ? score : m->low);
            below[column + 1] = above[column + 1] + sum;
        }
    }
}

tvlm_status tvlm_scoremap_sum_up(const tvlm_stack *stack, tvlm_scoremap *map) {
    const size_t corners = ((size_t)map->cells.columns + 1) * ((size_t)map->cells.rows + 1);
    map->sums = tvlm_allocate(corners, sizeof *map->sums);
    if (map->sums == NULL)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_MEMORY, "no memory for the sums of %zu scores",
                         cell_count(map));
    find_range(map);
    fill_sums(map);
    return TVLM_OK;
}

/* The cell that a coordinate lies in, and how far into the cell it lies, as a fraction. */
static int32_t cell_at(double at, float step, int32_t cells, int32_t side, double *fraction) {
    const int32_t c = (int32_t)fmin(fmax(floor(at / (double)step), 0.0), cells - 1);
    const double begin = tvlm_scoremap_corner(c, step, side), end = tvlm_scoremap_corner(c + 1, step, side);
    *fraction = fmin(fmax((at - begin) / (end - begin), 0.0), 1.0);
    return c;
}

/* The integral of the scores over everything above and left of a point. Scores are constant within a cell, so
 * the integral is bilinear there. */
static double integral(const tvlm_scoremap *m, double x, double y) {
    double fx, fy;
    const size_t stride = (size_t)m->cells.columns + 1;
    const int32_t column = cell_at(x, m->cells.step_x, m->cells.columns, m->width, &fx);
    const int32_t row = cell_at(y, m->cells.step_y, m->cells.rows, m->height, &fy);
    const double *at = m->sums + (size_t)row * stride + (size_t)column;
    const double above = at[0] + (at[1] - at[0]) * fx;
    const double below = at[stride] + (at[stride + 1] - at[stride]) * fx;
    return above + (below - above) * fy;
}

double tvlm_scoremap_sum(const tvlm_scoremap *m, double x0, double y0, double x1, double y1) {
    return integral(m, x1, y1) - integral(m, x0, y1) - integral(m, x1, y0) + integral(m, x0, y0);
}

/* Rounding may bring the mean out of the range of the scores, so it is clamped to it. */
float tvlm_scoremap_mean(const tvlm_scoremap *m, double x, double y, double size) {
    const double x0 = fmax(x - 0.5 * size, 0.0), x1 = fmin(x + 0.5 * size, (double)m->width);
    const double y0 = fmax(y - 0.5 * size, 0.0), y1 = fmin(y + 0.5 * size, (double)m->height);
    const double mean = tvlm_scoremap_sum(m, x0, y0, x1, y1) / ((x1 - x0) * (y1 - y0));
    return fminf(fmaxf((float)mean, m->low), m->high);
}
