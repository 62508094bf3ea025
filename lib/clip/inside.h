/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clip/inside.h: what a clip consists of, for its own files:
 *   measure.c  frames, and what they lose while they are shown
 *   table.c    the losses of a window, by which the solver chooses
 *   window.c   windows, budgets, and what is shown from one window to the next
 *   clip.c     parameters, and tokens as they are handed out
 */
#ifndef TVLM_CLIP_INSIDE_H
#define TVLM_CLIP_INSIDE_H

#include "clip/solve.h"
#include "select/budget.h"
#include "stack/stack.h"
#include "texturevlm/clip.h"

/* The most slots that a window has, and the least. A quarter of a window is for how many slots the loss of a token is
 * measured. */
enum { CLIP_WINDOW_MOST = 64, CLIP_WINDOW_LEAST = 8, CLIP_LAGS_MOST = CLIP_WINDOW_MOST / 4 };

/* The share of the loss that is detail which cannot be read. */
#define CLIP_DETAIL 0.5

enum { CLIP_TEMPORAL_MAX = 16 };

struct tvlm_clip {
    tvlm_device *device;
    struct tvlm_clip_params params;
    int32_t width, height, patch, temporal, tiles;
    int32_t window, lags; /* slots: of a window, and for how many the loss of a token is measured */
    bool ended, failed;

    /* Kinds of tokens. `measured` is the number of a kind's picture among those that are measured. */
    int32_t kinds, pictures;
    int32_t measured[CLIP_KINDS_MAX];
    tvlm_budget_grid grids[CLIP_THUMBNAILS_MAX];
    tvlm_budget_size sizes[CLIP_KINDS_MAX];

    /* The last `images` frames. Frame n is image n % images. */
    tvlm_stack *stack;
    int32_t images;
    tvlm_budget_weights *weights;
    tvlm_buffer *buffer;
    float *read; /* what is read from it: [frames][pictures][tiles][2] */

    int32_t frame_width, frame_height; /* of the frames as they are handed in */
    int32_t frames;                    /* that came */
    int32_t looked_at;                 /* slots whose tokens are measured as long as they are shown */
    /* Of the slots from `begin` on: [slot - begin][slots later][pictures][tiles][2]. */
    int32_t begin;
    float *table;
    /* What is shown when the window begins: what it loses in the slots of the window, [slot - begin][tiles][2], and in
     * which slot of the video it was bought, [tiles]. */
    float *shown;
    int32_t *shown_from;

    tvlm_budget_tree tree;
    double price;
    clip_token *tokens; /* that are final; slots are counted from the first of the video */
    int32_t token_count, token_room;
    int64_t spent;
    double lost, lost_downsampled; /* sums of shares, one a slot */
    tvlm_clip_token *told;
    int32_t told_count;
};

/* How many slots the frames that came are, the last of which may lack frames. */
static inline int32_t clip_slot_count(const tvlm_clip *clip) {
    return (clip->frames + clip->temporal - 1) / clip->temporal;
}

tvlm_status clip_no_memory(const tvlm_clip *clip);

/* ---- measure.c ---- */

/* Makes what frames are measured with. */
tvlm_status clip_open(tvlm_clip *clip);
void clip_close(tvlm_clip *clip);

/* Takes in a frame. */
tvlm_status clip_take(tvlm_clip *clip, const tvlm_image *frame);

/* Measures the tokens of the slots that all frames are there for, of all slots if `all`, but at most up to `end`. */
tvlm_status clip_measure(tvlm_clip *clip, bool all, int32_t end);

/* What the tokens of a slot lose `later` slots later: [pictures][tiles][2]. */
static inline float *clip_row(const tvlm_clip *clip, int32_t slot, int32_t later) {
    return clip->table + ((size_t)(slot - clip->begin) * (size_t)clip->lags + (size_t)later) *
                             (size_t)clip->pictures * (size_t)clip->tiles * 2;
}

/* ---- table.c ---- */

/*
 * Works out what tokens lose in the slots of a window, of which there are `slots`: fills in losses->lost and shares it
 * with what is shown already, if the window is not the first. *whole becomes what a thumbnail of one patch in each slot
 * loses, weighed in the same way. The caller frees losses->lost.
 */
tvlm_status clip_weigh(tvlm_clip *clip, int32_t slots, clip_losses *losses, double *whole);

/* Works out what is shown of a choice before slot `slot` of a window, and what that loses from there on: fills in
 * clip->shown and clip->shown_from for the window that begins there. */
tvlm_status clip_carry(tvlm_clip *clip, int32_t slots, const clip_choice *choice, const clip_losses *losses,
                       int32_t slot);

/* ---- window.c ---- */

/* Decides the slots of the window, `slots` of them, and keeps the tokens of the first `final`. */
tvlm_status clip_decide(tvlm_clip *clip, int32_t slots, int32_t final);

#endif
