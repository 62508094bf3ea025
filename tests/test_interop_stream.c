/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_interop_stream.c: a stream of frames that are on the device (texturevlm/opencl.h): pushed and sent, as
 * buffers and as images, of the working size and of others, and mixed with frames from the host; and how the
 * queue that was given waits for another one, and another one for it.
 */
#include "interop_helper.h"

#include <math.h>
#include <threads.h>
#include <time.h>

#include "stack/stack.h"

enum { WIDTH = 192, HEIGHT = 128, FRAMES = 12 };

static const char layout[] = "r,g,b,edges,motion,saliency,prev_saliency,prev_relevance";

static void check(tvlm_status status) {
    if (status != TVLM_OK) fail_msg("status %d: %s", (int)status, test_last_log());
}

static void refused(tvlm_status status, tvlm_status expected, const char *line) {
    if (status != expected || strstr(test_last_log(), line) == NULL)
        fail_msg("status %d; '%s' does not say '%s'", (int)status, test_last_log(), line);
}

static tvlm_stream *open_stream(const application *app) {
    tvlm_stream *stream = NULL;
    check(tvlm_stream_create(app->device, WIDTH, HEIGHT,
                             tvlm_stream_params(.layout = layout, .format = TVLM_FORMAT_F32,
                                                .keyframe_interval = 5, .update = {.tile = 32}),
                             &stream));
    return stream;
}

/* ---- What a camera sees ---- */

typedef struct film {
    int32_t width, height;
    uint8_t *pixels; /* RGBA, opaque */
    uint64_t random;
} film;

static film film_of(int32_t width, int32_t height) {
    film f = {width, height, NULL, 3};
    f.pixels = test_random_pixels(&f.random, width, height, 4);
    for (size_t i = 3; i < (size_t)width * (size_t)height * 4; i += 4) f.pixels[i] = 255;
    return f;
}

/* A block changes; in frame 6 nothing; in frame 8 another scene begins. */
static void next_frame(film *f, int frame) {
    const int32_t side = frame == 8 ? f->width : frame == 6 ? 0 : f->width / 8;
    const int32_t left = frame == 8 ? 0 : (int32_t)(test_random(&f->random) % (uint64_t)(f->width - side));
    const int32_t top = frame == 8 ? 0 : (int32_t)(test_random(&f->random) % (uint64_t)(f->height - side));
    for (int32_t y = top; y < top + side && y < f->height; ++y)
        for (int32_t x = left; x < left + side; ++x)
            for (int c = 0; c < 3; ++c) {
                const uint64_t value =
                    frame == 8 ? 255 * (uint64_t)((x / 9 + y / 7) % 2) : test_random(&f->random);
                f->pixels[4 * (y * f->width + x) + c] = (uint8_t)value;
            }
}

static tvlm_image host_image(const film *f) {
    return (tvlm_image){.pixels = f->pixels, .width = f->width, .height = f->height, .channels = 4};
}

/* How a frame comes to the device. */
typedef enum frame_form { BUFFER, IMAGE, MIXED } frame_form;

static tvlm_opencl_frame device_frame(const application *app, const film *f, frame_form form) {
    tvlm_opencl_frame frame = {.image = {.width = f->width, .height = f->height, .channels = 4}};
    if (form == IMAGE)
        frame.memory = make_image(app, CL_RGBA, CL_UNORM_INT8, f->width, f->height, f->pixels);
    else
        frame.memory = make_buffer(app, f->pixels, (size_t)f->width * (size_t)f->height * 4);
    assert_non_null(frame.memory);
    return frame;
}

/* ---- The same as from the host ---- */

static void compare(const char *what, tvlm_stream *got, tvlm_stream *expected, float tolerance) {
    static float values[2][WIDTH * HEIGHT];
    int32_t channels[16], count = 0;
    tvlm_stack *stacks[2] = {tvlm_stream_stack(got, 0), tvlm_stream_stack(expected, 0)};
    check(tvlm_stack_parse(stacks[0], layout, 16, channels, &count));
    for (int32_t c = 0; c < count; ++c) {
        int32_t width, height;
        check(tvlm_stack_channel_size(stacks[0], channels[c], 0, &width, &height));
        const size_t texels = (size_t)width * (size_t)height;
        for (int i = 0; i < 2; ++i)
            check(tvlm_stack_read(stacks[i], 0, channels[c], 0, WIDTH * HEIGHT, values[i]));
        for (size_t i = 0; i < texels; ++i)
            if (!(fabsf(values[0][i] - values[1][i]) <= tolerance))
                fail_msg("%s: channel %d is %g at %zu, and %g from the host", what, (int)channels[c],
                         (double)values[0][i], i, (double)values[1][i]);
    }
}

/* On a GPU (NVIDIA's H100 does it) bytes of an image may be read a rounding off, which puts a texel into the
 * next bin of a histogram. Two may differ so in frames of 48 x 32 texels, which is what streams compare here. */
static float difference_of(const application *app) {
    return app->device->info.type == TVLM_DEVICE_GPU ? 2.0f / (48 * 32) + 1e-6f : 1e-4f;
}

static void compare_reports(const char *what, const tvlm_stream_report *a, const tvlm_stream_report *b,
                            float tolerance) {
    if (a->frame != b->frame || a->keyframe != b->keyframe || a->cut != b->cut || a->flow != b->flow ||
        fabsf(a->difference - b->difference) > tolerance)
        fail_msg("%s: frame %d, keyframe %d, cut %d, difference %g; from the host %d, %d, %d, %g", what,
                 (int)a->frame, a->keyframe, a->cut, (double)a->difference, (int)b->frame, b->keyframe,
                 b->cut, (double)b->difference);
}

/* Two selections of the present frame; positions are in pixels of the frame as it was handed in. */
static void compare_selected(tvlm_stream *got, tvlm_stream *expected) {
    tvlm_selection *selections[2] = {NULL, NULL};
    int32_t counts[2];
    check(tvlm_stream_select(got, 0, NULL, tvlm_select_params(.k = 9), &selections[0]));
    check(tvlm_stream_select(expected, 0, NULL, tvlm_select_params(.k = 9), &selections[1]));
    const tvlm_position *a = tvlm_selection_positions(selections[0], &counts[0]);
    const tvlm_position *b = tvlm_selection_positions(selections[1], &counts[1]);
    assert_int_equal(counts[0], counts[1]);
    assert_memory_equal(a, b, (size_t)counts[0] * sizeof *a);
    for (int i = 0; i < 2; ++i) tvlm_selection_destroy(&selections[i]);
}

static void push(tvlm_stream *stream, const tvlm_opencl_frame *frame, bool sent, tvlm_stream_report *report) {
    if (sent) check(tvlm_stream_send_opencl(stream, 0, frame));
    check(sent ? tvlm_stream_push(stream, 0, NULL, NULL, report)
               : tvlm_stream_push_opencl(stream, 0, frame, NULL, report));
}

/* A film through the device and through the host: the same to the bit where nothing is resampled. */
static void check_film(const application *app, int32_t width, int32_t height, frame_form form, bool sent) {
    const bool exactly = width == WIDTH && height == HEIGHT && form != IMAGE;
    tvlm_stream *got = open_stream(app), *expected = open_stream(app);
    film f = film_of(width, height);
    for (int i = 0; i < FRAMES; ++i) {
        tvlm_stream_report a, b;
        const tvlm_image host = host_image(&f);
        tvlm_opencl_frame frame = device_frame(app, &f, form);
        char what[80];
        snprintf(what, sizeof what, "%dx%d, form %d, %s, frame %d", (int)width, (int)height, (int)form,
                 sent ? "sent" : "pushed", i);
        if (form == MIXED && i % 3 == 1)
            check(tvlm_stream_push(got, 0, &host, NULL, &a));
        else
            push(got, &frame, sent, &a);
        check(tvlm_stream_push(expected, 0, &host, NULL, &b));
        clReleaseMemObject(frame.memory);
        compare_reports(what, &a, &b, exactly ? 0.0f : difference_of(app));
        if (form != MIXED && exactly && (a.tiles != b.tiles || a.changed != b.changed))
            fail_msg("%s: %d of %d tiles; %d of %d", what, (int)a.changed, (int)a.tiles, (int)b.changed,
                     (int)b.tiles);
        compare(what, got, expected, exactly ? 0.0f : 2e-3f);
        if (exactly) compare_selected(got, expected);
        next_frame(&f, i + 1);
    }
    tvlm_stream_destroy(&got);
    tvlm_stream_destroy(&expected);
    free(f.pixels);
}

static void films(const test_target *target) {
    application app = start_on(target);
    check_film(&app, WIDTH, HEIGHT, BUFFER, false);
    check_film(&app, WIDTH, HEIGHT, BUFFER, true);
    check_film(&app, WIDTH, HEIGHT, MIXED, false);
    check_film(&app, WIDTH, HEIGHT, MIXED, true);
    check_film(&app, 300, 200, BUFFER, false);
    if (target->device->info.images) {
        check_film(&app, WIDTH, HEIGHT, IMAGE, false);
        check_film(&app, 100, 70, IMAGE, true);
    }
    stop(&app);
}
ON_EACH_DEVICE(films)

/* ---- What is refused ---- */

static void check_red(tvlm_stream *stream, uint8_t expected) {
    static float red[WIDTH * HEIGHT];
    check(tvlm_stack_read(tvlm_stream_stack(stream, 0), 0, TVLM_CHANNEL_R, 0, WIDTH * HEIGHT, red));
    for (size_t i = 0; i < WIDTH * HEIGHT; ++i)
        if (fabsf(red[i] - (float)expected / 255.0f) > 1e-6f)
            fail_msg("red is %g at %zu, not %d of 255", (double)red[i], i, expected);
}

/* A gray frame in a buffer. */
static tvlm_opencl_frame gray_frame(const application *app, uint8_t value) {
    static uint8_t bytes[WIDTH * HEIGHT];
    memset(bytes, value, sizeof bytes);
    return (tvlm_opencl_frame){.memory = make_buffer(app, bytes, sizeof bytes),
                               .image = {.width = WIDTH, .height = HEIGHT, .channels = 1}};
}

/* As if the frame never came; what was sent before is still there. */
static void refusals(const test_target *target) {
    application app = start_on(target);
    tvlm_stream *stream = open_stream(&app);
    tvlm_opencl_frame first = gray_frame(&app, 10), next = gray_frame(&app, 20), other = first, none = {0};
    tvlm_opencl_frame shared = first;
    tvlm_stream_report report;
    other.image.height = HEIGHT - 1;
    shared.sharing = TVLM_OPENCL_EXTERNAL;
    check(tvlm_stream_push_opencl(stream, 0, &first, NULL, NULL));
    check(tvlm_stream_send_opencl(stream, 0, &next));
    refused(tvlm_stream_push_opencl(stream, 0, &other, NULL, NULL), TVLM_ERROR_ARGUMENT, "192x127");
    refused(tvlm_stream_send_opencl(stream, 0, &other), TVLM_ERROR_ARGUMENT, "192x127");
    refused(tvlm_stream_push_opencl(stream, 1, &first, NULL, NULL), TVLM_ERROR_ARGUMENT, "camera 1 of 1");
    refused(tvlm_stream_send_opencl(stream, -1, &first), TVLM_ERROR_ARGUMENT, "camera -1 of 1");
    refused(tvlm_stream_push_opencl(stream, 0, &none, NULL, NULL), TVLM_ERROR_ARGUMENT, "without a cl_mem");
    refused(tvlm_stream_send_opencl(stream, 0, &none), TVLM_ERROR_ARGUMENT, "without a cl_mem");
    refused(tvlm_stream_push_opencl(stream, 0, NULL, NULL, NULL), TVLM_ERROR_ARGUMENT, "frame is NULL");
    refused(tvlm_stream_send_opencl(stream, 0, NULL), TVLM_ERROR_ARGUMENT, "frame is NULL");
    assert_int_equal(tvlm_stream_push_opencl(NULL, 0, &first, NULL, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stream_send_opencl(NULL, 0, &first), TVLM_ERROR_ARGUMENT);
    if (!has_extension(&app, "cl_khr_external_memory"))
        refused(tvlm_stream_push_opencl(stream, 0, &shared, NULL, NULL), TVLM_ERROR_UNSUPPORTED,
                "cl_khr_external_memory");
    check_red(stream, 10);
    check(tvlm_stream_push(stream, 0, NULL, NULL, &report));
    assert_int_equal(report.frame, 1);
    check_red(stream, 20);
    refused(tvlm_stream_push(stream, 0, NULL, NULL, NULL), TVLM_ERROR_ARGUMENT, "none was sent");

    /* A frame instead of the one that was sent, and another one sent instead. */
    check(tvlm_stream_send_opencl(stream, 0, &first));
    check(tvlm_stream_push_opencl(stream, 0, &next, NULL, NULL));
    refused(tvlm_stream_push(stream, 0, NULL, NULL, NULL), TVLM_ERROR_ARGUMENT, "none was sent");
    const uint8_t *white = memset(malloc(WIDTH * HEIGHT), 255, WIDTH * HEIGHT);
    const tvlm_image host = {.pixels = white, .width = WIDTH, .height = HEIGHT, .channels = 1};
    check(tvlm_stream_send_opencl(stream, 0, &first));
    check(tvlm_stream_send(stream, 0, &host));
    check(tvlm_stream_push(stream, 0, NULL, NULL, NULL));
    check_red(stream, 255);
    check(tvlm_stream_send(stream, 0, &host));
    check(tvlm_stream_send_opencl(stream, 0, &first));
    check(tvlm_stream_push(stream, 0, NULL, NULL, NULL));
    check_red(stream, 10);
    check(tvlm_stream_send_opencl(stream, 0, &next)); /* on its way when all ends */
    tvlm_stream_destroy(&stream);
    clReleaseMemObject(first.memory);
    clReleaseMemObject(next.memory);
    free((void *)(uintptr_t)white);
    stop(&app);
}
ON_EACH_DEVICE(refusals)

/* ---- Other queues ---- */

/* Whether what stands for an event happens within a fifth of a second. */
static bool happens(cl_event event) {
    cl_int state = CL_QUEUED;
    for (int i = 0; i < 20 && state != CL_COMPLETE; ++i) {
        thrd_sleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    }
    return state == CL_COMPLETE;
}

/*
 * A camera writes a frame on its own queue, and is slow: it waits for a gate. The given queue waits for it by a
 * barrier, so that what is sent has the new pixels and not the old ones.
 */
static void waits_for_others(const test_target *target) {
    application app = start_on(target);
    tvlm_stream *stream = open_stream(&app);
    tvlm_opencl_frame frame = gray_frame(&app, 10);
    const cl_uchar bright = 200;
    cl_event gate = clCreateUserEvent(app.context, NULL), written, done;
    check(tvlm_stream_send_opencl(stream, 0, &frame)); /* all that is built once, is built */
    assert_int_equal(
        clEnqueueFillBuffer(app.other, frame.memory, &bright, 1, 0, WIDTH * HEIGHT, 1, &gate, &written),
        CL_SUCCESS);
    clFlush(app.other);
    assert_int_equal(clEnqueueBarrierWithWaitList(app.queue, 1, &written, NULL), CL_SUCCESS);
    check(tvlm_stream_send_opencl(stream, 0, &frame));
    assert_int_equal(clEnqueueMarkerWithWaitList(app.queue, 0, NULL, &done), CL_SUCCESS);
    clFlush(app.queue);
    assert_false(happens(done));
    clSetUserEventStatus(gate, CL_COMPLETE);
    check(tvlm_stream_push(stream, 0, NULL, NULL, NULL));
    check_red(stream, 200);
    clReleaseEvent(done);
    clReleaseEvent(written);
    clReleaseEvent(gate);
    tvlm_stream_destroy(&stream);
    clReleaseMemObject(frame.memory);
    stop(&app);
}
ON_EACH_DEVICE(waits_for_others)

/*
 * The other way round: what the library enqueued waits for a gate, and the camera's queue must not write over
 * the frame before the library has read it. It waits for a marker in the given queue.
 */
static void others_wait(const test_target *target) {
    application app = start_on(target);
    tvlm_stream *stream = open_stream(&app);
    tvlm_opencl_frame frame = gray_frame(&app, 10);
    const cl_uchar bright = 200;
    cl_uchar first = 0;
    cl_event gate = clCreateUserEvent(app.context, NULL), done, written;
    check(tvlm_stream_push_opencl(stream, 0, &frame, NULL, NULL)); /* all that is built once, is built */
    check(tvlm_stream_send_opencl(stream, 0, &frame));
    assert_int_equal(clEnqueueBarrierWithWaitList(app.queue, 1, &gate, NULL), CL_SUCCESS);
    check(tvlm_stream_send_opencl(stream, 0, &frame)); /* returns: it only enqueues */
    assert_int_equal(clEnqueueMarkerWithWaitList(app.queue, 0, NULL, &done), CL_SUCCESS);
    clFlush(app.queue);
    assert_int_equal(
        clEnqueueFillBuffer(app.other, frame.memory, &bright, 1, 0, WIDTH * HEIGHT, 1, &done, &written),
        CL_SUCCESS);
    clFlush(app.other);
    assert_false(happens(written));
    clSetUserEventStatus(gate, CL_COMPLETE);
    check(tvlm_stream_push(stream, 0, NULL, NULL, NULL));
    assert_int_equal(clWaitForEvents(1, &written), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(app.other, frame.memory, CL_TRUE, 0, 1, &first, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(first, bright); /* it was written over, and later than it was read: */
    check_red(stream, 10);
    clReleaseEvent(done);
    clReleaseEvent(written);
    clReleaseEvent(gate);
    tvlm_stream_destroy(&stream);
    clReleaseMemObject(frame.memory);
    stop(&app);
}
ON_EACH_DEVICE(others_wait)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_films), cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_waits_for_others),
                                       cmocka_unit_test(test_others_wait)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
