#include "opencl/backend.h"

tvlm_status tvlm_opencl_occlusion(tvlm_device *device, const tvlm_generate_args *args) {
    opencl_call call;
    TVLM_TRY(
        opencl_call_begin((opencl_device *)device, "scene.cl", "occlusion", args->out->format, "", &call));
    opencl_call_input(&call, args->grids[TVLM_GRID_DEPTH]);
    opencl_call_output(&call, args->out);
    return opencl_call_run_pixels(&call, args->out->width, args->out->height, args->out->images);
}

tvlm_status tvlm_opencl_normal(tvlm_device *base, const tvlm_generate_args *args) {
    opencl_device *device = (opencl_device *)base;
    const size_t bytes = (size_t)args->out->images * sizeof *args->cameras;
    cl_mem cameras;
    opencl_call call;
    TVLM_TRY(opencl_scratch(device, SCRATCH_C, bytes, &cameras));
    const cl_int error =
        clEnqueueWriteBuffer(device->queue, cameras, CL_TRUE, 0, bytes, args->cameras, 0, NULL, NULL);
    if (error != CL_SUCCESS) return opencl_fail(&base->log, error, "clEnqueueWriteBuffer");
    TVLM_TRY(opencl_call_begin(device, "scene.cl", "normal", args->out->format, "", &call));
    opencl_call_input(&call, args->grids[TVLM_GRID_DEPTH]);
    opencl_call_memory(&call, cameras);
    opencl_call_output(&call, args->out);
    return opencl_call_run_pixels(&call, args->out->width, args->out->height, args->out->images);
}
