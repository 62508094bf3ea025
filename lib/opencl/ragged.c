/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ragged.c: textures whose images have sizes of their own (core/ragged.h). Kernels that are compiled with
 * RAGGED are told of each image here, in the form in which cl/texture.clh and cl/bundle.clh read it.
 */
#include "core/ragged.h"

#include <string.h>

#include "core/try.h"
#include "opencl/backend.h"

const char *tvlm_opencl_ragged_option(const tvlm_texture *texture) {
    return texture->parts != NULL ? "-DRAGGED=1" : "";
}

/* What kernels are told of one image: three float4. */
typedef struct part {
    cl_int4 size;
    cl_float4 extent;
    cl_int first, texel_bytes;
    cl_float step[2];
} part;

static tvlm_status parts_of(const opencl_device *device, const opencl_texture *texture, part *parts) {
    size_t texels;
    if (!tvlm_texture_before(&texture->base, texture->base.images, &texels) || texels > INT32_MAX)
        return tvlm_fail(&device->base.log, TVLM_ERROR_DEVICE_MEMORY, "a batch of more than %d texels",
                         INT32_MAX);
    for (int32_t i = 0; i < texture->base.images; ++i) {
        const tvlm_texture alone = tvlm_texture_image(&texture->base, i);
        (void)tvlm_texture_before(&texture->base, i, &texels);
        parts[i] =
            (part){.size = tvlm_opencl_size(&alone),
                   .extent = tvlm_opencl_extent(device, &alone),
                   .first = (cl_int)texels,
                   .texel_bytes = (cl_int)tvlm_opencl_texel_bytes(&texture->base),
                   .step = {alone.extent_x / (float)alone.width, alone.extent_y / (float)alone.height}};
    }
    return TVLM_OK;
}

static tvlm_status send_parts(opencl_device *device, opencl_texture *texture) {
    const size_t bytes = (size_t)texture->base.images * sizeof(part);
    cl_int error = CL_SUCCESS;
    part *parts = tvlm_allocate(bytes, 1);
    if (parts == NULL)
        return tvlm_fail(&device->base.log, TVLM_ERROR_MEMORY, "out of memory for the sizes of a batch");
    const tvlm_status status = parts_of(device, texture, parts);
    if (status == TVLM_OK)
        texture->parts =
            clCreateBuffer(device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, parts, &error);
    free(parts);
    if (error != CL_SUCCESS) texture->parts = NULL;
    return status != TVLM_OK || error == CL_SUCCESS
               ? status
               : tvlm_opencl_fail(&device->base, error, "clCreateBuffer (sizes)");
}

tvlm_status tvlm_opencl_ragged_create(opencl_device *device, opencl_texture *texture) {
    const tvlm_texture_part *const given = texture->base.parts;
    const size_t bytes = (size_t)texture->base.images * sizeof *given;
    if (given == NULL) return TVLM_OK;
    texture->base.parts = NULL;
    if (device->base.info.storage == TVLM_STORAGE_MIPMAPPED)
        return tvlm_fail(&device->base.log, TVLM_ERROR_UNSUPPORTED,
                         "a batch of images of different sizes: not in mipmapped storage");
    tvlm_texture_part *const copy = tvlm_allocate(bytes, 1);
    if (copy == NULL)
        return tvlm_fail(&device->base.log, TVLM_ERROR_MEMORY, "out of memory for the sizes of a batch");
    memcpy(copy, given, bytes);
    texture->base.parts = copy;
    const tvlm_status status = send_parts(device, texture);
    if (status != TVLM_OK) tvlm_opencl_ragged_release(device, texture);
    return status;
}

void tvlm_opencl_ragged_release(opencl_device *device, opencl_texture *texture) {
    tvlm_opencl_release(device, texture->parts);
    texture->parts = NULL;
    free((void *)(uintptr_t)texture->base.parts);
    texture->base.parts = NULL;
}

void tvlm_opencl_call_parts(opencl_call *call, const tvlm_texture *texture) {
    if (texture->parts != NULL) tvlm_opencl_call_memory(call, ((const opencl_texture *)texture)->parts);
}

void tvlm_opencl_call_views(opencl_call *call, const tvlm_bundle *bundle) {
    cl_mem memory = NULL;
    if (bundle->views == NULL) return;
    const tvlm_status status =
        tvlm_opencl_keep(call->device, SCRATCH_VIEWS, &call->device->views,
                         (size_t)bundle->view_count * sizeof *bundle->views, bundle->views, &memory);
    if (status != TVLM_OK && call->error == CL_SUCCESS) call->error = CL_OUT_OF_RESOURCES;
    tvlm_opencl_call_memory(call, memory);
}
