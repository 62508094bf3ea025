/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c: the parameters of a stream, its cameras, and the order in which a frame is taken in.
 */
#include "video/inside.h"

#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/learned.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/delta.h"
#include "stack/frame.h"
#include "stack/given.h"
#include "stack/grids.h"
#include "stack/make.h"
#include "stack/regions.h"
#include "stack/stack.h"
#include "stack/temporal.h"
#include "stack/upload.h"
#include "video/flow.h"

#define CAMERAS_MAX 256

/* ---- Parameters ---- */

static tvlm_status check_ranges(const tvlm_log *log, const tvlm_stream *s) {
    const struct tvlm_stream_params *p = &s->params;
    if (p->cameras < 0 || p->cameras > CAMERAS_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d cameras; 1 to %d are possible", (int)p->cameras,
                         CAMERAS_MAX);
    if (p->keyframe_interval < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "keyframes %d frames apart", (int)p->keyframe_interval);
    if (!(s->cut >= 0.0f) || !isfinite(s->cut) || !(s->confidence >= 0.0f) || !isfinite(s->confidence))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a cut of %g, a confidence of %g", (double)s->cut,
                         (double)s->confidence);
    if (!(s->longest > 0.0f) || !isfinite(s->longest))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "flow over %g cells at most", (double)p->longest);
    if (!(s->blend >= 0.0f && s->blend <= 1.0f) || !(s->needs_all >= 0.0f && s->needs_all <= 1.0f))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "blend %g, needs_all %g: both are 0 to 1",
                         (double)s->blend, (double)s->needs_all);
    if (!(s->steadiness >= 0.0f) || !isfinite(s->steadiness))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a steadiness of %g", (double)s->steadiness);
    return TVLM_OK;
}

static tvlm_status check_volume(const tvlm_log *log, const struct tvlm_stream_params *p) {
    if (p->volume == NULL && p->volume_frames == 0 && p->volume_level == 0 && !p->look_back) return TVLM_OK;
    if (p->volume == NULL || p->volume_frames < 2 || p->volume_frames > TVLM_VOLUME_FRAMES_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a volume of %d frames of %s; 2 to %d of some channels",
                         (int)p->volume_frames, p->volume != NULL ? p->volume : "nothing",
                         TVLM_VOLUME_FRAMES_MAX);
    if (p->volume_level < 0 || p->volume_level > 15)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a volume at level %d", (int)p->volume_level);
    return TVLM_OK;
}

static tvlm_status take_params(tvlm_stream *s, const struct tvlm_stream_params *params) {
    if (params != NULL) s->params = *params;
    struct tvlm_stream_params *p = &s->params;
    s->cut = tvlm_or_default(p->cut, TVLM_CUT_DEFAULT);
    s->confidence = tvlm_or_default(p->confidence, TVLM_STREAM_CONFIDENCE_DEFAULT);
    s->blend = tvlm_or_default(p->blend, TVLM_BLEND_DEFAULT);
    s->needs_all = tvlm_or_default(p->needs_all, TVLM_NEEDS_ALL_DEFAULT);
    s->steadiness = tvlm_or_default(p->steadiness, TVLM_STEADINESS_DEFAULT);
    s->longest = p->longest != 0.0f ? p->longest : TVLM_CELLS_OF_FLOW_DEFAULT;
    TVLM_TRY(check_ranges(&s->device->log, s));
    TVLM_TRY(check_volume(&s->device->log, p));
    if (p->scorer != NULL) TVLM_TRY(tvlm_learned_check(p->scorer->network, &s->device->log));
    TVLM_TRY(tvlm_delta_check_params(&s->device->log, &p->update));
    TVLM_TRY(
        tvlm_stack_check_advance(&s->device->log, tvlm_advance_params(.decay = p->decay, .sigma = p->sigma)));
    if (p->keyframe_interval == 0) p->keyframe_interval = TVLM_KEYFRAME_INTERVAL_DEFAULT;
    s->camera_count = p->cameras > 0 ? p->cameras : 1;
    s->volume_level = p->volume_level > 0 ? p->volume_level : 4;
    return TVLM_OK;
}

static tvlm_status take_volume(tvlm_stream *s, const tvlm_stack *stack) {
    const tvlm_log *log = &s->device->log;
    const struct tvlm_stream_params *p = &s->params;
    if (p->volume == NULL) return TVLM_OK;
    s->volume_channels = tvlm_allocate(TVLM_LAYOUT_CHANNELS_MAX, sizeof *s->volume_channels);
    if (s->volume_channels == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a volume");
    TVLM_TRY(
        tvlm_stack_parse(stack, p->volume, TVLM_LAYOUT_CHANNELS_MAX, s->volume_channels, &s->volume_count));
    if (s->volume_level > tvlm_stack_levels(stack) - 1) s->volume_level = tvlm_stack_levels(stack) - 1;
    if (p->look_back && s->volume_count * (p->volume_frames - 1) > TVLM_USER_PLANES_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "%d channels of %d frames to look back at; %d planes at most", (int)s->volume_count,
                         (int)p->volume_frames - 1, TVLM_USER_PLANES_MAX);
    return TVLM_OK;
}

/* ---- Cameras ---- */

static tvlm_status open_camera(tvlm_stream *s, stream_camera *camera, int32_t width, int32_t height) {
    const struct tvlm_stream_params *p = &s->params;
    const char *layout = p->layout != NULL ? p->layout : "temporal34";
    TVLM_TRY(tvlm_stack_create(s->device,
                               tvlm_stack_params(.layout = layout, .width = width, .height = height,
                                                 .format = p->format, .clusters = p->clusters,
                                                 .compactness = p->compactness, .network = p->network),
                               &camera->stack));
    tvlm_stack_set_streamed(camera->stack);
    const tvlm_stack *stack = camera->stack;
    const tvlm_cluster_plan plan = tvlm_stack_cluster_plan(stack);
    s->cells = plan.columns * plan.rows;
    if (s->volume_channels == NULL) TVLM_TRY(take_volume(s, stack));
    camera->centres = tvlm_allocate((size_t)s->cells, sizeof *camera->centres);
    camera->regions = tvlm_allocate((size_t)s->cells, sizeof *camera->regions);
    if (camera->centres == NULL || camera->regions == NULL)
        return tvlm_fail(&s->device->log, TVLM_ERROR_MEMORY, "no memory for %d regions", (int)s->cells);
    TVLM_TRY(tvlm_stream_volume_create(s, camera));
    /* This names the planes of earlier frames, so that the names are known before the first frame comes. */
    return tvlm_stream_look_back(s, camera);
}

static void close_camera(const tvlm_stream *s, stream_camera *camera) {
    tvlm_device *device = s->device;
    if (camera->stack == NULL) return;
    tvlm_stream_release_sent(s, camera);
    device->backend->texture_destroy(device, &camera->before);
    tvlm_flow_destroy(&camera->flow);
    tvlm_stream_free_features(camera);
    tvlm_stream_gather_release(camera);
    device->backend->buffer_destroy(device, &camera->texels);
    tvlm_packed_destroy(&camera->volume);
    tvlm_stack_destroy(&camera->stack);
    free(camera->centres);
    free(camera->regions);
    free(camera->former);
    free(camera->bonus);
}

tvlm_status tvlm_stream_create(tvlm_device *device, int32_t width, int32_t height,
                               const struct tvlm_stream_params *params, tvlm_stream **stream) {
    TVLM_NEED(NULL, device);
    TVLM_ENTER(device);
    TVLM_NEED(&device->log, stream);
    TVLM_CHECK_RESERVED(&device->log, tvlm_stream_params, params);
    if (width < 1 || height < 1)
        return tvlm_fail(&device->log, TVLM_ERROR_ARGUMENT, "a stream of %dx%d pixels", (int)width,
                         (int)height);
    tvlm_stream *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for a stream");
    made->device = device;
    tvlm_status status = take_params(made, params);
    if (status == TVLM_OK) {
        made->cameras = tvlm_allocate((size_t)made->camera_count, sizeof *made->cameras);
        if (made->cameras == NULL)
            status = tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for %d cameras",
                               (int)made->camera_count);
    }
    for (int32_t i = 0; status == TVLM_OK && i < made->camera_count; ++i)
        status = open_camera(made, &made->cameras[i], width, height);
    if (status != TVLM_OK)
        tvlm_stream_destroy(&made);
    else
        *stream = made;
    return status;
}

void tvlm_stream_destroy(tvlm_stream **stream) {
    if (stream == NULL || *stream == NULL) return;
    TVLM_ENTER_TO_FREE((*stream)->device);
    tvlm_stream *s = *stream;
    for (int32_t i = 0; s->cameras != NULL && i < s->camera_count; ++i) close_camera(s, &s->cameras[i]);
    free(s->cameras);
    free(s->volume_channels);
    free(s);
    *stream = NULL;
}

tvlm_stack *tvlm_stream_stack(tvlm_stream *stream, int32_t camera) {
    return stream != NULL && camera >= 0 && camera < stream->camera_count ? stream->cameras[camera].stack
                                                                          : NULL;
}

/* ---- A frame ---- */

static bool is_sent(const stream_frame *frame) {
    return frame->image == NULL && frame->planes == NULL;
}

static tvlm_status check_push(const tvlm_stream *s, int32_t index, const stream_frame *frame,
                              const struct tvlm_push_params *params) {
    const tvlm_log *log = &s->device->log;
    TVLM_TRY(tvlm_stream_check_frame(s, index, frame));
    if (is_sent(frame) && s->cameras[index].sent.width == 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "no frame, and none was sent ahead");
    if (params->fixation_count < 0 || (params->fixation_count > 0 && params->fixations == NULL))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d fixations, but none given",
                         (int)params->fixation_count);
    for (int32_t i = 0; i < 2 * params->fixation_count; ++i)
        if (!isfinite(params->fixations[i]))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "fixation %d is not finite", (int)i / 2);
    return TVLM_OK;
}

/* Keeps what is needed of the last frame before its pixels are replaced. */
static tvlm_status leave_frame(const tvlm_stream *s, stream_camera *camera,
                               const struct tvlm_push_params *params) {
    if (camera->frames == 0) return tvlm_stream_gather_begin(s, camera);
    TVLM_TRY(tvlm_stream_volume_store(s, camera));
    TVLM_TRY(tvlm_stream_keep_positions(camera));
    TVLM_TRY(tvlm_stream_gather_begin(s, camera));
    if (params->flow != NULL || !s->params.no_flow) TVLM_TRY(tvlm_stream_gather_positions(camera));
    TVLM_TRY(tvlm_stream_carry_regions(s, camera));
    return tvlm_stack_advance(camera->stack, 0,
                              tvlm_advance_params(.positions = params->fixations,
                                                  .position_count = params->fixation_count,
                                                  .decay = s->params.decay, .sigma = s->params.sigma,
                                                  .confidence = tvlm_as_given(s->confidence)));
}

/* Returns whether the frame is a keyframe for another reason than a cut. A cut is found only later, when the
 * frame is compared with the last one. */
static bool is_keyframe(const tvlm_stream *s, const stream_camera *camera,
                        const struct tvlm_push_params *params) {
    return params->keyframe || tvlm_stream_is_due(s, camera);
}

/* Copies the last frame to camera->before, since only parts of the stack's own source will be changed. */
static tvlm_status copy_back(const tvlm_stream *s, stream_camera *camera) {
    const tvlm_texture *source = tvlm_stack_held(camera->stack, 0, TVLM_GRID_SOURCE);
    tvlm_texture shape = *source;
    shape.bytes = 0;
    if (camera->before == NULL)
        TVLM_TRY(s->device->backend->texture_create(s->device, &shape, &camera->before));
    return s->device->backend->texture_copy(s->device, source, camera->before);
}

/* Takes the new pixels into the source, and makes all levels of the source. Afterwards the old pixels are in
 * camera->before. */
static tvlm_status take_frame(const tvlm_stream *s, stream_camera *camera, const stream_frame *frame,
                              const struct tvlm_push_params *params) {
    tvlm_delta_report delta;
    tvlm_buffer *buffer;
    TVLM_TRY(tvlm_stream_plan(s, camera, frame, is_keyframe(s, camera, params), &buffer));
    /* The centres and the bonus belong to the frame that is being replaced. */
    tvlm_stack_set_centres(camera->stack, NULL);
    tvlm_stack_set_bonus(camera->stack, 0, NULL, 0, 0);
    if (camera->frames > 0) {
        memcpy(camera->luma[1], camera->luma[0], sizeof camera->luma[1]);
        if (camera->plan.whole)
            tvlm_stack_exchange_source(camera->stack, &camera->before);
        else
            TVLM_TRY(copy_back(s, camera));
    }
    TVLM_TRY(tvlm_delta_apply(camera->stack, &camera->plan, buffer, &delta));
    if (is_sent(frame)) camera->sent = (tvlm_image){0};
    camera->tiles = delta.whole ? 0 : delta.tiles;
    camera->changed = delta.whole ? 0 : delta.changed;
    TVLM_TRY(tvlm_stack_make(camera->stack, 0, TVLM_GRID_BIT(TVLM_GRID_SOURCE)));
    return tvlm_stream_look(camera);
}

static tvlm_status find_flow(const tvlm_stream *s, stream_camera *camera,
                             const struct tvlm_push_params *params) {
    if (params->flow != NULL) return tvlm_stack_set_grid(camera->stack, 0, TVLM_CHANNEL_FLOW_U, params->flow);
    if (s->params.no_flow) return TVLM_OK;
    return tvlm_flow_hand_in(camera->stack, camera->before, &camera->flow);
}

/* Forgets everything about earlier frames, including what was carried over before the cut was found. */
static tvlm_status forget_all(stream_camera *camera) {
    tvlm_delta_drop_carried(camera->stack, 0);
    tvlm_stack_given_clear(camera->stack, 0, TVLM_GRID_FLOW);
    tvlm_stream_drop_features(camera);
    tvlm_stream_drop_regions(camera);
    camera->former_count = 0;
    return tvlm_stack_forget(camera->stack, 0);
}

static void begin_report(const tvlm_stream *s, stream_camera *camera, const struct tvlm_push_params *params) {
    tvlm_stream_report *report = &camera->report;
    const bool first = camera->frames == 0;
    *report = (tvlm_stream_report){.frame = camera->frames};
    report->difference = first ? 0.0f : tvlm_stream_difference(camera);
    report->cut = !first && report->difference >= s->cut;
    report->keyframe = report->cut || is_keyframe(s, camera, params);
    report->tiles = camera->tiles;
    report->changed = camera->changed;
    camera->since_key = report->keyframe ? 0 : camera->since_key + 1;
}

/* Returns whether levels of the flow above level 0 are read now. They are read if regions or features are
 * moved. They are also read for positions if the flow's grid is finer than the level at which positions read
 * it. */
static bool reads_levels(const stream_camera *camera) {
    const tvlm_texture *flow = tvlm_stack_held(camera->stack, 0, TVLM_GRID_FLOW);
    const float step = fmaxf(flow->extent_x / (float)flow->width, flow->extent_y / (float)flow->height);
    bool reads = camera->gathered > 0 || (camera->former_count > 0 && step < exp2f(STREAM_POSITIONS_LEVEL));
    for (int i = 0; i < TVLM_STREAMED_COUNT; ++i) reads = reads || camera->carried[i].there;
    return reads;
}

/* Makes the flow's levels if they are read now. Otherwise they are made later, together with other levels,
 * since that takes fewer launches. The next frame needs them in any case. */
static tvlm_status make_flow(const stream_camera *camera) {
    return reads_levels(camera) ? tvlm_stack_make(camera->stack, 0, TVLM_GRID_BIT(TVLM_GRID_FLOW))
                                : tvlm_stack_make_later(camera->stack, 0, TVLM_GRID_FLOW);
}

/* Enqueues all work that carries something over into the present frame. */
static tvlm_status carry_over(const tvlm_stream *s, stream_camera *camera,
                              const struct tvlm_push_params *params) {
    TVLM_TRY(find_flow(s, camera, params));
    if (stream_has_flow(camera)) {
        TVLM_TRY(make_flow(camera));
        TVLM_TRY(tvlm_stream_follow_regions(s, camera));
        TVLM_TRY(tvlm_stream_follow_positions(camera));
    }
    return tvlm_stream_carry_features(s, camera);
}

/* Takes over the regions and positions that were carried over, once they have been read back. */
static tvlm_status take_over(const tvlm_stream *s, stream_camera *camera) {
    TVLM_TRY(tvlm_stream_place_regions(s, camera));
    tvlm_stream_take_positions(camera);
    return TVLM_OK;
}

/*
 * Everything is carried over before it is known whether there is a cut, so that one wait is enough. At a cut,
 * all of it is forgotten again. But if a flow is handed in, the thumbnails are compared first, since at a cut
 * the flow must not be read.
 */
static tvlm_status meet_frame(const tvlm_stream *s, stream_camera *camera,
                              const struct tvlm_push_params *params) {
    const bool first = camera->frames == 0, look_first = first || params->flow != NULL;
    if (!look_first) TVLM_TRY(carry_over(s, camera, params));
    TVLM_TRY(tvlm_stream_gather_read(camera, look_first ? camera->gather.look_end : camera->gather.end));
    tvlm_stream_take_look(camera);
    begin_report(s, camera, params);
    const bool alone = first || camera->report.cut;
    if (look_first && !alone) {
        TVLM_TRY(carry_over(s, camera, params));
        TVLM_TRY(tvlm_stream_gather_read(camera, camera->gather.end));
    }
    tvlm_stream_volume_begin(camera, alone);
    TVLM_TRY(alone ? forget_all(camera) : take_over(s, camera));
    camera->report.flow = stream_has_flow(camera);
    tvlm_stream_take_features(s, camera);
    return tvlm_stream_look_back(s, camera);
}

static tvlm_status move_fixation(stream_camera *camera, const struct tvlm_push_params *params) {
    const tvlm_stack *stack = camera->stack;
    if (params->fixation_count == 0) return TVLM_OK;
    const float *last = params->fixations + 2 * (size_t)(params->fixation_count - 1);
    return tvlm_stack_set_fixation(camera->stack,
                                   last[0] * (float)tvlm_stack_width(stack) / (float)camera->width,
                                   last[1] * (float)tvlm_stack_height(stack) / (float)camera->height);
}

static tvlm_status push(tvlm_stream *s, stream_camera *camera, const stream_frame *frame,
                        const struct tvlm_push_params *params) {
    const tvlm_image *image = frame->image != NULL ? frame->image : &camera->sent;
    camera->width = frame->planes != NULL ? frame->planes->pixels.width : image->width;
    camera->height = frame->planes != NULL ? frame->planes->pixels.height : image->height;
    TVLM_TRY(leave_frame(s, camera, params));
    TVLM_TRY(take_frame(s, camera, frame, params));
    TVLM_TRY(meet_frame(s, camera, params));
    TVLM_TRY(move_fixation(camera, params));
    ++camera->frames;
    return TVLM_OK;
}

tvlm_status tvlm_stream_push_frame(tvlm_stream *stream, int32_t index, const stream_frame *frame,
                                   const struct tvlm_push_params *params, tvlm_stream_report *report) {
    static const struct tvlm_push_params defaults = {0};
    if (params == NULL) params = &defaults;
    TVLM_CHECK_RESERVED(&stream->device->log, tvlm_push_params, params);
    TVLM_TRY(check_push(stream, index, frame, params));
    stream_camera *camera = &stream->cameras[index];
    if (!is_sent(frame)) tvlm_stream_drop_sent(stream, camera);
    const tvlm_status status = push(stream, camera, frame, params);
    /* After an error it is not known how much of the old frame is left. */
    if (status != TVLM_OK) {
        camera->frames = 0;
        camera->width = camera->height = 0;
        tvlm_stack_drop_frame(camera->stack, 0);
        if (is_sent(frame)) tvlm_stream_drop_sent(stream, camera);
        return status;
    }
    if (report != NULL) *report = camera->report;
    return TVLM_OK;
}

tvlm_status tvlm_stream_push(tvlm_stream *stream, int32_t index, const tvlm_image *image,
                             const struct tvlm_push_params *params, tvlm_stream_report *report) {
    TVLM_NEED(NULL, stream);
    TVLM_ENTER(stream->device);
    return tvlm_stream_push_frame(stream, index, &(stream_frame){.image = image}, params, report);
}

/* Drops the emphasis if its channel, such as motion, needs an earlier frame, and there is none. That is so at
 * the first frame and at a cut. */
static tvlm_status drop_emphasis(const stream_camera *camera, const struct tvlm_query *query,
                                 struct tvlm_select_params *params) {
    bool has = true;
    const int32_t channel = params->budget.emphasis_channel;
    const bool alone = camera->report.frame == 0 || camera->report.cut;
    if (!alone || channel == 0) return TVLM_OK;
    if (query != NULL && channel == TVLM_CHANNEL_QUERY_SIMILARITY)
        return TVLM_OK; /* it is made for this answer */
    TVLM_TRY(tvlm_stack_has_channel(camera->stack, 0, channel, &has));
    if (has) return TVLM_OK;
    params->budget.emphasis = TVLM_EXPLICIT_ZERO; /* 0 would be the default, which a query sets */
    params->budget.emphasis_channel = 0;
    return TVLM_OK;
}

tvlm_status tvlm_stream_select(tvlm_stream *stream, int32_t index, const struct tvlm_query *query,
                               const struct tvlm_select_params *params, tvlm_selection **selection) {
    struct tvlm_select_params chosen = {0};
    TVLM_NEED(NULL, stream);
    TVLM_ENTER(stream->device);
    TVLM_NEED(&stream->device->log, selection);
    const tvlm_log *log = &stream->device->log;
    if (params != NULL) chosen = *params;
    if (chosen.strategy == TVLM_STRATEGY_DEFAULT) chosen.strategy = TVLM_STRATEGY_GRID;
    if (index < 0 || index >= stream->camera_count)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "camera %d of %d", (int)index, (int)stream->camera_count);
    stream_camera *camera = &stream->cameras[index];
    if (camera->frames == 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "camera %d has no frame yet", (int)index);
    if (chosen.score.index != 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "image %d of a camera; its index is 0",
                         (int)chosen.score.index);
    if (chosen.score.scorer == NULL && chosen.score.weights == NULL && chosen.scores == NULL &&
        chosen.budget.emphasis_channel == 0)
        chosen.score.scorer = stream->params.scorer;
    if (chosen.strategy == TVLM_STRATEGY_BUDGET) TVLM_TRY(drop_emphasis(camera, query, &chosen));
    TVLM_TRY(tvlm_stream_make_bonus(stream, camera, &chosen));
    return tvlm_select(camera->stack, query, &chosen, selection);
}
