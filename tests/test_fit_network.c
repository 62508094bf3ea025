/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/fit.h: networks and query weights. What no linear scorer can say is learnt by one with a hidden layer, and what a matrix
 * made comes back, also for a question that was not learnt from; what is refused.
 */
#include "network_helper.h"
#include "stack_helper.h"
#include "texturevlm/input.h"
#include "texturevlm/lab/fit.h"

enum { WIDTH = 149, HEIGHT = 83, COLUMNS = 10, ROWS = 6, CELLS = COLUMNS * ROWS, CHANNELS = 3, D = 6 };

static const int32_t channels[CHANNELS] = {TVLM_CHANNEL_R, TVLM_CHANNEL_EDGES, TVLM_CHANNEL_Y};

static tvlm_fit *fit_of(const struct tvlm_fit_params *params) {
    tvlm_fit *fit = NULL;
    assert_int_equal(tvlm_fit_create(params, &test_log, &fit), TVLM_OK);
    return fit;
}

static const tvlm_scorer *solve(tvlm_fit *fit, float l2) {
    const tvlm_scorer *scorer = NULL;
    assert_int_equal(tvlm_fit_solve(fit, tvlm_fit_solve_params(.l2 = l2), &scorer), TVLM_OK);
    return scorer;
}

static void score_of(tvlm_stack *stack, const struct tvlm_query *query, const tvlm_scorer *scorer,
                     float *scores) {
    assert_int_equal(tvlm_score(stack, query, tvlm_score_params(.scorer = scorer), CELLS, scores), TVLM_OK);
}

static double loss_of(const float *scores, const float *share) {
    double sum = 0.0;
    for (int i = 0; i < CELLS; ++i)
        sum += (log1p(exp(-fabs((double)scores[i]))) + fmax((double)scores[i], 0.0) -
                (double)share[i] * (double)scores[i]) /
               CELLS;
    return sum;
}

/* ---- A hidden layer ---- */

/* The middle rows are object: neither more nor less of y says so. */
static void middle(float *share) {
    for (int i = 0; i < CELLS; ++i) share[i] = i / COLUMNS == 2 || i / COLUMNS == 3 ? 1.0f : 0.0f;
}

static void check_hidden(tvlm_device *device, tvlm_format format) {
    float share[CELLS], linear[CELLS], got[CELLS], again[CELLS];
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 21);
    middle(share);
    for (int32_t taps = 1; taps <= 9; taps += 8) {
        tvlm_fit *fits[2] = {
            fit_of(tvlm_fit_params(.channels = channels, .channel_count = CHANNELS, .taps = taps)),
            fit_of(
                tvlm_fit_params(.channels = channels, .channel_count = CHANNELS, .taps = taps, .hidden = 6))};
        for (int i = 0; i < 2; ++i)
            assert_int_equal(tvlm_fit_add(fits[i], stack, 0, share, COLUMNS, ROWS), TVLM_OK);
        score_of(stack, NULL, solve(fits[0], 0.01f), linear);
        const tvlm_scorer *const scorer = solve(fits[1], 0.0f);
        assert_non_null(scorer->network);
        assert_int_equal(scorer->network->layers[0].side, taps == 9 ? 3 : 1);
        score_of(stack, NULL, scorer, got);
        for (int i = 0; i < CELLS; ++i)
            if (isnan(got[i]) || (got[i] > 0.0f) != (share[i] > 0.5f))
                fail_msg("%d taps: score %d is %g, the share %g", (int)taps, i, (double)got[i],
                         (double)share[i]);
        assert_true(loss_of(got, share) < 0.3 * loss_of(linear, share));
        score_of(stack, NULL, solve(fits[1], 0.0f), again);
        assert_memory_equal(got, again, sizeof got); /* the same every time */
        tvlm_fit_destroy(&fits[0]);
        tvlm_fit_destroy(&fits[1]);
    }
    tvlm_stack_destroy(&stack);
}

/* What is strongly held back is the share of objects alone, and one value is enough for the linear scorer's beginning. */
static void check_penalty(tvlm_device *device, tvlm_format format) {
    float share[CELLS], got[CELLS];
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 21);
    tvlm_fit *fit =
        fit_of(tvlm_fit_params(.channels = channels, .channel_count = CHANNELS, .taps = 9, .hidden = 1));
    middle(share);
    assert_int_equal(tvlm_fit_add(fit, stack, 0, share, COLUMNS, ROWS), TVLM_OK);
    score_of(stack, NULL, solve(fit, 1e6f), got);
    for (int i = 0; i < CELLS; ++i) assert_true(fabsf(got[i] - logf(0.5f)) < 0.01f); /* 1/3 against 2/3 */
    tvlm_fit_destroy(&fit);
    tvlm_stack_destroy(&stack);
}

/* ---- Weights that a question gives ---- */

static tvlm_stack *stack_with_features(tvlm_device *device, tvlm_format format, uint64_t seed) {
    float features[3 * 2 * D];
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, seed);
    for (int i = 0; i < 3 * 2 * D; ++i) features[i] = test_random_unit(&seed) - 0.4f;
    const struct tvlm_grid_input input = {.data = features, .columns = 3, .rows = 2, .channels = D};
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0, &input), TVLM_OK);
    return stack;
}

/* Questions to one image, whose answers a known matrix makes. They are more than their dimensions, so that there is one such
 * matrix. The last one is not learnt from: what is learnt gives its answer too. */
static void check_query(tvlm_device *device, tvlm_format format) {
    enum { QUESTIONS = 10, LEARNT = 9 };
    float weights[CHANNELS * 9], matrix[CHANNELS * 9 * D], vectors[QUESTIONS][D], share[CELLS],
        expected[CELLS], got[CELLS];
    uint64_t seed = 91;
    tvlm_stack *stack = stack_with_features(device, format, 22);
    for (int q = 0; q < QUESTIONS; ++q)
        for (int d = 0; d < D; ++d) vectors[q][d] = test_network_value(&seed);
    for (int32_t taps = 1; taps <= 9; taps += 8) {
        for (int i = 0; i < CHANNELS * taps; ++i) weights[i] = test_network_value(&seed) / (float)taps;
        for (int i = 0; i < CHANNELS * taps * D; ++i)
            matrix[i] = 4.0f * test_network_value(&seed) / (float)taps;
        const tvlm_scorer known = {.channel_count = CHANNELS,
                                   .channels = channels,
                                   .taps = taps,
                                   .weights = weights,
                                   .query_weights = matrix,
                                   .query_taps = taps,
                                   .dimension = D};
        tvlm_fit *fit = fit_of(tvlm_fit_params(.channels = channels, .channel_count = CHANNELS, .taps = taps,
                                               .query_weights = true));
        for (int q = 0; q < LEARNT; ++q) {
            const struct tvlm_query query = {.vectors = vectors[q], .dimension = D};
            score_of(stack, &query, &known, share);
            for (int i = 0; i < CELLS; ++i) share[i] = 1.0f / (1.0f + expf(-share[i]));
            assert_int_equal(tvlm_fit_add_query(fit, stack, 0, &query, share, COLUMNS, ROWS), TVLM_OK);
        }
        const tvlm_scorer *const scorer = solve(fit, 1e-7f);
        assert_int_equal(scorer->query_taps, taps);
        assert_int_equal(scorer->dimension, D);
        for (int q = 0; q < QUESTIONS; ++q) {
            const struct tvlm_query query = {.vectors = vectors[q], .dimension = D};
            score_of(stack, &query, &known, expected);
            score_of(stack, &query, scorer, got);
            /* An l2 of 1e-7, and a descent that ends where a step gains a billionth; on a GPU, whose filter has
             * 8 fractional bits, 0.033 on average. */
            test_compare("log odds", got, expected, CELLS, 0.1f, 0.04f);
        }
        tvlm_fit_destroy(&fit);
    }
    tvlm_stack_destroy(&stack);
}

/* The default channels hold what the question finds. */
static void check_similarity(tvlm_device *device, tvlm_format format) {
    static const float vector[D] = {1.0f, -0.5f, 0.0f, 0.25f, 0.0f, 0.0f};
    const struct tvlm_query query = {.vectors = vector, .dimension = D};
    float share[CELLS], got[CELLS], most = 0.0f;
    int32_t count;
    tvlm_stack *stack = stack_with_features(device, format, 23);
    const int32_t similarity = TVLM_CHANNEL_QUERY_SIMILARITY;
    const float one = 4.0f;
    const tvlm_scorer known = {.channel_count = 1, .channels = &similarity, .weights = &one};
    tvlm_fit *fit = fit_of(tvlm_fit_params(.query_weights = true));
    assert_int_equal(tvlm_fit_channels(fit, &count)[9], TVLM_CHANNEL_QUERY_SIMILARITY);
    assert_int_equal(count, 10);
    score_of(stack, &query, &known, share);
    for (int i = 0; i < CELLS; ++i) share[i] = 1.0f / (1.0f + expf(-share[i]));
    assert_int_equal(tvlm_fit_add_query(fit, stack, 0, &query, share, COLUMNS, ROWS), TVLM_OK);
    const tvlm_scorer *const scorer = solve(fit, 1e-4f);
    score_of(stack, &query, scorer, got);
    for (int i = 0; i < CELLS; ++i) {
        const float odds = logf(share[i] / (1.0f - share[i]));
        most = fmaxf(most, fabsf(got[i] - odds));
    }
    if (most > 0.5f) fail_msg("log odds differ by %g", (double)most);
    tvlm_fit_destroy(&fit);
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS(check_hidden, check_penalty, check_query, check_similarity)

/* ---- What is refused ---- */

static void refuse_create(const struct tvlm_fit_params *params, const char *line) {
    tvlm_fit *fit = NULL;
    refused(tvlm_fit_create(params, &test_log, &fit), TVLM_ERROR_ARGUMENT, line);
    assert_null(fit);
}

static void test_create_refusals(void **state) {
    int32_t many[65];
    (void)state;
    for (int i = 0; i < 65; ++i) many[i] = TVLM_CHANNEL_FEATURE_0 + i;
    refuse_create(tvlm_fit_params(.hidden = -1), "a fit of -1 hidden values; 1 to 256 are possible");
    refuse_create(tvlm_fit_params(.hidden = 257), "a fit of 257 hidden values");
    refuse_create(tvlm_fit_params(.hidden = 4, .query_weights = true), "hidden values and of query weights");
    refuse_create(tvlm_fit_params(.hidden = 4, .channels = many, .channel_count = 65),
                  "a fit of 65 channels with hidden values; 1 to 64 are possible");
}

static void test_refusals(void **state) {
    static const float vector[D + 1] = {1.0f, 2.0f}, zero[D] = {0.0f}, map[1] = {0.5f};
    const struct tvlm_query query = {.vectors = vector, .dimension = D};
    float share[CELLS] = {0.5f, 1.0f};
    const tvlm_scorer *scorer = NULL;
    tvlm_device *device = open_reference();
    tvlm_stack *stack = stack_with_features(device, TVLM_FORMAT_F32, 17);
    tvlm_fit *fit = fit_of(tvlm_fit_params(.query_weights = true)), *plain = fit_of(NULL);
    (void)state;
    refused(tvlm_fit_add(fit, stack, 0, share, COLUMNS, ROWS), TVLM_ERROR_ARGUMENT,
            "an image without a question");
    refused(tvlm_fit_add_query(plain, stack, 0, &query, share, COLUMNS, ROWS), TVLM_ERROR_ARGUMENT,
            "learns no query weights");
    refused(tvlm_fit_add_query(fit, stack, 0, NULL, share, COLUMNS, ROWS), TVLM_ERROR_ARGUMENT, "NULL");
    refused(tvlm_fit_add_query(fit, stack, 0, tvlm_query(.similarity = map, .columns = 1, .rows = 1), share,
                               COLUMNS, ROWS),
            TVLM_ERROR_ARGUMENT, "a question without vectors");
    refused(
        tvlm_fit_add_query(fit, stack, 0, tvlm_query(.vectors = zero, .dimension = D), share, COLUMNS, ROWS),
        TVLM_ERROR_ARGUMENT, "the query");
    refused(tvlm_fit_add_query(fit, stack, 0, tvlm_query(.vectors = vector, .dimension = D + 1), share,
                               COLUMNS, ROWS),
            TVLM_ERROR_ARGUMENT, "7");
    refused(tvlm_fit_add_query(fit, stack, 0, &query, share, ROWS, COLUMNS), TVLM_ERROR_ARGUMENT,
            "6 x 10 cells");
    refused(tvlm_fit_solve(fit, NULL, &scorer), TVLM_ERROR_ARGUMENT, "no image to learn from");
    assert_int_equal(tvlm_fit_images(fit), 0);
    assert_int_equal(tvlm_fit_add_query(fit, stack, 0, &query, share, COLUMNS, ROWS), TVLM_OK);
    refused(tvlm_fit_add_query(fit, stack, 0, tvlm_query(.vectors = vector, .dimension = D + 1), share,
                               COLUMNS, ROWS),
            TVLM_ERROR_ARGUMENT, "a question of 7 dimensions; those before have 6");
    assert_int_equal(tvlm_fit_images(fit), 1);
    assert_int_equal(tvlm_fit_solve(fit, NULL, &scorer), TVLM_OK);
    tvlm_fit_destroy(&fit);
    tvlm_fit_destroy(&plain);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_f32), cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),       cmocka_unit_test(test_create_refusals),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
