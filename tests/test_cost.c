/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cost.c: how many bytes scores read (select/cost.h), counted by hand on the reference, whose texels have 16 bytes in
 * float: four texels of each layer, of one level or of the two that a sample lies between.
 */
#include <string.h>

#include "select/cost.h"
#include "stack/features.h"
#include "stack/grids.h"
#include "stack/make.h"
#include "stack_helper.h"

enum { SAMPLE = 4 * 16, SIDE = 64, NONE = TVLM_CHANNEL_NONE };

static tvlm_device *device;
static tvlm_stack *stack;

static int open_stack(void **state) {
    (void)state;
    device = open_reference();
    stack = random_stack(device, TVLM_FORMAT_F32, SIDE, SIDE, 7);
    assert_int_equal(
        tvlm_stack_make(stack, 0, TVLM_GRID_BIT(TVLM_GRID_SOURCE) | TVLM_GRID_BIT(TVLM_GRID_SALIENCY)),
        TVLM_OK);
    return 0;
}

static int close_stack(void **state) {
    (void)state;
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    return 0;
}

/* What a candidate reads where two groups have these parts, taps and channels. */
static size_t cost_of(int32_t part, int32_t taps, int32_t channels[8], float level) {
    tvlm_score_group groups[2];
    memset(groups, 0, sizeof groups);
    groups[0].taps = 1;
    groups[1].part = part;
    groups[1].taps = taps;
    const tvlm_score_program program = {.groups = groups, .channels = channels, .count = 2};
    return tvlm_cost_of_candidate(stack, 0, &program, level);
}

/* A layer is read once for each part and tap, however many of its channels are. */
static void test_layers(void **state) {
    int32_t colours[8] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G, NONE, NONE,
                          TVLM_CHANNEL_R, TVLM_CHANNEL_B, NONE, NONE};
    int32_t second[8] = {NONE, NONE, NONE, NONE, NONE, NONE, NONE, TVLM_CHANNEL_B};
    (void)state;
    assert_int_equal(cost_of(0, 1, colours, 0.0f), SAMPLE);
    assert_int_equal(cost_of(1, 1, colours, 0.0f), 2 * SAMPLE);
    assert_int_equal(cost_of(1, 9, colours, 0.0f), 10 * SAMPLE);
    assert_int_equal(cost_of(0, 9, colours, 0.0f), SAMPLE);
    assert_int_equal(cost_of(1, 9, second, 0.0f), 9 * SAMPLE);
}

/* Between two levels it is twice as much; beyond the last level it is read there. */
static void test_levels(void **state) {
    int32_t red[8] = {TVLM_CHANNEL_R, NONE, NONE, NONE, NONE, NONE, NONE, NONE};
    (void)state;
    assert_int_equal(cost_of(0, 1, red, 0.5f), 2 * SAMPLE);
    assert_int_equal(cost_of(0, 1, red, 3.0f), SAMPLE);
    assert_int_equal(cost_of(0, 1, red, 5.75f), 2 * SAMPLE);
    assert_int_equal(cost_of(0, 1, red, 6.5f), SAMPLE); /* 64 texels have levels 0 to 6 */
    assert_int_equal(cost_of(0, 1, red, -0.5f), SAMPLE);
}

/* What was not made is not read, nor what a formula says; and a coarser grid begins at the level that it is as coarse as. */
static void test_grids(void **state) {
    int32_t others[8] = {TVLM_CHANNEL_X, TVLM_CHANNEL_TEXT, NONE, NONE, NONE, NONE, NONE, NONE};
    int32_t saliency[8] = {TVLM_CHANNEL_SALIENCY, NONE, NONE, NONE, TVLM_CHANNEL_R, NONE, NONE, NONE};
    const tvlm_texture *const made = tvlm_stack_made(stack, 0, TVLM_GRID_SALIENCY);
    (void)state;
    assert_int_equal(cost_of(0, 1, others, 0.0f), 0);
    assert_non_null(made);
    const float bias = log2f((float)SIDE / (float)made->width);
    assert_true(bias >= 1.0f && floorf(bias) == bias);
    assert_int_equal(cost_of(0, 1, saliency, 0.0f), 2 * SAMPLE);
    assert_int_equal(cost_of(0, 1, saliency, 0.5f), 3 * SAMPLE); /* red between two levels */
    assert_int_equal(cost_of(0, 1, saliency, bias), 2 * SAMPLE);
    assert_int_equal(cost_of(0, 1, saliency, bias + 0.5f), 4 * SAMPLE);
}

/* A vector of five numbers takes two layers of four, and its length. */
static void test_vectors(void **state) {
    static const float vectors[4][5] = {{1, 2, 3, 4, 5}, {1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 0, 0, 1}};
    tvlm_features features;
    (void)state;
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                                         tvlm_grid_input(.data = vectors, .columns = 2, .rows = 2,
                                                         .channels = 5, .cell = 32.0f)),
                     TVLM_OK);
    assert_int_equal(tvlm_stack_features(stack, 0, &features), TVLM_OK);
    assert_int_equal(tvlm_cost_of_vector(&features), 2 * 16 + 4);
}

/* All candidates, once for each output of a scorer. */
static void test_scores(void **state) {
    static const int32_t red = TVLM_CHANNEL_R;
    static const float weights[18] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const int32_t outputs[] = {0, 1, 2};
    (void)state;
    for (int i = 0; i < 3; ++i)
        for (int32_t taps = 1; taps <= 9; taps += 8) {
            const tvlm_scorer scorer = {.channel_count = 1,
                                        .channels = &red,
                                        .taps = taps,
                                        .weights = weights,
                                        .outputs = outputs[i]};
            const struct tvlm_score_params params = {.stride = 16.0f, .scorer = &scorer};
            tvlm_candidates cells;
            size_t bytes = 1;
            assert_int_equal(tvlm_score_candidates(stack, &params, &cells), TVLM_OK);
            assert_int_equal(tvlm_candidate_count(&cells), 16);
            assert_int_equal(tvlm_cost_of_score(stack, NULL, &params, &cells, &bytes), TVLM_OK);
            assert_int_equal(bytes, (i == 2 ? 2 : 1) * 16 * taps * SAMPLE);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layers), cmocka_unit_test(test_levels),
                                       cmocka_unit_test(test_grids), cmocka_unit_test(test_vectors),
                                       cmocka_unit_test(test_scores)};
    return cmocka_run_group_tests(tests, open_stack, close_stack);
}
