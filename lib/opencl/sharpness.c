/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sharpness.c: launches sharpness (cl/sharpness.cl).
 */
#include <stdio.h>

#include "core/try.h"
#include "opencl/backend.h"

tvlm_status tvlm_opencl_sharpness(tvlm_device *base, const tvlm_generate_args *args) {
    opencl_device *device = (opencl_device *)base;
    const tvlm_texture *out = args->out;
    const size_t lanes = (size_t)device->tuning.cell_lanes, cells = (size_t)device->tuning.cells;
    const size_t group[3] = {lanes, cells, 1};
    /* A group is `lanes` wide and does `cells` cells of a row. */
    const size_t size[3] = {((size_t)out->width + cells - 1) / cells * lanes, (size_t)out->height * cells,
                            (size_t)out->images};
    char options[48];
    opencl_call call;
    snprintf(options, sizeof options, "-DLANES=%zu -DCELLS=%zu", lanes, cells);
    TVLM_TRY(tvlm_opencl_call_begin_over(device, args->tiles, "sharpness.cl", "sharpness", out->format,
                                         options, &call));
    tvlm_opencl_call_input(&call, args->grids[TVLM_GRID_LAPLACIAN]);
    tvlm_opencl_call_output(&call, out);
    tvlm_opencl_call_float(&call, tvlm_grid_get_info(TVLM_GRID_SHARPNESS)->scale);
    if (args->tiles == NULL) return tvlm_opencl_call_run(&call, 3, size, group);
    const opencl_region region = tvlm_opencl_region_of(args->tiles, out, (int32_t)cells, 1);
    return tvlm_opencl_call_run_region(&call, &region, lanes, cells);
}
