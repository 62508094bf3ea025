/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs.h: files that belong to an image: grids as .npy files, and masks and maps as pictures.
 */
#ifndef TVLM_TOOLS_INPUTS_H
#define TVLM_TOOLS_INPUTS_H

#include "bases.h"
#include "questions.h"
#include "tool.h"

/* What --give hands in, by its place in input_options.given; those that others ask for have names. */
enum { INPUT_EMBEDDING = 4, INPUT_SALIENCY = 5, INPUT_GIVEN = 7 };

typedef struct input_options {
    const char *given[INPUT_GIVEN], *labels;
    const char *features, *words;
    option_number patch; /* how many pixels a cell of the features covers */
    basis_options basis; /* the basis of the features' embedding, if no embedding is handed in */
} input_options;

/* Tables of the options: one for grids and regions, one for the encoder's vectors. */
extern const option_specs input_specs;
extern const option_specs input_vector_specs; /* for `features` and `words` */

/* The files, read and checked. */
typedef struct input_files input_files;

/* Returns the name of an option that was given, or NULL if none was. */
const char *inputs_given(const input_options *options);

/* Who may read a channel that nothing reads, for the line that says so. */
#define INPUTS_OF_SELECT "a --scorer, an --emphasis or another strategy may"
#define INPUTS_OF_LAYOUT "another --layout or list of --channels may"

/* Refuses an option that hands in a channel, if the layout has neither this channel nor one that follows from
 * it. `reader` is one of the texts above. */
int inputs_check_read(struct tool *tool, const char *option, int32_t channel, const char *layout,
                      const char *reader);
/* Does so for all grids. Regions are not checked here, since they may be read in other ways, too; the caller
 * checks them. */
int inputs_check(struct tool *tool, const input_options *options, const char *layout, const char *reader);

/* Whether a file is an array, judged by its content and not by its name. A pipe can be read only once, and so is taken
 * for a picture. A file that cannot be opened is no error here: the function that reads it reports that. */
bool inputs_is_array(const char *path);

/* Reads the files that the options name. *files becomes NULL if they name none. */
int inputs_read(struct tool *tool, const input_options *options, input_files **files);

/* Hands in the files to image 0 of a stack. The image was `width` pixels wide in its file. */
int inputs_set(struct tool *tool, input_files *files, int32_t width, tvlm_stack *stack);

void inputs_release(input_files **files);

#endif
