/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_learned_uses.c: the outputs of a network in streams, where parts of them are made anew, and in exports.
 */
#include "export_helper.h"
#include "network_helper.h"
#include "stack_helper.h"
#include "support_stage.h"
#include "texturevlm/stream.h"

enum { WIDTH = 80, HEIGHT = 64 };

static const test_layer layers[] = {
    {4, 3, 1, TVLM_ACTIVATION_RELU}, {3, 1, 1, TVLM_ACTIVATION_SIGMOID}, {0, 0, 0, TVLM_ACTIVATION_NONE}};

/* ---- Streams ---- */

static tvlm_stream *open_stream(tvlm_device *device, const struct tvlm_stream_params *params) {
    tvlm_stream *stream = NULL;
    if (tvlm_stream_create(device, WIDTH, HEIGHT, params, &stream) != TVLM_OK)
        fail_msg("%s", test_last_log());
    return stream;
}

/* The outputs are those of a stack that has nothing but this frame, and the stream's scorer reads them. */
static void compare_frame(tvlm_device *device, tvlm_stream *stream, const tvlm_image *frame,
                          const tvlm_network *network, const tvlm_scorer *scorer, tvlm_format format) {
    tvlm_stack *alone = NULL, *const present = tvlm_stream_stack(stream, 0);
    const struct tvlm_select_params asked = {
        .k = 5, .strategy = TVLM_STRATEGY_GRID, .score = {.scorer = scorer}};
    tvlm_selection *got = NULL, *expected = NULL;
    if (tvlm_stack_create_for_image(device, frame,
                                    tvlm_stack_params(.layout = "net0", .format = format, .network = network),
                                    &alone) != TVLM_OK)
        fail_msg("%s", test_last_log());
    for (int32_t output = 0; output < 3; ++output) {
        size_t count;
        float *const here = read_level(present, 0, TVLM_CHANNEL_LEARNED_0 + output, 0, &count),
                     *there = read_level(alone, 0, TVLM_CHANNEL_LEARNED_0 + output, 0, &count);
        assert_memory_equal(here, there, count * sizeof *here);
        free(here);
        free(there);
    }
    if (tvlm_stream_select(stream, 0, NULL, tvlm_select_params(.k = 5, .strategy = TVLM_STRATEGY_GRID),
                           &got) != TVLM_OK)
        fail_msg("%s", test_last_log());
    assert_int_equal(tvlm_select(alone, NULL, &asked, &expected), TVLM_OK);
    same_positions(got, expected);
    tvlm_selection_destroy(&got);
    tvlm_selection_destroy(&expected);
    tvlm_stack_destroy(&alone);
}

static void check_stream(tvlm_device *device, tvlm_format format) {
    static const int32_t channel = TVLM_CHANNEL_LEARNED_0 + 1;
    static const float one = 1.0f;
    const struct tvlm_scorer scorer = {.channel_count = 1, .channels = &channel, .weights = &one};
    test_network made;
    uint64_t random = 21;
    uint8_t *const pixels = test_random_pixels(&random, WIDTH, HEIGHT, 3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stream_report report;
    test_network_make(&made, 3, layers, true, &random);
    /* Without a layout that names them: whatever reads them first has them made. */
    tvlm_stream *stream =
        open_stream(device, tvlm_stream_params(.layout = "r", .no_flow = true, .format = format,
                                               .network = &made.network, .scorer = &scorer,
                                               .steadiness = TVLM_EXPLICIT_ZERO, .update = {.tile = 16}));
    for (int frame = 0; frame < 3; ++frame) {
        /* A few pixels change, across a border of tiles. */
        for (int i = 0; frame > 0 && i < 3 * 8; ++i) pixels[3 * ((13 + 9 * frame) * WIDTH + 28) + i] ^= 0x40;
        assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, &report), TVLM_OK);
        assert_true(frame == 0 ? report.keyframe : report.changed > 0 && report.changed < report.tiles / 4);
        compare_frame(device, stream, &image, &made.network, &scorer, format);
    }
    assert_int_equal(tvlm_stack_channel_find(tvlm_stream_stack(stream, 0), "net2"),
                     TVLM_CHANNEL_LEARNED_0 + 2);
    tvlm_stream_destroy(&stream);

    /* By their own names in a layout and in a volume, whose planes have the library's; and one that no stack takes. */
    stream = open_stream(device, tvlm_stream_params(.layout = "net0", .volume = "net1", .volume_frames = 2,
                                                    .look_back = true, .network = &made.network));
    assert_true(tvlm_stack_channel_find(tvlm_stream_stack(stream, 0), "learned_1@-1") >= TVLM_CHANNEL_USER_0);
    tvlm_stream_destroy(&stream);
    made.values[0][3] = NAN;
    refused(tvlm_stream_create(device, WIDTH, HEIGHT, tvlm_stream_params(.network = &made.network), &stream),
            TVLM_ERROR_ARGUMENT, "layer 0 of the network: number 3 of its weights is not finite");
    assert_null(stream);
    test_network_release(&made);
    free(pixels);
}

/* ---- Exports ---- */

/* A network that copies blue and its opposite: its scores are those of blue itself. */
static void check_export(tvlm_device *device, tvlm_format format) {
    static const int32_t inputs[] = {TVLM_CHANNEL_B}, blue = TVLM_CHANNEL_B,
                         learned = TVLM_CHANNEL_LEARNED_0 + 1;
    static const float weights[] = {-1.0f, 1.0f}, one = 1.0f;
    static const char *const outputs[] = {"opposite", "same"};
    const tvlm_network_layer layer = {.inputs = 1, .outputs = 2, .side = 1, .stride = 1, .weights = weights};
    const tvlm_network network = {.inputs = inputs,
                                  .input_count = 1,
                                  .outputs = outputs,
                                  .output_count = 2,
                                  .layers = &layer,
                                  .layer_count = 1};
    const struct tvlm_scorer by_blue = {.channel_count = 1, .channels = &blue, .weights = &one},
                             by_learned = {.channel_count = 1, .channels = &learned, .weights = &one};
    const tvlm_image image = noise(22, 112, 84, 3);
    const struct tvlm_export_inputs with = {.network = &network};
    tvlm_export_tensor tensor;
    tvlm_export *expected = made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .format = format,
                                                            .score.scorer = &by_blue)),
                *got = made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .format = format,
                                                       .score.scorer = &by_learned));
    run(expected, &image, 1, NULL);
    assert_int_equal(tvlm_export_set_inputs(got, &with), TVLM_OK);
    run(got, &image, 1, NULL);
    float *const right = take(expected, "scores", &tensor), *scores = take(got, "scores", &tensor);
    assert_int_equal(tensor.bytes, 12 * sizeof(float));
    assert_memory_equal(scores, right, tensor.bytes);
    free(scores);
    free(right);

    /* Without it there is nothing to score by; and one that no stack takes is told by the run. */
    assert_int_equal(tvlm_export_set_inputs(got, NULL), TVLM_OK);
    refused(tvlm_export_run(got, &image, 1, NULL, NULL), TVLM_ERROR_ARGUMENT, "learned_1");
    const tvlm_network none = {0};
    assert_int_equal(tvlm_export_set_inputs(got, &(struct tvlm_export_inputs){.network = &none}), TVLM_OK);
    refused(tvlm_export_run(got, &image, 1, NULL, NULL), TVLM_ERROR_ARGUMENT, "network");
    tvlm_export_destroy(&got);
    tvlm_export_destroy(&expected);
    drop(&image);
}

DEVICE_CHECKS_MAIN(check_stream, check_export)
