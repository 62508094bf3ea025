/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channels_ragged.h: `tvlm channels --ragged`: makes the channels of images of different sizes in one batch.
 */
#ifndef TVLM_TOOLS_CHANNELS_RAGGED_H
#define TVLM_TOOLS_CHANNELS_RAGGED_H

#include "texturevlm/lab/network.h"
#include "tool.h"

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

#endif
