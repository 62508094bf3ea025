/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading, sampling and packing: they say the same, and refuse what they should.
 */
#include "stack/inside.h"
#include "stack_helper.h"

/* Stored channels of all grids but the query's, and formulas. */
static const int32_t all_channels[] = {0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 40, 41, 42, 43, 44, 45, 46, 47, 48};
#define ALL_COUNT ((int32_t)(sizeof all_channels / sizeof all_channels[0]))

/* What a value in [-1, 1] may lose by one store in the format, and a position by its rounding. */
static float tolerance(tvlm_format format) {
    return format == TVLM_FORMAT_F16 ? 2e-3f : 1e-4f;
}

/* ---- Packing ---- */

/* A packed plane against samples at its texels' centres. */
static void compare_plane_to_samples(tvlm_stack *stack, const float *plane, int32_t channel, int32_t width,
                                     int32_t height, float level, tvlm_format format) {
    const size_t count = (size_t)width * (size_t)height;
    tvlm_sample_point *points = malloc(count * sizeof *points);
    float *expected = malloc(count * sizeof *expected);
    assert_true(points != NULL && expected != NULL);
    for (size_t i = 0; i < count; ++i) {
        const size_t column = i % (size_t)width, row = i / (size_t)width;
        points[i] = (tvlm_sample_point){((float)column + 0.5f) * (float)stack->width / (float)width,
                                        ((float)row + 0.5f) * (float)stack->height / (float)height, level, 0};
    }
    assert_int_equal(tvlm_stack_sample(stack, points, (int32_t)count, &channel, 1, expected), TVLM_OK);
    test_compare("pack against sample", plane, expected, count, tolerance(format), tolerance(format));
    free(points);
    free(expected);
}

static void check_pack(tvlm_stack *stack, const struct tvlm_pack_params *params, int32_t width,
                       int32_t height, float level, tvlm_format format) {
    tvlm_packed *packed = NULL;
    int32_t w, h, channels;
    assert_int_equal(tvlm_stack_pack(stack, params, &packed), TVLM_OK);
    tvlm_packed_size(packed, &w, &h, &channels);
    assert_true(w == width && h == height && channels == params->channel_count);
    const size_t plane = (size_t)w * (size_t)h;
    float *planes = malloc(plane * (size_t)channels * sizeof *planes);
    assert_non_null(planes);
    assert_int_equal(tvlm_packed_read(packed, 0, plane * (size_t)channels, planes), TVLM_OK);
    for (int32_t c = 0; c < channels; ++c)
        compare_plane_to_samples(stack, planes + (size_t)c * plane, params->channels[c], w, h, level, format);
    free(planes);
    tvlm_packed_destroy(&packed);
    assert_null(packed);
}

static void check_packing(tvlm_device *device, tvlm_format format) {
    uint64_t seed = 13;
    uint8_t *pixels = test_random_pixels(&seed, 67, 45, 3);
    const tvlm_image image = u8_image(pixels, 67, 45, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    struct tvlm_pack_params params = {.channels = all_channels, .channel_count = ALL_COUNT};
    check_pack(stack, &params, 67, 45, 0.0f, format);
    params.level = 2.0f;
    check_pack(stack, &params, 16, 11, 2.0f, format);
    params.level = 1.5f;
    check_pack(stack, &params, 23, 15, 1.5f, format);
    params.level = 0.0f, params.width = 33,
    params.height = 22; /* the size of level 1: that level, not 1.04 */
    check_pack(stack, &params, 33, 22, 1.0f, format);
    params.width = 20, params.height = 5;
    check_pack(stack, &params, 20, 5, log2f(9.0f), format);
    params.width = 200, params.height = 100;
    check_pack(stack, &params, 200, 100, 0.0f, format);
    params.level = 3.25f, params.width = 5, params.height = 6;
    check_pack(stack, &params, 5, 6, 3.25f, format);
    tvlm_stack_destroy(&stack);
    free(pixels);
}

/* A packed level of a channel of the image's size is that level; it stays when the stack changes. */
static void check_pack_is_read(tvlm_device *device, tvlm_format format) {
    static const int32_t channels[] = {TVLM_CHANNEL_EDGES, TVLM_CHANNEL_B, TVLM_CHANNEL_EDGE_X,
                                       TVLM_CHANNEL_ECCENTRICITY, TVLM_CHANNEL_PREVIOUS_PASS};
    uint64_t seed = 17;
    uint8_t *pixels = test_random_pixels(&seed, 41, 26, 3);
    const tvlm_image image = u8_image(pixels, 41, 26, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    tvlm_packed *packed = NULL;
    float planes[5 * 20 * 13];
    assert_int_equal(tvlm_stack_pack(stack,
                                     tvlm_pack_params(.channels = channels, .channel_count = 5, .level = 1),
                                     &packed),
                     TVLM_OK);
    float *levels[5];
    size_t count;
    for (int c = 0; c < 5; ++c) levels[c] = read_level(stack, 0, channels[c], 1, &count);
    memset(pixels, 0, (size_t)41 * 26 * 3);
    assert_int_equal(tvlm_stack_set_image(stack, 0, &image), TVLM_OK);
    tvlm_stack_destroy(&stack);
    assert_int_equal(tvlm_packed_read(packed, 0, sizeof planes / sizeof planes[0], planes), TVLM_OK);
    for (int c = 0; c < 5; ++c) {
        test_compare("pack against read", planes + (size_t)c * 260, levels[c], 260, tolerance(format),
                     tolerance(format));
        free(levels[c]);
    }
    tvlm_packed_destroy(&packed);
    free(pixels);
}

/* More textures than one bundle holds: sampling does it in turns, packing says that it cannot. */
static void check_split_bundles(tvlm_device *device, tvlm_format format) {
    enum { POINTS = 9 };
    tvlm_sample_point points[POINTS];
    float whole[POINTS * ALL_COUNT], split[POINTS * ALL_COUNT];
    uint64_t seed = 19;
    uint8_t *pixels = test_random_pixels(&seed, 40, 30, 3);
    const tvlm_image image = u8_image(pixels, 40, 30, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    tvlm_packed *packed = NULL;
    for (int i = 0; i < POINTS; ++i)
        points[i] = (tvlm_sample_point){4.0f * (float)i, 3.3f * (float)i, 0.3f * (float)i, 0};
    assert_int_equal(tvlm_stack_sample(stack, points, POINTS, all_channels, ALL_COUNT, whole), TVLM_OK);
    for (int32_t max = 1; max < 4; ++max) {
        stack->bundle_max = max;
        assert_int_equal(tvlm_stack_sample(stack, points, POINTS, all_channels, ALL_COUNT, split), TVLM_OK);
        assert_memory_equal(split, whole, sizeof split);
        assert_int_equal(
            tvlm_stack_pack(stack, tvlm_pack_params(.channels = all_channels, .channel_count = ALL_COUNT),
                            &packed),
            TVLM_ERROR_UNSUPPORTED);
        assert_null(packed);
    }
    tvlm_stack_destroy(&stack);
    free(pixels);
}

/* ---- Sampling ---- */

/* Outside is the edge (the cells' is at 48, 32); a level beyond the last is the last. */
static void check_clamped_points(tvlm_device *device, tvlm_format format) {
    static const tvlm_sample_point outside[] = {
        {-5, -INFINITY, -3, 0}, {1e30f, INFINITY, 0, 0}, {3, 3, 1e9f, 0}};
    static const tvlm_sample_point inside[] = {{0, 0, 0, 0}, {48, 32, 0, 0}, {3, 3, 5, 0}};
    float got[3 * ALL_COUNT], expected[3 * ALL_COUNT];
    uint64_t seed = 23;
    uint8_t *pixels = test_random_pixels(&seed, 40, 30, 3);
    const tvlm_image image = u8_image(pixels, 40, 30, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    assert_int_equal(tvlm_stack_sample(stack, outside, 3, all_channels, ALL_COUNT, got), TVLM_OK);
    assert_int_equal(tvlm_stack_sample(stack, inside, 3, all_channels, ALL_COUNT, expected), TVLM_OK);
    assert_memory_equal(got, expected, sizeof got);
    assert_true(got[8] == 0.0f && got[9] == 0.0f); /* x, y */
    assert_true(got[ALL_COUNT + 8] == 1.0f && got[ALL_COUNT + 9] == 1.0f);
    tvlm_stack_destroy(&stack);
    free(pixels);
}

/* ---- Refusals ---- */

static void test_reader_refusals(void **state) {
    static const int32_t red = 0, nothing = 99999, motion = TVLM_CHANNEL_MOTION;
    tvlm_sample_point point = {1, 1, 0, 0};
    float texels[64] = {0};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = NULL;
    (void)state;
    assert_int_equal(tvlm_stack_create(device, tvlm_stack_params(.width = 8, .height = 6), &stack), TVLM_OK);
    refused(tvlm_stack_read(stack, 0, 0, 0, 47, texels), TVLM_ERROR_ARGUMENT, "room for 47");
    refused(tvlm_stack_read(stack, 0, 0, 4, 64, texels), TVLM_ERROR_ARGUMENT, "level 4");
    refused(tvlm_stack_read(stack, 0, 0, -1, 64, texels), TVLM_ERROR_ARGUMENT, "level -1");
    refused(tvlm_stack_read(stack, 0, nothing, 0, 64, texels), TVLM_ERROR_ARGUMENT, "no channel 99999");
    refused(tvlm_stack_read(stack, 1, 0, 0, 64, texels), TVLM_ERROR_ARGUMENT, "image 1");
    refused(tvlm_stack_sample(stack, &point, 1, &nothing, 1, texels), TVLM_ERROR_ARGUMENT,
            "no channel 99999");
    assert_int_equal(tvlm_stack_sample(stack, &point, -1, &red, 1, texels), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_sample(stack, &point, 1, &red, 1, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_sample(stack, NULL, 0, NULL, 0, NULL), TVLM_OK);
    texels[0] = 5.0f;
    assert_int_equal(tvlm_stack_sample(stack, &point, 1, &motion, 1, texels), TVLM_OK);
    assert_true(texels[0] == 0.0f);
    point.index = 1;
    refused(tvlm_stack_sample(stack, &point, 1, &red, 1, texels), TVLM_ERROR_ARGUMENT, "image 1");
    point = (tvlm_sample_point){1, NAN, 0, 0};
    refused(tvlm_stack_sample(stack, &point, 1, &red, 1, texels), TVLM_ERROR_ARGUMENT,
            "point 0 is not a number");
    point = (tvlm_sample_point){1, 1, NAN, 0};
    refused(tvlm_stack_sample(stack, &point, 1, &red, 1, texels), TVLM_ERROR_ARGUMENT,
            "point 0 is not a number");
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

#define REFUSE_PACK(LINE, ...)                                                                               \
    refused(tvlm_stack_pack(stack, tvlm_pack_params(__VA_ARGS__), &packed), TVLM_ERROR_ARGUMENT, LINE)

static void test_pack_refusals(void **state) {
    static const int32_t channels[] = {0, 99999};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = NULL;
    tvlm_packed *packed = NULL;
    float few[3];
    (void)state;
    assert_int_equal(tvlm_stack_create(device, tvlm_stack_params(.width = 8, .height = 6), &stack), TVLM_OK);
    REFUSE_PACK("0 channels", .channels = channels);
    REFUSE_PACK("no channel 99999", .channels = channels, .channel_count = 2);
    REFUSE_PACK("level", .level = NAN);
    REFUSE_PACK("level", .level = -1.0f);
    REFUSE_PACK("5x0", .width = 5);
    REFUSE_PACK("-1x4", .width = -1, .height = 4);
    assert_null(packed);
    device->info.image_width_max = 100;
    assert_int_equal(tvlm_stack_pack(stack, tvlm_pack_params(.width = 101, .height = 4), &packed),
                     TVLM_ERROR_DEVICE_MEMORY);
    assert_null(packed);
    assert_int_equal(tvlm_stack_pack(stack, tvlm_pack_params(.level = 50.0f), &packed), TVLM_OK);
    refused(tvlm_packed_read(packed, 1, 40, few), TVLM_ERROR_ARGUMENT, "image 1");
    refused(tvlm_packed_read(packed, 0, 3, few), TVLM_ERROR_ARGUMENT, "the array has 40");
    tvlm_packed_destroy(&packed);
    tvlm_packed_destroy(&packed);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

DEVICE_CHECKS(check_packing, check_pack_is_read, check_split_bundles, check_clamped_points)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_f32), cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),       cmocka_unit_test(test_reader_refusals),
        cmocka_unit_test(test_pack_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
