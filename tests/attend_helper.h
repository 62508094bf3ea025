/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attend_helper.h: what the tests of attention share: vectors and queries, stacks that hold them as grids, and
 * what tvlm_attend makes of them.
 */
#ifndef TVLM_TESTS_ATTEND_HELPER_H
#define TVLM_TESTS_ATTEND_HELPER_H

#include "stack_helper.h"
#include "support_stage.h"
#include "texturevlm/lab/attend.h"

/* Vectors and queries. What stands in a half texture is halves on both sides, as test_half makes them. */
typedef struct problem {
    int32_t columns, rows, keys, values, count, heads;
    float *k, *v, *q;
} problem;

/* Vectors that change slowly from cell to cell, with noise, so that there are near and far ones. */
static float *vectors_of(uint64_t *random, int32_t columns, int32_t rows, int32_t dimension) {
    float *made = calloc((size_t)columns * (size_t)rows * (size_t)dimension, sizeof *made);
    assert_non_null(made);
    for (int32_t i = 0; i < dimension; ++i) {
        const float a = 6.0f * test_random_unit(random), b = 6.0f * test_random_unit(random);
        for (int32_t cell = 0; cell < columns * rows; ++cell)
            made[cell * dimension + i] = sinf(a * (float)(cell % columns) / (float)columns +
                                              b * (float)(cell / columns) / (float)rows + (float)i) +
                                         0.5f * test_random_unit(random);
    }
    return made;
}

static problem make_problem(uint64_t seed, int32_t columns, int32_t rows, int32_t keys, int32_t values,
                            int32_t count, int32_t heads) {
    problem p = {columns, rows, keys, values, count, heads, NULL, NULL, NULL};
    p.k = vectors_of(&seed, columns, rows, keys);
    p.v = vectors_of(&seed, columns, rows, values);
    p.q = vectors_of(&seed, count, 1, keys);
    for (int32_t i = 0; i < count * keys; ++i) p.q[i] *= 1.5f;
    return p;
}

static void free_problem(problem *p) {
    free(p->k);
    free(p->v);
    free(p->q);
}

static tvlm_stack *grid_stack(tvlm_device *device, tvlm_format format, const problem *p, const float *vectors,
                              int32_t dimension) {
    tvlm_stack *stack = NULL;
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.layout = "x", .width = p->columns,
                                                         .height = p->rows, .format = format),
                                       &stack),
                     TVLM_OK);
    if (tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                            tvlm_grid_input(.data = vectors, .columns = p->columns, .rows = p->rows,
                                            .channels = dimension)) != TVLM_OK)
        fail_msg("%s", test_last_log());
    return stack;
}

typedef struct answer {
    float *out, *map;
    tvlm_attend_info info;
} answer;

static void free_answer(answer *a) {
    free(a->out);
    free(a->map);
}

static answer attend(tvlm_device *device, tvlm_format format, const problem *p,
                     struct tvlm_attend_params params) {
    const size_t count = (size_t)p->count * (size_t)p->values, cells = (size_t)(p->columns * p->rows);
    answer a = {malloc((count + 1) * sizeof(float)), malloc((cells + 1) * sizeof(float)), {0}};
    assert_true(a.out != NULL && a.map != NULL);
    for (size_t i = 0; i <= count; ++i) a.out[i] = NAN;
    for (size_t i = 0; i <= cells; ++i) a.map[i] = NAN;
    tvlm_stack *keys = grid_stack(device, format, p, p->k, p->keys);
    tvlm_stack *values = grid_stack(device, format, p, p->v, p->values);
    params.queries = p->q;
    params.count = p->count;
    params.dimension = p->keys;
    params.heads = p->heads;
    if (tvlm_attend(keys, values, &params, count, a.out, a.map, &a.info) != TVLM_OK)
        fail_msg("%s", test_last_log());
    assert_true(isnan(a.out[count]) && isnan(a.map[cells])); /* nothing is written behind them */
    assert_int_equal(a.info.columns, p->columns);
    assert_int_equal(a.info.rows, p->rows);
    assert_int_equal(a.info.dimension, p->values);
    assert_int_equal(a.info.heads, p->heads);
    double sum = 0.0;
    for (size_t i = 0; i < cells; ++i) sum += (double)a.map[i];
    assert_true(fabs(sum - 1.0) < 1e-4);
    tvlm_stack_destroy(&values);
    tvlm_stack_destroy(&keys);
    return a;
}

#endif
