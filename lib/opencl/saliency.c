/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saliency.c: launches the three kernels of cl/saliency.cl.
 */
#include <stdio.h>

#include "core/try.h"
#include "opencl/backend.h"

/*
 * The levels of the source that are read, as far as the source has them. `first` is the level of the first
 * centre, `surround` that of the coarsest surround, and `prior` that at which the border is looked at. `last`
 * is the coarsest of all.
 */
typedef struct levels_used {
    int32_t first, surround, prior, last;
} levels_used;

static levels_used levels_of(const tvlm_texture *source) {
    const int32_t coarsest =
        TVLM_SALIENCY_CENTRE_LEVEL + TVLM_SALIENCY_SCALES - 1 + TVLM_SALIENCY_SURROUND_STEP;
    const int32_t end = source->levels - 1;
    levels_used used = {.first = TVLM_SALIENCY_CENTRE_LEVEL < end ? TVLM_SALIENCY_CENTRE_LEVEL : end,
                        .surround = coarsest < end ? coarsest : end};
    used.prior = used.first;
    while (tvlm_level_side(source->width, used.prior) > TVLM_SALIENCY_SIDE ||
           tvlm_level_side(source->height, used.prior) > TVLM_SALIENCY_SIDE)
        ++used.prior;
    used.last = used.prior > used.surround ? used.prior : used.surround;
    return used;
}

typedef struct saliency_scratch {
    cl_mem lab, contrast, largest, prior;
    levels_used levels;
    int32_t texels; /* of lab, an image */
    cl_int2 prior_size;
} saliency_scratch;

static tvlm_status scratch_for(opencl_device *device, const tvlm_texture *source, const tvlm_texture *out,
                               saliency_scratch *scratch) {
    const size_t images = (size_t)out->images, texel = sizeof(cl_float4);
    const levels_used levels = levels_of(source);
    const size_t texels =
        tvlm_opencl_level_offset(source, levels.last + 1) - tvlm_opencl_level_offset(source, levels.first);
    const int32_t w = tvlm_level_side(source->width, levels.prior),
                  h = tvlm_level_side(source->height, levels.prior);
    *scratch = (saliency_scratch){.levels = levels, .texels = (int32_t)texels, .prior_size = {{w, h}}};
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_A, texels * images * texel, &scratch->lab));
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_B, (size_t)out->width * (size_t)out->height * images * texel,
                                 &scratch->contrast));
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_C, images * sizeof(cl_int4), &scratch->largest));
    return tvlm_opencl_scratch(device, SCRATCH_D, 3 * (size_t)w * (size_t)h * images * sizeof(cl_float),
                               &scratch->prior);
}

/* How many rows a work-item of saliency_contrast makes where it makes runs, as in cl/saliency.cl. */
enum { ROWS = 32 };

/* How many work-items a group has. One group of an image looks at the border alone. On CPUs, too, it has
 * several work-items, because llvmpipe silently ends the loops of a work-item after 65535 steps. */
static int32_t lanes_of(const opencl_device *device) {
    return device->tuning.run > 1 ? 16 : 256;
}

static tvlm_status begin(opencl_device *device, const char *name, tvlm_format format, opencl_call *call) {
    char options[48];
    snprintf(options, sizeof options, "-DRUN=%d -DLANES=%d", (int)device->tuning.run, (int)lanes_of(device));
    return tvlm_opencl_call_begin(device, "saliency.cl", name, format, options, call);
}

/* How many work-items a row of `count` texels takes. */
static int32_t runs_of(const opencl_device *device, int32_t count) {
    return (count + device->tuning.run - 1) / device->tuning.run;
}

static tvlm_status lab(opencl_device *device, const tvlm_texture *source, const saliency_scratch *scratch) {
    const levels_used *levels = &scratch->levels;
    const int32_t texels =
        tvlm_level_side(source->width, levels->first) * tvlm_level_side(source->height, levels->first);
    const size_t size[3] = {(size_t)runs_of(device, texels), (size_t)source->images,
                            (size_t)(levels->last - levels->first + 1)};
    const size_t group[3] = {(size_t)lanes_of(device), 1, 1};
    opencl_call call;
    TVLM_TRY(begin(device, "saliency_lab", source->format, &call));
    tvlm_opencl_call_input(&call, source);
    tvlm_opencl_call_memory(&call, scratch->lab);
    tvlm_opencl_call_int(&call, scratch->texels);
    tvlm_opencl_call_int(&call, levels->first);
    tvlm_opencl_call_int(&call, levels->prior);
    tvlm_opencl_call_memory(&call, scratch->prior);
    tvlm_opencl_call_memory(&call, scratch->largest);
    return tvlm_opencl_call_run(&call, 3, size, group);
}

static tvlm_status contrast(opencl_device *device, const tvlm_texture *source,
                            const saliency_scratch *scratch, const tvlm_texture *out) {
    const cl_int2 size = {{out->width, out->height}};
    opencl_call call;
    TVLM_TRY(begin(device, "saliency_contrast", out->format, &call));
    tvlm_opencl_call_memory(&call, scratch->lab);
    tvlm_opencl_call_size(&call, source);
    tvlm_opencl_call_int(&call, scratch->texels);
    tvlm_opencl_call_int(&call, scratch->levels.first);
    tvlm_opencl_call_int(&call, scratch->levels.surround);
    tvlm_opencl_call_memory(&call, scratch->prior);
    tvlm_opencl_call_bytes(&call, sizeof scratch->prior_size, &scratch->prior_size);
    tvlm_opencl_call_bytes(&call, sizeof size, &size);
    tvlm_opencl_call_memory(&call, scratch->contrast);
    tvlm_opencl_call_memory(&call, scratch->largest);
    const int32_t runs = runs_of(device, out->width);
    if (device->tuning.run == 1) return tvlm_opencl_call_run_pixels(&call, runs, out->height, out->images);
    const size_t blocks[3] = {(size_t)runs, (size_t)((out->height + ROWS - 1) / ROWS), (size_t)out->images};
    return tvlm_opencl_call_run(&call, 3, blocks, (const size_t[3]){1, 1, 1});
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
    tvlm_opencl_call_memory(&call, scratch.contrast);
    tvlm_opencl_call_memory(&call, scratch.largest);
    tvlm_opencl_call_output(&call, out);
    return tvlm_opencl_call_run_pixels(&call, out->width, out->height, out->images);
}
