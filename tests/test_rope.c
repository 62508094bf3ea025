/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rope.c: the channels of rotary positions as a stack has them: sampled, read, packed and scored, with
 * numbers of the application's own.
 */
#include "rope_helper.h"

enum { WIDTH = 150, HEIGHT = 93 };

static int32_t channel_of(int axis, int quarter, int k) {
    static const int32_t first[2][2] = {{TVLM_CHANNEL_ROPE_X_COS_0, TVLM_CHANNEL_ROPE_X_SIN_0},
                                        {TVLM_CHANNEL_ROPE_Y_COS_0, TVLM_CHANNEL_ROPE_Y_SIN_0}};
    return first[axis][quarter] + k;
}

/* In float an angle of up to 43 is known to 4e-6; half of that is left of its cosine, and half the format's step. */
static float tolerance(tvlm_format format) {
    return format == TVLM_FORMAT_F16 ? 3e-4f : 5e-6f;
}

/* Samples do not pass the stack's format. */
static void check_samples(tvlm_stack *stack, const struct tvlm_rope_params *rope) {
    uint64_t random = 3;
    for (int i = 0; i < 200; ++i) {
        const int axis = i & 1, quarter = i >> 1 & 1, k = (int)(test_random(&random) % TVLM_ROPE_MAX);
        const tvlm_sample_point at = {.x = WIDTH * test_random_unit(&random),
                                      .y = HEIGHT * test_random_unit(&random),
                                      .level = 6.0f * test_random_unit(&random)};
        /* Between two others, so that layers and textures change from one to the next. */
        const int32_t channels[4] = {TVLM_CHANNEL_X, channel_of(axis, quarter, k), TVLM_CHANNEL_R,
                                     channel_of(1 - axis, quarter, TVLM_ROPE_MAX - 1 - k)};
        float got[4];
        assert_int_equal(tvlm_stack_sample(stack, &at, 1, channels, 4, got), TVLM_OK);
        assert_float_equal(got[0], at.x / WIDTH, 1e-6f);
        assert_float_equal(got[1], (float)expected(rope, axis, quarter, k, at.x, at.y), 5e-6f);
        assert_float_equal(
            got[3], (float)expected(rope, 1 - axis, quarter, TVLM_ROPE_MAX - 1 - k, at.x, at.y), 5e-6f);
    }
}

static void check_read_and_packed(tvlm_stack *stack, const struct tvlm_rope_params *rope,
                                  tvlm_format format) {
    const int32_t channels[2] = {channel_of(0, 1, 2), channel_of(1, 0, 5)};
    size_t count;
    float *read = read_level(stack, 0, channels[0], 2, &count), packed[2 * (WIDTH / 4) * (HEIGHT / 4)];
    tvlm_packed *array = NULL;
    assert_int_equal(count, (WIDTH / 4) * (HEIGHT / 4));
    assert_int_equal(
        tvlm_stack_pack(stack, tvlm_pack_params(.channels = channels, .channel_count = 2, .level = 2.0f),
                        &array),
        TVLM_OK);
    assert_int_equal(tvlm_packed_read(array, 0, 2 * count, packed), TVLM_OK);
    for (int32_t i = 0; i < (int32_t)count; ++i) {
        const double x = (i % (WIDTH / 4) + 0.5) * WIDTH / (WIDTH / 4),
                     y = (i / (WIDTH / 4) + 0.5) * HEIGHT / (HEIGHT / 4);
        assert_float_equal(read[i], (float)expected(rope, 0, 1, 2, x, y), 1e-6f);
        assert_float_equal(packed[i], read[i], tolerance(format));
        assert_float_equal(packed[count + (size_t)i], (float)expected(rope, 1, 0, 5, x, y),
                           tolerance(format));
    }
    tvlm_packed_destroy(&array);
    free(read);
}

/* A scorer of one of them, whose scores follow the numbers although nothing of the image changes. */
static void check_scores(tvlm_stack *stack, const struct tvlm_rope_params *rope) {
    const int32_t channel = channel_of(1, 1, 1);
    const tvlm_scorer scorer = {
        .channel_count = 1, .channels = &channel, .taps = 1, .weights = &(const float){2.0f}, .bias = 1.0f};
    float scores[10 * 6];
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.scorer = &scorer), 60, scores), TVLM_OK);
    for (int32_t i = 0; i < 60; ++i) {
        const double y = 0.5 * (16 * (i / 10) + fmin(16 * (i / 10 + 1), HEIGHT));
        assert_float_equal(scores[i], (float)(1 + 2 * expected(rope, 1, 1, 1, 0, y)), 1e-5f);
    }
}

static void check_values(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 7);
    tvlm_stack_info before, after;
    bool has = false;
    assert_int_equal(tvlm_stack_has_channel(stack, 0, TVLM_CHANNEL_ROPE_Y_SIN_0 + 63, &has), TVLM_OK);
    assert_true(has);
    check_samples(stack, &usual);
    check_read_and_packed(stack, &usual, format);
    check_scores(stack, &usual);
    assert_int_equal(tvlm_stack_get_info(stack, &before), TVLM_OK);
    assert_int_equal(tvlm_stack_set_rope(stack, &other), TVLM_OK);
    check_scores(stack, &other);
    check_samples(stack, &other);
    check_read_and_packed(stack, &other, format);
    assert_int_equal(tvlm_stack_set_rope(stack, NULL), TVLM_OK);
    check_scores(stack, &usual);
    assert_int_equal(tvlm_stack_get_info(stack, &after), TVLM_OK);
    assert_true(after.device_bytes == before.device_bytes); /* none of them is stored */
    tvlm_stack_destroy(&stack);
}

static void check_names(tvlm_device *device, tvlm_format format) {
    tvlm_channel_info info;
    (void)device;
    (void)format;
    assert_int_equal(tvlm_channel_find("rope_x_cos_0"), TVLM_CHANNEL_ROPE_X_COS_0);
    assert_int_equal(tvlm_channel_find("rope_y_sin_63"), TVLM_CHANNEL_ROPE_Y_SIN_0 + 63);
    assert_int_equal(tvlm_channel_find("rope_y_sin_64"), TVLM_CHANNEL_NONE);
    assert_int_equal(tvlm_channel_find("rope_x_cos"), TVLM_CHANNEL_NONE);
    assert_int_equal(tvlm_channel_get_info(TVLM_CHANNEL_ROPE_X_SIN_0 + 17, &info), TVLM_OK);
    assert_string_equal(info.name, "rope_x_sin_17");
    assert_string_equal(info.family, "position");
    assert_true(info.low == 0.0f && info.high == 1.0f && info.available && !info.identifier);
}

static void check_refusals(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = random_stack(device, format, 20, 10, 8);
    const float before = 0.25f;
    assert_int_equal(tvlm_stack_set_rope(stack, tvlm_rope_params(.patch = before)), TVLM_OK);
    refused(tvlm_stack_set_rope(stack, tvlm_rope_params(.theta = 1.0f)), TVLM_ERROR_ARGUMENT, "base 1;");
    refused(tvlm_stack_set_rope(stack, tvlm_rope_params(.theta = NAN)), TVLM_ERROR_ARGUMENT, "base nan");
    refused(tvlm_stack_set_rope(stack, tvlm_rope_params(.theta = INFINITY)), TVLM_ERROR_ARGUMENT, "base inf");
    refused(tvlm_stack_set_rope(stack, tvlm_rope_params(.dimension = 7)), TVLM_ERROR_ARGUMENT,
            "7 dimensions; an even number from 2 to 128");
    refused(tvlm_stack_set_rope(stack, tvlm_rope_params(.dimension = 130)), TVLM_ERROR_ARGUMENT,
            "130 dimensions");
    refused(tvlm_stack_set_rope(stack, tvlm_rope_params(.dimension = -2)), TVLM_ERROR_ARGUMENT,
            "-2 dimensions");
    refused(tvlm_stack_set_rope(stack, tvlm_rope_params(.patch = -1.0f)), TVLM_ERROR_ARGUMENT,
            "patches of -1");
    refused(tvlm_stack_set_rope(stack, tvlm_rope_params(.patch = NAN)), TVLM_ERROR_ARGUMENT,
            "patches of nan");
    refused(tvlm_stack_set_rope(stack, tvlm_rope_params(.reserved = {1})), TVLM_ERROR_ARGUMENT,
            "tvlm_rope_params: its reserved words are not 0");
    assert_int_equal(tvlm_stack_set_rope(NULL, NULL), TVLM_ERROR_ARGUMENT);
    /* What was refused changed nothing. */
    float got;
    const int32_t channel = TVLM_CHANNEL_ROPE_X_COS_0;
    const tvlm_sample_point at = {.x = 3.0f};
    assert_int_equal(tvlm_stack_sample(stack, &at, 1, &channel, 1, &got), TVLM_OK);
    assert_float_equal(got, 0.5f + 0.5f * cosf(3.0f / before), 1e-5f);
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS_MAIN(check_values, check_names, check_refusals)
