/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gaussian.c: stacks whose means are Gaussian: levels by the definition, texel by texel, and what stays as it is.
 */
#include "stack_helper.h"
#include "texturevlm/input.h"
#include "texturevlm/stack.h"

enum { WIDTH = 107, HEIGHT = 58 };

static int32_t within(int32_t i, int32_t side) {
    return i < 0 ? 0 : i >= side ? side - 1 : i;
}

/* How much of texel i of `from` lies in texel x of `to`, in units of 1 / (from * to) of the side. */
static double overlap(int32_t i, int32_t x, int32_t from, int32_t to) {
    const int32_t begin = i * to > x * from ? i * to : x * from;
    const int32_t end = (i + 1) * to < (x + 1) * from ? (i + 1) * to : (x + 1) * from;
    return end > begin ? end - begin : 0;
}

/* doc/design.md, "Levels": smoothed along both axes, then the mean over the area. free() it. */
static float *next_level(const float *level, const int32_t from[2], const int32_t to[2]) {
    static const double binomial[3] = {0.25, 0.5, 0.25};
    double *smooth = calloc((size_t)from[0] * (size_t)from[1], sizeof *smooth);
    float *next = malloc((size_t)to[0] * (size_t)to[1] * sizeof *next);
    assert_true(smooth != NULL && next != NULL);
    for (int32_t i = 0; i < from[0] * from[1]; ++i)
        for (int32_t tap = 0; tap < 9; ++tap) {
            const int32_t x = within(i % from[0] + tap % 3 - 1, from[0]),
                          y = within(i / from[0] + tap / 3 - 1, from[1]);
            smooth[i] += binomial[tap % 3] * binomial[tap / 3] * (double)level[y * from[0] + x];
        }
    for (int32_t at = 0; at < to[0] * to[1]; ++at) {
        double sum = 0, area = 0;
        for (int32_t i = 0; i < from[0] * from[1]; ++i) {
            const double covered = overlap(i % from[0], at % to[0], from[0], to[0]) *
                                   overlap(i / from[0], at / to[0], from[1], to[1]);
            sum += covered * smooth[i];
            area += covered;
        }
        next[at] = (float)(sum / area);
    }
    free(smooth);
    return next;
}

/* Each level of a channel from the one that is stored before it. */
static void check_levels(tvlm_stack *stack, int32_t channel, tvlm_format format) {
    int32_t from[2], to[2];
    size_t count;
    float *before = read_level(stack, 0, channel, 0, &count);
    assert_int_equal(tvlm_stack_channel_size(stack, channel, 0, &from[0], &from[1]), TVLM_OK);
    for (int32_t level = 1; from[0] > 1 || from[1] > 1; ++level) {
        float *got = read_level(stack, 0, channel, level, &count);
        assert_int_equal(tvlm_stack_channel_size(stack, channel, level, &to[0], &to[1]), TVLM_OK);
        float *expected = next_level(before, from, to);
        const float tolerance = format == TVLM_FORMAT_F16 ? 5e-4f : 1e-6f;
        test_compare("a Gaussian level", got, expected, count, tolerance, tolerance);
        free(before);
        free(expected);
        before = got;
        from[0] = to[0];
        from[1] = to[1];
    }
    free(before);
}

/* Whether a level of a channel is the same in two stacks. */
static bool same_level(tvlm_stack *a, tvlm_stack *b, int32_t channel, int32_t level) {
    size_t count;
    float *one = read_level(a, 0, channel, level, &count), *other = read_level(b, 0, channel, level, &count);
    const bool same = memcmp(one, other, count * sizeof *one) == 0;
    free(one);
    free(other);
    return same;
}

static void set_plane(tvlm_stack *stack, const char *name, tvlm_reduce reduce, int32_t *channel) {
    float values[9 * 6];
    uint64_t random = 5;
    for (int i = 0; i < 9 * 6; ++i) values[i] = test_random_unit(&random);
    const struct tvlm_grid_input input = {.data = values, .columns = 9, .rows = 6};
    assert_int_equal(tvlm_stack_set_user(stack, 0, name, 0, 0, reduce, &input, channel), TVLM_OK);
}

static void check_stack(tvlm_device *device, tvlm_format format) {
    static const int32_t kept[] = {TVLM_CHANNEL_TEXT, TVLM_CHANNEL_DISTANCE, TVLM_CHANNEL_CLUSTER_ID,
                                   TVLM_CHANNEL_BOUNDARY};
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 11),
               *usual = random_stack(device, format, WIDTH, HEIGHT, 11);
    int32_t own, plain;
    set_plane(stack, "own", TVLM_GAUSSIAN, &own);
    set_plane(stack, "plain", TVLM_MEAN, &plain);
    set_plane(usual, "own", TVLM_GAUSSIAN, NULL);
    set_plane(usual, "plain", TVLM_MEAN, NULL);
    check_levels(stack, own, format); /* whatever the others' are */
    assert_true(same_level(stack, usual, TVLM_CHANNEL_G, 1));
    assert_int_equal(tvlm_stack_set_reduce(stack, TVLM_GAUSSIAN), TVLM_OK);
    check_levels(stack, TVLM_CHANNEL_G, format);
    check_levels(stack, TVLM_CHANNEL_EDGES, format);
    check_levels(stack, TVLM_CHANNEL_CLUSTER_SIZE, format); /* beside others in its texture */
    check_levels(stack, own, format);
    for (int i = 0; i < 4; ++i) assert_true(same_level(stack, usual, kept[i], 1));
    assert_true(same_level(stack, usual, TVLM_CHANNEL_G, 0) && !same_level(stack, usual, TVLM_CHANNEL_G, 1));
    assert_true(same_level(stack, usual, plain, 1) && same_level(stack, usual, own, 1));
    assert_int_equal(tvlm_stack_set_reduce(stack, TVLM_MEAN), TVLM_OK);
    for (int32_t level = 0; level < 4; ++level) {
        assert_true(same_level(stack, usual, TVLM_CHANNEL_R, level));
        assert_true(same_level(stack, usual, TVLM_CHANNEL_CLUSTER_SIZE, level));
    }
    assert_true(same_level(stack, usual, TVLM_CHANNEL_SALIENCY, 0));
    tvlm_stack_destroy(&usual);
    tvlm_stack_destroy(&stack);
}

/* A part that changed, and the whole made anew, are the same. */
static void check_parts(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 12), *whole;
    uint64_t random = 12;
    uint8_t *pixels = test_random_pixels(&random, WIDTH, HEIGHT, 3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    assert_int_equal(tvlm_stack_set_reduce(stack, TVLM_GAUSSIAN), TVLM_OK);
    (void)same_level(stack, stack, TVLM_CHANNEL_EDGES, 2);
    assert_int_equal(tvlm_stack_update_image(stack, 0, &image, NULL, NULL), TVLM_OK);
    (void)same_level(stack, stack, TVLM_CHANNEL_EDGES, 2);
    for (int i = 0; i < 90; ++i) pixels[i] = (uint8_t)(255 - pixels[i]);
    assert_int_equal(tvlm_stack_update_image(stack, 0, &image, NULL, NULL), TVLM_OK);
    whole = stack_of(device, format, &image);
    assert_int_equal(tvlm_stack_set_reduce(whole, TVLM_GAUSSIAN), TVLM_OK);
    for (int32_t level = 0; level < 6; ++level) {
        assert_true(same_level(stack, whole, TVLM_CHANNEL_R, level));
        assert_true(same_level(stack, whole, TVLM_CHANNEL_EDGES, level));
    }
    free(pixels);
    tvlm_stack_destroy(&whole);
    tvlm_stack_destroy(&stack);
}

static void check_refusals(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = random_stack(device, format, 20, 10, 8);
    refused(tvlm_stack_set_reduce(stack, TVLM_MAX), TVLM_ERROR_ARGUMENT,
            "levels of a stack by reduction 1; the mean or a Gaussian is possible");
    refused(tvlm_stack_set_reduce(stack, (tvlm_reduce)17), TVLM_ERROR_ARGUMENT, "reduction 17");
    refused(tvlm_stack_set_reduce(stack, (tvlm_reduce)-1), TVLM_ERROR_ARGUMENT, "reduction -1");
    assert_int_equal(tvlm_stack_set_reduce(NULL, TVLM_MEAN), TVLM_ERROR_ARGUMENT);
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS_MAIN(check_stack, check_parts, check_refusals)
