/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_queue.h: decodes images ahead, in threads, and gives them in the order of their names. Besides the
 * images that were taken, there are never more images in memory than threads. All images together take no
 * more than the limit of memory.
 */
#ifndef TVLM_TOOLS_BATCH_QUEUE_H
#define TVLM_TOOLS_BATCH_QUEUE_H

#include "batch_load.h"

typedef enum batch_turn {
    BATCH_IMAGE,   /* the next image was given */
    BATCH_NOTHING, /* the next image is not there yet */
    BATCH_END      /* there are no more images */
} batch_turn;

typedef struct batch_queue batch_queue;

/* Opens the names, and starts the threads, which alone use them. Warnings go to the tool's log. Images are
 * decoded for a `max_side` (tvlm_image_load_for), or in their own size if that is 0. */
int batch_queue_open(struct tool *tool, const struct batch_names_params *params, const batch_threads *threads,
                     int32_t max_side, batch_queue **queue);

/* Takes the next image, and waits for it. The wait has no end, unless `impatient` is set: then it ends after
 * some milliseconds, or with batch_queue_wake. */
batch_turn batch_queue_take(batch_queue *queue, bool impatient, batch_image *image);

/* Wakes up a thread that waits with `impatient`. Any thread may call this. */
void batch_queue_wake(batch_queue *queue);

/* Ends the threads, once they have decoded their present images, and releases all images that were not taken.
 * The caller must have released those that were taken. */
void batch_queue_close(batch_queue **queue);

#endif
