/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_codec_train.c: codecs of as many channels, codes and scorers as there may be, whose means, shares and scores are those
 * of what was sampled; images of which only some texels are looked at; and what is taken by default.
 */
#include "stack_helper.h"

#include "support_stage.h"
#include "texturevlm/input.h"
#include "texturevlm/lab/codec.h"

enum {
    MANY = TVLM_CODEC_CHANNELS_MAX,
    MOST = TVLM_CODEC_K_MAX,
    WIDE = 20,
    HIGH = 12,
    TEXELS = 4 * WIDE * HIGH
};

static tvlm_codec *finish(tvlm_codec_trainer *trainer) {
    tvlm_codec *codec = NULL;
    if (tvlm_codec_trainer_finish(trainer, &codec) != TVLM_OK) fail_msg("%s", test_last_log());
    tvlm_codec_trainer_destroy(&trainer);
    return codec;
}

static tvlm_codec_trainer *trainer_of(const struct tvlm_codec_trainer_params *params) {
    tvlm_codec_trainer *trainer = NULL;
    if (tvlm_codec_trainer_create(params, &test_log, &trainer) != TVLM_OK) fail_msg("%s", test_last_log());
    return trainer;
}

/* A stack whose features have MANY random components of different sizes, and what is sampled of them at the middle of each
 * texel: [TEXELS * MANY]. */
static tvlm_stack *full_stack(tvlm_device *device, uint64_t seed, float *values) {
    static float vectors[WIDE * HIGH * MANY];
    static tvlm_sample_point points[TEXELS];
    int32_t channels[MANY];
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, 2 * WIDE, 2 * HIGH, seed);
    for (int i = 0; i < WIDE * HIGH * MANY; ++i)
        vectors[i] = (float)(1 + i % MANY) * (test_random_unit(&seed) - 0.25f);
    for (int c = 0; c < MANY; ++c) channels[c] = TVLM_CHANNEL_FEATURE_0 + c;
    for (int i = 0; i < TEXELS; ++i)
        points[i] =
            (tvlm_sample_point){(float)(i % (2 * WIDE)) + 0.5f, (float)(i / (2 * WIDE)) + 0.5f, 0.0f, 0};
    assert_int_equal(tvlm_stack_set_grid(
                         stack, 0, TVLM_CHANNEL_FEATURE_0,
                         tvlm_grid_input(.data = vectors, .columns = WIDE, .rows = HIGH, .channels = MANY)),
                     TVLM_OK);
    assert_int_equal(tvlm_stack_sample(stack, points, TEXELS, channels, MANY, values), TVLM_OK);
    return stack;
}

/* The means of two images, each of which counts half, and the deviations. */
static void moments(float *const values[2], double mean[MANY], double deviation[MANY]) {
    for (int c = 0; c < MANY; ++c) {
        double squares = 0.0;
        mean[c] = 0.0;
        for (int n = 0; n < 2; ++n)
            for (int i = 0; i < TEXELS; ++i) mean[c] += (double)values[n][i * MANY + c] / TEXELS / 2.0;
        for (int n = 0; n < 2; ++n)
            for (int i = 0; i < TEXELS; ++i) {
                const double off = (double)values[n][i * MANY + c] - mean[c];
                squares += off * off / TEXELS / 2.0;
            }
        deviation[c] = sqrt(squares);
    }
}

/* The share of the variance along the code i, of values at deviation 1. */
static double share_of(const struct tvlm_codec_params *p, float *const values[2], const double mean[MANY],
                       int i) {
    double sum = 0.0;
    for (int n = 0; n < 2; ++n)
        for (int t = 0; t < TEXELS; ++t) {
            double code = 0.0;
            for (int c = 0; c < MANY; ++c)
                code += (double)p->encode[i * MANY + c] * ((double)values[n][t * MANY + c] - mean[c]);
            sum += code * code / TEXELS / 2.0;
        }
    return sum / MANY;
}

/* A codec of all channels that keeps `taps` directions of a scorer and `single` more of others: their scores of decoded values
 * are those of the values, its codes are at right angles, and what it says of means and shares is so. */
static void check_full(tvlm_device *device, int32_t k, int32_t single, bool nine) {
    static float values[2][TEXELS * MANY], weights[MOST + 1][MANY * 9];
    float *const both[2] = {values[0], values[1]};
    tvlm_scorer scorers[MOST + 1];
    const tvlm_scorer *kept[MOST + 1];
    int32_t channels[MANY], count = 0;
    double mean[MANY], deviation[MANY];
    uint64_t seed = 40;
    tvlm_stack *stacks[2] = {full_stack(device, 5, values[0]), full_stack(device, 6, values[1])};
    for (int c = 0; c < MANY; ++c) channels[c] = TVLM_CHANNEL_FEATURE_0 + c;
    for (int i = 0; i < single + nine; ++i, ++count) {
        const int32_t taps = i == 0 && nine ? 9 : 1;
        for (int w = 0; w < MANY * taps; ++w) weights[i][w] = test_random_unit(&seed) - 0.5f;
        scorers[i] =
            (tvlm_scorer){.channel_count = MANY, .channels = channels, .taps = taps, .weights = weights[i]};
        kept[i] = &scorers[i];
    }
    tvlm_codec_trainer *const trainer =
        trainer_of(tvlm_codec_trainer_params(.channels = channels, .channel_count = MANY, .k = k,
                                             .scorers = kept, .scorer_count = count));
    for (int n = 0; n < 2; ++n) assert_int_equal(tvlm_codec_trainer_add(trainer, stacks[n], 0), TVLM_OK);
    tvlm_codec *codec = finish(trainer);
    struct tvlm_codec_params p;
    assert_int_equal(tvlm_codec_get_params(codec, &p), TVLM_OK);
    assert_true(p.channel_count == MANY && p.k == k && p.level == 0);
    moments(both, mean, deviation);
    for (int c = 0; c < MANY; ++c)
        if (!(fabs((double)p.mean[c] - mean[c]) < 1e-5 * (1.0 + fabs(mean[c]))))
            fail_msg("channel %d: a mean of %g, not %g", c, (double)p.mean[c], mean[c]);
    for (int32_t i = 0; i < k; ++i) {
        const double share = share_of(&p, both, mean, i);
        if (!(fabs((double)p.variance[i] - share) < 1e-4 * share))
            fail_msg("code %d keeps %g, not %g", (int)i, (double)p.variance[i], share);
        for (int32_t j = 0; j <= i; ++j) {
            double product = 0.0, inverse = 0.0;
            for (int c = 0; c < MANY; ++c) {
                product += (double)p.encode[i * MANY + c] * (double)p.encode[j * MANY + c] * deviation[c] *
                           deviation[c];
                inverse += (double)p.encode[i * MANY + c] * (double)p.decode[c * k + j];
            }
            if (!(fabs(product - (i == j)) < 1e-4) || !(fabs(inverse - (i == j)) < 1e-4))
                fail_msg("codes %d and %d: %g, %g", (int)i, (int)j, product, inverse);
        }
    }
    float codes[MOST], back[MANY];
    tvlm_codec_encode(codec, values[1] + 77 * MANY, 1, codes);
    tvlm_codec_decode(codec, codes, 1, back);
    for (int32_t s = 0; s < count; ++s)
        for (int32_t tap = 0, taps = scorers[s].taps; tap < taps; ++tap) {
            double expected = 0.0, got = 0.0;
            for (int c = 0; c < MANY; ++c) {
                expected += (double)weights[s][c * taps + tap] * (double)values[1][77 * MANY + c];
                got += (double)weights[s][c * taps + tap] * (double)back[c];
            }
            if (!(fabs(got - expected) < 1e-3)) fail_msg("scorer %d: %g, not %g", (int)s, got, expected);
        }
    tvlm_codec_destroy(&codec);
    for (int n = 0; n < 2; ++n) tvlm_stack_destroy(&stacks[n]);
}

static void trains_full_codecs(tvlm_device *device, tvlm_format format) {
    if (format == TVLM_FORMAT_F16) return;
    check_full(device, MOST, 0, false);
    check_full(device, MOST, MOST, false);
    check_full(device, MOST, MOST - 10, true);
    check_full(device, 9, 0, true);
    check_full(device, 10, 0, true);
    check_full(device, 1, 1, false);
}

/* Of a large image every second texel is looked at, or every third, so that they are no more than 65536. */
static void looks_at_some_texels(tvlm_device *device, tvlm_format format) {
    static const struct {
        int32_t width, height, step;
    } rows[] = {{256, 256, 1}, {257, 256, 2}, {128, 513, 2}, {513, 128, 2}, {1023, 257, 3}};
    static const int32_t channels[2] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G};
    if (format == TVLM_FORMAT_F16 || test_is_opencl(device)) return;
    for (size_t n = 0; n < sizeof rows / sizeof *rows; ++n) {
        tvlm_stack *stack = random_stack(device, format, rows[n].width, rows[n].height, 90 + n);
        tvlm_codec_trainer *const trainer =
            trainer_of(tvlm_codec_trainer_params(.channels = channels, .channel_count = 2));
        assert_int_equal(tvlm_codec_trainer_add(trainer, stack, 0), TVLM_OK);
        tvlm_codec *codec = finish(trainer);
        struct tvlm_codec_params p;
        assert_int_equal(tvlm_codec_get_params(codec, &p), TVLM_OK);
        assert_int_equal(p.k, 2); /* no more codes than channels */
        for (int c = 0; c < 2; ++c) {
            size_t count;
            float *const texels = read_level(stack, 0, channels[c], 0, &count);
            double sum = 0.0, number = 0.0;
            for (int32_t y = rows[n].step / 2; y < rows[n].height; y += rows[n].step)
                for (int32_t x = rows[n].step / 2; x < rows[n].width; x += rows[n].step, ++number)
                    sum += (double)texels[(size_t)y * (size_t)rows[n].width + (size_t)x];
            if (!(fabs((double)p.mean[c] - sum / number) < 1e-6))
                fail_msg("%d x %d: a mean of %.9g, not %.9g", (int)rows[n].width, (int)rows[n].height,
                         (double)p.mean[c], sum / number);
            free(texels);
        }
        tvlm_codec_destroy(&codec);
        tvlm_stack_destroy(&stack);
    }
}

/* A level that an image does not have is its last one. */
static void looks_at_the_last_level(tvlm_device *device, tvlm_format format) {
    static const int32_t channels[2] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G};
    if (format == TVLM_FORMAT_F16) return;
    tvlm_stack *stack = random_stack(device, format, 37, 21, 8);
    const int32_t last = tvlm_stack_levels(stack) - 1;
    for (int32_t level = last - 1; level <= TVLM_NETWORK_LEVEL_MAX; ++level) {
        tvlm_codec_trainer *trainer = trainer_of(
            tvlm_codec_trainer_params(.channels = channels, .channel_count = 2, .k = 1, .level = level));
        tvlm_codec *codec = NULL;
        assert_int_equal(tvlm_codec_trainer_add(trainer, stack, 0), TVLM_OK);
        if (level < last) {
            assert_int_equal(tvlm_codec_trainer_finish(trainer, &codec), TVLM_OK);
            tvlm_codec_destroy(&codec);
        } else { /* of one texel */
            refused(tvlm_codec_trainer_finish(trainer, &codec), TVLM_ERROR_ARGUMENT,
                    "all channels of the codec are the same everywhere in 1 images");
        }
        tvlm_codec_trainer_destroy(&trainer);
    }
    tvlm_stack_destroy(&stack);
}

static void defaults_and_refusals(tvlm_device *device, tvlm_format format) {
    static const int32_t channels[2] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G};
    static const float weights[2] = {1.0f, INFINITY};
    int32_t expected[TVLM_LAYOUT_CHANNELS_MAX], count = 0, wanted = 0;
    tvlm_codec_trainer *trainer = trainer_of(NULL);
    tvlm_codec *codec = NULL;
    tvlm_stack *stack = random_stack(device, format, 40, 30, 4);
    assert_int_equal(
        tvlm_layout_parse(TVLM_CODEC_CHANNELS, &test_log, TVLM_LAYOUT_CHANNELS_MAX, expected, &wanted),
        TVLM_OK);
    assert_memory_equal(tvlm_codec_trainer_channels(trainer, &count), expected,
                        (size_t)wanted * sizeof *expected);
    assert_int_equal(count, wanted);
    assert_ptr_equal(tvlm_codec_trainer_channels(trainer, NULL),
                     tvlm_codec_trainer_channels(trainer, &count));
    assert_null(tvlm_codec_trainer_channels(NULL, &count));
    assert_int_equal(count, 0);
    assert_null(tvlm_codec_trainer_channels(NULL, NULL));
    assert_int_equal(tvlm_codec_trainer_add(trainer, stack, 0), TVLM_OK);
    refused(tvlm_codec_trainer_add(trainer, stack, 1), TVLM_ERROR_ARGUMENT, "image 1 of a stack of 1");
    refused(tvlm_codec_trainer_add(trainer, NULL, 0), TVLM_ERROR_ARGUMENT, "stack is NULL");
    assert_int_equal(tvlm_codec_trainer_add(NULL, stack, 0), TVLM_ERROR_ARGUMENT);
    refused(tvlm_codec_trainer_finish(trainer, NULL), TVLM_ERROR_ARGUMENT, "codec is NULL");
    assert_int_equal(tvlm_codec_trainer_finish(NULL, &codec), TVLM_ERROR_ARGUMENT);
    assert_null(codec);
    assert_int_equal(tvlm_codec_trainer_finish(trainer, &codec), TVLM_OK);
    struct tvlm_codec_params p;
    assert_int_equal(tvlm_codec_get_params(codec, &p), TVLM_OK);
    assert_true(p.k == 8 && p.level == 0);
    assert_int_equal(tvlm_codec_get_params(NULL, &p), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_codec_get_params(codec, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_codec_check_image(NULL, stack, 0), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_codec_check_image(codec, NULL, 0), TVLM_ERROR_ARGUMENT);
    tvlm_codec_destroy(&codec);
    tvlm_codec_trainer_destroy(&trainer);
    assert_null(trainer);
    tvlm_codec_trainer_destroy(&trainer);
    tvlm_codec_trainer_destroy(NULL);
#define CREATE(line, ...)                                                                                    \
    refused(tvlm_codec_trainer_create(tvlm_codec_trainer_params(__VA_ARGS__), &test_log, &trainer),          \
            TVLM_ERROR_ARGUMENT, line)
    CREATE("2 channels of a codec, but none given", .channel_count = 2);
    CREATE("a codec of 0 channels; 1 to 64 are possible", .channels = channels);
    CREATE("a codec of 3 codes for 2 channels; 1 to 2 are possible", .channels = channels, .channel_count = 2,
           .k = 3);
    CREATE("a codec of -1 codes for 2 channels", .channels = channels, .channel_count = 2, .k = -1);
    CREATE("a codec at level -1; 0 to 15 are possible", .channels = channels, .channel_count = 2,
           .level = -1);
    CREATE("a codec at level 16; 0 to 15 are possible", .channels = channels, .channel_count = 2,
           .level = 16);
    CREATE("weight 1 of a codec's channels is inf; weights are above 0 and finite", .channels = channels,
           .channel_count = 2, .weights = weights);
    CREATE("-1 scorers that a codec keeps, but none given", .channels = channels, .channel_count = 2,
           .scorer_count = -1);
    CREATE("1 scorers that a codec keeps, but none given", .channels = channels, .channel_count = 2,
           .scorer_count = 1);
    CREATE("reserved words", .reserved[3] = 1);
#undef CREATE
    refused(tvlm_codec_trainer_create(NULL, &test_log, NULL), TVLM_ERROR_ARGUMENT, "trainer is NULL");
    assert_null(trainer);
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS_MAIN(trains_full_codecs, looks_at_some_texels, looks_at_the_last_level, defaults_and_refusals)
