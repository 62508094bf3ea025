/*
 * Selections that stay where the picture does: a bonus for candidates to which the flow carries a position of
 * the last selection.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "video/stream.h"

tvlm_status stream_keep_positions(stream_camera *camera) {
    const tvlm_frame *frame = &camera->stack->frames[0];
    if (frame->position_count > camera->former_capacity) {
        float *made = tvlm_allocate((size_t)frame->position_count, 2 * sizeof *made);
        if (made == NULL)
            return tvlm_fail(&camera->stack->device->log, TVLM_ERROR_MEMORY, "no memory for %d positions",
                             (int)frame->position_count);
        free(camera->former);
        camera->former = made;
        camera->former_capacity = frame->position_count;
    }
    camera->former_count = frame->position_count;
    if (camera->former_count > 0)
        memcpy(camera->former, frame->positions, (size_t)camera->former_count * 2 * sizeof *camera->former);
    return TVLM_OK;
}

tvlm_status stream_flow_at(stream_camera *camera, const float *points, int32_t count, float level,
                           float *flow) {
    static const int32_t channels[3] = {TVLM_CHANNEL_FLOW_U, TVLM_CHANNEL_FLOW_V,
                                        TVLM_CHANNEL_FLOW_CONFIDENCE};
    tvlm_sample_point *at = tvlm_allocate((size_t)count, sizeof *at);
    if (at == NULL)
        return tvlm_fail(&camera->stack->device->log, TVLM_ERROR_MEMORY, "no memory for flow at %d points",
                         (int)count);
    for (int32_t i = 0; i < count; ++i)
        at[i] = (tvlm_sample_point){points[2 * i], points[2 * i + 1], level, 0};
    const tvlm_status status = tvlm_stack_sample(camera->stack, at, count, channels, 3, flow);
    free(at);
    return status;
}

/* ---- The bonus ---- */

#define STEPS 3    /* towards the place that a position came to */
#define LEVEL 1.0f /* of the flow: as it is estimated */

/* places: where the last positions were; they become where they are: p with p + flow(p) = where it was. Flow
 * that is not sure counts too: a wrong guess costs some steadiness, none would cost more. */
static tvlm_status follow(stream_camera *camera, float *places) {
    const int32_t count = camera->former_count;
    float *flow = tvlm_allocate((size_t)count, 3 * sizeof *flow);
    if (flow == NULL)
        return tvlm_fail(&camera->stack->device->log, TVLM_ERROR_MEMORY, "no memory for flow at %d points",
                         (int)count);
    tvlm_status status = TVLM_OK;
    for (int step = 0; status == TVLM_OK && step < STEPS; ++step) {
        status = stream_flow_at(camera, places, count, LEVEL, flow);
        for (int32_t i = 0; status == TVLM_OK && i < count; ++i) {
            places[2 * i] = camera->former[2 * i] - flow[3 * i];
            places[2 * i + 1] = camera->former[2 * i + 1] - flow[3 * i + 1];
        }
    }
    free(flow);
    return status;
}

static tvlm_status reserve_bonus(stream_camera *camera, size_t count) {
    if (camera->bonus_capacity < count) {
        free(camera->bonus);
        camera->bonus = tvlm_allocate(count, sizeof *camera->bonus);
        camera->bonus_capacity = camera->bonus != NULL ? count : 0;
    }
    if (camera->bonus == NULL)
        return tvlm_fail(&camera->stack->device->log, TVLM_ERROR_MEMORY, "no memory for a bonus");
    memset(camera->bonus, 0, count * sizeof *camera->bonus);
    return TVLM_OK;
}

/* One candidate for each former position: were all within a cell of it to gain, the best of them would crowd
 * out what else was selected. */
static void give_bonus(const tvlm_stream *stream, stream_camera *camera, float step, const float *places) {
    const tvlm_frame *frame = &camera->stack->frames[0];
    for (int32_t i = 0; i < camera->former_count; ++i) {
        const float x = places[2 * i], y = places[2 * i + 1];
        const bool inside = x >= 0.0f && y >= 0.0f && x < (float)camera->stack->width &&
                            y < (float)camera->stack->height; /* not if it is no number */
        if (!inside) continue;
        const int32_t column = (int32_t)(x / step), row = (int32_t)(y / step);
        if (column < frame->bonus_columns && row < frame->bonus_rows)
            camera->bonus[row * frame->bonus_columns + column] = stream->steadiness;
    }
}

tvlm_status stream_make_bonus(const tvlm_stream *stream, stream_camera *camera,
                              const struct tvlm_select_params *params) {
    tvlm_frame *frame = &camera->stack->frames[0];
    const float step = params->stride > 0.0f ? params->stride : TVLM_STRIDE_DEFAULT;
    const size_t bytes = (size_t)camera->former_count * 2 * sizeof *camera->former;
    frame->bonus = NULL;
    if (stream->steadiness <= 0.0f || camera->former_count == 0 || params->strategy != TVLM_STRATEGY_GRID)
        return TVLM_OK;
    TVLM_TRY(tvlm_score_size(camera->stack, tvlm_score_params(.stride = params->stride),
                             &frame->bonus_columns, &frame->bonus_rows));
    TVLM_TRY(reserve_bonus(camera, (size_t)frame->bonus_columns * (size_t)frame->bonus_rows));
    float *places = tvlm_allocate((size_t)camera->former_count, 2 * sizeof *places);
    if (places == NULL) return tvlm_fail(&stream->device->log, TVLM_ERROR_MEMORY, "no memory for a bonus");
    memcpy(places, camera->former, bytes);
    const tvlm_status status = stream_has_flow(camera) ? follow(camera, places) : TVLM_OK;
    if (status == TVLM_OK) {
        give_bonus(stream, camera, step, places);
        frame->bonus = camera->bonus;
    }
    free(places);
    return status;
}
