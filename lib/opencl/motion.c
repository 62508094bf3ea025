/* SPDX-License-Identifier: Apache-2.0 */
/*
 * motion.c: launches cl/motion.cl. What the next frame needs of this one is in temporal.c.
 */
#include <stdio.h>

#include "core/try.h"
#include "opencl/backend.h"

static tvlm_status begin(opencl_device *device, const tvlm_tiles *tiles, const char *name, tvlm_format format,
                         opencl_call *call) {
    char options[24];
    snprintf(options, sizeof options, "-DRUN=%d", (int)device->tuning.run);
    return tvlm_opencl_call_begin_over(device, tiles, "motion.cl", name, format, options, call);
}

tvlm_status tvlm_opencl_motion(tvlm_device *base, const tvlm_generate_args *args) {
    opencl_device *device = (opencl_device *)base;
    tvlm_texture *out = args->out;
    const tvlm_texture *previous = args->previous != NULL ? args->previous[TVLM_PREVIOUS_LUMA] : NULL;
    opencl_call call;
    if (previous == NULL) {
        TVLM_TRY(begin(device, args->tiles, "motion_none", out->format, &call));
        tvlm_opencl_call_scalar(&call, out);
        return tvlm_opencl_call_run_rows(&call, 1);
    }
    TVLM_TRY(begin(device, args->tiles, "motion", out->format, &call));
    tvlm_opencl_call_input(&call, args->grids[TVLM_GRID_SOURCE]);
    tvlm_opencl_call_input(&call, previous);
    tvlm_opencl_call_scalar(&call, out);
    return tvlm_opencl_call_run_rows(&call, device->tuning.run);
}
