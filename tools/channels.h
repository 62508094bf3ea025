/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channels.h: the parts of `tvlm channels`: batches of images of different sizes, and optical flow.
 */
#ifndef TVLM_TOOLS_CHANNELS_H
#define TVLM_TOOLS_CHANNELS_H

#include "texturevlm/lab/network.h"
#include "tool.h"

/* Refuses a level that an image of size[0] x size[1] pixels with `levels` levels does not have. */
int channels_check_level(struct tool *tool, int32_t level, const int32_t size[2], int32_t levels);

/* ---- --ragged (channels_ragged.c) ---- */

typedef struct ragged_options {
    const tool_common *common;
    const char *folder;
    const char *layout;          /* a list of channels; NULL: all that such a batch can have */
    const tvlm_network *network; /* channels may be its outputs; NULL: there is none */
    int32_t level;
    /* Tells the stack what other options say about channels. */
    int (*prepare)(struct tool *tool, const void *values, tvlm_stack *stack);
    const void *values;
} ragged_options;

/* Writes a file NAME.npy into the folder for each image NAME.jpg. The array is channels x height x width, at
 * the image's own size. */
int generate_ragged(struct tool *tool, const ragged_options *options, int count, char *const *paths);

/* ---- --flow (flow.c) ---- */

typedef struct flow_options {
    int flow, full;
    const char *picture, *confidence;
} flow_options;

extern const option_specs flow_specs;

/* Computes and writes the flow from the first to the second of `count` images, which must be two. `output` is the
 * .flo, or NULL. */
int flow_run(struct tool *tool, const tool_common *common, const flow_options *options, const char *output,
             int count, char *const *paths);

#endif
