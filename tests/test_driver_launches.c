/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_driver_launches.c: drivers that launch kernels as some were met to (layer/launches.c, doc/drivers.md): an empty launch ends
 * the process, kernels that need many registers have small groups, a slow kernel costs the device, and CLBlast is wrong.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "choose_helper.h"
#include "layer_helper.h"
#include "opencl/backend.h"
#include "support_stage.h"

static const layer_control *layer;

static int drivers_own(void **state) {
    (void)state;
    *layer->faults = (layer_faults){0};
    layer->let_fail(0, 0);
    return 0;
}

/* ---- Empty launches ---- */

/* Nothing is launched then, in any dimension. That no work of the library asks for it is seen in test_failures. */
static void test_global_size_of_zero(void **state) {
    static const size_t sizes[][3] = {{0, 1, 1}, {4, 0, 1}, {4, 4, 0}, {0, 0, 0}}, group[3] = {4, 4, 1};
    tvlm_device *device = opened("0");
    opencl_call call;
    (void)state;
    layer->faults->empty_aborts = 1;
    const long kernels = layer->commands().kernels;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        for (int grouped = 0; grouped < 2; ++grouped) {
            assert_int_equal(tvlm_opencl_call_begin((opencl_device *)device, "pick.cl", "pick",
                                                    TVLM_FORMAT_F32, "", &call),
                             TVLM_OK);
            assert_int_equal(tvlm_opencl_call_run(&call, 3, sizes[i], grouped ? group : NULL), TVLM_OK);
        }
    assert_int_equal(layer->commands().kernels, kernels);
    /* What went wrong before is told all the same. */
    call.error = CL_INVALID_ARG_VALUE;
    assert_int_equal(tvlm_opencl_call_run(&call, 3, sizes[0], group), TVLM_ERROR_DEVICE);
    check_reference(device);
    tvlm_device_destroy(&device);
}

/* ---- Few registers ---- */

/* Mali's: 64 registers, so that groups of a long kernel have at most 64 work-items, and local memory that is global. Kernels
 * whose result depends on their groups ask for their size; those of others become smaller. */
static void test_few_registers(void **state) {
    (void)state;
    layer->faults->local_is_global = 1;
    for (int most = 64; most >= 1; most /= 8) {
        layer->faults->few_registers = most;
        nothing_said();
        tvlm_device *device = opened("0");
        assert_int_equal(((opencl_device *)device)->group_max, 256);
        check_reference(device);
        assert_int_equal(said.errors + said.warnings, 0);
        tvlm_device_destroy(&device);
    }
}

/* ---- Slow kernels ---- */

/* A kernel that takes too long: Adreno's lose the device after two seconds, here after a microsecond. */
static void test_slow_kernel(void **state) {
    tvlm_position none[K];
    tvlm_device *device = opened("0"), *another = NULL;
    (void)state;
    layer->faults->slow_us = 1;
    nothing_said();
    assert_int_equal(choose(device, none), TVLM_ERROR_LOST);
    assert_int_equal(said.errors, 1);
    assert_non_null(strstr(said.last, "is lost"));
    assert_int_equal(tvlm_device_finish(device), TVLM_ERROR_LOST);
    nothing_said();
    assert_int_equal(tvlm_device_open_another(0, tvlm_device_params(.log = &noting), &another), TVLM_OK);
    assert_int_equal(said.warnings, 1);
    check_reference(another);
    tvlm_device_destroy(&another);
    tvlm_device_destroy(&device);
}

/* One that takes less is none. */
static void test_fast_kernels(void **state) {
    tvlm_device *device = opened("0");
    (void)state;
    layer->faults->slow_us = 60000000;
    nothing_said();
    check_reference(device);
    assert_int_equal(said.errors + said.warnings, 0);
    tvlm_device_destroy(&device);
}

/* ---- Products of matrices ---- */

enum { M = 33, N = 31, DEPTH = 64, GAP = 3, OFFSET = 2, ALL = OFFSET + M * (N + GAP) };

static float a[M * DEPTH], b[DEPTH * N], c[ALL];

static void make_matrices(void) {
    uint64_t random = 9;
    for (int i = 0; i < M * DEPTH; ++i) a[i] = 2.0f * test_random_unit(&random) - 1.0f;
    for (int i = 0; i < DEPTH * N; ++i) b[i] = 2.0f * test_random_unit(&random) - 1.0f;
    for (int i = 0; i < ALL; ++i) c[i] = 2.0f * test_random_unit(&random) - 1.0f;
}

/* c = alpha a b + beta c, with a gap behind each row of c that stays. */
static void multiply(tvlm_device *device, float beta, float result[ALL]) {
    tvlm_gemm gemm = {.m = M,
                      .n = N,
                      .k = DEPTH,
                      .lda = DEPTH,
                      .ldb = N,
                      .ldc = N + GAP,
                      .c_offset = OFFSET,
                      .alpha = 1.5f,
                      .beta = beta};
    gemm.a = test_buffer(device, sizeof a, a);
    gemm.b = test_buffer(device, sizeof b, b);
    gemm.c = test_buffer(device, sizeof c, c);
    if (device->backend->gemm(device, &gemm) != TVLM_OK) fail_msg("%s", said.last);
    test_buffer_take(device, &gemm.c, sizeof c, result);
    device->backend->buffer_destroy(device, &gemm.a);
    device->backend->buffer_destroy(device, &gemm.b);
}

static void check_product(tvlm_device *device, float beta) {
    float got[ALL], expected[ALL];
    tvlm_device *reference = opened("reference");
    multiply(device, beta, got);
    multiply(reference, beta, expected);
    for (int i = 0; i < ALL; ++i) {
        const bool gap = i < OFFSET || (i - OFFSET) % (N + GAP) >= N;
        if (gap ? got[i] != c[i] : !(fabsf(got[i] - expected[i]) < 1e-4f))
            fail_msg("value %d is %g, %g expected", i, (double)got[i], (double)expected[i]);
    }
    tvlm_device_destroy(&reference);
}

/* CLBlast's wrong products are noticed, replaced, and told once; from then on our own kernels work. */
static void test_wrong_products(void **state) {
    tvlm_device *device = opened("0");
    const opencl_device *const opencl = (opencl_device *)device;
    (void)state;
    nothing_said();
    check_product(device, 0.0f);
    if (opencl->clblast_sgemm == NULL) { /* it is not installed */
        tvlm_device_destroy(&device);
        skip();
    }
    check_product(device, 0.5f); /* of a shape that was right */
    assert_int_equal(said.errors + said.warnings, 0);
    assert_non_null(opencl->clblast_sgemm);
    tvlm_device_destroy(&device);

    for (int adds = 0; adds < 2; ++adds) {
        device = opened("0");
        layer->faults->no_products = 1;
        nothing_said();
        for (int i = 0; i < 3; ++i) check_product(device, adds ? 0.5f : 0.0f);
        layer->faults->no_products = 0;
        assert_true(said.errors == 0 && said.warnings == 1);
        assert_non_null(strstr(said.last, "CLBlast gets products of matrices wrong"));
        assert_null(((opencl_device *)device)->clblast_sgemm);
        tvlm_device_destroy(&device);
    }
}

/* A product that is all but zero, of sums in which everything cancels, is not taken for a wrong one: another order of
 * sums leaves another rest. Here what was in c is that rest. */
static void test_products_near_zero(void **state) {
    tvlm_device *device = opened("0");
    float result[ALL];
    (void)state;
    /* The second half of each sum takes the first one away again, but for what was rounded. */
    for (int row = 0; row < M; ++row)
        for (int i = DEPTH / 2; i < DEPTH; ++i) a[row * DEPTH + i] = -a[row * DEPTH + i - DEPTH / 2];
    for (int i = DEPTH / 2; i < DEPTH; ++i)
        for (int column = 0; column < N; ++column) b[i * N + column] = b[(i - DEPTH / 2) * N + column];
    for (int i = 0; i < ALL; ++i) c[i] *= 1e-6f;
    layer->faults->no_products = 1;
    nothing_said();
    multiply(device, 0.0f, result);
    make_matrices();
    assert_int_equal(said.errors + said.warnings, 0);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_global_size_of_zero, drivers_own),
                                       cmocka_unit_test_setup(test_few_registers, drivers_own),
                                       cmocka_unit_test_setup(test_slow_kernel, drivers_own),
                                       cmocka_unit_test_setup(test_fast_kernels, drivers_own),
                                       cmocka_unit_test_setup(test_wrong_products, drivers_own),
                                       cmocka_unit_test_setup(test_products_near_zero, drivers_own)};
    int32_t count = 0;
    make_pixels();
    make_matrices();
    setenv("TVLM_LAYER_GPU", "1", 1);
    layer = use_layer();
    if (layer == NULL || tvlm_device_list(0, NULL, &count) != TVLM_OK) return 77;
    if (count != 2) {
        printf("SKIPPED: %d OpenCL devices; these tests want one, PoCL\n", (int)count - 1);
        return 77;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)drivers_own(NULL); /* so that the drivers' own ends are the process's */
    return failed;
}
