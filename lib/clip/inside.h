/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clip/inside.h: what a clip consists of, for its own files:
 *   measure.c  frames, and what they lose while they are shown
 *   table.c    the losses of a window, by which the solver chooses
 *   window.c   windows, budgets, and what is shown from one window to the next
 *   causal.c   streams, slot by slot
 *   moving.c   how much more what moves counts
 *   camera.c   how the whole frame moves
 *   carry.c    what is held moves along with it
 *   clip.c     parameters, and tokens as they are handed out
 */
#ifndef TVLM_CLIP_INSIDE_H
#define TVLM_CLIP_INSIDE_H

#include <math.h>

#include "clip/camera.h"
#include "clip/solve.h"
#include "core/check.h"
#include "select/budget.h"
#include "stack/stack.h"
#include "texturevlm/clip.h"

/* The most slots that a window has, and the least. A quarter of a window is for how many slots the loss of a token is
 * measured. */
enum { CLIP_WINDOW_MOST = 64, CLIP_WINDOW_LEAST = 8, CLIP_LAGS_MOST = CLIP_WINDOW_MOST / 4 };

/* The share of the loss that is detail which cannot be read. */
#define CLIP_DETAIL 0.5

enum { CLIP_TEMPORAL_MAX = 16, CLIP_LATENCY_MOST = 8 };

/* What the device works out next for the host: floats that are added to those at `to`, and at `also`. */
typedef struct clip_wanted {
    float *to, *also; /* NULL: to nothing else */
    size_t floats;
} clip_wanted;

/* A plan that lies on the device. */
typedef struct clip_plan {
    tvlm_budget_plan plan;
    int32_t first; /* the number of its first picture among those that are measured */
} clip_plan;

/*
 * What a stream knows where what is held moves along. Slot s is at place s % ring of what has [ring].
 *   - maps: how the frame moved from the slot before, in working pixels.
 *   - own: what is lost in a slot by what it shows, and bought: whether that was bought in the slot.
 *   - shown_from, changes: room for clip->shown_from and stream.changes while they are moved.
 */
typedef struct clip_carry {
    clip_view before, now;  /* of the last frame of the slot before, and of the last frame that came */
    clip_map *maps;         /* [ring] */
    float *own;             /* [ring][tiles][2] */
    bool *bought;           /* [ring][tiles] */
    int32_t *shown_from;    /* [tiles] */
    float *changes;         /* [tiles] */
    tvlm_budget_kept moved; /* luma of the slots before, each moved to where it is now */
} clip_carry;

/* What a stream knows of what is shown. A token's *anchor* is the slot with which later slots are compared: its own, as long
 * as that is in the ring, and then the oldest one that is. */
typedef struct clip_stream {
    int32_t ring; /* so many slots are compared with a new one, and that one; 0: the clip is no stream */
    float
        *distances; /* [ring][ring][tiles][2]: what a slot's last frame loses in the frames of a later slot */
    int32_t *anchors; /* [tiles] */
    float *bases;     /* [tiles][2]: what is lost beside the change since the anchor */
    float *own;       /* [tiles][2]: what is lost in its own slot by what was bought last */
    float *last;      /* [window][pictures][tiles][2]: what last frames lose in themselves */
    float *changes;   /* [tiles]: a running mean of what a tile loses from one slot to the next, weighed */
    double bucket;
    double *counts;                  /* [tiles]: how often what is lost in the last slot counts */
    double whole[TVLM_BUDGET_PARTS]; /* what thumbnails of one patch lost in all slots so far */
} clip_stream;

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

    /* The last frames. Tokens are still to be made of them. Frame n is in stack n % stack_count. */
    tvlm_stack **stacks;
    int32_t stack_count;
    tvlm_budget_kept
        kept; /* the last frames, with which tokens are compared: frame n is at place n % places */
    clip_plan plans[CLIP_KINDS_MAX], tiles_plan; /* of all pictures, and of the first one */
    int32_t plan_count;
    tvlm_buffer *buffer;
    float *read;                /* what is read from it: [rows][tiles][2] */
    struct clip_wanted *wanted; /* [rows]: what is worked out there, and not read yet */
    int32_t wanted_count;
    size_t wanted_floats; /* of all of them */

    int32_t frame_width, frame_height; /* of the frames as they are handed in */
    int32_t frames;                    /* that came */
    int32_t looked_at;                 /* slots whose tokens are measured as long as they are shown */
    /* Of the slots from `begin` on: [slot - begin][slots later][pictures][tiles][2]. */
    int32_t begin;
    float *table;
    /* [tiles][2]: what the last frames of the slot before the window lose in its first slot. */
    float *before;
    /* What is shown when the window begins: what it loses in the slots of the window, [slot - begin][tiles][2], and in
     * which slot of the video it was bought, [tiles]. */
    float *shown;
    int32_t *shown_from;

    clip_stream stream; /* where the clip is one */
    clip_carry carry;   /* and where what is held moves along */

    tvlm_budget_tree tree;
    double price;
    clip_token *tokens; /* that are final; slots are counted from the first of the video */
    int32_t token_count, token_room;
    int64_t spent;
    double lost, lost_downsampled; /* sums of shares, one a slot */
    tvlm_clip_token *told;
    int32_t told_count;
};

/* How many slots the frames that came are. The last slot may lack frames. */
static inline int32_t clip_slot_count(const tvlm_clip *clip) {
    return (clip->frames + clip->temporal - 1) / clip->temporal;
}

/* Whether a tolerance says how much is spent, in place of a number of tokens or a share; and how much may be lost. */
static inline bool clip_tolerates(const tvlm_clip *clip) {
    return clip->params.tolerance != 0.0f;
}
static inline double clip_tolerance(const tvlm_clip *clip) {
    return (double)tvlm_or_default(clip->params.tolerance, 0.0f);
}

tvlm_status tvlm_clip_no_memory(const tvlm_clip *clip);

/* ---- measure.c ---- */

/* Makes what frames are measured with. */
tvlm_status tvlm_clip_open(tvlm_clip *clip);
void tvlm_clip_close(tvlm_clip *clip);

/* The texture that a frame, one of the last clip->stack_count, lies in. */
const tvlm_texture *tvlm_clip_texture(const tvlm_clip *clip, int32_t frame);

/* Takes in a frame. */
tvlm_status tvlm_clip_take(tvlm_clip *clip, const tvlm_image *frame);

/* Measures the tokens of the slots that all frames are there for, of all slots if `all`, but at most up to `end`. A stream must
 * call tvlm_clip_read before it looks at them. */
tvlm_status tvlm_clip_measure(tvlm_clip *clip, bool all, int32_t end);

/* Reads, in one go, all that was measured and not read yet. */
tvlm_status tvlm_clip_read(tvlm_clip *clip);

/* What the tokens of a slot lose `later` slots later: [pictures][tiles][2]. */
static inline float *clip_row(const tvlm_clip *clip, int32_t slot, int32_t later) {
    return clip->table + ((size_t)(slot - clip->begin) * (size_t)clip->lags + (size_t)later) *
                             (size_t)clip->pictures * (size_t)clip->tiles * 2;
}

/* The last frame of a slot, as far as frames came. */
static inline int32_t clip_last_frame(const tvlm_clip *clip, int32_t slot) {
    const int32_t end = clip->temporal * (slot + 1);
    return (end < clip->frames ? end : clip->frames) - 1;
}

/* Adds to `to`, [count][tiles][2], what frames lose, if frame `frame` is shown in their place, once tvlm_clip_read was called.
 * They are the last frames of `count` slots, one after the other, from slot `slot` on. What is held in them moves along, where
 * it does. */
tvlm_status tvlm_clip_measure_others(tvlm_clip *clip, int32_t frame, int32_t slot, int32_t count,
                                     float *const *to);

/* The same of the tokens of one kind: [tiles][2]. */
static inline float *clip_kind_row(const tvlm_clip *clip, int32_t slot, int32_t later, int32_t kind) {
    return clip_row(clip, slot, later) + (size_t)clip->measured[kind] * 2 * (size_t)clip->tiles;
}

/* to = a + b, which are what a tile loses by both parts. Detail cannot be lost more than once. */
static inline void clip_add_parts(const tvlm_clip *clip, const float *a, const float *b, float *to) {
    const float pixels = (float)(clip->patch * clip->patch * clip->temporal);
    to[TVLM_BUDGET_ERROR] = a[TVLM_BUDGET_ERROR] + b[TVLM_BUDGET_ERROR];
    to[TVLM_BUDGET_DETAIL] = fminf(a[TVLM_BUDGET_DETAIL] + b[TVLM_BUDGET_DETAIL], pixels);
}

/* ---- moving.c ---- */

/* Finds how often the loss of each tile counts in a slot. `came` and `goes` are what the last frames of the slot before lose in
 * this slot, and its own in the next one, [tiles][2]; NULL: nothing is known of that; of neither, every tile counts once. times: [tiles]. */
void tvlm_clip_emphasise(const tvlm_clip *clip, const float *came, const float *goes, double *times);

/* ---- carry.c ---- */

/* Makes what a stream needs whose held tokens move along. */
tvlm_status tvlm_clip_carry_open(tvlm_clip *clip);
void tvlm_clip_carry_close(tvlm_clip *clip);

/* Takes in a frame, which is number clip->frames. */
tvlm_status tvlm_clip_carry_take(tvlm_clip *clip, const tvlm_image *frame);

/* Finds how the frame moved from the slot before, and moves what is known of what is shown along: stream.anchors, bases and
 * changes, and clip->shown_from. */
tvlm_status tvlm_clip_carry_on(tvlm_clip *clip, int32_t slot);

/* Writes the luma of the last frames of the slots from slot `first` on, moved to where it is in `frame`, which is of a later slot, to
 * the first places of carry.moved. *still: nothing moved, and nothing was written. */
tvlm_status tvlm_clip_carry_luma(tvlm_clip *clip, int32_t frame, int32_t first, bool *still);

/* Remembers what slot `slot` shows, once that is decided. */
void tvlm_clip_carry_remember(tvlm_clip *clip, int32_t slot);

/* How the frames, as they were handed in, moved from the slot before. */
clip_map tvlm_clip_motion_of(const tvlm_clip *clip, int32_t slot);

/* ---- table.c ---- */

/*
 * Works out what tokens lose in the `slots` slots of a window: fills in losses->lost and shares it with what is shown
 * already, if the window is not the first. The share `detail` of the loss is detail that cannot be read. If it is 0,
 * what moves counts no more than the rest. *whole becomes what a thumbnail of one patch in each slot loses, weighed in the
 * same way. The caller frees losses->lost.
 */
tvlm_status tvlm_clip_weigh(tvlm_clip *clip, int32_t slots, double detail, clip_losses *losses,
                            double *whole);

/* Begins an empty table for `slots` slots from clip->begin on. The caller frees losses->lost, which is NULL where there is no
 * memory. */
tvlm_status tvlm_clip_begin_losses(const tvlm_clip *clip, int32_t slots, clip_losses *losses);

/* Works out what is shown of a choice before slot `slot` of a window, and what that loses from there on: fills in
 * clip->shown and clip->shown_from for the window that begins there. */
tvlm_status tvlm_clip_carry(tvlm_clip *clip, int32_t slots, const clip_choice *choice,
                            const clip_losses *losses, int32_t slot);

/* What a tile loses by both parts, weighed, `times` times, and rounded. */
float tvlm_clip_weigh_parts(const tvlm_clip *clip, const double weights[TVLM_BUDGET_PARTS],
                            const float *parts, double times);

/* Sets what nines lose that lie partly beyond the frame to TVLM_BUDGET_NEVER: they cannot be bought. */
void tvlm_clip_leave_out_broken(const tvlm_clip *clip, const clip_losses *losses);

/* ---- causal.c ---- */

/* What tokens of the last frame of a slot lose in that frame: [pictures][tiles][2]. Slot s is at place s % window. */
static inline float *clip_last_row(const tvlm_clip *clip, int32_t slot) {
    return clip->stream.last +
           (size_t)(slot % clip->window) * (size_t)clip->pictures * (size_t)clip->tiles * 2;
}

/* What the last frame of a slot of the ring loses in a later one: [tiles][2]. */
static inline float *clip_distance(const tvlm_clip *clip, int32_t from, int32_t to) {
    const clip_stream *const s = &clip->stream;
    return s->distances + ((size_t)(from % s->ring) * (size_t)s->ring + (size_t)(to % s->ring)) *
                              TVLM_BUDGET_PARTS * (size_t)clip->tiles;
}

/* The oldest slot that a new one is compared with. */
static inline int32_t clip_oldest(const tvlm_clip *clip, int32_t slot) {
    return slot >= clip->stream.ring ? slot - clip->stream.ring + 1 : 0;
}

/* Compares a slot, all of whose frames are there or that is the last, with those before it. */
tvlm_status tvlm_clip_compare(tvlm_clip *clip, int32_t slot);

/* Decides the first slot that is not decided, with what is known of the `slots` that are there from it on. */
tvlm_status tvlm_clip_decide_next(tvlm_clip *clip, int32_t slots);

/* ---- window.c ---- */

/* The share of all tokens that may be spent, where no tolerance is given. */
double tvlm_clip_share(const tvlm_clip *clip);

/* How many tokens may be spent in the first `slots` slots of the video. */
double tvlm_clip_granted(const tvlm_clip *clip, double slots);

/* Keeps the tokens of the first `final` slots of a window. What is held from before the window is no token. False: no
 * memory. */
bool tvlm_clip_keep(tvlm_clip *clip, const clip_losses *losses, const clip_choice *choice, int32_t final);

/* What a choice loses by a table of squared errors, with what comes across the sides of tiles. Negative: no memory. */
double tvlm_clip_error_of(const clip_losses *errors, const clip_choice *choice);

/* Chooses at most so many tokens by a table of squared errors alone, or `plain`, the best downsampling by it, where that has less. False: no
 * memory. */
bool tvlm_clip_spend_by_error(const clip_losses *errors, int32_t most, const clip_choice *plain,
                              clip_choice *choice);

/* Lets the window begin `final` slots later. */
void tvlm_clip_move_on(tvlm_clip *clip, int32_t slots, int32_t final);

/* Decides the slots of the window, `slots` of them, and keeps the tokens of the first `final`. */
tvlm_status tvlm_clip_decide(tvlm_clip *clip, int32_t slots, int32_t final);

#endif
