/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sharpness.c: launches sharpness (cl/sharpness.cl).
 */
#include "core/try.h"
#include "opencl/backend.h"

tvlm_status tvlm_opencl_sharpness(tvlm_device *base, const tvlm_generate_args *args) {
    opencl_call call;
    TVLM_TRY(tvlm_opencl_call_begin_cells((opencl_device *)base, args->tiles, "sharpness.cl", "sharpness",
                                          args->out, &call));
    tvlm_opencl_call_input(&call, args->grids[TVLM_GRID_LAPLACIAN]);
    tvlm_opencl_call_output(&call, args->out);
    tvlm_opencl_call_float(&call, tvlm_grid_get_info(TVLM_GRID_SHARPNESS)->scale);
    return tvlm_opencl_call_run_cells(&call);
}
