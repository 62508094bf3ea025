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

/* What a cl_mem is here. An image has a format, and no bytes. */
typedef struct memory {
    size_t bytes;
    unsigned char *content;
    cl_mem_flags flags;
    int references;
    cl_image_format format;
    cl_image_desc shape;
} memory;

typedef struct launch {
    char name[32];
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

/* What is done to an image: where it begins, which part of it, and where that lies in a buffer. */
typedef struct image_part {
    cl_mem image;
    size_t origin[4], region[3], offset;
} image_part;

static struct {
    launch launches[MANY];
    argument arguments[MANY];
    /* The arguments of the last launch of this kernel, whatever is launched after it. */
    const char *watched;
    argument kept[MANY];
    transfer writes[MANY];
    image_part parts[MANY]; /* of images that were written, read, filled or copied */
    int parted;
    cl_image_format formats[8]; /* that images may have */
    cl_uint format_count;
    int images_left; /* so many can be made; -1: any number */
    int launched, written, read, copied, created, released, finished, flushed, events;
    int waited[MANY], waits; /* for which events */
    int built, kernels;
    char options[512];    /* of the last program */
    char names[MANY][32]; /* of the kernels that were made, by their numbers from 1 on */
    int named;
    const char *log; /* of a build that fails; NULL: there is none */
    /* What an application's memory is, where it is asked for. */
    cl_mem_object_type type;
    cl_image_format format;
    cl_context context;
    size_t width, height;
    cl_uint samples;
    size_t group_most;     /* the largest group of a kernel; 0: any */
    size_t group_asked[3]; /* what kernels ask for; 0: nothing */
    cl_int build_error;
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
    *made = (memory){.bytes = bytes, .content = calloc(bytes, 1), .flags = flags, .references = 1};
    assert_non_null(made->content);
    return (cl_mem)made;
}

static inline CL_API_ENTRY cl_int CL_API_CALL release_memory(cl_mem mem) {
    if (--of(mem)->references > 0) return CL_SUCCESS;
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
    (void)offset;
    (void)count;
    (void)list;
    (void)event;
    *made = (launch){.dimensions = dimensions, .grouped = group != NULL};
    memcpy(made->name, driver.names[(uintptr_t)kernel % MANY], sizeof made->name);
    if (driver.watched != NULL && strcmp(made->name, driver.watched) == 0)
        memcpy(driver.kept, driver.arguments, sizeof driver.kept);
    for (cl_uint d = 0; d < dimensions; ++d) {
        made->size[d] = size[d];
        made->group[d] = group != NULL ? group[d] : 0;
    }
    return CL_SUCCESS;
}

static inline CL_API_ENTRY cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags flags,
                                                           const cl_image_format *format,
                                                           const cl_image_desc *shape, void *host,
                                                           cl_int *error) {
    if (driver.images_left == 0) {
        *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return NULL;
    }
    --driver.images_left;
    const cl_mem made = create_buffer(context, flags, 1, host, error);
    of(made)->format = *format;
    of(made)->shape = *shape;
    return made;
}

static inline void note_part(cl_mem image, const size_t *origin, int dimensions, const size_t region[3],
                             size_t offset) {
    image_part *const made = &driver.parts[driver.parted++ % MANY];
    *made = (image_part){.image = image, .offset = offset};
    memcpy(made->origin, origin, (size_t)dimensions * sizeof *origin);
    memcpy(made->region, region, 3 * sizeof *region);
}

static inline CL_API_ENTRY cl_int CL_API_CALL fill_image(cl_command_queue queue, cl_mem image,
                                                         const void *colour, const size_t origin[3],
                                                         const size_t region[3], cl_uint count,
                                                         const cl_event *list, cl_event *event) {
    (void)queue;
    (void)colour;
    (void)count;
    (void)list;
    (void)event;
    note_part(image, origin, 3, region, 0);
    return CL_SUCCESS;
}

static inline CL_API_ENTRY cl_int CL_API_CALL image_to_buffer(cl_command_queue queue, cl_mem image,
                                                              cl_mem buffer, const size_t origin[3],
                                                              const size_t region[3], size_t offset,
                                                              cl_uint count, const cl_event *list,
                                                              cl_event *event) {
    (void)queue;
    (void)count;
    (void)list;
    (void)event;
    assert_true(offset < of(buffer)->bytes);
    note_part(image, origin, 3, region, offset);
    return CL_SUCCESS;
}

static inline CL_API_ENTRY cl_int CL_API_CALL buffer_to_image(cl_command_queue queue, cl_mem buffer,
                                                              cl_mem image, size_t offset,
                                                              const size_t *origin, const size_t region[3],
                                                              cl_uint count, const cl_event *list,
                                                              cl_event *event) {
    (void)queue;
    (void)count;
    (void)list;
    (void)event;
    assert_true(offset < of(buffer)->bytes);
    note_part(image, origin, 4, region, offset); /* of images with levels */
    return CL_SUCCESS;
}

static inline CL_API_ENTRY cl_int CL_API_CALL image_formats(cl_context context, cl_mem_flags flags,
                                                            cl_mem_object_type type, cl_uint room,
                                                            cl_image_format *formats, cl_uint *count) {
    (void)context;
    (void)flags;
    assert_int_equal(type, CL_MEM_OBJECT_IMAGE2D_ARRAY);
    assert_true(room >= driver.format_count);
    memcpy(formats, driver.formats, driver.format_count * sizeof *formats);
    *count = driver.format_count;
    return CL_SUCCESS;
}

static inline CL_API_ENTRY cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem mem,
                                                          const void *pattern, size_t size, size_t offset,
                                                          size_t bytes, cl_uint count, const cl_event *list,
                                                          cl_event *event) {
    (void)queue;
    (void)count;
    (void)list;
    (void)event;
    assert_true(bytes % size == 0 && offset + bytes <= of(mem)->bytes);
    for (size_t at = 0; at < bytes; at += size) memcpy(of(mem)->content + offset + at, pattern, size);
    return CL_SUCCESS;
}

static inline CL_API_ENTRY cl_program CL_API_CALL create_program(cl_context context, cl_uint count,
                                                                 const char **texts, const size_t *lengths,
                                                                 cl_int *error) {
    (void)context;
    (void)lengths;
    assert_int_equal(count, 1);
    assert_non_null(strstr(texts[0], "#line 1 "));
    *error = CL_SUCCESS;
    return (cl_program)(uintptr_t)1; /* NOLINT(performance-no-int-to-ptr) */
}

static inline CL_API_ENTRY cl_int CL_API_CALL build_program(cl_program program, cl_uint count,
                                                            const cl_device_id *devices, const char *options,
                                                            void(CL_CALLBACK *notify)(cl_program, void *),
                                                            void *user) {
    (void)program;
    (void)count;
    (void)devices;
    (void)notify;
    (void)user;
    ++driver.built;
    snprintf(driver.options, sizeof driver.options, "%s", options);
    return driver.build_error;
}

static inline CL_API_ENTRY cl_int CL_API_CALL build_info(cl_program program, cl_device_id device,
                                                         cl_program_build_info what, size_t size, void *value,
                                                         size_t *told) {
    (void)program;
    (void)device;
    assert_int_equal(what, CL_PROGRAM_BUILD_LOG);
    if (driver.log == NULL) return CL_INVALID_VALUE;
    if (told != NULL) *told = strlen(driver.log) + 1;
    if (value != NULL) snprintf(value, size, "%s", driver.log);
    return CL_SUCCESS;
}

static inline CL_API_ENTRY cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name,
                                                               cl_int *error) {
    (void)program;
    *error = CL_SUCCESS;
    ++driver.kernels;
    assert_in_range(++driver.named, 1, MANY - 1);
    snprintf(driver.names[driver.named], sizeof driver.names[0], "%s", name);
    return (cl_kernel)(uintptr_t)driver.named; /* NOLINT(performance-no-int-to-ptr) */
}

static inline CL_API_ENTRY cl_int CL_API_CALL release_program(cl_program program) {
    (void)program;
    --driver.built;
    return CL_SUCCESS;
}

static inline CL_API_ENTRY cl_int CL_API_CALL release_kernel(cl_kernel kernel) {
    (void)kernel;
    --driver.kernels;
    return CL_SUCCESS;
}

static inline cl_int told_of(const void *from, size_t bytes, size_t size, void *value) {
    assert_int_equal(size, bytes);
    memcpy(value, from, bytes);
    return CL_SUCCESS;
}

static inline CL_API_ENTRY cl_int CL_API_CALL memory_info(cl_mem mem, cl_mem_info what, size_t size,
                                                          void *value, size_t *told) {
    (void)told;
    switch (what) {
    case CL_MEM_CONTEXT: return told_of(&driver.context, sizeof driver.context, size, value);
    case CL_MEM_SIZE: return told_of(&of(mem)->bytes, sizeof of(mem)->bytes, size, value);
    case CL_MEM_TYPE: return told_of(&driver.type, sizeof driver.type, size, value);
    case CL_MEM_FLAGS: return told_of(&of(mem)->flags, sizeof of(mem)->flags, size, value);
    default: return CL_INVALID_VALUE;
    }
}

static inline CL_API_ENTRY cl_int CL_API_CALL image_info(cl_mem mem, cl_image_info what, size_t size,
                                                         void *value, size_t *told) {
    (void)mem;
    (void)told;
    switch (what) {
    case CL_IMAGE_FORMAT: return told_of(&driver.format, sizeof driver.format, size, value);
    case CL_IMAGE_WIDTH: return told_of(&driver.width, sizeof driver.width, size, value);
    case CL_IMAGE_HEIGHT: return told_of(&driver.height, sizeof driver.height, size, value);
    case CL_IMAGE_NUM_SAMPLES: return told_of(&driver.samples, sizeof driver.samples, size, value);
    default: return CL_INVALID_VALUE;
    }
}

/* Kernels take so few registers that groups are as large as anybody wants. */
static inline CL_API_ENTRY cl_int CL_API_CALL work_group_info(cl_kernel kernel, cl_device_id id,
                                                              cl_kernel_work_group_info what, size_t size,
                                                              void *value, size_t *told) {
    const size_t most = driver.group_most > 0 ? driver.group_most : 1 << 20;
    (void)kernel;
    (void)id;
    (void)told;
    if (what == CL_KERNEL_COMPILE_WORK_GROUP_SIZE) {
        assert_int_equal(size, sizeof driver.group_asked);
        memcpy(value, driver.group_asked, sizeof driver.group_asked);
        return CL_SUCCESS;
    }
    assert_true(what == CL_KERNEL_WORK_GROUP_SIZE && size == sizeof most);
    memcpy(value, &most, sizeof most);
    return CL_SUCCESS;
}

static inline CL_API_ENTRY cl_int CL_API_CALL retain_memory(cl_mem mem) {
    ++of(mem)->references;
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
    clEnqueueFillBuffer = fill_buffer;
    clCreateImage = create_image;
    clEnqueueFillImage = fill_image;
    clEnqueueCopyImageToBuffer = image_to_buffer;
    clEnqueueCopyBufferToImage = buffer_to_image;
    clGetSupportedImageFormats = image_formats;
    clCreateProgramWithSource = create_program;
    clBuildProgram = build_program;
    clGetProgramBuildInfo = build_info;
    clCreateKernel = create_kernel;
    clReleaseProgram = release_program;
    clReleaseKernel = release_kernel;
    clGetMemObjectInfo = memory_info;
    clGetImageInfo = image_info;
    clGetKernelWorkGroupInfo = work_group_info;
    clRetainMemObject = retain_memory;
}

static inline opencl_device device_of(tvlm_device_type type) {
    opencl_device device;
    memset(&device, 0, sizeof device);
    memset(&driver, 0, sizeof driver);
    driver.images_left = -1;
    device.base.info.type = type;
    device.base.info.storage = TVLM_STORAGE_BUFFER;
    device.base.info.local_bytes = 1000;
    device.base.log = test_log;
    device.cl_std = "CL1.2";
    snprintf(device.base.info.name, sizeof device.base.info.name, "made up");
    device.tuning = tvlm_opencl_tuning_default(type == TVLM_DEVICE_GPU);
    return device;
}

static inline void refused(tvlm_status status, tvlm_status expected, const char *line) {
    assert_int_equal(status, expected);
    if (strstr(test_last_log(), line) == NULL) fail_msg("'%s' does not say '%s'", test_last_log(), line);
}

static inline void close_device(opencl_device *device) {
    tvlm_opencl_regions_destroy(device);
    tvlm_opencl_staging_release(device);
    tvlm_opencl_programs_destroy(device);
    for (int i = 0; i < SCRATCH_COUNT; ++i) {
        if (device->scratch[i] != NULL) release_memory(device->scratch[i]);
        device->scratch[i] = NULL;
    }
}

/* The last launch; its sizes and groups are x, y, z from left to right. */
static inline void expect_launch(size_t x, size_t y, size_t z, size_t group_x, size_t group_y) {
    assert_true(driver.launched > 0);
    const launch *const made = &driver.launches[(driver.launched - 1) % MANY];
    if (made->size[0] != x || made->size[1] != y || made->size[2] != z || made->group[0] != group_x ||
        made->group[1] != group_y)
        fail_msg("%zu x %zu x %zu in groups of %zu x %zu", made->size[0], made->size[1], made->size[2],
                 made->group[0], made->group[1]);
}

/* Groups of one work-item, so that sizes are not rounded up. */
static inline opencl_device small_groups(tvlm_device_type type) {
    opencl_device device = device_of(type);
    device.tuning.group_width = device.tuning.group_height = device.tuning.linear_group = 1;
    return device;
}

static inline const launch *launch_at(int number) {
    assert_in_range(number, 0, driver.launched - 1);
    return &driver.launches[number];
}

static inline void expect_size(int number, size_t x, size_t y, size_t z) {
    const launch *const made = launch_at(number);
    if (made->size[0] != x || made->size[1] != y || made->size[2] != z)
        fail_msg("launch %d: %zu x %zu x %zu", number, made->size[0], made->size[1], made->size[2]);
}

static inline opencl_texture texture_of(int32_t width, int32_t height, int32_t layers, int32_t images,
                                        int32_t levels) {
    return (opencl_texture){.base = {.width = width,
                                     .height = height,
                                     .layers = layers,
                                     .images = images,
                                     .levels = levels,
                                     .format = TVLM_FORMAT_F32,
                                     .extent_x = (float)width,
                                     .extent_y = (float)height},
                            .components = 4};
}

/* Value `which` of argument `number` of the last launch. */
#define ARGUMENT_AT(TYPE, NAME)                                                                              \
    static inline TYPE NAME(cl_uint number, int which) {                                                     \
        TYPE value;                                                                                          \
        memcpy(&value, driver.arguments[number].bytes + sizeof value * (size_t)which, sizeof value);         \
        return value;                                                                                        \
    }
ARGUMENT_AT(int32_t, int_at)
ARGUMENT_AT(float, float_at)
ARGUMENT_AT(cl_mem, memory_of_argument)
ARGUMENT_AT(uint64_t, ulong_of_argument)

static inline cl_mem memory_of(size_t bytes) {
    cl_int error;
    return create_buffer(NULL, 0, bytes, NULL, &error);
}

/* With small groups and a megabyte of local memory. */
static inline opencl_device large_device(tvlm_device_type type) {
    opencl_device device = small_groups(type);
    device.base.info.local_bytes = 1 << 20;
    return device;
}

static inline void expect_name(int number, const char *name) {
    assert_string_equal(launch_at(number)->name, name);
}

static inline void expect_scratch(const opencl_device *device, int which, size_t bytes) {
    assert_non_null(device->scratch[which]);
    assert_int_equal(of(device->scratch[which])->bytes, bytes);
}

static inline cl_mem memory_at(cl_uint number) {
    return memory_of_argument(number, 0);
}
static inline uint64_t ulong_at(cl_uint number) {
    return ulong_of_argument(number, 0);
}

#endif
