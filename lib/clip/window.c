/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.c: decides the tokens of a window, and goes on to the next.
 */
#include <math.h>
#include <string.h>

#include "clip/inside.h"
#include "core/memory.h"
#include "core/try.h"
#include "texturevlm/select.h"

double tvlm_clip_share(const tvlm_clip *clip) {
    const struct tvlm_clip_params *const p = &clip->params;
    if (p->k > 0) return p->k / (ceil((double)p->frames / clip->temporal) * clip->tiles);
    return tvlm_budget_count(p->share, 1);
}

double tvlm_clip_granted(const tvlm_clip *clip, double slots) {
    const struct tvlm_clip_params *const p = &clip->params;
    /* Where more frames come than were announced, there is no more than k for all of them. */
    if (p->k > 0) return fmin(p->k, floor(p->k * slots / ceil((double)p->frames / clip->temporal)));
    return floor(tvlm_clip_share(clip) * clip->tiles * slots);
}

static int32_t at_most_all(const clip_losses *losses, const tvlm_clip *clip, double tokens) {
    const double all = (double)losses->slots * (clip->tiles + 1.0);
    return (int32_t)fmin(fmax(tokens, 0.0), fmin(all, INT32_MAX));
}

double tvlm_clip_error_of(const clip_losses *errors, const clip_choice *choice) {
    double lost, across;
    if (!tvlm_clip_replay(errors, choice, errors->slots, &lost) || !tvlm_clip_across(errors, choice, &across))
        return -1.0;
    return lost + across;
}

/* Squares are taken where so many times their error is at most that of thumbnails: the table lacks some of what is lost between squares. */
#define MIXTURE 1.05

bool tvlm_clip_spend_by_error(const clip_losses *errors, int32_t most, const clip_choice *plain,
                              clip_choice *choice) {
    clip_solver *const solver = tvlm_clip_solver_make(errors);
    double price = 0.0;
    const bool made = solver != NULL && tvlm_clip_solve_budget(solver, most, &price, choice) &&
                      tvlm_clip_fill(errors, most, choice);
    const double error = made ? tvlm_clip_error_of(errors, choice) : -1.0;
    tvlm_clip_solver_free(solver);
    return error >= 0.0 && (MIXTURE * error <= plain->lost || tvlm_clip_downsample(errors, most, choice));
}

/*
 * Sees to it that a choice has no larger squared error than the best downsampling. It may have one for two reasons:
 *   - The loss is half detail, and a choice may show more detail although its error is larger.
 *   - What comes across the sides of tiles is not in the table. It counts where all else is nearly right.
 * `losses` is the table by which the choice was made.
 */
static tvlm_status keep_error(tvlm_clip *clip, const clip_losses *losses, int32_t most, clip_choice *choice) {
    clip_losses errors;
    clip_choice plain = {0};
    double whole;
    TVLM_TRY(tvlm_clip_weigh(clip, losses->slots, 0.0, &errors, &whole));
    bool made = tvlm_clip_downsample(&errors, most, &plain);
    const double error = made && plain.count > 0 ? tvlm_clip_error_of(&errors, choice) : 0.0;
    made = made && error >= 0.0;
    if (made && plain.count > 0 && error > plain.lost)
        made = tvlm_clip_spend_by_error(&errors, most, &plain, choice) &&
               tvlm_clip_replay(losses, choice, losses->slots, &choice->lost);
    tvlm_clip_choice_free(&plain);
    free(errors.lost);
    return made ? TVLM_OK : tvlm_clip_no_memory(clip);
}

/* What the budget grants of tokens that may not be held for longer. The first slot gets one token in any case, as it does where
 * tokens may be held. */
static tvlm_status scrape(tvlm_clip *clip, const clip_losses *losses, clip_choice *choice) {
    int32_t granted[CLIP_WINDOW_MOST];
    for (int32_t slot = 0; slot < losses->slots; ++slot) {
        const double tokens = tvlm_clip_granted(clip, clip->begin + slot + 1) - (double)clip->spent;
        granted[slot] = at_most_all(losses, clip, clip->begin == 0 ? fmax(tokens, 1.0) : tokens);
    }
    return tvlm_clip_scrape(losses, granted, clip->params.hold, choice) ? TVLM_OK : tvlm_clip_no_memory(clip);
}

/* Spends the budget of a window, or as little as a tolerance asks for. `plain` becomes the best downsampling of as many
 * tokens, and is empty where there is none. */
static tvlm_status spend(tvlm_clip *clip, clip_solver *solver, const clip_losses *losses, double whole,
                         clip_choice *plain, clip_choice *choice) {
    if (clip_tolerates(clip)) {
        const bool solved =
            tvlm_clip_solve_tolerance(solver, clip_tolerance(clip) * whole, &clip->price, choice) &&
            tvlm_clip_downsample(losses, choice->spent, plain);
        return solved ? TVLM_OK : tvlm_clip_no_memory(clip);
    }
    const int32_t most =
        at_most_all(losses, clip, tvlm_clip_granted(clip, clip->begin + losses->slots) - (double)clip->spent);
    if (!tvlm_clip_solve_budget(solver, most, &clip->price, choice)) return tvlm_clip_no_memory(clip);
    if (clip->params.hold > 0 && choice->spent > most) return scrape(clip, losses, choice);
    if (!tvlm_clip_fill(losses, most, choice) || !tvlm_clip_downsample(losses, most, plain) ||
        (plain->count > 0 && plain->lost < choice->lost && !tvlm_clip_downsample(losses, most, choice)))
        return tvlm_clip_no_memory(clip);
    return keep_error(clip, losses, most, choice);
}

/* ---- What is final ---- */

static bool keep_token(tvlm_clip *clip, const clip_token *token) {
    if (clip->token_count == clip->token_room) {
        const int32_t room = clip->token_room > 0 ? 2 * clip->token_room : 1024;
        clip_token *const tokens = realloc(clip->tokens, (size_t)room * sizeof *tokens);
        if (tokens == NULL) return false;
        clip->tokens = tokens;
        clip->token_room = room;
    }
    clip->tokens[clip->token_count++] = *token;
    return true;
}

bool tvlm_clip_keep(tvlm_clip *clip, const clip_losses *losses, const clip_choice *choice, int32_t final) {
    for (int32_t i = 0; i < choice->count && choice->tokens[i].from < final; ++i) {
        clip_token token = choice->tokens[i];
        if (losses->held && token.kind == losses->kinds - 1) continue;
        token.from += clip->begin;
        if (!keep_token(clip, &token)) return false;
        clip->spent += clip_tokens_of(losses, token.kind);
    }
    return true;
}

void tvlm_clip_move_on(tvlm_clip *clip, int32_t slots, int32_t final) {
    const size_t row = (size_t)clip->lags * (size_t)clip->pictures * 2 * (size_t)clip->tiles;
    if (clip->lags > 1)
        memcpy(clip->before, clip_kind_row(clip, clip->begin + final - 1, 1, CLIP_TILE),
               2 * (size_t)clip->tiles * sizeof *clip->before);
    memmove(clip->table, clip->table + (size_t) final * row,
            (size_t)(slots - final) * row * sizeof *clip->table);
    clip->begin += final;
}

tvlm_status tvlm_clip_decide(tvlm_clip *clip, int32_t slots, int32_t final) {
    clip_losses losses;
    clip_choice choice = {0}, plain = {0};
    double whole, lost = 0.0, lost_plain = 0.0;
    TVLM_TRY(tvlm_clip_weigh(clip, slots, CLIP_DETAIL, &losses, &whole));
    clip_solver *const solver = tvlm_clip_solver_make(&losses);
    tvlm_status status =
        solver != NULL ? spend(clip, solver, &losses, whole, &plain, &choice) : tvlm_clip_no_memory(clip);
    if (status == TVLM_OK && !(tvlm_clip_replay(&losses, &choice, final, &lost) &&
                               (plain.count == 0 || tvlm_clip_replay(&losses, &plain, final, &lost_plain)) &&
                               tvlm_clip_keep(clip, &losses, &choice, final)))
        status = tvlm_clip_no_memory(clip);
    if (status == TVLM_OK && final < slots) status = tvlm_clip_carry(clip, slots, &choice, &losses, final);
    if (status == TVLM_OK) {
        clip->lost += lost;
        clip->lost_downsampled += plain.count > 0 ? lost_plain : lost;
        tvlm_clip_move_on(clip, slots, final);
    }
    tvlm_clip_choice_free(&choice);
    tvlm_clip_choice_free(&plain);
    tvlm_clip_solver_free(solver);
    free(losses.lost);
    return status;
}
