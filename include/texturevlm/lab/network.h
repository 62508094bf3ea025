/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/network.h: small convolutional networks. The outputs of a stack's network are the channels of the family
 * `learned`. The outputs of a network that is a scorer (score.h) are scores.
 *
 *     tvlm_network *network = NULL;
 *     tvlm_network_load("saliency.safetensors", log, &network); // lab/io_network.h
 *     tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.network = network), &stack);
 *     tvlm_network_destroy(&network); // the stack has a copy
 *     tvlm_stack_read(stack, 0, TVLM_CHANNEL_LEARNED_0, 0, capacity, texels);
 *
 * A network is a chain of 1 to 8 convolutions. It reads channels of the stack at one level, and each output is
 * a channel: output i is TVLM_CHANNEL_LEARNED_0 + i, and the stack also knows it by the name that the network
 * gives it. Values are those that PyTorch's nn.Conv2d, nn.ReLU and nn.Sigmoid compute, up to rounding.
 *
 * *Places.* A layer with stride 2 makes texel i from the texels around 2 i of the layer before it, as PyTorch
 * does. It has half as many texels along each side, rounded up. A texel of the output stands for the square of
 * pixels that all strides together span, and is sampled as if it lay in the middle of that square.
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_NETWORK_H
#define TEXTUREVLM_LAB_NETWORK_H

#include <stdint.h>

#include "texturevlm/channels.h"
#include "texturevlm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_NETWORK_LAYERS_MAX  8
#define TVLM_NETWORK_INPUTS_MAX  64
#define TVLM_NETWORK_HIDDEN_MAX  256
#define TVLM_NETWORK_OUTPUTS_MAX 32
#define TVLM_NETWORK_LEVEL_MAX   15

/* What is done to each value of a convolution: nothing, max(0, x), or 1 / (1 + exp(-x)). */
typedef enum tvlm_activation {
    TVLM_ACTIVATION_NONE = 0,
    TVLM_ACTIVATION_RELU,
    TVLM_ACTIVATION_SIGMOID
} tvlm_activation;

/* A convolution, as nn.Conv2d(inputs, outputs, side, stride, padding=side // 2) makes it: what lies beyond the
 * border is 0. */
typedef struct tvlm_network_layer {
    /* How many channels it reads, and how many it makes: 1 to TVLM_NETWORK_HIDDEN_MAX. */
    int32_t inputs, outputs;
    /* The side of the kernel: 1 or 3. */
    int32_t side;
    /* 1 or 2. */
    int32_t stride;
    tvlm_activation activation;
    /* [outputs][inputs][side][side] */
    const float *weights;
    /* [outputs]; NULL means 0. */
    const float *bias;
    uint64_t reserved[4];
} tvlm_network_layer;

typedef struct tvlm_network {
    /* [input_count]: the channels that the first layer reads, in its order: 1 to TVLM_NETWORK_INPUTS_MAX of
     * them. The application's own planes are not allowed. The network of a stack, which makes the family
     * `learned`, may also not read learned channels and query_similarity, since it runs before these are made. */
    const int32_t *inputs;
    int32_t input_count;
    /* The level of the image at which the inputs are read, 0 to TVLM_NETWORK_LEVEL_MAX. An image with fewer
     * levels is read at its last level. */
    int32_t level;
    /* [output_count]: the names of the outputs, 1 to TVLM_NETWORK_OUTPUTS_MAX of them, all different. A name
     * follows the rules for the names of planes (tvlm_stack_set_user), and is not the name of a channel or a
     * layout. */
    const char *const *outputs;
    int32_t output_count;
    /* [layer_count] */
    const tvlm_network_layer *layers;
    int32_t layer_count;
    uint64_t reserved[4];
} tvlm_network;

/*
 * Checks a network, and logs one line that says what is wrong with it. tvlm_stack_create and scores make this
 * check themselves.
 * Errors: ARGUMENT, for
 *   - a number that is not in its range;
 *   - an input that is not allowed, or stands twice;
 *   - a name that is not allowed, or stands twice;
 *   - a layer that reads another number of channels than the layer before it makes;
 *   - a first layer that reads another number of channels than there are inputs, or a last layer that makes
 *     another number than there are outputs;
 *   - weights that are missing;
 *   - weights or a bias that are not finite, or beyond 1e15.
 */
TVLM_API tvlm_status tvlm_network_check(const tvlm_network *network, const tvlm_log *log);

#ifdef __cplusplus
}
#endif
#endif
