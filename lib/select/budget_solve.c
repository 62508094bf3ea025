/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_solve.c: the best thumbnail and its tiles. Each thumbnail that was measured is tried with the tiles
 * that the other patches pay for.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "select/budget.h"

/* ---- Equal tiles ---- */

/* Adds what equal tiles lose to what the first of them loses, in lost[places]. Where equal tiles are known,
 * one patch of the first tile shows all of them. Where none are known it does nothing. */
static void gather(const tvlm_budget *budget, float *lost) {
    for (int32_t i = 0; budget->origin != NULL && i < budget->tiles; ++i) {
        float *const own = &lost[budget->tree.place_of[i]],
                     *const first = &lost[budget->tree.place_of[budget->origin[i]]];
        if (own == first || *own >= TVLM_BUDGET_NEVER) continue;
        if (*first < TVLM_BUDGET_NEVER) *first += *own;
        *own = 0.0f;
    }
}

/* In a choice, the mark of a tile that is shown without being chosen. */
enum { SHOWN = 2 };

/* With `shown`, lets a choice also show the tiles that equal one of its tiles of level 0, as if they were
 * chosen, too. Without `shown`, takes that back. In neither case are these tiles counted. */
static void show_equal(const tvlm_budget *budget, bool shown, tvlm_budget_choice *choice) {
    uint8_t *const chosen = choice->chosen[0];
    for (int32_t i = 0; budget->origin != NULL && i < budget->tiles; ++i) {
        const int32_t own = budget->tree.place_of[i], first = budget->tree.place_of[budget->origin[i]];
        if (own == first || chosen[own] == 1) continue;
        chosen[own] = shown && chosen[first] ? SHOWN : 0;
    }
}

/* ---- The loss ---- */

void tvlm_budget_weigh_parts(const double whole[TVLM_BUDGET_PARTS], double detail,
                             double weights[TVLM_BUDGET_PARTS]) {
    const double counts[TVLM_BUDGET_PARTS] = {1.0 - detail, detail};
    for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) weights[p] = whole[p] > 0.0 ? counts[p] / whole[p] : 0.0;
}

static double weighed(const double weights[TVLM_BUDGET_PARTS], const double parts[TVLM_BUDGET_PARTS]) {
    double sum = 0.0;
    for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) sum += weights[p] * parts[p];
    return sum;
}

static void weigh_places(const tvlm_budget *budget, int32_t picture, const double weights[TVLM_BUDGET_PARTS],
                         float *out) {
    const tvlm_budget_loss *const loss = &budget->losses[picture];
    const float a = (float)weights[0], b = (float)weights[1];
    for (int32_t i = 0; i < budget->tree.places; ++i) out[i] = a * loss->parts[0][i] + b * loss->parts[1][i];
}

size_t tvlm_budget_floats(const tvlm_budget *budget) {
    return 5 * (size_t)budget->tree.places + 2 * (size_t)budget->tree.spots;
}

/* Copies what is lost at places, in the order of spots. Spots without a place lose nothing. */
static void put_in_spots(const tvlm_budget_tree *tree, const float *lost, float *out) {
    memset(out, 0, (size_t)tree->spots * sizeof *out);
    for (int32_t i = 0; i < tree->places; ++i) out[tree->spot_of[i]] = lost[i];
}

static void weigh_and_gather(const tvlm_budget *budget, int32_t picture,
                             const double weights[TVLM_BUDGET_PARTS], float *out) {
    weigh_places(budget, picture, weights, out);
    gather(budget, out);
}

tvlm_budget_losses tvlm_budget_weigh(const tvlm_budget *budget, int32_t grid,
                                     const double weights[TVLM_BUDGET_PARTS], tvlm_budget_weighed *weighed) {
    const size_t places = (size_t)budget->tree.places;
    const size_t spots = (size_t)budget->tree.spots;
    float *const under = weighed->memory, *const one = under + places, *const two = one + places,
                 *const nine = two + places, *const third = nine + places,
                 *const under_spots = third + places, *const third_spots = under_spots + spots;
    const bool same =
        weighed->grids > 0 && weighed->weights[0] == weights[0] && weighed->weights[1] == weights[1];
    if (!same) {
        weigh_and_gather(budget, TVLM_BUDGET_ONE, weights, one);
        weigh_and_gather(budget, TVLM_BUDGET_TWO, weights, two);
        weigh_and_gather(budget, TVLM_BUDGET_THREE_QUARTERS, weights, nine);
        weigh_and_gather(budget, TVLM_BUDGET_A_THIRD, weights, third);
        put_in_spots(&budget->tree, third, third_spots);
    }
    if (!same || weighed->grids != 1 + grid) {
        weigh_and_gather(budget, TVLM_BUDGET_FIRST + grid, weights, under);
        put_in_spots(&budget->tree, under, under_spots);
    }
    memcpy(weighed->weights, weights, sizeof weighed->weights);
    weighed->grids = 1 + grid;
    return (tvlm_budget_losses){.under = under,
                                .one = one,
                                .two = two,
                                .nine = nine,
                                .third = third,
                                .third_spots = third_spots,
                                .under_spots = under_spots,
                                .levels = TVLM_BUDGET_TREE_LEVELS};
}

/* What a thumbnail with the tiles of a choice loses of one part, tile by tile. */
static double part_lost(const tvlm_budget *budget, int32_t grid, int part, const tvlm_budget_choice *choice) {
    const tvlm_budget_losses losses = {.under = budget->losses[TVLM_BUDGET_FIRST + grid].parts[part],
                                       .one = budget->losses[TVLM_BUDGET_ONE].parts[part],
                                       .two = budget->losses[TVLM_BUDGET_TWO].parts[part],
                                       .nine = budget->losses[TVLM_BUDGET_THREE_QUARTERS].parts[part],
                                       .third = budget->losses[TVLM_BUDGET_A_THIRD].parts[part],
                                       .levels = TVLM_BUDGET_TREE_LEVELS};
    return tvlm_budget_lost(&budget->tree, &losses, choice);
}

/* What a thumbnail loses of detail, with the tiles of a choice, or without any (NULL). It is found over
 * several tiles together (tvlm_budget_unread) where budget->reading is filled in, else tile by tile. */
static double detail_lost(const tvlm_budget *budget, int32_t grid, const tvlm_budget_choice *choice) {
    if (budget->reading.detail != NULL) return tvlm_budget_unread(budget, grid, choice);
    return choice != NULL ? part_lost(budget, grid, TVLM_BUDGET_DETAIL, choice)
                          : budget->losses[TVLM_BUDGET_FIRST + grid].sums[TVLM_BUDGET_DETAIL];
}

/* What a thumbnail alone loses. */
static void find_whole(const tvlm_budget *budget, int32_t grid, double whole[TVLM_BUDGET_PARTS]) {
    whole[TVLM_BUDGET_ERROR] = budget->losses[TVLM_BUDGET_FIRST + grid].sums[TVLM_BUDGET_ERROR];
    whole[TVLM_BUDGET_DETAIL] = detail_lost(budget, grid, NULL);
}

/* The thumbnail of one patch: the picture before those that are tried. */
enum { LEAST_GRID = TVLM_BUDGET_LEAST - TVLM_BUDGET_FIRST };

double tvlm_budget_share_lost(const tvlm_budget *budget, const double parts[TVLM_BUDGET_PARTS]) {
    double weights[TVLM_BUDGET_PARTS], whole[TVLM_BUDGET_PARTS];
    find_whole(budget, LEAST_GRID, whole);
    tvlm_budget_weigh_parts(whole, TVLM_BUDGET_COUNTS, weights);
    return weighed(weights, parts);
}

/* ---- Trying ---- */

/* How much detail counts where tiles are chosen. Each value is tried. There are two limits: an answer may
 * lose no more of either part than downsampling loses. Which limit is the tighter one depends on the
 * image. */
static const double details[] = {0.5, 0.8};
enum { DETAILS = sizeof details / sizeof *details };

/* A search: what has been found, what is being tried, and the memory for that. */
typedef struct search {
    const tvlm_budget *budget;
    tvlm_budget_answer *best, *tried;
    /* [DETAILS]: the losses of what was tried last with each weight of detail. */
    tvlm_budget_weighed *weighed;
    double weights[TVLM_BUDGET_PARTS]; /* by which answers are compared */
    double prices[DETAILS];            /* of a tile, the last that was found with each weight of detail */
    double bound_price; /* the last price of a bound, with the weights by which answers are compared */
    /* The least ratio so far of the loss over tiles together to the bound of the loss tile by tile (TOGETHER,
     * below). 0: no thumbnail was tried. */
    double together;
} search;

static void add_up_error(const search *s, tvlm_budget_answer *answer) {
    answer->parts[TVLM_BUDGET_ERROR] =
        part_lost(s->budget, answer->grid, TVLM_BUDGET_ERROR, &answer->choice) +
        s->budget->filled[answer->grid];
}

static void add_up_detail(const search *s, tvlm_budget_answer *answer) {
    answer->parts[TVLM_BUDGET_DETAIL] = detail_lost(s->budget, answer->grid, &answer->choice);
    answer->lost = weighed(s->weights, answer->parts);
}

/* Adds up both parts. All tiles that equal chosen ones are shown, too. */
static void add_up(const search *s, tvlm_budget_answer *answer) {
    show_equal(s->budget, true, &answer->choice);
    add_up_error(s, answer);
    add_up_detail(s, answer);
    show_equal(s->budget, false, &answer->choice);
}

/* Tries a thumbnail with at most so many tiles, which are chosen by tried->weights. *price is a guess at
 * their price, and becomes the price. Only the squared error is added up. */
static void try_grid(const search *s, int32_t grid, int32_t tiles, tvlm_budget_weighed *weighed,
                     double *price) {
    tvlm_budget_answer *const tried = s->tried;
    const tvlm_budget_losses losses = tvlm_budget_weigh(s->budget, grid, tried->weights, weighed);
    tried->grid = grid;
    tvlm_budget_choose(&s->budget->tree, &losses, tiles, price, &tried->choice);
    add_up_error(s, tried);
}

/* Gives an answer exactly so many tiles. The tiles that it adds are all of level 0. False: no memory. */
static bool fill(const search *s, tvlm_budget_answer *answer, int32_t tiles) {
    tvlm_budget_losses losses = tvlm_budget_weigh(s->budget, answer->grid, answer->weights, s->weighed);
    losses.levels = 1;
    if (!tvlm_budget_fill(&s->budget->tree, &losses, tiles, &answer->choice)) return false;
    add_up(s, answer);
    return true;
}

static void exchange(tvlm_budget_answer *a, tvlm_budget_answer *b) {
    const tvlm_budget_answer kept = *a;
    *a = *b;
    *b = kept;
}

/* ---- A number of patches ---- */

/* Of the thumbnails that get all patches, the one with the least squared error: downsampling at its best. */
static int32_t downsampled(const tvlm_budget *budget) {
    const tvlm_budget_loss *const losses = budget->losses + TVLM_BUDGET_FIRST;
    int32_t best = 0;
    for (int32_t i = 1; i < budget->alone; ++i)
        if (losses[i].sums[TVLM_BUDGET_ERROR] < losses[best].sums[TVLM_BUDGET_ERROR]) best = i;
    return best;
}

/* The share of what downsampling loses of each part that an answer may lose. The squared error has a margin,
 * since it is predicted right to about a hundredth. */
static const double allowed[TVLM_BUDGET_PARTS] = {[TVLM_BUDGET_ERROR] = 0.99, [TVLM_BUDGET_DETAIL] = 1.0};

static bool is_allowed(const tvlm_budget_answer *answer, const double down[TVLM_BUDGET_PARTS], int part) {
    return answer->parts[part] <= allowed[part] * down[part];
}

/*
 * The loss can be taken tile by tile, or over several tiles together (budget_read.c).
 * - Tile by tile it has a lower bound before the tiles are known (tvlm_budget_bound).
 * - Answers are compared by the loss over tiles together.
 * - The loss tile by tile is at most TOGETHER times the loss over tiles together.
 * - The ratio of together to tile by tile depends on the image. For a new thumbnail it is taken to be at
 *   least ALIKE times the least ratio among the image's thumbnails that were tried before.
 */
#define TOGETHER 1.25
#define ALIKE    0.95

/* Whether no tiles can make a thumbnail better than the best answer. *bound becomes the lower bound of the
 * loss tile by tile. */
static bool is_hopeless(search *s, int32_t grid, int32_t tiles, double *bound) {
    /* It uses the memory of the last weight of detail, which is as a rule the weight by which answers are
     * compared. */
    const tvlm_budget_losses losses =
        tvlm_budget_weigh(s->budget, grid, s->weights, &s->weighed[DETAILS - 1]);
    const double together = fmax(1.0 / TOGETHER, s->together > 0.0 ? ALIKE * s->together : 0.0);
    const double enough = s->best->lost / together;
    *bound = tvlm_budget_bound(&s->budget->tree, &losses, tiles, enough, &s->bound_price);
    return *bound >= enough;
}

/* The loss of detail is weighed as a share of what downsampling loses of it. Where downsampling leaves nearly
 * all detail legible, it is weighed as a share of LITTLE times what a thumbnail of one patch loses. */
#define LITTLE 0.02

static void weigh_beside(const search *s, const double *down, double detail, double *weights) {
    const double least = LITTLE * s->budget->losses[TVLM_BUDGET_LEAST].sums[TVLM_BUDGET_DETAIL];
    const double whole[TVLM_BUDGET_PARTS] = {down[TVLM_BUDGET_ERROR], fmax(down[TVLM_BUDGET_DETAIL], least)};
    tvlm_budget_weigh_parts(whole, detail, weights);
}

/* Tries one weight of detail. Returns what is lost, or INFINITY where more of a part is lost than is
 * allowed. */
static double try_detail(search *s, int32_t grid, int32_t tiles, const double *down, size_t detail) {
    weigh_beside(s, down, details[detail], s->tried->weights);
    try_grid(s, grid, tiles, &s->weighed[detail], &s->prices[detail]);
    /* If the squared error is too large already, detail is not looked at, which would take longer. */
    if (!is_allowed(s->tried, down, TVLM_BUDGET_ERROR)) return INFINITY;
    add_up_detail(s, s->tried);
    if (!is_allowed(s->tried, down, TVLM_BUDGET_DETAIL)) return INFINITY;
    const double lost = s->tried->lost;
    if (lost < s->best->lost) exchange(s->tried, s->best);
    return lost;
}

static void try_all(search *s, int32_t grid, int32_t tiles, const double *down) {
    double bound, least = INFINITY;
    if (tiles < 0 || is_hopeless(s, grid, tiles, &bound)) return;
    for (size_t i = 0; i < DETAILS; ++i) least = fmin(least, try_detail(s, grid, tiles, down, i));
    if (bound > 0.0 && least < INFINITY && (s->together == 0.0 || least < s->together * bound))
        s->together = least / bound;
    /* For the first thumbnail there is no guess at the price of the bound. The last price is one, since its
     * weights are similar. */
    if (s->bound_price == 0.0) s->bound_price = s->prices[DETAILS / 2];
}

/* Downsampling itself is the first answer; patches that its grid leaves over become tiles of level 0. */
static bool solve(search *s, int32_t n) {
    const tvlm_budget *const budget = s->budget;
    const int32_t first = downsampled(budget);
    double down[TVLM_BUDGET_PARTS];
    find_whole(budget, first, down);
    weigh_beside(s, down, TVLM_BUDGET_COUNTS, s->weights);
    s->best->grid = first;
    memcpy(s->best->weights, s->weights, sizeof s->weights);
    if (!fill(s, s->best, n - budget->cells[first])) return false;
    /* Thumbnails that leave many patches to tiles come first: their answers rule out most of those that get
     * all patches. */
    for (int32_t i = 0; i < budget->grid_count; ++i) {
        const int32_t grid = (budget->alone + i) % budget->grid_count;
        try_all(s, grid, n - budget->cells[grid], down);
    }
    memcpy(s->best->downsampled, down, sizeof s->best->downsampled);
    return fill(s, s->best, n - budget->cells[s->best->grid]);
}

/* ---- A tolerance ---- */

/*
 * A larger tolerance must never cost more patches. These rules see to that:
 * - The prices that are tried are the same for all tolerances. There are PRICES of them, each the one before
 *   divided by STEP.
 * - At a lower price there are no fewer tiles.
 * - The price is found by bisection. For two tolerances it tries the same prices as long as both allow, or
 *   both refuse, what is bought. So it never ends at a lower price for the larger tolerance.
 * - Between two prices tiles of level 0 are added one by one, in an order that does not depend on the
 *   tolerance either.
 */
#define STEP 1.01
enum { PRICES = 2048 };

/* What one thumbnail and its tiles lose, and the highest price. */
typedef struct ladder {
    tvlm_budget_losses losses;
    double top;
} ladder;

/* Buys at the price with the number `price`, and then adds tiles until there are `tiles`. False: no
 * memory. */
static bool buy_at(const search *s, const ladder *l, int32_t price, int32_t tiles) {
    tvlm_budget_losses fine = l->losses;
    fine.levels = 1;
    tvlm_budget_buy(&s->budget->tree, &l->losses, l->top * pow(STEP, -price), &s->tried->choice);
    if (!tvlm_budget_fill(&s->budget->tree, &fine, tiles, &s->tried->choice)) return false;
    add_up(s, s->tried);
    return true;
}

/* Finds the number of the highest price at which no more than `tolerance` is lost; PRICES: there is none.
 * False: no memory. */
static bool find_highest(const search *s, const ladder *l, double tolerance, int32_t *price) {
    int32_t low = 0, high = PRICES;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (!buy_at(s, l, middle, 0)) return false;
        if (s->tried->lost <= tolerance)
            high = middle;
        else
            low = middle + 1;
    }
    *price = low;
    return true;
}

/* Finds the fewest tiles with which a thumbnail loses no more than `tolerance`. *found says whether there are
 * such tiles, fewer than `most`. If so, s->tried has them. False: no memory. */
static bool find_tiles(const search *s, int32_t grid, double tolerance, int32_t most, bool *found) {
    ladder l = {tvlm_budget_weigh(s->budget, grid, s->tried->weights, s->weighed), 0.0};
    int32_t price, low = 0, high;
    l.top = tvlm_budget_highest_price(&s->budget->tree, &l.losses);
    s->tried->grid = grid;
    *found = false;
    if (!find_highest(s, &l, tolerance, &price)) return false;
    if (price == PRICES) return true;
    if (!buy_at(s, &l, price, 0)) return false;
    high = s->tried->choice.count;
    *found = high < most;
    if (price == 0) return true;
    if (!buy_at(s, &l, price - 1, 0)) return false;
    low = s->tried->choice.count;
    if (low >= most) return true;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (!buy_at(s, &l, price - 1, middle)) return false;
        if (s->tried->lost <= tolerance)
            high = middle;
        else
            low = middle + 1;
    }
    if (!buy_at(s, &l, price - 1, low)) return false;
    /* At the price itself, the same number of tiles may be other tiles. */
    if (s->tried->lost > tolerance && !buy_at(s, &l, price, 0)) return false;
    *found = s->tried->choice.count < most;
    return true;
}

static bool solve_tolerance(search *s, double tolerance) {
    const tvlm_budget *const budget = s->budget;
    int32_t patches = INT32_MAX;
    double whole[TVLM_BUDGET_PARTS];
    find_whole(budget, LEAST_GRID, whole);
    tvlm_budget_weigh_parts(whole, TVLM_BUDGET_COUNTS, s->weights);
    memcpy(s->tried->weights, s->weights, sizeof s->weights);
    memcpy(s->best->weights, s->weights, sizeof s->weights);
    s->best->choice.count = budget->tiles;
    for (int32_t i = 0; i < budget->grid_count; ++i) {
        bool found;
        if (budget->cells[i] >= patches) continue;
        if (!find_tiles(s, i, tolerance, patches - budget->cells[i], &found)) return false;
        if (!found) continue;
        patches = budget->cells[i] + s->tried->choice.count;
        exchange(s->tried, s->best);
        memcpy(s->tried->weights, s->weights, sizeof s->weights);
    }
    return true;
}

/* ---- budget.h ---- */

/* Makes the memory that a search needs. Then solves for n patches, or for a tolerance where n is 0. */
static tvlm_status with_memory(const tvlm_budget *budget, int32_t n, double tolerance,
                               tvlm_budget_answer *answer) {
    tvlm_budget_answer tried = {0};
    tvlm_budget_weighed weighed[DETAILS] = {{NULL, {0.0}, 0}};
    search s = {.budget = budget, .best = answer, .tried = &tried, .weighed = weighed};
    const size_t floats = tvlm_budget_floats(budget);
    float *const memory = tvlm_allocate(DETAILS * floats, sizeof *memory);
    *answer = (tvlm_budget_answer){0};
    for (size_t i = 0; memory != NULL && i < DETAILS; ++i) weighed[i].memory = memory + i * floats;
    bool made = memory != NULL && tvlm_budget_choice_make(&budget->tree, &tried.choice) &&
                tvlm_budget_choice_make(&budget->tree, &answer->choice);
    if (made) made = n > 0 ? solve(&s, n) : solve_tolerance(&s, tolerance);
    tvlm_budget_answer_free(&tried);
    free(memory);
    if (made) return TVLM_OK;
    tvlm_budget_answer_free(answer);
    return tvlm_budget_no_memory(budget);
}

tvlm_status tvlm_budget_solve(const tvlm_budget *budget, int32_t n, tvlm_budget_answer *answer) {
    return with_memory(budget, n, 0.0, answer);
}

tvlm_status tvlm_budget_solve_tolerance(const tvlm_budget *budget, double tolerance,
                                        tvlm_budget_answer *answer) {
    return with_memory(budget, 0, tolerance, answer);
}

/* ---- What is handed out ---- */

/* Lists the tiles of an answer. `memory` has room for the losses that they are chosen by. */
static bool list_tiles(const tvlm_budget *budget, tvlm_budget_answer *answer, float *memory) {
    tvlm_budget_weighed weighed = {.memory = memory};
    const tvlm_budget_losses losses = tvlm_budget_weigh(budget, answer->grid, answer->weights, &weighed);
    return tvlm_budget_order(&budget->tree, &losses, &answer->choice, answer->tiles);
}

tvlm_status tvlm_budget_itemise(const tvlm_budget *budget, tvlm_budget_answer *answer) {
    const size_t places = (size_t)budget->tree.places;
    float *const memory = tvlm_allocate(tvlm_budget_floats(budget), sizeof *memory);
    answer->under = tvlm_allocate(places, sizeof *answer->under);
    answer->tiles = tvlm_allocate((size_t)answer->choice.count, sizeof *answer->tiles);
    bool made = memory != NULL && answer->under != NULL && answer->tiles != NULL;
    if (made) {
        weigh_places(budget, TVLM_BUDGET_FIRST + answer->grid, answer->weights, answer->under);
        answer->whole = 0.0;
        for (size_t i = 0; i < places; ++i) answer->whole += (double)answer->under[i];
        answer->share = tvlm_budget_share_lost(budget, answer->parts);
        answer->share_downsampled = tvlm_budget_share_lost(budget, answer->downsampled);
        made = list_tiles(budget, answer, memory);
    }
    free(memory);
    return made ? TVLM_OK : tvlm_budget_no_memory(budget);
}

tvlm_status tvlm_budget_weigh_given(const tvlm_budget *budget, float **lost, double *share) {
    double weights[TVLM_BUDGET_PARTS], whole = 0.0;
    const tvlm_budget_loss *const loss = &budget->losses[TVLM_BUDGET_FIRST];
    tvlm_budget_weigh_parts(loss->sums, TVLM_BUDGET_COUNTS, weights);
    for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) whole += weights[p] * loss->sums[p];
    *share = tvlm_budget_share_lost(budget, loss->sums);
    *lost = tvlm_allocate((size_t)budget->tiles, sizeof **lost);
    if (*lost == NULL) return tvlm_budget_no_memory(budget);
    for (int32_t i = 0; whole > 0.0 && i < budget->tiles; ++i) {
        const int32_t place = budget->tree.place_of[i];
        double sum = 0.0;
        for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) sum += weights[p] * (double)loss->parts[p][place];
        (*lost)[i] = (float)(sum / whole);
    }
    return TVLM_OK;
}
