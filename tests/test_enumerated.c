/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_enumerated.c: no number that an enumeration does not have is used for anything. Each public function is called
 * with such a number in each enumerated argument, and in each enumerated member that its arguments lead to, and
 * refuses it with one line.
 *
 * tests/check_enumerated.py reads the headers, and fails where one of them has no row here: the first words of a row
 * are the function, and the way from its argument to the number.
 */
#include <stdio.h>
#include <string.h>

#include "interop_helper.h"
#include "log_helper.h"
#include "texturevlm/draw.h"
#include "texturevlm/io.h"
#include "texturevlm/io_scorer.h"
#include "texturevlm/lab/codec.h"
#include "texturevlm/lab/explain.h"
#include "texturevlm/lab/fit.h"
#include "texturevlm/lab/foveated.h"
#include "texturevlm/lab/io_network.h"
#include "texturevlm/lab/trainer.h"

/* ---- What is said of a number that there is not ---- */

static const int beyond[] = {-1, 0, 1000, INT32_MAX, INT32_MIN}; /* of 0 the first one after the last */
enum { WRONG = sizeof beyond / sizeof beyond[0] };

static int wrong_number(int i, int last) {
    return beyond[i] == 0 ? last + 1 : beyond[i];
}

/* `logged`: whether the function has a log at hand. */
static void check_refused(const char *row, int number, tvlm_status status, bool logged) {
    if (status != TVLM_ERROR_ARGUMENT || said.errors != (logged ? 1 : 0))
        fail_msg("%s = %d: %s, with %d lines of error, the last one '%s'", row, number,
                 tvlm_status_string(status), said.errors, said.last);
    nothing_said();
}

/* CALL takes the number as `wrong`; LAST is the last one that there is. */
#define REFUSES(ROW, LAST, CALL)                                                                             \
    for (int turn = 0; turn < WRONG; ++turn) {                                                               \
        const int wrong = wrong_number(turn, (int)(LAST));                                                   \
        nothing_said();                                                                                      \
        check_refused(ROW, wrong, (CALL), true);                                                             \
    }
#define REFUSES_SILENTLY(ROW, LAST, CALL)                                                                    \
    for (int turn = 0; turn < WRONG; ++turn) {                                                               \
        const int wrong = wrong_number(turn, (int)(LAST));                                                   \
        nothing_said();                                                                                      \
        check_refused(ROW, wrong, (CALL), false);                                                            \
    }
/* What the function does not look at. */
#define IGNORES(ROW, LAST, CALL)                                                                             \
    for (int turn = 0; turn < WRONG; ++turn) {                                                               \
        const int wrong = wrong_number(turn, (int)(LAST));                                                   \
        if ((CALL) != TVLM_OK) fail_msg("%s = %d: %s", ROW, wrong, said.last);                               \
    }
/* What has no status: ANSWER is what it gives for any such number. */
#define ANSWERS(ROW, LAST, ANSWER)                                                                           \
    for (int turn = 0; turn < WRONG; ++turn) {                                                               \
        const int wrong = wrong_number(turn, (int)(LAST));                                                   \
        if (!(ANSWER)) fail_msg("%s = %d: another answer", ROW, wrong);                                      \
    }

/* ---- What they are called with ---- */

static tvlm_device *device;
static tvlm_stack *stack;
static tvlm_stream *stream;
static tvlm_session *session;
static tvlm_selection *selection;
static tvlm_export *export;
static tvlm_pool *pool;
static tvlm_fit *fit;
static tvlm_codec *codec;

static const uint8_t bytes[32 * 32 * 3];
static const tvlm_image image = {.pixels = bytes, .width = 32, .height = 32, .channels = 3};
static float values[4 * 1024];
static const int32_t two_channels[] = {0, 1};
static const float ones[4] = {1.0f, 1.0f, 1.0f, 1.0f};

static tvlm_image image_of(int type) {
    tvlm_image made = image;
    made.type = (tvlm_pixel_type)type;
    return made;
}

static struct tvlm_grid_input grid_of(int type) {
    return (struct tvlm_grid_input){.data = values, .columns = 2, .rows = 2, .type = (tvlm_value_type)type};
}

static struct tvlm_query query_of(int combine) {
    return (struct tvlm_query){
        .similarity = values, .columns = 2, .rows = 2, .combine = (tvlm_query_combine)combine};
}

/* A network of one layer on two channels. It is valid until the next call. */
static const tvlm_network *network_of(int activation) {
    static const char *const names[] = {"out"};
    static tvlm_network_layer layer;
    static const tvlm_network network = {.inputs = two_channels,
                                         .input_count = 2,
                                         .outputs = names,
                                         .output_count = 1,
                                         .layers = &layer,
                                         .layer_count = 1};
    layer = (tvlm_network_layer){.inputs = 2,
                                 .outputs = 1,
                                 .side = 1,
                                 .stride = 1,
                                 .activation = (tvlm_activation)activation,
                                 .weights = ones};
    return &network;
}

static const tvlm_scorer *scorer_of(int activation) {
    static tvlm_scorer scorer;
    scorer = (tvlm_scorer){.network = network_of(activation)};
    return &scorer;
}

static void open_all(void) {
    const struct tvlm_codec_params halves = {
        .channels = two_channels, .channel_count = 2, .k = 1, .encode = ones, .decode = ones};
    assert_int_equal(tvlm_stack_create_for_image(device, &image, NULL, &stack), TVLM_OK);
    assert_int_equal(tvlm_select(stack, NULL, NULL, &selection), TVLM_OK);
    assert_int_equal(tvlm_stream_create(device, 32, 32, NULL, &stream), TVLM_OK);
    assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, NULL), TVLM_OK);
    assert_int_equal(tvlm_session_create(device, NULL, &session), TVLM_OK);
    assert_int_equal(tvlm_export_create(device, NULL, &export), TVLM_OK);
    assert_int_equal(tvlm_fit_create(NULL, &noting, &fit), TVLM_OK);
    assert_int_equal(tvlm_codec_create(&halves, &noting, &codec), TVLM_OK);
}

static int close_all(void **state) {
    (void)state;
    tvlm_pool_destroy(&pool);
    tvlm_codec_destroy(&codec);
    tvlm_fit_destroy(&fit);
    tvlm_export_destroy(&export);
    tvlm_session_destroy(&session);
    tvlm_stream_destroy(&stream);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    return 0;
}

static int open_reference_and_pool(void **state) {
    (void)state;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "reference", .log = &noting), &device),
                     TVLM_OK);
    open_all();
    return (int)tvlm_pool_create(
        tvlm_pool_params(.devices = "reference", .open = tvlm_device_params(.log = &noting)), &pool);
}

/* ---- Names ---- */

static bool is_unknown(const char *name) {
    return strcmp(name, "unknown") == 0;
}

static void test_names(void **state) {
    (void)state;
    ANSWERS("tvlm_storage_name storage", TVLM_STORAGE_MIPMAPPED,
            is_unknown(tvlm_storage_name((tvlm_storage)wrong)));
    ANSWERS("tvlm_format_name format", TVLM_FORMAT_S8, is_unknown(tvlm_format_name((tvlm_format)wrong)));
    ANSWERS("tvlm_export_model_name model", TVLM_EXPORT_INTERNVL,
            is_unknown(tvlm_export_model_name((tvlm_export_model)wrong)));
    ANSWERS("tvlm_strategy_name strategy", TVLM_STRATEGY_BUDGET,
            is_unknown(tvlm_strategy_name((tvlm_strategy)wrong)));
    ANSWERS("tvlm_stream_use_name use", TVLM_STREAM_GAZE,
            is_unknown(tvlm_stream_use_name((tvlm_stream_use)wrong)));
    ANSWERS("tvlm_element_name type", TVLM_ELEMENT_BOOL, is_unknown(tvlm_element_name((tvlm_element)wrong)));
    ANSWERS("tvlm_element_size type", TVLM_ELEMENT_BOOL, tvlm_element_size((tvlm_element)wrong) == 0);
    ANSWERS("tvlm_status_string status", TVLM_ERROR_CANCELLED,
            tvlm_status_string((tvlm_status)wrong)[0] != '\0');
    /* A level only goes through to the application. */
    ANSWERS("tvlm_log_message level", TVLM_LOG_DEBUG,
            (tvlm_log_message(&noting, (tvlm_log_level)wrong, "line"), said.errors == 0));
}

/* ---- Presets ---- */

static void test_presets(void **state) {
    tvlm_export_processor processor;
    struct tvlm_stream_params params = {0};
    (void)state;
    REFUSES_SILENTLY("tvlm_export_processor_get model", TVLM_EXPORT_INTERNVL,
                     tvlm_export_processor_get((tvlm_export_model)wrong, &processor));
    REFUSES_SILENTLY("tvlm_stream_preset use", TVLM_STREAM_GAZE,
                     tvlm_stream_preset((tvlm_stream_use)wrong, &params));
}

/* ---- Devices and pools ---- */

static void test_devices(void **state) {
    tvlm_device *none = NULL;
    tvlm_pool *no_pool = NULL;
    (void)state;
    REFUSES("tvlm_device_open params.storage", TVLM_STORAGE_MIPMAPPED,
            tvlm_device_open(tvlm_device_params(.storage = (tvlm_storage)wrong, .log = &noting), &none));
    REFUSES("tvlm_device_open params.format", TVLM_FORMAT_U8,
            tvlm_device_open(tvlm_device_params(.format = (tvlm_format)wrong, .log = &noting), &none));
    REFUSES("tvlm_device_open_another params.storage", TVLM_STORAGE_MIPMAPPED,
            tvlm_device_open_another(0, tvlm_device_params(.storage = (tvlm_storage)wrong, .log = &noting),
                                     &none));
    REFUSES(
        "tvlm_device_open_another params.format", TVLM_FORMAT_U8,
        tvlm_device_open_another(0, tvlm_device_params(.format = (tvlm_format)wrong, .log = &noting), &none));
    REFUSES("tvlm_pool_create params.open.storage", TVLM_STORAGE_MIPMAPPED,
            tvlm_pool_create(
                tvlm_pool_params(.devices = "reference",
                                 .open = tvlm_device_params(.storage = (tvlm_storage)wrong, .log = &noting)),
                &no_pool));
    REFUSES("tvlm_pool_create params.open.format", TVLM_FORMAT_U8,
            tvlm_pool_create(
                tvlm_pool_params(.devices = "reference",
                                 .open = tvlm_device_params(.format = (tvlm_format)wrong, .log = &noting)),
                &no_pool));
    assert_null(none);
    assert_null(no_pool);
}

/* What tvlm_pool_select gives for one image. */
static tvlm_status pool_select(const tvlm_image *one, const struct tvlm_stack_params *of,
                               const struct tvlm_select_params *params) {
    tvlm_selection *chosen = NULL;
    const tvlm_status answer = tvlm_pool_select(pool, one, 1, of, params, &chosen, NULL);
    assert_null(chosen);
    return answer;
}

static void test_pool_select(void **state) {
    (void)state;
    REFUSES("tvlm_pool_select images.type", TVLM_PIXEL_F32,
            pool_select(&(tvlm_image[1]){image_of(wrong)}[0], NULL, NULL));
    REFUSES("tvlm_pool_select stack.format", TVLM_FORMAT_U8,
            pool_select(&image, tvlm_stack_params(.format = (tvlm_format)wrong), NULL));
    REFUSES("tvlm_pool_select stack.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            pool_select(&image, tvlm_stack_params(.network = network_of(wrong)), NULL));
    REFUSES("tvlm_pool_select params.strategy", TVLM_STRATEGY_BUDGET,
            pool_select(&image, NULL, tvlm_select_params(.strategy = (tvlm_strategy)wrong)));
    REFUSES("tvlm_pool_select params.score.scorer.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            pool_select(&image, NULL, tvlm_select_params(.score = {.scorer = scorer_of(wrong)})));
    REFUSES("tvlm_pool_select params.foveated.arrangement", TVLM_ARRANGEMENT_LOG_POLAR,
            pool_select(&image, NULL,
                        tvlm_select_params(.strategy = TVLM_STRATEGY_FOVEATED,
                                           .foveated.arrangement = (tvlm_arrangement)wrong)));
}

/* ---- Stacks and what is handed in ---- */

static void test_stacks(void **state) {
    tvlm_stack *none = NULL;
    int32_t side = 8;
    uint64_t need = 0;
    bool hit = false;
    tvlm_image wrong_image;
    (void)state;
#define IMAGE (wrong_image = image_of(wrong), &wrong_image)
    REFUSES("tvlm_stack_create params.format", TVLM_FORMAT_U8,
            tvlm_stack_create(
                device, tvlm_stack_params(.width = 8, .height = 8, .format = (tvlm_format)wrong), &none));
    REFUSES("tvlm_stack_create params.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_stack_create(
                device, tvlm_stack_params(.width = 8, .height = 8, .network = network_of(wrong)), &none));
    REFUSES("tvlm_stack_create_for_image image.type", TVLM_PIXEL_F32,
            tvlm_stack_create_for_image(device, IMAGE, NULL, &none));
    REFUSES(
        "tvlm_stack_create_for_image params.format", TVLM_FORMAT_U8,
        tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.format = (tvlm_format)wrong), &none));
    REFUSES(
        "tvlm_stack_create_for_image params.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
        tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.network = network_of(wrong)), &none));
    REFUSES("tvlm_stack_need params.format", TVLM_FORMAT_U8,
            tvlm_stack_need(device, tvlm_stack_params(.width = 8, .height = 8, .format = (tvlm_format)wrong),
                            &need));
    REFUSES("tvlm_stack_need params.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_stack_need(device, tvlm_stack_params(.width = 8, .height = 8, .network = network_of(wrong)),
                            &need));
    REFUSES("tvlm_stack_largest_size params.format", TVLM_FORMAT_U8,
            tvlm_stack_largest_size(device, tvlm_stack_params(.format = (tvlm_format)wrong), &side, &side));
    REFUSES("tvlm_stack_largest_size params.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_stack_largest_size(device, tvlm_stack_params(.network = network_of(wrong)), &side, &side));
    REFUSES("tvlm_session_stack image.type", TVLM_PIXEL_F32,
            tvlm_session_stack(session, IMAGE, NULL, NULL, 0, &none, &hit));
    REFUSES("tvlm_session_stack params.format", TVLM_FORMAT_U8,
            tvlm_session_stack(session, &image, tvlm_stack_params(.format = (tvlm_format)wrong), NULL, 0,
                               &none, &hit));
    REFUSES("tvlm_session_stack params.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_session_stack(session, &image, tvlm_stack_params(.network = network_of(wrong)), NULL, 0,
                               &none, &hit));
    REFUSES("tvlm_stack_set_image image.type", TVLM_PIXEL_F32, tvlm_stack_set_image(stack, 0, IMAGE));
    REFUSES("tvlm_stack_send_image image.type", TVLM_PIXEL_F32, tvlm_stack_send_image(stack, 0, IMAGE));
    REFUSES("tvlm_stack_update_image image.type", TVLM_PIXEL_F32,
            tvlm_stack_update_image(stack, 0, IMAGE, NULL, NULL));
    assert_null(none);
#undef IMAGE
}

static void test_grids(void **state) {
    struct tvlm_grid_input input;
    int32_t channel = 0;
    (void)state;
#define GRID(NUMBER) (input = grid_of(NUMBER), &input)
    REFUSES("tvlm_stack_set_grid input.type", TVLM_VALUE_F16,
            tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_GAZE, GRID(wrong)));
    REFUSES("tvlm_stack_set_reduce reduce", TVLM_GAUSSIAN, tvlm_stack_set_reduce(stack, (tvlm_reduce)wrong));
    REFUSES("tvlm_stack_set_user reduce", TVLM_GAUSSIAN,
            tvlm_stack_set_user(stack, 0, "plane", 0, 1, (tvlm_reduce)wrong, GRID(0), &channel));
    REFUSES("tvlm_stack_set_user input.type", TVLM_VALUE_F16,
            tvlm_stack_set_user(stack, 0, "plane", 0, 1, TVLM_MEAN, GRID(wrong), &channel));
    REFUSES("tvlm_stream_set_features input.type", TVLM_VALUE_F16,
            tvlm_stream_set_features(stream, 0, TVLM_CHANNEL_FEATURE_0, GRID(wrong), NULL));
#undef GRID
}

/* ---- What fuzz_calls found: two lines, or none, and an overflow ---- */

#define REFUSES_CHANNELS(ROW, CALL)                                                                          \
    for (int turn = 0; turn < WRONG; ++turn) {                                                               \
        const int32_t wrong = wrong_number(turn, TVLM_CHANNEL_USER_0);                                       \
        if (wrong == 1000) continue; /* a feature's number, which there is */                                \
        nothing_said();                                                                                      \
        check_refused(ROW, wrong, (CALL), true);                                                             \
    }

static void test_channels(void **state) {
    tvlm_channel_info info;
    int32_t width, height;
    bool has;
    (void)state;
    REFUSES_CHANNELS("tvlm_stack_get_channel_info: channel",
                     tvlm_stack_get_channel_info(stack, wrong, &info));
    REFUSES_CHANNELS("tvlm_stack_has_channel: channel", tvlm_stack_has_channel(stack, 0, wrong, &has));
    REFUSES_CHANNELS("tvlm_stack_channel_size: channel",
                     tvlm_stack_channel_size(stack, wrong, 0, &width, &height));
    REFUSES_CHANNELS("tvlm_stack_read: channel", tvlm_stack_read(stack, 0, wrong, 0, 4096, values));
}

/* A session tries once more with all of the device's memory: its line is that of the second attempt alone. */
static void test_second_attempt(void **state) {
    tvlm_stack *made = NULL;
    (void)state;
    assert_int_equal(tvlm_session_stack(session, &image, NULL, NULL, 0, &made, NULL), TVLM_OK);
    nothing_said();
    assert_int_equal(tvlm_session_stack(session, &image,
                                        tvlm_stack_params(.width = 32, .height = 32, .memory_max = 3), NULL,
                                        0, &made, NULL),
                     TVLM_ERROR_DEVICE_MEMORY);
    assert_int_equal(said.errors, 1);
}

/* ---- Streams ---- */

static tvlm_selection_info info_of(int strategy) {
    return (tvlm_selection_info){.width = 32, .height = 32, .strategy = (tvlm_strategy)strategy};
}

static void test_drawing(void **state) {
    static uint8_t rgb[3];
    tvlm_selection_info about = info_of(TVLM_STRATEGY_GRID);
    tvlm_image wrong_image, *none = NULL;
    (void)state;
    REFUSES("tvlm_draw_selection image.type", TVLM_PIXEL_F32,
            tvlm_draw_selection((wrong_image = image_of(wrong), &wrong_image), &about, NULL, 0, NULL, &noting,
                                &none));
    REFUSES("tvlm_draw_selection info.strategy", TVLM_STRATEGY_BUDGET,
            (about = info_of(wrong), tvlm_draw_selection(&image, &about, NULL, 0, NULL, &noting, &none)));
    REFUSES("tvlm_draw_heatmap image.type", TVLM_PIXEL_F32,
            tvlm_draw_heatmap((wrong_image = image_of(wrong), &wrong_image), values,
                              tvlm_draw_params(.columns = 1, .rows = 1), &noting, &none));
    REFUSES("tvlm_draw_image image.type", TVLM_PIXEL_F32,
            tvlm_draw_image((wrong_image = image_of(wrong), &wrong_image), &noting, 1, 1, rgb));
    REFUSES("tvlm_draw_colours colours", TVLM_COLOURS_IDENTIFIER,
            tvlm_draw_colours((tvlm_colours)wrong, values, 1, &noting, rgb));
    assert_null(none);
}

static void test_streams(void **state) {
    tvlm_stream *none = NULL;
    tvlm_selection *chosen = NULL;
    tvlm_image wrong_image;
    struct tvlm_grid_input flow;
    tvlm_clip *clip = NULL, *no_clip = NULL;
    struct tvlm_query query;
    (void)state;
    REFUSES("tvlm_stream_create params.format", TVLM_FORMAT_U8,
            tvlm_stream_create(device, 32, 32, tvlm_stream_params(.format = (tvlm_format)wrong), &none));
    REFUSES("tvlm_stream_create params.scorer.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_stream_create(device, 32, 32, tvlm_stream_params(.scorer = scorer_of(wrong)), &none));
    REFUSES("tvlm_stream_create params.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_stream_create(device, 32, 32, tvlm_stream_params(.network = network_of(wrong)), &none));
    REFUSES("tvlm_clip_create params.format", TVLM_FORMAT_U8,
            tvlm_clip_create(device, 32, 32, tvlm_clip_params(.format = (tvlm_format)wrong), &no_clip));
    assert_int_equal(tvlm_clip_create(device, 32, 32, NULL, &clip), TVLM_OK);
    REFUSES("tvlm_clip_push frame.type", TVLM_PIXEL_F32,
            (wrong_image = image_of(wrong), tvlm_clip_push(clip, &wrong_image)));
    tvlm_clip_destroy(&clip);
    assert_null(no_clip);
    REFUSES("tvlm_stream_push image.type", TVLM_PIXEL_F32,
            (wrong_image = image_of(wrong), tvlm_stream_push(stream, 0, &wrong_image, NULL, NULL)));
    REFUSES("tvlm_stream_send image.type", TVLM_PIXEL_F32,
            (wrong_image = image_of(wrong), tvlm_stream_send(stream, 0, &wrong_image)));
    REFUSES("tvlm_stream_select query.combine", TVLM_COMBINE_MEAN,
            (query = query_of(wrong), tvlm_stream_select(stream, 0, &query, NULL, &chosen)));
    REFUSES(
        "tvlm_stream_select params.strategy", TVLM_STRATEGY_BUDGET,
        tvlm_stream_select(stream, 0, NULL, tvlm_select_params(.strategy = (tvlm_strategy)wrong), &chosen));
    REFUSES("tvlm_stream_select params.score.scorer.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_stream_select(stream, 0, NULL, tvlm_select_params(.score = {.scorer = scorer_of(wrong)}),
                               &chosen));
    REFUSES("tvlm_stream_select params.foveated.arrangement", TVLM_ARRANGEMENT_LOG_POLAR,
            tvlm_stream_select(stream, 0, NULL,
                               tvlm_select_params(.strategy = TVLM_STRATEGY_FOVEATED,
                                                  .foveated.arrangement = (tvlm_arrangement)wrong),
                               &chosen));
    assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, NULL), TVLM_OK); /* the next one has a flow */
    REFUSES("tvlm_stream_push params.flow.type", TVLM_VALUE_F16,
            (flow = grid_of(wrong), flow.channels = 2, (void)tvlm_stream_push(stream, 0, &image, NULL, NULL),
             tvlm_stream_push(stream, 0, &image, tvlm_push_params(.flow = &flow), NULL)));
    assert_null(none);
    assert_null(chosen);
}

/* ---- Scores and selections ---- */

static void test_scores(void **state) {
    struct tvlm_query query;
    int32_t columns, rows;
    (void)state;
    IGNORES("tvlm_score_size params.scorer.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_score_size(stack, tvlm_score_params(.scorer = scorer_of(wrong)), &columns, &rows));
    REFUSES("tvlm_score query.combine", TVLM_COMBINE_MEAN,
            (query = query_of(wrong), tvlm_score(stack, &query, NULL, 1024, values)));
    REFUSES("tvlm_score params.scorer.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_score(stack, NULL, tvlm_score_params(.scorer = scorer_of(wrong)), 1024, values));
}

static void test_selections(void **state) {
    tvlm_selection *chosen = NULL;
    tvlm_reason *const reasons = calloc(4096, sizeof *reasons);
    const tvlm_picture picture = {2, 2};
    tvlm_prediction *prediction = NULL;
    int32_t count = 0;
    struct tvlm_query query;
    (void)state;
    REFUSES("tvlm_select query.combine", TVLM_COMBINE_MEAN,
            (query = query_of(wrong), tvlm_select(stack, &query, NULL, &chosen)));
    IGNORES("tvlm_select_check query.combine", TVLM_COMBINE_MEAN,
            (query = query_of(wrong), tvlm_select_check(&noting, &query, NULL)));
    REFUSES("tvlm_select_check params.strategy", TVLM_STRATEGY_BUDGET,
            tvlm_select_check(&noting, NULL, tvlm_select_params(.strategy = (tvlm_strategy)wrong)));
    REFUSES("tvlm_select_check params.foveated.arrangement", TVLM_ARRANGEMENT_LOG_POLAR,
            tvlm_select_check(&noting, NULL,
                              tvlm_select_params(.strategy = TVLM_STRATEGY_FOVEATED,
                                                 .foveated.arrangement = (tvlm_arrangement)wrong)));
    IGNORES("tvlm_select_check params.score.scorer.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_select_check(&noting, NULL, tvlm_select_params(.score = {.scorer = scorer_of(wrong)})));
    REFUSES("tvlm_select params.strategy", TVLM_STRATEGY_BUDGET,
            tvlm_select(stack, NULL, tvlm_select_params(.strategy = (tvlm_strategy)wrong), &chosen));
    REFUSES("tvlm_select params.score.scorer.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_select(stack, NULL, tvlm_select_params(.score = {.scorer = scorer_of(wrong)}), &chosen));
    REFUSES("tvlm_select params.foveated.arrangement", TVLM_ARRANGEMENT_LOG_POLAR,
            tvlm_select(stack, NULL,
                        tvlm_select_params(.strategy = TVLM_STRATEGY_FOVEATED,
                                           .foveated.arrangement = (tvlm_arrangement)wrong),
                        &chosen));
#define PREDICT(QUERY, ...)                                                                                  \
    tvlm_predict(stack, QUERY, tvlm_select_params(__VA_ARGS__), &picture, 1, &prediction)
    REFUSES("tvlm_predict query.combine", TVLM_COMBINE_MEAN, (query = query_of(wrong), PREDICT(&query, 0)));
    REFUSES("tvlm_predict params.strategy", TVLM_STRATEGY_BUDGET,
            PREDICT(NULL, .strategy = (tvlm_strategy)wrong));
    REFUSES("tvlm_predict params.score.scorer.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            PREDICT(NULL, .score = {.scorer = scorer_of(wrong)}));
    REFUSES("tvlm_predict params.foveated.arrangement", TVLM_ARRANGEMENT_LOG_POLAR,
            PREDICT(NULL, .foveated.arrangement = (tvlm_arrangement)wrong));
    assert_null(prediction);
#undef PREDICT
#define EXPLAIN(QUERY, ...)                                                                                  \
    tvlm_explain(stack, QUERY, tvlm_select_params(__VA_ARGS__), selection, 4096, reasons, &count)
    REFUSES("tvlm_explain query.combine", TVLM_COMBINE_MEAN, (query = query_of(wrong), EXPLAIN(&query, 0)));
    REFUSES("tvlm_explain params.strategy", TVLM_STRATEGY_BUDGET,
            EXPLAIN(NULL, .strategy = (tvlm_strategy)wrong));
    REFUSES("tvlm_explain params.score.scorer.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            EXPLAIN(NULL, .score = {.scorer = scorer_of(wrong)}));
    REFUSES(
        "tvlm_explain params.foveated.arrangement", TVLM_ARRANGEMENT_LOG_POLAR,
        EXPLAIN(NULL, .strategy = TVLM_STRATEGY_FOVEATED, .foveated.arrangement = (tvlm_arrangement)wrong));
#undef EXPLAIN
    REFUSES("tvlm_foveated_place params.arrangement", TVLM_ARRANGEMENT_LOG_POLAR,
            tvlm_foveated_place(32, 32, 0, 0, tvlm_foveated_params(.arrangement = (tvlm_arrangement)wrong),
                                &noting, 0, NULL, &count));
    assert_null(chosen);
    free(reasons);
}

static void test_patches(void **state) {
    const tvlm_position position = {.x = 16, .y = 16, .size = 16};
    size_t size = 0;
    (void)state;
    REFUSES_SILENTLY("tvlm_patches_size params.format", TVLM_FORMAT_F32,
                     tvlm_patches_size(tvlm_patches_params(.format = (tvlm_format)wrong), 1, &size));
    REFUSES_SILENTLY("tvlm_patches_size params.border", TVLM_BORDER_REFLECT,
                     tvlm_patches_size(tvlm_patches_params(.border = (tvlm_border)wrong), 1, &size));
    REFUSES("tvlm_patches_extract params.format", TVLM_FORMAT_F32,
            tvlm_patches_extract(stack, &position, 1, tvlm_patches_params(.format = (tvlm_format)wrong),
                                 sizeof values, values));
    REFUSES("tvlm_patches_extract params.border", TVLM_BORDER_REFLECT,
            tvlm_patches_extract(stack, &position, 1, tvlm_patches_params(.border = (tvlm_border)wrong),
                                 sizeof values, values));
}

/* ---- Exports ---- */

static void test_exports(void **state) {
    tvlm_export *none = NULL;
    struct tvlm_export_inputs inputs = {0};
    struct tvlm_grid_input features;
    struct tvlm_query query;
    tvlm_image wrong_image;
    (void)state;
    REFUSES("tvlm_export_create params.model", TVLM_EXPORT_INTERNVL,
            tvlm_export_create(device, tvlm_export_params(.model = (tvlm_export_model)wrong), &none));
    REFUSES("tvlm_export_create params.format", TVLM_FORMAT_U8,
            tvlm_export_create(device, tvlm_export_params(.format = (tvlm_format)wrong), &none));
    REFUSES("tvlm_export_create params.score.scorer.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_export_create(device, tvlm_export_params(.score = {.scorer = scorer_of(wrong)}), &none));
    REFUSES("tvlm_export_create params.strategy", TVLM_STRATEGY_BUDGET,
            tvlm_export_create(device, tvlm_export_params(.strategy = (tvlm_strategy)wrong), &none));
    REFUSES("tvlm_export_set_inputs inputs.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            (inputs.network = network_of(wrong), (void)tvlm_export_set_inputs(export, &inputs),
             tvlm_export_run(export, &image, 1, NULL, NULL)));
    assert_int_equal(tvlm_export_set_inputs(export, NULL), TVLM_OK);
    REFUSES("tvlm_export_run images.type", TVLM_PIXEL_F32,
            (wrong_image = image_of(wrong), tvlm_export_run(export, &wrong_image, 1, NULL, NULL)));
    REFUSES("tvlm_export_run features.type", TVLM_VALUE_F16,
            (features = grid_of(wrong), tvlm_export_run(export, &image, 1, &features, NULL)));
    REFUSES("tvlm_export_run queries.combine", TVLM_COMBINE_MEAN,
            (query = query_of(wrong), tvlm_export_run(export, &image, 1, NULL, &query)));
    assert_null(none);
}

/* ---- What is learned ---- */

static void test_learned(void **state) {
    tvlm_trainer *trainer = NULL;
    tvlm_codec_trainer *codec_trainer = NULL;
    tvlm_scorer *folded = NULL;
    struct tvlm_query query;
    const tvlm_scorer *scorer = NULL;
    (void)state;
    REFUSES("tvlm_trainer_create params.method", TVLM_BASIS_RANGE_FINDER,
            tvlm_trainer_create(
                device, tvlm_trainer_params(.dimension = 4, .k = 2, .method = (tvlm_basis_method)wrong),
                &trainer));
    REFUSES("tvlm_fit_add_query query.combine", TVLM_COMBINE_MEAN,
            (query = query_of(wrong), tvlm_fit_add_query(fit, stack, 0, &query, ones, 2, 2)));
    REFUSES("tvlm_codec_fold scorer.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_codec_fold(codec, scorer_of(wrong), 0, &noting, &folded));
    REFUSES("tvlm_codec_trainer_create params.scorers.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            (scorer = scorer_of(wrong),
             tvlm_codec_trainer_create(tvlm_codec_trainer_params(.scorers = &scorer, .scorer_count = 1),
                                       &noting, &codec_trainer)));
    REFUSES("tvlm_network_check network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_network_check(network_of(wrong), &noting));
    assert_null(trainer);
    assert_null(codec_trainer);
    assert_null(folded);
}

/* ---- Files ---- */

static void test_files(void **state) {
    char path[512];
    static const int64_t shape[] = {2};
    tvlm_npy_writer *writer = NULL;
    tvlm_tensor tensor = {.name = "tensor", .rank = 1, .shape = {2}, .data = ones, .size = 8};
    (void)state;
    snprintf(path, sizeof path, "%s/enumerated", test_binary_dir);
    remove(path);
    REFUSES("tvlm_npy_write type", TVLM_ELEMENT_BOOL,
            tvlm_npy_write(path, (tvlm_element)wrong, 1, shape, ones, &noting));
    REFUSES("tvlm_npy_writer_open type", TVLM_ELEMENT_BOOL,
            tvlm_npy_writer_open(path, (tvlm_element)wrong, 1, shape, &noting, &writer));
    REFUSES("tvlm_safetensors_write tensors.type", TVLM_ELEMENT_BOOL,
            (tensor.type = (tvlm_element)wrong, tvlm_safetensors_write(path, &tensor, 1, NULL, 0, &noting)));
    REFUSES("tvlm_network_save network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_network_save(path, network_of(wrong), &noting));
    REFUSES("tvlm_scorer_save scorer.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_scorer_save(path, scorer_of(wrong), &noting));
    assert_null(writer);
    FILE *const file = fopen(path, "rb");
    assert_null(file);
}

/* ---- In a context of the application's ---- */

static void check_opencl_stacks(application *app, cl_mem memory) {
    tvlm_device *none = NULL;
    const struct tvlm_grid_input grid = {.columns = 2, .rows = 2};
    struct tvlm_grid_input flow;
    int32_t channel = 0;
    tvlm_opencl_frame frame = {.memory = memory, .image = image};
    tvlm_image wrong_image;
    struct tvlm_grid_input input;
    REFUSES("tvlm_device_open_opencl params.storage", TVLM_STORAGE_MIPMAPPED,
            tvlm_device_open_opencl(app->context, app->id, app->queue,
                                    tvlm_device_params(.storage = (tvlm_storage)wrong, .log = &noting),
                                    &none));
    REFUSES("tvlm_device_open_opencl params.format", TVLM_FORMAT_U8,
            tvlm_device_open_opencl(app->context, app->id, app->queue,
                                    tvlm_device_params(.format = (tvlm_format)wrong, .log = &noting), &none));
    assert_null(none);
#define FRAME(MEMBER, TYPE, CALL) (frame.MEMBER = (TYPE)wrong, (CALL))
#define FRAMES(MEMBER, TYPE, LAST)                                                                           \
    REFUSES("tvlm_stack_set_frame_opencl frame." #MEMBER, LAST,                                              \
            FRAME(MEMBER, TYPE, tvlm_stack_set_frame_opencl(stack, 0, &frame)));                             \
    REFUSES("tvlm_stack_update_frame_opencl frame." #MEMBER, LAST,                                           \
            FRAME(MEMBER, TYPE, tvlm_stack_update_frame_opencl(stack, 0, &frame, NULL, NULL)));              \
    REFUSES("tvlm_stream_push_opencl frame." #MEMBER, LAST,                                                  \
            FRAME(MEMBER, TYPE, tvlm_stream_push_opencl(stream, 0, &frame, NULL, NULL)));                    \
    REFUSES("tvlm_stream_send_opencl frame." #MEMBER, LAST,                                                  \
            FRAME(MEMBER, TYPE, tvlm_stream_send_opencl(stream, 0, &frame)));                                \
    frame.MEMBER = (TYPE)0
    FRAMES(image.type, tvlm_pixel_type, TVLM_PIXEL_F32);
    FRAMES(matrix, tvlm_opencl_matrix, TVLM_OPENCL_BT709);
    FRAMES(sharing, tvlm_opencl_sharing, TVLM_OPENCL_EXTERNAL);
#undef FRAMES
#undef FRAME
    REFUSES("tvlm_stack_set_image_opencl image.type", TVLM_PIXEL_F32,
            (wrong_image = image_of(wrong), tvlm_stack_set_image_opencl(stack, 0, &wrong_image, memory, 0)));
    REFUSES("tvlm_stack_update_image_opencl image.type", TVLM_PIXEL_F32,
            (wrong_image = image_of(wrong),
             tvlm_stack_update_image_opencl(stack, 0, &wrong_image, memory, 0, NULL, NULL)));
    REFUSES(
        "tvlm_stack_set_grid_opencl input.type", TVLM_VALUE_F16,
        (input = grid_of(wrong), tvlm_stack_set_grid_opencl(stack, 0, TVLM_CHANNEL_GAZE, &input, memory, 0)));
    REFUSES(
        "tvlm_stack_set_user_opencl reduce", TVLM_GAUSSIAN,
        tvlm_stack_set_user_opencl(stack, 0, "plane", 0, 1, (tvlm_reduce)wrong, &grid, memory, 0, &channel));
    REFUSES("tvlm_stack_set_user_opencl input.type", TVLM_VALUE_F16,
            (input = grid_of(wrong),
             tvlm_stack_set_user_opencl(stack, 0, "plane", 0, 1, TVLM_MEAN, &input, memory, 0, &channel)));
    REFUSES("tvlm_stream_set_features_opencl input.type", TVLM_VALUE_F16,
            (input = grid_of(wrong),
             tvlm_stream_set_features_opencl(stream, 0, TVLM_CHANNEL_FEATURE_0, &input, memory, 0, NULL)));
    REFUSES("tvlm_stream_push_opencl params.flow.type", TVLM_VALUE_F16,
            (flow = grid_of(wrong), flow.channels = 2, (void)tvlm_stream_push(stream, 0, &image, NULL, NULL),
             tvlm_stream_push_opencl(stream, 0, &frame, tvlm_push_params(.flow = &flow), NULL)));
}

static void check_opencl_results(cl_mem memory) {
    const tvlm_position position = {.x = 16, .y = 16, .size = 16};
    struct tvlm_query query;
    int32_t count = 0;
    REFUSES("tvlm_patches_extract_opencl params.format", TVLM_FORMAT_F32,
            tvlm_patches_extract_opencl(stack, &position, 1,
                                        tvlm_patches_params(.format = (tvlm_format)wrong), memory, 0));
    REFUSES("tvlm_patches_extract_opencl params.border", TVLM_BORDER_REFLECT,
            tvlm_patches_extract_opencl(stack, &position, 1,
                                        tvlm_patches_params(.border = (tvlm_border)wrong), memory, 0));
    REFUSES("tvlm_patches_extract_at_opencl params.format", TVLM_FORMAT_F32,
            tvlm_patches_extract_at_opencl(stack, tvlm_memory(.memory = memory), 1,
                                           tvlm_patches_params(.format = (tvlm_format)wrong), memory, 0));
    REFUSES("tvlm_patches_extract_at_opencl params.border", TVLM_BORDER_REFLECT,
            tvlm_patches_extract_at_opencl(stack, tvlm_memory(.memory = memory), 1,
                                           tvlm_patches_params(.border = (tvlm_border)wrong), memory, 0));
    REFUSES("tvlm_score_opencl query.combine", TVLM_COMBINE_MEAN,
            (query = query_of(wrong), tvlm_score_opencl(stack, &query, NULL, memory, 0)));
    REFUSES("tvlm_score_opencl params.scorer.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_score_opencl(stack, NULL, tvlm_score_params(.scorer = scorer_of(wrong)), memory, 0));
    REFUSES("tvlm_select_opencl query.combine", TVLM_COMBINE_MEAN,
            (query = query_of(wrong), tvlm_select_opencl(stack, &query, NULL, memory, 0, &count)));
    REFUSES("tvlm_select_opencl params.strategy", TVLM_STRATEGY_BUDGET,
            tvlm_select_opencl(stack, NULL, tvlm_select_params(.strategy = (tvlm_strategy)wrong), memory, 0,
                               &count));
    REFUSES("tvlm_select_opencl params.score.scorer.network.layers.activation", TVLM_ACTIVATION_SIGMOID,
            tvlm_select_opencl(stack, NULL, tvlm_select_params(.score = {.scorer = scorer_of(wrong)}), memory,
                               0, &count));
    REFUSES("tvlm_select_opencl params.foveated.arrangement", TVLM_ARRANGEMENT_LOG_POLAR,
            tvlm_select_opencl(stack, NULL,
                               tvlm_select_params(.strategy = TVLM_STRATEGY_FOVEATED,
                                                  .foveated.arrangement = (tvlm_arrangement)wrong),
                               memory, 0, &count));
}

static void check_interop(const test_target *target) {
    application app = start_on(target);
    cl_mem memory = make_buffer(&app, values, sizeof values);
    device = app.device, app.device = NULL;
    device->log = noting;
    open_all();
    check_opencl_stacks(&app, memory);
    check_opencl_results(memory);
    (void)close_all(NULL);
    clReleaseMemObject(memory);
    stop(&app);
}
ON_EACH_DEVICE(check_interop)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),      cmocka_unit_test(test_presets),
        cmocka_unit_test(test_devices),    cmocka_unit_test(test_pool_select),
        cmocka_unit_test(test_stacks),     cmocka_unit_test(test_grids),
        cmocka_unit_test(test_channels),   cmocka_unit_test(test_second_attempt),
        cmocka_unit_test(test_streams),    cmocka_unit_test(test_scores),
        cmocka_unit_test(test_selections), cmocka_unit_test(test_patches),
        cmocka_unit_test(test_exports),    cmocka_unit_test(test_learned),
        cmocka_unit_test(test_drawing),    cmocka_unit_test(test_files)};
    const struct CMUnitTest interop[] = {cmocka_unit_test(test_check_interop)};
    const int failed = cmocka_run_group_tests(tests, open_reference_and_pool, close_all);
    return failed != 0 ? failed : cmocka_run_group_tests(interop, NULL, NULL);
}
