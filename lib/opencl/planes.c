/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planes.c: takes an application's buffers and images as planes of a frame, and launches cl/planes.cl, which
 * makes pixels of them.
 */
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "opencl/backend.h"

/* The orders of channels that pixels are read in, and how many of them count: CL_RGBx has no alpha. */
static int32_t channels_of(cl_channel_order order) {
    switch (order) {
    case CL_R:
    case CL_LUMINANCE: return 1;
    case CL_RG: return 2;
    case CL_RGB:
    case CL_RGBx: return 3;
    case CL_RGBA:
    case CL_BGRA:
    case CL_ARGB:
    case CL_ABGR: return 4;
    default: return 0;
    }
}

/* Finds the type of the components. Returns false where pixels have no such type. */
static bool type_of(cl_channel_type type, tvlm_pixel_type *found) {
    switch (type) {
    case CL_UNORM_INT8: *found = TVLM_PIXEL_U8; return true;
    case CL_UNORM_INT16: *found = TVLM_PIXEL_U16; return true;
    case CL_HALF_FLOAT:
    case CL_FLOAT: *found = TVLM_PIXEL_F32; return true;
    default: return false;
    }
}

static tvlm_status check_format(const tvlm_log *log, cl_image_format format, tvlm_plane *plane) {
    plane->channels = channels_of(format.image_channel_order);
    if (format.image_channel_order == CL_sRGBA || format.image_channel_order == CL_sBGRA ||
        format.image_channel_order == CL_sRGB || format.image_channel_order == CL_sRGBx)
        return tvlm_fail(
            log, TVLM_ERROR_ARGUMENT,
            "an image of sRGB values, which kernels read as linear ones; hand in a CL_RGBA image "
            "that clCreateImage makes of it");
    if (plane->channels == 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "an image of channel order 0x%x; R, LUMINANCE, RG (of NV12), RGB, RGBx, RGBA, BGRA, "
                         "ARGB and ABGR are read",
                         (unsigned)format.image_channel_order);
    if (!type_of(format.image_channel_data_type, &plane->type))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "an image of channel type 0x%x; UNORM_INT8, UNORM_INT16, HALF_FLOAT and FLOAT are "
                         "read",
                         (unsigned)format.image_channel_data_type);
    return TVLM_OK;
}

/* What an image says of itself. */
static tvlm_status describe_image(const opencl_device *device, cl_mem memory, tvlm_plane *plane) {
    cl_image_format format = {0, 0};
    cl_uint samples = 0;
    size_t width = 0, height = 0;
    cl_int error = clGetImageInfo(memory, CL_IMAGE_FORMAT, sizeof format, &format, NULL);
    if (error == CL_SUCCESS) error = clGetImageInfo(memory, CL_IMAGE_WIDTH, sizeof width, &width, NULL);
    if (error == CL_SUCCESS) error = clGetImageInfo(memory, CL_IMAGE_HEIGHT, sizeof height, &height, NULL);
    if (error == CL_SUCCESS)
        error = clGetImageInfo(memory, CL_IMAGE_NUM_SAMPLES, sizeof samples, &samples, NULL);
    if (error != CL_SUCCESS) return tvlm_opencl_fail(&device->base, error, "the image handed in");
    if (samples > 1)
        return tvlm_fail(&device->base.log, TVLM_ERROR_ARGUMENT, "an image of %u samples a pixel; resolve it",
                         (unsigned)samples);
    plane->width = (int32_t)width;
    plane->height = (int32_t)height;
    return check_format(&device->base.log, format, plane);
}

tvlm_status tvlm_opencl_plane_wrap(tvlm_device *base, void *handle, const char *sharing, tvlm_plane *plane) {
    opencl_device *device = (opencl_device *)base;
    tvlm_plane made = {0};
    *plane = made;
    TVLM_TRY(tvlm_opencl_wrap(device, handle, false, &made.image, &made.memory));
    tvlm_status status = made.image ? describe_image(device, handle, &made) : TVLM_OK;
    if (status == TVLM_OK && sharing != NULL)
        status = tvlm_opencl_share(device, sharing, (opencl_buffer *)made.memory);
    if (status != TVLM_OK)
        tvlm_opencl_buffer_destroy(base, &made.memory);
    else
        *plane = made;
    return status;
}

/* ---- Pixels ---- */

static void call_row(opencl_call *call, const float row[4]) {
    tvlm_opencl_call_float4(call, row[0], row[1], row[2], row[3]);
}

/* A work-item reads all pixels that its own is made of. llvmpipe ends the loops of a work-item after 65535
 * turns, without a word. */
static tvlm_status check_loops(const opencl_device *device, const tvlm_pixels *pixels, int32_t width,
                               int32_t height) {
    const int64_t columns = pixels->width / width + 2, rows = pixels->height / height + 2;
    if (!device->short_loops || columns * rows <= 32768) return TVLM_OK;
    return tvlm_fail(&device->base.log, TVLM_ERROR_UNSUPPORTED,
                     "%s ends long loops: a frame of %dx%d is too large to become one of %dx%d there",
                     device->base.info.name, (int)pixels->width, (int)pixels->height, (int)width,
                     (int)height);
}

tvlm_status tvlm_opencl_planes(tvlm_device *base, const tvlm_planes *planes, int32_t width, int32_t height,
                               tvlm_buffer *out) {
    const tvlm_pixels *pixels = &planes->pixels;
    const bool images = planes->first.image, resample = pixels->width != width || pixels->height != height;
    const tvlm_plane *chroma = planes->nv12 ? &planes->chroma : &planes->first;
    const int type = pixels->type == TVLM_PIXEL_U8    ? TVLM_PIXELS_U8
                     : pixels->type == TVLM_PIXEL_U16 ? TVLM_PIXELS_U16
                                                      : TVLM_PIXELS_F32;
    char options[96];
    opencl_call call;
    TVLM_TRY(check_loops((opencl_device *)base, pixels, width, height));
    snprintf(options, sizeof options,
             "-DIMAGES=%d -DNV12=%d -DRESAMPLE=%d -DPIXEL_TYPE=%d -DPIXEL_CHANNELS=%d", images, planes->nv12,
             resample, planes->nv12 || images ? TVLM_PIXELS_U8 : type,
             planes->nv12 ? 1
             : images     ? (int)planes->first.channels
                          : (int)pixels->channels);
    TVLM_TRY(tvlm_opencl_call_begin((opencl_device *)base, "planes.cl", "planes", TVLM_FORMAT_F32, options,
                                    &call));
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)planes->first.memory)->memory);
    tvlm_opencl_call_ulong(&call, pixels->offset);
    tvlm_opencl_call_ulong(&call, pixels->row_stride);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)chroma->memory)->memory);
    tvlm_opencl_call_ulong(&call, planes->chroma_offset);
    tvlm_opencl_call_ulong(&call, planes->chroma_stride);
    for (int colour = 0; colour < 3; ++colour) call_row(&call, planes->rgb[colour]);
    tvlm_opencl_call_int4(&call, pixels->width, pixels->height, width, height);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)out)->memory);
    return tvlm_opencl_call_run_pixels(&call, width, height, 1);
}
