/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An application's own context: pixels as cl_mem in, textures as cl_mem out, nothing copied in between.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "support.h"
#include "texturevlm/opencl.h"

enum { WIDTH = 37, HEIGHT = 21, OFFSET = 16, STRIDE = WIDTH * 3 + 5 };

typedef struct application {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
} application;

/* The first CPU device, as tests run on by default; false when there is none. */
static bool start(application *app) {
    cl_platform_id platforms[8];
    cl_uint count = 0;
    if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) return false;
    for (cl_uint p = 0; p < count && p < 8; ++p)
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_CPU, 1, &app->id, NULL) == CL_SUCCESS) {
            app->context = clCreateContext(NULL, 1, &app->id, NULL, NULL, NULL);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
            app->queue = clCreateCommandQueue(app->context, app->id, 0, NULL);
#pragma GCC diagnostic pop
            return app->queue != NULL;
        }
    return false;
}

static void stop(application *app) {
    clReleaseCommandQueue(app->queue);
    clReleaseContext(app->context);
}

/* The same pixels through the host and through a cl_mem with an offset and a stride make the same stack. */
static void pixels_from_memory(void **state) {
    application app;
    if (!start(&app)) skip();
    uint64_t seed = 3;
    uint8_t *pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3), bytes[OFFSET + STRIDE * HEIGHT];
    (void)state;
    memset(bytes, 0xa5, sizeof bytes);
    for (int y = 0; y < HEIGHT; ++y) memcpy(bytes + OFFSET + y * STRIDE, pixels + y * WIDTH * 3, WIDTH * 3);
    cl_mem memory = clCreateBuffer(app.context, CL_MEM_COPY_HOST_PTR, sizeof bytes, bytes, NULL);
    assert_non_null(memory);

    tvlm_device *device = NULL;
    tvlm_stack *stack = NULL;
    float from_host[WIDTH * HEIGHT], from_memory[WIDTH * HEIGHT];
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    tvlm_image described = {.width = WIDTH, .height = HEIGHT, .channels = 3, .row_stride = STRIDE};
    assert_int_equal(tvlm_device_open_opencl(app.context, app.id, app.queue,
                                             tvlm_device_params(.log = &test_log), &device),
                     TVLM_OK);
    assert_int_equal(test_device_info(device)->index, -1);
    assert_int_equal(tvlm_stack_create_for_image(device, &image, NULL, &stack), TVLM_OK);
    assert_int_equal(tvlm_stack_read(stack, 0, TVLM_CHANNEL_EDGES, 0, WIDTH * HEIGHT, from_host), TVLM_OK);
    assert_int_equal(tvlm_stack_set_image_opencl(stack, 0, &described, memory, OFFSET), TVLM_OK);
    assert_int_equal(tvlm_stack_read(stack, 0, TVLM_CHANNEL_EDGES, 0, WIDTH * HEIGHT, from_memory), TVLM_OK);
    assert_memory_equal(from_host, from_memory, sizeof from_host);

    /* Refused: beyond the end, no pixels, a stride shorter than a row. */
    assert_int_equal(tvlm_stack_set_image_opencl(stack, 0, &described, memory, OFFSET + 64),
                     TVLM_ERROR_ARGUMENT);
    described.width = 0;
    assert_int_equal(tvlm_stack_set_image_opencl(stack, 0, &described, memory, OFFSET), TVLM_ERROR_ARGUMENT);
    described.width = WIDTH;
    described.row_stride = WIDTH * 3 - 1;
    assert_int_equal(tvlm_stack_set_image_opencl(stack, 0, &described, memory, OFFSET), TVLM_ERROR_ARGUMENT);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    clReleaseMemObject(memory);
    free(pixels);
    stop(&app);
}

/* Refused with ARGUMENT and a line that says why. */
static void check_memory_refused(tvlm_status status, const char *why) {
    assert_int_equal(status, TVLM_ERROR_ARGUMENT);
    if (strstr(test_last_log(), why) == NULL) fail_msg("'%s' is not in: %s", why, test_last_log());
}

/* Wherever a cl_mem is taken: one that kernels may not use so is refused, and an image where it is not for
 * pixels (test_interop_images.c). */
static void check_memory_kinds(tvlm_stack *stack, cl_mem image, cl_mem write_only, cl_mem read_only) {
    static const tvlm_position at[1] = {{.x = 2.0f, .y = 2.0f, .size = 4.0f}};
    const tvlm_image pixels = {.width = WIDTH, .height = HEIGHT, .channels = 3};
    const struct tvlm_grid_input grid = {.columns = 2, .rows = 2, .channels = 1};
    const cl_mem memories[2] = {image, write_only};
    static const char *const why[2] = {"an image", "CL_MEM_WRITE_ONLY"};
    for (int i = 0; i < 2; ++i) {
        if (memories[i] == NULL) continue;
        check_memory_refused(
            tvlm_stack_set_grid_opencl(stack, 0, TVLM_CHANNEL_ATTENTION, &grid, memories[i], 0), why[i]);
        check_memory_refused(tvlm_stack_set_user_opencl(stack, 0, "plane", 0.0f, 1.0f, TVLM_REDUCE_MEAN,
                                                        &grid, memories[i], 0, NULL),
                             why[i]);
    }
    check_memory_refused(tvlm_stack_set_image_opencl(stack, 0, &pixels, write_only, 0), why[1]);
    check_memory_refused(tvlm_stack_update_image_opencl(stack, 0, &pixels, write_only, 0, NULL, NULL),
                         why[1]);
    const struct tvlm_patches_params params = {.side = 2};
    if (image != NULL)
        check_memory_refused(tvlm_patches_extract_opencl(stack, at, 1, &params, image, 0), "an image");
    check_memory_refused(tvlm_patches_extract_opencl(stack, at, 1, &params, read_only, 0),
                         "CL_MEM_READ_ONLY");
    assert_int_equal(tvlm_patches_extract_opencl(stack, at, 1, &params, write_only, 0), TVLM_OK);
    assert_int_equal(tvlm_stack_set_image_opencl(stack, 0, &pixels, read_only, 0), TVLM_OK);
}

static void wrong_kinds_of_memory(void **state) {
    enum { BYTES = WIDTH * HEIGHT * 4 };
    const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    const cl_image_desc shape = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = WIDTH, .image_height = HEIGHT};
    static uint8_t bytes[BYTES];
    application app;
    tvlm_device *device = NULL;
    tvlm_stack *stack = NULL;
    (void)state;
    if (!start(&app)) skip();
    const tvlm_image image = {.pixels = bytes, .width = WIDTH, .height = HEIGHT, .channels = 3};
    assert_int_equal(tvlm_device_open_opencl(app.context, app.id, app.queue,
                                             tvlm_device_params(.log = &test_log), &device),
                     TVLM_OK);
    assert_int_equal(tvlm_stack_create_for_image(device, &image, NULL, &stack), TVLM_OK);
    cl_mem picture = clCreateImage(app.context, CL_MEM_READ_ONLY, &format, &shape, NULL, NULL);
    cl_mem write_only = clCreateBuffer(app.context, CL_MEM_WRITE_ONLY, BYTES, NULL, NULL);
    cl_mem read_only =
        clCreateBuffer(app.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, BYTES, bytes, NULL);
    assert_true(write_only != NULL && read_only != NULL);
    if (picture == NULL) printf("    has no images\n");
    check_memory_kinds(stack, picture, write_only, read_only);
    if (picture != NULL) clReleaseMemObject(picture);
    clReleaseMemObject(write_only);
    clReleaseMemObject(read_only);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    stop(&app);
}

/* One component of a slice of level 0 as the application finds it in what is handed out. */
static void read_component(const application *app, const tvlm_opencl_texture *t, int32_t image,
                           float *texels) {
    static float rgba[WIDTH * HEIGHT * 4];
    const size_t count = (size_t)t->width * (size_t)t->height;
    const size_t slice = (size_t)((image - t->first_image) * t->layers + t->layer);
    assert_int_equal(t->format, TVLM_FORMAT_F32);
    if (t->storage == TVLM_STORAGE_BUFFER) {
        const size_t bytes = count * (size_t)t->components * sizeof *texels;
        assert_int_equal(
            clEnqueueReadBuffer(app->queue, t->base, CL_TRUE, slice * bytes, bytes, rgba, 0, NULL, NULL),
            CL_SUCCESS);
    } else {
        const size_t origin[3] = {0, 0, slice}, region[3] = {(size_t)t->width, (size_t)t->height, 1};
        assert_int_equal(
            clEnqueueReadImage(app->queue, t->base, CL_TRUE, origin, region, 0, 0, rgba, 0, NULL, NULL),
            CL_SUCCESS);
    }
    for (size_t i = 0; i < count; ++i) texels[i] = rgba[(size_t)t->components * i + (size_t)t->component];
}

/* A channel's texels are what a read of it gives. */
static void check_channel(const application *app, tvlm_stack *stack, int32_t channel, int32_t components) {
    tvlm_opencl_texture texture;
    float read[WIDTH * HEIGHT], found[WIDTH * HEIGHT];
    assert_int_equal(tvlm_stack_get_opencl(stack, 1, channel, &texture), TVLM_OK);
    assert_int_equal(texture.components, components);
    assert_int_equal(texture.levels, 6);
    read_component(app, &texture, 1, found);
    assert_int_equal(tvlm_stack_read(stack, 1, channel, 0, WIDTH * HEIGHT, read), TVLM_OK);
    assert_memory_equal(found, read, sizeof read);
}

static void check_handed_out(const application *app, tvlm_storage storage) {
    tvlm_device *device = NULL;
    tvlm_stack *stack = NULL;
    tvlm_packed *packed = NULL;
    tvlm_opencl_texture texture;
    uint64_t seed = 4;
    uint8_t *pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    const int32_t channels[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_X, TVLM_CHANNEL_LOW, TVLM_CHANNEL_EDGES,
                                TVLM_CHANNEL_HIGH};
    float found[WIDTH * HEIGHT], planes[5 * WIDTH * HEIGHT];
    const struct tvlm_device_params params = {.storage = storage, .log = &test_log};
    const tvlm_status status = tvlm_device_open_opencl(app->context, app->id, app->queue, &params, &device);
    if (status == TVLM_ERROR_UNSUPPORTED) {
        free(pixels);
        return;
    }
    assert_int_equal(status, TVLM_OK);
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .images = 2,
                                                         .format = TVLM_FORMAT_F32),
                                       &stack),
                     TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(stack, 1, &image), TVLM_OK);
    assert_int_equal(tvlm_stack_get_opencl(stack, 1, TVLM_CHANNEL_HIGH, &texture), TVLM_OK);
    assert_int_equal(texture.storage, storage);
    check_channel(app, stack, TVLM_CHANNEL_HIGH, 4);
    check_channel(app, stack, TVLM_CHANNEL_LAPLACIAN, device->stores_scalar[TVLM_FORMAT_F32] ? 1 : 4);
    check_channel(app, stack, TVLM_CHANNEL_DISTANCE, device->stores_scalar[TVLM_FORMAT_F32] ? 1 : 4);
    assert_int_equal(tvlm_stack_get_opencl(stack, 1, TVLM_CHANNEL_X, &texture), TVLM_ERROR_ARGUMENT);

    assert_int_equal(
        tvlm_stack_pack(stack, tvlm_pack_params(.channels = channels, .channel_count = 5), &packed), TVLM_OK);
    assert_int_equal(tvlm_packed_get_opencl(packed, 1, &texture), TVLM_OK);
    assert_int_equal(texture.layers, 2);
    texture.layer = 1; /* the fifth channel: layer 1, component 0 */
    texture.component = 0;
    read_component(app, &texture, 1, found);
    assert_int_equal(tvlm_packed_read(packed, 1, 5 * WIDTH * HEIGHT, planes), TVLM_OK);
    assert_memory_equal(found, planes + 4 * WIDTH * HEIGHT, sizeof found);
    tvlm_packed_destroy(&packed);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    free(pixels);
}

static void textures_handed_out(void **state) {
    application app;
    (void)state;
    if (!start(&app)) skip();
    check_handed_out(&app, TVLM_STORAGE_IMAGE);
    check_handed_out(&app, TVLM_STORAGE_BUFFER);
    stop(&app);
}

/* ---- Features of a stream ---- */

enum { COLUMNS = 4, ROWS = 3, CELLS = COLUMNS * ROWS, VECTOR = 6 };

static tvlm_stream *start_stream(tvlm_device *device, const uint8_t *pixels) {
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    tvlm_stream *stream = NULL;
    assert_int_equal(
        tvlm_stream_create(device, WIDTH, HEIGHT, tvlm_stream_params(.layout = "visual12"), &stream),
        TVLM_OK);
    assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, NULL), TVLM_OK);
    return stream;
}

static void check_same_features(tvlm_stream *one, tvlm_stream *other) {
    uint8_t needs[2][CELLS];
    assert_int_equal(tvlm_stream_needs(one, 0, CELLS, needs[0]), TVLM_OK);
    assert_int_equal(tvlm_stream_needs(other, 0, CELLS, needs[1]), TVLM_OK);
    assert_memory_equal(needs[0], needs[1], CELLS);
    for (int32_t channel = 0; channel < VECTOR; ++channel) {
        float values[2][CELLS];
        assert_int_equal(tvlm_stack_read(tvlm_stream_stack(one, 0), 0, TVLM_CHANNEL_FEATURE_0 + channel, 0,
                                         CELLS, values[0]),
                         TVLM_OK);
        assert_int_equal(tvlm_stack_read(tvlm_stream_stack(other, 0), 0, TVLM_CHANNEL_FEATURE_0 + channel, 0,
                                         CELLS, values[1]),
                         TVLM_OK);
        assert_memory_equal(values[0], values[1], sizeof values[0]);
        assert_true(values[0][0] != values[0][CELLS - 1]);
    }
}

static void push_next(tvlm_stream *stream, const uint8_t *pixels) {
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    const float flow[3] = {3.0f, 1.0f, 1.0f};
    const struct tvlm_grid_input grid = {.data = flow, .columns = 1, .rows = 1, .channels = 3};
    assert_int_equal(tvlm_stream_push(stream, 0, &image, tvlm_push_params(.flow = &grid), NULL), TVLM_OK);
}

/* The same vectors through the host and through a cl_mem, taken, carried, blended for some cells. */
static void features_from_memory(void **state) {
    static const uint8_t mask[CELLS] = {1, 0, 0, 1, 0, 1};
    application app;
    float values[OFFSET / 4 + CELLS * VECTOR];
    tvlm_device *device = NULL;
    uint64_t seed = 5;
    (void)state;
    if (!start(&app)) skip();
    uint8_t *pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i) values[i] = test_random_unit(&seed) - 0.5f;
    cl_mem memory = clCreateBuffer(app.context, CL_MEM_COPY_HOST_PTR, sizeof values, values, NULL);
    assert_non_null(memory);
    assert_int_equal(tvlm_device_open_opencl(app.context, app.id, app.queue,
                                             tvlm_device_params(.log = &test_log), &device),
                     TVLM_OK);
    tvlm_stream *from_host = start_stream(device, pixels), *from_memory = start_stream(device, pixels);
    struct tvlm_grid_input input = {.columns = COLUMNS, .rows = ROWS, .channels = VECTOR};
    const int32_t channel = TVLM_CHANNEL_FEATURE_0;
    for (int frame = 0; frame < 3; ++frame) {
        const uint8_t *some = frame == 2 ? mask : NULL;
        if (frame > 0) push_next(from_host, pixels);
        if (frame > 0) push_next(from_memory, pixels);
        input.data = values + OFFSET / 4;
        assert_int_equal(tvlm_stream_set_features(from_host, 0, channel, &input, some), TVLM_OK);
        input.data = NULL;
        assert_int_equal(
            tvlm_stream_set_features_opencl(from_memory, 0, channel, &input, memory, OFFSET, some), TVLM_OK);
        check_same_features(from_host, from_memory);
    }

    /* Refused, and what was there stays: beyond the end, a mask for another size, no such camera. */
    assert_int_equal(
        tvlm_stream_set_features_opencl(from_memory, 0, channel, &input, memory, OFFSET + 4, NULL),
        TVLM_ERROR_ARGUMENT);
    check_same_features(from_host, from_memory);
    assert_int_equal(tvlm_stream_set_features_opencl(from_memory, 1, channel, &input, memory, 0, NULL),
                     TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stream_set_features_opencl(from_memory, 0, channel, &input, NULL, 0, NULL),
                     TVLM_ERROR_ARGUMENT);
    input.rows = ROWS - 1;
    assert_int_equal(tvlm_stream_set_features_opencl(from_memory, 0, channel, &input, memory, 0, mask),
                     TVLM_ERROR_ARGUMENT);
    check_same_features(from_host, from_memory);
    tvlm_stream_destroy(&from_host);
    tvlm_stream_destroy(&from_memory);
    tvlm_device_destroy(&device);
    clReleaseMemObject(memory);
    free(pixels);
    stop(&app);
}

/* ---- Patches ---- */

enum {
    PATCHES = 5,
    SIDE = 6,
    PLANES = TVLM_USER_PLANES_MAX,
    MANY = PLANES + 2
}; /* more textures than a launch takes */

/* The same patches on the host and in a cl_mem; what is before and behind them stays. */
static void check_patches(const application *app, tvlm_stack *stack, const struct tvlm_patches_params *params,
                          size_t offset) {
    static const tvlm_position at[PATCHES] = {{.x = 3.5f, .y = 2.0f, .size = 4.0f},
                                              {.x = 10.0f, .y = 7.25f, .size = 6.0f},
                                              {.x = 0.0f, .y = 0.0f, .size = 9.0f},
                                              {.x = 12.0f, .y = 4.0f, .size = 1.5f},
                                              {.x = 6.0f, .y = 6.0f, .size = 6.0f}};
    size_t bytes = 0;
    assert_int_equal(tvlm_patches_size(params, PATCHES, &bytes), TVLM_OK);
    const size_t all = offset + bytes + 8;
    unsigned char *expected = malloc(all), *got = malloc(all);
    assert_true(expected != NULL && got != NULL);
    memset(expected, 0x5a, all);
    cl_mem memory = clCreateBuffer(app->context, CL_MEM_COPY_HOST_PTR, all, expected, NULL);
    assert_non_null(memory);
    assert_int_equal(tvlm_patches_extract(stack, at, PATCHES, params, bytes, expected + offset), TVLM_OK);
    assert_int_equal(tvlm_patches_extract_opencl(stack, at, PATCHES, params, memory, offset), TVLM_OK);
    assert_int_equal(clEnqueueReadBuffer(app->queue, memory, CL_TRUE, 0, all, got, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_memory_equal(expected, got, all);

    /* Refused: no room for the last byte, no whole number of elements before it. */
    assert_int_equal(tvlm_patches_extract_opencl(stack, at, PATCHES, params, memory, offset + 12),
                     TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_patches_extract_opencl(stack, at, PATCHES, params, memory, offset + 1),
                     TVLM_ERROR_ARGUMENT);
    clReleaseMemObject(memory);
    free(expected);
    free(got);
}

static void patches_into_memory(void **state) {
    static const float mean[3] = {0.4f, 0.5f, 0.6f}, deviation[3] = {0.2f, 0.3f, 0.25f};
    application app;
    tvlm_device *device = NULL;
    tvlm_stack *stack = NULL;
    int32_t many[MANY] = {TVLM_CHANNEL_R, TVLM_CHANNEL_EDGES};
    uint64_t seed = 9;
    (void)state;
    if (!start(&app)) skip();
    uint8_t *pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    assert_int_equal(tvlm_device_open_opencl(app.context, app.id, app.queue,
                                             tvlm_device_params(.log = &test_log), &device),
                     TVLM_OK);
    assert_int_equal(tvlm_stack_create_for_image(device, &image, NULL, &stack), TVLM_OK);
    for (int32_t i = 0; i < PLANES; ++i) {
        char name[16];
        const float value[1] = {(float)i / PLANES};
        const struct tvlm_grid_input input = {.data = value, .columns = 1, .rows = 1, .channels = 1};
        snprintf(name, sizeof name, "plane%d", (int)i);
        assert_int_equal(
            tvlm_stack_set_user(stack, 0, name, 0.0f, 1.0f, TVLM_REDUCE_MEAN, &input, &many[2 + i]), TVLM_OK);
    }
    for (size_t offset = 0; offset <= 16; offset += 16) {
        check_patches(&app, stack, tvlm_patches_params(.side = SIDE), offset);
        check_patches(&app, stack,
                      tvlm_patches_params(.side = SIDE, .mean = mean, .deviation = deviation,
                                          .format = TVLM_FORMAT_F16, .border = TVLM_BORDER_REFLECT),
                      offset);
        check_patches(&app, stack, tvlm_patches_params(.side = SIDE, .channels = many, .channel_count = MANY),
                      offset);
    }
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    free(pixels);
    stop(&app);
}

typedef struct held_queue {
    cl_event gate;
    atomic_bool open;
} held_queue;

static int open_gate(void *user) {
    held_queue *const held = user;
    thrd_sleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    atomic_store(&held->open, true);
    clSetUserEventStatus(held->gate, CL_COMPLETE);
    return 0;
}

/* The application's queue is held up for a while: finish returns only when that is over. */
static void finish_waits(void **state) {
    application app;
    held_queue held;
    thrd_t opener;
    tvlm_device *device = NULL;
    (void)state;
    if (!start(&app)) skip();
    assert_int_equal(tvlm_device_open_opencl(app.context, app.id, app.queue,
                                             tvlm_device_params(.log = &test_log), &device),
                     TVLM_OK);
    atomic_init(&held.open, false);
    held.gate = clCreateUserEvent(app.context, NULL);
    assert_non_null(held.gate);
    assert_int_equal(clEnqueueBarrierWithWaitList(app.queue, 1, &held.gate, NULL), CL_SUCCESS);
    assert_int_equal(thrd_create(&opener, open_gate, &held), thrd_success);
    assert_int_equal(device->backend->finish(device), TVLM_OK);
    assert_true(atomic_load(&held.open));
    thrd_join(opener, NULL);
    clReleaseEvent(held.gate);
    tvlm_device_destroy(&device);
    stop(&app);
}

static void reference_has_none(void **state) {
    tvlm_device *device = NULL;
    tvlm_stack *stack = NULL;
    tvlm_opencl_texture texture;
    (void)state;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "reference", .log = &test_log), &device),
                     TVLM_OK);
    assert_int_equal(tvlm_stack_create(device, tvlm_stack_params(.width = 3, .height = 2), &stack), TVLM_OK);
    assert_int_equal(tvlm_stack_get_opencl(stack, 0, TVLM_CHANNEL_R, &texture), TVLM_ERROR_UNSUPPORTED);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_from_memory),  cmocka_unit_test(wrong_kinds_of_memory),
        cmocka_unit_test(textures_handed_out), cmocka_unit_test(features_from_memory),
        cmocka_unit_test(patches_into_memory), cmocka_unit_test(finish_waits),
        cmocka_unit_test(reference_has_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
