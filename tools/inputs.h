/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs.h: what a person has as files beside an image: grids as .npy files, and masks and maps as
 * pictures.
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

/* Tables of the options: grids and regions, and the encoder's vectors. */
extern const option_specs input_specs;
extern const option_specs input_vector_specs; /* for `features` and `words` */

/* The files, read and checked. */
typedef struct input_files input_files;

/* Returns the name of an option that was given; NULL where there is none. */
const char *inputs_given(const input_options *options);

/* Refuses an option that hands in a channel where no channel of a layout is it, or follows from it. */
int inputs_check_read(struct tool *tool, const char *option, int32_t channel, const char *layout);
/* Does so for the grids; regions are for those to check who read them in other ways, too. */
int inputs_check(struct tool *tool, const input_options *options, const char *layout);

/* Whether a file is an array, by its content, not its name. What cannot be opened is for the readers to say.
 */
bool inputs_is_array(const char *path);

/* Reads what the options name; *files is NULL where they name nothing. */
int inputs_read(struct tool *tool, const input_options *options, input_files **files);

/* Hands the files to image 0 of a stack, which was `width` pixels wide in its file. */
int inputs_set(struct tool *tool, input_files *files, int32_t width, tvlm_stack *stack);

void inputs_release(input_files **files);

#endif
