/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c: kernel calls: sets arguments in order, passes textures as the storage wants them, and rounds sizes
 * up to whole groups.
 */
#include <math.h>
#include <stdio.h>

#include "core/try.h"
#include "opencl/backend.h"

tvlm_status tvlm_opencl_call_begin(opencl_device *device, const char *file, const char *name,
                                   tvlm_format format, const char *options, opencl_call *call) {
    const bool half = format == TVLM_FORMAT_F16 || format == TVLM_FORMAT_U8;
    char all[256];
    snprintf(all, sizeof all, "-DTVLM_HALF=%d%s -DTVLM_ROUND_STORES=%d %s", half,
             format == TVLM_FORMAT_U8 ? " -DTVLM_BYTES=3" : "", half && device->round_stores, options);
    *call = (opencl_call){.device = device, .name = name};
    return tvlm_opencl_kernel(device, file, all, name, &call->kernel, &call->most);
}

tvlm_status tvlm_opencl_call_begin_over(opencl_device *device, const tvlm_tiles *tiles, const char *file,
                                        const char *name, tvlm_format format, const char *options,
                                        opencl_call *call) {
    char listed[160];
    snprintf(listed, sizeof listed, "%s -DTILE_LIST=1", options);
    TVLM_TRY(tvlm_opencl_call_begin(device, file, name, format, tiles != NULL ? listed : options, call));
    call->tiles = tiles;
    return TVLM_OK;
}

void tvlm_opencl_call_bytes(opencl_call *call, size_t size, const void *value) {
    if (value == NULL) call->local_bytes += size;
    if (call->error == CL_SUCCESS) call->error = clSetKernelArg(call->kernel, call->next, size, value);
    ++call->next;
}

void tvlm_opencl_call_memory(opencl_call *call, cl_mem memory) {
    tvlm_opencl_call_bytes(call, sizeof memory, &memory);
}
void tvlm_opencl_call_int(opencl_call *call, int32_t value) {
    tvlm_opencl_call_bytes(call, sizeof value, &value);
}
void tvlm_opencl_call_float(opencl_call *call, float value) {
    tvlm_opencl_call_bytes(call, sizeof value, &value);
}
void tvlm_opencl_call_ulong(opencl_call *call, uint64_t value) {
    tvlm_opencl_call_bytes(call, sizeof value, &value);
}

void tvlm_opencl_call_int4(opencl_call *call, int32_t x, int32_t y, int32_t z, int32_t w) {
    const cl_int4 value = {{x, y, z, w}};
    tvlm_opencl_call_bytes(call, sizeof value, &value);
}

void tvlm_opencl_call_float4(opencl_call *call, float x, float y, float z, float w) {
    const cl_float4 value = {{x, y, z, w}};
    tvlm_opencl_call_bytes(call, sizeof value, &value);
}

cl_int4 tvlm_opencl_size(const tvlm_texture *texture) {
    const int32_t kind = texture->format == TVLM_FORMAT_U8 ? (int32_t)texture->range : 0;
    return (cl_int4){{texture->width, texture->height, texture->layers, texture->levels | kind << 8}};
}

void tvlm_opencl_call_size(opencl_call *call, const tvlm_texture *texture) {
    const cl_int4 size = tvlm_opencl_size(texture);
    tvlm_opencl_call_bytes(call, sizeof size, &size);
}

static bool is_scalar_buffer(const opencl_device *device, const tvlm_texture *texture) {
    return texture->scalar && device->base.info.storage == TVLM_STORAGE_BUFFER;
}

cl_float4 tvlm_opencl_extent(const opencl_device *device, const tvlm_texture *texture) {
    const float x = log2f(texture->extent_x / (float)texture->width);
    const float y = log2f(texture->extent_y / (float)texture->height);
    const float bias = fmaxf(0.0f, fmaxf(x, y));
    int mask = 0;
    for (int c = 0; c < 4; ++c) mask |= (texture->reduce[c] == TVLM_REDUCE_MODE) << c;
    if (is_scalar_buffer(device, texture)) mask |= 16;
    return (cl_float4){{texture->extent_x, texture->extent_y, bias, (float)mask}};
}

void tvlm_opencl_call_input(opencl_call *call, const tvlm_texture *texture) {
    const opencl_texture *t = (const opencl_texture *)texture;
    const opencl_device *device = call->device;
    tvlm_opencl_call_memory(call, t->level0);
    if (device->base.info.storage == TVLM_STORAGE_IMAGE)
        tvlm_opencl_call_memory(call,
                                t->rest != NULL ? t->rest : t->level0); /* without levels nobody reads it */
    else if (device->base.info.storage == TVLM_STORAGE_BUFFER)
        tvlm_opencl_call_int(call, texture->layers * texture->images);
    else
        tvlm_opencl_call_bytes(call, sizeof device->mip_sampler, &device->mip_sampler);
    const cl_float4 extent = tvlm_opencl_extent(device, texture);
    tvlm_opencl_call_size(call, texture);
    tvlm_opencl_call_bytes(call, sizeof extent, &extent);
    tvlm_opencl_call_parts(call, texture);
}

void tvlm_opencl_call_unused(opencl_call *call, const tvlm_texture *any) {
    static const tvlm_texture one = {.width = 1,
                                     .height = 1,
                                     .layers = 1,
                                     .images = 1,
                                     .levels = 1,
                                     .format = TVLM_FORMAT_F32,
                                     .extent_x = 1.0f,
                                     .extent_y = 1.0f};
    opencl_device *device = call->device;
    if (any == NULL && device->empty == NULL &&
        tvlm_opencl_texture_create(&device->base, &one, &device->empty) != TVLM_OK) {
        if (call->error == CL_SUCCESS) call->error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return;
    }
    tvlm_opencl_call_input(call, any != NULL ? any : device->empty);
}

static void pass_output(opencl_call *call, const tvlm_texture *texture) {
    call->out = texture;
    ((opencl_texture *)texture)->levels_there = 0; /* it is about to be written */
    tvlm_opencl_call_memory(call, ((const opencl_texture *)texture)->level0);
    tvlm_opencl_call_size(call, texture);
    tvlm_opencl_call_parts(call, texture);
}

void tvlm_opencl_call_output(opencl_call *call, const tvlm_texture *texture) {
    if (is_scalar_buffer(call->device, texture) && call->error == CL_SUCCESS)
        call->error = CL_INVALID_ARG_VALUE;
    pass_output(call, texture);
}

void tvlm_opencl_call_scalar(opencl_call *call, const tvlm_texture *texture) {
    const bool buffer = call->device->base.info.storage == TVLM_STORAGE_BUFFER;
    if (buffer && !texture->scalar && call->error == CL_SUCCESS) call->error = CL_INVALID_ARG_VALUE;
    pass_output(call, texture);
}

static int bundle_size(const tvlm_bundle *bundle) {
    return bundle->count <= 1 ? 1 : bundle->count <= 4 ? 4 : 16;
}

void tvlm_opencl_bundle_options(const opencl_device *device, const tvlm_bundle *bundle, int32_t run,
                                char options[80]) {
    bool scalar = false;
    for (int i = 0; i < bundle->count; ++i) scalar = scalar || is_scalar_buffer(device, bundle->textures[i]);
    snprintf(options, 80, "-DBUNDLE_SIZE=%d -DRUN=%d%s%s%s", bundle_size(bundle), (int)run,
             bundle->unit ? " -DBUNDLE_UNIT=1" : "", scalar ? " -DSAMPLES_SCALAR=1" : "",
             bundle->views != NULL ? " -DRAGGED=1" : "");
}

opencl_block tvlm_opencl_block(const opencl_device *device, const tvlm_bundle *bundle, tvlm_format format) {
    const bool buffers = device->base.info.storage == TVLM_STORAGE_BUFFER && format != TVLM_FORMAT_U8;
    const int32_t run = device->tuning.run;
    const bool block = buffers && run >= 8 && !bundle->unit && !device->short_loops;
    return block ? (opencl_block){4 * run, 8} : (opencl_block){run, 1};
}

void tvlm_opencl_call_bundle(opencl_call *call, const tvlm_bundle *bundle) {
    for (int i = 0; i < bundle->count; ++i) tvlm_opencl_call_input(call, bundle->textures[i]);
    for (int i = bundle->count; i < bundle_size(bundle); ++i) {
        tvlm_opencl_call_unused(call, bundle->count > 0 ? bundle->textures[0] : NULL);
        if (bundle->views != NULL && bundle->count == 0) tvlm_opencl_call_memory(call, NULL);
    }
    tvlm_opencl_call_float4(call, bundle->width, bundle->height, bundle->fixation_x, bundle->fixation_y);
    tvlm_opencl_call_float4(call, bundle->farthest, 1.0f / bundle->rope.patch,
                            (float)(2.0 * log2((double)bundle->rope.theta) / (double)bundle->rope.dimension),
                            0.0f);
    tvlm_opencl_call_views(call, bundle);
}

void tvlm_opencl_call_fit(const opencl_call *call, cl_uint dimensions, size_t *group) {
    for (;;) {
        size_t items = 1;
        cl_uint longest = 0;
        for (cl_uint d = 0; d < dimensions; ++d) {
            items *= group[d];
            if (group[d] >= group[longest]) longest = d;
        }
        if (items <= call->most || group[longest] == 1) return;
        group[longest] /= 2;
    }
}

tvlm_status tvlm_opencl_call_check(const opencl_call *call, size_t items) {
    if (items <= call->most) return TVLM_OK;
    return tvlm_fail(&call->device->base.log, TVLM_ERROR_UNSUPPORTED,
                     "%s: work-groups of at most %zu work-items in %s; %zu are needed",
                     call->device->base.info.name, call->most, call->name, items);
}

tvlm_status tvlm_opencl_call_run(opencl_call *call, cl_uint dimensions, const size_t *size,
                                 const size_t *group) {
    size_t global[3] = {1, 1, 1}, local[3] = {1, 1, 1};
    bool empty = false;
    for (cl_uint d = 0; d < dimensions; ++d) {
        empty = empty || size[d] == 0;
        local[d] = group != NULL ? group[d] : 1;
    }
    /* OpenCL 2.1 and newer do nothing then, older ones refuse it, and some drivers end the process. */
    if (empty && call->error == CL_SUCCESS) return TVLM_OK;
    tvlm_opencl_call_fit(call, dimensions, local);
    for (cl_uint d = 0; d < dimensions; ++d) global[d] = (size[d] + local[d] - 1) / local[d] * local[d];
    /* PoCL ends the process where a launch takes more local memory than there is. */
    if (call->local_bytes > call->device->base.info.local_bytes) call->error = CL_OUT_OF_RESOURCES;
    call->device->unsent = true;
    if (call->error == CL_SUCCESS)
        call->error = clEnqueueNDRangeKernel(call->device->queue, call->kernel, dimensions, NULL, global,
                                             group != NULL ? local : NULL, 0, NULL, NULL);
    return call->error == CL_SUCCESS ? TVLM_OK
                                     : tvlm_opencl_fail(&call->device->base, call->error, call->name);
}

tvlm_status tvlm_opencl_call_run_pixels(opencl_call *call, int32_t width, int32_t height, int32_t slices) {
    const opencl_tuning *tuning = &call->device->tuning;
    const size_t size[3] = {(size_t)width, (size_t)height, (size_t)slices};
    size_t group[3] = {(size_t)tuning->group_width, (size_t)tuning->group_height, 1};
    /* Where a work-item makes a run of a row, a row may have fewer work-items than a group is wide. The
     * others of the group would have nothing to do, so groups become narrower and higher. */
    for (; tuning->run > 1 && group[0] > 16 && group[0] >= 2 * size[0]; group[0] /= 2) group[1] *= 2;
    return tvlm_opencl_call_run(call, 3, size, group);
}

tvlm_status tvlm_opencl_call_begin_cells(opencl_device *device, const tvlm_tiles *tiles, const char *file,
                                         const char *name, const tvlm_texture *out, opencl_call *call) {
    char options[64];
    snprintf(options, sizeof options, "-DLANES=%d -DCELLS=%d %s", (int)device->tuning.cell_lanes,
             (int)device->tuning.cells, tvlm_opencl_ragged_option(out));
    return tvlm_opencl_call_begin_over(device, tiles, file, name, out->format, options, call);
}

tvlm_status tvlm_opencl_call_run_cells(opencl_call *call) {
    const tvlm_texture *out = call->out;
    const size_t lanes = (size_t)call->device->tuning.cell_lanes, cells = (size_t)call->device->tuning.cells;
    const size_t group[3] = {lanes, cells, 1};
    const size_t size[3] = {((size_t)out->width + cells - 1) / cells * lanes, (size_t)out->height * cells,
                            (size_t)out->images};
    if (call->tiles == NULL) return tvlm_opencl_call_run(call, 3, size, group);
    const opencl_region region = tvlm_opencl_region_of(call->tiles, out, (int32_t)cells, 1);
    return tvlm_opencl_call_run_region(call, &region, lanes, cells);
}

/* The groups of lists are as wide as a tile. The groups of a whole image may be as wide as the image. */
enum { ROWS_WIDTH = 64, ROWS_HEIGHT = 16 };

tvlm_status tvlm_opencl_call_run_rows(opencl_call *call, int32_t run) {
    const tvlm_texture *out = call->out;
    if (call->tiles == NULL)
        return tvlm_opencl_call_run_pixels(call, (out->width + run - 1) / run, out->height, out->images);
    const int32_t width = run > 1 ? (ROWS_WIDTH + run - 1) / run : ROWS_HEIGHT;
    const opencl_region region = tvlm_opencl_region_of(call->tiles, out, width * run, ROWS_HEIGHT);
    return tvlm_opencl_call_run_region(call, &region, (size_t)width, ROWS_HEIGHT);
}

/* A changed tile with its reach is little more than 64 texels wide. Blocks of 64 texels would make three
 * times as many texels as that. */
static int32_t listed_width(const opencl_tuning *tuning) {
    return tuning->tile_width < 16 ? tuning->tile_width : 16;
}

tvlm_status tvlm_opencl_call_run_tiles(opencl_call *call, int32_t width, int32_t height, int32_t slices) {
    const opencl_tuning *tuning = &call->device->tuning;
    if (call->tiles != NULL) {
        const opencl_region region =
            tvlm_opencl_region_of(call->tiles, call->out, listed_width(tuning), tuning->tile_height);
        return tvlm_opencl_call_run_region(call, &region, (size_t)tuning->tile_group_width,
                                           (size_t)tuning->tile_group_height);
    }
    const size_t columns = (size_t)((width + tuning->tile_width - 1) / tuning->tile_width);
    const size_t rows = (size_t)((height + tuning->tile_height - 1) / tuning->tile_height);
    const size_t group[3] = {(size_t)tuning->tile_group_width, (size_t)tuning->tile_group_height, 1};
    const size_t size[3] = {columns * group[0], rows * group[1], (size_t)slices};
    return tvlm_opencl_call_run(call, 3, size, group);
}

tvlm_status tvlm_opencl_call_begin_tiles(opencl_device *device, const tvlm_tiles *tiles, const char *file,
                                         const char *name, tvlm_format format, const char *more,
                                         opencl_call *call) {
    const opencl_tuning *tuning = &device->tuning;
    char options[128];
    snprintf(options, sizeof options, "-DGROUP_W=%d -DGROUP_H=%d -DTILE_W=%d -DTILE_H=%d %s",
             (int)tuning->tile_group_width, (int)tuning->tile_group_height,
             (int)(tiles != NULL ? listed_width(tuning) : tuning->tile_width), (int)tuning->tile_height,
             more);
    return tvlm_opencl_call_begin_over(device, tiles, file, name, format, options, call);
}

tvlm_status tvlm_opencl_call_run_list(opencl_call *call, size_t count, size_t rows) {
    const size_t size[2] = {count, rows}, group[2] = {(size_t)call->device->tuning.linear_group, 1};
    return tvlm_opencl_call_run(call, 2, size, group);
}
