/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network_helper.h: networks with random weights.
 */
#ifndef TVLM_TESTS_NETWORK_HELPER_H
#define TVLM_TESTS_NETWORK_HELPER_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "texturevlm/lab/network.h"

/* A convolution, as a test writes it down. `outputs` is 0 behind the last one. */
typedef struct test_layer {
    int32_t outputs, side, stride;
    tvlm_activation activation;
} test_layer;

typedef struct test_network {
    tvlm_network network;
    int32_t inputs[TVLM_NETWORK_INPUTS_MAX];
    char names[TVLM_NETWORK_OUTPUTS_MAX][8];
    const char *outputs[TVLM_NETWORK_OUTPUTS_MAX];
    tvlm_network_layer layers[TVLM_NETWORK_LAYERS_MAX];
    float *values[TVLM_NETWORK_LAYERS_MAX];
} test_network;

static inline float test_network_value(uint64_t *random) {
    return 2.0f * test_random_unit(random) - 1.0f;
}

/* Fills in a network that reads `inputs` channels, embedding_0 and on but for the first three, which are r, g and b. The
 * weights are such that values stay about as large as they are. The last layer has a bias only with `bias`. */
static inline void test_network_make(test_network *made, int32_t inputs, const test_layer *layers, bool bias,
                                     uint64_t *random) {
    memset(made, 0, sizeof *made);
    int32_t channels = inputs, count = 0;
    for (int32_t i = 0; i < inputs; ++i) made->inputs[i] = i < 3 ? i : TVLM_CHANNEL_WORD_0 + i - 3;
    for (; count < TVLM_NETWORK_LAYERS_MAX && layers[count].outputs > 0; ++count) {
        const test_layer *const l = &layers[count];
        const size_t weights = (size_t)channels * (size_t)l->outputs * (size_t)(l->side * l->side);
        const float scale = sqrtf(3.0f / (float)(channels * l->side * l->side));
        float *const values = malloc((weights + (size_t)l->outputs) * sizeof *values);
        assert_non_null(values);
        for (size_t w = 0; w < weights; ++w) values[w] = scale * test_network_value(random);
        for (int32_t o = 0; o < l->outputs; ++o)
            values[weights + (size_t)o] = 0.3f * test_network_value(random);
        made->values[count] = values;
        made->layers[count] = (tvlm_network_layer){.inputs = channels,
                                                   .outputs = l->outputs,
                                                   .side = l->side,
                                                   .stride = l->stride,
                                                   .activation = l->activation,
                                                   .weights = values,
                                                   .bias = bias ? values + weights : NULL};
        channels = l->outputs;
    }
    for (int32_t o = 0; o < channels && o < TVLM_NETWORK_OUTPUTS_MAX; ++o) {
        snprintf(made->names[o], sizeof made->names[o], "net%d", (int)o);
        made->outputs[o] = made->names[o];
    }
    made->network = (tvlm_network){.inputs = made->inputs,
                                   .input_count = inputs,
                                   .outputs = made->outputs,
                                   .output_count = channels,
                                   .layers = made->layers,
                                   .layer_count = count};
}

static inline void test_network_release(test_network *made) {
    for (int i = 0; i < TVLM_NETWORK_LAYERS_MAX; ++i) free(made->values[i]);
}

#endif
