/*
 * mips.c: the levels in as few launches as the device likes; cl/mips.cl says how.
 */
#include <stdio.h>

#include "opencl/backend.h"

enum { TILE = 16, TILE_LEVELS = 3, TAIL = 32, TAIL_LANES = 256, MIXED = 4 }; /* as in mips.cl */

/* The rule of all components, or MIXED. */
static int common_rule(const tvlm_texture *texture) {
    for (int c = 1; c < 4; ++c)
        if (texture->reduce[c] != texture->reduce[0]) return MIXED;
    return texture->reduce[0];
}

/* Begins a call that reads `level`, with the arguments that all kernels of mips.cl share. */
static tvlm_status begin(opencl_device *device, const opencl_texture *texture, const char *name,
                         cl_mem scratch, int32_t level, opencl_call *call) {
    const tvlm_texture *shape = &texture->base;
    char options[48];
    snprintf(options, sizeof options, "-DMIPS_RULE=%d -DRUN=%d", common_rule(shape),
             (int)device->tuning.mips_run);
    TVLM_TRY(opencl_call_begin(device, "mips.cl", name, shape->format, options, call));
    opencl_call_memory(call, texture->level0);
    if (device->base.info.storage == TVLM_STORAGE_IMAGE) opencl_call_memory(call, texture->rest);
    if (device->base.info.storage != TVLM_STORAGE_BUFFER) opencl_call_memory(call, scratch);
    opencl_call_size(call, shape);
    opencl_call_int(call, shape->layers * shape->images);
    opencl_call_int(call, level);
    return TVLM_OK;
}

static void rules(opencl_call *call, const tvlm_texture *shape) {
    opencl_call_int4(call, shape->reduce[0], shape->reduce[1], shape->reduce[2], shape->reduce[3]);
}

static tvlm_status one_level(opencl_device *device, const opencl_texture *texture, cl_mem scratch,
                             int32_t level) {
    const tvlm_texture *shape = &texture->base;
    opencl_call call;
    TVLM_TRY(begin(device, texture, "mips_level", scratch, level, &call));
    rules(&call, shape);
    const int32_t width = tvlm_level_side(shape->width, level + 1), run = device->tuning.mips_run;
    return opencl_call_run_pixels(&call, (width + run - 1) / run, tvlm_level_side(shape->height, level + 1),
                                  shape->layers * shape->images);
}

static tvlm_status tile(opencl_device *device, const opencl_texture *texture, cl_mem scratch, int32_t level,
                        int32_t made) {
    const tvlm_texture *shape = &texture->base;
    const size_t size[3] = {(size_t)tvlm_level_side(shape->width, level + 1),
                            (size_t)tvlm_level_side(shape->height, level + 1),
                            (size_t)shape->layers * (size_t)shape->images};
    const size_t group[3] = {TILE, TILE, 1};
    opencl_call call;
    TVLM_TRY(begin(device, texture, "mips_tile", scratch, level, &call));
    opencl_call_int(&call, made);
    rules(&call, shape);
    return opencl_call_run(&call, 3, size, group);
}

static tvlm_status tail(opencl_device *device, const opencl_texture *texture, cl_mem scratch, int32_t level) {
    const tvlm_texture *shape = &texture->base;
    const size_t size[2] = {TAIL_LANES, (size_t)shape->layers * (size_t)shape->images},
                 group[2] = {TAIL_LANES, 1};
    opencl_call call;
    TVLM_TRY(begin(device, texture, "mips_tail", scratch, level, &call));
    rules(&call, shape);
    return opencl_call_run(&call, 2, size, group);
}

static bool fits_tail(const tvlm_texture *shape, int32_t level) {
    return tvlm_level_side(shape->width, level + 1) <= TAIL &&
           tvlm_level_side(shape->height, level + 1) <= TAIL;
}

/* Mip-mapped storage: a kernel may not read and write one image, so the levels are copied in from the
 * scratch. */
static tvlm_status copy_levels(opencl_device *device, const opencl_texture *texture, cl_mem scratch) {
    const tvlm_texture *shape = &texture->base;
    const size_t slices = (size_t)shape->layers * (size_t)shape->images;
    const size_t skipped = opencl_level_offset(shape, 1);
    for (int32_t level = 1; level < shape->levels; ++level) {
        const size_t offset =
            (opencl_level_offset(shape, level) - skipped) * slices * opencl_texel_bytes(shape);
        const size_t origin[4] = {0, 0, 0, (size_t)level};
        const size_t region[3] = {(size_t)tvlm_level_side(shape->width, level),
                                  (size_t)tvlm_level_side(shape->height, level), slices};
        const cl_int error = clEnqueueCopyBufferToImage(device->queue, scratch, texture->level0, offset,
                                                        origin, region, 0, NULL, NULL);
        if (error != CL_SUCCESS) return opencl_fail(&device->base.log, error, "copying a level");
    }
    return TVLM_OK;
}

tvlm_status opencl_mips(tvlm_device *base, tvlm_texture *out) {
    opencl_device *device = (opencl_device *)base;
    const opencl_texture *texture = (const opencl_texture *)out;
    const size_t slices = (size_t)out->layers * (size_t)out->images;
    cl_mem scratch = NULL;
    if (out->levels == 1) return TVLM_OK;
    if (base->info.storage != TVLM_STORAGE_BUFFER)
        TVLM_TRY(opencl_scratch(device, SCRATCH_LEVELS,
                                (opencl_level_offset(out, out->levels) - opencl_level_offset(out, 1)) *
                                    slices * opencl_texel_bytes(out),
                                &scratch));
    const int32_t last = out->levels - 1;
    for (int32_t level = 0; level < last;) {
        int32_t made = 1;
        if (!device->tuning.tiled_mips) {
            TVLM_TRY(one_level(device, texture, scratch, level));
        } else if (fits_tail(out, level)) {
            made = last - level;
            TVLM_TRY(tail(device, texture, scratch, level));
        } else {
            made = last - level < TILE_LEVELS ? last - level : TILE_LEVELS;
            TVLM_TRY(tile(device, texture, scratch, level, made));
        }
        level += made;
    }
    return base->info.storage == TVLM_STORAGE_MIPMAPPED ? copy_levels(device, texture, scratch) : TVLM_OK;
}
