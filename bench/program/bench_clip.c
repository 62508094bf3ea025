/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_clip.c: budgets of whole videos: a slot of two frames is taken in and measured, and of a stream decided. Every 32nd slot
 * of a video that is no stream a window is decided, too.
 */
#include "bench_stages.h"

#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "texturevlm/clip.h"

/* The size of working frames, and by how many pixels the picture moves from slot to slot. */
enum { WIDTH = 672, HEIGHT = 392, STEP = 5, PLACES = 8, PATCH = 28, SLOT = 2 };

/* What run_slot takes in a slot of. */
enum { VIDEO, STREAM, MOVING, CLIPS };

struct bench_clip {
    tvlm_clip *clips[CLIPS];
    int32_t slot;
};

tvlm_status bench_clip_prepare(struct bench *bench) {
    bench->clip = tvlm_allocate(1, sizeof *bench->clip);
    return bench->clip != NULL ? TVLM_OK : TVLM_ERROR_MEMORY;
}

void bench_clip_release(struct bench *bench) {
    if (bench->clip == NULL) return;
    for (int i = 0; i < CLIPS; ++i) tvlm_clip_destroy(&bench->clip->clips[i]);
    free(bench->clip);
    bench->clip = NULL;
}

/* What a camera sees of the image that moves to and fro. */
static tvlm_image view_of(const struct bench *bench, int32_t slot) {
    const int32_t most = bench->image->width / (4 * PLACES), step = most < STEP ? most : STEP,
                  turn = slot % (2 * PLACES);
    const int32_t left = step * (turn < PLACES ? turn : 2 * PLACES - turn);
    tvlm_image view = *bench->image;
    view.row_stride = bench->pixels.row_stride;
    view.width -= step * PLACES;
    view.pixels = (const uint8_t *)view.pixels + (size_t)left * (size_t)view.channels;
    return view;
}

static tvlm_status push_slot(tvlm_clip *clip, const tvlm_image *view) {
    for (int i = 0; i < SLOT; ++i) TVLM_TRY(tvlm_clip_push(clip, view));
    return TVLM_OK;
}

/* What is held needs a slot before it to move from. */
static tvlm_status open_clip(const struct bench *bench, int32_t kind, tvlm_clip **clip) {
    const tvlm_image first = view_of(bench, bench->clip->slot++);
    TVLM_TRY(tvlm_clip_create(bench->device, WIDTH, HEIGHT,
                              tvlm_clip_params(.share = 0.1f, .patch = PATCH, .temporal = SLOT,
                                               .format = bench->stack->format, .causal = kind != VIDEO,
                                               .motion = kind == MOVING),
                              clip));
    return kind == MOVING ? push_slot(*clip, &first) : TVLM_OK;
}

/* Takes in a slot. The clip is made when it is asked for, since it takes more memory than all else. One that fails is of no use
 * afterwards. */
static tvlm_status run_slot(struct bench *bench, int32_t kind) {
    struct bench_clip *const made = bench->clip;
    tvlm_clip **const clip = &made->clips[kind];
    if (*clip == NULL) TVLM_TRY(open_clip(bench, kind, clip));
    const tvlm_image view = view_of(bench, made->slot++);
    const tvlm_status status = push_slot(*clip, &view);
    if (status != TVLM_OK) tvlm_clip_destroy(clip);
    return status;
}

void bench_clip_list(const struct bench *bench, bench_stage *stages, int32_t *count) {
    /* Frames are read, and luma and levels written. */
    const double bytes = SLOT * (3.0 * bench->image->width * bench->image->height + 8.0 * WIDTH * HEIGHT);
    bench_add(stages, count, "a slot of a video", "", run_slot, VIDEO, bytes);
    bench_add(stages, count, "a slot of a stream", "", run_slot, STREAM, bytes);
    bench_add(stages, count, "a slot of a stream that moves along", "", run_slot, MOVING, bytes);
}
