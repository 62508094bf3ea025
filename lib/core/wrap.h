/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/wrap.h: an application's own memory of the device, as buffers.
 */
#ifndef TVLM_CORE_WRAP_H
#define TVLM_CORE_WRAP_H

#include "core/backend.h"

/*
 * Makes a buffer of the memory, of which `bytes` from its offset on are read, or written with `written`. The
 * caller destroys it. It fails with ARGUMENT, and a line that begins with `what`, where it is too small, or
 * the offset is no multiple of 4.
 */
tvlm_status tvlm_wrap(tvlm_device *device, const char *what, const struct tvlm_memory *memory, size_t bytes,
                      bool written, tvlm_buffer **buffer);

/* Reads `bytes` of the memory from its offset on to the host: *host, which the caller frees. It fails as
 * tvlm_wrap does, then with *host NULL. */
tvlm_status tvlm_wrap_read(tvlm_device *device, const char *what, const struct tvlm_memory *memory,
                           size_t bytes, void **host);

#endif
