/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features.c: what the stack keeps beside the encoder's vectors of an image, and the cosines of these vectors
 * with others of the same dimension. query.c and features/similarity.c call this file.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "core/wrap.h"
#include "stack/bundle.h"
#include "stack/features.h"
#include "stack/grids.h"
#include "stack/inside.h"

static int32_t cells_of(const tvlm_features *features) {
    return features->texture->width * features->texture->height;
}

/* ---- What is kept ---- */

/* Takes device memory for the chunk when it is first needed. The size of the memory follows from that of the
 * features. */
static tvlm_status reserve(tvlm_stack *stack, tvlm_buffer **buffer, size_t count, size_t floats) {
    size_t bytes;
    if (*buffer != NULL) return TVLM_OK;
    if (!tvlm_multiply(count, floats * sizeof(float), &bytes))
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "features larger than the address space");
    return stack->device->backend->buffer_create(stack->device, bytes, buffer);
}

tvlm_status tvlm_stack_features(tvlm_stack *stack, int32_t index, tvlm_features *features) {
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    tvlm_stack_image *image = &stack->originals[index];
    if ((image->given & TVLM_GRID_BIT(TVLM_GRID_FEATURES)) == 0)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                         "image %d has no features that a query could be compared with", (int)index);
    *features = (tvlm_features){.texture = chunk->grids[TVLM_GRID_FEATURES],
                                .image = index - chunk->first,
                                .dimension = stack->given[TVLM_GRID_FEATURES].dimension,
                                .index = index};
    const size_t cells = (size_t)cells_of(features);
    TVLM_TRY(reserve(stack, &chunk->inverse, cells, (size_t)chunk->images));
    features->inverse = chunk->inverse;
    if (image->lengths == image->changes[TVLM_GRID_FEATURES]) return TVLM_OK;
    TVLM_TRY(stack->device->backend->feature_lengths(stack->device, features));
    image->lengths = image->changes[TVLM_GRID_FEATURES];
    return TVLM_OK;
}

float tvlm_stack_features_cell(const tvlm_stack *stack, const tvlm_texture *grid) {
    const bool whole = grid->extent_x == (float)stack->width && grid->extent_y == (float)stack->height;
    return whole ? 0.0f : grid->extent_x / (float)grid->width;
}

bool tvlm_stack_features_are_means(const tvlm_stack *stack) {
    return tvlm_stack_grid_shape(stack, TVLM_GRID_FEATURES, 1).reduce[0] == TVLM_REDUCE_MEAN;
}

/* How many cells the first `levels` levels have. */
static size_t cells_of_levels(const tvlm_features *features, int32_t levels) {
    size_t cells = 0;
    for (int32_t n = 0; n < levels; ++n)
        cells += (size_t)tvlm_level_side(features->texture->width, n) *
                 (size_t)tvlm_level_side(features->texture->height, n);
    return cells;
}

/* Makes room for that many cells in the chunk's matrix. */
static tvlm_status reserve_matrix(tvlm_stack *stack, tvlm_chunk *chunk, size_t cells, size_t dimension) {
    if (chunk->matrix != NULL && chunk->matrix->bytes < cells * dimension * sizeof(float)) {
        stack->device->backend->buffer_destroy(stack->device, &chunk->matrix);
        chunk->matrix_of = 0;
    }
    return reserve(stack, &chunk->matrix, cells, dimension);
}

tvlm_status tvlm_stack_features_matrices(tvlm_stack *stack, const tvlm_features *features, int32_t levels,
                                         tvlm_buffer **matrix) {
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, features->index);
    const uint64_t changes = stack->originals[features->index].changes[TVLM_GRID_FEATURES];
    const size_t dimension = (size_t)features->dimension;
    TVLM_TRY(reserve_matrix(stack, chunk, cells_of_levels(features, levels), dimension));
    *matrix = chunk->matrix;
    if (chunk->matrix_of != features->index + 1 || chunk->matrix_at != changes) chunk->matrix_levels = 0;
    chunk->matrix_of = 0;
    for (; chunk->matrix_levels < levels; ++chunk->matrix_levels)
        TVLM_TRY(stack->device->backend->feature_matrix(
            stack->device, features, chunk->matrix_levels, chunk->matrix,
            cells_of_levels(features, chunk->matrix_levels) * dimension));
    chunk->matrix_of = features->index + 1;
    chunk->matrix_at = changes;
    return TVLM_OK;
}

tvlm_status tvlm_stack_features_matrix(tvlm_stack *stack, const tvlm_features *features,
                                       tvlm_buffer **matrix) {
    return tvlm_stack_features_matrices(stack, features, 1, matrix);
}

void tvlm_stack_features_release(tvlm_stack *stack, tvlm_chunk *chunk) {
    stack->device->backend->buffer_destroy(stack->device, &chunk->inverse);
    stack->device->backend->buffer_destroy(stack->device, &chunk->matrix);
    chunk->matrix_of = 0;
    if (stack->originals == NULL) return; /* there was no memory for them */
    for (int32_t i = 0; i < chunk->images; ++i) stack->originals[chunk->first + i].lengths = 0;
}

/* ---- Levels ---- */

/* Copies level 0 texel by texel. For the copy, both grids pretend to cover as many pixels as they have
 * texels, so that a sample at the centre of a texel reads exactly that texel. */
static tvlm_status copy_texels(tvlm_stack *stack, tvlm_texture *from, tvlm_texture *to) {
    const int32_t count = 4 * from->layers;
    tvlm_bundle bundle = tvlm_stack_bundle_view(stack);
    int32_t *refs = tvlm_allocate((size_t)count, sizeof *refs);
    if (refs == NULL) return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for features");
    for (int32_t i = 0; i < count; ++i) refs[i] = TVLM_REF(0, i / 4, i % 4);
    bundle.count = 1;
    bundle.textures[0] = from;
    const float extent_x = to->extent_x, extent_y = to->extent_y;
    bundle.width = from->extent_x = to->extent_x = (float)from->width;
    bundle.height = from->extent_y = to->extent_y = (float)from->height;
    const tvlm_status status = stack->device->backend->pack(stack->device, &bundle, refs, 0.0f, to);
    from->extent_x = to->extent_x = extent_x;
    from->extent_y = to->extent_y = extent_y;
    free(refs);
    return status;
}

tvlm_status tvlm_stack_features_levels(tvlm_stack *stack, tvlm_chunk *chunk) {
    const tvlm_backend *backend = stack->device->backend;
    tvlm_texture **held = &chunk->grids[TVLM_GRID_FEATURES], *made = NULL;
    const tvlm_texture shape = tvlm_stack_grid_shape(stack, TVLM_GRID_FEATURES, chunk->images);
    if ((*held)->levels == shape.levels) return TVLM_OK;
    TVLM_TRY(backend->texture_create(stack->device, &shape, &made));
    const tvlm_status status = copy_texels(stack, *held, made);
    if (status == TVLM_OK) {
        tvlm_texture *old = *held;
        *held = made;
        made = old;
    }
    backend->texture_destroy(stack->device, &made);
    return status;
}

/* ---- Vectors ---- */

/* Subtracts the mean from a vector, and finds the length of the result. Returns the index of the first value
 * that is not finite, or -1. */
static int32_t take_off(const float *vector, const float *mean, int32_t dimension, float *out,
                        double *length) {
    double sum = 0.0;
    for (int32_t i = 0; i < dimension; ++i) {
        const float value = mean != NULL ? vector[i] - mean[i] : vector[i];
        if (!isfinite(value)) return i;
        out[i] = value;
        sum += (double)value * (double)value;
    }
    *length = sqrt(sum);
    return -1;
}

tvlm_status tvlm_unit_vectors(const tvlm_log *log, const char *what, const float *vectors, int32_t count,
                              int32_t dimension, const float *mean, int32_t stride, float *out) {
    for (int32_t n = 0; n < count; ++n) {
        float *unit = out + (size_t)n * (size_t)stride;
        double length = 0.0;
        char name[80];
        snprintf(name, sizeof name, count > 1 ? "%s %d" : "%s", what, (int)n);
        memset(unit, 0, (size_t)stride * sizeof *unit);
        const int32_t bad = take_off(vectors + (size_t)n * (size_t)dimension, mean, dimension, unit, &length);
        if (bad >= 0)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: value %d is not finite", name, (int)bad);
        if (length < (double)TVLM_FEATURE_FLOOR)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s is a zero vector%s", name,
                             mean != NULL ? ", less the mean" : "");
        for (int32_t i = 0; i < dimension; ++i) unit[i] = (float)((double)unit[i] / length);
    }
    return TVLM_OK;
}

/* Normalizes vectors that are on the host, and sends them to the device. */
static tvlm_status send_units(tvlm_stack *stack, const tvlm_vectors *v, int32_t stride, size_t bytes,
                              tvlm_buffer *buffer) {
    const tvlm_log *log = &stack->device->log;
    float *units = tvlm_allocate(bytes, 1);
    if (units == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for %d queries", (int)v->count);
    tvlm_status status = tvlm_unit_vectors(log, v->count > 1 ? "query" : "the query", v->vectors, v->count,
                                           v->dimension, v->mean, stride, units);
    if (status == TVLM_OK)
        status = stack->device->backend->buffer_write(stack->device, buffer, 0, bytes, units);
    free(units);
    return status;
}

/* Sends the mean to the device if there is one. */
static tvlm_status send_mean(tvlm_stack *stack, const tvlm_vectors *v, tvlm_buffer **mean) {
    const size_t bytes = (size_t)v->dimension * sizeof *v->mean;
    *mean = NULL;
    if (v->mean == NULL) return TVLM_OK;
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_POINTS, bytes, mean));
    return stack->device->backend->buffer_write(stack->device, *mean, 0, bytes, v->mean);
}

/* Normalizes vectors that are on the device. */
static tvlm_status make_units(tvlm_stack *stack, const tvlm_vectors *v, int32_t stride, tvlm_buffer *buffer) {
    tvlm_device *const device = stack->device;
    const size_t bytes = (size_t)v->count * (size_t)v->dimension * sizeof(float);
    tvlm_units units = {.out = buffer,
                        .offset = v->memory->byte_offset,
                        .count = v->count,
                        .dimension = v->dimension,
                        .stride = stride};
    int32_t bad = -1;
    TVLM_TRY(send_mean(stack, v, &units.mean));
    TVLM_TRY(tvlm_wrap(device, "the query's vectors", v->memory, bytes, false, &units.vectors));
    const tvlm_status status =
        device->backend->unit_vectors(device, &units, v->memory->unchecked ? NULL : &bad);
    device->backend->buffer_destroy(device, &units.vectors);
    if (status != TVLM_OK || bad < 0) return status;
    return tvlm_fail(&device->log, TVLM_ERROR_ARGUMENT,
                     "query %d is a zero vector%s, or has a value that is not finite", (int)bad,
                     v->mean != NULL ? ", less the mean" : "");
}

/* Makes unit vectors of a question's vectors, on the device. Each begins `stride` floats after the one
 * before. */
static tvlm_status units_of(tvlm_stack *stack, const tvlm_features *features, const tvlm_vectors *v,
                            int32_t stride, tvlm_buffer **buffer) {
    const size_t bytes = (size_t)v->count * (size_t)stride * sizeof(float);
    if (v->dimension != features->dimension)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                         "queries of %d dimensions, but the features have %d", (int)v->dimension,
                         (int)features->dimension);
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_QUERIES, bytes, buffer));
    return v->memory != NULL ? make_units(stack, v, stride, *buffer)
                             : send_units(stack, v, stride, bytes, *buffer);
}

/* ---- Cosines ---- */

tvlm_status tvlm_stack_cosines(tvlm_stack *stack, const tvlm_features *features, const tvlm_vectors *vectors,
                               tvlm_buffer **cosines) {
    const tvlm_backend *backend = stack->device->backend;
    const int32_t cells = cells_of(features), count = vectors->count, dimension = vectors->dimension;
    tvlm_buffer *queries, *matrix;
    if (count > INT32_MAX / cells || count > INT32_MAX / features->dimension)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "%d queries at once are too many",
                         (int)count);
    TVLM_TRY(units_of(stack, features, vectors, dimension, &queries));
    TVLM_TRY(tvlm_stack_features_matrix(stack, features, &matrix));
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_COSINES, (size_t)count * (size_t)cells * sizeof(float),
                                cosines));
    const tvlm_gemm product = {.m = count,
                               .n = cells,
                               .k = dimension,
                               .transpose_b = true,
                               .a = queries,
                               .b = matrix,
                               .c = *cosines,
                               .lda = dimension,
                               .ldb = dimension,
                               .ldc = cells,
                               .alpha = 1.0f};
    TVLM_TRY(backend->gemm(stack->device, &product));
    return backend->cosines(stack->device, features, *cosines, count);
}

tvlm_status tvlm_stack_similarity(tvlm_stack *stack, const tvlm_features *features,
                                  const tvlm_vectors *vectors, int32_t how, tvlm_texture *out) {
    const tvlm_backend *backend = stack->device->backend;
    tvlm_buffer *buffer;
    if (vectors->count > 1) {
        TVLM_TRY(tvlm_stack_cosines(stack, features, vectors, &buffer));
        return backend->maps(stack->device, buffer, vectors->count, how, features->image, out);
    }
    TVLM_TRY(units_of(stack, features, vectors, 4 * features->texture->layers, &buffer));
    return backend->similarity(stack->device, features, buffer, out);
}
