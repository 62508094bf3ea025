/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interop.c: the public functions of texturevlm/opencl.h that concern stacks. It is the only file of this
 * folder that includes an OpenCL header, and it does not call OpenCL: handles pass through the backend as
 * void *.
 */
#include "texturevlm/opencl.h"

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/delta.h"
#include "stack/grids.h"
#include "stack/input.h"
#include "stack/inside.h"
#include "stack/make.h"
#include "stack/packed.h"
#include "stack/upload.h"

/* Describes a texture for the two functions that hand one out. */
static tvlm_status describe(tvlm_device *device, tvlm_texture *found, tvlm_opencl_texture *texture) {
    void *handles[2] = {NULL, NULL};
    TVLM_TRY(device->backend->texture_native(device, found, handles));
    *texture = (tvlm_opencl_texture){.storage = device->info.storage,
                                     .format = found->format,
                                     .base = handles[0],
                                     .rest = handles[1],
                                     .width = found->width,
                                     .height = found->height,
                                     .levels = found->levels,
                                     .layers = found->layers,
                                     .images = found->images};
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
    TVLM_TRY(describe(packed->device, found, texture));
    texture->first_image = first;
    return TVLM_OK;
}

/* How many bytes a buffer must have to hold the pixels. Returns false when that overflows. */
static bool bytes_needed(const tvlm_image *image, size_t pixel_bytes, size_t row_stride, size_t offset,
                         size_t *bytes) {
    size_t rows;
    if (!tvlm_multiply((size_t)image->height - 1, row_stride, &rows)) return false;
    *bytes = offset + rows + (size_t)image->width * pixel_bytes;
    return *bytes >= offset && *bytes >= rows;
}

static tvlm_status check_pixels(const tvlm_stack *stack, const tvlm_image *image, size_t offset,
                                tvlm_pixels *pixels) {
    static const size_t value_bytes[] = {1, 2, 4};
    const tvlm_log *log = &stack->device->log;
    if (image->width != stack->width || image->height != stack->height)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the pixels are %d x %d, but the stack is %d x %d",
                         (int)image->width, (int)image->height, (int)stack->width, (int)stack->height);
    if (image->channels < 1 || image->channels > 4)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "pixels of %d channels; 1 to 4 are known",
                         (int)image->channels);
    if ((int)image->type < 0 || image->type > TVLM_PIXEL_F32)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no pixel type %d", (int)image->type);
    const size_t value = value_bytes[image->type], pixel = value * (size_t)image->channels;
    const size_t row = (size_t)image->width * pixel,
                 stride = image->row_stride != 0 ? image->row_stride : row;
    if (stride < row || stride % value != 0 || offset % value != 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a row stride of %zu bytes at offset %zu: rows have %zu bytes, values %zu", stride,
                         offset, row, value);
    *pixels = (tvlm_pixels){image->width, image->height, image->channels, image->type, offset, stride};
    return TVLM_OK;
}

/* A function that takes pixels which are in a buffer. */
typedef tvlm_status pixels_taker(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer,
                                 const tvlm_pixels *pixels, const struct tvlm_update_params *params,
                                 tvlm_delta_report *report);

static tvlm_status set_pixels(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer,
                              const tvlm_pixels *pixels, const struct tvlm_update_params *params,
                              tvlm_delta_report *report) {
    (void)params;
    (void)report;
    return tvlm_stack_source_from_buffer(stack, index, buffer, pixels);
}

static tvlm_status take_pixels(tvlm_stack *stack, int32_t index, const tvlm_image *image, cl_mem memory,
                               size_t byte_offset, pixels_taker *taker,
                               const struct tvlm_update_params *params, tvlm_delta_report *report) {
    static const size_t value_bytes[] = {1, 2, 4};
    tvlm_buffer *buffer = NULL;
    tvlm_pixels pixels;
    size_t needed = 0;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_NEED(&stack->device->log, image);
    TVLM_NEED(&stack->device->log, memory);
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    TVLM_TRY(check_pixels(stack, image, byte_offset, &pixels));
    TVLM_TRY(stack->device->backend->buffer_wrap(stack->device, memory, false, &buffer));
    const size_t pixel_bytes = value_bytes[image->type] * (size_t)image->channels;
    tvlm_status status = TVLM_OK;
    if (!bytes_needed(image, pixel_bytes, pixels.row_stride, byte_offset, &needed) || needed > buffer->bytes)
        status = tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                           "the pixels reach beyond the cl_mem's %zu bytes", buffer->bytes);
    if (status == TVLM_OK) status = taker(stack, index, buffer, &pixels, params, report);
    stack->device->backend->buffer_destroy(stack->device, &buffer);
    return status;
}

tvlm_status tvlm_stack_set_image_opencl(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                        cl_mem memory, size_t byte_offset) {
    return take_pixels(stack, index, image, memory, byte_offset, set_pixels, NULL, NULL);
}

tvlm_status tvlm_stack_update_image_opencl(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                           cl_mem memory, size_t byte_offset,
                                           const struct tvlm_update_params *params,
                                           tvlm_delta_report *report) {
    return take_pixels(stack, index, image, memory, byte_offset, tvlm_stack_update_from_buffer, params,
                       report);
}

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
