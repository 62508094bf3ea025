/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_volume.c: keeps the last frames of some channels as the images of one packed array, which is used as
 * a ring.
 */
#include <math.h>
#include <stdio.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/bundle.h"
#include "stack/given.h"
#include "stack/grids.h"
#include "stack/make.h"
#include "stack/packed.h"
#include "stack/stack.h"
#include "video/inside.h"

static int32_t side_of(int32_t side, int32_t level) {
    return tvlm_level_side(side, level);
}

static tvlm_texture shape_of(const tvlm_stream *stream, const tvlm_stack *stack) {
    return (tvlm_texture){.width = side_of(tvlm_stack_width(stack), stream->volume_level),
                          .height = side_of(tvlm_stack_height(stack), stream->volume_level),
                          .layers = (stream->volume_count + 3) / 4,
                          .images = stream->params.volume_frames,
                          .levels = 1,
                          .format = tvlm_stack_texel_format(stack),
                          .extent_x = (float)tvlm_stack_width(stack),
                          .extent_y = (float)tvlm_stack_height(stack)};
}

tvlm_status tvlm_stream_volume_create(const tvlm_stream *stream, stream_camera *camera) {
    const tvlm_stack *stack = camera->stack;
    const tvlm_texture shape = shape_of(stream, stack);
    if (stream->volume_count == 0) return TVLM_OK;
    tvlm_packed *made = tvlm_allocate(1, sizeof *made);
    tvlm_texture **textures = tvlm_allocate(1, sizeof *textures);
    tvlm_status status = TVLM_ERROR_MEMORY;
    if (made == NULL || textures == NULL)
        (void)tvlm_fail(&stream->device->log, TVLM_ERROR_MEMORY, "no memory for a volume");
    else
        status = stream->device->backend->texture_create(stream->device, &shape, textures);
    if (status != TVLM_OK) {
        free(made);
        free(textures);
        return status;
    }
    *made = (tvlm_packed){stream->device, shape.width,  shape.height, stream->volume_count,
                          shape.layers,   shape.images, shape.images, 1,
                          textures};
    camera->volume = made;
    return TVLM_OK;
}

/* ---- Storing ---- */

void tvlm_stream_volume_begin(stream_camera *camera, bool forget) {
    camera->stored = false;
    if (forget) camera->filled = 0;
}

tvlm_status tvlm_stream_volume_store(const tvlm_stream *stream, stream_camera *camera) {
    tvlm_stack *stack = camera->stack;
    const int32_t count = stream->volume_count, frames = stream->params.volume_frames;
    const int32_t slot = camera->filled == 0 ? 0 : (camera->newest + 1) % frames;
    int32_t refs[TVLM_LAYOUT_CHANNELS_MAX + 4], taken;
    tvlm_bundle bundle;
    if (camera->volume == NULL || camera->stored) return TVLM_OK;
    TVLM_TRY(tvlm_stack_make(stack, 0, tvlm_stack_grids_of(stack, stream->volume_channels, count)));
    tvlm_stack_bundle(stack, 0, stream->volume_channels, count, &bundle, refs, &taken);
    if (taken < count)
        return tvlm_fail(&stream->device->log, TVLM_ERROR_UNSUPPORTED,
                         "a volume of channels from more than %d textures",
                         (int)tvlm_stack_bundle_limit(stack));
    for (int32_t i = count; i < 4 * camera->volume->layers; ++i) refs[i] = TVLM_REF_ZERO;
    TVLM_TRY(stream->device->backend->pack_slot(stream->device, &bundle, refs, (float)stream->volume_level, 0,
                                                slot, camera->volume->textures[0]));
    camera->newest = slot;
    if (camera->filled < frames) ++camera->filled;
    camera->stored = true;
    return TVLM_OK;
}

/* ---- Looking back ---- */

static int32_t slot_of(const tvlm_stream *stream, const stream_camera *camera, int32_t age) {
    const int32_t frames = stream->params.volume_frames;
    return (camera->newest + frames - age % frames) % frames;
}

/* Sets a plane to channel c of the frame in a slot, without waiting for the device. The plane was named when
 * the stream was created. */
static tvlm_status pick_plane(const stream_camera *camera, const char *name, int32_t slot, int32_t c) {
    const tvlm_packed *volume = camera->volume;
    tvlm_stack *stack = camera->stack;
    const tvlm_grid grid =
        (tvlm_grid)(TVLM_GRID_USER_0 + tvlm_stack_channel_find(stack, name) - TVLM_CHANNEL_USER_0);
    const tvlm_given size = {.columns = volume->width,
                             .rows = volume->height,
                             .layers = 1,
                             .extent_x = (float)tvlm_stack_width(stack),
                             .extent_y = (float)tvlm_stack_height(stack)};
    tvlm_device *device = tvlm_stack_device(stack);
    tvlm_texture *plane;
    TVLM_TRY(tvlm_stack_given_begin(stack, 0, grid, &size, name, &plane));
    const tvlm_status status =
        device->backend->pick(device, volume->textures[0], slot * volume->layers + c / 4, c % 4, plane);
    tvlm_stack_given_end(stack, 0, grid);
    if (status != TVLM_OK) tvlm_stack_given_clear(stack, 0, grid);
    return status;
}

static tvlm_status set_zeros(const stream_camera *camera, const char *name, const float *zeros) {
    return tvlm_stack_set_user(camera->stack, 0, name, 0.0f, 0.0f, TVLM_MEAN,
                               tvlm_grid_input(.data = zeros, .columns = camera->volume->width,
                                               .rows = camera->volume->height, .replace_nonfinite = true),
                               NULL);
}

/* Sets the planes of the frame that is `age` frames before the present one. The present frame is not in the
 * volume yet. */
static tvlm_status set_planes(const tvlm_stream *stream, stream_camera *camera, int32_t age,
                              const float *zeros) {
    for (int32_t c = 0; c < stream->volume_count; ++c) {
        tvlm_channel_info info;
        char name[2 * TVLM_CHANNEL_NAME_SIZE];
        TVLM_TRY(tvlm_channel_get_info(stream->volume_channels[c], &info));
        snprintf(name, sizeof name, "%s@-%d", info.name, (int)age);
        TVLM_TRY(age <= camera->filled ? pick_plane(camera, name, slot_of(stream, camera, age - 1), c)
                                       : set_zeros(camera, name, zeros));
    }
    return TVLM_OK;
}

tvlm_status tvlm_stream_look_back(const tvlm_stream *stream, stream_camera *camera) {
    if (camera->volume == NULL || !stream->params.look_back) return TVLM_OK;
    const size_t texels = (size_t)camera->volume->width * (size_t)camera->volume->height;
    float *zeros = tvlm_allocate(texels, sizeof *zeros);
    tvlm_status status = TVLM_OK;
    if (zeros == NULL) return tvlm_fail(&stream->device->log, TVLM_ERROR_MEMORY, "no memory to look back");
    for (int32_t age = 1; status == TVLM_OK && age < stream->params.volume_frames; ++age)
        status = set_planes(stream, camera, age, zeros);
    free(zeros);
    return status;
}

/* ---- stream.h ---- */

static tvlm_status find_camera(tvlm_stream *stream, int32_t camera, stream_camera **found) {
    if (camera < 0 || camera >= stream->camera_count)
        return tvlm_fail(&stream->device->log, TVLM_ERROR_ARGUMENT, "camera %d of %d", (int)camera,
                         (int)stream->camera_count);
    *found = &stream->cameras[camera];
    if ((*found)->volume == NULL)
        return tvlm_fail(&stream->device->log, TVLM_ERROR_ARGUMENT, "the stream has no volume");
    if ((*found)->frames == 0)
        return tvlm_fail(&stream->device->log, TVLM_ERROR_ARGUMENT, "camera %d has no frame yet",
                         (int)camera);
    return tvlm_stream_volume_store(stream, *found);
}

tvlm_status tvlm_stream_volume(tvlm_stream *stream, int32_t camera, int32_t age, tvlm_packed **volume,
                               int32_t *slot) {
    stream_camera *found;
    TVLM_NEED(NULL, stream);
    TVLM_ENTER(stream->device);
    TVLM_NEED(&stream->device->log, volume);
    TVLM_NEED(&stream->device->log, slot);
    TVLM_TRY(find_camera(stream, camera, &found));
    if (age < 0 || age >= found->filled)
        return tvlm_fail(&stream->device->log, TVLM_ERROR_ARGUMENT, "a frame %d frames ago; there are %d",
                         (int)age, (int)found->filled);
    *volume = found->volume;
    *slot = slot_of(stream, found, age);
    return TVLM_OK;
}

static bool is_identifier(int32_t channel) {
    const tvlm_channel_place place = tvlm_channel_get_place(channel);
    return place.grid < TVLM_GRID_COUNT &&
           tvlm_grid_get_info(place.grid)->reduce[place.component] == TVLM_REDUCE_MODE;
}

/* Returns the middle, in pixels, of the texel that contains a place. */
static float snapped(float place, int32_t texels, int32_t side) {
    const float texel = floorf(place * (float)texels / (float)side);
    return (fminf(fmaxf(texel, 0.0f), (float)(texels - 1)) + 0.5f) * (float)side / (float)texels;
}

/* A point is read three times: in the two frames that it lies between and, for identifiers, at the nearest
 * texel of the nearest frame. */
enum { READS = 3 };

/* Finds where a point is read. Returns how far it lies from the first frame towards the second, 0 to 1. */
static float place_points(const tvlm_stream *stream, const stream_camera *camera, const tvlm_volume_point *at,
                          tvlm_point *points) {
    const tvlm_stack *stack = camera->stack;
    const float age = fminf(fmaxf(at->age, 0.0f), (float)(camera->filled - 1));
    const int32_t first = (int32_t)age, second = first + 1 < camera->filled ? first + 1 : first;
    const float slots[READS] = {(float)slot_of(stream, camera, first), (float)slot_of(stream, camera, second),
                                (float)slot_of(stream, camera, (int32_t)(age + 0.5f))};
    for (int i = 0; i < READS; ++i) points[i] = (tvlm_point){at->x, at->y, 0.0f, slots[i]};
    points[2].x = snapped(at->x, camera->volume->width, tvlm_stack_width(stack));
    points[2].y = snapped(at->y, camera->volume->height, tvlm_stack_height(stack));
    return age - (float)first;
}

static tvlm_status read_points(const tvlm_stream *stream, stream_camera *camera, const tvlm_point *points,
                               int32_t count, float *values) {
    tvlm_stack *stack = camera->stack;
    const tvlm_backend *backend = stream->device->backend;
    const int32_t layers = camera->volume->layers;
    const size_t bytes = (size_t)count * (size_t)layers * 4 * sizeof *values;
    int32_t refs[TVLM_LAYOUT_CHANNELS_MAX + 4];
    tvlm_bundle bundle = tvlm_stack_bundle_view(stack);
    tvlm_buffer *sent, *received;
    bundle.count = 1;
    bundle.textures[0] = camera->volume->textures[0];
    for (int32_t i = 0; i < 4 * layers; ++i) refs[i] = TVLM_REF(0, i / 4, i % 4);
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_POINTS, (size_t)count * sizeof *points, &sent));
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_SAMPLES, bytes, &received));
    TVLM_TRY(backend->buffer_write(stream->device, sent, 0, (size_t)count * sizeof *points, points));
    TVLM_TRY(backend->sample(stream->device, &bundle, refs, layers, sent, count, received));
    return backend->buffer_read(stream->device, received, 0, bytes, values);
}

static tvlm_status sample_points(const tvlm_stream *stream, stream_camera *camera,
                                 const tvlm_volume_point *at, int32_t count, tvlm_point *points,
                                 float *values, float *out) {
    const size_t width = 4 * (size_t)camera->volume->layers, channels = (size_t)stream->volume_count;
    for (int32_t i = 0; i < count; ++i) (void)place_points(stream, camera, &at[i], points + READS * i);
    TVLM_TRY(read_points(stream, camera, points, READS * count, values));
    for (int32_t i = 0; i < count; ++i) {
        tvlm_point unused[READS];
        const float between = place_points(stream, camera, &at[i], unused);
        const float *first = values + (size_t)READS * (size_t)i * width, *second = first + width,
                    *nearest = second + width;
        for (size_t c = 0; c < channels; ++c)
            out[(size_t)i * channels + c] = is_identifier(stream->volume_channels[c])
                                                ? nearest[c]
                                                : first[c] + between * (second[c] - first[c]);
    }
    return TVLM_OK;
}

tvlm_status tvlm_stream_volume_sample(tvlm_stream *stream, int32_t camera, const tvlm_volume_point *points,
                                      int32_t count, float *out) {
    stream_camera *found;
    TVLM_NEED(NULL, stream);
    TVLM_ENTER(stream->device);
    if (count < 0) return tvlm_fail(&stream->device->log, TVLM_ERROR_ARGUMENT, "%d points", (int)count);
    if (count > 0) TVLM_NEED(&stream->device->log, points);
    if (count > 0) TVLM_NEED(&stream->device->log, out);
    TVLM_TRY(find_camera(stream, camera, &found));
    if (count == 0) return TVLM_OK;
    for (int32_t i = 0; i < count; ++i)
        if (!isfinite(points[i].x) || !isfinite(points[i].y) || !isfinite(points[i].age))
            return tvlm_fail(&stream->device->log, TVLM_ERROR_ARGUMENT, "point %d is not finite", (int)i);
    tvlm_point *at = tvlm_allocate((size_t)count, READS * sizeof *at);
    float *values =
        tvlm_allocate((size_t)count * READS, (size_t)(4 * found->volume->layers) * sizeof *values);
    tvlm_status status = TVLM_OK;
    if (at == NULL || values == NULL)
        status =
            tvlm_fail(&stream->device->log, TVLM_ERROR_MEMORY, "no memory to sample %d points", (int)count);
    else
        status = sample_points(stream, found, points, count, at, values, out);
    free(at);
    free(values);
    return status;
}
