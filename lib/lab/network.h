/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/network.h: what is asked of a network (texturevlm/lab/network.h) that has been checked.
 */
#ifndef TVLM_LAB_NETWORK_H
#define TVLM_LAB_NETWORK_H

#include <stdbool.h>

#include "core/learned.h"
#include "texturevlm/device.h"
#include "texturevlm/lab/network.h"

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

/* The largest magnitude that an output is stored with. */
float tvlm_network_limit(tvlm_format format);

/* The most bytes that a device takes for the results between layers. It takes more only where the smallest
 * blocks that lib/lab/opencl/learned.c makes need more. */
#define TVLM_NETWORK_WORK (16 << 20)

/* What the core asks of a network: core/learned.h. */
tvlm_learned tvlm_network_describe(const tvlm_network *network);
double tvlm_network_work(const tvlm_network *network, const tvlm_learned_size *size, int32_t images,
                         bool reference);
void tvlm_network_digest(const tvlm_network *network, uint8_t digest[32]);

#endif
