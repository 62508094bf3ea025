/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_queue.h: images that are decoded ahead, in threads, and come in the order of their names. There are never more
 * of them in memory than threads, besides those that were taken.
 */
#ifndef TVLM_TOOLS_BATCH_QUEUE_H
#define TVLM_TOOLS_BATCH_QUEUE_H

#include "batch_names.h"
#include "texturevlm/image.h"

/* An input with what became of it. */
typedef struct batch_image {
    batch_input input;
    tvlm_image *image;  /* NULL: it failed */
    tvlm_status status; /* why, and the first line that said so; "" where only the status says it */
    char error[1024];
} batch_image;
void batch_image_release(batch_image *image);

typedef enum batch_turn {
    BATCH_IMAGE,   /* here is the next one */
    BATCH_NOTHING, /* it is not there yet */
    BATCH_END      /* there are no more */
} batch_turn;

typedef struct batch_queue batch_queue;

/* Starts `jobs` threads on the names, which only they use from here on. Warnings go to the tool's log. Images are decoded for
 * a `max_side` (tvlm_image_load_for); 0: in their own size. */
int batch_queue_open(struct tool *tool, batch_names *names, int jobs, int32_t max_side, batch_queue **queue);

/* Takes the next image, and waits for it: without end, or with `impatient` for some milliseconds, or until
 * batch_queue_wake. */
batch_turn batch_queue_take(batch_queue *queue, bool impatient, batch_image *image);

/* Wakes up who waits impatiently. Any thread may call it. */
void batch_queue_wake(batch_queue *queue);

/* Ends the threads, after the images that they are decoding, and releases what was not taken. */
void batch_queue_close(batch_queue **queue);

#endif
