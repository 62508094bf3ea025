/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/fit.h: known weights come back, on every device and as on the reference; what is held out is not learnt
 * from; what is refused.
 */
#include "stack_helper.h"
#include "texturevlm/lab/fit.h"

enum { WIDTH = 149, HEIGHT = 83, COLUMNS = 19, ROWS = 11, CELLS = COLUMNS * ROWS }; /* the last are clipped */
#define STRIDE 8.0f

static const int32_t channels[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_EDGES, TVLM_CHANNEL_ENTROPY};
enum { CHANNELS = 3 };

static tvlm_fit *fit_of(int32_t taps, const int32_t *numbers, int32_t count) {
    tvlm_fit *fit = NULL;
    assert_int_equal(tvlm_fit_create(tvlm_fit_params(.channels = numbers, .channel_count = count,
                                                     .taps = taps, .stride = STRIDE),
                                     &test_log, &fit),
                     TVLM_OK);
    return fit;
}

static void score_of(tvlm_stack *stack, const tvlm_scorer *scorer, float *scores) {
    assert_int_equal(
        tvlm_score(stack, NULL, tvlm_score_params(.scorer = scorer, .stride = STRIDE), CELLS, scores),
        TVLM_OK);
}

/* What a scorer means: the share of each cell is that of its odds. `negate`: the opposite. */
static void truth_of(tvlm_stack *stack, const tvlm_scorer *scorer, bool negate, float *share) {
    score_of(stack, scorer, share);
    for (int i = 0; i < CELLS; ++i) share[i] = 1.0f / (1.0f + expf(negate ? share[i] : -share[i]));
}

static void add(tvlm_fit *fit, tvlm_stack *stack, const float *share) {
    assert_int_equal(tvlm_fit_add(fit, stack, 0, share, COLUMNS, ROWS), TVLM_OK);
}

static const tvlm_scorer *solve(tvlm_fit *fit, float l2, const uint8_t *held_out) {
    const tvlm_scorer *scorer = NULL;
    assert_int_equal(tvlm_fit_solve(fit, tvlm_fit_solve_params(.l2 = l2, .held_out = held_out), &scorer),
                     TVLM_OK);
    return scorer;
}

/* Odds of which no cell of a random picture is certain. */
static tvlm_scorer known_scorer(int32_t taps) {
    static const float one[CHANNELS] = {2.0f, -5.0f, 3.0f};
    static float nine[CHANNELS * 9];
    for (int i = 0; i < CHANNELS * 9; ++i) nine[i] = 0.5f * one[i / 9] * ((i % 9) % 2 == 0 ? 1.0f : -0.6f);
    return (tvlm_scorer){.channel_count = CHANNELS,
                         .channels = channels,
                         .taps = taps,
                         .weights = taps == 1 ? one : nine,
                         .bias = -1.0f};
}

/* With next to no regularisation, odds that a scorer made lead back to it. Every third cell is unknown. */
static void check_recovers(tvlm_device *device, tvlm_format format) {
    float share[CELLS], got[CELLS], expected[CELLS];
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 11),
               *other = random_stack(device, format, WIDTH, HEIGHT, 12);
    for (int32_t taps = 1; taps <= 9; taps += 8) {
        const tvlm_scorer known = known_scorer(taps);
        tvlm_fit *fit = fit_of(taps, channels, CHANNELS);
        truth_of(stack, &known, false, share);
        for (int i = 0; i < CELLS; i += 3) share[i] = NAN;
        add(fit, stack, share);
        truth_of(other, &known, false, share);
        add(fit, other, share);
        const tvlm_scorer *scorer = solve(fit, 1e-7f, NULL);
        assert_int_equal(scorer->channel_count, CHANNELS);
        assert_int_equal(scorer->taps, taps);
        /* An l2 of 1e-7 moves standardised weights by about 1e-5; the rest are shares rounded to float, and
         * with nine taps a Hessian whose condition multiplies them. */
        if (taps == 1) {
            test_compare("weights", scorer->weights, known.weights, CHANNELS, 0.01f, 0.01f);
            test_compare("bias", &scorer->bias, &known.bias, 1, 0.01f, 0.01f);
        }
        score_of(stack, scorer, got);
        score_of(stack, &known, expected);
        test_compare("log odds", got, expected, CELLS, taps == 1 ? 0.01f : 0.05f, 0.01f);
        tvlm_fit_destroy(&fit);
    }
    tvlm_stack_destroy(&stack);
    tvlm_stack_destroy(&other);
}

/* The right half is object: finite weights, and every cell there above every other. */
static void check_separates(tvlm_device *device, tvlm_format format) {
    static const int32_t position[] = {TVLM_CHANNEL_Y, TVLM_CHANNEL_X, TVLM_CHANNEL_MOTION};
    float share[CELLS], scores[CELLS], least = INFINITY, most = -INFINITY;
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 13);
    tvlm_fit *fit = fit_of(1, position, 3);
    for (int i = 0; i < CELLS; ++i) share[i] = i % COLUMNS >= COLUMNS / 2 ? 1.0f : 0.0f;
    add(fit, stack, share);
    const tvlm_scorer *scorer = solve(fit, 0.001f, NULL);
    score_of(stack, scorer, scores);
    for (int i = 0; i < CELLS; ++i) {
        if (share[i] == 1.0f)
            least = fminf(least, scores[i]);
        else
            most = fmaxf(most, scores[i]);
    }
    assert_true(least > most && scorer->weights[1] > 1.0f && isfinite(scorer->weights[1]));
    assert_true(scorer->weights[2] == 0.0f); /* no motion in a still: the same everywhere */
    const float loose = scorer->weights[1];
    assert_true(solve(fit, 1.0f, NULL)->weights[1] < 0.5f * loose);
    tvlm_fit_destroy(&fit);
    tvlm_stack_destroy(&stack);
}

static void check_holds_out(tvlm_device *device, tvlm_format format) {
    float share[CELLS], all[CHANNELS], without[CHANNELS];
    const uint8_t held_out[] = {0, 1, 0}, nothing[] = {0, 0, 0};
    const tvlm_scorer known = known_scorer(1);
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 14);
    tvlm_fit *one = fit_of(1, channels, CHANNELS), *three = fit_of(1, channels, CHANNELS);
    for (int i = 0; i < 3; ++i) {
        truth_of(stack, &known, i == 1, share);
        add(three, stack, share);
        if (i != 1) add(one, stack, share);
    }
    assert_int_equal(tvlm_fit_images(three), 3);
    memcpy(all, solve(one, 0.0f, NULL)->weights, sizeof all);
    memcpy(without, solve(three, 0.0f, held_out)->weights, sizeof without);
    assert_memory_equal(all, without, sizeof all);
    memcpy(all, solve(three, 0.0f, nothing)->weights, sizeof all);
    assert_memory_equal(all, solve(three, 0.0f, NULL)->weights, sizeof all); /* the same every time */
    assert_memory_not_equal(all, without, sizeof all);
    tvlm_fit_destroy(&one);
    tvlm_fit_destroy(&three);
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS(check_recovers, check_separates, check_holds_out)

/* Prints how far the channels that a scorer reads differ from the reference's, at the level of its cells, where
 * $TVLM_TEST_FIGURES=1. */
static void print_differences(const test_target *target, tvlm_device *reference, const tvlm_scorer *scorer) {
    tvlm_device *devices[2] = {target->device, reference};
    tvlm_stack *stacks[2];
    if (getenv("TVLM_TEST_FIGURES") == NULL) return;
    for (int d = 0; d < 2; ++d) stacks[d] = random_stack(devices[d], target->format, WIDTH, HEIGHT, 15);
    for (int32_t c = 0; c < scorer->channel_count; ++c) {
        tvlm_channel_info info;
        float *levels[2], most = 0.0f;
        size_t count = 0, at = 0;
        assert_int_equal(tvlm_channel_get_info(scorer->channels[c], &info), TVLM_OK);
        for (int d = 0; d < 2; ++d) levels[d] = read_level(stacks[d], 0, scorer->channels[c], 3, &count);
        for (size_t i = 0; i < count; ++i) {
            if (!(fabsf(levels[0][i] - levels[1][i]) > most)) continue;
            most = fabsf(levels[0][i] - levels[1][i]);
            at = i;
        }
        printf("    %s: %g at %zu of %zu\n", info.name, (double)most, at, count);
        for (int d = 0; d < 2; ++d) free(levels[d]);
    }
    for (int d = 0; d < 2; ++d) tvlm_stack_destroy(&stacks[d]);
}

/* The same photo and truth teach a device and the reference the same. */
static void as_reference(const test_target *target, tvlm_device *reference) {
    for (int32_t taps = 1; taps <= 9; taps += 8) {
        float share[CELLS], scores[2][CELLS];
        tvlm_device *devices[2] = {target->device, reference};
        for (int d = 0; d < 2; ++d) {
            tvlm_stack *stack = random_stack(devices[d], target->format, WIDTH, HEIGHT, 15);
            tvlm_fit *fit = fit_of(taps, NULL, 0);
            uint64_t seed = 16;
            for (int i = 0; i < CELLS; ++i) share[i] = test_random_unit(&seed);
            add(fit, stack, share);
            const tvlm_scorer *scorer = solve(fit, 0.1f, NULL);
            score_of(stack, scorer, scores[d]);
            if (d == 0 && taps == 1) print_differences(target, reference, scorer);
            tvlm_fit_destroy(&fit);
            tvlm_stack_destroy(&stack);
        }
        /* Thresholds (text, boundary) may fall otherwise in a pixel, a hundredth of a cell's value. In half a
         * value may be rounded the other way, and where a channel hardly differs between cells, as rgb_var
         * here, its weight is several hundred. */
        const bool half = target->format == TVLM_FORMAT_F16;
        test_compare("log odds of the reference", scores[0], scores[1], CELLS, half ? 0.5f : 0.05f,
                     half ? 0.1f : 0.005f);
    }
}

static void test_as_reference(void **state) {
    (void)state;
    if (test_for_each_target(as_reference) == 0) skip();
}

static void test_split(void **state) {
    uint8_t a[100], b[100];
    (void)state;
    for (int32_t images = 1; images <= 100; ++images) {
        int32_t sum = 0, expected = (int32_t)lround(0.25 * images);
        assert_int_equal(tvlm_fit_split(images, 0.25f, 3, a), TVLM_OK);
        for (int32_t i = 0; i < images; ++i) sum += a[i];
        if (expected < 1) expected = 1;
        if (expected >= images) expected = images - 1;
        assert_int_equal(sum, expected);
    }
    assert_int_equal(tvlm_fit_split(100, 0.25f, 3, b), TVLM_OK);
    assert_memory_equal(a, b, 100);
    assert_int_equal(tvlm_fit_split(100, 0.25f, 4, b), TVLM_OK);
    assert_memory_not_equal(a, b, 100);
    assert_int_equal(tvlm_fit_split(2, 0.99f, 3, a), TVLM_OK);
    assert_int_equal(a[0] + a[1], 1);
    assert_int_equal(tvlm_fit_split(2, 1.0f, 3, a), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_fit_split(2, NAN, 3, a), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_fit_split(0, 0.5f, 3, a), TVLM_ERROR_ARGUMENT);
}

static void refuse_create(const struct tvlm_fit_params *params, const char *line) {
    tvlm_fit *fit = NULL;
    refused(tvlm_fit_create(params, &test_log, &fit), TVLM_ERROR_ARGUMENT, line);
    assert_null(fit);
}

static void test_create_refusals(void **state) {
    const int32_t twice[] = {3, 41, 3}, unknown[] = {3, 999999}, identifier[] = {TVLM_CHANNEL_CLUSTER_ID};
    (void)state;
    refuse_create(tvlm_fit_params(.channels = twice, .channel_count = 3), "edges stands twice");
    refuse_create(tvlm_fit_params(.channels = unknown, .channel_count = 2), "no channel 999999");
    refuse_create(tvlm_fit_params(.channels = identifier, .channel_count = 1), "cluster_id is an identifier");
    refuse_create(tvlm_fit_params(.channels = twice, .channel_count = 0), "0 channels");
    refuse_create(tvlm_fit_params(.taps = 3), "3 taps");
    refuse_create(tvlm_fit_params(.stride = 0.5f), "stride 0.5");
    refuse_create(tvlm_fit_params(.stride = NAN), "stride");
    assert_int_equal(tvlm_fit_create(NULL, NULL, NULL), TVLM_ERROR_ARGUMENT);
    tvlm_fit_destroy(NULL);
}

static void test_refusals(void **state) {
    float share[CELLS] = {0.0f};
    const uint8_t all[] = {1};
    const tvlm_scorer *scorer = NULL;
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, WIDTH, HEIGHT, 17);
    tvlm_fit *fit = fit_of(1, channels, CHANNELS);
    (void)state;
    refused(tvlm_fit_solve(fit, NULL, &scorer), TVLM_ERROR_ARGUMENT, "no image to learn from");
    refused(tvlm_fit_add(fit, stack, 0, share, ROWS, COLUMNS), TVLM_ERROR_ARGUMENT,
            "11 x 19 cells; the image has 19 x 11");
    refused(tvlm_fit_add(fit, stack, 1, share, COLUMNS, ROWS), TVLM_ERROR_ARGUMENT, "1");
    share[7] = 1.5f;
    refused(tvlm_fit_add(fit, stack, 0, share, COLUMNS, ROWS), TVLM_ERROR_ARGUMENT, "share 7 is 1.5");
    for (int i = 0; i < CELLS; ++i) share[i] = NAN;
    refused(tvlm_fit_add(fit, stack, 0, share, COLUMNS, ROWS), TVLM_ERROR_ARGUMENT, "no cell of the image");
    assert_int_equal(tvlm_fit_add(fit, stack, 0, NULL, COLUMNS, ROWS), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_fit_images(fit), 0);
    memset(share, 0, sizeof share);
    add(fit, stack, share);
    refused(tvlm_fit_solve(fit, NULL, &scorer), TVLM_ERROR_ARGUMENT, "no object");
    refused(tvlm_fit_solve(fit, tvlm_fit_solve_params(.held_out = all), &scorer), TVLM_ERROR_ARGUMENT,
            "no image to learn from");
    refused(tvlm_fit_solve(fit, tvlm_fit_solve_params(.l2 = -1.0f), &scorer), TVLM_ERROR_ARGUMENT, "l2 -1");
    refused(tvlm_fit_solve(fit, tvlm_fit_solve_params(.l2 = INFINITY), &scorer), TVLM_ERROR_ARGUMENT, "l2");
    tvlm_fit_destroy(&fit);
    fit = fit_of(1, channels, CHANNELS);
    for (int i = 0; i < CELLS; ++i) share[i] = 1.0f;
    add(fit, stack, share);
    refused(tvlm_fit_solve(fit, NULL, &scorer), TVLM_ERROR_ARGUMENT, "nothing but objects");
    assert_null(scorer);
    tvlm_fit_destroy(&fit);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_f32), cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),       cmocka_unit_test(test_as_reference),
        cmocka_unit_test(test_split),         cmocka_unit_test(test_create_refusals),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
