/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_inputs.h: what `tvlm export` takes beside pictures and features: grids, regions and objects.
 */
#ifndef TVLM_TOOLS_EXPORT_INPUTS_H
#define TVLM_TOOLS_EXPORT_INPUTS_H

#include "export_pictures.h"
#include "inputs.h"
#include "objects.h"
#include "texturevlm/export.h"

typedef struct export_input_options {
    input_options files; /* without its vectors */
    truth_options objects;
    option_integer clusters;
} export_input_options;

/* The option for `clusters`; the others have tables of their own. */
extern const option_specs export_clusters_specs;

/* What is handed in to the pictures of an export. The caller fills in the first members. */
typedef struct export_inputs {
    struct tool *tool;
    const export_input_options *options;
    char *const *paths;
    const export_pictures *pictures;
    bool middle; /* the model sees the middle square of each image */
    input_files *files;
    truth *objects;
    bool failed; /* a file could not be handed in, and the tool's error is about it */
} export_inputs;

/* Reads what the options name for `count` images, and refuses what no channel of the layout follows from. */
int export_inputs_read(export_inputs *inputs, int count, const char *layout);

/* Lets an export hand it in to its pictures. Both must live until its last run. */
int export_inputs_set(export_inputs *inputs, const export_pictures *pictures, tvlm_export *export);

void export_inputs_release(export_inputs *inputs);

#endif
