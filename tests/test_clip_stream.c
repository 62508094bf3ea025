/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_clip_stream.c: budgets of streams, which decide slot by slot: what is spent, and when; what other devices decide; and
 * long ones.
 */
#include <math.h>
#include <string.h>

#include "clip_helper.h"

/* What a stream has told: sums over its slots. */
enum { TOLD_MOST = 1024 };
typedef struct told {
    int32_t tokens, slots, last; /* tokens, slots that were decided, and the slot of the last token */
    int32_t most;                /* the most tokens of a slot */
    tvlm_clip_token all[TOLD_MOST];
} told;

static void add_told(const tvlm_clip *clip, told *t) {
    int32_t count, own = 0;
    tvlm_clip_info info;
    const tvlm_clip_token *const tokens = tvlm_clip_tokens(clip, &count);
    assert_int_equal(tvlm_clip_get_info(clip, &info), TVLM_OK);
    for (int32_t i = 0; i < count; ++i) {
        assert_true(tokens[i].slot >= t->slots && tokens[i].slot < info.decided && tokens[i].slot >= t->last);
        assert_int_equal(tokens[i].until, 0);
        own = tokens[i].slot > t->last ? 1 : own + 1;
        t->last = tokens[i].slot;
        t->most = own > t->most ? own : t->most;
        assert_true(t->tokens + i < TOLD_MOST);
        t->all[t->tokens + i] = tokens[i];
    }
    t->tokens += count;
    t->slots = info.decided;
    assert_int_equal(info.tokens, t->tokens);
}

/* Follows a stream to its end, and checks after each frame how many slots are decided. */
static told follow(tvlm_device *device, const struct tvlm_clip_params *params, int frames, int step,
                   tvlm_clip_info *info) {
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    tvlm_clip *clip = open_clip(device, params);
    told t = {0};
    for (int i = 0; i < frames; ++i) {
        draw_frame(i, step, pixels);
        assert_int_equal(tvlm_clip_push(clip, &image), TVLM_OK);
        add_told(clip, &t);
        const int32_t there = (i + 1) / 2 - params->latency;
        assert_int_equal(t.slots, there > 0 ? there : 0);
    }
    assert_int_equal(tvlm_clip_end(clip), TVLM_OK);
    add_told(clip, &t);
    assert_int_equal(t.slots, (frames + 1) / 2);
    assert_int_equal(tvlm_clip_end(clip), TVLM_OK);
    add_told(clip, &t); /* nothing is told twice */
    assert_int_equal(tvlm_clip_get_info(clip, info), TVLM_OK);
    tvlm_clip_destroy(&clip);
    return t;
}

/* No slot pays more than has been granted so far, and nearly all is spent in the end. */
static void test_streams(void **unused) {
    (void)unused;
    for (int32_t latency = 0; latency < 5; latency += 2) {
        tvlm_clip_info info;
        const struct tvlm_clip_params params = {.share = 0.3f, .causal = true, .latency = latency};
        const told t = follow(reference, &params, 61, 2, &info);
        assert_true(t.tokens <= (int32_t)(0.3f * TILES * 31) && t.most <= 3 * TILES);
        assert_true(info.lost < 0.1 && info.lost < info.lost_downsampled);
        const struct tvlm_clip_params still = {.share = 0.3f, .causal = true, .latency = latency};
        (void)follow(reference, &still, 60, 0, &info);
        assert_true(info.tokens < 3 * TILES &&
                    info.lost < 0.1); /* what is seen in full is not bought again */
    }
}

/* Where there is always more to buy, a stream spends what it has: never more, and at most a slot's share less. */
static void test_stream_spends(void **unused) {
    (void)unused;
    for (float share = 0.02f; share < 0.1f; share *= 2.0f)
        for (int32_t latency = 0; latency < 5; latency += 4) {
            tvlm_clip_info info;
            const struct tvlm_clip_params params = {.share = share, .causal = true, .latency = latency};
            const double granted = (double)share * TILES * 60;
            (void)follow(reference, &params, 120, 2, &info);
            assert_true((double)info.tokens <= granted &&
                        (double)info.tokens >= granted - fmax(1.0, (double)share * TILES));
        }
}

/* A tolerance is kept in each slot; a number of tokens is spread evenly; and what is held ends. */
static void test_stream_parameters(void **unused) {
    tvlm_clip_info info;
    (void)unused;
    const struct tvlm_clip_params tolerant = {.tolerance = 0.2f, .causal = true};
    (void)follow(reference, &tolerant, 20, 2, &info);
    assert_true(info.lost > 0.1 && info.lost <= 0.2 + 1e-6); /* no more is bought than it asks for */
    assert_true(info.lost_downsampled > info.lost && info.lost_downsampled < 0.9);
    const struct tvlm_clip_params counted = {.k = 160, .frames = 40, .causal = true};
    const told t = follow(reference, &counted, 40, 2, &info);
    assert_true(t.tokens <= 160 && info.lost < 0.1);
    const struct tvlm_clip_params ending = {.share = 1.0f, .hold = 4, .causal = true};
    (void)follow(reference, &ending, 60, 0, &info);
    assert_true(info.tokens >= 7 && info.lost < 0.2);
}

/* A stream of another device decides the same. */
static void check_stream(const test_target *target, tvlm_device *other) {
    tvlm_clip_info info, expected;
    const struct tvlm_clip_params params = {.share = 0.2f, .format = target->format, .causal = true};
    const told got = follow(target->device, &params, 20, 3, &info),
               want = follow(other, &params, 20, 3, &expected);
    const int32_t same = common(got.all, got.tokens, want.all, want.tokens);
    assert_true(abs(got.tokens - want.tokens) <= 3);
    if (same < (int32_t)(least_common(target) * (double)want.tokens))
        fail_msg("%d of %d tokens are the reference's", (int)same, (int)want.tokens);
    assert_true(fabs(info.lost - expected.lost) < 0.02);
}

static void test_stream_devices(void **unused) {
    (void)unused;
    if (test_for_each_target(check_stream) == 0) skip();
}

/* Waves, which differ from scene to scene. */
static void draw_scene(int scene, uint8_t *pixels) {
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        const double x = i % WIDTH, y = i / WIDTH;
        const double waves = 60.0 * sin(x / 11.0 + 2.0 * scene) + 50.0 * cos(y / 9.0 - scene) * sin(x / 23.0);
        memset(pixels + 3 * i, 127 + (int)waves, 3);
    }
}

/* Another scene begins in the middle of a slot. Its thumbnail is held once it is bought: what it lost in the frame before the cut is no
 * reason to buy it again. */
static void test_cut_in_a_slot(void **unused) {
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    const struct tvlm_clip_params params = {.k = 60, .frames = 20, .causal = true};
    tvlm_clip *const clip = open_clip(reference, &params);
    int32_t bought = 0, slot = -1;
    (void)unused;
    for (int frame = 0; frame < 20; ++frame) {
        int32_t count;
        draw_scene(frame < 9 ? 0 : 1, pixels);
        assert_int_equal(tvlm_clip_push(clip, &image), TVLM_OK);
        const tvlm_clip_token *const tokens = tvlm_clip_tokens(clip, &count);
        for (int32_t i = 0; i < count; ++i) {
            if (tokens[i].columns == 0 || tokens[i].slot == slot) continue;
            if (tokens[i].slot >= 4) assert_int_not_equal(tokens[i].columns, bought);
            bought = tokens[i].slot >= 4 ? tokens[i].columns : 0;
            slot = tokens[i].slot;
        }
    }
    assert_true(slot >= 4);
    tvlm_clip *ended = clip;
    tvlm_clip_destroy(&ended);
}

/* ---- Long videos ---- */

/* A frame of 32 x 32 pixels, whose left half changes every 20 frames. */
static void draw_long(int frame, uint8_t *pixels) {
    uint64_t left = 1 + (uint64_t)(frame / 20), right = 1;
    for (int i = 0; i < 32 * 32; ++i)
        memset(pixels + 3 * i, (int)(test_random(i % 32 < 16 ? &left : &right) % 256), 3);
}

/* Ten thousand frames, as a stream and as a whole: all of the budget but for a slot's share is spent, and never more. */
static void test_long(void **unused) {
    enum { SIDE = 32 };
    const int32_t frames = test_small() ? 1000 : 10000, most = frames / 10;
    static uint8_t pixels[SIDE * SIDE * 3];
    const tvlm_image image = {.pixels = pixels, .width = SIDE, .height = SIDE, .channels = 3};
    (void)unused;
    for (int causal = 0; causal < 2; ++causal) {
        const struct tvlm_clip_params params = {.k = most, .frames = frames, .causal = causal != 0};
        tvlm_clip *clip = NULL;
        tvlm_clip_info info;
        assert_int_equal(tvlm_clip_create(reference, SIDE, SIDE, &params, &clip), TVLM_OK);
        for (int i = 0; i < frames; ++i) {
            draw_long(i, pixels);
            assert_int_equal(tvlm_clip_push(clip, &image), TVLM_OK);
        }
        assert_int_equal(tvlm_clip_end(clip), TVLM_OK);
        assert_int_equal(tvlm_clip_get_info(clip, &info), TVLM_OK);
        assert_true(info.frames == frames && info.decided == frames / 2);
        assert_true(info.tokens <= most && (double)info.tokens >= 0.98 * most);
        tvlm_clip_destroy(&clip);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),           cmocka_unit_test(test_stream_spends),
        cmocka_unit_test(test_stream_parameters), cmocka_unit_test(test_stream_devices),
        cmocka_unit_test(test_cut_in_a_slot),     cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, open_reference, close_reference);
}
