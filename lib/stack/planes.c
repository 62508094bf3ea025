/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planes.c: checks the planes of a frame, and makes pixels of the stack's size of them.
 */
#include "stack/planes.h"

#include "core/memory.h"
#include "core/try.h"
#include "stack/inside.h"

/* ---- Checks ---- */

/* Whether `height` rows of `row` bytes lie within a buffer. */
static bool is_within(const tvlm_plane *plane, size_t offset, size_t row, size_t stride, int32_t height) {
    size_t before;
    if (!tvlm_multiply((size_t)height - 1, stride, &before)) return false;
    const size_t end = offset + before + row;
    return end >= offset && end >= before && end <= plane->memory->bytes;
}

static tvlm_status check_rows(const tvlm_log *log, const tvlm_plane *plane, size_t offset, size_t row,
                              size_t stride, size_t value, int32_t height) {
    if (stride < row || stride % value != 0 || offset % value != 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a row stride of %zu bytes at offset %zu: rows have %zu bytes, values %zu", stride,
                         offset, row, value);
    if (!is_within(plane, offset, row, stride, height))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the pixels reach beyond the cl_mem's %zu bytes",
                         plane->memory->bytes);
    return TVLM_OK;
}

static tvlm_status check_pixels(const tvlm_log *log, tvlm_planes *planes) {
    static const size_t value_bytes[] = {1, 2, 4};
    tvlm_pixels *pixels = &planes->pixels;
    if (pixels->channels < 1 || pixels->channels > 4)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "pixels of %d channels; 1 to 4 are known",
                         (int)pixels->channels);
    if ((int)pixels->type < 0 || pixels->type > TVLM_PIXEL_F32)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no pixel type %d", (int)pixels->type);
    const size_t value = value_bytes[pixels->type];
    const size_t row = (size_t)pixels->width * (size_t)pixels->channels * value;
    if (pixels->row_stride == 0) pixels->row_stride = row;
    return check_rows(log, &planes->first, pixels->offset, row, pixels->row_stride, value, pixels->height);
}

static tvlm_status check_nv12(const tvlm_log *log, tvlm_planes *planes) {
    tvlm_pixels *pixels = &planes->pixels;
    const size_t row = (size_t)pixels->width, pairs = ((size_t)pixels->width + 1) / 2 * 2;
    if (pixels->row_stride == 0) pixels->row_stride = row;
    if (planes->chroma_stride == 0)
        planes->chroma_stride = pixels->row_stride > pairs ? pixels->row_stride : pairs;
    TVLM_TRY(check_rows(log, &planes->first, pixels->offset, row, pixels->row_stride, 1, pixels->height));
    /* The luma is known to lie within the buffer, so that this sum does not overflow. */
    if (planes->chroma.memory == planes->first.memory && planes->chroma_offset == 0)
        planes->chroma_offset = pixels->offset + (size_t)pixels->height * pixels->row_stride;
    return check_rows(log, &planes->chroma, planes->chroma_offset, pairs, planes->chroma_stride, 1,
                      (pixels->height + 1) / 2);
}

static tvlm_status check_nv12_images(const tvlm_log *log, const tvlm_planes *planes) {
    const tvlm_plane *luma = &planes->first, *chroma = &planes->chroma;
    const int32_t columns = (luma->width + 1) / 2, rows = (luma->height + 1) / 2;
    if (chroma->channels < 2)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "chroma of one channel; NV12 has pairs");
    if (luma->type != TVLM_PIXEL_U8 || chroma->type != TVLM_PIXEL_U8)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "images of NV12 of other than 8 bits; CL_UNORM_INT8 is needed");
    if (chroma->width != columns || chroma->height != rows)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "chroma of %dx%d for luma of %dx%d; it has %dx%d",
                         (int)chroma->width, (int)chroma->height, (int)luma->width, (int)luma->height,
                         (int)columns, (int)rows);
    return TVLM_OK;
}

static tvlm_status check_images(const tvlm_log *log, tvlm_planes *planes) {
    tvlm_pixels *pixels = &planes->pixels;
    if (pixels->width == 0 && pixels->height == 0) {
        pixels->width = planes->first.width;
        pixels->height = planes->first.height;
    }
    if (pixels->width != planes->first.width || pixels->height != planes->first.height)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the pixels are %d x %d, but the image is %d x %d",
                         (int)pixels->width, (int)pixels->height, (int)planes->first.width,
                         (int)planes->first.height);
    if (pixels->offset != 0 || planes->chroma_offset != 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an offset of %zu bytes into an image",
                         pixels->offset != 0 ? pixels->offset : planes->chroma_offset);
    if (planes->nv12) return check_nv12_images(log, planes);
    if (planes->first.channels == 2)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an image of two channels, which only NV12 has");
    return TVLM_OK;
}

tvlm_status tvlm_planes_check(const tvlm_log *log, tvlm_planes *planes) {
    if (planes->nv12 && planes->first.image != planes->chroma.image)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "one plane of NV12 is an image, the other a buffer");
    if (planes->nv12 && planes->first.image && planes->first.memory == planes->chroma.memory)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an image of luma, and no image of chroma");
    if (planes->first.image) return check_images(log, planes);
    if (planes->pixels.width < 1 || planes->pixels.height < 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a frame of %dx%d pixels", (int)planes->pixels.width,
                         (int)planes->pixels.height);
    return planes->nv12 ? check_nv12(log, planes) : check_pixels(log, planes);
}

/* ---- Pixels ---- */

void tvlm_planes_colours(double kr, double kb, bool full_range, tvlm_planes *planes) {
    const double kg = 1.0 - kr - kb;
    /* With bytes as values of 0 to 1, luma is luma_scale * (value - luma_zero), and chroma is
     * chroma_scale * (value - chroma_zero). */
    const double luma_scale = full_range ? 1.0 : 255.0 / 219.0, luma_zero = full_range ? 0.0 : 16.0 / 255.0;
    const double chroma_scale = full_range ? 1.0 : 255.0 / 224.0, chroma_zero = 128.0 / 255.0;
    const double cb[3] = {0.0, -2.0 * (1.0 - kb) * kb / kg, 2.0 * (1.0 - kb)};
    const double cr[3] = {2.0 * (1.0 - kr), -2.0 * (1.0 - kr) * kr / kg, 0.0};
    for (int c = 0; c < 3; ++c) {
        float *row = planes->rgb[c];
        row[0] = (float)luma_scale;
        row[1] = (float)(cb[c] * chroma_scale);
        row[2] = (float)(cr[c] * chroma_scale);
        row[3] = (float)(-luma_scale * luma_zero - (cb[c] + cr[c]) * chroma_scale * chroma_zero);
    }
}

size_t tvlm_stack_converted_bytes(const tvlm_stack *stack) {
    return (size_t)stack->width * (size_t)stack->height * 3 * sizeof(float);
}

tvlm_status tvlm_stack_convert_planes(tvlm_stack *stack, const tvlm_planes *planes, tvlm_buffer *out,
                                      tvlm_pixels *pixels) {
    *pixels = (tvlm_pixels){
        stack->width, stack->height, 3, TVLM_PIXEL_F32, 0, (size_t)stack->width * 3 * sizeof(float)};
    return stack->device->backend->planes(stack->device, planes, stack->width, stack->height, out);
}

tvlm_status tvlm_stack_find_pixels(tvlm_stack *stack, const tvlm_planes *planes, tvlm_buffer **buffer,
                                   tvlm_pixels *pixels) {
    *buffer = planes->first.memory;
    *pixels = planes->pixels;
    if (!planes->first.image && !planes->nv12 && pixels->width == stack->width &&
        pixels->height == stack->height)
        return TVLM_OK;
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_PIXELS, tvlm_stack_converted_bytes(stack), buffer));
    return tvlm_stack_convert_planes(stack, planes, *buffer, pixels);
}
