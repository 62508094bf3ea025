/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_tree.c: places and losses, and tiles one by one. budget_price.c has the Lagrangian.
 */
#include "select/budget_tree.h"

#include <string.h>

#include "core/memory.h"
#include "select/heap.h"

enum { LEAVES = TVLM_BUDGET_LEAVES, CHILDREN = TVLM_BUDGET_CHILDREN };

/* ---- Places ---- */

/* Where a tile of level 0 stands in its root. */
static int32_t leaf_of(int32_t column, int32_t row) {
    return (row % 2 * 2 + column % 2) * CHILDREN + row / 2 % 2 * 2 + column / 2 % 2;
}

/* The tile of a kind over a place. */
static int32_t tile_over(int32_t place, int32_t kind) {
    if (kind == 0) return place;
    return kind == 1 ? place / LEAVES * CHILDREN + place % CHILDREN : place / LEAVES;
}

int32_t tvlm_budget_first(int32_t level, int32_t number) {
    if (level == 1) return number / CHILDREN * LEAVES + number % CHILDREN;
    return level == 0 ? number : number * LEAVES;
}

/* How many patches a tile is; how many places it has, and how far apart they are. */
static int32_t patches_of(int32_t level) {
    return level == TVLM_BUDGET_NINE ? TVLM_BUDGET_PATCHES : 1;
}
static int32_t size_of(int32_t level) {
    return level == 0 ? 1 : level == 1 ? LEAVES / CHILDREN : LEAVES;
}
static int32_t step_of(int32_t level) {
    return level == 1 ? CHILDREN : 1;
}

/* How many tiles of a level there are. */
static int32_t count_of(const tvlm_budget_tree *tree, int32_t level) {
    return tree->places / size_of(level);
}

bool tvlm_budget_tree_make(int32_t columns, int32_t rows, tvlm_budget_tree *tree) {
    *tree = (tvlm_budget_tree){.columns = columns, .rows = rows, .root_columns = (columns + 3) / 4};
    tree->roots = tree->root_columns * ((rows + 3) / 4);
    tree->places = tree->roots * LEAVES;
    tree->tile_of = tvlm_allocate((size_t)tree->places, sizeof *tree->tile_of);
    tree->place_of = tvlm_allocate((size_t)columns * (size_t)rows, sizeof *tree->place_of);
    if (tree->tile_of == NULL || tree->place_of == NULL) return false;
    for (int32_t i = 0; i < tree->places; ++i) tree->tile_of[i] = -1;
    for (int32_t i = 0; i < columns * rows; ++i) {
        const int32_t column = i % columns, row = i / columns;
        const int32_t place = (row / 4 * tree->root_columns + column / 4) * LEAVES + leaf_of(column, row);
        tree->tile_of[place] = i;
        tree->place_of[i] = place;
    }
    return true;
}

void tvlm_budget_tree_free(tvlm_budget_tree *tree) {
    free(tree->tile_of);
    free(tree->place_of);
    *tree = (tvlm_budget_tree){0};
}

bool tvlm_budget_choice_make(const tvlm_budget_tree *tree, tvlm_budget_choice *choice) {
    const size_t places = (size_t)tree->places;
    uint8_t *const all = tvlm_allocate(places + places / CHILDREN + 2 * (places / LEAVES), 1);
    *choice = (tvlm_budget_choice){{all}, 0};
    if (all == NULL) return false;
    choice->chosen[1] = all + places;
    choice->chosen[2] = choice->chosen[1] + places / CHILDREN;
    choice->chosen[TVLM_BUDGET_NINE] = choice->chosen[2] + places / LEAVES;
    return true;
}

void tvlm_budget_choice_free(tvlm_budget_choice *choice) {
    free(choice->chosen[0]);
    *choice = (tvlm_budget_choice){0};
}

/* ---- What is lost, and what a tile gains ---- */

/* The kinds of tiles, from fine to coarse, and where each stands in that order. */
static const int32_t kinds[TVLM_BUDGET_KINDS] = {0, TVLM_BUDGET_NINE, 1, 2};
static const int32_t rank_of[TVLM_BUDGET_KINDS] = {0, 2, 3, 1};

/* What tiles of a kind lose, which is not level 0. */
static const float *own_of(const tvlm_budget_losses *losses, int32_t kind) {
    return kind == 1 ? losses->one : kind == 2 ? losses->two : losses->nine;
}

/* What a place loses with the tiles of the rank `finest` and coarser. */
static float lost_at(const tvlm_budget_losses *losses, const tvlm_budget_choice *choice, int32_t place,
                     int32_t finest) {
    for (int32_t rank = finest; rank < TVLM_BUDGET_KINDS; ++rank) {
        const int32_t kind = kinds[rank];
        if (choice->chosen[kind][tile_over(place, kind)])
            return kind == 0 ? 0.0f : own_of(losses, kind)[place];
    }
    return losses->under[place];
}

/* Of what a tile beside a tile of level 1 or 2, or a nine, loses, the share that comes across the side. On average it is two
 * thirds of that; with so much the images are rare of which more is lost than was predicted. */
static const double across[TVLM_BUDGET_KINDS] = {0.0, 0.0084, 0.014, 0.0056};

/* How many tiles of level 0 a side of a tile has. */
static int32_t side_of(int32_t level) {
    return level == 1 ? 2 : level == 0 ? 1 : 4;
}

/* What a tile of level 0 beside one of `level` loses of what is beneath that; 0 where it is in one itself. */
static double lost_beside(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                          const tvlm_budget_choice *choice, int32_t level, int32_t column, int32_t row) {
    if (column < 0 || column >= tree->columns || row < 0 || row >= tree->rows) return 0.0;
    const int32_t place = tree->place_of[row * tree->columns + column];
    if (choice->chosen[level][tile_over(place, level)]) return 0.0;
    return (double)lost_at(losses, choice, place, rank_of[level] + 1);
}

/* What comes across the sides of a tile. */
static double lost_around(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                          const tvlm_budget_choice *choice, int32_t level, int32_t number) {
    const int32_t tile = tree->tile_of[tvlm_budget_first(level, number)], side = side_of(level);
    const int32_t column = tile % tree->columns, row = tile / tree->columns;
    double sum = 0.0;
    for (int32_t i = 0; i < side; ++i) {
        if (row + i < tree->rows)
            sum += lost_beside(tree, losses, choice, level, column - 1, row + i) +
                   lost_beside(tree, losses, choice, level, column + side, row + i);
        if (column + i < tree->columns)
            sum += lost_beside(tree, losses, choice, level, column + i, row - 1) +
                   lost_beside(tree, losses, choice, level, column + i, row + side);
    }
    return across[level] * sum;
}

double tvlm_budget_lost(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                        const tvlm_budget_choice *choice) {
    double sum = 0.0;
    for (int32_t i = 0; i < tree->places; ++i) sum += (double)lost_at(losses, choice, i, 0);
    for (int32_t level = 1; level < TVLM_BUDGET_KINDS; ++level)
        for (int32_t i = 0; i < count_of(tree, level); ++i)
            if (choice->chosen[level][i]) sum += lost_around(tree, losses, choice, level, i);
    return sum;
}

/* Whether a place shows a tile that is finer than one of that kind. */
static bool is_covered(const tvlm_budget_choice *choice, int32_t place, int32_t kind) {
    for (int32_t rank = 0; rank < rank_of[kind]; ++rank)
        if (choice->chosen[kinds[rank]][tile_over(place, kinds[rank])]) return true;
    return false;
}

/* What each patch of a tile that is not chosen would lower the loss by. */
static double gain_of(const tvlm_budget_losses *losses, const tvlm_budget_choice *choice, int32_t level,
                      int32_t number) {
    const float *const own = own_of(losses, level);
    int32_t place = tvlm_budget_first(level, number);
    double gain = 0.0;
    for (int32_t i = 0; i < size_of(level); ++i, place += step_of(level))
        if (!is_covered(choice, place, level))
            gain += (double)lost_at(losses, choice, place, rank_of[level] + 1) -
                    (level > 0 ? (double)own[place] : 0.0);
    return gain / patches_of(level);
}

void tvlm_budget_square(const tvlm_budget_losses *losses, const tvlm_budget_choice *choice, int32_t level,
                        int32_t number, double *before, double *after) {
    const float *const own = own_of(losses, level);
    int32_t place = tvlm_budget_first(level, number);
    *before = *after = 0.0;
    for (int32_t i = 0; i < size_of(level); ++i, place += step_of(level)) {
        *before += (double)lost_at(losses, choice, place, rank_of[level] + 1);
        *after += level > 0 ? (double)own[place] : 0.0;
    }
    *before /= patches_of(level);
    *after /= patches_of(level);
}

/* ---- One by one ---- */

/*
 * Tiles that wait to be chosen: the largest gain comes first, of equal ones the finer, and then the first in the
 * image. What a tile gains becomes less as others are chosen, hardly ever more: a gain is computed again when
 * its tile comes up (lazy greedy: Minoux 1978).
 */
typedef struct waiting {
    const tvlm_budget_tree *tree;
    tvlm_budget_tile *tiles;
    tvlm_heap heap; /* indices of `tiles` */
} waiting;

static bool comes_before(const void *user, int32_t one, int32_t other) {
    const waiting *const w = user;
    const tvlm_budget_tile *const a = &w->tiles[one], *const b = &w->tiles[other];
    if (a->gain != b->gain) return a->gain > b->gain;
    if (a->level != b->level) return a->level < b->level;
    return w->tree->tile_of[tvlm_budget_first(a->level, a->number)] <
           w->tree->tile_of[tvlm_budget_first(b->level, b->number)];
}

/* Lets tiles wait that are not in `choice`: those of `among`, or, where that is NULL, all that have a part of
 * the image in them. What it allocates is freed by stop_waiting, also where it fails. */
static bool let_wait(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                     const tvlm_budget_choice *choice, const tvlm_budget_choice *among, waiting *w) {
    const size_t most = (size_t)tree->places + (size_t)tree->places / 2;
    *w = (waiting){tree, tvlm_allocate(most, sizeof *w->tiles), {comes_before, w, NULL, 0}};
    w->heap.items = tvlm_allocate(most, sizeof *w->heap.items);
    if (w->tiles == NULL || w->heap.items == NULL) return false;
    for (int32_t kind = 0; kind < TVLM_BUDGET_KINDS; ++kind) {
        if (kind == TVLM_BUDGET_NINE ? losses->nine == NULL || losses->levels == 1 : kind >= losses->levels)
            continue;
        for (int32_t i = 0; i < count_of(tree, kind); ++i)
            if (!choice->chosen[kind][i] && tree->tile_of[tvlm_budget_first(kind, i)] >= 0 &&
                (among == NULL || among->chosen[kind][i])) {
                const int32_t at = w->heap.count++;
                w->tiles[at] = (tvlm_budget_tile){gain_of(losses, choice, kind, i), kind, i};
                w->heap.items[at] = at;
            }
    }
    tvlm_heap_order_all(&w->heap);
    return true;
}

static void stop_waiting(waiting *w) {
    free(w->tiles);
    free(w->heap.items);
}

/* Chooses tiles that wait until they are `count` patches, and lists them where `order` is not NULL. */
static void take(const tvlm_budget_losses *losses, waiting *w, int32_t count, tvlm_budget_choice *choice,
                 tvlm_budget_tile *order) {
    while (count > 0 && w->heap.count > 0) {
        tvlm_budget_tile *const top = &w->tiles[w->heap.items[0]];
        const double gain = gain_of(losses, choice, top->level, top->number);
        const bool less = gain < top->gain;
        if (patches_of(top->level) > count) {
            tvlm_heap_pop(&w->heap);
            continue;
        }
        top->gain = gain;
        if (less) {
            tvlm_heap_sink_top(&w->heap);
            continue;
        }
        if (order != NULL) *order++ = *top;
        choice->chosen[top->level][top->number] = 1;
        choice->count += patches_of(top->level);
        count -= patches_of(top->level);
        tvlm_heap_pop(&w->heap);
    }
}

bool tvlm_budget_fill(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n,
                      tvlm_budget_choice *choice) {
    waiting w;
    if (choice->count >= n) return true;
    const bool made = let_wait(tree, losses, choice, NULL, &w);
    if (made) take(losses, &w, n - choice->count, choice, NULL);
    stop_waiting(&w);
    return made;
}

bool tvlm_budget_order(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                       const tvlm_budget_choice *choice, tvlm_budget_tile *order) {
    tvlm_budget_choice none;
    waiting w = {0};
    bool made = tvlm_budget_choice_make(tree, &none);
    made = made && let_wait(tree, losses, &none, choice, &w);
    if (made) take(losses, &w, choice->count, &none, order);
    stop_waiting(&w);
    tvlm_budget_choice_free(&none);
    return made;
}
