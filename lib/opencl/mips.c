/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mips.c: makes the levels of textures in as few launches as suit the device, and keeps those levels of one
 * launch that another launch must read. cl/mips.cl explains how.
 */
#include <stdio.h>
#include <string.h>

#include "core/ragged.h"
#include "core/try.h"
#include "opencl/backend.h"

/* These are as in cl/mips.cl, LARGE_TAIL being 2 * TAIL there. */
enum { TILE = 16, TILE_LEVELS = 3, LARGE_TAIL = 64, MIXED = 5 };
/* How many levels a launch of mips_level makes at most. */
enum { LEVELS_AT_ONCE = 4 };
/* This bit is set in the rules of a plan (cl/levels.clh) if the texture is a buffer whose texels have one
 * component. */
enum { SCALAR_TEXELS = 0x80 };
/* How many textures one launch makes levels of: it writes an image of each, and any device takes 8. */
enum { TEXTURES_MAX = 8 };

/* A texture whose levels are being made. `level` is the last level that is there, and `made` how many levels
 * the next launch of mips_level makes. `scratch` holds levels kept_from and up, from texel scratch_at on. */
typedef struct mips_texture {
    const opencl_texture *texture;
    cl_mem scratch;
    int32_t scratch_at, kept_from, level, made;
} mips_texture;

/* The levels that are being made: those around `tiles`, or all of them where that is NULL. `run` is the run
 * of mips_level. */
typedef struct mips_job {
    opencl_device *device;
    const tvlm_tiles *tiles;
    int32_t run, count;
    mips_texture textures[TEXTURES_MAX];
} mips_job;

/* Those textures of a job whose levels one launch makes. */
typedef struct mips_launch {
    mips_texture *textures[TEXTURES_MAX];
    int32_t count;
} mips_launch;

/* The rule that all components share, or MIXED. */
static int common_rule(const mips_launch *launch) {
    const int first = launch->textures[0]->texture->base.reduce[0];
    for (int32_t i = 0; i < launch->count; ++i)
        for (int c = 0; c < (launch->textures[i]->texture->base.scalar ? 1 : 4); ++c)
            if (launch->textures[i]->texture->base.reduce[c] != first) return MIXED;
    return first;
}

/* Whether each level takes a launch of its own: where levels are smoothed, or images have different sizes. */
static bool is_stepwise(const tvlm_texture *shape) {
    if (shape->parts != NULL) return true;
    for (int c = 0; c < 4; ++c)
        if (shape->reduce[c] == TVLM_REDUCE_GAUSSIAN) return true;
    return false;
}

static void pass_texture(opencl_call *call, const mips_texture *t) {
    const tvlm_texture *shape = &t->texture->base;
    const tvlm_storage storage = call->device->base.info.storage;
    const int32_t skipped =
        (int32_t)(tvlm_opencl_level_offset(shape, t->kept_from) * tvlm_opencl_slices(shape));
    int32_t rules = 0;
    for (int c = 0; c < 4; ++c) rules |= shape->reduce[c] << 8 * c;
    if (shape->scalar && storage == TVLM_STORAGE_BUFFER) rules |= SCALAR_TEXELS;
    tvlm_opencl_call_memory(call, t->texture->level0);
    if (storage == TVLM_STORAGE_IMAGE) tvlm_opencl_call_memory(call, t->texture->rest);
    if (storage != TVLM_STORAGE_BUFFER) tvlm_opencl_call_memory(call, t->scratch);
    tvlm_opencl_call_size(call, shape);
    tvlm_opencl_call_int4(call, (int32_t)tvlm_opencl_slices(shape), t->level, rules,
                          storage == TVLM_STORAGE_BUFFER ? t->made : t->scratch_at - skipped);
    tvlm_opencl_call_parts(call, shape);
}

/* An option that says what the textures of a stack of bytes are. All textures of a launch are the same. */
static const char *range_option(const tvlm_texture *texture) {
    if (texture->format != TVLM_FORMAT_U8) return "";
    return texture->range == TVLM_RANGE_UNIT     ? " -DLEVELS_BYTES=1"
           : texture->range == TVLM_RANGE_SIGNED ? " -DLEVELS_BYTES=2"
                                                 : " -DLEVELS_BYTES=0";
}

/* The work-items of a work-group of mips_tail: as many as was tuned, but not more than the device can
 * have. */
static size_t tail_lanes(const opencl_device *device) {
    const size_t tuned = (size_t)device->tuning.tail_lanes;
    return tuned < device->group_max ? tuned : device->group_max;
}

/* Begins a call with the arguments that all kernels of mips.cl share. Places that are left over get the first
 * texture once more; no work-group comes to them. */
static tvlm_status begin(const mips_job *job, const mips_launch *launch, const char *name,
                         opencl_call *call) {
    const tvlm_texture *const first = &launch->textures[0]->texture->base;
    char options[128];
    int32_t places = 1;
    while (places < launch->count) places *= 2;
    /* mips_level is compiled for scalar textures or for all others; a program of the other kernels takes
     * both. */
    const int length =
        snprintf(options, sizeof options, "-DMIPS_RULE=%d -DRUN=%d -DTEXTURES=%d %s%s", common_rule(launch),
                 (int)job->run, (int)places, tvlm_opencl_ragged_option(first), range_option(first));
    const bool alone = strcmp(name, "mips_level") == 0;
    snprintf(options + length, sizeof options - (size_t)length, alone ? " -DSCALAR=%d" : " -DTAIL_LANES=%d",
             alone ? (int)first->scalar : (int)tail_lanes(job->device));
    TVLM_TRY(
        tvlm_opencl_call_begin_over(job->device, job->tiles, "mips.cl", name, first->format, options, call));
    for (int32_t i = 0; i < places; ++i) pass_texture(call, launch->textures[i < launch->count ? i : 0]);
    return TVLM_OK;
}

/* Runs only the work-groups that the tiles touch, for the one texture of a job. A launch makes `made` levels,
 * in blocks of width x height texels of the first of these levels. */
static tvlm_status run_parts(const mips_job *job, opencl_call *call, int32_t made, int32_t width,
                             int32_t height, size_t group_width, size_t group_height) {
    const tvlm_texture *shape = &job->textures[0].texture->base;
    const int32_t layers = shape->layers;
    opencl_region region = {.parts = {{0}}};
    for (int32_t layer = 0; layer < layers; ++layer) {
        opencl_region_part *part = &region.parts[layer];
        *part = tvlm_opencl_region_of(job->tiles, shape, width, height).parts[0];
        part->level = job->textures[0].level + 1;
        part->made = made - 1;
        part->z_step = layers;
        part->z = layer;
    }
    return tvlm_opencl_call_run_region(call, &region, group_width, group_height);
}

/* How many levels mips_level makes of a texture in its next launch: as many as it can make in place, each
 * after a level of which both sides are even. */
static int32_t levels_at_once(const mips_job *job, const mips_texture *t) {
    const tvlm_texture *shape = &t->texture->base;
    int32_t made = 0;
    if (job->run < 1 << LEVELS_AT_ONCE || job->tiles != NULL || is_stepwise(shape) ||
        job->device->base.info.storage != TVLM_STORAGE_BUFFER ||
        (shape->scalar && shape->reduce[0] > TVLM_REDUCE_MIN))
        return 1;
    while (made < LEVELS_AT_ONCE && t->level + made + 1 < shape->levels &&
           tvlm_level_side(shape->width, t->level + made) % 2 == 0 &&
           tvlm_level_side(shape->height, t->level + made) % 2 == 0)
        ++made;
    return made > 0 ? made : 1;
}

/* Launches mips_level once. */
static tvlm_status some_levels(const mips_job *job, mips_texture *t) {
    const tvlm_texture *shape = &t->texture->base;
    const mips_launch launch = {{t}, 1};
    const int32_t run = job->run, wide = run < TILE ? TILE / run : 1;
    opencl_call call;
    t->made = levels_at_once(job, t);
    TVLM_TRY(begin(job, &launch, "mips_level", &call));
    if (job->tiles != NULL) return run_parts(job, &call, 1, wide * run, TILE, (size_t)wide, TILE);
    const int32_t width = tvlm_level_side(shape->width, t->level + 1),
                  height = tvlm_level_side(shape->height, t->level + 1);
    if (run == 1) return tvlm_opencl_call_run_pixels(&call, width, height, shape->layers * shape->images);
    /* A few work-items make a row. Groups consist of rows below each other, since otherwise most of their
     * work-items would have nothing to do. */
    const int32_t rows = 1 << (t->made - 1);
    const size_t group[3] = {1, (size_t)(TILE / rows), 1};
    const size_t size[3] = {(size_t)((width + run - 1) / run), (size_t)((height + rows - 1) / rows),
                            tvlm_opencl_slices(shape)};
    return tvlm_opencl_call_run(&call, 3, size, group);
}

static int32_t levels_in_tile(const mips_texture *t) {
    const int32_t left = t->texture->base.levels - 1 - t->level;
    return left < TILE_LEVELS ? left : TILE_LEVELS;
}

static size_t tiles_along(int32_t side) {
    return ((size_t)side + TILE - 1) / TILE;
}

static tvlm_status run_tiles(const mips_job *job, const mips_launch *launch) {
    const size_t group[2] = {TILE, TILE};
    size_t groups = 0;
    opencl_call call;
    TVLM_TRY(begin(job, launch, "mips_tile", &call));
    if (job->tiles != NULL)
        return run_parts(job, &call, levels_in_tile(launch->textures[0]), TILE, TILE, TILE, TILE);
    for (int32_t i = 0; i < launch->count; ++i) {
        const mips_texture *t = launch->textures[i];
        const tvlm_texture *shape = &t->texture->base;
        groups += tiles_along(tvlm_level_side(shape->width, t->level + 1)) *
                  tiles_along(tvlm_level_side(shape->height, t->level + 1)) * tvlm_opencl_slices(shape);
    }
    const size_t size[2] = {groups * TILE, TILE};
    return tvlm_opencl_call_run(&call, 2, size, group);
}

/* Makes all levels that are left. They are made whole, even with tiles: they take one work-group for each
 * slice, and what takes time is the launch. */
static tvlm_status run_tails(const mips_job *job, const mips_launch *launch) {
    const size_t group = tail_lanes(job->device);
    size_t slices = 0;
    opencl_call call;
    TVLM_TRY(begin(job, launch, "mips_tail", &call));
    if (job->tiles != NULL) return run_parts(job, &call, 1, LARGE_TAIL, LARGE_TAIL, group, 1);
    for (int32_t i = 0; i < launch->count; ++i)
        slices += tvlm_opencl_slices(&launch->textures[i]->texture->base);
    const size_t size = slices * group;
    return tvlm_opencl_call_run(&call, 1, &size, &group);
}

/* Whether a tail can make all levels after that one. */
static bool fits_tail(const tvlm_texture *shape, int32_t level) {
    return tvlm_level_side(shape->width, level + 1) <= LARGE_TAIL &&
           tvlm_level_side(shape->height, level + 1) <= LARGE_TAIL;
}

/* The bytes of a texel of a scratch buffer. It has four components, even where the texture's texels have
 * one. */
static size_t scratch_texel(const tvlm_texture *shape) {
    return 4 * tvlm_component_bytes(tvlm_texture_format(shape));
}

/* At which byte a level lies in a scratch buffer that begins with level `first`. */
static size_t scratch_offset(const tvlm_texture *shape, int32_t first, int32_t level) {
    return (tvlm_opencl_level_offset(shape, level) - tvlm_opencl_level_offset(shape, first)) *
           tvlm_opencl_slices(shape) * scratch_texel(shape);
}

/* Copies the levels of mipmapped storage in from the scratch buffer, since a kernel may not read and write
 * one image. */
static tvlm_status copy_levels(opencl_device *device, const opencl_texture *texture, cl_mem scratch) {
    const tvlm_texture *shape = &texture->base;
    for (int32_t level = 1; level < shape->levels; ++level) {
        const size_t origin[4] = {0, 0, 0, (size_t)level};
        const size_t region[3] = {(size_t)tvlm_level_side(shape->width, level),
                                  (size_t)tvlm_level_side(shape->height, level), tvlm_opencl_slices(shape)};
        const cl_int error =
            clEnqueueCopyBufferToImage(device->queue, scratch, texture->level0,
                                       scratch_offset(shape, 1, level), origin, region, 0, NULL, NULL);
        if (error != CL_SUCCESS) return tvlm_opencl_fail(&device->base, error, "copying a level");
    }
    return TVLM_OK;
}

/* Makes tiles of those textures that do not fit a tail yet. *any says whether there was one. */
static tvlm_status one_round(mips_job *job, bool *any) {
    mips_launch launch = {.count = 0};
    for (int32_t i = 0; i < job->count; ++i)
        if (!fits_tail(&job->textures[i].texture->base, job->textures[i].level))
            launch.textures[launch.count++] = &job->textures[i];
    *any = launch.count > 0;
    if (!*any) return TVLM_OK;
    TVLM_TRY(run_tiles(job, &launch));
    for (int32_t i = 0; i < launch.count; ++i)
        launch.textures[i]->level += levels_in_tile(launch.textures[i]);
    return TVLM_OK;
}

/* Makes the levels of all textures of a job in few launches: tiles until each texture fits a tail, and then
 * the tails. */
static tvlm_status run_together(mips_job *job) {
    mips_launch tails = {.count = 0};
    bool any = true;
    while (any) TVLM_TRY(one_round(job, &any));
    for (int32_t i = 0; i < job->count; ++i)
        if (job->textures[i].level < job->textures[i].texture->base.levels - 1)
            tails.textures[tails.count++] = &job->textures[i];
    return tails.count > 0 ? run_tails(job, &tails) : TVLM_OK;
}

static tvlm_status run_levels(mips_job *job) {
    const bool tiled = job->device->tuning.tiled_mips;
    for (int32_t i = 0; i < job->count; ++i) {
        mips_texture *const t = &job->textures[i];
        while ((!tiled || is_stepwise(&t->texture->base)) && t->level < t->texture->base.levels - 1) {
            TVLM_TRY(some_levels(job, t));
            t->level += t->made;
        }
    }
    return tiled ? run_together(job) : TVLM_OK;
}

/* ---- Levels that outlive a launch ---- */

/* The first level that the scratch buffer must keep, because a launch reads it there. mips_tile keeps the
 * levels before that one to itself. Where a tail makes all levels, it reads level 1 there if that is too
 * large for local memory. */
static int32_t kept_from(const opencl_device *device, const tvlm_texture *shape) {
    if (shape->parts != NULL) return 0; /* images lie one behind the other, each with all its levels */
    return device->tuning.tiled_mips && !is_stepwise(shape) && !fits_tail(shape, 0) ? TILE_LEVELS : 1;
}

/* How many texels of the scratch buffer those levels take. */
static size_t kept_texels(const tvlm_texture *shape, int32_t first) {
    size_t texels = 0;
    if (shape->parts != NULL && tvlm_texture_before(shape, shape->images, &texels)) return texels;
    const int32_t from = first < shape->levels ? first : shape->levels;
    return (tvlm_opencl_level_offset(shape, shape->levels) - tvlm_opencl_level_offset(shape, from)) *
           tvlm_opencl_slices(shape);
}

static void drop_carry(opencl_device *device, opencl_texture *texture) {
    if (texture->carry == NULL) return;
    tvlm_opencl_release(device, texture->carry);
    tvlm_device_gives(&device->base, texture->carry_bytes);
    texture->carry = NULL;
    texture->carry_bytes = 0;
}

/* Fills the carry with the levels as they are in the second array. */
static tvlm_status fill_carry(opencl_device *device, const opencl_texture *texture) {
    const tvlm_texture *shape = &texture->base;
    const int32_t first = texture->carry_first;
    for (int32_t level = first; level < shape->levels; ++level) {
        size_t origin[3] = {0, 0, 0};
        const size_t region[3] = {(size_t)tvlm_level_side(shape->width, level),
                                  (size_t)tvlm_level_side(shape->height, level), tvlm_opencl_slices(shape)};
        tvlm_opencl_level_corner(shape, level, origin);
        const cl_int error =
            clEnqueueCopyImageToBuffer(device->queue, texture->rest, texture->carry, origin, region,
                                       scratch_offset(shape, first, level), 0, NULL, NULL);
        if (error != CL_SUCCESS) return tvlm_opencl_fail(&device->base, error, "copying a level");
    }
    return TVLM_OK;
}

/* Gives the texture a scratch buffer of its own, the carry. With `filled` it begins with the levels as they
 * are: parts of levels are made from parts that were made before, which must stay. */
static tvlm_status make_carry(opencl_device *device, opencl_texture *texture, bool filled) {
    const int32_t first = kept_from(device, &texture->base);
    const size_t bytes = kept_texels(&texture->base, first) * scratch_texel(&texture->base);
    cl_int error = CL_SUCCESS;
    if (texture->carry != NULL && texture->carry_first == first) return TVLM_OK;
    drop_carry(device, texture);
    texture->carry = tvlm_opencl_new_buffer(device, bytes > 0 ? bytes : 16, &error);
    if (error != CL_SUCCESS) {
        texture->carry = NULL;
        return tvlm_opencl_fail(&device->base, error, "clCreateBuffer (levels)");
    }
    texture->carry_first = first;
    texture->carry_bytes = bytes > 0 ? bytes : 16;
    tvlm_device_takes(&device->base, texture->carry_bytes);
    return filled ? fill_carry(device, texture) : TVLM_OK;
}

/* ---- Whole textures ---- */

/* Adds a texture to a job. Unless the texture has a carry, it gets a part of the scratch buffer that begins
 * at texel `at`. Returns how many texels the part has. In mipmapped storage the part has all levels, since
 * all are copied from it. */
static size_t add_texture(mips_job *job, opencl_texture *texture, size_t at) {
    opencl_device *device = job->device;
    const tvlm_storage storage = device->base.info.storage;
    int32_t first = storage == TVLM_STORAGE_MIPMAPPED ? 1 : kept_from(device, &texture->base);
    if (texture->carry != NULL && texture->carry_first != first) drop_carry(device, texture);
    if (job->tiles != NULL || !device->tuning.tiled_mips || is_stepwise(&texture->base))
        texture->levels_there = 0;
    const bool shared = texture->carry == NULL && storage != TVLM_STORAGE_BUFFER;
    job->textures[job->count++] =
        (mips_texture){texture, texture->carry, shared ? (int32_t)at : 0, first, texture->levels_there, 1};
    return shared ? kept_texels(&texture->base, first) : 0;
}

/*
 * Whether one more texture can be made in the same launches as those of a job:
 *
 *   - Like the first texture it must be ragged or not, and have the same format and range.
 *   - The texels of the common scratch buffer must have numbers that fit an int.
 *   - The storage must not be mipmapped. There levels are copied out of the scratch buffer before the next
 *     texture's take their place.
 *   - Launches must make several levels (tiled_mips). Otherwise nothing would be saved, and one texture at a
 *     time needs a smaller scratch buffer.
 */
static bool fits_job(const mips_job *job, const tvlm_texture *texture, size_t texels) {
    if (job->count == 0) return true;
    return job->device->tuning.tiled_mips && job->count < TEXTURES_MAX &&
           job->device->base.info.storage != TVLM_STORAGE_MIPMAPPED &&
           texture->format == job->textures[0].texture->base.format &&
           texture->range == job->textures[0].texture->base.range &&
           (texture->parts != NULL) == (job->textures[0].texture->base.parts != NULL) &&
           texels + kept_texels(texture, 1) <= INT32_MAX;
}

/* Makes the levels of some textures of a list, from number *done on: as many as one job takes. *done becomes
 * the number of the first texture that is left. */
static tvlm_status make_some(opencl_device *device, tvlm_texture *const *textures, int32_t count,
                             int32_t *done) {
    mips_job job = {.device = device, .run = device->tuning.mips_run};
    size_t texels = 0;
    cl_mem scratch = NULL;
    int32_t next = *done;
    for (; next < count && fits_job(&job, textures[next], texels); ++next)
        if (textures[next]->levels > 1) texels += add_texture(&job, (opencl_texture *)textures[next], texels);
    *done = next;
    if (job.count == 0) return TVLM_OK;
    if (texels > 0)
        TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_LEVELS,
                                     texels * scratch_texel(&job.textures[0].texture->base), &scratch));
    for (int32_t i = 0; i < job.count; ++i)
        if (job.textures[i].scratch == NULL) job.textures[i].scratch = scratch;
    TVLM_TRY(run_levels(&job));
    if (device->base.info.storage != TVLM_STORAGE_MIPMAPPED) return TVLM_OK;
    return copy_levels(device, job.textures[0].texture, scratch);
}

/* ---- A texture with its first levels ---- */

/* Levels are tuned by the pixels of the image, so that all textures of an image have their levels made in the
 * same way. */
static double tuned_area(const tvlm_texture *texture) {
    return (double)texture->extent_x * (double)texture->extent_y * texture->images;
}

/*
 * Two of the conditions are there for speed:
 *
 *   - There is one image. Of several images the others may be written later, and then the levels of all are
 *     made at once.
 *   - A tail cannot make all levels. Where it can, the texture is small, and nothing would be saved.
 */
bool tvlm_opencl_mips_from_pixels_fits(opencl_device *device, const tvlm_texture *out) {
    OPENCL_TUNED(&device->base, TVLM_TUNED_LEVELS, tuned_area(out));
    return device->tuning.tiled_mips && device->base.info.storage != TVLM_STORAGE_MIPMAPPED &&
           out->images == 1 && out->layers == 1 && !fits_tail(out, 0) && !is_stepwise(out);
}

tvlm_status tvlm_opencl_mips_from_pixels(opencl_device *device, tvlm_buffer *pixels,
                                         const tvlm_pixels *layout, tvlm_texture *out) {
    OPENCL_TUNED(&device->base, TVLM_TUNED_LEVELS, tuned_area(out));
    opencl_texture *texture = (opencl_texture *)out;
    mips_job job = {.device = device, .run = device->tuning.mips_run};
    const size_t side = (size_t)2 * TILE, group[2] = {TILE, TILE};
    const size_t size[2] = {((size_t)out->width + side - 1) / side * TILE,
                            ((size_t)out->height + side - 1) / side * TILE};
    char options[128], pixel_options[48];
    opencl_call call;
    texture->levels_there = 0;
    if (device->base.info.storage == TVLM_STORAGE_IMAGE) TVLM_TRY(make_carry(device, texture, false));
    (void)add_texture(&job, texture, 0);
    const mips_launch launch = {{&job.textures[0]}, 1};
    tvlm_opencl_pixel_options(layout, pixel_options);
    snprintf(options, sizeof options, "-DMIPS_RULE=%d -DSCALAR=0 -DFROM_PIXELS=1 %s%s", common_rule(&launch),
             pixel_options, range_option(out));
    TVLM_TRY(tvlm_opencl_call_begin(device, "mips.cl", "mips_tile", out->format, options, &call));
    pass_texture(&call, &job.textures[0]);
    tvlm_opencl_call_pixels(&call, pixels, layout, 0);
    TVLM_TRY(tvlm_opencl_call_run(&call, 2, size, group));
    texture->levels_there = levels_in_tile(&job.textures[0]);
    return TVLM_OK;
}

/* ---- backend.h ---- */

tvlm_status tvlm_opencl_mips(tvlm_device *base, tvlm_texture *const *textures, int32_t count) {
    if (count == 0) return TVLM_OK;
    OPENCL_TUNED(base, TVLM_TUNED_LEVELS, tuned_area(textures[0]));
    for (int32_t done = 0; done < count;) TVLM_TRY(make_some((opencl_device *)base, textures, count, &done));
    return TVLM_OK;
}

/* On CPUs the run of mips_level for tiles is short, since there are few texels above a tile. */
enum { RUN_IN_TILES = 16 };

tvlm_status tvlm_opencl_mips_tiles(tvlm_device *base, tvlm_texture *out, const tvlm_tiles *tiles) {
    OPENCL_TUNED(base, TVLM_TUNED_LEVELS, tuned_area(out));
    opencl_device *device = (opencl_device *)base;
    opencl_texture *texture = (opencl_texture *)out;
    const int32_t run = device->tuning.mips_run;
    mips_job job = {.device = device, .tiles = tiles, .run = run < RUN_IN_TILES ? run : RUN_IN_TILES};
    if (out->levels == 1) return TVLM_OK;
    /*
     * Levels are made whole where parts of them save nothing, or are not enough:
     *
     *   - In mipmapped storage all levels are copied in from the scratch buffer.
     *   - A region has only so many parts.
     *   - A level that is smoothed reaches farther than the level before.
     */
    if (base->info.storage == TVLM_STORAGE_MIPMAPPED || out->layers > REGION_PARTS || is_stepwise(out))
        return tvlm_opencl_mips(base, &out, 1);
    if (base->info.storage == TVLM_STORAGE_IMAGE) {
        const bool alike = texture->components == 4;
        const bool has = texture->carry != NULL && texture->carry_first == kept_from(device, out);
        TVLM_TRY(make_carry(device, texture, alike));
        /* Images of one component cannot be copied to texels of four. Therefore all levels are made once
         * more, with the carry. */
        if (!alike && !has) return tvlm_opencl_mips(base, &out, 1);
    }
    (void)add_texture(&job, texture, 0);
    return run_levels(&job);
}
