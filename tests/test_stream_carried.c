/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stream_carried.c: what hangs on the whole image, carried over from frame to frame (the presets still
 * and screen do so): until when, what is exact meanwhile, that a cut ends it, and that regions go on
 * following what they are regions of.
 */
#include "stack/delta.h"
#include "stack/inside.h"
#include "stream_helper.h"
#include "texturevlm/stack.h"

enum { TILE = 32, TILES = (WIDTH / TILE) * (HEIGHT / TILE), LASTS = TILES / 4 }; /* frames with a tile each */

static tvlm_stream_report push(tvlm_stream *stream, const uint8_t *pixels,
                               const struct tvlm_push_params *params) {
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stream_report report;
    if (tvlm_stream_push(stream, 0, &image, params, &report) != TVLM_OK)
        fail_msg("push: %s", test_last_log());
    return report;
}

/* Another 12 pixels in each frame; all of them in one tile. */
static void change_little(uint8_t *pixels, int frame) {
    memset(pixels + 3 * ((40 + frame) * WIDTH + 70), frame % 2 == 0 ? 255 : 0, 36);
}

static bool is_equal(tvlm_stream *a, tvlm_stream *b, const char *name) {
    const int32_t channel = tvlm_channel_find(name);
    size_t count, others;
    float *p = read_level(tvlm_stream_stack(a, 0), 0, channel, 0, &count),
          *q = read_level(tvlm_stream_stack(b, 0), 0, channel, 0, &others);
    const bool equal = count == others && memcmp(p, q, count * sizeof *p) == 0;
    free(p);
    free(q);
    return equal;
}

/* ---- The presets ---- */

static void check_shares(tvlm_device *device, tvlm_format format) {
    (void)device;
    (void)format;
    for (int use = TVLM_STREAM_MOVING; use <= TVLM_STREAM_GAZE; ++use) {
        const float expected = use == TVLM_STREAM_STILL || use == TVLM_STREAM_SCREEN ? 0.25f : 0.0f;
        struct tvlm_stream_params params = {
            .update = {.tile = TILE, .threshold = 0.5f, .saliency_share = 9.0f, .cluster_share = 9.0f}};
        assert_int_equal(tvlm_stream_preset((tvlm_stream_use)use, &params), TVLM_OK);
        assert_true(params.update.saliency_share == expected && params.update.cluster_share == expected);
        assert_true(params.update.tile == TILE && params.update.threshold == 0.5f);
    }
}

/* Saliency lasts until more than a quarter of the tiles have changed, then it is that of the frame; all else
 * always is. A keyframe has it anew at once. */
static void check_until(tvlm_device *device, tvlm_format format) {
    enum { KEY = LASTS + 5 };
    static const tvlm_stream_use uses[2] = {TVLM_STREAM_STILL, TVLM_STREAM_SCREEN};
    uint8_t *here = world(31), pixels[WIDTH * HEIGHT * 3];
    for (int i = 0; i < 2; ++i) {
        struct tvlm_stream_params params = {
            .format = format, .keyframe_interval = KEY, .update = {.tile = TILE}};
        assert_int_equal(tvlm_stream_preset(uses[i], &params), TVLM_OK);
        tvlm_stream *parts = open_stream(device, &params);
        params.whole = true;
        tvlm_stream *whole = open_stream(device, &params);
        look(here, 0, 0, pixels);
        for (int frame = 0; frame <= KEY; ++frame) {
            if (frame > 0) change_little(pixels, frame);
            const tvlm_stream_report report = push(parts, pixels, NULL);
            (void)push(whole, pixels, NULL);
            assert_int_equal(report.changed, frame % KEY > 0);
            assert_int_equal(report.keyframe, frame % KEY == 0);
            const bool fresh = frame == 0 || frame == LASTS + 1 || frame == KEY;
            if (is_equal(parts, whole, "saliency") != fresh)
                fail_msg("%s, frame %d: saliency is %sthat of the frame", tvlm_stream_use_name(uses[i]),
                         frame, fresh ? "not " : "");
            assert_true(is_equal(parts, whole, "edges") && is_equal(parts, whole, "entropy") &&
                        is_equal(parts, whole, "text") && is_equal(parts, whole, "r"));
            if (uses[i] == TVLM_STREAM_STILL) assert_true(is_equal(parts, whole, "motion"));
        }
        tvlm_stream_destroy(&parts);
        tvlm_stream_destroy(&whole);
    }
    free(here);
}

/* Few tiles change and it is a cut all the same, by the application's own limit: nothing of before is left.
 */
static void check_cut(tvlm_device *device, tvlm_format format) {
    const struct tvlm_stream_params params = {
        .layout = "r,saliency,cluster_id",
        .format = format,
        .clusters = 12,
        .cut = TVLM_EXPLICIT_ZERO,
        .update = {.tile = TILE, .saliency_share = 100.0f, .cluster_share = 100.0f}};
    tvlm_stream *stream = open_stream(device, &params);
    uint8_t *here = world(32), pixels[WIDTH * HEIGHT * 3];
    look(here, 0, 0, pixels);
    for (int frame = 0; frame < 3; ++frame) {
        if (frame > 0) change_little(pixels, frame);
        const tvlm_stream_report report = push(stream, pixels, NULL);
        assert_true(report.cut == (frame > 0) && report.changed == (frame > 0));
        tvlm_stream *fresh = open_stream(device, &params);
        (void)push(fresh, pixels, NULL);
        if (!is_equal(stream, fresh, "saliency") || !is_equal(stream, fresh, "cluster_id"))
            fail_msg("frame %d: something is of before the cut", frame);
        tvlm_stream_destroy(&fresh);
    }
    free(here);
    tvlm_stream_destroy(&stream);
}

/* ---- Regions ---- */

enum { SIDE = 28, STEP = 9, FRAMES = 13, LEFT = 12, TOP = 50, CELL = 8 };

/* A red square in front of squares of gray, and the flow to the last frame. */
static void place(int32_t x, uint8_t *pixels, float *flow) {
    for (int32_t i = 0; i < WIDTH * HEIGHT; ++i) {
        const int32_t px = i % WIDTH, py = i / WIDTH;
        const bool inside = px >= x && px < x + SIDE && py >= TOP && py < TOP + SIDE;
        memset(pixels + 3 * i, 90 + 40 * ((px / 24 + py / 20) % 3), 3);
        if (inside) memcpy(pixels + 3 * i, (uint8_t[]){230, 20, 20}, 3);
    }
    for (int32_t i = 0; i < (WIDTH / CELL) * (HEIGHT / CELL); ++i) {
        const int32_t px = i % (WIDTH / CELL) * CELL + CELL / 2, py = i / (WIDTH / CELL) * CELL + CELL / 2;
        const bool inside = px >= x && px < x + SIDE && py >= TOP && py < TOP + SIDE;
        flow[3 * i] = inside ? -(float)STEP : 0.0f;
        flow[3 * i + 1] = 0.0f;
        flow[3 * i + 2] = 1.0f;
    }
}

/* The id that most of the square has. */
static int32_t id_of_square(tvlm_stream *stream, int32_t x) {
    int32_t labels[WIDTH * HEIGHT], counts[WIDTH] = {0}, most = 0;
    assert_int_equal(tvlm_stack_labels(tvlm_stream_stack(stream, 0), 0, WIDTH * HEIGHT, labels), TVLM_OK);
    for (int32_t i = 0; i < SIDE * SIDE; ++i) {
        const int32_t label = labels[(TOP + i / SIDE) * WIDTH + x + i % SIDE];
        assert_in_range(label, 0, WIDTH - 1);
        ++counts[label];
    }
    for (int32_t i = 0; i < WIDTH; ++i)
        if (counts[i] > counts[most]) most = i;
    if (2 * counts[most] < SIDE * SIDE) fail_msg("no region has half of the square: %d", (int)counts[most]);
    return most;
}

/* Made in the first frame, carried over eleven times, and made again three cells further on. */
static void check_regions(tvlm_device *device, tvlm_format format) {
    tvlm_stream *stream = open_stream(
        device,
        tvlm_stream_params(.layout = "r", .format = format, .clusters = 24, .cut = 2.0f,
                           .update = {.tile = 16, .cluster_share = 100.0f, .carried_frames = FRAMES - 2}));
    uint8_t pixels[WIDTH * HEIGHT * 3];
    float flow[3 * (WIDTH / CELL) * (HEIGHT / CELL)];
    const struct tvlm_grid_input grid = {
        .data = flow, .columns = WIDTH / CELL, .rows = HEIGHT / CELL, .channels = 3};
    int32_t first = -1;
    for (int32_t frame = 0; frame < FRAMES; ++frame) {
        const tvlm_delta_frame *kept;
        place(LEFT + STEP * frame, pixels, flow);
        const tvlm_stream_report report = push(stream, pixels, tvlm_push_params(.flow = &grid));
        assert_true(report.flow == (frame > 0) && !report.cut && (report.changed > 0) == (frame > 0));
        kept = tvlm_stream_stack(stream, 0)->delta->frames;
        assert_int_equal(kept->frames[1], frame); /* up to the last, in which it is one too many */
        if (frame == 0) first = id_of_square(stream, LEFT);
    }
    const int32_t last = id_of_square(stream, LEFT + STEP * (FRAMES - 1));
    assert_false(tvlm_delta_is_carried(tvlm_stream_stack(stream, 0), 0, TVLM_GRID_CLUSTER)); /* made again */
    if (last != first) fail_msg("the square was region %d, and is region %d", (int)first, (int)last);
    tvlm_stream_destroy(&stream);
}

DEVICE_CHECKS_MAIN(check_shares, check_until, check_cut, check_regions)
