/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handed.h: inputs that are handed in beside the images on which positions are chosen: grids, regions and
 * objects.
 */
#ifndef TVLM_TOOLS_HANDED_H
#define TVLM_TOOLS_HANDED_H

#include "inputs.h"
#include "truth.h"

/* The tables of `files` and `objects` are input_specs and truth_specs. --clusters is in each command's own
 * table. */
typedef struct handed_options {
    input_options files; /* without the encoder's vectors */
    truth_options objects;
    option_integer clusters;
} handed_options;

/* What reads the inputs. */
typedef struct handed_use {
    const char *layout;
    bool regions; /* regions are read, even if the layout has no channel of them */
    bool points;  /* objects are looked at, even if no channel follows from them */
} handed_use;

/* The files, read and checked. */
typedef struct handed {
    input_files *files; /* NULL: there are none */
    truth *objects;     /* NULL: there are none */
} handed;

/* Returns the name of an option for files or objects that was given, or NULL if none was. */
const char *handed_given(const handed_options *options);

/* Reads the files that the options name for `count` images. Refuses an input that nothing would read. */
int handed_read(struct tool *tool, const handed_options *options, const handed_use *use, int count,
                char *const *paths, handed *read);

/* Hands in to image 0 of a stack the inputs that belong to the image at `path`, which has width x height
 * pixels in its file. `middle` says that the stack holds the middle square of the image. */
int handed_set(struct tool *tool, const handed *read, const char *path, int32_t width, int32_t height,
               bool middle, tvlm_stack *stack);

void handed_release(handed *read);

#endif
