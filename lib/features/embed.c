/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.c: makes the embedding of an image from its features and a basis, within device memory.
 */
#include <math.h>

#include "core/basis.h"
#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/embedding.h"
#include "stack/features.h"
#include "stack/input.h"
#include "stack/stack.h"

typedef struct projection {
    tvlm_device *device;
    tvlm_buffer *features, *components, *offset, *ones, *mean, *out;
    int32_t cells, dimension, k;
    bool centred;
} projection;

static tvlm_status send(projection *p, const float *numbers, size_t count, tvlm_buffer **buffer) {
    TVLM_TRY(p->device->backend->buffer_create(p->device, count * sizeof(float), buffer));
    return p->device->backend->buffer_write(p->device, *buffer, 0, count * sizeof(float), numbers);
}

/* Sets the coordinates of every cell to minus those of the mean, as the product of a column of ones (cells x
 * 1) and a row (1 x k). Afterwards the features' own coordinates are added. */
static tvlm_status take_mean_off(projection *p, const tvlm_basis *basis) {
    const size_t cells = (size_t)p->cells, dimension = (size_t)p->dimension;
    float *numbers = tvlm_allocate(cells + dimension + (size_t)p->k, sizeof *numbers);
    if (numbers == NULL) return tvlm_fail(&p->device->log, TVLM_ERROR_MEMORY, "no memory for an embedding");
    float *zeros = numbers + cells, *along = zeros + dimension;
    for (size_t i = 0; i < cells; ++i) numbers[i] = 1.0f;
    /* The zero vector's coordinates are minus those of the mean. */
    tvlm_basis_project(basis, zeros, 1, along);
    tvlm_status status = send(p, numbers, cells, &p->ones);
    if (status == TVLM_OK) status = send(p, along, (size_t)p->k, &p->offset);
    free(numbers);
    if (status != TVLM_OK) return status;
    const tvlm_gemm gemm = {.m = p->cells,
                            .n = p->k,
                            .k = 1,
                            .a = p->ones,
                            .b = p->offset,
                            .c = p->out,
                            .lda = 1,
                            .ldb = p->k,
                            .ldc = p->k,
                            .alpha = 1.0f};
    return p->device->backend->gemm(p->device, &gemm);
}

static tvlm_status project(projection *p, const tvlm_basis *basis) {
    struct tvlm_basis_params about;
    (void)tvlm_basis_get_params(basis, &about);
    TVLM_TRY(p->device->backend->buffer_create(p->device, (size_t)p->cells * (size_t)p->k * sizeof(float),
                                               &p->out));
    TVLM_TRY(send(p, about.components, (size_t)p->k * (size_t)p->dimension, &p->components));
    if (p->centred) TVLM_TRY(take_mean_off(p, basis));
    const tvlm_gemm gemm = {.m = p->cells,
                            .n = p->k,
                            .k = p->dimension,
                            .transpose_b = true,
                            .a = p->features,
                            .b = p->components,
                            .c = p->out,
                            .lda = p->dimension,
                            .ldb = p->dimension,
                            .ldc = p->k,
                            .alpha = 1.0f,
                            .beta = p->centred ? 1.0f : 0.0f};
    return p->device->backend->gemm(p->device, &gemm);
}

/*
 * Finds the share of each vector that lies in the basis. It is |V (x - m)| / |x - m|, where
 * |x - m|^2 = |x|^2 - 2 x . m + |m|^2.
 *
 * Without this share, an answer would be the cosine with the part of a vector that the basis keeps. Then a
 * cell of which the basis keeps next to nothing would get answers as large as any other (bench/bases.py
 * measures both).
 */
static void find_shares(const projection *p, const tvlm_basis *basis, const float *out, const float *inverse,
                        const float *along_mean, float *shares) {
    const float *mean = basis->params.mean;
    double mean_squares = 0.0;
    for (int32_t d = 0; d < p->dimension; ++d) mean_squares += (double)mean[d] * (double)mean[d];
    for (int32_t cell = 0; cell < p->cells; ++cell) {
        const double length = inverse[cell] > 0.0f ? 1.0 / (double)inverse[cell] : 0.0;
        double squares = 0.0, whole = length * length;
        for (int32_t i = 0; i < p->k; ++i, ++out) squares += (double)*out * (double)*out;
        if (p->centred) whole += mean_squares - 2.0 * (double)along_mean[cell];
        shares[cell] = whole > 0.0 ? (float)fmin(1.0, sqrt(squares / whole)) : 0.0f;
    }
}

/* Computes the scalar product of each cell's vector and the mean, x . m. */
static tvlm_status multiply_mean(projection *p, const tvlm_basis *basis, float *along_mean) {
    tvlm_status status = send(p, basis->params.mean, (size_t)p->dimension, &p->mean);
    const size_t bytes = (size_t)p->cells * sizeof(float);
    if (status != TVLM_OK) return status;
    /* The products take the place of the ones, which are not needed any more. */
    const tvlm_gemm gemm = {.m = p->cells,
                            .n = 1,
                            .k = p->dimension,
                            .a = p->features,
                            .b = p->mean,
                            .c = p->ones,
                            .lda = p->dimension,
                            .ldb = 1,
                            .ldc = 1,
                            .alpha = 1.0f};
    TVLM_TRY(p->device->backend->gemm(p->device, &gemm));
    return p->device->backend->buffer_read(p->device, p->ones, 0, bytes, along_mean);
}

static tvlm_status keep_shares(tvlm_stack *stack, int32_t index, const tvlm_features *features, projection *p,
                               const tvlm_basis *basis) {
    const tvlm_backend *backend = tvlm_stack_device(stack)->backend;
    const size_t cells = (size_t)p->cells, coordinates = cells * (size_t)p->k;
    float *out = tvlm_allocate(coordinates + 3 * cells, sizeof *out);
    if (out == NULL) return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_MEMORY, "no memory for an embedding");
    float *inverse = out + coordinates, *along_mean = inverse + cells, *shares = along_mean + cells;
    tvlm_status status =
        backend->buffer_read(tvlm_stack_device(stack), p->out, 0, coordinates * sizeof *out, out);
    if (status == TVLM_OK)
        status =
            backend->buffer_read(tvlm_stack_device(stack), features->inverse,
                                 (size_t)features->image * cells * sizeof *out, cells * sizeof *out, inverse);
    if (status == TVLM_OK && p->centred) status = multiply_mean(p, basis, along_mean);
    if (status == TVLM_OK) {
        find_shares(p, basis, out, inverse, along_mean, shares);
        status = tvlm_stack_set_shares(stack, index, shares);
    }
    free(out);
    return status;
}

/* Hands the coordinates to the stack as its embedding. The embedding's grid covers the image as the grid of
 * the features does. */
static tvlm_status take_in(tvlm_stack *stack, int32_t index, const tvlm_features *features,
                           const projection *p) {
    const tvlm_texture *texture = features->texture;
    const struct tvlm_grid_input input = {.columns = texture->width,
                                          .rows = texture->height,
                                          .channels = p->k,
                                          .cell = tvlm_stack_features_cell(stack, texture),
                                          /* The features were checked, so that these need no check. */
                                          .replace_nonfinite = true};
    return tvlm_stack_input(stack, index, TVLM_CHANNEL_EMBEDDING_0, &input, p->out, 0);
}

tvlm_status tvlm_stack_embed(tvlm_stack *stack, int32_t index, const tvlm_basis *basis) {
    tvlm_features features;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    const tvlm_log *log = tvlm_stack_log(stack);
    if (basis == NULL) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "no basis to embed in");
    TVLM_TRY(tvlm_stack_features(stack, index, &features));
    const struct tvlm_basis_params *about = &basis->params;
    if (about->dimension != features.dimension)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a basis of %d dimensions, but the features have %d",
                         (int)about->dimension, (int)features.dimension);
    if (about->k > TVLM_EMBEDDING_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a basis of %d components; an embedding has %d at most",
                         (int)about->k, TVLM_EMBEDDING_MAX);
    projection p = {.device = tvlm_stack_device(stack),
                    .cells = features.texture->width * features.texture->height,
                    .dimension = features.dimension,
                    .k = about->k,
                    .centred = about->centred};
    TVLM_TRY(tvlm_stack_features_matrix(stack, &features, &p.features));
    tvlm_status status = project(&p, basis);
    if (status == TVLM_OK) status = take_in(stack, index, &features, &p);
    if (status == TVLM_OK) status = keep_shares(stack, index, &features, &p, basis);
    tvlm_buffer **const buffers[] = {&p.components, &p.offset, &p.ones, &p.mean, &p.out};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; ++i)
        p.device->backend->buffer_destroy(p.device, buffers[i]);
    return status;
}
