/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_interop_images.c: frames on the device, through texturevlm/opencl.h: images of all formats, buffers of
 * other sizes, and updates. All is compared with the same pixels from the host.
 */
#include <math.h>

#include "core/half.h"
#include "frames_helper.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_formats), cmocka_unit_test(test_other_sizes),
                                       cmocka_unit_test(test_large_frame), cmocka_unit_test(test_updates)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
