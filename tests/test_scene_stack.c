/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_scene_stack.c: occlusion and normals of known scenes: walls, planes, steps, nothing; and those that are handed in.
 */
#include "stack/inside.h"
#include "stack_helper.h"

enum { WIDTH = 64, HEIGHT = 48 };
static const int32_t normals[] = {TVLM_CHANNEL_NORMAL_X, TVLM_CHANNEL_NORMAL_Y, TVLM_CHANNEL_NORMAL_Z};

static tvlm_stack *scene(tvlm_device *device, tvlm_format format, const float *depth, float fx, float cx) {
    tvlm_stack *stack = NULL;
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .format = format),
                                       &stack),
                     TVLM_OK);
    if (tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_DEPTH,
                            tvlm_grid_input(.data = depth, .columns = WIDTH, .rows = HEIGHT, .fx = fx,
                                            .fy = fx, .cx = cx, .cy = cx)) != TVLM_OK)
        fail_msg("%s", test_last_log());
    return stack;
}

static void expect_all(tvlm_stack *stack, int32_t channel, float value, float tolerance) {
    size_t count;
    float *got = read_level(stack, 0, channel, 0, &count);
    for (size_t i = 0; i < count; ++i)
        if (!(fabsf(got[i] - value) <= tolerance))
            fail_msg("channel %d, texel %zu is %g, not %g", (int)channel, i, (double)got[i], (double)value);
    free(got);
}

/* 1 / z = a + b u + c v is a plane of normal (-b, -c, a); it occludes nothing, however steep. */
static void check_plane(tvlm_device *device, tvlm_format format, float a, float b, float c, float fx,
                        float cx) {
    static float depth[WIDTH * HEIGHT];
    const float f = fx > 0.0f ? fx : (float)WIDTH, length = sqrtf(a * a + b * b + c * c);
    const float x0 = cx > 0.0f ? cx : 0.5f * WIDTH, y0 = cx > 0.0f ? cx : 0.5f * HEIGHT;
    const float expected[] = {-b / length, -c / length, a / length};
    for (int32_t i = 0; i < WIDTH * HEIGHT; ++i) {
        const float u = ((float)(i % WIDTH) + 0.5f - x0) / f, v = ((float)(i / WIDTH) + 0.5f - y0) / f;
        depth[i] = 1.0f / (a + b * u + c * v);
    }
    tvlm_stack *stack = scene(device, format, depth, fx, cx);
    /* Differences of depth: second order in the slope; in half the depth itself is rounded to a part in 2048.
     */
    const float tolerance = format == TVLM_FORMAT_F16 ? 0.06f : 0.01f;
    for (int i = 0; i < 3; ++i) expect_all(stack, normals[i], expected[i], tolerance);
    expect_all(stack, TVLM_CHANNEL_OCCLUSION, 0.0f, 0.0f);
    tvlm_stack_destroy(&stack);
}

static void check_planes(tvlm_device *device, tvlm_format format) {
    check_plane(device, format, 0.5f, 0, 0, 0, 0); /* a wall that faces the camera */
    check_plane(device, format, 0.5f, 0.2f, 0, 0, 0);
    check_plane(device, format, 0.5f, -0.1f, 0.3f, 0, 0);
    check_plane(device, format, 0.5f, -0.2f, 0.2f, 90, 20);
}

/* A box in front of a wall: the wall is occluded along its outline, the box is not. */
static void check_step(tvlm_device *device, tvlm_format format) {
    static float depth[WIDTH * HEIGHT];
    size_t count;
    for (int32_t i = 0; i < WIDTH * HEIGHT; ++i)
        depth[i] = i % WIDTH >= 20 && i % WIDTH < 30 && i / WIDTH >= 10 && i / WIDTH < 25 ? 2.0f : 3.0f;
    for (int32_t i = 0; i < 9; ++i) /* a ninth nearer than what is around it: 11 %, of 5 % to 25 % */
        depth[(4 + i / 3) * WIDTH + 49 + i % 3] = 2.7f;
    tvlm_stack *stack = scene(device, format, depth, 0, 0);
    float *got = read_level(stack, 0, TVLM_CHANNEL_OCCLUSION, 0, &count);
    for (int32_t y = 0; y < HEIGHT; ++y)
        for (int32_t x = 0; x < WIDTH; ++x) {
            const bool inside = x >= 20 && x < 30 && y >= 10 && y < 25;
            const bool beside = x >= 19 && x < 31 && y >= 9 && y < 26 && !inside;
            const bool around =
                x >= 48 && x <= 52 && y >= 3 && y <= 7 && (x == 48 || x == 52 || y == 3 || y == 7);
            const float expected = beside ? 1.0f : around ? (1.0f / 9.0f - 0.05f) / 0.2f : 0.0f;
            if (fabsf(got[y * WIDTH + x] - expected) > 5e-3f)
                fail_msg("occlusion at (%d, %d) is %g", (int)x, (int)y, (double)got[y * WIDTH + x]);
        }
    free(got);
    expect_all(stack, TVLM_CHANNEL_NORMAL_Z, 1.0f, 0.02f); /* neither side of the step is slanted */
    tvlm_stack_destroy(&stack);
}

/* Unknown depth has neither, and its neighbours do without it. */
static void check_unknown(tvlm_device *device, tvlm_format format) {
    static float depth[WIDTH * HEIGHT];
    size_t count;
    for (int32_t i = 0; i < WIDTH * HEIGHT; ++i)
        depth[i] = i % WIDTH < 32 ? 0.0f : i % WIDTH < 40 ? -1.0f : 4.0f;
    tvlm_stack *stack = scene(device, format, depth, 0, 0);
    expect_all(stack, TVLM_CHANNEL_OCCLUSION, 0.0f, 0.0f);
    float *z = read_level(stack, 0, TVLM_CHANNEL_NORMAL_Z, 0, &count);
    for (size_t i = 0; i < count; ++i) assert_true(z[i] == (i % WIDTH < 40 ? 0.0f : 1.0f));
    free(z);
    tvlm_stack_destroy(&stack);
}

/* Handed in they take the place of what depth says; depth gone, nothing is left. A new depth makes them anew.
 */
static void check_given(tvlm_device *device, tvlm_format format) {
    static float depth[WIDTH * HEIGHT];
    static const float vectors[] = {0, 0, -5, 3, 4, 0}, half = 0.5f;
    for (int32_t i = 0; i < WIDTH * HEIGHT; ++i) depth[i] = 1.0f;
    tvlm_stack *stack = scene(device, format, depth, 0, 0);
    expect_all(stack, TVLM_CHANNEL_NORMAL_Z, 1.0f, 1e-6f);
    assert_int_equal(
        tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_NORMAL_X,
                            tvlm_grid_input(.data = vectors, .columns = 2, .rows = 1, .channels = 3)),
        TVLM_OK);
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_OCCLUSION,
                                         tvlm_grid_input(.data = &half, .columns = 1, .rows = 1)),
                     TVLM_OK);
    size_t count;
    float *z = read_level(stack, 0, TVLM_CHANNEL_NORMAL_Z, 0, &count), *x = NULL;
    assert_true(count == 2 && z[0] == -1.0f && z[1] == 0.0f);
    free(z);
    /* Half way between two vectors a unit vector again: (0.6, 0.8, -1) / sqrt 2; and so at the next level. */
    const tvlm_sample_point middle = {0.5f * WIDTH, 10, 0, 0};
    float got[3];
    assert_int_equal(tvlm_stack_sample(stack, &middle, 1, normals, 3, got), TVLM_OK);
    const float expected[] = {0.6f * sqrtf(0.5f), 0.8f * sqrtf(0.5f), -sqrtf(0.5f)};
    test_compare("half way", got, expected, 3, 5e-3f, 5e-3f);
    x = read_level(stack, 0, TVLM_CHANNEL_NORMAL_X, 1, &count);
    assert_true(count == 1 && fabsf(x[0] - expected[0]) <= 1e-3f);
    free(x);
    expect_all(stack, TVLM_CHANNEL_OCCLUSION, 0.5f, 0.0f);
    assert_int_equal(tvlm_stack_clear_grid(stack, 0, TVLM_CHANNEL_NORMAL_Z), TVLM_OK);
    assert_int_equal(tvlm_stack_clear_grid(stack, 0, TVLM_CHANNEL_OCCLUSION), TVLM_OK);
    expect_all(stack, TVLM_CHANNEL_NORMAL_Z, 1.0f, 1e-6f);
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_DEPTH,
                                         tvlm_grid_input(.data = depth, .columns = 9, .rows = 7)),
                     TVLM_OK);
    x = read_level(stack, 0, TVLM_CHANNEL_NORMAL_Z, 0, &count);
    assert_true(count == 63 && x[62] == 1.0f);
    free(x);
    assert_int_equal(tvlm_stack_clear_grid(stack, 0, TVLM_CHANNEL_DEPTH), TVLM_OK);
    expect_all(stack, TVLM_CHANNEL_NORMAL_Z, 0.0f, 0.0f);
    expect_all(stack, TVLM_CHANNEL_OCCLUSION, 0.0f, 0.0f);
    assert_null(stack->chunks[0].grids[TVLM_GRID_NORMAL]);
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS_MAIN(check_planes, check_step, check_unknown, check_given)
