/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_clip.c: budgets of whole videos on all devices: what stands still is bought once, what moves is bought again, the
 * budget is kept, windows, and refusals. Streams are in test_clip_stream.c.
 */
#include <math.h>
#include <string.h>

#include "clip_helper.h"
#include "texturevlm/select.h"

static void push_frames(tvlm_clip *clip, int frames, int step) {
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    for (int i = 0; i < frames; ++i) {
        draw_frame(i, step, pixels);
        if (tvlm_clip_push(clip, &image) != TVLM_OK) fail_msg("frame %d: %s", i, test_last_log());
    }
}

/* A whole clip. The caller destroys it. */
static tvlm_clip *see(tvlm_device *device, const struct tvlm_clip_params *params, int frames, int step,
                      tvlm_clip_info *info) {
    tvlm_clip *const clip = open_clip(device, params);
    push_frames(clip, frames, step);
    if (tvlm_clip_end(clip) != TVLM_OK) fail_msg("%s", test_last_log());
    assert_int_equal(tvlm_clip_get_info(clip, info), TVLM_OK);
    return clip;
}

/* ---- Devices ---- */

static void check_target(const test_target *target, tvlm_device *other) {
    const struct tvlm_clip_params params = {.share = 0.15f, .format = target->format},
                                  plain = {.share = 0.15f};
    tvlm_clip_info info, expected_info;
    tvlm_clip *clip = see(target->device, &params, 14, 3, &info);
    tvlm_clip *expected = see(other, &plain, 14, 3, &expected_info);
    int32_t count, expected_count;
    const tvlm_clip_token *const tokens = tvlm_clip_tokens(clip, &count);
    const tvlm_clip_token *const others = tvlm_clip_tokens(expected, &expected_count);
    const int32_t same = common(tokens, count, others, expected_count);
    assert_true(llabs((long long)(info.tokens - expected_info.tokens)) <= 1);
    if (same < (int32_t)(least_common(target) * (double)expected_count))
        fail_msg("%d of %d tokens are the reference's", (int)same, (int)expected_count);
    assert_true(fabs(info.lost - expected_info.lost) < 0.02);
    tvlm_clip_destroy(&clip);
    tvlm_clip_destroy(&expected);
}

static void test_devices(void **unused) {
    (void)unused;
    if (test_for_each_target(check_target) == 0) skip();
}

/* ---- What is bought ---- */

/* The tokens of tiles that are bought in slots from `first` on. */
static int32_t count_from(const tvlm_clip *clip, int32_t first) {
    int32_t count, found = 0;
    const tvlm_clip_token *const tokens = tvlm_clip_tokens(clip, &count);
    for (int32_t i = 0; i < count; ++i) found += tokens[i].slot >= first;
    return found;
}

/* Where nothing moves, all is bought at once, and held. More than that is not spent: nothing would be gained. */
static void test_still(void **unused) {
    tvlm_clip_info info;
    int32_t count;
    (void)unused;
    tvlm_clip *clip = see(reference, tvlm_clip_params(.share = 1.0f), 12, 0, &info);
    const tvlm_clip_token *const tokens = tvlm_clip_tokens(clip, &count);
    assert_true(info.lost < 1e-6);
    assert_int_equal(count, info.tokens);
    assert_int_equal(count_from(clip, 1), 0);
    assert_true(count <= TILES + 1);
    for (int32_t i = 0; i < count; ++i) assert_true(tokens[i].until == 6 || tokens[i].until == 0);
    tvlm_clip_destroy(&clip);
    assert_true(clip == NULL);
    clip = see(reference, tvlm_clip_params(.tolerance = TVLM_EXPLICIT_ZERO), 12, 0, &info);
    assert_true(info.lost < 1e-6 && info.tokens <= TILES + 1);
    tvlm_clip_destroy(&clip);
}

/* Of what moves, what is new in each slot is bought: the thing, and what it has left. */
static void test_moving(void **unused) {
    tvlm_clip_info info;
    int32_t count;
    (void)unused;
    tvlm_clip *clip = see(reference, tvlm_clip_params(.share = 0.25f), 12, 2, &info);
    const tvlm_clip_token *const tokens = tvlm_clip_tokens(clip, &count);
    assert_int_equal(info.frames, 12);
    assert_int_equal(info.slots, 6);
    assert_int_equal(info.tokens_of_slot, TILES);
    assert_true(info.tokens <= TILES * 6 / 4);
    assert_true(info.lost < 1e-6 && info.lost_downsampled > 0.1);
    for (int32_t slot = 1; slot < 6; ++slot) {
        bool thing = false, left = false;
        for (int32_t i = 0; i < count; ++i) {
            if (tokens[i].slot != slot || tokens[i].columns > 0) continue;
            thing = thing || fabsf(tokens[i].x - (float)(slot * PATCH + PATCH / 2)) < 0.5f * tokens[i].width;
            left = left || fabsf(tokens[i].x - (float)(slot * PATCH - PATCH / 2)) < 0.5f * tokens[i].width;
        }
        assert_true(thing && left);
    }
    tvlm_clip_destroy(&clip);
}

/* Tokens lie in the frame, and come in the order of slots; each slot shows something everywhere from the first on. */
static void check_tokens(const tvlm_clip *clip, const tvlm_clip_info *info) {
    int32_t count;
    const tvlm_clip_token *const tokens = tvlm_clip_tokens(clip, &count);
    assert_int_equal(count, info->tokens);
    assert_true(count > 0 && tokens[0].slot == 0 && tokens[0].columns > 0);
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_clip_token *const t = &tokens[i];
        assert_true(i == 0 || tokens[i - 1].slot <= t->slot);
        assert_true(t->until >= t->slot && t->until <= info->slots);
        assert_true(t->x - 0.5f * t->width >= -0.01f && t->x - 0.5f * t->width < (float)WIDTH);
        assert_true(t->y - 0.5f * t->height >= -0.01f && t->y - 0.5f * t->height < (float)HEIGHT);
    }
}

/* Any number is spent but for a few, and loses no more than fewer did, nor than downsampling. */
static void test_budgets(void **unused) {
    static const int32_t numbers[] = {1, 6, 14, 29, 60, 100, 100000};
    double before = INFINITY;
    (void)unused;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        tvlm_clip_info info;
        tvlm_clip *clip = see(reference, tvlm_clip_params(.k = numbers[i], .frames = 11), 11, 2, &info);
        check_tokens(clip, &info);
        assert_true(info.tokens <= numbers[i]);
        assert_true(info.tokens >= (int32_t)(0.98 * numbers[i]) || info.lost < 1e-6);
        assert_true(info.lost <= before + 1e-9 && info.lost <= info.lost_downsampled + 1e-9);
        before = info.lost;
        tvlm_clip_destroy(&clip);
    }
}

/* Fewer tokens are enough where more may be lost. */
static void test_tolerances(void **unused) {
    int32_t before = INT32_MAX;
    (void)unused;
    for (float tolerance = 0.01f; tolerance < 1.0f; tolerance *= 3.0f) {
        tvlm_clip_info info;
        tvlm_clip *clip = see(reference, tvlm_clip_params(.tolerance = tolerance), 12, 3, &info);
        check_tokens(clip, &info);
        assert_true(info.lost <= (double)tolerance && info.tokens <= before);
        before = (int32_t)info.tokens;
        tvlm_clip_destroy(&clip);
    }
    assert_true(before < TILES);
}

/* ---- Windows ---- */

/* A long clip in short windows: the tokens of the first ones are final before it ends, the budget is kept, and what is
 * still shown when a window ends is not bought again. */
static void test_windows(void **unused) {
    enum { FRAMES = 80 };
    tvlm_clip_info info, whole_info;
    int32_t count, final;
    (void)unused;
    tvlm_clip *whole = see(reference, tvlm_clip_params(.share = 0.05f), FRAMES, 4, &whole_info);
    tvlm_clip *clip = open_clip(reference, tvlm_clip_params(.share = 0.05f, .memory = 1900000));
    push_frames(clip, FRAMES, 4);
    (void)tvlm_clip_tokens(clip, &final);
    assert_true(final > 0);
    const tvlm_clip_token first = tvlm_clip_tokens(clip, NULL)[final - 1];
    assert_true(first.slot > 4 && first.slot < FRAMES / 2);
    assert_int_equal(tvlm_clip_end(clip), TVLM_OK);
    assert_int_equal(tvlm_clip_get_info(clip, &info), TVLM_OK);
    check_tokens(clip, &info);
    const tvlm_clip_token *const tokens = tvlm_clip_tokens(clip, &count);
    assert_true(tokens[final - 1].slot == first.slot && tokens[final - 1].x == first.x);
    assert_true(info.tokens <= (int32_t)(0.05 * TILES * FRAMES / 2) &&
                (double)info.tokens >= 0.95 * (double)whole_info.tokens);
    assert_true(info.lost < 2.5 * whole_info.lost && info.lost <= info.lost_downsampled + 1e-9);
    tvlm_clip_destroy(&clip);
    tvlm_clip_destroy(&whole);
    clip = see(reference, tvlm_clip_params(.share = 1.0f, .memory = 1900000), FRAMES, 0, &info);
    assert_int_equal(count_from(clip, 1), 0); /* nothing moves, in ten windows */
    assert_true(info.lost < 1e-6);
    tvlm_clip_destroy(&clip);
}

/* No token is seen for longer than it may be held, across windows too. */
static void test_hold(void **unused) {
    static const uint64_t memories[] = {0, 1900000};
    (void)unused;
    for (int i = 0; i < 2; ++i) {
        tvlm_clip_info info;
        int32_t count;
        tvlm_clip *clip =
            see(reference, tvlm_clip_params(.share = 0.5f, .hold = 3, .memory = memories[i]), 40, 0, &info);
        const tvlm_clip_token *const tokens = tvlm_clip_tokens(clip, &count);
        for (int32_t t = 0; t < count; ++t) assert_true(tokens[t].until - tokens[t].slot <= 3);
        assert_true(count >= 7 && info.lost <= info.lost_downsampled + 1e-9);
        tvlm_clip_destroy(&clip);
    }
    /* No thumbnail is held for so long that it could be paid for 20 slots; then downsampling is what is shown. */
    tvlm_clip_info info;
    tvlm_clip *clip = see(reference, tvlm_clip_params(.k = 6, .frames = 40, .hold = 3), 40, 3, &info);
    assert_true(info.lost > 0.0 && info.lost_downsampled == info.lost);
    tvlm_clip_destroy(&clip);
}

/* A budget that does not pay for new tokens as often as old ones are over is kept, and what is paid is shown for as long as it may
 * be. Then nothing is shown, which no downsampling does better. */
static void test_hold_beyond_budget(void **unused) {
    static const uint64_t memories[] = {0, 1900000};
    (void)unused;
    for (int32_t k = 1; k <= 12; ++k)
        for (int i = 0; i < 4; ++i) {
            tvlm_clip_info info;
            int32_t count, tiles = 0;
            const struct tvlm_clip_params params = {
                .k = k, .frames = 40, .hold = 2, .memory = memories[i % 2], .causal = i >= 2};
            tvlm_clip *clip = see(reference, &params, 40, 3, &info);
            const tvlm_clip_token *const tokens = tvlm_clip_tokens(clip, &count);
            if (i < 2)
                for (int32_t t = 0; t < count; ++t) {
                    assert_true(tokens[t].until - tokens[t].slot <= 2 && tokens[t].until <= 20);
                    tiles += tokens[t].columns == 0;
                }
            assert_true(info.tokens <= k && info.tokens >= (k < 10 ? k : 9));
            if (k < 10) assert_int_equal(tiles, 0);
            assert_true(info.lost > 0.0 && info.lost < 1.5 && info.lost_downsampled < 1.5);
            tvlm_clip_destroy(&clip);
        }
}

/* ---- What moves, and cuts ---- */

/* How many tokens were bought, after the first slot, within the row of patches in which a thing moves. */
static int32_t bought_there(bool causal, float emphasis) {
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    const struct tvlm_clip_params params = {.share = 0.06f, .causal = causal, .emphasis = emphasis};
    tvlm_clip *const clip = open_clip(reference, &params);
    int32_t found = 0;
    for (int i = 0; i <= 40; ++i) {
        uint64_t noise = 9 + (uint64_t)i;
        draw_frame(i, 2, pixels);
        for (int n = 0; n < 3 * WIDTH * 32; ++n) /* below, the picture trembles */
            pixels[3 * WIDTH * 32 + n] = (uint8_t)(pixels[3 * WIDTH * 32 + n] + test_random(&noise) % 60);
        assert_int_equal(i < 40 ? tvlm_clip_push(clip, &image) : tvlm_clip_end(clip), TVLM_OK);
        int32_t count = 0;
        const tvlm_clip_token *const tokens = causal || i == 40 ? tvlm_clip_tokens(clip, &count) : NULL;
        for (int32_t t = 0; t < count; ++t)
            found += tokens[t].slot > 0 && tokens[t].columns == 0 && tokens[t].width <= PATCH &&
                     tokens[t].y > 16.0f && tokens[t].y < 32.0f;
    }
    tvlm_clip *closed = clip;
    tvlm_clip_destroy(&closed);
    return found;
}

/* What moves has more tokens if it counts more. */
static void test_emphasis(void **unused) {
    (void)unused;
    for (int causal = 0; causal < 2; ++causal) {
        const int32_t none = bought_there(causal != 0, TVLM_EXPLICIT_ZERO),
                      much = bought_there(causal != 0, 100.0f);
        assert_true(much > none);
    }
}

/* A scene of blocks of 8 x 8 pixels. */
static void draw_scene(uint64_t seed, uint8_t *pixels) {
    uint8_t shades[WIDTH / 8 * (HEIGHT / 8)];
    for (size_t i = 0; i < sizeof shades; ++i) shades[i] = (uint8_t)test_random(&seed);
    for (int i = 0; i < WIDTH * HEIGHT; ++i)
        memset(pixels + 3 * i, shades[i / WIDTH / 8 * (WIDTH / 8) + i % WIDTH / 8], 3);
}

/* Nothing of a scene is shown after a cut: one patch of the whole, which is one token, loses less than all that is held. */
static void test_cuts(void **unused) {
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    (void)unused;
    for (int share = 1; share <= 8; share *= 2) {
        tvlm_clip *clip = open_clip(reference, tvlm_clip_params(.share = 0.05f * (float)share));
        int32_t count, before = 0;
        for (int i = 0; i < 40; ++i) {
            draw_scene(i < 20 ? 7 : 8, pixels);
            assert_int_equal(tvlm_clip_push(clip, &image), TVLM_OK);
        }
        assert_int_equal(tvlm_clip_end(clip), TVLM_OK);
        const tvlm_clip_token *const tokens = tvlm_clip_tokens(clip, &count);
        for (int32_t t = 0; t < count; ++t) {
            assert_true(tokens[t].slot >= 10 || tokens[t].until <= 10);
            before += tokens[t].slot < 10;
        }
        assert_true(before > 0 && before < count);
        tvlm_clip_destroy(&clip);
    }
}

/* ---- Sizes ---- */

static void see_size(int32_t width, int32_t height, int32_t frame_width, int32_t frame_height, int frames) {
    uint8_t *const pixels = calloc((size_t)frame_width * (size_t)frame_height, 3);
    const tvlm_image image = {.pixels = pixels, .width = frame_width, .height = frame_height, .channels = 3};
    tvlm_clip *clip = NULL;
    int32_t count;
    assert_int_equal(
        tvlm_clip_create(reference, width, height, tvlm_clip_params(.share = 0.5f, .temporal = 3), &clip),
        TVLM_OK);
    for (int i = 0; i < frames; ++i) {
        memset(pixels, 80 * (i % 4), 3 * (size_t)frame_width * (size_t)frame_height / 2);
        assert_int_equal(tvlm_clip_push(clip, &image), TVLM_OK);
    }
    assert_int_equal(tvlm_clip_end(clip), TVLM_OK);
    const tvlm_clip_token *const tokens = tvlm_clip_tokens(clip, &count);
    for (int32_t i = 0; i < count; ++i)
        assert_true(tokens[i].x >= 0.0f && tokens[i].y >= 0.0f &&
                    tokens[i].x - 0.5f * tokens[i].width < (float)frame_width &&
                    tokens[i].y - 0.5f * tokens[i].height < (float)frame_height);
    tvlm_clip_destroy(&clip);
    free(pixels);
}

/* One pixel, one frame, sides that are no multiples, and frames that are resampled. */
static void test_sizes(void **unused) {
    (void)unused;
    see_size(1, 1, 1, 1, 1);
    see_size(1, 1, 1, 1, 4);
    see_size(37, 5, 37, 5, 7);
    see_size(70, 90, 70, 90, 2);
    see_size(32, 32, 200, 100, 4);
    see_size(130, 20, 13, 2, 3);
}

/* ---- Refusals ---- */

static void refuse(const struct tvlm_clip_params *params, int32_t width, tvlm_status status,
                   const char *words) {
    tvlm_clip *clip = NULL;
    assert_int_equal(tvlm_clip_create(reference, width, HEIGHT, params, &clip), status);
    assert_null(clip);
    if (strstr(test_last_log(), words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", test_last_log(), words);
}

static void test_refusals(void **unused) {
    uint8_t pixels[WIDTH * HEIGHT * 3] = {0};
    tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    tvlm_clip *clip = NULL;
    tvlm_clip_info info;
    (void)unused;
    refuse(NULL, 0, TVLM_ERROR_ARGUMENT, "0x64 pixels");
    refuse(NULL, 16385, TVLM_ERROR_ARGUMENT, "16385x64 pixels");
    refuse(tvlm_clip_params(.patch = 3.0f), WIDTH, TVLM_ERROR_ARGUMENT, "patch of 3");
    refuse(tvlm_clip_params(.patch = 65.0f), WIDTH, TVLM_ERROR_ARGUMENT, "patch of 65");
    refuse(tvlm_clip_params(.patch = 16.5f), WIDTH, TVLM_ERROR_ARGUMENT, "patch of 16.5");
    refuse(tvlm_clip_params(.temporal = 17), WIDTH, TVLM_ERROR_ARGUMENT, "17 frames in a slot");
    refuse(tvlm_clip_params(.temporal = -1), WIDTH, TVLM_ERROR_ARGUMENT, "-1 frames in a slot");
    refuse(tvlm_clip_params(.hold = -1), WIDTH, TVLM_ERROR_ARGUMENT, "held for -1 slots");
    refuse(tvlm_clip_params(.causal = true, .latency = 9), WIDTH, TVLM_ERROR_ARGUMENT,
           "latency of 9 slots; 0 to 8");
    refuse(tvlm_clip_params(.causal = true, .latency = -1), WIDTH, TVLM_ERROR_ARGUMENT, "latency of -1");
    refuse(tvlm_clip_params(.latency = 1), WIDTH, TVLM_ERROR_ARGUMENT, "for a stream");
    refuse(tvlm_clip_params(.k = 4, .frames = 4, .share = 0.5f), WIDTH, TVLM_ERROR_ARGUMENT,
           "exclude each other");
    refuse(tvlm_clip_params(.share = 0.5f, .tolerance = 0.5f), WIDTH, TVLM_ERROR_ARGUMENT,
           "exclude each other");
    refuse(tvlm_clip_params(.k = -4), WIDTH, TVLM_ERROR_ARGUMENT, "-4 tokens");
    refuse(tvlm_clip_params(.k = 4), WIDTH, TVLM_ERROR_ARGUMENT, "how many frames");
    refuse(tvlm_clip_params(.k = 4, .frames = -4), WIDTH, TVLM_ERROR_ARGUMENT, "-4 frames");
    refuse(tvlm_clip_params(.share = 1.01f), WIDTH, TVLM_ERROR_ARGUMENT, "share of 1.01");
    refuse(tvlm_clip_params(.share = -0.5f), WIDTH, TVLM_ERROR_ARGUMENT, "share of -0.5");
    refuse(tvlm_clip_params(.share = NAN), WIDTH, TVLM_ERROR_ARGUMENT, "share of");
    refuse(tvlm_clip_params(.tolerance = 1.5f), WIDTH, TVLM_ERROR_ARGUMENT, "tolerance of 1.5");
    refuse(tvlm_clip_params(.emphasis = 1001.0f), WIDTH, TVLM_ERROR_ARGUMENT,
           "an emphasis of 1001; 0 to 1000 are possible");
    refuse(tvlm_clip_params(.emphasis = -0.5f), WIDTH, TVLM_ERROR_ARGUMENT,
           "an emphasis of -0.5; 0 to 1000 are possible");
    refuse(tvlm_clip_params(.emphasis = NAN), WIDTH, TVLM_ERROR_ARGUMENT,
           "an emphasis of nan; 0 to 1000 are possible");
    refuse(tvlm_clip_params(.memory = 100000), WIDTH, TVLM_ERROR_MEMORY, "MiB");
    refuse(tvlm_clip_params(.reserved = {1}), WIDTH, TVLM_ERROR_ARGUMENT, "tvlm_clip_params");
    assert_int_equal(tvlm_clip_create(NULL, WIDTH, HEIGHT, NULL, &clip), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_clip_create(reference, WIDTH, HEIGHT, NULL, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_clip_push(NULL, &image), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_clip_end(NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_clip_get_info(NULL, &info), TVLM_ERROR_ARGUMENT);
    tvlm_clip_destroy(NULL);
    tvlm_clip_destroy(&clip);

    clip = open_clip(reference, NULL);
    assert_int_equal(tvlm_clip_end(clip), TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(test_last_log(), "without frames"));
    assert_int_equal(tvlm_clip_push(clip, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_clip_push(clip, &image), TVLM_OK);
    image.width = WIDTH - 1;
    assert_int_equal(tvlm_clip_push(clip, &image), TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(test_last_log(), "frame 1 has 95x64 pixels, and the first one 96x64"));
    image.width = WIDTH;
    image.channels = 9;
    assert_int_equal(tvlm_clip_push(clip, &image), TVLM_ERROR_ARGUMENT);
    image.channels = 3; /* and what was refused is as if it had never come */
    assert_int_equal(tvlm_clip_push(clip, &image), TVLM_OK);
    assert_int_equal(tvlm_clip_end(clip), TVLM_OK);
    assert_int_equal(tvlm_clip_end(clip), TVLM_OK);
    assert_int_equal(tvlm_clip_push(clip, &image), TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(test_last_log(), "has ended"));
    assert_int_equal(tvlm_clip_get_info(clip, &info), TVLM_OK);
    assert_int_equal(info.frames, 2);
    tvlm_clip_destroy(&clip);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_still),
        cmocka_unit_test(test_moving),
        cmocka_unit_test(test_budgets),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_hold),
        cmocka_unit_test(test_hold_beyond_budget),
        cmocka_unit_test(test_tolerances),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_emphasis),
        cmocka_unit_test(test_cuts),
    };
    return cmocka_run_group_tests(tests, open_reference, close_reference);
}
