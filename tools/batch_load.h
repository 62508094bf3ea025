/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_load.h: loads one image of many, from its file or archive to its pixels, in the memory that all
 * images share (batch_room.h).
 *
 * The first bytes of an image say how much memory it will take. Room for that much is taken before the image
 * is read. A file that is no picture, or that would take more than the limit, is refused before it is read.
 */
#ifndef TVLM_TOOLS_BATCH_LOAD_H
#define TVLM_TOOLS_BATCH_LOAD_H

#include "batch_names.h"
#include "batch_room.h"
#include "texturevlm/image.h"

/* An input, and the image or the error that it became. */
typedef struct batch_image {
    batch_input input;
    tvlm_image *image;  /* NULL: the image failed */
    tvlm_status status; /* why it failed; `error` is the first line about it, "" if the status says all */
    char error[1024];
    void *bytes; /* the bytes that were read, until they are decoded */
    size_t size;
    batch_room *room;
    uint64_t held; /* how many bytes of the room the image holds */
} batch_image;
void batch_image_release(batch_image *image);

typedef struct batch_load {
    batch_room *room;
    const tvlm_log *log; /* for warnings */
    int32_t max_side;
} batch_load;

/* Reads the input of an image, and takes turn `number` of the room. A member of an archive must be read
 * before the next name is asked for. */
void batch_load_read(const batch_load *load, int64_t number, batch_image *one);

/* Decodes the bytes that were read. */
void batch_load_decode(const batch_load *load, batch_image *one);

#endif
