/* SPDX-License-Identifier: Apache-2.0 */
/*
 * close.c: waits for all that a device has to do, and closes it.
 */
#include "core/backend.h"
#include "opencl/backend.h"

void tvlm_opencl_close(opencl_device *device) {
    tvlm_device *base = &device->base;
    tvlm_opencl_texture_destroy(base, &device->empty);
    (void)tvlm_opencl_spares_release(device);
    tvlm_opencl_programs_destroy(device);
    tvlm_opencl_gemm_close(device);
    tvlm_opencl_staging_release(device);
    tvlm_opencl_regions_destroy(device);
    free(device->score.program.host);
    free(device->refs.host);
    free(device->network.host);
    free(device->views.host);
    for (int i = 0; i < SCRATCH_COUNT; ++i)
        if (device->scratch[i] != NULL) clReleaseMemObject(device->scratch[i]);
    if (device->mip_sampler != NULL) clReleaseSampler(device->mip_sampler);
    if (device->uploads != NULL) clReleaseCommandQueue(device->uploads);
    if (device->queue != NULL) clReleaseCommandQueue(device->queue);
    if (device->context != NULL) clReleaseContext(device->context);
    free(device->kernel_dir);
    free(device->cache_dir);
    free(device->tuning_dir);
    free(device->tuned);
    free(device);
}

void tvlm_opencl_destroy(tvlm_device *base) {
    opencl_device *device = (opencl_device *)base;
    if (device == NULL) return;
    (void)tvlm_opencl_wait(device, device->queue);
    tvlm_opencl_lock();
    tvlm_opencl_close(device);
    tvlm_opencl_unlock();
}

tvlm_status tvlm_opencl_finish(tvlm_device *base) {
    opencl_device *device = (opencl_device *)base;
    const cl_int error = tvlm_opencl_wait(device, device->queue);
    device->unsent = false;
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(base, error, "clFinish");
}

void tvlm_opencl_flush(tvlm_device *base) {
    opencl_device *device = (opencl_device *)base;
    if (device->unsent) (void)clFlush(device->queue);
    device->unsent = false;
}
