/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/frame.h: what questions leave of the present frame: its scores and the positions that were selected;
 * and what a stream adds to the scores.
 */
#ifndef TVLM_STACK_FRAME_H
#define TVLM_STACK_FRAME_H

#include "stack/stack.h"

/* Device memory for the scores of image `index`; they do not count before they are marked. */
tvlm_status tvlm_stack_scores(tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates,
                              tvlm_buffer **buffer);
/* The scores of image `index` are written, or enqueued. */
void tvlm_stack_mark_scored(tvlm_stack *stack, int32_t index);
/* What tvlm_stack_scores handed out last for image `index`; NULL: nothing yet. */
tvlm_buffer *tvlm_stack_last_scores(const tvlm_stack *stack, int32_t index);

/* Room for `count` selected positions of image `index`: x, y in pixels of the working image, to be filled in.
 */
tvlm_status tvlm_stack_keep_positions(tvlm_stack *stack, int32_t index, int32_t count, float **positions);
/* Those positions, and how many. */
const float *tvlm_stack_positions(const tvlm_stack *stack, int32_t index, int32_t *count);

/* What is added to the scores of the candidates of image `index`: [rows * columns], the caller's until it is
 * set again; NULL: nothing. */
void tvlm_stack_set_bonus(tvlm_stack *stack, int32_t index, const float *bonus, int32_t columns,
                          int32_t rows);
/* The bonus, where it is about those candidates; NULL elsewhere. */
const float *tvlm_stack_bonus(const tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates);

/* ---- Inside lib/stack ---- */

/* Image `index` has new pixels: scores and positions were those of the old ones. */
void tvlm_stack_new_frame(tvlm_stack *stack, int32_t index);

#endif
