/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_outputs.h: the files that `tvlm select` writes: their names, and whether they may be written.
 */
#ifndef TVLM_TOOLS_SELECT_OUTPUTS_H
#define TVLM_TOOLS_SELECT_OUTPUTS_H

#include "questions.h"
#include "tool.h"

enum { SELECT_PATH_SIZE = 4096, SELECT_PATTERNS = 5 };

typedef struct select_outputs {
    /* The names of files that each image and query has one of, and the option that says so; NULL: none is
     * written. */
    struct {
        const char *option, *name;
    } patterns[SELECT_PATTERNS];
    int32_t query_count;
    bool several_queries;
} select_outputs;

/* Makes the name of a file: path[SELECT_PATH_SIZE]. With several images "out.png" becomes "out-STEM.png",
 * with several queries (query >= 0) "out-qN.png". */
int select_output_name(struct tool *tool, const char *pattern, const char *image, bool several, int32_t query,
                       char *path);

/* Notes before anything is computed all files that will be written. */
int select_outputs_note(struct tool *tool, const select_outputs *outputs, int count, char *const *images);

#endif
