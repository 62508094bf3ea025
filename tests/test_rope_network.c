/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rope_network.c: the channels of rotary positions, read by a network.
 */
#include "rope_helper.h"
#include "texturevlm/lab/network.h"

static void check_network(tvlm_device *device, tvlm_format format) {
    static const int32_t input = TVLM_CHANNEL_ROPE_X_COS_0 + 3;
    static const float weight = 4.0f;
    static const char *const output = "four";
    const tvlm_network_layer layer = {.inputs = 1, .outputs = 1, .side = 1, .stride = 1, .weights = &weight};
    const tvlm_network network = {.inputs = &input,
                                  .input_count = 1,
                                  .outputs = &output,
                                  .output_count = 1,
                                  .layers = &layer,
                                  .layer_count = 1};
    tvlm_stack *stack = NULL;
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.layout = "four", .width = 16, .height = 8,
                                                         .network = &network, .format = format),
                                       &stack),
                     TVLM_OK);
    for (int turn = 0; turn < 2; ++turn) {
        const struct tvlm_rope_params *const rope = turn == 0 ? &usual : &other;
        size_t count;
        assert_int_equal(tvlm_stack_set_rope(stack, rope), TVLM_OK);
        float *const got = read_level(stack, 0, TVLM_CHANNEL_LEARNED_0, 0, &count);
        for (int32_t x = 0; x < 16; ++x)
            assert_float_equal(got[x], (float)(4 * expected(rope, 0, 0, 3, x + 0.5, 0)), 4 * 6e-4f);
        free(got);
    }
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS_MAIN(check_network)
