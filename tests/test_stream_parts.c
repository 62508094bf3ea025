/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stream_parts.c: parts of streams and flows whose answers can be counted by hand: how different two frames are,
 * where a volume is read, where a gaze goes, and what has just enough room.
 */
#include "stack/inside.h"
#include "stack_helper.h"
#include "texturevlm/stream.h"
#include "video/inside.h"

static tvlm_device *device;

/* ---- How different two frames are ---- */

enum { TEXELS = 8 };

static void expect_difference(const float *now, const float *before, float expected) {
    static stream_camera camera;
    assert_int_equal(
        tvlm_stack_create(device, tvlm_stack_params(.layout = "r", .width = 4, .height = 2), &camera.stack),
        TVLM_OK);
    assert_int_equal(tvlm_stream_thumbnail_texels(&camera), TEXELS);
    memcpy(camera.luma[0], now, TEXELS * sizeof *now);
    memcpy(camera.luma[1], before, TEXELS * sizeof *before);
    const float got = tvlm_stream_difference(&camera);
    tvlm_stack_destroy(&camera.stack);
    if (fabsf(got - expected) > 1e-5f) fail_msg("%g, not %g", (double)got, (double)expected);
}

/* It is the least of three measures: 1 less the correlation, the share of texels that change their bin of a sixteenth,
 * and eight times the mean step. */
static void test_differences(void **state) {
    static const float halves[] = {0, 0, 0, 0, 1, 1, 1, 1};
    (void)state;
    expect_difference(halves, halves, 0.0f);
    /* They correlate by 0, but have the same bins, or but for one texel. */
    expect_difference(halves, (float[]){0, 1, 0, 1, 0, 1, 0, 1}, 0.0f);
    expect_difference(halves, (float[]){0, 1, 0, 1, 0, 1, 0, 0.5f}, 0.125f);
    /* All bins are others, six of eight texels vary alike: they correlate by a half. */
    expect_difference(halves, (float[]){0.25f, 0.25f, 0.25f, 0.75f, 0.75f, 0.75f, 0.75f, 0.25f}, 0.5f);
    /* A quarter of the bins, and eight times a step of a hundredth, of flat pictures, which correlate by 0. */
    expect_difference((float[]){0.495f, 0.495f, 0.495f, 0.495f, 0.495f, 0.495f, 0.495f, 0.495f},
                      (float[]){0.505f, 0.505f, 0.505f, 0.505f, 0.505f, 0.505f, 0.505f, 0.505f}, 0.08f);
    /* The last bin has 1, too, and the first one what rounding makes less than 0. */
    expect_difference((float[]){1, 1, 1, 1, -0.1f, -0.1f, -0.1f, -0.1f},
                      (float[]){-0.1f, 0.95f, -0.1f, 0.95f, 0.95f, 0.05f, 0.05f, 0.95f}, 0.0f);
}

/* Pictures of two shades, and darker ones in another bin, whose variances are the squares of `now` and `before`. */
static void check_variance(float now, float before, float expected) {
    float a[TEXELS], b[TEXELS];
    for (int i = 0; i < TEXELS; ++i) {
        a[i] = 0.51f + (i % 2 == 0 ? now : -now);
        b[i] = 0.49f + (i % 2 == 0 ? before : -before);
    }
    expect_difference(a, b, expected);
}

/* A variance of less than 1e-5 is that of a flat picture, with which nothing correlates. */
static void test_flat(void **state) {
    (void)state;
    check_variance(0.0033f, 0.0033f, 0.0f); /* they correlate by 1 */
    check_variance(0.0031f, 0.0031f, 0.16f);
    check_variance(0.0033f, 0.0031f, 0.16f);
    check_variance(0.0031f, 0.0033f, 0.16f);
}

/* The longer side of a thumbnail has at most 64 texels. */
static void test_thumbnails(void **state) {
    static const int32_t sizes[][3] = {{64, 64, 64 * 64}, {65, 64, 32 * 32}, {64, 65, 32 * 32},
                                       {10, 129, 5 * 64}, {10, 130, 2 * 32}, {128, 3, 64}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        static stream_camera camera;
        assert_int_equal(
            tvlm_stack_create(device,
                              tvlm_stack_params(.layout = "r", .width = sizes[i][0], .height = sizes[i][1]),
                              &camera.stack),
            TVLM_OK);
        assert_int_equal(tvlm_stream_thumbnail_texels(&camera), sizes[i][2]);
        tvlm_stack_destroy(&camera.stack);
    }
}

/* ---- Volumes ---- */

static tvlm_stream *open_stream(int32_t width, int32_t height, const struct tvlm_stream_params *params) {
    tvlm_stream *stream = NULL;
    assert_int_equal(tvlm_stream_create(device, width, height, params, &stream), TVLM_OK);
    return stream;
}

/* Pushes a frame of 8 x 6 pixels of one shade. */
static void push_shade(tvlm_stream *stream, int shade) {
    uint8_t pixels[8 * 6];
    memset(pixels, shade, sizeof pixels);
    const tvlm_image image = u8_image(pixels, 8, 6, 1);
    assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, NULL), TVLM_OK);
}

/* Ids of the left and of the right half, for the present frame. */
static void set_halves(tvlm_stream *stream, float left, float right) {
    const float ids[2] = {left, right};
    assert_int_equal(tvlm_stack_set_grid(tvlm_stream_stack(stream, 0), 0, TVLM_CHANNEL_OBJECT_ID,
                                         tvlm_grid_input(.data = ids, .columns = 2, .rows = 1)),
                     TVLM_OK);
}

/* Shades of 50, 100 and 200 of 255, the last one now: read between frames, and beyond both ends at the ends. Ids are
 * those of the nearest frame and texel, of which there are 4 x 3: none lies between the halves. */
static void test_reading_a_volume(void **state) {
    static const struct {
        float x, age, shade, id;
    } rows[] = {{1, 0, 200, 1},     {7, 0, 200, 0},     {3.9f, 0, 200, 1},  {4.1f, 0, 200, 0},
                {1, 0.25f, 175, 1}, {1, 0.49f, 151, 1}, {1, 0.51f, 149, 0}, {7, 0.51f, 149, 1},
                {1, 1, 100, 0},     {1, 1.5f, 75, 1},   {1, 2, 50, 1},      {1, 99, 50, 1},
                {-50, -1, 200, 1},  {50, 0, 200, 0}};
    enum { COUNT = sizeof rows / sizeof rows[0] };
    tvlm_volume_point points[COUNT];
    float got[2 * COUNT];
    tvlm_stream *stream =
        open_stream(8, 6,
                    tvlm_stream_params(.layout = "r", .no_flow = true, .cut = 2.0f, .volume = "r,object_id",
                                       .volume_frames = 3, .volume_level = 1));
    (void)state;
    push_shade(stream, 9); /* which is no longer there */
    set_halves(stream, 0, 1);
    push_shade(stream, 50);
    set_halves(stream, 1, 0);
    push_shade(stream, 100);
    set_halves(stream, 0, 1);
    push_shade(stream, 200);
    set_halves(stream, 1, 0);
    for (int i = 0; i < COUNT; ++i) points[i] = (tvlm_volume_point){rows[i].x, 3.0f, rows[i].age};
    assert_int_equal(tvlm_stream_volume_sample(stream, 0, points, COUNT, got), TVLM_OK);
    for (int i = 0; i < COUNT; ++i)
        if (fabsf(255.0f * got[2 * i] - rows[i].shade) > 1e-3f || got[2 * i + 1] != rows[i].id)
            fail_msg("row %d: shade %g, id %g", i, 255.0 * (double)got[2 * i], (double)got[2 * i + 1]);
    tvlm_stream_destroy(&stream);
}

static void test_no_volume(void **state) {
    tvlm_stream *stream =
                    open_stream(8, 6, tvlm_stream_params(.layout = "r", .volume = "r", .volume_frames = 2)),
                *none = open_stream(8, 6, tvlm_stream_params(.layout = "r"));
    tvlm_volume_point points[2] = {{0, 0, 0}, {0, 0, 0}};
    tvlm_packed *volume;
    float got[2];
    int32_t slot;
    (void)state;
#define SAMPLE(COUNT) tvlm_stream_volume_sample(stream, 0, points, COUNT, got)
    assert_int_not_equal(SAMPLE(1), TVLM_OK); /* no frame yet */
    push_shade(stream, 9);
    push_shade(none, 9);
    assert_int_equal(SAMPLE(0), TVLM_OK);
    assert_int_equal(SAMPLE(2), TVLM_OK);
    refused(SAMPLE(-1), TVLM_ERROR_ARGUMENT, "-1 points");
    points[1].x = INFINITY;
    refused(SAMPLE(2), TVLM_ERROR_ARGUMENT, "point 1 is not finite");
    points[1] = (tvlm_volume_point){.y = NAN};
    refused(SAMPLE(2), TVLM_ERROR_ARGUMENT, "point 1 is not finite");
    points[1] = (tvlm_volume_point){.age = INFINITY};
    refused(SAMPLE(2), TVLM_ERROR_ARGUMENT, "point 1 is not finite");
    assert_int_equal(SAMPLE(1), TVLM_OK);
#undef SAMPLE
    assert_int_equal(tvlm_stream_volume(stream, 0, 0, &volume, &slot), TVLM_OK);
    assert_int_equal(tvlm_stream_volume(stream, 0, 1, &volume, &slot), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stream_volume(stream, 0, -1, &volume, &slot), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stream_volume(none, 0, 0, &volume, &slot), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stream_volume(stream, 1, 0, &volume, &slot), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stream_volume(stream, -1, 0, &volume, &slot), TVLM_ERROR_ARGUMENT);
    tvlm_stream_destroy(&stream);
    tvlm_stream_destroy(&none);
}

/* ---- Cameras and gazes ---- */

static void test_cameras(void **state) {
    tvlm_stream *stream = open_stream(8, 6, tvlm_stream_params(.layout = "r", .cameras = 2)), *bad = NULL;
    (void)state;
    assert_non_null(tvlm_stream_stack(stream, 0));
    assert_non_null(tvlm_stream_stack(stream, 1));
    assert_null(tvlm_stream_stack(stream, 2));
    assert_null(tvlm_stream_stack(stream, -1));
    assert_null(tvlm_stream_stack(NULL, 0));
    refused(tvlm_stream_create(device, 8, 0, NULL, &bad), TVLM_ERROR_ARGUMENT, "a stream of 8x0 pixels");
    tvlm_stream_destroy(&stream);
    stream = open_stream(1, 1, tvlm_stream_params(.layout = "r"));
    tvlm_stream_destroy(&stream);
}

/* Frames of 16 x 18 pixels in a stream of 8 x 6: the last of two fixations is where somebody looks now. */
static void test_gaze(void **state) {
    static const uint8_t pixels[16 * 18];
    float places[4] = {1, 1, 6, 15};
    tvlm_stream *stream = open_stream(8, 6, tvlm_stream_params(.layout = "r", .no_flow = true));
    const tvlm_stack *const stack = tvlm_stream_stack(stream, 0);
    const tvlm_image image = u8_image(pixels, 16, 18, 1);
    (void)state;
#define PUSH(COUNT)                                                                                          \
    tvlm_stream_push(stream, 0, &image, tvlm_push_params(.fixations = places, .fixation_count = COUNT), NULL)
    assert_int_equal(PUSH(0), TVLM_OK);
    assert_true(stack->fixation_x == 4.0f && stack->fixation_y == 3.0f); /* the middle */
    assert_int_equal(PUSH(2), TVLM_OK);
    assert_true(stack->fixation_x == 3.0f && stack->fixation_y == 5.0f);
    refused(PUSH(-1), TVLM_ERROR_ARGUMENT, "-1 fixations, but none given");
    for (int i = 0; i < 4; ++i) {
        const float kept = places[i];
        char line[40];
        places[i] = NAN;
        snprintf(line, sizeof line, "fixation %d is not finite", i / 2);
        refused(PUSH(2), TVLM_ERROR_ARGUMENT, line);
        places[i] = kept;
    }
    refused(tvlm_stream_push(stream, 0, &image, tvlm_push_params(.fixation_count = 1), NULL),
            TVLM_ERROR_ARGUMENT, "1 fixations, but none given");
    assert_int_equal(PUSH(1), TVLM_OK);
    assert_true(stack->fixation_x == 0.5f && fabsf(stack->fixation_y - 1.0f / 3.0f) < 1e-6f);
#undef PUSH
    tvlm_stream_destroy(&stream);
}

/* ---- Flows ---- */

static tvlm_stack *stack_sized(int32_t width, int32_t height) {
    tvlm_stack *stack = NULL;
    assert_int_equal(tvlm_stack_create(device, tvlm_stack_params(.width = width, .height = height), &stack),
                     TVLM_OK);
    return stack;
}

/* A flow has half the sides of its images, or all of them; of images that differ in one side there is none. */
static void test_flows(void **state) {
    tvlm_stack *square = stack_sized(16, 16), *wide = stack_sized(18, 16), *high = stack_sized(16, 18),
               *dot = stack_sized(1, 1);
    tvlm_flow *flow = NULL;
    tvlm_flow_info info;
    float values[3 * 16 * 16];
    (void)state;
#define COMPUTE(FROM, TO, ...) tvlm_flow_compute(FROM, 0, TO, 0, tvlm_flow_params(__VA_ARGS__), &flow)
    assert_int_equal(COMPUTE(square, square, .full = false), TVLM_OK);
    assert_int_equal(tvlm_flow_get_info(flow, &info), TVLM_OK);
    assert_true(info.width == 8 && info.height == 8 && info.image_width == 16 && info.image_height == 16);
    assert_int_equal(tvlm_flow_read(flow, 192, values), TVLM_OK);
    refused(tvlm_flow_read(flow, 191, values), TVLM_ERROR_ARGUMENT,
            "flow: room for 191 floats, but it has 192");
    refused(tvlm_flow_read(flow, 192, NULL), TVLM_ERROR_ARGUMENT, "flow: room for 0 floats, but it has 192");
    refused(COMPUTE(square, wide, .full = false), TVLM_ERROR_ARGUMENT, "flow: images of 16x16 and 18x16");
    refused(COMPUTE(square, high, .full = false), TVLM_ERROR_ARGUMENT, "flow: images of 16x16 and 16x18");
    refused(tvlm_stack_set_flow(wide, 0, flow), TVLM_ERROR_ARGUMENT,
            "a flow of 16x16 pixels; the stack has 18x16");
    refused(tvlm_stack_set_flow(high, 0, flow), TVLM_ERROR_ARGUMENT,
            "a flow of 16x16 pixels; the stack has 16x18");
    /* The same flow is used again, for more and for less. */
    assert_int_equal(COMPUTE(square, square, .full = true), TVLM_OK);
    assert_int_equal(tvlm_flow_get_info(flow, &info), TVLM_OK);
    assert_true(info.width == 16 && info.height == 16);
    assert_int_equal(tvlm_flow_read(flow, 3 * 16 * 16, values), TVLM_OK);
    assert_int_equal(COMPUTE(dot, dot, .full = false), TVLM_OK); /* which has one level */
    assert_int_equal(tvlm_flow_get_info(flow, &info), TVLM_OK);
    assert_true(info.width == 1 && info.height == 1);
    assert_int_equal(tvlm_flow_read(flow, 3, values), TVLM_OK);
#undef COMPUTE
    tvlm_flow_destroy(&flow);
    tvlm_stack_destroy(&square);
    tvlm_stack_destroy(&wide);
    tvlm_stack_destroy(&high);
    tvlm_stack_destroy(&dot);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_differences), cmocka_unit_test(test_flat),
        cmocka_unit_test(test_thumbnails),  cmocka_unit_test(test_reading_a_volume),
        cmocka_unit_test(test_no_volume),   cmocka_unit_test(test_cameras),
        cmocka_unit_test(test_gaze),        cmocka_unit_test(test_flows),
    };
    if (tvlm_device_open(tvlm_device_params(.name = "reference", .log = &test_log), &device) != TVLM_OK)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tvlm_device_destroy(&device);
    return failed;
}
