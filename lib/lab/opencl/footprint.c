/* SPDX-License-Identifier: Apache-2.0 */
/*
 * footprint.c: launches cl/lab/footprint.cl.
 */
#include "core/try.h"
#include "lab/operations.h"
#include "opencl/backend.h"

tvlm_status tvlm_opencl_footprint(tvlm_device *base, const tvlm_bundle *bundle, const int32_t *refs,
                                  int32_t count4, tvlm_buffer *places, int32_t count, tvlm_buffer *out) {
    opencl_device *device = (opencl_device *)base;
    const tvlm_format format = bundle->count > 0 ? bundle->textures[0]->format : TVLM_FORMAT_F32;
    char options[80];
    cl_mem memory;
    opencl_call call;
    tvlm_opencl_bundle_options(device, bundle, 1, options);
    TVLM_TRY(tvlm_opencl_upload_refs(device, refs, count4, &memory));
    TVLM_TRY(tvlm_opencl_call_begin(device, "lab/footprint.cl", "footprint", format, options, &call));
    tvlm_opencl_call_bundle(&call, bundle);
    tvlm_opencl_call_memory(&call, memory);
    tvlm_opencl_call_int(&call, count4);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)places)->memory);
    tvlm_opencl_call_int(&call, count);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)out)->memory);
    return tvlm_opencl_call_run_list(&call, (size_t)count, (size_t)count4);
}
