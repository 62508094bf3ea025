/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spare.h: memory of textures that were let go, which the next ones take (tvlm_device_params.keep_memory). New memory costs: a
 * driver on a CPU fills each page with zeros when it is first written, which took half of the time of a batch of photos of
 * different sizes on PoCL; a GPU's allocator may wait for the queue.
 *
 * Spare memory and what is in use together are never more than the most that was in use at one time. The queue runs in order,
 * so that the next user's commands follow those of the last one. What an application has seen of a texture is never spare.
 */
#ifndef TVLM_OPENCL_SPARE_H
#define TVLM_OPENCL_SPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "opencl/loader.h"

struct opencl_device;

/* What a memory object is. One of an image serves only an image that is the same; of a buffer all but `bytes` is 0, and one
 * serves whatever fits into it. */
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
    /* Of all of them. */
    size_t bytes;
    /* The one that has waited longest first. */
    struct {
        cl_mem memory;
        opencl_memory_kind kind;
    } all[SPARES_MAX];
} opencl_spares;

/* Takes a spare memory object that serves a kind, whose bytes become its own. NULL: there is none, spare memory has made room
 * for a new one, and the kind's bytes are what that should have. */
cl_mem tvlm_opencl_spare_take(struct opencl_device *device, opencl_memory_kind *kind);

/* Takes over a memory object that nobody uses any more, after tvlm_device_gives: keeps it, or releases it. NULL is fine. */
void tvlm_opencl_spare_give(struct opencl_device *device, cl_mem memory, const opencl_memory_kind *kind);

/* Releases all spare memory, where the driver has none left or the device closes. False: there was none. */
bool tvlm_opencl_spares_release(struct opencl_device *device);

#endif
