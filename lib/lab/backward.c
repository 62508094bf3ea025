/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backward.c: the gradients of samples.
 *
 * Channels whose layers follow each other are done in one launch. The gradients of components in these layers
 * that nobody asked for count as 0. The gradients with respect to the points are summed over all launches in
 * double precision.
 */
#include "texturevlm/lab/backward.h"

#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "lab/operations.h"
#include "stack/grids.h"
#include "stack/inside.h"
#include "stack/make.h"

/* Infinite coordinates are clamped to this, as in sample.c. */
#define FAR 1e9f

/* The most bytes that the gradients of a run of layers may take. It bounds the memory that long vectors
 * need. */
#define RUN_BYTES ((size_t)64 << 20)

/* A channel that is asked for: where it lies, and which of the texels that are handed out are its own. */
typedef struct asked {
    tvlm_channel_place place;
    size_t first, count;
} asked;

typedef struct task {
    tvlm_stack *stack;
    const tvlm_log *log;
    const struct tvlm_sample_backward_params *given;
    tvlm_chunk *chunk;
    asked *channels;    /* [channel_count] */
    tvlm_point *points; /* [count], as the backend takes them */
    double *sums;       /* [count * 3], or NULL */
    float *texels;      /* or NULL */
} task;

/* ---- What is asked ---- */

static tvlm_status check_points(const task *t) {
    const struct tvlm_sample_backward_params *const p = t->given;
    for (int32_t i = 0; i < p->count; ++i) {
        const tvlm_sample_point *const point = &p->points[i];
        if (isnan(point->x) || isnan(point->y) || isnan(point->level))
            return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "point %d is not a number", (int)i);
        if (point->index != p->index)
            return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "point %d is of image %d, and not of image %d",
                             (int)i, (int)point->index, (int)p->index);
    }
    const size_t count = (size_t)p->count * (size_t)p->channel_count;
    for (size_t i = 0; i < count; ++i)
        if (!isfinite(p->gradients[i]))
            return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "the gradient of point %zu, channel %zu, is %g",
                             i / (size_t)p->channel_count, i % (size_t)p->channel_count,
                             (double)p->gradients[i]);
    return TVLM_OK;
}

/* Refuses channels whose samples are not weighted sums of texels of level 0. */
static tvlm_status check_channel(const task *t, int32_t channel, tvlm_channel_place place) {
    const char *why = NULL;
    tvlm_channel_info info;
    if (place.grid == TVLM_GRID_FORMULA)
        why = "has no texels";
    else if (place.grid < TVLM_GRID_COUNT && tvlm_grid_is_unit(place.grid))
        why = "is brought to length 1 where it is read";
    else if (place.grid < TVLM_GRID_COUNT &&
             tvlm_stack_grid_shape(t->stack, place.grid, 1).reduce[place.component] != TVLM_REDUCE_MEAN)
        why = "has levels that are no means";
    if (why == NULL) return TVLM_OK;
    TVLM_TRY(tvlm_stack_get_channel_info(t->stack, channel, &info));
    return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "there are no gradients of %s, which %s", info.name, why);
}

static tvlm_status check_twice(const task *t, int32_t i) {
    const int32_t *const channels = t->given->channels;
    tvlm_channel_info info;
    for (int32_t other = 0; other < i; ++other)
        if (channels[other] == channels[i]) {
            TVLM_TRY(tvlm_stack_get_channel_info(t->stack, channels[i], &info));
            return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "%s is listed twice", info.name);
        }
    return TVLM_OK;
}

static tvlm_status find_channels(const task *t, size_t capacity) {
    size_t all = 0;
    for (int32_t i = 0; i < t->given->channel_count; ++i) {
        const int32_t channel = t->given->channels[i];
        TVLM_TRY(tvlm_stack_check_channel(t->stack, channel));
        TVLM_TRY(check_twice(t, i));
        const tvlm_channel_place place = tvlm_stack_place(t->stack, channel);
        TVLM_TRY(check_channel(t, channel, place));
        const tvlm_texture shape =
            tvlm_stack_grid_shape(t->stack, place.grid < TVLM_GRID_COUNT ? place.grid : TVLM_GRID_SOURCE, 1);
        t->channels[i] = (asked){place, all, (size_t)shape.width * (size_t)shape.height};
        all += t->channels[i].count;
    }
    if (t->texels != NULL && capacity < all)
        return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "room for %zu texels; the channels have %zu", capacity,
                         all);
    return TVLM_OK;
}

static float between(float value, float low, float high) {
    return fminf(fmaxf(value, low), high);
}

static void write_points(const task *t) {
    const int32_t image = t->given->index - t->chunk->first;
    for (int32_t i = 0; i < t->given->count; ++i) {
        const tvlm_sample_point *const p = &t->given->points[i];
        t->points[i] = (tvlm_point){between(p->x, -FAR, FAR), between(p->y, -FAR, FAR),
                                    between(p->level, 0.0f, (float)(t->stack->levels - 1)), (float)image};
    }
}

/* ---- Layers beside each other ---- */

/* A run of layers of a texture. */
typedef struct run {
    tvlm_grid grid;
    tvlm_texture *texture;
    int32_t first, layers;
    size_t width; /* the components of a vector */
} run;

static bool is_in(const run *r, const asked *channel) {
    return channel->place.grid == r->grid && channel->place.layer >= r->first &&
           channel->place.layer < r->first + r->layers;
}

/* Which component of the run a channel is. */
static size_t component_of(const run *r, const asked *channel) {
    return 4 * (size_t)(channel->place.layer - r->first) + (size_t)channel->place.component;
}

static tvlm_status send_gradients(const task *t, const run *r, tvlm_buffer **buffer) {
    const struct tvlm_sample_backward_params *const p = t->given;
    const size_t count = (size_t)p->count, channels = (size_t)p->channel_count;
    float *const vectors = tvlm_allocate(count, r->width * sizeof *vectors);
    if (vectors == NULL)
        return tvlm_fail(t->log, TVLM_ERROR_MEMORY, "no memory for the gradients of %zu points", count);
    for (size_t c = 0; c < channels; ++c)
        for (size_t i = 0; is_in(r, &t->channels[c]) && i < count; ++i)
            vectors[i * r->width + component_of(r, &t->channels[c])] = p->gradients[i * channels + c];
    const size_t bytes = count * r->width * sizeof *vectors;
    tvlm_status status = tvlm_stack_scratch(t->stack, TVLM_SCRATCH_QUERIES, bytes, buffer);
    if (status == TVLM_OK)
        status = t->stack->device->backend->buffer_write(t->stack->device, *buffer, 0, bytes, vectors);
    free(vectors);
    return status;
}

static tvlm_status read_texels(const task *t, const run *r, tvlm_buffer *buffer) {
    const size_t texels = (size_t)r->texture->width * (size_t)r->texture->height;
    float *const vectors = tvlm_allocate(texels, r->width * sizeof *vectors);
    if (vectors == NULL)
        return tvlm_fail(t->log, TVLM_ERROR_MEMORY, "no memory for the gradients of %zu texels", texels);
    const tvlm_status status = t->stack->device->backend->buffer_read(
        t->stack->device, buffer, 0, texels * r->width * sizeof *vectors, vectors);
    for (int32_t c = 0; status == TVLM_OK && c < t->given->channel_count; ++c) {
        const asked *const channel = &t->channels[c];
        for (size_t i = 0; is_in(r, channel) && i < texels; ++i)
            t->texels[channel->first + i] = vectors[i * r->width + component_of(r, channel)];
    }
    free(vectors);
    return status;
}

static tvlm_status add_steps(const task *t, tvlm_buffer *buffer) {
    const size_t count = (size_t)t->given->count;
    float *const steps = tvlm_allocate(count, 4 * sizeof *steps);
    if (steps == NULL)
        return tvlm_fail(t->log, TVLM_ERROR_MEMORY, "no memory for the gradients of %zu points", count);
    const tvlm_status status =
        t->stack->device->backend->buffer_read(t->stack->device, buffer, 0, 4 * count * sizeof *steps, steps);
    for (size_t i = 0; status == TVLM_OK && i < count; ++i)
        for (size_t n = 0; n < 3; ++n) t->sums[3 * i + n] += (double)steps[4 * i + n];
    free(steps);
    return status;
}

static tvlm_status do_run(const task *t, const run *r) {
    tvlm_backward backward = {.texture = r->texture,
                              .first_layer = r->first,
                              .layers = r->layers,
                              .points = t->points,
                              .count = t->given->count};
    const size_t texels = (size_t)r->texture->width * (size_t)r->texture->height;
    TVLM_TRY(send_gradients(t, r, &backward.gradients));
    if (t->texels != NULL)
        TVLM_TRY(tvlm_stack_scratch(t->stack, TVLM_SCRATCH_SAMPLES, texels * r->width * sizeof(float),
                                    &backward.texels));
    if (t->sums != NULL)
        TVLM_TRY(tvlm_stack_scratch(t->stack, TVLM_SCRATCH_POINTS,
                                    4 * (size_t)t->given->count * sizeof(float), &backward.steps));
    TVLM_TRY(t->stack->device->backend->lab->sample_backward(t->stack->device, &backward));
    if (t->texels != NULL) TVLM_TRY(read_texels(t, r, backward.texels));
    return t->sums != NULL ? add_steps(t, backward.steps) : TVLM_OK;
}

/* Finds the next run of layers that are asked for, at r->first or behind it. A run has at most `most` layers.
 * Returns false if there is no such run. */
static bool find_run(const task *t, run *r, int32_t most) {
    int32_t end;
    for (; r->first < r->texture->layers; ++r->first) {
        for (end = r->first; end < r->texture->layers && end - r->first < most; ++end) {
            const run one = {r->grid, r->texture, end, 1, 4};
            bool wanted = false;
            for (int32_t c = 0; c < t->given->channel_count && !wanted; ++c)
                wanted = is_in(&one, &t->channels[c]);
            if (!wanted) break;
        }
        r->layers = end - r->first;
        r->width = 4 * (size_t)r->layers;
        if (r->layers > 0) return true;
    }
    return false;
}

static tvlm_status do_grid(const task *t, tvlm_grid grid) {
    tvlm_texture *const texture = t->chunk->grids[grid];
    const size_t texels = (size_t)texture->width * (size_t)texture->height, count = (size_t)t->given->count;
    const size_t fit = RUN_BYTES / (4 * sizeof(float) * (texels > count ? texels : count));
    const int32_t most = fit < 1 ? 1 : fit > TVLM_FEATURES_MAX ? TVLM_FEATURES_MAX : (int32_t)fit;
    for (run r = {.grid = grid, .texture = texture}; find_run(t, &r, most); r.first += r.layers)
        TVLM_TRY(do_run(t, &r));
    return TVLM_OK;
}

/* ---- All grids ---- */

static tvlm_status do_all(const task *t) {
    const struct tvlm_sample_backward_params *const p = t->given;
    const tvlm_grid_mask mask = tvlm_stack_grids_of(t->stack, p->channels, p->channel_count);
    for (int32_t c = 0; t->texels != NULL && c < p->channel_count; ++c)
        memset(t->texels + t->channels[c].first, 0, t->channels[c].count * sizeof *t->texels);
    if (p->count == 0) return TVLM_OK;
    write_points(t);
    TVLM_TRY(tvlm_stack_ensure(t->stack, t->chunk, mask));
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        if ((mask & t->chunk->valid & TVLM_GRID_BIT((tvlm_grid)grid)) != 0)
            TVLM_TRY(do_grid(t, (tvlm_grid)grid));
    return TVLM_OK;
}

/* A point's level may be clamped to the levels of the image. Then the level has no influence on the sample,
 * and its gradient is 0. */
static void hand_out_points(const task *t, float *points) {
    for (int32_t i = 0; i < t->given->count; ++i) {
        const float level = t->given->points[i].level;
        const bool clamped = level < 0.0f || level >= (float)(t->stack->levels - 1);
        for (int n = 0; n < 3; ++n) points[3 * i + n] = n == 2 && clamped ? 0.0f : (float)t->sums[3 * i + n];
    }
}

static tvlm_status check_counts(const task *t) {
    const struct tvlm_sample_backward_params *const p = t->given;
    if (p->count < 0 || p->count > TVLM_BACKWARD_POINTS_MAX || p->channel_count < 0 ||
        p->channel_count > TVLM_LAYOUT_CHANNELS_MAX)
        return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "%d points and %d channels", (int)p->count,
                         (int)p->channel_count);
    if (p->count > 0) TVLM_NEED(t->log, p->points);
    if (p->channel_count > 0) TVLM_NEED(t->log, p->channels);
    if (p->count > 0 && p->channel_count > 0) TVLM_NEED(t->log, p->gradients);
    return tvlm_stack_check_index(t->stack, p->index);
}

tvlm_status tvlm_sample_backward(tvlm_stack *stack, const struct tvlm_sample_backward_params *params,
                                 size_t capacity, float *texels, float *points) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    const tvlm_log *const log = &stack->device->log;
    TVLM_NEED(log, params);
    TVLM_CHECK_RESERVED(log, tvlm_sample_backward_params, params);
    task t = {.stack = stack, .log = log, .given = params, .texels = texels};
    TVLM_TRY(check_counts(&t));
    TVLM_TRY(check_points(&t));
    t.chunk = tvlm_stack_chunk(stack, params->index);
    t.channels = tvlm_allocate((size_t)params->channel_count, sizeof *t.channels);
    t.points = tvlm_allocate((size_t)params->count, sizeof *t.points);
    if (points != NULL) t.sums = tvlm_allocate((size_t)params->count, 3 * sizeof *t.sums);
    const bool made = t.channels != NULL && t.points != NULL && (points == NULL || t.sums != NULL);
    tvlm_status status = TVLM_ERROR_MEMORY;
    if (made)
        status = find_channels(&t, capacity);
    else
        (void)tvlm_fail(log, status, "no memory for %d points", (int)params->count);
    if (status == TVLM_OK) status = do_all(&t);
    if (status == TVLM_OK && points != NULL) hand_out_points(&t, points);
    free(t.channels);
    free(t.points);
    free(t.sums);
    return status;
}
