/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/budget_tree.h: the best n tiles over a picture of the whole image.
 *
 * A tile of level 0, 1 or 2 is a square of 1, 2 or 4 times the patch's side. It begins at multiples of its
 * side, and costs one patch. Two more kinds of tiles, nines and thirds, are described below. Where a tile
 * lies, its loss counts instead of the loss of what is beneath it, which is a coarser tile or the picture.
 */
#ifndef TVLM_SELECT_BUDGET_TREE_H
#define TVLM_SELECT_BUDGET_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How many levels of tiles there are. Then how many tiles of level 0, and how many of level 1, lie in a tile
 * of level 2. */
#define TVLM_BUDGET_TREE_LEVELS 3
#define TVLM_BUDGET_LEAVES      16
#define TVLM_BUDGET_CHILDREN    4

/*
 * Between the levels 0 and 1 there is one more kind of tile, the *nine*: a square as large as a tile of level
 * 2, which is 3 x 3 patches of the image at three quarters of its size. Its nine patches are bought together.
 * This number stands for a nine wherever a level or kind of tile is named.
 */
#define TVLM_BUDGET_NINE    TVLM_BUDGET_TREE_LEVELS
#define TVLM_BUDGET_KINDS   (TVLM_BUDGET_NINE + 2)
#define TVLM_BUDGET_PATCHES 9

/*
 * Between the levels 1 and 2 there is the *third*: a tile as large as 3 x 3 tiles of level 0, of the image at
 * a third of its size. It costs one patch. The grid of thirds and the grids of levels 1 and 2 do not fit into
 * each other. So each *block* of 3 x 3 tiles of level 2, as far as the image goes, has either thirds, or
 * tiles of levels 1 and 2 and nines. Tiles of level 0 may lie on either.
 */
#define TVLM_BUDGET_THIRD (TVLM_BUDGET_NINE + 1)

/* How many thirds a block has, and how many tiles of level 0 a third has. */
#define TVLM_BUDGET_THIRDS 16
#define TVLM_BUDGET_SPOTS  9

/*
 * How tiles are numbered. A tile of level 2 is a *root*, and `ones` is the number of tiles of level 1.
 * - Roots are numbered row after row.
 * - Tile i of level 1 in a root has the number 4 root + i. The four of a root are counted row after row.
 * - Tile n of level 0 in tile i of level 1 has the number n * ones + i, which is its *place*. The four of a
 *   tile of level 1 are counted row after row. Some places lie beyond the image.
 * The order of places makes sums over four tiles of level 0 sums of four long rows.
 *
 * For thirds, tiles of level 0 have a second order:
 * - Third t of a block has the number 16 block + t. The thirds of a block are counted row after row.
 * - Tile k of level 0 in third i has the number k * thirds + i, which is its *spot*. The nine of a third are
 *   counted row after row.
 */
typedef struct tvlm_budget_tree {
    int32_t columns, rows; /* of tiles of level 0 */
    int32_t root_columns, root_rows, roots, ones, places;
    int32_t block_columns, blocks, thirds, spots;
    int32_t *tile_of;  /* [places] row * columns + column; -1: beyond the image */
    int32_t *place_of; /* [rows * columns] */
    int32_t *spot_of;  /* [places] */
    int32_t *one_of;   /* [places] the tile of level 1 over a place */
    int32_t *third_of; /* [places] the third over a place */
    /* The memory in which budget_price.c works out its sums. Two threads must therefore not share a tree. */
    float *costs;
    int32_t *counts;
} tvlm_budget_tree;

/* How many sums budget_price.c works out for each tile of level 1, and how many for each third. */
enum { TVLM_BUDGET_SUMS_OF_ONES = 6, TVLM_BUDGET_SUMS_OF_THIRDS = 2 };

/* False: no memory; tvlm_budget_tree_free is due in any case. */
bool tvlm_budget_tree_make(int32_t columns, int32_t rows, tvlm_budget_tree *tree);
void tvlm_budget_tree_free(tvlm_budget_tree *tree);

/* More than any tile or picture loses. */
#define TVLM_BUDGET_NEVER 1e30f

/* What is lost at each place: [places] each, 0 beyond the image, finite and not negative. A tile of level 0
 * loses nothing. */
typedef struct tvlm_budget_losses {
    const float *under;     /* of the picture of the whole image */
    const float *one, *two; /* of the tiles of level 1, and of level 2 */
    /* Of nines; TVLM_BUDGET_NEVER in roots that cannot be a nine. NULL: there are no nines. With one level
     * there are none either. */
    const float *nine;
    /* `third` is of thirds; TVLM_BUDGET_NEVER where a third does not lie wholly in the image. `third_spots`
     * and `under_spots`, [spots], are `third` and `under` in the order of spots. All three NULL: there are no
     * thirds. With one level there are none either. */
    const float *third, *third_spots, *under_spots;
    int32_t levels; /* how many levels of tiles may be chosen, 1 .. 3 */
} tvlm_budget_losses;

/*
 * A choice of tiles: chosen[kind][number] is 1 for each tile that is chosen. The number is, of a tile
 * - of level 0: its place,
 * - of level 1: 4 root + i for tile i in a root,
 * - of level 2, and of a nine: its root,
 * - of a third: 16 block + t for third t of a block.
 * The kinds lie one behind the other, from chosen[0] on, in `bytes` bytes. `count` is how many patches the
 * chosen tiles are.
 */
typedef struct tvlm_budget_choice {
    uint8_t *chosen[TVLM_BUDGET_KINDS];
    size_t bytes;
    int32_t count;
} tvlm_budget_choice;

bool tvlm_budget_choice_make(const tvlm_budget_tree *tree, tvlm_budget_choice *choice);
void tvlm_budget_choice_free(tvlm_budget_choice *choice);

/* Empties a choice. */
static inline void tvlm_budget_choice_clear(tvlm_budget_choice *choice) {
    memset(choice->chosen[0], 0, choice->bytes);
    choice->count = 0;
}

/* How many tiles of a kind there are, some of them beyond the image. */
int32_t tvlm_budget_kind_count(const tvlm_budget_tree *tree, int32_t kind);

/* The tile of level 0 in the upper left corner of a tile, as row * columns + column; -1: it lies beyond the
 * image. */
int32_t tvlm_budget_corner(const tvlm_budget_tree *tree, int32_t kind, int32_t number);

/* The kind of the finest chosen tile over a place; -1: there is none. */
int32_t tvlm_budget_kind_at(const tvlm_budget_tree *tree, const tvlm_budget_choice *choice, int32_t place);

/*
 * What a choice loses in all. A tile of any kind but level 0 is enlarged together with its surroundings,
 * which are coarser. So some of what is lost there comes across its sides. Therefore a share of the loss of
 * each tile of level 0 just outside is added, unless that lies in a tile of the same kind.
 */
double tvlm_budget_lost(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                        const tvlm_budget_choice *choice);

/* The share of what a tile of level 0 loses that comes across the side of a tile of a kind beside it. */
double tvlm_budget_across(int32_t kind);

/*
 * A tile of a choice.
 * - `gain` is by how much it lowers the loss once the tiles before it are chosen.
 * - `before` and `after` are what its square loses: with the coarser tiles of the choice alone, and with it.
 * - `corner` is the tile of level 0 in its upper left corner (tvlm_budget_corner).
 * For a nine these losses and gains are a ninth of that.
 */
typedef struct tvlm_budget_tile {
    double gain, before, after;
    int32_t level, number, corner;
} tvlm_budget_tile;

/*
 * Chooses at most n tiles of least loss by a Lagrangian (Shoham & Gersho 1988). Each patch has the same
 * price, and the sum of the loss and all prices is made the least. The price is one at which hardly fewer
 * than n tiles are chosen. For one price the best choice is found bottom-up over the tree (Chou, Lookabaugh &
 * Gray 1989). The square of a tile shows one of these:
 * - nothing of its own,
 * - the tile,
 * - tiles in it,
 * - the tile, and tiles in it on top.
 * *price is a guess at the price, or 0 where there is none, and becomes the price. The price of one thumbnail
 * is a good guess at that of another, since the prices of an image's thumbnails are alike.
 */
void tvlm_budget_choose(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n,
                        double *price, tvlm_budget_choice *choice);

/* A price at which nothing is bought. */
double tvlm_budget_highest_price(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses);

/* Chooses the tiles that are worth a price: those with which the sum of the loss and of their prices is the
 * least. */
void tvlm_budget_buy(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, double price,
                     tvlm_budget_choice *choice);

/*
 * Returns a lower bound of what n tiles lose. At any price, the least sum of loss and prices over all
 * choices, less what n tiles pay, is such a bound (Everett 1963). *price is a guess at the price that gives
 * the best bound, and becomes a better one. 0: there is no guess, and the bound is 0. Once the bound is
 * `enough`, it is not improved any more.
 */
double tvlm_budget_bound(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n,
                         double enough, double *price);

/* Adds tiles to a choice one by one, each time that of the largest gain, until the choice has n patches; n is
 * at most columns * rows. Of tiles of equal gain it takes the one of the lowest kind, which among the tree's
 * is the finest, and of those the first in the image. False: no memory. */
bool tvlm_budget_fill(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n,
                      tvlm_budget_choice *choice);

/* Lists the tiles of a choice in `order`, each time the one of the largest gain beside those before it.
 * `order` has room for choice->count of them; a nine is one entry, so that there may be fewer. False: no
 * memory. */
bool tvlm_budget_order(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                       const tvlm_budget_choice *choice, tvlm_budget_tile *order);

#endif
