/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve.c: the dynamic programme over intervals. walk.c reads the choice out of it.
 */
#include "clip/solver.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

size_t tvlm_clip_losses_floats(const clip_losses *losses) {
    size_t floats;
    if (!tvlm_multiply((size_t)losses->kinds * clip_intervals(losses->slots), (size_t)losses->tree->places,
                       &floats))
        return SIZE_MAX;
    return floats;
}

/* ---- Memory ---- */

/* The kinds whose tokens are as large as a square of a level. */
static const int32_t first_own[CLIP_LEVELS] = {CLIP_TILE, CLIP_TWO, CLIP_FOUR};
static const int32_t own_count[CLIP_LEVELS] = {1, 1, 2};

static bool make_level(const clip_losses *losses, int32_t level, clip_level *l) {
    const size_t intervals = clip_intervals(losses->slots);
    l->nodes = losses->tree->places >> 2 * level;
    l->first = first_own[level];
    l->own = own_count[level];
    l->kinds = losses->kinds - l->first;
    l->slots = losses->slots;
    l->bought = tvlm_allocate(intervals, (size_t)l->nodes * sizeof *l->bought);
    if (level == 0) {
        l->held = losses->lost;
        return l->bought != NULL;
    }
    l->memory = tvlm_allocate(intervals * (size_t)l->kinds, (size_t)l->nodes * sizeof *l->memory);
    l->held = l->memory;
    return l->bought != NULL && l->held != NULL;
}

clip_solver *tvlm_clip_solver_make(const clip_losses *losses) {
    clip_solver *const solver = tvlm_allocate(1, sizeof *solver);
    if (solver == NULL) return NULL;
    solver->losses = losses;
    bool made = true;
    for (int32_t i = 0; i < CLIP_LEVELS; ++i) made = make_level(losses, i, &solver->levels[i]) && made;
    solver->row = tvlm_allocate((size_t)losses->slots * (size_t)losses->tree->places, sizeof *solver->row);
    solver->sums = tvlm_allocate(clip_intervals(losses->slots) * CLIP_THUMBNAILS_MAX, sizeof *solver->sums);
    solver->least = tvlm_allocate((size_t)losses->slots + 1, sizeof *solver->least);
    solver->before = tvlm_allocate((size_t)losses->slots + 1, sizeof *solver->before);
    if (made && solver->row != NULL && solver->sums != NULL && solver->least != NULL &&
        solver->before != NULL)
        return solver;
    tvlm_clip_solver_free(solver);
    return NULL;
}

void tvlm_clip_solver_free(clip_solver *solver) {
    if (solver == NULL) return;
    for (int32_t i = 0; i < CLIP_LEVELS; ++i) {
        free(solver->levels[i].memory);
        free(solver->levels[i].bought);
    }
    free(solver->row);
    free(solver->sums);
    free(solver->least);
    free(solver->before);
    free(solver);
}

void tvlm_clip_choice_free(clip_choice *choice) {
    free(choice->tokens);
    *choice = (clip_choice){0};
}

/* ---- One level ---- */

/* to = min(to, a + b), for each node. */
static void lower(int32_t nodes, const float *restrict a, const float *restrict b, float *restrict to) {
    for (int32_t n = 0; n < nodes; ++n) {
        const float sum = a[n] + b[n];
        to[n] = sum < to[n] ? sum : to[n];
    }
}

/* The row becomes, for each length, the least of what a token of the level's own size loses from `slot` on, and its
 * price. */
static void price_own(const clip_level *l, int32_t slot, int32_t longest, const float prices[2], float *row) {
    for (int32_t length = 1; length <= longest; ++length)
        for (int32_t n = 0; n < l->nodes; ++n) {
            float least = clip_held(l, l->first, slot, length)[n] + prices[0];
            if (l->own > 1) {
                const float other = clip_held(l, l->first + 1, slot, length)[n] + prices[1];
                if (other < least) least = other;
            }
            row[(size_t)(length - 1) * (size_t)l->nodes + (size_t)n] = least;
        }
}

/* Fills in `bought`, from the last slot to the first. */
static void buy(const clip_level *l, const float prices[2], float *row) {
    for (int32_t slot = l->slots - 1; slot >= 0; --slot) {
        const int32_t longest = l->slots - slot;
        price_own(l, slot, longest, prices, row);
        for (int32_t length = 1; length <= longest; ++length) {
            float *const to = clip_bought(l, slot, length);
            memcpy(to, row + (size_t)(length - 1) * (size_t)l->nodes, (size_t)l->nodes * sizeof *to);
            for (int32_t first = 1; first < length; ++first)
                lower(l->nodes, row + (size_t)(first - 1) * (size_t)l->nodes,
                      clip_bought(l, slot + first, length - first), to);
        }
    }
}

/* The row becomes the least cost of an interval under a coarser token of a kind: V of solve.h. */
static void hold(const clip_level *l, int32_t kind, int32_t slot, int32_t length, float *row) {
    const float *const none = clip_held(l, kind, slot, length), *const all = clip_bought(l, slot, length);
    for (int32_t n = 0; n < l->nodes; ++n) row[n] = none[n] <= all[n] ? none[n] : all[n];
    for (int32_t first = 1; first < length; ++first)
        lower(l->nodes, clip_held(l, kind, slot, first), clip_bought(l, slot + first, length - first), row);
}

/* Adds up the four children of each node of the level above. Tiles of level 0 lie in four long rows, and those of level 1
 * in fours (budget_tree.h). */
static void add_children(int32_t level, int32_t nodes, const float *row, float *to) {
    for (int32_t n = 0; n < nodes; ++n)
        to[n] = level == 0 ? row[n] + row[nodes + n] + row[2 * nodes + n] + row[3 * nodes + n]
                           : row[4 * n] + row[4 * n + 1] + row[4 * n + 2] + row[4 * n + 3];
}

static double sum_of(int32_t count, const float *values) {
    double sum = 0.0;
    for (int32_t i = 0; i < count; ++i) sum += (double)values[i];
    return sum;
}

/* Works out a level, and what the next one holds: above the last level, the sums of thumbnails. */
static void solve_level(clip_solver *solver, int32_t level, double price) {
    const clip_level *const l = &solver->levels[level];
    const float prices[2] = {(float)price, (float)(TVLM_BUDGET_PATCHES * price)};
    buy(l, prices, solver->row);
    for (int32_t kind = l->first + l->own; kind < l->first + l->kinds; ++kind)
        for (int32_t slot = 0; slot < clip_slots_of(solver->losses, kind); ++slot)
            for (int32_t length = 1; length <= l->slots - slot; ++length) {
                hold(l, kind, slot, length, solver->row);
                if (level + 1 < CLIP_LEVELS)
                    add_children(level, l->nodes / 4, solver->row,
                                 clip_held(&solver->levels[level + 1], kind, slot, length));
                else
                    *clip_sum(solver, kind, slot, length) = sum_of(l->nodes, solver->row);
            }
}

/* ---- Thumbnails ---- */

/* The best row of thumbnails: least[b] is the least cost of the slots before b, and before[b] the last thumbnail there. */
static void solve_thumbnails(clip_solver *solver, double price) {
    const clip_losses *const losses = solver->losses;
    solver->least[0] = 0.0;
    for (int32_t end = 1; end <= losses->slots; ++end) {
        solver->least[end] = INFINITY;
        for (int32_t slot = 0; slot < end; ++slot)
            for (int32_t kind = CLIP_THUMBNAIL; kind < losses->kinds; ++kind) {
                if (slot >= clip_slots_of(losses, kind)) continue;
                const double cost = solver->least[slot] + price * clip_tokens_of(losses, kind) +
                                    *clip_sum(solver, kind, slot, end - slot);
                if (!(cost < solver->least[end])) continue;
                solver->least[end] = cost;
                solver->before[end] = (clip_token){slot, end, kind, 0};
            }
    }
}

bool tvlm_clip_solve(clip_solver *solver, double price, clip_choice *choice) {
    for (int32_t i = 0; i < CLIP_LEVELS; ++i) solve_level(solver, i, price);
    solve_thumbnails(solver, price);
    return tvlm_clip_walk(solver, price, choice);
}

/* ---- A budget, or a tolerance ---- */

/* How near to the budget the search for a price ends, how near the prices of a tolerance come, and after how many prices
 * either ends at the latest. */
#define ENOUGH 0.995
#define NEAR   1.001
enum { TRIES = 24 };

/* The lowest price, as a share of the highest. */
#define LOWEST 1e-9

/* A price at which nothing but what must be is bought: more than all that can be lost. */
static double highest(const clip_solver *solver) {
    const clip_losses *const losses = solver->losses;
    double sum = 1.0;
    for (int32_t kind = CLIP_THUMBNAIL; kind < losses->kinds; ++kind)
        for (int32_t place = 0; place < losses->tree->places; ++place) {
            const float lost = clip_lost(losses, kind, 0, losses->slots)[place];
            if (lost < TVLM_BUDGET_NEVER) sum += (double)lost;
        }
    return sum;
}

double tvlm_clip_lowest_price(const clip_solver *solver) {
    return LOWEST * highest(solver);
}

/* The search for a price. Below `low` too much is bought, and above `high` no more than needed. 0 and INFINITY: not known.
 * No price below `lowest` is tried. */
typedef struct prices {
    double low, high, next, factor, lowest;
} prices;

static prices begin_search(const clip_solver *solver, double guess) {
    const double most = highest(solver);
    return (prices){0.0, INFINITY, guess > 0.0 ? guess : 1e-6 * most, guess > 0.0 ? 1.25 : 16.0,
                    LOWEST * most};
}

/* Takes the next price, by bisection once there are bounds, and in growing steps until then. */
static void narrow(prices *p, bool dear) {
    *(dear ? &p->high : &p->low) = p->next;
    if (p->low > 0.0 && p->high < INFINITY) {
        p->next = sqrt(p->low * p->high);
        return;
    }
    p->next = fmax(dear ? p->next / p->factor : p->next * p->factor, p->lowest);
    p->factor = fmin(p->factor * p->factor, 1e6);
}

/* Whether another price is worth a try. */
static bool goes_on(const prices *p) {
    return !(p->high < NEAR * p->low) && p->high > p->lowest;
}

static void exchange(clip_choice *a, clip_choice *b) {
    const clip_choice other = *a;
    *a = *b;
    *b = other;
}

bool tvlm_clip_solve_budget(clip_solver *solver, int32_t most, double *price, clip_choice *choice) {
    clip_choice tried = {0};
    prices p = begin_search(solver, *price);
    bool solved = tvlm_clip_solve(solver, highest(solver), choice); /* the cheapest there is */
    for (int32_t i = 0; i < TRIES && solved && goes_on(&p) && choice->spent < ENOUGH * most; ++i) {
        if (!(solved = tvlm_clip_solve(solver, p.next, &tried))) break;
        const bool dear = tried.spent <= most;
        if (dear && tried.spent > choice->spent) exchange(&tried, choice);
        narrow(&p, dear);
    }
    *price = p.high < INFINITY ? p.high : p.next;
    tvlm_clip_choice_free(&tried);
    return solved;
}

bool tvlm_clip_solve_tolerance(clip_solver *solver, double most, double *price, clip_choice *choice) {
    clip_choice tried = {0};
    prices p = begin_search(solver, *price);
    bool solved = tvlm_clip_solve(solver, p.lowest, choice); /* what loses least of all */
    for (int32_t i = 0; i < TRIES && solved && goes_on(&p); ++i) {
        if (!(solved = tvlm_clip_solve(solver, p.next, &tried))) break;
        const bool cheap = tried.lost <= most;
        if (cheap && tried.spent <= choice->spent) {
            *price = p.next;
            exchange(&tried, choice);
        }
        narrow(&p, !cheap);
    }
    tvlm_clip_choice_free(&tried);
    return solved;
}
