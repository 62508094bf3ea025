/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_interop_images.c: frames on the device in the forms that cameras, OpenGL and Vulkan deliver, through
 * texturevlm/opencl.h: images of all formats, NV12, other sizes, what is refused, and what is shared. All is
 * compared with the same pixels from the host.
 *
 * Linked with -Wl,--wrap=dlsym (CMakeLists.txt): the library finds a driver that shares memory with others.
 */
#include <CL/cl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- A driver that shares memory ---- */

/* What it was asked to do, in order: 'a' and 'r' of the first memory, 'A' and 'R' of another one, 'k' a
 * kernel. */
static struct {
    bool shares;      /* the device says that it has the extensions */
    bool broken;      /* but the driver has not their functions */
    cl_int error;     /* of acquiring */
    const char *said; /* the last function that was asked for */
    cl_mem first;
    char log[64];
    size_t used;
} fake;

static void note(char what) {
    if (fake.used < sizeof fake.log - 1) fake.log[fake.used++] = what;
    fake.log[fake.used] = '\0';
}

static cl_int CL_API_CALL acquire(cl_command_queue queue, cl_uint count, const cl_mem *memories,
                                  cl_uint waits, const cl_event *list, cl_event *event) {
    (void)queue;
    if (count != 1 || waits != 0 || list != NULL || event != NULL) return CL_INVALID_VALUE;
    if (fake.error != CL_SUCCESS) return fake.error;
    note(memories[0] == fake.first ? 'a' : 'A');
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release(cl_command_queue queue, cl_uint count, const cl_mem *memories,
                                  cl_uint waits, const cl_event *list, cl_event *event) {
    (void)queue;
    if (count != 1 || waits != 0 || list != NULL || event != NULL) return CL_INVALID_VALUE;
    note(memories[0] == fake.first ? 'r' : 'R');
    return CL_SUCCESS;
}

static void *CL_API_CALL find_function(cl_platform_id platform, const char *name) {
    cl_int(CL_API_CALL *const functions[2])(cl_command_queue, cl_uint, const cl_mem *, cl_uint,
                                            const cl_event *, cl_event *) = {acquire, release};
    void *symbol = NULL;
    (void)platform;
    fake.said = name;
    if (!fake.broken) memcpy(&symbol, &functions[strncmp(name, "clEnqueueRelease", 16) == 0], sizeof symbol);
    return symbol;
}

static cl_int CL_API_CALL device_info(cl_device_id id, cl_device_info what, size_t size, void *value,
                                      size_t *needed) {
    static const char extensions[] = "cl_khr_gl_sharing cl_khr_external_memory";
    if (what != CL_DEVICE_EXTENSIONS || !fake.shares) return clGetDeviceInfo(id, what, size, value, needed);
    if (needed != NULL) *needed = sizeof extensions;
    if (value != NULL && size >= sizeof extensions) memcpy(value, extensions, sizeof extensions);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL run_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                     const size_t *offset, const size_t *size, const size_t *group,
                                     cl_uint waits, const cl_event *list, cl_event *event) {
    note('k');
    return clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, size, group, waits, list, event);
}

void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name) {
    void *(CL_API_CALL *const find)(cl_platform_id, const char *) = find_function;
    cl_int(CL_API_CALL *const info)(cl_device_id, cl_device_info, size_t, void *, size_t *) = device_info;
    cl_int(CL_API_CALL *const run)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                                   const size_t *, cl_uint, const cl_event *, cl_event *) = run_kernel;
    void *symbol = __real_dlsym(library, name);
    if (strcmp(name, "clGetExtensionFunctionAddressForPlatform") == 0) memcpy(&symbol, &find, sizeof symbol);
    if (strcmp(name, "clGetDeviceInfo") == 0) memcpy(&symbol, &info, sizeof symbol);
    if (strcmp(name, "clEnqueueNDRangeKernel") == 0) memcpy(&symbol, &run, sizeof symbol);
    return symbol;
}

#include "interop_helper.h"

#include <math.h>
#include <threads.h>
#include <time.h>

#include "core/half.h"
#include "stack/stack.h"

enum { WIDTH = 75, HEIGHT = 49, MOST = 160 * 120 };

/* ---- Comparing ---- */

static tvlm_stack *open_stack(const application *app) {
    tvlm_stack *stack = NULL;
    assert_int_equal(
        tvlm_stack_create(app->device,
                          tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .format = TVLM_FORMAT_F32),
                          &stack),
        TVLM_OK);
    return stack;
}

static void check(tvlm_status status) {
    if (status != TVLM_OK) fail_msg("status %d: %s", (int)status, test_last_log());
}

/* The sources of two stacks, and the sizes that their images came in. The tolerance is of one division, one
 * compositing and the shares of resampling, in float. */
static void compare(const char *what, tvlm_stack *got, tvlm_stack *expected) {
    static const int32_t channels[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G, TVLM_CHANNEL_B};
    static float values[2][WIDTH * HEIGHT];
    for (int c = 0; c < 3; ++c) {
        check(tvlm_stack_read(got, 0, channels[c], 0, WIDTH * HEIGHT, values[0]));
        check(tvlm_stack_read(expected, 0, channels[c], 0, WIDTH * HEIGHT, values[1]));
        test_compare(what, values[0], values[1], WIDTH * HEIGHT, 1.5e-6f, 3e-7f);
    }
    const tvlm_original a = tvlm_stack_original(got, 0), b = tvlm_stack_original(expected, 0);
    assert_int_equal(a.width, b.width);
    assert_int_equal(a.height, b.height);
}

static void poison(tvlm_stack *stack) {
    static const uint8_t gray[WIDTH * HEIGHT] = {7};
    const tvlm_image image = {.pixels = gray, .width = WIDTH, .height = HEIGHT, .channels = 1};
    check(tvlm_stack_set_image(stack, 0, &image));
}

/* ---- Images ---- */

/* How a format lays out a texel: which of red, green, blue, alpha each component is. */
typedef struct image_format {
    const char *name;
    cl_channel_order order;
    cl_channel_type type;
    int32_t count;
    int place[4];
    bool needed; /* every device with images has it */
} image_format;

static const image_format formats[] = {
    {"RGBA, 8 bits", CL_RGBA, CL_UNORM_INT8, 4, {0, 1, 2, 3}, true},
    {"RGBA, 16 bits", CL_RGBA, CL_UNORM_INT16, 4, {0, 1, 2, 3}, true},
    {"RGBA, half", CL_RGBA, CL_HALF_FLOAT, 4, {0, 1, 2, 3}, true},
    {"RGBA, float", CL_RGBA, CL_FLOAT, 4, {0, 1, 2, 3}, true},
    {"BGRA, 8 bits", CL_BGRA, CL_UNORM_INT8, 4, {2, 1, 0, 3}, false},
    {"ARGB, 8 bits", CL_ARGB, CL_UNORM_INT8, 4, {3, 0, 1, 2}, false},
    {"ABGR, 8 bits", CL_ABGR, CL_UNORM_INT8, 4, {3, 2, 1, 0}, false},
    {"RGBx, 8 bits", CL_RGBx, CL_UNORM_INT8, 4, {0, 1, 2, -1}, false},
    {"R, 8 bits", CL_R, CL_UNORM_INT8, 1, {0, 0, 0, 0}, false},
    {"R, 16 bits", CL_R, CL_UNORM_INT16, 1, {0, 0, 0, 0}, false},
    {"R, float", CL_R, CL_FLOAT, 1, {0, 0, 0, 0}, false},
    {"luminance, 8 bits", CL_LUMINANCE, CL_UNORM_INT8, 1, {0, 0, 0, 0}, false},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* Writes a random component, and returns its value as a host's float has it. */
static float put_component(cl_channel_type type, uint64_t *random, unsigned char **at) {
    const uint64_t bits = test_random(random);
    const uint16_t wide = (uint16_t)bits;
    const float unit = bits % 9 == 0 ? NAN : 1.3f * test_random_unit(random) - 0.15f;
    const uint16_t half = tvlm_half_from_float(unit);
    switch (type) {
    case CL_UNORM_INT8: **at = (unsigned char)bits; return (float)*(*at)++ / 255.0f;
    case CL_UNORM_INT16:
        memcpy(*at, &wide, 2);
        *at += 2;
        return (float)wide / 65535.0f;
    case CL_HALF_FLOAT:
        memcpy(*at, &half, 2);
        *at += 2;
        return tvlm_half_to_float(half);
    default:
        memcpy(*at, &unit, 4);
        *at += 4;
        return unit;
    }
}

/* Random texels, and the same as RGBA floats. */
static void fill(const image_format *f, size_t count, uint64_t *random, unsigned char *texels, float *rgba) {
    for (size_t i = 0; i < count; ++i) {
        float *pixel = rgba + 4 * i;
        pixel[3] = 1.0f;
        for (int32_t c = 0; c < f->count; ++c) {
            const float value = put_component(f->type, random, &texels);
            if (f->place[c] >= 0) pixel[f->place[c]] = value;
        }
        if (f->count == 1) pixel[1] = pixel[2] = pixel[0];
    }
}

static void check_format(const application *app, const image_format *f, int32_t width, int32_t height) {
    static unsigned char texels[MOST * 16];
    static float rgba[MOST * 4];
    uint64_t random = 5;
    fill(f, (size_t)width * (size_t)height, &random, texels, rgba);
    cl_mem memory = make_image(app, f->order, f->type, width, height, texels);
    if (memory == NULL) {
        assert_false(f->needed);
        printf("    has no images of %s\n", f->name);
        return;
    }
    const tvlm_image host = {
        .pixels = rgba, .width = width, .height = height, .channels = 4, .type = TVLM_PIXEL_F32};
    const tvlm_image size = {.width = width, .height = height};
    tvlm_stack *got = open_stack(app), *expected = open_stack(app);
    check(tvlm_stack_set_image(expected, 0, &host));
    check(tvlm_stack_set_frame_opencl(got, 0, &(tvlm_opencl_frame){.memory = memory}));
    compare(f->name, got, expected);
    poison(got);
    check(tvlm_stack_set_image_opencl(got, 0, &size, memory, 0));
    compare(f->name, got, expected);
    poison(got);
    tvlm_delta_report report;
    check(tvlm_stack_update_image_opencl(got, 0, &size, memory, 0, NULL, &report));
    assert_int_equal(report.bytes_uploaded, 0);
    compare(f->name, got, expected);
    tvlm_stack_destroy(&got);
    tvlm_stack_destroy(&expected);
    clReleaseMemObject(memory);
}

static void all_formats(const test_target *target) {
    application app = start_on(target);
    if (!target->device->info.images) printf("    has no images\n");
    for (int i = 0; target->device->info.images && i < FORMATS; ++i) {
        check_format(&app, &formats[i], WIDTH, HEIGHT);
        check_format(&app, &formats[i], i % 2 == 0 ? 160 : 30, i % 3 == 0 ? 20 : 120);
    }
    stop(&app);
}
ON_EACH_DEVICE(all_formats)

/* ---- NV12 ---- */

/* One colour by the formulas of opencl.h, in double. */
static void colour_of(const tvlm_opencl_frame *f, int y, int cb, int cr, float rgb[3]) {
    const bool bt709 = f->matrix == TVLM_OPENCL_BT709;
    const double kr = bt709 ? 0.2126 : 0.299, kb = bt709 ? 0.0722 : 0.114;
    const double luma = f->full_range ? y / 255.0 : (y - 16) / 219.0;
    const double b = (cb - 128) / (f->full_range ? 255.0 : 224.0);
    const double r = (cr - 128) / (f->full_range ? 255.0 : 224.0);
    const double red = luma + 2 * (1 - kr) * r, blue = luma + 2 * (1 - kb) * b;
    const double green = (luma - kr * red - kb * blue) / (1 - kr - kb);
    const double all[3] = {red, green, blue};
    for (int c = 0; c < 3; ++c) rgb[c] = (float)fmin(fmax(all[c], 0), 1);
}

/* The pixels as RGB floats. */
static void convert(const tvlm_opencl_frame *f, const unsigned char *luma, const unsigned char *pairs,
                    int32_t width, int32_t height, float *rgb) {
    const int32_t columns = (width + 1) / 2;
    for (int32_t y = 0; y < height; ++y)
        for (int32_t x = 0; x < width; ++x) {
            const unsigned char *pair = pairs + 2 * ((y / 2) * columns + x / 2);
            colour_of(f, luma[y * width + x], pair[0], pair[1], rgb + 3 * (y * width + x));
        }
}

static void check_frame(const application *app, const char *what, tvlm_opencl_frame frame,
                        tvlm_stack *expected) {
    tvlm_stack *got = open_stack(app);
    check(tvlm_stack_set_frame_opencl(got, 0, &frame));
    compare(what, got, expected);
    poison(got);
    check(tvlm_stack_update_frame_opencl(got, 0, &frame, NULL, NULL));
    compare(what, got, expected);
    tvlm_stack_destroy(&got);
}

/* An image of one or two channels; where the device has none, one of four. */
static cl_mem plane_image(const application *app, cl_channel_order order, size_t channels, int32_t width,
                          int32_t height, const unsigned char *bytes) {
    static unsigned char texels[4 * MOST];
    cl_mem image = make_image(app, order, CL_UNORM_INT8, width, height, bytes);
    if (image != NULL) return image;
    printf("    has no images of %zu channels\n", channels);
    for (size_t i = 0; i < (size_t)width * (size_t)height; ++i)
        for (size_t c = 0; c < 4; ++c) texels[4 * i + c] = c < channels ? bytes[channels * i + c] : 77;
    image = make_image(app, CL_RGBA, CL_UNORM_INT8, width, height, texels);
    assert_non_null(image);
    return image;
}

/* In one buffer without and with gaps, in two, and in two images: all the same, and as the formulas say. */
static void check_nv12(const application *app, int32_t width, int32_t height, tvlm_opencl_matrix matrix,
                       bool full_range, bool images) {
    static unsigned char bytes[2 * MOST], apart[4 * MOST];
    static float rgb[MOST * 3];
    uint64_t random = (uint64_t)(10 * width + height);
    const size_t columns = ((size_t)width + 1) / 2, rows = ((size_t)height + 1) / 2;
    const size_t luma = (size_t)width * (size_t)height, all = luma + 2 * columns * rows;
    const size_t stride = (size_t)width + 11, second = 3 + stride * (size_t)height + 5;
    for (size_t i = 0; i < all; ++i) bytes[i] = (unsigned char)test_random(&random);
    tvlm_opencl_frame frame = {.nv12 = true,
                               .full_range = full_range,
                               .matrix = matrix,
                               .image = {.width = width, .height = height}};
    convert(&frame, bytes, bytes + luma, width, height, rgb);
    const tvlm_image host = {
        .pixels = rgb, .width = width, .height = height, .channels = 3, .type = TVLM_PIXEL_F32};
    tvlm_stack *expected = open_stack(app);
    check(tvlm_stack_set_image(expected, 0, &host));

    cl_mem pairs = make_buffer(app, bytes + luma, 2 * columns * rows);
    frame.memory = make_buffer(app, bytes, all);
    frame.chroma_stride = 2 * columns;
    check_frame(app, "NV12 in one buffer", frame, expected);
    frame.chroma = pairs;
    check_frame(app, "NV12 in two buffers", frame, expected);
    clReleaseMemObject(pairs);
    clReleaseMemObject(frame.memory);

    for (size_t y = 0; y < (size_t)height; ++y)
        memcpy(apart + 3 + y * stride, bytes + y * (size_t)width, (size_t)width);
    for (size_t y = 0; y < rows; ++y)
        memcpy(apart + second + y * (stride + 2), bytes + luma + y * 2 * columns, 2 * columns);
    frame.memory = make_buffer(app, apart, second + rows * (stride + 2));
    frame.chroma = NULL;
    frame.offset = 3;
    frame.image.row_stride = stride;
    frame.chroma_offset = second;
    frame.chroma_stride = stride + 2;
    check_frame(app, "NV12 with gaps", frame, expected);
    clReleaseMemObject(frame.memory);

    frame = (tvlm_opencl_frame){.nv12 = true, .full_range = full_range, .matrix = matrix};
    if (images) {
        frame.memory = plane_image(app, CL_R, 1, width, height, bytes);
        frame.chroma = plane_image(app, CL_RG, 2, (int32_t)columns, (int32_t)rows, bytes + luma);
        check_frame(app, "NV12 in two images", frame, expected);
    }
    if (frame.memory != NULL) clReleaseMemObject(frame.memory);
    if (frame.chroma != NULL) clReleaseMemObject(frame.chroma);
    tvlm_stack_destroy(&expected);
}

static void nv12(const test_target *target) {
    const bool images = target->device->info.images;
    application app = start_on(target);
    check_nv12(&app, WIDTH, HEIGHT, TVLM_OPENCL_BT601, false, images);
    check_nv12(&app, WIDTH, HEIGHT, TVLM_OPENCL_BT601, true, images);
    check_nv12(&app, 160, 90, TVLM_OPENCL_BT709, false, images);
    check_nv12(&app, 33, 31, TVLM_OPENCL_BT709, true, images);
    stop(&app);
}
ON_EACH_DEVICE(nv12)

/* The defaults of NV12 in one buffer with even sides: chroma right behind, rows as far apart as the luma's. */
static void nv12_defaults(const test_target *target) {
    enum { SIDE = 8 };
    static unsigned char bytes[SIDE * SIDE * 3 / 2];
    application app = start_on(target);
    static float rgb[SIDE * SIDE * 3];
    uint64_t random = 6;
    for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = (unsigned char)test_random(&random);
    tvlm_opencl_frame frame = {.memory = make_buffer(&app, bytes, sizeof bytes),
                               .nv12 = true,
                               .image = {.width = SIDE, .height = SIDE}};
    convert(&frame, bytes, bytes + SIDE * SIDE, SIDE, SIDE, rgb);
    const tvlm_image host = {
        .pixels = rgb, .width = SIDE, .height = SIDE, .channels = 3, .type = TVLM_PIXEL_F32};
    tvlm_stack *expected = open_stack(&app);
    check(tvlm_stack_set_image(expected, 0, &host));
    check_frame(&app, "NV12 by default", frame, expected);
    clReleaseMemObject(frame.memory);
    tvlm_stack_destroy(&expected);
    stop(&app);
}
ON_EACH_DEVICE(nv12_defaults)

/* ---- Buffers of other sizes, and updates ---- */

static void check_buffer(const application *app, int32_t width, int32_t height, int32_t channels,
                         tvlm_pixel_type type) {
    static unsigned char bytes[MOST * 16];
    uint64_t random = 8;
    for (size_t i = 0; i < sizeof bytes / sizeof(float); ++i) {
        const float value = test_random_unit(&random);
        memcpy(bytes + 4 * i, &value, sizeof value);
    }
    tvlm_image image = {.width = width, .height = height, .channels = channels, .type = type};
    cl_mem memory = make_buffer(app, bytes, sizeof bytes);
    tvlm_stack *expected = open_stack(app);
    image.pixels = bytes + 16;
    check(tvlm_stack_set_image(expected, 0, &image));
    image.pixels = NULL;
    check_frame(app, "a buffer", (tvlm_opencl_frame){.memory = memory, .image = image, .offset = 16},
                expected);
    clReleaseMemObject(memory);
    tvlm_stack_destroy(&expected);
}

static void other_sizes(const test_target *target) {
    application app = start_on(target);
    for (int32_t channels = 1; channels <= 4; ++channels)
        for (int type = TVLM_PIXEL_U8; type <= TVLM_PIXEL_F32; ++type)
            check_buffer(&app, channels % 2 == 0 ? 150 : 40, type == TVLM_PIXEL_U16 ? 110 : 20, channels,
                         (tvlm_pixel_type)type);
    stop(&app);
}
ON_EACH_DEVICE(other_sizes)

/* A frame that is many times larger is right, or is refused where the driver ends long loops. */
static void large_frame(const test_target *target) {
    enum { SIDE = 2400, SMALL = 8 };
    application app = start_on(target);
    tvlm_stack *stack = NULL;
    float red[SMALL * SMALL];
    uint8_t *bytes = malloc((size_t)SIDE * SIDE);
    assert_non_null(bytes);
    memset(bytes, 100, (size_t)SIDE * SIDE);
    const tvlm_opencl_frame frame = {.memory = make_buffer(&app, bytes, (size_t)SIDE * SIDE),
                                     .image = {.width = SIDE, .height = SIDE, .channels = 1}};
    check(tvlm_stack_create(app.device, tvlm_stack_params(.width = SMALL, .height = SMALL), &stack));
    const tvlm_status status = tvlm_stack_set_frame_opencl(stack, 0, &frame);
    if (test_has_long_loops(app.device)) {
        check(status);
        check(tvlm_stack_read(stack, 0, TVLM_CHANNEL_R, 0, SMALL * SMALL, red));
        for (int i = 0; i < SMALL * SMALL; ++i)
            if (fabsf(red[i] - 100.0f / 255.0f) > 5e-4f) /* of what half keeps */
                fail_msg("red is %g at %d", (double)red[i], i);
    } else {
        assert_int_equal(status, TVLM_ERROR_UNSUPPORTED);
        assert_non_null(strstr(test_last_log(), "ends long loops"));
    }
    tvlm_stack_destroy(&stack);
    clReleaseMemObject(frame.memory);
    free(bytes);
    stop(&app);
}
ON_EACH_DEVICE(large_frame)

/* Of a frame that is resampled and changes in one corner, that corner is made again. */
static void updates(const test_target *target) {
    enum { W = 2 * WIDTH, H = 2 * HEIGHT };
    static unsigned char texels[W * H * 4];
    application app = start_on(target);
    const tvlm_image host = {.pixels = texels, .width = W, .height = H, .channels = 4};
    tvlm_stack *got = open_stack(&app), *expected = open_stack(&app);
    tvlm_delta_report report;
    uint64_t random = 9;
    for (size_t i = 0; i < sizeof texels; ++i)
        texels[i] = i % 4 == 3 ? 255 : (unsigned char)test_random(&random);
    for (int frame = 0; frame < 4; ++frame) {
        const size_t changed[] = {0, 0, sizeof texels - 4, 0};
        if (frame > 0 && frame < 3) texels[changed[frame]] ^= 0x80;
        cl_mem memory = make_buffer(&app, texels, sizeof texels);
        const tvlm_opencl_frame f = {.memory = memory, .image = {.width = W, .height = H, .channels = 4}};
        check(tvlm_stack_update_frame_opencl(got, 0, &f, tvlm_update_params(.tile = 16), &report));
        check(tvlm_stack_set_image(expected, 0, &host));
        compare("updates", got, expected);
        assert_int_equal(report.whole, frame == 0);
        assert_int_equal(report.changed, frame == 0 ? report.tiles : frame < 3);
        clReleaseMemObject(memory);
    }
    tvlm_stack_destroy(&got);
    tvlm_stack_destroy(&expected);
    stop(&app);
}
ON_EACH_DEVICE(updates)

/* ---- Refusals ---- */

/* Refused with one line by both functions, and the source stays as it was. */
static void refused(tvlm_stack *stack, tvlm_opencl_frame frame, tvlm_status expected, const char *why) {
    static float before[WIDTH * HEIGHT], after[WIDTH * HEIGHT];
    check(tvlm_stack_read(stack, 0, TVLM_CHANNEL_R, 0, WIDTH * HEIGHT, before));
    for (int update = 0; update < 2; ++update) {
        const tvlm_status status = update ? tvlm_stack_update_frame_opencl(stack, 0, &frame, NULL, NULL)
                                          : tvlm_stack_set_frame_opencl(stack, 0, &frame);
        if (status != expected || strstr(test_last_log(), why) == NULL)
            fail_msg("status %d; '%s' is not in: %s", (int)status, why, test_last_log());
    }
    check(tvlm_stack_read(stack, 0, TVLM_CHANNEL_R, 0, WIDTH * HEIGHT, after));
    assert_memory_equal(before, after, sizeof before);
}

static void refuse_image(const application *app, tvlm_stack *stack, cl_channel_order order,
                         cl_channel_type type, const char *why) {
    cl_mem image = make_image(app, order, type, WIDTH, HEIGHT, NULL);
    if (image == NULL) {
        printf("    has no images of order 0x%x and type 0x%x\n", (unsigned)order, (unsigned)type);
        return;
    }
    refused(stack, (tvlm_opencl_frame){.memory = image}, TVLM_ERROR_ARGUMENT, why);
    clReleaseMemObject(image);
}

static cl_mem image_of(const application *app, cl_mem_flags flags, cl_mem_object_type type) {
    const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    const cl_image_desc shape = {.image_type = type,
                                 .image_width = WIDTH,
                                 .image_height = HEIGHT,
                                 .image_depth = 2,
                                 .image_array_size = 2};
    cl_mem image = clCreateImage(app->context, flags, &format, &shape, NULL, NULL);
    assert_non_null(image);
    return image;
}

static void check_images_refused(const application *app, tvlm_stack *stack) {
    refuse_image(app, stack, CL_RGBA, CL_UNSIGNED_INT8, "channel type");
    refuse_image(app, stack, CL_RGBA, CL_SIGNED_INT32, "channel type");
    refuse_image(app, stack, CL_sRGBA, CL_UNORM_INT8, "sRGB");
    refuse_image(app, stack, CL_INTENSITY, CL_UNORM_INT8, "channel order");
    refuse_image(app, stack, CL_RG, CL_UNORM_INT8, "two channels");
    cl_mem write_only = image_of(app, CL_MEM_WRITE_ONLY, CL_MEM_OBJECT_IMAGE2D);
    cl_mem array = image_of(app, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D_ARRAY);
    cl_mem plain = image_of(app, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D);
    cl_mem buffer = clCreateBuffer(app->context, CL_MEM_READ_WRITE, WIDTH * HEIGHT, NULL, NULL);
    refused(stack, (tvlm_opencl_frame){.memory = write_only}, TVLM_ERROR_ARGUMENT, "CL_MEM_WRITE_ONLY");
    refused(stack, (tvlm_opencl_frame){.memory = array}, TVLM_ERROR_ARGUMENT, "a buffer or an image2d");
    refused(stack, (tvlm_opencl_frame){.memory = plain, .image = {.width = WIDTH - 1, .height = HEIGHT}},
            TVLM_ERROR_ARGUMENT, "the image is 75 x 49");
    refused(stack, (tvlm_opencl_frame){.memory = plain, .offset = 4}, TVLM_ERROR_ARGUMENT, "4 bytes into");
    refused(stack, (tvlm_opencl_frame){.memory = plain, .nv12 = true}, TVLM_ERROR_ARGUMENT,
            "no image of chroma");
    refused(stack, (tvlm_opencl_frame){.memory = plain, .chroma = buffer, .nv12 = true}, TVLM_ERROR_ARGUMENT,
            "the other a buffer");
    refused(stack, (tvlm_opencl_frame){.memory = plain, .chroma = array, .nv12 = true}, TVLM_ERROR_ARGUMENT,
            "a buffer or an image2d");
    cl_mem luma = make_image(app, CL_R, CL_UNORM_INT8, WIDTH, HEIGHT, NULL);
    cl_mem chroma = make_image(app, CL_RGBA, CL_UNORM_INT8, WIDTH / 2, HEIGHT / 2, NULL);
    cl_mem wide = make_image(app, CL_RGBA, CL_UNORM_INT16, (WIDTH + 1) / 2, (HEIGHT + 1) / 2, NULL);
    refused(stack, (tvlm_opencl_frame){.memory = plain, .chroma = chroma, .nv12 = true}, TVLM_ERROR_ARGUMENT,
            "it has 38x25");
    refused(stack, (tvlm_opencl_frame){.memory = plain, .chroma = wide, .nv12 = true}, TVLM_ERROR_ARGUMENT,
            "other than 8 bits");
    if (luma != NULL)
        refused(stack, (tvlm_opencl_frame){.memory = plain, .chroma = luma, .nv12 = true},
                TVLM_ERROR_ARGUMENT, "one channel");
    const cl_mem all[] = {write_only, array, plain, buffer, luma, chroma, wide};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
        if (all[i] != NULL) clReleaseMemObject(all[i]);
}

static void check_buffers_refused(const application *app, tvlm_stack *stack) {
    enum { BYTES = WIDTH * HEIGHT * 3 / 2 };
    cl_mem memory = clCreateBuffer(app->context, CL_MEM_READ_WRITE, BYTES, NULL, NULL);
    const tvlm_image size = {.width = WIDTH, .height = HEIGHT, .channels = 1};
    assert_non_null(memory);
    refused(stack, (tvlm_opencl_frame){.image = size}, TVLM_ERROR_ARGUMENT, "without a cl_mem");
    refused(stack, (tvlm_opencl_frame){.memory = memory}, TVLM_ERROR_ARGUMENT, "0x0 pixels");
    refused(stack, (tvlm_opencl_frame){.memory = memory, .image = {.width = 9, .height = 9}},
            TVLM_ERROR_ARGUMENT, "0 channels");
    refused(stack,
            (tvlm_opencl_frame){.memory = memory, .image = {.width = WIDTH, .height = HEIGHT, .channels = 2}},
            TVLM_ERROR_ARGUMENT, "beyond the cl_mem's");
    refused(stack, (tvlm_opencl_frame){.memory = memory, .image = size, .nv12 = true}, TVLM_ERROR_ARGUMENT,
            "beyond the cl_mem's"); /* sides are odd: there are more pairs than for a quarter of the pixels */
    refused(stack,
            (tvlm_opencl_frame){.memory = memory, .image = size, .nv12 = true, .chroma_offset = SIZE_MAX - 1},
            TVLM_ERROR_ARGUMENT, "beyond the cl_mem's");
    refused(stack, (tvlm_opencl_frame){.memory = memory, .image = size, .nv12 = true, .chroma_stride = 75},
            TVLM_ERROR_ARGUMENT, "75 bytes");
    refused(stack, (tvlm_opencl_frame){.memory = memory, .image = size, .matrix = (tvlm_opencl_matrix)2},
            TVLM_ERROR_ARGUMENT, "no matrix 2");
    refused(stack, (tvlm_opencl_frame){.memory = memory, .image = size, .sharing = (tvlm_opencl_sharing)3},
            TVLM_ERROR_ARGUMENT, "no sharing 3");
    refused(stack, (tvlm_opencl_frame){.memory = memory, .image = size, .reserved = {0, 1}},
            TVLM_ERROR_ARGUMENT, "tvlm_opencl_frame: its reserved");
    refused(stack,
            (tvlm_opencl_frame){.memory = memory,
                                .image = {.width = 9, .height = 9, .channels = 1, .reserved = {1}}},
            TVLM_ERROR_ARGUMENT, "tvlm_image: its reserved");
    clReleaseMemObject(memory);
}

static cl_uint references(cl_mem memory) {
    cl_uint count = 0;
    clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL);
    return count;
}

static void refusals(const test_target *target) {
    application app = start_on(target);
    tvlm_stack *stack = open_stack(&app);
    poison(stack);
    check_buffers_refused(&app, stack);
    if (target->device->info.images) check_images_refused(&app, stack);
    tvlm_stack_destroy(&stack);
    stop(&app);
}
ON_EACH_DEVICE(refusals)

/* ---- Sharing ---- */

static void begin_log(cl_mem first) {
    fake.used = 0;
    fake.log[0] = '\0';
    fake.first = first;
}

/* Acquired before the kernels that read it, and released after them, in all ways in which it can end. */
static void check_shared(const application *app, tvlm_stack *stack, tvlm_opencl_frame frame,
                         const char *function) {
    const bool apart = frame.chroma != NULL;
    begin_log(frame.memory);
    check(tvlm_stack_set_frame_opencl(stack, 0, &frame));
    assert_string_equal(fake.log, apart ? "aAkkRr" : frame.nv12 ? "akkr" : "akr");
    assert_string_equal(fake.said, function);
    begin_log(frame.memory);
    check(tvlm_stack_update_frame_opencl(stack, 0, &frame, tvlm_update_params(.tile = 16), NULL));
    assert_int_equal(fake.log[0], 'a');
    assert_int_equal(fake.log[fake.used - 1], 'r');
    assert_non_null(strchr(fake.log, 'k'));

    clFinish(app->queue);
    const cl_uint before = references(frame.memory); /* the application's, and some drivers' kernels' */

    /* What is refused after it was acquired is released; what cannot be acquired is not. */
    tvlm_opencl_frame wrong = frame;
    wrong.offset = SIZE_MAX / 2;
    begin_log(frame.memory);
    assert_int_equal(tvlm_stack_set_frame_opencl(stack, 0, &wrong), TVLM_ERROR_ARGUMENT);
    assert_string_equal(fake.log, apart ? "aARr" : "ar");
    begin_log(frame.memory);
    fake.error = CL_INVALID_GL_OBJECT;
    refused(stack, frame, TVLM_ERROR_DEVICE, "clEnqueueAcquire");
    fake.error = CL_SUCCESS;
    fake.broken = true;
    refused(stack, frame, TVLM_ERROR_UNSUPPORTED, "the driver has no clEnqueueAcquire");
    fake.broken = false;
    assert_null(strchr(fake.log, 'r'));
    clFinish(app->queue);
    /* Drivers may let go of what is released in a thread of their own. */
    for (int i = 0; i < 100 && references(frame.memory) > before; ++i)
        thrd_sleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_true(references(frame.memory) <= before);
}

static void sharing(const test_target *target) {
    static const unsigned char bytes[WIDTH * (HEIGHT + 1) * 3] = {1, 2, 3};
    application app = start_on(target);
    tvlm_stack *stack = open_stack(&app);
    cl_mem memory = make_buffer(&app, bytes, sizeof bytes), other = make_buffer(&app, bytes, sizeof bytes);
    tvlm_opencl_frame frame = {.memory = memory, .image = {.width = WIDTH, .height = HEIGHT, .channels = 3}};
    poison(stack);
    frame.sharing = TVLM_OPENCL_GL;
    if (!tvlm_opencl_device_has(app.id, "cl_khr_gl_sharing"))
        refused(stack, frame, TVLM_ERROR_UNSUPPORTED, "has no cl_khr_gl_sharing, which shared memory needs");
    frame.sharing = TVLM_OPENCL_EXTERNAL;
    if (!tvlm_opencl_device_has(app.id, "cl_khr_external_memory"))
        refused(stack, frame, TVLM_ERROR_UNSUPPORTED, "has no cl_khr_external_memory");
    fake.shares = true;
    check_shared(&app, stack, frame, "clEnqueueReleaseExternalMemObjectsKHR");
    frame.sharing = TVLM_OPENCL_GL;
    check_shared(&app, stack, frame, "clEnqueueReleaseGLObjects");
    frame.nv12 = true;
    check_shared(&app, stack, frame, "clEnqueueReleaseGLObjects");
    frame.chroma = other;
    check_shared(&app, stack, frame, "clEnqueueReleaseGLObjects");
    fake.shares = false;
    clReleaseMemObject(memory);
    clReleaseMemObject(other);
    tvlm_stack_destroy(&stack);
    stop(&app);
}
ON_EACH_DEVICE(sharing)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_formats),   cmocka_unit_test(test_nv12),
        cmocka_unit_test(test_nv12_defaults), cmocka_unit_test(test_other_sizes),
        cmocka_unit_test(test_large_frame),   cmocka_unit_test(test_updates),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_sharing)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
