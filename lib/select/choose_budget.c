/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strategy `budget`: a small picture of the whole image, and tiles where that loses most.
 */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "select/budget.h"
#include "stack/frame.h"
#include "stack/grids.h"
#include "stack/make.h"

/* ---- What is asked ---- */

enum { PATCH_LEAST = TVLM_BUDGET_BLOCKS, PATCH_MOST = 64 };

tvlm_status tvlm_check_budget(const tvlm_log *log, const struct tvlm_select_params *p) {
    const double patch = p->patch == 0.0f ? (double)TVLM_PATCH_DEFAULT : (double)p->patch;
    if ((p->k != 0) + (p->budget.share != 0.0f) + (p->budget.tolerance != 0.0f) > 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "k, share and tolerance exclude each other");
    if (!(patch >= (double)PATCH_LEAST && patch <= (double)PATCH_MOST) || floor(patch) != patch)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a patch of %g pixels; for budget it is a whole number from %d to %d", patch,
                         PATCH_LEAST, PATCH_MOST);
    return TVLM_OK;
}

/* The number of patches that k or the share asks for: at least 1, and at most as many as there are tiles. */
static tvlm_status count_patches(const tvlm_budget *budget, int32_t *n) {
    const struct tvlm_select_params *const p = &budget->task->params;
    double wanted = p->k > 0 ? p->k : TVLM_K_DEFAULT;
    if (p->budget.share != 0.0f) wanted = floor(tvlm_budget_count(p->budget.share, budget->tiles));
    if (wanted < 1.0)
        return tvlm_fail(tvlm_stack_log(budget->task->stack), TVLM_ERROR_ARGUMENT,
                         "a share of %g of %d patches is less than one patch", (double)p->budget.share,
                         (int)budget->tiles);
    *n = (int32_t)fmin(wanted, budget->tiles);
    return TVLM_OK;
}

/* ---- Beginning and end ---- */

/* Makes the source and the tree of tiles. `end` is due in any case. */
static tvlm_status begin(const tvlm_task *task, tvlm_budget **made) {
    const int32_t index = task->params.score.index;
    tvlm_budget *const budget = *made = tvlm_allocate(1, sizeof *budget);
    if (budget == NULL)
        return tvlm_fail(tvlm_stack_log(task->stack), TVLM_ERROR_MEMORY, "no memory for a budget");
    budget->task = task;
    budget->patch = (int32_t)task->params.patch;
    TVLM_TRY(tvlm_budget_find_emphasis(task, &budget->emphasis));
    TVLM_TRY(tvlm_stack_make(task->stack, index, TVLM_GRID_BIT(TVLM_GRID_SOURCE)));
    budget->source = tvlm_stack_made(task->stack, index, TVLM_GRID_SOURCE);
    if (!tvlm_budget_tree_make((budget->source->width + budget->patch - 1) / budget->patch,
                               (budget->source->height + budget->patch - 1) / budget->patch, &budget->tree))
        return tvlm_budget_no_memory(budget);
    budget->tiles = budget->tree.columns * budget->tree.rows;
    return TVLM_OK;
}

static void end(tvlm_budget **made) {
    tvlm_budget *const budget = *made;
    if (budget == NULL) return;
    tvlm_budget_tree_free(&budget->tree);
    tvlm_budget_ink_free(&budget->ink);
    free(budget->colours);
    free(budget->reading.detail);
    free(budget->origin);
    free(budget->memory);
    free(budget->values);
    free(budget);
}

/* ---- Positions ---- */

static tvlm_position tile_at(const tvlm_budget *budget, const tvlm_scale *scale, int32_t level,
                             int32_t column, int32_t row, double score) {
    const bool third = level == TVLM_BUDGET_THIRD;
    const int32_t side = third ? 3 * budget->patch : budget->patch << level, x = column * budget->patch,
                  y = row * budget->patch;
    const double right = fmin(x + side, budget->source->width);
    const double below = fmin(y + side, budget->source->height);
    return (tvlm_position){.x = (float)(0.5 * (x + right) * scale->x),
                           .y = (float)(0.5 * (y + below) * scale->y),
                           .level = third ? log2f(3.0f) : (float)level,
                           .score = (float)score,
                           .size = (float)(side * scale->size),
                           .column = -1,
                           .row = -1};
}

/* Places the cells of a thumbnail that are not blank, and lists the others. */
static tvlm_status place_thumbnail(const tvlm_budget *budget, const tvlm_scale *scale, int32_t number,
                                   tvlm_selection *selection) {
    const tvlm_budget_grid *const grid = &budget->grids[number];
    const double wide = (double)budget->source->width / grid->columns;
    const double high = (double)budget->source->height / grid->rows;
    const int32_t all = tvlm_budget_patches(grid);
    int32_t placed = 0;
    uint8_t *const blank = tvlm_allocate((size_t)all, 1);
    if (blank == NULL) return tvlm_budget_no_memory(budget);
    const int32_t kept = budget->cells[number] < all
                             ? tvlm_budget_blank(&budget->ink, grid->columns, grid->rows, blank, NULL)
                             : all;
    if (kept >= 0 && kept < all)
        selection->empty = tvlm_allocate((size_t)(all - kept), sizeof *selection->empty);
    if (kept < 0 || (kept < all && selection->empty == NULL)) {
        free(blank);
        return tvlm_budget_no_memory(budget);
    }
    for (int32_t i = 0; i < all; ++i) {
        const int32_t column = i % grid->columns, row = i / grid->columns;
        if (blank[i]) {
            selection->empty[selection->empty_count++] = (tvlm_cell){column, row};
            continue;
        }
        selection->positions[placed++] =
            (tvlm_position){.x = (float)((column + 0.5) * wide * scale->x),
                            .y = (float)((row + 0.5) * high * scale->y),
                            .level = (float)log2(fmax(wide, high) / budget->patch),
                            .score = 1.0f,
                            .size = (float)(wide * scale->x),
                            .height = (float)(high * scale->y),
                            .column = -1,
                            .row = -1};
    }
    free(blank);
    return TVLM_OK;
}

/* Keeps the places of the tiles with the image, for the next frame's fixation (texturevlm/stream.h). */
static tvlm_status keep_positions(const tvlm_budget *budget, const tvlm_scale *scale, int32_t first,
                                  const tvlm_selection *selection) {
    float *kept;
    const int32_t count = selection->count - first;
    TVLM_TRY(tvlm_stack_keep_positions(budget->task->stack, budget->task->params.score.index, count, &kept));
    for (int32_t i = 0; i < count; ++i) {
        kept[2 * i] = (float)((double)selection->positions[first + i].x / scale->x);
        kept[2 * i + 1] = (float)((double)selection->positions[first + i].y / scale->y);
    }
    return TVLM_OK;
}

/* Where scores are asked for, keeps what the thumbnail of an answer loses of each tile as the scores. Where
 * `answer` is NULL, nothing is lost. */
static tvlm_status keep_scores(const tvlm_budget *budget, const tvlm_budget_answer *answer,
                               tvlm_selection *selection) {
    if (!budget->task->params.keep_scores) return TVLM_OK;
    selection->scores = tvlm_allocate((size_t)budget->tiles, sizeof *selection->scores);
    if (selection->scores == NULL) return tvlm_budget_no_memory(budget);
    selection->score_columns = budget->tree.columns;
    selection->score_rows = budget->tree.rows;
    for (int32_t i = 0; answer != NULL && i < budget->tree.places; ++i)
        if (budget->tree.tile_of[i] >= 0 && answer->whole > 0.0)
            selection->scores[budget->tree.tile_of[i]] = (float)((double)answer->under[i] / answer->whole);
    return TVLM_OK;
}

/* Lists the tiles that equal a chosen tile of level 0 and are not chosen themselves. `chosen` NULL: all tiles
 * that equal no tile before them are chosen. */
static tvlm_status list_duplicates(const tvlm_budget *budget, const uint8_t *chosen,
                                   tvlm_selection *selection) {
    const int32_t columns = budget->tree.columns, *const place_of = budget->tree.place_of;
    if (budget->origin == NULL) return TVLM_OK;
    selection->duplicates = tvlm_allocate((size_t)budget->tiles, sizeof *selection->duplicates);
    if (selection->duplicates == NULL) return tvlm_budget_no_memory(budget);
    for (int32_t i = 0; i < budget->tiles; ++i) {
        const int32_t first = budget->origin[i];
        if (first == i || (chosen != NULL && (chosen[place_of[i]] || !chosen[place_of[first]]))) continue;
        selection->duplicates[selection->duplicate_count++] =
            (tvlm_duplicate){i % columns, i / columns, first % columns, first / columns};
    }
    if (selection->duplicate_count > 0) return TVLM_OK;
    free(selection->duplicates);
    selection->duplicates = NULL;
    return TVLM_OK;
}

/* ---- Nothing is lost ---- */

static bool is_kept(const tvlm_budget *budget, int32_t tile) {
    return budget->origin == NULL || budget->origin[tile] == tile;
}

static int32_t count_kept(const tvlm_budget *budget) {
    int32_t kept = 0;
    for (int32_t i = 0; i < budget->tiles; ++i) kept += is_kept(budget, i);
    return kept;
}

/* Delivers all tiles of level 0, row after row. Where equal tiles are known, only the first of them is
 * delivered. */
static tvlm_status deliver_all(const tvlm_budget *budget, tvlm_selection *selection) {
    const tvlm_scale scale = tvlm_scale_of(budget->task->stack, budget->task->params.score.index);
    const int32_t columns = budget->tree.columns;
    int32_t placed = 0;
    TVLM_TRY(tvlm_selection_reserve(budget->task->stack, count_kept(budget), selection));
    TVLM_TRY(list_duplicates(budget, NULL, selection));
    for (int32_t i = 0; i < budget->tiles; ++i)
        if (is_kept(budget, i))
            selection->positions[placed++] = tile_at(budget, &scale, 0, i % columns, i / columns, 0.0);
    TVLM_TRY(keep_scores(budget, NULL, selection));
    return keep_positions(budget, &scale, 0, selection);
}

/* ---- A thumbnail and tiles ---- */

/* Tile `number` of a nine, counted row after row, three in each. */
static tvlm_position ninth_at(const tvlm_budget *budget, const tvlm_scale *scale, int32_t column, int32_t row,
                              int32_t number, double score) {
    const double side = budget->patch * TVLM_BUDGET_STEP;
    return (tvlm_position){
        .x = (float)((column * budget->patch + (number % 3 + 0.5) * side) * scale->x),
        .y = (float)((row * budget->patch + ((double)(number / 3) + 0.5) * side) * scale->y),
        .level = (float)log2(TVLM_BUDGET_STEP),
        .score = (float)score,
        .size = (float)(side * scale->size),
        .column = -1,
        .row = -1};
}

static void place_tiles(const tvlm_budget *budget, const tvlm_scale *scale, const tvlm_budget_answer *answer,
                        tvlm_position *positions) {
    const double share = answer->whole > 0.0 ? 1.0 / answer->whole : 0.0;
    const tvlm_budget_tile *tile = answer->tiles;
    for (int32_t placed = 0; placed < answer->choice.count; ++tile) {
        const bool nine = tile->level == TVLM_BUDGET_NINE;
        const int32_t column = tile->corner % budget->tree.columns, row = tile->corner / budget->tree.columns;
        for (int32_t i = 0; i < (nine ? TVLM_BUDGET_PATCHES : 1); ++i) {
            tvlm_position *const p = &positions[placed++];
            *p = nine ? ninth_at(budget, scale, column, row, i, tile->gain * share)
                      : tile_at(budget, scale, tile->level, column, row, tile->gain * share);
            p->lost_before = (float)(tile->before * share);
            p->lost_after = (float)(tile->after * share);
        }
    }
}

static tvlm_status deliver(const tvlm_budget *budget, const tvlm_budget_answer *answer,
                           tvlm_selection *selection) {
    const tvlm_scale scale = tvlm_scale_of(budget->task->stack, budget->task->params.score.index);
    const tvlm_budget_grid *const grid = &budget->grids[answer->grid];
    const int32_t cells = budget->cells[answer->grid];
    TVLM_TRY(keep_scores(budget, answer, selection));
    TVLM_TRY(tvlm_selection_reserve(budget->task->stack, cells + answer->choice.count, selection));
    TVLM_TRY(place_thumbnail(budget, &scale, answer->grid, selection));
    place_tiles(budget, &scale, answer, selection->positions + cells);
    selection->info.thumbnail_columns = grid->columns;
    selection->info.thumbnail_rows = grid->rows;
    selection->info.thumbnail_cells = cells;
    selection->info.loss = (float)answer->share;
    selection->info.loss_downsampled = (float)answer->share_downsampled;
    TVLM_TRY(list_duplicates(budget, answer->choice.chosen[0], selection));
    return keep_positions(budget, &scale, cells, selection);
}

/* Finds the answer to n patches, or to a tolerance where n is 0, and delivers it. Where the answer to a
 * tolerance takes as many patches as there are tiles that equal no other, these tiles are delivered without a
 * thumbnail. */
static tvlm_status find(tvlm_budget *budget, tvlm_selection *selection) {
    const tvlm_task *const task = budget->task;
    tvlm_budget_answer answer;
    if (budget->n == 0) TVLM_TRY(tvlm_budget_equal(budget));
    TVLM_TRY(budget->n > 0
                 ? tvlm_budget_solve_in_view(budget, &answer)
                 : tvlm_budget_solve_tolerance(budget, (double)task->params.budget.tolerance, &answer));
    if (budget->n == 0 && count_kept(budget) <= budget->cells[answer.grid] + answer.choice.count) {
        tvlm_budget_answer_free(&answer);
        return deliver_all(budget, selection);
    }
    tvlm_status status = tvlm_budget_itemise(budget, &answer);
    if (status == TVLM_OK) status = deliver(budget, &answer, selection);
    tvlm_budget_answer_free(&answer);
    return status;
}

static tvlm_status choose(tvlm_budget *budget, tvlm_selection *selection) {
    const tvlm_task *const task = budget->task;
    const float tolerance = task->params.budget.tolerance;
    int32_t n = 0;
    if (tolerance == 0.0f) TVLM_TRY(count_patches(budget, &n));
    budget->n = n;
    const bool all = n >= budget->tiles || budget->tiles == 1;
    if (all || tolerance == TVLM_EXPLICIT_ZERO) TVLM_TRY(tvlm_budget_look(task));
    if (tolerance == TVLM_EXPLICIT_ZERO) TVLM_TRY(tvlm_budget_equal(budget));
    if (all || tolerance == TVLM_EXPLICIT_ZERO) return deliver_all(budget, selection);
    TVLM_TRY(tvlm_budget_list_grids(budget));
    TVLM_TRY(tvlm_budget_measure(budget));
    return find(budget, selection);
}

/* ---- Thumbnails that are given ---- */

tvlm_status tvlm_budget_under(const tvlm_task *task, int32_t columns, int32_t rows, float **lost,
                              double *share) {
    tvlm_budget *budget;
    tvlm_status status = begin(task, &budget);
    if (status == TVLM_OK) {
        budget->grids[0] = (tvlm_budget_grid){columns, rows};
        budget->grid_count = 1;
        status = tvlm_budget_measure(budget);
    }
    if (status == TVLM_OK) status = tvlm_budget_weigh_given(budget, lost, share);
    end(&budget);
    return status;
}

tvlm_status tvlm_budget_open(const tvlm_task *task, const tvlm_budget_grid *grids, int32_t count,
                             tvlm_budget **made) {
    TVLM_TRY(begin(task, made));
    memcpy((*made)->grids, grids, (size_t)count * sizeof *grids);
    (*made)->grid_count = (*made)->alone = count;
    TVLM_TRY(tvlm_budget_look_for_ink(*made));
    return tvlm_budget_measure(*made);
}

void tvlm_budget_close(tvlm_budget **made) {
    end(made);
}

/* ---- The strategy ---- */

tvlm_status tvlm_choose_budget(const tvlm_task *task, tvlm_selection *selection) {
    tvlm_budget *budget;
    tvlm_status status = begin(task, &budget);
    if (status == TVLM_OK) status = choose(budget, selection);
    end(&budget);
    return status;
}
