/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learned.c: the family `learned` against the reference. Networks have layers of all kinds. They are run in
 * one run of layers, in several runs, and in blocks. ../test_learned_stack.c tests stacks that have a
 * network.
 */
#include <stdio.h>

#include "kernels/family.h"
#include "lab/network.h"
#include "lab/operations.h"
#include "network_helper.h"

#define NONE    TVLM_ACTIVATION_NONE
#define RELU    TVLM_ACTIVATION_RELU
#define SIGMOID TVLM_ACTIVATION_SIGMOID

typedef struct network_case {
    int32_t inputs;
    test_layer layers[TVLM_NETWORK_LAYERS_MAX + 1];
    bool bias;
} network_case;

static const network_case cases[] = {
    {3, {{1, 1, 1, NONE}}, false},
    {3, {{5, 3, 1, NONE}}, true},
    {3, {{64, 3, 1, RELU}, {2, 1, 1, SIGMOID}}, true},
    {3, {{9, 3, 2, RELU}, {17, 3, 1, RELU}, {32, 1, 1, NONE}}, true},
    {1, {{4, 1, 2, NONE}, {4, 3, 2, SIGMOID}}, true},
    {6, {{70, 3, 1, RELU}, {70, 3, 1, RELU}, {3, 3, 1, NONE}}, true}, /* too much for one run on GPUs */
    {64, {{8, 1, 1, RELU}, {8, 1, 1, NONE}}, false},
    {3,
     {{4, 3, 1, RELU},
      {4, 3, 1, SIGMOID},
      {5, 3, 2, RELU},
      {6, 1, 1, NONE},
      {7, 3, 1, RELU},
      {6, 3, 2, NONE},
      {5, 1, 1, RELU},
      {4, 3, 1, NONE}},
     true},
    {2, {{256, 1, 1, RELU}, {4, 3, 1, NONE}}, true},
};

static const char *const names[4] = {"output 0 of 4", "output 1 of 4", "output 2 of 4", "output 3 of 4"};

/* Sums of up to 2304 products in float against double, through up to 8 layers. Values are about 1. The inputs
 * are the same on both sides, so that half is rounded only once, at the end. */
static const test_tolerance tolerances[4] = {{2e-5f, 2e-6f, 2.0f * TEST_HALF_ULP},
                                             {2e-5f, 2e-6f, 2.0f * TEST_HALF_ULP},
                                             {2e-5f, 2e-6f, 2.0f * TEST_HALF_ULP},
                                             {2e-5f, 2e-6f, 2.0f * TEST_HALF_ULP}};

static void make(tvlm_device *device, const tvlm_network *network, tvlm_texture *inputs, tvlm_texture *out) {
    test_poison(device, out);
    if (device->backend->generate[TVLM_GRID_LEARNED](
            device, &(tvlm_generate_args){.network = network, .inputs = inputs, .out = out}) != TVLM_OK)
        fail_msg("learned: %s", test_last_log());
}

/* Returns the outputs as planes of floats. free() them. */
static float *make_planes(tvlm_device *device, const tvlm_network *network, const tvlm_texture *inputs,
                          size_t count) {
    float *const planes = malloc(count * sizeof *planes);
    tvlm_buffer *buffer = NULL;
    assert_non_null(planes);
    assert_int_equal(device->backend->buffer_create(device, count * sizeof *planes, &buffer), TVLM_OK);
    assert_int_equal(device->backend->lab->network(device, network, inputs, buffer), TVLM_OK);
    assert_int_equal(device->backend->buffer_read(device, buffer, 0, count * sizeof *planes, planes),
                     TVLM_OK);
    device->backend->buffer_destroy(device, &buffer);
    return planes;
}

static void compare_planes(const char *what, const test_pair *inputs, const tvlm_network *network,
                           const tvlm_texture *shape) {
    const size_t count = (size_t)network->output_count * (size_t)shape->width * (size_t)shape->height;
    float *const got = make_planes(inputs->device, network, inputs->got, count),
                 *const expected = make_planes(inputs->reference, network, inputs->expected, count);
    test_compare(what, got, expected, count, tolerances[0].maximum, tolerances[0].mean);
    free(got);
    free(expected);
}

static void compare(const test_target *target, tvlm_device *reference, const network_case *c, test_size size,
                    int32_t images, uint64_t *random) {
    test_network made;
    char what[80];
    test_network_make(&made, c->inputs, c->layers, c->bias, random);
    const tvlm_network *const network = &made.network;
    assert_int_equal(tvlm_network_check(network, &test_log), TVLM_OK);
    const tvlm_learned learned = tvlm_network_describe(network);
    const tvlm_learned_size sizes = tvlm_learned_size_of(&learned, size.width, size.height, 1);
    tvlm_texture in = test_shape(size, (c->inputs + 3) / 4, images, target->format);
    const tvlm_texture shape = test_shape((test_size){sizes.width, sizes.height},
                                          (network->output_count + 3) / 4, images, target->format);
    in.levels = 1;
    test_pair inputs = test_pair_create(target, reference, &in),
              out = test_pair_create(target, reference, &shape);
    test_pair_fill(&inputs, random, -1.0f, 1.0f, false);
    make(out.device, network, inputs.got, out.got);
    make(out.reference, network, inputs.expected, out.expected);
    snprintf(what, sizeof what, "%d layers from %d inputs to %d outputs, %dx%d", (int)network->layer_count,
             (int)c->inputs, (int)network->output_count, (int)size.width, (int)size.height);
    test_pair_compare(what, &out, names, tolerances);
    if (images == 1) compare_planes(what, &inputs, network, &shape);
    test_pair_destroy(&inputs);
    test_pair_destroy(&out);
    test_network_release(&made);
}

/* Whether an interpreter of kernels would take minutes: for more than a few texels of a layer with many
 * outputs. */
static bool too_long(const network_case *c, test_size size) {
    bool many = false;
    for (const test_layer *layer = c->layers; layer->outputs > 0; ++layer) many |= layer->outputs > 64;
    return test_small() && many && size.width * size.height > 30;
}

static void networks(const test_target *target, tvlm_device *reference) {
    static const test_size few[] = {{1, 1}, {1, 9}, {13, 2}, {37, 29}, {70, 51}};
    const size_t count = test_small() ? 4 : sizeof few / sizeof *few;
    uint64_t random = 12289;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c)
        for (size_t i = 0; i < count; ++i) {
            const int32_t images = i == 1 || (i == 3 && !test_small()) ? 3 : 1;
            if (!too_long(&cases[c], few[i])) compare(target, reference, &cases[c], few[i], images, &random);
        }
}

/* The values between two runs take more memory than a device is asked for at once, so the image is made in
 * blocks. */
static void blocks(const test_target *target, tvlm_device *reference) {
    static const network_case wide = {4, {{256, 3, 1, RELU}, {1, 3, 1, NONE}}, true};
    uint64_t random = 7;
    if (target->format != TVLM_FORMAT_F32) return; /* it takes long, and the format does not matter here */
    compare(target, reference, &wide, (test_size){151, 130}, 1, &random);
}

/* A value that is too large is stored as the largest value that there is. */
static void limits(const test_target *target, tvlm_device *reference) {
    const float huge = 3e38f, inputs[4] = {1.0f, -1.0f, 0.0f, 0.0f};
    const float weights[4] = {huge, huge, -huge, huge}, second[4] = {huge, 0.0f, huge, huge};
    const tvlm_network_layer layers[] = {
        {.inputs = 2, .outputs = 2, .side = 1, .stride = 1, .weights = weights},
        {.inputs = 2, .outputs = 2, .side = 1, .stride = 1, .weights = second}};
    static const int32_t channels[] = {0, 1};
    static const char *const outputs[] = {"a", "b"};
    const tvlm_network network = {.inputs = channels,
                                  .input_count = 2,
                                  .outputs = outputs,
                                  .output_count = 2,
                                  .layers = layers,
                                  .layer_count = 2};
    const float most = target->format == TVLM_FORMAT_F16 ? 65504.0f : 1e15f;
    const tvlm_texture shape = test_shape((test_size){1, 1}, 1, 1, target->format);
    test_pair in = test_pair_create(target, reference, &shape),
              out = test_pair_create(target, reference, &shape);
    test_pair_write(&in, 0, inputs);
    make(out.device, &network, in.got, out.got);
    float *const got = test_read(out.device, out.got, 0, 0);
    /* The first layer makes 0 and -inf, so the second layer makes NaN and -inf. NaN is stored as some finite
     * value. */
    assert_true(got[0] >= -most && got[0] <= most);
    assert_true(got[1] == -most);
    assert_true(got[2] == 0.0f && got[3] == 0.0f);
    free(got);
    test_pair_destroy(&in);
    test_pair_destroy(&out);
}

TEST_FAMILY(learned, {"networks", TEST_TUNED, .body = networks},
            {"in blocks", TEST_TUNED | TEST_LARGE, .body = blocks}, {"limits", .body = limits})
