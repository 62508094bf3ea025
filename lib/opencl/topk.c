/*
 * topk.c: which of the methods in cl/topk.cl finds the k best, and its launches.
 */
#include <stdio.h>

#include "opencl/backend.h"

enum { RANK_LANES = 16 }; /* as in topk.cl */

static tvlm_status begin(opencl_device *device, const char *name, opencl_call *call) {
    char options[64];
    snprintf(options, sizeof options, "-DTOPK_GROUP=%d -DTOPK_CHUNK=%d", (int)device->tuning.topk_group,
             (int)device->tuning.topk_chunk);
    return opencl_call_begin(device, "topk.cl", name, TVLM_FORMAT_F32, options, call);
}

static tvlm_status by_rank(opencl_device *device, cl_mem scores, int32_t n, int32_t k, cl_mem result) {
    const size_t group = (size_t)device->tuning.topk_group, size = (size_t)n * RANK_LANES;
    opencl_call call;
    TVLM_TRY(begin(device, "topk_rank", &call));
    opencl_call_memory(&call, scores);
    opencl_call_int(&call, n);
    opencl_call_int(&call, k);
    opencl_call_memory(&call, result);
    return opencl_call_run(&call, 1, &size, &group);
}

/* Each launch keeps the best of every chunk; two buffers in turn. */
static tvlm_status by_chunks(opencl_device *device, cl_mem scores, int32_t n, int32_t k, cl_mem result) {
    const int32_t chunk = device->tuning.topk_chunk;
    const size_t group = (size_t)device->tuning.topk_group;
    const int32_t first_chunks = (n + chunk - 1) / chunk;
    cl_mem keys[2];
    TVLM_TRY(opencl_scratch(device, SCRATCH_A, (size_t)first_chunks * (size_t)k * sizeof(cl_ulong), &keys[0]));
    TVLM_TRY(opencl_scratch(device, SCRATCH_B, (size_t)first_chunks * (size_t)k * sizeof(cl_ulong), &keys[1]));
    int32_t chunks = 0;
    for (int round = 0; chunks != 1; ++round) {
        chunks = (n + chunk - 1) / chunk;
        const size_t size = (size_t)chunks * group;
        opencl_call call;
        TVLM_TRY(begin(device, "topk_chunk", &call));
        opencl_call_memory(&call, scores);
        opencl_call_memory(&call, keys[(round + 1) & 1]);
        opencl_call_int(&call, round == 0);
        opencl_call_int(&call, n);
        opencl_call_int(&call, k);
        opencl_call_memory(&call, keys[round & 1]);
        opencl_call_memory(&call, result);
        TVLM_TRY(opencl_call_run(&call, 1, &size, &group));
        n = chunks * k;
    }
    return TVLM_OK;
}

static tvlm_status merge_step(opencl_device *device, cl_mem keys, int64_t padded, int64_t run, int64_t apart) {
    const size_t size = (size_t)padded / 2;
    opencl_call call;
    TVLM_TRY(begin(device, "topk_exchange", &call));
    opencl_call_memory(&call, keys);
    opencl_call_int(&call, (int32_t)run);
    opencl_call_int(&call, (int32_t)apart);
    return opencl_call_run(&call, 1, &size, NULL);
}

/* All n sorted: chunks first, then runs of twice the length until one is left. */
static tvlm_status by_sorting(opencl_device *device, cl_mem scores, int32_t n, int32_t k, cl_mem result) {
    const int64_t chunk = device->tuning.topk_chunk;
    const size_t group = (size_t)device->tuning.topk_group;
    int64_t padded = chunk;
    while (padded < n) padded *= 2;
    const size_t size = (size_t)padded, groups = size / (size_t)chunk * group;
    cl_mem keys;
    opencl_call call;
    TVLM_TRY(opencl_scratch(device, SCRATCH_A, size * sizeof(cl_ulong), &keys));
    TVLM_TRY(begin(device, "topk_keys", &call));
    opencl_call_memory(&call, scores);
    opencl_call_int(&call, n);
    opencl_call_memory(&call, keys);
    opencl_call_int(&call, (int32_t)padded);
    TVLM_TRY(opencl_call_run_list(&call, size, 1));
    TVLM_TRY(begin(device, "topk_sort", &call));
    opencl_call_memory(&call, keys);
    TVLM_TRY(opencl_call_run(&call, 1, &groups, &group));
    for (int64_t run = 2 * chunk; run <= padded; run *= 2) {
        for (int64_t apart = run / 2; apart >= chunk; apart /= 2)
            TVLM_TRY(merge_step(device, keys, padded, run, apart));
        TVLM_TRY(begin(device, "topk_merge", &call));
        opencl_call_memory(&call, keys);
        opencl_call_int(&call, (int32_t)run);
        TVLM_TRY(opencl_call_run(&call, 1, &groups, &group));
    }
    TVLM_TRY(begin(device, "topk_result", &call));
    opencl_call_memory(&call, keys);
    opencl_call_memory(&call, scores);
    opencl_call_int(&call, k);
    opencl_call_memory(&call, result);
    return opencl_call_run_list(&call, (size_t)k, 1);
}

tvlm_status opencl_topk(tvlm_device *base, tvlm_buffer *scores, int32_t n, int32_t k, tvlm_buffer *result) {
    opencl_device *device = (opencl_device *)base;
    const cl_mem from = ((opencl_buffer *)scores)->memory, to = ((opencl_buffer *)result)->memory;
    if (n <= device->tuning.rank_below) return by_rank(device, from, n, k, to);
    /* Chunks shrink the list only when they keep at most half of themselves; one chunk holds any k. */
    if (n <= device->tuning.topk_chunk || k <= device->tuning.topk_chunk / 2)
        return by_chunks(device, from, n, k, to);
    return by_sorting(device, from, n, k, to);
}
