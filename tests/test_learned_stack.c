/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_learned_stack.c: the stack that has a network: names, ranges, sizes, levels, what is made anew when, and what is
 * refused. Its kernels are in kernels/learned.c.
 */
#include <stdio.h>
#include <string.h>

#include "lab/network.h"
#include "network_helper.h"
#include "stack/grids.h"
#include "stack/inside.h"
#include "stack_helper.h"
#include "support_stage.h"
#include "texturevlm/input.h"
#include "texturevlm/session.h"
#include "texturevlm/stack.h"

#define NONE    TVLM_ACTIVATION_NONE
#define RELU    TVLM_ACTIVATION_RELU
#define SIGMOID TVLM_ACTIVATION_SIGMOID

static const test_layer bounded[] = {{8, 3, 1, RELU}, {6, 1, 1, SIGMOID}, {0, 0, 0, NONE}};
static const test_layer large[] = {
    {70, 3, 1, RELU}, {70, 3, 1, RELU}, {3, 3, 1, NONE}, {0, 0, 0, NONE}}; /* too much for one run on GPUs */
static const test_layer strided[] = {{8, 3, 2, RELU}, {3, 3, 2, NONE}, {0, 0, 0, NONE}};

enum { SIDE_X = 45, SIDE_Y = 30 };

static tvlm_stack *create(tvlm_device *device, tvlm_format format, const char *layout,
                          const tvlm_network *network, uint64_t seed) {
    tvlm_stack *stack = NULL;
    uint8_t *const pixels = test_random_pixels(&seed, SIDE_X, SIDE_Y, 3);
    const tvlm_image image = u8_image(pixels, SIDE_X, SIDE_Y, 3);
    const tvlm_status status = tvlm_stack_create_for_image(
        device, &image, tvlm_stack_params(.layout = layout, .format = format, .network = network), &stack);
    if (status != TVLM_OK) fail_msg("%s", test_last_log());
    free(pixels);
    return stack;
}

static void names_and_ranges(tvlm_device *device, tvlm_format format) {
    test_network made;
    tvlm_channel_info info;
    uint64_t random = 1;
    int32_t count, channels[4];
    bool has;
    test_network_make(&made, 3, bounded, true, &random);
    tvlm_stack *stack = create(device, format, "edges, net5,learned_1", &made.network, 2);
    test_network_release(&made); /* the stack has a copy */
    const int32_t *const layout = tvlm_stack_channels(stack, &count);
    assert_int_equal(count, 3);
    assert_int_equal(layout[1], TVLM_CHANNEL_LEARNED_0 + 5);
    assert_int_equal(layout[2], TVLM_CHANNEL_LEARNED_0 + 1);
    assert_int_equal(tvlm_stack_get_channel_info(stack, TVLM_CHANNEL_LEARNED_0 + 5, &info), TVLM_OK);
    assert_string_equal(info.name, "net5");
    assert_string_equal(info.family, "learned");
    assert_true(info.low == 0.0f && info.high == 1.0f && info.available && !info.identifier);
    assert_int_equal(tvlm_stack_channel_find(stack, "net3"), TVLM_CHANNEL_LEARNED_0 + 3);
    assert_int_equal(tvlm_stack_channel_find(stack, "net6"), TVLM_CHANNEL_NONE);
    assert_int_equal(tvlm_stack_parse(stack, "net0,r,learned_7", 4, channels, &count), TVLM_OK);
    assert_true(count == 3 && channels[0] == TVLM_CHANNEL_LEARNED_0 &&
                channels[2] == TVLM_CHANNEL_LEARNED_0 + 7);
    assert_int_equal(tvlm_stack_has_channel(stack, 0, TVLM_CHANNEL_LEARNED_0 + 5, &has), TVLM_OK);
    assert_true(has);
    assert_int_equal(tvlm_stack_has_channel(stack, 0, TVLM_CHANNEL_LEARNED_0 + 6, &has), TVLM_OK);
    assert_false(has);
    const float plane = 1.0f;
    refused(tvlm_stack_set_user(stack, 0, "net2", 0.0f, 1.0f, TVLM_MEAN,
                                tvlm_grid_input(.data = &plane, .columns = 1, .rows = 1), NULL),
            TVLM_ERROR_ARGUMENT, "'net2' is an output of the stack's network");
    float *values = read_level(stack, 0, TVLM_CHANNEL_LEARNED_0 + 5, 0, &(size_t){0});
    float *beyond = read_level(stack, 0, TVLM_CHANNEL_LEARNED_0 + 6, 0, &(size_t){0});
    for (int i = 0; i < SIDE_X * SIDE_Y; ++i)
        assert_true(values[i] > 0.0f && values[i] < 1.0f && beyond[i] == 0.0f);
    free(values);
    free(beyond);
    tvlm_stack_destroy(&stack);
    /* Without a network the channels are 0, and have no range. */
    stack = create(device, format, "learned_0", NULL, 2);
    assert_int_equal(tvlm_stack_has_channel(stack, 0, TVLM_CHANNEL_LEARNED_0, &has), TVLM_OK);
    assert_false(has);
    assert_int_equal(tvlm_stack_get_channel_info(stack, TVLM_CHANNEL_LEARNED_0, &info), TVLM_OK);
    assert_true(strcmp(info.name, "learned_0") == 0 && info.high == INFINITY);
    tvlm_stack_destroy(&stack);
}

/* The texel at (x, y) of a 1x1 network is what its weights make of the inputs at that level. */
static void inputs_and_levels(tvlm_device *device, tvlm_format format) {
    static const int32_t inputs[] = {TVLM_CHANNEL_SALIENCY, TVLM_CHANNEL_X, TVLM_CHANNEL_EDGES};
    static const float weights[] = {0.5f, -0.25f, 1.0f}, bias = 0.125f;
    static const char *const output = "mixed";
    const tvlm_network_layer layer = {
        .inputs = 3, .outputs = 1, .side = 1, .stride = 1, .weights = weights, .bias = &bias};
    tvlm_network network = {.inputs = inputs,
                            .input_count = 3,
                            .outputs = &output,
                            .output_count = 1,
                            .layers = &layer,
                            .layer_count = 1};
    for (network.level = 0; network.level < 12; network.level += network.level < 2 ? 1 : 9) {
        const int32_t level = network.level < 5 ? network.level : 5; /* the last one */
        tvlm_stack *stack = create(device, format, "mixed", &network, 3);
        size_t count;
        int32_t width, height;
        float *got = read_level(stack, 0, TVLM_CHANNEL_LEARNED_0, 0, &count);
        assert_int_equal(tvlm_stack_level_size(stack, level, &width, &height), TVLM_OK);
        assert_int_equal(count, (size_t)width * (size_t)height);
        for (int32_t y = 0; y < height; ++y)
            for (int32_t x = 0; x < width; ++x) {
                const tvlm_sample_point at = {((float)x + 0.5f) * SIDE_X / (float)width,
                                              ((float)y + 0.5f) * SIDE_Y / (float)height, (float)level, 0};
                float values[3];
                assert_int_equal(tvlm_stack_sample(stack, &at, 1, inputs, 3, values), TVLM_OK);
                const float expected =
                    bias + weights[0] * values[0] + weights[1] * values[1] + weights[2] * values[2];
                if (fabsf(expected - got[y * width + x]) > 2e-3f)
                    fail_msg("level %d, (%d, %d): %g, not %g", (int)level, (int)x, (int)y,
                             (double)got[y * width + x], (double)expected);
            }
        free(got);
        tvlm_stack_destroy(&stack);
    }
}

/* Strides halve the size, and a texel stands for the square that they span. */
static void strides(tvlm_device *device, tvlm_format format) {
    test_network made;
    uint64_t random = 4;
    test_network_make(&made, 3, strided, true, &random);
    tvlm_stack *stack = create(device, format, "net1", &made.network, 5);
    size_t count;
    float *const texels = read_level(stack, 0, TVLM_CHANNEL_LEARNED_0 + 1, 0, &count);
    float sampled;
    const tvlm_texture shape = *tvlm_stack_held(stack, 0, TVLM_GRID_LEARNED);
    assert_true(shape.width == 12 && shape.height == 8 && count == 96);
    assert_true(shape.extent_x == 48.0f && shape.extent_y == 32.0f);
    const tvlm_sample_point at = {4.0f * 5 + 2, 4.0f * 3 + 2, 2.0f, 0};
    assert_int_equal(tvlm_stack_sample(stack, &at, 1, &(int32_t){TVLM_CHANNEL_LEARNED_0 + 1}, 1, &sampled),
                     TVLM_OK);
    assert_true(fabsf(sampled - texels[3 * 12 + 5]) < 1e-5f);
    free(texels);
    tvlm_stack_destroy(&stack);
    test_network_release(&made);
}

static float texel_of(tvlm_stack *stack) {
    size_t count;
    float *const texels = read_level(stack, 0, TVLM_CHANNEL_LEARNED_0, 0, &count);
    const float value = texels[count / 2 + SIDE_X / 2]; /* the middle */
    free(texels);
    return value;
}

/* What changes is made anew when it is next read, and nothing else is. */
static void made_anew(tvlm_device *device, tvlm_format format) {
    static const int32_t inputs[] = {TVLM_CHANNEL_SALIENCY, TVLM_CHANNEL_ECCENTRICITY,
                                     TVLM_CHANNEL_ATTENTION};
    static const float weights[] = {1.0f, 1.0f, 1.0f}, ones[] = {1.0f};
    static const char *const output = "sum";
    const tvlm_network_layer layer = {.inputs = 3, .outputs = 1, .side = 1, .stride = 1, .weights = weights};
    const tvlm_network network = {.inputs = inputs,
                                  .input_count = 3,
                                  .outputs = &output,
                                  .output_count = 1,
                                  .layers = &layer,
                                  .layer_count = 1};
    const struct tvlm_grid_input one = {.data = ones, .columns = 1, .rows = 1};
    uint8_t pixels[SIDE_X * SIDE_Y * 3] = {0};
    const tvlm_image black = u8_image(pixels, SIDE_X, SIDE_Y, 3);
    tvlm_stack *stack = create(device, format, "sum", &network, 6);
    const tvlm_chunk *const chunk = tvlm_stack_chunk(stack, 0);
    const float first = texel_of(stack);
    assert_true(texel_of(stack) == first);
    assert_int_equal(chunk->made[TVLM_GRID_LEARNED], 1);
    assert_int_equal(tvlm_stack_set_image(stack, 0, &black), TVLM_OK);
    const float eccentricity = texel_of(stack); /* nothing is salient */
    assert_true(eccentricity < 0.1f && eccentricity != first);
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_ATTENTION, &one), TVLM_OK);
    assert_true(fabsf(texel_of(stack) - eccentricity - 1.0f) < 2e-3f);
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_SALIENCY, &one), TVLM_OK);
    assert_true(fabsf(texel_of(stack) - eccentricity - 2.0f) < 4e-3f);
    assert_int_equal(tvlm_stack_set_fixation(stack, 0.0f, 0.0f), TVLM_OK);
    assert_true(texel_of(stack) > 2.3f);
    assert_int_equal(tvlm_stack_clear_grid(stack, 0, TVLM_CHANNEL_SALIENCY), TVLM_OK);
    assert_true(texel_of(stack) < 2.0f);
    /* What it does not read makes it no older. */
    const uint64_t made = chunk->made[TVLM_GRID_LEARNED];
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_GAZE, &one), TVLM_OK);
    (void)texel_of(stack);
    assert_int_equal(chunk->made[TVLM_GRID_LEARNED], made);
    tvlm_stack_destroy(&stack);
}

/* A frame of which a part changes. */
static void next_frame(tvlm_device *device, tvlm_format format) {
    test_network made;
    uint64_t random = 8, seed = 9;
    uint8_t *const pixels = test_random_pixels(&seed, SIDE_X, SIDE_Y, 3);
    const tvlm_image image = u8_image(pixels, SIDE_X, SIDE_Y, 3);
    tvlm_delta_report report;
    size_t count;
    test_network_make(&made, 3, bounded, true, &random);
    tvlm_stack *parted = create(device, format, "net0", &made.network, 1);
    assert_int_equal(tvlm_stack_update_image(parted, 0, &image, NULL, &report), TVLM_OK);
    (void)texel_of(parted);
    for (int i = 0; i < 12; ++i) pixels[3 * (10 * SIDE_X + 30) + i] ^= 0x80;
    assert_int_equal(tvlm_stack_update_image(parted, 0, &image, tvlm_update_params(.tile = 16), &report),
                     TVLM_OK);
    assert_true(report.changed > 0 && !report.whole);
    tvlm_stack *whole = create(device, format, "net0", &made.network, 1);
    assert_int_equal(tvlm_stack_set_image(whole, 0, &image), TVLM_OK);
    float *const got = read_level(parted, 0, TVLM_CHANNEL_LEARNED_0, 0, &count), *const expected = read_level(
                                                                                     whole, 0,
                                                                                     TVLM_CHANNEL_LEARNED_0,
                                                                                     0, &count);
    assert_memory_equal(got, expected, count * sizeof *got);
    free(got);
    free(expected);
    free(pixels);
    tvlm_stack_destroy(&parted);
    tvlm_stack_destroy(&whole);
    test_network_release(&made);
}

/* A session tells networks apart by what they are. */
static void sessions(tvlm_device *device, tvlm_format format) {
    test_network a, b;
    uint64_t random = 10;
    uint8_t pixels[SIDE_X * SIDE_Y] = {0};
    const tvlm_image image = u8_image(pixels, SIDE_X, SIDE_Y, 1);
    tvlm_session *session = NULL;
    tvlm_stack *stacks[4];
    bool hit[4];
    test_network_make(&a, 3, bounded, true, &random);
    random = 10;
    test_network_make(&b, 3, bounded, true, &random);
    assert_int_equal(tvlm_session_create(device, NULL, &session), TVLM_OK);
    const tvlm_network *const which[4] = {&a.network, &b.network, &b.network, NULL};
    for (int i = 0; i < 4; ++i) {
        const struct tvlm_stack_params params = {
            .layout = "learned_0", .format = format, .network = which[i]};
        if (i == 2) b.values[1][0] += 0.5f;
        assert_int_equal(tvlm_session_stack(session, &image, &params, NULL, 0, &stacks[i], &hit[i]), TVLM_OK);
    }
    assert_true(!hit[0] && hit[1] && !hit[2] && !hit[3]);
    b.values[0][0] = NAN;
    refused(tvlm_session_stack(session, &image,
                               tvlm_stack_params(.layout = "learned_0", .network = &b.network), NULL, 0,
                               &stacks[0], NULL),
            TVLM_ERROR_ARGUMENT, "layer 0 of the network: number 0 of its weights is not finite");
    tvlm_session_destroy(&session);
    test_network_release(&a);
    test_network_release(&b);
}

/* The images of a batch are as each of them alone. */
static void batches(tvlm_device *device, tvlm_format format) {
    test_network made;
    uint64_t random = 11;
    tvlm_stack *batch = NULL;
    size_t count;
    test_network_make(&made, 3, strided, true, &random);
    assert_int_equal(
        tvlm_stack_create(device,
                          tvlm_stack_params(.layout = "net0", .width = SIDE_X, .height = SIDE_Y, .images = 3,
                                            .format = format, .network = &made.network),
                          &batch),
        TVLM_OK);
    for (int32_t i = 0; i < 3; ++i) {
        uint64_t seed = 20 + (uint64_t)i;
        uint8_t *const pixels = test_random_pixels(&seed, SIDE_X, SIDE_Y, 3);
        const tvlm_image image = u8_image(pixels, SIDE_X, SIDE_Y, 3);
        assert_int_equal(tvlm_stack_set_image(batch, i, &image), TVLM_OK);
        free(pixels);
    }
    for (int32_t i = 0; i < 3; ++i) {
        tvlm_stack *alone = create(device, format, "net0", &made.network, 20 + (uint64_t)i);
        float *const got = read_level(batch, i, TVLM_CHANNEL_LEARNED_0, 0, &count),
                     *const expected = read_level(alone, 0, TVLM_CHANNEL_LEARNED_0, 0, &count);
        assert_memory_equal(got, expected, count * sizeof *got);
        free(got);
        free(expected);
        tvlm_stack_destroy(&alone);
    }
    tvlm_stack_destroy(&batch);
    test_network_release(&made);
}

DEVICE_CHECKS(names_and_ranges, inputs_and_levels, strides, made_anew, next_frame, sessions, batches)

/* What a stack takes is counted before, and no less of it. */
static void memory(const test_target *target, tvlm_device *reference) {
    test_network made;
    uint64_t random = 12, need = 0;
    const int32_t width = test_small() ? 20 : 200, height = test_small() ? 13 : 130;
    const test_layer *const layers[] = {bounded, strided, large};
    (void)reference;
    for (int i = 0; i < 3; ++i) {
        test_network_make(&made, i < 2 ? 3 : 6, layers[i], true, &random);
        const struct tvlm_stack_params params = {.layout = "net0",
                                                 .width = width,
                                                 .height = height,
                                                 .format = target->format,
                                                 .network = &made.network};
        tvlm_stack *stack = NULL;
        assert_int_equal(tvlm_stack_need(target->device, &params, &need), TVLM_OK);
        assert_int_equal(target->device->backend->finish(target->device), TVLM_OK);
        const size_t before = target->device->held;
        assert_int_equal(tvlm_stack_create(target->device, &params, &stack), TVLM_OK);
        target->device->held_most = before;
        assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
        const size_t taken = target->device->held_most - before;
        if (taken > need) fail_msg("network %d: %zu bytes taken, %zu counted", i, taken, (size_t)need);
        tvlm_stack_destroy(&stack);
        test_network_release(&made);
    }
}

static void counted(void **state) {
    (void)state;
    test_on_targets(memory);
}

/* ---- What is refused ---- */

static void refuse(test_network *made, const char *line) {
    refused(tvlm_network_check(&made->network, &test_log), TVLM_ERROR_ARGUMENT, line);
}

/* A scorer may read them: it comes after the family. */
static void refuse_in_stack(test_network *made, const char *line) {
    tvlm_device *device = open_reference();
    tvlm_stack *stack = NULL;
    made->network.inputs = made->inputs;
    made->network.outputs = made->outputs;
    made->network.layers = made->layers;
    assert_int_equal(tvlm_network_check(&made->network, &test_log), TVLM_OK);
    refused(tvlm_stack_create(
                device, tvlm_stack_params(.layout = "r", .width = 8, .height = 8, .network = &made->network),
                &stack),
            TVLM_ERROR_ARGUMENT, line);
    assert_null(stack);
    tvlm_device_destroy(&device);
}

static void refusals(void **state) {
    test_network m, fresh;
    uint64_t random = 13;
    (void)state;
    test_network_make(&fresh, 3, bounded, true, &random);
#define WITH(CHANGE, LINE)                                                                                   \
    do {                                                                                                     \
        m = fresh;                                                                                           \
        m.network.inputs = m.inputs;                                                                         \
        m.network.outputs = m.outputs;                                                                       \
        m.network.layers = m.layers;                                                                         \
        CHANGE;                                                                                              \
        refuse(&m, LINE);                                                                                    \
    } while (0)
    WITH(m.network.reserved[0] = 1, "tvlm_network: its reserved");
    WITH(m.layers[1].reserved[3] = 1, "tvlm_network_layer: its reserved");
    WITH(m.network.input_count = 0, "a network of 0 inputs; 1 to 64");
    WITH(m.network.input_count = 65, "a network of 65 inputs");
    WITH(m.network.inputs = NULL, "NULL");
    WITH(m.inputs[1] = 7777, "input 1 of the network: there is no channel 7777");
    WITH(m.inputs[2] = 0, "'r' stands twice");
    WITH(m.network.output_count = 33, "a network of 33 outputs; 1 to 32");
    WITH(m.network.output_count = 0, "a network of 0 outputs");
    WITH(m.network.outputs = NULL, "NULL");
    WITH(m.outputs[0] = "a b", "'a b' is no name of an output");
    WITH(m.outputs[0] = NULL, "'' is no name");
    WITH(m.outputs[0] = "a_name_that_is_longer_than_32_bytes", "is no name");
    WITH(m.outputs[3] = "edges", "output 'edges' has a name that is the library's own");
    WITH(m.outputs[3] = "full40", "output 'full40' has a name");
    WITH(m.outputs[3] = "net1", "two outputs of the network are named 'net1'");
    WITH(m.network.level = -1, "a network at level -1; 0 to 15");
    WITH(m.network.level = 16, "a network at level 16");
    WITH(m.network.layer_count = 0, "a network of 0 convolutions; 1 to 8");
    WITH(m.network.layer_count = 9, "a network of 9 convolutions");
    WITH(m.network.layers = NULL, "NULL");
    WITH(m.layers[0].side = 5, "layer 0 of the network: a kernel of 5x5");
    WITH(m.layers[1].stride = 3, "layer 1 of the network: a stride of 3");
    WITH(m.layers[1].activation = (tvlm_activation)3, "layer 1 of the network: there is no activation 3");
    WITH(m.layers[0].outputs = 257, "layer 0 of the network makes 257 channels");
    WITH(m.layers[0].inputs = 4, "layer 0 of the network reads 4 channels, but there are 3");
    WITH(m.layers[1].inputs = 9, "layer 1 of the network reads 9 channels, but there are 8");
    WITH(m.network.output_count = 5, "makes 6 channels, but 5 are named");
    WITH(m.layers[1].weights = NULL, "NULL");
    WITH(m.values[1][7] = NAN, "layer 1 of the network: number 7 of its weights is not finite");
    fresh.values[1][7] = 0.0f;
    WITH(m.values[1][6 * 8 + 2] = -INFINITY, "layer 1 of the network: number 2 of its bias is not finite");
    fresh.values[1][6 * 8 + 2] = 0.0f;
    refused(tvlm_network_check(NULL, &test_log), TVLM_ERROR_ARGUMENT, "NULL");
    fresh.inputs[1] = TVLM_CHANNEL_LEARNED_0;
    refuse_in_stack(&fresh, "input 1 of the network: 'learned_0' cannot be one");
    fresh.inputs[1] = TVLM_CHANNEL_QUERY_SIMILARITY;
    refuse_in_stack(&fresh, "'query_similarity' cannot be one");
    assert_int_equal(tvlm_network_check(&fresh.network, &test_log), TVLM_OK);
    fresh.network.level = 16;
    tvlm_device *device = open_reference();
    tvlm_stack *stack = NULL;
    refused(tvlm_stack_create(device, tvlm_stack_params(.width = 8, .height = 8, .network = &fresh.network),
                              &stack),
            TVLM_ERROR_ARGUMENT, "level 16");
    assert_null(stack);
    tvlm_device_destroy(&device);
    test_network_release(&fresh);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference_f32),
                                       cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets),
                                       cmocka_unit_test(counted), cmocka_unit_test(refusals)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
