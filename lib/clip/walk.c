/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.c: reads the chosen tokens out of the dynamic programme, from the thumbnails down to tiles of level 0.
 * Which of the terms was the least is worked out once more on the way: to remember it for each
 * interval would take as much memory as all losses do.
 */
#include "clip/solver.h"

#include <math.h>

#include "core/memory.h"

/* What is being read. */
typedef struct walk {
    const clip_solver *solver;
    float prices[CLIP_OWN_MOST];
    clip_choice *choice;
} walk;

bool tvlm_clip_choice_add(const clip_losses *losses, const clip_token *token, clip_choice *choice) {
    if (choice->count == choice->room) {
        const int32_t room = choice->room > 0 ? 2 * choice->room : 256;
        clip_token *const tokens = realloc(choice->tokens, (size_t)room * sizeof *tokens);
        if (tokens == NULL) return false;
        choice->tokens = tokens;
        choice->room = room;
    }
    choice->tokens[choice->count++] = *token;
    choice->spent += clip_tokens_of(losses, token->kind);
    return true;
}

static bool add(const walk *w, const clip_token *token) {
    return tvlm_clip_choice_add(w->solver->losses, token, w->choice);
}

static bool go_down(walk *w, int32_t level, int32_t node, const clip_token *over);

/* The children of a square over which a token is shown. At level 0 what is lost is added up. */
static bool go_into(walk *w, int32_t level, int32_t node, const clip_token *over) {
    const clip_level *const l = &w->solver->levels[level];
    if (level == 0)
        w->choice->lost += (double)clip_held(l, over->kind, over->from, over->until - over->from)[node];
    if (level == 0) return true;
    for (int32_t i = 0; i < 4; ++i)
        if (!go_down(w, level - 1, level == 1 ? i * l->nodes + node : 4 * node + i, over)) return false;
    return true;
}

/* The token that a node buys in slot `from`, where at least one is bought there, up to `until`. */
static clip_token first_bought(const walk *w, const clip_level *l, int32_t node, int32_t from,
                               int32_t until) {
    clip_token best = {from, until, l->first, node};
    float least = INFINITY;
    for (int32_t length = until - from; length >= 1; --length) {
        const int32_t left = until - from - length;
        const float rest = left > 0 ? clip_bought(l, from + length, left)[node] : 0.0f;
        for (int32_t own = 0; own < l->own && own < CLIP_OWN_MOST; ++own) {
            const float cost = clip_held(l, l->first + own, from, length)[node] + w->prices[own] + rest;
            if (!(cost < least)) continue;
            least = cost;
            best = (clip_token){from, from + length, l->first + own, node};
        }
    }
    return best;
}

/* The slot in which a node buys its first token under a coarser one: over->until where it buys none. */
static int32_t first_slot(const clip_level *l, int32_t node, const clip_token *over) {
    const int32_t length = over->until - over->from;
    int32_t best = length;
    float least = clip_held(l, over->kind, over->from, length)[node];
    for (int32_t first = 0; first < length; ++first) {
        const float held = first > 0 ? clip_held(l, over->kind, over->from, first)[node] : 0.0f;
        const float cost = held + clip_bought(l, over->from + first, length - first)[node];
        if (!(cost < least)) continue;
        least = cost;
        best = first;
    }
    return over->from + best;
}

/* What a node buys while a coarser token is shown over it. */
static bool go_down(walk *w, int32_t level, int32_t node, const clip_token *over) {
    const clip_level *const l = &w->solver->levels[level];
    int32_t slot = first_slot(l, node, over);
    if (slot > over->from) {
        const clip_token before = {over->from, slot, over->kind, over->number};
        if (!go_into(w, level, node, &before)) return false;
    }
    while (slot < over->until) {
        const clip_token token = first_bought(w, l, node, slot, over->until);
        if (!add(w, &token) || !go_into(w, level, node, &token)) return false;
        slot = token.until;
    }
    return true;
}

/* What lies on top of what within a slot: a nine is as large as a tile of level 2, and lies under those of the other levels. */
static int order_of(int32_t kind) {
    return kind >= CLIP_THUMBNAIL ? 0 : kind == CLIP_FOUR || kind == CLIP_NINE ? 1 : kind == CLIP_TWO ? 2 : 3;
}
static int in_order(const void *a, const void *b) {
    const clip_token *const x = a, *const y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    const int by_kind = order_of(x->kind) - order_of(y->kind);
    if (by_kind != 0) return by_kind;
    return (x->number > y->number) - (x->number < y->number);
}

void tvlm_clip_choice_order(clip_choice *choice) {
    if (choice->count > 1) qsort(choice->tokens, (size_t)choice->count, sizeof *choice->tokens, in_order);
}

bool tvlm_clip_walk(const clip_solver *solver, double price, clip_choice *choice) {
    walk w = {solver, {(float)price, (float)(TVLM_BUDGET_PATCHES * price)}, choice};
    const clip_level *const top = &solver->levels[CLIP_LEVELS - 1];
    choice->count = choice->spent = 0;
    choice->lost = 0.0;
    for (int32_t end = solver->losses->slots; end > 0; end = solver->before[end].from) {
        const clip_token *const thumbnail = &solver->before[end];
        if (!add(&w, thumbnail)) return false;
        for (int32_t node = 0; node < top->nodes; ++node)
            if (!go_down(&w, CLIP_LEVELS - 1, node, thumbnail)) return false;
    }
    tvlm_clip_choice_order(choice);
    return true;
}
