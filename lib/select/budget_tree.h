/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/budget_tree.h: the best n tiles over a picture of the whole image.
 *
 * Tiles are squares of the patch's side times 1, 2 or 4, each of which costs one patch and begins at
 * multiples of its side. Where a tile lies, its loss counts instead of that of what is beneath it: a coarser
 * tile, or the picture.
 */
#ifndef TVLM_SELECT_BUDGET_TREE_H
#define TVLM_SELECT_BUDGET_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The levels of tiles, and how many tiles of level 0 and 1 are in a tile of level 2. */
#define TVLM_BUDGET_TREE_LEVELS 3
#define TVLM_BUDGET_LEAVES      16
#define TVLM_BUDGET_CHILDREN    4

/*
 * Between the levels 0 and 1 there is one more: a root as a *nine*, 3 x 3 tiles of the image at three quarters of
 * its size, which are bought together. It is named where levels are, as the last of the kinds of tiles.
 */
#define TVLM_BUDGET_NINE    TVLM_BUDGET_TREE_LEVELS
#define TVLM_BUDGET_KINDS   (TVLM_BUDGET_NINE + 2)
#define TVLM_BUDGET_PATCHES 9

/*
 * Between the levels 1 and 2 there are *thirds*: tiles of 3 x 3 tiles of level 0, of the image at a third of its size. Two
 * levels do not fit into each other's grid with them: so a *block* of 3 x 3 roots, as far as the image goes, has either
 * thirds or tiles of the kinds before, and tiles of level 0 on either.
 */
#define TVLM_BUDGET_THIRD (TVLM_BUDGET_NINE + 1)

/* A block has so many thirds, and each of them so many tiles of level 0. */
#define TVLM_BUDGET_THIRDS 16
#define TVLM_BUDGET_SPOTS  9

/*
 * The order of tiles: tile i of level 1 in a tile of level 2 (a *root*) is 4 root + i, and tile n of level 0 in tile i of
 * level 1 is *place* n * ones + i: so that sums over four tiles of level 0 are sums of long rows. The order of roots, of
 * tiles of level 1 in one, and of tiles in these is row after row. Some places lie beyond the image.
 *
 * For thirds the tiles of level 0 have a second order: third t of a block is 16 block + t, and tile k of third i is *spot*
 * k * thirds + i, both row after row.
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
    /* What is bought is worked out here, for each kind of tiles beneath (budget_price.c): so two threads share no tree. */
    float *costs;
    int32_t *counts;
} tvlm_budget_tree;

/* False: no memory; tvlm_budget_tree_free is due in any case. */
bool tvlm_budget_tree_make(int32_t columns, int32_t rows, tvlm_budget_tree *tree);
void tvlm_budget_tree_free(tvlm_budget_tree *tree);

/* How many costs, and counts, a tree has room for. */
size_t tvlm_budget_room(const tvlm_budget_tree *tree);

/* More than anything loses. */
#define TVLM_BUDGET_NEVER 1e30f

/* What is lost at each place: [places] each, 0 beyond the image, finite and not negative. A tile of level 0
 * loses nothing. */
typedef struct tvlm_budget_losses {
    const float *under;     /* of the picture of the whole image */
    const float *one, *two; /* of the tiles of level 1, and of level 2 */
    /* Of nines, TVLM_BUDGET_NEVER in roots that can be none. NULL: there are none, nor with one level. */
    const float *nine;
    /* Of thirds, TVLM_BUDGET_NEVER where one is not in the image as a whole; and in the order of spots, [spots], with what
     * `under` is there. NULL, all three: there are none, nor with one level. */
    const float *third, *third_spots, *under_spots;
    int32_t levels; /* how many levels of tiles may be chosen, 1 .. 3 */
} tvlm_budget_losses;

/* A choice of tiles: 1 for each that is chosen. Tiles of level 0 are numbered by their places, of level 2, and nines, by
 * roots, tile i of level 1 in a root is number 4 root + i, and third t of a block is number 16 block + t. `count` is how many patches they are. */
typedef struct tvlm_budget_choice {
    uint8_t *chosen[TVLM_BUDGET_KINDS];
    int32_t count;
} tvlm_budget_choice;

bool tvlm_budget_choice_make(const tvlm_budget_tree *tree, tvlm_budget_choice *choice);
void tvlm_budget_choice_free(tvlm_budget_choice *choice);
/* Takes all tiles back. */
void tvlm_budget_choice_clear(const tvlm_budget_tree *tree, tvlm_budget_choice *choice);

/* How many tiles of a kind there are, some of them beyond the image. */
int32_t tvlm_budget_kind_count(const tvlm_budget_tree *tree, int32_t kind);

/* The upper left tile of level 0 of a tile, row * columns + column; -1: it lies beyond the image. */
int32_t tvlm_budget_corner(const tvlm_budget_tree *tree, int32_t kind, int32_t number);

/* The kind of the finest tile over a place; -1: there is none. */
int32_t tvlm_budget_kind_at(const tvlm_budget_tree *tree, const tvlm_budget_choice *choice, int32_t place);

/*
 * What a choice loses in all. A tile of level 1 or 2 is enlarged together with what is around it, which is
 * coarser: some of what is lost there comes across its sides. For each tile of level 0 in it beside one that
 * is not in such a tile, a share of what that loses is added.
 */
double tvlm_budget_lost(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                        const tvlm_budget_choice *choice);

/* What the square of a tile loses with the coarser tiles of a choice alone, and with that tile. */
void tvlm_budget_square(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                        const tvlm_budget_choice *choice, int32_t level, int32_t number, double *before,
                        double *after);

/* A tile, and what it lowers the loss by; of a nine a ninth of that. */
typedef struct tvlm_budget_tile {
    double gain;
    int32_t level, number;
} tvlm_budget_tile;

/*
 * Chooses at most n tiles of least loss: those that a Lagrangian finds at a price per tile at which hardly
 * fewer than n are chosen (Shoham & Gersho 1988), bottom-up over the tree (a tile's square shows nothing of
 * its own, itself, tiles in it, or itself under tiles in it; Chou, Lookabaugh & Gray 1989).
 * *price is a guess at that price, 0 where there is none, and becomes the price; an image's thumbnails have
 * prices that are alike.
 */
void tvlm_budget_choose(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n,
                        double *price, tvlm_budget_choice *choice);

/* A price at which nothing is bought. */
double tvlm_budget_highest_price(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses);

/* Chooses the tiles that are worth a price: those for which loss and price together are the least. */
void tvlm_budget_buy(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, double price,
                     tvlm_budget_choice *choice);

/*
 * What n tiles lose at least: at any price, the least of loss and price over all choices, less what n tiles pay, is a lower
 * bound (Everett 1963). *price is a guess at the best price for that, and becomes a better one; 0: there is no guess, and
 * the bound is 0. It is not improved any more once it is `enough`.
 */
double tvlm_budget_bound(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n,
                         double enough, double *price);

/* Adds the tiles of the largest gain, one by one, until there are n, at most columns * rows. Of equal ones
 * it takes the finer, and the first in the image. False: no memory. */
bool tvlm_budget_fill(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n,
                      tvlm_budget_choice *choice);

/* Lists the tiles of a choice: at most order[choice->count], of which a nine is one, each next one that of the largest gain beside those
 * before it. False: no memory. */
bool tvlm_budget_order(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses,
                       const tvlm_budget_choice *choice, tvlm_budget_tile *order);

#endif
