/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visual.c: launches cl/visual.cl, with entropy where the tiles are whole cells.
 */
#include <stdio.h>

#include "core/try.h"
#include "opencl/backend.h"

tvlm_status tvlm_opencl_visual(tvlm_device *base, const tvlm_generate_args *args) {
    opencl_device *device = (opencl_device *)base;
    tvlm_texture *const *grids = args->grids;
    tvlm_texture *out = args->out;
    const bool whole =
        device->tuning.tile_width % TVLM_CELL == 0 && device->tuning.tile_height % TVLM_CELL == 0;
    const bool together = args->beside != NULL && whole;
    char options[48];
    opencl_call call;
    snprintf(options, sizeof options, "%s %s", together ? "-DENTROPY=1" : "", tvlm_opencl_ragged_option(out));
    TVLM_TRY(tvlm_opencl_call_begin_tiles(device, args->tiles, "visual.cl", "visual", out->format, options,
                                          &call));
    tvlm_opencl_call_input(&call, grids[TVLM_GRID_SOURCE]);
    if (together) tvlm_opencl_call_output(&call, args->beside);
    tvlm_opencl_call_output(&call, out);
    TVLM_TRY(tvlm_opencl_call_run_tiles(&call, out->width, out->height, out->images));
    if (args->beside == NULL || together) return TVLM_OK;
    return tvlm_opencl_entropy(base, &(tvlm_generate_args){.grids = grids, .out = args->beside});
}
