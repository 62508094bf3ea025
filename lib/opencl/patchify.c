/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patchify.c: launches cl/patchify.cl.
 */
#include <stdio.h>

#include "core/try.h"
#include "opencl/backend.h"

/* Where a buffer is missing, the kernel gets another one in its place, and does not touch it there. */
static cl_mem memory_or(tvlm_buffer *buffer, tvlm_buffer *other) {
    return ((opencl_buffer *)(buffer != NULL ? buffer : other))->memory;
}

tvlm_status tvlm_opencl_patchify(tvlm_device *base, tvlm_buffer *pixels, const tvlm_patchify *layout,
                                 tvlm_buffer *values, tvlm_buffer *tokens, tvlm_buffer *chosen,
                                 tvlm_buffer *out) {
    OPENCL_TUNED(base, TVLM_TUNED_EXPORT, (double)layout->width * layout->height * layout->frames);
    opencl_device *device = (opencl_device *)base;
    const bool whole = device->tuning.scan_rows;
    const int32_t rows = (layout->listed + layout->count) * layout->merge * layout->merge;
    const int32_t columns = 3 * layout->temporal * layout->patch * layout->patch;
    const cl_int2 blocks = {{layout->blocks_x, layout->blocks_y}};
    char options[96];
    opencl_call call;
    if (rows == 0) return TVLM_OK;
    snprintf(options, sizeof options, "-DPATCH=%d -DTEMPORAL=%d -DMERGE=%d -DWHOLE_LINES=%d",
             (int)layout->patch, (int)layout->temporal, (int)layout->merge, whole);
    TVLM_TRY(tvlm_opencl_call_begin(device, "patchify.cl", "patchify", TVLM_FORMAT_F32, options, &call));
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)pixels)->memory);
    tvlm_opencl_call_int4(&call, layout->width, layout->height, layout->frames, rows);
    tvlm_opencl_call_bytes(&call, sizeof blocks, &blocks);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)values)->memory);
    tvlm_opencl_call_memory(&call, memory_or(tokens, values));
    tvlm_opencl_call_int(&call, layout->listed);
    tvlm_opencl_call_memory(&call, memory_or(chosen, out));
    tvlm_opencl_call_memory(&call, memory_or(out, chosen));
    if (!whole) return tvlm_opencl_call_run_list(&call, (size_t)columns, (size_t)rows);
    const size_t size[2] = {3, (size_t)rows};
    return tvlm_opencl_call_run(&call, 2, size, NULL);
}
