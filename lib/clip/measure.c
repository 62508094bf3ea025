/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c: keeps the last frames on the device, and finds what the tokens of a slot lose there and in the slots after
 * it.
 */
#include <math.h>
#include <string.h>

#include "clip/inside.h"
#include "core/memory.h"
#include "core/try.h"
#include "select/thumbnail.h"
#include "stack/grids.h"
#include "stack/limits.h"
#include "stack/make.h"
#include "texturevlm/input.h"
#include "texturevlm/stack.h"

tvlm_status tvlm_clip_no_memory(const tvlm_clip *clip) {
    return tvlm_fail(&clip->device->log, TVLM_ERROR_MEMORY, "no memory for a clip of %dx%d", (int)clip->width,
                     (int)clip->height);
}

/* ---- Kinds ---- */

/* How much smaller than the frame thumbnails are along each side. */
static const double scales[] = {1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0};

static int32_t at_least_one(double count) {
    return count < 1.0 ? 1 : (int32_t)floor(count + 0.5);
}

static void add_grid(tvlm_clip *clip, int32_t columns, int32_t rows) {
    const int32_t count = clip->kinds - CLIP_THUMBNAIL;
    for (int32_t i = 0; i < count; ++i)
        if (clip->grids[i].columns == columns && clip->grids[i].rows == rows) return;
    clip->grids[count] = (tvlm_budget_grid){columns, rows};
    ++clip->kinds;
}

/* The largest grid of the frame's shape that has at most so many cells. */
static tvlm_budget_grid largest_grid(const tvlm_clip *clip, double cells) {
    tvlm_budget_grid best = {1, 1};
    for (int32_t columns = 1; columns <= clip->tree.columns; ++columns) {
        const int32_t rows = at_least_one((double)columns * clip->tree.rows / clip->tree.columns);
        if ((double)columns * rows <= cells) best = (tvlm_budget_grid){columns, rows};
    }
    return best;
}

/* Lists the thumbnails: first that of one patch, then those of some scales, and those that downsampling takes to spend the
 * budget on every slot, or on each second or fourth. */
static void list_grids(tvlm_clip *clip) {
    const double share = clip_tolerates(clip) ? 0.0 : tvlm_clip_share(clip);
    clip->kinds = CLIP_THUMBNAIL;
    add_grid(clip, 1, 1);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; ++i)
        add_grid(clip, at_least_one(clip->tree.columns / scales[i]),
                 at_least_one(clip->tree.rows / scales[i]));
    for (int32_t step = 1; step <= 4 && share > 0.0; step *= 2) {
        const tvlm_budget_grid grid = largest_grid(clip, step * share * clip->tiles);
        add_grid(clip, grid.columns, grid.rows);
    }
}

static tvlm_budget_size size_of(const tvlm_clip *clip, int32_t kind) {
    const int32_t width = clip->width, height = clip->height;
    if (kind == CLIP_NINE) return tvlm_fraction_size(TVLM_THREE_QUARTERS, width, height);
    if (kind < CLIP_NINE)
        return (tvlm_budget_size){tvlm_level_side(width, kind), tvlm_level_side(height, kind), 0.0};
    const tvlm_budget_grid *const grid = &clip->grids[kind - CLIP_THUMBNAIL];
    const int32_t wide = grid->columns * clip->patch, high = grid->rows * clip->patch;
    return (tvlm_budget_size){wide < width ? wide : width, high < height ? high : height, 0.0};
}

/* Lists the sizes of the pictures, each once. */
static void list_sizes(tvlm_clip *clip) {
    for (int32_t kind = 0; kind < clip->kinds; ++kind) {
        const tvlm_budget_size size = size_of(clip, kind);
        int32_t at = 0;
        while (at < clip->pictures &&
               (clip->sizes[at].width != size.width || clip->sizes[at].height != size.height ||
                clip->sizes[at].texel != size.texel))
            ++at;
        clip->sizes[at] = size;
        clip->measured[kind] = at;
        if (at == clip->pictures) ++clip->pictures;
    }
}

/* ---- Memory ---- */

/* What a window of so many slots stands for. A stream decides few slots at a time, and has a ring in place of lags. */
typedef struct extent {
    int32_t window, lags, ring; /* slots */
    int32_t places, stacks;     /* frames that are compared with, and that tokens are made of */
} extent;

static extent extent_of(const tvlm_clip *clip, int32_t window) {
    const int32_t lags = window / 4, least = clip->params.latency + 2, temporal = clip->temporal;
    const int32_t ring = lags > least ? lags : least;
    if (clip->params.causal)
        return (extent){1 + clip->params.latency, 1, ring, temporal * (ring + 1), temporal};
    return (extent){window, lags, 0, temporal * (lags + 1), temporal * (lags + 1)};
}

/* How many bytes a clip takes, of the host and of the device together. */
static double bytes_of(const tvlm_clip *clip, const extent *e) {
    const double intervals = (double)clip_intervals(e->window), tiles = clip->tiles;
    const double rows = (double)e->lags * clip->pictures;
    const double table = 8.0 * e->window * rows * tiles,
                 read = 8.0 * clip->temporal * (rows + e->ring) * tiles;
    const double single = (clip->params.causal ? 8.0 * clip->pictures : 16.0 * e->window) * e->window * tiles,
                 distances = 8.0 * e->ring * e->ring * tiles;
    const double lost = 4.0 * 2.9 * intervals * (clip->kinds + 1) * tiles;
    /* The reference stores floats in every format. */
    const bool floats = clip->device->info.type == TVLM_DEVICE_REFERENCE ||
                        tvlm_stack_format(clip->device, clip->params.format) == TVLM_FORMAT_F32;
    const double texel = floats ? 16.0 : 8.0;
    const double images = e->stacks * 4.0 / 3.0 * texel * clip->width * clip->height;
    const double kept = 4.0 * (double)tvlm_budget_kept_floats(clip->width, clip->height, clip->patch, 1) *
                        (e->places + (clip->params.motion ? e->ring : 0));
    return table + 2.0 * read + single + distances + lost + images + kept;
}

/* Whether what is kept of all frames, which lies in one buffer, is more than the device allocates at once. */
static bool is_beyond_device(const tvlm_clip *clip, const extent *e) {
    const uint64_t limit = clip->device->info.allocation_max;
    const double kept =
        4.0 * (double)tvlm_budget_kept_floats(clip->width, clip->height, clip->patch, 1) * e->places;
    return limit > 0 && kept > (double)limit;
}

/* Takes the longest window whose memory is granted. */
static tvlm_status find_window(tvlm_clip *clip) {
    const double most =
        clip->params.memory > 0 ? (double)clip->params.memory : (double)TVLM_CLIP_MEMORY_DEFAULT;
    int32_t window = CLIP_WINDOW_MOST;
    extent e = extent_of(clip, window);
    while (window > CLIP_WINDOW_LEAST && (bytes_of(clip, &e) > most || is_beyond_device(clip, &e)))
        e = extent_of(clip, window /= 2);
    clip->window = e.window;
    clip->lags = e.lags;
    clip->stream.ring = e.ring;
    clip->kept.places = e.places;
    clip->stack_count = e.stacks;
    if (bytes_of(clip, &e) <= most) return TVLM_OK;
    return tvlm_fail(&clip->device->log, TVLM_ERROR_MEMORY,
                     "a clip of %dx%d takes %.0f MiB; %.0f are granted", (int)clip->width, (int)clip->height,
                     bytes_of(clip, &e) / 1048576.0, most / 1048576.0);
}

static tvlm_status open_stream(tvlm_clip *clip) {
    clip_stream *const s = &clip->stream;
    const size_t tiles = (size_t)clip->tiles, ring = (size_t)s->ring;
    if (ring == 0) return TVLM_OK;
    s->distances = tvlm_allocate(ring * ring * tiles, 2 * sizeof *s->distances);
    s->anchors = tvlm_allocate(tiles, sizeof *s->anchors);
    s->bases = tvlm_allocate(tiles, 2 * sizeof *s->bases);
    s->own = tvlm_allocate(tiles, 2 * sizeof *s->own);
    s->last = tvlm_allocate((size_t)clip->window * (size_t)clip->pictures * tiles, 2 * sizeof *s->last);
    s->changes = tvlm_allocate(tiles, sizeof *s->changes);
    s->counts = tvlm_allocate(tiles, sizeof *s->counts);
    return s->distances != NULL && s->anchors != NULL && s->bases != NULL && s->own != NULL &&
                   s->last != NULL && s->changes != NULL && s->counts != NULL
               ? TVLM_OK
               : tvlm_clip_no_memory(clip);
}

/* Each frame has a stack of its own, so that a new one has its levels made, and no other. */
static tvlm_status make_stacks(tvlm_clip *clip) {
    clip->stacks = tvlm_allocate((size_t)clip->stack_count, sizeof(tvlm_stack *));
    if (clip->stacks == NULL) return tvlm_clip_no_memory(clip);
    for (int32_t i = 0; i < clip->stack_count; ++i)
        TVLM_TRY(tvlm_stack_create(clip->device,
                                   tvlm_stack_params(.layout = "r", .width = clip->width,
                                                     .height = clip->height, .format = clip->params.format),
                                   &clip->stacks[i]));
    return TVLM_OK;
}

tvlm_status tvlm_clip_open(tvlm_clip *clip) {
    const size_t floats = 2 * (size_t)clip->tiles;
    list_grids(clip);
    list_sizes(clip);
    TVLM_TRY(find_window(clip));
    TVLM_TRY(make_stacks(clip));
    const size_t measured = (size_t)clip->pictures * (size_t)clip->lags + (size_t)clip->stream.ring;
    const size_t rows = measured * (size_t)clip->temporal;
    const size_t slots = (size_t)clip->window;
    TVLM_TRY(open_stream(clip));
    if (clip->params.motion) TVLM_TRY(tvlm_clip_carry_open(clip));
    clip->table =
        tvlm_allocate(slots * (size_t)clip->lags * (size_t)clip->pictures, floats * sizeof *clip->table);
    clip->shown = tvlm_allocate(slots, floats * sizeof *clip->shown);
    clip->before = tvlm_allocate(1, floats * sizeof *clip->before);
    clip->shown_from = tvlm_allocate((size_t)clip->tiles, sizeof *clip->shown_from);
    clip->read = tvlm_allocate(rows, floats * sizeof *clip->read);
    clip->wanted = tvlm_allocate(rows, sizeof *clip->wanted);
    if (clip->table == NULL || clip->before == NULL || clip->shown == NULL || clip->shown_from == NULL ||
        clip->read == NULL || clip->wanted == NULL)
        return tvlm_clip_no_memory(clip);
    const size_t kept = tvlm_budget_kept_floats(clip->width, clip->height, clip->patch, clip->kept.places);
    tvlm_device *const device = clip->device;
    TVLM_TRY(device->backend->buffer_create(device, kept * sizeof(float), &clip->kept.memory));
    return device->backend->buffer_create(device, rows * floats * sizeof *clip->read, &clip->buffer);
}

static void free_buffer(const tvlm_clip *clip, tvlm_buffer **buffer) {
    if (*buffer != NULL) clip->device->backend->buffer_destroy(clip->device, buffer);
}

static void free_plan(const tvlm_clip *clip, clip_plan *made) {
    free_buffer(clip, &made->plan.sent_pictures);
    free_buffer(clip, &made->plan.sent_table);
    tvlm_budget_plan_free(&made->plan);
}

void tvlm_clip_close(tvlm_clip *clip) {
    free_buffer(clip, &clip->buffer);
    free_buffer(clip, &clip->kept.memory);
    for (int32_t i = 0; i < clip->plan_count; ++i) free_plan(clip, &clip->plans[i]);
    free_plan(clip, &clip->tiles_plan);
    for (int32_t i = 0; clip->stacks != NULL && i < clip->stack_count; ++i)
        tvlm_stack_destroy(&clip->stacks[i]);
    free(clip->stacks);
    free(clip->table);
    free(clip->before);
    free(clip->shown);
    free(clip->shown_from);
    free(clip->read);
    free(clip->wanted);
    free(clip->stream.distances);
    free(clip->stream.anchors);
    free(clip->stream.bases);
    free(clip->stream.own);
    free(clip->stream.last);
    free(clip->stream.changes);
    free(clip->stream.counts);
    tvlm_clip_carry_close(clip);
}

/* ---- Plans ---- */

static tvlm_status send(const tvlm_clip *clip, const void *data, size_t bytes, tvlm_buffer **buffer) {
    TVLM_TRY(clip->device->backend->buffer_create(clip->device, bytes, buffer));
    return clip->device->backend->buffer_write(clip->device, *buffer, 0, bytes, data);
}

/* Plans pictures from number `first` on, `count` of them at most, and writes the plan to the device. */
static tvlm_status make_plan(const tvlm_clip *clip, const tvlm_texture *source, int32_t first, int32_t count,
                             clip_plan *made) {
    tvlm_budget_plan *const plan = &made->plan;
    made->first = first;
    if (!tvlm_budget_plan_make(source, 0, clip->patch, clip->sizes + first, count, NULL, plan))
        return tvlm_clip_no_memory(clip);
    TVLM_TRY(send(clip, plan->pictures, (size_t)plan->count * sizeof *plan->pictures, &plan->sent_pictures));
    return send(clip, plan->table, plan->table_floats * sizeof *plan->table, &plan->sent_table);
}

/* Plans all pictures, once: all frames have one size. */
static tvlm_status make_plans(tvlm_clip *clip, const tvlm_texture *source) {
    const clip_plan *last = clip->plan_count > 0 ? &clip->plans[clip->plan_count - 1] : NULL;
    while (last == NULL || last->first + last->plan.count < clip->pictures) {
        const int32_t first = last == NULL ? 0 : last->first + last->plan.count;
        TVLM_TRY(make_plan(clip, source, first, clip->pictures - first, &clip->plans[clip->plan_count++]));
        last = &clip->plans[clip->plan_count - 1];
    }
    if (clip->stream.ring == 0 || clip->tiles_plan.plan.count > 0) return TVLM_OK;
    return make_plan(clip, source, clip->measured[CLIP_TILE], 1, &clip->tiles_plan);
}

/* ---- Measuring ---- */

const tvlm_texture *tvlm_clip_texture(const tvlm_clip *clip, int32_t frame) {
    return tvlm_stack_made(clip->stacks[frame % clip->stack_count], 0, TVLM_GRID_SOURCE);
}

tvlm_status tvlm_clip_take(tvlm_clip *clip, const tvlm_image *frame) {
    const int32_t number = clip->frames;
    tvlm_stack *const stack = clip->stacks[number % clip->stack_count];
    TVLM_TRY(tvlm_stack_set_image(stack, 0, frame));
    TVLM_TRY(tvlm_stack_make(stack, 0, TVLM_GRID_BIT(TVLM_GRID_SOURCE)));
    TVLM_TRY(make_plans(clip, tvlm_clip_texture(clip, number)));
    TVLM_TRY(clip->device->backend->losses_keep(clip->device, tvlm_clip_texture(clip, number), 0, clip->patch,
                                                &clip->kept, number % clip->kept.places));
    if (clip->params.motion) TVLM_TRY(tvlm_clip_carry_take(clip, frame));
    ++clip->frames;
    return TVLM_OK;
}

/* Compares a plan's pictures of `frame` with `seen` frames of `kept`: that at place `first`, and each `step` places after it. The
 * device goes on from where it has written up to. Each frame's losses are added to `to`, of which there is one for each, and to
 * `also`, if it is not NULL. */
static tvlm_status run_plan(tvlm_clip *clip, tvlm_budget_plan *plan, int32_t frame,
                            const tvlm_budget_kept *kept, int32_t first, int32_t step, int32_t seen,
                            float *const *to, float *also) {
    const size_t floats = (size_t)plan->count * 2 * (size_t)clip->tiles;
    plan->kept = kept;
    plan->first = first % kept->places;
    plan->step = step;
    plan->seen = seen;
    TVLM_TRY(clip->device->backend->losses(clip->device, tvlm_clip_texture(clip, frame), plan, clip->buffer,
                                           clip->wanted_floats));
    for (int32_t i = 0; i < seen; ++i) {
        clip->wanted[clip->wanted_count++] = (clip_wanted){to[i], also, floats};
        clip->wanted_floats += floats;
    }
    return TVLM_OK;
}

tvlm_status tvlm_clip_read(tvlm_clip *clip) {
    tvlm_device *const device = clip->device;
    const float *from = clip->read;
    TVLM_TRY(device->backend->buffer_read(device, clip->buffer, 0, clip->wanted_floats * sizeof(float),
                                          clip->read));
    for (int32_t i = 0; i < clip->wanted_count; ++i) {
        const clip_wanted *const wanted = &clip->wanted[i];
        for (size_t n = 0; n < wanted->floats; ++n) wanted->to[n] += from[n];
        for (size_t n = 0; wanted->also != NULL && n < wanted->floats; ++n) wanted->also[n] += from[n];
        from += wanted->floats;
    }
    clip->wanted_count = 0;
    clip->wanted_floats = 0;
    return TVLM_OK;
}

/* Where what a slot's pictures lose in a frame belongs, from picture `first` on. */
static float *row_of(const tvlm_clip *clip, int32_t slot, int32_t frame, int32_t first) {
    return clip_row(clip, slot, frame / clip->temporal - slot) + (size_t)first * 2 * (size_t)clip->tiles;
}

/* Measures all pictures of a frame of a slot in the frames from `frame` to `end` - 1. `last`: it is the slot's last one, which a stream
 * keeps by itself, too. */
static tvlm_status measure_frame(tvlm_clip *clip, int32_t slot, int32_t frame, int32_t end, bool last) {
    float *to[CLIP_TEMPORAL_MAX * CLIP_LAGS_MOST];
    for (int32_t p = 0; p < clip->plan_count; ++p) {
        clip_plan *const made = &clip->plans[p];
        for (int32_t i = 0; i < end - frame; ++i) to[i] = row_of(clip, slot, frame + i, made->first);
        float *const also = last && clip->stream.ring > 0
                                ? clip_last_row(clip, slot) + (size_t)made->first * 2 * (size_t)clip->tiles
                                : NULL;
        TVLM_TRY(run_plan(clip, &made->plan, frame, &clip->kept, frame, 1, end - frame, to, also));
    }
    return TVLM_OK;
}

/* Measures the tokens of a slot: in the slot, those of each frame in that frame; in later slots those of the last frame. */
static tvlm_status measure_slot(tvlm_clip *clip, int32_t slot) {
    const int32_t first = slot * clip->temporal, most = first + clip->temporal * clip->lags;
    const int32_t end = clip->frames < most ? clip->frames : most;
    const int32_t last = end < first + clip->temporal ? end - 1 : first + clip->temporal - 1;
    memset(clip_row(clip, slot, 0), 0,
           (size_t)clip->lags * (size_t)clip->pictures * 2 * (size_t)clip->tiles * sizeof *clip->table);
    if (clip->stream.ring > 0)
        memset(clip_last_row(clip, slot), 0,
               (size_t)clip->pictures * 2 * (size_t)clip->tiles * sizeof *clip->stream.last);
    for (int32_t frame = first; frame < last; ++frame)
        TVLM_TRY(measure_frame(clip, slot, frame, frame + 1, false));
    TVLM_TRY(measure_frame(clip, slot, last, end, true));
    ++clip->looked_at;
    return clip->stream.ring > 0 ? TVLM_OK : tvlm_clip_read(clip);
}

tvlm_status tvlm_clip_measure(tvlm_clip *clip, bool all, int32_t end) {
    while (clip->looked_at < end && clip->looked_at < clip_slot_count(clip) &&
           (all || clip->frames >= clip->temporal * (clip->looked_at + clip->lags)))
        TVLM_TRY(measure_slot(clip, clip->looked_at));
    return TVLM_OK;
}

tvlm_status tvlm_clip_measure_others(tvlm_clip *clip, int32_t frame, int32_t slot, int32_t count,
                                     float *const *to) {
    tvlm_budget_plan *const plan = &clip->tiles_plan.plan;
    bool still = true;
    if (count == 0) return TVLM_OK;
    if (clip->params.motion) TVLM_TRY(tvlm_clip_carry_luma(clip, frame, slot, &still));
    if (!still) return run_plan(clip, plan, frame, &clip->carry.moved, 0, 1, count, to, NULL);
    return run_plan(clip, plan, frame, &clip->kept, clip->temporal * (slot + 1) - 1, clip->temporal, count,
                    to, NULL);
}
