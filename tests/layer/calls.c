/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c: the functions that the library calls, each as one that asks whether the call has to fail, notes it,
 * and then calls the function below. Which functions those are says lib/opencl/loader.h; one that is there and
 * not here does not compile.
 */
#define TVLM_OPENCL_OWN_NAMES /* the names are those of the table's members here */
#include <stdbool.h>

#include "layer.h"
#include "opencl/loader.h"

static const cl_icd_dispatch *next;
static layer_listener *listener;

void layer_listen(layer_listener *listens) {
    listener = listens;
}

/* The numbers of the functions. */
enum {
#define NUMBER(name) NUMBER_##name,
    TVLM_OPENCL_FUNCTIONS(NUMBER) TVLM_OPENCL_NEWER_FUNCTIONS(NUMBER)
#undef NUMBER
};

/* What a call is about, from the type of its first handle. */
#define OBJECT(given)                                                                                        \
    ((layer_object){_Generic((given), cl_platform_id                                                         \
                             : LAYER_PLATFORM, cl_device_id                                                  \
                             : LAYER_DEVICE, cl_context                                                      \
                             : LAYER_CONTEXT, cl_command_queue                                               \
                             : LAYER_QUEUE, cl_mem                                                           \
                             : LAYER_MEMORY, cl_program                                                      \
                             : LAYER_PROGRAM, cl_kernel                                                      \
                             : LAYER_KERNEL, cl_event                                                        \
                             : LAYER_EVENT),                                                                 \
                    (given)})
#define NOTHING ((layer_object){LAYER_PLATFORM, NULL})

cl_int layer_before(int number, const char *name, layer_object object) {
    layer_count(number, name);
    if (listener != NULL) listener(name, object.handle);
    return layer_failure(next, name, object);
}

/* A function that returns its error. */
#define CALL(name, about, parameters, arguments)                                                             \
    static cl_int CL_API_CALL wrapped_##name parameters {                                                    \
        const cl_int failure = layer_before(NUMBER_##name, #name, about);                                    \
        return failure != CL_SUCCESS ? failure : next->name arguments;                                       \
    }

/* A command that moves so many bytes of a buffer from the host, or to it, and hands out an event where it is
 * asked for one. */
#define MOVE(name, blocking, written, read, parameters, arguments)                                           \
    static cl_int CL_API_CALL wrapped_##name parameters {                                                    \
        const cl_int failure = layer_before(NUMBER_##name, #name, OBJECT(queue));                            \
        const cl_int error = failure != CL_SUCCESS ? failure : next->name arguments;                         \
        layer_count_moved(blocking, written, read);                                                          \
        if (error == CL_SUCCESS && event != NULL) layer_count_held(1);                                       \
        return error;                                                                                        \
    }

/* A command that moves nothing there. */
#define ENQUEUE(name, parameters, arguments) MOVE(name, CL_FALSE, 0, 0, parameters, arguments)

/* A function that does nothing but wait. One that fails has waited: what was enqueued would go on in the driver,
 * and the program frees what it works with. On a device that has vanished nothing goes on. */
#define WAIT(name, about, parameters, arguments)                                                             \
    static cl_int CL_API_CALL wrapped_##name parameters {                                                    \
        const cl_int failure = layer_before(NUMBER_##name, #name, about);                                    \
        const cl_int error = next->name arguments;                                                           \
        return failure != CL_SUCCESS ? failure : error;                                                      \
    }

/* A function that makes something, and stores its error in the place of its last argument. */
#define MAKE(type, name, about, parameters, arguments)                                                       \
    static type CL_API_CALL wrapped_##name parameters {                                                      \
        const cl_int failure = layer_before(NUMBER_##name, #name, about);                                    \
        if (failure != CL_SUCCESS && error != NULL) *error = failure;                                        \
        type made = failure != CL_SUCCESS ? NULL : next->name arguments;                                     \
        if (made != NULL) layer_count_held(1);                                                               \
        return made;                                                                                         \
    }

/* Functions that cannot fail: they retain or release. */
#define HOLD(change, name, parameters, arguments)                                                            \
    static cl_int CL_API_CALL wrapped_##name parameters {                                                    \
        layer_count(NUMBER_##name, #name);                                                                   \
        layer_count_held(change);                                                                            \
        return next->name arguments;                                                                         \
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

CALL(clBuildProgram, OBJECT(program),
     (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
      void(CL_CALLBACK *notify)(cl_program, void *), void *user),
     (program, count, devices, options, notify, user))
MAKE(cl_mem, clCreateBuffer, OBJECT(context),
     (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error),
     (context, flags, size, host, error))
MAKE(cl_command_queue, clCreateCommandQueue, OBJECT(context),
     (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *error),
     (context, device, properties, error))
MAKE(cl_context, clCreateContext, OBJECT(devices[0]),
     (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
      void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *error),
     (properties, count, devices, notify, user, error))
MAKE(cl_mem, clCreateImage, OBJECT(context),
     (cl_context context, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *shape,
      void *host, cl_int *error),
     (context, flags, format, shape, host, error))
MAKE(cl_kernel, clCreateKernel, OBJECT(program), (cl_program program, const char *name, cl_int *error),
     (program, name, error))
MAKE(cl_program, clCreateProgramWithBinary, OBJECT(context),
     (cl_context context, cl_uint count, const cl_device_id *devices, const size_t *lengths,
      const unsigned char **binaries, cl_int *status, cl_int *error),
     (context, count, devices, lengths, binaries, status, error))
MAKE(cl_program, clCreateProgramWithSource, OBJECT(context),
     (cl_context context, cl_uint count, const char **strings, const size_t *lengths, cl_int *error),
     (context, count, strings, lengths, error))
ENQUEUE(clEnqueueCopyBuffer,
        (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t size,
         cl_uint waits, const cl_event *list, cl_event *event),
        (queue, from, to, from_offset, to_offset, size, waits, list, event))
ENQUEUE(clEnqueueCopyBufferToImage,
        (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, const size_t *to_origin,
         const size_t *region, cl_uint waits, const cl_event *list, cl_event *event),
        (queue, from, to, from_offset, to_origin, region, waits, list, event))
ENQUEUE(clEnqueueCopyImage,
        (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin, const size_t *to_origin,
         const size_t *region, cl_uint waits, const cl_event *list, cl_event *event),
        (queue, from, to, from_origin, to_origin, region, waits, list, event))
ENQUEUE(clEnqueueCopyImageToBuffer,
        (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin, const size_t *region,
         size_t to_offset, cl_uint waits, const cl_event *list, cl_event *event),
        (queue, from, to, from_origin, region, to_offset, waits, list, event))
ENQUEUE(clEnqueueFillBuffer,
        (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size, size_t offset,
         size_t size, cl_uint waits, const cl_event *list, cl_event *event),
        (queue, buffer, pattern, pattern_size, offset, size, waits, list, event))
ENQUEUE(clEnqueueFillImage,
        (cl_command_queue queue, cl_mem image, const void *colour, const size_t *origin, const size_t *region,
         cl_uint waits, const cl_event *list, cl_event *event),
        (queue, image, colour, origin, region, waits, list, event))
ENQUEUE(clEnqueueNDRangeKernel,
        (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
         const size_t *global, const size_t *local, cl_uint waits, const cl_event *list, cl_event *event),
        (queue, kernel, dimensions, offset, global, local, waits, list, event))
/* It moves nothing that is counted: what is written into mapped memory the device takes when it is unmapped. */
static void *CL_API_CALL wrapped_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                    cl_map_flags flags, size_t offset, size_t size,
                                                    cl_uint waits, const cl_event *list, cl_event *event,
                                                    cl_int *error) {
    const cl_int failure = layer_before(NUMBER_clEnqueueMapBuffer, "clEnqueueMapBuffer", OBJECT(queue));
    if (failure != CL_SUCCESS && error != NULL) *error = failure;
    void *const host = failure != CL_SUCCESS
                           ? NULL
                           : next->clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, waits,
                                                      list, event, error);
    layer_count_moved(blocking, 0, 0);
    if (host != NULL && event != NULL) layer_count_held(1);
    return host;
}
ENQUEUE(clEnqueueMarkerWithWaitList,
        (cl_command_queue queue, cl_uint waits, const cl_event *list, cl_event *event),
        (queue, waits, list, event))
ENQUEUE(clEnqueueUnmapMemObject,
        (cl_command_queue queue, cl_mem memory, void *host, cl_uint waits, const cl_event *list,
         cl_event *event),
        (queue, memory, host, waits, list, event))
MOVE(clEnqueueReadBuffer, blocking, 0, size,
     (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void *host,
      cl_uint waits, const cl_event *list, cl_event *event),
     (queue, buffer, blocking, offset, size, host, waits, list, event))
MOVE(clEnqueueReadImage, blocking, 0, 0,
     (cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin, const size_t *region,
      size_t row_pitch, size_t slice_pitch, void *host, cl_uint waits, const cl_event *list, cl_event *event),
     (queue, image, blocking, origin, region, row_pitch, slice_pitch, host, waits, list, event))
MOVE(clEnqueueWriteBuffer, blocking, size, 0,
     (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, const void *host,
      cl_uint waits, const cl_event *list, cl_event *event),
     (queue, buffer, blocking, offset, size, host, waits, list, event))
MOVE(clEnqueueWriteImage, blocking, 0, 0,
     (cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin, const size_t *region,
      size_t row_pitch, size_t slice_pitch, const void *host, cl_uint waits, const cl_event *list,
      cl_event *event),
     (queue, image, blocking, origin, region, row_pitch, slice_pitch, host, waits, list, event))
WAIT(clFinish, OBJECT(queue), (cl_command_queue queue), (queue))
CALL(clFlush, OBJECT(queue), (cl_command_queue queue), (queue))
CALL(clGetCommandQueueInfo, OBJECT(queue),
     (cl_command_queue queue, cl_command_queue_info what, size_t size, void *value, size_t *needed),
     (queue, what, size, value, needed))
CALL(clGetDeviceIDs, OBJECT(platform),
     (cl_platform_id platform, cl_device_type type, cl_uint count, cl_device_id *devices, cl_uint *found),
     (platform, type, count, devices, found))
CALL(clGetDeviceInfo, OBJECT(device),
     (cl_device_id device, cl_device_info what, size_t size, void *value, size_t *needed),
     (device, what, size, value, needed))
static void *CL_API_CALL wrapped_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
                                                                          const char *name) {
    const cl_int failure = layer_before(NUMBER_clGetExtensionFunctionAddressForPlatform,
                                        "clGetExtensionFunctionAddressForPlatform", OBJECT(platform));
    return failure != CL_SUCCESS ? NULL : next->clGetExtensionFunctionAddressForPlatform(platform, name);
}
CALL(clGetImageInfo, OBJECT(image),
     (cl_mem image, cl_image_info what, size_t size, void *value, size_t *needed),
     (image, what, size, value, needed))
CALL(clGetKernelWorkGroupInfo, OBJECT(kernel),
     (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t size, void *value,
      size_t *needed),
     (kernel, device, what, size, value, needed))
CALL(clGetMemObjectInfo, OBJECT(memory),
     (cl_mem memory, cl_mem_info what, size_t size, void *value, size_t *needed),
     (memory, what, size, value, needed))
CALL(clGetPlatformIDs, NOTHING, (cl_uint count, cl_platform_id *platforms, cl_uint *found),
     (count, platforms, found))
CALL(clGetPlatformInfo, OBJECT(platform),
     (cl_platform_id platform, cl_platform_info what, size_t size, void *value, size_t *needed),
     (platform, what, size, value, needed))
CALL(clGetProgramBuildInfo, OBJECT(program),
     (cl_program program, cl_device_id device, cl_program_build_info what, size_t size, void *value,
      size_t *needed),
     (program, device, what, size, value, needed))
CALL(clGetProgramInfo, OBJECT(program),
     (cl_program program, cl_program_info what, size_t size, void *value, size_t *needed),
     (program, what, size, value, needed))
CALL(clGetSupportedImageFormats, OBJECT(context),
     (cl_context context, cl_mem_flags flags, cl_mem_object_type type, cl_uint count,
      cl_image_format *formats, cl_uint *found),
     (context, flags, type, count, formats, found))
HOLD(-1, clReleaseCommandQueue, (cl_command_queue queue), (queue))
HOLD(-1, clReleaseContext, (cl_context context), (context))
HOLD(-1, clReleaseEvent, (cl_event event), (event))
HOLD(-1, clReleaseKernel, (cl_kernel kernel), (kernel))
HOLD(-1, clReleaseMemObject, (cl_mem memory), (memory))
HOLD(-1, clReleaseProgram, (cl_program program), (program))
HOLD(-1, clReleaseSampler, (cl_sampler sampler), (sampler))
HOLD(1, clRetainCommandQueue, (cl_command_queue queue), (queue))
HOLD(1, clRetainContext, (cl_context context), (context))
HOLD(1, clRetainMemObject, (cl_mem memory), (memory))
CALL(clSetKernelArg, OBJECT(kernel), (cl_kernel kernel, cl_uint index, size_t size, const void *value),
     (kernel, index, size, value))
/* Waits only for what has not ended yet. */
static cl_int CL_API_CALL wrapped_clWaitForEvents(cl_uint count, const cl_event *list) {
    const cl_int failure = layer_before(NUMBER_clWaitForEvents, "clWaitForEvents", OBJECT(list[0]));
    bool stalls = false;
    for (cl_uint i = 0; i < count; ++i) {
        cl_int state = CL_COMPLETE;
        (void)next->clGetEventInfo(list[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
        stalls = stalls || state > CL_COMPLETE; /* below it: it failed */
    }
    if (stalls) layer_count_stall();
    const cl_int error = next->clWaitForEvents(count, list);
    return failure != CL_SUCCESS ? failure : error;
}
MAKE(cl_sampler, clCreateSamplerWithProperties, OBJECT(context),
     (cl_context context, const cl_sampler_properties *properties, cl_int *error),
     (context, properties, error))

void layer_wrap_calls(const cl_icd_dispatch *below, cl_icd_dispatch *table) {
    next = below;
#define TAKE(name) table->name = wrapped_##name;
    TVLM_OPENCL_FUNCTIONS(TAKE)
    TVLM_OPENCL_NEWER_FUNCTIONS(TAKE)
#undef TAKE
}

#pragma GCC diagnostic pop
