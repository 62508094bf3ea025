/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporal.c: launches cl/temporal.cl: remembers a frame, and moves what was remembered into the next.
 */
#include <stdio.h>

#include "core/try.h"
#include "opencl/backend.h"

/* As in cl/temporal.cl. */
enum { HAS_RELEVANCE = 1, HAS_TEMPORAL = 2, HAS_SCORES = 4, MAKES_STATE = 8, MAKES_LUMA = 16 };

static tvlm_status begin(tvlm_device *base, const char *name, tvlm_format format, opencl_call *call) {
    opencl_device *device = (opencl_device *)base;
    char options[24];
    snprintf(options, sizeof options, "-DRUN=%d", (int)device->tuning.run);
    return tvlm_opencl_call_begin(device, "temporal.cl", name, format, options, call);
}

tvlm_status tvlm_opencl_relevance(tvlm_device *device, tvlm_buffer *scores, tvlm_texture *out) {
    opencl_call call;
    TVLM_TRY(begin(device, "temporal_relevance", out->format, &call));
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)scores)->memory);
    tvlm_opencl_call_output(&call, out);
    return tvlm_opencl_call_run_pixels(&call, out->width, out->height, 1);
}

static const tvlm_texture *either(const tvlm_texture *texture, const tvlm_texture *other) {
    return texture != NULL ? texture : other;
}

/* Passes the textures that are read. Where one is missing, another one is passed in its place, which the
 * kernel does not read there. */
static void pass_inputs(opencl_call *call, const tvlm_remember_args *args) {
    const tvlm_texture *const any =
        either(either(args->relevance, args->saliency), either(args->temporal, args->source));
    tvlm_opencl_call_unused(call, either(args->relevance, any));
    tvlm_opencl_call_unused(call, either(args->saliency, any));
    tvlm_opencl_call_unused(call, either(args->temporal, any));
    tvlm_opencl_call_unused(call, either(args->source, any));
}

static void memory_or_other(opencl_call *call, const tvlm_buffer *buffer, cl_mem other) {
    tvlm_opencl_call_memory(call, buffer != NULL ? ((const opencl_buffer *)buffer)->memory : other);
}

static int32_t what_is_there(const tvlm_remember_args *args) {
    const int32_t relevance = args->relevance != NULL ? HAS_RELEVANCE : args->scores != NULL ? HAS_SCORES : 0;
    return relevance | (args->temporal != NULL ? HAS_TEMPORAL : 0) | (args->state != NULL ? MAKES_STATE : 0) |
           (args->luma != NULL ? MAKES_LUMA : 0);
}

/* Passes the textures that are made. Where one is not wanted, the other one is passed in its place, too, and
 * is not written there. */
static void pass_outputs(opencl_call *call, tvlm_texture *state, tvlm_texture *luma) {
    if (state != NULL)
        tvlm_opencl_call_output(call, state);
    else
        tvlm_opencl_call_scalar(call, luma);
    if (luma != NULL)
        tvlm_opencl_call_scalar(call, luma);
    else
        tvlm_opencl_call_output(call, state);
}

/* How many work-items a row has, and how many rows there are: enough for both textures. */
static void size_of(const tvlm_remember_args *args, int32_t run, int32_t size[2]) {
    size[0] = size[1] = 1;
    if (args->state != NULL) {
        size[0] = args->state->width;
        size[1] = args->state->height;
    }
    if (args->luma != NULL) {
        const int32_t runs = (args->luma->width + run - 1) / run;
        if (size[0] < runs) size[0] = runs;
        if (size[1] < args->luma->height) size[1] = args->luma->height;
    }
}

tvlm_status tvlm_opencl_remember(tvlm_device *base, const tvlm_remember_args *args) {
    opencl_device *device = (opencl_device *)base;
    const float reach = TVLM_FIXATION_REACH * args->sigma;
    const cl_int2 span = {{(int32_t)args->positions_at, args->count}};
    const tvlm_format format = args->state != NULL ? args->state->format : args->luma->format;
    int32_t size[2];
    cl_mem nothing;
    opencl_call call;
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_C, sizeof(cl_float), &nothing));
    TVLM_TRY(begin(base, "temporal_remember", format, &call));
    pass_inputs(&call, args);
    tvlm_opencl_call_int(&call, what_is_there(args));
    tvlm_opencl_call_int(&call, args->component);
    tvlm_opencl_call_int(&call, args->image);
    memory_or_other(&call, args->scores, nothing);
    memory_or_other(&call, args->positions, nothing);
    tvlm_opencl_call_bytes(&call, sizeof span, &span);
    tvlm_opencl_call_float4(&call, args->decay, -0.5f / (args->sigma * args->sigma), reach * reach, 0.0f);
    pass_outputs(&call, args->state, args->luma);
    size_of(args, device->tuning.run, size);
    return tvlm_opencl_call_run_pixels(&call, size[0], size[1], 1);
}

/* Makes `count` images from `first` on, which are carried alike. */
static tvlm_status move(tvlm_device *device, const tvlm_generate_args *args, int32_t first, int32_t count) {
    const tvlm_carry *carry = &args->carry[first];
    const tvlm_texture *source = args->grids[TVLM_GRID_SOURCE], *state = args->previous[TVLM_PREVIOUS_STATE];
    const cl_float2 view = {{source->extent_x, source->extent_y}};
    opencl_call call;
    TVLM_TRY(begin(device, "temporal", args->out->format, &call));
    tvlm_opencl_call_input(&call, state);
    tvlm_opencl_call_input(&call, carry->flow ? args->grids[TVLM_GRID_FLOW] : state);
    tvlm_opencl_call_int(&call, carry->flow);
    tvlm_opencl_call_float(&call, carry->confidence);
    tvlm_opencl_call_bytes(&call, sizeof view, &view);
    tvlm_opencl_call_int(&call, first);
    tvlm_opencl_call_output(&call, args->out);
    return tvlm_opencl_call_run_pixels(&call, args->out->width, args->out->height, count);
}

static bool alike(const tvlm_carry *a, const tvlm_carry *b) {
    return a->flow == b->flow && a->confidence == b->confidence;
}

tvlm_status tvlm_opencl_temporal(tvlm_device *device, const tvlm_generate_args *args) {
    tvlm_texture *out = args->out;
    if (args->previous == NULL || args->previous[TVLM_PREVIOUS_STATE] == NULL) {
        opencl_call call;
        TVLM_TRY(begin(device, "temporal_none", out->format, &call));
        tvlm_opencl_call_output(&call, out);
        return tvlm_opencl_call_run_pixels(&call, out->width, out->height, out->images);
    }
    for (int32_t first = 0, next; first < out->images; first = next) {
        for (next = first + 1; next < out->images && alike(&args->carry[first], &args->carry[next]);) ++next;
        TVLM_TRY(move(device, args, first, next - first));
    }
    return TVLM_OK;
}
