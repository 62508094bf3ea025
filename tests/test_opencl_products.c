/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opencl_products.c: the launches of products of matrices, counted by hand, and when CLBlast makes them and is believed. The
 * driver is made up, and so is CLBlast; what kernels make is tested on real ones.
 */
#include <clblast_c.h>

#include "driver_helper.h"
#include "opencl/operations.h"

/* ---- Products ---- */

static void expect_matrix(cl_uint first, const opencl_buffer *of_buffer, uint64_t offset, uint64_t row,
                          uint64_t column) {
    assert_ptr_equal(memory_at(first), of_buffer->memory);
    assert_int_equal(ulong_at(first + 1), offset);
    assert_int_equal(ulong_at(first + 2), row);
    assert_int_equal(ulong_at(first + 3), column);
}

/* Of the two matrices the one with fewer lines beside their common side is packed, in panels of 16. */
static void test_products(void **state) {
    opencl_device device = large_device(TVLM_DEVICE_CPU);
    opencl_buffer a = {.memory = memory_of(16)}, b = {.memory = memory_of(16)}, c = {.memory = memory_of(16)};
    tvlm_gemm gemm = {.m = 100,
                      .n = 20,
                      .k = 130,
                      .a = &a.base,
                      .b = &b.base,
                      .c = &c.base,
                      .a_offset = 3,
                      .b_offset = 5,
                      .c_offset = 7,
                      .lda = 140,
                      .ldb = 150,
                      .ldc = 160,
                      .alpha = 2.0f,
                      .beta = 0.5f};
    (void)state;
    assert_int_equal(tvlm_opencl_gemm(&device.base, &gemm), TVLM_OK);
    expect_size(0, 3, 2, 0); /* lines of 64, and panels */
    expect_size(1, 4, 2, 0); /* runs of 32 rows */
    expect_scratch(&device, SCRATCH_A, 2 * 16 * 130 * 4);
    expect_matrix(0, &a, 3, 140, 1);
    assert_ptr_equal(memory_at(4), device.scratch[SCRATCH_A]);
    expect_matrix(5, &c, 7, 160, 1);
    assert_true(int_at(9, 0) == 100 && int_at(10, 0) == 20 && int_at(11, 0) == 130);
    assert_true(float_at(12, 0) == 2.0f && float_at(13, 0) == 0.5f);
    gemm.m = 20, gemm.n = 100, gemm.transpose_a = true;
    assert_int_equal(tvlm_opencl_gemm(&device.base, &gemm), TVLM_OK);
    expect_size(2, 3, 2, 0);
    expect_size(3, 4, 2, 0);
    expect_matrix(0, &b, 5, 1, 150);
    expect_matrix(5, &c, 7, 1, 160);
    assert_true(int_at(9, 0) == 100 && int_at(10, 0) == 20);
    gemm.n = 20, gemm.transpose_b = true;
    device.tuning.gemm_run = 0, device.clblast_asked = true; /* and was not found */
    assert_int_equal(tvlm_opencl_gemm(&device.base, &gemm), TVLM_OK);
    expect_size(5, 5, 2, 0); /* runs of 4 */
    assert_non_null(strstr(driver.options, "-DRUN=4"));
    expect_matrix(0, &a, 3, 1, 140);
    expect_matrix(5, &c, 7, 160, 1);
    gemm.m = 64, gemm.n = 32, gemm.k = 128; /* whole panels, lines and runs */
    device.tuning.gemm_run = 32;
    assert_int_equal(tvlm_opencl_gemm(&device.base, &gemm), TVLM_OK);
    expect_size(6, 2, 2, 0);
    expect_size(7, 2, 2, 0);
    release_memory(a.memory), release_memory(b.memory), release_memory(c.memory);
    close_device(&device);
}

static struct {
    CLBlastTranspose a, b;
    size_t numbers[9]; /* m, n, k; offset and stride of a, of b and of c */
    int calls, cleared;
    CLBlastStatusCode code;
    bool wrong;
} library;

static CLBlastStatusCode multiply(CLBlastLayout layout, CLBlastTranspose a, CLBlastTranspose b, size_t m,
                                  size_t n, size_t k, float alpha, cl_mem of_a, size_t a_at, size_t lda,
                                  cl_mem of_b, size_t b_at, size_t ldb, float beta, cl_mem of_c, size_t c_at,
                                  size_t ldc, cl_command_queue *queue, cl_event *event) {
    const size_t numbers[9] = {m, n, k, a_at, lda, b_at, ldb, c_at, ldc};
    assert_true(layout == CLBlastLayoutRowMajor && alpha == 2.0f && beta == 0.5f && queue != NULL &&
                event == NULL);
    assert_true(of_a != of_b && of_a != of_c);
    memcpy(library.numbers, numbers, sizeof numbers);
    library.a = a, library.b = b;
    ++library.calls;
    if (library.wrong) ((float *)(void *)of(of_c)->content)[c_at + ldc] = 1.0f;
    return library.code;
}

static CLBlastStatusCode clear_cache(void) {
    ++library.cleared;
    return CLBlastSuccess;
}

/* Where no run is tuned, and CLBlast is there, it makes products. The first one of a shape our own kernels make too. */
static void test_products_by_library(void **state) {
    opencl_device device = large_device(TVLM_DEVICE_GPU);
    opencl_buffer a = {.memory = memory_of(1024)}, b = {.memory = memory_of(1024)};
    const tvlm_gemm gemm = {3,  7,  5,  true, false, &a.base, &b.base, &b.base,
                            10, 20, 30, 40,   50,    60,      2.0f,    0.5f};
    (void)state;
    tvlm_opencl_gemm_close(&device); /* there is none */
    device.clblast_sgemm = (void (*)(void))multiply;
    device.clblast_clear = (void (*)(void))clear_cache;
    device.clblast_asked = true, device.tuning.gemm_run = 0;
    assert_int_equal(tvlm_opencl_gemm(&device.base, &gemm), TVLM_OK);
    assert_memory_equal(library.numbers, ((const size_t[9]){3, 7, 5, 10, 40, 20, 50, 30, 60}),
                        sizeof library.numbers);
    assert_true(library.a == CLBlastTransposeYes && library.b == CLBlastTransposeNo);
    assert_true(library.calls == 1 && driver.launched == 2);
    assert_true(driver.copied == 1 && driver.read == 2 && driver.created == driver.released + 3);
    assert_int_equal(tvlm_opencl_gemm(&device.base, &gemm), TVLM_OK);
    assert_true(library.calls == 2 && driver.launched == 2 && driver.copied == 1);
    /* Where there is no memory to make both, a new shape is made by our own kernels. */
    const tvlm_gemm other = {3,  6,  5,  true, false, &a.base, &b.base, &b.base,
                             10, 20, 30, 40,   50,    60,      2.0f,    0.5f};
    driver.create_error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    assert_int_equal(tvlm_opencl_gemm(&device.base, &other), TVLM_OK);
    assert_true(library.calls == 2 && driver.launched == 4 && driver.copied == 1);
    driver.create_error = CL_SUCCESS;
    library.code = CLBlastTempBufferAllocFailure;
    refused(tvlm_opencl_gemm(&device.base, &gemm), TVLM_ERROR_DEVICE_MEMORY, "3 x 5 by 5 x 7");
    library.code = CLBlastOpenCLOutOfResources;
    refused(tvlm_opencl_gemm(&device.base, &gemm), TVLM_ERROR_DEVICE_MEMORY,
            "CLBlast: error -5 of a product");
    library.code = CLBlastInvalidDimension;
    refused(tvlm_opencl_gemm(&device.base, &gemm), TVLM_ERROR_DEVICE, "CLBlast: error ");
    driver.finish_error = CL_INVALID_COMMAND_QUEUE;
    refused(tvlm_opencl_gemm(&device.base, &gemm), TVLM_ERROR_LOST, "CLBlast");
    device.tuning.gemm_run = 1;
    assert_int_equal(tvlm_opencl_gemm(&device.base, &gemm), TVLM_OK);
    assert_true(library.calls == 6 && driver.launched == 6);
    assert_int_equal(library.cleared, 0);
    tvlm_opencl_gemm_close(&device);
    assert_int_equal(library.cleared, 1);
    release_memory(a.memory), release_memory(b.memory);
    close_device(&device);
}

/* Where CLBlast is wrong, what our own kernels make takes the place of its product, and CLBlast is never asked again. Here they
 * make nothing, so that what was there is what comes back, with the numbers beside the product. */
static void test_wrong_library(void **state) {
    opencl_device device = large_device(TVLM_DEVICE_GPU);
    opencl_buffer a = {.memory = memory_of(1024)}, b = {.memory = memory_of(1024)},
                  c = {.memory = memory_of(1024)};
    float *const numbers = (float *)(void *)of(c.memory)->content, before[256];
    const tvlm_gemm gemm = {3,  7,  5,  true, false, &a.base, &b.base, &c.base,
                            10, 20, 30, 40,   50,    60,      2.0f,    0.5f};
    (void)state;
    for (int i = 0; i < 256; ++i) numbers[i] = 1e-3f * (float)i;
    memcpy(before, numbers, sizeof before);
    device.clblast_sgemm = (void (*)(void))multiply;
    device.clblast_asked = true, device.tuning.gemm_run = 0;
    library.calls = 0, library.code = CLBlastSuccess, library.wrong = true;
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(tvlm_opencl_gemm(&device.base, &gemm), TVLM_OK);
        assert_memory_equal(numbers, before, sizeof before);
        assert_int_equal(library.calls, 1);
        assert_null(device.clblast_sgemm);
    }
    library.wrong = false;
    assert_non_null(
        strstr(test_last_log(), "CLBlast gets products of matrices wrong on 'made up' (3 x 5 by 5 x 7)"));
    release_memory(a.memory), release_memory(b.memory), release_memory(c.memory);
    close_device(&device);
}

/* More shapes than are kept: the first ones are asked for anew. */
static void test_many_shapes(void **state) {
    opencl_device device = large_device(TVLM_DEVICE_GPU);
    opencl_buffer a = {.memory = memory_of(4096)}, b = {.memory = memory_of(4096)},
                  c = {.memory = memory_of(4096)};
    (void)state;
    device.clblast_sgemm = (void (*)(void))multiply;
    device.clblast_asked = true, device.tuning.gemm_run = 0;
    library.code = CLBlastSuccess;
    for (int32_t turn = 0; turn < 3; ++turn)
        for (int32_t n = 1; n <= PRODUCTS_KNOWN + turn; ++n) {
            const tvlm_gemm gemm = {.m = 1,
                                    .n = n,
                                    .k = 1,
                                    .a = &a.base,
                                    .b = &b.base,
                                    .c = &c.base,
                                    .lda = 1,
                                    .ldb = n,
                                    .ldc = n,
                                    .alpha = 2.0f,
                                    .beta = 0.5f};
            const int read = driver.read;
            assert_int_equal(tvlm_opencl_gemm(&device.base, &gemm), TVLM_OK);
            /* In the second turn only the shape behind those of the first one is new, which it takes the place of. */
            if (turn < 2) assert_int_equal(driver.read - read, turn == 0 || n > PRODUCTS_KNOWN ? 2 : 0);
            if (turn == 2 && n == 1) assert_int_equal(driver.read - read, 2);
        }
    release_memory(a.memory), release_memory(b.memory), release_memory(c.memory);
    close_device(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products), cmocka_unit_test(test_products_by_library),
        cmocka_unit_test(test_wrong_library), cmocka_unit_test(test_many_shapes)};
    install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
