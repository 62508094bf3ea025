/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_basis.c: makes a basis from an image's own features, by the randomized range finder of Halko,
 * Martinsson & Tropp (2011, algorithms 4.4 and 5.1).
 *
 * X are the features, cells x D. W is a random matrix, D x n, with n a little more than k. In each round:
 *
 *     Y = X W
 *     U = an orthonormal basis of the columns of Y
 *     Z = X' U
 *     W = an orthonormal basis of the columns of Z, for the next round
 *
 * X is nearly U Z', so that the left singular vectors of Z are the right singular vectors of X.
 *
 * Large matrices stay on the device. An orthonormal basis of the columns of Y is Y T^-1/2, which is computed
 * from the eigenvectors of the n x n product T = Y'Y. In floats, this works as long as the largest singular
 * value is not more than a thousand times the least. Directions that get lost by this are beyond the rank
 * that matters. At the end the rows are made orthonormal on the host, in double.
 */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "lab/basis.h"
#include "stack/features.h"
#include "stack/stack.h"
#include "texturevlm/lab/trainer.h"

/* bench/bases.py measures the rank correlation, and the share of the best 64 that are the same. These are
 * 0.957 and 0.84 after four rounds. After six rounds they are 0.959 and 0.85, as with the SVD. */
enum { ROUNDS = 6 };

/* The matrices above: tall is Y, tall_unit U, wide Z, and wide_unit W. */
typedef struct finder {
    tvlm_device *device;
    /* X, which belongs to the stack: cells x dimension. */
    tvlm_buffer *features;
    /* The sides of the matrices: cells, D, and n. */
    int32_t cells, dimension, columns;
    /* The directions that come first in the basis, given x dimension, and how many there are. */
    int32_t given;
    tvlm_buffer *first;
    /* Cells x columns. */
    tvlm_buffer *tall, *tall_unit;
    /* Dimension x columns. */
    tvlm_buffer *wide, *wide_unit;
    /* Columns x columns, and given x columns. */
    tvlm_buffer *small, *along;
    /* Columns x columns, on the host. */
    float *numbers;
    double *matrix, *vectors, *values;
} finder;

/* ---- Steps ---- */

/* Computes c = a b or, if transpose_a is set, c = a' b. c is m x n, and k is the inner dimension. */
static tvlm_status product(const finder *f, tvlm_buffer *a, bool transpose_a, tvlm_buffer *b, tvlm_buffer *c,
                           int32_t m, int32_t n, int32_t k) {
    const tvlm_gemm gemm = {.m = m,
                            .n = n,
                            .k = k,
                            .transpose_a = transpose_a,
                            .a = a,
                            .b = b,
                            .c = c,
                            .lda = transpose_a ? m : k,
                            .ldb = n,
                            .ldc = n,
                            .alpha = 1.0f};
    return f->device->backend->gemm(f->device, &gemm);
}

/* Subtracts from each column of a wide matrix its part along the given directions. */
static tvlm_status take_given_off(const finder *f, tvlm_buffer *wide) {
    if (f->given == 0) return TVLM_OK;
    TVLM_TRY(product(f, f->first, false, wide, f->along, f->given, f->columns, f->dimension));
    const tvlm_gemm gemm = {.m = f->dimension,
                            .n = f->columns,
                            .k = f->given,
                            .transpose_a = true,
                            .a = f->first,
                            .b = f->along,
                            .c = wide,
                            .lda = f->dimension,
                            .ldb = f->columns,
                            .ldc = f->columns,
                            .alpha = -1.0f,
                            .beta = 1.0f};
    return f->device->backend->gemm(f->device, &gemm);
}

/*
 * Computes out = from T^-1/2, with T = from' from. Its columns are orthonormal, and the one with the largest
 * eigenvalue comes first. A column whose eigenvalue is next to 0 becomes 0. Both matrices are rows x columns.
 */
static tvlm_status orthonormal_columns(finder *f, tvlm_buffer *from, int32_t rows, tvlm_buffer *out) {
    const int32_t n = f->columns;
    const size_t square = (size_t)n * (size_t)n;
    const tvlm_backend *backend = f->device->backend;
    TVLM_TRY(product(f, from, true, from, f->small, n, n, rows));
    TVLM_TRY(backend->buffer_read(f->device, f->small, 0, square * sizeof(float), f->numbers));
    for (size_t i = 0; i < square; ++i) f->matrix[i] = (double)f->numbers[i];
    TVLM_TRY(tvlm_eigen(&f->device->log, f->matrix, n, n, f->values, f->vectors));
    for (int32_t i = 0; i < n; ++i)
        for (int32_t j = 0; j < n; ++j) {
            const bool there = f->values[j] > 1e-6 * f->values[0] && f->values[j] > 0.0;
            f->numbers[(size_t)i * (size_t)n + (size_t)j] =
                there ? (float)(f->vectors[(size_t)j * (size_t)n + (size_t)i] / sqrt(f->values[j])) : 0.0f;
        }
    TVLM_TRY(backend->buffer_write(f->device, f->small, 0, square * sizeof(float), f->numbers));
    return product(f, from, false, f->small, out, rows, n, n);
}

static tvlm_status find(finder *f) {
    for (int round = 0; round < ROUNDS; ++round) {
        TVLM_TRY(take_given_off(f, f->wide_unit));
        TVLM_TRY(product(f, f->features, false, f->wide_unit, f->tall, f->cells, f->columns, f->dimension));
        TVLM_TRY(orthonormal_columns(f, f->tall, f->cells, f->tall_unit));
        TVLM_TRY(product(f, f->features, true, f->tall_unit, f->wide, f->dimension, f->columns, f->cells));
        TVLM_TRY(take_given_off(f, f->wide));
        TVLM_TRY(orthonormal_columns(f, f->wide, f->dimension, f->wide_unit));
    }
    return TVLM_OK;
}

/* ---- Memory ---- */

static tvlm_status reserve(finder *f, tvlm_buffer **buffer, int32_t rows, int32_t columns) {
    return f->device->backend->buffer_create(f->device, (size_t)rows * (size_t)columns * sizeof(float),
                                             buffer);
}

static tvlm_status allocate(finder *f) {
    const size_t n = (size_t)f->columns;
    f->numbers = tvlm_allocate(n * sizeof(float), n);
    f->matrix = tvlm_allocate(2 * n + 1, n * sizeof(double));
    if (f->numbers == NULL || f->matrix == NULL)
        return tvlm_fail(&f->device->log, TVLM_ERROR_MEMORY, "no memory for a basis");
    f->vectors = f->matrix + n * n;
    f->values = f->vectors + n * n;
    TVLM_TRY(reserve(f, &f->tall, f->cells, f->columns));
    TVLM_TRY(reserve(f, &f->tall_unit, f->cells, f->columns));
    TVLM_TRY(reserve(f, &f->wide, f->dimension, f->columns));
    TVLM_TRY(reserve(f, &f->wide_unit, f->dimension, f->columns));
    TVLM_TRY(reserve(f, &f->small, f->columns, f->columns));
    if (f->given == 0) return TVLM_OK;
    TVLM_TRY(reserve(f, &f->first, f->given, f->dimension));
    return reserve(f, &f->along, f->given, f->columns);
}

static void release(finder *f) {
    tvlm_buffer **const buffers[] = {&f->tall,  &f->tall_unit, &f->wide, &f->wide_unit,
                                     &f->small, &f->first,     &f->along};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; ++i)
        f->device->backend->buffer_destroy(f->device, buffers[i]);
    free(f->numbers);
    free(f->matrix);
}

/* Sends the random matrix W, and the directions that come first. */
static tvlm_status start(finder *f, const double *rows) {
    const size_t count = (size_t)f->dimension * (size_t)(f->columns > f->given ? f->columns : f->given);
    float *numbers = tvlm_allocate(count, sizeof *numbers);
    if (numbers == NULL) return tvlm_fail(&f->device->log, TVLM_ERROR_MEMORY, "no memory for a basis");
    const size_t random = (size_t)f->dimension * (size_t)f->columns,
                 given = (size_t)f->dimension * (size_t)f->given;
    tvlm_normal_numbers(numbers, random);
    tvlm_status status =
        f->device->backend->buffer_write(f->device, f->wide_unit, 0, random * sizeof(float), numbers);
    for (size_t i = 0; i < given; ++i) numbers[i] = (float)rows[i];
    if (status == TVLM_OK && given > 0)
        status = f->device->backend->buffer_write(f->device, f->first, 0, given * sizeof(float), numbers);
    free(numbers);
    return status;
}

/* ---- The basis of an image ---- */

typedef struct request {
    const tvlm_log *log;
    struct tvlm_image_basis_params params;
    int32_t cells, dimension;
} request;

static tvlm_status check_request(request *r) {
    struct tvlm_image_basis_params *p = &r->params;
    const int32_t most = r->cells < r->dimension ? r->cells : r->dimension;
    if (p->k == 0) p->k = most < TVLM_BASIS_K_DEFAULT ? most : TVLM_BASIS_K_DEFAULT;
    if (p->queries != NULL && p->query_count == 0) p->query_count = 1;
    if (p->k < 1 || p->k > TVLM_EMBEDDING_MAX)
        return tvlm_fail(r->log, TVLM_ERROR_ARGUMENT, "a basis of %d components: not in 1 .. %d", (int)p->k,
                         TVLM_EMBEDDING_MAX);
    if (p->k > r->dimension)
        return tvlm_fail(r->log, TVLM_ERROR_ARGUMENT, "a basis of %d components of features of %d dimensions",
                         (int)p->k, (int)r->dimension);
    if (p->k > r->cells)
        return tvlm_fail(r->log, TVLM_ERROR_ARGUMENT, "%d features are too few for %d components",
                         (int)r->cells, (int)p->k);
    if (p->query_count < 0 || (p->queries == NULL && p->query_count > 0))
        return tvlm_fail(r->log, TVLM_ERROR_ARGUMENT, "a basis of %d queries", (int)p->query_count);
    if (p->queries != NULL && p->query_dimension != r->dimension)
        return tvlm_fail(r->log, TVLM_ERROR_ARGUMENT, "queries of %d dimensions, but the features have %d",
                         (int)p->query_dimension, (int)r->dimension);
    return TVLM_OK;
}

/* Puts orthonormal directions that span the queries into the first rows. There are at most k of them. */
static tvlm_status span_queries(const request *r, double *rows, int32_t *given) {
    const size_t dimension = (size_t)r->dimension;
    const struct tvlm_image_basis_params *p = &r->params;
    *given = 0;
    if (p->queries == NULL) return TVLM_OK;
    for (int32_t n = 0; n < p->query_count && *given < p->k; ++n) {
        double *row = rows + (size_t)*given * dimension;
        for (size_t d = 0; d < dimension; ++d) {
            row[d] = (double)p->queries[(size_t)n * dimension + d];
            if (!isfinite(row[d]))
                return tvlm_fail(r->log, TVLM_ERROR_ARGUMENT, "query %d: value %zu is not finite", (int)n, d);
        }
        *given = tvlm_orthonormalise(rows, *given, *given + 1, r->dimension, true);
    }
    return *given > 0 ? TVLM_OK : tvlm_fail(r->log, TVLM_ERROR_ARGUMENT, "all queries are zero vectors");
}

/* Reads the k - given directions that were found into the rows, and makes them orthonormal in double. */
static tvlm_status take_rows(finder *f, int32_t k, double *rows) {
    const size_t n = (size_t)f->columns, dimension = (size_t)f->dimension;
    float *columns = tvlm_allocate(dimension, n * sizeof *columns);
    if (columns == NULL) return tvlm_fail(&f->device->log, TVLM_ERROR_MEMORY, "no memory for a basis");
    const tvlm_status status =
        f->device->backend->buffer_read(f->device, f->wide_unit, 0, dimension * n * sizeof(float), columns);
    for (int32_t i = f->given; i < k; ++i)
        for (size_t d = 0; d < dimension; ++d)
            rows[(size_t)i * dimension + d] = (double)columns[d * n + (size_t)(i - f->given)];
    free(columns);
    if (status == TVLM_OK) tvlm_orthonormalise(rows, f->given, k, f->dimension, false);
    return status;
}

/* Finds the share that each direction has of the sum of the features' squares. The sum is computed from the
 * lengths that the stack keeps. */
static tvlm_status find_shares(const finder *f, const tvlm_features *features, const double *rows, int32_t k,
                               double *shares) {
    const tvlm_backend *backend = f->device->backend;
    const size_t cells = (size_t)f->cells, count = (size_t)k * (size_t)f->dimension;
    float *numbers = tvlm_allocate(cells * (size_t)k > count ? cells * (size_t)k : count, sizeof *numbers);
    tvlm_buffer *directions = NULL, *along = NULL;
    double total = 0.0;
    if (numbers == NULL) return tvlm_fail(&f->device->log, TVLM_ERROR_MEMORY, "no memory for a basis");
    tvlm_status status =
        backend->buffer_read(f->device, features->inverse, (size_t)features->image * cells * sizeof(float),
                             cells * sizeof(float), numbers);
    for (size_t i = 0; i < cells; ++i)
        if (numbers[i] > 0.0f) total += 1.0 / ((double)numbers[i] * (double)numbers[i]);
    for (size_t i = 0; i < count; ++i) numbers[i] = (float)rows[i];
    if (status == TVLM_OK) status = backend->buffer_create(f->device, count * sizeof(float), &directions);
    if (status == TVLM_OK)
        status = backend->buffer_create(f->device, cells * (size_t)k * sizeof(float), &along);
    if (status == TVLM_OK)
        status = backend->buffer_write(f->device, directions, 0, count * sizeof(float), numbers);
    if (status == TVLM_OK) {
        const tvlm_gemm gemm = {.m = f->cells,
                                .n = k,
                                .k = f->dimension,
                                .transpose_b = true,
                                .a = f->features,
                                .b = directions,
                                .c = along,
                                .lda = f->dimension,
                                .ldb = f->dimension,
                                .ldc = k,
                                .alpha = 1.0f};
        status = backend->gemm(f->device, &gemm);
    }
    if (status == TVLM_OK)
        status = backend->buffer_read(f->device, along, 0, cells * (size_t)k * sizeof(float), numbers);
    for (size_t i = 0; status == TVLM_OK && i < cells * (size_t)k; ++i)
        shares[i % (size_t)k] += total > 0.0 ? (double)numbers[i] * (double)numbers[i] / total : 0.0;
    backend->buffer_destroy(f->device, &directions);
    backend->buffer_destroy(f->device, &along);
    free(numbers);
    return status;
}

static tvlm_status run(finder *f, const tvlm_features *features, int32_t k, double *rows, double *shares) {
    TVLM_TRY(allocate(f));
    if (k > f->given) {
        TVLM_TRY(start(f, rows));
        TVLM_TRY(find(f));
        TVLM_TRY(take_rows(f, k, rows));
    }
    return find_shares(f, features, rows, k, shares);
}

tvlm_status tvlm_basis_of_image(tvlm_stack *stack, int32_t index,
                                const struct tvlm_image_basis_params *params, tvlm_basis **basis) {
    static const struct tvlm_image_basis_params defaults;
    tvlm_features features;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    const tvlm_log *log = tvlm_stack_log(stack);
    TVLM_NEED(log, basis);
    TVLM_CHECK_RESERVED(log, tvlm_image_basis_params, params);
    TVLM_TRY(tvlm_stack_features(stack, index, &features));
    request r = {log, params != NULL ? *params : defaults, features.texture->width * features.texture->height,
                 features.dimension};
    TVLM_TRY(check_request(&r));
    const int32_t k = r.params.k, wanted = k + TVLM_BASIS_OVERSAMPLING,
                  most = r.cells < r.dimension ? r.cells : r.dimension;
    finder f = {.device = tvlm_stack_device(stack),
                .cells = r.cells,
                .dimension = r.dimension,
                .columns = wanted < most ? wanted : most};
    TVLM_TRY(tvlm_stack_features_matrix(stack, &features, &f.features));
    double *rows = tvlm_allocate((size_t)k + 1, (size_t)r.dimension * sizeof *rows);
    double *shares = tvlm_allocate((size_t)k, sizeof *shares);
    tvlm_status status = TVLM_ERROR_MEMORY;
    if (rows == NULL || shares == NULL)
        tvlm_log_message(log, TVLM_LOG_ERROR, "no memory for a basis");
    else
        status = span_queries(&r, rows, &f.given);
    if (status == TVLM_OK) {
        status = run(&f, &features, k, rows, shares);
        release(&f);
    }
    if (status == TVLM_OK) {
        const struct tvlm_basis_params about = {.dimension = r.dimension,
                                                .k = k,
                                                .vectors = r.cells,
                                                .method = f.given > 0 ? "queries, then image" : "image"};
        status = tvlm_basis_from_rows(log, rows, NULL, shares, &about, basis);
    }
    free(rows);
    free(shares);
    return status;
}
