/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_tree.c: places and losses, and tiles one by one. budget_price.c has the Lagrangian.
 */
#include "select/budget_tree.h"

#include "core/memory.h"
#include "select/heap.h"

enum { LEAVES = TVLM_BUDGET_LEAVES, CHILDREN = TVLM_BUDGET_CHILDREN };

/* ---- Places ---- */

/* The tile of a kind over a place. */
static int32_t tile_over(const tvlm_budget_tree *tree, int32_t place, int32_t kind) {
    if (kind == 0) return place;
    if (kind == TVLM_BUDGET_THIRD) return tree->third_of[place];
    return kind == 1 ? tree->one_of[place] : tree->one_of[place] / CHILDREN;
}

/* How many tiles of level 0 lie along a side of a tile, and how many patches a tile is. */
static int32_t side_of(int32_t kind) {
    return kind == 0 ? 1 : kind == 1 ? 2 : kind == TVLM_BUDGET_THIRD ? 3 : 4;
}
static int32_t patches_of(int32_t kind) {
    return kind == TVLM_BUDGET_NINE ? TVLM_BUDGET_PATCHES : 1;
}

/* How many places a tile has. */
static int32_t size_of(int32_t kind) {
    return side_of(kind) * side_of(kind);
}

int32_t tvlm_budget_kind_count(const tvlm_budget_tree *tree, int32_t kind) {
    return kind == TVLM_BUDGET_THIRD ? tree->thirds : tree->places / size_of(kind);
}

int32_t tvlm_budget_corner(const tvlm_budget_tree *tree, int32_t kind, int32_t number) {
    if (kind == 0) return tree->tile_of[number];
    if (kind == 1) return tree->tile_of[number];
    if (kind != TVLM_BUDGET_THIRD) return tree->tile_of[number * CHILDREN];
    const int32_t block = number / TVLM_BUDGET_THIRDS, third = number % TVLM_BUDGET_THIRDS;
    const int32_t column = (block % tree->block_columns * 4 + third % 4) * 3;
    const int32_t row = (block / tree->block_columns * 4 + third / 4) * 3;
    return column < tree->columns && row < tree->rows ? row * tree->columns + column : -1;
}

/* Place i of a tile. In a third, which must lie in the image, places are counted row after row. In tiles of
 * the other kinds the places of one tile of level 1 come after those of the other. */
static int32_t place_in(const tvlm_budget_tree *tree, int32_t kind, int32_t number, int32_t i) {
    if (kind == 0) return number;
    if (kind == 1) return number + i * tree->ones;
    if (kind != TVLM_BUDGET_THIRD) return number * CHILDREN + i / CHILDREN + i % CHILDREN * tree->ones;
    return tree->place_of[tvlm_budget_corner(tree, kind, number) + i / 3 * tree->columns + i % 3];
}

/* Whether a tile can be chosen. Some of it must lie in the image; a third must lie in it wholly. */
static bool is_there(const tvlm_budget_tree *tree, int32_t kind, int32_t number) {
    const int32_t corner = tvlm_budget_corner(tree, kind, number);
    if (corner < 0 || kind != TVLM_BUDGET_THIRD) return corner >= 0;
    return corner % tree->columns + 3 <= tree->columns && corner / tree->columns + 3 <= tree->rows;
}

/* Where a tile of level 0 stands, in the image or beyond it. */
static void place_tile(tvlm_budget_tree *tree, int32_t column, int32_t row) {
    const int32_t root = row / 4 * tree->root_columns + column / 4;
    const int32_t one = root * CHILDREN + row / 2 % 2 * 2 + column / 2 % 2;
    const int32_t place = (row % 2 * 2 + column % 2) * tree->ones + one;
    const int32_t block = row / 12 * tree->block_columns + column / 12;
    const int32_t third = block * TVLM_BUDGET_THIRDS + row % 12 / 3 * 4 + column % 12 / 3;
    tree->one_of[place] = one;
    tree->third_of[place] = third;
    tree->spot_of[place] = (row % 3 * 3 + column % 3) * tree->thirds + third;
    tree->tile_of[place] = column < tree->columns && row < tree->rows ? row * tree->columns + column : -1;
    if (tree->tile_of[place] >= 0) tree->place_of[tree->tile_of[place]] = place;
}

/* Makes the arrays; false: no memory. */
static bool make_room(tvlm_budget_tree *tree) {
    const size_t places = (size_t)tree->places;
    const size_t room =
        TVLM_BUDGET_SUMS_OF_ONES * (size_t)tree->ones + TVLM_BUDGET_SUMS_OF_THIRDS * (size_t)tree->thirds;
    tree->tile_of = tvlm_allocate(places, sizeof *tree->tile_of);
    tree->place_of = tvlm_allocate((size_t)tree->columns * (size_t)tree->rows, sizeof *tree->place_of);
    tree->spot_of = tvlm_allocate(places, sizeof *tree->spot_of);
    tree->one_of = tvlm_allocate(places, sizeof *tree->one_of);
    tree->third_of = tvlm_allocate(places, sizeof *tree->third_of);
    tree->costs = tvlm_allocate(room, sizeof *tree->costs);
    tree->counts = tvlm_allocate(room, sizeof *tree->counts);
    return tree->tile_of != NULL && tree->place_of != NULL && tree->spot_of != NULL && tree->one_of != NULL &&
           tree->third_of != NULL && tree->costs != NULL && tree->counts != NULL;
}

bool tvlm_budget_tree_make(int32_t columns, int32_t rows, tvlm_budget_tree *tree) {
    *tree = (tvlm_budget_tree){.columns = columns,
                               .rows = rows,
                               .root_columns = (columns + 3) / 4,
                               .root_rows = (rows + 3) / 4,
                               .block_columns = (columns + 11) / 12};
    tree->roots = tree->root_columns * tree->root_rows;
    tree->ones = tree->roots * CHILDREN;
    tree->places = tree->roots * LEAVES;
    tree->blocks = tree->block_columns * ((rows + 11) / 12);
    tree->thirds = tree->blocks * TVLM_BUDGET_THIRDS;
    tree->spots = tree->thirds * TVLM_BUDGET_SPOTS;
    if (!make_room(tree)) return false;
    for (int32_t row = 0; row < 4 * tree->root_rows; ++row)
        for (int32_t column = 0; column < 4 * tree->root_columns; ++column) place_tile(tree, column, row);
    return true;
}

void tvlm_budget_tree_free(tvlm_budget_tree *tree) {
    free(tree->tile_of);
    free(tree->place_of);
    free(tree->spot_of);
    free(tree->one_of);
    free(tree->third_of);
    free(tree->costs);
    free(tree->counts);
    *tree = (tvlm_budget_tree){0};
}

static size_t choice_bytes(const tvlm_budget_tree *tree) {
    size_t bytes = 0;
    for (int32_t kind = 0; kind < TVLM_BUDGET_KINDS; ++kind)
        bytes += (size_t)tvlm_budget_kind_count(tree, kind);
    return bytes;
}

bool tvlm_budget_choice_make(const tvlm_budget_tree *tree, tvlm_budget_choice *choice) {
    const size_t bytes = choice_bytes(tree);
    *choice = (tvlm_budget_choice){.chosen = {tvlm_allocate(bytes, 1)}, .bytes = bytes};
    if (choice->chosen[0] == NULL) return false;
    for (int32_t kind = 1; kind < TVLM_BUDGET_KINDS; ++kind)
        choice->chosen[kind] = choice->chosen[kind - 1] + tvlm_budget_kind_count(tree, kind - 1);
    return true;
}

void tvlm_budget_choice_free(tvlm_budget_choice *choice) {
    free(choice->chosen[0]);
    *choice = (tvlm_budget_choice){0};
}

/* ---- What is lost, and what a tile gains ---- */

/* The kinds of tiles, from fine to coarse, and where each stands in that order. */
static const int32_t kinds[TVLM_BUDGET_KINDS] = {0, TVLM_BUDGET_NINE, 1, TVLM_BUDGET_THIRD, 2};
static const int32_t rank_of[TVLM_BUDGET_KINDS] = {0, 2, 4, 1, 3};

int32_t tvlm_budget_kind_at(const tvlm_budget_tree *tree, const tvlm_budget_choice *choice, int32_t place) {
    for (int32_t rank = 0; rank < TVLM_BUDGET_KINDS; ++rank)
        if (choice->chosen[kinds[rank]][tile_over(tree, place, kinds[rank])]) return kinds[rank];
    return -1;
}

/* What tiles of a kind other than level 0 lose. */
static const float *own_of(const tvlm_budget_losses *losses, int32_t kind) {
    return kind == 1                   ? losses->one
           : kind == 2                 ? losses->two
           : kind == TVLM_BUDGET_THIRD ? losses->third
                                       : losses->nine;
}

/* What a place loses with the tiles of the rank `finest` and coarser. */
static float lost_at(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                     const tvlm_budget_choice *choice, int32_t place, int32_t finest) {
    for (int32_t rank = finest; rank < TVLM_BUDGET_KINDS; ++rank) {
        const int32_t kind = kinds[rank];
        if (choice->chosen[kind][tile_over(tree, place, kind)])
            return kind == 0 ? 0.0f : own_of(losses, kind)[place];
    }
    return losses->under[place];
}

/* For each kind of tile: the share of what a tile of level 0 beside it loses that comes across its side. On
 * average the share is two thirds of these values. They are larger than that so that few images lose more
 * than was predicted. */
static const double across[TVLM_BUDGET_KINDS] = {0.0, 0.0084, 0.014, 0.0056, 0.011};

double tvlm_budget_across(int32_t kind) {
    return across[kind];
}

/* What a tile of level 0 beside a tile of kind `level` loses, if only the tiles coarser than that kind are
 * shown. It is 0 where the tile of level 0 lies in a tile of that kind itself, or beyond the image. */
static double lost_beside(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                          const tvlm_budget_choice *choice, int32_t level, int32_t column, int32_t row) {
    if (column < 0 || column >= tree->columns || row < 0 || row >= tree->rows) return 0.0;
    const int32_t place = tree->place_of[row * tree->columns + column];
    if (choice->chosen[level][tile_over(tree, place, level)]) return 0.0;
    return (double)lost_at(tree, losses, choice, place, rank_of[level] + 1);
}

/* What comes across the sides of a tile. */
static double lost_around(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                          const tvlm_budget_choice *choice, int32_t level, int32_t number) {
    const int32_t tile = tvlm_budget_corner(tree, level, number), side = side_of(level);
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
    for (int32_t i = 0; i < tree->places; ++i) sum += (double)lost_at(tree, losses, choice, i, 0);
    for (int32_t level = 1; level < TVLM_BUDGET_KINDS; ++level)
        for (int32_t i = 0; i < tvlm_budget_kind_count(tree, level); ++i)
            if (choice->chosen[level][i]) sum += lost_around(tree, losses, choice, level, i);
    return sum;
}

/* Whether a place shows a tile that is finer than one of that kind. */
static bool is_covered(const tvlm_budget_tree *tree, const tvlm_budget_choice *choice, int32_t place,
                       int32_t kind) {
    for (int32_t rank = 0; rank < rank_of[kind]; ++rank)
        if (choice->chosen[kinds[rank]][tile_over(tree, place, kinds[rank])]) return true;
    return false;
}

/* By how much each patch of a tile that is not chosen would lower the loss. */
static double gain_of(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                      const tvlm_budget_choice *choice, int32_t level, int32_t number) {
    const float *const own = own_of(losses, level);
    double gain = 0.0;
    for (int32_t i = 0; i < size_of(level); ++i) {
        const int32_t place = place_in(tree, level, number, i);
        if (!is_covered(tree, choice, place, level))
            gain += (double)lost_at(tree, losses, choice, place, rank_of[level] + 1) -
                    (level > 0 ? (double)own[place] : 0.0);
    }
    return gain / patches_of(level);
}

/* Fills in where a tile of a choice lies, and what its square loses. */
static void describe(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                     const tvlm_budget_choice *choice, tvlm_budget_tile *tile) {
    const int32_t level = tile->level;
    const float *const own = own_of(losses, level);
    tile->corner = tvlm_budget_corner(tree, level, tile->number);
    tile->before = tile->after = 0.0;
    for (int32_t i = 0; i < size_of(level); ++i) {
        const int32_t place = place_in(tree, level, tile->number, i);
        tile->before += (double)lost_at(tree, losses, choice, place, rank_of[level] + 1);
        tile->after += level > 0 ? (double)own[place] : 0.0;
    }
    tile->before /= patches_of(level);
    tile->after /= patches_of(level);
}

/* ---- One by one ---- */

/*
 * Tiles that wait to be chosen. The one of the largest gain comes first; of equal gains the finer tile, and
 * then the first in the image. What a tile gains becomes less as others are chosen, and hardly ever more. So
 * a gain is computed again only when its tile comes up (lazy greedy: Minoux 1978).
 */
typedef struct candidate {
    double gain; /* of each of its patches */
    int32_t level, number;
} candidate;

typedef struct waiting {
    const tvlm_budget_tree *tree;
    candidate *tiles;
    tvlm_heap heap; /* indices of `tiles` */
} waiting;

static bool comes_before(const void *user, int32_t one, int32_t other) {
    const waiting *const w = user;
    const candidate *const a = &w->tiles[one], *const b = &w->tiles[other];
    if (a->gain != b->gain) return a->gain > b->gain;
    if (a->level != b->level) return a->level < b->level;
    return tvlm_budget_corner(w->tree, a->level, a->number) <
           tvlm_budget_corner(w->tree, b->level, b->number);
}

/* Whether there are tiles of a kind. */
static bool is_known(const tvlm_budget_losses *losses, int32_t kind) {
    if (kind < TVLM_BUDGET_TREE_LEVELS) return kind < losses->levels;
    return losses->levels > 1 && own_of(losses, kind) != NULL;
}

/* Lets tiles wait that are not in `choice`: those of `among`, or, where that is NULL, all that can be chosen.
 * stop_waiting frees what it allocates, and is due also where it fails. */
static bool let_wait(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                     const tvlm_budget_choice *choice, const tvlm_budget_choice *among, waiting *w) {
    const size_t most = choice_bytes(tree);
    *w = (waiting){tree, tvlm_allocate(most, sizeof *w->tiles), {comes_before, w, NULL, 0}};
    w->heap.items = tvlm_allocate(most, sizeof *w->heap.items);
    if (w->tiles == NULL || w->heap.items == NULL) return false;
    for (int32_t kind = 0; kind < TVLM_BUDGET_KINDS; ++kind) {
        if (!is_known(losses, kind)) continue;
        for (int32_t i = 0; i < tvlm_budget_kind_count(tree, kind); ++i)
            if (!choice->chosen[kind][i] && is_there(tree, kind, i) &&
                (among == NULL || among->chosen[kind][i])) {
                const int32_t at = w->heap.count++;
                w->tiles[at] = (candidate){gain_of(tree, losses, choice, kind, i), kind, i};
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

/* Chooses waiting tiles until the choice has `count` patches, and lists them in `order` unless that is NULL.
 * Returns how many tiles it chose. */
static int32_t take(const tvlm_budget_losses *losses, waiting *w, int32_t count, tvlm_budget_choice *choice,
                    tvlm_budget_tile *order) {
    int32_t taken = 0;
    while (count > 0 && w->heap.count > 0) {
        candidate *const top = &w->tiles[w->heap.items[0]];
        const double gain = gain_of(w->tree, losses, choice, top->level, top->number);
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
        if (order != NULL)
            order[taken] = (tvlm_budget_tile){.gain = gain, .level = top->level, .number = top->number};
        ++taken;
        choice->chosen[top->level][top->number] = 1;
        choice->count += patches_of(top->level);
        count -= patches_of(top->level);
        tvlm_heap_pop(&w->heap);
    }
    return taken;
}

bool tvlm_budget_fill(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n,
                      tvlm_budget_choice *choice) {
    waiting w;
    if (choice->count >= n) return true;
    const bool made = let_wait(tree, losses, choice, NULL, &w);
    if (made) (void)take(losses, &w, n - choice->count, choice, NULL);
    stop_waiting(&w);
    return made;
}

bool tvlm_budget_order(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                       const tvlm_budget_choice *choice, tvlm_budget_tile *order) {
    tvlm_budget_choice none;
    waiting w = {0};
    bool made = tvlm_budget_choice_make(tree, &none);
    made = made && let_wait(tree, losses, &none, choice, &w);
    const int32_t count = made ? take(losses, &w, choice->count, &none, order) : 0;
    for (int32_t i = 0; i < count; ++i) describe(tree, losses, choice, &order[i]);
    stop_waiting(&w);
    tvlm_budget_choice_free(&none);
    return made;
}
