/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_inputs.h: hands to an export what it takes beside pictures and features (handed.h).
 */
#ifndef TVLM_TOOLS_EXPORT_INPUTS_H
#define TVLM_TOOLS_EXPORT_INPUTS_H

#include "export_pictures.h"
#include "handed.h"
#include "texturevlm/export.h"

/* The option for `clusters`; the others have tables of their own. */
extern const option_specs export_clusters_specs;

/* What is handed in to the pictures of an export. The caller fills in the first members. */
typedef struct export_inputs {
    struct tool *tool;
    const handed_options *options;
    const tvlm_network *network; /* NULL: there is none */
    char *const *paths;
    const export_pictures *pictures;
    bool middle; /* the model sees the middle square of each image */
    handed read;
    bool failed; /* a file could not be handed in, and the tool's error is about it */
} export_inputs;

/* Reads what the options name for `count` images, and refuses what no channel of the layout follows from. */
int export_inputs_read(export_inputs *inputs, int count, const char *layout);

/* Lets an export hand it in to its pictures. Both must live until its last run. */
int export_inputs_set(export_inputs *inputs, const export_pictures *pictures, tvlm_export *export);

void export_inputs_release(export_inputs *inputs);

#endif
