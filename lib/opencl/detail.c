/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail.c: launches laplacian and entropy (cl/detail.cl).
 */
#include "core/try.h"
#include "opencl/backend.h"

tvlm_status tvlm_opencl_laplacian(tvlm_device *base, const tvlm_generate_args *args) {
    tvlm_texture *const *grids = args->grids;
    tvlm_texture *out = args->out;
    opencl_call call;
    TVLM_TRY(tvlm_opencl_call_begin_tiles((opencl_device *)base, args->tiles, "detail.cl", "laplacian",
                                          out->format, tvlm_opencl_ragged_option(out), &call));
    tvlm_opencl_call_input(&call, grids[TVLM_GRID_SOURCE]);
    tvlm_opencl_call_scalar(&call, out);
    return tvlm_opencl_call_run_tiles(&call, out->width, out->height, out->images);
}

tvlm_status tvlm_opencl_entropy(tvlm_device *base, const tvlm_generate_args *args) {
    opencl_call call;
    TVLM_TRY(tvlm_opencl_call_begin_cells((opencl_device *)base, args->tiles, "detail.cl", "entropy",
                                          args->out, &call));
    tvlm_opencl_call_input(&call, args->grids[TVLM_GRID_SOURCE]);
    tvlm_opencl_call_output(&call, args->out);
    return tvlm_opencl_call_run_cells(&call);
}
