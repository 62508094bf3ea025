/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warp.c: launches cl/warp.cl.
 */
#include <math.h>

#include "core/try.h"
#include "opencl/backend.h"

tvlm_status tvlm_opencl_warp(tvlm_device *base, const tvlm_warp *warp, tvlm_texture *out) {
    const cl_float2 limits = {{warp->confidence, warp->longest}};
    opencl_call call;
    TVLM_TRY(tvlm_opencl_call_begin((opencl_device *)base, "warp.cl", "warp", out->format, "", &call));
    tvlm_opencl_call_input(&call, warp->from);
    tvlm_opencl_call_input(&call, warp->flow != NULL ? warp->flow : warp->from);
    tvlm_opencl_call_int(&call, warp->flow != NULL);
    tvlm_opencl_call_float4(&call, warp->width, warp->height, 0.0f, 0.0f);
    tvlm_opencl_call_bytes(&call, sizeof limits, &limits);
    tvlm_opencl_call_float(&call, tvlm_warp_level(out));
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)warp->known)->memory);
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)warp->path)->memory);
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)warp->next)->memory);
    tvlm_opencl_call_output(&call, out);
    return tvlm_opencl_call_run_pixels(&call, out->width, out->height, out->layers);
}

tvlm_status tvlm_opencl_blend(tvlm_device *base, const tvlm_texture *old, const tvlm_texture *fresh,
                              tvlm_buffer *weights, tvlm_texture *out) {
    opencl_call call;
    TVLM_TRY(tvlm_opencl_call_begin((opencl_device *)base, "warp.cl", "warp_blend", out->format, "", &call));
    tvlm_opencl_call_input(&call, old);
    tvlm_opencl_call_input(&call, fresh);
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)weights)->memory);
    tvlm_opencl_call_output(&call, out);
    return tvlm_opencl_call_run_pixels(&call, out->width, out->height, out->layers);
}
