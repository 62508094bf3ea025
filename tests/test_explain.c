/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_explain.c: what channels add to the scores of positions. With the constant they are the score, for
 * every strategy and every kind of score; values are those of the stack; and what is refused.
 */
#include "stack_helper.h"
#include "texturevlm/lab/explain.h"

enum { WIDTH = 203, HEIGHT = 149, K = 30, CHANNELS_MAX = 8 };

static tvlm_reason reasons[K * CHANNELS_MAX];

/* Selects and explains. Returns the number of channels. */
static int32_t explain(tvlm_stack *stack, const struct tvlm_query *query,
                       const struct tvlm_select_params *params, tvlm_selection **selection) {
    int32_t channels, again, count;
    *selection = NULL;
    assert_int_equal(tvlm_select(stack, query, params, selection), TVLM_OK);
    (void)tvlm_selection_positions(*selection, &count);
    assert_int_equal(tvlm_explain(stack, query, params, *selection, 0, NULL, &channels), TVLM_OK);
    assert_in_range(channels, 0, CHANNELS_MAX);
    memset(reasons, 0xff, sizeof reasons);
    assert_int_equal(tvlm_explain(stack, query, params, *selection, K * CHANNELS_MAX, reasons, &again),
                     TVLM_OK);
    assert_int_equal(again, channels);
    for (int32_t i = 0; i < count * channels; ++i) {
        assert_int_equal(reasons[i].channel, reasons[i % channels].channel);
        for (int r = 0; r < 4; ++r) assert_int_equal(reasons[i].reserved[r], 0);
    }
    return channels;
}

/* The score less the shares is the same for all positions. Returns it. */
static double constant_of(const tvlm_selection *selection, int32_t channels, double tolerance) {
    int32_t count;
    double low = INFINITY, high = -INFINITY;
    const tvlm_position *const p = tvlm_selection_positions(selection, &count);
    for (int32_t i = 0; i < count; ++i) {
        double rest = (double)p[i].score;
        for (int32_t c = 0; c < channels; ++c) rest -= (double)reasons[i * channels + c].share;
        low = fmin(low, rest);
        high = fmax(high, rest);
    }
    if (!(high - low <= tolerance)) {
        tvlm_selection_info info;
        (void)tvlm_selection_get_info(selection, &info);
        fail_msg("%s: what is left of scores is %g to %g", tvlm_strategy_name(info.strategy), low, high);
    }
    return low;
}

/* The reason of one channel for a position. */
static const tvlm_reason *reason_of(int32_t position, int32_t channels, int32_t channel) {
    for (int32_t c = 0; c < channels; ++c)
        if (reasons[c].channel == channel) return &reasons[position * channels + c];
    fail_msg("channel %d has no reason", (int)channel);
    return NULL;
}

static float sampled(tvlm_stack *stack, const tvlm_position *p, float level, int32_t channel) {
    const tvlm_sample_point point = {p->x, p->y, level, 0};
    float value;
    assert_int_equal(tvlm_stack_sample(stack, &point, 1, &channel, 1, &value), TVLM_OK);
    return value;
}

/* The parts: information with its cap, and perspective, whose eccentricity takes away. */
static void check_parts(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 8);
    tvlm_selection *selection;
    int32_t count;
    const int32_t channels =
        explain(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = K), &selection);
    const tvlm_position *const p = tvlm_selection_positions(selection, &count);
    assert_int_equal(channels, 4);
    assert_int_equal(count, K);
    (void)constant_of(selection, channels, 1e-5);
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_reason *const entropy = reason_of(i, channels, TVLM_CHANNEL_ENTROPY),
                                 *const edges = reason_of(i, channels, TVLM_CHANNEL_EDGES),
                                 *const saliency = reason_of(i, channels, TVLM_CHANNEL_SALIENCY),
                                 *const eccentricity = reason_of(i, channels, TVLM_CHANNEL_ECCENTRICITY);
        assert_float_equal(entropy->value, sampled(stack, &p[i], 4.0f, TVLM_CHANNEL_ENTROPY), 1e-4);
        assert_float_equal(eccentricity->value, sampled(stack, &p[i], 4.0f, TVLM_CHANNEL_ECCENTRICITY), 1e-4);
        assert_float_equal(edges->value, sampled(stack, &p[i], 4.0f, TVLM_CHANNEL_EDGES), 1e-4);
        /* I = 0.5 entropy + min(0.5, 2 edges), P = 0.7 saliency - 0.3 eccentricity: doc/channels.md. */
        assert_float_equal(edges->weight / entropy->weight, 4.0f, 1e-4);
        assert_float_equal(saliency->weight / eccentricity->weight, -7.0f / 3.0f, 1e-4);
        assert_float_equal(entropy->share, entropy->weight * entropy->value, 1e-5);
        assert_float_equal(saliency->share, saliency->weight * saliency->value, 1e-5);
        assert_float_equal(edges->share, entropy->weight * fminf(1.0f, 4.0f * edges->value), 1e-4);
        assert_true(eccentricity->share <= 0.0f);
    }
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

/* A scorer's weights are as they are, and its bias is what is left; taps count together. */
static void check_scorers(tvlm_device *device, tvlm_format format) {
    static const int32_t listed[] = {TVLM_CHANNEL_SALIENCY, TVLM_CHANNEL_R, TVLM_CHANNEL_G};
    static const float weights[] = {2.0f, -0.5f, 0.0f};
    float taps[18];
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 8);
    tvlm_selection *selection;
    for (int i = 0; i < 18; ++i) taps[i] = 0.1f * (float)(i % 5) - 0.15f;
    const tvlm_scorer plain = {.channel_count = 3, .channels = listed, .weights = weights, .bias = 0.75f};
    int32_t channels = explain(
        stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = K, .score = {.scorer = &plain}),
        &selection);
    assert_int_equal(channels, 2); /* what has no weight is no reason */
    assert_float_equal(constant_of(selection, channels, 1e-5), 0.75, 1e-5);
    for (int32_t i = 0; i < K; ++i) {
        assert_float_equal(reason_of(i, channels, TVLM_CHANNEL_R)->weight, -0.5f, 0.0);
        assert_float_equal(reason_of(i, channels, TVLM_CHANNEL_SALIENCY)->weight, 2.0f, 0.0);
    }
    tvlm_selection_destroy(&selection);
    const tvlm_scorer nine = {.channel_count = 2, .channels = listed, .taps = 9, .weights = taps};
    channels = explain(stack, NULL,
                       tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = K, .score = {.scorer = &nine}),
                       &selection);
    assert_int_equal(channels, 2);
    assert_float_equal(constant_of(selection, channels, 1e-5), 0.0, 1e-5);
    float sum = 0.0f;
    for (int i = 9; i < 18; ++i) sum += taps[i];
    assert_float_equal(reason_of(0, channels, TVLM_CHANNEL_R)->weight, sum, 1e-6);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

/* Every strategy; with a question, which is a channel of its own; and scores as they were remembered. */
static void check_strategies(tvlm_device *device, tvlm_format format) {
    static const float similarity[6] = {0.9f, -0.2f, 0.1f, 0.3f, 0.6f, -0.8f};
    const struct tvlm_query query = {.similarity = similarity, .columns = 3, .rows = 2};
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 8);
    for (int strategy = TVLM_STRATEGY_GRID; strategy <= TVLM_STRATEGY_CASCADE; ++strategy) {
        const struct tvlm_select_params params = {.k = K, .strategy = (tvlm_strategy)strategy};
        const bool exact = strategy == TVLM_STRATEGY_GRID || strategy == TVLM_STRATEGY_EXHAUSTIVE;
        tvlm_selection *selection, *again = NULL;
        const int32_t channels = explain(stack, &query, &params, &selection);
        assert_int_equal(channels, 5);
        (void)reason_of(0, channels, TVLM_CHANNEL_QUERY_SIMILARITY);
        (void)constant_of(selection, channels, exact ? 2e-5 : 4e-3);
        assert_int_equal(tvlm_select(stack, &query, &params, &again), TVLM_OK); /* nothing was changed */
        same_positions(again, selection);
        tvlm_selection_destroy(&again);
        tvlm_selection_destroy(&selection);
    }
    tvlm_selection *selection;
    const struct tvlm_select_params covering = {
        .k = K, .strategy = TVLM_STRATEGY_CASCADE, .cascade.cover = true};
    const int32_t channels = explain(stack, NULL, &covering, &selection);
    assert_int_equal(channels, 4);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

static void test_refused(void **state) {
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, WIDTH, HEIGHT, 8);
    tvlm_selection *selection = NULL;
    int32_t channels;
    (void)state;
    assert_int_equal(
        tvlm_select(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = K), &selection),
        TVLM_OK);
    refused(tvlm_explain(stack, NULL, NULL, NULL, 0, NULL, &channels), TVLM_ERROR_ARGUMENT,
            "selection is NULL");
    refused(tvlm_explain(stack, NULL, NULL, selection, 0, NULL, NULL), TVLM_ERROR_ARGUMENT,
            "channel_count is NULL");
    refused(tvlm_explain(stack, NULL, NULL, selection, 3, NULL, &channels), TVLM_ERROR_ARGUMENT,
            "reasons is NULL");
    refused(tvlm_explain(stack, NULL, NULL, selection, -1, reasons, &channels), TVLM_ERROR_ARGUMENT,
            "room for -1");
    refused(tvlm_explain(stack, NULL,
                         tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = K, .score.stride = 64.0f),
                         selection, 4 * K, reasons, &channels),
            TVLM_ERROR_ARGUMENT, "of a selection by other parameters; here there are ");
    refused(tvlm_explain(stack, NULL, NULL, selection, 4 * K - 1, reasons, &channels), TVLM_ERROR_ARGUMENT,
            "room for 119 reasons; there are 120");
    /* Parameters that name no strategy are of the one that chose. */
    assert_int_equal(tvlm_explain(stack, NULL, NULL, selection, 0, NULL, &channels), TVLM_OK);
    assert_int_equal(channels, 4);
    refused(tvlm_explain(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_QUADTREE), selection, 0,
                         NULL, &channels),
            TVLM_ERROR_ARGUMENT, "parameters of the strategy quadtree for a selection by grid");
    refused(tvlm_explain(stack, NULL, tvlm_select_params(.reserved = {1}), selection, 0, NULL, &channels),
            TVLM_ERROR_ARGUMENT, "tvlm_select_params: its reserved");
    assert_int_equal(tvlm_explain(NULL, NULL, NULL, selection, 0, NULL, &channels), TVLM_ERROR_ARGUMENT);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

DEVICE_CHECKS(check_parts, check_scorers, check_strategies)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference_f32),
                                       cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
