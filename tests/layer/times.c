/* SPDX-License-Identifier: Apache-2.0 */
/*
 * times.c: when the device began and ended each kernel and each write to a buffer (control.h, `time`): queues
 * that are made meanwhile keep times, and the events of commands are held until they are asked for.
 */
#include "layer.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

enum { COMMANDS_MAX = 4096 };

static const cl_icd_dispatch *next;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool timing;
static int count;
static struct {
    bool kernel;
    cl_command_queue queue;
    cl_event event;
} commands[COMMANDS_MAX];

static bool is_timing(void) {
    pthread_mutex_lock(&mutex);
    const bool now = timing;
    pthread_mutex_unlock(&mutex);
    return now;
}

/* Takes the event over. */
static void keep(bool kernel, cl_command_queue queue, cl_event event) {
    pthread_mutex_lock(&mutex);
    const bool room = count < COMMANDS_MAX;
    if (room) {
        commands[count].kernel = kernel;
        commands[count].queue = queue;
        commands[count++].event = event;
    }
    pthread_mutex_unlock(&mutex);
    if (!room) (void)next->clReleaseEvent(event);
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                                 cl_command_queue_properties properties, cl_int *error) {
    if (is_timing()) properties |= CL_QUEUE_PROFILING_ENABLE;
    return next->clCreateCommandQueue(context, device, properties, error);
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                         const size_t *offset, const size_t *global, const size_t *local,
                                         cl_uint waits, const cl_event *list, cl_event *event) {
    cl_event own = NULL;
    const bool timed = event == NULL && is_timing();
    const cl_int error = next->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits,
                                                      list, timed ? &own : event);
    if (timed && error == CL_SUCCESS) keep(true, queue, own);
    return error;
}

static cl_int CL_API_CALL enqueue_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                        size_t offset, size_t size, const void *host, cl_uint waits,
                                        const cl_event *list, cl_event *event) {
    cl_event own = NULL;
    const bool timed = is_timing();
    const cl_int error = next->clEnqueueWriteBuffer(queue, buffer, blocking, offset, size, host, waits, list,
                                                    timed && event == NULL ? &own : event);
    if (!timed || error != CL_SUCCESS) return error;
    if (event != NULL) (void)next->clRetainEvent(*event);
    keep(false, queue, event != NULL ? *event : own);
    return error;
}

static void release_all(void) {
    for (int i = 0; i < count; ++i) (void)next->clReleaseEvent(commands[i].event);
    count = 0;
}

void layer_time(int times) {
    pthread_mutex_lock(&mutex);
    timing = times != 0;
    release_all();
    pthread_mutex_unlock(&mutex);
}

int layer_get_times(layer_command_time *times, int capacity) {
    int found = 0;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < count && found < capacity; ++i) {
        layer_command_time *const time = &times[found];
        cl_ulong began = 0, ended = 0;
        (void)next->clWaitForEvents(1, &commands[i].event);
        if (next->clGetEventProfilingInfo(commands[i].event, CL_PROFILING_COMMAND_START, sizeof began, &began,
                                          NULL) != CL_SUCCESS ||
            next->clGetEventProfilingInfo(commands[i].event, CL_PROFILING_COMMAND_END, sizeof ended, &ended,
                                          NULL) != CL_SUCCESS)
            continue; /* of a queue without times */
        *time = (layer_command_time){commands[i].kernel, commands[i].queue, began, ended};
        ++found;
    }
    release_all();
    pthread_mutex_unlock(&mutex);
    return found;
}

void layer_wrap_times(const cl_icd_dispatch *below, cl_icd_dispatch *table) {
    next = below;
    table->clCreateCommandQueue = create_queue;
    table->clEnqueueNDRangeKernel = enqueue_kernel;
    table->clEnqueueWriteBuffer = enqueue_write;
}
