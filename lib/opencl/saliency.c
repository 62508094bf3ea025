#include <stdio.h>

#include "opencl/backend.h"

/* Levels of the source that are compared: the first centre's to the coarsest surround's, as far as there are any. */
static void levels_used(const tvlm_texture *source, int32_t *first, int32_t *last) {
    const int32_t coarsest =
        TVLM_SALIENCY_CENTRE_LEVEL + TVLM_SALIENCY_SCALES - 1 + TVLM_SALIENCY_SURROUND_STEP, end = source->levels - 1;
    *last = coarsest < end ? coarsest : end;
    *first = TVLM_SALIENCY_CENTRE_LEVEL < end ? TVLM_SALIENCY_CENTRE_LEVEL : end;
}

typedef struct saliency_scratch {
    cl_mem lab, contrast, largest;
    int32_t texels, first, last; /* of lab, an image; levels */
} saliency_scratch;

static tvlm_status scratch_for(opencl_device *device, const tvlm_texture *source, const tvlm_texture *out,
                               saliency_scratch *scratch) {
    const size_t images = (size_t)out->images, texel = sizeof(cl_float4), zero = 0;
    levels_used(source, &scratch->first, &scratch->last);
    const size_t texels =
        opencl_level_offset(source, scratch->last + 1) - opencl_level_offset(source, scratch->first);
    scratch->texels = (int32_t)texels;
    TVLM_TRY(opencl_scratch(device, SCRATCH_A, texels * images * texel, &scratch->lab));
    TVLM_TRY(opencl_scratch(device, SCRATCH_B, (size_t)out->width * (size_t)out->height * images * texel,
                            &scratch->contrast));
    TVLM_TRY(opencl_scratch(device, SCRATCH_C, images * sizeof(cl_int4), &scratch->largest));
    const cl_int error = clEnqueueFillBuffer(device->queue, scratch->largest, &zero, sizeof(cl_int), 0,
                                             images * sizeof(cl_int4), 0, NULL, NULL);
    return error == CL_SUCCESS ? TVLM_OK : opencl_fail(&device->base.log, error, "clEnqueueFillBuffer");
}

static tvlm_status begin(opencl_device *device, const char *name, tvlm_format format, opencl_call *call) {
    char options[32];
    snprintf(options, sizeof options, "-DRUN=%d", (int)device->tuning.run);
    return opencl_call_begin(device, "saliency.cl", name, format, options, call);
}

/* Work-items along a row of so many. */
static int32_t runs_of(const opencl_device *device, int32_t count) {
    return (count + device->tuning.run - 1) / device->tuning.run;
}

static tvlm_status lab(opencl_device *device, const tvlm_texture *source, const saliency_scratch *scratch) {
    const size_t before = opencl_level_offset(source, scratch->first);
    for (int32_t level = scratch->first; level <= scratch->last; ++level) {
        const int32_t texels = tvlm_level_side(source->width, level) * tvlm_level_side(source->height, level);
        opencl_call call;
        TVLM_TRY(begin(device, "saliency_lab", source->format, &call));
        opencl_call_input(&call, source);
        opencl_call_memory(&call, scratch->lab);
        opencl_call_int(&call, scratch->texels);
        opencl_call_int(&call, level);
        opencl_call_int(&call, (int32_t)(opencl_level_offset(source, level) - before));
        TVLM_TRY(opencl_call_run_list(&call, (size_t)runs_of(device, texels), (size_t)source->images));
    }
    return TVLM_OK;
}

static tvlm_status contrast(opencl_device *device, const tvlm_texture *source, const saliency_scratch *scratch,
                            const tvlm_texture *out) {
    const cl_int2 size = {{out->width, out->height}};
    opencl_call call;
    TVLM_TRY(begin(device, "saliency_contrast", out->format, &call));
    opencl_call_memory(&call, scratch->lab);
    opencl_call_size(&call, source);
    opencl_call_int(&call, scratch->texels);
    opencl_call_int(&call, scratch->first);
    opencl_call_int(&call, scratch->last);
    opencl_call_bytes(&call, sizeof size, &size);
    opencl_call_memory(&call, scratch->contrast);
    opencl_call_memory(&call, scratch->largest);
    return opencl_call_run_pixels(&call, runs_of(device, out->width), out->height, out->images);
}

tvlm_status tvlm_opencl_saliency(tvlm_device *base, const tvlm_generate_args *args) {
    tvlm_texture *const *grids = args->grids;
    tvlm_texture *out = args->out;
    opencl_device *device = (opencl_device *)base;
    const tvlm_texture *source = grids[TVLM_GRID_SOURCE];
    saliency_scratch scratch;
    opencl_call call;
    TVLM_TRY(scratch_for(device, source, out, &scratch));
    TVLM_TRY(lab(device, source, &scratch));
    TVLM_TRY(contrast(device, source, &scratch, out));
    TVLM_TRY(begin(device, "saliency_scale", out->format, &call));
    opencl_call_memory(&call, scratch.contrast);
    opencl_call_memory(&call, scratch.largest);
    opencl_call_output(&call, out);
    return opencl_call_run_pixels(&call, out->width, out->height, out->images);
}
