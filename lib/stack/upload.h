/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/upload.h: pixels into the source.
 */
#ifndef TVLM_STACK_UPLOAD_H
#define TVLM_STACK_UPLOAD_H

#include "stack/stack.h"

/* Checks an image for everything that can be wrong with it, but for what its pointer points to. *row is how
 * many bytes a row has without the gap behind it. ARGUMENT, with a line that says what is wrong. */
tvlm_status tvlm_stack_check_image(const tvlm_log *log, const tvlm_image *image, size_t *row);

/* Creates a stack of an image's size, as tvlm_stack_create_for_image does, without the image. */
tvlm_status tvlm_stack_create_of_size(tvlm_device *device, const tvlm_image *image,
                                      const struct tvlm_stack_params *params, tvlm_stack **stack);

/* An image in the stack's size, as it is uploaded: its rows follow each other without gaps, so that kernels
 * find every element aligned. */
typedef struct tvlm_rows {
    const void *rows;
    void *copy; /* what the caller frees: the rows, where they are not the image's own; or NULL */
    size_t bytes;
    tvlm_pixels pixels;
} tvlm_rows;
tvlm_status tvlm_stack_image_rows(const tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                  tvlm_rows *rows);

/* Notes the size of what was put into image `index`, as it is told. */
void tvlm_stack_note_original(tvlm_stack *stack, int32_t index, const tvlm_image *image);

/* The size of an image as it is told: of what it is a smaller version of, where it is one. */
void tvlm_stack_image_size(const tvlm_image *image, int32_t *width, int32_t *height);

/*
 * Puts pixels that are on the device into image `index`. Their size must be the stack's. The work is only
 * enqueued: the buffer must not change before it is done.
 */
tvlm_status tvlm_stack_source_from_buffer(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer,
                                          const tvlm_pixels *pixels);

/*
 * In a stack of one image, exchanges the texture of its source for *texture (NULL: none), so that the next
 * frame does not write over the pixels of the last one. The source's content must be set next.
 */
void tvlm_stack_exchange_source(tvlm_stack *stack, tvlm_texture **texture);

/* Drops a frame of image `index` that came only in part: nothing of it is shown, and the image is black until
 * it is set. */
void tvlm_stack_drop_frame(tvlm_stack *stack, int32_t index);

#endif
