/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guides: what is known of an image before anything is asked of it, small enough for the host:
 * - where its regions are, and which cells they touch,
 * - how far cells are from an edge,
 * - the means of the encoder's vectors in each region. A question is compared with these means, instead of
 *   with all vectors.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "select/guide.h"
#include "stack/grids.h"
#include "stack/stack.h"
#include "texturevlm/stack.h"

static void empty(tvlm_guide *guide) {
    free(guide->table);
    free(guide->distances);
    free(guide->nearest);
    free(guide->begins);
    free(guide->touched);
    free(guide->groups);
    free(guide->means);
    free(guide->spreads);
    *guide = (tvlm_guide){0};
}

/* tvlm_slot.release */
static void release(void *guide) {
    empty(guide);
    free(guide);
}

static tvlm_status no_memory(const tvlm_stack *stack) {
    return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_MEMORY, "no memory for what guides a cascade");
}

/* ---- Cells ---- */

static size_t corner_count(const tvlm_candidates *cells) {
    return ((size_t)cells->columns + 1) * ((size_t)cells->rows + 1);
}

static size_t cell_count(const tvlm_candidates *cells) {
    return (size_t)cells->columns * (size_t)cells->rows;
}

static float middle(int32_t c, float step, int32_t side) {
    return 0.5f * ((float)c * step + fminf((float)(c + 1) * step, (float)side));
}

static int32_t cell_at(float at, float step, int32_t cells) {
    const int32_t c = (int32_t)(at / step);
    return c < 0 ? 0 : c < cells ? c : cells - 1;
}

static int32_t label_of(const tvlm_guide *g, float value) {
    const int32_t label = (int32_t)fmaxf(value + 0.5f, 0.0f);
    return label < g->regions ? label : g->regions - 1;
}

/* Lists the corners of the cells, and then their middles. A corner is read at the pixel to its right and
 * below it. */
static void place_points(const tvlm_stack *stack, const tvlm_candidates *cells, int32_t index,
                         tvlm_sample_point *points) {
    for (int32_t row = 0; row <= cells->rows; ++row)
        for (int32_t column = 0; column <= cells->columns; ++column)
            *points++ = (tvlm_sample_point){
                fminf((float)column * cells->step_x + 0.5f, (float)tvlm_stack_width(stack) - 0.5f),
                fminf((float)row * cells->step_y + 0.5f, (float)tvlm_stack_height(stack) - 0.5f), 0.0f,
                index};
    for (int32_t row = 0; row < cells->rows; ++row)
        for (int32_t column = 0; column < cells->columns; ++column)
            *points++ =
                (tvlm_sample_point){middle(column, cells->step_x, tvlm_stack_width(stack)),
                                    middle(row, cells->step_y, tvlm_stack_height(stack)), 0.0f, index};
}

/* Reads the labels of the corners, and then of the middles, and the distances of the cells. */
static tvlm_status sample_cells(tvlm_stack *stack, int32_t index, tvlm_guide *g, tvlm_sample_point *points,
                                float *values, int32_t *labels) {
    static const int32_t id = TVLM_CHANNEL_CLUSTER_ID, distance = TVLM_CHANNEL_DISTANCE;
    const size_t corners = corner_count(&g->cells), cells = cell_count(&g->cells);
    place_points(stack, &g->cells, index, points);
    TVLM_TRY(tvlm_stack_sample(stack, points, (int32_t)(corners + cells), &id, 1, values));
    for (size_t i = 0; i < corners + cells; ++i) labels[i] = label_of(g, values[i]);
    for (size_t i = 0; i < cells; ++i) points[corners + i].level = g->cells.level;
    return tvlm_stack_sample(stack, points + corners, (int32_t)cells, &distance, 1, g->distances);
}

/* ---- Which cells regions touch ---- */

/* Finds the labels at the four corners and in the middle of a cell, each once. Returns how many there are. */
static int labels_of(const tvlm_guide *g, const int32_t *labels, int32_t column, int32_t row,
                     int32_t found[5]) {
    const size_t wide = (size_t)g->cells.columns + 1;
    const int32_t *const corner = labels + (size_t)row * wide + (size_t)column;
    const int32_t all[5] = {corner[0], corner[1], corner[wide], corner[wide + 1],
                            labels[corner_count(&g->cells) + (size_t)row * (wide - 1) + (size_t)column]};
    int count = 0;
    for (int i = 0; i < 5; ++i) {
        int j = 0;
        while (j < count && found[j] != all[i]) ++j;
        if (j == count) found[count++] = all[i];
    }
    return count;
}

static int32_t home_of(const tvlm_guide *g, int32_t region) {
    return cell_at(g->table[region].y, g->cells.step_y, g->cells.rows) * g->cells.columns +
           cell_at(g->table[region].x, g->cells.step_x, g->cells.columns);
}

/* Notes that a region touches a cell. With `list`, the cell is written to the region's next place; without,
 * it is only counted. */
static void touch(tvlm_guide *g, int32_t region, int32_t cell, int32_t *next, bool list) {
    if (list) g->touched[next[region]] = cell;
    ++next[region];
    g->nearest[region] = fminf(g->nearest[region], g->distances[cell]);
}

/* Goes through the cells in order, so that each region's cells are listed in ascending order. The cell that a
 * region's centroid lies in counts in any case. */
static void touch_all(tvlm_guide *g, const int32_t *labels, const int32_t *homes, int32_t *next, bool list) {
    for (int32_t cell = 0; cell < (int32_t)cell_count(&g->cells); ++cell) {
        int32_t found[5];
        const int count = labels_of(g, labels, cell % g->cells.columns, cell / g->cells.columns, found);
        for (int i = 0; i < count; ++i) touch(g, found[i], cell, next, list);
        for (int32_t r = homes[cell]; r >= 0; r = homes[cell_count(&g->cells) + (size_t)r]) {
            int i = 0;
            while (i < count && found[i] != r) ++i;
            if (i == count) touch(g, r, cell, next, list);
        }
    }
}

/* The regions whose centroids lie in each cell, as lists: homes[cell] the first one, homes[cells + region]
 * the next, -1: none. */
static void find_homes(const tvlm_guide *g, int32_t *homes) {
    const size_t cells = cell_count(&g->cells);
    for (size_t i = 0; i < cells; ++i) homes[i] = -1;
    for (int32_t r = g->regions - 1; r >= 0; --r) {
        const int32_t home = home_of(g, r);
        homes[cells + (size_t)r] = homes[home];
        homes[home] = r;
    }
}

static tvlm_status list_touched(tvlm_stack *stack, tvlm_guide *g, const int32_t *labels) {
    const size_t regions = (size_t)g->regions;
    int32_t *const homes = tvlm_allocate(cell_count(&g->cells) + regions, sizeof *homes);
    int32_t *const next = tvlm_allocate(regions, sizeof *next);
    bool made = homes != NULL && next != NULL;
    for (size_t r = 0; r < regions; ++r) g->nearest[r] = INFINITY;
    if (made) {
        find_homes(g, homes);
        touch_all(g, labels, homes, next, false);
        for (size_t r = 0; r < regions; ++r) g->begins[r + 1] = g->begins[r] + next[r];
        memcpy(next, g->begins, regions * sizeof *next);
        g->touched = tvlm_allocate((size_t)g->begins[regions], sizeof *g->touched);
        made = g->touched != NULL;
    }
    if (made) touch_all(g, labels, homes, next, true);
    free(homes);
    free(next);
    return made ? TVLM_OK : no_memory(stack);
}

static tvlm_status make_cells(tvlm_stack *stack, int32_t index, tvlm_guide *g) {
    const size_t cells = cell_count(&g->cells), all = corner_count(&g->cells) + cells;
    if (all > INT32_MAX / 5)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT,
                         "%zu candidates are too many for a cascade; use a larger stride", cells);
    int32_t *const labels = tvlm_allocate(all, sizeof *labels);
    tvlm_sample_point *const points = tvlm_allocate(all, sizeof *points);
    float *const values = tvlm_allocate(all, sizeof *values);
    const bool made = labels != NULL && points != NULL && values != NULL;
    tvlm_status status = made ? sample_cells(stack, index, g, points, values, labels) : no_memory(stack);
    free(points);
    free(values);
    if (status == TVLM_OK) status = list_touched(stack, g, labels);
    free(labels);
    return status;
}

static tvlm_status make_regions(tvlm_stack *stack, int32_t index, tvlm_guide *g) {
    TVLM_TRY(tvlm_stack_regions(stack, index, 0, NULL, &g->regions));
    g->table = tvlm_allocate((size_t)g->regions, sizeof *g->table);
    g->nearest = tvlm_allocate((size_t)g->regions, sizeof *g->nearest);
    g->begins = tvlm_allocate((size_t)g->regions + 1, sizeof *g->begins);
    g->distances = tvlm_allocate(cell_count(&g->cells), sizeof *g->distances);
    if (g->table == NULL || g->nearest == NULL || g->begins == NULL || g->distances == NULL)
        return no_memory(stack);
    TVLM_TRY(tvlm_stack_regions(stack, index, g->regions, g->table, &g->regions));
    return make_cells(stack, index, g);
}

/* ---- Means ---- */

/* The region of each cell of the features. */
static tvlm_status label_vectors(tvlm_stack *stack, const tvlm_features *features, const tvlm_guide *g,
                                 int32_t *labels) {
    static const int32_t id = TVLM_CHANNEL_CLUSTER_ID;
    const tvlm_texture *const texture = features->texture;
    const int32_t count = texture->width * texture->height;
    tvlm_sample_point *const points = tvlm_allocate((size_t)count, sizeof *points);
    float *const values = tvlm_allocate((size_t)count, sizeof *values);
    const float across = texture->extent_x / (float)texture->width;
    const float down = texture->extent_y / (float)texture->height;
    tvlm_status status = points != NULL && values != NULL ? TVLM_OK : no_memory(stack);
    for (int32_t i = 0; status == TVLM_OK && i < count; ++i)
        points[i] = (tvlm_sample_point){((float)(i % texture->width) + 0.5f) * across,
                                        ((float)(i / texture->width) + 0.5f) * down, 0.0f, features->index};
    if (status == TVLM_OK) status = tvlm_stack_sample(stack, points, count, &id, 1, values);
    for (int32_t i = 0; status == TVLM_OK && i < count; ++i) labels[i] = label_of(g, values[i]);
    free(points);
    free(values);
    return status;
}

static tvlm_status make_means(tvlm_stack *stack, const tvlm_features *features, tvlm_guide *g) {
    const size_t cells = (size_t)features->texture->width * (size_t)features->texture->height;
    int32_t *const labels = tvlm_allocate(cells, sizeof *labels);
    tvlm_status status = labels != NULL ? label_vectors(stack, features, g, labels) : no_memory(stack);
    if (status == TVLM_OK) status = tvlm_guide_means(stack, features, labels, g);
    free(labels);
    return status;
}

/* ---- The guide ---- */

/* The guide that is kept with the image. A new one is empty. NULL: no memory. */
static tvlm_guide *find_guide(tvlm_stack *stack, int32_t index) {
    tvlm_slot *const slot = tvlm_stack_slot(stack, index);
    if (slot->data == NULL) {
        slot->data = tvlm_allocate(1, sizeof(tvlm_guide));
        slot->release = release;
    }
    return slot->data;
}

static bool fits(const tvlm_guide *g, uint64_t outdated, const tvlm_candidates *cells) {
    return g->made && g->outdated == outdated && g->cells.step_x == cells->step_x &&
           g->cells.step_y == cells->step_y;
}

tvlm_status tvlm_guide_of(tvlm_stack *stack, int32_t index, const tvlm_candidates *cells,
                          const tvlm_features *features, bool embedded, const tvlm_guide **guide) {
    const uint64_t outdated = tvlm_stack_outdated(stack, index, tvlm_grids_that_guide());
    tvlm_guide *const g = find_guide(stack, index);
    tvlm_status status = TVLM_OK;
    if (g == NULL) return no_memory(stack);
    if (!fits(g, outdated, cells)) {
        empty(g);
        g->cells = *cells;
        status = make_regions(stack, index, g);
        g->outdated = tvlm_stack_outdated(stack, index, tvlm_grids_that_guide());
        g->made = true;
    }
    if (status == TVLM_OK && features != NULL &&
        (g->dimension != features->dimension || g->embedded != embedded)) {
        status = make_means(stack, features, g);
        g->embedded = embedded;
    }
    if (status != TVLM_OK) empty(g);
    *guide = g;
    return status;
}
