/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pick.c: launches cl/pick.cl.
 */
#include "core/try.h"
#include "opencl/backend.h"

tvlm_status tvlm_opencl_pick(tvlm_device *base, const tvlm_texture *from, int32_t slice, int32_t component,
                             tvlm_texture *out) {
    opencl_call call;
    TVLM_TRY(tvlm_opencl_call_begin((opencl_device *)base, "pick.cl", "pick", out->format, "", &call));
    tvlm_opencl_call_input(&call, from);
    tvlm_opencl_call_int(&call, slice);
    tvlm_opencl_call_int(&call, component);
    tvlm_opencl_call_output(&call, out);
    return tvlm_opencl_call_run_pixels(&call, out->width, out->height, 1);
}
