/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/send.h: sends the next image to the device while the device works on the present one.
 */
#ifndef TVLM_STACK_SEND_H
#define TVLM_STACK_SEND_H

#include "stack/upload.h"

/* An image that tvlm_stack_send_image has sent, and that tvlm_stack_set_image will take. */
typedef struct tvlm_sent {
    bool there;       /* something was sent and not taken yet */
    int32_t index;    /* the image of the batch that it is for */
    tvlm_image image; /* the image that was sent; its pixels are not read any more */
    tvlm_rows rows;   /* the rows that are being sent */
    tvlm_buffer *buffer;
    bool read; /* work that was enqueued may still read the buffer */
} tvlm_sent;

/* Puts the pixels that were sent into image `index`. Fails if nothing was sent for it. */
tvlm_status tvlm_stack_take_sent(tvlm_stack *stack, int32_t index);

/* Waits until nothing is on its way any more, and frees all memory of what was sent. */
void tvlm_stack_release_sent(tvlm_stack *stack);

#endif
