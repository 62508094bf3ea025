/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_limits_lab.c: both sides of the limits of log-polar samples and of projections.
 */
#include "stack_helper.h"

#include "texturevlm/input.h"
#include "texturevlm/lab/logpolar.h"
#include "texturevlm/lab/projection.h"

static void refused_or_not(tvlm_status status, const char *line) {
    if (line == NULL && status != TVLM_OK) fail_msg("status %d: %s", (int)status, test_last_log());
    if (line != NULL) refused(status, TVLM_ERROR_ARGUMENT, line);
}

/* ---- Log-polar samples ---- */

static const tvlm_logpolar_info least = {
    .x = 0.5f, .y = 0.5f, .inner = 1.0f, .outer = 2.0f, .rings = 1, .sectors = 3, .channel_count = 1};

/* The least that there is to bring back: one ring of three sectors to one pixel. */
static void brings_back_the_least(void **state) {
    static const float samples[3] = {5.0f, 5.0f, 5.0f};
    float image[2] = {0.0f, 7.0f};
    tvlm_logpolar_info info = least;
    (void)state;
    assert_int_equal(tvlm_logpolar_back(&info, samples, 1, 1, 1, 1, image), TVLM_OK);
    assert_true(image[0] == 5.0f && image[1] == 7.0f);
    for (int none = 0; none < 4; ++none)
        assert_int_equal(
            tvlm_logpolar_back(&info, samples, none != 0, none != 1, none != 2, none != 3, image),
            TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_logpolar_back(NULL, samples, 1, 1, 1, 1, image), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_logpolar_back(&info, NULL, 1, 1, 1, 1, image), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_logpolar_back(&info, samples, 1, 1, 1, 1, NULL), TVLM_ERROR_ARGUMENT);
    info.rings = 0,
    assert_int_equal(tvlm_logpolar_back(&info, samples, 1, 1, 1, 1, image), TVLM_ERROR_ARGUMENT);
    info = least, info.outer = 1.0f;
    assert_int_equal(tvlm_logpolar_back(&info, samples, 1, 1, 1, 1, image), TVLM_ERROR_ARGUMENT);
}

/* Of two rings and four sectors: the fixation, and pixels on and between sectors of the outer ring. */
static void brings_back_between_samples(void **state) {
    /* [sector][ring], at 0, 90, 180 and 270 degrees. The distances of the rings are 0 and 1. */
    static const float samples[8] = {1.0f, 10.0f, 1.0f, 20.0f, 1.0f, 30.0f, 1.0f, 40.0f};
    const tvlm_logpolar_info info = {
        .x = 1.5f, .y = 1.5f, .inner = 1.0f, .outer = 4.0f, .rings = 2, .sectors = 4, .channel_count = 1};
    static const float expected[9] = {35.0f, 40.0f, 25.0f, 30.0f, 1.0f, 10.0f, 25.0f, 20.0f, 15.0f};
    float image[9];
    (void)state;
    assert_int_equal(tvlm_logpolar_back(&info, samples, 3, 3, 3, 3, image), TVLM_OK);
    for (int i = 0; i < 9; ++i)
        if (!(fabsf(image[i] - expected[i]) < 1e-4f))
            fail_msg("pixel %d: %g, not %g", i, (double)image[i], (double)expected[i]);
}

static void limits_logpolar(void **state) {
    static const float middle[2] = {16.0f, 12.0f};
    static const int32_t channels[2] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, 32, 24, 3);
    tvlm_logpolar_info info;
    (void)state;
#define INFO(line, ...)                                                                                      \
    refused_or_not(tvlm_logpolar_get_info(stack, tvlm_logpolar_params(__VA_ARGS__), &info), line)
    INFO(NULL, .fixation = middle, .rings = 1, .sectors = 3, .channels = channels, .channel_count = 1);
    INFO("-1 rings, 3 sectors and 3 channels; there are at least 1, 3 and 1", .rings = -1, .sectors = 3);
    INFO("2 rings, 2 sectors and 3 channels; there are at least 1, 3 and 1", .rings = 2, .sectors = 2);
    INFO("2 rings, 3 sectors and 0 channels; there are at least 1, 3 and 1", .rings = 2, .sectors = 3,
         .channels = channels);
    INFO("image 1 of a stack of 1", .index = 1);
    INFO(NULL, .inner = 1.0f, .outer = 1.5f);
    INFO("an inner length of 1 and an outer one of 1 pixels; they grow from above 0", .inner = 1.0f,
         .outer = 1.0f);
    INFO("an inner length of -1 and an outer one of 3 pixels", .inner = -1.0f, .outer = 3.0f);
    INFO("an inner length of 1 and an outer one of inf pixels", .outer = INFINITY);
#undef INFO
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* ---- Projections ---- */

static tvlm_basis *basis_of(int32_t k) {
    float *const rows = calloc((size_t)k * (size_t)k, sizeof *rows);
    tvlm_basis *basis = NULL;
    assert_non_null(rows);
    for (int32_t i = 0; i < k; ++i) rows[i * k + i] = 1.0f;
    assert_int_equal(
        tvlm_basis_create(tvlm_basis_params(.dimension = k, .k = k, .components = rows), &test_log, &basis),
        TVLM_OK);
    free(rows);
    return basis;
}

/* A component of the embedding is read that the basis has, and none beyond. */
static void reads_what_the_basis_has(void **state) {
    static const float weight[1] = {1.0f};
    static const struct {
        int32_t channel, component;
        const char *name;
    } rows[] = {{TVLM_CHANNEL_EMBEDDING_0, 0, "embedding_0"},
                {TVLM_CHANNEL_EMBEDDING_0 + 1, 1, "embedding_1"},
                {TVLM_CHANNEL_EMBEDDING_0 + 15, 15, "embedding_15"},
                {TVLM_CHANNEL_EMBEDDING_16, 16, "embedding_16"},
                {TVLM_CHANNEL_EMBEDDING_16 + 1, 17, "embedding_17"},
                {TVLM_CHANNEL_EMBEDDING_16 + 47, 63, "embedding_63"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        for (int more = 0; more < 2; ++more) {
            char line[100];
            tvlm_projection *projection = NULL;
            if (rows[i].component + more == 0) continue;
            tvlm_basis *basis = basis_of(rows[i].component + more);
            snprintf(line, sizeof line, "a projection reads %s, and its basis has %d components",
                     rows[i].name, (int)rows[i].component);
            refused_or_not(tvlm_projection_create(tvlm_projection_params(.channels = &rows[i].channel,
                                                                         .channel_count = 1, .outputs = 1,
                                                                         .weights = weight, .basis = basis),
                                                  &test_log, &projection),
                           more == 1 ? NULL : line);
            assert_true((projection != NULL) == (more == 1));
            tvlm_projection_destroy(&projection);
            tvlm_basis_destroy(&basis);
        }
}

static void limits_projections(void **state) {
    static const int32_t channels[3] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G, TVLM_CHANNEL_R};
    static float many[65537];
    static const float bad[3] = {NAN, 1.0f, INFINITY};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, 32, 24, 3);
    tvlm_projection *projection = NULL;
    float out[4] = {9.0f, 9.0f, 9.0f, 9.0f};
    (void)state;
#define CREATE(line, ...)                                                                                    \
    (refused_or_not(tvlm_projection_create(tvlm_projection_params(__VA_ARGS__), &test_log, &projection),     \
                    line),                                                                                   \
     assert_true((projection == NULL) == ((line) != NULL)), tvlm_projection_destroy(&projection))
    const char *const none = NULL;
    CREATE(none, .channels = channels, .channel_count = 1, .outputs = 65536, .weights = many);
    CREATE("a projection of 1 channels to 65537 numbers", .channels = channels, .channel_count = 1,
           .outputs = 65537, .weights = many);
    CREATE("a projection of 1 channels to 0 numbers", .channels = channels, .channel_count = 1,
           .weights = many);
    CREATE("a projection of 0 channels to 1 numbers", .channels = channels, .outputs = 1, .weights = many);
    CREATE("a projection of 4097 channels to 1 numbers", .channels = channels, .channel_count = 4097,
           .outputs = 1, .weights = many);
    CREATE("r stands twice in a projection", .channels = channels, .channel_count = 3, .outputs = 1,
           .weights = many);
    CREATE("weight 0 of a projection", .channels = channels, .channel_count = 2, .outputs = 1,
           .weights = bad);
    CREATE("weight 1 of a projection", .channels = channels, .channel_count = 2, .outputs = 1,
           .weights = bad + 1);
    CREATE("bias 0 of a projection", .channels = channels, .channel_count = 1, .outputs = 2, .weights = many,
           .bias = bad);
    CREATE("bias 1 of a projection", .channels = channels, .channel_count = 1, .outputs = 2, .weights = many,
           .bias = bad + 1);
#undef CREATE
    const float weights[2] = {2.0f, -1.0f}, bias[2] = {0.5f, 0.25f};
    assert_int_equal(
        tvlm_projection_create(tvlm_projection_params(.channels = channels, .channel_count = 1, .outputs = 2,
                                                      .weights = weights, .bias = bias),
                               &test_log, &projection),
        TVLM_OK);
    tvlm_sample_point points[2] = {{3.5f, 4.5f, 0.0f, 0}, {20.5f, 11.5f, 0.0f, 1}};
    float red;
    refused(tvlm_projection_apply(projection, stack, points, 2, 4, out), TVLM_ERROR_ARGUMENT,
            "image 1 of a stack of 1");
    points[1].index = 0;
    refused(tvlm_projection_apply(projection, stack, points, 2, 3, out), TVLM_ERROR_ARGUMENT,
            "room for 3 numbers; there are 2 x 2");
    refused(tvlm_projection_apply(projection, stack, points, -1, 4, out), TVLM_ERROR_ARGUMENT, "-1 points");
    assert_int_equal(tvlm_projection_apply(projection, stack, NULL, 0, 0, NULL), TVLM_OK);
    assert_true(out[0] == 9.0f);
    assert_int_equal(tvlm_projection_apply(projection, stack, points, 2, 4, out), TVLM_OK);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(tvlm_stack_sample(stack, &points[i], 1, channels, 1, &red), TVLM_OK);
        for (int o = 0; o < 2; ++o) assert_true(fabsf(out[2 * i + o] - (weights[o] * red + bias[o])) < 1e-6f);
    }
    tvlm_projection_destroy(&projection);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brings_back_the_least), cmocka_unit_test(brings_back_between_samples),
        cmocka_unit_test(limits_logpolar),       cmocka_unit_test(reads_what_the_basis_has),
        cmocka_unit_test(limits_projections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
