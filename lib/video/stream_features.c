/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_features.c: moves the encoder's vectors of earlier frames along with the picture, mixes new ones in,
 * and says which cells the encoder should look at again.
 */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/bundle.h"
#include "stack/given.h"
#include "stack/grids.h"
#include "stack/input.h"
#include "stack/stack.h"
#include "video/inside.h"

/* Without a flow, a cell counts as changed if the luma of one of its quarters differs by more than this. */
#define CHANGED 0.02f

/* A cell's path has PATH floats. Float KNOWN says whether the cell has a path. */
enum { PATH = 4, KNOWN = 2 };

static tvlm_grid grid_of(int which) {
    return tvlm_grid_of_streamed((tvlm_streamed)which);
}

static size_t cells_of(const stream_carried *carried) {
    return (size_t)carried->columns * (size_t)carried->rows;
}

/* ---- Memory ---- */

static void release(tvlm_device *device, stream_carried *carried) {
    const tvlm_backend *backend = device->backend;
    backend->texture_destroy(device, &carried->spare);
    backend->texture_destroy(device, &carried->fresh);
    backend->texture_destroy(device, &carried->origin);
    for (int i = 0; i < 2; ++i) backend->buffer_destroy(device, &carried->path[i]);
    backend->buffer_destroy(device, &carried->known);
    backend->buffer_destroy(device, &carried->weights);
    free(carried->host);
    memset(carried, 0, sizeof *carried);
}

void tvlm_stream_free_features(stream_camera *camera) {
    for (int i = 0; i < TVLM_STREAMED_COUNT; ++i)
        release(tvlm_stack_device(camera->stack), &camera->carried[i]);
}

void tvlm_stream_drop_features(stream_camera *camera) {
    for (int i = 0; i < TVLM_STREAMED_COUNT; ++i) {
        tvlm_stack_given_clear(camera->stack, 0, grid_of(i));
        camera->carried[i].there = false;
    }
}

static tvlm_texture *held(const stream_camera *camera, int which) {
    return tvlm_stack_held(camera->stack, 0, grid_of(which));
}

/* Makes sure that *texture has the shape of the stack's own texture, which may have got levels for a question
 * in the meantime. */
static tvlm_status like(tvlm_device *device, const tvlm_texture *own, tvlm_texture **texture) {
    const tvlm_texture *is = *texture;
    tvlm_texture shape = *own;
    if (is != NULL && is->width == own->width && is->height == own->height && is->layers == own->layers &&
        is->levels == own->levels && is->extent_x == own->extent_x && is->extent_y == own->extent_y)
        return TVLM_OK;
    device->backend->texture_destroy(device, texture);
    shape.bytes = 0;
    return device->backend->texture_create(device, &shape, texture);
}

static tvlm_status reserve(tvlm_device *device, stream_carried *carried, const tvlm_texture *own) {
    const size_t cells = (size_t)own->width * (size_t)own->height, bytes = cells * sizeof(float);
    if (carried->columns == own->width && carried->rows == own->height && carried->layers == own->layers)
        return TVLM_OK;
    release(device, carried);
    carried->host = tvlm_allocate(cells, PATH * sizeof(float));
    if (carried->host == NULL)
        return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for %zu cells", cells);
    for (int i = 0; i < 2; ++i)
        TVLM_TRY(device->backend->buffer_create(device, PATH * bytes, &carried->path[i]));
    TVLM_TRY(device->backend->buffer_create(device, bytes, &carried->known));
    TVLM_TRY(device->backend->buffer_create(device, bytes, &carried->weights));
    carried->columns = own->width;
    carried->rows = own->height;
    carried->layers = own->layers;
    return TVLM_OK;
}

static tvlm_status write_path(tvlm_device *device, const stream_carried *carried) {
    return device->backend->buffer_write(device, carried->path[0], 0,
                                         cells_of(carried) * PATH * sizeof(float), carried->host);
}

/* Begins the paths anew. Their origin becomes the stack's own vectors, in those cells that are known. */
static tvlm_status begin_paths(tvlm_device *device, stream_carried *carried) {
    const size_t cells = cells_of(carried);
    float *known = tvlm_allocate(cells, sizeof *known);
    if (known == NULL) return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for %zu cells", cells);
    for (size_t i = 0; i < cells; ++i) {
        known[i] = carried->host[PATH * i + KNOWN];
        carried->host[PATH * i] = carried->host[PATH * i + 1] = 0.0f;
    }
    const tvlm_status status =
        device->backend->buffer_write(device, carried->known, 0, cells * sizeof *known, known);
    free(known);
    carried->moved = false;
    return status == TVLM_OK ? write_path(device, carried) : status;
}

/* ---- Without a flow: cells that changed ---- */

/* Each cell is compared in quarters. */
enum { PARTS = 4 };

static void place_parts(const tvlm_texture *grid, float level, tvlm_point *points) {
    const float across = grid->extent_x / (float)grid->width, down = grid->extent_y / (float)grid->height;
    for (int32_t i = 0; i < grid->width * grid->height; ++i)
        for (int32_t part = 0; part < PARTS; ++part)
            points[PARTS * i + part] = (tvlm_point){
                ((float)(i % grid->width) + 0.25f + 0.5f * (float)(part % 2)) * across,
                ((float)(i / grid->width) + 0.25f + 0.5f * (float)(part / 2)) * down, level, 0.0f};
}

/* Reads the luma of the present frame and of the last one at each point. `luma` has four floats for each
 * point, of which the first two are these values. */
static tvlm_status read_lumas(stream_camera *camera, const tvlm_point *points, int32_t count, float *luma) {
    static const int32_t refs[4] = {TVLM_REF(0, 0, 3), TVLM_REF(1, 0, 3), TVLM_REF_ZERO, TVLM_REF_ZERO};
    tvlm_stack *stack = camera->stack;
    const tvlm_backend *backend = tvlm_stack_device(stack)->backend;
    const size_t bytes = (size_t)count * sizeof *points, out = (size_t)count * 4 * sizeof *luma;
    tvlm_bundle bundle = tvlm_stack_bundle_view(stack);
    tvlm_buffer *sent, *received;
    bundle.count = 2;
    bundle.textures[0] = tvlm_stack_held(stack, 0, TVLM_GRID_SOURCE);
    bundle.textures[1] = camera->before;
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_POINTS, bytes, &sent));
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_SAMPLES, out, &received));
    TVLM_TRY(backend->buffer_write(tvlm_stack_device(stack), sent, 0, bytes, points));
    TVLM_TRY(backend->sample(tvlm_stack_device(stack), &bundle, refs, 1, sent, count, received));
    return backend->buffer_read(tvlm_stack_device(stack), received, 0, out, luma);
}

/* Drops the vectors of cells that changed, by dropping their paths. */
static tvlm_status forget_changed(stream_camera *camera, stream_carried *carried, const tvlm_texture *grid) {
    tvlm_device *device = tvlm_stack_device(camera->stack);
    const int32_t count = PARTS * grid->width * grid->height;
    tvlm_point *points = tvlm_allocate((size_t)count, sizeof *points);
    float *luma = tvlm_allocate((size_t)count, 4 * sizeof *luma);
    tvlm_status status = TVLM_OK;
    if (points == NULL || luma == NULL)
        status =
            tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory to compare %d cells", (int)count / PARTS);
    if (status == TVLM_OK) {
        place_parts(grid, fmaxf(0.0f, tvlm_warp_level(grid) - 1.0f), points);
        status = read_lumas(camera, points, count, luma);
    }
    for (int32_t i = 0; status == TVLM_OK && i < count; ++i)
        if (fabsf(luma[4 * i] - luma[4 * i + 1]) > CHANGED)
            carried->host[(size_t)PATH * (size_t)(i / PARTS) + KNOWN] = 0.0f;
    if (status == TVLM_OK) status = write_path(device, carried);
    free(points);
    free(luma);
    return status;
}

/* ---- From frame to frame ---- */

/* Moves one grid of vectors by one frame, and enqueues its paths for the host. */
static tvlm_status carry(const tvlm_stream *stream, stream_camera *camera, int which) {
    stream_carried *carried = &camera->carried[which];
    const tvlm_texture *own = held(camera, which);
    const bool flow = stream_has_flow(camera);
    if (!flow) TVLM_TRY(forget_changed(camera, carried, own));
    TVLM_TRY(like(stream->device, own, &carried->spare));
    const float cell = fminf(own->extent_x / (float)own->width, own->extent_y / (float)own->height);
    const tvlm_warp warp = {.from = carried->moved ? carried->origin : own,
                            .flow = flow ? tvlm_stack_held(camera->stack, 0, TVLM_GRID_FLOW) : NULL,
                            .width = (float)tvlm_stack_width(camera->stack),
                            .height = (float)tvlm_stack_height(camera->stack),
                            .confidence = stream->confidence,
                            .longest = stream->longest * cell,
                            .known = carried->known,
                            .path = carried->path[0],
                            .next = carried->path[1]};
    TVLM_TRY(stream->device->backend->warp(stream->device, &warp, carried->spare));
    tvlm_stack_given_exchange(camera->stack, grid_of(which), &carried->spare);
    /* The texture that the stack had until now becomes the origin. */
    if (!carried->moved) {
        tvlm_texture *old = carried->origin;
        carried->origin = carried->spare;
        carried->spare = old;
        carried->moved = true;
    }
    tvlm_buffer *before = carried->path[0];
    carried->path[0] = carried->path[1];
    carried->path[1] = before;
    return stream->device->backend->buffer_copy(stream->device, carried->path[0], 0, camera->gather.buffer,
                                                camera->gather.path[which] * sizeof(float),
                                                tvlm_stream_path_floats(camera, which) * sizeof(float));
}

/* Returns the grid that the report is about: the features or, if there are none, the embedding. */
static const stream_carried *reported(const stream_camera *camera) {
    return &camera->carried[camera->carried[TVLM_STREAMED_FEATURES].there ? TVLM_STREAMED_FEATURES
                                                                          : TVLM_STREAMED_EMBEDDING];
}

size_t tvlm_stream_path_floats(const stream_camera *camera, int which) {
    const stream_carried *carried = &camera->carried[which];
    return carried->there ? PATH * cells_of(carried) : 0;
}

static void report_needs(const tvlm_stream *stream, stream_camera *camera, bool all) {
    tvlm_stream_report *report = &camera->report;
    const stream_carried *carried = reported(camera);
    double known = 0.0;
    report->columns = report->rows = 0;
    report->needs = 1.0f;
    if (carried->there) {
        for (size_t i = 0; i < cells_of(carried); ++i) known += (double)carried->host[PATH * i + KNOWN];
        report->columns = carried->columns;
        report->rows = carried->rows;
        report->needs = (float)(1.0 - known / (double)cells_of(carried));
    }
    report->needs_all = all || !carried->there || report->needs > stream->needs_all;
}

tvlm_status tvlm_stream_carry_features(const tvlm_stream *stream, stream_camera *camera) {
    for (int i = 0; i < TVLM_STREAMED_COUNT; ++i)
        if (camera->carried[i].there) TVLM_TRY(carry(stream, camera, i));
    return TVLM_OK;
}

void tvlm_stream_take_features(const tvlm_stream *stream, stream_camera *camera) {
    for (int i = 0; i < TVLM_STREAMED_COUNT; ++i)
        if (camera->carried[i].there)
            memcpy(camera->carried[i].host, camera->gather.host + camera->gather.path[i],
                   tvlm_stream_path_floats(camera, i) * sizeof(float));
    report_needs(stream, camera, camera->report.keyframe);
}

/* ---- New vectors ---- */

/* Returns whether the camera has vectors of the size that is handed in. */
static bool fits(const stream_camera *camera, int which, const struct tvlm_grid_input *input) {
    const stream_carried *carried = &camera->carried[which];
    const int32_t dimension = tvlm_stack_given_dimension(camera->stack, grid_of(which));
    const int32_t channels = input->channels > 0 ? input->channels : 1;
    return carried->there && carried->columns == input->columns && carried->rows == input->rows &&
           carried->layers == (channels + 3) / 4 && (dimension == 0 || dimension == channels);
}

/* Vectors that are handed in, in host memory or in a buffer on the device. */
typedef struct handed {
    int32_t channel;
    const struct tvlm_grid_input *input;
    tvlm_buffer *buffer;
    size_t offset;
} handed;

static tvlm_status take(stream_camera *camera, const handed *new) {
    return tvlm_stack_input(camera->stack, 0, new->channel, new->input, new->buffer, new->offset);
}

/* Takes new vectors in, in place of all that were there. */
static tvlm_status replace(stream_camera *camera, int which, const handed *new) {
    stream_carried *carried = &camera->carried[which];
    tvlm_device *device = tvlm_stack_device(camera->stack);
    TVLM_TRY(take(camera, new));
    carried->there = false;
    TVLM_TRY(reserve(device, carried, held(camera, which)));
    for (size_t i = 0; i < cells_of(carried); ++i) carried->host[PATH * i + KNOWN] = 1.0f;
    TVLM_TRY(begin_paths(device, carried));
    carried->there = true;
    return TVLM_OK;
}

/* Sends the weight of each cell's new vector. It is 0 if the cell has no new vector, `blend` if the cell also
 * has a carried vector and the frame is not a keyframe, and otherwise 1. */
static tvlm_status write_weights(const tvlm_stream *stream, const stream_camera *camera,
                                 stream_carried *carried, const uint8_t *mask) {
    const size_t cells = cells_of(carried);
    float *weights = tvlm_allocate(cells, sizeof *weights);
    if (weights == NULL)
        return tvlm_fail(&stream->device->log, TVLM_ERROR_MEMORY, "no memory for %zu weights", cells);
    for (size_t i = 0; i < cells; ++i) {
        const bool fresh = mask == NULL || mask[i] != 0;
        const bool mixed = carried->host[PATH * i + KNOWN] > 0.0f && !camera->report.keyframe;
        weights[i] = !fresh ? 0.0f : mixed ? stream->blend : 1.0f;
        if (fresh) carried->host[PATH * i + KNOWN] = 1.0f;
    }
    const tvlm_status status = stream->device->backend->buffer_write(stream->device, carried->weights, 0,
                                                                     cells * sizeof *weights, weights);
    free(weights);
    return status;
}

/* Takes new vectors in beside the old ones, and goes on with a mixture of both. */
static tvlm_status mix(const tvlm_stream *stream, stream_camera *camera, int which, const handed *new,
                       const uint8_t *mask) {
    stream_carried *carried = &camera->carried[which];
    /* Before anything is exchanged, which would clear what follows from the old vectors. */
    TVLM_TRY(tvlm_stack_input_check(camera->stack, 0, new->channel, new->input, new->buffer, new->offset));
    TVLM_TRY(like(stream->device, held(camera, which), &carried->fresh));
    TVLM_TRY(like(stream->device, held(camera, which), &carried->spare));
    tvlm_stack_given_exchange(camera->stack, grid_of(which), &carried->fresh);
    const tvlm_status status = take(camera, new);
    const tvlm_texture *now = held(camera, which), *old = carried->fresh;
    if (status != TVLM_OK && now == NULL) tvlm_stream_drop_features(camera);
    if (status != TVLM_OK && now != NULL)
        tvlm_stack_given_exchange(camera->stack, grid_of(which), &carried->fresh);
    if (status != TVLM_OK) return status;
    if (now->levels != old->levels || now->extent_x != old->extent_x || now->extent_y != old->extent_y)
        /* This is another grid, so that its vectors cannot be mixed with the old ones. */
        return replace(camera, which, new);
    TVLM_TRY(write_weights(stream, camera, carried, mask));
    TVLM_TRY(stream->device->backend->blend(stream->device, old, now, carried->weights, carried->spare));
    tvlm_stack_given_exchange(camera->stack, grid_of(which), &carried->spare);
    return begin_paths(stream->device, carried);
}

static bool any_known(const stream_carried *carried) {
    for (size_t i = 0; i < cells_of(carried); ++i)
        if (carried->host[PATH * i + KNOWN] > 0.0f) return true;
    return false;
}

static tvlm_status check_camera(const tvlm_stream *stream, int32_t index) {
    if (index >= 0 && index < stream->camera_count) return TVLM_OK;
    return tvlm_fail(&stream->device->log, TVLM_ERROR_ARGUMENT, "camera %d of %d", (int)index,
                     (int)stream->camera_count);
}

tvlm_status tvlm_stream_put_features(tvlm_stream *stream, int32_t index, int32_t channel,
                                     const struct tvlm_grid_input *input, tvlm_buffer *buffer, size_t offset,
                                     const uint8_t *mask) {
    const handed new = {channel, input, buffer, offset};
    const tvlm_log *log = &stream->device->log;
    TVLM_TRY(check_camera(stream, index));
    if (channel != TVLM_CHANNEL_FEATURE_0 && channel != TVLM_CHANNEL_EMBEDDING_0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "channel %d is not feature_0 or embedding_0",
                         (int)channel);
    const int which = channel == TVLM_CHANNEL_FEATURE_0 ? TVLM_STREAMED_FEATURES : TVLM_STREAMED_EMBEDDING;
    stream_camera *camera = &stream->cameras[index];
    const bool same = fits(camera, which, input);
    if (mask != NULL && !same)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "features for some cells of %dx%d: there are none of that size to keep in the "
                         "others",
                         (int)input->columns, (int)input->rows);
    if (same && (mask != NULL || (!camera->report.keyframe && any_known(&camera->carried[which]))))
        TVLM_TRY(mix(stream, camera, which, &new, mask));
    else
        TVLM_TRY(replace(camera, which, &new));
    report_needs(stream, camera, camera->report.keyframe && mask != NULL);
    return TVLM_OK;
}

tvlm_status tvlm_stream_set_features(tvlm_stream *stream, int32_t index, int32_t channel,
                                     const struct tvlm_grid_input *input, const uint8_t *mask) {
    TVLM_NEED(NULL, stream);
    TVLM_ENTER(stream->device);
    TVLM_NEED(&stream->device->log, input);
    return tvlm_stream_put_features(stream, index, channel, input, NULL, 0, mask);
}

tvlm_status tvlm_stream_needs(const tvlm_stream *stream, int32_t index, size_t capacity, uint8_t *mask) {
    TVLM_NEED(NULL, stream);
    TVLM_ENTER(stream->device);
    TVLM_TRY(check_camera(stream, index));
    const stream_camera *camera = &stream->cameras[index];
    const stream_carried *carried = reported(camera);
    const size_t cells = carried->there ? cells_of(carried) : 0;
    if (capacity < cells || (mask == NULL && cells > 0))
        return tvlm_fail(&stream->device->log, TVLM_ERROR_ARGUMENT, "room for %zu cells; there are %zu",
                         capacity, cells);
    for (size_t i = 0; i < cells; ++i)
        mask[i] = camera->report.needs_all || carried->host[PATH * i + KNOWN] == 0.0f;
    return TVLM_OK;
}
