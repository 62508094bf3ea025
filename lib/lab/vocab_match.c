/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vocab_match.c: finds nearest centres. The device computes the products. Where two of these are too close,
 * the host decides.
 */
#include <math.h>
#include <string.h>

#include "core/constants.h"
#include "core/memory.h"
#include "core/try.h"
#include "lab/vocab.h"

/* The most floats that the products of a block take, so that they need at most 16 MiB for any number of
 * centres. */
enum { PRODUCTS = 1 << 22, ROWS_MAX = 1024 };

tvlm_status tvlm_vocab_check_vector(const tvlm_log *log, const float *vector, int32_t dimension,
                                    int64_t number) {
    for (int32_t d = 0; d < dimension; ++d)
        if (!isfinite(vector[d]))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "vector %lld: component %d is not finite",
                             (long long)number, (int)d);
    return TVLM_OK;
}

bool tvlm_vocab_unit(const float *vector, int32_t dimension, float *out) {
    const double length = sqrt(tvlm_vocab_product(vector, vector, dimension));
    const bool has = length >= (double)TVLM_FEATURE_FLOOR;
    for (int32_t d = 0; d < dimension; ++d) out[d] = has ? (float)((double)vector[d] / length) : 0.0f;
    return has;
}

double tvlm_vocab_product(const float *a, const float *b, int32_t dimension) {
    double sum = 0.0;
    for (int32_t d = 0; d < dimension; ++d) sum += (double)a[d] * (double)b[d];
    return sum;
}

tvlm_status tvlm_matcher_open(tvlm_device *device, int32_t dimension, int32_t count, tvlm_matcher *matcher) {
    const tvlm_backend *const backend = device->backend;
    const size_t width = (size_t)dimension, centres = (size_t)count;
    const int32_t fit = PRODUCTS / count;
    const int32_t rows = fit < ROWS_MAX ? fit : ROWS_MAX;
    const double unit_roundoff = 1.0 / (1 << 24);
    *matcher = (tvlm_matcher){.device = device, .dimension = dimension, .count = count, .rows = rows};
    /* Twice the largest error of one product. It includes the rounding of the lengths and of the halves, and
     * a little for lengths above 1. */
    matcher->margin = (float)(2.02 * (dimension + 8) * unit_roundoff);
    matcher->halves = tvlm_allocate(centres, sizeof(double));
    matcher->block = tvlm_allocate((size_t)rows * width, sizeof(float));
    matcher->products = tvlm_allocate((size_t)rows * centres, sizeof(float));
    if (matcher->halves == NULL || matcher->block == NULL || matcher->products == NULL)
        return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for %d centres of %d dimensions",
                         (int)count, (int)dimension);
    TVLM_TRY(backend->buffer_create(device, (size_t)rows * width * sizeof(float), &matcher->device_block));
    TVLM_TRY(backend->buffer_create(device, centres * width * sizeof(float), &matcher->device_centres));
    return backend->buffer_create(device, (size_t)rows * centres * sizeof(float), &matcher->device_products);
}

void tvlm_matcher_close(tvlm_matcher *matcher) {
    tvlm_buffer **const buffers[] = {&matcher->device_block, &matcher->device_centres,
                                     &matcher->device_products};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; ++i)
        if (*buffers[i] != NULL) matcher->device->backend->buffer_destroy(matcher->device, buffers[i]);
    free(matcher->halves);
    free(matcher->block);
    free(matcher->products);
    memset(matcher, 0, sizeof *matcher);
}

tvlm_status tvlm_matcher_set(tvlm_matcher *matcher, const float *centres) {
    const size_t width = (size_t)matcher->dimension;
    matcher->centres = centres;
    for (size_t j = 0; j < (size_t)matcher->count; ++j) {
        const float *const centre = centres + j * width;
        matcher->halves[j] = 0.5 * tvlm_vocab_product(centre, centre, matcher->dimension);
    }
    return matcher->device->backend->buffer_write(matcher->device, matcher->device_centres, 0,
                                                  (size_t)matcher->count * width * sizeof(float), centres);
}

static double distance_squared(const float *a, const float *b, int32_t dimension) {
    double sum = 0.0;
    for (int32_t d = 0; d < dimension; ++d) {
        const double step = (double)a[d] - (double)b[d];
        sum += step * step;
    }
    return sum;
}

/* Returns the centre with the largest product. All centres whose product may be the largest, given the error,
 * are compared in double. */
static int32_t nearest(const tvlm_matcher *matcher, const float *unit, float *products) {
    float largest = -INFINITY;
    double best = -INFINITY;
    int32_t found = 0;
    for (int32_t j = 0; j < matcher->count; ++j) {
        products[j] -= (float)matcher->halves[j];
        if (products[j] > largest) largest = products[j];
    }
    for (int32_t j = 0; j < matcher->count; ++j) {
        if (products[j] < largest - matcher->margin) continue;
        const float *const centre = matcher->centres + (size_t)j * (size_t)matcher->dimension;
        const double exact = tvlm_vocab_product(unit, centre, matcher->dimension) - matcher->halves[j];
        if (exact > best) best = exact, found = j;
    }
    return found;
}

tvlm_status tvlm_matcher_match(tvlm_matcher *matcher, int32_t rows, int32_t *ids, float *squares) {
    const tvlm_backend *const backend = matcher->device->backend;
    const size_t width = (size_t)matcher->dimension, centres = (size_t)matcher->count;
    const tvlm_gemm product = {.m = rows,
                               .n = matcher->count,
                               .k = matcher->dimension,
                               .transpose_b = true,
                               .a = matcher->device_block,
                               .b = matcher->device_centres,
                               .c = matcher->device_products,
                               .lda = matcher->dimension,
                               .ldb = matcher->dimension,
                               .ldc = matcher->count,
                               .alpha = 1.0f};
    TVLM_TRY(backend->buffer_write(matcher->device, matcher->device_block, 0,
                                   (size_t)rows * width * sizeof(float), matcher->block));
    TVLM_TRY(backend->gemm(matcher->device, &product));
    TVLM_TRY(backend->buffer_read(matcher->device, matcher->device_products, 0,
                                  (size_t)rows * centres * sizeof(float), matcher->products));
    for (size_t i = 0; i < (size_t)rows; ++i) {
        const float *const unit = matcher->block + i * width;
        ids[i] = nearest(matcher, unit, matcher->products + i * centres);
        squares[i] =
            (float)distance_squared(unit, matcher->centres + (size_t)ids[i] * width, matcher->dimension);
    }
    return TVLM_OK;
}
