/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal.c: a stream. Each slot is decided with what is known when it comes, or a few slots later.
 *
 * What a token loses in a later slot is here the sum of two things: what it loses in the last frame of its own slot, times the frames of
 * a slot; and the change since then, which is what that frame itself would lose if it were shown in the later slot (table.c). So a
 * new slot is measured once for all tokens, and compared with the slots of the ring as they are.
 */
#include <math.h>
#include <string.h>

#include "clip/inside.h"
#include "core/memory.h"
#include "core/try.h"
#include "texturevlm/select.h"

enum { PARTS = TVLM_BUDGET_PARTS };

/*
 * - LONGEST_SHOWN: the longest time that a token is expected to be shown, in slots.
 * - NEW_CHANGE: how much of the running mean of changes is new.
 * - PRICE_GAIN: how much the price changes where the bucket has a slot's share too much or too little.
 * - PRICE_SHARES: so many such shares count at most.
 * - UNCERTAIN: what is held loses by this share more of its changes than is known, when a new thumbnail is compared with it.
 */
#define LONGEST_SHOWN 8.0
#define NEW_CHANGE    0.3
#define PRICE_GAIN    0.3
#define PRICE_SHARES  4.0
#define UNCERTAIN     0.07

/* Moves the anchors of tokens that leave the ring when slot `slot` comes. */
static void move_anchors(tvlm_clip *clip, int32_t slot) {
    clip_stream *const s = &clip->stream;
    const int32_t oldest = clip_oldest(clip, slot);
    for (int32_t tile = 0; tile < clip->tiles; ++tile) {
        if (s->anchors[tile] >= oldest || clip->begin == 0) continue;
        const float *const moved = clip_distance(clip, s->anchors[tile], oldest) + PARTS * tile;
        float *const base = s->bases + PARTS * tile;
        clip_add_parts(clip, base, moved, base);
        s->anchors[tile] = oldest;
    }
}

tvlm_status tvlm_clip_compare(tvlm_clip *clip, int32_t slot) {
    clip_stream *const s = &clip->stream;
    const int32_t first = clip_oldest(clip, slot);
    float *to[CLIP_LAGS_MOST];
    if (clip->params.motion)
        TVLM_TRY(tvlm_clip_carry_on(clip, slot));
    else
        move_anchors(clip, slot);
    for (int32_t from = first; from < slot; ++from) {
        to[from - first] = clip_distance(clip, from, slot);
        memset(to[from - first], 0, PARTS * (size_t)clip->tiles * sizeof **to);
    }
    for (int32_t frame = clip->temporal * slot; frame <= clip_last_frame(clip, slot); ++frame)
        TVLM_TRY(tvlm_clip_measure_others(clip, frame, first, slot - first, to));
    TVLM_TRY(tvlm_clip_read(clip));
    const float *const least = clip_kind_row(clip, slot, 0, CLIP_THUMBNAIL);
    tvlm_clip_emphasise(clip, slot > 0 ? clip_distance(clip, slot - 1, slot) : NULL, NULL, s->counts);
    for (int32_t i = 0; i < PARTS * clip->tiles; ++i)
        s->whole[i % PARTS] += s->counts[i / PARTS] * (double)least[i];
    return TVLM_OK;
}

/* ---- Losses ---- */

/* What is worked out for one decision. */
typedef struct decision {
    tvlm_clip *clip;
    clip_losses losses;
    double weights[PARTS];
    double *times;      /* [tiles]: how often what is lost in the last slot counts */
    double *emphasised; /* [slots][tiles]: how often what is lost in each slot counts, beside that */
    clip_seen *seen;    /* [places]: what a choice shows in the first slot of the window */
} decision;

static void find_weights(decision *d, double detail) {
    const tvlm_clip *const clip = d->clip;
    tvlm_budget_weigh_parts(clip->stream.whole, detail, d->weights);
    for (int p = 0; p < PARTS; ++p) d->weights[p] *= clip->looked_at;
}

/* Takes the change from the slot before into the running means, and finds for how many slots a token can be expected to be
 * shown: until sqrt(2 price / change) slots have passed. A tolerance is each slot's, and counts the slot alone. */
static void find_times(decision *d) {
    const tvlm_clip *const clip = d->clip;
    const clip_stream *const s = &clip->stream;
    const int32_t slot = clip->looked_at - 1;
    const double *const last = d->emphasised + (size_t)(d->losses.slots - 1) * (size_t)clip->tiles;
    for (int32_t tile = 0; tile < clip->tiles; ++tile) {
        if (slot == 0 || clip_tolerates(clip)) {
            d->times[tile] = clip_tolerates(clip) ? 1.0 : 0.5 * LONGEST_SHOWN;
            continue;
        }
        const double now = (double)tvlm_clip_weigh_parts(
            clip, d->weights, clip_distance(clip, slot - 1, slot) + PARTS * tile, last[tile]);
        const double before = slot > 1 ? (double)s->changes[tile] : now;
        s->changes[tile] = (float)(before + NEW_CHANGE * (now - before));
        const double shown = sqrt(2.0 * clip->price / fmax((double)s->changes[tile], 1e-12));
        d->times[tile] = fmin(fmax(shown, 1.0), LONGEST_SHOWN);
    }
}

/* Adds what a tile loses in slot `slot` of the window to the interval of `length` slots from `bought` on. */
static void put(const decision *d, int32_t kind, int32_t bought, int32_t length, int32_t tile,
                const float parts[PARTS]) {
    const int32_t place = d->losses.tree->place_of[tile], slot = bought + length - 1;
    const float before = length > 1 ? clip_lost(&d->losses, kind, bought, length - 1)[place] : 0.0f;
    const double times = slot == d->losses.slots - 1 ? d->times[tile] : 1.0;
    const double emphasised = d->emphasised[(size_t)slot * (size_t)d->clip->tiles + (size_t)tile];
    clip_lost(&d->losses, kind, bought, length)[place] =
        before + tvlm_clip_weigh_parts(d->clip, d->weights, parts, times * emphasised);
}

/* What the last frame of a slot loses by a token of a kind in a slot of frames like itself. */
static void find_base(const tvlm_clip *clip, int32_t slot, int32_t kind, int32_t tile, float base[PARTS]) {
    const float *const last = clip_last_row(clip, slot) +
                              ((size_t)clip->measured[kind] * (size_t)clip->tiles + (size_t)tile) * PARTS;
    for (int p = 0; p < PARTS; ++p) base[p] = (float)clip->temporal * last[p];
}

/* What is lost in slot `to` by what was bought in slot `from`, an earlier one, and loses `base` beside what has changed since. Both are numbered from the
 * first slot of the video. */
static void add_change(const tvlm_clip *clip, const float *base, int32_t from, int32_t to, int32_t tile,
                       float parts[PARTS]) {
    clip_add_parts(clip, base, clip_distance(clip, from, to) + PARTS * tile, parts);
}

static void put_kind(const decision *d, int32_t kind) {
    const tvlm_clip *const clip = d->clip;
    for (int32_t bought = 0; bought < d->losses.slots; ++bought) {
        const float *const row = clip_kind_row(clip, clip->begin + bought, 0, kind);
        for (int32_t length = 1; length <= d->losses.slots - bought; ++length)
            for (int32_t tile = 0; tile < clip->tiles; ++tile) {
                const int32_t from = clip->begin + bought;
                float parts[PARTS];
                if (length > 1) {
                    find_base(clip, from, kind, tile, parts);
                    add_change(clip, parts, from, from + length - 1, tile, parts);
                }
                put(d, kind, bought, length, tile, length > 1 ? parts : row + PARTS * tile);
            }
    }
}

/* What is shown already. Where it was shown for as long as it may be it is lost altogether. */
static void put_held(const decision *d) {
    const tvlm_clip *const clip = d->clip;
    const clip_stream *const s = &clip->stream;
    const int32_t kind = d->losses.kinds - 1;
    for (int32_t length = 1; length <= d->losses.slots; ++length)
        for (int32_t tile = 0; tile < clip->tiles; ++tile) {
            const int32_t slot = clip->begin + length - 1;
            float parts[PARTS];
            add_change(clip, s->bases + PARTS * tile, s->anchors[tile], slot, tile, parts);
            put(d, kind, 0, length, tile, parts);
            if (clip->params.hold > 0 && slot - clip->shown_from[tile] >= clip->params.hold)
                clip_lost(&d->losses, kind, 0, length)[d->losses.tree->place_of[tile]] = TVLM_BUDGET_NEVER;
        }
}

/* Finds how often what is lost in a slot of the window counts: once, if nothing is emphasised. */
static void emphasise(const tvlm_clip *clip, int32_t slot, bool emphasised, double *times) {
    const int32_t at = clip->begin + slot;
    tvlm_clip_emphasise(clip, emphasised && at > 0 ? clip_distance(clip, at - 1, at) : NULL,
                        emphasised && at + 1 < clip->looked_at ? clip_distance(clip, at, at + 1) : NULL,
                        times);
}

/* Begins a decision, whose tables are still empty. `detail` is the share of the loss that is detail; of 0, nothing is
 * emphasised. end() is due in any case. */
static tvlm_status begin(tvlm_clip *clip, int32_t slots, double detail, decision *d) {
    *d = (decision){.clip = clip};
    TVLM_TRY(tvlm_clip_begin_losses(clip, slots, &d->losses));
    d->times = tvlm_allocate((size_t)clip->tiles, sizeof *d->times);
    d->emphasised = tvlm_allocate((size_t)slots, (size_t)clip->tiles * sizeof *d->emphasised);
    d->seen = tvlm_allocate((size_t)clip->tree.places, sizeof *d->seen);
    if (d->times == NULL || d->emphasised == NULL || d->seen == NULL) return tvlm_clip_no_memory(clip);
    for (int32_t slot = 0; slot < slots; ++slot)
        emphasise(clip, slot, detail > 0.0, d->emphasised + (size_t)slot * (size_t)clip->tiles);
    find_weights(d, detail);
    return TVLM_OK;
}

static void end(decision *d) {
    free(d->losses.lost);
    free(d->times);
    free(d->emphasised);
    free(d->seen);
}

static void fill_tables(const decision *d) {
    for (int32_t kind = 0; kind < d->clip->kinds; ++kind) put_kind(d, kind);
    if (d->losses.held) put_held(d);
    tvlm_clip_leave_out_broken(d->clip, &d->losses);
}

/* ---- A decision ---- */

/* How many tokens of a choice are bought in the first slot of the window. */
static int32_t spent_first(const clip_losses *losses, const clip_choice *choice) {
    int32_t spent = 0;
    for (int32_t i = 0; i < choice->count && choice->tokens[i].from == 0; ++i)
        spent += clip_tokens_of(losses, choice->tokens[i].kind);
    return spent;
}

/* Whether a tile was held for as long as it may be when the first slot of the window comes. */
static bool is_over(const tvlm_clip *clip, int32_t tile) {
    return clip->params.hold > 0 && clip->begin > 0 &&
           clip->begin - clip->shown_from[tile] >= clip->params.hold;
}

/* Whether a slot cannot be paid at all: something was held for too long, and there is not one token for a thumbnail. */
static bool is_beyond_bucket(const tvlm_clip *clip) {
    bool over = false;
    for (int32_t tile = 0; !over && tile < clip->tiles; ++tile) over = is_over(clip, tile);
    return over && clip->stream.bucket < 1.0;
}

/* Where the first slot would take more than is in the bucket: finds the lowest price, above `price`, at which it does not. */
static bool solve_within(const tvlm_clip *clip, clip_solver *solver, const clip_losses *losses, double price,
                         clip_choice *choice) {
    enum { STEPS = 40, HALVES = 10 };
    double low = price, high = price;
    bool solved = true;
    for (int i = 0; i < STEPS && solved && spent_first(losses, choice) > clip->stream.bucket; ++i) {
        low = high;
        high *= 2.0;
        solved = tvlm_clip_solve(solver, high, choice);
    }
    for (int i = 0; i < HALVES && solved && high > low; ++i) {
        const double middle = sqrt(low * high);
        if (!(solved = tvlm_clip_solve(solver, middle, choice))) break;
        *(spent_first(losses, choice) > clip->stream.bucket ? &low : &high) = middle;
    }
    return solved && (high == low || tvlm_clip_solve(solver, high, choice));
}

/* By how much what is held changed since it was bought, where a choice leaves it: what it loses is a sum with that, and not certain. */
static double changed(const decision *d, const clip_choice *choice) {
    const tvlm_clip *const clip = d->clip;
    double sum = 0.0;
    if (!d->losses.held) return 0.0;
    tvlm_clip_show(&d->losses, choice, 1, d->seen);
    for (int32_t tile = 0; tile < clip->tiles; ++tile)
        if (d->seen[clip->tree.place_of[tile]].kind == d->losses.kinds - 1)
            sum += (double)tvlm_clip_weigh_parts(
                clip, d->weights, clip_distance(clip, clip->stream.anchors[tile], clip->begin) + PARTS * tile,
                1.0);
    return sum;
}

/* Takes one thumbnail in place of what was chosen where the choice has a larger squared error in its slot than the best
 * thumbnail that a slot's share pays for, which is what downsampling would show. What is held must be better by more than is uncertain. */
static tvlm_status keep_error(tvlm_clip *clip, double slot, clip_choice *choice) {
    const int32_t most = (int32_t)fmin(fmax(slot, 1.0), fmin(fmax(clip->stream.bucket, 0.0), INT32_MAX));
    clip_choice plain = {0};
    decision d;
    tvlm_status status = begin(clip, 1, 0.0, &d);
    if (status == TVLM_OK) {
        for (int32_t tile = 0; tile < clip->tiles; ++tile) d.times[tile] = 1.0;
        fill_tables(&d);
        bool made = tvlm_clip_downsample(&d.losses, most, &plain);
        const double error = made ? tvlm_clip_error_of(&d.losses, choice) : -1.0;
        if (error >= 0.0 && plain.count > 0 && plain.lost < error + UNCERTAIN * changed(&d, choice))
            made = tvlm_clip_spend_by_error(&d.losses, most, &plain, choice);
        status = made && error >= 0.0 ? TVLM_OK : tvlm_clip_no_memory(clip);
    }
    tvlm_clip_choice_free(&plain);
    end(&d);
    return status;
}

/* Chooses at the running price, or at a higher one if the bucket has less. `slot` is a slot's share. */
static tvlm_status choose(const decision *d, clip_solver *solver, double slot, clip_choice *choice) {
    tvlm_clip *const clip = d->clip;
    const clip_losses *const losses = &d->losses;
    const double most = clip->stream.bucket + (losses->slots - 1) * slot;
    const clip_token held = {0, losses->slots, losses->kinds - 1, 0};
    if (is_beyond_bucket(clip))
        return tvlm_clip_choice_add(losses, &held, choice) ? TVLM_OK : tvlm_clip_no_memory(clip);
    const bool solved = clip->begin == 0 ? tvlm_clip_solve_budget(solver, (int32_t)fmin(most, INT32_MAX),
                                                                  &clip->price, choice)
                                         : tvlm_clip_solve(solver, clip->price, choice);
    if (!solved || !solve_within(clip, solver, losses, clip->price, choice)) return tvlm_clip_no_memory(clip);
    /* With a latency a window has more slots than the one whose errors are looked at. */
    return losses->slots == 1 ? keep_error(clip, slot, choice) : TVLM_OK;
}

/* Spends what the bucket has. The running price then follows it. */
static tvlm_status spend(const decision *d, clip_solver *solver, clip_choice *choice) {
    tvlm_clip *const clip = d->clip;
    const clip_losses *const losses = &d->losses;
    clip_stream *const s = &clip->stream;
    const double slot = fmax(tvlm_clip_share(clip) * clip->tiles, 1e-9);
    s->bucket += tvlm_clip_granted(clip, clip->begin + 1) - tvlm_clip_granted(clip, clip->begin);
    TVLM_TRY(choose(d, solver, slot, choice));
    s->bucket -= spent_first(losses, choice);
    const double away = fmin(fmax(s->bucket / slot, -PRICE_SHARES), PRICE_SHARES);
    clip->price = fmax(clip->price * exp(-PRICE_GAIN * away), tvlm_clip_lowest_price(solver));
    return TVLM_OK;
}

/* As little as a slot needs that may lose so much. */
static tvlm_status tolerate(const decision *d, clip_solver *solver, clip_choice *choice) {
    const double most = clip_tolerance(d->clip) * d->losses.slots;
    return tvlm_clip_solve_tolerance(solver, most, &d->clip->price, choice) ? TVLM_OK
                                                                            : tvlm_clip_no_memory(d->clip);
}

/* Remembers what is shown once the first slot's tokens are. */
static void remember(const decision *d) {
    tvlm_clip *const clip = d->clip;
    for (int32_t tile = 0; tile < clip->tiles; ++tile) {
        const clip_seen *const now = &d->seen[clip->tree.place_of[tile]];
        if (d->losses.held && now->kind == d->losses.kinds - 1) continue;
        const float *const row = clip_kind_row(clip, clip->begin, 0, now->kind);
        find_base(clip, clip->begin, now->kind, tile, clip->stream.bases + PARTS * tile);
        memcpy(clip->stream.own + PARTS * tile, row + PARTS * tile, PARTS * sizeof *row);
        clip->stream.anchors[tile] = clip->shown_from[tile] = clip->begin;
    }
    if (clip->params.motion) tvlm_clip_carry_remember(clip, clip->begin);
}

/* How many tokens a slot would have if all slots had the same. With a tolerance that is what they took so far. */
static double slot_tokens(const tvlm_clip *clip) {
    const double spent = (double)clip->spent / (clip->begin + 1);
    return fmax(clip_tolerates(clip) ? spent : tvlm_clip_granted(clip, 1.0), 1.0);
}

/* Adds up what is lost in the slot: of all tiles, without what is to come; where nothing is shown, as much as by a thumbnail of one
 * patch; and by the best thumbnail of each slot's tokens. */
static void add_up(const decision *d) {
    tvlm_clip *const clip = d->clip;
    const double most = slot_tokens(clip);
    double lost = 0.0, least = INFINITY;
    for (int32_t tile = 0; tile < clip->tiles; ++tile) {
        float parts[PARTS];
        if (is_over(clip, tile)) /* nothing is shown there */
            memcpy(parts, clip_kind_row(clip, clip->begin, 0, CLIP_THUMBNAIL) + PARTS * tile, sizeof parts);
        else if (clip->stream.anchors[tile] == clip->begin)
            memcpy(parts, clip->stream.own + PARTS * tile, sizeof parts);
        else
            add_change(clip, clip->stream.bases + PARTS * tile, clip->stream.anchors[tile], clip->begin, tile,
                       parts);
        lost += (double)tvlm_clip_weigh_parts(clip, d->weights, parts, d->emphasised[tile]);
    }
    for (int32_t kind = CLIP_THUMBNAIL; kind < clip->kinds; ++kind) {
        const float *const row = clip_kind_row(clip, clip->begin, 0, kind);
        double sum = 0.0;
        if (clip_tokens_of(&d->losses, kind) > most) continue;
        for (int32_t tile = 0; tile < clip->tiles; ++tile)
            sum += (double)tvlm_clip_weigh_parts(clip, d->weights, row + PARTS * tile, d->emphasised[tile]);
        least = fmin(least, sum);
    }
    clip->lost += lost;
    clip->lost_downsampled += least;
}

/* Chooses, and keeps what is bought in the first slot of the window. */
static tvlm_status decide(decision *d, clip_choice *choice) {
    tvlm_clip *const clip = d->clip;
    find_times(d);
    fill_tables(d);
    clip_solver *const solver = tvlm_clip_solver_make(&d->losses);
    if (solver == NULL) return tvlm_clip_no_memory(clip);
    const tvlm_status status = clip_tolerates(clip) ? tolerate(d, solver, choice) : spend(d, solver, choice);
    tvlm_clip_solver_free(solver);
    TVLM_TRY(status);
    if (!tvlm_clip_keep(clip, &d->losses, choice, 1)) return tvlm_clip_no_memory(clip);
    tvlm_clip_show(&d->losses, choice, 1, d->seen);
    remember(d);
    add_up(d);
    return TVLM_OK;
}

tvlm_status tvlm_clip_decide_next(tvlm_clip *clip, int32_t slots) {
    decision d;
    clip_choice choice = {0};
    tvlm_status status = begin(clip, slots, CLIP_DETAIL, &d);
    if (status == TVLM_OK) status = decide(&d, &choice);
    if (status == TVLM_OK) tvlm_clip_move_on(clip, slots, 1);
    tvlm_clip_choice_free(&choice);
    end(&d);
    return status;
}
