/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shown.c: what is shown of a video in each slot and at each place, what that loses, and what else is worth a token.
 */
#include <string.h>

#include "clip/solve.h"
#include "core/memory.h"

/* What is shown in each slot at each place, [slots][places]. */
typedef struct shown {
    const clip_losses *losses;
    clip_seen *at;
} shown;

static clip_seen *seen_at(const shown *s, int32_t slot, int32_t place) {
    return &s->at[(size_t)slot * (size_t)s->losses->tree->places + (size_t)place];
}

/* What a token loses at a place in one slot. */
static float lost_in(const clip_losses *losses, const clip_seen *token, int32_t slot, int32_t place) {
    const int32_t length = slot - token->from + 1;
    const float upto = clip_lost(losses, token->kind, token->from, length)[place];
    return length > 1 ? upto - clip_lost(losses, token->kind, token->from, length - 1)[place] : upto;
}

/* Shows the tokens of a slot on top of what is shown. Returns the first token of later slots. */
static const clip_token *show_slot(const clip_losses *losses, const clip_token *token, const clip_token *end,
                                   int32_t slot, clip_seen *at) {
    for (; token < end && token->from == slot; ++token)
        for (int32_t i = 0; i < clip_places_of(losses->tree, token->kind); ++i)
            at[clip_place(losses->tree, token, i)] = (clip_seen){token->kind, slot};
    return token;
}

void tvlm_clip_show(const clip_losses *losses, const clip_choice *choice, int32_t end, clip_seen *at) {
    const clip_token *token = choice->tokens;
    for (int32_t slot = 0; slot < end; ++slot)
        token = show_slot(losses, token, choice->tokens + choice->count, slot, at);
}

/* False: no memory. The caller frees s->at. */
static bool show(const clip_losses *losses, const clip_choice *choice, shown *s) {
    const int32_t places = losses->tree->places;
    const clip_token *token = choice->tokens, *const end = token + choice->count;
    *s = (shown){losses, tvlm_allocate((size_t)losses->slots * (size_t)places, sizeof *s->at)};
    if (s->at == NULL) return false;
    for (int32_t slot = 0; slot < losses->slots; ++slot) {
        if (slot > 0) memcpy(seen_at(s, slot, 0), seen_at(s, slot - 1, 0), (size_t)places * sizeof *s->at);
        token = show_slot(losses, token, end, slot, seen_at(s, slot, 0));
    }
    return true;
}

/* Whether a token may not be shown in a slot any more. */
static bool is_over(const clip_losses *losses, const clip_seen *token, int32_t slot, int32_t place) {
    return clip_lost(losses, token->kind, token->from, slot - token->from + 1)[place] >= TVLM_BUDGET_NEVER;
}

static double lost_by(const shown *s, int32_t end) {
    double sum = 0.0;
    for (int32_t slot = 0; slot < end; ++slot)
        for (int32_t place = 0; place < s->losses->tree->places; ++place) {
            const clip_seen *const now = seen_at(s, slot, place);
            sum += is_over(s->losses, now, slot, place)
                       ? (double)clip_lost(s->losses, CLIP_THUMBNAIL, slot, 1)[place]
                       : (double)lost_in(s->losses, now, slot, place);
        }
    return sum;
}

bool tvlm_clip_replay(const clip_losses *losses, const clip_choice *choice, int32_t end, double *lost) {
    shown s;
    const bool made = show(losses, choice, &s);
    if (made) *lost = lost_by(&s, end);
    free(s.at);
    return made;
}

/* ---- Across sides ---- */

/* What a tile of level 0 beside a token loses in the token's slot; 0 beyond the image, and where a tile of the same kind is
 * bought, too. */
static double lost_beside(const shown *s, const clip_token *token, int32_t column, int32_t row) {
    const tvlm_budget_tree *const tree = s->losses->tree;
    if (column < 0 || column >= tree->columns || row < 0 || row >= tree->rows) return 0.0;
    const int32_t place = tree->place_of[row * tree->columns + column];
    const clip_seen *const beside = seen_at(s, token->from, place);
    if (beside->kind == token->kind && beside->from == token->from) return 0.0;
    const float lost = lost_in(s->losses, beside, token->from, place);
    return lost < TVLM_BUDGET_NEVER ? (double)lost : 0.0;
}

static double lost_around(const shown *s, const clip_token *token) {
    const int32_t corner = tvlm_budget_corner(s->losses->tree, token->kind, token->number);
    const int32_t side = token->kind == CLIP_TWO ? 2 : 4;
    const int32_t column = corner % s->losses->tree->columns, row = corner / s->losses->tree->columns;
    double sum = 0.0;
    for (int32_t i = 0; i < side; ++i)
        sum += lost_beside(s, token, column - 1, row + i) + lost_beside(s, token, column + side, row + i) +
               lost_beside(s, token, column + i, row - 1) + lost_beside(s, token, column + i, row + side);
    return sum;
}

bool tvlm_clip_across(const clip_losses *losses, const clip_choice *choice, double *lost) {
    shown s;
    *lost = 0.0;
    if (!show(losses, choice, &s)) return false;
    for (int32_t i = 0; i < choice->count; ++i) {
        const clip_token *const token = &choice->tokens[i];
        if (token->kind == CLIP_TILE || token->kind >= CLIP_THUMBNAIL) continue;
        *lost += tvlm_budget_across(token->kind) * (token->until - token->from) * lost_around(&s, token);
    }
    free(s.at);
    return true;
}

/* ---- Filling ---- */

/* The tile of level 0 at a place that saves most: from `slot` to the slot before `until`. */
typedef struct offer {
    double gain;
    int32_t slot, until;
} offer;

/* The first slot after `slot` in which another token begins to be shown at a place. */
static int32_t next_change(const shown *s, int32_t slot, int32_t place) {
    do ++slot;
    while (slot < s->losses->slots && seen_at(s, slot, place)->from != slot);
    return slot;
}

static offer best_at(const shown *s, int32_t place) {
    offer best = {0.0, 0, 0};
    for (int32_t slot = 0, until = 0; slot < s->losses->slots; ++slot) {
        const clip_seen *const now = seen_at(s, slot, place), tile = {CLIP_TILE, slot};
        double gain = 0.0;
        if (slot >= until) until = next_change(s, slot, place);
        if (now->kind == CLIP_TILE && now->from == slot) continue;
        for (int32_t u = slot; u < until; ++u)
            gain += (double)lost_in(s->losses, seen_at(s, u, place), u, place) -
                    (double)lost_in(s->losses, &tile, u, place);
        if (gain > best.gain) best = (offer){gain, slot, until};
    }
    return best;
}

/* Shows a tile from `slot` on, where the tile of level 0 that was shown there until then, if it was one, now ends. */
static bool buy(const shown *s, int32_t place, const offer *o, clip_choice *choice) {
    const clip_token token = {o->slot, o->until, CLIP_TILE, place};
    for (int32_t i = 0; i < choice->count; ++i) {
        clip_token *const other = &choice->tokens[i];
        if (other->kind == CLIP_TILE && other->number == place && other->from < o->slot &&
            other->until > o->slot)
            other->until = o->slot;
    }
    for (int32_t u = o->slot; u < o->until; ++u) *seen_at(s, u, place) = (clip_seen){CLIP_TILE, o->slot};
    return tvlm_clip_choice_add(s->losses, &token, choice);
}

bool tvlm_clip_fill(const clip_losses *losses, int32_t most, clip_choice *choice) {
    const int32_t places = losses->tree->places;
    offer *const offers = tvlm_allocate((size_t)places, sizeof *offers);
    shown s = {0};
    bool made = offers != NULL && show(losses, choice, &s);
    for (int32_t place = 0; made && place < places; ++place) offers[place] = best_at(&s, place);
    while (made && choice->spent < most) {
        int32_t best = 0;
        for (int32_t place = 1; place < places; ++place)
            if (offers[place].gain > offers[best].gain) best = place;
        if (!(offers[best].gain > 0.0)) break;
        made = buy(&s, best, &offers[best], choice);
        offers[best] = best_at(&s, best);
    }
    if (made) choice->lost = lost_by(&s, losses->slots);
    tvlm_clip_choice_order(choice);
    free(s.at);
    free(offers);
    return made;
}

/* ---- Downsampling ---- */

/* What a thumbnail loses if it is shown anew in every `step`-th slot. */
static double lost_every(const clip_losses *losses, int32_t kind, int32_t step) {
    double sum = 0.0;
    for (int32_t slot = 0; slot < losses->slots; slot += step) {
        const int32_t length = losses->slots - slot < step ? losses->slots - slot : step;
        const float *const row = clip_lost(losses, kind, slot, length);
        for (int32_t place = 0; place < losses->tree->places; ++place) sum += (double)row[place];
    }
    return sum;
}

bool tvlm_clip_downsample(const clip_losses *losses, int32_t most, clip_choice *choice) {
    int32_t best_kind = -1, best_step = 1;
    choice->count = choice->spent = 0;
    for (int32_t kind = CLIP_THUMBNAIL; kind < losses->kinds - (losses->held ? 1 : 0); ++kind)
        for (int32_t step = 1; step <= losses->slots; ++step) {
            const int64_t shown_count = (losses->slots + step - 1) / step;
            if (shown_count * clip_tokens_of(losses, kind) > most) continue;
            const double lost = lost_every(losses, kind, step);
            if (!(lost < (double)TVLM_BUDGET_NEVER)) continue; /* nothing is held for so long */
            if (best_kind >= 0 && !(lost < choice->lost)) continue;
            choice->lost = lost;
            best_kind = kind;
            best_step = step;
        }
    if (best_kind < 0) return true;
    for (int32_t slot = 0; slot < losses->slots; slot += best_step) {
        const int32_t until = losses->slots - slot < best_step ? losses->slots : slot + best_step;
        if (!tvlm_clip_choice_add(losses, &(clip_token){slot, until, best_kind, 0}, choice)) return false;
    }
    return true;
}

/* ---- Too little for what may be held ---- */

/* In how many slots something is shown of what is held when the video begins. */
static int32_t slots_left(const clip_losses *losses) {
    const clip_seen held = {losses->kinds - 1, 0};
    for (int32_t slot = 0; slot < losses->slots; ++slot) {
        bool over = true;
        for (int32_t place = 0; over && place < losses->tree->places; ++place)
            over = losses->tree->tile_of[place] < 0 || is_over(losses, &held, slot, place);
        if (over) return slot;
    }
    return losses->slots;
}

bool tvlm_clip_scrape(const clip_losses *losses, const int32_t *granted, int32_t hold, clip_choice *choice) {
    int32_t over = losses->held ? slots_left(losses) : 0; /* the first slot in which nothing is shown */
    choice->count = choice->spent = 0;
    if (losses->held &&
        !tvlm_clip_choice_add(losses, &(clip_token){0, losses->slots, losses->kinds - 1, 0}, choice))
        return false;
    for (int32_t slot = 0; slot < losses->slots; ++slot) {
        if (slot < over || choice->spent >= granted[slot]) continue;
        over = losses->slots - slot < hold ? losses->slots : slot + hold;
        if (!tvlm_clip_choice_add(losses, &(clip_token){slot, over, CLIP_THUMBNAIL, 0}, choice)) return false;
    }
    return tvlm_clip_replay(losses, choice, losses->slots, &choice->lost);
}
