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
    solver->own = tvlm_allocate(clip_intervals(losses->slots), CLIP_LANES * sizeof *solver->own);
    solver->held = tvlm_allocate((size_t)losses->slots, CLIP_LANES * sizeof *solver->held);
    solver->sums = tvlm_allocate(clip_intervals(losses->slots) * CLIP_THUMBNAILS_MAX, sizeof *solver->sums);
    solver->least = tvlm_allocate((size_t)losses->slots + 1, sizeof *solver->least);
    solver->before = tvlm_allocate((size_t)losses->slots + 1, sizeof *solver->before);
    if (made && solver->own != NULL && solver->held != NULL && solver->sums != NULL &&
        solver->least != NULL && solver->before != NULL)
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
    free(solver->own);
    free(solver->held);
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

/*
 * Nodes of a level do not depend on each other. They are worked out in blocks of LANES, for which all that the programme
 * reads again and again lies beside each other, in the cache:
 *
 *   - own[end][slot][LANES]: `own` of solve.h for all intervals, the rows of one end after each other;
 *   - held[length - 1][LANES]: what is lost from one slot on.
 */
enum { LANES = CLIP_LANES };

typedef struct block {
    const clip_level *l;
    int32_t first, count; /* nodes */
    float *own, *held;
} block;

static block block_at(const clip_solver *solver, const clip_level *l, int32_t first) {
    const int32_t left = l->nodes - first;
    return (block){l, first, left < LANES ? left : LANES, solver->own, solver->held};
}

/* The row of `own` for the interval from slot 0 to `end`, which is at least 1. Those of later slots follow. */
static float *own_row(const block *b, int32_t end) {
    return b->own + (size_t)end * ((size_t)end - 1) / 2 * LANES;
}

/* Fills in `held` with what a kind loses from a slot on. */
static void load_held(const block *b, int32_t kind, int32_t slot, int32_t longest) {
    for (int32_t length = 1; length <= longest; ++length) {
        float *const to = b->held + (size_t)(length - 1) * LANES;
        for (int32_t i = b->count; i < LANES; ++i) to[i] = 0.0f;
        memcpy(to, clip_held(b->l, kind, slot, length) + b->first, (size_t)b->count * sizeof *to);
    }
}

static inline float less(float a, float b) {
    return a < b ? a : b;
}

/* least = min(least, a[i] + b[i] for all i of `count`), for each lane. Four at a time: that is what compilers make vectors of
 * without loading and storing `least` for each. */
static void lower(int32_t count, const float *restrict a, const float *restrict b, float *restrict least) {
    int32_t i = 0;
    for (; i + 4 <= count; i += 4, a += 4 * LANES, b += 4 * LANES)
        for (int lane = 0; lane < LANES; ++lane) {
            const float first = less(a[lane] + b[lane], a[lane + LANES] + b[lane + LANES]);
            const float second =
                less(a[lane + 2 * LANES] + b[lane + 2 * LANES], a[lane + 3 * LANES] + b[lane + 3 * LANES]);
            least[lane] = less(less(first, second), least[lane]);
        }
    for (; i < count; ++i, a += LANES, b += LANES)
        for (int lane = 0; lane < LANES; ++lane) least[lane] = less(a[lane] + b[lane], least[lane]);
}

static void at_most(const float *limit, float *least) {
    for (int lane = 0; lane < LANES; ++lane) least[lane] = less(limit[lane], least[lane]);
}

/* `held` becomes, for each length, the least of what a token of the level's own size loses from `slot` on, and its
 * price. */
static void price_own(const block *b, int32_t slot, int32_t longest, const float prices[2]) {
    load_held(b, b->l->first, slot, longest);
    for (int32_t length = 1; length <= longest; ++length) {
        float *const row = b->held + (size_t)(length - 1) * LANES;
        for (int lane = 0; lane < LANES; ++lane) row[lane] += prices[0];
        if (b->l->own == 1) continue;
        const float *const other = clip_held(b->l, b->l->first + 1, slot, length) + b->first;
        for (int32_t i = 0; i < b->count; ++i) row[i] = less(other[i] + prices[1], row[i]);
    }
}

/* Fills in `own`, from the last slot to the first, and with it the level's `bought`. */
static void buy(const block *b, const float prices[2]) {
    for (int32_t slot = b->l->slots - 1; slot >= 0; --slot) {
        const int32_t longest = b->l->slots - slot;
        price_own(b, slot, longest, prices);
        for (int32_t length = 1; length <= longest; ++length) {
            float least[LANES];
            float *const own = own_row(b, slot + length) + (size_t)slot * LANES;
            memcpy(least, b->held + (size_t)(length - 1) * LANES, sizeof least);
            lower(length - 1, b->held, own + LANES, least);
            memcpy(own, least, sizeof least);
            memcpy(clip_bought(b->l, slot, length) + b->first, least, (size_t)b->count * sizeof *least);
        }
    }
}

/* Adds what the nodes of a block lose under a token to what their parents do, which have four of them each: tiles of level 0 lie
 * in four long rows, and those of level 1 in fours (budget_tree.h). */
static void add_to_parents(const block *b, int32_t level, const float *least, float *parents) {
    const int32_t count = b->l->nodes / 4, first = b->first % count;
    if (level == 0 && first + b->count <= count)
        for (int32_t i = 0; i < b->count; ++i) parents[first + i] += least[i];
    else
        for (int32_t i = 0; i < b->count; ++i) {
            const int32_t node = b->first + i;
            parents[level == 0 ? node % count : node / 4] += least[i];
        }
}

/* Works out the least cost of each interval under a coarser token of a kind, V of solve.h, and hands it to the next level: above
 * the last level, to the sums of thumbnails. */
static void hold(clip_solver *solver, int32_t level, const block *b, int32_t kind, int32_t slot) {
    const int32_t longest = b->l->slots - slot;
    load_held(b, kind, slot, longest);
    for (int32_t length = 1; length <= longest; ++length) {
        float least[LANES];
        const float *const own = own_row(b, slot + length) + (size_t)slot * LANES;
        memcpy(least, b->held + (size_t)(length - 1) * LANES, sizeof least);
        at_most(own, least);
        lower(length - 1, b->held, own + LANES, least);
        if (level + 1 < CLIP_LEVELS)
            add_to_parents(b, level, least, clip_held(&solver->levels[level + 1], kind, slot, length));
        else
            for (int32_t i = 0; i < b->count; ++i) *clip_sum(solver, kind, slot, length) += (double)least[i];
    }
}

/* Sets what a level hands up to nothing. */
static void clear_parents(clip_solver *solver, int32_t level) {
    const size_t intervals = clip_intervals(solver->losses->slots);
    if (level + 1 == CLIP_LEVELS) {
        memset(solver->sums, 0, intervals * CLIP_THUMBNAILS_MAX * sizeof *solver->sums);
        return;
    }
    const clip_level *const next = &solver->levels[level + 1];
    memset(next->memory, 0, intervals * (size_t)next->kinds * (size_t)next->nodes * sizeof *next->memory);
}

static void solve_level(clip_solver *solver, int32_t level, double price) {
    const clip_level *const l = &solver->levels[level];
    const float prices[2] = {(float)price, (float)(TVLM_BUDGET_PATCHES * price)};
    clear_parents(solver, level);
    for (int32_t first = 0; first < l->nodes; first += LANES) {
        const block b = block_at(solver, l, first);
        buy(&b, prices);
        for (int32_t kind = l->first + l->own; kind < l->first + l->kinds; ++kind)
            for (int32_t slot = 0; slot < clip_slots_of(solver->losses, kind); ++slot)
                hold(solver, level, &b, kind, slot);
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
