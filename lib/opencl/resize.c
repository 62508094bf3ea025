/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize.c: launches the two passes of cl/resize.cl.
 */
#include <stdio.h>

#include "core/try.h"
#include "opencl/backend.h"

/* How many pixels of the first pass, and how many bytes of the second, a work-item makes on CPUs. */
#define RUN_PIXELS 64
#define RUN_BYTES  256

/* Begins a pass over the pixels of a picture. A work-item makes *run pixels beside each other. */
static tvlm_status begin(opencl_device *device, const char *name, cl_mem pixels, const tvlm_pixels *layout,
                         int *run, opencl_call *call) {
    char options[64];
    *run = device->tuning.scan_rows ? RUN_PIXELS : 1;
    snprintf(options, sizeof options, "-DPIXEL_CHANNELS=%d -DRUN=%d", (int)layout->channels, *run);
    TVLM_TRY(tvlm_opencl_call_begin(device, "resize.cl", name, TVLM_FORMAT_F32, options, call));
    tvlm_opencl_call_memory(call, pixels);
    tvlm_opencl_call_ulong(call, layout->offset);
    tvlm_opencl_call_ulong(call, layout->row_stride);
    return TVLM_OK;
}

/* The pass along rows: `count` rows from first_row on. */
static tvlm_status rows(opencl_device *device, cl_mem pixels, const tvlm_pixels *layout, int32_t first_row,
                        int32_t count, tvlm_buffer *table, const tvlm_resize *plan, cl_mem out,
                        size_t offset) {
    opencl_call call;
    int run;
    TVLM_TRY(begin(device, "resize_rows", pixels, layout, &run, &call));
    tvlm_opencl_call_int(&call, first_row);
    tvlm_opencl_call_int(&call, count);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)table)->memory);
    tvlm_opencl_call_int(&call, plan->x.offset);
    tvlm_opencl_call_int(&call, plan->x.taps);
    tvlm_opencl_call_int(&call, plan->x.size);
    tvlm_opencl_call_memory(&call, out);
    tvlm_opencl_call_ulong(&call, offset);
    return tvlm_opencl_call_run_pixels(&call, (plan->x.size + run - 1) / run, count, 1);
}

static tvlm_status columns(opencl_device *device, tvlm_buffer *table, const tvlm_resize *plan, cl_mem between,
                           tvlm_buffer *out, size_t offset) {
    const int run = device->tuning.scan_rows ? RUN_BYTES : 1;
    char options[64];
    opencl_call call;
    snprintf(options, sizeof options, "-DRUN=%d", run);
    TVLM_TRY(tvlm_opencl_call_begin(device, "resize.cl", "resize_columns", TVLM_FORMAT_F32, options, &call));
    tvlm_opencl_call_memory(&call, between);
    tvlm_opencl_call_int(&call, 3 * plan->x.size);
    tvlm_opencl_call_int(&call, plan->first_row);
    tvlm_opencl_call_int(&call, plan->y.size);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)table)->memory);
    tvlm_opencl_call_int(&call, plan->y.offset);
    tvlm_opencl_call_int(&call, plan->y.taps);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)out)->memory);
    tvlm_opencl_call_ulong(&call, offset);
    return tvlm_opencl_call_run_pixels(&call, (3 * plan->x.size + run - 1) / run, plan->y.size, 1);
}

/* Runs the pass along columns before the other one, for all columns of the source. */
static tvlm_status columns_first(opencl_device *device, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                 tvlm_buffer *table, const tvlm_resize *plan, cl_mem between) {
    opencl_call call;
    int run;
    TVLM_TRY(begin(device, "resize_columns_first", ((opencl_buffer *)pixels)->memory, layout, &run, &call));
    tvlm_opencl_call_int(&call, layout->width);
    tvlm_opencl_call_int(&call, plan->y.size);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)table)->memory);
    tvlm_opencl_call_int(&call, plan->y.offset);
    tvlm_opencl_call_int(&call, plan->y.taps);
    tvlm_opencl_call_memory(&call, between);
    return tvlm_opencl_call_run_pixels(&call, (layout->width + run - 1) / run, plan->y.size, 1);
}

tvlm_status tvlm_opencl_resize(tvlm_device *base, tvlm_buffer *pixels, const tvlm_pixels *layout,
                               tvlm_buffer *table, const tvlm_resize *plan, tvlm_buffer *out, size_t offset) {
    OPENCL_TUNED(base, TVLM_TUNED_EXPORT, (double)plan->x.size * plan->y.size);
    opencl_device *device = (opencl_device *)base;
    cl_mem between;
    if (plan->columns_first) {
        const size_t row = (size_t)layout->width * 3;
        const tvlm_pixels rgb = {layout->width, plan->y.size, 3, TVLM_PIXEL_U8, 0, row};
        TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_A, row * (size_t)plan->y.size, &between));
        TVLM_TRY(columns_first(device, pixels, layout, table, plan, between));
        return rows(device, between, &rgb, 0, plan->y.size, table, plan, ((opencl_buffer *)out)->memory,
                    offset);
    }
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_A, (size_t)plan->x.size * (size_t)plan->rows * 3, &between));
    TVLM_TRY(rows(device, ((opencl_buffer *)pixels)->memory, layout, plan->first_row, plan->rows, table, plan,
                  between, 0));
    return columns(device, table, plan, between, out, offset);
}
