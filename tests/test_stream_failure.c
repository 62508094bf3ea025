/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stream_failure.c: what a camera still knows after a push that failed: nothing. The next frame is a
 * first one, of whatever size, without a flow, features or regions of before; and what was sent is gone where
 * another frame came.
 */
#include "stream_helper.h"
#include "texturevlm/stack.h"

/* ---- A backend that fails when told to ---- */

static struct {
    const tvlm_backend *real;
    bool fail_source, fail_read;
} hook;

static tvlm_status hooked_source(tvlm_device *device, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                 int32_t image, tvlm_texture *out) {
    if (hook.fail_source) return tvlm_fail(&device->log, TVLM_ERROR_DEVICE, "no source");
    return hook.real->source(device, pixels, layout, image, out);
}

/* Of a stream's push: what is read when all of a frame is enqueued, its flow as well. */
static tvlm_status hooked_read(tvlm_device *device, tvlm_buffer *buffer, size_t offset, size_t bytes,
                               void *host) {
    if (hook.fail_read) return tvlm_fail(&device->log, TVLM_ERROR_DEVICE, "nothing can be read");
    return hook.real->buffer_read(device, buffer, offset, bytes, host);
}

static void hook_in(tvlm_device *device) {
    static tvlm_backend hooked;
    hook.real = device->backend;
    hook.fail_source = hook.fail_read = false;
    hooked = *device->backend;
    hooked.source = hooked_source;
    hooked.buffer_read = hooked_read;
    device->backend = &hooked;
}

static void hook_out(tvlm_device *device) {
    device->backend = hook.real;
}

/* ---- The size ---- */

/* Whoever reads the stack after a failure sees no frame that is half there. */
static void check_black(tvlm_stack *stack) {
    size_t count;
    float *red = read_level(stack, 0, TVLM_CHANNEL_R, 0, &count);
    for (size_t i = 0; i < count; ++i) assert_true(red[i] == 0.0f);
    free(red);
}

/* Frames of the size that the first one has that comes through. */
static void check_size(tvlm_device *device, tvlm_format format) {
    tvlm_stream *stream = open_stream(device, tvlm_stream_params(.layout = "r", .format = format));
    uint8_t *here = world(1);
    const tvlm_image small = u8_image(here, 64, 48, 3), large = u8_image(here, WIDTH, HEIGHT, 3);
    const float gaze[2] = {96.0f, 64.0f};
    const struct tvlm_push_params looked = {.fixations = gaze, .fixation_count = 1};
    tvlm_stream_report report;
    hook_in(device);
    hook.fail_source = true;
    refused(tvlm_stream_push(stream, 0, &small, NULL, NULL), TVLM_ERROR_DEVICE, "no source");
    hook.fail_source = false;
    if (tvlm_stream_push(stream, 0, &large, &looked, &report) != TVLM_OK) fail_msg("%s", test_last_log());
    assert_true(report.frame == 0 && report.keyframe);
    refused(tvlm_stream_push(stream, 0, &small, NULL, NULL), TVLM_ERROR_ARGUMENT,
            "64x48 pixels in a stream of 192x128");
    assert_int_equal(tvlm_stream_push(stream, 0, &large, NULL, &report),
                     TVLM_OK); /* the refusal is forgotten */
    assert_int_equal(report.frame, 1);
    hook.fail_source = true;
    refused(tvlm_stream_push(stream, 0, &large, tvlm_push_params(.keyframe = true), NULL), TVLM_ERROR_DEVICE,
            "no source");
    hook.fail_source = false;
    check_black(tvlm_stream_stack(stream, 0));
    assert_int_equal(tvlm_stream_send(stream, 0, &small), TVLM_OK);
    assert_int_equal(tvlm_stream_push(stream, 0, NULL, NULL, &report), TVLM_OK);
    assert_true(report.frame == 0 && report.keyframe);
    hook_out(device);
    free(here);
    tvlm_stream_destroy(&stream);
}

/* ---- What was carried ---- */

enum { CELL = 16, COLUMNS = WIDTH / CELL, ROWS = HEIGHT / CELL };

static void give_features(tvlm_stream *stream) {
    static const float features[COLUMNS * ROWS] = {1.0f, 2.0f, 3.0f};
    const struct tvlm_grid_input input = {.data = features, .columns = COLUMNS, .rows = ROWS, .channels = 1};
    assert_int_equal(tvlm_stream_set_features(stream, 0, TVLM_CHANNEL_FEATURE_0, &input, NULL), TVLM_OK);
}

static tvlm_stream_report push(tvlm_stream *stream, const uint8_t *from, int32_t x) {
    uint8_t pixels[WIDTH * HEIGHT * 3];
    tvlm_stream_report report;
    look(from, x, 0, pixels);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    if (tvlm_stream_push(stream, 0, &image, NULL, &report) != TVLM_OK) fail_msg("push: %s", test_last_log());
    return report;
}

static void fail_push(tvlm_stream *stream, const uint8_t *from, int32_t x) {
    uint8_t pixels[WIDTH * HEIGHT * 3];
    look(from, x, 0, pixels);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    hook.fail_read = true;
    refused(tvlm_stream_push(stream, 0, &image, NULL, NULL), TVLM_ERROR_DEVICE, "nothing can be read");
    hook.fail_read = false;
}

/* The flow is set when the push fails. The frame after is as if it were the first of a new stream. */
static void check_carried(tvlm_device *device, tvlm_format format) {
    static const char *const channels[] = {"flow_u", "motion", "prev_relevance", "cluster_id"};
    const struct tvlm_stream_params params = {
        .layout = "r,motion,prev_relevance,flow_u,cluster_id", .format = format, .clusters = 12};
    tvlm_stream *stream = open_stream(device, &params), *fresh = open_stream(device, &params);
    uint8_t *here = world(2);
    tvlm_selection *selection = NULL;
    hook_in(device);
    for (int32_t frame = 0; frame < 2; ++frame) {
        assert_true(push(stream, here, 3 * frame).flow == (frame > 0));
        give_features(stream);
        assert_int_equal(tvlm_stream_select(stream, 0, NULL, tvlm_select_params(.k = 3), &selection),
                         TVLM_OK);
        tvlm_selection_destroy(&selection);
        assert_int_equal(tvlm_stack_regions(tvlm_stream_stack(stream, 0), 0, 0, NULL, &(int32_t){0}),
                         TVLM_OK);
    }
    fail_push(stream, here, 6);
    refused(tvlm_stream_select(stream, 0, NULL, NULL, &selection), TVLM_ERROR_ARGUMENT, "no frame yet");
    const tvlm_stream_report report = push(stream, here, 9), expected = push(fresh, here, 9);
    assert_true(report.frame == 0 && report.keyframe && !report.cut && report.difference == 0.0f);
    assert_false(report.flow);
    assert_true(report.needs_all && report.needs == 1.0f && expected.needs == 1.0f);
    for (size_t i = 0; i < sizeof channels / sizeof channels[0]; ++i) {
        const int32_t channel = tvlm_channel_find(channels[i]);
        size_t count, others;
        float *got = read_level(tvlm_stream_stack(stream, 0), 0, channel, 0, &count),
              *wanted = read_level(tvlm_stream_stack(fresh, 0), 0, channel, 0, &others);
        assert_int_equal(count, others);
        if (memcmp(got, wanted, count * sizeof *got) != 0)
            fail_msg("%s is not that of a new stream", channels[i]);
        free(got);
        free(wanted);
    }
    assert_true(push(stream, here, 12).flow);
    hook_out(device);
    free(here);
    tvlm_stream_destroy(&stream);
    tvlm_stream_destroy(&fresh);
}

/* ---- What was sent ---- */

/* Another frame that comes drops it; one that is refused does not. */
static void check_sent(tvlm_device *device, tvlm_format format) {
    tvlm_stream *stream = open_stream(device, tvlm_stream_params(.layout = "r", .format = format));
    uint8_t *here = world(3), *ahead = world(4);
    const tvlm_image sent = u8_image(ahead, WIDTH, HEIGHT, 3), other = u8_image(here, WIDTH, HEIGHT, 3),
                     wrong = u8_image(here, WIDTH, HEIGHT - 1, 3);
    const float weight = NAN;
    for (int32_t frame = 0; frame < 3; ++frame) { /* a first frame, and later ones */
        tvlm_stream_report report;
        assert_int_equal(tvlm_stream_send(stream, 0, &sent), TVLM_OK);
        assert_int_equal(tvlm_stream_push(stream, 0, &other, NULL, &report), TVLM_OK);
        assert_int_equal(report.frame, 2 * frame);
        memset(ahead, 0, WORLD * WORLD); /* nobody looks at it any more */
        refused(tvlm_stream_push(stream, 0, NULL, NULL, NULL), TVLM_ERROR_ARGUMENT, "none was sent");
        assert_int_equal(tvlm_stream_send(stream, 0, &sent), TVLM_OK);
        refused(tvlm_stream_push(stream, 0, &wrong, NULL, NULL), TVLM_ERROR_ARGUMENT, "192x127");
        refused(tvlm_stream_push(stream, 0, &other,
                                 tvlm_push_params(.fixations = (float[]){weight, 0}, .fixation_count = 1),
                                 NULL),
                TVLM_ERROR_ARGUMENT, "fixation 0");
        assert_int_equal(tvlm_stream_push(stream, 0, NULL, NULL, &report), TVLM_OK);
        assert_int_equal(report.frame, 2 * frame + 1);
    }
    free(here);
    free(ahead);
    tvlm_stream_destroy(&stream);
}

DEVICE_CHECKS_MAIN(check_size, check_carried, check_sent)
