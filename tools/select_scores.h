/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_scores.h: reads the user's own scores from a file, in place of those that the library computes.
 */
#ifndef TVLM_TOOLS_SELECT_SCORES_H
#define TVLM_TOOLS_SELECT_SCORES_H

#include "questions.h"
#include "texturevlm/select.h"

typedef struct own_scores {
    vector_file file;
    struct tvlm_scores scores; /* points into the file */
} own_scores;

/* Reads the scores of a file for the candidates of `params`. The array is rows x columns, or has all scores
 * row after row, as --patch-scores writes them. The caller releases the scores, also after an error. */
int own_scores_read(struct tool *tool, const char *path, const tvlm_stack *stack,
                    const struct tvlm_select_params *params, own_scores *own);
void own_scores_release(own_scores *own);

#endif
