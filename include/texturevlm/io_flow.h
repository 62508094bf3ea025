/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_flow.h: optical flow as .flo files (Middlebury's): "PIEH" (the float 202021.25), width and height as
 * 32-bit integers, then u, v of every pixel as floats, row by row, all little-endian. What is above 1e9 or
 * not a number is unknown.
 */
#ifndef TEXTUREVLM_IO_FLOW_H
#define TEXTUREVLM_IO_FLOW_H

#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tvlm_flo {
    int32_t width, height;
    float *vectors; /* [2 * width * height]: u, v; row-major. As they are in the file */
} tvlm_flo;

/*
 * Reads a flow; the caller releases it with tvlm_flo_destroy. Errors, besides those of io.h: FORMAT (it does
 * not begin with PIEH, a side below 1 or above 99999, fewer or more bytes than its size needs).
 */
TVLM_API tvlm_status tvlm_flo_read(const char *path, const tvlm_log *log, tvlm_flo **flow);

/* Releases what tvlm_flo_read made and nulls it; NULL and a NULL *flow are accepted. */
TVLM_API void tvlm_flo_destroy(tvlm_flo **flow);

/* Writes 2 * width * height floats, sides 1 .. 99999. The file appears whole or not at all (io.h). */
TVLM_API tvlm_status tvlm_flo_write(const char *path, int32_t width, int32_t height, const float *vectors,
                                    const tvlm_log *log);

#ifdef __cplusplus
}
#endif
#endif
