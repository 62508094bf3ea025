/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scorers that a query changes: against the same weights written out, and what is read, and what is refused.
 */
#include "stack/inside.h"
#include "stack_helper.h"

enum { WIDTH = 149, HEIGHT = 83, CELLS = 10 * 6, D = 3, CHANNELS = 3 };

static const int32_t channels[CHANNELS] = {TVLM_CHANNEL_EDGES, TVLM_CHANNEL_ENTROPY, TVLM_CHANNEL_LAPLACIAN};
static const float base[CHANNELS] = {2.0f, 0.25f, 0.0f};

/* The first direction takes the entropy's weight away, the second brings the laplacian in. */
static const float matrix[D * CHANNELS] = {1.0f, -0.25f, 0.0f, 0.5f, 0.5f, -3.0f, 0.0f, 0.0f, 0.0f};

static tvlm_stack *stack_with_features(tvlm_device *device, tvlm_format format) {
    static const float features[2 * 2 * D] = {1, 2, 3, -1, 0, 1, 0.5f, 0.5f, 0, 3, -2, 1};
    uint64_t seed = 71;
    uint8_t *pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    const struct tvlm_grid_input input = {.data = features, .columns = 2, .rows = 2, .channels = D};
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0, &input), TVLM_OK);
    free(pixels);
    return stack;
}

static tvlm_scorer scorer_of(int32_t taps, const float *weights) {
    return (tvlm_scorer){.channel_count = CHANNELS,
                         .channels = channels,
                         .taps = taps,
                         .weights = weights,
                         .bias = 0.5f,
                         .similarity_weight = 0.75f,
                         .query_weights = matrix,
                         .dimension = D};
}

/* The scores with that query, beside those of the weights written out. */
static void compare(tvlm_stack *stack, const struct tvlm_query *query, int32_t taps, const float *expected) {
    float before[CHANNELS * 9] = {0.0f}, after[CHANNELS * 9] = {0.0f}, got[CELLS], wanted[CELLS];
    for (int c = 0; c < CHANNELS; ++c) {
        for (int32_t tap = 0; tap < taps; ++tap) before[c * taps + tap] = after[c * taps + tap] = 0.1f;
        before[c * taps + taps / 2] = base[c];
        after[c * taps + taps / 2] = expected[c];
    }
    tvlm_scorer scorer = scorer_of(taps, before);
    assert_int_equal(tvlm_score(stack, query, tvlm_score_params(.scorer = &scorer), CELLS, got), TVLM_OK);
    scorer.query_weights = NULL;
    scorer.weights = after;
    assert_int_equal(tvlm_score(stack, query, tvlm_score_params(.scorer = &scorer), CELLS, wanted), TVLM_OK);
    /* The same kernel on weights that differ in their last bit. */
    test_compare("score", got, wanted, CELLS, 1e-5f, 1e-6f);
}

static void check_weights(tvlm_device *device, tvlm_format format) {
    static const float vector[D] = {6.0f, -8.0f, 0.0f}, shifted[D] = {7.0f, -7.0f, 1.0f},
                       mean[D] = {1.0f, 1.0f, 1.0f}, two[2 * D] = {0.0f, 2.0f, 0.0f, 5.0f, 0.0f, 0.0f};
    static const float map[4] = {0.0f, 0.5f, -0.5f, 1.0f};
    /* 0.6 of the first row - 0.8 of the second; half of each */
    static const float expected[CHANNELS] = {2.2f, -0.3f, 2.4f}, halves[CHANNELS] = {2.75f, 0.375f, -1.5f};
    tvlm_stack *stack = stack_with_features(device, format);
    for (int32_t taps = 1; taps <= 9; taps += 8) {
        compare(stack, tvlm_query(.vectors = vector, .dimension = D), taps, expected);
        compare(stack, tvlm_query(.vectors = shifted, .dimension = D, .mean = mean), taps, expected);
        compare(stack, tvlm_query(.vectors = two, .count = 2, .dimension = D), taps, halves);
        compare(stack, tvlm_query(.similarity = map, .columns = 2, .rows = 2), taps, base);
        compare(stack, NULL, taps, base);
    }
    tvlm_stack_destroy(&stack);
}

static bool made(const tvlm_stack *stack, tvlm_grid grid) {
    return (stack->chunks[0].valid & TVLM_GRID_BIT(grid)) != 0;
}

/* What the query takes the weight of is not made; what it gives weight to is. */
static void check_only_what_counts(tvlm_device *device, tvlm_format format) {
    static const float first[D] = {4.0f, 0.0f, 0.0f}, second[D] = {0.0f, 4.0f, 0.0f};
    const tvlm_scorer scorer = scorer_of(1, base);
    float scores[CELLS];
    tvlm_stack *stack = stack_with_features(device, format);
    assert_int_equal(tvlm_score(stack, tvlm_query(.vectors = first, .dimension = D),
                                tvlm_score_params(.scorer = &scorer), CELLS, scores),
                     TVLM_OK);
    assert_true(made(stack, TVLM_GRID_VISUAL) && !made(stack, TVLM_GRID_ENTROPY) &&
                !made(stack, TVLM_GRID_LAPLACIAN));
    assert_int_equal(tvlm_score(stack, tvlm_query(.vectors = second, .dimension = D),
                                tvlm_score_params(.scorer = &scorer), CELLS, scores),
                     TVLM_OK);
    assert_true(made(stack, TVLM_GRID_ENTROPY) && made(stack, TVLM_GRID_LAPLACIAN));
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS(check_weights, check_only_what_counts)

static void refuse(tvlm_stack *stack, const tvlm_scorer *scorer, const struct tvlm_query *query,
                   const char *line) {
    float scores[CELLS];
    refused(tvlm_score(stack, query, tvlm_score_params(.scorer = scorer), CELLS, scores), TVLM_ERROR_ARGUMENT,
            line);
}

static void test_refusals(void **state) {
    static const float vector[D + 1] = {1.0f, 0.0f, 0.0f, 0.0f}, zero[D] = {0.0f},
                                  broken[D * CHANNELS] = {1.0f, NAN};
    const struct tvlm_query *query = tvlm_query(.vectors = vector, .dimension = D);
    tvlm_device *device = open_reference();
    tvlm_stack *stack = stack_with_features(device, TVLM_FORMAT_F32);
    tvlm_scorer scorer = scorer_of(1, base);
    (void)state;
    refuse(stack, &scorer, tvlm_query(.vectors = vector, .dimension = D + 1),
           "the query has 4 dimensions; the scorer's query weights are for 3");
    refuse(stack, &scorer, tvlm_query(.vectors = zero, .dimension = D), "the query");
    scorer.query_weights = broken;
    refuse(stack, &scorer, query, "weight of channel 41 is not finite");
    scorer = scorer_of(1, base);
    scorer.dimension = 0;
    refuse(stack, &scorer, query, "vectors of 0 dimensions");
    scorer = scorer_of(3, base);
    refuse(stack, &scorer, query, "a scorer of 3 taps");
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
