/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.c: products of matrices on every device against the reference. There are all transpositions, offsets,
 * strides with gaps, and results that are added to what is there. CLBlast and our own kernels are tried where
 * they run.
 */
#include "kernels/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "opencl/backend.h"

typedef struct shape {
    int32_t m, n, k;
} shape;

static const shape shapes[] = {{1, 1, 1},     {1, 17, 33},   {17, 1, 5},    {5, 7, 3},
                               {33, 31, 64},  {16, 16, 16},  {64, 48, 1},   {3, 200, 65},
                               {131, 16, 90}, {70, 70, 257}, {300, 40, 512}};
static const shape small_shapes[] = {{1, 1, 1}, {5, 7, 3}, {3, 18, 20}, {34, 17, 9}};

/* A matrix of random values, with an offset and with gaps behind its rows. What must not be read is NaN. */
typedef struct part {
    float *values;
    size_t count, offset;
    int32_t stride;
} part;

static part make_part(int32_t rows, int32_t columns, bool gaps, uint64_t *random) {
    part p = {.offset = gaps ? 1 + test_random(random) % 7 : 0,
              .stride = columns + (gaps ? (int32_t)(test_random(random) % 5) : 0)};
    p.count = p.offset + (size_t)rows * (size_t)p.stride;
    p.values = malloc(p.count * sizeof *p.values);
    assert_non_null(p.values);
    for (size_t i = 0; i < p.count; ++i) p.values[i] = NAN;
    for (int32_t row = 0; row < rows; ++row)
        for (int32_t i = 0; i < columns; ++i)
            p.values[p.offset + (size_t)row * (size_t)p.stride + (size_t)i] =
                2.0f * test_random_unit(random) - 1.0f;
    return p;
}

/* Returns all of `c` after the product, with its gaps. free() it. */
static float *product(tvlm_device *device, tvlm_gemm gemm, const part *a, const part *b, const part *c) {
    float *out = malloc(c->count * sizeof *out);
    assert_non_null(out);
    gemm.a = test_buffer(device, a->count * sizeof(float), a->values);
    gemm.b = test_buffer(device, b->count * sizeof(float), b->values);
    gemm.c = test_buffer(device, c->count * sizeof(float), c->values);
    if (device->backend->gemm(device, &gemm) != TVLM_OK) fail_msg("%s", test_last_log());
    test_buffer_take(device, &gemm.c, c->count * sizeof(float), out);
    device->backend->buffer_destroy(device, &gemm.a);
    device->backend->buffer_destroy(device, &gemm.b);
    return out;
}

static void check(const char *what, const tvlm_gemm *gemm, const part *c, const float *got,
                  const float *expected) {
    float *rows = malloc(2 * (size_t)gemm->m * (size_t)gemm->n * sizeof *rows), *wanted = rows;
    assert_non_null(rows);
    const size_t count = (size_t)gemm->m * (size_t)gemm->n;
    wanted += count;
    for (size_t i = 0; i < c->count; ++i) {
        const size_t at = i - c->offset, row = at / (size_t)c->stride, column = at % (size_t)c->stride;
        if (i < c->offset || column >= (size_t)gemm->n) {
            if (!isnan(got[i])) fail_msg("%s: value %zu, outside of the result, was written", what, i);
            continue;
        }
        rows[row * (size_t)gemm->n + column] = got[i];
        wanted[row * (size_t)gemm->n + column] = expected[i];
    }
    /* k products of values below 1 are summed in floats, in any order. As a rule sqrt(k) of their roundings
     * add up, and at worst k. The reference sums in double. */
    const float unit = 1.2e-7f, depth = (float)gemm->k + 2.0f;
    test_compare(what, rows, wanted, count, unit * depth, unit * sqrtf(depth) * 2.0f);
    free(rows);
}

static void one(const test_target *target, tvlm_device *reference, shape s, int how, uint64_t *random) {
    const bool ta = how & 1, tb = how & 2, gaps = how & 4, adds = how & 8;
    char what[128];
    part a = make_part(ta ? s.k : s.m, ta ? s.m : s.k, gaps, random);
    part b = make_part(tb ? s.n : s.k, tb ? s.k : s.n, gaps, random);
    part c = make_part(s.m, s.n, gaps, random);
    /* With beta 0 the old values do not matter, and may be NaN. */
    for (size_t i = 0; i < c.count && !adds; ++i) c.values[i] = NAN;
    const tvlm_gemm gemm = {.m = s.m,
                            .n = s.n,
                            .k = s.k,
                            .transpose_a = ta,
                            .transpose_b = tb,
                            .a_offset = a.offset,
                            .b_offset = b.offset,
                            .c_offset = c.offset,
                            .lda = a.stride,
                            .ldb = b.stride,
                            .ldc = c.stride,
                            .alpha = adds ? -0.75f : 1.0f,
                            .beta = adds ? 0.5f : 0.0f};
    snprintf(what, sizeof what, "%d x %d x %d%s%s%s%s", (int)s.m, (int)s.n, (int)s.k, ta ? ", a^T" : "",
             tb ? ", b^T" : "", gaps ? ", gaps" : "", adds ? ", added" : "");
    float *expected = product(reference, gemm, &a, &b, &c), *got = product(target->device, gemm, &a, &b, &c);
    check(what, &gemm, &c, got, expected);
    free(expected);
    free(got);
    free(a.values);
    free(b.values);
    free(c.values);
}

static void products(const test_target *target, tvlm_device *reference) {
    const shape *list = test_small() ? small_shapes : shapes;
    const size_t count = test_small() ? sizeof small_shapes / sizeof *list : sizeof shapes / sizeof *list;
    uint64_t random = 4;
    for (size_t i = 0; i < count; ++i)
        for (int how = 0; how < 16; ++how) one(target, reference, list[i], how, &random);
}

/* Tries our own kernels with 32 and with 3 rows to a work-item, and CLBlast. An interpreter leaves out
 * CLBlast, which would be a million work-items and is not what is tested there. */
static bool runs(const test_target *target, opencl_tuning *tuning, int n) {
    static const int32_t all[] = {32, 3, 0};
    const int first = test_has_long_loops(target->device) ? 0 : 2, end = test_small() ? 2 : 3;
    if (first + n >= end) return false;
    tuning->gemm_run = all[first + n];
    printf("    %s %d\n", tuning->gemm_run > 0 ? "rows a work-item:" : "CLBlast", (int)tuning->gemm_run);
    return true;
}

TEST_FAMILY(gemm, {"products", TEST_BUFFERS, .body = products, .tune = runs})
