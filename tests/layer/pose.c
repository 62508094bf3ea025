/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pose.c: a driver whose devices say that they are GPUs (TVLM_LAYER_GPU=1). The library then chooses images,
 * half, groups of 16 x 16 and all else that it does on a GPU. What a device answers stays what it is. And one whose devices
 * have no images of signed bytes (TVLM_LAYER_NO_BYTES=1), which OpenCL promises nobody. And one whose platform, devices and driver
 * have names of N bytes (TVLM_LAYER_NAMES=N), which OpenCL does not limit.
 */
#include "layer.h"

#include <stdlib.h>
#include <string.h>

static const cl_icd_dispatch *next;

static cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type type, cl_uint count,
                                     cl_device_id *devices, cl_uint *found) {
    if (type != CL_DEVICE_TYPE_ALL && type != CL_DEVICE_TYPE_DEFAULT) {
        if ((type & CL_DEVICE_TYPE_GPU) == 0) return CL_DEVICE_NOT_FOUND;
        type = CL_DEVICE_TYPE_ALL;
    }
    return next->clGetDeviceIDs(platform, type, count, devices, found);
}

static cl_int CL_API_CALL device_info(cl_device_id id, cl_device_info what, size_t size, void *value,
                                      size_t *needed) {
    const cl_int error = next->clGetDeviceInfo(id, what, size, value, needed);
    if (error == CL_SUCCESS && what == CL_DEVICE_TYPE && value != NULL)
        memcpy(value, &(cl_device_type){CL_DEVICE_TYPE_GPU}, sizeof(cl_device_type));
    return error;
}

/* Answers with a name of TVLM_LAYER_NAMES bytes, as a driver answers with any text. */
static cl_int answer_name(size_t size, void *value, size_t *needed) {
    const char *const asked = getenv("TVLM_LAYER_NAMES");
    const size_t length = asked == NULL ? 0 : (size_t)atoi(asked);
    if (needed != NULL) *needed = length + 1;
    if (value == NULL) return CL_SUCCESS;
    if (size <= length) return CL_INVALID_VALUE;
    memset(value, 'n', length);
    memcpy(value, "pocl", length < 4 ? length : 4);
    ((char *)value)[length] = '\0';
    return CL_SUCCESS;
}

static cl_int CL_API_CALL named_platform(cl_platform_id id, cl_platform_info what, size_t size, void *value,
                                         size_t *needed) {
    if (what == CL_PLATFORM_NAME) return answer_name(size, value, needed);
    return next->clGetPlatformInfo(id, what, size, value, needed);
}

static cl_int CL_API_CALL named_device(cl_device_id id, cl_device_info what, size_t size, void *value,
                                       size_t *needed) {
    if (what == CL_DEVICE_NAME || what == CL_DRIVER_VERSION) return answer_name(size, value, needed);
    return next->clGetDeviceInfo(id, what, size, value, needed);
}

/* All but those of signed bytes. */
static cl_int CL_API_CALL image_formats(cl_context context, cl_mem_flags flags, cl_mem_object_type type,
                                        cl_uint room, cl_image_format *formats, cl_uint *count) {
    cl_image_format all[256];
    cl_uint there = 0, kept = 0;
    const cl_int error = next->clGetSupportedImageFormats(context, flags, type, 256, all, &there);
    for (cl_uint i = 0; error == CL_SUCCESS && i < there && i < 256; ++i) {
        if (all[i].image_channel_data_type == CL_SNORM_INT8) continue;
        if (formats != NULL && kept < room) formats[kept] = all[i];
        ++kept;
    }
    if (count != NULL) *count = kept;
    return error;
}

static int is_wanted(const char *name) {
    const char *const wanted = getenv(name);
    return wanted != NULL && strcmp(wanted, "1") == 0;
}

void layer_wrap_pose(const cl_icd_dispatch *below, cl_icd_dispatch *table) {
    next = below;
    if (is_wanted("TVLM_LAYER_NO_BYTES")) table->clGetSupportedImageFormats = image_formats;
    if (getenv("TVLM_LAYER_NAMES") != NULL) {
        table->clGetPlatformInfo = named_platform;
        table->clGetDeviceInfo = named_device;
    }
    if (!is_wanted("TVLM_LAYER_GPU")) return;
    table->clGetDeviceIDs = device_ids;
    table->clGetDeviceInfo = device_info;
}
