/*
 * Guides: what is known of an image before anything is asked of it, small enough for the host. Where its
 * regions are and which cells they touch, how far cells are from an edge, and the mean of the encoder's
 * vectors in each region, which a question can be compared with instead of all of them.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "stack/stack.h"
#include "texturevlm/regions.h"

void tvlm_guide_release(tvlm_guide *guide) {
    free(guide->table);
    free(guide->nearest);
    free(guide->labels);
    free(guide->homes);
    free(guide->distances);
    free(guide->means);
    free(guide->spreads);
    *guide = (tvlm_guide){0};
}

static tvlm_status no_memory(const tvlm_stack *stack) {
    return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for what guides a cascade");
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

/* Corners between four cells, which belong to the pixel right and below of them, then middles. */
static void place_points(const tvlm_stack *stack, const tvlm_candidates *cells, int32_t index,
                         tvlm_sample_point *points) {
    for (int32_t row = 0; row <= cells->rows; ++row)
        for (int32_t column = 0; column <= cells->columns; ++column)
            *points++ = (tvlm_sample_point){
                fminf((float)column * cells->step_x + 0.5f, (float)stack->width - 0.5f),
                fminf((float)row * cells->step_y + 0.5f, (float)stack->height - 0.5f), 0.0f, index};
    for (int32_t row = 0; row < cells->rows; ++row)
        for (int32_t column = 0; column < cells->columns; ++column)
            *points++ = (tvlm_sample_point){middle(column, cells->step_x, stack->width),
                                            middle(row, cells->step_y, stack->height), 0.0f, index};
}

static tvlm_status sample_cells(tvlm_stack *stack, int32_t index, tvlm_guide *g, tvlm_sample_point *points,
                                float *values) {
    static const int32_t id = TVLM_CHANNEL_CLUSTER_ID, distance = TVLM_CHANNEL_DISTANCE;
    const size_t corners = corner_count(&g->cells), cells = cell_count(&g->cells);
    place_points(stack, &g->cells, index, points);
    TVLM_TRY(tvlm_stack_sample(stack, points, (int32_t)(corners + cells), &id, 1, values));
    for (size_t i = 0; i < corners + cells; ++i) g->labels[i] = (uint16_t)fmaxf(values[i] + 0.5f, 0.0f);
    for (size_t i = 0; i < cells; ++i) points[corners + i].level = g->cells.level;
    return tvlm_stack_sample(stack, points + corners, (int32_t)cells, &distance, 1, g->distances);
}

static tvlm_status make_cells(tvlm_stack *stack, int32_t index, tvlm_guide *g) {
    const size_t cells = cell_count(&g->cells), all = corner_count(&g->cells) + cells;
    if (all > INT32_MAX)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                         "%zu candidates are too many for a cascade; use a larger stride", cells);
    g->labels = tvlm_allocate(all, sizeof *g->labels);
    g->distances = tvlm_allocate(cells, sizeof *g->distances);
    tvlm_sample_point *const points = tvlm_allocate(all, sizeof *points);
    float *const values = tvlm_allocate(all, sizeof *values);
    const bool made = g->labels != NULL && g->distances != NULL && points != NULL && values != NULL;
    const tvlm_status status = made ? sample_cells(stack, index, g, points, values) : no_memory(stack);
    free(points);
    free(values);
    return status;
}

/* The labels at the four corners and in the middle of a cell. */
static void labels_of(const tvlm_guide *g, int32_t column, int32_t row, uint16_t labels[5]) {
    const size_t wide = (size_t)g->cells.columns + 1;
    const uint16_t *const corner = g->labels + (size_t)row * wide + (size_t)column;
    labels[0] = corner[0];
    labels[1] = corner[1];
    labels[2] = corner[wide];
    labels[3] = corner[wide + 1];
    labels[4] = g->labels[corner_count(&g->cells) + (size_t)row * (wide - 1) + (size_t)column];
}

bool tvlm_guide_touches(const tvlm_guide *g, int32_t column, int32_t row, const bool *kept) {
    uint16_t labels[5];
    labels_of(g, column, row, labels);
    return kept[labels[0]] || kept[labels[1]] || kept[labels[2]] || kept[labels[3]] || kept[labels[4]];
}

/* ---- Regions ---- */

static void find_nearest(tvlm_guide *g) {
    for (int32_t r = 0; r < g->regions; ++r) {
        g->homes[r] = cell_at(g->table[r].y, g->cells.step_y, g->cells.rows) * g->cells.columns +
                      cell_at(g->table[r].x, g->cells.step_x, g->cells.columns);
        g->nearest[r] = g->distances[g->homes[r]];
    }
    for (int32_t row = 0; row < g->cells.rows; ++row)
        for (int32_t column = 0; column < g->cells.columns; ++column) {
            uint16_t labels[5];
            const float distance = g->distances[(size_t)row * (size_t)g->cells.columns + (size_t)column];
            labels_of(g, column, row, labels);
            for (int i = 0; i < 5; ++i) g->nearest[labels[i]] = fminf(g->nearest[labels[i]], distance);
        }
}

static tvlm_status make_regions(tvlm_stack *stack, int32_t index, tvlm_guide *g) {
    TVLM_TRY(tvlm_stack_regions(stack, index, 0, NULL, &g->regions));
    g->table = tvlm_allocate((size_t)g->regions, sizeof *g->table);
    g->nearest = tvlm_allocate((size_t)g->regions, sizeof *g->nearest);
    g->homes = tvlm_allocate((size_t)g->regions, sizeof *g->homes);
    if (g->table == NULL || g->nearest == NULL || g->homes == NULL) return no_memory(stack);
    TVLM_TRY(tvlm_stack_regions(stack, index, g->regions, g->table, &g->regions));
    TVLM_TRY(make_cells(stack, index, g));
    const size_t labels = corner_count(&g->cells) + cell_count(&g->cells);
    for (size_t i = 0; i < labels; ++i)
        if (g->labels[i] >= g->regions) g->labels[i] = (uint16_t)(g->regions - 1);
    find_nearest(g);
    return TVLM_OK;
}

/* ---- Means ---- */

/* The region of each cell of the features. */
static tvlm_status label_vectors(tvlm_stack *stack, const tvlm_features *features, int32_t *labels,
                                 int32_t regions) {
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
    for (int32_t i = 0; status == TVLM_OK && i < count; ++i) {
        const int32_t label = (int32_t)fmaxf(values[i] + 0.5f, 0.0f);
        labels[i] = label < regions ? label : regions - 1;
    }
    free(points);
    free(values);
    return status;
}

static void add_vector(tvlm_guide *g, int32_t region, const float *vector, double scale, int32_t *counts) {
    float *const mean = g->means + (size_t)region * (size_t)g->dimension;
    double squares = 0.0;
    for (int32_t i = 0; i < g->dimension; ++i) {
        const double value = scale * (double)vector[i];
        mean[i] += (float)value;
        squares += value * value;
    }
    g->spreads[region] += (float)squares;
    ++counts[region];
}

/* Sums to means; a region between the vectors has that of the cell that its centroid is in. */
static void average(tvlm_guide *g, const tvlm_features *features, const float *matrix, const float *inverse,
                    int32_t *counts) {
    const tvlm_texture *const texture = features->texture;
    const int32_t cells = texture->width * texture->height;
    for (int32_t r = 0; r < g->regions; ++r) {
        float *const mean = g->means + (size_t)r * (size_t)g->dimension;
        double squares = 0.0;
        if (counts[r] == 0) {
            const int32_t column =
                cell_at(g->table[r].x, texture->extent_x / (float)texture->width, texture->width);
            const int32_t row =
                cell_at(g->table[r].y, texture->extent_y / (float)texture->height, texture->height);
            const int32_t cell = row * texture->width + column;
            add_vector(g, r, matrix + (size_t)cell * (size_t)g->dimension,
                       (double)inverse[features->image * cells + cell], counts);
        }
        for (int32_t i = 0; i < g->dimension; ++i) {
            mean[i] /= (float)counts[r];
            squares += (double)mean[i] * (double)mean[i];
        }
        g->spreads[r] = (float)sqrt(fmax((double)g->spreads[r] / counts[r] - squares, 0.0));
    }
}

/* The vectors and their lengths to the host; they are not kept on the device twice. */
static tvlm_status read_vectors(tvlm_stack *stack, const tvlm_features *features, float *matrix,
                                float *inverse) {
    const tvlm_backend *const backend = stack->device->backend;
    const size_t cells = (size_t)features->texture->width * (size_t)features->texture->height;
    const size_t bytes = cells * (size_t)features->dimension * sizeof *matrix;
    tvlm_buffer *buffer = NULL;
    TVLM_TRY(backend->buffer_create(stack->device, bytes, &buffer));
    tvlm_status status = backend->feature_matrix(stack->device, features, buffer);
    if (status == TVLM_OK) status = backend->buffer_read(stack->device, buffer, 0, bytes, matrix);
    if (status == TVLM_OK)
        status = backend->buffer_read(stack->device, features->inverse, 0,
                                      (size_t)(features->image + 1) * cells * sizeof *inverse, inverse);
    backend->buffer_destroy(stack->device, &buffer);
    return status;
}

static tvlm_status make_means(tvlm_stack *stack, const tvlm_features *features, tvlm_guide *g) {
    const int32_t cells = features->texture->width * features->texture->height;
    float *const matrix = tvlm_allocate((size_t)cells, (size_t)features->dimension * sizeof *matrix);
    float *const inverse = tvlm_allocate((size_t)(features->image + 1), (size_t)cells * sizeof *inverse);
    int32_t *const labels = tvlm_allocate((size_t)cells, sizeof *labels);
    int32_t *const counts = tvlm_allocate((size_t)g->regions, sizeof *counts);
    free(g->means);
    free(g->spreads);
    g->dimension = features->dimension;
    g->means = tvlm_allocate((size_t)g->regions, (size_t)g->dimension * sizeof *g->means);
    g->spreads = tvlm_allocate((size_t)g->regions, sizeof *g->spreads);
    const bool made = matrix != NULL && inverse != NULL && labels != NULL && counts != NULL &&
                      g->means != NULL && g->spreads != NULL;
    tvlm_status status = made ? read_vectors(stack, features, matrix, inverse) : no_memory(stack);
    if (status == TVLM_OK) status = label_vectors(stack, features, labels, g->regions);
    for (int32_t i = 0; status == TVLM_OK && i < cells; ++i)
        add_vector(g, labels[i], matrix + (size_t)i * (size_t)g->dimension,
                   (double)inverse[features->image * cells + i], counts);
    if (status == TVLM_OK) average(g, features, matrix, inverse, counts);
    if (status != TVLM_OK) g->dimension = 0;
    free(matrix);
    free(inverse);
    free(labels);
    free(counts);
    return status;
}

/* ---- The guide ---- */

static bool fits(const tvlm_guide *g, const tvlm_chunk *chunk, const tvlm_candidates *cells) {
    return g->made == chunk->guided + 1 && g->cells.step_x == cells->step_x &&
           g->cells.step_y == cells->step_y;
}

tvlm_status tvlm_stack_guide(tvlm_stack *stack, int32_t index, const tvlm_candidates *cells,
                             const tvlm_features *features, bool embedded, const tvlm_guide **guide) {
    tvlm_chunk *const chunk = tvlm_stack_chunk(stack, index);
    tvlm_guide *const g = &stack->originals[index].guide;
    tvlm_status status = TVLM_OK;
    if (!fits(g, chunk, cells)) {
        tvlm_guide_release(g);
        g->cells = *cells;
        status = make_regions(stack, index, g);
        g->made = chunk->guided + 1;
    }
    if (status == TVLM_OK && features != NULL &&
        (g->dimension != features->dimension || g->embedded != embedded)) {
        status = make_means(stack, features, g);
        g->embedded = embedded;
    }
    if (status != TVLM_OK) tvlm_guide_release(g);
    *guide = g;
    return status;
}
