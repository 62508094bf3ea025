/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c: the names of OpenCL errors, and a failed call as one line and a status.
 */
#include "opencl/backend.h"

#define NAME(error)                                                                                          \
    case error: return #error

const char *tvlm_opencl_error_name(cl_int error) {
    switch (error) {
        NAME(CL_SUCCESS);
        NAME(CL_DEVICE_NOT_FOUND);
        NAME(CL_DEVICE_NOT_AVAILABLE);
        NAME(CL_COMPILER_NOT_AVAILABLE);
        NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE);
        NAME(CL_OUT_OF_RESOURCES);
        NAME(CL_OUT_OF_HOST_MEMORY);
        NAME(CL_IMAGE_FORMAT_NOT_SUPPORTED);
        NAME(CL_BUILD_PROGRAM_FAILURE);
        NAME(CL_INVALID_VALUE);
        NAME(CL_INVALID_PLATFORM);
        NAME(CL_INVALID_DEVICE);
        NAME(CL_INVALID_CONTEXT);
        NAME(CL_INVALID_QUEUE_PROPERTIES);
        NAME(CL_INVALID_COMMAND_QUEUE);
        NAME(CL_INVALID_MEM_OBJECT);
        NAME(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
        NAME(CL_INVALID_IMAGE_SIZE);
        NAME(CL_INVALID_IMAGE_DESCRIPTOR);
        NAME(CL_INVALID_SAMPLER);
        NAME(CL_INVALID_BINARY);
        NAME(CL_INVALID_BUILD_OPTIONS);
        NAME(CL_INVALID_PROGRAM);
        NAME(CL_INVALID_PROGRAM_EXECUTABLE);
        NAME(CL_INVALID_KERNEL_NAME);
        NAME(CL_INVALID_KERNEL);
        NAME(CL_INVALID_ARG_INDEX);
        NAME(CL_INVALID_ARG_VALUE);
        NAME(CL_INVALID_ARG_SIZE);
        NAME(CL_INVALID_KERNEL_ARGS);
        NAME(CL_INVALID_WORK_DIMENSION);
        NAME(CL_INVALID_WORK_GROUP_SIZE);
        NAME(CL_INVALID_WORK_ITEM_SIZE);
        NAME(CL_INVALID_GLOBAL_OFFSET);
        NAME(CL_INVALID_EVENT_WAIT_LIST);
        NAME(CL_INVALID_OPERATION);
        NAME(CL_INVALID_BUFFER_SIZE);
        NAME(CL_INVALID_GLOBAL_WORK_SIZE);
        NAME(CL_INVALID_PROPERTY);
    default: return "an unknown OpenCL error";
    }
}

static tvlm_status status_of(cl_int error) {
    switch (error) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_INVALID_BUFFER_SIZE:
    case CL_INVALID_IMAGE_SIZE: return TVLM_ERROR_DEVICE_MEMORY;
    case CL_OUT_OF_HOST_MEMORY: return TVLM_ERROR_MEMORY;
    default: return TVLM_ERROR_DEVICE;
    }
}

bool tvlm_opencl_is_lost(const tvlm_device *base, cl_int *error) {
    const opencl_device *device = (const opencl_device *)base;
    /* After this nothing reads the host's memory any more. */
    if (device->uploads != NULL) (void)tvlm_opencl_wait(device, device->uploads);
    *error = tvlm_opencl_wait(device, device->queue);
    return *error != CL_SUCCESS;
}

tvlm_status tvlm_opencl_fail(const tvlm_device *base, cl_int error, const char *what) {
    cl_int finish;
    if (tvlm_opencl_is_lost(base, &finish))
        return tvlm_fail(&base->log, TVLM_ERROR_LOST,
                         "the device '%s' is lost: %s: %s (%d), clFinish: %s (%d)", base->info.name, what,
                         tvlm_opencl_error_name(error), (int)error, tvlm_opencl_error_name(finish),
                         (int)finish);
    return tvlm_opencl_fail_early(&base->log, error, what);
}

tvlm_status tvlm_opencl_fail_early(const tvlm_log *log, cl_int error, const char *what) {
    return tvlm_fail(log, status_of(error), "%s: %s (%d)", what, tvlm_opencl_error_name(error), (int)error);
}
