#include "opencl/distance.h"

#include <math.h>
#include <stdio.h>

enum { ROW = 256, SCAN = 64 }; /* as in distance.cl */

/* How far anything looks, and what the distance is divided by. */
static float range_of(const tvlm_texture *out) {
    return (float)(out->width > out->height ? out->width : out->height) / TVLM_DISTANCE_SHARE;
}
static int32_t reach_of(const tvlm_texture *out) {
    return (int32_t)ceilf(range_of(out));
}

static size_t words_of(const tvlm_texture *out) {
    return (size_t)(out->height + 31) / 32 * (size_t)out->width * (size_t)out->images;
}

static tvlm_status columns(opencl_device *device, cl_mem mask, const tvlm_texture *out, cl_mem distances) {
    const cl_int2 size = {{out->width, out->height}};
    const bool scan = device->tuning.scan_rows;
    opencl_call call;
    TVLM_TRY(opencl_call_begin(device, "distance.cl",
                               scan ? "distance_columns_scan" : "distance_columns_search", out->format, "",
                               &call));
    opencl_call_memory(&call, mask);
    opencl_call_bytes(&call, sizeof size, &size);
    opencl_call_int(&call, reach_of(out));
    opencl_call_memory(&call, distances);
    if (!scan) return opencl_call_run_pixels(&call, out->width, out->height, out->images);
    const size_t runs[2] = {(size_t)(out->width + SCAN - 1) / SCAN, (size_t)out->images}, one[2] = {1, 1};
    return opencl_call_run(&call, 2, runs, one);
}

static tvlm_status rows(opencl_device *device, cl_mem distances, const tvlm_texture *out) {
    const size_t width = (size_t)out->width, height = (size_t)out->height, images = (size_t)out->images;
    /* The envelope needs local memory for a whole row. */
    const bool envelope =
        device->tuning.scan_rows && 2 * sizeof(cl_int) * width <= device->base.info.local_bytes;
    opencl_call call;
    TVLM_TRY(opencl_call_begin(device, "distance.cl",
                               envelope ? "distance_rows_envelope" : "distance_rows_search", out->format, "",
                               &call));
    opencl_call_memory(&call, distances);
    opencl_call_int(&call, reach_of(out));
    opencl_call_float(&call, range_of(out));
    opencl_call_output(&call, out);
    if (envelope) {
        const size_t size[2] = {height, images}, one[2] = {1, 1};
        opencl_call_bytes(&call, width * sizeof(cl_int), NULL);
        opencl_call_bytes(&call, width * sizeof(cl_int), NULL);
        return opencl_call_run(&call, 2, size, one);
    }
    const size_t size[3] = {width, height, images}, group[3] = {ROW, 1, 1};
    opencl_call_bytes(&call, (ROW + 2 * (size_t)reach_of(out)) * sizeof(cl_ushort), NULL);
    return opencl_call_run(&call, 3, size, group);
}

tvlm_status opencl_distance_of_mask(opencl_device *device, cl_mem mask, const tvlm_texture *out) {
    const size_t pixels = (size_t)out->width * (size_t)out->height * (size_t)out->images;
    cl_mem distances;
    TVLM_TRY(opencl_scratch(device, SCRATCH_B, pixels * sizeof(cl_ushort), &distances));
    TVLM_TRY(columns(device, mask, out, distances));
    return rows(device, distances, out);
}

tvlm_status tvlm_opencl_distance(tvlm_device *base, const tvlm_generate_args *args) {
    opencl_device *device = (opencl_device *)base;
    const tvlm_texture *out = args->out;
    const int32_t run = device->tuning.run;
    char options[32];
    cl_mem mask;
    opencl_call call;
    TVLM_TRY(opencl_scratch(device, SCRATCH_A, words_of(out) * sizeof(cl_uint), &mask));
    snprintf(options, sizeof options, "-DRUN=%d", (int)run);
    TVLM_TRY(opencl_call_begin(device, "distance.cl", "distance_mask", out->format, options, &call));
    opencl_call_input(&call, args->grids[TVLM_GRID_VISUAL]);
    opencl_call_memory(&call, mask);
    TVLM_TRY(
        opencl_call_run_pixels(&call, (out->width + run - 1) / run, (out->height + 31) / 32, out->images));
    return opencl_distance_of_mask(device, mask, out);
}
