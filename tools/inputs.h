/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs.h: what a person has as files beside an image, for `tvlm generate`: grids as .npy files, and masks
 * and maps as pictures.
 */
#ifndef TVLM_TOOLS_INPUTS_H
#define TVLM_TOOLS_INPUTS_H

#include "bases.h"
#include "questions.h"
#include "tool.h"

typedef struct input_options {
    const char *attention, *attention_prev, *gaze, *depth, *embedding, *saliency_map, *text_mask, *labels;
    const char *features, *words;
    option_number patch; /* pixels that a cell of the features covers */
    basis_options basis; /* the basis that features are embedded in, where no embedding is handed in */
} input_options;

extern const option_specs input_specs;

/* The files, read and checked. */
typedef struct input_files input_files;

/* Returns the name of an option that was given; NULL where there is none. */
const char *inputs_given(const input_options *options);

/* Whether a file is an array, by its content, not its name. What cannot be opened is for the readers to say.
 */
bool inputs_is_array(const char *path);

/* Reads what the options name; *files is NULL where they name nothing. */
int inputs_read(struct tool *tool, const input_options *options, input_files **files);

/* Hands the files to image 0 of a stack, which was `width` pixels wide in its file. */
int inputs_set(struct tool *tool, input_files *files, int32_t width, tvlm_stack *stack);

void inputs_release(input_files **files);

#endif
