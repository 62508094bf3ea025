/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handed.h: what is handed in beside the images that positions are chosen on: grids, regions and objects.
 */
#ifndef TVLM_TOOLS_HANDED_H
#define TVLM_TOOLS_HANDED_H

#include "inputs.h"
#include "truth.h"

/* The tables of `files` and `objects` are input_specs and truth_specs; --clusters is in each command's own table. */
typedef struct handed_options {
    input_options files; /* without its vectors */
    truth_options objects;
    option_integer clusters;
} handed_options;

/* What reads it. */
typedef struct handed_use {
    const char *layout;
    bool regions; /* are read without a channel of them */
    bool points;  /* the objects are looked at, without a channel that follows from them */
} handed_use;

/* The files, read and checked. */
typedef struct handed {
    input_files *files; /* NULL: there are none */
    truth *objects;     /* NULL: there are none */
} handed;

/* Returns the name of an option for files or objects that was given; NULL where there is none. */
const char *handed_given(const handed_options *options);

/* Reads what the options name for `count` images, and refuses what nothing would read. */
int handed_read(struct tool *tool, const handed_options *options, const handed_use *use, int count,
                char *const *paths, handed *read);

/* Hands it to image 0 of a stack: what belongs to the image of that path, which has width x height pixels in its
 * file. `middle`: the stack holds the middle square of the image. */
int handed_set(struct tool *tool, const handed *read, const char *path, int32_t width, int32_t height,
               bool middle, tvlm_stack *stack);

void handed_release(handed *read);

#endif
