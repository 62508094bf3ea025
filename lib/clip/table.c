/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c: the losses of a window, from what was measured.
 *
 * What a token loses in the first slots (clip->lags) in which it is shown is measured. What it loses further on is
 * added up: let m be the last slot that was measured, and then the change from m to the later slot is what a tile of
 * level 0 of slot m loses there. Squared errors add up where the change does not depend on what was lost before. Where
 * nothing changes, that is exact. Detail cannot be lost more than once, and so is never more than all pixels.
 */
#include <string.h>

#include "clip/inside.h"
#include "core/memory.h"
#include "core/try.h"

enum { PARTS = TVLM_BUDGET_PARTS };

/* What tokens of one kind, and tiles of level 0, lose in single slots of the window: [slots][slots][tiles][2], the first
 * slot being that in which they are bought. Only what comes later than that is there. */
typedef struct single {
    const tvlm_clip *clip;
    int32_t slots;
    size_t floats; /* of one slot */
    float *tile, *kind;
    double *times; /* [slots][tiles]: how often what is lost counts */
} single;

static float *in_slot(const single *s, float *of, int32_t bought, int32_t slot) {
    return of + ((size_t)bought * (size_t)s->slots + (size_t)slot) * s->floats;
}

/* to = a + b, for all tiles. */
static void add_up(const single *s, const float *a, const float *b, float *to) {
    for (size_t i = 0; i < s->floats; i += PARTS) clip_add_parts(s->clip, a + i, b + i, to + i);
}

/* Fills in what tokens of a kind lose. s->tile is there, or `of` is s->tile. */
static void find_single(const single *s, int32_t kind, float *of) {
    const tvlm_clip *const clip = s->clip;
    for (int32_t bought = s->slots - 1; bought >= 0; --bought)
        for (int32_t slot = bought; slot < s->slots; ++slot) {
            float *const to = in_slot(s, of, bought, slot);
            const int32_t known = bought + clip->lags - 1;
            if (slot <= known)
                memcpy(to, clip_kind_row(clip, clip->begin + bought, slot - bought, kind),
                       s->floats * sizeof *to);
            else
                add_up(s, in_slot(s, of, bought, known), in_slot(s, s->tile, known, slot), to);
        }
}

/* What is shown when the window begins was known up to slot `known` of the window. From there on it is added up. */
static void extend_shown(const single *s, int32_t known) {
    float *const shown = s->clip->shown;
    for (int32_t slot = known + 1; slot < s->slots; ++slot)
        add_up(s, shown + (size_t)known * s->floats, in_slot(s, s->tile, known, slot),
               shown + (size_t)slot * s->floats);
}

/* ---- Weights ---- */

/* Losses differ by some 1e-6 from device to device, which must not decide between tokens that are alike
 * (select/budget_measure.c). */
static float rounded(double loss) {
    union {
        float value;
        uint32_t bits;
    } u = {.value = (float)loss};
    enum { DROPPED = 12 };
    if (!(loss > 0.0)) return 0.0f;
    u.bits = (u.bits + (1u << (DROPPED - 1))) >> DROPPED << DROPPED;
    return u.value;
}

/* Finds how often what is lost counts: once, if nothing is emphasised. */
static void find_times(const single *s, bool emphasised) {
    const tvlm_clip *const clip = s->clip;
    for (int32_t slot = 0; slot < s->slots; ++slot) {
        double *const times = s->times + (size_t)slot * (size_t)clip->tiles;
        const int32_t at = clip->begin + slot;
        const float *const came = slot > 0 ? clip_kind_row(clip, at - 1, 1, CLIP_TILE)
                                  : at > 0 ? clip->before
                                           : NULL;
        tvlm_clip_emphasise(clip, emphasised ? came : NULL,
                            emphasised ? clip_kind_row(clip, at, 1, CLIP_TILE) : NULL, times);
    }
}

/* Finds the weights of both parts of the loss. A thumbnail of one patch in each slot of the window loses one a slot. */
static void find_weights(const single *s, double detail, double weights[PARTS]) {
    const tvlm_clip *const clip = s->clip;
    const int32_t slots = s->slots;
    double whole[PARTS] = {0.0};
    for (int32_t slot = 0; slot < slots; ++slot) {
        const float *const row = clip_kind_row(clip, clip->begin + slot, 0, CLIP_THUMBNAIL);
        const double *const times = s->times + (size_t)slot * (size_t)clip->tiles;
        for (int32_t i = 0; i < PARTS * clip->tiles; ++i)
            whole[i % PARTS] += times[i / PARTS] * (double)row[i];
    }
    tvlm_budget_weigh_parts(whole, detail, weights);
    for (int p = 0; p < PARTS; ++p) weights[p] *= slots;
}

/* A part of less than this a pixel is nothing. */
#define NOTHING 1e-6f
float tvlm_clip_weigh_parts(const tvlm_clip *clip, const double weights[PARTS], const float *parts,
                            double times) {
    const float nothing = NOTHING * (float)(clip->patch * clip->patch);
    double sum = 0.0;
    for (int p = 0; p < PARTS; ++p)
        if (parts[p] > nothing) sum += weights[p] * (double)parts[p];
    return rounded(times * sum);
}

/* Adds up, for all lengths, what is lost from a slot on. `of` is what is lost in single slots. */
static void put_intervals(const single *s, const clip_losses *losses, int32_t kind, int32_t bought,
                          const double weights[PARTS], const float *of) {
    const tvlm_clip *const clip = s->clip;
    const tvlm_budget_tree *const tree = losses->tree;
    const size_t floats = PARTS * (size_t)clip->tiles;
    const int32_t hold = clip->params.hold > 0 ? clip->params.hold : losses->slots;
    for (int32_t length = 1; length <= losses->slots - bought; ++length) {
        float *const to = clip_lost(losses, kind, bought, length);
        const float *const before = length > 1 ? clip_lost(losses, kind, bought, length - 1) : NULL;
        const float *const now = of + (size_t)(length - 1) * floats;
        const double *const times = s->times + (size_t)(bought + length - 1) * (size_t)clip->tiles;
        for (int32_t place = 0; place < tree->places; ++place) {
            const int32_t tile = tree->tile_of[place];
            if (tile < 0) continue;
            const float lost = tvlm_clip_weigh_parts(clip, weights, now + PARTS * tile, times[tile]);
            to[place] = length > hold ? TVLM_BUDGET_NEVER : lost + (before != NULL ? before[place] : 0.0f);
        }
    }
}

/* Ends what is shown when the window begins where it was shown for long enough. */
static void end_holding(const clip_losses *losses, const tvlm_clip *clip) {
    const tvlm_budget_tree *const tree = losses->tree;
    if (clip->params.hold == 0) return;
    for (int32_t tile = 0; tile < clip->tiles; ++tile) {
        const int32_t left = clip->shown_from[tile] + clip->params.hold - clip->begin;
        for (int32_t length = left > 0 ? left + 1 : 1; length <= losses->slots; ++length)
            clip_lost(losses, losses->kinds - 1, 0, length)[tree->place_of[tile]] = TVLM_BUDGET_NEVER;
    }
}

void tvlm_clip_leave_out_broken(const tvlm_clip *clip, const clip_losses *losses) {
    const tvlm_budget_tree *const tree = losses->tree;
    for (int32_t place = 0; place < tree->places; ++place) {
        const int32_t tile = tree->tile_of[place];
        if (tile < 0) continue;
        const int32_t right = (tile % tree->columns / 4 + 1) * 4 * clip->patch;
        const int32_t below = (tile / tree->columns / 4 + 1) * 4 * clip->patch;
        if (right <= clip->width && below <= clip->height) continue;
        for (int32_t slot = 0; slot < losses->slots; ++slot)
            for (int32_t length = 1; length <= losses->slots - slot; ++length)
                clip_lost(losses, CLIP_NINE, slot, length)[place] = TVLM_BUDGET_NEVER;
    }
}

/* ---- A window ---- */

static bool make_single(const tvlm_clip *clip, int32_t slots, single *s) {
    *s = (single){.clip = clip, .slots = slots, .floats = PARTS * (size_t)clip->tiles};
    const size_t pairs = (size_t)slots * (size_t)slots;
    s->tile = tvlm_allocate(pairs, s->floats * sizeof *s->tile);
    s->kind = tvlm_allocate(pairs, s->floats * sizeof *s->kind);
    s->times = tvlm_allocate((size_t)slots * (size_t)clip->tiles, sizeof *s->times);
    if (s->tile == NULL || s->kind == NULL || s->times == NULL) return false;
    find_single(s, CLIP_TILE, s->tile);
    return true;
}

static void free_single(single *s) {
    free(s->tile);
    free(s->kind);
    free(s->times);
}

tvlm_status tvlm_clip_begin_losses(const tvlm_clip *clip, int32_t slots, clip_losses *losses) {
    const bool held = clip->begin > 0;
    *losses = (clip_losses){.tree = &clip->tree, .slots = slots, .kinds = clip->kinds + held, .held = held};
    for (int32_t i = 0; i < clip->kinds - CLIP_THUMBNAIL; ++i)
        losses->cells[i] = tvlm_budget_patches(&clip->grids[i]);
    losses->lost = tvlm_allocate(tvlm_clip_losses_floats(losses), sizeof *losses->lost);
    return losses->lost != NULL ? TVLM_OK : tvlm_clip_no_memory(clip);
}

tvlm_status tvlm_clip_weigh(tvlm_clip *clip, int32_t slots, double detail, clip_losses *losses,
                            double *whole) {
    single s = {0};
    double weights[PARTS];
    TVLM_TRY(tvlm_clip_begin_losses(clip, slots, losses));
    if (!make_single(clip, slots, &s)) {
        free_single(&s);
        free(losses->lost);
        return tvlm_clip_no_memory(clip);
    }
    find_times(&s, detail > 0.0);
    find_weights(&s, detail, weights);
    for (int32_t kind = 0; kind < clip->kinds; ++kind) {
        find_single(&s, kind, s.kind);
        for (int32_t slot = 0; slot < slots; ++slot)
            put_intervals(&s, losses, kind, slot, weights, in_slot(&s, s.kind, slot, slot));
    }
    if (losses->held) {
        extend_shown(&s, clip->window / 2 - 1);
        put_intervals(&s, losses, losses->kinds - 1, 0, weights, clip->shown);
        end_holding(losses, clip);
    }
    tvlm_clip_leave_out_broken(clip, losses);
    *whole = ((weights[0] > 0.0 ? 1.0 - detail : 0.0) + (weights[1] > 0.0 ? detail : 0.0)) * slots;
    free_single(&s);
    return TVLM_OK;
}

tvlm_status tvlm_clip_carry(tvlm_clip *clip, int32_t slots, const clip_choice *choice,
                            const clip_losses *losses, int32_t slot) {
    single s = {0};
    const size_t half = (size_t)(slots - slot) * PARTS * (size_t)clip->tiles;
    float *const shown = tvlm_allocate(half, sizeof *shown);
    clip_seen *const seen = tvlm_allocate((size_t)clip->tree.places, sizeof *seen);
    const bool made = shown != NULL && seen != NULL && make_single(clip, slots, &s);
    if (made) tvlm_clip_show(losses, choice, slot, seen);
    for (int32_t kind = 0; made && kind < losses->kinds; ++kind) {
        const bool held = losses->held && kind == losses->kinds - 1;
        if (!held) find_single(&s, kind, s.kind);
        for (int32_t tile = 0; tile < clip->tiles; ++tile) {
            const clip_seen *const now = &seen[clip->tree.place_of[tile]];
            if (now->kind != kind) continue;
            for (int32_t i = slot; i < slots; ++i) {
                const float *const from =
                    held ? clip->shown + (size_t)i * s.floats : in_slot(&s, s.kind, now->from, i);
                for (int p = 0; p < PARTS; ++p)
                    shown[(size_t)(i - slot) * s.floats + (size_t)(PARTS * tile + p)] =
                        from[PARTS * tile + p];
            }
            if (!held) clip->shown_from[tile] = clip->begin + now->from;
        }
    }
    if (made) memcpy(clip->shown, shown, half * sizeof *shown);
    free_single(&s);
    free(shown);
    free(seen);
    return made ? TVLM_OK : tvlm_clip_no_memory(clip);
}
