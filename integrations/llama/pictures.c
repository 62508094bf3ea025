/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pictures.c: an image as a small picture of the whole, and crops. The strategy budget (select.h) says where
 * the small picture loses most; its tiles of one size that touch are put together to rectangles, each of
 * which becomes a picture.
 */
#include <math.h>
#include <string.h>

#include "inside.h"

/* Numbers of patches without crops after which an image counts as having none worth their tokens. */
#define TRIES 4
/* The sides of tiles in thirds of a patch: of levels 0, 1 and 2, of thirds, and of nines. */
static const int32_t thirds[] = {3, 4, 6, 9, 12};
#define SIZES (int32_t)(sizeof thirds / sizeof thirds[0])

/* Which cells of a grid of one size of tile are tiles. */
typedef struct grid {
    int32_t third; /* the side of a cell, in thirds of a pixel */
    int32_t columns, rows;
    uint8_t *tiles; /* [rows * columns] */
} grid;

void tvlm_mtmd_cut_free(tvlm_mtmd_cut *cut) {
    free(cut->kept);
    free(cut->crops);
    *cut = (tvlm_mtmd_cut){0};
}

/* ---- Tiles ---- */

static void mark(grid *g, int32_t column, int32_t row) {
    if (column >= 0 && row >= 0 && column < g->columns && row < g->rows)
        g->tiles[row * g->columns + column] = 1;
}

/* Marks the tiles of a grid's size. Those that a tolerance left out, since they equal others, are shown
 * where they are. */
static void mark_all(const tvlm_selection *selection, int32_t first, int32_t side, grid *g) {
    int32_t count;
    const tvlm_position *at = tvlm_selection_positions(selection, &count);
    for (int32_t i = first; i < count; ++i)
        if ((int32_t)lrintf(3.0f * at[i].size) == g->third)
            mark(g, (int32_t)(3.0 * (double)at[i].x) / g->third, (int32_t)(3.0 * (double)at[i].y) / g->third);
    if (g->third != 3 * side) return;
    const tvlm_duplicate *left_out = tvlm_selection_duplicates(selection, &count);
    for (int32_t i = 0; i < count; ++i) mark(g, left_out[i].column, left_out[i].row);
}

/* ---- Rectangles ---- */

static bool all_marked(const grid *g, int32_t left, int32_t right, int32_t row) {
    for (int32_t x = left; x < right; ++x)
        if (row >= g->rows || !g->tiles[row * g->columns + x]) return false;
    return true;
}

/* Takes a rectangle of tiles off the grid that begins at a tile: as wide and then as high as it goes. */
static void take(grid *g, int32_t column, int32_t row, int32_t box[4]) {
    int32_t right = column + 1, bottom = row + 1;
    while (right < g->columns && g->tiles[row * g->columns + right]) ++right;
    while (all_marked(g, column, right, bottom)) ++bottom;
    for (int32_t y = row; y < bottom; ++y)
        memset(g->tiles + y * g->columns + column, 0, (size_t)(right - column));
    memcpy(box, (const int32_t[]){column, row, right, bottom}, 4 * sizeof *box);
}

/* Grows a rectangle to at least so many cells. False: the grid has not so many. */
static bool grow(const grid *g, int32_t least, int32_t box[4]) {
    while ((box[2] - box[0]) * (box[3] - box[1]) < least) {
        const int32_t wide = box[2] - box[0], high = box[3] - box[1];
        if ((wide <= high && wide < g->columns) || high >= g->rows) {
            if (wide >= g->columns) return false;
            if (box[2] < g->columns)
                ++box[2];
            else
                --box[0];
        } else if (box[3] < g->rows)
            ++box[3];
        else
            --box[1];
    }
    return true;
}

/* Adds the crops of a grid. */
static tvlm_status add_crops(const tvlm_mtmd *chooser, grid *g, tvlm_mtmd_cut *cut, bool *possible) {
    for (int32_t i = 0; *possible && i < g->columns * g->rows; ++i) {
        int32_t box[4];
        if (!g->tiles[i]) continue;
        take(g, i % g->columns, i / g->columns, box);
        *possible = grow(g, chooser->least, box);
        tvlm_mtmd_crop *more = realloc(cut->crops, ((size_t)cut->count + 1) * sizeof *more);
        if (more == NULL) return tvlm_fail(&chooser->log, TVLM_ERROR_MEMORY, "no memory for crops");
        cut->crops = more;
        more += cut->count++;
        more->columns = box[2] - box[0];
        more->rows = box[3] - box[1];
        for (int e = 0; e < 4; ++e) more->box[e] = (int32_t)lrint((double)box[e] * g->third / 3.0);
        cut->tokens += more->columns * more->rows + chooser->info.around;
    }
    return TVLM_OK;
}

static int by_place(const void *a, const void *b) {
    const tvlm_mtmd_crop *const p = a, *const q = b;
    const int32_t down = p->box[1] - q->box[1];
    return down != 0 ? down : p->box[0] - q->box[0];
}

/* ---- A cut ---- */

static tvlm_status add_thumbnail(const tvlm_log *log, const tvlm_selection *selection,
                                 const tvlm_selection_info *info, tvlm_mtmd_cut *cut) {
    int32_t count;
    const tvlm_cell *empty = tvlm_selection_empty(selection, &count);
    cut->columns = info->thumbnail_columns;
    cut->rows = info->thumbnail_rows;
    cut->loss = info->loss;
    cut->tokens = cut->columns * cut->rows - count;
    cut->kept = tvlm_allocate((size_t)cut->columns * (size_t)cut->rows, 1);
    if (cut->kept == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for crops");
    memset(cut->kept, 1, (size_t)cut->columns * (size_t)cut->rows);
    for (int32_t i = 0; i < count; ++i) cut->kept[empty[i].row * cut->columns + empty[i].column] = 0;
    return TVLM_OK;
}

/* The pictures of a selection. Its count is 0 if it has no tiles, or they cannot be pictures that libmtmd
 * takes. */
static tvlm_status cut_of(const tvlm_mtmd_measured *m, const tvlm_selection *selection, tvlm_mtmd_cut *cut) {
    const tvlm_mtmd *chooser = m->chooser;
    const int32_t side = chooser->info.side;
    tvlm_selection_info info;
    bool possible = true;
    TVLM_TRY(tvlm_selection_get_info(selection, &info));
    TVLM_TRY(add_thumbnail(&chooser->log, selection, &info, cut));
    for (int32_t s = 0; possible && s < SIZES; ++s) {
        const int32_t third = thirds[s] * side;
        grid g = {third, (3 * m->full.width + third - 1) / third, (3 * m->full.height + third - 1) / third,
                  NULL};
        g.tiles = tvlm_allocate((size_t)g.columns * (size_t)g.rows, 1);
        if (g.tiles == NULL) return tvlm_fail(&chooser->log, TVLM_ERROR_MEMORY, "no memory for crops");
        mark_all(selection, info.thumbnail_cells, side, &g);
        const tvlm_status status = add_crops(chooser, &g, cut, &possible);
        free(g.tiles);
        TVLM_TRY(status);
    }
    if (!possible || cut->columns * cut->rows < chooser->least) cut->count = 0;
    if (cut->count > 0) qsort(cut->crops, (size_t)cut->count, sizeof *cut->crops, by_place);
    return TVLM_OK;
}

static tvlm_status cut_by(const tvlm_mtmd_measured *m, int32_t k, float tolerance, tvlm_mtmd_cut *cut) {
    tvlm_selection *selection = NULL;
    TVLM_TRY(tvlm_select(m->stack, m->query,
                         tvlm_select_params(.k = k, .strategy = TVLM_STRATEGY_BUDGET,
                                            .patch = (float)m->chooser->info.side,
                                            .budget = {.tolerance = tolerance, .emphasis = m->emphasis}),
                         &selection));
    const tvlm_status status = cut_of(m, selection, cut);
    tvlm_selection_destroy(&selection);
    if (status != TVLM_OK) tvlm_mtmd_cut_free(cut);
    return status;
}

tvlm_status tvlm_mtmd_cut_out(const tvlm_mtmd_measured *measured, int32_t tokens, float tolerance,
                              tvlm_mtmd_cut *cut) {
    *cut = (tvlm_mtmd_cut){0};
    if (tokens == 0) return cut_by(measured, 0, tolerance, cut);
    int32_t wanted = tokens;
    for (int without = 0; wanted >= 2 && without < TRIES;) {
        TVLM_TRY(cut_by(measured, wanted, 0.0f, cut));
        const int32_t taken = cut->tokens, count = cut->count;
        if (count > 0 && taken <= tokens) return TVLM_OK;
        tvlm_mtmd_cut_free(cut);
        if (count == 0 && wanted == tokens) return TVLM_OK;
        if (count == 0) { /* with fewer patches there may be crops again */
            ++without;
            wanted -= wanted / 8 > 1 ? wanted / 8 : 1;
        } else { /* with fewer patches there are fewer crops, too */
            const int32_t half = (taken - tokens + 1) / 2;
            wanted -= half > 1 ? half : 1;
        }
    }
    return TVLM_OK;
}
