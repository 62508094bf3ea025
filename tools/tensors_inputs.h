/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensors_inputs.h: hands in to an export the inputs that it takes beside pictures and features (handed.h).
 */
#ifndef TVLM_TOOLS_TENSORS_INPUTS_H
#define TVLM_TOOLS_TENSORS_INPUTS_H

#include "handed.h"
#include "tensors_pictures.h"
#include "texturevlm/export.h"
#include "texturevlm/lab/network.h"

/* The table of the option for `clusters`. The other options have tables of their own. */
extern const option_specs export_clusters_specs;

/* The inputs that are handed in to the pictures of an export. The caller fills in the first members. */
typedef struct export_inputs {
    struct tool *tool;
    const handed_options *options;
    const tvlm_network *network; /* NULL: there is none */
    char *const *paths;
    const export_pictures *pictures;
    bool middle; /* the model sees the middle square of each image */
    handed read;
    bool failed; /* a file could not be handed in; the tool's error is about it */
} export_inputs;

/* Reads the files that the options name for `count` images. Refuses an input from which no channel of the
 * layout follows. */
int export_inputs_read(export_inputs *inputs, int count, const char *layout);

/* Lets an export hand in the inputs to its pictures. `inputs` and `pictures` must live until the export's
 * last run. */
int export_inputs_set(export_inputs *inputs, const export_pictures *pictures, tvlm_export *export);

void export_inputs_release(export_inputs *inputs);

#endif
