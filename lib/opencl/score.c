#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "opencl/backend.h"

typedef struct score_scratch {
    cl_mem parts, program, ranges;
    size_t floats_at; /* bytes into `program`, which is all groups' ints, then all groups' floats */
} score_scratch;

/* Groups as the kernel reads them. One allocation, written with one call. */
static tvlm_status upload_program(opencl_device *device, const tvlm_score_group *groups, int32_t count,
                                  score_scratch *scratch) {
    const size_t ints = TVLM_GROUP_INTS * sizeof(cl_int), floats = TVLM_GROUP_FLOATS * sizeof(cl_float);
    const size_t bytes = (size_t)count * (ints + floats);
    unsigned char *program = tvlm_allocate(bytes, 1);
    if (program == NULL) return tvlm_fail(&device->base.log, TVLM_ERROR_MEMORY, "out of memory for a scorer");
    scratch->floats_at = (size_t)count * ints;
    for (int32_t g = 0; g < count; ++g) {
        const unsigned char *group = (const unsigned char *)&groups[g];
        memcpy(program + (size_t)g * ints, group + offsetof(tvlm_score_group, refs), ints);
        memcpy(program + scratch->floats_at + (size_t)g * floats, group + offsetof(tvlm_score_group, cap), floats);
    }
    tvlm_status status = opencl_scratch(device, SCRATCH_B, bytes, &scratch->program);
    if (status == TVLM_OK) {
        const cl_int error =
            clEnqueueWriteBuffer(device->queue, scratch->program, CL_TRUE, 0, bytes, program, 0, NULL, NULL);
        if (error != CL_SUCCESS) status = opencl_fail(&device->base.log, error, "clEnqueueWriteBuffer");
    }
    free(program);
    return status;
}

static tvlm_status clear_ranges(opencl_device *device, score_scratch *scratch) {
    const cl_int2 empty = {{INT_MAX, INT_MIN}};
    const size_t bytes = TVLM_SCORE_PARTS * sizeof empty;
    TVLM_TRY(opencl_scratch(device, SCRATCH_C, bytes, &scratch->ranges));
    const cl_int error =
        clEnqueueFillBuffer(device->queue, scratch->ranges, &empty, sizeof empty, 0, bytes, 0, NULL, NULL);
    return error == CL_SUCCESS ? TVLM_OK : opencl_fail(&device->base.log, error, "clEnqueueFillBuffer");
}

static tvlm_status begin(opencl_device *device, const tvlm_bundle *bundle, const char *name, opencl_call *call) {
    const tvlm_format format = bundle->count > 0 ? bundle->textures[0]->format : TVLM_FORMAT_F32;
    char bundle_options[48], options[80];
    opencl_bundle_options(bundle, device->tuning.run, bundle_options);
    snprintf(options, sizeof options, "%s -DSCORE_GROUP=%d", bundle_options, (int)device->tuning.score_group);
    return opencl_call_begin(device, "score.cl", name, format, options, call);
}

static tvlm_status parts(opencl_device *device, const tvlm_bundle *bundle, int32_t group_count,
                         const tvlm_candidates *candidates, const score_scratch *scratch) {
    const int32_t runs = (candidates->columns + device->tuning.run - 1) / device->tuning.run;
    const size_t items = (size_t)runs * (size_t)candidates->rows, group = (size_t)device->tuning.score_group;
    const cl_int2 size = {{candidates->columns, candidates->rows}};
    const cl_float2 step = {{candidates->step_x, candidates->step_y}};
    opencl_call call;
    TVLM_TRY(begin(device, bundle, "score_parts", &call));
    opencl_call_bundle(&call, bundle);
    opencl_call_memory(&call, scratch->program);
    opencl_call_int(&call, (int32_t)(scratch->floats_at / sizeof(cl_float)));
    opencl_call_int(&call, group_count);
    opencl_call_bytes(&call, sizeof size, &size);
    opencl_call_bytes(&call, sizeof step, &step);
    opencl_call_float(&call, candidates->level);
    opencl_call_int(&call, candidates->image);
    opencl_call_int(&call, runs);
    opencl_call_memory(&call, scratch->parts);
    opencl_call_memory(&call, scratch->ranges);
    return opencl_call_run(&call, 1, &items, &group);
}

tvlm_status opencl_score(tvlm_device *base, const tvlm_bundle *bundle, const tvlm_score_group *groups,
                         int32_t group_count, const tvlm_score_combination *combination,
                         const tvlm_candidates *candidates, tvlm_buffer *scores) {
    opencl_device *device = (opencl_device *)base;
    const size_t count = (size_t)candidates->columns * (size_t)candidates->rows;
    const float *w = combination->weight;
    const bool *n = combination->normalise;
    score_scratch scratch;
    opencl_call call;
    TVLM_TRY(opencl_scratch(device, SCRATCH_A, TVLM_SCORE_PARTS * count * sizeof(cl_float), &scratch.parts));
    TVLM_TRY(upload_program(device, groups, group_count, &scratch));
    TVLM_TRY(clear_ranges(device, &scratch));
    TVLM_TRY(parts(device, bundle, group_count, candidates, &scratch));
    TVLM_TRY(begin(device, bundle, "score_combine", &call));
    opencl_call_memory(&call, scratch.parts);
    opencl_call_memory(&call, scratch.ranges);
    opencl_call_int(&call, (int32_t)count);
    opencl_call_float4(&call, w[0], w[1], w[2], combination->bias);
    opencl_call_int4(&call, n[0], n[1], n[2], 0);
    opencl_call_memory(&call, ((opencl_buffer *)scores)->memory);
    return opencl_call_run_list(&call, count, 1);
}
