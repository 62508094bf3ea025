/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/upload.h: pixels into the source.
 */
#ifndef TVLM_STACK_UPLOAD_H
#define TVLM_STACK_UPLOAD_H

#include "stack/stack.h"

/* Everything that can be wrong with an image but what its pointer points to; *row its bytes a row without the
 * gap. */
tvlm_status tvlm_stack_check_image(const tvlm_log *log, const tvlm_image *image, size_t *row);

/*
 * Puts pixels that are on the device into image `index`; their size must be the stack's. Only enqueues: the
 * buffer must not change before that work is done.
 */
tvlm_status tvlm_stack_source_from_buffer(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer,
                                          const tvlm_pixels *pixels);

/*
 * Of a stack of one image: the texture of its source changes places with *texture (NULL: with none), so that
 * the next frame does not write over the last one's pixels. The source's content must be set next.
 */
void tvlm_stack_exchange_source(tvlm_stack *stack, tvlm_texture **texture);

/* A frame of image `index` that came only in part: nothing of it is shown, and the image is black until it is
 * set. */
void tvlm_stack_drop_frame(tvlm_stack *stack, int32_t index);

#endif
