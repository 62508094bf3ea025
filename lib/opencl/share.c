/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.c: memory that another interface shares, acquired and released.
 */
#include <string.h>

#include "core/try.h"
#include "opencl/backend.h"

/* The functions that acquire and release memory have one type, whatever the extension. */
typedef cl_int(CL_API_CALL *share_function)(cl_command_queue queue, cl_uint count, const cl_mem *memories,
                                            cl_uint waits, const cl_event *wait_list, cl_event *event);

static const struct {
    const char *extension, *functions[2]; /* release, acquire */
} shares[] = {
    {"cl_khr_gl_sharing", {"clEnqueueReleaseGLObjects", "clEnqueueAcquireGLObjects"}},
    {"cl_khr_external_memory",
     {"clEnqueueReleaseExternalMemObjectsKHR", "clEnqueueAcquireExternalMemObjectsKHR"}},
};

/* Enqueues that the memory goes over to OpenCL, or back to the other interface. */
static tvlm_status enqueue_share(opencl_device *device, int32_t which, bool acquire, cl_mem memory) {
    const char *name = shares[which].functions[acquire];
    void *const symbol = clGetExtensionFunctionAddressForPlatform(device->platform, name);
    share_function function;
    cl_int lost;
    if (symbol == NULL && tvlm_opencl_is_lost(&device->base, &lost))
        return tvlm_opencl_fail(&device->base, lost, name);
    if (symbol == NULL)
        return tvlm_fail(&device->base.log, TVLM_ERROR_UNSUPPORTED, "%s: the driver has no %s",
                         device->base.info.name, name);
    /* ISO C has no cast from an object pointer to a function pointer. */
    memcpy(&function, &symbol, sizeof function);
    const cl_int error = function(device->queue, 1, &memory, 0, NULL, NULL);
    device->unsent = true;
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(&device->base, error, name);
}

tvlm_status tvlm_opencl_share(opencl_device *device, const char *extension, opencl_buffer *buffer) {
    int32_t which = 0;
    while (strcmp(shares[which].extension, extension) != 0) ++which; /* there are no others */
    bool has;
    const cl_int error = tvlm_opencl_device_has(device->id, extension, &has);
    if (error != CL_SUCCESS) return tvlm_opencl_fail(&device->base, error, "clGetDeviceInfo");
    if (!has)
        return tvlm_fail(&device->base.log, TVLM_ERROR_UNSUPPORTED, "%s has no %s, which shared memory needs",
                         device->base.info.name, extension);
    TVLM_TRY(enqueue_share(device, which, true, buffer->memory));
    buffer->shared = which + 1;
    return TVLM_OK;
}

void tvlm_opencl_unshare(opencl_device *device, opencl_buffer *buffer) {
    if (buffer->shared > 0) (void)enqueue_share(device, buffer->shared - 1, false, buffer->memory);
    buffer->shared = 0;
}
