/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/network.h: what the rest of the library asks of a network (texturevlm/network.h) that has been
 * checked.
 */
#ifndef TVLM_CORE_NETWORK_H
#define TVLM_CORE_NETWORK_H

#include <stdbool.h>

#include "texturevlm/device.h"
#include "texturevlm/network.h"

/* Returns a copy with all its arrays in one allocation, for free(), or NULL where there is no memory. */
tvlm_network *tvlm_network_copy(const tvlm_network *network);

/* The side of a layer's output where the side of its input has `side` texels. */
static inline int32_t tvlm_layer_side(const tvlm_network_layer *layer, int32_t side) {
    return (side - 1) / layer->stride + 1;
}

/* How many weights a layer has. */
static inline size_t tvlm_layer_weights(const tvlm_network_layer *layer) {
    return (size_t)layer->inputs * (size_t)layer->outputs * (size_t)(layer->side * layer->side);
}

/* The size of a network's outputs for an image with `levels` levels, and how many pixels of the image they
 * cover along each axis. */
typedef struct tvlm_network_size {
    int32_t level;                     /* of the image, at which the inputs are read */
    int32_t input_width, input_height; /* the size of that level */
    int32_t width, height;             /* of the outputs */
    float extent_x, extent_y;
} tvlm_network_size;
tvlm_network_size tvlm_network_size_of(const tvlm_network *network, int32_t width, int32_t height,
                                       int32_t levels);

/* The largest magnitude that an output is stored with. */
float tvlm_network_limit(tvlm_format format);

/* The most bytes that the results of two successive layers take together for one image, at value_bytes bytes
 * a value. */
double tvlm_network_work(const tvlm_network *network, const tvlm_network_size *size, double value_bytes);
/* How many bytes a network's weights and biases take on a device, where outputs are in vectors of up to
 * 16. */
double tvlm_network_weights(const tvlm_network *network);

/* The most bytes that a device takes for the results between layers. It takes more only where the smallest
 * blocks that lib/opencl/learned.c makes need more. */
#define TVLM_NETWORK_WORK (16 << 20)

/* The number of the output of this name, or -1. `name` need not end with a zero byte. */
int32_t tvlm_network_find(const tvlm_network *network, const char *name, size_t length);

/* Whether all values of the outputs lie in [0, 1]. */
bool tvlm_network_is_bounded(const tvlm_network *network);

#endif
