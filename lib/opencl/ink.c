/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ink.c: launches cl/ink.cl.
 */
#include "core/try.h"
#include "opencl/backend.h"

static int32_t blocks_of(int32_t side) {
    return side / TVLM_INK_BLOCK + (side % TVLM_INK_BLOCK != 0);
}

tvlm_status tvlm_opencl_ink(tvlm_device *base, const tvlm_texture *source, int32_t image, tvlm_buffer *blocks,
                            size_t offset) {
    const cl_int2 grid = {{blocks_of(source->width), blocks_of(source->height)}};
    opencl_call call;
    TVLM_TRY(tvlm_opencl_call_begin((opencl_device *)base, "ink.cl", "ink", source->format, "", &call));
    tvlm_opencl_call_input(&call, source);
    tvlm_opencl_call_int(&call, image);
    tvlm_opencl_call_bytes(&call, sizeof grid, &grid);
    tvlm_opencl_call_ulong(&call, offset);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)blocks)->memory);
    return tvlm_opencl_call_run_pixels(&call, grid.s[0], grid.s[1], 1);
}
