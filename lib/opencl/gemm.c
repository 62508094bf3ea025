/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.c: the product of two matrices, by CLBlast on GPUs and by cl/gemm.cl on CPUs.
 *
 * On CPUs CLBlast's first product takes many seconds, because it asks for the binary of its programs and PoCL
 * then compiles all kernels in them. With the smallest parameters that CLBlast can be given, compiling still
 * takes 5 s, and its products several times as long. cl/gemm.cl compiles in a second and is the faster one.
 *
 * CLBlast is loaded when it is first needed. If it were linked, it would add 2.5 ms to every program's start.
 * Where it is not installed, or wrong, cl/gemm.cl does its work.
 *
 * CLBlast up to 1.6.2 has wrong products of some sizes on some devices: Intel's Arc A770 and UHD 770, and Apple's M1
 * (its issues 533 and 542). It does not say its version. So the first product of each shape is made by both.
 */
#include <clblast_c.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "opencl/backend.h"
#include "platform/library.h"

enum { PANEL = 16, LINES = 64 }; /* as in gemm.cl */

/* ---- CLBlast ---- */

typedef CLBlastStatusCode sgemm_function(CLBlastLayout, CLBlastTranspose, CLBlastTranspose, size_t, size_t,
                                         size_t, float, cl_mem, size_t, size_t, cl_mem, size_t, size_t, float,
                                         cl_mem, size_t, size_t, cl_command_queue *, cl_event *);

/* The library stays loaded, since other devices may use it. */
static void load_library(opencl_device *device) {
    void *library = NULL;
    device->clblast_asked = true;
    for (const char *const *name = tvlm_library_clblast; library == NULL && *name != NULL; ++name)
        library = tvlm_library_open(*name);
    if (library == NULL || !tvlm_library_find(library, "CLBlastSgemm", &device->clblast_sgemm) ||
        !tvlm_library_find(library, "CLBlastClearCache", &device->clblast_clear)) {
        device->clblast_sgemm = NULL;
        device->clblast_clear = NULL;
        tvlm_log_message(&device->base.log, TVLM_LOG_INFO,
                         "no CLBlast (%s): products of matrices by our own kernels", tvlm_library_clblast[0]);
    }
}

/* CLBlast keeps its programs, and each keeps its context, which would live on: memory of a GPU, and at the end of the
 * process a driver that is asked to release it when parts of it are gone (Oclgrind's heap breaks by that). It can
 * only be told to forget the programs of all devices; others compile theirs again when they need them. */
void tvlm_opencl_gemm_close(opencl_device *device) {
    typedef CLBlastStatusCode clear_function(void);
    if (device->clblast_clear != NULL) (void)((clear_function *)device->clblast_clear)();
}

static tvlm_status by_library(opencl_device *device, const tvlm_gemm *gemm) {
    sgemm_function *const sgemm = (sgemm_function *)device->clblast_sgemm;
    const CLBlastStatusCode code = sgemm(
        CLBlastLayoutRowMajor, gemm->transpose_a ? CLBlastTransposeYes : CLBlastTransposeNo,
        gemm->transpose_b ? CLBlastTransposeYes : CLBlastTransposeNo, (size_t)gemm->m, (size_t)gemm->n,
        (size_t)gemm->k, gemm->alpha, ((opencl_buffer *)gemm->a)->memory, gemm->a_offset, (size_t)gemm->lda,
        ((opencl_buffer *)gemm->b)->memory, gemm->b_offset, (size_t)gemm->ldb, gemm->beta,
        ((opencl_buffer *)gemm->c)->memory, gemm->c_offset, (size_t)gemm->ldc, &device->queue, NULL);
    cl_int finish;
    const bool memory = code == CLBlastTempBufferAllocFailure || code == CLBlastOpenCLOutOfResources;
    device->unsent = true;
    if (code == CLBlastSuccess) return TVLM_OK;
    if (tvlm_opencl_is_lost(&device->base, &finish))
        return tvlm_opencl_fail(&device->base, finish, "CLBlast");
    return tvlm_fail(&device->base.log, memory ? TVLM_ERROR_DEVICE_MEMORY : TVLM_ERROR_DEVICE,
                     "CLBlast: error %d of a product of matrices, %d x %d by %d x %d", (int)code,
                     (int)gemm->m, (int)gemm->k, (int)gemm->k, (int)gemm->n);
}

/* ---- Our own ---- */

/* A matrix in memory: element (row, column) is at offset + row * row_stride + column * column_stride, in
 * floats. */
typedef struct matrix {
    cl_mem memory;
    uint64_t offset, row_stride, column_stride;
} matrix;

static matrix matrix_of(tvlm_buffer *buffer, size_t offset, int32_t stride, bool transposed) {
    const uint64_t rows = (uint64_t)stride;
    return (matrix){((opencl_buffer *)buffer)->memory, (uint64_t)offset, transposed ? 1 : rows,
                    transposed ? rows : 1};
}

static matrix transpose(matrix m) {
    return (matrix){m.memory, m.offset, m.column_stride, m.row_stride};
}

static void pass_matrix(opencl_call *call, const matrix *m) {
    tvlm_opencl_call_memory(call, m->memory);
    tvlm_opencl_call_ulong(call, m->offset);
    tvlm_opencl_call_ulong(call, m->row_stride);
    tvlm_opencl_call_ulong(call, m->column_stride);
}

/* How many rows a work-item makes. Without a setting they are few, since GPUs want many work-items. */
static int32_t run_of(const opencl_device *device) {
    return device->tuning.gemm_run > 0 ? device->tuning.gemm_run : 4;
}

static tvlm_status begin(opencl_device *device, const char *name, opencl_call *call) {
    char options[32];
    snprintf(options, sizeof options, "-DRUN=%d", (int)run_of(device));
    return tvlm_opencl_call_begin(device, "gemm.cl", name, TVLM_FORMAT_F32, options, call);
}

static tvlm_status pack(opencl_device *device, const matrix *b, int32_t k, int32_t n, cl_mem panels) {
    const size_t size[2] = {(size_t)((k + LINES - 1) / LINES), (size_t)((n + PANEL - 1) / PANEL)};
    opencl_call call;
    TVLM_TRY(begin(device, "gemm_pack", &call));
    pass_matrix(&call, b);
    tvlm_opencl_call_int(&call, k);
    tvlm_opencl_call_int(&call, n);
    tvlm_opencl_call_memory(&call, panels);
    return tvlm_opencl_call_run(&call, 2, size, (const size_t[2]){1, 1});
}

static tvlm_status by_panels(opencl_device *device, const tvlm_gemm *gemm) {
    matrix a = matrix_of(gemm->a, gemm->a_offset, gemm->lda, gemm->transpose_a);
    matrix b = matrix_of(gemm->b, gemm->b_offset, gemm->ldb, gemm->transpose_b);
    matrix c = matrix_of(gemm->c, gemm->c_offset, gemm->ldc, false);
    int32_t m = gemm->m, n = gemm->n;
    /* The right matrix is packed, and that should be the smaller one; so where b is larger, the product is
     * c^T = b^T a^T. */
    if (m < n) {
        const matrix left = transpose(b);
        b = transpose(a);
        a = left;
        c = transpose(c);
        m = gemm->n;
        n = gemm->m;
    }
    const size_t columns = (size_t)((n + PANEL - 1) / PANEL), run = (size_t)run_of(device);
    const size_t size[2] = {((size_t)m + run - 1) / run, columns};
    cl_mem panels;
    opencl_call call;
    TVLM_TRY(
        tvlm_opencl_scratch(device, SCRATCH_A, columns * PANEL * (size_t)gemm->k * sizeof(float), &panels));
    TVLM_TRY(pack(device, &b, gemm->k, n, panels));
    TVLM_TRY(begin(device, "gemm", &call));
    pass_matrix(&call, &a);
    tvlm_opencl_call_memory(&call, panels);
    pass_matrix(&call, &c);
    tvlm_opencl_call_int(&call, m);
    tvlm_opencl_call_int(&call, n);
    tvlm_opencl_call_int(&call, gemm->k);
    tvlm_opencl_call_float(&call, gemm->alpha);
    tvlm_opencl_call_float(&call, gemm->beta);
    return tvlm_opencl_call_run(&call, 2, size, (const size_t[2]){1, 1});
}

/* ---- Whether CLBlast is right ---- */

static bool is_known(const opencl_device *device, const opencl_product *product) {
    for (int32_t i = 0; i < PRODUCTS_KNOWN && i < device->product_count; ++i)
        if (memcmp(&device->products[i], product, sizeof *product) == 0) return true;
    return false;
}

static void remember(opencl_device *device, const opencl_product *product) {
    device->products[device->product_count % PRODUCTS_KNOWN] = *product;
    if (++device->product_count == 2 * PRODUCTS_KNOWN) device->product_count = PRODUCTS_KNOWN;
}

/* The largest absolute value in a matrix of the device, which has `rows` rows with `columns` values. */
static tvlm_status largest(opencl_device *device, tvlm_buffer *buffer, size_t offset, int32_t rows,
                           int32_t columns, int32_t stride, double *most) {
    const size_t count = (size_t)(rows - 1) * (size_t)stride + (size_t)columns;
    float *const values = tvlm_allocate(count, sizeof *values);
    if (values == NULL)
        return tvlm_fail(&device->base.log, TVLM_ERROR_MEMORY, "out of memory for a product of matrices");
    const tvlm_status status = tvlm_opencl_read(device, ((opencl_buffer *)buffer)->memory,
                                                offset * sizeof *values, count * sizeof *values, values);
    *most = 0.0;
    for (size_t i = 0; i < count; ++i)
        if (i % (size_t)stride < (size_t)columns) *most = fmax(*most, fabs((double)values[i]));
    free(values);
    return status;
}

/* By how much two results differ at most, and the largest value of the second one. Where that is not finite, nothing
 * is compared. */
static void compare(const tvlm_gemm *gemm, const float *got, const float *expected, double *error,
                    double *most) {
    *error = *most = 0.0;
    for (size_t row = 0; row < (size_t)gemm->m; ++row)
        for (size_t i = row * (size_t)gemm->ldc; i < row * (size_t)gemm->ldc + (size_t)gemm->n; ++i) {
            const double wanted = (double)expected[i];
            if (!isfinite(wanted)) continue;
            *most = fmax(*most, fabs(wanted));
            *error = tvlm_opencl_larger(*error, fabs((double)got[i] - wanted));
        }
}

/* Whether a result is CLBlast's fault. Sums in another order differ by little; where all of them come near zero, that
 * is much beside them, but not beside what was summed. */
static tvlm_status judge(opencl_device *device, const tvlm_gemm *gemm, const float *got,
                         const float *expected, bool *right) {
    const int32_t a_rows = gemm->transpose_a ? gemm->k : gemm->m,
                  a_columns = gemm->transpose_a ? gemm->m : gemm->k,
                  b_rows = gemm->transpose_b ? gemm->n : gemm->k,
                  b_columns = gemm->transpose_b ? gemm->k : gemm->n;
    double error, most, a, b;
    compare(gemm, got, expected, &error, &most);
    *right = error <= 0.01 * most;
    if (*right) return TVLM_OK;
    TVLM_TRY(largest(device, gemm->a, gemm->a_offset, a_rows, a_columns, gemm->lda, &a));
    TVLM_TRY(largest(device, gemm->b, gemm->b_offset, b_rows, b_columns, gemm->ldb, &b));
    *right = error <= 0.01 * most + 1e-6 * gemm->k * fabs((double)gemm->alpha) * a * b;
    return TVLM_OK;
}

/* Makes `own`, which holds c, by our own kernels and c by CLBlast, and compares them. */
static tvlm_status make_both(opencl_device *device, const tvlm_gemm *gemm, tvlm_buffer *own, size_t count,
                             float *values, bool *right) {
    tvlm_gemm ours = *gemm;
    ours.c = own;
    ours.c_offset = 0;
    TVLM_TRY(by_panels(device, &ours));
    TVLM_TRY(by_library(device, gemm));
    TVLM_TRY(tvlm_opencl_read(device, ((opencl_buffer *)gemm->c)->memory, gemm->c_offset * sizeof *values,
                              count * sizeof *values, values));
    TVLM_TRY(
        tvlm_opencl_read(device, ((opencl_buffer *)own)->memory, 0, count * sizeof *values, values + count));
    return judge(device, gemm, values, values + count, right);
}

static tvlm_status copy(opencl_device *device, tvlm_buffer *from, size_t from_offset, tvlm_buffer *to,
                        size_t to_offset, size_t count) {
    const cl_int error = clEnqueueCopyBuffer(device->queue, ((opencl_buffer *)from)->memory,
                                             ((opencl_buffer *)to)->memory, from_offset * sizeof(float),
                                             to_offset * sizeof(float), count * sizeof(float), 0, NULL, NULL);
    device->unsent = true;
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(&device->base, error, "clEnqueueCopyBuffer");
}

/* Makes a product in c by CLBlast and, beside it, by our own kernels, and keeps what is right. `own` and `values` have
 * room for c, and for c twice. */
static tvlm_status take_right(opencl_device *device, const tvlm_gemm *gemm, const opencl_product *product,
                              tvlm_buffer *own, size_t count, float *values) {
    bool right = true;
    tvlm_status status = copy(device, gemm->c, gemm->c_offset, own, 0, count);
    if (status == TVLM_OK) status = make_both(device, gemm, own, count, values, &right);
    if (status == TVLM_OK && right) remember(device, product);
    if (status == TVLM_OK && !right) {
        tvlm_log_message(&device->base.log, TVLM_LOG_WARNING,
                         "CLBlast gets products of matrices wrong on '%s' (%d x %d by %d x %d): our own "
                         "kernels make them; versions after 1.6.2 have mended some",
                         device->base.info.name, (int)gemm->m, (int)gemm->k, (int)gemm->k, (int)gemm->n);
        device->clblast_sgemm = NULL;
        status = copy(device, own, 0, gemm->c, gemm->c_offset, count);
    }
    return status;
}

/* A product by CLBlast, or our own where CLBlast's is wrong: it is never asked again then. Where there is no memory to
 * make both, it is our own, too. */
static tvlm_status by_both(opencl_device *device, const tvlm_gemm *gemm, const opencl_product *product) {
    const size_t count = (size_t)(gemm->m - 1) * (size_t)gemm->ldc + (size_t)gemm->n,
                 bytes = count * sizeof(float);
    float *const values = tvlm_allocate(2 * count, sizeof *values);
    opencl_buffer own = {.base = {.bytes = bytes}};
    cl_int error = CL_SUCCESS;
    if (values != NULL) own.memory = tvlm_opencl_new_buffer(device, bytes, &error);
    if (values == NULL || error != CL_SUCCESS) {
        free(values);
        return by_panels(device, gemm);
    }
    tvlm_device_takes(&device->base, bytes);
    const tvlm_status status = take_right(device, gemm, product, &own.base, count, values);
    tvlm_device_gives(&device->base, bytes);
    tvlm_opencl_release(device, own.memory);
    free(values);
    return status;
}

tvlm_status tvlm_opencl_gemm(tvlm_device *device, const tvlm_gemm *gemm) {
    OPENCL_TUNED(device, TVLM_TUNED_PRODUCTS,
                 (double)(gemm->m > gemm->n ? gemm->m : gemm->n) * (double)TVLM_TUNED_CELL);
    opencl_device *d = (opencl_device *)device;
    if (d->tuning.gemm_run == 0 && !d->clblast_asked) load_library(d);
    if (d->tuning.gemm_run > 0 || d->clblast_sgemm == NULL) return by_panels(d, gemm);
    const opencl_product product = {gemm->m, gemm->n, gemm->k, gemm->transpose_a + 2 * gemm->transpose_b};
    return is_known(d, &product) ? by_library(d, gemm) : by_both(d, gemm, &product);
}
