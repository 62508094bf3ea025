/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_codec.c: codecs on every device.
 *   - They are trained as the definition says.
 *   - Codes are those of what is sampled, between texels and levels, too.
 *   - A scorer of codes scores as the scorer of the decoded channels does.
 *   - Codes that are handed in again give the same scores, from a quarter of the memory.
 *   - What is wrong is refused.
 */
#include <lapacke.h>

#include "stack/inside.h"
#include "stack_helper.h"
#include "texturevlm/input.h"
#include "texturevlm/lab/codec.h"
#include "texturevlm/select.h"

enum { WIDTH = 149, HEIGHT = 83, MANY = 32, K = 8, FEATURES_WIDE = 20, FEATURES_HIGH = 12 };

/* Channels of the image's size, whose levels are means: sums of them are exact at every place and level. */
static const int32_t plain[] = {TVLM_CHANNEL_R,       TVLM_CHANNEL_G,      TVLM_CHANNEL_B,
                                TVLM_CHANNEL_EDGES,   TVLM_CHANNEL_LOW,    TVLM_CHANNEL_LAPLACIAN,
                                TVLM_CHANNEL_EDGE_X,  TVLM_CHANNEL_EDGE_Y, TVLM_CHANNEL_RGB_VAR,
                                TVLM_CHANNEL_RGB_MEAN};
enum { PLAIN = sizeof plain / sizeof *plain };

/* What a score of values of about 1 loses in float, and stored in half: an ulp for each code, of up to 8. */
static float tolerance_of(tvlm_format format) {
    return format == TVLM_FORMAT_F32 ? 1e-5f : 3e-2f;
}

static tvlm_codec *train(tvlm_stack *stack, struct tvlm_codec_trainer_params params) {
    tvlm_codec_trainer *trainer = NULL;
    tvlm_codec *codec = NULL;
    if (tvlm_codec_trainer_create(&params, &test_log, &trainer) != TVLM_OK) fail_msg("%s", test_last_log());
    if (tvlm_codec_trainer_add(trainer, stack, 0) != TVLM_OK) fail_msg("%s", test_last_log());
    if (tvlm_codec_trainer_finish(trainer, &codec) != TVLM_OK) fail_msg("%s", test_last_log());
    tvlm_codec_trainer_destroy(&trainer);
    return codec;
}

static tvlm_codec *train_plain(tvlm_stack *stack, int32_t k) {
    return train(stack,
                 (struct tvlm_codec_trainer_params){.channels = plain, .channel_count = PLAIN, .k = k});
}

/* A stack of the same random image as random_stack makes of the seed, with the codec's network. */
static tvlm_stack *coded_stack(tvlm_device *device, tvlm_format format, uint64_t seed,
                               const tvlm_codec *codec) {
    uint8_t *const pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stack *stack = NULL;
    assert_int_equal(tvlm_stack_create_for_image(
                         device, &image,
                         tvlm_stack_params(.format = format, .network = tvlm_codec_network(codec)), &stack),
                     TVLM_OK);
    free(pixels);
    return stack;
}

static float *scores_of(tvlm_stack *stack, const struct tvlm_score_params *params, size_t *count) {
    int32_t columns, rows;
    assert_int_equal(tvlm_score_size(stack, params, &columns, &rows), TVLM_OK);
    *count = (size_t)columns * (size_t)rows;
    float *const scores = malloc(*count * sizeof *scores);
    assert_non_null(scores);
    if (tvlm_score(stack, NULL, params, *count, scores) != TVLM_OK) fail_msg("%s", test_last_log());
    return scores;
}

/* ---- Training ---- */

/* The eigenvalues of the correlations of two images, each of which counts half, by LAPACK in double. */
static void exact_shares(tvlm_stack *const stacks[2], double *shares) {
    double mean[PLAIN] = {0}, matrix[PLAIN * PLAIN] = {0}, *values[2][PLAIN];
    size_t counts[2];
    for (int i = 0; i < 2; ++i)
        for (int c = 0; c < PLAIN; ++c) {
            float *const texels = read_level(stacks[i], 0, plain[c], 0, &counts[i]);
            values[i][c] = malloc(counts[i] * sizeof(double));
            for (size_t t = 0; t < counts[i]; ++t) {
                values[i][c][t] = (double)texels[t];
                mean[c] += values[i][c][t] / (double)counts[i] / 2.0;
            }
            free(texels);
        }
    for (int a = 0; a < PLAIN; ++a)
        for (int b = 0; b < PLAIN; ++b)
            for (int i = 0; i < 2; ++i)
                for (size_t t = 0; t < counts[i]; ++t)
                    matrix[a * PLAIN + b] +=
                        (values[i][a][t] - mean[a]) * (values[i][b][t] - mean[b]) / (double)counts[i] / 2.0;
    double scale[PLAIN], found[PLAIN];
    for (int c = 0; c < PLAIN; ++c) scale[c] = 1.0 / sqrt(matrix[c * PLAIN + c]);
    for (int a = 0; a < PLAIN; ++a)
        for (int b = 0; b < PLAIN; ++b) matrix[a * PLAIN + b] *= scale[a] * scale[b];
    assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', PLAIN, matrix, PLAIN, found), 0);
    for (int c = 0; c < PLAIN; ++c) shares[c] = found[PLAIN - 1 - c] / PLAIN;
    for (int i = 0; i < 2; ++i)
        for (int c = 0; c < PLAIN; ++c) free(values[i][c]);
}

/* Decoding undoes encoding of codes. */
static void expect_inverse(const struct tvlm_codec_params *p) {
    for (int32_t i = 0; i < p->k; ++i)
        for (int32_t j = 0; j < p->k; ++j) {
            double sum = 0.0;
            for (int32_t c = 0; c < p->channel_count; ++c)
                sum += (double)p->encode[i * p->channel_count + c] * (double)p->decode[c * p->k + j];
            if (!(fabs(sum - (i == j)) < 1e-4)) fail_msg("encode decode [%d, %d] is %g", i, j, sum);
        }
}

/* Two images, one of which is larger, in both orders. */
static void trained_as_defined(tvlm_device *device, tvlm_format format) {
    tvlm_stack *const stacks[2] = {random_stack(device, format, 60, 41, 5),
                                   random_stack(device, format, 33, 90, 6)};
    double shares[PLAIN];
    float first[K * PLAIN];
    exact_shares(stacks, shares);
    for (int turn = 0; turn < 2; ++turn) {
        tvlm_codec_trainer *trainer = NULL;
        tvlm_codec *codec = NULL;
        struct tvlm_codec_params p;
        assert_int_equal(
            tvlm_codec_trainer_create(tvlm_codec_trainer_params(.channels = plain, .channel_count = PLAIN),
                                      &test_log, &trainer),
            TVLM_OK);
        for (int i = 0; i < 2; ++i)
            assert_int_equal(tvlm_codec_trainer_add(trainer, stacks[(i + turn) % 2], 0), TVLM_OK);
        assert_int_equal(tvlm_codec_trainer_finish(trainer, &codec), TVLM_OK);
        assert_int_equal(tvlm_codec_get_params(codec, &p), TVLM_OK);
        assert_int_equal(p.k, K);
        for (int i = 0; i < K; ++i)
            if (!(fabs((double)p.variance[i] - shares[i]) < 1e-4))
                fail_msg("code %d keeps %g, not %g", i, (double)p.variance[i], shares[i]);
        expect_inverse(&p);
        if (turn == 0) memcpy(first, p.encode, sizeof first);
        if (turn == 1) test_compare("the order of images", p.encode, first, K * PLAIN, 2e-2f, 2e-3f);
        tvlm_codec_destroy(&codec);
        tvlm_codec_trainer_destroy(&trainer);
    }
    for (int i = 0; i < 2; ++i) tvlm_stack_destroy((tvlm_stack **)&stacks[i]);
}

/* What counts more is decoded better. */
static void weights_count(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = random_stack(device, format, 60, 41, 5);
    float weights[PLAIN], value[PLAIN], code[2], off[2][PLAIN];
    for (int turn = 0; turn < 2; ++turn) {
        for (int c = 0; c < PLAIN; ++c) weights[c] = turn == 1 && c == 5 ? 100.0f : 1.0f;
        tvlm_codec *codec =
            train(stack, (struct tvlm_codec_trainer_params){
                             .channels = plain, .channel_count = PLAIN, .k = 2, .weights = weights});
        const tvlm_sample_point point = {10.5f, 20.5f, 0.0f, 0};
        float back[PLAIN];
        assert_int_equal(tvlm_stack_sample(stack, &point, 1, plain, PLAIN, value), TVLM_OK);
        tvlm_codec_encode(codec, value, 1, code);
        tvlm_codec_decode(codec, code, 1, back);
        for (int c = 0; c < PLAIN; ++c) off[turn][c] = fabsf(back[c] - value[c]);
        tvlm_codec_destroy(&codec);
    }
    assert_true(off[1][5] < 1e-3f * fmaxf(off[0][5], 1e-3f) || off[1][5] < 1e-5f);
    assert_true(off[0][5] > 1e-3f);
    tvlm_stack_destroy(&stack);
}

/* A channel without variance is decoded to what it is. */
static void flat_channels(tvlm_device *device, tvlm_format format) {
    static const int32_t channels[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G, TVLM_CHANNEL_TEXT};
    uint8_t pixels[16 * 16 * 3];
    for (int i = 0; i < 16 * 16; ++i) {
        pixels[3 * i] = (uint8_t)i;
        pixels[3 * i + 1] = 51;
        pixels[3 * i + 2] = 0;
    }
    const tvlm_image image = u8_image(pixels, 16, 16, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    tvlm_codec *codec =
        train(stack, (struct tvlm_codec_trainer_params){.channels = channels, .channel_count = 3, .k = 2});
    const float given[3] = {0.25f, 0.9f, 1.0f};
    float codes[2], back[3];
    tvlm_codec_encode(codec, given, 1, codes);
    tvlm_codec_decode(codec, codes, 1, back);
    assert_true(fabsf(back[0] - 0.25f) < 1e-5f && fabsf(back[1] - 0.2f) < 1e-3f && back[2] == 0.0f);
    tvlm_codec_destroy(&codec);
    tvlm_stack_destroy(&stack);
}

/* ---- Codes ---- */

/* Codes are sampled, and so are the channels, at any place and level: the codes of these are those. */
static void codes_are_linear(tvlm_device *device, tvlm_format format) {
    enum { POINTS = 200 };
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 7);
    tvlm_codec *codec = train_plain(stack, K);
    tvlm_stack *coded = coded_stack(device, format, 7, codec);
    tvlm_sample_point points[POINTS];
    float values[POINTS * PLAIN], expected[POINTS * K], got[POINTS * K];
    int32_t codes[K];
    uint64_t random = 3;
    for (int i = 0; i < K; ++i) codes[i] = TVLM_CHANNEL_LEARNED_0 + i;
    for (int i = 0; i < POINTS; ++i)
        points[i] = (tvlm_sample_point){test_random_unit(&random) * WIDTH, test_random_unit(&random) * HEIGHT,
                                        test_random_unit(&random) * 7.0f, 0};
    assert_int_equal(tvlm_stack_sample(stack, points, POINTS, plain, PLAIN, values), TVLM_OK);
    tvlm_codec_encode(codec, values, POINTS, expected);
    assert_int_equal(tvlm_stack_sample(coded, points, POINTS, codes, K, got), TVLM_OK);
    /* Codes are up to about 10. */
    test_compare("codes of samples", got, expected, POINTS * K, 4.0f * tolerance_of(format),
                 tolerance_of(format));
    tvlm_stack_destroy(&coded);
    tvlm_stack_destroy(&stack);
    tvlm_codec_destroy(&codec);
}

/* The names and the level of codes, and their size. */
static void codes_of_a_level(tvlm_device *device, tvlm_format format) {
    static const int32_t channels[] = {TVLM_CHANNEL_SALIENCY, TVLM_CHANNEL_TEXT, TVLM_CHANNEL_ENTROPY};
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 7);
    tvlm_codec *codec = train(stack, (struct tvlm_codec_trainer_params){
                                         .channels = channels, .channel_count = 3, .k = 2, .level = 2});
    tvlm_stack *coded = coded_stack(device, format, 7, codec);
    int32_t width, height;
    const int32_t code = tvlm_stack_channel_find(coded, "code_1");
    assert_int_equal(code, TVLM_CHANNEL_LEARNED_0 + 1);
    assert_int_equal(tvlm_stack_channel_size(coded, code, 0, &width, &height), TVLM_OK);
    assert_int_equal(width, WIDTH / 4);
    assert_int_equal(height, HEIGHT / 4);
    tvlm_stack_destroy(&coded);
    tvlm_stack_destroy(&stack);
    tvlm_codec_destroy(&codec);
}

/* ---- Scorers of codes ---- */

typedef struct random_scorer {
    tvlm_scorer scorer;
    int32_t channels[PLAIN + 1];
    float weights[(PLAIN + 1) * 9];
} random_scorer;

/* Weighs all plain channels in another order, and eccentricity. */
static void make_scorer(random_scorer *made, int32_t taps, uint64_t seed) {
    for (int i = 0; i < PLAIN; ++i) made->channels[i] = plain[(i + 3) % PLAIN];
    made->channels[PLAIN] = TVLM_CHANNEL_ECCENTRICITY;
    for (int i = 0; i < (PLAIN + 1) * 9; ++i)
        made->weights[i] = (test_random_unit(&seed) - 0.5f) / (taps == 9 ? 4.0f : 1.0f);
    made->scorer = (tvlm_scorer){.channel_count = PLAIN + 1,
                                 .channels = made->channels,
                                 .taps = taps,
                                 .weights = made->weights,
                                 .bias = 0.25f};
}

static void compare_folded(tvlm_stack *stack, tvlm_stack *coded, const tvlm_codec *codec,
                           const tvlm_scorer *scorer, struct tvlm_score_params params, float tolerance) {
    tvlm_scorer *folded = NULL;
    size_t count, again;
    if (tvlm_codec_fold(codec, scorer, 0, &test_log, &folded) != TVLM_OK) fail_msg("%s", test_last_log());
    params.scorer = scorer;
    float *const expected = scores_of(stack, &params, &count);
    params.scorer = folded;
    float *const got = scores_of(coded, &params, &again);
    assert_int_equal(count, again);
    test_compare("scores of codes", got, expected, count, tolerance, tolerance);
    free(expected);
    free(got);
    tvlm_codec_free_scorer(&folded);
    assert_null(folded);
}

/* A codec of as many codes as channels loses nothing: its scores are those of the channels, at all strides and levels. */
static void all_codes_are_exact(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 9);
    tvlm_codec *codec = train_plain(stack, PLAIN);
    tvlm_stack *coded = coded_stack(device, format, 9, codec);
    for (int32_t taps = 1; taps <= 9; taps += 8) {
        random_scorer made;
        make_scorer(&made, taps, 11);
        compare_folded(stack, coded, codec, &made.scorer, (struct tvlm_score_params){0},
                       tolerance_of(format));
        compare_folded(stack, coded, codec, &made.scorer, (struct tvlm_score_params){.stride = 6.5f},
                       tolerance_of(format));
        compare_folded(stack, coded, codec, &made.scorer,
                       (struct tvlm_score_params){.dense = true, .level = 1}, tolerance_of(format));
        float levels[PLAIN + 1]; /* of their own: one of the codec's channels, and one of the other */
        for (int i = 0; i < PLAIN; ++i) levels[i] = 1.5f;
        levels[PLAIN] = 0.0f;
        made.scorer.levels = levels;
        compare_folded(stack, coded, codec, &made.scorer, (struct tvlm_score_params){0},
                       tolerance_of(format));
    }
    tvlm_stack_destroy(&coded);
    tvlm_stack_destroy(&stack);
    tvlm_codec_destroy(&codec);
}

/* The score of few codes is that of what they are decoded to. */
static void few_codes_as_decoded(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 9);
    tvlm_codec *codec = train_plain(stack, 3);
    tvlm_stack *coded = coded_stack(device, format, 9, codec);
    random_scorer made;
    tvlm_scorer *folded = NULL;
    size_t count;
    make_scorer(&made, 1, 13);
    made.scorer.channel_count = PLAIN;
    assert_int_equal(tvlm_codec_fold(codec, &made.scorer, 0, &test_log, &folded), TVLM_OK);
    assert_int_equal(folded->channel_count, 3);
    float *const got =
        scores_of(coded, tvlm_score_params(.scorer = folded, .dense = true, .level = 2), &count);
    float *const expected = calloc(count, sizeof *expected), *codes[3];
    for (int i = 0; i < 3; ++i) codes[i] = read_level(coded, 0, TVLM_CHANNEL_LEARNED_0 + i, 2, &count);
    for (size_t t = 0; t < count; ++t) {
        const float code[3] = {codes[0][t], codes[1][t], codes[2][t]};
        float decoded[PLAIN];
        double sum = (double)made.scorer.bias;
        tvlm_codec_decode(codec, code, 1, decoded);
        for (int i = 0; i < PLAIN; ++i) sum += (double)made.weights[i] * (double)decoded[(i + 3) % PLAIN];
        expected[t] = (float)sum;
    }
    test_compare("scores of decoded channels", got, expected, count, 1e-5f, 1e-5f);
    for (int i = 0; i < 3; ++i) free(codes[i]);
    free(expected);
    free(got);
    tvlm_codec_free_scorer(&folded);
    tvlm_stack_destroy(&coded);
    tvlm_stack_destroy(&stack);
    tvlm_codec_destroy(&codec);
}

static int32_t chosen_alike(tvlm_stack *stack, const tvlm_scorer *scorer, tvlm_stack *coded,
                            const tvlm_scorer *folded, int32_t k) {
    struct tvlm_select_params params = {.k = k, .strategy = TVLM_STRATEGY_GRID, .score = {.stride = 8.0f}};
    tvlm_selection *a = NULL, *b = NULL;
    int32_t count, alike = 0;
    params.score.scorer = scorer;
    assert_int_equal(tvlm_select(stack, NULL, &params, &a), TVLM_OK);
    params.score.scorer = folded;
    assert_int_equal(tvlm_select(coded, NULL, &params, &b), TVLM_OK);
    const tvlm_position *const p = tvlm_selection_positions(a, &count);
    const tvlm_position *const q = tvlm_selection_positions(b, &count);
    for (int32_t i = 0; i < k; ++i)
        for (int32_t j = 0; j < k; ++j) alike += p[i].row == q[j].row && p[i].column == q[j].column;
    tvlm_selection_destroy(&a);
    tvlm_selection_destroy(&b);
    return alike;
}

/* Three scorers, one of nine taps that are the same, and one twice: their scores stay, those of others do not. */
static void scorers_are_kept(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 9);
    random_scorer made[4];
    tvlm_scorer *folded = NULL;
    for (int i = 0; i < 4; ++i) make_scorer(&made[i], i == 1 ? 9 : 1, 20 + (uint64_t)i);
    for (int i = 0; i < (PLAIN + 1) * 9; ++i) made[1].weights[i] = made[2].weights[i / 9] / 9.0f;
    const tvlm_scorer *const kept[] = {&made[0].scorer, &made[1].scorer, &made[0].scorer};
    tvlm_codec *codec = train(
        stack, (struct tvlm_codec_trainer_params){
                   .channels = plain, .channel_count = PLAIN, .k = 3, .scorers = kept, .scorer_count = 3});
    struct tvlm_codec_params p;
    tvlm_stack *coded = coded_stack(device, format, 9, codec);
    assert_int_equal(tvlm_codec_get_params(codec, &p), TVLM_OK);
    expect_inverse(&p);
    for (int i = 0; i < 3; ++i)
        compare_folded(stack, coded, codec, &made[i].scorer, (struct tvlm_score_params){0},
                       tolerance_of(format));
    const int32_t k = 50, least = format == TVLM_FORMAT_F32 ? k - 1 : k - 3;
    assert_int_equal(tvlm_codec_fold(codec, &made[0].scorer, 0, &test_log, &folded), TVLM_OK);
    assert_in_range(chosen_alike(stack, &made[0].scorer, coded, folded, k), least, k);
    tvlm_codec_free_scorer(&folded);
    assert_int_equal(tvlm_codec_fold(codec, &made[3].scorer, 0, &test_log, &folded), TVLM_OK);
    assert_in_range(chosen_alike(stack, &made[3].scorer, coded, folded, k), 0, k - 2);
    tvlm_codec_free_scorer(&folded);
    tvlm_stack_destroy(&coded);
    tvlm_stack_destroy(&stack);
    tvlm_codec_destroy(&codec);
}

/* ---- Codes that are kept ---- */

static size_t texture_bytes(const tvlm_stack *stack) {
    tvlm_stack_info info;
    assert_int_equal(tvlm_stack_get_info(stack, &info), TVLM_OK);
    return info.device_bytes;
}

static void set_vectors(tvlm_stack *stack, const float *vectors, int32_t channels) {
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                                         tvlm_grid_input(.data = vectors, .columns = FEATURES_WIDE,
                                                         .rows = FEATURES_HIGH, .channels = channels)),
                     TVLM_OK);
}

/* 32 features, of which 8 are independent, as 8 codes that are handed in again: the same scores, from a quarter of the
 * memory. */
static void a_quarter(tvlm_device *device, tvlm_format format) {
    enum { CELLS = FEATURES_WIDE * FEATURES_HIGH };
    static float vectors[CELLS * MANY], codes[CELLS * K];
    int32_t channels[MANY];
    float weights[MANY], mix[K * MANY];
    uint64_t random = 17;
    for (int i = 0; i < K * MANY; ++i) mix[i] = test_random_unit(&random) - 0.5f;
    for (int v = 0; v < CELLS; ++v) {
        float *const vector = vectors + v * MANY;
        memset(vector, 0, MANY * sizeof *vector);
        for (int i = 0; i < K; ++i) {
            const float amount = test_random_unit(&random);
            for (int c = 0; c < MANY; ++c) vector[c] += amount * mix[i * MANY + c];
        }
    }
    for (int c = 0; c < MANY; ++c) {
        channels[c] = TVLM_CHANNEL_FEATURE_0 + c;
        weights[c] = test_random_unit(&random) - 0.5f;
    }
    tvlm_stack *whole = random_stack(device, format, WIDTH, HEIGHT, 1),
               *kept = random_stack(device, format, WIDTH, HEIGHT, 1);
    const size_t before = texture_bytes(whole);
    set_vectors(whole, vectors, MANY);
    const tvlm_scorer scorer = {.channel_count = MANY, .channels = channels, .taps = 1, .weights = weights};
    tvlm_codec *codec =
        train(whole, (struct tvlm_codec_trainer_params){.channels = channels, .channel_count = MANY, .k = K});
    tvlm_scorer *folded = NULL;
    assert_int_equal(tvlm_codec_fold(codec, &scorer, TVLM_CHANNEL_FEATURE_0, &test_log, &folded), TVLM_OK);
    tvlm_codec_encode(codec, vectors, CELLS, codes);
    set_vectors(kept, codes, K);
    size_t count;
    float *const expected = scores_of(whole, tvlm_score_params(.scorer = &scorer), &count);
    float *const got = scores_of(kept, tvlm_score_params(.scorer = folded), &count);
    test_compare("scores of codes that were handed in", got, expected, count, tolerance_of(format),
                 tolerance_of(format));
    const size_t all = texture_bytes(whole) - before, few = texture_bytes(kept) - before;
    if (few * 4 > all + all / 50) fail_msg("%zu bytes of codes, and %zu of channels", few, all);
    free(expected);
    free(got);
    tvlm_codec_free_scorer(&folded);
    tvlm_codec_destroy(&codec);
    tvlm_stack_destroy(&whole);
    tvlm_stack_destroy(&kept);
}

/* ---- Refusals ---- */

static struct tvlm_codec_params good_params(const float *numbers) {
    return (struct tvlm_codec_params){
        .channels = plain, .channel_count = 4, .k = 2, .encode = numbers, .decode = numbers, .mean = numbers};
}

static void refused_codec(struct tvlm_codec_params params, const char *line) {
    tvlm_codec *codec = NULL;
    refused(tvlm_codec_create(&params, &test_log, &codec), TVLM_ERROR_ARGUMENT, line);
    assert_null(codec);
    refused(tvlm_codec_create(&params, &test_log, NULL), TVLM_ERROR_ARGUMENT, "codec is NULL");
}

static void refused_codecs(tvlm_device *device, tvlm_format format) {
    static const float numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8}, bad[8] = {1, 2, 3, NAN, 5, 6, 7, 8};
    static const int32_t wrong[][2] = {{TVLM_CHANNEL_CLUSTER_ID, 0}, {TVLM_CHANNEL_X, 0},
                                       {TVLM_CHANNEL_LEARNED_0, 0},  {TVLM_CHANNEL_QUERY_SIMILARITY, 0},
                                       {TVLM_CHANNEL_USER_0, 0},     {TVLM_CHANNEL_R, TVLM_CHANNEL_R}};
    static const char *const lines[] = {"cluster_id: it is an identifier", "x: it is a formula",
                                        "learned_0: it comes after",       "query_similarity: it comes after",
                                        "there is no channel 65536",       "stands twice"};
    struct tvlm_codec_params params;
    (void)device;
    (void)format;
    for (int i = 0; i < 6; ++i) {
        params = good_params(numbers);
        params.channels = wrong[i];
        params.channel_count = 2;
        refused_codec(params, lines[i]);
    }
    params = good_params(numbers), params.k = 5, refused_codec(params, "5 codes for 4 channels");
    params = good_params(numbers), params.k = 0, refused_codec(params, "0 codes for 4 channels");
    params = good_params(numbers), params.channel_count = 65, refused_codec(params, "65 channels");
    params = good_params(numbers), params.level = 16, refused_codec(params, "level 16");
    params = good_params(numbers), params.encode = bad, refused_codec(params, "number 3 of its encode");
    params = good_params(numbers), params.decode = bad, refused_codec(params, "number 3 of its decode");
    params = good_params(numbers), params.mean = bad, refused_codec(params, "number 3 of its mean");
    params = good_params(numbers), params.decode = NULL, refused_codec(params, "without encode or decode");
    params = good_params(numbers), params.reserved[0] = 1, refused_codec(params, "reserved words");
}

static void refused_fold(const tvlm_codec *codec, const tvlm_scorer *scorer, int32_t first,
                         const char *line) {
    tvlm_scorer *folded = NULL;
    refused(tvlm_codec_fold(codec, scorer, first, &test_log, &folded), TVLM_ERROR_ARGUMENT, line);
    assert_null(folded);
}

static void refused_bias(void) {
    static const float large[8] = {1e10f, 1e10f, 1e10f, 1e10f, 1e10f, 1e10f, 1e10f, 1e10f};
    refused_codec(good_params(large), "encode times mean of code 0 is beyond 1e15");
}

static void refused_folds(tvlm_device *device, tvlm_format format) {
    refused_bias();
    static const float numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8}, bad[2] = {1, INFINITY};
    static const int32_t others[2] = {TVLM_CHANNEL_TEXT, TVLM_CHANNEL_X},
                         own[2] = {TVLM_CHANNEL_R, TVLM_CHANNEL_LEARNED_0 + 1};
    const struct tvlm_codec_params params = good_params(numbers);
    tvlm_codec *codec = NULL;
    assert_int_equal(tvlm_codec_create(&params, &test_log, &codec), TVLM_OK);
    tvlm_scorer scorer = {.channel_count = 2, .channels = others, .weights = numbers};
    refused_fold(codec, &scorer, 0, "a codec of other channels: the scorer reads text and others");
    scorer.channels = own;
    refused_fold(codec, &scorer, 0, "in whose place a code stands");
    refused_fold(codec, &scorer, TVLM_CHANNEL_LEARNED_0 + 31, "not in one family");
    scorer.weights = bad;
    refused_fold(codec, &scorer, 0, "not finite");
    scorer.weights = numbers, scorer.taps = 3;
    refused_fold(codec, &scorer, 0, "1 or 9 weights");
    static const int32_t red_green[2] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G};
    scorer.taps = 1, scorer.channels = red_green, scorer.levels = numbers;
    refused_fold(codec, &scorer, 0, "at different levels");
    scorer.levels = NULL, scorer.query_weights = numbers, scorer.dimension = 1;
    refused_fold(codec, &scorer, 0, "query weights");
    scorer.query_weights = NULL, scorer.dimension = 0, scorer.outputs = 2;
    refused_fold(codec, &scorer, 0, "a scorer of 2 outputs cannot read codes");
    const tvlm_scorer deep = {.network = tvlm_codec_network(codec)};
    refused_fold(codec, &deep, 0, "a scorer that is a network cannot read codes");
    refused_fold(codec, NULL, 0, "scorer is NULL");
    tvlm_stack *stack = random_stack(device, format, 20, 10, 1);
    assert_int_equal(tvlm_codec_check_image(codec, stack, 0), TVLM_OK);
    tvlm_codec_destroy(&codec);
    struct tvlm_codec_params moving = params;
    moving.channels = (const int32_t[]){TVLM_CHANNEL_R, TVLM_CHANNEL_G, TVLM_CHANNEL_B, TVLM_CHANNEL_MOTION};
    assert_int_equal(tvlm_codec_create(&moving, &test_log, &codec), TVLM_OK);
    refused(tvlm_codec_check_image(codec, stack, 0), TVLM_ERROR_ARGUMENT,
            "motion, for which the image has no input");
    tvlm_stack_destroy(&stack);
    tvlm_codec_destroy(&codec);
    tvlm_codec_destroy(NULL);
    tvlm_codec_free_scorer(NULL);
    assert_null(tvlm_codec_network(NULL));
}

static void refused_training(tvlm_device *device, tvlm_format format) {
    static const int32_t motion[2] = {TVLM_CHANNEL_R, TVLM_CHANNEL_MOTION};
    static const float weights[2] = {1.0f, 0.0f};
    tvlm_codec_trainer *trainer = NULL;
    tvlm_codec *codec = NULL;
    random_scorer made;
    tvlm_stack *stack = random_stack(device, format, 20, 10, 1);
    struct tvlm_codec_trainer_params params = {.channels = motion, .channel_count = 2};
    assert_int_equal(tvlm_codec_trainer_create(&params, &test_log, &trainer), TVLM_OK);
    refused(tvlm_codec_trainer_finish(trainer, &codec), TVLM_ERROR_ARGUMENT, "no images");
    refused(tvlm_codec_trainer_add(trainer, stack, 0), TVLM_ERROR_ARGUMENT,
            "motion, for which the image has no input");
    tvlm_codec_trainer_destroy(&trainer);
    params.weights = weights;
    refused(tvlm_codec_trainer_create(&params, &test_log, &trainer), TVLM_ERROR_ARGUMENT, "weight 1");
    params.weights = NULL, params.k = 3;
    refused(tvlm_codec_trainer_create(&params, &test_log, &trainer), TVLM_ERROR_ARGUMENT, "3 codes for 2");
    make_scorer(&made, 9, 1);
    const tvlm_scorer *const kept = &made.scorer;
    params = (struct tvlm_codec_trainer_params){
        .channels = plain, .channel_count = PLAIN, .k = K, .scorers = &kept, .scorer_count = 1};
    assert_int_equal(tvlm_codec_trainer_create(&params, &test_log, &trainer), TVLM_OK);
    assert_int_equal(tvlm_codec_trainer_add(trainer, stack, 0), TVLM_OK);
    refused(tvlm_codec_trainer_finish(trainer, &codec), TVLM_ERROR_ARGUMENT,
            "9 directions, which 8 codes cannot keep");
    tvlm_codec_trainer_destroy(&trainer);
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS_MAIN(trained_as_defined, weights_count, flat_channels, codes_are_linear, codes_of_a_level,
                   all_codes_are_exact, few_codes_as_decoded, scorers_are_kept, a_quarter, refused_codecs,
                   refused_folds, refused_training)
