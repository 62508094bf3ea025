/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/wrap.h: device memory that belongs to an application, as buffers.
 */
#ifndef TVLM_CORE_WRAP_H
#define TVLM_CORE_WRAP_H

#include "core/backend.h"

/*
 * Makes a buffer of the memory. `bytes` of it, from its offset on, are read, or with `written` they are
 * written. The caller destroys the buffer. Fails with ARGUMENT, and a line that begins with `what`, where the
 * memory is too small or the offset is no multiple of 4.
 */
tvlm_status tvlm_wrap(tvlm_device *device, const char *what, const struct tvlm_memory *memory, size_t bytes,
                      bool written, tvlm_buffer **buffer);

/* Reads `bytes` of the memory, from its offset on, to host memory *host, which the caller frees. Fails as
 * tvlm_wrap does; then *host is NULL. */
tvlm_status tvlm_wrap_read(tvlm_device *device, const char *what, const struct tvlm_memory *memory,
                           size_t bytes, void **host);

#endif
