/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/upload.h: puts pixels into the source.
 */
#ifndef TVLM_STACK_UPLOAD_H
#define TVLM_STACK_UPLOAD_H

#include "stack/stack.h"

/* Checks an image for everything that can be wrong with it, except for the memory that its pointer points to.
 * Sets *row to the bytes of a row without the gap after it. It fails with ARGUMENT, and a line that says what
 * is wrong. */
tvlm_status tvlm_stack_check_image(const tvlm_log *log, const tvlm_image *image, size_t *row);

/* Creates a stack of an image's size, as tvlm_stack_create_for_image does, without the image. */
tvlm_status tvlm_stack_create_of_size(tvlm_device *device, const tvlm_image *image,
                                      const struct tvlm_stack_params *params, tvlm_stack **stack);

/* An image in the stack's size, as it is uploaded: its rows follow each other without gaps, so that kernels
 * find every element aligned. */
typedef struct tvlm_rows {
    const void *rows;
    void *copy; /* what the caller frees: the rows, if they are not the image's own; otherwise NULL */
    size_t bytes;
    tvlm_pixels pixels;
} tvlm_rows;
tvlm_status tvlm_stack_image_rows(const tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                  tvlm_rows *rows);

/* Notes the size of the image that was put into image `index` (tvlm_stack_image_size). */
void tvlm_stack_note_original(tvlm_stack *stack, int32_t index, const tvlm_image *image);

/* Finds the size of an image as the application sees it. If the image is a smaller version of another one
 * (of_width, of_height), this is the size of that one. */
void tvlm_stack_image_size(const tvlm_image *image, int32_t *width, int32_t *height);

/*
 * Puts pixels that are on the device into image `index`. Their size must be that of the working image. The
 * work is only enqueued, and the buffer must not change before it is done.
 */
tvlm_status tvlm_stack_source_from_buffer(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer,
                                          const tvlm_pixels *pixels);

/*
 * In a stack of one image, exchanges the source's texture with *texture, which may be NULL, so that the next
 * frame does not write over the pixels of the last one. The source's content must be set next.
 */
void tvlm_stack_exchange_source(tvlm_stack *stack, tvlm_texture **texture);

/* Drops a frame of image `index` that came only in part. No part of it is shown: the image is black until it
 * is set. */
void tvlm_stack_drop_frame(tvlm_stack *stack, int32_t index);

#endif
