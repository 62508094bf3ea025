/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_helper.h: an OpenCL driver that is made up: it keeps what it is told, and does nothing else. One test program
 * includes it.
 */
#ifndef TVLM_TESTS_DRIVER_HELPER_H
#define TVLM_TESTS_DRIVER_HELPER_H

#include <stdio.h>
#include <string.h>

#include "opencl/backend.h"
#include "support.h"

enum { MANY = 64 };

/* What a cl_mem is here. */
typedef struct memory {
    size_t bytes;
    unsigned char *content;
    cl_mem_flags flags;
} memory;

typedef struct launch {
    cl_uint dimensions;
    size_t size[3], group[3];
    bool grouped;
} launch;

typedef struct argument {
    size_t size;
    bool local;
    unsigned char bytes[16];
} argument;

typedef struct transfer {
    size_t offset, bytes;
    bool blocking;
    int event; /* from 1 on; 0: none was asked for */
} transfer;

static struct {
    launch launches[MANY];
    argument arguments[MANY];
    transfer writes[MANY];
    int launched, written, read, copied, created, released, finished, flushed, events;
    int waited[MANY], waits; /* for which events */
    cl_int create_error, write_error, finish_error, argument_error, wait_error, map_error;
} driver;

static inline memory *of(cl_mem mem) {
    return (memory *)mem;
}

static inline CL_API_ENTRY cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags,
                                                            size_t bytes, void *host, cl_int *error) {
    (void)context;
    (void)host;
    ++driver.created;
    *error = driver.create_error;
    if (*error != CL_SUCCESS) return NULL;
    memory *const made = malloc(sizeof *made);
    assert_non_null(made);
    *made = (memory){bytes, calloc(bytes, 1), flags};
    assert_non_null(made->content);
    return (cl_mem)made;
}

static inline CL_API_ENTRY cl_int CL_API_CALL release_memory(cl_mem mem) {
    ++driver.released;
    free(of(mem)->content);
    free(of(mem));
    return CL_SUCCESS;
}

static inline CL_API_ENTRY cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem mem,
                                                           cl_bool blocking, size_t offset, size_t bytes,
                                                           const void *host, cl_uint count,
                                                           const cl_event *list, cl_event *event) {
    (void)queue;
    (void)count;
    (void)list;
    if (driver.write_error != CL_SUCCESS) return driver.write_error;
    assert_true(offset + bytes <= of(mem)->bytes);
    memcpy(of(mem)->content + offset, host, bytes);
    if (event != NULL) *event = (cl_event)(uintptr_t)++driver.events; /* NOLINT(performance-no-int-to-ptr) */
    driver.writes[driver.written++ % MANY] =
        (transfer){offset, bytes, blocking == CL_TRUE, event != NULL ? driver.events : 0};
    return CL_SUCCESS;
}

static inline CL_API_ENTRY cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem mem,
                                                          cl_bool blocking, size_t offset, size_t bytes,
                                                          void *host, cl_uint count, const cl_event *list,
                                                          cl_event *event) {
    (void)queue;
    (void)count;
    (void)list;
    (void)event;
    assert_int_equal(blocking, CL_TRUE);
    assert_true(offset + bytes <= of(mem)->bytes);
    memcpy(host, of(mem)->content + offset, bytes);
    ++driver.read;
    return CL_SUCCESS;
}

static inline CL_API_ENTRY cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                                          size_t from_offset, size_t to_offset, size_t bytes,
                                                          cl_uint count, const cl_event *list,
                                                          cl_event *event) {
    (void)queue;
    (void)count;
    (void)list;
    (void)event;
    memcpy(of(to)->content + to_offset, of(from)->content + from_offset, bytes);
    ++driver.copied;
    return CL_SUCCESS;
}

static inline CL_API_ENTRY void *CL_API_CALL map_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                                                        cl_map_flags flags, size_t offset, size_t bytes,
                                                        cl_uint count, const cl_event *list, cl_event *event,
                                                        cl_int *error) {
    (void)queue;
    (void)blocking;
    (void)flags;
    (void)count;
    (void)list;
    (void)event;
    *error = driver.map_error;
    assert_true(offset == 0 && bytes == of(mem)->bytes);
    return *error == CL_SUCCESS ? of(mem)->content : NULL;
}

static inline CL_API_ENTRY cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem mem, void *mapped,
                                                    cl_uint count, const cl_event *list, cl_event *event) {
    (void)queue;
    (void)count;
    (void)list;
    (void)event;
    assert_ptr_equal(mapped, of(mem)->content);
    return CL_SUCCESS;
}

static inline CL_API_ENTRY cl_int CL_API_CALL wait_for(cl_uint count, const cl_event *list) {
    assert_int_equal(count, 1);
    driver.waited[driver.waits++ % MANY] = (int)(uintptr_t)list[0];
    return driver.wait_error;
}

static inline CL_API_ENTRY cl_int CL_API_CALL release_event(cl_event event) {
    (void)event;
    return CL_SUCCESS;
}

static inline CL_API_ENTRY cl_int CL_API_CALL finish(cl_command_queue queue) {
    (void)queue;
    ++driver.finished;
    return driver.finish_error;
}

static inline CL_API_ENTRY cl_int CL_API_CALL flush(cl_command_queue queue) {
    (void)queue;
    ++driver.flushed;
    return CL_SUCCESS;
}

static inline CL_API_ENTRY cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t size,
                                                           const void *value) {
    (void)kernel;
    assert_in_range(index, 0, MANY - 1);
    argument *const at = &driver.arguments[index];
    *at = (argument){.size = size, .local = value == NULL};
    if (value != NULL) memcpy(at->bytes, value, size < sizeof at->bytes ? size : sizeof at->bytes);
    return driver.argument_error;
}

static inline CL_API_ENTRY cl_int CL_API_CALL run_kernel(cl_command_queue queue, cl_kernel kernel,
                                                         cl_uint dimensions, const size_t *offset,
                                                         const size_t *size, const size_t *group,
                                                         cl_uint count, const cl_event *list,
                                                         cl_event *event) {
    launch *const made = &driver.launches[driver.launched++ % MANY];
    (void)queue;
    (void)kernel;
    (void)offset;
    (void)count;
    (void)list;
    (void)event;
    *made = (launch){.dimensions = dimensions, .grouped = group != NULL};
    for (cl_uint d = 0; d < dimensions; ++d) {
        made->size[d] = size[d];
        made->group[d] = group != NULL ? group[d] : 0;
    }
    return CL_SUCCESS;
}

static inline void install(void) {
    clCreateBuffer = create_buffer;
    clReleaseMemObject = release_memory;
    clEnqueueWriteBuffer = write_buffer;
    clEnqueueReadBuffer = read_buffer;
    clEnqueueCopyBuffer = copy_buffer;
    clEnqueueMapBuffer = map_buffer;
    clEnqueueUnmapMemObject = unmap;
    clWaitForEvents = wait_for;
    clReleaseEvent = release_event;
    clFinish = finish;
    clFlush = flush;
    clSetKernelArg = set_argument;
    clEnqueueNDRangeKernel = run_kernel;
}

static inline opencl_device device_of(tvlm_device_type type) {
    opencl_device device;
    memset(&device, 0, sizeof device);
    memset(&driver, 0, sizeof driver);
    device.base.info.type = type;
    device.base.info.storage = TVLM_STORAGE_BUFFER;
    device.base.info.local_bytes = 1000;
    device.base.log = test_log;
    snprintf(device.base.info.name, sizeof device.base.info.name, "made up");
    device.tuning = tvlm_opencl_tuning_default(type == TVLM_DEVICE_GPU);
    return device;
}

#endif
