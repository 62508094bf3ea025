/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/spare.h"

#include <string.h>

#include "opencl/backend.h"

/* Takes one memory object out of the list. The others stay in their order. */
static cl_mem remove_at(opencl_spares *spares, int at) {
    const cl_mem memory = spares->all[at].memory;
    spares->bytes -= spares->all[at].kind.bytes;
    --spares->count;
    memmove(spares->all + at, spares->all + at + 1, (size_t)(spares->count - at) * sizeof spares->all[0]);
    return memory;
}

/* Releases the oldest spare memory until there is room for `bytes` more. All memory together must not exceed
 * the most that was in use at one time. */
static void make_room(opencl_device *device, size_t bytes) {
    opencl_spares *const spares = &device->spares;
    const tvlm_device *const base = &device->base;
    while (spares->count > 0 && base->held + spares->bytes + bytes > base->held_most)
        tvlm_opencl_release(device, remove_at(spares, 0));
}

static bool serves(const opencl_memory_kind *spare, const opencl_memory_kind *wanted) {
    if (wanted->width == 0) return spare->width == 0 && spare->bytes >= wanted->bytes;
    return spare->width == wanted->width && spare->height == wanted->height &&
           spare->slices == wanted->slices && spare->levels == wanted->levels &&
           spare->order == wanted->order && spare->type == wanted->type;
}

/* The size of a new buffer. It is up to a quarter larger, so that a next size that is somewhat larger fits as
 * well. */
static size_t rounded(size_t bytes) {
    size_t step = 1;
    while (step < bytes / 8) step *= 2;
    return bytes <= SIZE_MAX - step ? (bytes + step - 1) / step * step : bytes;
}

cl_mem tvlm_opencl_spare_take(opencl_device *device, opencl_memory_kind *kind) {
    opencl_spares *const spares = &device->spares;
    int best = -1;
    for (int i = 0; i < spares->count; ++i)
        if (serves(&spares->all[i].kind, kind) &&
            (best < 0 || spares->all[i].kind.bytes < spares->all[best].kind.bytes))
            best = i;
    if (best < 0) {
        if (spares->kept && kind->width == 0) kind->bytes = rounded(kind->bytes);
        make_room(device, kind->bytes);
        return NULL;
    }
    kind->bytes = spares->all[best].kind.bytes;
    return remove_at(spares, best);
}

void tvlm_opencl_spare_give(opencl_device *device, cl_mem memory, const opencl_memory_kind *kind) {
    opencl_spares *const spares = &device->spares;
    if (memory == NULL) return;
    if (!spares->kept || kind->bytes > device->base.held_most) {
        tvlm_opencl_release(device, memory);
        return;
    }
    make_room(device, kind->bytes);
    if (spares->count == SPARES_MAX) tvlm_opencl_release(device, remove_at(spares, 0));
    spares->all[spares->count].memory = memory;
    spares->all[spares->count].kind = *kind;
    ++spares->count;
    spares->bytes += kind->bytes;
}

bool tvlm_opencl_spares_release(opencl_device *device) {
    const bool any = device->spares.count > 0;
    while (device->spares.count > 0) tvlm_opencl_release(device, remove_at(&device->spares, 0));
    return any;
}

cl_mem tvlm_opencl_new_buffer(opencl_device *device, size_t bytes, cl_int *error) {
    make_room(device, bytes);
    cl_mem memory = clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, error);
    if (*error != CL_SUCCESS && tvlm_opencl_spares_release(device))
        memory = clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, error);
    return memory;
}
