/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.c: the operations that a backend need not have, done with those that every backend has. Some need
 * what only a driver has (memory to hand out or to take over). They refuse with a line.
 */
#include "core/backend.h"

tvlm_status tvlm_plain_ask_bytes(tvlm_device *device) {
    (void)device; /* that is known since the device was opened */
    return TVLM_OK;
}

/* What is sent this way has arrived when the call returns. */
tvlm_status tvlm_plain_buffer_send(tvlm_device *device, tvlm_buffer *buffer, size_t bytes, const void *host) {
    return device->backend->buffer_write(device, buffer, 0, bytes, host);
}

tvlm_status tvlm_plain_buffer_arrive(tvlm_device *device, tvlm_buffer *buffer) {
    (void)device;
    (void)buffer;
    return TVLM_OK;
}

static tvlm_status nothing_to_hand_out(const tvlm_device *device) {
    return tvlm_fail(&device->log, TVLM_ERROR_UNSUPPORTED, "the %s device has no OpenCL memory to hand out",
                     device->backend->name);
}

tvlm_status tvlm_plain_buffer_native(tvlm_device *device, tvlm_buffer *buffer, void **handle) {
    (void)buffer;
    *handle = NULL;
    return nothing_to_hand_out(device);
}

tvlm_status tvlm_plain_texture_native(tvlm_device *device, tvlm_texture *texture, void *handles[2]) {
    (void)texture;
    handles[0] = handles[1] = NULL;
    return nothing_to_hand_out(device);
}

static tvlm_status nothing_to_take_over(const tvlm_device *device) {
    return tvlm_fail(&device->log, TVLM_ERROR_UNSUPPORTED, "the %s device cannot read OpenCL memory",
                     device->backend->name);
}

tvlm_status tvlm_plain_buffer_wrap(tvlm_device *device, void *handle, bool written, tvlm_buffer **buffer) {
    (void)handle;
    (void)written;
    *buffer = NULL;
    return nothing_to_take_over(device);
}

tvlm_status tvlm_plain_plane_wrap(tvlm_device *device, void *handle, const char *sharing, tvlm_plane *plane) {
    (void)handle;
    (void)sharing;
    *plane = (tvlm_plane){0};
    return nothing_to_take_over(device);
}

/* Makes all of the levels, which include what lies above the tiles. */
tvlm_status tvlm_plain_mips_tiles(tvlm_device *device, tvlm_texture *texture, const tvlm_tiles *tiles) {
    (void)tiles;
    return device->backend->mips(device, &texture, 1);
}
