/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launches.c: drivers that launch kernels as some were met to (layer_faults in control.h): an empty launch ends the
 * process, a kernel that needs many registers has small work-groups, a slow one costs the device, and the kernels of
 * CLBlast compute nothing.
 */
#include "layer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const cl_icd_dispatch *next;

static cl_device_id device_of(cl_command_queue queue) {
    cl_device_id id = NULL;
    (void)next->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(cl_device_id), &id, NULL);
    return id;
}

static void name_of(cl_kernel kernel, char name[64]) {
    name[0] = '\0';
    (void)next->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 63, name, NULL);
    name[63] = '\0';
}

/* ---- Empty launches ---- */

static bool is_empty(cl_uint dimensions, const size_t *global) {
    bool empty = global == NULL;
    for (cl_uint d = 0; d < dimensions && !empty; ++d) empty = global[d] == 0;
    return empty;
}

/* ---- Few registers ---- */

/* A compiler that is told the size of the groups (reqd_work_group_size) makes the kernel fit it; else it takes the
 * registers that it likes. */
static bool asks_for_size(cl_kernel kernel, cl_device_id id) {
    size_t asked[3] = {0, 0, 0};
    return next->clGetKernelWorkGroupInfo(kernel, id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof asked, asked,
                                          NULL) == CL_SUCCESS &&
           asked[0] > 0;
}

/* The same is told of each kernel, as Mesa 22.3 does. */
static cl_int CL_API_CALL work_group_info(cl_kernel kernel, cl_device_id id, cl_kernel_work_group_info what,
                                          size_t size, void *value, size_t *needed) {
    const size_t most = (size_t)layer_told.few_registers;
    const cl_int error = next->clGetKernelWorkGroupInfo(kernel, id, what, size, value, needed);
    if (error == CL_SUCCESS && what == CL_KERNEL_WORK_GROUP_SIZE && value != NULL && most > 0)
        memcpy(value, &most, sizeof most);
    return error;
}

static bool is_too_large(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *local) {
    size_t items = 1;
    if (layer_told.few_registers == 0 || local == NULL) return false;
    for (cl_uint d = 0; d < dimensions; ++d) items *= local[d];
    return items > (size_t)layer_told.few_registers && !asks_for_size(kernel, device_of(queue));
}

/* ---- Slow kernels ---- */

static double now_us(void) {
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e6 + (double)at.tv_nsec * 1e-3;
}

/* ---- The launch ---- */

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                         const size_t *offset, const size_t *global, const size_t *local,
                                         cl_uint waits, const cl_event *list, cl_event *event) {
    char name[64];
    const long slow = layer_told.slow_us;
    if (layer_told.empty_aborts || layer_told.no_products) name_of(kernel, name);
    if (layer_told.empty_aborts && is_empty(dimensions, global)) {
        fprintf(stderr, "%s: a global size of zero, which ends the process in some drivers\n", name);
        abort();
    }
    if (is_too_large(queue, kernel, dimensions, local)) return CL_INVALID_WORK_GROUP_SIZE;
    if (layer_told.no_products && strncmp(name, "Xgemm", 5) == 0)
        return next->clEnqueueMarkerWithWaitList(queue, waits, list, event);
    if (slow > 0) (void)next->clFinish(queue);
    const double before = now_us();
    const cl_int error =
        next->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, list, event);
    if (slow == 0 || error != CL_SUCCESS) return error;
    (void)next->clFinish(queue);
    if (now_us() - before > (double)slow) layer_lose(device_of(queue));
    return error;
}

void layer_wrap_launches(const cl_icd_dispatch *below, cl_icd_dispatch *table) {
    next = below;
    table->clEnqueueNDRangeKernel = enqueue_kernel;
    table->clGetKernelWorkGroupInfo = work_group_info;
}
