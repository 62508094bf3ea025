/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interop.c: the public functions of texturevlm/opencl.h that concern stacks. It is the only file of this
 * folder that includes an OpenCL header, and it does not call OpenCL: handles pass through the backend as
 * void *.
 */
#include "texturevlm/opencl.h"

#include "core/check.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/delta.h"
#include "stack/grids.h"
#include "stack/input.h"
#include "stack/inside.h"
#include "stack/make.h"
#include "stack/packed.h"
#include "stack/planes.h"
#include "stack/upload.h"

/* Describes a texture for the two functions that hand one out. */
static tvlm_status describe(tvlm_device *device, tvlm_texture *found, tvlm_opencl_texture *texture) {
    void *handles[2] = {NULL, NULL};
    TVLM_TRY(device->backend->texture_native(device, found, handles));
    *texture = (tvlm_opencl_texture){.storage = device->info.storage,
                                     .format = tvlm_texture_format(found),
                                     .base = handles[0],
                                     .rest = handles[1],
                                     .width = found->width,
                                     .height = found->height,
                                     .levels = found->levels,
                                     .layers = found->layers,
                                     .images = found->images,
                                     .components = (int32_t)tvlm_texel_components(device, found)};
    return TVLM_OK;
}

tvlm_status tvlm_stack_get_opencl(tvlm_stack *stack, int32_t index, int32_t channel,
                                  tvlm_opencl_texture *texture) {
    tvlm_texture *found = NULL;
    int32_t layer = 0, component = 0, first = 0;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_NEED(&stack->device->log, texture);
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    TVLM_TRY(tvlm_stack_check_channel(stack, channel));
    TVLM_TRY(tvlm_stack_texture(stack, index, channel, &found, &layer, &component, &first));
    TVLM_TRY(describe(stack->device, found, texture));
    texture->layer = layer;
    texture->component = component;
    texture->first_image = first;
    return TVLM_OK;
}

tvlm_status tvlm_packed_get_opencl(tvlm_packed *packed, int32_t index, tvlm_opencl_texture *texture) {
    tvlm_texture *found = NULL;
    int32_t first = 0;
    TVLM_NEED(NULL, packed);
    TVLM_ENTER(packed->device);
    TVLM_NEED(&packed->device->log, texture);
    TVLM_TRY(tvlm_packed_texture(packed, index, &found, &first));
    if (found->parts != NULL)
        return tvlm_fail(&packed->device->log, TVLM_ERROR_ARGUMENT,
                         "a packed array of images of different sizes, whose places no texture tells");
    TVLM_TRY(describe(packed->device, found, texture));
    texture->first_image = first;
    return TVLM_OK;
}

/* ---- Frames ---- */

static tvlm_status name_sharing(const tvlm_log *log, tvlm_opencl_sharing sharing, const char **name) {
    switch (sharing) {
    case TVLM_OPENCL_NOT_SHARED: *name = NULL; return TVLM_OK;
    case TVLM_OPENCL_GL: *name = "cl_khr_gl_sharing"; return TVLM_OK;
    case TVLM_OPENCL_EXTERNAL: *name = "cl_khr_external_memory"; return TVLM_OK;
    }
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no sharing %d", (int)sharing);
}

static tvlm_status set_colours(const tvlm_log *log, const tvlm_opencl_frame *frame, tvlm_planes *planes) {
    switch (frame->matrix) {
    case TVLM_OPENCL_BT601: tvlm_planes_colours(0.299, 0.114, frame->full_range, planes); return TVLM_OK;
    case TVLM_OPENCL_BT709: tvlm_planes_colours(0.2126, 0.0722, frame->full_range, planes); return TVLM_OK;
    }
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no matrix %d", (int)frame->matrix);
}

/* Takes over all that the frame says, except for its memory. */
static tvlm_status describe_frame(const tvlm_log *log, const tvlm_opencl_frame *frame, tvlm_planes *planes) {
    const tvlm_image *image = &frame->image;
    TVLM_CHECK_RESERVED(log, tvlm_opencl_frame, frame);
    if (!tvlm_is_zero(image->reserved, sizeof image->reserved))
        return tvlm_check_reserved(log, "tvlm_image", image->reserved, sizeof image->reserved);
    *planes = (tvlm_planes){.pixels = {image->width, image->height, image->channels, image->type,
                                       frame->offset, image->row_stride},
                            .nv12 = frame->nv12,
                            .chroma_offset = frame->chroma_offset,
                            .chroma_stride = frame->chroma_stride};
    return set_colours(log, frame, planes);
}

static tvlm_status wrap_planes(tvlm_device *device, const tvlm_opencl_frame *frame, const char *sharing,
                               tvlm_planes *planes) {
    const tvlm_backend *backend = device->backend;
    TVLM_TRY(backend->plane_wrap(device, frame->memory, sharing, &planes->first));
    planes->chroma = planes->first;
    if (!frame->nv12 || frame->chroma == NULL || frame->chroma == frame->memory) return TVLM_OK;
    const tvlm_status status = backend->plane_wrap(device, frame->chroma, sharing, &planes->chroma);
    if (status != TVLM_OK) backend->buffer_destroy(device, &planes->first.memory);
    return status;
}

tvlm_status tvlm_stack_open_frame(tvlm_device *device, const tvlm_opencl_frame *frame, tvlm_planes *planes) {
    const tvlm_log *log = &device->log;
    const char *sharing = NULL;
    if (frame->memory == NULL) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a frame without a cl_mem");
    TVLM_TRY(name_sharing(log, frame->sharing, &sharing));
    TVLM_TRY(describe_frame(log, frame, planes));
    TVLM_TRY(wrap_planes(device, frame, sharing, planes));
    const tvlm_status status = tvlm_planes_check(log, planes);
    if (status != TVLM_OK) tvlm_stack_close_frame(device, planes);
    return status;
}

void tvlm_stack_close_frame(tvlm_device *device, tvlm_planes *planes) {
    if (planes->chroma.memory != planes->first.memory)
        device->backend->buffer_destroy(device, &planes->chroma.memory);
    planes->chroma.memory = NULL;
    device->backend->buffer_destroy(device, &planes->first.memory);
}

static tvlm_status set_planes(tvlm_stack *stack, int32_t index, const tvlm_planes *planes) {
    tvlm_buffer *buffer;
    tvlm_pixels pixels;
    TVLM_TRY(tvlm_stack_find_pixels(stack, planes, &buffer, &pixels));
    TVLM_TRY(tvlm_stack_source_from_buffer(stack, index, buffer, &pixels));
    stack->originals[index].width = planes->pixels.width;
    stack->originals[index].height = planes->pixels.height;
    return TVLM_OK;
}

tvlm_status tvlm_stack_set_frame_opencl(tvlm_stack *stack, int32_t index, const tvlm_opencl_frame *frame) {
    tvlm_planes planes;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_NEED(&stack->device->log, frame);
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    TVLM_TRY(tvlm_stack_open_frame(stack->device, frame, &planes));
    const tvlm_status status = set_planes(stack, index, &planes);
    tvlm_stack_close_frame(stack->device, &planes);
    return status;
}

static tvlm_status update_planes(tvlm_stack *stack, int32_t index, const tvlm_planes *planes,
                                 const struct tvlm_update_params *params, tvlm_delta_report *report) {
    tvlm_delta *delta;
    tvlm_buffer *buffer;
    tvlm_pixels pixels;
    TVLM_TRY(tvlm_stack_find_pixels(stack, planes, &buffer, &pixels));
    TVLM_TRY(tvlm_delta_prepare(stack, &delta));
    TVLM_TRY(tvlm_delta_plan_there(stack, index, buffer, &pixels, planes->pixels.width, planes->pixels.height,
                                   params, &delta->plan));
    return tvlm_delta_apply(stack, &delta->plan, buffer, report);
}

tvlm_status tvlm_stack_update_frame_opencl(tvlm_stack *stack, int32_t index, const tvlm_opencl_frame *frame,
                                           const struct tvlm_update_params *params,
                                           tvlm_delta_report *report) {
    static const struct tvlm_update_params defaults = {0};
    tvlm_planes planes;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_NEED(&stack->device->log, frame);
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    TVLM_TRY(tvlm_delta_check_params(&stack->device->log, params != NULL ? params : &defaults));
    TVLM_TRY(tvlm_stack_open_frame(stack->device, frame, &planes));
    const tvlm_status status = update_planes(stack, index, &planes, params, report);
    tvlm_stack_close_frame(stack->device, &planes);
    return status;
}

tvlm_status tvlm_stack_set_image_opencl(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                        cl_mem pixels, size_t byte_offset) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_NEED(&stack->device->log, image);
    TVLM_NEED(&stack->device->log, pixels);
    const tvlm_opencl_frame frame = {.memory = pixels, .image = *image, .offset = byte_offset};
    return tvlm_stack_set_frame_opencl(stack, index, &frame);
}

tvlm_status tvlm_stack_update_image_opencl(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                           cl_mem pixels, size_t byte_offset,
                                           const struct tvlm_update_params *params,
                                           tvlm_delta_report *report) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_NEED(&stack->device->log, image);
    TVLM_NEED(&stack->device->log, pixels);
    const tvlm_opencl_frame frame = {.memory = pixels, .image = *image, .offset = byte_offset};
    return tvlm_stack_update_frame_opencl(stack, index, &frame, params, report);
}

/* ---- Grids ---- */

tvlm_status tvlm_stack_set_grid_opencl(tvlm_stack *stack, int32_t index, int32_t channel,
                                       const struct tvlm_grid_input *input, cl_mem data, size_t byte_offset) {
    tvlm_buffer *buffer = NULL;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_NEED(&stack->device->log, input);
    TVLM_NEED(&stack->device->log, data);
    TVLM_TRY(stack->device->backend->buffer_wrap(stack->device, data, false, &buffer));
    const tvlm_status status = tvlm_stack_input(stack, index, channel, input, buffer, byte_offset);
    stack->device->backend->buffer_destroy(stack->device, &buffer);
    return status;
}

tvlm_status tvlm_stack_set_user_opencl(tvlm_stack *stack, int32_t index, const char *name, float low,
                                       float high, tvlm_reduce reduce, const struct tvlm_grid_input *input,
                                       cl_mem data, size_t byte_offset, int32_t *channel) {
    tvlm_buffer *buffer = NULL;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_NEED(&stack->device->log, input);
    TVLM_NEED(&stack->device->log, data);
    TVLM_TRY(stack->device->backend->buffer_wrap(stack->device, data, false, &buffer));
    const tvlm_status status =
        tvlm_stack_input_user(stack, index, name, low, high, reduce, input, buffer, byte_offset, channel);
    stack->device->backend->buffer_destroy(stack->device, &buffer);
    return status;
}
