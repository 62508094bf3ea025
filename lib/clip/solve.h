/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clip/solve.h: the best tokens of a whole video for a price, once it is known what each token loses.
 *
 * A video is a row of *slots*. A token is bought in a slot, and is shown from there on until another one takes its
 * place (conditional replenishment: Mounts 1969). So a token costs its price once, and loses a little more in each
 * slot in which it is still shown while the scene goes on.
 *
 * Tokens are thumbnails of the whole and the tiles of a budget's tree (select/budget_tree.h), less its thirds. What is
 * bought takes the place of all that is shown in its square. Only what is finer, and bought in the same slot or later,
 * lies on top of it.
 *
 * *The best choice for a price* is found by dynamic programming over intervals. Let L(k, a, b) be what a square loses in
 * slots a .. b - 1 where the token of kind k, bought in slot a, is shown in all of them. Bottom-up over the tree, and for
 * each interval:
 *
 *   - own(t, b) is the least cost of slots t .. b - 1 if a token of the square's own size is bought in slot t:
 *     the minimum over e of price + W(own kind, t, e) + own(e, b), with own(b, b) = 0;
 *   - V(k, a, b) is the least cost where a coarser token of kind k is bought in slot a and holds up to b:
 *     the minimum over t of W(k, a, t) + own(t, b). With t = b nothing is bought here;
 *   - W(k, a, b) is L(k, a, b) for tiles of level 0, and above them the sum of V(k, a, b) over the four children.
 *
 * At the top, the same recursion over thumbnails, which cost as many tokens as they have cells, gives the least cost of
 * the whole video. The price that leads to a number of tokens is found by bisection (Shoham & Gersho 1988).
 */
#ifndef TVLM_CLIP_SOLVE_H
#define TVLM_CLIP_SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "select/budget_tree.h"

/* The kinds of tokens: the levels 0, 1 and 2 of tiles, nines, and from CLIP_THUMBNAIL on the thumbnails. */
enum {
    CLIP_TILE,
    CLIP_TWO,
    CLIP_FOUR,
    CLIP_NINE,
    CLIP_THUMBNAIL,
    CLIP_THUMBNAILS_MAX = 24,
    CLIP_KINDS_MAX = CLIP_THUMBNAIL + CLIP_THUMBNAILS_MAX
};

/* The intervals of a video, which are a .. a + d - 1 for each slot a and length d: how many there are, and the number of
 * one. */
static inline size_t clip_intervals(int32_t slots) {
    return (size_t)slots * ((size_t)slots + 1) / 2;
}
static inline size_t clip_interval(int32_t slots, int32_t slot, int32_t length) {
    return clip_intervals(slots) - clip_intervals(slots - slot) + (size_t)(length - 1);
}

/*
 * What tokens lose. `lost` has for each kind, interval and place of the tree what the place loses over the interval if a
 * token of the kind, bought in the interval's first slot, is shown in all of it. It is finite and not negative, 0 beyond
 * the image, and TVLM_BUDGET_NEVER where such a token cannot be bought, or not be shown for so long.
 *
 * `held`: the last kind is no thumbnail that can be bought, but what is shown already when the video begins. It costs
 * nothing, and only its intervals from slot 0 on are read.
 */
typedef struct clip_losses {
    const tvlm_budget_tree *tree;
    int32_t slots, kinds;
    bool held;
    int32_t cells[CLIP_THUMBNAILS_MAX]; /* how many tokens each thumbnail is; of what is held 0 */
    float *lost;                        /* [kinds][intervals][places] */
} clip_losses;

/* The row of places for a kind, a slot and a number of slots. */
static inline float *clip_lost(const clip_losses *losses, int32_t kind, int32_t slot, int32_t length) {
    return losses->lost +
           ((size_t)kind * clip_intervals(losses->slots) + clip_interval(losses->slots, slot, length)) *
               (size_t)losses->tree->places;
}

/* How many floats `lost` has. SIZE_MAX: more than there are. */
size_t tvlm_clip_losses_floats(const clip_losses *losses);

/* How many slots a token of a kind can be bought in: slots 0 up to this number. */
static inline int32_t clip_slots_of(const clip_losses *losses, int32_t kind) {
    return losses->held && kind == losses->kinds - 1 ? 1 : losses->slots;
}

/* How many tokens one of a kind is. */
static inline int32_t clip_tokens_of(const clip_losses *losses, int32_t kind) {
    if (kind >= CLIP_THUMBNAIL) return losses->cells[kind - CLIP_THUMBNAIL];
    return kind == CLIP_NINE ? TVLM_BUDGET_PATCHES : 1;
}

/* A thumbnail, or a tile: number is its number among those of its kind (budget_tree.h), and 0 of a thumbnail. It is
 * shown from slot `from` to the slot before `until`, except where something finer is shown on top. */
typedef struct clip_token {
    int32_t from, until, kind, number;
} clip_token;

/* How many places a token's square has, and place i of them. */
static inline int32_t clip_places_of(const tvlm_budget_tree *tree, int32_t kind) {
    return kind == CLIP_TILE       ? 1
           : kind == CLIP_TWO      ? 4
           : kind < CLIP_THUMBNAIL ? TVLM_BUDGET_LEAVES
                                   : tree->places;
}
static inline int32_t clip_place(const tvlm_budget_tree *tree, const clip_token *token, int32_t i) {
    if (token->kind == CLIP_TILE) return token->number;
    if (token->kind == CLIP_TWO) return token->number + i * tree->ones;
    return token->kind < CLIP_THUMBNAIL ? 4 * token->number + i / 4 + i % 4 * tree->ones : i;
}

/* The tokens of a video. They are in the order of slots, and within a slot from coarse to fine, so that what comes later
 * takes the place of what came before. */
typedef struct clip_choice {
    clip_token *tokens;
    int32_t count, room;
    int32_t spent; /* how many tokens all of them are */
    double lost;
} clip_choice;

void tvlm_clip_choice_free(clip_choice *choice);

/* Adds a token at the end. False: no memory. */
bool tvlm_clip_choice_add(const clip_losses *losses, const clip_token *token, clip_choice *choice);

/* Puts the tokens in order. */
void tvlm_clip_choice_order(clip_choice *choice);

/* The memory of a solver. It is used again for each price. */
typedef struct clip_solver clip_solver;

/* NULL: no memory. `losses` must stay as they are until the solver is freed. */
clip_solver *tvlm_clip_solver_make(const clip_losses *losses);
void tvlm_clip_solver_free(clip_solver *solver);

/* Chooses the tokens of least loss and price. False: no memory. */
bool tvlm_clip_solve(clip_solver *solver, double price, clip_choice *choice);

/* A price that is lower than what any token saves. At none at all, tokens that save nothing would be bought, too. */
double tvlm_clip_lowest_price(const clip_solver *solver);

/* Chooses tokens that are at most `most`, and as many as a price leads to. If not even the cheapest video costs so little,
 * it is that one. *price is a guess, or 0, and becomes the price. False: no memory. */
bool tvlm_clip_solve_budget(clip_solver *solver, int32_t most, double *price, clip_choice *choice);

/* Chooses hardly more tokens than the fewest that lose at most `most`. *price is a guess, or 0, and becomes the price. False:
 * no memory. */
bool tvlm_clip_solve_tolerance(clip_solver *solver, double most, double *price, clip_choice *choice);

/*
 * Chooses the best *downsampling*: every n-th slot is shown as one thumbnail, which is held up to the next. Of all
 * numbers n and all thumbnails it takes what loses least for at most `most` tokens, and can be held for so long.
 * choice->count is 0 where there is none. False: no memory.
 */
bool tvlm_clip_downsample(const clip_losses *losses, int32_t most, clip_choice *choice);

/* Buys tiles of level 0 one by one, each time the one that saves most, until `most` tokens are spent or nothing is saved
 * any more. Then it works out anew what is lost. False: no memory. */
bool tvlm_clip_fill(const clip_losses *losses, int32_t most, clip_choice *choice);

/*
 * Finds what comes across the sides of coarse tiles, which are enlarged together with what is shown around them (see
 * tvlm_budget_lost). It is a share of what each tile of level 0 beside a coarse one loses in the slot in which the
 * coarse one is bought. A place where a tile of the same kind is bought in that slot, too, counts nothing. The share
 * counts in each slot in which the coarse tile is held. False: no memory.
 */
bool tvlm_clip_across(const clip_losses *losses, const clip_choice *choice, double *lost);

/* The kind of the token that is shown at a place, and the slot in which it was bought. */
typedef struct clip_seen {
    int32_t kind, from;
} clip_seen;

/* Finds what is shown at each place once the tokens of the slots before `end`, which is at least 1, are there: [places]. */
void tvlm_clip_show(const clip_losses *losses, const clip_choice *choice, int32_t end, clip_seen *at);

/*
 * Chooses what can be paid where all that keeps to the longest time of holding, `hold` slots, costs more. granted[slot] tokens may
 * be spent up to a slot, that included. A slot in which nothing is shown any more gets a thumbnail of one token as soon as there
 * is one. Until then it shows nothing, and so do places of what was held from before. False: no memory.
 */
bool tvlm_clip_scrape(const clip_losses *losses, const int32_t *granted, int32_t hold, clip_choice *choice);

/* Finds what a choice loses in the slots before `end`, by showing it slot after slot. Where a token is shown no longer, since it
 * was held for too long, that is what the first thumbnail would lose. False: no memory. */
bool tvlm_clip_replay(const clip_losses *losses, const clip_choice *choice, int32_t end, double *lost);

#endif
