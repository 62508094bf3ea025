/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interop_helper.h: an application that has an OpenCL context of its own on the device under test, with two
 * queues: the library's, and one for what a camera or a renderer does.
 */
#ifndef TVLM_TESTS_INTEROP_HELPER_H
#define TVLM_TESTS_INTEROP_HELPER_H

#include <stdio.h>
#include <string.h>

#include "opencl/backend.h"
#include "support_stage.h"
#include "texturevlm/opencl.h"

typedef struct application {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue, other;
    tvlm_device *device; /* the library's, in the context and on the queue */
} application;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* clCreateCommandQueue: every driver has it */
/* An application on the device on which another one is open; without a device of the library's. */
static inline application application_on(const tvlm_device *device) {
    application app = {.id = ((const opencl_device *)device)->id};
    app.context = clCreateContext(NULL, 1, &app.id, NULL, NULL, NULL);
    app.queue = clCreateCommandQueue(app.context, app.id, 0, NULL);
    app.other = clCreateCommandQueue(app.context, app.id, 0, NULL);
    assert_true(app.queue != NULL && app.other != NULL);
    return app;
}
#pragma GCC diagnostic pop

static inline application start_on(const test_target *target) {
    application app = application_on(target->device);
    const struct tvlm_device_params params = {.log = &test_log, .storage = target->device->info.storage};
    if (tvlm_device_open_opencl(app.context, app.id, app.queue, &params, &app.device) != TVLM_OK)
        fail_msg("%s", test_last_log());
    return app;
}

static inline bool has_extension(const application *app, const char *name) {
    bool has = false;
    assert_int_equal(tvlm_opencl_device_has(app->id, name, &has), CL_SUCCESS);
    return has;
}

static inline void stop(application *app) {
    tvlm_device_destroy(&app->device);
    clReleaseCommandQueue(app->queue);
    clReleaseCommandQueue(app->other);
    clReleaseContext(app->context);
}

static inline cl_mem make_buffer(const application *app, const void *bytes, size_t size) {
    cl_mem memory = clCreateBuffer(app->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, size,
                                   (void *)(uintptr_t)bytes, NULL);
    assert_non_null(memory);
    return memory;
}

/* An image2d of these texels, or empty where they are NULL. NULL where the device has no such images. */
static inline cl_mem make_image(const application *app, cl_channel_order order, cl_channel_type type,
                                int32_t width, int32_t height, const void *texels) {
    const cl_image_format format = {order, type};
    const cl_image_desc shape = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = (size_t)width, .image_height = (size_t)height};
    cl_int error = CL_SUCCESS;
    cl_mem memory =
        clCreateImage(app->context, CL_MEM_READ_WRITE | (texels != NULL ? CL_MEM_COPY_HOST_PTR : 0), &format,
                      &shape, (void *)(uintptr_t)texels, &error);
    return error == CL_SUCCESS ? memory : NULL;
}

/* Runs a test once for each OpenCL device: in its first storage, with float. */
#define ON_EACH_DEVICE(check)                                                                                \
    static void check##_on(const test_target *target, tvlm_device *reference) {                              \
        (void)reference;                                                                                     \
        if (test_is_opencl(target->device) && target->format == TVLM_FORMAT_F32 &&                           \
            target->device->info.storage == TVLM_STORAGE_BUFFER)                                             \
            check(target);                                                                                   \
    }                                                                                                        \
    static void test_##check(void **state) {                                                                 \
        (void)state;                                                                                         \
        test_on_targets(check##_on);                                                                         \
    }

#endif
