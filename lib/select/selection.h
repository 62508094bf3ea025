/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/selection.h: what a selection is made of. The public header is texturevlm/select.h.
 */
#ifndef TVLM_SELECT_SELECTION_H
#define TVLM_SELECT_SELECTION_H

#include <math.h>

#include "select/scoremap.h"
#include "texturevlm/select.h"

/* A selection owns all that it points to. A strategy fills in the positions. If it has a grid of candidates
 * or an overview, it writes their sizes to `info`. If it has stages, it writes them to `report`. */
struct tvlm_selection {
    tvlm_selection_info info;
    tvlm_selection_report report;
    int32_t count;
    tvlm_position *positions; /* [count] in pixels of the image as it was handed in */
    float *scores;            /* [score_rows * score_columns]; NULL: they were not asked for */
    int32_t score_columns, score_rows;
    /* For lab/explain.h. Where the ranges of the score's parts were not found over all candidates, `spanned`
     * is true, and `spans` has the range of each part over the candidates that were looked at. */
    bool spanned;
    float spans[TVLM_SCORE_PARTS];
    tvlm_duplicate *duplicates; /* [duplicate_count] NULL: there are none */
    int32_t duplicate_count;
    tvlm_cell *empty; /* [empty_count] NULL: there are none */
    int32_t empty_count;
};

/* Makes a selection without positions. */
tvlm_status tvlm_selection_make(const tvlm_stack *stack, const struct tvlm_select_params *params,
                                tvlm_selection **selection);

/* Makes room for `count` positions. */
tvlm_status tvlm_selection_reserve(const tvlm_stack *stack, int32_t count, tvlm_selection *selection);

/* Fails, and logs a line, unless `count` positions fit into a buffer from byte `offset` on. */
tvlm_status tvlm_selection_fits(const tvlm_stack *stack, int32_t count, const tvlm_buffer *out,
                                size_t offset);

/* Hands the scores of a map over to the selection, where they are asked for. */
void tvlm_selection_take_scores(const struct tvlm_select_params *params, tvlm_scoremap *map,
                                tvlm_selection *selection);

/* How many pixels of the image as it was handed in there are to one pixel of the working image, along x and
 * along y. `size` is for the sides of squares. Where x and y differ, a square would become a rectangle; with
 * `size` it stays a square of the same area. */
typedef struct tvlm_scale {
    double x, y, size;
} tvlm_scale;

static inline tvlm_scale tvlm_scale_of(const tvlm_stack *stack, int32_t index) {
    const tvlm_original original = tvlm_stack_original(stack, index);
    return (tvlm_scale){original.scale_x, original.scale_y, sqrt(original.scale_x * original.scale_y)};
}

#endif
