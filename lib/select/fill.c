/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fill.c: colours for the empty cells of a thumbnail, ring after ring from the cells around them.
 */
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "texturevlm/patches.h"

/* A picture that is being filled. Cells are numbered row after row. */
typedef struct filling {
    int32_t columns, rows, side, channels;
    float *picture;
    int32_t *rounds; /* [cells]: in which round each was filled; 0: it was never empty, -1: it is empty */
    double *colours; /* [cells * channels], of those that were filled */
} filling;

static size_t cell_of(const filling *f, int32_t column, int32_t row) {
    return (size_t)row * (size_t)f->columns + (size_t)column;
}

/* Adds the mean of the `side` texels of a cell that face its neighbour. They begin at column, row of the
 * picture, and lie `step` texels apart. */
static void add_line(const filling *f, size_t column, size_t row, size_t step, double *sum) {
    const size_t channels = (size_t)f->channels, side = (size_t)f->side;
    const float *const first = f->picture + (row * (size_t)f->columns * side + column) * channels;
    for (size_t i = 0; i < side; ++i)
        for (size_t c = 0; c < channels; ++c) sum[c] += (double)first[i * step * channels + c] / (double)side;
}

/* Adds the colour of the neighbour that lies so many columns and rows on, if it had one before this round.
 * Says whether it did. */
static bool add_neighbour(const filling *f, const tvlm_cell *cell, int32_t right, int32_t down, int32_t round,
                          double *sum) {
    const int32_t column = cell->column + right, row = cell->row + down;
    if (column < 0 || column >= f->columns || row < 0 || row >= f->rows) return false;
    const size_t there = cell_of(f, column, row), side = (size_t)f->side;
    if (f->rounds[there] < 0 || f->rounds[there] == round) return false;
    if (f->rounds[there] > 0) {
        const double *const colour = f->colours + there * (size_t)f->channels;
        for (int32_t c = 0; c < f->channels; ++c) sum[c] += colour[c];
        return true;
    }
    const size_t left = (size_t)column * side + (right < 0 ? side - 1 : 0);
    const size_t top = (size_t)row * side + (down < 0 ? side - 1 : 0);
    add_line(f, left, top, right != 0 ? (size_t)f->columns * side : 1, sum);
    return true;
}

/* Finds the colour of an empty cell, where a neighbour has one. */
static bool find_colour(filling *f, const tvlm_cell *cell, int32_t round) {
    static const int32_t right[4] = {-1, 1, 0, 0}, down[4] = {0, 0, -1, 1};
    const size_t here = cell_of(f, cell->column, cell->row);
    double *const colour = f->colours + here * (size_t)f->channels;
    int32_t neighbours = 0;
    for (int n = 0; n < 4; ++n) neighbours += add_neighbour(f, cell, right[n], down[n], round, colour);
    if (neighbours == 0) return false;
    for (int32_t c = 0; c < f->channels; ++c) colour[c] /= neighbours;
    f->rounds[here] = round;
    return true;
}

static void paint(const filling *f, const tvlm_cell *cell) {
    const size_t side = (size_t)f->side, channels = (size_t)f->channels, row = side * (size_t)f->columns;
    const double *const colour = f->colours + cell_of(f, cell->column, cell->row) * channels;
    float *const first =
        f->picture + ((size_t)cell->row * side * row + (size_t)cell->column * side) * channels;
    for (size_t i = 0; i < side * side * channels; ++i)
        first[i / (side * channels) * row * channels + i % (side * channels)] = (float)colour[i % channels];
}

/* Fills round after round. False: there is no cell to begin from. */
static bool fill(filling *f, const tvlm_cell *empty, int32_t count) {
    int32_t left = 0, before;
    for (int32_t i = 0; i < count; ++i) {
        int32_t *const state = &f->rounds[cell_of(f, empty[i].column, empty[i].row)];
        left += *state == 0;
        *state = -1;
    }
    for (int32_t round = 1; left > 0; ++round) {
        before = left;
        for (int32_t i = 0; i < count; ++i)
            if (f->rounds[cell_of(f, empty[i].column, empty[i].row)] < 0)
                left -= find_colour(f, &empty[i], round);
        if (left == before) return false;
    }
    for (int32_t i = 0; i < count; ++i) paint(f, &empty[i]);
    return true;
}

/* Refuses a grid that makes no sense, and cells that the grid does not have. */
static tvlm_status check(const tvlm_thumbnail_grid *grid, int32_t channels, const tvlm_log *log) {
    if (grid->columns < 1 || grid->rows < 1 || grid->side < 1 || channels < 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a thumbnail of %d x %d cells of %d texels and %d channels", (int)grid->columns,
                         (int)grid->rows, (int)grid->side, (int)channels);
    if (grid->empty_count < 0 || (grid->empty_count > 0 && grid->empty == NULL))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d empty cells, and no list of them",
                         (int)grid->empty_count);
    for (int32_t i = 0; i < grid->empty_count; ++i) {
        const tvlm_cell *const cell = &grid->empty[i];
        if (cell->column < 0 || cell->column >= grid->columns || cell->row < 0 || cell->row >= grid->rows)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an empty cell %d, %d of a thumbnail of %d x %d cells",
                             (int)cell->column, (int)cell->row, (int)grid->columns, (int)grid->rows);
    }
    return TVLM_OK;
}

tvlm_status tvlm_thumbnail_fill(const tvlm_thumbnail_grid *grid, int32_t channels, float *picture,
                                const tvlm_log *log) {
    size_t cells, values;
    TVLM_NEED(log, grid);
    TVLM_NEED(log, picture);
    TVLM_TRY(check(grid, channels, log));
    if (!tvlm_multiply((size_t)grid->columns, (size_t)grid->rows, &cells) ||
        !tvlm_multiply(cells, (size_t)channels, &values))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a thumbnail of %d x %d cells is too large",
                         (int)grid->columns, (int)grid->rows);
    if (grid->empty_count == 0) return TVLM_OK;
    filling f = {.columns = grid->columns,
                 .rows = grid->rows,
                 .side = grid->side,
                 .channels = channels,
                 .picture = picture,
                 .rounds = tvlm_allocate(cells, sizeof *f.rounds),
                 .colours = tvlm_allocate(values, sizeof *f.colours)};
    tvlm_status status = TVLM_OK;
    if (f.rounds == NULL || f.colours == NULL)
        status = tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to fill %zu cells", cells);
    else if (!fill(&f, grid->empty, grid->empty_count))
        status = tvlm_fail(log, TVLM_ERROR_ARGUMENT, "all %zu cells of a thumbnail are empty", cells);
    free(f.rounds);
    free(f.colours);
    return status;
}
