/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mips.c: makes the levels of a texture in as few launches as suit the device, and keeps what one launch must
 * read of another's levels. cl/mips.cl explains how.
 */
#include <stdio.h>

#include "core/try.h"
#include "opencl/backend.h"

/* These are as in cl/mips.cl. */
enum { TILE = 16, TILE_LEVELS = 3, TAIL = 32, TAIL_LANES = 256, MIXED = 4 };

/* The rule that all components share, or MIXED. */
static int common_rule(const tvlm_texture *texture) {
    for (int c = 1; c < 4; ++c)
        if (texture->reduce[c] != texture->reduce[0]) return MIXED;
    return texture->reduce[0];
}

/* The levels of one texture that are being made. `scratch` holds levels carry_first and up; `tiles` are those
 * around which they are made, or NULL for everywhere; `run` is that of mips_level. */
typedef struct mips_job {
    opencl_device *device;
    const opencl_texture *texture;
    cl_mem scratch;
    const tvlm_tiles *tiles;
    int32_t run, carry_first;
} mips_job;

/* Begins a call that reads `level`, with the arguments that all kernels of mips.cl share. */
static tvlm_status begin(const mips_job *job, const char *name, int32_t level, opencl_call *call) {
    const opencl_texture *texture = job->texture;
    const tvlm_texture *shape = &texture->base;
    opencl_device *device = job->device;
    char options[64];
    snprintf(options, sizeof options, "-DMIPS_RULE=%d -DRUN=%d -DCARRY_FIRST=%d", common_rule(shape),
             (int)job->run, (int)job->carry_first);
    TVLM_TRY(tvlm_opencl_call_begin_over(device, job->tiles, "mips.cl", name, shape->format, options, call));
    tvlm_opencl_call_memory(call, texture->level0);
    if (device->base.info.storage == TVLM_STORAGE_IMAGE) tvlm_opencl_call_memory(call, texture->rest);
    if (device->base.info.storage != TVLM_STORAGE_BUFFER) tvlm_opencl_call_memory(call, job->scratch);
    tvlm_opencl_call_size(call, shape);
    tvlm_opencl_call_int(call, shape->layers * shape->images);
    tvlm_opencl_call_int(call, level);
    return TVLM_OK;
}

static void rules(opencl_call *call, const tvlm_texture *shape) {
    tvlm_opencl_call_int4(call, shape->reduce[0], shape->reduce[1], shape->reduce[2], shape->reduce[3]);
}

/* Runs only the work-groups that the tiles touch. A launch makes `made` levels from `level` + 1 on, in blocks
 * of width x height texels of the first of them. */
static tvlm_status run_parts(const mips_job *job, opencl_call *call, int32_t level, int32_t made,
                             int32_t width, int32_t height, size_t group_width, size_t group_height) {
    const tvlm_texture *shape = &job->texture->base;
    const int32_t layers = shape->layers;
    opencl_region region = {.parts = {{0}}};
    for (int32_t layer = 0; layer < layers; ++layer) {
        opencl_region_part *part = &region.parts[layer];
        *part = tvlm_opencl_region_of(job->tiles, shape, width, height).parts[0];
        part->level = level + 1;
        part->made = made - 1;
        part->z_step = layers;
        part->z = layer;
    }
    return tvlm_opencl_call_run_region(call, &region, group_width, group_height);
}

static tvlm_status one_level(const mips_job *job, int32_t level) {
    const tvlm_texture *shape = &job->texture->base;
    const int32_t run = job->run, wide = run < TILE ? TILE / run : 1;
    opencl_call call;
    TVLM_TRY(begin(job, "mips_level", level, &call));
    rules(&call, shape);
    if (job->tiles != NULL) return run_parts(job, &call, level, 1, wide * run, TILE, (size_t)wide, TILE);
    const int32_t width = tvlm_level_side(shape->width, level + 1);
    return tvlm_opencl_call_run_pixels(&call, (width + run - 1) / run,
                                       tvlm_level_side(shape->height, level + 1),
                                       shape->layers * shape->images);
}

static tvlm_status tile(const mips_job *job, int32_t level, int32_t made) {
    const tvlm_texture *shape = &job->texture->base;
    const size_t size[3] = {(size_t)tvlm_level_side(shape->width, level + 1),
                            (size_t)tvlm_level_side(shape->height, level + 1),
                            (size_t)shape->layers * (size_t)shape->images};
    const size_t group[3] = {TILE, TILE, 1};
    opencl_call call;
    TVLM_TRY(begin(job, "mips_tile", level, &call));
    tvlm_opencl_call_int(&call, made);
    rules(&call, shape);
    if (job->tiles != NULL) return run_parts(job, &call, level, made, TILE, TILE, TILE, TILE);
    return tvlm_opencl_call_run(&call, 3, size, group);
}

/* Makes all levels that are left. With tiles, too, they are made whole: they are one work-group for each
 * slice, and what takes time is the launch. */
static tvlm_status tail(const mips_job *job, int32_t level) {
    const tvlm_texture *shape = &job->texture->base;
    const size_t size[3] = {TAIL_LANES, 1, (size_t)shape->layers * (size_t)shape->images},
                 group[3] = {TAIL_LANES, 1, 1};
    opencl_call call;
    TVLM_TRY(begin(job, "mips_tail", level, &call));
    rules(&call, shape);
    if (job->tiles != NULL) return run_parts(job, &call, level, 1, TAIL, TAIL, TAIL_LANES, 1);
    return tvlm_opencl_call_run(&call, 3, size, group);
}

static bool fits_tail(const tvlm_texture *shape, int32_t level) {
    return tvlm_level_side(shape->width, level + 1) <= TAIL &&
           tvlm_level_side(shape->height, level + 1) <= TAIL;
}

/* Copies the levels of mipmapped storage in from the scratch buffer, since a kernel may not read and write
 * one image. */
static tvlm_status copy_levels(opencl_device *device, const opencl_texture *texture, cl_mem scratch) {
    const tvlm_texture *shape = &texture->base;
    const size_t slices = (size_t)shape->layers * (size_t)shape->images;
    const size_t skipped = tvlm_opencl_level_offset(shape, 1);
    for (int32_t level = 1; level < shape->levels; ++level) {
        const size_t offset =
            (tvlm_opencl_level_offset(shape, level) - skipped) * slices * tvlm_opencl_texel_bytes(shape);
        const size_t origin[4] = {0, 0, 0, (size_t)level};
        const size_t region[3] = {(size_t)tvlm_level_side(shape->width, level),
                                  (size_t)tvlm_level_side(shape->height, level), slices};
        const cl_int error = clEnqueueCopyBufferToImage(device->queue, scratch, texture->level0, offset,
                                                        origin, region, 0, NULL, NULL);
        if (error != CL_SUCCESS) return tvlm_opencl_fail(&device->base, error, "copying a level");
    }
    return TVLM_OK;
}

static tvlm_status run_levels(const mips_job *job) {
    const tvlm_texture *out = &job->texture->base;
    const int32_t last = out->levels - 1;
    for (int32_t level = 0; level < last;) {
        int32_t made = 1;
        if (!job->device->tuning.tiled_mips) {
            TVLM_TRY(one_level(job, level));
        } else if (fits_tail(out, level)) {
            made = last - level;
            TVLM_TRY(tail(job, level));
        } else {
            made = last - level < TILE_LEVELS ? last - level : TILE_LEVELS;
            TVLM_TRY(tile(job, level, made));
        }
        level += made;
    }
    return TVLM_OK;
}

/* ---- Image storage: levels that outlive a launch ---- */

/* The first level that one launch reads of what another one wrote. mips_tile keeps the levels before it to
 * itself. */
static int32_t carry_first_of(const opencl_device *device) {
    return device->tuning.tiled_mips ? TILE_LEVELS : 1;
}

static size_t carry_bytes_of(const tvlm_texture *shape, int32_t first) {
    const int32_t from = first < shape->levels ? first : shape->levels;
    return (tvlm_opencl_level_offset(shape, shape->levels) - tvlm_opencl_level_offset(shape, from)) *
           (size_t)shape->layers * (size_t)shape->images * tvlm_opencl_texel_bytes(shape);
}

static void drop_carry(opencl_device *device, opencl_texture *texture) {
    if (texture->carry == NULL) return;
    clReleaseMemObject(texture->carry);
    tvlm_device_gives(&device->base, texture->carry_bytes);
    texture->carry = NULL;
    texture->carry_bytes = 0;
}

/* Fills the carry with the levels as they are in the second array. */
static tvlm_status fill_carry(opencl_device *device, const opencl_texture *texture) {
    const tvlm_texture *shape = &texture->base;
    const size_t slices = (size_t)shape->layers * (size_t)shape->images;
    const size_t skipped = tvlm_opencl_level_offset(shape, texture->carry_first);
    size_t top = 0;
    for (int32_t level = 2; level < texture->carry_first; ++level)
        top += (size_t)tvlm_level_side(shape->height, level);
    for (int32_t level = texture->carry_first; level < shape->levels; ++level) {
        const size_t w = (size_t)tvlm_level_side(shape->width, level),
                     h = (size_t)tvlm_level_side(shape->height, level);
        const size_t origin[3] = {level > 1 ? (size_t)tvlm_level_side(shape->width, 1) : 0,
                                  level > 1 ? top : 0, 0};
        const size_t region[3] = {w, h, slices};
        const size_t offset =
            (tvlm_opencl_level_offset(shape, level) - skipped) * slices * tvlm_opencl_texel_bytes(shape);
        const cl_int error = clEnqueueCopyImageToBuffer(device->queue, texture->rest, texture->carry, origin,
                                                        region, offset, 0, NULL, NULL);
        if (error != CL_SUCCESS) return tvlm_opencl_fail(&device->base, error, "copying a level");
        if (level > 1) top += h;
    }
    return TVLM_OK;
}

/* Gives the texture a scratch buffer of its own, the carry. Where parts of levels are made, they are made
 * from parts that were made before, which must stay. */
static tvlm_status make_carry(opencl_device *device, opencl_texture *texture) {
    const int32_t first = carry_first_of(device);
    const size_t bytes = carry_bytes_of(&texture->base, first);
    cl_int error = CL_SUCCESS;
    if (texture->carry != NULL && texture->carry_first == first) return TVLM_OK;
    drop_carry(device, texture);
    texture->carry = clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes > 0 ? bytes : 16, NULL, &error);
    if (error != CL_SUCCESS) {
        texture->carry = NULL;
        return tvlm_opencl_fail(&device->base, error, "clCreateBuffer (levels)");
    }
    texture->carry_first = first;
    texture->carry_bytes = bytes > 0 ? bytes : 16;
    tvlm_device_takes(&device->base, texture->carry_bytes);
    return fill_carry(device, texture);
}

/* ---- backend.h ---- */

tvlm_status tvlm_opencl_mips(tvlm_device *base, tvlm_texture *out) {
    opencl_device *device = (opencl_device *)base;
    opencl_texture *texture = (opencl_texture *)out;
    mips_job job = {device, texture, NULL, NULL, device->tuning.mips_run, 1};
    if (out->levels == 1) return TVLM_OK;
    if (texture->carry != NULL && texture->carry_first != carry_first_of(device)) drop_carry(device, texture);
    if (texture->carry != NULL) {
        job.scratch = texture->carry;
        job.carry_first = texture->carry_first;
    } else if (base->info.storage != TVLM_STORAGE_BUFFER) {
        TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_LEVELS, carry_bytes_of(out, 1), &job.scratch));
    }
    TVLM_TRY(run_levels(&job));
    return base->info.storage == TVLM_STORAGE_MIPMAPPED ? copy_levels(device, texture, job.scratch) : TVLM_OK;
}

/* On CPUs the run of mips_level for tiles is short, since there are few texels above a tile. */
enum { RUN_IN_TILES = 16 };

tvlm_status tvlm_opencl_mips_tiles(tvlm_device *base, tvlm_texture *out, const tvlm_tiles *tiles) {
    opencl_device *device = (opencl_device *)base;
    opencl_texture *texture = (opencl_texture *)out;
    const int32_t run = device->tuning.mips_run;
    mips_job job = {device, texture, NULL, tiles, run < RUN_IN_TILES ? run : RUN_IN_TILES, 1};
    if (out->levels == 1) return TVLM_OK;
    /* In mipmapped storage all levels are copied in from the scratch buffer, so parts of them save
     * nothing. */
    if (base->info.storage == TVLM_STORAGE_MIPMAPPED || out->layers > REGION_PARTS)
        return tvlm_opencl_mips(base, out);
    if (base->info.storage == TVLM_STORAGE_IMAGE) {
        TVLM_TRY(make_carry(device, texture));
        job.scratch = texture->carry;
        job.carry_first = texture->carry_first;
    }
    return run_levels(&job);
}
