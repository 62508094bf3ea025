/* SPDX-License-Identifier: Apache-2.0 */
#include "core/wrap.h"

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"

tvlm_status tvlm_wrap(tvlm_device *device, const char *what, const struct tvlm_memory *memory, size_t bytes,
                      bool written, tvlm_buffer **buffer) {
    const size_t offset = memory->byte_offset;
    tvlm_buffer *made = NULL;
    TVLM_CHECK_RESERVED(&device->log, tvlm_memory, memory);
    if (memory->memory == NULL)
        return tvlm_fail(&device->log, TVLM_ERROR_ARGUMENT, "%s: the cl_mem is NULL", what);
    if (offset % sizeof(float) != 0)
        return tvlm_fail(&device->log, TVLM_ERROR_ARGUMENT, "%s: from byte %zu on; numbers have %zu", what,
                         offset, sizeof(float));
    TVLM_TRY(device->backend->buffer_wrap(device, memory->memory, written, &made));
    if (offset <= made->bytes && bytes <= made->bytes - offset) {
        *buffer = made;
        return TVLM_OK;
    }
    const tvlm_status status =
        tvlm_fail(&device->log, TVLM_ERROR_ARGUMENT, "%s: %zu bytes from byte %zu on, but the cl_mem has %zu",
                  what, bytes, offset, made->bytes);
    device->backend->buffer_destroy(device, &made);
    return status;
}

tvlm_status tvlm_wrap_read(tvlm_device *device, const char *what, const struct tvlm_memory *memory,
                           size_t bytes, void **host) {
    tvlm_buffer *buffer = NULL;
    *host = NULL;
    TVLM_TRY(tvlm_wrap(device, what, memory, bytes, false, &buffer));
    void *const made = tvlm_allocate(bytes, 1);
    tvlm_status status = TVLM_OK;
    if (made == NULL)
        status = tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for %s (%zu bytes)", what, bytes);
    if (status == TVLM_OK)
        status = device->backend->buffer_read(device, buffer, memory->byte_offset, bytes, made);
    device->backend->buffer_destroy(device, &buffer);
    if (status == TVLM_OK)
        *host = made;
    else
        free(made);
    return status;
}
