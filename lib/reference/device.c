/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c: the reference device: its buffers and its description. Every call has done its work when it
 * returns.
 */
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "platform/memory.h"
#include "reference/reference.h"
#include "texturevlm/version.h"

void tvlm_reference_destroy(tvlm_device *device) {
    free(device);
}

tvlm_status tvlm_reference_finish(tvlm_device *device) {
    (void)device;
    return TVLM_OK;
}

void tvlm_reference_flush(tvlm_device *device) {
    (void)device;
}

tvlm_status tvlm_reference_buffer_create(tvlm_device *device, size_t bytes, tvlm_buffer **buffer) {
    reference_buffer *created = tvlm_allocate(1, sizeof *created);
    unsigned char *data = tvlm_allocate(bytes, 1);
    if (created == NULL || data == NULL) {
        free(created);
        free(data);
        return tvlm_fail(&device->log, TVLM_ERROR_DEVICE_MEMORY,
                         "reference: no memory for a buffer of %zu bytes", bytes);
    }
    created->base.bytes = bytes;
    created->data = data;
    tvlm_device_takes(device, bytes);
    *buffer = &created->base;
    return TVLM_OK;
}

void tvlm_reference_buffer_destroy(tvlm_device *device, tvlm_buffer **buffer) {
    if (buffer == NULL || *buffer == NULL) return;
    tvlm_device_gives(device, (*buffer)->bytes);
    free(reference_data(*buffer));
    free(*buffer);
    *buffer = NULL;
}

tvlm_status tvlm_reference_buffer_write(tvlm_device *device, tvlm_buffer *buffer, size_t offset, size_t bytes,
                                        const void *host) {
    (void)device;
    if (bytes > 0) memcpy((unsigned char *)reference_data(buffer) + offset, host, bytes);
    return TVLM_OK;
}

tvlm_status tvlm_reference_buffer_read(tvlm_device *device, tvlm_buffer *buffer, size_t offset, size_t bytes,
                                       void *host) {
    (void)device;
    if (bytes > 0) memcpy(host, (const unsigned char *)reference_data(buffer) + offset, bytes);
    return TVLM_OK;
}

tvlm_status tvlm_reference_buffer_copy(tvlm_device *device, tvlm_buffer *from, size_t from_offset,
                                       tvlm_buffer *to, size_t to_offset, size_t bytes) {
    (void)device;
    if (bytes > 0)
        memcpy((unsigned char *)reference_data(to) + to_offset,
               (const unsigned char *)reference_data(from) + from_offset, bytes);
    return TVLM_OK;
}

static tvlm_device_info describe(void) {
    tvlm_device_info info = {.index = -1,
                             .type = TVLM_DEVICE_REFERENCE,
                             .memory_bytes = tvlm_host_memory(),
                             .allocation_max = PTRDIFF_MAX,
                             .compute_units = 1,
                             .images = true,
                             .image_width_max = 65536,
                             .image_height_max = 65536,
                             .image_slices_max = 65536,
                             .storage = TVLM_STORAGE_BUFFER};
    snprintf(info.name, sizeof info.name, "reference");
    snprintf(info.platform, sizeof info.platform, "texturevlm");
    snprintf(info.driver, sizeof info.driver, "%s", tvlm_version());
    snprintf(info.version, sizeof info.version, "C11");
    snprintf(info.storage_reason, sizeof info.storage_reason, "plain C");
    return info;
}

tvlm_status tvlm_reference_open(const struct tvlm_device_params *params, tvlm_device **device) {
    const tvlm_log *log = params != NULL ? params->log : NULL;
    const tvlm_storage storage = params != NULL ? params->storage : TVLM_STORAGE_AUTO;
    if (storage != TVLM_STORAGE_AUTO && storage != TVLM_STORAGE_BUFFER)
        return tvlm_fail(log, TVLM_ERROR_UNSUPPORTED, "the reference device has the storage buffer only");
    tvlm_device *opened = tvlm_allocate(1, sizeof *opened);
    if (opened == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for the reference device");
    opened->backend = &tvlm_reference_backend;
    if (log != NULL) opened->log = *log;
    opened->info = describe();
    opened->stores_bytes = true;
    *device = opened;
    return TVLM_OK;
}
