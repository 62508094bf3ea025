/* SPDX-License-Identifier: Apache-2.0 */
#include "core/try.h"
#include "opencl/backend.h"

tvlm_status tvlm_opencl_pick(tvlm_device *base, const tvlm_texture *from, int32_t slice, int32_t component,
                             tvlm_texture *out) {
    opencl_call call;
    TVLM_TRY(opencl_call_begin((opencl_device *)base, "pick.cl", "pick", out->format, "", &call));
    opencl_call_input(&call, from);
    opencl_call_int(&call, slice);
    opencl_call_int(&call, component);
    opencl_call_output(&call, out);
    return opencl_call_run_pixels(&call, out->width, out->height, 1);
}
