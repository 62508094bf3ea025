/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_patches.h: the results of `tvlm select` beside the JSON: patches, the scores of all patches, and
 * axes. All of them are computed before anything is written.
 */
#ifndef TVLM_TOOLS_SELECT_PATCHES_H
#define TVLM_TOOLS_SELECT_PATCHES_H

#include "texturevlm/io.h"
#include "texturevlm/lab/footprint.h"
#include "tool.h"

/* An array on its way to a file. */
typedef struct select_array {
    void *data; /* NULL: it was not asked for */
    tvlm_element type;
    int32_t rank;
    int64_t shape[4];
} select_array;
void select_array_release(select_array *array);

/* What --patches writes. */
typedef struct patch_options {
    const char *output, *channels, *mean, *deviation;
    option_integer side;
    option_choice norm, format, border;
} patch_options;

extern const option_specs patch_specs, patch_settings;

#define PATCH_CHANNELS_MAX 256

/* The options, read and checked. */
typedef struct patch_plan {
    int32_t channels[PATCH_CHANNELS_MAX], count;
    float mean[PATCH_CHANNELS_MAX], deviation[PATCH_CHANNELS_MAX];
    tvlm_format format;
    tvlm_border border;
} patch_plan;

/* Reads and checks the options. */
int patches_read(struct tool *tool, const patch_options *options, patch_plan *plan);

/* Adds to a layout, a list of names, the channels of patches that it lacks. */
int patches_layout(struct tool *tool, const patch_options *options, const patch_plan *plan, char *layout,
                   size_t size);

/* Cuts out the square of each position: [count][channels][side][side]. */
int select_make_patches(struct tool *tool, tvlm_stack *stack, const tvlm_position *positions, int32_t count,
                        int32_t side, const patch_plan *plan, select_array *patches);

/* Copies the scores that a selection has kept, row after row. */
int select_copy_scores(struct tool *tool, const tvlm_selection *selection, select_array *scores);

/* Computes the ellipse of the structure tensor at each position. Its axes u and v are in pixels of the image
 * as it was handed in. The caller frees *axes. */
int select_make_axes(struct tool *tool, tvlm_stack *stack, const tvlm_selection *selection,
                     tvlm_footprint **axes);

#endif
