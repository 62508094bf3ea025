/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_send.c: plans which parts of a camera's next frame go to the device, and sends them while the device
 * works on the present frame.
 *
 * The plan is one of the stack's (stack/delta.h), which changes nothing before it is applied. So a frame that
 * is sent and never pushed leaves no trace, even if another frame is pushed in its place.
 *
 * A frame that is on the device already is only converted. It is planned when it is pushed.
 */
#include "core/check.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/delta.h"
#include "stack/upload.h"
#include "video/inside.h"

tvlm_status tvlm_stream_check_frame(const tvlm_stream *s, int32_t index, const stream_frame *frame) {
    const tvlm_log *log = &s->device->log;
    const tvlm_image *image = frame->image;
    size_t row;
    if (index < 0 || index >= s->camera_count)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "camera %d of %d", (int)index, (int)s->camera_count);
    const stream_camera *camera = &s->cameras[index];
    if (image == NULL && frame->planes == NULL) return TVLM_OK;
    if (image != NULL) TVLM_TRY(tvlm_stack_check_image(log, image, &row));
    const int32_t width = image != NULL ? image->width : frame->planes->pixels.width;
    const int32_t height = image != NULL ? image->height : frame->planes->pixels.height;
    if (camera->width > 0 && (width != camera->width || height != camera->height))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a frame of %dx%d pixels in a stream of %dx%d", (int)width,
                         (int)height, (int)camera->width, (int)camera->height);
    return TVLM_OK;
}

bool tvlm_stream_is_due(const tvlm_stream *s, const stream_camera *camera) {
    return camera->frames == 0 || camera->since_key + 1 >= s->params.keyframe_interval;
}

/* ---- Plans ---- */

static bool is_full(const tvlm_stream *s, bool keyframe) {
    return s->params.whole || s->params.update.full || keyframe;
}

static tvlm_status make_plan(const tvlm_stream *s, stream_camera *camera, const tvlm_image *image,
                             bool keyframe) {
    struct tvlm_update_params params = s->params.update;
    params.full = is_full(s, keyframe);
    return tvlm_delta_plan_make(camera->stack, 0, image, &params, !s->params.whole, &camera->plan);
}

/* Waits until nothing is on its way any more. Afterwards the memory of the plan and of the image may be
 * freed. */
static tvlm_status await_pixels(const tvlm_stream *s, stream_camera *camera) {
    const bool sending = camera->sending;
    camera->sending = false;
    return sending ? s->device->backend->buffer_arrive(s->device, camera->pixels) : TVLM_OK;
}

/* Plans a frame that is on the device and is compared there. It is given by its planes or, if `planes` is
 * NULL, is the one in camera->taken. */
static tvlm_status plan_there(const tvlm_stream *s, stream_camera *camera, const tvlm_planes *planes,
                              bool keyframe, tvlm_buffer **buffer) {
    struct tvlm_update_params params = s->params.update;
    tvlm_pixels pixels = camera->taken_pixels;
    params.full = is_full(s, keyframe);
    *buffer = camera->taken;
    if (planes != NULL) TVLM_TRY(tvlm_stack_find_pixels(camera->stack, planes, buffer, &pixels));
    return tvlm_delta_plan_there(camera->stack, 0, *buffer, &pixels, camera->width, camera->height, &params,
                                 &camera->plan);
}

tvlm_status tvlm_stream_plan(const tvlm_stream *s, stream_camera *camera, const stream_frame *frame,
                             bool keyframe, tvlm_buffer **buffer) {
    const tvlm_image *image = frame->image;
    if (frame->planes != NULL || (image == NULL && camera->sent.pixels == NULL))
        return plan_there(s, camera, frame->planes, keyframe, buffer);
    *buffer = camera->sending ? camera->pixels : NULL;
    TVLM_TRY(await_pixels(s, camera));
    if (image == NULL && tvlm_delta_plan_stands(camera->stack, &camera->plan, is_full(s, keyframe)))
        return TVLM_OK;
    *buffer = NULL;
    return make_plan(s, camera, image != NULL ? image : &camera->sent, keyframe);
}

void tvlm_stream_drop_sent(const tvlm_stream *s, stream_camera *camera) {
    /* An error does not matter, since the pixels are not wanted any more. */
    (void)await_pixels(s, camera);
    tvlm_delta_plan_drop(&camera->plan);
    camera->sent = (tvlm_image){0};
}

void tvlm_stream_release_sent(const tvlm_stream *s, stream_camera *camera) {
    tvlm_stream_drop_sent(s, camera);
    tvlm_delta_plan_release(&camera->plan);
    s->device->backend->buffer_destroy(s->device, &camera->pixels);
    s->device->backend->buffer_destroy(s->device, &camera->taken);
}

/* ---- Sending ahead ---- */

static tvlm_status reserve_pixels(const tvlm_stream *s, stream_camera *camera, size_t bytes) {
    const tvlm_backend *backend = s->device->backend;
    if (camera->pixels != NULL && camera->pixels->bytes >= bytes) return TVLM_OK;
    backend->buffer_destroy(s->device, &camera->pixels);
    return backend->buffer_create(s->device, bytes, &camera->pixels);
}

/* Sends what the plan uploads. The buffer may be overwritten: the device has finished reading the frame that
 * was sent before, since tvlm_stream_push has waited for that. */
static tvlm_status send_plan(const tvlm_stream *s, stream_camera *camera) {
    const tvlm_delta_plan *plan = &camera->plan;
    /* If nothing changed, there is nothing to send. */
    if (plan->bytes == 0) return TVLM_OK;
    TVLM_TRY(reserve_pixels(s, camera, plan->bytes));
    TVLM_TRY(s->device->backend->buffer_send(s->device, camera->pixels, plan->bytes, plan->upload));
    camera->sending = true;
    return TVLM_OK;
}

tvlm_status tvlm_stream_send(tvlm_stream *stream, int32_t index, const tvlm_image *image) {
    TVLM_NEED(NULL, stream);
    TVLM_ENTER(stream->device);
    TVLM_NEED(&stream->device->log, image);
    TVLM_TRY(tvlm_stream_check_frame(stream, index, &(stream_frame){.image = image}));
    stream_camera *camera = &stream->cameras[index];
    tvlm_stream_drop_sent(stream, camera);
    TVLM_TRY(make_plan(stream, camera, image, tvlm_stream_is_due(stream, camera)));
    const tvlm_status status = send_plan(stream, camera);
    if (status == TVLM_OK)
        camera->sent = *image;
    else
        tvlm_stream_drop_sent(stream, camera);
    return status;
}

tvlm_status tvlm_stream_take(tvlm_stream *s, int32_t index, const tvlm_planes *planes) {
    TVLM_TRY(tvlm_stream_check_frame(s, index, &(stream_frame){.planes = planes}));
    stream_camera *camera = &s->cameras[index];
    const tvlm_backend *backend = s->device->backend;
    const size_t bytes = tvlm_stack_converted_bytes(camera->stack);
    tvlm_stream_drop_sent(s, camera);
    if (camera->taken == NULL) TVLM_TRY(backend->buffer_create(s->device, bytes, &camera->taken));
    TVLM_TRY(tvlm_stack_convert_planes(camera->stack, planes, camera->taken, &camera->taken_pixels));
    camera->sent.width = planes->pixels.width;
    camera->sent.height = planes->pixels.height;
    return TVLM_OK;
}
