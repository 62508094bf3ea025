/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stream_cut.c: what is a cut, and what is not: flat and dark frames whose luma flickers by a little,
 * noise, a fade; against frames of something else, also where it is dark.
 */
#include "stream_helper.h"

static tvlm_stream *open_still(tvlm_device *device, tvlm_format format) {
    return open_stream(device, tvlm_stream_params(.layout = "r", .format = format, .no_flow = true,
                                                  .keyframe_interval = 1000));
}

static tvlm_stream_report push(tvlm_stream *stream, const uint8_t *pixels) {
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stream_report report;
    if (tvlm_stream_push(stream, 0, &image, NULL, &report) != TVLM_OK) fail_msg("push: %s", test_last_log());
    return report;
}

/* Flat, with noise of so many steps to either side. */
static void wall(uint8_t *pixels, int value, int noise, uint64_t *random) {
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        const int away = noise > 0 ? (int)(test_random(random) % (uint64_t)(2 * noise + 1)) - noise : 0;
        const int shade = value + away < 0 ? 0 : value + away > 255 ? 255 : value + away;
        memset(pixels + 3 * i, shade, 3);
    }
}

/* Bins of a histogram end between 127 and 128, and between 15 and 16. A small thing moves. */
static void check_flicker(tvlm_device *device, tvlm_format format) {
    static const struct {
        int dark, bright, noise;
        float most; /* of the difference */
    } walls[] = {{127, 128, 0, 0.05f}, {127, 128, 1, 0.05f}, {15, 16, 0, 0.05f},
                 {0, 3, 4, 0.12f},     {124, 131, 6, 0.25f}, {252, 255, 2, 0.12f}};
    uint8_t pixels[WIDTH * HEIGHT * 3];
    uint64_t random = 21;
    for (size_t i = 0; i < sizeof walls / sizeof walls[0]; ++i) {
        tvlm_stream *stream = open_still(device, format);
        for (int frame = 0; frame < 6; ++frame) {
            wall(pixels, frame % 2 == 0 ? walls[i].dark : walls[i].bright, walls[i].noise, &random);
            for (int y = 60; y < 62; ++y) memset(pixels + 3 * (y * WIDTH + 90 + frame), walls[i].dark / 2, 6);
            const tvlm_stream_report report = push(stream, pixels);
            if (report.cut || report.difference > walls[i].most)
                fail_msg("%d to %d, noise %d: a difference of %g", walls[i].dark, walls[i].bright,
                         walls[i].noise, (double)report.difference);
        }
        tvlm_stream_destroy(&stream);
    }
}

/* A scene that goes dark within twenty frames and comes back, and a lamp: one scene. */
static void check_light(tvlm_device *device, tvlm_format format) {
    tvlm_stream *stream = open_still(device, format);
    uint8_t *here = world(22), pixels[WIDTH * HEIGHT * 3];
    uint64_t random = 23;
    for (int32_t i = 0; i < WORLD * WORLD * 3; ++i) /* large things, and grain */
        here[i] = (uint8_t)(40 + 150 * ((i / 3 % WORLD / 50 + i / 3 / WORLD / 40) % 2) +
                            (int)(test_random(&random) % 20));
    for (int frame = 0; frame <= 40; ++frame) {
        look(here, 0, 0, pixels);
        const int light = frame <= 20 ? 20 - frame : frame - 20;
        for (size_t i = 0; i < sizeof pixels; ++i) pixels[i] = (uint8_t)(pixels[i] * light / 20);
        const tvlm_stream_report report = push(stream, pixels);
        if (report.cut) fail_msg("light %d / 20: a difference of %g", light, (double)report.difference);
    }
    look(here, 0, 0, pixels);
    for (size_t i = 0; i < sizeof pixels; ++i) pixels[i] = (uint8_t)(pixels[i] / 3);
    assert_false(push(stream, pixels).cut);
    free(here);
    tvlm_stream_destroy(&stream);
}

/* From one to another, in daylight and in a third of it; to a flat frame, and to one that is a little darker
 * or much; to a black one, which varies by nothing at all, and back. */
static void check_cuts(tvlm_device *device, tvlm_format format) {
    uint8_t pixels[WIDTH * HEIGHT * 3], black[WIDTH * HEIGHT * 3];
    uint64_t random = 24;
    for (int light = 3; light >= 1; light -= 2) {
        tvlm_stream *stream = open_still(device, format);
        for (int frame = 0; frame < 6; ++frame) {
            for (int y = 0; y < HEIGHT; ++y)
                for (int x = 0; x < WIDTH; ++x) { /* few and dark things, then many and bright ones */
                    const bool thing = frame % 2 == 0 ? x / 60 % 2 == 1 && y > 50 : (x / 9 + y / 40) % 3 > 0;
                    const int shade = (thing ? 200 : 60) + (int)(test_random(&random) % 10);
                    memset(pixels + 3 * (y * WIDTH + x), shade * light / 3, 3);
                }
            const tvlm_stream_report report = push(stream, pixels);
            if (report.cut != (frame > 0))
                fail_msg("light %d / 3: a difference of %g", light, (double)report.difference);
        }
        memset(black, 0, sizeof black);
        for (int frame = 0; frame < 4; ++frame) {
            const tvlm_stream_report report = push(stream, frame % 2 == 0 ? black : pixels);
            if (!report.cut)
                fail_msg("black %d, light %d / 3: a difference of %g", frame, light,
                         (double)report.difference);
        }
        wall(pixels, 128, 0, &random);
        assert_true(push(stream, pixels).cut);
        wall(pixels, 100, 0, &random);
        const tvlm_stream_report report = push(stream, pixels);
        assert_true(report.cut && report.difference >= TVLM_CUT_DEFAULT && report.difference <= 1.0f);
        tvlm_stream_destroy(&stream);
    }
}

DEVICE_CHECKS_MAIN(check_flicker, check_light, check_cuts)
