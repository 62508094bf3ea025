/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.c: the question. Its answer is a grid of similarities, which is either handed in, at any size, or
 * made from the question's vectors and the features of the image.
 */
#include <math.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "core/wrap.h"
#include "stack/embedding.h"
#include "stack/features.h"
#include "stack/grids.h"
#include "stack/inside.h"
#include "stack/query.h"
#include "texturevlm/features.h"

/* Where a query's similarities come from, and the size of their grid. */
typedef struct answer {
    const struct tvlm_query *query;
    const float *similarity; /* [rows * columns]; NULL: the query has vectors */
    tvlm_features features;  /* what the query's vectors are compared with */
    int32_t columns, rows;
    float extent_x, extent_y;
} answer;

/* ---- Checks ---- */

static tvlm_status check_map(const tvlm_log *log, const struct tvlm_query *query) {
    if (query->columns < 1 || query->rows < 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a query of %dx%d cells", (int)query->columns,
                         (int)query->rows);
    const size_t count = (size_t)query->columns * (size_t)query->rows;
    for (size_t i = 0; i < count; ++i)
        if (!isfinite(query->similarity[i]))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the query's similarity %zu is not finite", i);
    return TVLM_OK;
}

static tvlm_status check_vectors(const tvlm_log *log, const struct tvlm_query *query) {
    if (query->count < 0 || query->dimension < 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a query of %d vectors of %d dimensions",
                         (int)query->count, (int)query->dimension);
    return TVLM_OK;
}

tvlm_status tvlm_query_check(const tvlm_log *log, const struct tvlm_query *query) {
    TVLM_CHECK_RESERVED(log, tvlm_query, query);
    if ((int)query->combine < TVLM_COMBINE_MAX || query->combine > TVLM_COMBINE_MEAN)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no combination %d", (int)query->combine);
    if (query->vectors != NULL && query->vectors_in != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a query with vectors on the host and on the device");
    const bool vectors = tvlm_query_has_vectors(query);
    if (query->similarity == NULL && !vectors)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a query without similarities and without vectors");
    if (query->similarity != NULL && vectors)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a query with similarities and with vectors");
    if (query->similarity != NULL && query->basis != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a query with similarities and with a basis");
    if (!vectors && query->count != 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a query of %d vectors, but none given",
                         (int)query->count);
    return query->similarity != NULL ? check_map(log, query) : check_vectors(log, query);
}

static tvlm_status find_embedding(tvlm_stack *stack, int32_t index, const struct tvlm_query *query,
                                  tvlm_features *features) {
    struct tvlm_basis_params basis;
    (void)tvlm_basis_get_params(query->basis, &basis);
    if (basis.dimension != query->dimension)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                         "queries of %d dimensions, but the basis has %d", (int)query->dimension,
                         (int)basis.dimension);
    TVLM_TRY(tvlm_stack_embedded(stack, index, features));
    if ((basis.k + 3) / 4 * 4 != features->dimension)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                         "a basis of %d components, but the embedding of image %d is not in it", (int)basis.k,
                         (int)index);
    return TVLM_OK;
}

static tvlm_status prepare(tvlm_stack *stack, int32_t index, const struct tvlm_query *query, answer *a) {
    *a = (answer){.query = query,
                  .similarity = query->similarity,
                  .columns = query->columns,
                  .rows = query->rows,
                  .extent_x = (float)stack->width,
                  .extent_y = (float)stack->height};
    TVLM_TRY(tvlm_query_check(&stack->device->log, query));
    if (!tvlm_query_has_vectors(query)) return TVLM_OK;
    const tvlm_stack_image *image = &stack->originals[index];
    if ((image->given & TVLM_GRID_BIT(TVLM_GRID_FEATURES)) != 0 &&
        image->pointless == image->changes[TVLM_GRID_FEATURES])
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                         "no question can be compared with the features of image %d: each of its vectors is "
                         "zero, or has a value beyond %g",
                         (int)index, (double)TVLM_FEATURE_LIMIT);
    TVLM_TRY(query->basis != NULL ? find_embedding(stack, index, query, &a->features)
                                  : tvlm_stack_features(stack, index, &a->features));
    a->columns = a->features.texture->width;
    a->rows = a->features.texture->height;
    a->extent_x = a->features.texture->extent_x;
    a->extent_y = a->features.texture->extent_y;
    return TVLM_OK;
}

/* ---- The texture ---- */

static bool fits(const tvlm_texture *texture, const answer *a) {
    return texture->width == a->columns && texture->height == a->rows && texture->extent_x == a->extent_x &&
           texture->extent_y == a->extent_y;
}

/* Begins a question. Until it is committed, the stack has no question. *texture is a texture of the answer's
 * size: the last question's if that fits, or a new one. *fresh says whether it is new and holds nothing
 * yet. */
static tvlm_status begin(tvlm_stack *stack, tvlm_chunk *chunk, const answer *a, tvlm_texture **texture,
                         bool *fresh) {
    const tvlm_backend *backend = stack->device->backend;
    tvlm_texture **held = &chunk->grids[TVLM_GRID_QUERY];
    tvlm_texture shape = tvlm_stack_grid_shape(stack, TVLM_GRID_QUERY, chunk->images);
    shape.width = a->columns;
    shape.height = a->rows;
    shape.extent_x = a->extent_x;
    shape.extent_y = a->extent_y;
    shape.levels = tvlm_level_count(a->columns, a->rows);
    tvlm_stack_drop_query(stack);
    if (*held != NULL && !fits(*held, a)) backend->texture_destroy(stack->device, held);
    chunk->flat &= ~TVLM_GRID_BIT(TVLM_GRID_QUERY);
    *fresh = *held == NULL;
    if (*fresh) TVLM_TRY(backend->texture_create(stack->device, &shape, held));
    *texture = *held;
    return TVLM_OK;
}

/* Commits a question whose answer is written. From now on query_similarity is about image `index`. */
static void commit(tvlm_stack *stack, tvlm_chunk *chunk, int32_t index, const answer *a) {
    stack->question = (tvlm_question){index, a->columns, a->rows, a->extent_x, a->extent_y};
    chunk->valid |= TVLM_GRID_BIT(TVLM_GRID_QUERY);
}

/* Writes one slice; `similarity` NULL means zeros. */
static tvlm_status write_slice(tvlm_stack *stack, tvlm_texture *texture, int32_t slice,
                               const float *similarity) {
    const size_t count = (size_t)texture->width * (size_t)texture->height;
    float *rgba = tvlm_allocate(count, 4 * sizeof *rgba);
    if (rgba == NULL) return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for a query");
    for (size_t i = 0; similarity != NULL && i < count; ++i)
        rgba[4 * i] = fminf(fmaxf(similarity[i], -1.0f), 1.0f);
    const tvlm_status status = stack->device->backend->texture_write(stack->device, texture, slice, rgba);
    free(rgba);
    return status;
}

/* Computes the coordinates of units [count * basis->dimension] along the basis: out[count * stride]. The
 * floats after a vector's k coordinates stay as they are. */
static void to_coordinates(const struct tvlm_basis_params *basis, const float *units, int32_t count,
                           int32_t stride, float *out) {
    for (int32_t n = 0; n < count; ++n, units += basis->dimension, out += stride)
        for (int32_t i = 0; i < basis->k; ++i) {
            const float *row = basis->components + (size_t)i * (size_t)basis->dimension;
            double sum = 0.0;
            for (int32_t d = 0; d < basis->dimension; ++d) sum += (double)row[d] * (double)units[d];
            out[i] = (float)sum;
        }
}

static int32_t vector_count(const struct tvlm_query *query) {
    return query->count > 0 ? query->count : 1; /* NOLINT(clang-analyzer-*): here a query has vectors */
}

tvlm_status tvlm_query_vectors(tvlm_device *device, const struct tvlm_query *query, const float **vectors,
                               float **owned) {
    void *read = NULL;
    size_t bytes;
    *owned = NULL;
    *vectors = query->vectors;
    if (query->vectors_in == NULL) return TVLM_OK;
    if (!tvlm_multiply((size_t)vector_count(query), (size_t)query->dimension * sizeof **owned, &bytes))
        return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "queries larger than the address space");
    TVLM_TRY(tvlm_wrap_read(device, "the query's vectors", query->vectors_in, bytes, &read));
    *vectors = *owned = read;
    return TVLM_OK;
}

/* Makes unit vectors of the query's vectors, on the host. Each begins `stride` floats after the one
 * before. */
static tvlm_status units_on_host(tvlm_stack *stack, const struct tvlm_query *query, int32_t stride,
                                 float *units) {
    const tvlm_log *log = &stack->device->log;
    const int32_t count = vector_count(query);
    const float *vectors;
    float *owned;
    tvlm_status status = tvlm_query_vectors(stack->device, query, &vectors, &owned);
    if (status == TVLM_OK)
        status = tvlm_unit_vectors(log, count > 1 ? "query" : "the query", vectors, count, query->dimension,
                                   query->mean, stride, units);
    free(owned);
    return status;
}

/* Computes the coordinates of the query's vectors along its basis: [count * features.dimension]. */
static tvlm_status make_coordinates(tvlm_stack *stack, const answer *a, float *coordinates) {
    const struct tvlm_query *query = a->query;
    const int32_t count = vector_count(query);
    struct tvlm_basis_params basis;
    float *units = tvlm_allocate((size_t)count, (size_t)query->dimension * sizeof *units);
    if (units == NULL)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for %d queries", (int)count);
    const tvlm_status status = units_on_host(stack, query, query->dimension, units);
    (void)tvlm_basis_get_params(query->basis, &basis);
    if (status == TVLM_OK) to_coordinates(&basis, units, count, a->features.dimension, coordinates);
    free(units);
    return status;
}

static tvlm_status answer_embedded(tvlm_stack *stack, const answer *a, int32_t count, int32_t how,
                                   tvlm_texture *texture) {
    const tvlm_log *log = &stack->device->log;
    float *coordinates = tvlm_allocate((size_t)count, (size_t)a->features.dimension * sizeof *coordinates);
    if (coordinates == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for %d queries", (int)count);
    tvlm_status status = make_coordinates(stack, a, coordinates);
    if (status == TVLM_OK)
        status = tvlm_stack_embedded_similarity(stack, &a->features, coordinates, count, how, texture);
    free(coordinates);
    return status;
}

/* Writes the slice of the image that is asked about. */
static tvlm_status write_answer(tvlm_stack *stack, tvlm_texture *texture, int32_t slice, const answer *a) {
    const struct tvlm_query *query = a->query;
    if (a->similarity != NULL) return write_slice(stack, texture, slice, a->similarity);
    const int32_t count = vector_count(query);
    const int32_t how = query->combine == TVLM_COMBINE_MEAN ? TVLM_MAPS_MEAN : TVLM_MAPS_MAX;
    if (query->basis != NULL) return answer_embedded(stack, a, count, how, texture);
    const tvlm_vectors vectors = {.vectors = query->vectors,
                                  .memory = query->vectors_in,
                                  .mean = query->mean,
                                  .count = count,
                                  .dimension = query->dimension};
    return tvlm_stack_similarity(stack, &a->features, &vectors, how, texture);
}

/* In a fresh texture, writes the slices of all images. In one that is used again, writes only the slice of
 * the image that is asked about, and clears that of the image that was asked about before. */
static tvlm_status write_images(tvlm_stack *stack, const tvlm_chunk *chunk, tvlm_texture *texture,
                                int32_t index, const answer *a, bool fresh) {
    TVLM_TRY(write_answer(stack, texture, index - chunk->first, a));
    for (int32_t i = 0; i < chunk->images; ++i) {
        const bool asked = chunk->first + i == index, stale = chunk->query_written == chunk->first + i;
        if (!asked && (fresh || stale)) TVLM_TRY(write_slice(stack, texture, i, NULL));
    }
    return TVLM_OK;
}

static tvlm_status upload(tvlm_stack *stack, int32_t index, const answer *a) {
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    tvlm_texture *texture;
    bool fresh;
    TVLM_TRY(begin(stack, chunk, a, &texture, &fresh));
    const tvlm_status status = write_images(stack, chunk, texture, index, a, fresh);
    if (status != TVLM_OK) {
        /* Some slices may hold the old answer and some the new one, so that the texture cannot be kept. */
        stack->device->backend->texture_destroy(stack->device, &chunk->grids[TVLM_GRID_QUERY]);
        return status;
    }
    chunk->query_written = index;
    /* Most questions read level 0 alone, so that the other levels are made only when something reads them. A
     * new texture gets them at once: memory that was never written may hold NaN, which a weight of 0 does not
     * hide. */
    if (texture->levels > 1 && !fresh) chunk->flat |= TVLM_GRID_BIT(TVLM_GRID_QUERY);
    if (texture->levels > 1 && fresh) TVLM_TRY(stack->device->backend->mips(stack->device, &texture, 1));
    commit(stack, chunk, index, a);
    return TVLM_OK;
}

tvlm_status tvlm_query_upload(tvlm_stack *stack, int32_t index, const struct tvlm_query *query) {
    answer a;
    if (query != NULL) {
        TVLM_TRY(prepare(stack, index, query, &a));
        return upload(stack, index, &a);
    }
    tvlm_stack_drop_query(stack);
    return TVLM_OK;
}

/* ---- Some of the cells ---- */

tvlm_status tvlm_sparse_query_begin(tvlm_stack *stack, int32_t index, const struct tvlm_query *query,
                                    tvlm_sparse_query *sparse) {
    const tvlm_log *log = &stack->device->log;
    answer a;
    *sparse = (tvlm_sparse_query){0};
    TVLM_TRY(prepare(stack, index, query, &a));
    if (query->basis == NULL && query->dimension != a.features.dimension)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "queries of %d dimensions, but the features have %d",
                         (int)query->dimension, (int)a.features.dimension);
    sparse->features = a.features;
    sparse->count = vector_count(query);
    sparse->stride = 4 * a.features.texture->layers; /* NOLINT(clang-analyzer-*): here a query has vectors */
    sparse->mean = query->combine == TVLM_COMBINE_MEAN;
    sparse->vectors = tvlm_allocate((size_t)sparse->count, (size_t)sparse->stride * sizeof *sparse->vectors);
    if (sparse->vectors == NULL)
        return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for %d queries", (int)sparse->count);
    if (query->basis != NULL) return make_coordinates(stack, &a, sparse->vectors);
    return units_on_host(stack, query, sparse->stride, sparse->vectors);
}

void tvlm_sparse_query_end(tvlm_sparse_query *sparse) {
    free(sparse->vectors);
    sparse->vectors = NULL;
}

float tvlm_sparse_query_combine(const tvlm_sparse_query *sparse, const float *similarities) {
    float most = similarities[0], sum = 0.0f;
    for (int32_t n = 0; n < sparse->count; ++n) {
        most = fmaxf(most, similarities[n]);
        sum += similarities[n];
    }
    return sparse->mean ? sum / (float)sparse->count : most;
}

/* Computes the similarities of the cells with one vector after the other:
 * similarities[vector * count + n]. */
static tvlm_status each_vector(tvlm_stack *stack, const tvlm_sparse_query *sparse, const int32_t *cells,
                               int32_t count, float *similarities) {
    const tvlm_backend *backend = stack->device->backend;
    const size_t vector = (size_t)sparse->stride * sizeof(float), bytes = (size_t)count * sizeof(float);
    tvlm_buffer *query, *list, *cosines;
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_QUERIES, vector, &query));
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_POINTS, (size_t)count * sizeof *cells, &list));
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_COSINES, bytes, &cosines));
    TVLM_TRY(backend->buffer_write(stack->device, list, 0, (size_t)count * sizeof *cells, cells));
    for (int32_t n = 0; n < sparse->count; ++n, similarities += count) {
        TVLM_TRY(backend->buffer_write(stack->device, query, 0, vector,
                                       sparse->vectors + (size_t)n * (size_t)sparse->stride));
        TVLM_TRY(backend->similarity_cells(stack->device, &sparse->features, query, list, count, cosines));
        TVLM_TRY(backend->buffer_read(stack->device, cosines, 0, bytes, similarities));
    }
    return TVLM_OK;
}

tvlm_status tvlm_sparse_query_cells(tvlm_stack *stack, const tvlm_sparse_query *sparse, const int32_t *cells,
                                    int32_t count, float *similarities) {
    const size_t vectors = (size_t)sparse->count;
    if (count == 0) return TVLM_OK;
    if (vectors == 1) return each_vector(stack, sparse, cells, count, similarities);
    float *all = tvlm_allocate((size_t)count + 1, vectors * sizeof *all);
    if (all == NULL)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for %d queries", (int)vectors);
    float *const of_cell = all + (size_t)count * vectors;
    const tvlm_status status = each_vector(stack, sparse, cells, count, all);
    for (int32_t i = 0; status == TVLM_OK && i < count; ++i) {
        for (size_t n = 0; n < vectors; ++n) of_cell[n] = all[n * (size_t)count + (size_t)i];
        similarities[i] = tvlm_sparse_query_combine(sparse, of_cell);
    }
    free(all);
    return status;
}

tvlm_status tvlm_sparse_query_upload(tvlm_stack *stack, int32_t index, const tvlm_sparse_query *sparse,
                                     const float *map) {
    const tvlm_texture *texture = sparse->features.texture;
    const answer a = {.similarity = map,
                      .features = sparse->features,
                      .columns = texture->width,
                      .rows = texture->height,
                      .extent_x = texture->extent_x,
                      .extent_y = texture->extent_y};
    return upload(stack, index, &a);
}
