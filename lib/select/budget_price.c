/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_price.c: which tiles are worth a price, and the price at which the wanted number of tiles is bought.
 */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "select/budget_tree.h"

enum { CHILDREN = TVLM_BUDGET_CHILDREN, THIRDS = TVLM_BUDGET_THIRDS };

/* ---- Tiles of level 0 ---- */

/* For each tile of level 1, or each third: the least sum of loss and prices in its square, and how many tiles
 * are bought for it. */
typedef struct sums {
    float *cost;
    int32_t *tiles;
} sums;

/*
 * The kinds of such sums. In the squares of level 1:
 * - UNDER, TWO, ONE, NINE: tiles of level 0 on the picture, on tiles of level 2, on tiles of level 1, and on
 *   nines;
 * - BEST: the cheaper of UNDER and of ONE, which also pays for its own tile;
 * - OVER: the cheaper of TWO and of ONE, which also pays for its own tile.
 * In the squares of thirds:
 * - THIRD: tiles of level 0 on thirds;
 * - BESIDE: tiles of level 0 on the picture.
 */
enum { UNDER, ONE, TWO, NINE, BEST, OVER, OF_ONES, THIRD = OF_ONES, BESIDE, KINDS };
_Static_assert((int)OF_ONES == (int)TVLM_BUDGET_SUMS_OF_ONES &&
                   KINDS - OF_ONES == (int)TVLM_BUDGET_SUMS_OF_THIRDS,
               "a tree has room for another number of sums");

/* What is bought at one price. `choice` is filled in, unless it is NULL. */
typedef struct purchase {
    const tvlm_budget_tree *tree;
    const tvlm_budget_losses *losses;
    float price;
    tvlm_budget_choice *choice;
    sums of[KINDS];
} purchase;

static purchase begin(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, double price,
                      tvlm_budget_choice *choice) {
    purchase p = {tree, losses, (float)price, choice, {{NULL, NULL}}};
    ptrdiff_t at = 0;
    for (int i = 0; i < KINDS; ++i) {
        p.of[i] = (sums){tree->costs + at, tree->counts + at};
        at += i < OF_ONES ? tree->ones : tree->thirds;
    }
    return p;
}

/* Adds up `rows` rows of `count` tiles of level 0. A tile is chosen where what is lost without it is more
 * than its price. `rows` is a constant in each call, so that compilers can vectorise the loop over
 * columns. */
static inline void add_rows(const float *restrict lost, float price, int rows, int32_t count,
                            float *restrict cost, int32_t *restrict tiles) {
    for (int32_t i = 0; i < count; ++i) {
        float sum = 0.0f;
        int32_t bought = 0;
        for (int row = 0; row < rows; ++row) {
            const float own = lost[(ptrdiff_t)row * count + i];
            sum += own > price ? price : own;
            bought += own > price;
        }
        cost[i] = sum;
        tiles[i] = bought;
    }
}

static void add_ones(const float *lost, float price, int32_t count, const sums *to) {
    add_rows(lost, price, CHILDREN, count, to->cost, to->tiles);
}

static void add_thirds(const float *lost, float price, int32_t count, const sums *to) {
    add_rows(lost, price, TVLM_BUDGET_SPOTS, count, to->cost, to->tiles);
}

/* Finds for each square the cheaper of two ways: without a tile of its own, on what is beneath it, or with
 * its own tile, for which it pays. Where both cost the same, the square gets no tile of its own. The loop has
 * no branch, so that compilers can vectorise it. */
static void cheaper(const sums *beneath, const sums *own, float price, int32_t count, const sums *to) {
    const float *restrict const on = beneath->cost, *restrict const with = own->cost;
    const int32_t *restrict const few = beneath->tiles, *restrict const many = own->tiles;
    float *restrict const cost = to->cost;
    int32_t *restrict const tiles = to->tiles;
    for (int32_t i = 0; i < count; ++i) {
        const float paid = with[i] + price;
        const int32_t itself = -(paid < on[i]); /* all bits, or none */
        tiles[i] = few[i] + ((many[i] + 1 - few[i]) & itself);
        cost[i] = paid < on[i] ? paid : on[i];
    }
}

/* Adds up all tiles of level 0 of the image, on whatever may be beneath them. */
static void add_all(const purchase *p) {
    const tvlm_budget_losses *const losses = p->losses;
    const int32_t ones = p->tree->ones, thirds = p->tree->thirds;
    add_ones(losses->under, p->price, ones, &p->of[UNDER]);
    if (losses->levels > 1) {
        add_ones(losses->one, p->price, ones, &p->of[ONE]);
        cheaper(&p->of[UNDER], &p->of[ONE], p->price, ones, &p->of[BEST]);
    }
    if (losses->levels > 2) {
        add_ones(losses->two, p->price, ones, &p->of[TWO]);
        cheaper(&p->of[TWO], &p->of[ONE], p->price, ones, &p->of[OVER]);
    }
    if (losses->nine != NULL) add_ones(losses->nine, p->price, ones, &p->of[NINE]);
    if (losses->third_spots == NULL) return;
    add_thirds(losses->third_spots, p->price, thirds, &p->of[THIRD]);
    add_thirds(losses->under_spots, p->price, thirds, &p->of[BESIDE]);
}

/* ---- Roots ---- */

/* How many tiles are bought, and what is then lost and paid. */
typedef struct bought {
    int32_t tiles;
    double cost;
} bought;

/* The sum over the four tiles of level 1 of a root. */
static float cost_of(const sums *s, int32_t root) {
    const float *const c = s->cost + (ptrdiff_t)root * CHILDREN;
    return (c[0] + c[1]) + (c[2] + c[3]);
}

static int32_t tiles_of(const sums *s, int32_t root) {
    const int32_t *const t = s->tiles + (ptrdiff_t)root * CHILDREN;
    return t[0] + t[1] + t[2] + t[3];
}

/* Marks the tiles of level 0 that are worth their price in a tile of level 1, where `lost` is what is lost
 * without them. */
static void mark_leaves(const purchase *p, int32_t one, const float *lost) {
    for (int n = 0; n < CHILDREN; ++n) {
        const int32_t place = n * p->tree->ones + one;
        p->choice->chosen[0][place] = lost[place] > p->price;
    }
}

/* Marks the tiles of levels 0 and 1 in a root, on the picture (UNDER) or on the root's own tile (TWO). */
static void mark(const purchase *p, int32_t root, int beneath) {
    const float *const lost = beneath == TWO ? p->losses->two : p->losses->under;
    for (int32_t one = root * CHILDREN; one < (root + 1) * CHILDREN; ++one) {
        const bool itself =
            p->losses->levels > 1 && p->of[ONE].cost[one] + p->price < p->of[beneath].cost[one];
        p->choice->chosen[1][one] = itself;
        mark_leaves(p, one, itself ? p->losses->one : lost);
    }
}

/* Unmarks all tiles of a root but those of level 0. */
static void clear(const purchase *p, int32_t root) {
    memset(p->choice->chosen[1] + (ptrdiff_t)root * CHILDREN, 0, CHILDREN);
    p->choice->chosen[2][root] = p->choice->chosen[TVLM_BUDGET_NINE][root] = 0;
}

/* Marks a nine, and the tiles of level 0 on it. */
static void mark_nine(const purchase *p, int32_t root) {
    clear(p, root);
    p->choice->chosen[TVLM_BUDGET_NINE][root] = 1;
    for (int32_t one = root * CHILDREN; one < (root + 1) * CHILDREN; ++one)
        mark_leaves(p, one, p->losses->nine);
}

static bought buy_root(const purchase *p, int32_t root) {
    const sums *const best = &p->of[p->losses->levels > 1 ? BEST : UNDER];
    bought all = {tiles_of(best, root), (double)cost_of(best, root)};
    bool itself = false, nine = false;
    if (p->losses->levels > 2) {
        const float cost = cost_of(&p->of[OVER], root) + p->price;
        itself = (double)cost < all.cost;
        if (itself) all = (bought){tiles_of(&p->of[OVER], root) + 1, (double)cost};
    }
    if (p->losses->nine != NULL) {
        const double cost = (double)(cost_of(&p->of[NINE], root) + TVLM_BUDGET_PATCHES * p->price);
        nine = cost < all.cost;
        if (nine) all = (bought){tiles_of(&p->of[NINE], root) + TVLM_BUDGET_PATCHES, cost};
    }
    if (p->choice == NULL) return all;
    if (nine) {
        mark_nine(p, root);
    } else {
        clear(p, root);
        p->choice->chosen[2][root] = itself;
        mark(p, root, itself ? TWO : UNDER);
    }
    return all;
}

/* ---- Blocks ---- */

/* The roots of a block: columns x rows of them, from the root `first` on. */
typedef struct roots {
    int32_t first, columns, rows;
} roots;

static roots roots_of(const tvlm_budget_tree *tree, int32_t block) {
    const int32_t column = block % tree->block_columns * 3, row = block / tree->block_columns * 3;
    const int32_t columns = tree->root_columns - column, rows = tree->root_rows - row;
    return (roots){row * tree->root_columns + column, columns < 3 ? columns : 3, rows < 3 ? rows : 3};
}

static bool is_third(const purchase *p, int32_t third) {
    return p->of[THIRD].cost[third] + p->price < p->of[BESIDE].cost[third];
}

/* Marks the tiles of level 0 in a root, on thirds and beside them, in place of the tiles that the root
 * had. */
static void mark_on_thirds(const purchase *p, int32_t root) {
    const int32_t first = root * CHILDREN;
    clear(p, root);
    for (int32_t i = 0; i < TVLM_BUDGET_LEAVES; ++i) {
        const int32_t place = i % CHILDREN * p->tree->ones + first + i / CHILDREN;
        const bool itself = is_third(p, p->tree->third_of[place]);
        p->choice->chosen[0][place] = (itself ? p->losses->third : p->losses->under)[place] > p->price;
    }
}

static void mark_thirds(const purchase *p, int32_t block) {
    const roots r = roots_of(p->tree, block);
    for (int32_t i = block * THIRDS; i < (block + 1) * THIRDS; ++i)
        p->choice->chosen[TVLM_BUDGET_THIRD][i] = is_third(p, i);
    for (int32_t i = 0; i < r.columns * r.rows; ++i)
        mark_on_thirds(p, r.first + i / r.columns * p->tree->root_columns + i % r.columns);
}

/* Buys thirds for a block where that is cheaper than `other`, which is what the block buys otherwise, from
 * the other kinds of tiles. */
static bought buy_thirds(const purchase *p, int32_t block, bought other) {
    const sums *const on = &p->of[THIRD], *const under = &p->of[BESIDE];
    bought all = {0, 0.0};
    for (int32_t i = block * THIRDS; i < (block + 1) * THIRDS; ++i) {
        const bool itself = is_third(p, i);
        all.tiles += itself ? on->tiles[i] + 1 : under->tiles[i];
        all.cost += (double)(itself ? on->cost[i] + p->price : under->cost[i]);
    }
    if (!(all.cost < other.cost)) return other;
    if (p->choice != NULL) mark_thirds(p, block);
    return all;
}

static bought buy_block(const purchase *p, int32_t block) {
    const roots r = roots_of(p->tree, block);
    bought all = {0, 0.0};
    for (int32_t i = 0; i < r.columns * r.rows; ++i) {
        const bought root = buy_root(p, r.first + i / r.columns * p->tree->root_columns + i % r.columns);
        all.tiles += root.tiles;
        all.cost += root.cost;
    }
    if (p->losses->third_spots == NULL || p->losses->levels == 1) return all;
    if (p->choice != NULL)
        memset(p->choice->chosen[TVLM_BUDGET_THIRD] + (ptrdiff_t)block * THIRDS, 0, THIRDS);
    return buy_thirds(p, block, all);
}

static bought buy(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, double price,
                  tvlm_budget_choice *choice) {
    const purchase p = begin(tree, losses, price, choice);
    bought all = {0, 0.0};
    add_all(&p);
    for (int32_t i = 0; i < tree->blocks; ++i) {
        const bought block = buy_block(&p, i);
        all.tiles += block.tiles;
        all.cost += block.cost;
    }
    return all;
}

/* ---- The price ---- */

double tvlm_budget_highest_price(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses) {
    double highest = 0.0;
    for (int32_t root = 0; root < tree->roots; ++root) {
        double sum = 0.0;
        for (int32_t n = 0; n < TVLM_BUDGET_LEAVES; ++n)
            sum += (double)losses->under[n % CHILDREN * tree->ones + root * CHILDREN + n / CHILDREN];
        if (sum > highest) highest = sum; /* GCC 12 for arm64 fails to compile fmax here */
    }
    /* A third lies in up to four roots. */
    return (losses->third_spots != NULL ? 4.0 : 1.0) * highest * (1.0 + 1e-6) + (double)FLT_MIN;
}

/* The most steps of the search. At its end a 256th of the tiles may be missing. The lowest price that is
 * tried is LOWEST times the highest. */
enum { STEPS = 32, MISSING = 256 };
#define LOWEST 1e-9

/* Two prices with no larger ratio are as good as equal: from one to the other the number of tiles changes by
 * hardly more than may be missing. */
#define EQUAL 1.004

/* As long as only one side of the bracket is known, a step goes PAST times as far as is expected to be
 * enough. So the price that is looked for should lie between two tried prices afterwards. A step changes the
 * price by at most a factor of FURTHEST. */
#define PAST     1.02
#define FURTHEST 16.0

/* The number of tiles is taken to fall as a power of the price. The exponent is kept between these two. */
#define FLATTEST -0.25
#define STEEPEST -4.0

/* After so many steps the lowest price is tried, if none bought too many. */
enum { LOWERED = 3 };

/* A price that was tried. `over` is log(tiles bought at it / tiles wanted). */
typedef struct tried {
    double price, over;
} tried;

/* Two prices around the one that is looked for. At `low` more than n tiles are bought, and at `high` no more
 * than n. `many` says that `low` has been tried, and `few` that `high` has. */
typedef struct bracket {
    tried low, high;
    bool many, few;
    double power; /* the exponent with which the number of tiles falls */
} bracket;

/* The price to try next. It would give the wanted number of tiles if that number fell as a power of the
 * price. */
static double next_price(const bracket *b, int step) {
    if (b->many && b->few)
        return b->low.price * pow(b->high.price / b->low.price, b->low.over / (b->low.over - b->high.over));
    if (b->many) {
        const double ratio = exp(b->low.over / -b->power) * PAST;
        return fmin(b->low.price * fmin(ratio, FURTHEST), sqrt(b->low.price * b->high.price));
    }
    const double ratio = exp(b->high.over / -b->power) / PAST;
    return step >= LOWERED ? b->low.price : fmax(b->high.price * fmax(ratio, 1.0 / FURTHEST), b->low.price);
}

/* The exponent with which the number of tiles falls between two prices. Either may be the higher one. */
static double power_between(const tried *a, const tried *b) {
    const double power = (b->over - a->over) / log(b->price / a->price);
    return fmin(fmax(power, STEEPEST), FLATTEST);
}

/* Makes a price one side of the bracket. Where that side was known already, `over` of the other side is
 * halved, so that both sides come near (the Illinois variant of regula falsi: Dowell & Jarratt 1971). */
static void put(bracket *b, tried now, bool *known, tried *side, tried *other) {
    if (*known) {
        b->power = power_between(side, &now);
        other->over *= 0.5;
    }
    *side = now;
    *known = true;
}

/* Tries a price within the bracket, and narrows it. Says whether the search is at its end: at that price few
 * tiles are missing, or the two sides are as good as equal. */
static bool narrow(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n, double price,
                   bracket *b) {
    const int32_t tiles = buy(tree, losses, price, NULL).tiles, missing = n / MISSING;
    const tried now = {price, log((tiles + 0.5) / (n - 0.5 * missing))};
    if (tiles > n)
        put(b, now, &b->many, &b->low, &b->high);
    else
        put(b, now, &b->few, &b->high, &b->low);
    return (tiles <= n && tiles >= n - missing) || b->high.price <= b->low.price * EQUAL;
}

/* A price to begin with where there is no guess. It supposes that n tiles take away half of the loss, each as
 * much as its price. */
static double first_guess(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n) {
    double sum = 0.0;
    for (int32_t i = 0; i < tree->places; ++i) sum += (double)losses->under[i];
    return 0.5 * sum / n;
}

/* Finds a low price at which no more than n tiles are bought. It is found soonest if it is near `guess`. */
static double find_price(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n,
                         double guess) {
    const double highest = tvlm_budget_highest_price(tree, losses), lowest = highest * LOWEST;
    bracket b = {.low = {lowest, 0.0}, .high = {highest, 0.0}, .power = -1.0};
    double price = fmin(fmax(guess > 0.0 ? guess : first_guess(tree, losses, n), lowest), highest);
    for (int step = 0; step < STEPS && !narrow(tree, losses, n, price, &b); ++step)
        price = next_price(&b, step);
    return b.high.price;
}

void tvlm_budget_buy(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, double price,
                     tvlm_budget_choice *choice) {
    tvlm_budget_choice_clear(choice);
    choice->count = buy(tree, losses, price, choice).tiles;
}

void tvlm_budget_choose(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n,
                        double *price, tvlm_budget_choice *choice) {
    if (n <= 0) {
        tvlm_budget_choice_clear(choice);
        return;
    }
    *price = find_price(tree, losses, n, *price);
    tvlm_budget_buy(tree, losses, *price, choice);
}

/* Where a price is too low or too high, the next one that is tried is this many times higher or lower. */
#define AWAY 1.1
enum { BOUNDS = 3 };

/* The relative accuracy of sums of floats. */
#define CERTAIN (1.0 - 1e-4)

double tvlm_budget_bound(const tvlm_budget_tree *tree, const tvlm_budget_losses *losses, int32_t n,
                         double enough, double *price) {
    double bound = 0.0;
    if (*price <= 0.0) return 0.0;
    for (int i = 0; i < BOUNDS; ++i) {
        const bought all = buy(tree, losses, *price, NULL);
        bound = fmax(bound, CERTAIN * (all.cost - (double)(float)*price * n));
        if (bound >= enough) break;
        *price = all.tiles > n ? *price * AWAY : *price / AWAY;
    }
    return bound;
}
