/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c: launches cl/source.cl: turns pixels into the source, all of them or changed tiles, and finds
 * which tiles changed.
 */
#include <stdio.h>

#include "core/try.h"
#include "opencl/backend.h"

/* How many rows of a tile a work-group makes. */
enum { TILE_ROWS = 16 };

void tvlm_opencl_pixel_options(const tvlm_pixels *layout, char options[48]) {
    const int type = layout->type == TVLM_PIXEL_U8    ? TVLM_PIXELS_U8
                     : layout->type == TVLM_PIXEL_U16 ? TVLM_PIXELS_U16
                                                      : TVLM_PIXELS_F32;
    snprintf(options, 48, "-DPIXEL_TYPE=%d -DPIXEL_CHANNELS=%d", type, (int)layout->channels);
}

void tvlm_opencl_call_pixels(opencl_call *call, tvlm_buffer *pixels, const tvlm_pixels *layout,
                             int32_t image) {
    tvlm_opencl_call_memory(call, ((opencl_buffer *)pixels)->memory);
    tvlm_opencl_call_ulong(call, layout->offset);
    tvlm_opencl_call_ulong(call, layout->row_stride);
    tvlm_opencl_call_int(call, image);
}

static tvlm_status begin(opencl_device *device, const tvlm_tiles *tiles, const char *name,
                         tvlm_buffer *pixels, const tvlm_pixels *layout, int32_t image,
                         const tvlm_texture *source, opencl_call *call) {
    char pixel_options[48], options[80];
    tvlm_opencl_pixel_options(layout, pixel_options);
    snprintf(options, sizeof options, "%s -DRUN=%d %s", pixel_options, (int)device->tuning.run,
             tvlm_opencl_ragged_option(source));
    TVLM_TRY(tvlm_opencl_call_begin_over(device, tiles, "source.cl", name, source->format, options, call));
    tvlm_opencl_call_pixels(call, pixels, layout, image);
    return TVLM_OK;
}

tvlm_status tvlm_opencl_source(tvlm_device *base, tvlm_buffer *pixels, const tvlm_pixels *layout,
                               int32_t image, tvlm_texture *out) {
    OPENCL_TUNED(base, TVLM_TUNED_SOURCE, (double)out->width * out->height);
    opencl_call call;
    if (tvlm_opencl_mips_from_pixels_fits((opencl_device *)base, out))
        return tvlm_opencl_mips_from_pixels((opencl_device *)base, pixels, layout, out);
    TVLM_TRY(begin((opencl_device *)base, NULL, "source", pixels, layout, image, out, &call));
    tvlm_opencl_call_output(&call, out);
    const int32_t width = out->parts != NULL ? out->parts[image].width : out->width;
    const int32_t height = out->parts != NULL ? out->parts[image].height : out->height;
    const int32_t run = call.device->tuning.run;
    return tvlm_opencl_call_run_pixels(&call, (width + run - 1) / run, height, 1);
}

/* On CPUs a row has one work-item, which makes a plain loop over x. A group has TILE_ROWS rows, as the kernels ask for, and is as
 * wide as the kernel's registers allow. */
static size_t group_width(const opencl_call *call) {
    size_t width = (size_t)call->device->tuning.tile_group_width;
    while (width > 1 && width * TILE_ROWS > call->most) width /= 2;
    return width;
}

/*
 * Makes the list of the parts of changed tiles. The source has a list of its own, because the z of an entry
 * is the number of the tile among those that changed. The lists of region.c do not have that number. The list
 * is short, since tiles are few.
 */
static tvlm_status list_tiles(opencl_device *device, const tvlm_tiles *tiles, cl_mem *list, size_t *count) {
    const size_t parts = (size_t)(tiles->side / TILE_ROWS), most = (size_t)tiles->count * parts;
    cl_uint2 *entries = tvlm_allocate(most, sizeof *entries);
    cl_uint number = 0;
    *count = 0;
    if (entries == NULL) return tvlm_fail(&device->base.log, TVLM_ERROR_MEMORY, "out of memory for tiles");
    for (int32_t row = 0; row < tiles->rows; ++row)
        for (int32_t column = 0; column < tiles->columns; ++column) {
            if (!tiles->changed[(size_t)row * (size_t)tiles->columns + (size_t)column]) continue;
            for (size_t part = 0; part < parts; ++part) {
                const cl_uint y = (cl_uint)((size_t)row * parts + part);
                if ((int32_t)y * TILE_ROWS < tiles->height)
                    entries[(*count)++] = (cl_uint2){{(cl_uint)column | y << 16, number}};
            }
            ++number;
        }
    const size_t bytes = *count * sizeof *entries;
    tvlm_status status = tvlm_opencl_scratch(device, SCRATCH_A, bytes, list);
    if (status == TVLM_OK) status = tvlm_opencl_write(device, *list, 0, bytes, entries);
    free(entries);
    return status;
}

tvlm_status tvlm_opencl_source_tiles(tvlm_device *base, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                     bool packed, const tvlm_tiles *tiles, tvlm_texture *out) {
    opencl_device *device = (opencl_device *)base;
    cl_mem list;
    size_t count;
    opencl_call call;
    if (tiles->count == 0) return TVLM_OK;
    TVLM_TRY(list_tiles(device, tiles, &list, &count));
    TVLM_TRY(begin(device, tiles, "source_tiles", pixels, layout, tiles->image, out, &call));
    tvlm_opencl_call_int(&call, tiles->side);
    tvlm_opencl_call_int(&call, TILE_ROWS);
    tvlm_opencl_call_int(&call, packed);
    tvlm_opencl_call_output(&call, out);
    tvlm_opencl_call_memory(&call, list);
    tvlm_opencl_call_int(&call, 0);
    const size_t group[2] = {group_width(&call), TILE_ROWS}, size[2] = {count * group[0], TILE_ROWS};
    TVLM_TRY(tvlm_opencl_call_check(&call, group[0] * group[1]));
    return tvlm_opencl_call_run(&call, 2, size, group);
}

tvlm_status tvlm_opencl_source_changed(tvlm_device *base, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                       int32_t image, const tvlm_texture *source, int32_t side,
                                       float threshold, int32_t *changed) {
    opencl_device *device = (opencl_device *)base;
    const size_t columns = (size_t)((source->width + side - 1) / side),
                 rows = (size_t)((source->height + side - 1) / side),
                 bytes = columns * rows * sizeof *changed;
    const cl_int none = 0;
    cl_mem flags;
    opencl_call call;
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_A, bytes, &flags));
    const cl_int error =
        clEnqueueFillBuffer(device->queue, flags, &none, sizeof none, 0, bytes, 0, NULL, NULL);
    if (error != CL_SUCCESS) return tvlm_opencl_fail(base, error, "clEnqueueFillBuffer");
    TVLM_TRY(begin(device, NULL, "source_changed", pixels, layout, image, source, &call));
    const size_t group[2] = {group_width(&call), TILE_ROWS};
    const size_t size[2] = {columns * group[0], rows * (size_t)side};
    TVLM_TRY(tvlm_opencl_call_check(&call, group[0] * group[1]));
    tvlm_opencl_call_int(&call, side);
    tvlm_opencl_call_int(&call, TILE_ROWS);
    tvlm_opencl_call_input(&call, source);
    tvlm_opencl_call_float(&call, threshold);
    tvlm_opencl_call_memory(&call, flags);
    TVLM_TRY(tvlm_opencl_call_run(&call, 2, size, group));
    return tvlm_opencl_read(device, flags, 0, bytes, changed);
}
