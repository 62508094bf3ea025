/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_flow.h: optical flow as .flo files, the format of the Middlebury benchmark.
 *
 * Such a file holds the letters "PIEH" (the float 202021.25), the width and the height as 32-bit integers,
 * and then u and v of every pixel as floats, row by row. All of it is little-endian. A vector with a
 * component that is above 1e9 or is not a number stands for a flow that is unknown.
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
    float *vectors; /* [2 * width * height]: u, v of each pixel, row by row, as they are in the file */
} tvlm_flo;

/*
 * Reads a flow, which the caller releases with tvlm_flo_destroy.
 *
 * It fails as io.h says. TVLM_ERROR_FORMAT means that the file does not begin with "PIEH", that a side is
 * below 1 or above 99999, or that there are fewer or more bytes than the size needs.
 */
TVLM_API tvlm_status tvlm_flo_read(const char *path, const tvlm_log *log, tvlm_flo **flow);

/* Releases what tvlm_flo_read made and sets *flow to NULL. NULL and a NULL *flow are accepted. */
TVLM_API void tvlm_flo_destroy(tvlm_flo **flow);

/*
 * Writes a flow of 2 * width * height floats; both sides are 1..99999. The file appears whole or not at all,
 * as io.h says of every file.
 */
TVLM_API tvlm_status tvlm_flo_write(const char *path, int32_t width, int32_t height, const float *vectors,
                                    const tvlm_log *log);

#ifdef __cplusplus
}
#endif
#endif
