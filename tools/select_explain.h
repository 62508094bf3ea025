/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_explain.h: `tvlm select --explain FILE.json|FILE.png`: what each channel adds to the score of each
 * position, as numbers or as a picture.
 */
#ifndef TVLM_TOOLS_SELECT_EXPLAIN_H
#define TVLM_TOOLS_SELECT_EXPLAIN_H

#include "draw.h"
#include "json.h"
#include "tool.h"

/* Wrong usage where the file's name ends in neither .json nor .png. */
int explain_check(struct tool *tool, const char *file);

/* What is to be explained. */
typedef struct explain_subject {
    const char *path; /* of the image */
    const tvlm_image *image;
    tvlm_stack *stack;
    const struct tvlm_query *query;
    const struct tvlm_select_params *params;
    const tvlm_selection *selection;
} explain_subject;

/* One of the two, on its way to its file. */
typedef struct explained {
    json_writer json;
    struct canvas picture;
} explained;
void explained_release(explained *made);

/* Makes what the file's name says. */
int explain_make(struct tool *tool, const explain_subject *subject, const char *file, explained *made);

/* Writes it to `path`, which `file` became. */
int explain_write(struct tool *tool, const char *path, explained *made);

#endif
