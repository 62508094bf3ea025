/* SPDX-License-Identifier: Apache-2.0 */
/*
 * positions.c: launches cl/positions.cl.
 */
#include "core/try.h"
#include "opencl/backend.h"

static tvlm_status begin(opencl_device *device, const char *name, opencl_call *call) {
    return tvlm_opencl_call_begin(device, "positions.cl", name, TVLM_FORMAT_F32, "", call);
}

tvlm_status tvlm_opencl_place(tvlm_device *base, const tvlm_placing *placing, tvlm_buffer *ranking,
                              int32_t count) {
    const tvlm_candidates *const cells = &placing->candidates;
    const size_t size = (size_t)count;
    opencl_call call;
    TVLM_TRY(begin((opencl_device *)base, "place", &call));
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)ranking)->memory);
    tvlm_opencl_call_int(&call, count);
    tvlm_opencl_call_int4(&call, cells->columns, cells->rows, placing->width, placing->height);
    tvlm_opencl_call_float4(&call, cells->step_x, cells->step_y, placing->scale_x, placing->scale_y);
    tvlm_opencl_call_float4(&call, placing->level, placing->size, 0.0f, 0.0f);
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)placing->out)->memory);
    tvlm_opencl_call_ulong(&call, placing->out_offset / sizeof(cl_int));
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)placing->looked)->memory);
    return tvlm_opencl_call_run(&call, 1, &size, NULL);
}

tvlm_status tvlm_opencl_patch_places(tvlm_device *base, const tvlm_position_list *list, tvlm_buffer *places,
                                     int32_t *bad) {
    opencl_device *device = (opencl_device *)base;
    const size_t size = (size_t)list->count;
    cl_mem memory;
    opencl_call call;
    TVLM_TRY(tvlm_opencl_least_begin(device, bad, &memory));
    TVLM_TRY(begin(device, "patch_places", &call));
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)list->positions)->memory);
    tvlm_opencl_call_ulong(&call, list->offset / sizeof(cl_int));
    tvlm_opencl_call_int(&call, list->count);
    tvlm_opencl_call_float4(&call, list->scale_x, list->scale_y, list->scale_size * (float)list->side,
                            list->highest_level);
    tvlm_opencl_call_int(&call, list->side);
    tvlm_opencl_call_int(&call, list->image);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)places)->memory);
    tvlm_opencl_call_memory(&call, memory);
    TVLM_TRY(tvlm_opencl_call_run(&call, 1, &size, NULL));
    return tvlm_opencl_least_end(device, memory, bad);
}
