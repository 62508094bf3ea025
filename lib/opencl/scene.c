/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene.c: launches occlusion and normals (cl/scene.cl).
 */
#include <stdio.h>

#include "core/try.h"
#include "opencl/backend.h"

static tvlm_status begin(opencl_device *device, const char *name, const tvlm_generate_args *args,
                         opencl_call *call) {
    char options[32];
    snprintf(options, sizeof options, "-DRUN=%d", (int)device->tuning.run);
    TVLM_TRY(tvlm_opencl_call_begin(device, "scene.cl", name, args->out->format, options, call));
    tvlm_opencl_call_input(call, args->grids[TVLM_GRID_DEPTH]);
    return TVLM_OK;
}

static tvlm_status run(opencl_call *call, tvlm_texture *out) {
    const int32_t run = call->device->tuning.run;
    tvlm_opencl_call_output(call, out);
    return tvlm_opencl_call_run_pixels(call, (out->width + run - 1) / run, out->height, out->images);
}

tvlm_status tvlm_opencl_occlusion(tvlm_device *device, const tvlm_generate_args *args) {
    opencl_call call;
    TVLM_TRY(begin((opencl_device *)device, "occlusion", args, &call));
    return run(&call, args->out);
}

tvlm_status tvlm_opencl_normal(tvlm_device *base, const tvlm_generate_args *args) {
    opencl_device *device = (opencl_device *)base;
    const size_t bytes = (size_t)args->out->images * sizeof *args->cameras;
    cl_mem cameras;
    opencl_call call;
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_C, bytes, &cameras));
    TVLM_TRY(tvlm_opencl_write(device, cameras, 0, bytes, args->cameras));
    TVLM_TRY(begin(device, "normal", args, &call));
    tvlm_opencl_call_memory(&call, cameras);
    return run(&call, args->out);
}
