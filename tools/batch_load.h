/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_load.h: one image of many, from its file or archive to its pixels, in the memory that all share (batch_room.h).
 *
 * Its first bytes say how much it will take. Only then is there room for it, and it is read; what is no picture, or would take
 * more than the limit, is refused before.
 */
#ifndef TVLM_TOOLS_BATCH_LOAD_H
#define TVLM_TOOLS_BATCH_LOAD_H

#include "batch_names.h"
#include "batch_room.h"
#include "texturevlm/image.h"

/* An input with what became of it. */
typedef struct batch_image {
    batch_input input;
    tvlm_image *image;  /* NULL: it failed */
    tvlm_status status; /* why, and the first line that said so; "" where only the status says it */
    char error[1024];
    void *bytes; /* what was read of it, until it is decoded */
    size_t size;
    batch_room *room;
    uint64_t held; /* bytes of it */
} batch_image;
void batch_image_release(batch_image *image);

typedef struct batch_load {
    batch_room *room;
    const tvlm_log *log; /* for warnings */
    int32_t max_side;
} batch_load;

/* Reads the input of an image, and takes the turn `number`. A member of an archive has to be read before the next name is
 * asked for. */
void batch_load_read(const batch_load *load, int64_t number, batch_image *one);

/* Decodes what was read. */
void batch_load_decode(const batch_load *load, batch_image *one);

#endif
