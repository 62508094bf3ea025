/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/network.h: what is asked of a network (texturevlm/network.h) once it has been checked.
 */
#ifndef TVLM_CORE_NETWORK_H
#define TVLM_CORE_NETWORK_H

#include <stdbool.h>

#include "texturevlm/device.h"
#include "texturevlm/network.h"

/* Returns a copy with all its arrays in one allocation, for free(), or NULL where there is no memory. */
tvlm_network *tvlm_network_copy(const tvlm_network *network);

/* The side of what a layer makes of a side of `side` texels. */
static inline int32_t tvlm_layer_side(const tvlm_network_layer *layer, int32_t side) {
    return (side - 1) / layer->stride + 1;
}

/* How many weights a layer has. */
static inline size_t tvlm_layer_weights(const tvlm_network_layer *layer) {
    return (size_t)layer->inputs * (size_t)layer->outputs * (size_t)(layer->side * layer->side);
}

/* The size of what the network makes of an image, and how many pixels along each axis that covers. The image
 * has `levels` levels. */
typedef struct tvlm_network_size {
    int32_t level;                     /* at which the inputs are read */
    int32_t input_width, input_height; /* those of that level */
    int32_t width, height;             /* of the outputs */
    float extent_x, extent_y;
} tvlm_network_size;
tvlm_network_size tvlm_network_size_of(const tvlm_network *network, int32_t width, int32_t height,
                                       int32_t levels);

/* The largest magnitude that an output is stored with. */
float tvlm_network_limit(tvlm_format format);

/* The most bytes that two layers which follow each other take for one image, at so many a value. */
double tvlm_network_work(const tvlm_network *network, const tvlm_network_size *size, double value_bytes);
/* Finds how many bytes a network's weights and biases take on a device, in vectors of up to 16 outputs. */
double tvlm_network_weights(const tvlm_network *network);

/* A device takes no more than this many bytes for what lies between layers, but for rows that are very long. */
#define TVLM_NETWORK_WORK (16 << 20)

/* The number of the output of that name, or -1. `name` need not end with a zero. */
int32_t tvlm_network_find(const tvlm_network *network, const char *name, size_t length);

/* Whether all values of the outputs lie in [0, 1]. */
bool tvlm_network_is_bounded(const tvlm_network *network);

#endif
