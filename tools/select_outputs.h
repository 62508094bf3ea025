/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_outputs.h: makes the names of the files that `tvlm select` writes, and checks whether they may be
 * written.
 */
#ifndef TVLM_TOOLS_SELECT_OUTPUTS_H
#define TVLM_TOOLS_SELECT_OUTPUTS_H

#include "questions.h"
#include "tool.h"

enum { SELECT_PATH_SIZE = 4096, SELECT_PATTERNS = 5 };

typedef struct select_outputs {
    /* The names of files that are written for each image and query, and the options that name them. NULL: no
     * such file is written. */
    struct {
        const char *option, *name;
    } patterns[SELECT_PATTERNS];
    int32_t query_count;
    bool several_queries;
} select_outputs;

/* Makes the name of a file: path[SELECT_PATH_SIZE]. With several images "out.png" becomes "out-STEM.png", and
 * with several queries (query >= 0) it becomes "out-qN.png". */
int select_output_name(struct tool *tool, const char *pattern, const char *image, bool several, int32_t query,
                       char *path);

/* Notes all files that will be written, before anything is computed. */
int select_outputs_note(struct tool *tool, const select_outputs *outputs, int count, char *const *images);

#endif
