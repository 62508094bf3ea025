/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_send.c: plans what of a camera's next frame goes to the device, and sends it beside the work on the
 * present frame. The plan is one of the stack's (stack/delta.h), which changes nothing before it is applied.
 * So a frame that is sent and never pushed leaves no trace, nor does one before which another frame comes.
 */
#include "core/check.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/delta.h"
#include "stack/upload.h"
#include "video/inside.h"

tvlm_status tvlm_stream_check_frame(const tvlm_stream *s, int32_t index, const tvlm_image *image) {
    const tvlm_log *log = &s->device->log;
    size_t row;
    if (index < 0 || index >= s->camera_count)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "camera %d of %d", (int)index, (int)s->camera_count);
    const stream_camera *camera = &s->cameras[index];
    if (image == NULL) return TVLM_OK;
    TVLM_TRY(tvlm_stack_check_image(log, image, &row));
    if (camera->width > 0 && (image->width != camera->width || image->height != camera->height))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a frame of %dx%d pixels in a stream of %dx%d",
                         (int)image->width, (int)image->height, (int)camera->width, (int)camera->height);
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

/* Waits until nothing is on its way any more. Then the memory of the plan, or of the image, may go. */
static tvlm_status await_pixels(const tvlm_stream *s, stream_camera *camera) {
    const bool sending = camera->sending;
    camera->sending = false;
    return sending ? s->device->backend->buffer_arrive(s->device, camera->pixels) : TVLM_OK;
}

tvlm_status tvlm_stream_plan(const tvlm_stream *s, stream_camera *camera, const tvlm_image *image,
                             bool keyframe, tvlm_buffer **buffer) {
    *buffer = camera->sending ? camera->pixels : NULL;
    TVLM_TRY(await_pixels(s, camera));
    if (image == NULL && tvlm_delta_plan_stands(camera->stack, &camera->plan, is_full(s, keyframe)))
        return TVLM_OK;
    *buffer = NULL;
    return make_plan(s, camera, image != NULL ? image : &camera->sent, keyframe);
}

void tvlm_stream_drop_sent(const tvlm_stream *s, stream_camera *camera) {
    /* Whether the pixels arrived does not matter, since they are not wanted. */
    (void)await_pixels(s, camera);
    tvlm_delta_plan_drop(&camera->plan);
    camera->sent.pixels = NULL;
}

void tvlm_stream_release_sent(const tvlm_stream *s, stream_camera *camera) {
    tvlm_stream_drop_sent(s, camera);
    tvlm_delta_plan_release(&camera->plan);
    s->device->backend->buffer_destroy(s->device, &camera->pixels);
}

/* ---- Sending ahead ---- */

static tvlm_status reserve_pixels(const tvlm_stream *s, stream_camera *camera, size_t bytes) {
    const tvlm_backend *backend = s->device->backend;
    if (camera->pixels != NULL && camera->pixels->bytes >= bytes) return TVLM_OK;
    backend->buffer_destroy(s->device, &camera->pixels);
    return backend->buffer_create(s->device, bytes, &camera->pixels);
}

/* Sends what the plan uploads. The device does not read what was sent before any more, since tvlm_stream_push
 * has waited for that. */
static tvlm_status send_plan(const tvlm_stream *s, stream_camera *camera) {
    const tvlm_delta_plan *plan = &camera->plan;
    /* There is nothing to send where nothing changed. */
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
    TVLM_TRY(tvlm_stream_check_frame(stream, index, image));
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
