/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clip.c: the parameters of a clip, its frames, and its tokens as they are handed out.
 */
#include <math.h>

#include "clip/inside.h"
#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "texturevlm/select.h"

#define EMPHASIS_MOST 1000.0f

/* ---- Parameters ---- */

static tvlm_status check_budget(const tvlm_log *log, const struct tvlm_clip_params *p) {
    if ((p->k != 0) + (p->share != 0.0f) + (p->tolerance != 0.0f) > 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "k, share and tolerance exclude each other");
    if (p->k < 0) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d tokens", (int)p->k);
    if (p->frames < 0 || (p->k > 0 && p->frames == 0))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d tokens for %d frames: say how many frames come",
                         (int)p->k, (int)p->frames);
    if (!(p->share >= 0.0f && p->share <= 1.0f))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a share of %g; it is above 0 and at most 1",
                         (double)p->share);
    if (!(p->tolerance == TVLM_EXPLICIT_ZERO || (p->tolerance >= 0.0f && p->tolerance <= 1.0f)))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a tolerance of %g; it is 0 to 1", (double)p->tolerance);
    return TVLM_OK;
}

static tvlm_status take_params(tvlm_clip *clip, const struct tvlm_clip_params *params) {
    const tvlm_log *const log = &clip->device->log;
    struct tvlm_clip_params *const p = &clip->params;
    if (params != NULL) *p = *params;
    const double patch = p->patch == 0.0f ? (double)TVLM_PATCH_DEFAULT : (double)p->patch;
    if (!(patch >= 4.0 && patch <= 64.0) || floor(patch) != patch)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a patch of %g pixels; it is a whole number from 4 to 64",
                         patch);
    if (p->temporal < 0 || p->temporal > CLIP_TEMPORAL_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d frames in a slot; 1 to %d are possible",
                         (int)p->temporal, (int)CLIP_TEMPORAL_MAX);
    if (p->hold < 0) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a token is held for %d slots", (int)p->hold);
    if (p->latency < 0 || p->latency > CLIP_LATENCY_MOST)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a latency of %d slots; 0 to %d are possible",
                         (int)p->latency, (int)CLIP_LATENCY_MOST);
    if (!(p->emphasis == TVLM_EXPLICIT_ZERO || (p->emphasis >= 0.0f && p->emphasis <= EMPHASIS_MOST)))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an emphasis of %g; 0 to %g are possible",
                         (double)p->emphasis, (double)EMPHASIS_MOST);
    if (p->latency > 0 && !p->causal)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a latency of %d slots is for a stream (causal)",
                         (int)p->latency);
    if (p->motion && (!p->causal || p->latency > 0))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "what is held moves along in a stream without a latency only (causal)");
    TVLM_TRY(check_budget(log, p));
    if (p->k == 0 && p->share == 0.0f && p->tolerance == 0.0f) p->tolerance = TVLM_TOLERANCE_READABLE;
    clip->patch = (int32_t)patch;
    clip->temporal = p->temporal > 0 ? p->temporal : TVLM_CLIP_TEMPORAL_DEFAULT;
    return TVLM_OK;
}

static tvlm_status begin(tvlm_clip *clip, const struct tvlm_clip_params *params) {
    TVLM_TRY(take_params(clip, params));
    if (!tvlm_budget_tree_make((clip->width + clip->patch - 1) / clip->patch,
                               (clip->height + clip->patch - 1) / clip->patch, &clip->tree))
        return tvlm_clip_no_memory(clip);
    clip->tiles = clip->tree.columns * clip->tree.rows;
    return tvlm_clip_open(clip);
}

tvlm_status tvlm_clip_create(tvlm_device *device, int32_t width, int32_t height,
                             const struct tvlm_clip_params *params, tvlm_clip **clip) {
    TVLM_NEED(NULL, device);
    TVLM_ENTER(device);
    TVLM_NEED(&device->log, clip);
    TVLM_CHECK_RESERVED(&device->log, tvlm_clip_params, params);
    if (width < 1 || height < 1 || width > 16384 || height > 16384)
        return tvlm_fail(&device->log, TVLM_ERROR_ARGUMENT,
                         "a clip of %dx%d pixels; sides of 1 to 16384 are possible", (int)width, (int)height);
    tvlm_clip *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for a clip");
    made->device = device;
    made->width = width;
    made->height = height;
    const tvlm_status status = begin(made, params);
    if (status != TVLM_OK)
        tvlm_clip_destroy(&made);
    else
        *clip = made;
    return status;
}

void tvlm_clip_destroy(tvlm_clip **clip) {
    if (clip == NULL || *clip == NULL) return;
    TVLM_ENTER_TO_FREE((*clip)->device);
    tvlm_clip *const c = *clip;
    tvlm_clip_close(c);
    tvlm_budget_tree_free(&c->tree);
    free(c->tokens);
    free(c->told);
    free(c);
    *clip = NULL;
}

/* ---- Tokens ---- */

/* Takes a place away from the token that was shown there. Where that was its last one, it ends. */
static void hide(clip_token *tokens, int32_t *left, int32_t token, int32_t slot) {
    if (token >= 0 && --left[token] == 0 && slot < tokens[token].until) tokens[token].until = slot;
}

/* Finds when each token is hidden. `over` has room for [places], and `left` for a number for each token. */
static void find_ends(tvlm_clip *clip, int32_t *over, int32_t *left) {
    const tvlm_budget_tree *const tree = &clip->tree;
    for (int32_t place = 0; place < tree->places; ++place) over[place] = -1;
    const int32_t slots = clip_slot_count(clip);
    for (int32_t t = 0; t < clip->token_count; ++t) {
        clip_token *const token = &clip->tokens[t];
        const int32_t hold = clip->params.hold, left_slots = slots - token->from;
        token->until = hold > 0 && hold < left_slots ? token->from + hold : slots; /* at the latest */
        left[t] = 0;
        for (int32_t i = 0; i < clip_places_of(tree, token->kind); ++i) {
            const int32_t place = clip_place(tree, token, i);
            if (tree->tile_of[place] < 0) continue;
            hide(clip->tokens, left, over[place], token->from);
            over[place] = t;
            ++left[t];
        }
    }
}

/* Tells a token of a thumbnail, or of a square that is `across` tokens along each side. */
static void tell_grid(tvlm_clip *clip, const clip_token *token, tvlm_clip_token shape, int32_t columns,
                      int32_t rows) {
    const float x = shape.x, y = shape.y, width = shape.width, height = shape.height;
    const float across = (float)clip->frame_width / (float)clip->width;
    const float down = (float)clip->frame_height / (float)clip->height;
    shape.slot = token->from;
    shape.until = clip->stream.ring > 0 ? 0 : token->until;
    shape.width = across * width;
    shape.height = down * height;
    for (int32_t i = 0; i < columns * rows; ++i) {
        shape.x = across * (x + ((float)(i % columns) + 0.5f) * width);
        shape.y = down * (y + ((float)(i / columns) + 0.5f) * height);
        clip->told[clip->told_count++] = shape;
    }
}

static void tell(tvlm_clip *clip, const clip_token *token) {
    const float patch = (float)clip->patch;
    if (token->kind >= CLIP_THUMBNAIL) {
        const tvlm_budget_grid *const grid = &clip->grids[token->kind - CLIP_THUMBNAIL];
        const tvlm_clip_token cell = {.width = (float)clip->width / (float)grid->columns,
                                      .height = (float)clip->height / (float)grid->rows,
                                      .columns = grid->columns,
                                      .rows = grid->rows};
        tell_grid(clip, token, cell, grid->columns, grid->rows);
        return;
    }
    const int32_t corner = tvlm_budget_corner(&clip->tree, token->kind, token->number);
    const int32_t across = token->kind == CLIP_NINE ? 3 : 1;
    const float side = token->kind == CLIP_NINE ? patch * 4.0f / 3.0f : patch * (float)(1 << token->kind);
    const tvlm_clip_token tile = {.x = (float)(corner % clip->tree.columns) * patch,
                                  .y = (float)(corner / clip->tree.columns) * patch,
                                  .width = side,
                                  .height = side};
    tell_grid(clip, token, tile, across, across);
}

/* How many tokens the kept ones are. */
static int64_t count_told(const tvlm_clip *clip) {
    int64_t count = 0;
    for (int32_t i = 0; i < clip->token_count; ++i) {
        const int32_t kind = clip->tokens[i].kind;
        count += kind >= CLIP_THUMBNAIL ? tvlm_budget_patches(&clip->grids[kind - CLIP_THUMBNAIL])
                 : kind == CLIP_NINE    ? TVLM_BUDGET_PATCHES
                                        : 1;
    }
    return count;
}

/* Makes the tokens that are handed out of those that are kept. */
static tvlm_status tell_all(tvlm_clip *clip) {
    int32_t *const over = tvlm_allocate((size_t)clip->tree.places, sizeof *over);
    int32_t *const left = tvlm_allocate((size_t)clip->token_count, sizeof *left);
    free(clip->told);
    clip->told_count = 0;
    clip->told = tvlm_allocate((size_t)count_told(clip), sizeof *clip->told);
    const bool made = over != NULL && left != NULL && clip->told != NULL;
    if (made && clip->stream.ring == 0) find_ends(clip, over, left);
    for (int32_t i = 0; made && i < clip->token_count; ++i) tell(clip, &clip->tokens[i]);
    free(over);
    free(left);
    return made ? TVLM_OK : tvlm_clip_no_memory(clip);
}

const tvlm_clip_token *tvlm_clip_tokens(const tvlm_clip *clip, int32_t *count) {
    if (count != NULL) *count = clip != NULL ? clip->told_count : 0;
    return clip != NULL ? clip->told : NULL;
}

tvlm_status tvlm_clip_get_info(const tvlm_clip *clip, tvlm_clip_info *info) {
    TVLM_NEED(NULL, clip);
    TVLM_ENTER(clip->device);
    TVLM_NEED(&clip->device->log, info);
    const double decided = clip->begin > 0 ? clip->begin : 1.0;
    const clip_map motion = tvlm_clip_motion_of(clip, clip->begin - 1);
    *info = (tvlm_clip_info){.width = clip->width,
                             .height = clip->height,
                             .patch = clip->patch,
                             .temporal = clip->temporal,
                             .frames = clip->frames,
                             .slots = clip_slot_count(clip),
                             .decided = clip->begin,
                             .tokens_of_slot = clip->tiles,
                             .tokens = clip->spent,
                             .lost = clip->lost / decided,
                             .lost_downsampled = clip->lost_downsampled / decided};
    for (int i = 0; i < 6; ++i) info->motion[i] = (float)motion.at[i];
    return TVLM_OK;
}

/* ---- Frames ---- */

/* Decides all windows whose slots are measured. With `all` the video has ended. */
static tvlm_status go_on(tvlm_clip *clip, bool all) {
    for (;;) {
        const int32_t end = clip->begin + clip->window, slots = clip_slot_count(clip);
        TVLM_TRY(tvlm_clip_measure(clip, all, end));
        if (clip->looked_at < end && !all) return TVLM_OK;
        const bool last = all && slots <= end;
        if (last && slots == clip->begin) return TVLM_OK;
        TVLM_TRY(tvlm_clip_decide(clip, last ? slots - clip->begin : clip->window,
                                  last ? slots - clip->begin : clip->window / 2));
        TVLM_TRY(tell_all(clip));
    }
}

/* The same in a stream. Its tokens are forgotten once they are told. */
static tvlm_status stream_on(tvlm_clip *clip, bool all) {
    const int32_t temporal = clip->temporal;
    clip->token_count = 0;
    for (int32_t slot = clip->looked_at; slot < clip_slot_count(clip); ++slot) {
        if (clip->frames < temporal * (slot + 1) && !all) break;
        TVLM_TRY(tvlm_clip_measure(clip, all, slot + 1));
        TVLM_TRY(tvlm_clip_compare(clip, slot));
        if (clip->looked_at - clip->begin > clip->params.latency)
            TVLM_TRY(tvlm_clip_decide_next(clip, clip->looked_at - clip->begin));
    }
    while (all && clip->begin < clip->looked_at)
        TVLM_TRY(tvlm_clip_decide_next(clip, clip->looked_at - clip->begin));
    return tell_all(clip);
}

static tvlm_status fail_for_good(tvlm_clip *clip, tvlm_status status) {
    if (status != TVLM_OK) clip->failed = true;
    return status;
}

static tvlm_status check_open(const tvlm_clip *clip) {
    if (clip->ended) return tvlm_fail(&clip->device->log, TVLM_ERROR_ARGUMENT, "the clip has ended");
    if (clip->failed) return tvlm_fail(&clip->device->log, TVLM_ERROR_ARGUMENT, "the clip failed before");
    return TVLM_OK;
}

tvlm_status tvlm_clip_push(tvlm_clip *clip, const tvlm_image *frame) {
    TVLM_NEED(NULL, clip);
    TVLM_ENTER(clip->device);
    TVLM_NEED(&clip->device->log, frame);
    TVLM_TRY(check_open(clip));
    if (clip->frames > 0 && (frame->width != clip->frame_width || frame->height != clip->frame_height))
        return tvlm_fail(&clip->device->log, TVLM_ERROR_ARGUMENT,
                         "frame %d has %dx%d pixels, and the first one %dx%d", (int)clip->frames,
                         (int)frame->width, (int)frame->height, (int)clip->frame_width,
                         (int)clip->frame_height);
    const tvlm_status status = tvlm_clip_take(clip, frame);
    if (status == TVLM_ERROR_ARGUMENT) return status;
    if (status != TVLM_OK) return fail_for_good(clip, status);
    clip->frame_width = frame->width;
    clip->frame_height = frame->height;
    return fail_for_good(clip, clip->stream.ring > 0 ? stream_on(clip, false) : go_on(clip, false));
}

tvlm_status tvlm_clip_end(tvlm_clip *clip) {
    TVLM_NEED(NULL, clip);
    TVLM_ENTER(clip->device);
    if (clip->ended) {
        if (clip->stream.ring > 0) clip->told_count = 0; /* this call decides nothing */
        return TVLM_OK;
    }
    TVLM_TRY(check_open(clip));
    if (clip->frames == 0) return tvlm_fail(&clip->device->log, TVLM_ERROR_ARGUMENT, "a clip without frames");
    const tvlm_status status =
        fail_for_good(clip, clip->stream.ring > 0 ? stream_on(clip, true) : go_on(clip, true));
    if (status == TVLM_OK) clip->ended = true;
    return status;
}
