/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trainer.c: makes a basis from any number of vectors. Blocks of them are multiplied on the device, and the
 * products are added up on the host in double.
 *
 * If the mean is large compared with the variation, it uses up the digits of a float. Therefore the mean s of
 * the first block is subtracted from all vectors, and accounted for in the sums afterwards. Let d be the sum
 * of all x - s, and n the number of vectors. The matrix whose eigenvectors are wanted is
 *
 *     centred:      C = sum (x-s)(x-s)' - d d'/n
 *     not centred:  C = sum (x-s)(x-s)' + s d' + d s' + n s s'
 */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "lab/basis.h"
#include "texturevlm/lab/trainer.h"

enum { BLOCK = 1024, COVARIANCE_MAX = 1536, PASSES = 3 };

struct tvlm_trainer {
    tvlm_device *device;
    /* The parameters, with their defaults filled in. */
    struct tvlm_trainer_params params;
    /* The columns of `sums`: the dimension, or the columns of the range finder. */
    int32_t columns;
    /* The number of the pass, and how many vectors of the block are filled. */
    int32_t pass, filled;
    /* How many vectors were added in this pass, and in the first one. */
    int64_t vectors, first_vectors;
    /* Whether the shift s is known. */
    bool shifted;
    /* Whether the basis was made, or was tried to be made. */
    bool finished;
    /* [BLOCK * dimension], and [dimension * columns]. */
    float *block, *product;
    /* s; d; what becomes C, or C times the range [dimension * columns]; and the sum of |x-s|^2. */
    double *shift, *rest, *sums, squares;
    /* [columns * dimension]: the rows of the range finder. They span the directions that are looked for. */
    double *range;
    tvlm_buffer *device_block, *device_product, *device_range, *device_between;
};

/* ---- Making one ---- */

static tvlm_status fill_in(tvlm_device *device, const struct tvlm_trainer_params *params,
                           struct tvlm_trainer_params *out) {
    static const struct tvlm_trainer_params defaults;
    *out = params != NULL ? *params : defaults;
    if (out->k == 0) out->k = TVLM_BASIS_K_DEFAULT;
    if (out->dimension < 1 || out->dimension > TVLM_BASIS_DIMENSION_MAX)
        return tvlm_fail(&device->log, TVLM_ERROR_ARGUMENT, "vectors of %d dimensions: not in 1 .. %d",
                         (int)out->dimension, TVLM_BASIS_DIMENSION_MAX);
    if (out->k < 1 || out->k > out->dimension)
        return tvlm_fail(&device->log, TVLM_ERROR_ARGUMENT,
                         "a basis of %d components of vectors of %d dimensions", (int)out->k,
                         (int)out->dimension);
    if ((int)out->method < TVLM_BASIS_AUTO || out->method > TVLM_BASIS_RANGE_FINDER)
        return tvlm_fail(&device->log, TVLM_ERROR_ARGUMENT, "there is no method %d to make a basis",
                         (int)out->method);
    if (out->method == TVLM_BASIS_AUTO)
        out->method = out->dimension <= COVARIANCE_MAX ? TVLM_BASIS_COVARIANCE : TVLM_BASIS_RANGE_FINDER;
    return TVLM_OK;
}

/* Returns whether the trainer uses the range finder instead of the whole covariance. */
static bool ranged(const tvlm_trainer *t) {
    return t->params.method == TVLM_BASIS_RANGE_FINDER;
}

static tvlm_status allocate(tvlm_trainer *t) {
    const tvlm_backend *backend = t->device->backend;
    const size_t dimension = (size_t)t->params.dimension, columns = (size_t)t->columns;
    t->block = tvlm_allocate(BLOCK * sizeof(float), dimension);
    t->product = tvlm_allocate(dimension * sizeof(float), columns);
    t->shift = tvlm_allocate(dimension, sizeof(double));
    t->rest = tvlm_allocate(dimension, sizeof(double));
    t->sums = tvlm_allocate(dimension * sizeof(double), columns);
    if (ranged(t)) t->range = tvlm_allocate(dimension * sizeof(double), columns);
    if (t->block == NULL || t->product == NULL || t->shift == NULL || t->rest == NULL || t->sums == NULL ||
        (ranged(t) && t->range == NULL))
        return tvlm_fail(&t->device->log, TVLM_ERROR_MEMORY, "no memory for a basis of %d dimensions",
                         (int)dimension);
    TVLM_TRY(backend->buffer_create(t->device, BLOCK * dimension * sizeof(float), &t->device_block));
    TVLM_TRY(backend->buffer_create(t->device, dimension * columns * sizeof(float), &t->device_product));
    if (!ranged(t)) return TVLM_OK;
    TVLM_TRY(backend->buffer_create(t->device, dimension * columns * sizeof(float), &t->device_range));
    return backend->buffer_create(t->device, BLOCK * columns * sizeof(float), &t->device_between);
}

static tvlm_status send_range(tvlm_trainer *t) {
    const size_t count = (size_t)t->columns * (size_t)t->params.dimension;
    for (size_t i = 0; i < count; ++i) t->product[i] = (float)t->range[i];
    return t->device->backend->buffer_write(t->device, t->device_range, 0, count * sizeof(float), t->product);
}

static tvlm_status start_range(tvlm_trainer *t) {
    const size_t count = (size_t)t->columns * (size_t)t->params.dimension;
    if (!ranged(t)) return TVLM_OK;
    tvlm_normal_numbers(t->product, count);
    for (size_t i = 0; i < count; ++i) t->range[i] = (double)t->product[i];
    tvlm_orthonormalise(t->range, 0, t->columns, t->params.dimension, false);
    return send_range(t);
}

tvlm_status tvlm_trainer_create(tvlm_device *device, const struct tvlm_trainer_params *params,
                                tvlm_trainer **trainer) {
    struct tvlm_trainer_params filled;
    TVLM_NEED(NULL, device);
    TVLM_ENTER(device);
    TVLM_NEED(&device->log, trainer);
    TVLM_CHECK_RESERVED(&device->log, tvlm_trainer_params, params);
    TVLM_TRY(fill_in(device, params, &filled));
    tvlm_trainer *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for a trainer");
    made->device = device;
    made->params = filled;
    made->columns = filled.dimension;
    if (ranged(made) && filled.k < filled.dimension - TVLM_BASIS_OVERSAMPLING)
        made->columns = filled.k + TVLM_BASIS_OVERSAMPLING;
    tvlm_status status = allocate(made);
    if (status == TVLM_OK) status = start_range(made);
    if (status != TVLM_OK) {
        tvlm_trainer_destroy(&made);
        return status;
    }
    *trainer = made;
    return TVLM_OK;
}

void tvlm_trainer_destroy(tvlm_trainer **trainer) {
    if (trainer == NULL || *trainer == NULL) return;
    TVLM_ENTER_TO_FREE((*trainer)->device);
    tvlm_trainer *t = *trainer;
    const tvlm_backend *backend = t->device->backend;
    backend->buffer_destroy(t->device, &t->device_block);
    backend->buffer_destroy(t->device, &t->device_product);
    backend->buffer_destroy(t->device, &t->device_range);
    backend->buffer_destroy(t->device, &t->device_between);
    free(t->block);
    free(t->product);
    free(t->shift);
    free(t->rest);
    free(t->sums);
    free(t->range);
    free(t);
    *trainer = NULL;
}

/* ---- Adding ---- */

static void find_shift(tvlm_trainer *t) {
    const int32_t dimension = t->params.dimension;
    for (int32_t row = 0; row < t->filled; ++row)
        for (int32_t d = 0; d < dimension; ++d)
            t->shift[d] += (double)t->block[(size_t)row * (size_t)dimension + (size_t)d] / t->filled;
    for (int32_t d = 0; d < dimension; ++d) t->shift[d] = (double)(float)t->shift[d];
    t->shifted = true;
}

static void take_shift_off(tvlm_trainer *t) {
    const int32_t dimension = t->params.dimension;
    float *value = t->block;
    for (int32_t row = 0; row < t->filled; ++row)
        for (int32_t d = 0; d < dimension; ++d, ++value) {
            *value = (float)((double)*value - t->shift[d]);
            t->rest[d] += (double)*value;
            t->squares += (double)*value * (double)*value;
        }
}

/* Multiplies the block X: device_product becomes X'X or, with the range finder, X'(X range'). */
static tvlm_status multiply(tvlm_trainer *t) {
    const int32_t dimension = t->params.dimension, columns = t->columns;
    const tvlm_backend *backend = t->device->backend;
    tvlm_gemm outer = {.m = dimension,
                       .n = columns,
                       .k = t->filled,
                       .transpose_a = true,
                       .a = t->device_block,
                       .b = t->device_block,
                       .c = t->device_product,
                       .lda = dimension,
                       .ldb = columns,
                       .ldc = columns,
                       .alpha = 1.0f};
    if (ranged(t)) {
        const tvlm_gemm inner = {.m = t->filled,
                                 .n = columns,
                                 .k = dimension,
                                 .transpose_b = true,
                                 .a = t->device_block,
                                 .b = t->device_range,
                                 .c = t->device_between,
                                 .lda = dimension,
                                 .ldb = dimension,
                                 .ldc = columns,
                                 .alpha = 1.0f};
        TVLM_TRY(backend->gemm(t->device, &inner));
        outer.b = t->device_between;
    }
    return backend->gemm(t->device, &outer);
}

static tvlm_status flush(tvlm_trainer *t) {
    const tvlm_backend *backend = t->device->backend;
    const size_t dimension = (size_t)t->params.dimension, count = dimension * (size_t)t->columns;
    if (t->filled == 0) return TVLM_OK;
    if (!t->shifted) find_shift(t);
    take_shift_off(t);
    TVLM_TRY(backend->buffer_write(t->device, t->device_block, 0,
                                   (size_t)t->filled * dimension * sizeof(float), t->block));
    TVLM_TRY(multiply(t));
    TVLM_TRY(backend->buffer_read(t->device, t->device_product, 0, count * sizeof(float), t->product));
    for (size_t i = 0; i < count; ++i) t->sums[i] += (double)t->product[i];
    t->filled = 0;
    return TVLM_OK;
}

static tvlm_status check_vector(const tvlm_trainer *t, const float *vector) {
    for (int32_t d = 0; d < t->params.dimension; ++d)
        if (!isfinite(vector[d]))
            return tvlm_fail(&t->device->log, TVLM_ERROR_ARGUMENT, "vector %lld: component %d is not finite",
                             (long long)t->vectors, (int)d);
    return TVLM_OK;
}

/* After the basis was made, the sums are no longer those of the vectors. */
static tvlm_status check_open(const tvlm_trainer *t) {
    if (!t->finished) return TVLM_OK;
    return tvlm_fail(&t->device->log, TVLM_ERROR_ARGUMENT, "the basis of these vectors was made already");
}

tvlm_status tvlm_trainer_add(tvlm_trainer *trainer, const float *vectors, int64_t count) {
    const size_t dimension = trainer != NULL ? (size_t)trainer->params.dimension : 0;
    TVLM_NEED(NULL, trainer);
    TVLM_ENTER(trainer->device);
    TVLM_TRY(check_open(trainer));
    if (count < 0 || (vectors == NULL && count > 0))
        return tvlm_fail(&trainer->device->log, TVLM_ERROR_ARGUMENT, "%lld vectors to add", (long long)count);
    for (int64_t i = 0; i < count; ++i, vectors += dimension) {
        TVLM_TRY(check_vector(trainer, vectors));
        memcpy(trainer->block + (size_t)trainer->filled * dimension, vectors, dimension * sizeof(float));
        ++trainer->vectors;
        if (++trainer->filled == BLOCK) TVLM_TRY(flush(trainer));
    }
    return TVLM_OK;
}

/* ---- Ending a pass ---- */

/* Turns `sums` into C, or C times the range. If the basis is centred, this subtracts what is left of the
 * mean; otherwise it adds the shift again. */
static void correct(tvlm_trainer *t) {
    const int32_t dimension = t->params.dimension, columns = t->columns;
    const double n = (double)t->vectors;
    for (int32_t j = 0; j < columns; ++j) {
        /* The scalar products of d and of s with the column. */
        double along_rest = 0.0, along_shift = 0.0;
        if (ranged(t))
            for (int32_t d = 0; d < dimension; ++d) {
                const double value = t->range[(size_t)j * (size_t)dimension + (size_t)d];
                along_rest += t->rest[d] * value;
                along_shift += t->shift[d] * value;
            }
        else
            along_rest = t->rest[j], along_shift = t->shift[j];
        for (int32_t i = 0; i < dimension; ++i)
            t->sums[(size_t)i * (size_t)columns + (size_t)j] +=
                t->params.centred
                    ? -t->rest[i] * along_rest / n
                    : t->shift[i] * along_rest + t->rest[i] * along_shift + n * t->shift[i] * along_shift;
    }
}

/* Returns the trace of C. */
static double total(const tvlm_trainer *t) {
    double sum = t->squares;
    for (int32_t d = 0; d < t->params.dimension; ++d) {
        const double s = t->shift[d], rest = t->rest[d], n = (double)t->vectors;
        sum += t->params.centred ? -rest * rest / n : 2.0 * s * rest + n * s * s;
    }
    return sum;
}

int32_t tvlm_trainer_passes(const tvlm_trainer *trainer) {
    return trainer != NULL && ranged(trainer) ? PASSES : 1;
}

static tvlm_status check_pass(tvlm_trainer *t) {
    TVLM_TRY(flush(t));
    if (t->pass == 0) t->first_vectors = t->vectors;
    if (t->vectors != t->first_vectors)
        return tvlm_fail(&t->device->log, TVLM_ERROR_ARGUMENT,
                         "%lld vectors in pass %d, %lld in the first one", (long long)t->vectors,
                         (int)t->pass + 1, (long long)t->first_vectors);
    /* Subtracting the mean leaves one direction less. */
    if (t->vectors < t->params.k + t->params.centred)
        return tvlm_fail(&t->device->log, TVLM_ERROR_ARGUMENT, "%lld vectors are too few for %d components%s",
                         (long long)t->vectors, (int)t->params.k, t->params.centred ? ", centred" : "");
    return TVLM_OK;
}

/* Copies the columns of `sums` to the rows of `range`. */
static void sums_to_range(tvlm_trainer *t) {
    const size_t dimension = (size_t)t->params.dimension, columns = (size_t)t->columns;
    for (size_t j = 0; j < columns; ++j)
        for (size_t i = 0; i < dimension; ++i) t->range[j * dimension + i] = t->sums[i * columns + j];
}

tvlm_status tvlm_trainer_next_pass(tvlm_trainer *trainer) {
    TVLM_NEED(NULL, trainer);
    TVLM_ENTER(trainer->device);
    TVLM_TRY(check_open(trainer));
    if (trainer->pass + 1 >= tvlm_trainer_passes(trainer))
        return tvlm_fail(&trainer->device->log, TVLM_ERROR_ARGUMENT, "there are no more passes than %d",
                         (int)tvlm_trainer_passes(trainer));
    TVLM_TRY(check_pass(trainer));
    correct(trainer);
    sums_to_range(trainer);
    tvlm_orthonormalise(trainer->range, 0, trainer->columns, trainer->params.dimension, false);
    const size_t dimension = (size_t)trainer->params.dimension;
    memset(trainer->sums, 0, dimension * (size_t)trainer->columns * sizeof(double));
    memset(trainer->rest, 0, dimension * sizeof(double));
    trainer->squares = 0.0;
    trainer->vectors = 0;
    ++trainer->pass;
    return send_range(trainer);
}

/* ---- The basis ---- */

/* Computes out[a][b] = sum over i of left[i][a] * right[i][b]. Both matrices have `rows` rows of n
 * numbers. */
static void inner_products(const double *left, const double *right, int32_t rows, int32_t n, double *out) {
    memset(out, 0, (size_t)n * (size_t)n * sizeof *out);
    for (int32_t i = 0; i < rows; ++i, left += n, right += n)
        for (int32_t a = 0; a < n; ++a)
            for (int32_t b = 0; b < n; ++b) out[(size_t)a * (size_t)n + (size_t)b] += left[a] * right[b];
}

/* Multiplies matrix [rows * n] by the vectors of tvlm_eigen, as columns, each of them divided by the root of
 * its eigenvalue. A vector whose eigenvalue is next to 0 counts as 0. */
static void whiten(double *matrix, int32_t rows, int32_t n, const double *values, const double *vectors,
                   double *line) {
    for (int32_t i = 0; i < rows; ++i, matrix += n) {
        for (int32_t a = 0; a < n; ++a) {
            const bool there = values[a] > 1e-12 * values[0] && values[a] > 0.0;
            line[a] = 0.0;
            for (int32_t b = 0; there && b < n; ++b)
                line[a] += matrix[b] * vectors[(size_t)a * (size_t)n + (size_t)b];
            if (there) line[a] /= sqrt(values[a]);
        }
        memcpy(matrix, line, (size_t)n * sizeof *matrix);
    }
}

/*
 * Nystrom's method (Halko, Martinsson & Tropp 2011, section 5.4). Let Y = C Q, with Q the range. C is nearly
 * Y (Q'Y)^-1 Y'. With F = Y (Q'Y)^-1/2 this is F F', whose eigenvectors are the left singular vectors of F.
 * These go to the first rows of `range`.
 */
static tvlm_status nystrom(tvlm_trainer *t, double *values) {
    const int32_t dimension = t->params.dimension, n = t->columns;
    const size_t square = (size_t)n * (size_t)n;
    double *small = tvlm_allocate(2 * square + (size_t)n, sizeof *small);
    if (small == NULL) return tvlm_fail(&t->device->log, TVLM_ERROR_MEMORY, "no memory for a basis");
    double *vectors = small + square, *line = vectors + square;
    for (int32_t a = 0; a < n; ++a)
        for (int32_t b = 0; b < n; ++b) {
            double sum = 0.0;
            for (int32_t i = 0; i < dimension; ++i)
                sum += t->range[(size_t)a * (size_t)dimension + (size_t)i] *
                       t->sums[(size_t)i * (size_t)n + (size_t)b];
            small[(size_t)a * (size_t)n + (size_t)b] = sum;
        }
    tvlm_status status = tvlm_eigen(&t->device->log, small, n, n, values, vectors);
    if (status == TVLM_OK) {
        whiten(t->sums, dimension, n, values, vectors, line);
        inner_products(t->sums, t->sums, dimension, n, small);
        status = tvlm_eigen(&t->device->log, small, n, n, values, vectors);
    }
    if (status == TVLM_OK) {
        whiten(t->sums, dimension, n, values, vectors, line);
        sums_to_range(t);
        tvlm_orthonormalise(t->range, 0, t->params.k, dimension, false);
    }
    free(small);
    return status;
}

tvlm_status tvlm_trainer_finish(tvlm_trainer *trainer, tvlm_basis **basis) {
    TVLM_NEED(NULL, trainer);
    TVLM_ENTER(trainer->device);
    tvlm_trainer *t = trainer;
    const tvlm_log *log = &t->device->log;
    const size_t dimension = (size_t)t->params.dimension;
    TVLM_NEED(log, basis);
    TVLM_TRY(check_open(t));
    if (t->pass + 1 < tvlm_trainer_passes(t))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "pass %d of %d", (int)t->pass + 1,
                         (int)tvlm_trainer_passes(t));
    TVLM_TRY(check_pass(t));
    if (!(total(t) > 0.0))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "%lld vectors, all of them %s: there is no direction to find", (long long)t->vectors,
                         t->params.centred ? "alike" : "0");
    t->finished = true;
    correct(t);
    double *values = tvlm_allocate((size_t)t->columns, sizeof *values);
    double *rows = ranged(t) ? t->range : tvlm_allocate((size_t)t->params.k, dimension * sizeof *rows);
    tvlm_status status = values != NULL && rows != NULL ? TVLM_OK : TVLM_ERROR_MEMORY;
    if (status != TVLM_OK) tvlm_log_message(log, TVLM_LOG_ERROR, "no memory for a basis");
    if (status == TVLM_OK)
        status = ranged(t) ? nystrom(t, values)
                           : tvlm_eigen(log, t->sums, t->params.dimension, t->params.k, values, rows);
    if (status == TVLM_OK) {
        const double all = total(t);
        const struct tvlm_basis_params about = {.dimension = t->params.dimension,
                                                .k = t->params.k,
                                                .centred = t->params.centred,
                                                .vectors = t->vectors,
                                                .method = ranged(t) ? "range finder" : "covariance"};
        for (int32_t i = 0; i < t->params.k; ++i) values[i] = fmax(0.0, values[i]) / all;
        for (size_t d = 0; d < dimension; ++d) t->shift[d] += t->rest[d] / (double)t->vectors;
        status = tvlm_basis_from_rows(log, rows, t->params.centred ? t->shift : NULL, values, &about, basis);
    }
    if (!ranged(t)) free(rows);
    free(values);
    return status;
}
