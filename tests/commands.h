/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h: counts what goes to the device, how often the host waits for it, and how much memory is made.
 * For one file of a program that is linked with -Wl,--wrap for these functions (CMakeLists.txt).
 */
#ifndef TVLM_TESTS_COMMANDS_H
#define TVLM_TESTS_COMMANDS_H

#include <CL/cl.h>

static struct { int kernels, writes, reads, others, waits, memory; } commands;

static inline void wait_if(cl_bool waits) {
    commands.waits += waits == CL_TRUE;
}

cl_int __real_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                     const size_t *offset, const size_t *size, const size_t *group,
                                     cl_uint count, const cl_event *list, cl_event *event);
cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                     const size_t *offset, const size_t *size, const size_t *group,
                                     cl_uint count, const cl_event *list, cl_event *event);
cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                     const size_t *offset, const size_t *size, const size_t *group,
                                     cl_uint count, const cl_event *list, cl_event *event) {
    ++commands.kernels;
    return __real_clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, size, group, count, list, event);
}

cl_int __real_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool waits, size_t offset,
                                   size_t bytes, const void *host, cl_uint count, const cl_event *list,
                                   cl_event *event);
cl_int __wrap_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool waits, size_t offset,
                                   size_t bytes, const void *host, cl_uint count, const cl_event *list,
                                   cl_event *event);
cl_int __wrap_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool waits, size_t offset,
                                   size_t bytes, const void *host, cl_uint count, const cl_event *list,
                                   cl_event *event) {
    ++commands.writes;
    wait_if(waits);
    return __real_clEnqueueWriteBuffer(queue, memory, waits, offset, bytes, host, count, list, event);
}

cl_int __real_clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool waits, size_t offset,
                                  size_t bytes, void *host, cl_uint count, const cl_event *list,
                                  cl_event *event);
cl_int __wrap_clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool waits, size_t offset,
                                  size_t bytes, void *host, cl_uint count, const cl_event *list,
                                  cl_event *event);
cl_int __wrap_clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool waits, size_t offset,
                                  size_t bytes, void *host, cl_uint count, const cl_event *list,
                                  cl_event *event) {
    ++commands.reads;
    wait_if(waits);
    return __real_clEnqueueReadBuffer(queue, memory, waits, offset, bytes, host, count, list, event);
}

cl_int __real_clEnqueueReadImage(cl_command_queue queue, cl_mem memory, cl_bool waits, const size_t *origin,
                                 const size_t *region, size_t row, size_t slice, void *host, cl_uint count,
                                 const cl_event *list, cl_event *event);
cl_int __wrap_clEnqueueReadImage(cl_command_queue queue, cl_mem memory, cl_bool waits, const size_t *origin,
                                 const size_t *region, size_t row, size_t slice, void *host, cl_uint count,
                                 const cl_event *list, cl_event *event);
cl_int __wrap_clEnqueueReadImage(cl_command_queue queue, cl_mem memory, cl_bool waits, const size_t *origin,
                                 const size_t *region, size_t row, size_t slice, void *host, cl_uint count,
                                 const cl_event *list, cl_event *event) {
    ++commands.reads;
    wait_if(waits);
    return __real_clEnqueueReadImage(queue, memory, waits, origin, region, row, slice, host, count, list,
                                     event);
}

cl_int __real_clEnqueueWriteImage(cl_command_queue queue, cl_mem memory, cl_bool waits, const size_t *origin,
                                  const size_t *region, size_t row, size_t slice, const void *host,
                                  cl_uint count, const cl_event *list, cl_event *event);
cl_int __wrap_clEnqueueWriteImage(cl_command_queue queue, cl_mem memory, cl_bool waits, const size_t *origin,
                                  const size_t *region, size_t row, size_t slice, const void *host,
                                  cl_uint count, const cl_event *list, cl_event *event);
cl_int __wrap_clEnqueueWriteImage(cl_command_queue queue, cl_mem memory, cl_bool waits, const size_t *origin,
                                  const size_t *region, size_t row, size_t slice, const void *host,
                                  cl_uint count, const cl_event *list, cl_event *event) {
    ++commands.writes;
    wait_if(waits);
    return __real_clEnqueueWriteImage(queue, memory, waits, origin, region, row, slice, host, count, list,
                                      event);
}

cl_int __real_clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void *pattern,
                                  size_t pattern_bytes, size_t offset, size_t bytes, cl_uint count,
                                  const cl_event *list, cl_event *event);
cl_int __wrap_clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void *pattern,
                                  size_t pattern_bytes, size_t offset, size_t bytes, cl_uint count,
                                  const cl_event *list, cl_event *event);
cl_int __wrap_clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void *pattern,
                                  size_t pattern_bytes, size_t offset, size_t bytes, cl_uint count,
                                  const cl_event *list, cl_event *event) {
    ++commands.others;
    return __real_clEnqueueFillBuffer(queue, memory, pattern, pattern_bytes, offset, bytes, count, list,
                                      event);
}

cl_int __real_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                  size_t to_offset, size_t bytes, cl_uint count, const cl_event *list,
                                  cl_event *event);
cl_int __wrap_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                  size_t to_offset, size_t bytes, cl_uint count, const cl_event *list,
                                  cl_event *event);
cl_int __wrap_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                  size_t to_offset, size_t bytes, cl_uint count, const cl_event *list,
                                  cl_event *event) {
    ++commands.others;
    return __real_clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, bytes, count, list, event);
}

cl_int __real_clFinish(cl_command_queue queue);
cl_int __wrap_clFinish(cl_command_queue queue);
cl_int __wrap_clFinish(cl_command_queue queue) {
    wait_if(CL_TRUE);
    return __real_clFinish(queue);
}

cl_mem __real_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error);
cl_mem __wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error);
cl_mem __wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error) {
    ++commands.memory;
    return __real_clCreateBuffer(context, flags, size, host, error);
}

cl_mem __real_clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                            const cl_image_desc *desc, void *host, cl_int *error);
cl_mem __wrap_clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                            const cl_image_desc *desc, void *host, cl_int *error);
cl_mem __wrap_clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                            const cl_image_desc *desc, void *host, cl_int *error) {
    ++commands.memory;
    return __real_clCreateImage(context, flags, format, desc, host, error);
}

#endif
