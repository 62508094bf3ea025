/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carry.c: what is held moves along with the camera.
 *
 * What is seen at a place now was at another place in each slot before, by the maps of all slots since then. So the luma of a
 * slot of the ring is moved once, by all of them together, before it is compared, and never the outcome of a move. What is shown
 * in a tile was bought in the last slot that bought the tile in which the middle of this one was then. If no slot of the ring
 * did, the oldest one knows what it lost there.
 */
#include <math.h>
#include <string.h>

#include "clip/inside.h"
#include "core/memory.h"
#include "core/try.h"

enum { PARTS = TVLM_BUDGET_PARTS };

tvlm_status tvlm_clip_carry_open(tvlm_clip *clip) {
    clip_carry *const c = &clip->carry;
    const size_t tiles = (size_t)clip->tiles, ring = (size_t)clip->stream.ring;
    c->maps = tvlm_allocate(ring, sizeof *c->maps);
    c->own = tvlm_allocate(ring * tiles, PARTS * sizeof *c->own);
    c->bought = tvlm_allocate(ring * tiles, sizeof *c->bought);
    c->shown_from = tvlm_allocate(tiles, sizeof *c->shown_from);
    c->changes = tvlm_allocate(tiles, sizeof *c->changes);
    if (c->maps == NULL || c->own == NULL || c->bought == NULL || c->shown_from == NULL || c->changes == NULL)
        return tvlm_clip_no_memory(clip);
    c->moved.places = clip->stream.ring;
    const size_t floats = tvlm_budget_kept_floats(clip->width, clip->height, clip->patch, c->moved.places);
    return clip->device->backend->buffer_create(clip->device, floats * sizeof(float), &c->moved.memory);
}

void tvlm_clip_carry_close(tvlm_clip *clip) {
    clip_carry *const c = &clip->carry;
    if (c->moved.memory != NULL) clip->device->backend->buffer_destroy(clip->device, &c->moved.memory);
    tvlm_clip_view_free(&c->before);
    tvlm_clip_view_free(&c->now);
    free(c->maps);
    free(c->own);
    free(c->bought);
    free(c->shown_from);
    free(c->changes);
}

/* ---- Maps ---- */

/* The first frame of a slot comes after the last one of the slot before, which the views then still hold. */
tvlm_status tvlm_clip_carry_take(tvlm_clip *clip, const tvlm_image *frame) {
    clip_carry *const c = &clip->carry;
    if (clip->frames % clip->temporal == 0) {
        tvlm_clip_view_free(&c->before);
        c->before = c->now;
        c->now = (clip_view){0};
    }
    tvlm_clip_view_free(&c->now);
    return tvlm_clip_view_make(frame, &c->now) ? TVLM_OK : tvlm_clip_no_memory(clip);
}

static clip_map *map_of(const tvlm_clip *clip, int32_t slot) {
    return &clip->carry.maps[slot % clip->stream.ring];
}

/* How many working pixels a pixel of the frames is wide and high. */
static void find_scale(const tvlm_clip *clip, double *across, double *down) {
    *across = (double)clip->width / clip->frame_width;
    *down = (double)clip->height / clip->frame_height;
}

clip_map tvlm_clip_motion_of(const tvlm_clip *clip, int32_t slot) {
    double across, down;
    if (!clip->params.motion || slot < 1) return tvlm_clip_still;
    find_scale(clip, &across, &down);
    return tvlm_clip_map_scaled(map_of(clip, slot), 1.0 / across, 1.0 / down);
}

/* The way from a frame of a slot to the last frame of the slot before. */
static clip_map way_back(const tvlm_clip *clip, int32_t slot, int32_t frame) {
    const int32_t first = clip->temporal * slot, count = clip_last_frame(clip, slot) - first + 1;
    return tvlm_clip_map_part(map_of(clip, slot), (double)(frame - first + 1) / count);
}

static tvlm_status find_map(tvlm_clip *clip, int32_t slot) {
    double across, down;
    clip_map found = tvlm_clip_still;
    if (slot > 0 && !tvlm_clip_view_motion(&clip->carry.before, &clip->carry.now, &found))
        return tvlm_clip_no_memory(clip);
    find_scale(clip, &across, &down);
    *map_of(clip, slot) = tvlm_clip_map_scaled(&found, across, down);
    return TVLM_OK;
}

/* ---- Luma ---- */

static tvlm_status move(tvlm_clip *clip, int32_t from, int32_t to, const clip_map *map) {
    tvlm_budget_move made = {.from = from % clip->kept.places, .to = to};
    for (int i = 0; i < 6; ++i) made.map[i] = (float)map->at[i];
    return clip->device->backend->losses_move(clip->device, tvlm_clip_texture(clip, clip->frames - 1),
                                              clip->patch, &clip->kept, &made, &clip->carry.moved);
}

tvlm_status tvlm_clip_carry_luma(tvlm_clip *clip, int32_t frame, int32_t first, bool *still) {
    const int32_t slot = frame / clip->temporal;
    *still = true;
    for (int32_t s = first + 1; s <= slot; ++s) *still = *still && tvlm_clip_map_still(map_of(clip, s));
    if (*still) return TVLM_OK;
    clip_map way = way_back(clip, slot, frame);
    for (int32_t from = slot - 1; from >= first; --from) {
        TVLM_TRY(move(clip, clip_last_frame(clip, from), from - first, &way));
        way = tvlm_clip_map_then(&way, map_of(clip, from));
    }
    return TVLM_OK;
}

/* ---- What is shown ---- */

/* The tile in which a place lies, or the nearest one. */
static int32_t tile_at(const tvlm_clip *clip, double x, double y) {
    const double column = fmin(fmax(floor(x / clip->patch), 0.0), clip->tree.columns - 1.0);
    const double row = fmin(fmax(floor(y / clip->patch), 0.0), clip->tree.rows - 1.0);
    return (int32_t)row * clip->tree.columns + (int32_t)column;
}

/* The middle of what a tile has of the frame. */
static void middle_of(const tvlm_clip *clip, int32_t tile, double *x, double *y) {
    const double left = tile % clip->tree.columns * clip->patch,
                 top = tile / clip->tree.columns * clip->patch;
    *x = 0.5 * (left + fmin(left + clip->patch, clip->width));
    *y = 0.5 * (top + fmin(top + clip->patch, clip->height));
}

/* The place of a tile of a slot in what has [ring][tiles]. */
static size_t place_of(const tvlm_clip *clip, int32_t slot, int32_t tile) {
    return (size_t)(slot % clip->stream.ring) * (size_t)clip->tiles + (size_t)tile;
}

/* Finds the anchor of what slot `slot` shows in a tile, and what it lost there. */
static void carry_tile(tvlm_clip *clip, int32_t slot, int32_t tile) {
    clip_stream *const s = &clip->stream;
    clip_carry *const c = &clip->carry;
    const int32_t oldest = clip_oldest(clip, slot);
    int32_t then = slot, at = tile, before = -1;
    bool bought = false;
    double x, y;
    middle_of(clip, tile, &x, &y);
    while (then > oldest && !bought) {
        tvlm_clip_map_apply(map_of(clip, then), x, y, &x, &y);
        --then;
        at = tile_at(clip, x, y);
        if (before < 0) before = at;
        bought = c->bought[place_of(clip, then, at)];
    }
    const float *const own = c->own + place_of(clip, then, at) * PARTS;
    memcpy(s->bases + (ptrdiff_t)PARTS * tile, own, PARTS * sizeof *own);
    s->anchors[tile] = then;
    c->shown_from[tile] = bought ? then : clip->shown_from[before];
    c->changes[tile] = s->changes[before];
}

tvlm_status tvlm_clip_carry_on(tvlm_clip *clip, int32_t slot) {
    TVLM_TRY(find_map(clip, slot));
    if (slot == 0) return TVLM_OK;
    for (int32_t tile = 0; tile < clip->tiles; ++tile) carry_tile(clip, slot, tile);
    memcpy(clip->shown_from, clip->carry.shown_from, (size_t)clip->tiles * sizeof *clip->shown_from);
    memcpy(clip->stream.changes, clip->carry.changes, (size_t)clip->tiles * sizeof *clip->stream.changes);
    return TVLM_OK;
}

void tvlm_clip_carry_remember(tvlm_clip *clip, int32_t slot) {
    const clip_stream *const s = &clip->stream;
    clip_carry *const c = &clip->carry;
    for (int32_t tile = 0; tile < clip->tiles; ++tile) {
        const int32_t anchor = s->anchors[tile];
        const float *const base = s->bases + (ptrdiff_t)PARTS * tile;
        const size_t place = place_of(clip, slot, tile);
        float *const own = c->own + place * PARTS;
        c->bought[place] = anchor == slot;
        if (anchor == slot)
            memcpy(own, base, PARTS * sizeof *own);
        else
            clip_add_parts(clip, base, clip_distance(clip, anchor, slot) + (ptrdiff_t)PARTS * tile, own);
    }
}
