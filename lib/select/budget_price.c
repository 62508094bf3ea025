/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_price.c: which tiles are worth a price, and the price at which they are as many as wanted.
 */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "select/budget_tree.h"

enum { LEAVES = TVLM_BUDGET_LEAVES, CHILDREN = TVLM_BUDGET_CHILDREN };

/* The least of loss and price of each of a root's four tiles of level 1, and how many tiles that has. */
typedef struct costs {
    float sums[CHILDREN];
    int32_t tiles[CHILDREN];
} costs;

/* Adds tiles of level 0 on that loss, `count` of them in turn to each of so many sums: each is chosen where what is lost is more
 * than its price. */
static inline void add_leaves(const float *lost, float price, int count, int sum_count, float *sums,
                              int32_t *tiles) {
    for (int n = 0; n < count; n += sum_count)
        for (int i = 0; i < sum_count; ++i) {
            sums[i] += lost[n + i] > price ? price : lost[n + i];
            tiles[i] += lost[n + i] > price;
        }
}

static costs leaves(const float *lost, float price) {
    costs c = {{0.0f}, {0}};
    add_leaves(lost, price, LEAVES, CHILDREN, c.sums, c.tiles);
    return c;
}

/* Each of the four either on what is beneath it, or with its own tile, which must be cheaper. */
static costs cheaper(const costs *beneath, const costs *own, float price) {
    costs c;
    for (int i = 0; i < CHILDREN; ++i) {
        const bool itself = own->sums[i] + price < beneath->sums[i];
        c.sums[i] = itself ? own->sums[i] + price : beneath->sums[i];
        c.tiles[i] = itself ? own->tiles[i] + 1 : beneath->tiles[i];
    }
    return c;
}

static float sum_of(const costs *c) {
    return (c->sums[0] + c->sums[1]) + (c->sums[2] + c->sums[3]);
}

static int32_t tiles_of(const costs *c) {
    return c->tiles[0] + c->tiles[1] + c->tiles[2] + c->tiles[3];
}

/* What is bought at one price; `choice` is filled in, where it is not NULL. */
typedef struct purchase {
    const tvlm_budget_tree *tree;
    const tvlm_budget_losses *losses;
    float price;
    tvlm_budget_choice *choice;
} purchase;

/* Marks the tiles of a root on that loss. */
static void mark(const purchase *p, int32_t root, const float *beneath_all, const costs *beneath,
                 const costs *own) {
    const int32_t first = root * LEAVES;
    for (int i = 0; i < CHILDREN; ++i) {
        const bool itself = p->losses->levels > 1 && own->sums[i] + p->price < beneath->sums[i];
        const float *const lost = itself ? p->losses->one : beneath_all;
        p->choice->chosen[1][root * CHILDREN + i] = itself;
        for (int32_t place = first + i; place < first + LEAVES; place += CHILDREN)
            p->choice->chosen[0][place] = lost[place] > p->price;
    }
}

/* How many tiles are bought, and what is then lost and paid. */
typedef struct bought {
    int32_t tiles;
    double cost;
} bought;

/* Marks a nine, and the tiles of level 0 on it. */
static void mark_nine(const purchase *p, int32_t root) {
    memset(p->choice->chosen[1] + (ptrdiff_t)root * CHILDREN, 0, CHILDREN);
    p->choice->chosen[2][root] = 0;
    for (int32_t place = root * LEAVES; place < (root + 1) * LEAVES; ++place)
        p->choice->chosen[0][place] = p->losses->nine[place] > p->price;
}

static bought buy_root(const purchase *p, int32_t root) {
    const tvlm_budget_losses *const losses = p->losses;
    const int32_t first = root * LEAVES;
    const costs under = leaves(losses->under + first, p->price);
    costs one = {{0.0f}, {0}}, two = {{0.0f}, {0}}, best = under;
    bool itself = false, nine = false;
    if (losses->levels > 1) {
        one = leaves(losses->one + first, p->price);
        best = cheaper(&under, &one, p->price);
    }
    if (losses->levels > 2) {
        two = leaves(losses->two + first, p->price);
        const costs over = cheaper(&two, &one, p->price);
        itself = sum_of(&over) + p->price < sum_of(&best);
        if (itself) best = over;
    }
    bought all = {tiles_of(&best) + itself, (double)(sum_of(&best) + (itself ? p->price : 0.0f))};
    if (losses->nine != NULL) {
        const costs on = leaves(losses->nine + first, p->price);
        const double cost = (double)(sum_of(&on) + TVLM_BUDGET_PATCHES * p->price);
        nine = cost < all.cost;
        if (nine) all = (bought){tiles_of(&on) + TVLM_BUDGET_PATCHES, cost};
    }
    if (p->choice != NULL) {
        p->choice->chosen[TVLM_BUDGET_NINE][root] = nine;
        p->choice->chosen[2][root] = itself;
        if (nine)
            mark_nine(p, root);
        else
            mark(p, root, itself ? losses->two : losses->under, itself ? &two : &under, &one);
    }
    return all;
}

/* ---- Blocks ---- */

/* The least of loss and price of each of a block's thirds, and how many tiles that has. */
typedef struct spots {
    float sums[TVLM_BUDGET_THIRDS];
    int32_t tiles[TVLM_BUDGET_THIRDS];
} spots;

static spots leaves_of_thirds(const float *lost, float price) {
    spots s = {{0.0f}, {0}};
    add_leaves(lost, price, TVLM_BUDGET_SPOTS, TVLM_BUDGET_THIRDS, s.sums, s.tiles);
    return s;
}

/* The roots of a block: of so many columns and rows of them, from the first on. */
typedef struct roots {
    int32_t first, columns, rows;
} roots;

static roots roots_of(const tvlm_budget_tree *tree, int32_t block) {
    const int32_t column = block % tree->block_columns * 3, row = block / tree->block_columns * 3;
    const int32_t columns = tree->root_columns - column, rows = tree->root_rows - row;
    return (roots){row * tree->root_columns + column, columns < 3 ? columns : 3, rows < 3 ? rows : 3};
}

/* Marks thirds, and the tiles of level 0 on them and beside them, in place of what a root had. */
static void mark_thirds(const purchase *p, int32_t root, const uint8_t *thirds) {
    const tvlm_budget_losses *const losses = p->losses;
    memset(p->choice->chosen[1] + (ptrdiff_t)root * CHILDREN, 0, CHILDREN);
    p->choice->chosen[2][root] = p->choice->chosen[TVLM_BUDGET_NINE][root] = 0;
    for (int32_t place = root * LEAVES; place < (root + 1) * LEAVES; ++place) {
        const bool itself = thirds[p->tree->spot_of[place] % TVLM_BUDGET_THIRDS];
        p->choice->chosen[0][place] = (itself ? losses->third : losses->under)[place] > p->price;
    }
}

/* Buys thirds in place of `other`, which is what a block has of the other tiles, where that is cheaper. */
static bought buy_thirds(const purchase *p, int32_t block, bought other) {
    const ptrdiff_t first = (ptrdiff_t)block * TVLM_BUDGET_SPOTS;
    const spots under = leaves_of_thirds(p->losses->under_spots + first, p->price);
    const spots on = leaves_of_thirds(p->losses->third_spots + first, p->price);
    uint8_t thirds[TVLM_BUDGET_THIRDS];
    bought all = {0, 0.0};
    for (int i = 0; i < TVLM_BUDGET_THIRDS; ++i) {
        thirds[i] = on.sums[i] + p->price < under.sums[i];
        all.tiles += thirds[i] ? on.tiles[i] + 1 : under.tiles[i];
        all.cost += (double)(thirds[i] ? on.sums[i] + p->price : under.sums[i]);
    }
    const bool cheaper = all.cost < other.cost;
    if (p->choice != NULL) {
        uint8_t *const chosen = p->choice->chosen[TVLM_BUDGET_THIRD] + (ptrdiff_t)block * TVLM_BUDGET_THIRDS;
        const roots r = roots_of(p->tree, block);
        for (int i = 0; i < TVLM_BUDGET_THIRDS; ++i) chosen[i] = cheaper && thirds[i];
        for (int32_t i = 0; cheaper && i < r.columns * r.rows; ++i)
            mark_thirds(p, r.first + i / r.columns * p->tree->root_columns + i % r.columns, thirds);
    }
    return cheaper ? all : other;
}

static bought buy_block(const purchase *p, int32_t block) {
    const roots r = roots_of(p->tree, block);
    bought all = {0, 0.0};
    for (int32_t i = 0; i < r.columns * r.rows; ++i) {
        const bought root = buy_root(p, r.first + i / r.columns * p->tree->root_columns + i % r.columns);
        all.tiles += root.tiles;
        all.cost += root.cost;
    }
    return p->losses->third_spots != NULL && p->losses->levels > 1 ? buy_thirds(p, block, all) : all;
}

static bought buy(const purchase *p) {
    bought all = {0, 0.0};
    for (int32_t i = 0; i < p->tree->blocks; ++i) {
        const bought block = buy_block(p, i);
        all.tiles += block.tiles;
        all.cost += block.cost;
    }
    return all;
}

/* ---- The price ---- */

double tvlm_budget_highest_price(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses) {
    double highest = 0.0;
    for (int32_t i = 0; i < tree->places; i += LEAVES) {
        double sum = 0.0;
        for (int32_t n = 0; n < LEAVES; ++n) sum += (double)losses->under[i + n];
        highest = fmax(highest, sum);
    }
    /* A third lies in up to four roots. */
    return (losses->third_spots != NULL ? 4.0 : 1.0) * highest * (1.0 + 1e-6) + (double)FLT_MIN;
}

/* The most steps of the search; how many tiles may be missing: a 256th; the lowest price that is tried, of the
 * highest; and prices that are as good as equal. */
enum { STEPS = 32, MISSING = 256 };
#define LOWEST 1e-9
#define EQUAL  1.0005

/* How far from a guess the price is looked for first; and from which ratio on tiles fall with the price in nearly a
 * straight line. */
#define NEAR     1.25
#define STRAIGHT 2.0

/* Two prices: at `low` more than n tiles are bought, which is known once `many` is not 0; at `high` no more. */
typedef struct bracket {
    double low, high;
    int32_t many, few; /* how many there */
} bracket;

/* The price to try next. The search halves the ratio of the prices, and, once they are near, every other time
 * goes to where the straight line between them has the number that is wanted. */
static double between(const bracket *b, int32_t n, int step) {
    const double wanted = n - 0.5 * (n / MISSING);
    if (step % 2 == 1 || b->high > STRAIGHT * b->low) return sqrt(b->low * b->high);
    return b->low + (b->high - b->low) * (b->many - wanted) / (b->many - b->few);
}

static int32_t buy_at(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, double price) {
    const purchase p = {tree, losses, (float)price, NULL};
    return buy(&p).tiles;
}

/* Narrows the bracket by a price within it. Says whether that is as low as it need be. */
static bool narrow(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n, double price,
                   bracket *b) {
    const int32_t tiles = buy_at(tree, losses, price);
    if (tiles > n) {
        b->low = price;
        b->many = tiles;
        return b->high <= b->low * EQUAL;
    }
    b->high = price;
    b->few = tiles;
    return tiles >= n - n / MISSING || b->high <= b->low * EQUAL;
}

/* Looks at a guess, and beside it where the price must then be. */
static bool narrow_by_guess(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n,
                            double guess, bracket *b) {
    if (!(guess > b->low && guess < b->high)) return false;
    if (narrow(tree, losses, n, guess, b)) return true;
    const double next = b->high == guess ? guess / NEAR : guess * NEAR;
    return next > b->low && next < b->high && narrow(tree, losses, n, next, b);
}

/* Finds a low price at which no more than n tiles are bought. It is found soonest where it is near `guess`. */
static double find_price(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n,
                         double guess) {
    bracket b = {.high = tvlm_budget_highest_price(tree, losses)};
    b.low = b.high * LOWEST;
    if (narrow_by_guess(tree, losses, n, guess, &b)) return b.high;
    if (b.many == 0) {
        b.many = buy_at(tree, losses, b.low);
        if (b.many <= n) return b.low;
    }
    for (int step = 0; step < STEPS; ++step)
        if (narrow(tree, losses, n, between(&b, n, step), &b)) break;
    return b.high;
}

void tvlm_budget_buy(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, double price,
                     tvlm_budget_choice *choice) {
    const purchase p = {tree, losses, (float)price, choice};
    tvlm_budget_choice_clear(tree, choice);
    choice->count = buy(&p).tiles;
}

void tvlm_budget_choose(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n,
                        double *price, tvlm_budget_choice *choice) {
    if (n <= 0) {
        tvlm_budget_choice_clear(tree, choice);
        return;
    }
    *price = find_price(tree, losses, n, *price);
    tvlm_budget_buy(tree, losses, *price, choice);
}

/* By what a price is too low or too high, the next one is tried that much away. */
#define AWAY 1.1
enum { BOUNDS = 3 };

bool tvlm_budget_cannot(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n,
                        double lost, double *price) {
    /* Sums of floats are right to about that. */
    const double certain = lost * (1.0 + 1e-4);
    if (*price <= 0.0) return false;
    for (int i = 0; i < BOUNDS; ++i) {
        const purchase p = {tree, losses, (float)*price, NULL};
        const bought all = buy(&p);
        if (all.cost - (double)p.price * n >= certain) return true;
        *price = all.tiles > n ? *price * AWAY : *price / AWAY;
    }
    return false;
}
