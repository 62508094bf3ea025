/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topk.c: chooses which of the methods in cl/topk.cl and cl/topk_best.cl finds the k best scores, and
 * launches it.
 */
#include <math.h>
#include <stdio.h>

#include "core/try.h"
#include "opencl/backend.h"

/* As in cl/topk.cl. */
enum { DIGIT_BITS = 11 };

static tvlm_status begin(opencl_device *device, const char *name, opencl_call *call) {
    const opencl_tuning *tuning = &device->tuning;
    char options[128];
    snprintf(options, sizeof options, "-DTOPK_GROUP=%d -DTOPK_CHUNK=%d -DSELECT_GROUP=%d -DSELECT_SPAN=%d",
             (int)tuning->topk_group, (int)tuning->topk_chunk, (int)tuning->select_group,
             (int)tuning->select_span);
    return tvlm_opencl_call_begin(device, "topk.cl", name, TVLM_FORMAT_F32, options, call);
}

static tvlm_status by_rank(opencl_device *device, cl_mem scores, int32_t n, int32_t k, cl_mem result) {
    const size_t group = (size_t)device->tuning.topk_group, size = (size_t)n * TOPK_RANK_LANES;
    opencl_call call;
    TVLM_TRY(begin(device, "topk_rank", &call));
    tvlm_opencl_call_memory(&call, scores);
    tvlm_opencl_call_int(&call, n);
    tvlm_opencl_call_int(&call, k);
    tvlm_opencl_call_memory(&call, result);
    return tvlm_opencl_call_run(&call, 1, &size, &group);
}

/* Where keys come from: a list of n keys, or, if `keys` is NULL, the n scores themselves. */
typedef struct key_source {
    cl_mem scores, keys;
    int32_t n;
} key_source;

/* Keeps the best keys of every chunk in each launch, in two buffers in turn, until there is only one
 * chunk. */
static tvlm_status by_chunks(opencl_device *device, key_source from, int32_t k, cl_mem result) {
    const int32_t chunk = device->tuning.topk_chunk, first_chunks = (from.n + chunk - 1) / chunk;
    const size_t group = (size_t)device->tuning.topk_group;
    const size_t bytes = (size_t)first_chunks * (size_t)k * sizeof(cl_ulong);
    cl_mem keys[2];
    int32_t n = from.n, chunks = 0;
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_A, bytes, &keys[0]));
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_B, bytes, &keys[1]));
    for (int round = 0; chunks != 1; ++round) {
        chunks = (n + chunk - 1) / chunk;
        const size_t size = (size_t)chunks * group;
        opencl_call call;
        TVLM_TRY(begin(device, "topk_chunk", &call));
        tvlm_opencl_call_memory(&call, from.scores);
        tvlm_opencl_call_memory(&call, round == 0 && from.keys != NULL ? from.keys : keys[(round + 1) & 1]);
        tvlm_opencl_call_int(&call, round == 0 && from.keys == NULL);
        tvlm_opencl_call_int(&call, n);
        tvlm_opencl_call_int(&call, k);
        tvlm_opencl_call_memory(&call, keys[round & 1]);
        tvlm_opencl_call_memory(&call, result);
        TVLM_TRY(tvlm_opencl_call_run(&call, 1, &size, &group));
        n = chunks * k;
    }
    return TVLM_OK;
}

static tvlm_status merge_step(opencl_device *device, cl_mem keys, int64_t padded, int64_t run,
                              int64_t apart) {
    const size_t size = (size_t)padded / 2;
    opencl_call call;
    TVLM_TRY(begin(device, "topk_exchange", &call));
    tvlm_opencl_call_memory(&call, keys);
    tvlm_opencl_call_int(&call, (int32_t)run);
    tvlm_opencl_call_int(&call, (int32_t)apart);
    return tvlm_opencl_call_run(&call, 1, &size, NULL);
}

/* Sorts a power of two of keys: chunks first, then runs of twice the length until one is left. */
static tvlm_status sort_padded(opencl_device *device, cl_mem keys, int64_t padded) {
    const int64_t chunk = device->tuning.topk_chunk;
    const size_t group = (size_t)device->tuning.topk_group, groups = (size_t)(padded / chunk) * group;
    opencl_call call;
    TVLM_TRY(begin(device, "topk_sort", &call));
    tvlm_opencl_call_memory(&call, keys);
    TVLM_TRY(tvlm_opencl_call_run(&call, 1, &groups, &group));
    for (int64_t run = 2 * chunk; run <= padded; run *= 2) {
        for (int64_t apart = run / 2; apart >= chunk; apart /= 2)
            TVLM_TRY(merge_step(device, keys, padded, run, apart));
        TVLM_TRY(begin(device, "topk_merge", &call));
        tvlm_opencl_call_memory(&call, keys);
        tvlm_opencl_call_int(&call, (int32_t)run);
        TVLM_TRY(tvlm_opencl_call_run(&call, 1, &groups, &group));
    }
    return TVLM_OK;
}

static int64_t padded_count(const opencl_device *device, int32_t n) {
    int64_t padded = device->tuning.topk_chunk;
    while (padded < n) padded *= 2;
    return padded;
}

/* Sorts all keys. A list of keys must have room for padded_count of them. */
static tvlm_status by_sorting(opencl_device *device, key_source from, int32_t k, cl_mem result) {
    const int64_t padded = padded_count(device, from.n);
    cl_mem keys = from.keys;
    opencl_call call;
    if (keys == NULL)
        TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_A, (size_t)padded * sizeof(cl_ulong), &keys));
    TVLM_TRY(begin(device, "topk_pad", &call));
    tvlm_opencl_call_memory(&call, from.scores);
    tvlm_opencl_call_int(&call, from.keys == NULL);
    tvlm_opencl_call_int(&call, from.n);
    tvlm_opencl_call_memory(&call, keys);
    tvlm_opencl_call_int(&call, (int32_t)padded);
    TVLM_TRY(tvlm_opencl_call_run_list(&call, (size_t)padded, 1));
    TVLM_TRY(sort_padded(device, keys, padded));
    TVLM_TRY(begin(device, "topk_result", &call));
    tvlm_opencl_call_memory(&call, keys);
    tvlm_opencl_call_memory(&call, from.scores);
    tvlm_opencl_call_int(&call, k);
    tvlm_opencl_call_memory(&call, result);
    return tvlm_opencl_call_run_list(&call, (size_t)k, 1);
}

/* select_state of cl/topk.cl. */
typedef struct select_state {
    cl_ulong prefix;
    cl_uint remaining, kept;
} select_state;

typedef struct selector {
    cl_mem state, histogram;
    int32_t index_bits;
    size_t size, group;
} selector;

static tvlm_status selector_begin(opencl_device *device, int32_t n, int32_t k, selector *s) {
    const select_state state = {0, (cl_uint)k, 0};
    const cl_uint zero = 0;
    const size_t histogram = sizeof zero << DIGIT_BITS, span = (size_t)device->tuning.select_span;
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_C, sizeof state, &s->state));
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_B, histogram, &s->histogram));
    cl_int error =
        clEnqueueFillBuffer(device->queue, s->state, &state, sizeof state, 0, sizeof state, 0, NULL, NULL);
    if (error == CL_SUCCESS)
        error =
            clEnqueueFillBuffer(device->queue, s->histogram, &zero, sizeof zero, 0, histogram, 0, NULL, NULL);
    if (error != CL_SUCCESS) return tvlm_opencl_fail(&device->base, error, "clEnqueueFillBuffer");
    s->index_bits = 1;
    while ((n - 1) >> s->index_bits != 0) ++s->index_bits;
    s->group = (size_t)device->tuning.select_group;
    s->size = ((size_t)n + span - 1) / span * s->group;
    return TVLM_OK;
}

/* Finds one digit of the k-th key: counts, then picks. */
static tvlm_status find_digit(opencl_device *device, cl_mem scores, int32_t n, const selector *s,
                              int32_t shift, int32_t bits) {
    const size_t one = (size_t)device->tuning.topk_group;
    opencl_call call;
    TVLM_TRY(begin(device, "topk_count", &call));
    tvlm_opencl_call_memory(&call, scores);
    tvlm_opencl_call_int(&call, n);
    tvlm_opencl_call_int(&call, s->index_bits);
    tvlm_opencl_call_int(&call, shift);
    tvlm_opencl_call_int(&call, bits);
    tvlm_opencl_call_memory(&call, s->state);
    tvlm_opencl_call_memory(&call, s->histogram);
    TVLM_TRY(tvlm_opencl_call_run(&call, 1, &s->size, &s->group));
    TVLM_TRY(begin(device, "topk_pick", &call));
    tvlm_opencl_call_int(&call, bits);
    tvlm_opencl_call_memory(&call, s->state);
    tvlm_opencl_call_memory(&call, s->histogram);
    return tvlm_opencl_call_run(&call, 1, &one, &one);
}

/* Finds the k-th key digit by digit, then keeps the k keys up to it, and then sorts those. */
static tvlm_status by_selecting(opencl_device *device, cl_mem scores, int32_t n, int32_t k, cl_mem result) {
    selector s;
    key_source kept = {scores, NULL, k};
    opencl_call call;
    TVLM_TRY(selector_begin(device, n, k, &s));
    for (int32_t left = 32 + s.index_bits; left > 0;) {
        const int32_t bits = left < DIGIT_BITS ? left : DIGIT_BITS;
        left -= bits;
        TVLM_TRY(find_digit(device, scores, n, &s, left, bits));
    }
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_D, (size_t)padded_count(device, k) * sizeof(cl_ulong),
                                 &kept.keys));
    TVLM_TRY(begin(device, "topk_keep", &call));
    tvlm_opencl_call_memory(&call, scores);
    tvlm_opencl_call_int(&call, n);
    tvlm_opencl_call_int(&call, s.index_bits);
    tvlm_opencl_call_memory(&call, s.state);
    tvlm_opencl_call_memory(&call, kept.keys);
    TVLM_TRY(tvlm_opencl_call_run(&call, 1, &s.size, &s.group));
    return k <= device->tuning.topk_chunk ? by_chunks(device, kept, k, result)
                                          : by_sorting(device, kept, k, result);
}

static tvlm_status begin_best(opencl_device *device, const char *name, opencl_call *call) {
    char options[32];
    snprintf(options, sizeof options, "-DTOPK_CHUNK=%d", (int)device->tuning.topk_chunk);
    return tvlm_opencl_call_begin(device, "topk_best.cl", name, TVLM_FORMAT_F32, options, call);
}

/* A list of `total` scores, of which the best k are looked for. `bound` NULL: nothing is known of them. */
typedef struct best_list {
    cl_mem scores, bound;
    int32_t total, k;
} best_list;

/* One round of topk_best: over the scores, or over the keys that the first round has kept. */
static tvlm_status best_round(opencl_device *device, const best_list *list, key_source from, int32_t span,
                              cl_mem out, cl_mem result) {
    const size_t one = 1, groups = (size_t)((from.n + span - 1) / span);
    opencl_call call;
    TVLM_TRY(begin_best(device, "topk_best", &call));
    tvlm_opencl_call_memory(&call, from.scores);
    tvlm_opencl_call_memory(&call, from.keys != NULL ? from.keys : from.scores);
    tvlm_opencl_call_int(&call, from.keys == NULL);
    tvlm_opencl_call_int(&call, from.n);
    tvlm_opencl_call_int(&call, span);
    tvlm_opencl_call_int(&call, list->k);
    tvlm_opencl_call_int(&call, list->total);
    tvlm_opencl_call_int(&call, list->bound != NULL);
    tvlm_opencl_call_memory(&call, list->bound != NULL ? list->bound : from.scores);
    tvlm_opencl_call_memory(&call, out);
    tvlm_opencl_call_memory(&call, result);
    return tvlm_opencl_call_run(&call, 1, &groups, &one);
}

/* Of fewer, spans keep so few that are not needed that a sample takes longer. */
enum { SAMPLED_FROM = 64 };

/*
 * The place in a sample of `count` scores before which the best k of all should be: as many as they have there on
 * average, four deviations of that, and some for averages below 1. For 273 of a million by a sample of 2048 that is
 * 8, where .5 are expected: 8 come once in ten million lists that are in no order.
 */
static int32_t sampled_rank(const best_list *list, int32_t count) {
    const double expected = (double)list->k * count / list->total;
    return (int32_t)(expected + 4.0 * sqrt(expected) + 5.0);
}

/* Finds a bound by a sample, where that saves anything. */
static tvlm_status find_bound(opencl_device *device, best_list *list) {
    const size_t one = 1;
    const int32_t most = device->tuning.topk_chunk, count = list->total < most ? list->total : most;
    const int32_t rank = sampled_rank(list, count);
    opencl_call call;
    if (list->k < SAMPLED_FROM || rank >= count) return TVLM_OK;
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_B, sizeof(cl_ulong), &list->bound));
    TVLM_TRY(begin_best(device, "topk_bound", &call));
    tvlm_opencl_call_memory(&call, list->scores);
    tvlm_opencl_call_int(&call, list->total);
    tvlm_opencl_call_int(&call, count);
    tvlm_opencl_call_int(&call, rank);
    tvlm_opencl_call_memory(&call, list->bound);
    return tvlm_opencl_call_run(&call, 1, &one, &one);
}

/* Keeps the best k of each span of scores, and then the best k of those. */
static tvlm_status by_best(opencl_device *device, key_source from, int32_t k, cl_mem result) {
    const int32_t span = device->tuning.select_span, spans = (from.n + span - 1) / span;
    best_list list = {from.scores, NULL, from.n, k};
    if (spans == 1) return best_round(device, &list, from, span, result, result);
    key_source kept = {from.scores, NULL, spans * k};
    TVLM_TRY(find_bound(device, &list));
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_A, (size_t)kept.n * sizeof(cl_ulong), &kept.keys));
    TVLM_TRY(best_round(device, &list, from, span, kept.keys, result));
    return best_round(device, &list, kept, kept.n, kept.keys, result);
}

tvlm_status tvlm_opencl_topk(tvlm_device *base, tvlm_buffer *scores, int32_t n, int32_t k,
                             tvlm_buffer *result) {
    OPENCL_TUNED(base, TVLM_TUNED_TOPK, (double)n * (double)TVLM_TUNED_CELL);
    opencl_device *device = (opencl_device *)base;
    const opencl_tuning *tuning = &device->tuning;
    const key_source from = {((opencl_buffer *)scores)->memory, NULL, n};
    const cl_mem to = ((opencl_buffer *)result)->memory;
    /* In this method one work-item goes over a long list alone. */
    if (tuning->best_alone && !device->short_loops && k <= tuning->topk_chunk / 2)
        return by_best(device, from, k, to);
    if (n <= tuning->rank_below) return by_rank(device, from.scores, n, k, to);
    /*
     * Where most keys are kept anyway, selecting saves nothing. Nor does it on GPUs for n below 32768:
     *
     *   - Chunks that are sorted in local memory take 3 launches for the best 273. Selecting takes 12
     *     launches and two fills (tests/test_counts.c). A launch takes some 6 us.
     *   - A group that sorts 4096 keys took 42 us on an NVIDIA H200, so that 3 chunks with their barriers are
     *     no dearer.
     *
     * Neither method has been measured whole on a GPU. `tvlm devices --tune` tries 8192, too.
     */
    if (n >= tuning->select_from && k <= n / 2) return by_selecting(device, from.scores, n, k, to);
    /* Chunks shrink the list only if they keep at most half of their keys. A single chunk holds any k. */
    if (n <= tuning->topk_chunk || k <= tuning->topk_chunk / 2) return by_chunks(device, from, k, to);
    return by_sorting(device, from, k, to);
}
