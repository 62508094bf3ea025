/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thumbnail.c: launches cl/thumbnail.cl.
 */
#include "core/try.h"
#include "opencl/backend.h"

/* Begins a kernel, whose first arguments are the table and an axis. */
static tvlm_status begin(opencl_device *device, const char *name, tvlm_format format, cl_mem table,
                         const tvlm_budget_axis *axis, opencl_call *call) {
    const cl_int2 place = {{axis->offset, axis->taps}};
    TVLM_TRY(tvlm_opencl_call_begin(device, "thumbnail.cl", name, format, "", call));
    tvlm_opencl_call_memory(call, table);
    tvlm_opencl_call_bytes(call, sizeof place, &place);
    return TVLM_OK;
}

tvlm_status tvlm_opencl_thumbnail(tvlm_device *base, const tvlm_texture *source, const tvlm_budget_plan *plan,
                                  tvlm_texture *out) {
    opencl_device *const device = (opencl_device *)base;
    const tvlm_budget_picture *const picture = &plan->pictures[0];
    const int32_t width = tvlm_level_side(source->width, picture->from);
    const size_t table_bytes = plan->table_floats * sizeof *plan->table;
    const size_t texels = (size_t)width * (size_t)picture->height;
    cl_mem table, between;
    opencl_call call;
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_B, table_bytes, &table));
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_D, texels * sizeof(cl_float4), &between));
    TVLM_TRY(tvlm_opencl_write(device, table, 0, table_bytes, plan->table));
    TVLM_TRY(begin(device, "thumbnail_columns", source->format, table, &picture->reduce_y, &call));
    tvlm_opencl_call_input(&call, source);
    tvlm_opencl_call_int(&call, plan->image * source->layers);
    tvlm_opencl_call_int(&call, picture->from);
    tvlm_opencl_call_int(&call, picture->height);
    tvlm_opencl_call_memory(&call, between);
    TVLM_TRY(tvlm_opencl_call_run_pixels(&call, width, picture->height, 1));
    TVLM_TRY(begin(device, "thumbnail_rows", source->format, table, &picture->reduce_x, &call));
    tvlm_opencl_call_memory(&call, between);
    tvlm_opencl_call_int(&call, width);
    tvlm_opencl_call_int(&call, plan->image);
    tvlm_opencl_call_output(&call, out);
    return tvlm_opencl_call_run_pixels(&call, picture->width, picture->height, 1);
}
