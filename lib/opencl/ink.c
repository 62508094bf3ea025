/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ink.c: launches cl/ink.cl.
 */
#include "core/try.h"
#include "opencl/backend.h"

tvlm_status tvlm_opencl_ink(tvlm_device *base, const tvlm_texture *source, int32_t image,
                            tvlm_buffer *colours, size_t offset) {
    const int32_t level = source->levels > TVLM_INK_LEVEL ? TVLM_INK_LEVEL : source->levels - 1;
    const cl_int2 grid = {{tvlm_level_side(source->width, level), tvlm_level_side(source->height, level)}};
    opencl_call call;
    TVLM_TRY(tvlm_opencl_call_begin((opencl_device *)base, "ink.cl", "ink", source->format, "", &call));
    tvlm_opencl_call_input(&call, source);
    tvlm_opencl_call_int(&call, image);
    tvlm_opencl_call_bytes(&call, sizeof grid, &grid);
    tvlm_opencl_call_ulong(&call, offset);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)colours)->memory);
    return tvlm_opencl_call_run_pixels(&call, grid.s[0], grid.s[1], 1);
}
