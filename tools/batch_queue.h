/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_queue.h: images that are decoded ahead, in threads, and come in the order of their names. There are never more
 * of them in memory than threads, besides those that were taken, and all together take no more than the limit of memory.
 */
#ifndef TVLM_TOOLS_BATCH_QUEUE_H
#define TVLM_TOOLS_BATCH_QUEUE_H

#include "batch_load.h"

typedef enum batch_turn {
    BATCH_IMAGE,   /* here is the next one */
    BATCH_NOTHING, /* it is not there yet */
    BATCH_END      /* there are no more */
} batch_turn;

typedef struct batch_queue batch_queue;

/* Starts threads on the names, which only they use from here on. Warnings go to the tool's log. Images are decoded for
 * a `max_side` (tvlm_image_load_for); 0: in their own size. */
int batch_queue_open(struct tool *tool, batch_names *names, const batch_threads *threads, int32_t max_side,
                     batch_queue **queue);

/* Takes the next image, and waits for it: without end, or with `impatient` for some milliseconds, or until
 * batch_queue_wake. */
batch_turn batch_queue_take(batch_queue *queue, bool impatient, batch_image *image);

/* Wakes up who waits impatiently. Any thread may call it. */
void batch_queue_wake(batch_queue *queue);

/* Ends the threads, after the images that they are decoding, and releases what was not taken. What was taken has been released
 * before. */
void batch_queue_close(batch_queue **queue);

#endif
