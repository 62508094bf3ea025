/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_edges.c: parameters of stacks, frames, streams, scores and patches at the last value that is taken, and at the
 * first that is refused. What they do is tested elsewhere; here it is only whether they are taken. Exports have
 * test_export_limits.c.
 */
#include <float.h>

#include "stack/delta.h"
#include "stack/temporal.h"
#include "stack_helper.h"
#include "texturevlm/features.h"
#include "texturevlm/patches.h"
#include "texturevlm/score.h"
#include "texturevlm/stream.h"

/* The numbers next to 0 and to 1. */
#define BELOW_0 (-FLT_TRUE_MIN)
#define ABOVE_0 FLT_TRUE_MIN
#define ABOVE_1 (1.0f + FLT_EPSILON)
#define BELOW_1 (1.0f - FLT_EPSILON / 2)

static tvlm_device *device;
static tvlm_stack *stack; /* of 8 x 8 pixels */

/* That a call takes what it is given, or refuses it with a line that has these words (NULL: takes). */
static void expect(const char *what, tvlm_status status, const char *words) {
    if (words != NULL && status == TVLM_ERROR_ARGUMENT && strstr(test_last_log(), words) != NULL) return;
    if (words == NULL && status == TVLM_OK) return;
    fail_msg("%s: %s: '%s'", what, tvlm_status_string(status), test_last_log());
}
#define TAKES(call)          expect(#call, call, NULL)
#define REFUSES(words, call) expect(#call, call, words)

/* ---- Stacks ---- */

static tvlm_status make(struct tvlm_stack_params params) {
    tvlm_stack *made = NULL;
    if (params.width == 0) params.width = params.height = 8;
    const tvlm_status status = tvlm_stack_create(device, &params, &made);
    tvlm_stack_destroy(&made);
    return status;
}
#define MAKE(...) make((struct tvlm_stack_params){__VA_ARGS__})

static void test_stacks(void **state) {
    (void)state;
    TAKES(MAKE(.width = 1, .height = 1));
    REFUSES("", MAKE(.width = 1));
    REFUSES("", MAKE(.width = -1, .height = 1));
    REFUSES("sides of at most -1 pixels", MAKE(.max_side = -1));
    TAKES(MAKE(.images = 1));
    REFUSES("a stack of -1 images", MAKE(.images = -1));
    TAKES(MAKE(.format = TVLM_FORMAT_U8));
    REFUSES("there is no format", MAKE(.format = (tvlm_format)(TVLM_FORMAT_U8 + 1)));
    REFUSES("there is no format", MAKE(.format = (tvlm_format)(TVLM_FORMAT_AUTO - 1)));
    TAKES(MAKE(.clusters = 1));
    TAKES(MAKE(.clusters = 2048));
    REFUSES("2049 clusters; 1 to 2048", MAKE(.clusters = 2049));
    REFUSES("-1 clusters", MAKE(.clusters = -1));
    TAKES(MAKE(.compactness = 1e6f));
    REFUSES("a compactness of", MAKE(.compactness = nextafterf(1e6f, INFINITY)));
    REFUSES("a compactness of", MAKE(.compactness = BELOW_0));
}

static tvlm_status rope(float theta, int32_t dimension, float patch) {
    return tvlm_stack_set_rope(stack,
                               tvlm_rope_params(.theta = theta, .dimension = dimension, .patch = patch));
}

static void test_places(void **state) {
    const float beyond = nextafterf(1e9f, INFINITY);
    (void)state;
    TAKES(tvlm_stack_set_fixation(stack, 1e9f, -1e9f));
    REFUSES("is not a place near the image", tvlm_stack_set_fixation(stack, beyond, 0.0f));
    REFUSES("is not a place near the image", tvlm_stack_set_fixation(stack, -beyond, 0.0f));
    REFUSES("is not a place near the image", tvlm_stack_set_fixation(stack, 0.0f, beyond));
    TAKES(rope(ABOVE_1, 2, ABOVE_0));
    TAKES(rope(0.0f, 128, 0.0f));
    REFUSES("of base 1; it is above 1", rope(1.0f, 0, 0.0f));
    REFUSES("of 1 dimensions", rope(0.0f, 1, 0.0f));
    REFUSES("of 3 dimensions", rope(0.0f, 3, 0.0f));
    REFUSES("of 129 dimensions", rope(0.0f, 129, 0.0f));
    REFUSES("of 130 dimensions; an even number from 2 to 128", rope(0.0f, 130, 0.0f));
    REFUSES("in patches of", rope(0.0f, 0, BELOW_0));
}

static tvlm_status put(int32_t width, int32_t height, int32_t channels, int type, int32_t of_width,
                       int32_t of_height, size_t row_stride) {
    static const float pixels[4 * 4];
    tvlm_stack *made = NULL;
    const tvlm_image image = {.pixels = pixels,
                              .width = width,
                              .height = height,
                              .channels = channels,
                              .type = (tvlm_pixel_type)type,
                              .of_width = of_width,
                              .of_height = of_height,
                              .row_stride = row_stride};
    const tvlm_status status = tvlm_stack_create_for_image(device, &image, NULL, &made);
    tvlm_stack_destroy(&made);
    return status;
}

static void test_images(void **state) {
    (void)state;
    TAKES(put(1, 1, 1, TVLM_PIXEL_U8, 0, 0, 0));
    TAKES(put(2, 2, 4, TVLM_PIXEL_F32, 0, 0, 0));
    REFUSES("an image of 0x1 pixels", put(0, 1, 1, TVLM_PIXEL_U8, 0, 0, 0));
    REFUSES("an image of 1x0 pixels", put(1, 0, 1, TVLM_PIXEL_U8, 0, 0, 0));
    REFUSES("an image of 0 channels", put(1, 1, 0, TVLM_PIXEL_U8, 0, 0, 0));
    REFUSES("an image of 5 channels; 1 to 4", put(1, 1, 5, TVLM_PIXEL_U8, 0, 0, 0));
    REFUSES("there is no pixel type", put(1, 1, 1, TVLM_PIXEL_F32 + 1, 0, 0, 0));
    REFUSES("there is no pixel type", put(1, 1, 1, TVLM_PIXEL_U8 - 1, 0, 0, 0));
    TAKES(put(1, 1, 1, TVLM_PIXEL_U8, 1, 1, 0));
    REFUSES("a smaller version of 1x0", put(1, 1, 1, TVLM_PIXEL_U8, 1, 0, 0));
    REFUSES("a smaller version of 0x1", put(1, 1, 1, TVLM_PIXEL_U8, 0, 1, 0));
    REFUSES("a smaller version of -1x-1", put(1, 1, 1, TVLM_PIXEL_U8, -1, -1, 0));
    TAKES(put(2, 2, 3, TVLM_PIXEL_U8, 0, 0, 6));
    REFUSES("a row stride of 5 bytes; a row has 6", put(2, 2, 3, TVLM_PIXEL_U8, 0, 0, 5));
}

/* ---- Frames ---- */

static tvlm_status advance(struct tvlm_advance_params params) {
    return tvlm_stack_check_advance(&test_log, &params);
}
#define ADVANCE(...) advance((struct tvlm_advance_params){__VA_ARGS__})

static tvlm_status update(struct tvlm_update_params params) {
    return tvlm_delta_check_params(&test_log, &params);
}
#define UPDATE(...) update((struct tvlm_update_params){__VA_ARGS__})

static void test_frames(void **state) {
    static const float one[3] = {0.0f, 0.0f, NAN}; /* whose third value nobody reads */
    (void)state;
    TAKES(ADVANCE(.decay = 1.0f));
    TAKES(ADVANCE(.decay = TVLM_EXPLICIT_ZERO));
    REFUSES("a decay of 1", ADVANCE(.decay = ABOVE_1));
    REFUSES("a decay of -", ADVANCE(.decay = BELOW_0));
    TAKES(ADVANCE(.sigma = 0.1f));
    TAKES(ADVANCE(.sigma = 1e6f));
    REFUSES("a sigma of 0.1", ADVANCE(.sigma = nextafterf(0.1f, 0.0f)));
    REFUSES("a sigma of", ADVANCE(.sigma = nextafterf(1e6f, INFINITY)));
    TAKES(ADVANCE(.confidence = TVLM_EXPLICIT_ZERO));
    TAKES(ADVANCE(.confidence = FLT_MAX));
    REFUSES("a confidence of", ADVANCE(.confidence = BELOW_0));
    TAKES(ADVANCE(.relevance = one, .columns = 1, .rows = 1));
    REFUSES("a relevance of 0x1 values", ADVANCE(.relevance = one, .columns = 0, .rows = 1));
    REFUSES("a relevance of 1x0 values", ADVANCE(.relevance = one, .columns = 1, .rows = 0));
    REFUSES("1x0 values, but none given", ADVANCE(.columns = 1));
    REFUSES("0x1 values, but none given", ADVANCE(.rows = 1));
    TAKES(ADVANCE(.positions = one, .position_count = 1));
    TAKES(ADVANCE(.positions = one, .position_count = 0));
    REFUSES("1 positions, but none given", ADVANCE(.position_count = 1));
    REFUSES("-1 positions", ADVANCE(.positions = one, .position_count = -1));
    TAKES(UPDATE(.tile = 16));
    TAKES(UPDATE(.tile = 4096));
    REFUSES("tiles of 4112 pixels; multiples of 16 up to 4096", UPDATE(.tile = 4112));
    REFUSES("tiles of 24 pixels", UPDATE(.tile = 24));
    REFUSES("tiles of -16 pixels", UPDATE(.tile = -16));
    TAKES(UPDATE(.threshold = 1.0f));
    REFUSES("a threshold of 1", UPDATE(.threshold = ABOVE_1));
    REFUSES("a threshold of -", UPDATE(.threshold = BELOW_0));
    REFUSES("a share of -2; it is not below 0", UPDATE(.saliency_share = -2.0f, .cluster_share = 1.0f));
    REFUSES("a share of -3; it is not below 0", UPDATE(.saliency_share = 0.0f, .cluster_share = -3.0f));
    REFUSES("carried over for -1 frames", UPDATE(.carried_frames = -1));
}

/* ---- Streams ---- */

static tvlm_status watch(struct tvlm_stream_params params) {
    tvlm_stream *stream = NULL;
    params.layout = "y";
    const tvlm_status status = tvlm_stream_create(device, 8, 8, &params, &stream);
    tvlm_stream_destroy(&stream);
    return status;
}
#define WATCH(...) watch((struct tvlm_stream_params){__VA_ARGS__})

static void test_streams(void **state) {
    (void)state;
    TAKES(WATCH(.cameras = 1));
    TAKES(WATCH(.cameras = 256));
    REFUSES("257 cameras; 1 to 256", WATCH(.cameras = 257));
    REFUSES("-1 cameras", WATCH(.cameras = -1));
    TAKES(WATCH(.keyframe_interval = 1));
    REFUSES("keyframes -1 frames apart", WATCH(.keyframe_interval = -1));
    TAKES(WATCH(.cut = TVLM_EXPLICIT_ZERO, .confidence = TVLM_EXPLICIT_ZERO));
    REFUSES("a cut of -", WATCH(.cut = BELOW_0));
    REFUSES("a cut of inf", WATCH(.cut = INFINITY));
    REFUSES("a confidence of -", WATCH(.confidence = BELOW_0));
    TAKES(WATCH(.longest = ABOVE_0));
    REFUSES("flow over -", WATCH(.longest = BELOW_0));
    TAKES(WATCH(.blend = 1.0f, .needs_all = 1.0f));
    TAKES(WATCH(.blend = TVLM_EXPLICIT_ZERO, .needs_all = TVLM_EXPLICIT_ZERO));
    REFUSES("both are 0 to 1", WATCH(.blend = ABOVE_1));
    REFUSES("both are 0 to 1", WATCH(.blend = BELOW_0));
    REFUSES("both are 0 to 1", WATCH(.needs_all = ABOVE_1));
    REFUSES("both are 0 to 1", WATCH(.needs_all = BELOW_0));
    TAKES(WATCH(.steadiness = TVLM_EXPLICIT_ZERO));
    REFUSES("a steadiness of -", WATCH(.steadiness = BELOW_0));
    TAKES(WATCH(.volume = "y", .volume_frames = 2, .volume_level = 15));
    TAKES(WATCH(.volume = "y", .volume_frames = 64, .volume_level = 0));
    REFUSES("a volume of 1 frames", WATCH(.volume = "y", .volume_frames = 1));
    REFUSES("a volume of 65 frames of y; 2 to 64", WATCH(.volume = "y", .volume_frames = 65));
    REFUSES("a volume of 2 frames of nothing", WATCH(.volume_frames = 2));
    REFUSES("a volume of 0 frames of nothing", WATCH(.volume_level = 1));
    REFUSES("a volume at level 16", WATCH(.volume = "y", .volume_frames = 2, .volume_level = 16));
    REFUSES("a volume at level -1", WATCH(.volume = "y", .volume_frames = 2, .volume_level = -1));
    TAKES(WATCH(.volume = "y", .volume_frames = 17, .look_back = true));
    REFUSES("1 channels of 17 frames to look back at; 16 planes at most",
            WATCH(.volume = "y", .volume_frames = 18, .look_back = true));
}

/* ---- Scores ---- */

static tvlm_status rank(int32_t n, int32_t k) {
    static const float scores[3] = {0.5f, 0.25f, 1.0f};
    int32_t indices[3];
    return tvlm_topk(device, scores, n, k, indices, NULL);
}

static tvlm_status size_of(float stride, bool dense, int32_t level) {
    int32_t columns, rows;
    return tvlm_score_size(stack, tvlm_score_params(.stride = stride, .dense = dense, .level = level),
                           &columns, &rows);
}

/* A scorer of these channels, of zeros, of which none is read. */
static tvlm_status score_channels(int32_t count, bool with_channels, bool with_weights) {
    static const float none[8193];
    static int32_t channels[8193];
    float scores[64];
    for (int i = 0; i < 8193; ++i) channels[i] = TVLM_CHANNEL_Y;
    const tvlm_scorer scorer = {.channel_count = count,
                                .channels = with_channels ? channels : NULL,
                                .taps = 1,
                                .outputs = 1,
                                .weights = with_weights ? none : NULL};
    return tvlm_score(stack, NULL, tvlm_score_params(.stride = 8, .scorer = &scorer), 64, scores);
}

/* A scorer of one channel, of zeros. */
static tvlm_status score(int32_t taps, int32_t outputs, float bias, float level) {
    static const float none[9 * 17];
    const int32_t channel = TVLM_CHANNEL_Y;
    float scores[64];
    const tvlm_scorer scorer = {.channel_count = 1,
                                .channels = &channel,
                                .taps = taps,
                                .outputs = outputs,
                                .bias = bias,
                                .levels = &level,
                                .weights = none};
    return tvlm_score(stack, NULL, tvlm_score_params(.stride = 8, .scorer = &scorer), 64, scores);
}

static void test_scores(void **state) {
    (void)state;
    TAKES(rank(1, 1));
    TAKES(rank(3, 3));
    REFUSES("n is 0; 1 to 268435455", rank(0, 1));
    REFUSES("n is 268435456; 1 to 268435455", rank(1 << 28, 1));
    REFUSES("k is 0; it is at least 1", rank(3, 0));
    REFUSES("k is 4, but there are only 3 scores", rank(3, 4));
    TAKES(size_of(1.0f, false, 0));
    REFUSES("stride 1; it is at least 1 pixel", size_of(BELOW_1, false, 0));
    TAKES(size_of(0.0f, true, 3));
    REFUSES("level", size_of(0.0f, true, 4));
    REFUSES("level", size_of(0.0f, true, -1));
    TAKES(score(1, 1, 0.0f, -1.0f));
    TAKES(score(9, 1, 1e15f, 0.0f));
    REFUSES("a scorer of 2 taps", score(2, 1, 0.0f, 0.0f));
    TAKES(score(1, 17, -1e15f, 0.0f));
    REFUSES("a scorer of 18 outputs; 1 to 17", score(1, 18, 0.0f, 0.0f));
    REFUSES("a scorer of -1 outputs", score(1, -1, 0.0f, 0.0f));
    REFUSES("is beyond 1e15", score(1, 1, nextafterf(1e15f, INFINITY), 0.0f));
    REFUSES("is beyond 1e15", score(1, 1, nextafterf(-1e15f, -INFINITY), 0.0f));
    REFUSES("level", score(1, 1, 0.0f, BELOW_0));
    TAKES(score_channels(0, false, false));
    TAKES(score_channels(1, true, true));
    TAKES(score_channels(8192, true, true));
    REFUSES("a scorer of 8193 channels", score_channels(8193, true, true));
    REFUSES("a scorer of -1 channels", score_channels(-1, true, true));
    REFUSES("without channels or weights", score_channels(1, false, true));
    REFUSES("without channels or weights", score_channels(1, true, false));
}

/* ---- Patches ---- */

static tvlm_status measure(int32_t count, struct tvlm_patches_params params) {
    static const int32_t channels[1];
    size_t bytes;
    if (params.channel_count != 0) params.channels = channels; /* which nobody reads */
    return tvlm_patches_size(&params, count, &bytes);
}
#define MEASURE(count, ...) measure(count, (struct tvlm_patches_params){__VA_ARGS__})

static tvlm_status cut(int32_t side, float size, float height) {
    static float out[3 * 1024 * 1024];
    const tvlm_position at = {.x = 4.0f, .y = 4.0f, .size = size, .height = height};
    return tvlm_patches_extract(stack, &at, 1, tvlm_patches_params(.side = side), sizeof out, out);
}

static void test_patches(void **state) {
    (void)state;
    size_t bytes = 0;
    assert_int_equal(tvlm_patches_size(tvlm_patches_params(.side = 1), 1, &bytes), TVLM_OK);
    assert_int_equal(bytes, 3 * sizeof(float));
    assert_int_equal(tvlm_patches_size(tvlm_patches_params(.side = 0), 1, &bytes), TVLM_OK);
    assert_int_equal(bytes, 3 * 16 * 16 * sizeof(float));
    TAKES(MEASURE(0, .side = 1));
    TAKES(MEASURE(1, .side = 1024));
    assert_int_equal(MEASURE(-1, .side = 1), TVLM_ERROR_ARGUMENT); /* these have no line */
    assert_int_equal(MEASURE(1, .side = 1025), TVLM_ERROR_ARGUMENT);
    assert_int_equal(MEASURE(1, .side = -1), TVLM_ERROR_ARGUMENT);
    TAKES(MEASURE(1, .channel_count = 1));
    TAKES(MEASURE(1, .channel_count = 8192));
    assert_int_equal(MEASURE(1, .channel_count = 8193), TVLM_ERROR_ARGUMENT);
    assert_int_equal(MEASURE(1, .channel_count = -1), TVLM_ERROR_ARGUMENT);
    TAKES(MEASURE(1, .format = TVLM_FORMAT_F32, .border = TVLM_BORDER_REFLECT));
    TAKES(MEASURE(1, .format = TVLM_FORMAT_F16, .border = TVLM_BORDER_CLAMP));
    assert_int_equal(MEASURE(1, .format = (tvlm_format)(TVLM_FORMAT_F32 + 1)), TVLM_ERROR_ARGUMENT);
    assert_int_equal(MEASURE(1, .format = (tvlm_format)(TVLM_FORMAT_AUTO - 1)), TVLM_ERROR_ARGUMENT);
    assert_int_equal(MEASURE(1, .border = (tvlm_border)(TVLM_BORDER_REFLECT + 1)), TVLM_ERROR_ARGUMENT);
    assert_int_equal(MEASURE(1, .border = (tvlm_border)(TVLM_BORDER_CLAMP - 1)), TVLM_ERROR_ARGUMENT);
    TAKES(cut(0, 4.0f, 0.0f));
    TAKES(cut(1, 4.0f, 0.0f));
    TAKES(cut(1024, 4.0f, 0.0f));
    REFUSES("patches of side 1025; 1 to 1024", cut(1025, 4.0f, 0.0f));
    REFUSES("patches of side -1", cut(-1, 4.0f, 0.0f));
    REFUSES("with a size of 0", cut(1, 0.0f, 0.0f));
    REFUSES("has a height of -", cut(1, 4.0f, BELOW_0));
}

/* ---- What is handed in ---- */

static tvlm_status features(int32_t channels, float cell, int type) {
    static const float values[4096 + 1] = {1.0f};
    return tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                               tvlm_grid_input(.data = values, .columns = 1, .rows = 1, .channels = channels,
                                               .cell = cell, .type = (tvlm_value_type)type));
}

/* Of one dimension, as the features have. */
static tvlm_status words(int32_t count, int32_t dimension) {
    static const float vectors[65] = {1.0f};
    float all[65];
    for (int i = 0; i < 65; ++i) all[i] = 1.0f + vectors[i];
    return tvlm_stack_set_words(stack, 0, all, count, dimension);
}

static void test_given(void **state) {
    (void)state;
    TAKES(features(4096, 0.0f, TVLM_VALUE_F32));
    REFUSES("a grid of 4097 channels; it has 1 to 4096", features(4097, 0.0f, TVLM_VALUE_F32));
    REFUSES("a grid of -1 channels", features(-1, 0.0f, TVLM_VALUE_F32));
    /* Of what has one channel, the line says that alone. */
    static const float two[2];
    static const char one[] = "a grid of 2 channels; it has 1";
    REFUSES(one, tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_DEPTH,
                                     tvlm_grid_input(.data = two, .columns = 1, .rows = 1, .channels = 2)));
    assert_string_equal(strstr(test_last_log(), one), one);
    TAKES(features(1, 8.0f, TVLM_VALUE_F16));
    REFUSES("there is no type", features(1, 0.0f, TVLM_VALUE_F16 + 1));
    REFUSES("there is no type", features(1, 0.0f, -1));
    REFUSES("cells of -", features(1, BELOW_0, TVLM_VALUE_F32));
    TAKES(features(1, 0.0f, TVLM_VALUE_F32));
    TAKES(words(1, 1));
    TAKES(words(64, 1));
    REFUSES("65 words; at most 64 fit", words(65, 1));
    REFUSES("of -1 vectors of 1 dimensions", words(-1, 1));
    REFUSES("of 1 vectors of 0 dimensions", words(1, 0));
    TAKES(words(0, 0)); /* takes them back */
}

/* ---- Tuning ---- */

/* The reference has nothing to tune, which comes after the check. */
static tvlm_status tune(float seconds) {
    tvlm_tuning *tuning = NULL;
    const tvlm_status status = tvlm_device_tune(device, tvlm_tune_params(.seconds = seconds), &tuning);
    assert_null(tuning);
    return status == TVLM_ERROR_UNSUPPORTED ? TVLM_OK : status;
}

static void test_tuning(void **state) {
    (void)state;
    TAKES(tune(0.1f));
    TAKES(tune(3600.0f));
    REFUSES("0.1 to 3600 seconds", tune(nextafterf(0.1f, 0.0f)));
    REFUSES("0.1 to 3600 seconds", tune(nextafterf(3600.0f, INFINITY)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stacks),  cmocka_unit_test(test_places),  cmocka_unit_test(test_images),
        cmocka_unit_test(test_frames),  cmocka_unit_test(test_streams), cmocka_unit_test(test_scores),
        cmocka_unit_test(test_patches), cmocka_unit_test(test_given),   cmocka_unit_test(test_tuning)};
    if (tvlm_device_open(tvlm_device_params(.name = "reference", .log = &test_log), &device) != TVLM_OK)
        return 1;
    if (make((struct tvlm_stack_params){0}) != TVLM_OK ||
        tvlm_stack_create(device, tvlm_stack_params(.width = 8, .height = 8), &stack) != TVLM_OK)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    return failed;
}
