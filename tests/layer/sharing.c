/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sharing.c: a driver that says that it shares memory with OpenGL and Vulkan. Its functions acquire and release
 * what is the driver's own memory: they check what they are given, and are counted, told and let fail as all
 * calls are. Whether the other interface sees what was written they cannot show.
 */
#include "layer.h"

#include <stdbool.h>
#include <string.h>

static const cl_icd_dispatch *next;
static bool shares;

static const char extensions[] = " cl_khr_gl_sharing cl_khr_external_memory";

void layer_share(int wanted) {
    shares = wanted != 0;
}

typedef cl_int(CL_API_CALL share_function)(cl_command_queue queue, cl_uint count, const cl_mem *memories,
                                           cl_uint waits, const cl_event *list, cl_event *event);

#define SHARE(index, name)                                                                                   \
    static cl_int CL_API_CALL own_##name(cl_command_queue queue, cl_uint count, const cl_mem *memories,      \
                                         cl_uint waits, const cl_event *list, cl_event *event) {             \
        if (queue == NULL || count != 1 || memories == NULL || waits != 0 || list != NULL || event != NULL)  \
            return CL_INVALID_VALUE;                                                                         \
        return layer_before(LAYER_OWN_FUNCTIONS + (index), #name,                                            \
                            (layer_object){LAYER_MEMORY, memories[0]});                                      \
    }
SHARE(0, clEnqueueAcquireGLObjects)
SHARE(1, clEnqueueReleaseGLObjects)
SHARE(2, clEnqueueAcquireExternalMemObjectsKHR)
SHARE(3, clEnqueueReleaseExternalMemObjectsKHR)

static void *CL_API_CALL find_function(cl_platform_id platform, const char *name) {
    static const struct {
        const char *name;
        share_function *function;
    } own[] = {{"clEnqueueAcquireGLObjects", own_clEnqueueAcquireGLObjects},
               {"clEnqueueReleaseGLObjects", own_clEnqueueReleaseGLObjects},
               {"clEnqueueAcquireExternalMemObjectsKHR", own_clEnqueueAcquireExternalMemObjectsKHR},
               {"clEnqueueReleaseExternalMemObjectsKHR", own_clEnqueueReleaseExternalMemObjectsKHR}};
    void *symbol = NULL;
    for (size_t i = 0; shares && i < sizeof own / sizeof *own; ++i)
        if (strcmp(own[i].name, name) == 0) memcpy(&symbol, &own[i].function, sizeof symbol);
    return symbol != NULL ? symbol : next->clGetExtensionFunctionAddressForPlatform(platform, name);
}

/* What the device has, and the two. */
static cl_int CL_API_CALL device_info(cl_device_id id, cl_device_info what, size_t size, void *value,
                                      size_t *needed) {
    size_t own = 0;
    if (what != CL_DEVICE_EXTENSIONS || !shares) return next->clGetDeviceInfo(id, what, size, value, needed);
    cl_int error = next->clGetDeviceInfo(id, what, 0, NULL, &own);
    const size_t all = own + sizeof extensions - 1;
    if (error == CL_SUCCESS && needed != NULL) *needed = all;
    if (error != CL_SUCCESS || value == NULL) return error;
    if (size < all) return CL_INVALID_VALUE;
    error = next->clGetDeviceInfo(id, what, size, value, NULL);
    if (error == CL_SUCCESS) memcpy((char *)value + own - 1, extensions, sizeof extensions);
    return error;
}

void layer_wrap_sharing(const cl_icd_dispatch *below, cl_icd_dispatch *table) {
    next = below;
    table->clGetExtensionFunctionAddressForPlatform = find_function;
    table->clGetDeviceInfo = device_info;
}
