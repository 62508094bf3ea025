/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_clip_camera.c: how a camera moved, found on frames whose motion is known; and what is held moves along with it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clip/camera.h"
#include "support.h"
#include "texturevlm/clip.h"

enum { WIDTH = 336, HEIGHT = 196, PIXELS = WIDTH * HEIGHT };

/* ---- A world ---- */

/* Noise of many sizes, as landscapes have it, which is the same wherever it is looked at. */
static double noise(int x, int y, uint32_t size) {
    uint32_t h = (uint32_t)x * 0x8da6b343u ^ (uint32_t)y * 0xd8163841u ^ size * 0xcb1ab31fu;
    h = (h ^ h >> 13) * 0x5bd1e995u;
    return (double)((h ^ h >> 15) & 0xffff) / 65535.0;
}

static double smooth(double x, double y, double size) {
    const double u = x / size, v = y / size, a = floor(u), b = floor(v);
    const double s = (u - a) * (u - a) * (3.0 - 2.0 * (u - a)), t = (v - b) * (v - b) * (3.0 - 2.0 * (v - b));
    const uint32_t key = (uint32_t)size;
    const double upper = noise((int)a, (int)b, key) * (1.0 - s) + noise((int)a + 1, (int)b, key) * s;
    const double lower = noise((int)a, (int)b + 1, key) * (1.0 - s) + noise((int)a + 1, (int)b + 1, key) * s;
    return upper * (1.0 - t) + lower * t;
}

static double world(double x, double y) {
    return 0.4 * smooth(x, y, 48.0) + 0.3 * smooth(x, y, 17.0) + 0.2 * smooth(x, y, 7.0) +
           0.1 * smooth(x, y, 3.0);
}

/* What a camera sees whose picture is the world moved by a map. */
static void look(const clip_map *map, uint8_t *pixels) {
    for (int i = 0; i < PIXELS; ++i) {
        double x, y;
        tvlm_clip_map_apply(map, i % WIDTH + 0.5, i / WIDTH + 0.5, &x, &y);
        pixels[i] = (uint8_t)(255.0 * world(x + 500.0, y + 500.0) + 0.5);
    }
}

static tvlm_image image_of(const uint8_t *pixels) {
    return (tvlm_image){.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 1};
}

/* ---- Maps ---- */

static double furthest(const clip_map *a, const clip_map *b) {
    double most = 0.0;
    for (int i = 0; i < 4; ++i) {
        double ax, ay, bx, by;
        tvlm_clip_map_apply(a, i % 2 * WIDTH, i / 2 * HEIGHT, &ax, &ay);
        tvlm_clip_map_apply(b, i % 2 * WIDTH, i / 2 * HEIGHT, &bx, &by);
        most = fmax(most, hypot(ax - bx, ay - by));
    }
    return most;
}

static void test_maps(void **state) {
    const clip_map a = {{1.1, 0.2, 3.0, -0.1, 0.9, -2.0}}, b = {{0.8, -0.3, 1.0, 0.4, 1.2, 5.0}};
    const clip_map both = tvlm_clip_map_then(&a, &b), none = tvlm_clip_map_part(&a, 0.0),
                   whole = tvlm_clip_map_part(&a, 1.0), half = tvlm_clip_map_part(&a, 0.5);
    double x, y, u, v;
    (void)state;
    tvlm_clip_map_apply(&a, 7.0, 11.0, &x, &y);
    tvlm_clip_map_apply(&b, x, y, &u, &v);
    tvlm_clip_map_apply(&both, 7.0, 11.0, &x, &y);
    assert_true(fabs(x - u) < 1e-12 && fabs(y - v) < 1e-12);
    assert_true(tvlm_clip_map_still(&none) && tvlm_clip_map_still(&tvlm_clip_still) &&
                !tvlm_clip_map_still(&a));
    assert_true(furthest(&whole, &a) < 1e-9);
    tvlm_clip_map_apply(&a, 7.0, 11.0, &u, &v);
    tvlm_clip_map_apply(&half, 7.0, 11.0, &x, &y);
    assert_true(fabs(x - 0.5 * (u + 7.0)) < 1e-12 && fabs(y - 0.5 * (v + 11.0)) < 1e-12);
    /* Pixels of 2 x 3 pixels: the same place, in the smaller ones. */
    const clip_map fine = tvlm_clip_map_scaled(&a, 2.0, 3.0);
    tvlm_clip_map_apply(&fine, 14.0, 33.0, &x, &y);
    assert_true(fabs(x - 2.0 * u) < 1e-12 && fabs(y - 3.0 * v) < 1e-12);
}

/* ---- What is found ---- */

static clip_map found_between(const tvlm_image *before, const tvlm_image *now) {
    clip_view views[2];
    clip_map map;
    assert_true(tvlm_clip_view_make(before, &views[0]) && tvlm_clip_view_make(now, &views[1]));
    assert_true(tvlm_clip_view_motion(&views[0], &views[1], &map));
    for (int i = 0; i < 2; ++i) tvlm_clip_view_free(&views[i]);
    return map;
}

/* Covers a ninth of the frame by something that does not move with it. */
static void cover(uint8_t *pixels, uint64_t *random) {
    for (int y = HEIGHT / 3; y < 2 * HEIGHT / 3; ++y)
        for (int x = WIDTH / 3; x < 2 * WIDTH / 3; ++x) pixels[y * WIDTH + x] = (uint8_t)test_random(random);
}

static void test_found(void **state) {
    static const clip_map maps[] = {
        {{1.0, 0.0, 3.0, 0.0, 1.0, -2.0}},  {{1.0, 0.0, 0.4, 0.0, 1.0, 0.3}},
        {{1.0, 0.0, 40.0, 0.0, 1.0, 25.0}}, {{1.02, 0.01, -5.0, -0.01, 1.02, 3.0}},
        {{0.97, 0.0, 4.0, 0.0, 0.97, 2.0}}, {{1.0, 0.03, -2.0, -0.03, 1.0, 5.0}}};
    static uint8_t before[PIXELS], now[PIXELS];
    const tvlm_image a = image_of(before), b = image_of(now);
    uint64_t random = 5;
    (void)state;
    look(&tvlm_clip_still, before);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; ++i)
        for (int covered = 0; covered < 2; ++covered) {
            look(&maps[i], now);
            if (covered) cover(now, &random);
            const clip_map map = found_between(&a, &b);
            const double off = furthest(&map, &maps[i]);
            if (off > (covered ? 0.6 : 0.3)) fail_msg("map %zu, covered %d: %g pixels off", i, covered, off);
        }
}

/* Nothing moves where nothing does, where another scene is seen, where there is nothing to see, and in the smallest frames. */
static void test_still(void **state) {
    static uint8_t before[PIXELS], now[PIXELS];
    const tvlm_image a = image_of(before), b = image_of(now);
    const clip_map elsewhere = {{1.0, 0.0, 5000.0, 0.0, 1.0, 7000.0}};
    uint64_t random = 6;
    (void)state;
    look(&tvlm_clip_still, before);
    memcpy(now, before, PIXELS);
    cover(now, &random);
    clip_map map = found_between(&a, &b);
    assert_true(tvlm_clip_map_still(&map));
    look(&elsewhere, now);
    map = found_between(&a, &b);
    assert_true(tvlm_clip_map_still(&map));
    memset(before, 90, PIXELS);
    memset(now, 200, PIXELS);
    map = found_between(&a, &b);
    assert_true(tvlm_clip_map_still(&map));
    for (int32_t side = 1; side <= 3; ++side) {
        const tvlm_image c = {.pixels = before, .width = side, .height = 1, .channels = 1},
                         d = {.pixels = now, .width = side, .height = 1, .channels = 1};
        map = found_between(&c, &d);
        assert_true(tvlm_clip_map_still(&map));
    }
}

/* A frame with all kinds of pixels, at a size that is reduced, moves as its grey one does. */
static void test_pixels(void **state) {
    enum { WIDE = 1300, HIGH = 300 };
    static const tvlm_pixel_type types[] = {TVLM_PIXEL_U8, TVLM_PIXEL_U16, TVLM_PIXEL_F32};
    const clip_map shift = {{1.0, 0.0, 12.0, 0.0, 1.0, 4.0}};
    float *const values[2] = {malloc(sizeof(float) * 4 * WIDE * HIGH),
                              malloc(sizeof(float) * 4 * WIDE * HIGH)};
    (void)state;
    for (int type = 0; type < 3; ++type)
        for (int32_t channels = 1; channels <= 4; ++channels) {
            tvlm_image images[2];
            for (int n = 0; n < 2; ++n) {
                for (int i = 0; i < WIDE * HIGH * channels; ++i) {
                    const int pixel = i / channels;
                    const double x = pixel % WIDE + n * 12.0, y = pixel / WIDE + n * 4.0;
                    const bool alpha = channels % 2 == 0 && i % channels == channels - 1;
                    const double value = alpha ? 0.75 : world(x, y);
                    if (type == 0) ((uint8_t *)values[n])[i] = (uint8_t)(255.0 * value + 0.5);
                    if (type == 1) ((uint16_t *)values[n])[i] = (uint16_t)(65535.0 * value + 0.5);
                    if (type == 2) values[n][i] = (float)value;
                }
                images[n] = (tvlm_image){.pixels = values[n],
                                         .width = WIDE,
                                         .height = HIGH,
                                         .channels = channels,
                                         .type = types[type]};
            }
            const clip_map map = found_between(&images[0], &images[1]);
            if (furthest(&map, &shift) > 0.3) fail_msg("type %d, %d channels", type, (int)channels);
        }
    for (int n = 0; n < 2; ++n) free(values[n]);
}

/* ---- Streams ---- */

enum { FRAMES = 24, ACROSS = 3, DOWN = 1 };

/* Pushes a pan, and returns what is told behind the last frame. */
static tvlm_clip_info pan(tvlm_device *device, bool motion, int32_t temporal, bool moves) {
    static uint8_t pixels[PIXELS];
    tvlm_clip *clip = NULL;
    tvlm_clip_info info;
    assert_int_equal(tvlm_clip_create(device, WIDTH, HEIGHT,
                                      tvlm_clip_params(.share = 0.1f, .patch = 28, .temporal = temporal,
                                                       .causal = true, .motion = motion),
                                      &clip),
                     TVLM_OK);
    for (int i = 0; i < FRAMES; ++i) {
        const clip_map map = {{1.0, 0.0, moves ? ACROSS * i : 0, 0.0, 1.0, moves ? DOWN * i : 0}};
        const tvlm_image image = image_of(pixels);
        look(&map, pixels);
        assert_int_equal(tvlm_clip_push(clip, &image), TVLM_OK);
    }
    assert_int_equal(tvlm_clip_end(clip), TVLM_OK);
    assert_int_equal(tvlm_clip_get_info(clip, &info), TVLM_OK);
    tvlm_clip_destroy(&clip);
    return info;
}

/* A pan loses less than half of what it loses where nothing moves along, and tells the way of each slot. A camera that stands still
 * tells that it does, and chooses what it chooses without. */
static void motion(const test_target *target, tvlm_device *reference) {
    (void)reference;
    for (int32_t temporal = 1; temporal <= 2; ++temporal) {
        const tvlm_clip_info with = pan(target->device, true, temporal, true),
                             without = pan(target->device, false, temporal, true),
                             still = pan(target->device, true, temporal, false),
                             plain = pan(target->device, false, temporal, false);
        const float way[6] = {1.0f, 0.0f, (float)(ACROSS * temporal), 0.0f, 1.0f, (float)(DOWN * temporal)};
        const float none[6] = {1.0f, 0.0f, 0.0f, 0.0f, 1.0f, 0.0f};
        if (!(with.lost < 0.5 * without.lost))
            fail_msg("slots of %d: %g with and %g without", (int)temporal, with.lost, without.lost);
        for (int i = 0; i < 6; ++i) {
            assert_true(fabsf(with.motion[i] - way[i]) < 0.2f);
            assert_true(without.motion[i] == none[i] && still.motion[i] == none[i]);
        }
        assert_true(still.lost < plain.lost + 1e-3 && still.tokens == plain.tokens);
    }
}

static void test_motion(void **state) {
    (void)state;
    if (test_for_each_target(motion) == 0) skip();
}

static void test_refused(void **state) {
    tvlm_device *device = NULL;
    tvlm_clip *clip = NULL;
    (void)state;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "reference", .log = &test_log), &device),
                     TVLM_OK);
    assert_int_equal(tvlm_clip_create(device, 64, 64, tvlm_clip_params(.motion = true), &clip),
                     TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_clip_create(device, 64, 64,
                                      tvlm_clip_params(.motion = true, .causal = true, .latency = 1), &clip),
                     TVLM_ERROR_ARGUMENT);
    assert_null(clip);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_maps),   cmocka_unit_test(test_found),
                                       cmocka_unit_test(test_still),  cmocka_unit_test(test_pixels),
                                       cmocka_unit_test(test_motion), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
