/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ridge.c: ridge regression. After the means of X and Y are subtracted, the weights W [inputs][outputs] solve
 *
 *     (X'X + l2 I) W = X'Y
 *
 * The device computes both products in floats, for one block of rows after the other, and they are added up
 * in double. The precision that floats lose in X'X matters if columns are nearly alike. So the solution is
 * corrected by its own residual, which is computed from the rows themselves (iterative refinement; Higham
 * 2002, chapter 12):
 *
 *     (X'X + l2 I) D = X'(Y - X W) - l2 W, W += D
 */
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "core/backend.h"
#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "texturevlm/lab/projection.h"
#include "texturevlm/lab/ridge.h"

enum { BLOCK = 1024, CORRECTIONS = 2 };

typedef struct ridge {
    tvlm_device *device;
    const tvlm_log *log;
    const struct tvlm_ridge_params *given;
    double l2;
    size_t inputs, outputs;
    double *mean_x, *mean_y;
    double *gram;           /* [inputs][inputs], then its Cholesky factor */
    double *right;          /* [inputs][outputs] */
    double *weights;        /* [inputs][outputs] */
    float *block, *product; /* on the host: a block of rows of x or y, and a product */
    tvlm_buffer *x, *y, *out, *w;
} ridge;

static void release(ridge *r) {
    tvlm_buffer **const buffers[] = {&r->x, &r->y, &r->out, &r->w};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; ++i)
        if (*buffers[i] != NULL) r->device->backend->buffer_destroy(r->device, buffers[i]);
    free(r->mean_x);
    free(r->mean_y);
    free(r->gram);
    free(r->right);
    free(r->weights);
    free(r->block);
    free(r->product);
}

static tvlm_status allocate(ridge *r) {
    const tvlm_backend *const backend = r->device->backend;
    const size_t widest = r->inputs > r->outputs ? r->inputs : r->outputs;
    r->mean_x = tvlm_allocate(r->inputs, sizeof(double));
    r->mean_y = tvlm_allocate(r->outputs, sizeof(double));
    r->gram = tvlm_allocate(r->inputs, r->inputs * sizeof(double));
    r->right = tvlm_allocate(r->inputs, r->outputs * sizeof(double));
    r->weights = tvlm_allocate(r->inputs, r->outputs * sizeof(double));
    r->block = tvlm_allocate(BLOCK, widest * sizeof(float));
    r->product = tvlm_allocate(r->inputs, widest * sizeof(float));
    if (r->mean_x == NULL || r->mean_y == NULL || r->gram == NULL || r->right == NULL || r->weights == NULL ||
        r->block == NULL || r->product == NULL)
        return tvlm_fail(r->log, TVLM_ERROR_MEMORY, "no memory for a projection of %zu numbers to %zu",
                         r->inputs, r->outputs);
    TVLM_TRY(backend->buffer_create(r->device, BLOCK * r->inputs * sizeof(float), &r->x));
    TVLM_TRY(backend->buffer_create(r->device, BLOCK * r->outputs * sizeof(float), &r->y));
    TVLM_TRY(backend->buffer_create(r->device, r->inputs * widest * sizeof(float), &r->out));
    return backend->buffer_create(r->device, r->inputs * r->outputs * sizeof(float), &r->w);
}

/* ---- Rows ---- */

static tvlm_status check_finite(const ridge *r, const char *what, const float *values, size_t width) {
    for (size_t i = 0; i < (size_t)r->given->count * width; ++i)
        if (!isfinite(values[i]))
            return tvlm_fail(r->log, TVLM_ERROR_ARGUMENT, "%s of row %zu, number %zu, is %g", what, i / width,
                             i % width, (double)values[i]);
    return TVLM_OK;
}

static void find_mean(const ridge *r, const float *values, size_t width, double *mean) {
    const size_t count = (size_t)r->given->count;
    for (size_t row = 0; row < count; ++row)
        for (size_t i = 0; i < width; ++i) mean[i] += (double)values[row * width + i];
    for (size_t i = 0; i < width; ++i) mean[i] /= (double)count;
}

/* Subtracts the mean from `rows` rows, from `first` on, and sends them. */
static tvlm_status send_rows(const ridge *r, const float *values, size_t width, const double *mean,
                             int64_t first, int32_t rows, tvlm_buffer *buffer) {
    const float *const from = values + (size_t)first * width;
    const size_t count = (size_t)rows * width;
    for (size_t i = 0; i < count; ++i) r->block[i] = (float)((double)from[i] - mean[i % width]);
    return r->device->backend->buffer_write(r->device, buffer, 0, count * sizeof(float), r->block);
}

/* Multiplies the transpose of the block of x by another block, which has `width` columns, and adds the
 * product to sums[inputs][width]. */
static tvlm_status add_product(const ridge *r, tvlm_buffer *other, size_t width, int32_t rows, double *sums) {
    const tvlm_gemm product = {.m = (int32_t)r->inputs,
                               .n = (int32_t)width,
                               .k = rows,
                               .transpose_a = true,
                               .a = r->x,
                               .b = other,
                               .c = r->out,
                               .lda = (int32_t)r->inputs,
                               .ldb = (int32_t)width,
                               .ldc = (int32_t)width,
                               .alpha = 1.0f};
    const size_t count = r->inputs * width;
    TVLM_TRY(r->device->backend->gemm(r->device, &product));
    TVLM_TRY(r->device->backend->buffer_read(r->device, r->out, 0, count * sizeof(float), r->product));
    for (size_t i = 0; i < count; ++i) sums[i] += (double)r->product[i];
    return TVLM_OK;
}

/* Subtracts from the block of y what the weights in `w` predict from the block of x. */
static tvlm_status take_off(const ridge *r, int32_t rows) {
    const tvlm_gemm product = {.m = rows,
                               .n = (int32_t)r->outputs,
                               .k = (int32_t)r->inputs,
                               .a = r->x,
                               .b = r->w,
                               .c = r->y,
                               .lda = (int32_t)r->inputs,
                               .ldb = (int32_t)r->outputs,
                               .ldc = (int32_t)r->outputs,
                               .alpha = -1.0f,
                               .beta = 1.0f};
    return r->device->backend->gemm(r->device, &product);
}

/* Computes the right side. With `correcting` it is X'(Y - X W). Otherwise it is X'Y, and X'X is computed,
 * too. */
static tvlm_status go_over_rows(ridge *r, bool correcting) {
    const struct tvlm_ridge_params *const p = r->given;
    memset(r->right, 0, r->inputs * r->outputs * sizeof *r->right);
    for (int64_t first = 0; first < p->count; first += BLOCK) {
        const int32_t rows = (int32_t)(p->count - first < BLOCK ? p->count - first : BLOCK);
        TVLM_TRY(send_rows(r, p->x, r->inputs, r->mean_x, first, rows, r->x));
        TVLM_TRY(send_rows(r, p->y, r->outputs, r->mean_y, first, rows, r->y));
        if (correcting)
            TVLM_TRY(take_off(r, rows));
        else
            TVLM_TRY(add_product(r, r->x, r->inputs, rows, r->gram));
        TVLM_TRY(add_product(r, r->y, r->outputs, rows, r->right));
    }
    return TVLM_OK;
}

/* Refuses sums that went beyond the range of floats, which is that of the numbers' products. */
static tvlm_status check_sums(const ridge *r) {
    bool finite = true;
    for (size_t i = 0; i < r->inputs * r->inputs; ++i) finite = finite && isfinite(r->gram[i]);
    for (size_t i = 0; i < r->inputs * r->outputs; ++i) finite = finite && isfinite(r->right[i]);
    if (finite) return TVLM_OK;
    return tvlm_fail(r->log, TVLM_ERROR_ARGUMENT,
                     "numbers of x and y are too large: the sums of their products are beyond 3e38");
}

/* ---- The solution ---- */

static tvlm_status factorise(ridge *r) {
    for (size_t i = 0; i < r->inputs; ++i) r->gram[i * r->inputs + i] += r->l2;
    const lapack_int n = (lapack_int)r->inputs, info = LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'U', n, r->gram, n);
    if (info == 0) return TVLM_OK;
    return tvlm_fail(
        r->log, TVLM_ERROR_ARGUMENT,
        "no one solution: number %d of the rows depends on those before it (LAPACK: %d); a larger l2 "
        "would have one",
        (int)info - 1, (int)info);
}

/* Solves the equations for the right side, and adds the solution to the weights. */
static tvlm_status add_solution(ridge *r) {
    const lapack_int n = (lapack_int)r->inputs, m = (lapack_int)r->outputs;
    const lapack_int info = LAPACKE_dpotrs(LAPACK_ROW_MAJOR, 'U', n, m, r->gram, n, r->right, m);
    if (info != 0) return tvlm_fail(r->log, TVLM_ERROR_MEMORY, "no memory to solve (LAPACK: %d)", (int)info);
    for (size_t i = 0; i < r->inputs * r->outputs; ++i) r->weights[i] += r->right[i];
    return TVLM_OK;
}

static tvlm_status correct(ridge *r) {
    const size_t count = r->inputs * r->outputs;
    for (size_t i = 0; i < count; ++i) r->product[i] = (float)r->weights[i];
    TVLM_TRY(r->device->backend->buffer_write(r->device, r->w, 0, count * sizeof(float), r->product));
    /* The device has the weights as floats. They are rounded here as well, so that their rounding does not
     * get into the residual. */
    for (size_t i = 0; i < count; ++i) r->weights[i] = (double)r->product[i];
    TVLM_TRY(go_over_rows(r, true));
    for (size_t i = 0; i < count; ++i) r->right[i] -= r->l2 * r->weights[i];
    return add_solution(r);
}

static void hand_out(const ridge *r, float *weights, float *bias) {
    for (size_t o = 0; o < r->outputs; ++o) {
        double at_mean = 0.0;
        for (size_t i = 0; i < r->inputs; ++i) {
            const double weight = r->weights[i * r->outputs + o];
            weights[o * r->inputs + i] = (float)weight;
            at_mean += weight * r->mean_x[i];
        }
        bias[o] = (float)(r->mean_y[o] - at_mean);
    }
}

static tvlm_status solve(ridge *r) {
    TVLM_TRY(check_finite(r, "x", r->given->x, r->inputs));
    TVLM_TRY(check_finite(r, "y", r->given->y, r->outputs));
    TVLM_TRY(allocate(r));
    find_mean(r, r->given->x, r->inputs, r->mean_x);
    find_mean(r, r->given->y, r->outputs, r->mean_y);
    TVLM_TRY(go_over_rows(r, false));
    TVLM_TRY(check_sums(r));
    TVLM_TRY(factorise(r));
    TVLM_TRY(add_solution(r));
    for (int i = 0; i < CORRECTIONS; ++i) TVLM_TRY(correct(r));
    return TVLM_OK;
}

tvlm_status tvlm_ridge(tvlm_device *device, const struct tvlm_ridge_params *params, float *weights,
                       float *bias) {
    TVLM_NEED(NULL, device);
    TVLM_ENTER(device);
    const tvlm_log *const log = &device->log;
    TVLM_NEED(log, params);
    TVLM_CHECK_RESERVED(log, tvlm_ridge_params, params);
    TVLM_NEED(log, weights);
    TVLM_NEED(log, bias);
    if (params->count < 1 || params->inputs < 1 || params->inputs > TVLM_PROJECTION_INPUTS_MAX ||
        params->outputs < 1 || params->outputs > TVLM_PROJECTION_OUTPUTS_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%lld rows of %d numbers, to become %d",
                         (long long)params->count, (int)params->inputs, (int)params->outputs);
    TVLM_NEED(log, params->x);
    TVLM_NEED(log, params->y);
    const float l2 = tvlm_or_default(params->l2, TVLM_RIDGE_L2_DEFAULT);
    if (!(l2 >= 0.0f) || !isfinite(l2))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an l2 of %g; it is not negative", (double)l2);
    ridge r = {.device = device,
               .log = log,
               .given = params,
               .l2 = (double)l2,
               .inputs = (size_t)params->inputs,
               .outputs = (size_t)params->outputs};
    const tvlm_status status = solve(&r);
    if (status == TVLM_OK) hand_out(&r, weights, bias);
    release(&r);
    return status;
}
