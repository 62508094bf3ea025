/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_gather.c: gathers what the host wants to know of a frame in one buffer on the device, so that the
 * host waits only once.
 */
#include "core/memory.h"
#include "core/try.h"
#include "stack/grids.h"
#include "stack/stack.h"
#include "video/inside.h"

/* Takes `floats` floats from *end on, moves *end behind them, and returns where they begin. */
static size_t take(size_t *end, size_t floats) {
    const size_t begin = *end;
    *end += floats;
    return begin;
}

static void lay_out(const tvlm_stream *stream, const stream_camera *camera, stream_gather *gather) {
    const size_t cells = (size_t)stream->cells, positions = 2 * (size_t)camera->former_count;
    size_t end = 0;
    (void)take(&end, 4 * tvlm_stream_thumbnail_texels(camera));
    gather->look_end = end;
    if (camera->frames > 0) {
        gather->regions = take(&end, TVLM_REGION_HEADER + TVLM_REGION_WORDS * cells);
        gather->regions_moved = take(&end, 2 * cells);
        gather->positions = take(&end, positions);
        gather->positions_moved = take(&end, positions);
        for (int i = 0; i < TVLM_STREAMED_COUNT; ++i)
            gather->path[i] = take(&end, tvlm_stream_path_floats(camera, i));
    }
    gather->end = end;
}

tvlm_status tvlm_stream_gather_begin(const tvlm_stream *stream, stream_camera *camera) {
    stream_gather *gather = &camera->gather;
    const tvlm_backend *backend = stream->device->backend;
    lay_out(stream, camera, gather);
    if (gather->capacity >= gather->end) return TVLM_OK;
    tvlm_stream_gather_release(camera);
    gather->host = tvlm_allocate(gather->end, sizeof *gather->host);
    if (gather->host == NULL)
        return tvlm_fail(&stream->device->log, TVLM_ERROR_MEMORY, "no memory for what a frame says");
    TVLM_TRY(backend->buffer_create(stream->device, gather->end * sizeof *gather->host, &gather->buffer));
    gather->capacity = gather->end;
    return TVLM_OK;
}

tvlm_status tvlm_stream_gather_read(stream_camera *camera, size_t floats) {
    tvlm_device *device = tvlm_stack_device(camera->stack);
    return device->backend->buffer_read(device, camera->gather.buffer, 0, floats * sizeof(float),
                                        camera->gather.host);
}

void tvlm_stream_gather_release(stream_camera *camera) {
    tvlm_device *device = tvlm_stack_device(camera->stack);
    device->backend->buffer_destroy(device, &camera->gather.buffer);
    free(camera->gather.host);
    camera->gather.host = NULL;
    camera->gather.capacity = 0;
}

/* ---- Along the flow ---- */

tvlm_status tvlm_stream_follow(stream_camera *camera, const tvlm_follow *how) {
    tvlm_stack *stack = camera->stack;
    tvlm_device *device = tvlm_stack_device(stack);
    tvlm_follow follow = *how;
    follow.flow = tvlm_stack_held(stack, 0, TVLM_GRID_FLOW);
    follow.from = follow.to = camera->gather.buffer;
    return device->backend->follow(device, &follow);
}
