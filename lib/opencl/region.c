/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region.c: lists of the work-groups that changed tiles touch, for kernels with REGION_IN (cl/region.clh).
 *
 * Most kernels of a frame ask for lists that others have asked for before, in this frame or in the last one.
 * Therefore lists are kept by the region that was asked for. When a frame brings other tiles, all lists that
 * the last frame used are made anew at once and sent together.
 */
#include <string.h>

#include "core/try.h"
#include "opencl/backend.h"

enum { LISTS = 64 };

/* The list of a region: where its entries lie among all entries, how many texels its work-groups make, and
 * whether it was asked for since the tiles changed. */
typedef struct region_list {
    opencl_region region;
    int32_t first, count;
    int64_t texels;
    bool used;
} region_list;

struct tvlm_opencl_regions {
    /* The tiles that the lists are made from, by their serial, and the size of their image. */
    uint64_t serial;
    int32_t width, height;
    region_list lists[LISTS];
    int32_t count;
    /* The entries of all lists, on the host and on the device. */
    cl_uint2 *entries;
    size_t entry_count, entry_capacity;
    cl_mem memory;
    size_t memory_entries;
    /* The blocks of one part while its list is made: 1 where a tile touches them. */
    uint8_t *blocks;
    size_t block_capacity;
};

void tvlm_opencl_regions_destroy(opencl_device *device) {
    struct tvlm_opencl_regions *regions = device->regions;
    if (regions == NULL) return;
    if (regions->memory != NULL) clReleaseMemObject(regions->memory);
    free(regions->entries);
    free(regions->blocks);
    free(regions);
    device->regions = NULL;
}

opencl_region tvlm_opencl_region_of(const tvlm_tiles *tiles, const tvlm_texture *out, int32_t block_width,
                                    int32_t block_height) {
    return (opencl_region){.parts = {{.width = out->width,
                                      .height = out->height,
                                      .extent_x = (int32_t)out->extent_x,
                                      .extent_y = (int32_t)out->extent_y,
                                      .reach = tiles->reach,
                                      .down = tiles->reach,
                                      .block_width = block_width,
                                      .block_height = block_height,
                                      .z_step = 1}}};
}

/* ---- Making a list ---- */

/* One axis of a part. tile_side, pixels and reach are in pixels of the image. */
typedef struct axis {
    int32_t tile_side, pixels, reach;
    int32_t side, extent, level, made, grow, block;
} axis;

static axis axis_x(const tvlm_tiles *tiles, const opencl_region_part *part) {
    return (axis){tiles->side, tiles->width, part->reach,  part->width,      part->extent_x,
                  part->level, part->made,   part->grow_x, part->block_width};
}
static axis axis_y(const tvlm_tiles *tiles, const opencl_region_part *part) {
    return (axis){tiles->side, tiles->height, part->down,   part->height,      part->extent_y,
                  part->level, part->made,    part->grow_y, part->block_height};
}

static int32_t blocks_along(const axis *a) {
    return (tvlm_level_side(a->side, a->level) + a->block - 1) / a->block;
}

/* The blocks that a tile touches, on the part's level or on any of the further levels that the group makes.
 * From each level to the next, a block has half as many texels along a side. */
static tvlm_span blocks_of(const axis *a, int32_t tile) {
    tvlm_span blocks = {INT32_MAX, 0};
    for (int32_t n = 0; n <= a->made; ++n) {
        const int32_t side = tvlm_level_side(a->side, a->level + n), block = a->block >> n;
        tvlm_span span =
            tvlm_tile_span(tile, a->tile_side, a->pixels, a->reach, a->side, (float)a->extent, a->level + n);
        span = tvlm_span_clip(span.first - a->grow, span.last + a->grow, side);
        if (span.first / block < blocks.first) blocks.first = span.first / block;
        if (span.last / block > blocks.last) blocks.last = span.last / block;
    }
    return tvlm_span_clip(blocks.first, blocks.last, blocks_along(a));
}

/* Marks those blocks of a row that the changed tiles of a row of tiles touch. */
static void mark_row(const tvlm_tiles *tiles, int32_t row, const axis *across, uint8_t *marks) {
    for (int32_t column = 0; column < tiles->columns; ++column) {
        if (!tiles->changed[(size_t)row * (size_t)tiles->columns + (size_t)column]) continue;
        const tvlm_span span = blocks_of(across, column);
        memset(marks + span.first, 1, (size_t)span.last - (size_t)span.first + 1);
    }
}

static void mark_blocks(const tvlm_tiles *tiles, const axis *across, const axis *down, uint8_t *blocks,
                        uint8_t *line) {
    const size_t columns = (size_t)blocks_along(across);
    for (int32_t row = 0; row < tiles->rows; ++row) {
        const tvlm_span span = blocks_of(down, row);
        memset(line, 0, columns);
        mark_row(tiles, row, across, line);
        for (int32_t y = span.first; y <= span.last; ++y)
            for (size_t x = 0; x < columns; ++x) blocks[(size_t)y * columns + x] |= line[x];
    }
}

static tvlm_status no_memory(const opencl_device *device) {
    return tvlm_fail(&device->base.log, TVLM_ERROR_MEMORY, "out of memory for a list of work-groups");
}

static tvlm_status reserve_entries(opencl_device *device, size_t more) {
    struct tvlm_opencl_regions *regions = device->regions;
    const size_t needed = regions->entry_count + more;
    if (needed <= regions->entry_capacity) return TVLM_OK;
    cl_uint2 *grown = realloc(regions->entries, 2 * needed * sizeof *grown);
    if (grown == NULL) return no_memory(device);
    regions->entries = grown;
    regions->entry_capacity = 2 * needed;
    return TVLM_OK;
}

static tvlm_status reserve_blocks(opencl_device *device, size_t count) {
    struct tvlm_opencl_regions *regions = device->regions;
    if (count <= regions->block_capacity) return TVLM_OK;
    uint8_t *grown = realloc(regions->blocks, count);
    if (grown == NULL) return no_memory(device);
    regions->blocks = grown;
    regions->block_capacity = count;
    return TVLM_OK;
}

/* How many texels of a block lie within a side. */
static int64_t cut(int32_t block, int32_t size, int32_t side) {
    const int32_t left = side - block * size;
    return left < size ? left : size;
}

static tvlm_status list_part(opencl_device *device, const tvlm_tiles *tiles, const opencl_region_part *part,
                             int64_t *texels) {
    struct tvlm_opencl_regions *regions = device->regions;
    const axis across = axis_x(tiles, part), down = axis_y(tiles, part);
    const int32_t columns = blocks_along(&across), rows = blocks_along(&down);
    const size_t count = (size_t)columns * (size_t)rows;
    const cl_uint z = (cl_uint)(tiles->image * part->z_step + part->z);
    TVLM_TRY(reserve_blocks(device, count + (size_t)columns));
    TVLM_TRY(reserve_entries(device, count));
    memset(regions->blocks, 0, count); /* NOLINT(clang-analyzer-*): count > 0, it is reserved */
    mark_blocks(tiles, &across, &down, regions->blocks, regions->blocks + count);
    for (int32_t y = 0; y < rows; ++y)
        for (int32_t x = 0; x < columns; ++x) {
            if (!regions->blocks[(size_t)y * (size_t)columns + (size_t)x]) continue;
            regions->entries[regions->entry_count++] = (cl_uint2){{(cl_uint)x | (cl_uint)y << 16, z}};
            *texels += cut(x, part->block_width, tvlm_level_side(part->width, part->level)) *
                       cut(y, part->block_height, tvlm_level_side(part->height, part->level));
        }
    return TVLM_OK;
}

static tvlm_status make_list(opencl_device *device, const tvlm_tiles *tiles, region_list *list) {
    list->first = (int32_t)device->regions->entry_count;
    list->texels = 0;
    for (int i = 0; i < REGION_PARTS && list->region.parts[i].width > 0; ++i)
        TVLM_TRY(list_part(device, tiles, &list->region.parts[i], &list->texels));
    list->count = (int32_t)device->regions->entry_count - list->first;
    return TVLM_OK;
}

/* ---- Sending lists ---- */

/* Sends the entries from `first` on, in pieces that need not wait for the queue. */
static tvlm_status send(opencl_device *device, size_t first) {
    struct tvlm_opencl_regions *regions = device->regions;
    const size_t piece = STAGE_BYTES / sizeof *regions->entries;
    if (regions->entry_count > regions->memory_entries) {
        cl_int error = CL_SUCCESS;
        const size_t entries = regions->entry_capacity;
        /* OpenCL keeps the old memory until the kernels that read it are done. */
        tvlm_opencl_release(device, regions->memory);
        regions->memory_entries = 0;
        regions->memory = clCreateBuffer(device->context, CL_MEM_READ_ONLY,
                                         entries * sizeof *regions->entries, NULL, &error);
        if (error != CL_SUCCESS) {
            regions->memory = NULL;
            return tvlm_opencl_fail(&device->base, error, "clCreateBuffer (work-groups)");
        }
        regions->memory_entries = entries;
        first = 0;
    }
    for (; first < regions->entry_count; first += piece) {
        const size_t left = regions->entry_count - first, count = left < piece ? left : piece;
        TVLM_TRY(tvlm_opencl_write(device, regions->memory, first * sizeof *regions->entries,
                                   count * sizeof *regions->entries, regions->entries + first));
    }
    return TVLM_OK;
}

/* Turns to other tiles: all lists that were used with the last tiles are made from the new ones. */
static tvlm_status turn(opencl_device *device, const tvlm_tiles *tiles) {
    struct tvlm_opencl_regions *regions = device->regions;
    int32_t kept = 0;
    /* For an image of another size the old regions would make no sense. */
    const bool alike = regions->width == tiles->width && regions->height == tiles->height;
    for (int32_t i = 0; i < regions->count; ++i)
        if (alike && regions->lists[i].used) regions->lists[kept++] = regions->lists[i];
    regions->width = tiles->width;
    regions->height = tiles->height;
    regions->count = 0;
    regions->entry_count = 0;
    regions->serial = tiles->serial;
    for (int32_t i = 0; i < kept; ++i) {
        regions->lists[i].used = false;
        TVLM_TRY(make_list(device, tiles, &regions->lists[i]));
        regions->count = i + 1;
    }
    return regions->entry_count > 0 ? send(device, 0) : TVLM_OK;
}

/* Drops all lists: after a failure, the device may not have them. No tiles have the serial 0. */
static void forget(struct tvlm_opencl_regions *regions) {
    regions->serial = 0;
    regions->count = 0;
    regions->entry_count = 0;
}

static tvlm_status find(opencl_device *device, const tvlm_tiles *tiles, const opencl_region *region,
                        region_list **list) {
    if (device->regions == NULL) {
        device->regions = tvlm_allocate(1, sizeof *device->regions);
        if (device->regions == NULL) return no_memory(device);
    }
    struct tvlm_opencl_regions *regions = device->regions;
    if (regions->serial != tiles->serial) {
        const tvlm_status status = turn(device, tiles);
        if (status != TVLM_OK) {
            forget(regions);
            return status;
        }
    }
    for (int32_t i = 0; i < regions->count; ++i)
        if (memcmp(&regions->lists[i].region, region, sizeof *region) == 0) {
            *list = &regions->lists[i];
            (*list)->used = true;
            return TVLM_OK;
        }
    /* When there is no room, all lists go. Those that are used most come back at once. */
    if (regions->count == LISTS) regions->count = 0, regions->entry_count = 0;
    *list = &regions->lists[regions->count];
    **list = (region_list){.region = *region, .used = true};
    const size_t before = regions->entry_count;
    tvlm_status status = make_list(device, tiles, *list);
    if (status == TVLM_OK) status = send(device, before);
    if (status == TVLM_OK)
        ++regions->count;
    else
        forget(regions);
    return status;
}

/* Halves a side of all blocks, their height or their width, where all of them are even. */
static bool halve(opencl_region *region, bool height) {
    for (int i = 0; i < REGION_PARTS; ++i) {
        const opencl_region_part *const part = &region->parts[i];
        if (part->width > 0 && (height ? part->block_height : part->block_width) % 2 != 0) return false;
    }
    for (int i = 0; i < REGION_PARTS; ++i) {
        opencl_region_part *const part = &region->parts[i];
        *(height ? &part->block_height : &part->block_width) /= 2;
    }
    return true;
}

/* Makes groups lower, or else narrower, with the blocks that they make, until the kernel can have such groups. */
static void fit(const opencl_call *call, opencl_region *region, size_t *width, size_t *height) {
    while (*width * *height > call->most) {
        if (*height % 2 == 0 && halve(region, true))
            *height /= 2;
        else if (*width % 2 == 0 && halve(region, false))
            *width /= 2;
        else
            return;
    }
}

tvlm_status tvlm_opencl_call_run_region(opencl_call *call, const opencl_region *region, size_t group_width,
                                        size_t group_height) {
    opencl_device *device = call->device;
    opencl_region fitted = *region;
    const opencl_region_part *part = &fitted.parts[0];
    region_list *list;
    fit(call, &fitted, &group_width, &group_height);
    TVLM_TRY(tvlm_opencl_call_check(call, group_width * group_height));
    TVLM_TRY(find(device, call->tiles, &fitted, &list));
    if (list->count == 0) return TVLM_OK;
    tvlm_opencl_call_memory(call, device->regions->memory);
    tvlm_opencl_call_int(call, list->first);
    if (call->tiles->texels != NULL && call->out != NULL && part->level == 0 &&
        part->width == call->out->width && part->height == call->out->height)
        *call->tiles->texels += list->texels;
    const size_t size[3] = {(size_t)list->count * group_width, group_height, 1},
                 group[3] = {group_width, group_height, 1};
    return tvlm_opencl_call_run(call, 3, size, group);
}
