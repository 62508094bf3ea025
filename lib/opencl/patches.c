/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patches.c: launches cl/patches.cl.
 */
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "opencl/backend.h"

/* Sends references, means and deviations to the device in one copy of a few hundred bytes. */
static tvlm_status upload_plan(opencl_device *device, const tvlm_patch_plan *plan, cl_mem *memory) {
    const size_t part = (size_t)plan->count4 * sizeof(cl_int4), bytes = 3 * part;
    unsigned char *all = tvlm_allocate(3, part);
    if (all == NULL) return tvlm_fail(&device->base.log, TVLM_ERROR_MEMORY, "no memory for patches");
    memcpy(all, plan->refs, part);
    memcpy(all + part, plan->mean, part);
    memcpy(all + 2 * part, plan->deviation, part);
    tvlm_status status = tvlm_opencl_scratch(device, SCRATCH_C, bytes, memory);
    if (status == TVLM_OK) status = tvlm_opencl_write(device, *memory, 0, bytes, all);
    free(all);
    return status;
}

tvlm_status tvlm_opencl_patches(tvlm_device *base, const tvlm_bundle *bundle, const tvlm_patch_plan *plan,
                                tvlm_buffer *places, int32_t count, tvlm_buffer *out) {
    OPENCL_TUNED(base, TVLM_TUNED_PATCHES, (double)count * plan->side * plan->side);
    opencl_device *device = (opencl_device *)base;
    const int32_t run = plan->reflect ? 1 : device->tuning.run;
    const tvlm_format format = bundle->count > 0 ? bundle->textures[0]->format : TVLM_FORMAT_F32;
    char options[128], bundled[80];
    cl_mem memory;
    opencl_call call;
    tvlm_opencl_bundle_options(device, bundle, run, bundled);
    snprintf(options, sizeof options, "%s -DOUT_HALF=%d -DREFLECT=%d", bundled,
             plan->format == TVLM_FORMAT_F16, plan->reflect);
    TVLM_TRY(upload_plan(device, plan, &memory));
    TVLM_TRY(tvlm_opencl_call_begin(device, "patches.cl", "patches", format, options, &call));
    tvlm_opencl_call_bundle(&call, bundle);
    tvlm_opencl_call_memory(&call, memory);
    tvlm_opencl_call_int(&call, plan->count4);
    tvlm_opencl_call_int(&call, plan->channels);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)places)->memory);
    tvlm_opencl_call_int(&call, count);
    tvlm_opencl_call_int(&call, plan->side);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)out)->memory);
    return tvlm_opencl_call_run_pixels(&call, (plan->side + run - 1) / run, plan->side, count * plan->count4);
}
