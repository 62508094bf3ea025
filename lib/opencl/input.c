/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c: launches cl/input.cl: grids that are handed in, and whether they are finite.
 */
#include <stdio.h>

#include "core/try.h"
#include "opencl/backend.h"

/* These are as in cl/input.cl. */
#define CHECK_SPAN   1024
#define INPUT_LAYERS 8

static tvlm_status begin(opencl_device *device, const char *name, tvlm_format format, tvlm_buffer *data,
                         const tvlm_input *input, opencl_call *call) {
    char options[32];
    snprintf(options, sizeof options, "-DINPUT_HALF=%d", input->half);
    TVLM_TRY(tvlm_opencl_call_begin(device, "input.cl", name, format, options, call));
    tvlm_opencl_call_memory(call, ((opencl_buffer *)data)->memory);
    tvlm_opencl_call_ulong(call, input->offset);
    tvlm_opencl_call_ulong(call, input->row_stride);
    tvlm_opencl_call_int4(call, input->columns, input->rows, input->channels, 0);
    return TVLM_OK;
}

/* Runs a kernel that looks for something in what was handed in, and reads what it found. The caller sets
 * *found to the value that means that nothing was found. It keeps that value if nothing is. */
static tvlm_status look(opencl_device *device, const char *name, tvlm_buffer *data, const tvlm_input *input,
                        const size_t size[2], cl_int *found) {
    cl_mem memory;
    opencl_call call;
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_C, sizeof *found, &memory));
    TVLM_TRY(tvlm_opencl_write(device, memory, 0, sizeof *found, found));
    TVLM_TRY(begin(device, name, TVLM_FORMAT_F32, data, input, &call));
    tvlm_opencl_call_memory(&call, memory);
    TVLM_TRY(tvlm_opencl_call_run(&call, 2, size, NULL));
    return tvlm_opencl_read(device, memory, 0, sizeof *found, found);
}

tvlm_status tvlm_opencl_input_check(tvlm_device *base, tvlm_buffer *data, const tvlm_input *input,
                                    int64_t *first) {
    const size_t values = (size_t)input->columns * (size_t)input->channels;
    const size_t size[2] = {(values + CHECK_SPAN - 1) / CHECK_SPAN, (size_t)input->rows};
    cl_int found = TVLM_INPUT_NONE;
    TVLM_TRY(look((opencl_device *)base, "input_check", data, input, size, &found));
    *first = found == TVLM_INPUT_NONE ? -1 : found;
    return TVLM_OK;
}

tvlm_status tvlm_opencl_input_directions(tvlm_device *base, tvlm_buffer *data, const tvlm_input *input,
                                         bool *any) {
    const size_t size[2] = {(size_t)input->columns, (size_t)input->rows};
    cl_int found = 0;
    TVLM_TRY(look((opencl_device *)base, "input_directions", data, input, size, &found));
    *any = found != 0;
    return TVLM_OK;
}

tvlm_status tvlm_opencl_input(tvlm_device *base, tvlm_buffer *data, const tvlm_input *input, int32_t image,
                              tvlm_texture *out) {
    const float *low = input->low, *high = input->high, *fill = input->fill;
    opencl_call call;
    TVLM_TRY(begin((opencl_device *)base, "input", out->format, data, input, &call));
    tvlm_opencl_call_int(&call, input->mode);
    tvlm_opencl_call_float4(&call, low[0], low[1], low[2], low[3]);
    tvlm_opencl_call_float4(&call, high[0], high[1], high[2], high[3]);
    tvlm_opencl_call_float4(&call, fill[0], fill[1], fill[2], fill[3]);
    tvlm_opencl_call_int(&call, image);
    tvlm_opencl_call_output(&call, out);
    return tvlm_opencl_call_run_pixels(
        &call, out->width, out->height,
        input->mode == TVLM_INPUT_UNIT ? 1 : (out->layers + INPUT_LAYERS - 1) / INPUT_LAYERS);
}
