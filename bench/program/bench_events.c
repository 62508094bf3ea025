/* SPDX-License-Identifier: Apache-2.0 */
#define TVLM_OPENCL_OWN_NAMES /* here the names are those of the table's members */
#include "bench_events.h"

#include <stdio.h>
#include <string.h>

#include "opencl/backend.h"
#include "platform/library.h"

enum { EVENTS_MAX = 8192 };

#define SHORTEST 1e-8 /* in seconds; no command is shorter */

typedef cl_int(CL_API_CALL *get_times)(cl_event event, cl_profiling_info what, size_t size, void *value,
                                       size_t *written);

typedef cl_int(CL_API_CALL *retain_event)(cl_event event);

static struct {
    tvlm_opencl_table below; /* the original functions */
    /* Two functions that the library does without. */
    get_times times;
    retain_event retain;
    cl_command_queue usual, timed;
    cl_event events[EVENTS_MAX];
    int32_t count;
    bool untimed; /* there were too many commands, or their times are not known */
    bench_commands commands;
} watch;

/* ---- Watching ---- */

/* Where the event of the next command is stored: at the library's place if it wants the event, or else here.
 * */
static cl_event *event_of(cl_event *own) {
    if (watch.count == EVENTS_MAX) watch.untimed = true;
    return own != NULL || watch.untimed ? own : &watch.events[watch.count];
}

static cl_int done(cl_int error, cl_event *event, bool kernel, bool waits) {
    if (error != CL_SUCCESS) return error;
    watch.commands.kernels += kernel;
    watch.commands.transfers += !kernel;
    watch.commands.waits += waits;
    if (event == NULL || watch.untimed) return error;
    if (event != &watch.events[watch.count]) {
        watch.events[watch.count] = *event;
        (void)watch.retain(*event);
    }
    ++watch.count;
    return error;
}

/* Wraps a function whose last argument is the event. ARGUMENTS are the declarations of the arguments before
 * it. The last macro argument has their values, which are passed on. */
#define WATCH(name, kernel, waits, ARGUMENTS, ...)                                                           \
    static CL_API_ENTRY cl_int CL_API_CALL watch_##name(ARGUMENTS, cl_event *own) {                          \
        cl_event *const event = event_of(own);                                                               \
        return done(watch.below.name(__VA_ARGS__, event), event, kernel, waits);                             \
    }
#define COMMA     ,
#define WAIT_LIST cl_uint count COMMA const cl_event *list
#define QUEUE     cl_command_queue queue

WATCH(clEnqueueNDRangeKernel, true, false,
      QUEUE COMMA cl_kernel kernel COMMA cl_uint dimensions COMMA const size_t *offset
          COMMA const size_t *size COMMA const size_t *group COMMA WAIT_LIST,
      queue, kernel, dimensions, offset, size, group, count, list)
WATCH(clEnqueueCopyBuffer, false, false,
      QUEUE COMMA cl_mem from COMMA cl_mem to COMMA size_t from_at COMMA size_t to_at COMMA size_t bytes COMMA
          WAIT_LIST,
      queue, from, to, from_at, to_at, bytes, count, list)
WATCH(clEnqueueCopyBufferToImage, false, false,
      QUEUE COMMA cl_mem from COMMA cl_mem to COMMA size_t at COMMA const size_t *origin
          COMMA const size_t *region COMMA WAIT_LIST,
      queue, from, to, at, origin, region, count, list)
WATCH(clEnqueueCopyImage, false, false,
      QUEUE COMMA cl_mem from COMMA cl_mem to COMMA const size_t *from_at COMMA const size_t *to_at
          COMMA const size_t *region COMMA WAIT_LIST,
      queue, from, to, from_at, to_at, region, count, list)
WATCH(clEnqueueCopyImageToBuffer, false, false,
      QUEUE COMMA cl_mem from COMMA cl_mem to COMMA const size_t *origin COMMA const size_t *region COMMA
          size_t at COMMA WAIT_LIST,
      queue, from, to, origin, region, at, count, list)
WATCH(clEnqueueFillBuffer, false, false,
      QUEUE COMMA cl_mem memory COMMA const void *pattern COMMA size_t size COMMA size_t at COMMA size_t bytes
          COMMA WAIT_LIST,
      queue, memory, pattern, size, at, bytes, count, list)
WATCH(clEnqueueFillImage, false, false,
      QUEUE COMMA cl_mem memory COMMA const void *color COMMA const size_t *origin COMMA const size_t *region
          COMMA WAIT_LIST,
      queue, memory, color, origin, region, count, list)
WATCH(clEnqueueReadBuffer, false, waits,
      QUEUE COMMA cl_mem memory COMMA cl_bool waits COMMA size_t at COMMA size_t bytes COMMA void *host COMMA
          WAIT_LIST,
      queue, memory, waits, at, bytes, host, count, list)
WATCH(clEnqueueWriteBuffer, false, waits,
      QUEUE COMMA cl_mem memory COMMA cl_bool waits COMMA size_t at COMMA size_t bytes COMMA const void *host
          COMMA WAIT_LIST,
      queue, memory, waits, at, bytes, host, count, list)
WATCH(clEnqueueReadImage, false, waits,
      QUEUE COMMA cl_mem memory COMMA cl_bool waits COMMA const size_t *origin COMMA const size_t *region
          COMMA size_t row COMMA size_t slice COMMA void *host COMMA WAIT_LIST,
      queue, memory, waits, origin, region, row, slice, host, count, list)
WATCH(clEnqueueWriteImage, false, waits,
      QUEUE COMMA cl_mem memory COMMA cl_bool waits COMMA const size_t *origin COMMA const size_t *region
          COMMA size_t row COMMA size_t slice COMMA const void *host COMMA WAIT_LIST,
      queue, memory, waits, origin, region, row, slice, host, count, list)

static CL_API_ENTRY cl_int CL_API_CALL watch_clFinish(cl_command_queue queue) {
    ++watch.commands.waits;
    return watch.below.clFinish(queue);
}

static CL_API_ENTRY cl_int CL_API_CALL watch_clWaitForEvents(cl_uint count, const cl_event *events) {
    ++watch.commands.waits;
    return watch.below.clWaitForEvents(count, events);
}

static void wrap(tvlm_opencl_table *table) {
#define WRAP(name) table->name = watch_##name
    WRAP(clEnqueueNDRangeKernel);
    WRAP(clEnqueueCopyBuffer);
    WRAP(clEnqueueCopyBufferToImage);
    WRAP(clEnqueueCopyImage);
    WRAP(clEnqueueCopyImageToBuffer);
    WRAP(clEnqueueFillBuffer);
    WRAP(clEnqueueFillImage);
    WRAP(clEnqueueReadBuffer);
    WRAP(clEnqueueWriteBuffer);
    WRAP(clEnqueueReadImage);
    WRAP(clEnqueueWriteImage);
    WRAP(clFinish);
    WRAP(clWaitForEvents);
#undef WRAP
}

/* ---- bench_events.h ---- */

/* Finds the two functions in the library in which our library found the others. */
static bool find_functions(void) {
    return tvlm_opencl_library != NULL &&
           tvlm_library_find(tvlm_opencl_library, "clGetEventProfilingInfo", &watch.times) &&
           tvlm_library_find(tvlm_opencl_library, "clRetainEvent", &watch.retain);
}

bool bench_events_begin(tvlm_device *base) {
    opencl_device *const device = (opencl_device *)base;
    cl_int error = CL_SUCCESS;
    if (strcmp(base->backend->name, "opencl") != 0) return false;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* every driver has it */
    watch.timed = tvlm_opencl_functions.clCreateCommandQueue(device->context, device->id,
                                                             CL_QUEUE_PROFILING_ENABLE, &error);
#pragma GCC diagnostic pop
    if (error != CL_SUCCESS) return false;
    (void)tvlm_opencl_functions.clFinish(device->queue);
    watch.usual = device->queue;
    watch.below = tvlm_opencl_functions;
    watch.count = 0;
    watch.untimed = !find_functions();
    watch.commands = (bench_commands){0};
    wrap(&tvlm_opencl_functions);
    device->queue = watch.timed;
    return true;
}

/* Adds the time of a command. Returns false if the driver has no times. */
static bool add_times(cl_event event, double *seconds) {
    cl_ulong start = 0, end = 0;
    if (watch.times(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) != CL_SUCCESS ||
        watch.times(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) != CL_SUCCESS || end < start)
        return false;
    *seconds += 1e-9 * (double)(end - start);
    return true;
}

void bench_events_end(tvlm_device *base, bench_commands *commands) {
    opencl_device *const device = (opencl_device *)base;
    tvlm_opencl_functions = watch.below;
    (void)tvlm_opencl_functions.clFinish(watch.timed);
    *commands = watch.commands;
    bool timed = !watch.untimed;
    for (int32_t i = 0; i < watch.count; ++i) {
        timed = timed && add_times(watch.events[i], &commands->seconds);
        (void)tvlm_opencl_functions.clReleaseEvent(watch.events[i]);
    }
    /* Mesa's rusticl gives the same time for the start and the end of a command. */
    if (!timed || commands->seconds < SHORTEST * watch.count) commands->seconds = 0.0;
    device->queue = watch.usual;
    (void)tvlm_opencl_functions.clReleaseCommandQueue(watch.timed);
}

/* The clock at which the cores of a CPU run now, on average. */
static int32_t cpu_clock(void) {
    double sum = 0.0, mhz;
    int count = 0;
    char line[256];
    FILE *const file = fopen("/proc/cpuinfo", "r");
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL) {
        const char *const value = strncmp(line, "cpu MHz", 7) == 0 ? strchr(line, ':') : NULL;
        mhz = value != NULL ? strtod(value + 1, NULL) : 0.0;
        sum += mhz;
        count += mhz > 0.0;
    }
    (void)fclose(file);
    return count > 0 ? (int32_t)(sum / count) : 0;
}

bench_clocks bench_clocks_of(const tvlm_device *base) {
    bench_clocks clocks = {0};
    if (base->info.type == TVLM_DEVICE_CPU || base->info.type == TVLM_DEVICE_REFERENCE)
        clocks.now = cpu_clock();
    if (strcmp(base->backend->name, "opencl") != 0) return clocks;
    const cl_device_id id = ((const opencl_device *)base)->id;
    cl_uint most = 0;
    cl_ulong cache = 0;
    if (tvlm_opencl_functions.clGetDeviceInfo(id, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof most, &most, NULL) ==
        CL_SUCCESS)
        clocks.most = (int32_t)most;
    if (tvlm_opencl_functions.clGetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof cache, &cache,
                                              NULL) == CL_SUCCESS)
        clocks.cache_bytes = (double)cache;
    return clocks;
}
