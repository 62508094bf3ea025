/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distance.c: launches the three stages of cl/distance.cl, by searching on GPUs and by scanning on CPUs.
 */
#include "opencl/distance.h"

#include "core/try.h"

#include <math.h>
#include <stdio.h>

enum { ROW = 256, SCAN = 64, GROUP = 16 }; /* as in distance.cl */

/* What the distance is divided by, and how far a pixel looks. */
static float range_of(const tvlm_texture *out) {
    return (float)(out->width > out->height ? out->width : out->height) / TVLM_DISTANCE_SHARE;
}
static int32_t reach_of(const tvlm_texture *out) {
    return (int32_t)ceilf(range_of(out));
}

/* A distance along one axis (`span` of distance.cl) takes two bytes, or four in images with a side of
 * LONG_SIDE or more. */
enum { LONG_SIDE = 32768 };
static bool has_long_sides(const tvlm_texture *out) {
    return out->width >= LONG_SIDE || out->height >= LONG_SIDE;
}
static size_t span_bytes(const tvlm_texture *out) {
    return has_long_sides(out) ? sizeof(cl_uint) : sizeof(cl_ushort);
}

static size_t search_bytes(const tvlm_texture *out) {
    return (ROW + 2 * (size_t)reach_of(out)) * span_bytes(out);
}
static size_t words_of(const tvlm_texture *out) {
    return (size_t)(out->height + 31) / 32 * (size_t)out->width * (size_t)out->images;
}

/* The region that a stage makes again. The mask changes only where ridges may have changed (`near`). The
 * stages after it look for edge pixels along columns (`down`) and along rows (`across`), so their results
 * change as far away as they look. */
static opencl_region region_of(const opencl_call *call, const tvlm_texture *out, bool across, bool down,
                               int32_t block_width, int32_t block_height) {
    opencl_region region = tvlm_opencl_region_of(call->tiles, out, block_width, block_height);
    const int32_t near = call->tiles->reach - reach_of(out);
    if (!across) region.parts[0].reach = near;
    if (!down) region.parts[0].down = near;
    return region;
}

static tvlm_status columns(opencl_device *device, cl_mem mask, const tvlm_texture *out, cl_mem distances,
                           const tvlm_tiles *tiles) {
    const cl_int2 size = {{out->width, out->height}};
    const bool scan = device->tuning.scan_rows;
    opencl_call call;
    TVLM_TRY(tvlm_opencl_call_begin_over(device, tiles, "distance.cl",
                                         scan ? "distance_columns_scan" : "distance_columns_search",
                                         out->format, has_long_sides(out) ? "-DLONG_SIDES=1" : "", &call));
    tvlm_opencl_call_memory(&call, mask);
    tvlm_opencl_call_bytes(&call, sizeof size, &size);
    tvlm_opencl_call_int(&call, reach_of(out));
    tvlm_opencl_call_memory(&call, distances);
    if (tiles != NULL) {
        const opencl_region region = scan ? region_of(&call, out, false, true, SCAN, out->height)
                                          : region_of(&call, out, false, true, GROUP, GROUP);
        return tvlm_opencl_call_run_region(&call, &region, scan ? 1 : GROUP, scan ? 1 : GROUP);
    }
    if (!scan) return tvlm_opencl_call_run_pixels(&call, out->width, out->height, out->images);
    const size_t runs[3] = {(size_t)(out->width + SCAN - 1) / SCAN, 1, (size_t)out->images},
                 one[3] = {1, 1, 1};
    return tvlm_opencl_call_run(&call, 3, runs, one);
}

static tvlm_status begin_rows(opencl_device *device, const char *name, const char *options, cl_mem distances,
                              const tvlm_texture *out, const tvlm_tiles *tiles, opencl_call *call) {
    char all[64];
    snprintf(all, sizeof all, "%s%s", options, has_long_sides(out) ? " -DLONG_SIDES=1" : "");
    TVLM_TRY(tvlm_opencl_call_begin_over(device, tiles, "distance.cl", name, out->format, all, call));
    tvlm_opencl_call_memory(call, distances);
    tvlm_opencl_call_int(call, reach_of(out));
    tvlm_opencl_call_float(call, range_of(out));
    tvlm_opencl_call_scalar(call, out);
    return TVLM_OK;
}

static tvlm_status rows_by_search(opencl_device *device, cl_mem distances, const tvlm_texture *out,
                                  const tvlm_tiles *tiles) {
    const size_t size[3] = {(size_t)out->width, (size_t)out->height, (size_t)out->images};
    const size_t group[3] = {ROW, 1, 1};
    opencl_call call;
    if (search_bytes(out) > device->base.info.local_bytes) {
        TVLM_TRY(begin_rows(device, "distance_rows_search_global", "", distances, out, tiles, &call));
        if (tiles == NULL) return tvlm_opencl_call_run_pixels(&call, out->width, out->height, out->images);
        const opencl_region squares = region_of(&call, out, true, true, GROUP, GROUP);
        return tvlm_opencl_call_run_region(&call, &squares, GROUP, GROUP);
    }
    TVLM_TRY(begin_rows(device, "distance_rows_search", "", distances, out, tiles, &call));
    tvlm_opencl_call_bytes(&call, search_bytes(out), NULL);
    if (tiles == NULL) return tvlm_opencl_call_run(&call, 3, size, group);
    const opencl_region region = region_of(&call, out, true, true, ROW, 1);
    return tvlm_opencl_call_run_region(&call, &region, ROW, 1);
}

/* The two arrays of a row's envelope are in local memory where they fit; otherwise those of all rows are in
 * scratch memory. */
static tvlm_status rows_by_envelope(opencl_device *device, cl_mem distances, const tvlm_texture *out,
                                    const tvlm_tiles *tiles) {
    const size_t size[3] = {1, (size_t)out->height, (size_t)out->images}, one[3] = {1, 1, 1};
    const size_t bytes = (size_t)out->width * sizeof(cl_int);
    const bool local = 2 * bytes <= device->base.info.local_bytes;
    cl_mem places = NULL, starts = NULL;
    opencl_call call;
    TVLM_TRY(begin_rows(device, "distance_rows_envelope", local ? "" : "-DENVELOPE_GLOBAL=1", distances, out,
                        tiles, &call));
    if (local) {
        tvlm_opencl_call_bytes(&call, bytes, NULL);
        tvlm_opencl_call_bytes(&call, bytes, NULL);
    } else {
        TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_C, bytes * size[1] * size[2], &places));
        TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_D, bytes * size[1] * size[2], &starts));
        tvlm_opencl_call_memory(&call, places);
        tvlm_opencl_call_memory(&call, starts);
    }
    if (tiles == NULL) return tvlm_opencl_call_run(&call, 3, size, one);
    const opencl_region region = region_of(&call, out, true, true, out->width, 1);
    return tvlm_opencl_call_run_region(&call, &region, 1, 1);
}

static tvlm_status rows(opencl_device *device, cl_mem distances, const tvlm_texture *out,
                        const tvlm_tiles *tiles) {
    return device->tuning.scan_rows ? rows_by_envelope(device, distances, out, tiles)
                                    : rows_by_search(device, distances, out, tiles);
}

static size_t columns_bytes(const tvlm_texture *out) {
    return (size_t)out->width * (size_t)out->height * (size_t)out->images * span_bytes(out);
}

tvlm_status tvlm_opencl_distance_of_mask(opencl_device *device, cl_mem mask, const tvlm_texture *out) {
    cl_mem distances;
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_B, columns_bytes(out), &distances));
    TVLM_TRY(columns(device, mask, out, distances, NULL));
    return rows(device, distances, out, NULL);
}

static tvlm_status make_mask(opencl_device *device, const tvlm_generate_args *args, cl_mem mask) {
    const tvlm_texture *out = args->out;
    const int32_t run = device->tuning.run;
    char options[32];
    opencl_call call;
    snprintf(options, sizeof options, "-DRUN=%d", (int)run);
    TVLM_TRY(tvlm_opencl_call_begin_over(device, args->tiles, "distance.cl", "distance_mask", out->format,
                                         options, &call));
    tvlm_opencl_call_input(&call, args->grids[TVLM_GRID_VISUAL]);
    tvlm_opencl_call_memory(&call, mask);
    if (args->tiles == NULL)
        return tvlm_opencl_call_run_pixels(&call, (out->width + run - 1) / run, (out->height + 31) / 32,
                                           out->images);
    /* A work-item's word is 32 rows high. */
    const int32_t wide = run > 1 ? (64 + run - 1) / run : 64;
    const opencl_region region = region_of(&call, out, false, false, wide * run, 32);
    return tvlm_opencl_call_run_region(&call, &region, (size_t)wide, 1);
}

tvlm_status tvlm_opencl_distance(tvlm_device *base, const tvlm_generate_args *args) {
    opencl_device *device = (opencl_device *)base;
    const tvlm_texture *out = args->out;
    cl_mem mask, distances;
    TVLM_TRY(tvlm_opencl_between(device, args, TVLM_PRODUCT_DISTANCE_MASK, SCRATCH_A,
                                 words_of(out) * sizeof(cl_uint), &mask));
    TVLM_TRY(tvlm_opencl_between(device, args, TVLM_PRODUCT_DISTANCE_COLUMNS, SCRATCH_B, columns_bytes(out),
                                 &distances));
    TVLM_TRY(make_mask(device, args, mask));
    TVLM_TRY(columns(device, mask, out, distances, args->tiles));
    return rows(device, distances, out, args->tiles);
}
