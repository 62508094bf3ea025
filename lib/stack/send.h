/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/send.h: the next image on its way to the device, beside the work on the present one.
 */
#ifndef TVLM_STACK_SEND_H
#define TVLM_STACK_SEND_H

#include "stack/upload.h"

/* What tvlm_stack_send_image has sent, and tvlm_stack_set_image takes. */
typedef struct tvlm_sent {
    bool there;       /* something was sent and not taken yet */
    int32_t index;    /* the image of the batch that it is for */
    tvlm_image image; /* whose pixels are not looked at any more */
    tvlm_rows rows;   /* what is being sent */
    tvlm_buffer *buffer;
    bool read; /* what was enqueued may still read the buffer */
} tvlm_sent;

/* Puts what was sent into image `index`. Fails where nothing was sent for it. */
tvlm_status tvlm_stack_take_sent(tvlm_stack *stack, int32_t index);

/* Frees all of it; waits until nothing is on its way any more. */
void tvlm_stack_release_sent(tvlm_stack *stack);

#endif
