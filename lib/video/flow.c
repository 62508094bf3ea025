/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.c: the functions of texturevlm/stream.h. This file chooses the levels and owns the memory; the backends
 * make the flow.
 */
#include "video/flow.h"

#include <float.h>

#include "core/check.h"
#include "core/input.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/given.h"
#include "stack/grids.h"
#include "stack/input.h"
#include "stack/make.h"
#include "stack/stack.h"

/* Refuses images that are too large. Kernels index the planes and equations with int32_t. These are 14 floats
 * for each texel, for both directions together, and their borders. */
static tvlm_status check_area(const tvlm_device *device, const tvlm_texture *source, int32_t finest) {
    const int64_t w = tvlm_level_side(source->width, finest) + 64,
                  h = tvlm_level_side(source->height, finest) + 64;
    if (w * h <= INT32_MAX / 15) return TVLM_OK;
    return tvlm_fail(&device->log, TVLM_ERROR_UNSUPPORTED, "flow: %dx%d pixels are too many%s",
                     (int)source->width, (int)source->height, finest == 0 ? " at full size" : "");
}

/* Returns the coarsest level whose longer side is not too short for patches. */
static int32_t coarsest_of(const tvlm_texture *source, int32_t finest) {
    int32_t level = finest;
    while (level + 1 < source->levels && (tvlm_level_side(source->width, level + 1) >= TVLM_FLOW_COARSE ||
                                          tvlm_level_side(source->height, level + 1) >= TVLM_FLOW_COARSE))
        ++level;
    return level;
}

/* Makes *flow a flow with room for the grid. If there is an old flow, it is used again, with a larger buffer
 * if need be. */
static tvlm_status reserve(tvlm_device *device, const tvlm_flow_info *info, tvlm_flow *old,
                           tvlm_flow **flow) {
    const size_t bytes = 3 * sizeof(float) * (size_t)info->width * (size_t)info->height;
    tvlm_flow *made = old != NULL ? old : tvlm_allocate(1, sizeof *made);
    tvlm_buffer *buffer = NULL;
    if (made == NULL) return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for a flow");
    if (old == NULL || old->buffer->bytes < bytes) {
        const tvlm_status status = device->backend->buffer_create(device, bytes, &buffer);
        if (status != TVLM_OK) {
            if (old == NULL) free(made);
            return status;
        }
        if (old != NULL) device->backend->buffer_destroy(device, &old->buffer);
        made->buffer = buffer;
    }
    made->device = device;
    made->info = *info;
    *flow = made;
    return TVLM_OK;
}

/* Chooses the levels, and makes *flow a flow with room for the result. If `old` is not NULL, it becomes that
 * flow. */
static tvlm_status plan(tvlm_device *device, bool full, tvlm_flow *old, tvlm_flow_args *args,
                        tvlm_flow **flow) {
    const tvlm_texture *from = args->from;
    const int32_t wanted = full ? 0 : 1;
    args->refinements = TVLM_FLOW_REFINEMENTS;
    args->finest = wanted < from->levels ? wanted : 0;
    args->coarsest = coarsest_of(from, args->finest);
    const tvlm_flow_info info = {.width = tvlm_level_side(from->width, args->finest),
                                 .height = tvlm_level_side(from->height, args->finest),
                                 .image_width = from->width,
                                 .image_height = from->height};
    TVLM_TRY(check_area(device, from, args->finest));
    TVLM_TRY(reserve(device, &info, old, flow));
    args->out = (*flow)->buffer;
    return TVLM_OK;
}

/* Hands out the flow. If making it failed and the caller had no flow before, the flow is freed instead. */
static tvlm_status take(tvlm_status status, tvlm_flow *made, tvlm_flow **flow) {
    if (status != TVLM_OK && *flow == NULL)
        tvlm_flow_destroy(&made);
    else
        *flow = made;
    return status;
}

static tvlm_status between(tvlm_device *device, tvlm_flow_args *args, bool full, tvlm_flow **flow) {
    tvlm_flow *made = NULL;
    TVLM_TRY(plan(device, full, *flow, args, &made));
    return take(device->backend->flow(device, args), made, flow);
}

tvlm_status tvlm_flow_hand_in(tvlm_stack *stack, const tvlm_texture *before, tvlm_flow **flow) {
    tvlm_device *device = tvlm_stack_device(stack);
    tvlm_flow_args args = {.from = tvlm_stack_held(stack, 0, TVLM_GRID_SOURCE), .to = before};
    tvlm_flow *made = NULL;
    TVLM_TRY(plan(device, false, *flow, &args, &made));
    const tvlm_given size = {.columns = made->info.width,
                             .rows = made->info.height,
                             .layers = 1,
                             .extent_x = (float)made->info.image_width,
                             .extent_y = (float)made->info.image_height};
    tvlm_status status = tvlm_stack_given_begin(stack, 0, TVLM_GRID_FLOW, &size, "flow", &args.grid);
    if (status == TVLM_OK) {
        args.limit = args.grid->format == TVLM_FORMAT_F32 ? FLT_MAX : TVLM_HALF_MAX;
        status = device->backend->flow(device, &args);
        tvlm_stack_given_end(stack, 0, TVLM_GRID_FLOW);
        if (status != TVLM_OK) tvlm_stack_given_clear(stack, 0, TVLM_GRID_FLOW);
    }
    return take(status, made, flow);
}

/* Makes the source of image `index` with its levels. Sets *image to the number of the image in this
 * texture. */
static tvlm_status source_of(tvlm_stack *stack, int32_t index, tvlm_texture **source, int32_t *image) {
    TVLM_TRY(tvlm_stack_make(stack, index, TVLM_GRID_BIT(TVLM_GRID_SOURCE)));
    *source = tvlm_stack_made(stack, index, TVLM_GRID_SOURCE);
    *image = tvlm_stack_image_number(stack, index);
    return TVLM_OK;
}

tvlm_status tvlm_flow_compute(tvlm_stack *stack_from, int32_t index_from, tvlm_stack *stack_to,
                              int32_t index_to, const struct tvlm_flow_params *params, tvlm_flow **flow) {
    tvlm_texture *from, *to;
    int32_t from_image, to_image;
    TVLM_NEED(NULL, stack_from);
    TVLM_ENTER(tvlm_stack_device(stack_from));
    const tvlm_log *log = tvlm_stack_log(stack_from);
    TVLM_NEED(log, stack_to);
    TVLM_NEED(log, flow);
    TVLM_CHECK_RESERVED(log, tvlm_flow_params, params);
    TVLM_TRY(tvlm_stack_check_index(stack_from, index_from));
    TVLM_TRY(tvlm_stack_check_index(stack_to, index_to));
    if (tvlm_stack_device(stack_from) != tvlm_stack_device(stack_to) ||
        (*flow != NULL && (*flow)->device != tvlm_stack_device(stack_from)))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "flow: the stacks and the flow are of different devices");
    if (tvlm_stack_width(stack_from) != tvlm_stack_width(stack_to) ||
        tvlm_stack_height(stack_from) != tvlm_stack_height(stack_to))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "flow: images of %dx%d and %dx%d; they must have one size",
                         (int)tvlm_stack_width(stack_from), (int)tvlm_stack_height(stack_from),
                         (int)tvlm_stack_width(stack_to), (int)tvlm_stack_height(stack_to));
    TVLM_TRY(source_of(stack_from, index_from, &from, &from_image));
    TVLM_TRY(source_of(stack_to, index_to, &to, &to_image));
    if (from->format != to->format) /* kernels read both in the same way */
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "flow: the stacks are of different formats, %s and %s",
                         tvlm_format_name(from->format), tvlm_format_name(to->format));
    tvlm_flow_args args = {.from = from, .to = to, .from_image = from_image, .to_image = to_image};
    return between(tvlm_stack_device(stack_from), &args, params != NULL && params->full, flow);
}

void tvlm_flow_destroy(tvlm_flow **flow) {
    if (flow == NULL || *flow == NULL) return;
    TVLM_ENTER_TO_FREE((*flow)->device);
    (*flow)->device->backend->buffer_destroy((*flow)->device, &(*flow)->buffer);
    free(*flow);
    *flow = NULL;
}

tvlm_status tvlm_flow_get_info(const tvlm_flow *flow, tvlm_flow_info *info) {
    TVLM_NEED(NULL, flow);
    TVLM_NEED(&flow->device->log, info);
    *info = flow->info;
    return TVLM_OK;
}

tvlm_status tvlm_flow_read(const tvlm_flow *flow, size_t capacity, float *values) {
    TVLM_NEED(NULL, flow);
    TVLM_ENTER(flow->device);
    const size_t count = 3 * (size_t)flow->info.width * (size_t)flow->info.height;
    if (values == NULL || capacity < count)
        return tvlm_fail(&flow->device->log, TVLM_ERROR_ARGUMENT, "flow: room for %zu floats, but it has %zu",
                         values != NULL ? capacity : 0, count);
    return flow->device->backend->buffer_read(flow->device, flow->buffer, 0, count * sizeof *values, values);
}

tvlm_status tvlm_stack_set_flow(tvlm_stack *stack, int32_t index, const tvlm_flow *flow) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    const tvlm_log *log = tvlm_stack_log(stack);
    if (flow == NULL) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no flow");
    if (flow->device != tvlm_stack_device(stack))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the flow is of another device than the stack");
    if (flow->info.image_width != tvlm_stack_width(stack) ||
        flow->info.image_height != tvlm_stack_height(stack))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a flow of %dx%d pixels; the stack has %dx%d",
                         (int)flow->info.image_width, (int)flow->info.image_height,
                         (int)tvlm_stack_width(stack), (int)tvlm_stack_height(stack));
    /* All values of a flow are finite. Without replace_nonfinite, setting the flow would wait for the device
     * to check that. */
    const struct tvlm_grid_input input = {
        .columns = flow->info.width, .rows = flow->info.height, .channels = 3, .replace_nonfinite = true};
    return tvlm_stack_input(stack, index, TVLM_CHANNEL_FLOW_U, &input, flow->buffer, 0);
}
