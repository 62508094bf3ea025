/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/frame.h: what remains of the questions about the present frame, which are its scores and the
 * positions that were selected; and what a stream adds to the scores.
 */
#ifndef TVLM_STACK_FRAME_H
#define TVLM_STACK_FRAME_H

#include "stack/stack.h"

/* Hands out device memory for the scores of image `index`. The memory belongs to the stack. The scores are
 * not used before tvlm_stack_mark_scored marks them. */
tvlm_status tvlm_stack_scores(tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates,
                              tvlm_buffer **buffer);
/* Says that the scores of image `index` are written, or that the work that writes them is enqueued. */
void tvlm_stack_mark_scored(tvlm_stack *stack, int32_t index);
/*
 * Keeps a description of what the scores of image `index` were made of. It is called once the scores are
 * marked. The description is a block of bytes with the property that scores with equal blocks are equal. The
 * function takes over the block. NULL means that there is no such description. The next question may ask for
 * other scores (tvlm_stack_scores), and then the description is dropped.
 */
void tvlm_stack_scores_made_of(tvlm_stack *stack, int32_t index, void *made_of, size_t bytes);
/* Returns the scores of image `index` if their description (tvlm_stack_scores_made_of) equals this one;
 * otherwise NULL. */
tvlm_buffer *tvlm_stack_scores_of(const tvlm_stack *stack, int32_t index, const void *made_of, size_t bytes);
/* Returns what tvlm_stack_scores handed out last for image `index`, or NULL if it handed out nothing yet. */
tvlm_buffer *tvlm_stack_last_scores(const tvlm_stack *stack, int32_t index);

/* Hands out a texture of one image and one level, which holds what a scorer's network reads of the
 * candidates. As long as the shape is the same, every call hands out the same texture. */
tvlm_status tvlm_stack_candidates(tvlm_stack *stack, const tvlm_texture *shape, tvlm_texture **texture);

/* Makes room for `count` selected positions of image `index`. The caller fills in x, y in pixels of the
 * working image. The memory belongs to the stack. */
tvlm_status tvlm_stack_keep_positions(tvlm_stack *stack, int32_t index, int32_t count, float **positions);
/* Hands out device memory for `count` positions that are selected on the device. The memory belongs to the
 * stack. The image has no positions until tvlm_stack_mark_looked marks these. */
tvlm_status tvlm_stack_looked(tvlm_stack *stack, int32_t index, int32_t count, tvlm_buffer **buffer);
/* Says that the work that writes the positions into that memory is enqueued. */
void tvlm_stack_mark_looked(tvlm_stack *stack, int32_t index, int32_t count);
/* Hands out the selected positions on the host, and their number. If they are on the device, it reads them
 * and waits. */
tvlm_status tvlm_stack_positions(tvlm_stack *stack, int32_t index, const float **positions, int32_t *count);

/* Says that work is enqueued that copies the selected positions into a buffer, from float `at` on, so that
 * they need not be brought to the device again. The buffer stays the caller's, and must hold them until the
 * frame is advanced. */
void tvlm_stack_positions_copied(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer, size_t at);

/* Sets the bonus [rows * columns] that is added to the scores of the candidates of image `index`; NULL: none.
 * The memory stays the caller's, and must be valid until another bonus is set. */
void tvlm_stack_set_bonus(tvlm_stack *stack, int32_t index, const float *bonus, int32_t columns,
                          int32_t rows);
/* Returns the bonus if it has as many columns and rows as the candidates; otherwise NULL. */
const float *tvlm_stack_bonus(const tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates);

/* The first function marks the stack's frames as those of a stream, and the second returns whether they are.
 * It matters for channels without an input: a later frame of a stream may bring it, whereas a still never
 * will. */
void tvlm_stack_set_streamed(tvlm_stack *stack);
bool tvlm_stack_is_streamed(const tvlm_stack *stack);

/* ---- Inside lib/stack ---- */

/* Forgets the scores and positions of image `index`, which has new pixels. */
void tvlm_stack_new_frame(tvlm_stack *stack, int32_t index);

#endif
