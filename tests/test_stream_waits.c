/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stream_waits.c: how often the host waits for the device in a stream's frame. Each wait costs a round
 * trip and leaves the device without work. And that frames make no device memory anew.
 */
#include "layer_helper.h"
#include "opencl/backend.h"
#include "stack/inside.h"
#include "stack/make.h"
#include "stream_helper.h"
#include "support_stage.h"

enum { CELL = 16, DIMENSION = 8, FRAMES = 6, SETTLED = 3 };
enum { COLUMNS = WIDTH / CELL, ROWS = HEIGHT / CELL };

static const layer_control *layer;

/* What is asked of a stream, and what waits it takes: of a push and of its selection. */
typedef struct usage {
    const char *name;
    struct tvlm_stream_params params;
    bool sent; /* ahead; otherwise the pixels' way to the device is one of the waits */
    bool features, embedding, regions, flow;
    int step; /* pixels that the camera moves with each frame */
    int push, select;
} usage;

static const usage usages[] = {
    {.name = "flow alone", .sent = true, .step = 2, .push = 1, .select = 1},
    {.name = "everything",
     .params = {.volume = "saliency,motion", .volume_frames = 3, .look_back = true},
     .sent = true,
     .features = true,
     .embedding = true,
     .regions = true,
     .step = 2,
     .push = 1,
     .select = 1},
    {.name = "everything, pushed",
     .features = true,
     .embedding = true,
     .regions = true,
     .step = 2,
     .push = 2,
     .select = 1},
    {.name = "everything, taken whole",
     .params = {.whole = true},
     .sent = true,
     .features = true,
     .embedding = true,
     .regions = true,
     .step = 2,
     .push = 1,
     .select = 1},
    {.name = "nothing moves", .sent = true, .features = true, .regions = true, .push = 1, .select = 1},
    {.name = "no flow", /* cells that changed are found on the host */
     .params = {.no_flow = true},
     .sent = true,
     .features = true,
     .regions = true,
     .step = 2,
     .push = 2,
     .select = 1},
    {.name = "flow handed in", /* after the look for a cut, and by a write that waits */
     .sent = true,
     .features = true,
     .regions = true,
     .flow = true,
     .step = 2,
     .push = 3,
     .select = 1},
};

/* Smooth enough to be followed. */
static void see(int32_t x, uint8_t *pixels) {
    for (int32_t i = 0; i < WIDTH * HEIGHT; ++i) {
        const float across = (float)(i % WIDTH + x), down = (float)(i / WIDTH);
        for (int c = 0; c < 3; ++c)
            pixels[3 * i + c] =
                (uint8_t)(128.0f + 60.0f * sinf(0.11f * across + (float)c) * sinf(0.07f * down) +
                          50.0f * sinf(0.037f * across - 0.05f * down));
    }
}

static void give(tvlm_stream *stream, int32_t channel) {
    float vectors[COLUMNS * ROWS * DIMENSION];
    uint64_t random = 3;
    for (int i = 0; i < COLUMNS * ROWS * DIMENSION; ++i) vectors[i] = test_random_unit(&random) - 0.4f;
    const struct tvlm_grid_input input = {
        .data = vectors, .columns = COLUMNS, .rows = ROWS, .channels = DIMENSION};
    assert_int_equal(tvlm_stream_set_features(stream, 0, channel, &input, NULL), TVLM_OK);
}

/* Everything that a frame is to have that the selection has no use for. */
static void want(tvlm_stream *stream, const usage *u, int frame) {
    tvlm_stack *stack = tvlm_stream_stack(stream, 0);
    if (frame == 0 && u->features) give(stream, TVLM_CHANNEL_FEATURE_0);
    if (frame == 0 && u->embedding) give(stream, TVLM_CHANNEL_EMBEDDING_0);
    if (u->regions)
        assert_int_equal(tvlm_stack_ensure(stack, &stack->chunks[0], TVLM_GRID_BIT(TVLM_GRID_CLUSTER)),
                         TVLM_OK);
}

/* Gives what had gone to the device before it. */
static layer_commands push_frame(tvlm_stream *stream, const usage *u, int frame, uint8_t *pixels) {
    const float flow[3] = {(float)-u->step, 0.0f, 1.0f};
    const struct tvlm_grid_input grid = {.data = flow, .columns = 1, .rows = 1, .channels = 3};
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stream_report report;
    see(u->step * frame, pixels);
    if (u->sent) assert_int_equal(tvlm_stream_send(stream, 0, &image), TVLM_OK);
    const layer_commands before = layer->commands();
    assert_int_equal(tvlm_stream_push(stream, 0, u->sent ? NULL : &image,
                                      tvlm_push_params(.flow = u->flow ? &grid : NULL), &report),
                     TVLM_OK);
    assert_true(!report.cut && report.flow == (frame > 0 && !u->params.no_flow));
    return before;
}

/* A GPU takes pixels from memory that is the library's, so that their write need not be waited for. */
static int waits_of_push(const test_target *target, const usage *u) {
    const bool staged = target->device->info.type == TVLM_DEVICE_GPU;
    return u->push - (staged && !u->sent);
}

static void run(const test_target *target, const usage *u) {
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    struct tvlm_stream_params params = u->params;
    params.format = target->format;
    tvlm_stream *stream = open_stream(target->device, &params);
    layer_commands commands = {0};
    for (int frame = 0; frame < FRAMES; ++frame) {
        tvlm_selection *selection = NULL;
        const layer_commands begun = push_frame(stream, u, frame, pixels);
        const long pushed = commands_after(layer, begun).waits;
        want(stream, u, frame);
        const long wanted = commands_after(layer, begun).waits;
        for (int again = 0; again < 2; ++again) { /* a second question is no dearer than the first */
            const layer_commands before = layer->commands();
            assert_int_equal(tvlm_stream_select(stream, 0, NULL, tvlm_select_params(.k = 20), &selection),
                             TVLM_OK);
            tvlm_selection_destroy(&selection);
            if (frame >= SETTLED) assert_int_equal(commands_after(layer, before).waits, u->select);
        }
        commands = commands_after(layer, begun);
        if (frame < SETTLED) continue;
        assert_int_equal(commands.memory, 0); /* for which drivers take their time, too */
        assert_int_equal(wanted, pushed);
        assert_int_equal(pushed, waits_of_push(target, u));
    }
    print_message(
        "    %s: %d + %d waits; last frame, asked twice: %ld kernels, %ld writes, %ld reads, %ld others\n",
        u->name, waits_of_push(target, u), u->select, commands.kernels, commands.writes, commands.reads,
        commands.others);
    tvlm_stream_destroy(&stream);
}

static void waits(const test_target *target, tvlm_device *reference) {
    (void)reference;
    if (!test_is_opencl(target->device)) return;
    if (((opencl_device *)target->device)->releases_early) {
        print_message("    skipped: its driver needs waits of another kind, before images are released\n");
        return;
    }
    for (size_t i = 0; i < sizeof usages / sizeof usages[0]; ++i) run(target, &usages[i]);
}

static void test_waits(void **state) {
    (void)state;
    test_on_targets(waits);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_waits)};
    layer = use_layer();
    if (layer == NULL) return 77;
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
