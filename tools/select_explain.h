/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_explain.h: `tvlm select --explain FILE.json|FILE.png`: says how much each channel adds to the score
 * of each position, as numbers or as a picture.
 */
#ifndef TVLM_TOOLS_SELECT_EXPLAIN_H
#define TVLM_TOOLS_SELECT_EXPLAIN_H

#include "json.h"
#include "texturevlm/select.h"
#include "tool.h"

/* Refuses a file whose name ends in neither .json nor .png, as wrong usage. */
int explain_check(struct tool *tool, const char *file);

/* What is to be explained. */
typedef struct explain_subject {
    const char *path; /* the path of the image */
    const tvlm_image *image;
    tvlm_stack *stack;
    const struct tvlm_query *query;
    const struct tvlm_select_params *params;
    const tvlm_selection *selection;
} explain_subject;

/* An explanation on its way to its file: JSON or a picture. */
typedef struct explained {
    json_writer json;
    tvlm_image *picture;
} explained;
void explained_release(explained *made);

/* Makes JSON or a picture, as the name of the file says. */
int explain_make(struct tool *tool, const explain_subject *subject, const char *file, explained *made);

/* Writes the explanation to `path`, the name that was made from `file`. */
int explain_write(struct tool *tool, const char *path, explained *made);

#endif
