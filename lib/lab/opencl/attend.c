/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attend.c: launches cl/lab/attend.cl for attention over the vectors of grids, one block of queries after
 * another. In the first level all cells take part, so its scores and its values are products of matrices.
 */
#include <stdio.h>

#include "core/try.h"
#include "lab/operations.h"
#include "opencl/backend.h"

/* How many cells of a row a work-group scores, as in cl/lab/attend.cl. */
enum { CELLS = 64 };
/* The most numbers of a block, and the most rows. A driver may end longer loops over them early. */
enum { BLOCK_NUMBERS = 8 << 20, BLOCK_ROWS = 4096 };

typedef struct block {
    opencl_device *device;
    const tvlm_attention *plan;
    /* How many numbers a row has, and where the numbers of each level begin. */
    int32_t total, at[TVLM_ATTENTION_LEVELS];
    /* The first query of the block, and how many queries it has. */
    int32_t first, count;
    opencl_buffer scores, areas;
} block;

static int32_t cells_of(const tvlm_attention_level *level) {
    return level->columns * level->rows;
}

static int32_t rows_of(const block *b) {
    return b->count * b->plan->heads;
}

static bool is_shared(const block *b) {
    return b->device->tuning.cosine_lanes > 1;
}

static size_t group_of(const block *b) {
    return is_shared(b) ? 64 : 1;
}

static tvlm_status begin(const block *b, const char *name, opencl_call *call) {
    return tvlm_opencl_call_begin(b->device, "lab/attend.cl", name, TVLM_FORMAT_F32,
                                  is_shared(b) ? "-DGROUP=64 -DWIDTH=16 -DLANES=8 -DRUN=4"
                                               : "-DGROUP=1 -DWIDTH=1 -DLANES=1 -DRUN=64",
                                  call);
}

static void pass_size(opencl_call *call, const tvlm_attention_level *level) {
    const cl_int2 size = {{level->columns, level->rows}};
    tvlm_opencl_call_bytes(call, sizeof size, &size);
}

static tvlm_status run_rows(const block *b, opencl_call *call) {
    const size_t group = group_of(b), size = (size_t)rows_of(b) * group;
    return tvlm_opencl_call_run(call, 1, &size, &group);
}

/* ---- The first level ---- */

static tvlm_status score_first(block *b) {
    const tvlm_attention *const plan = b->plan;
    const int32_t size = plan->key_dimension / plan->heads;
    for (int32_t head = 0; head < plan->heads; ++head) {
        const tvlm_gemm product = {
            .m = b->count,
            .n = cells_of(&plan->levels[0]),
            .k = size,
            .transpose_b = true,
            .a = plan->queries,
            .b = plan->keys,
            .c = &b->scores.base,
            .a_offset = (size_t)b->first * (size_t)plan->key_dimension + (size_t)head * (size_t)size,
            .b_offset =
                (size_t)plan->levels[0].first * (size_t)plan->key_dimension + (size_t)head * (size_t)size,
            .c_offset = (size_t)head * (size_t)b->total,
            .lda = plan->key_dimension,
            .ldb = plan->key_dimension,
            .ldc = plan->heads * b->total,
            .alpha = plan->scale};
        TVLM_TRY(tvlm_opencl_gemm(&b->device->base, &product));
    }
    return TVLM_OK;
}

static tvlm_status give_first(block *b) {
    const tvlm_attention *const plan = b->plan;
    const int32_t size = plan->value_dimension / plan->heads;
    for (int32_t head = 0; head < plan->heads; ++head) {
        const tvlm_gemm product = {
            .m = b->count,
            .n = size,
            .k = cells_of(&plan->levels[0]),
            .a = &b->scores.base,
            .b = plan->values,
            .c = plan->out,
            .a_offset = (size_t)head * (size_t)b->total,
            .b_offset =
                (size_t)plan->levels[0].first * (size_t)plan->value_dimension + (size_t)head * (size_t)size,
            .c_offset = (size_t)b->first * (size_t)plan->value_dimension + (size_t)head * (size_t)size,
            .lda = plan->heads * b->total,
            .ldb = plan->value_dimension,
            .ldc = plan->value_dimension,
            .alpha = 1.0f};
        TVLM_TRY(tvlm_opencl_gemm(&b->device->base, &product));
    }
    return TVLM_OK;
}

/* ---- The other levels ---- */

/* Chooses the cells of level n that hand their areas on. At the last level none are chosen. */
static tvlm_status choose(block *b, int32_t n) {
    const tvlm_attention *const plan = b->plan;
    const tvlm_attention_level *const last = &plan->levels[plan->level_count - 1];
    opencl_call call;
    TVLM_TRY(begin(b, "attend_choose", &call));
    tvlm_opencl_call_memory(&call, b->scores.memory);
    tvlm_opencl_call_memory(&call, b->areas.memory);
    tvlm_opencl_call_int(&call, b->total);
    tvlm_opencl_call_int(&call, b->at[n]);
    tvlm_opencl_call_int(&call, cells_of(&plan->levels[n]));
    tvlm_opencl_call_int(&call, n + 1 < plan->level_count ? plan->share : 0);
    tvlm_opencl_call_float(&call, n == 0 ? (float)cells_of(last) / (float)cells_of(&plan->levels[0]) : 0.0f);
    return run_rows(b, &call);
}

/* Makes the areas that level n hands on to the next level, and the scores of cells that get some. */
static tvlm_status refine(block *b, int32_t n) {
    const tvlm_attention *const plan = b->plan;
    const tvlm_attention_level *const to = &plan->levels[n + 1];
    const int32_t size = plan->key_dimension / plan->heads;
    const size_t group[2] = {group_of(b), 1};
    const size_t global[2] = {((size_t)cells_of(to) + CELLS - 1) / CELLS * group[0], (size_t)rows_of(b)};
    opencl_call call;
    TVLM_TRY(begin(b, "attend_refine", &call));
    tvlm_opencl_call_memory(&call, b->scores.memory);
    tvlm_opencl_call_memory(&call, b->areas.memory);
    tvlm_opencl_call_int(&call, b->total);
    tvlm_opencl_call_int(&call, b->at[n]);
    pass_size(&call, &plan->levels[n]);
    tvlm_opencl_call_int(&call, b->at[n + 1]);
    pass_size(&call, to);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)plan->queries)->memory);
    tvlm_opencl_call_ulong(&call, (uint64_t)b->first * (uint64_t)plan->key_dimension);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)plan->keys)->memory);
    tvlm_opencl_call_ulong(&call, (uint64_t)to->first * (uint64_t)plan->key_dimension);
    tvlm_opencl_call_int(&call, plan->heads);
    tvlm_opencl_call_int(&call, size);
    tvlm_opencl_call_float(&call, plan->scale);
    return tvlm_opencl_call_run(&call, 2, global, group);
}

/* ---- The softmax, and what comes out ---- */

static tvlm_status softmax(block *b, int32_t from, int32_t to, float scale, bool all) {
    opencl_call call;
    TVLM_TRY(begin(b, "attend_softmax", &call));
    tvlm_opencl_call_memory(&call, b->scores.memory);
    tvlm_opencl_call_memory(&call, b->areas.memory);
    tvlm_opencl_call_int(&call, b->total);
    tvlm_opencl_call_int(&call, from);
    tvlm_opencl_call_int(&call, to);
    tvlm_opencl_call_float(&call, scale);
    tvlm_opencl_call_int(&call, all);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)b->plan->reads)->memory);
    tvlm_opencl_call_int(&call, b->first * b->plan->heads);
    return run_rows(b, &call);
}

static tvlm_status softmaxes(block *b) {
    const int32_t first = cells_of(&b->plan->levels[0]);
    const float mix = b->plan->mix;
    if (mix == 0.0f) return softmax(b, 0, b->total, 1.0f, false);
    TVLM_TRY(softmax(b, 0, first, mix, true));
    return softmax(b, first, b->total, 1.0f - mix, false);
}

static tvlm_status give(block *b, int32_t n) {
    const tvlm_attention *const plan = b->plan;
    const int32_t size = plan->value_dimension / plan->heads;
    const size_t group[2] = {is_shared(b) ? 16 : 1, is_shared(b) ? 8 : 1};
    const size_t global[2] = {((size_t)size + 63) / 64 * group[0], (size_t)rows_of(b) * group[1]};
    opencl_call call;
    TVLM_TRY(begin(b, "attend_values", &call));
    tvlm_opencl_call_memory(&call, b->scores.memory);
    tvlm_opencl_call_int(&call, b->total);
    tvlm_opencl_call_int(&call, b->at[n]);
    tvlm_opencl_call_int(&call, cells_of(&plan->levels[n]));
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)plan->values)->memory);
    tvlm_opencl_call_ulong(&call, (uint64_t)plan->levels[n].first * (uint64_t)plan->value_dimension);
    tvlm_opencl_call_int(&call, plan->heads);
    tvlm_opencl_call_int(&call, size);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)plan->out)->memory);
    tvlm_opencl_call_ulong(&call, (uint64_t)b->first * (uint64_t)plan->value_dimension);
    return tvlm_opencl_call_run(&call, 2, global, group);
}

static tvlm_status add_to_map(block *b, int32_t n) {
    const tvlm_attention *const plan = b->plan;
    const tvlm_attention_level *const last = &plan->levels[plan->level_count - 1];
    opencl_call call;
    TVLM_TRY(begin(b, "attend_map", &call));
    tvlm_opencl_call_memory(&call, b->scores.memory);
    tvlm_opencl_call_int(&call, b->total);
    tvlm_opencl_call_int(&call, b->at[n]);
    pass_size(&call, &plan->levels[n]);
    pass_size(&call, last);
    tvlm_opencl_call_int(&call, rows_of(b));
    tvlm_opencl_call_float(&call, 1.0f / ((float)plan->count * (float)plan->heads));
    tvlm_opencl_call_int(&call, b->first == 0 && n == 0);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)plan->map)->memory);
    return tvlm_opencl_call_run_list(&call, (size_t)cells_of(last), 1);
}

static tvlm_status attend_block(block *b) {
    TVLM_TRY(score_first(b));
    for (int32_t n = 0; n < b->plan->level_count; ++n) {
        if (n > 0) TVLM_TRY(refine(b, n - 1));
        if (n == 0 || n + 1 < b->plan->level_count) TVLM_TRY(choose(b, n));
    }
    TVLM_TRY(softmaxes(b));
    TVLM_TRY(give_first(b));
    for (int32_t n = 1; n < b->plan->level_count; ++n) TVLM_TRY(give(b, n));
    for (int32_t n = 0; b->plan->map != NULL && n < b->plan->level_count; ++n) TVLM_TRY(add_to_map(b, n));
    return TVLM_OK;
}

tvlm_status tvlm_opencl_attend(tvlm_device *device, const tvlm_attention *plan) {
    block b = {.device = (opencl_device *)device, .plan = plan};
    for (int32_t n = 0; n < plan->level_count; ++n) {
        b.at[n] = b.total;
        b.total += cells_of(&plan->levels[n]);
    }
    const int32_t numbers = plan->heads * b.total;
    if (numbers < 1) return TVLM_OK; /* there are no cells */
    int32_t most = BLOCK_NUMBERS / numbers;
    if (most > BLOCK_ROWS / plan->heads) most = BLOCK_ROWS / plan->heads;
    if (most < 1) most = 1;
    if (most > plan->count) most = plan->count;
    const size_t bytes = (size_t)most * (size_t)numbers * sizeof(float);
    TVLM_TRY(tvlm_opencl_scratch(b.device, SCRATCH_B, bytes, &b.scores.memory));
    TVLM_TRY(tvlm_opencl_scratch(b.device, SCRATCH_C, bytes, &b.areas.memory));
    for (b.first = 0; b.first < plan->count; b.first += b.count) {
        b.count = plan->count - b.first < most ? plan->count - b.first : most;
        TVLM_TRY(attend_block(&b));
    }
    return TVLM_OK;
}
