/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h: counts what goes to the device, how often the host waits for it, and how much memory is made.
 * For one file of a program that is linked with -Wl,--wrap=dlsym (CMakeLists.txt): where the library looks for
 * a function of OpenCL, it finds the one that counts. Comes before opencl/backend.h.
 */
#ifndef TVLM_TESTS_COMMANDS_H
#define TVLM_TESTS_COMMANDS_H

#include <CL/cl.h>
#include <string.h>

/* What was counted; `written` and `read` are bytes. */
static struct {
    int kernels, writes, reads, others, waits, memory;
    size_t written, read;
} commands;

static inline void wait_if(cl_bool waits) {
    commands.waits += waits == CL_TRUE;
}

static cl_int counted_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                             const size_t *offset, const size_t *size, const size_t *group,
                                             cl_uint count, const cl_event *list, cl_event *event) {
    ++commands.kernels;
    return clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, size, group, count, list, event);
}

static cl_int counted_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool waits,
                                           size_t offset, size_t bytes, const void *host, cl_uint count,
                                           const cl_event *list, cl_event *event) {
    ++commands.writes;
    commands.written += bytes;
    wait_if(waits);
    return clEnqueueWriteBuffer(queue, memory, waits, offset, bytes, host, count, list, event);
}

static cl_int counted_clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool waits, size_t offset,
                                          size_t bytes, void *host, cl_uint count, const cl_event *list,
                                          cl_event *event) {
    ++commands.reads;
    commands.read += bytes;
    wait_if(waits);
    return clEnqueueReadBuffer(queue, memory, waits, offset, bytes, host, count, list, event);
}

static cl_int counted_clEnqueueReadImage(cl_command_queue queue, cl_mem memory, cl_bool waits,
                                         const size_t *origin, const size_t *region, size_t row, size_t slice,
                                         void *host, cl_uint count, const cl_event *list, cl_event *event) {
    ++commands.reads;
    wait_if(waits);
    return clEnqueueReadImage(queue, memory, waits, origin, region, row, slice, host, count, list, event);
}

static cl_int counted_clEnqueueWriteImage(cl_command_queue queue, cl_mem memory, cl_bool waits,
                                          const size_t *origin, const size_t *region, size_t row,
                                          size_t slice, const void *host, cl_uint count, const cl_event *list,
                                          cl_event *event) {
    ++commands.writes;
    wait_if(waits);
    return clEnqueueWriteImage(queue, memory, waits, origin, region, row, slice, host, count, list, event);
}

static cl_int counted_clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void *pattern,
                                          size_t pattern_bytes, size_t offset, size_t bytes, cl_uint count,
                                          const cl_event *list, cl_event *event) {
    ++commands.others;
    return clEnqueueFillBuffer(queue, memory, pattern, pattern_bytes, offset, bytes, count, list, event);
}

static cl_int counted_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                          size_t to_offset, size_t bytes, cl_uint count, const cl_event *list,
                                          cl_event *event) {
    ++commands.others;
    return clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, bytes, count, list, event);
}

static cl_int counted_clFinish(cl_command_queue queue) {
    wait_if(CL_TRUE);
    return clFinish(queue);
}

static cl_mem counted_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                                     cl_int *error) {
    ++commands.memory;
    return clCreateBuffer(context, flags, size, host, error);
}

static cl_mem counted_clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                    const cl_image_desc *desc, void *host, cl_int *error) {
    ++commands.memory;
    return clCreateImage(context, flags, format, desc, host, error);
}

typedef void any_function(void);

void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name) {
    void *symbol = __real_dlsym(library, name);
    any_function *counting = NULL;
    if (strcmp(name, "clEnqueueNDRangeKernel") == 0)
        counting = (any_function *)counted_clEnqueueNDRangeKernel;
    if (strcmp(name, "clEnqueueWriteBuffer") == 0) counting = (any_function *)counted_clEnqueueWriteBuffer;
    if (strcmp(name, "clEnqueueReadBuffer") == 0) counting = (any_function *)counted_clEnqueueReadBuffer;
    if (strcmp(name, "clEnqueueReadImage") == 0) counting = (any_function *)counted_clEnqueueReadImage;
    if (strcmp(name, "clEnqueueWriteImage") == 0) counting = (any_function *)counted_clEnqueueWriteImage;
    if (strcmp(name, "clEnqueueFillBuffer") == 0) counting = (any_function *)counted_clEnqueueFillBuffer;
    if (strcmp(name, "clEnqueueCopyBuffer") == 0) counting = (any_function *)counted_clEnqueueCopyBuffer;
    if (strcmp(name, "clFinish") == 0) counting = (any_function *)counted_clFinish;
    if (strcmp(name, "clCreateBuffer") == 0) counting = (any_function *)counted_clCreateBuffer;
    if (strcmp(name, "clCreateImage") == 0) counting = (any_function *)counted_clCreateImage;
    if (counting != NULL) memcpy(&symbol, &counting, sizeof symbol);
    return symbol;
}

#endif
