/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pictures.c: an image as a small picture of the whole, and crops. The strategy budget (select.h) says where
 * the small picture loses most; its tiles of one size that touch are put together to rectangles, and those to
 * larger ones where that takes fewer tokens. Each becomes a picture.
 */
#include <math.h>
#include <string.h>

#include "inside.h"

/* So many numbers of patches are tried until the pictures fit: what crops take beside their own tokens is known only
 * afterwards. */
#define TRIES 8
/* Numbers of patches without crops after which an image counts as having none worth their tokens. */
#define WITHOUT 4
/* So many more are tried between one that fits and one that does not. */
#define BETWEEN 3
/* A loss of no more than this is not worth a further try. */
#define NOTHING 0.001f
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

/* Rectangles of cells: left, top, right and bottom. */
typedef struct boxes {
    int32_t (*at)[4];
    int32_t count;
} boxes;

/* Covers the tiles of a grid by rectangles, which takes the tiles off it. */
static tvlm_status cover(const tvlm_mtmd *chooser, grid *g, boxes *found) {
    for (int32_t i = 0; i < g->columns * g->rows; ++i) {
        if (!g->tiles[i]) continue;
        int32_t(*more)[4] = realloc(found->at, ((size_t)found->count + 1) * sizeof *more);
        if (more == NULL) return tvlm_fail(&chooser->log, TVLM_ERROR_MEMORY, "no memory for crops");
        found->at = more;
        take(g, i % g->columns, i / g->columns, more[found->count++]);
    }
    return TVLM_OK;
}

/* How many tokens a crop takes, with those around it. */
static int32_t cost(const tvlm_mtmd *chooser, const int32_t box[4]) {
    const int32_t own = (box[2] - box[0]) * (box[3] - box[1]);
    return (own > chooser->least ? own : chooser->least) + chooser->info.around;
}

static void around_both(const int32_t a[4], const int32_t b[4], int32_t both[4]) {
    for (int e = 0; e < 4; ++e) both[e] = (e < 2) == (a[e] < b[e]) ? a[e] : b[e];
}

/* The box that a box is best joined with; -1: with none that saves tokens. */
static int32_t best_joined(const tvlm_mtmd *chooser, const boxes *all, int32_t one) {
    int32_t most = 0, best = -1;
    for (int32_t i = 0; i < all->count; ++i) {
        int32_t both[4];
        if (i == one) continue;
        around_both(all->at[one], all->at[i], both);
        const int32_t saved = cost(chooser, all->at[one]) + cost(chooser, all->at[i]) - cost(chooser, both);
        if (saved <= most) continue;
        most = saved;
        best = i;
    }
    return best;
}

/* Makes one of two boxes wherever that takes fewer tokens. */
static void join(const tvlm_mtmd *chooser, boxes *all) {
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t i = 0; i < all->count; ++i) {
            const int32_t other = best_joined(chooser, all, i);
            if (other < 0) continue;
            around_both(all->at[i], all->at[other], all->at[i]);
            memmove(all->at[other], all->at[--all->count], sizeof *all->at);
            changed = true;
        }
    }
}

/* Adds a crop of a grid. */
static tvlm_status add_crop(const tvlm_mtmd *chooser, const grid *g, const int32_t box[4],
                            tvlm_mtmd_cut *cut) {
    tvlm_mtmd_crop *more = realloc(cut->crops, ((size_t)cut->count + 1) * sizeof *more);
    if (more == NULL) return tvlm_fail(&chooser->log, TVLM_ERROR_MEMORY, "no memory for crops");
    cut->crops = more;
    more += cut->count++;
    more->columns = box[2] - box[0];
    more->rows = box[3] - box[1];
    for (int e = 0; e < 4; ++e) more->box[e] = (int32_t)lrint((double)box[e] * g->third / 3.0);
    cut->tokens += more->columns * more->rows + chooser->info.around;
    return TVLM_OK;
}

/* Adds the crops of a grid. */
static tvlm_status add_crops(const tvlm_mtmd *chooser, grid *g, tvlm_mtmd_cut *cut, bool *possible) {
    boxes all = {0};
    tvlm_status status = cover(chooser, g, &all);
    if (status == TVLM_OK) join(chooser, &all);
    for (int32_t i = 0; status == TVLM_OK && *possible && i < all.count; ++i) {
        *possible = grow(g, chooser->least, all.at[i]);
        status = add_crop(chooser, g, all.at[i], cut);
    }
    free(all.at);
    return status;
}

static int by_place(const void *a, const void *b) {
    const tvlm_mtmd_crop *const p = a, *const q = b;
    const int32_t down = p->box[1] - q->box[1];
    return down != 0 ? down : p->box[0] - q->box[0];
}

/* ---- A cut ---- */

/* Makes a small picture larger that libmtmd would make larger. All its tokens are kept then: which of them
 * are empty is known of the smaller one only. */
static void enlarge(const tvlm_mtmd_measured *m, tvlm_mtmd_cut *cut) {
    if (cut->columns * cut->rows >= m->chooser->least) return;
    while (cut->columns * cut->rows < m->chooser->least)
        ++*((int64_t)cut->columns * m->whole.rows <= (int64_t)cut->rows * m->whole.columns ? &cut->columns
                                                                                           : &cut->rows);
    cut->tokens = cut->columns * cut->rows;
}

static tvlm_status add_thumbnail(const tvlm_mtmd_measured *m, const tvlm_selection *selection,
                                 const tvlm_selection_info *info, tvlm_mtmd_cut *cut) {
    int32_t count;
    const tvlm_cell *empty = tvlm_selection_empty(selection, &count);
    cut->columns = info->thumbnail_columns;
    cut->rows = info->thumbnail_rows;
    cut->loss = info->loss;
    cut->tokens = cut->columns * cut->rows - count;
    enlarge(m, cut);
    const size_t all = (size_t)cut->columns * (size_t)cut->rows;
    cut->kept = tvlm_allocate(all, 1);
    if (cut->kept == NULL) return tvlm_fail(&m->chooser->log, TVLM_ERROR_MEMORY, "no memory for crops");
    memset(cut->kept, 1, all);
    for (int32_t i = 0; (size_t)cut->tokens < all && i < count; ++i)
        cut->kept[empty[i].row * cut->columns + empty[i].column] = 0;
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
    TVLM_TRY(add_thumbnail(m, selection, &info, cut));
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
    if (!possible) cut->count = 0;
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

/* The search for the pictures of least loss that fit: the largest number of patches whose pictures did, and the
 * least one whose pictures did not. */
typedef struct search {
    const tvlm_mtmd_measured *m;
    int32_t tokens, fits, beyond;
    tvlm_mtmd_cut best; /* its count is 0 until there is one */
} search;

/* Tries a number of patches. *taken becomes the tokens of its pictures; 0: it has no crops. */
static tvlm_status try_patches(search *s, int32_t patches, int32_t *taken) {
    tvlm_mtmd_cut one = {0};
    TVLM_TRY(cut_by(s->m, patches, 0.0f, &one));
    *taken = one.count > 0 ? one.tokens : 0;
    const bool fit = *taken > 0 && *taken <= s->tokens;
    *(fit ? &s->fits : &s->beyond) = patches;
    if (fit && (s->best.count == 0 || one.loss < s->best.loss)) {
        tvlm_mtmd_cut_free(&s->best);
        s->best = one;
    } else
        tvlm_mtmd_cut_free(&one);
    return TVLM_OK;
}

/* With fewer patches there are fewer crops, too. Without crops, there may be some again. */
static tvlm_status find_fitting(search *s) {
    int32_t wanted = s->tokens;
    for (int tries = 0, without = 0; wanted >= 2 && tries < TRIES && without < WITHOUT; ++tries) {
        int32_t taken;
        TVLM_TRY(try_patches(s, wanted, &taken));
        if (s->fits > 0) return TVLM_OK;
        without += taken == 0;
        const int32_t next = taken > 0 ? (int32_t)((int64_t)wanted * s->tokens / taken) : wanted - wanted / 8;
        wanted = next < wanted ? next : wanted - 1;
    }
    return TVLM_OK;
}

static tvlm_status find_best(search *s) {
    TVLM_TRY(find_fitting(s));
    for (int tries = 0; s->best.count > 0 && s->best.loss > NOTHING && tries < BETWEEN; ++tries) {
        int32_t taken;
        if (s->beyond - s->fits < 2) return TVLM_OK;
        TVLM_TRY(try_patches(s, s->fits + (s->beyond - s->fits) / 2, &taken));
    }
    return TVLM_OK;
}

tvlm_status tvlm_mtmd_cut_out(const tvlm_mtmd_measured *measured, int32_t tokens, float tolerance,
                              tvlm_mtmd_cut *cut) {
    *cut = (tvlm_mtmd_cut){0};
    if (tokens == 0) return cut_by(measured, 0, tolerance, cut);
    search s = {.m = measured, .tokens = tokens, .beyond = tokens + 1};
    const tvlm_status status = find_best(&s);
    if (status != TVLM_OK) tvlm_mtmd_cut_free(&s.best);
    *cut = s.best;
    return status;
}
