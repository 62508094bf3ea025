/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/frame.h: what questions leave of the present frame: its scores and the positions that were selected;
 * and what a stream adds to the scores.
 */
#ifndef TVLM_STACK_FRAME_H
#define TVLM_STACK_FRAME_H

#include "stack/stack.h"

/* Hands out device memory for the scores of image `index`, which belongs to the stack. The scores do not
 * count before they are marked. */
tvlm_status tvlm_stack_scores(tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates,
                              tvlm_buffer **buffer);
/* Says that the scores of image `index` are written, or that the work that writes them is enqueued. */
void tvlm_stack_mark_scored(tvlm_stack *stack, int32_t index);
/*
 * Keeps what the scores of image `index` were made of, once they are marked: bytes that are equal only where the
 * scores would be equal, which it takes over; NULL: nobody can say. Others may be asked for by the next question,
 * and then count no longer.
 */
void tvlm_stack_scores_made_of(tvlm_stack *stack, int32_t index, void *made_of, size_t bytes);
/* Returns the scores of image `index` if they were made of the same; otherwise NULL. */
tvlm_buffer *tvlm_stack_scores_of(const tvlm_stack *stack, int32_t index, const void *made_of, size_t bytes);
/* Returns what tvlm_stack_scores handed out last for image `index`; NULL: nothing yet. */
tvlm_buffer *tvlm_stack_last_scores(const tvlm_stack *stack, int32_t index);

/* Hands out a texture of one image and one level in which a scorer's network finds what it reads of candidates: the same at
 * every call, as long as the shape is. */
tvlm_status tvlm_stack_candidates(tvlm_stack *stack, const tvlm_texture *shape, tvlm_texture **texture);

/* Makes room for `count` selected positions of image `index`, which the caller fills in: x, y in pixels of
 * the working image. It belongs to the stack. */
tvlm_status tvlm_stack_keep_positions(tvlm_stack *stack, int32_t index, int32_t count, float **positions);
/* Hands out device memory for as many, which belongs to the stack: positions that were selected there. None
 * are remembered before they are marked. */
tvlm_status tvlm_stack_looked(tvlm_stack *stack, int32_t index, int32_t count, tvlm_buffer **buffer);
/* Says that the work that writes them is enqueued. */
void tvlm_stack_mark_looked(tvlm_stack *stack, int32_t index, int32_t count);
/* Hands out those positions, and how many they are. Waits for positions that are on the device. */
tvlm_status tvlm_stack_positions(tvlm_stack *stack, int32_t index, const float **positions, int32_t *count);

/* Says that the work that copies those positions to float `at` of a buffer and on is enqueued, so that they need not be
 * brought to the device again. The buffer stays the caller's, and must hold them until the frame is advanced. */
void tvlm_stack_positions_copied(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer, size_t at);

/* Sets what is added to the scores of the candidates of image `index`: [rows * columns]; NULL: nothing. The
 * memory stays the caller's, and must be valid until another bonus is set. */
void tvlm_stack_set_bonus(tvlm_stack *stack, int32_t index, const float *bonus, int32_t columns,
                          int32_t rows);
/* Returns the bonus where it has as many columns and rows as the candidates; NULL elsewhere. */
const float *tvlm_stack_bonus(const tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates);

/* Says that the stack's frames are a stream's, and whether somebody said so. What a still has no input for, a
 * stream's next frame may bring. */
void tvlm_stack_set_streamed(tvlm_stack *stack);
bool tvlm_stack_is_streamed(const tvlm_stack *stack);

/* ---- Inside lib/stack ---- */

/* Forgets the scores and positions of image `index`, which has new pixels. */
void tvlm_stack_new_frame(tvlm_stack *stack, int32_t index);

#endif
