/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_steady.c: keeps selections steady. A candidate gets a bonus if the flow moves a position of the last
 * selection to it.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "stack/frame.h"
#include "stack/stack.h"
#include "video/inside.h"

tvlm_status tvlm_stream_keep_positions(stream_camera *camera) {
    int32_t count;
    const float *positions;
    TVLM_TRY(tvlm_stack_positions(camera->stack, 0, &positions, &count));
    if (count > camera->former_capacity) {
        float *made = tvlm_allocate((size_t)count, 2 * sizeof *made);
        if (made == NULL)
            return tvlm_fail(tvlm_stack_log(camera->stack), TVLM_ERROR_MEMORY, "no memory for %d positions",
                             (int)count);
        free(camera->former);
        camera->former = made;
        camera->former_capacity = count;
    }
    camera->former_count = count;
    if (count > 0) memcpy(camera->former, positions, (size_t)count * 2 * sizeof *camera->former);
    return TVLM_OK;
}

tvlm_status tvlm_stream_gather_positions(stream_camera *camera) {
    const stream_gather *gather = &camera->gather;
    tvlm_device *device = tvlm_stack_device(camera->stack);
    if (camera->former_count == 0) return TVLM_OK;
    TVLM_TRY(device->backend->buffer_write(device, gather->buffer, gather->positions * sizeof(float),
                                           2 * (size_t)camera->former_count * sizeof(float), camera->former));
    tvlm_stack_positions_copied(camera->stack, 0, gather->buffer, gather->positions);
    return TVLM_OK;
}

/* The number of iterations that find the place to which a position moved. */
#define STEPS 3

/* Positions follow any flow, however low its confidence. A wrong guess costs some steadiness, but no guess
 * would cost more. */
tvlm_status tvlm_stream_follow_positions(stream_camera *camera) {
    const stream_gather *gather = &camera->gather;
    if (camera->former_count == 0) return TVLM_OK;
    return tvlm_stream_follow(camera, &(tvlm_follow){.level = STREAM_POSITIONS_LEVEL,
                                                     .confidence = -INFINITY,
                                                     .steps = STEPS,
                                                     .from_offset = gather->positions,
                                                     .from_stride = 2,
                                                     .to_offset = gather->positions_moved,
                                                     .count = camera->former_count});
}

void tvlm_stream_take_positions(stream_camera *camera) {
    if (stream_has_flow(camera) && camera->former_count > 0)
        memcpy(camera->former, camera->gather.host + camera->gather.positions_moved,
               2 * (size_t)camera->former_count * sizeof *camera->former);
}

/* ---- The bonus ---- */

static tvlm_status reserve_bonus(stream_camera *camera, size_t count) {
    if (camera->bonus_capacity < count) {
        free(camera->bonus);
        camera->bonus = tvlm_allocate(count, sizeof *camera->bonus);
        camera->bonus_capacity = camera->bonus != NULL ? count : 0;
    }
    if (camera->bonus == NULL)
        return tvlm_fail(tvlm_stack_log(camera->stack), TVLM_ERROR_MEMORY, "no memory for a bonus");
    memset(camera->bonus, 0, count * sizeof *camera->bonus);
    return TVLM_OK;
}

/* Gives the bonus to one candidate for each former position. If all candidates within a cell of a position
 * had the bonus, they would crowd out other positions of the selection. */
static void give_bonus(const tvlm_stream *stream, stream_camera *camera, float step, int32_t columns,
                       int32_t rows) {
    for (int32_t i = 0; i < camera->former_count; ++i) {
        const float x = camera->former[2 * i], y = camera->former[2 * i + 1];
        /* A position that is NaN does not count as inside. */
        const bool inside = x >= 0.0f && y >= 0.0f && x < (float)tvlm_stack_width(camera->stack) &&
                            y < (float)tvlm_stack_height(camera->stack);
        if (!inside) continue;
        const int32_t column = (int32_t)(x / step), row = (int32_t)(y / step);
        if (column < columns && row < rows) camera->bonus[row * columns + column] = stream->steadiness;
    }
}

tvlm_status tvlm_stream_make_bonus(const tvlm_stream *stream, stream_camera *camera,
                                   const struct tvlm_select_params *params) {
    int32_t columns, rows;
    const float step = params->score.stride > 0.0f ? params->score.stride : TVLM_STRIDE_DEFAULT;
    tvlm_stack_set_bonus(camera->stack, 0, NULL, 0, 0);
    const bool grid = params->strategy == TVLM_STRATEGY_GRID;
    if (stream->steadiness <= 0.0f || camera->former_count == 0 || !grid) return TVLM_OK;
    TVLM_TRY(
        tvlm_score_size(camera->stack, tvlm_score_params(.stride = params->score.stride), &columns, &rows));
    TVLM_TRY(reserve_bonus(camera, (size_t)columns * (size_t)rows));
    give_bonus(stream, camera, step, columns, rows);
    tvlm_stack_set_bonus(camera->stack, 0, camera->bonus, columns, rows);
    return TVLM_OK;
}
