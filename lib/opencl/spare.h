/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spare.h: memory of destroyed textures, which is kept for the next ones (tvlm_device_params.keep_memory).
 *
 * New memory costs time. On a CPU the driver fills each page with zeros when it is first written; on PoCL
 * that took half of the time of a batch of photos of different sizes. A GPU's allocator may wait for the
 * queue.
 *
 * Spare memory and memory in use together are never more than the most that was in use at one time. Memory
 * can be used again at once, because the queue runs in order: the next user's commands follow those of the
 * last one. Memory of a texture that an application has seen is never spare.
 */
#ifndef TVLM_OPENCL_SPARE_H
#define TVLM_OPENCL_SPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "opencl/loader.h"

struct opencl_device;

/* What a memory object is. An image serves only an image of the same kind. For a buffer all members but
 * `bytes` are 0, and it serves whatever fits into it. */
typedef struct opencl_memory_kind {
    size_t bytes;
    size_t slices;
    int32_t width, height;
    cl_uint levels;
    cl_channel_order order;
    cl_channel_type type;
} opencl_memory_kind;

enum { SPARES_MAX = 32 };

typedef struct opencl_spares {
    bool kept;
    int count;
    /* The bytes of all of them. */
    size_t bytes;
    /* The one that has waited longest stands first. */
    struct {
        cl_mem memory;
        opencl_memory_kind kind;
    } all[SPARES_MAX];
} opencl_spares;

/* Takes a spare memory object that serves a kind; kind->bytes becomes the object's. Returns NULL where there
 * is none. Then spare memory has made room for a new object, and kind->bytes is how large that should be. */
cl_mem tvlm_opencl_spare_take(struct opencl_device *device, opencl_memory_kind *kind);

/* Takes over a memory object that nobody uses any more, after tvlm_device_gives: keeps it, or releases it.
 * NULL is fine. */
void tvlm_opencl_spare_give(struct opencl_device *device, cl_mem memory, const opencl_memory_kind *kind);

/* Releases all spare memory, because the driver has no memory left or the device is closed. Returns false if
 * there was none. */
bool tvlm_opencl_spares_release(struct opencl_device *device);

/* Creates a buffer that is none of the kept ones. Spare memory makes room for it first, and all of it where the
 * driver has no more. */
cl_mem tvlm_opencl_new_buffer(struct opencl_device *device, size_t bytes, cl_int *error);

#endif
