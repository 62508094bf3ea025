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

/* ---- The last positions by their cells ---- */

typedef struct cell_lists {
    int32_t columns, rows;
    float step;
    int32_t *first, *next; /* numbers of positions, -1: no more */
} cell_lists;

static int32_t cell_along(float place, float step, int32_t cells) {
    const int32_t cell = (int32_t)floorf(place / step);
    return cell < 0 ? 0 : cell < cells ? cell : cells - 1;
}

static bool lists_make(cell_lists *lists, const stream_camera *camera) {
    const int32_t cells = lists->columns * lists->rows;
    lists->first = tvlm_allocate((size_t)cells, sizeof *lists->first);
    lists->next = tvlm_allocate((size_t)camera->former_count, sizeof *lists->next);
    if (lists->first == NULL || lists->next == NULL) return false;
    for (int32_t i = 0; i < cells; ++i) lists->first[i] = -1;
    for (int32_t i = 0; i < camera->former_count; ++i) {
        const int32_t column = cell_along(camera->former[2 * i], lists->step, lists->columns),
                      row = cell_along(camera->former[2 * i + 1], lists->step, lists->rows);
        int32_t *first = &lists->first[row * lists->columns + column];
        lists->next[i] = *first;
        *first = i;
    }
    return true;
}

/* 1 at a former position, 0 a cell away from all of them. */
static float nearness(const stream_camera *camera, const cell_lists *lists, float x, float y) {
    const int32_t column = cell_along(x, lists->step, lists->columns),
                  row = cell_along(y, lists->step, lists->rows);
    float nearest = 1.0f;
    for (int32_t r = row > 0 ? row - 1 : 0; r <= row + 1 && r < lists->rows; ++r)
        for (int32_t c = column > 0 ? column - 1 : 0; c <= column + 1 && c < lists->columns; ++c)
            for (int32_t i = lists->first[r * lists->columns + c]; i >= 0; i = lists->next[i]) {
                const float apart = hypotf(camera->former[2 * i] - x, camera->former[2 * i + 1] - y);
                nearest = fminf(nearest, apart / lists->step);
            }
    return 1.0f - nearest;
}

/* ---- The bonus ---- */

static float cell_centre(int32_t cell, float step, int32_t side) {
    return 0.5f * ((float)cell * step + fminf((float)(cell + 1) * step, (float)side));
}

/* points: the candidates' centres; they become the places that they come from, NAN where nobody knows. */
static tvlm_status trace_back(const tvlm_stream *stream, stream_camera *camera, float step, int32_t count,
                              float *points) {
    float *flow = tvlm_allocate((size_t)count, 3 * sizeof *flow);
    if (flow == NULL)
        return tvlm_fail(&stream->device->log, TVLM_ERROR_MEMORY, "no memory for flow at %d points",
                         (int)count);
    const tvlm_status status = stream_flow_at(camera, points, count, log2f(step), flow);
    for (int32_t i = 0; status == TVLM_OK && i < count; ++i) {
        const bool sure = flow[3 * i + 2] >= stream->confidence;
        points[2 * i] = sure ? points[2 * i] + flow[3 * i] : NAN;
        points[2 * i + 1] += flow[3 * i + 1];
    }
    free(flow);
    return status;
}

static tvlm_status reserve_bonus(stream_camera *camera, size_t count) {
    if (camera->bonus_capacity >= count) return TVLM_OK;
    free(camera->bonus);
    camera->bonus = tvlm_allocate(count, sizeof *camera->bonus);
    camera->bonus_capacity = camera->bonus != NULL ? count : 0;
    return camera->bonus != NULL
               ? TVLM_OK
               : tvlm_fail(&camera->stack->device->log, TVLM_ERROR_MEMORY, "no memory for a bonus");
}

static tvlm_status fill_bonus(const tvlm_stream *stream, stream_camera *camera, cell_lists *lists,
                              float *points) {
    const tvlm_stack *stack = camera->stack;
    const int32_t count = lists->columns * lists->rows;
    for (int32_t i = 0; i < count; ++i) {
        points[2 * i] = cell_centre(i % lists->columns, lists->step, stack->width);
        points[2 * i + 1] = cell_centre(i / lists->columns, lists->step, stack->height);
    }
    if (stream_has_flow(camera)) TVLM_TRY(trace_back(stream, camera, lists->step, count, points));
    TVLM_TRY(reserve_bonus(camera, (size_t)count));
    for (int32_t i = 0; i < count; ++i)
        camera->bonus[i] = isnan(points[2 * i]) ? 0.0f
                                                : stream->steadiness * nearness(camera, lists, points[2 * i],
                                                                                points[2 * i + 1]);
    return TVLM_OK;
}

tvlm_status stream_make_bonus(const tvlm_stream *stream, stream_camera *camera,
                              const struct tvlm_select_params *params) {
    tvlm_frame *frame = &camera->stack->frames[0];
    cell_lists lists = {.step = params->stride > 0.0f ? params->stride : TVLM_STRIDE_DEFAULT};
    frame->bonus = NULL;
    if (stream->steadiness <= 0.0f || camera->former_count == 0 || params->strategy != TVLM_STRATEGY_GRID)
        return TVLM_OK;
    TVLM_TRY(tvlm_score_size(camera->stack, tvlm_score_params(.stride = params->stride), &lists.columns,
                             &lists.rows));
    float *points = tvlm_allocate((size_t)lists.columns * (size_t)lists.rows, 2 * sizeof *points);
    tvlm_status status = TVLM_OK;
    if (points == NULL || !lists_make(&lists, camera))
        status = tvlm_fail(&stream->device->log, TVLM_ERROR_MEMORY, "no memory for a bonus");
    if (status == TVLM_OK) status = fill_bonus(stream, camera, &lists, points);
    if (status == TVLM_OK) {
        frame->bonus = camera->bonus;
        frame->bonus_columns = lists.columns;
        frame->bonus_rows = lists.rows;
    }
    free(lists.first);
    free(lists.next);
    free(points);
    return status;
}
