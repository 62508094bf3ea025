/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporal.c: launches cl/temporal.cl: remembers a frame, and moves what was remembered into the next.
 */
#include "core/try.h"
#include "opencl/backend.h"

/* As in cl/temporal.cl. */
enum { HAS_RELEVANCE = 1, HAS_TEMPORAL = 2 };

static tvlm_status begin(tvlm_device *device, const char *name, const tvlm_texture *out, opencl_call *call) {
    return tvlm_opencl_call_begin((opencl_device *)device, "temporal.cl", name, out->format, "", call);
}

tvlm_status tvlm_opencl_relevance(tvlm_device *device, tvlm_buffer *scores, tvlm_texture *out) {
    opencl_call call;
    TVLM_TRY(begin(device, "temporal_relevance", out, &call));
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)scores)->memory);
    tvlm_opencl_call_output(&call, out);
    return tvlm_opencl_call_run_pixels(&call, out->width, out->height, 1);
}

static void input_or_empty(opencl_call *call, const tvlm_texture *texture) {
    tvlm_opencl_call_input(call, texture != NULL ? texture : call->device->empty);
}

tvlm_status tvlm_opencl_remember(tvlm_device *device, const tvlm_remember_args *args, tvlm_texture *out) {
    const int32_t relevance = args->relevance != NULL ? HAS_RELEVANCE : 0;
    const int32_t temporal = args->temporal != NULL ? HAS_TEMPORAL : 0;
    const float reach = TVLM_FIXATION_REACH * args->sigma;
    opencl_call call;
    TVLM_TRY(begin(device, "temporal_remember", out, &call));
    input_or_empty(&call, args->relevance);
    tvlm_opencl_call_input(&call, args->saliency);
    input_or_empty(&call, args->temporal);
    tvlm_opencl_call_int(&call, relevance | temporal);
    tvlm_opencl_call_int(&call, args->component);
    tvlm_opencl_call_int(&call, args->image);
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)args->positions)->memory);
    tvlm_opencl_call_int(&call, args->count);
    tvlm_opencl_call_float4(&call, args->decay, -0.5f / (args->sigma * args->sigma), reach * reach, 0.0f);
    tvlm_opencl_call_output(&call, out);
    return tvlm_opencl_call_run_pixels(&call, out->width, out->height, 1);
}

/* Makes `count` images from `first` on, which are carried alike. */
static tvlm_status move(tvlm_device *device, const tvlm_generate_args *args, int32_t first, int32_t count) {
    const tvlm_carry *carry = &args->carry[first];
    const tvlm_texture *source = args->grids[TVLM_GRID_SOURCE];
    const cl_float2 view = {{source->extent_x, source->extent_y}};
    opencl_call call;
    TVLM_TRY(begin(device, "temporal", args->out, &call));
    tvlm_opencl_call_input(&call, args->previous[TVLM_PREVIOUS_STATE]);
    input_or_empty(&call, carry->flow ? args->grids[TVLM_GRID_FLOW] : NULL);
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
        TVLM_TRY(begin(device, "temporal_none", out, &call));
        tvlm_opencl_call_output(&call, out);
        return tvlm_opencl_call_run_pixels(&call, out->width, out->height, out->images);
    }
    for (int32_t first = 0, next; first < out->images; first = next) {
        for (next = first + 1; next < out->images && alike(&args->carry[first], &args->carry[next]);) ++next;
        TVLM_TRY(move(device, args, first, next - first));
    }
    return TVLM_OK;
}
