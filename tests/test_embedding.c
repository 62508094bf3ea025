/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Embeddings: unit vectors in, unit vectors out, at any position and level, however they are read: sampled,
 * packed, scored or level by level; all components of a vector belong together. The device against the
 * reference.
 */
#include "stack_helper.h"
#include "support_stage.h"

enum { WIDTH = 97, HEIGHT = 61, POINTS = 200 };

/* Vectors that have something in common, so that their means keep a length; some are 0. */
static float *random_vectors(uint64_t *random, int32_t columns, int32_t rows, int32_t channels) {
    const size_t cells = (size_t)columns * (size_t)rows;
    float *vectors = calloc(cells * (size_t)channels, sizeof *vectors);
    assert_non_null(vectors);
    for (size_t i = 0; i < cells; ++i) {
        const bool zero = test_random(random) % 11 == 0;
        for (int32_t c = 0; c < channels && !zero; ++c)
            vectors[i * (size_t)channels + (size_t)c] =
                7.0f * (test_random_unit(random) - 0.5f) + (c % 3 == 0 ? 5.0f : 0.0f);
    }
    return vectors;
}

/* embedding_0 .. channels - 1, whatever their numbers are. */
static void list_channels(int32_t channels, int32_t *list) {
    for (int32_t c = 0; c < channels; ++c)
        list[c] = c < 16 ? TVLM_CHANNEL_EMBEDDING_0 + c : TVLM_CHANNEL_EMBEDDING_16 + c - 16;
}

static tvlm_stack *embedded(tvlm_device *device, tvlm_format format, const float *vectors, int32_t columns,
                            int32_t rows, int32_t channels, float cell) {
    tvlm_stack *stack = NULL;
    assert_int_equal(
        tvlm_stack_create(device,
                          tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .images = 2, .format = format),
                          &stack),
        TVLM_OK);
    for (int32_t i = 0; i < 2; ++i)
        if (tvlm_stack_set_grid(stack, i, TVLM_CHANNEL_EMBEDDING_0,
                                tvlm_grid_input(.data = vectors, .columns = columns, .rows = rows,
                                                .channels = channels, .cell = cell)) != TVLM_OK)
            fail_msg("%s", test_last_log());
    return stack;
}

static float *sampled(tvlm_stack *stack, const tvlm_sample_point *points, const int32_t *channels,
                      int32_t count) {
    float *values = malloc((size_t)POINTS * (size_t)count * sizeof *values);
    assert_non_null(values);
    if (tvlm_stack_sample(stack, points, POINTS, channels, count, values) != TVLM_OK)
        fail_msg("%s", test_last_log());
    return values;
}

static void expect_lengths(const float *values, size_t vectors, size_t channels, float tolerance) {
    for (size_t i = 0; i < vectors; ++i) {
        double squares = 0.0;
        for (size_t c = 0; c < channels; ++c)
            squares += (double)values[i * channels + c] * (double)values[i * channels + c];
        if (squares != 0.0 && fabs(sqrt(squares) - 1.0) > (double)tolerance)
            fail_msg("vector %zu has the length %g", i, sqrt(squares));
    }
}

static void check_size(const test_target *target, tvlm_device *reference, int32_t columns, int32_t rows,
                       int32_t channels, float cell) {
    uint64_t random = (uint64_t)(columns * 100 + channels);
    float *vectors = random_vectors(&random, columns, rows, channels);
    tvlm_stack *got = embedded(target->device, target->format, vectors, columns, rows, channels, cell);
    tvlm_stack *expected = embedded(reference, target->format, vectors, columns, rows, channels, cell);
    const int32_t side = columns > rows ? columns : rows;
    int32_t list[TVLM_EMBEDDING_MAX];
    tvlm_sample_point points[POINTS];
    char what[64];
    list_channels(channels, list);
    for (int i = 0; i < POINTS; ++i) {
        const float x = (float)WIDTH * test_random_unit(&random),
                    y = (float)HEIGHT * test_random_unit(&random);
        points[i] = (tvlm_sample_point){x, y, i % 3 == 0 ? 0.0f : 7.0f * test_random_unit(&random), i % 2};
    }
    snprintf(what, sizeof what, "%dx%dx%d", (int)columns, (int)rows, (int)channels);
    /* A short mean is made longer, its error with it: by 4 at most here, but next to zero vectors. */
    const float allowed = 8.0f * test_sample_tolerance(target, side, 1.0f) +
                          (target->format == TVLM_FORMAT_F16 ? 8.0f * TEST_HALF_ULP : 0.0f);
    float *a = sampled(got, points, list, channels), *b = sampled(expected, points, list, channels);
    test_compare(what, a, b, (size_t)POINTS * (size_t)channels, allowed, allowed);
    expect_lengths(a, POINTS, (size_t)channels, 1e-3f);
    /* One channel alone is the same: the others are read for the length all the same. */
    float *alone = sampled(got, points, list + channels - 1, 1);
    for (int i = 0; i < POINTS; ++i) assert_true(alone[i] == a[(i + 1) * channels - 1]);
    free(alone);
    free(a);
    free(b);
    /* Its own texels, level by level, and what is packed at the size of a level of the image. */
    for (int32_t level = 0; level < 3; ++level) {
        size_t count = 0;
        int32_t width, height;
        if (tvlm_stack_channel_size(got, list[0], level, &width, &height) != TVLM_OK) break;
        float *whole = malloc((size_t)width * (size_t)height * (size_t)channels * sizeof *whole);
        assert_non_null(whole);
        for (int32_t c = 0; c < channels; ++c) {
            float *x = read_level(got, 1, list[c], level, &count),
                  *y = read_level(expected, 1, list[c], level, &count);
            test_compare(what, x, y, count, 4.0f * TEST_HALF_ULP, TEST_HALF_ULP);
            for (size_t i = 0; i < count; ++i) whole[i * (size_t)channels + (size_t)c] = x[i];
            free(x);
            free(y);
        }
        expect_lengths(whole, count, (size_t)channels, 1e-3f);
        free(whole);
    }
    tvlm_packed *packed[2] = {NULL, NULL};
    const struct tvlm_pack_params params = {
        .channels = list, .channel_count = channels, .width = 31, .height = 17};
    assert_int_equal(tvlm_stack_pack(got, &params, &packed[0]), TVLM_OK);
    assert_int_equal(tvlm_stack_pack(expected, &params, &packed[1]), TVLM_OK);
    const size_t planes = 31 * 17 * (size_t)channels;
    float *x = malloc(planes * sizeof *x), *y = malloc(planes * sizeof *y);
    assert_true(x != NULL && y != NULL);
    assert_int_equal(tvlm_packed_read(packed[0], 1, planes, x), TVLM_OK);
    assert_int_equal(tvlm_packed_read(packed[1], 1, planes, y), TVLM_OK);
    test_compare(what, x, y, planes, allowed + TEST_HALF_ULP, allowed);
    free(x);
    free(y);
    tvlm_packed_destroy(&packed[0]);
    tvlm_packed_destroy(&packed[1]);
    tvlm_stack_destroy(&got);
    tvlm_stack_destroy(&expected);
    free(vectors);
}

static void sizes(const test_target *target, tvlm_device *reference) {
    check_size(target, reference, 1, 1, 4, 0);
    check_size(target, reference, 1, 9, 1, 0);
    check_size(target, reference, 13, 8, 16, 0);
    check_size(target, reference, 7, 5, 14, 14); /* a last row and column beyond the image */
    check_size(target, reference, 24, 15, 37, 0);
    if (!test_small()) check_size(target, reference, 24, 15, 64, 0);
}

static void test_sizes_against_reference(void **state) {
    (void)state;
    test_on_targets(sizes);
}

/* ---- What a stack makes of them ---- */

/* Zero vectors stay 0; two that cancel out have no direction between them; channels beyond the vectors' are
 * 0. */
static void check_directions(tvlm_device *device, tvlm_format format) {
    static const float vectors[] = {3, 4, 0, -3, -4, 0, 0, 0, 0, 0, 0, 0};
    static const int32_t channels[] = {TVLM_CHANNEL_EMBEDDING_0,     TVLM_CHANNEL_EMBEDDING_0 + 1,
                                       TVLM_CHANNEL_EMBEDDING_0 + 2, TVLM_CHANNEL_EMBEDDING_0 + 3,
                                       TVLM_CHANNEL_EMBEDDING_0 + 9, TVLM_CHANNEL_EMBEDDING_16};
    static const float expected[] = {0.6f, 0.8f, 0, 0, 0, 0, 0,     0,     0, 0, 0, 0,
                                     0,    0,    0, 0, 0, 0, -0.6f, -0.8f, 0, 0, 0, 0};
    const float quarter = 0.25f * WIDTH;
    const tvlm_sample_point points[] = {
        {0.2f * quarter, 0, 0, 0}, {quarter, 0, 0, 0}, {3.7f * quarter, 0, 0, 0}, {2.0f * quarter, 9, 0, 1}};
    float got[4 * 6];
    tvlm_stack *stack = embedded(device, format, vectors, 4, 1, 3, 0);
    assert_int_equal(tvlm_stack_sample(stack, points, 4, channels, 6, got), TVLM_OK);
    test_compare("directions", got, expected, 24, 1e-3f, 1e-3f);
    int32_t width, height;
    assert_int_equal(tvlm_stack_channel_size(stack, TVLM_CHANNEL_EMBEDDING_16 + 40, 0, &width, &height),
                     TVLM_OK);
    assert_true(width == WIDTH && height == HEIGHT); /* nothing behind it */
    tvlm_stack_destroy(&stack);
}

/* full40 has the first 16, larger ones go by their names; one image's goes, the other's stays. */
static void check_names(tvlm_device *device, tvlm_format format) {
    float vectors[2 * 20];
    int32_t channels[3], count;
    for (int i = 0; i < 40; ++i) vectors[i] = (float)(i % 20 + 1);
    tvlm_stack *stack = embedded(device, format, vectors, 2, 1, 20, 0);
    assert_int_equal(
        tvlm_layout_parse("embedding_19,embedding_16,embedding_0", &test_log, 3, channels, &count), TVLM_OK);
    const tvlm_sample_point points[] = {{20, 20, 3, 0}, {20, 20, 3, 1}};
    float got[6];
    const float length = sqrtf(2870.0f); /* 1 + 4 + ... + 400 */
    const float expected[] = {20.0f / length, 17.0f / length, 1.0f / length};
    assert_int_equal(tvlm_stack_sample(stack, points, 2, channels, 3, got), TVLM_OK);
    test_compare("image 0", got, expected, 3, 1e-3f, 1e-3f);
    test_compare("image 1", got + 3, expected, 3, 1e-3f, 1e-3f);
    assert_int_equal(tvlm_stack_clear_grid(stack, 0, TVLM_CHANNEL_EMBEDDING_0 + 5), TVLM_OK);
    assert_int_equal(tvlm_stack_sample(stack, points, 2, channels, 3, got), TVLM_OK);
    assert_true(got[0] == 0.0f && got[1] == 0.0f && got[2] == 0.0f);
    test_compare("image 1", got + 3, expected, 3, 1e-3f, 1e-3f);
    /* Vectors of other lengths fit the same layers (17 .. 20), and no others while image 1 has its own. */
    struct tvlm_grid_input input = {.data = vectors, .columns = 2, .rows = 1, .channels = 18};
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_EMBEDDING_0, &input), TVLM_OK);
    input.channels = 16;
    refused(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_EMBEDDING_0, &input), TVLM_ERROR_ARGUMENT,
            "clear those first");
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS(check_directions, check_names)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_against_reference),
        cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),
    };
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
