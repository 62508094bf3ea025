/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradient.c: launches cl/gradient.cl.
 */
#include "core/try.h"
#include "opencl/backend.h"

tvlm_status tvlm_opencl_gradient(tvlm_device *base, const tvlm_generate_args *args) {
    tvlm_texture *const *grids = args->grids;
    tvlm_texture *out = args->out;
    opencl_call call;
    TVLM_TRY(tvlm_opencl_call_begin_tiles((opencl_device *)base, args->tiles, "gradient.cl", "gradient",
                                          out->format, tvlm_opencl_ragged_option(out), &call));
    tvlm_opencl_call_input(&call, grids[TVLM_GRID_SOURCE]);
    tvlm_opencl_call_output(&call, out);
    return tvlm_opencl_call_run_tiles(&call, out->width, out->height, out->images);
}
