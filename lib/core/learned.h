/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/learned.h: networks (texturevlm/lab/network.h), as the core knows them. The lab checks, copies and runs
 * them. The core knows what a network reads and what it makes, since it stores and orders the channels of the
 * family `learned` as those of any other.
 */
#ifndef TVLM_CORE_LEARNED_H
#define TVLM_CORE_LEARNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "texturevlm/channels.h"
#include "texturevlm/status.h"

struct tvlm_network;

/* The most channels that a network reads. */
#define TVLM_LEARNED_INPUTS_MAX 64

/* What a network reads and makes. The arrays belong to the network. All is 0 where there is none. */
typedef struct tvlm_learned {
    const int32_t *inputs; /* [input_count] channels */
    int32_t input_count;
    const char *const *outputs; /* [output_count] names */
    int32_t output_count;
    int32_t level; /* of the image, at which the inputs are read */
    int32_t span;  /* how many texels of that level, along each side, an output's texel stands for */
    bool bounded;  /* whether all values of the outputs lie in [0, 1] */
} tvlm_learned;

/* The size of a network's outputs for an image with `levels` levels, and how many pixels of the image they
 * cover along each axis. */
typedef struct tvlm_learned_size {
    int32_t level;                     /* of the image, at which the inputs are read */
    int32_t input_width, input_height; /* the size of that level */
    int32_t width, height;             /* of the outputs */
    float extent_x, extent_y;
} tvlm_learned_size;
tvlm_learned_size tvlm_learned_size_of(const tvlm_learned *learned, int32_t width, int32_t height,
                                       int32_t levels);

/* The number of the output of this name, or -1. `name` need not end with a zero byte. */
int32_t tvlm_learned_find(const tvlm_learned *learned, const char *name, size_t length);

/* Refuses a network that is wrong, and any network in a build without the lab. NULL passes. */
tvlm_status tvlm_learned_check(const struct tvlm_network *network, const tvlm_log *log);

/* What the lab does with a network that passed the check. lib/parts has the table; all of it is NULL in a build
 * without the lab, where no network passes. */
typedef struct tvlm_network_functions {
    tvlm_status (*check)(const struct tvlm_network *network, const tvlm_log *log);
    tvlm_learned (*describe)(const struct tvlm_network *network);
    /* Returns a copy with all its arrays in one allocation, for free(), or NULL where there is no memory. */
    struct tvlm_network *(*copy)(const struct tvlm_network *network);
    /* How many bytes running it takes beside its inputs and its outputs, for so many images of that size. */
    double (*work)(const struct tvlm_network *network, const tvlm_learned_size *size, int32_t images,
                   bool reference);
    /* Makes a number of 256 bits of all that it consists of. */
    void (*digest)(const struct tvlm_network *network, uint8_t digest[32]);
} tvlm_network_functions;
extern const tvlm_network_functions tvlm_networks;

#endif
