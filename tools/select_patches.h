/*
 * select_patches.h: what `tvlm select` makes of positions beyond the JSON: patches, the scores of all
 * patches, axes. All of it is computed before anything is written.
 */
#ifndef TVLM_TOOLS_SELECT_PATCHES_H
#define TVLM_TOOLS_SELECT_PATCHES_H

#include "tool.h"

/* An array on its way to a file. */
typedef struct select_array {
    float *data; /* NULL: not asked for */
    int32_t rank;
    int64_t shape[4];
} select_array;
void select_array_release(select_array *array);

/* [count][3][side][side]: r, g, b in [0, 1] of each position's square. */
int select_make_patches(struct tool *tool, tvlm_stack *stack, const tvlm_position *positions, int32_t count,
                        int32_t side, select_array *patches);

/* The score of every cell of the grid, in one row after the other. */
int select_make_scores(struct tool *tool, tvlm_stack *stack, const struct tvlm_query *query,
                       const struct tvlm_score_params *params, select_array *scores);

/* The structure tensor's ellipse at each position: free() *axes; u and v in pixels of the image as it was
 * handed in. */
int select_make_axes(struct tool *tool, tvlm_stack *stack, const tvlm_selection *selection,
                     tvlm_footprint **axes);

#endif
