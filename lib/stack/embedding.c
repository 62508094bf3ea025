/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedding.c: answers questions from the embedding, which it takes as compressed features. The questions
 * come as coordinates in the embedding's basis. query.c, which has the basis, computes these coordinates.
 */
#include "stack/embedding.h"
#include "core/memory.h"
#include "core/try.h"
#include "stack/inside.h"

static size_t bytes_of(const tvlm_chunk *chunk, const tvlm_texture *texture) {
    return (size_t)texture->width * (size_t)texture->height * (size_t)chunk->images * sizeof(float);
}

tvlm_status tvlm_stack_set_shares(tvlm_stack *stack, int32_t index, const float *shares) {
    const tvlm_backend *backend = stack->device->backend;
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    const tvlm_texture *texture = chunk->grids[TVLM_GRID_EMBEDDING];
    const size_t all = bytes_of(chunk, texture), bytes = all / (size_t)chunk->images;
    if (chunk->shares != NULL && chunk->shares->bytes != all)
        backend->buffer_destroy(stack->device, &chunk->shares);
    if (chunk->shares == NULL) TVLM_TRY(backend->buffer_create(stack->device, all, &chunk->shares));
    TVLM_TRY(backend->buffer_write(stack->device, chunk->shares, (size_t)(index - chunk->first) * bytes,
                                   bytes, shares));
    stack->originals[index].shares = stack->originals[index].changes[TVLM_GRID_EMBEDDING];
    return TVLM_OK;
}

tvlm_status tvlm_stack_embedded(tvlm_stack *stack, int32_t index, tvlm_features *features) {
    tvlm_buffer *inverse;
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    const tvlm_stack_image *image = &stack->originals[index];
    if ((image->given & TVLM_GRID_BIT(TVLM_GRID_EMBEDDING)) == 0)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                         "image %d has no embedding that a query could be compared with", (int)index);
    tvlm_texture *texture = chunk->grids[TVLM_GRID_EMBEDDING];
    const size_t bytes = bytes_of(chunk, texture);
    const bool shares = image->shares == image->changes[TVLM_GRID_EMBEDDING];
    if (shares)
        inverse = chunk->shares;
    else
        TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_LENGTHS, bytes, &inverse));
    *features = (tvlm_features){.texture = texture,
                                .image = index - chunk->first,
                                .inverse = inverse,
                                .dimension = 4 * texture->layers,
                                .index = index};
    /* If an embedding was made elsewhere, all that is known of its vectors is that they are unit vectors. */
    return shares ? TVLM_OK : stack->device->backend->feature_lengths(stack->device, features);
}

/* Computes the cosines of every cell with each of several vectors, by one SGEMM. */
static tvlm_status many(tvlm_stack *stack, const tvlm_features *features, tvlm_buffer *queries, int32_t count,
                        tvlm_buffer **cosines) {
    const tvlm_backend *backend = stack->device->backend;
    const int32_t cells = features->texture->width * features->texture->height, k = features->dimension;
    tvlm_buffer *matrix;
    if (count > INT32_MAX / cells)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "%d queries at once are too many",
                         (int)count);
    TVLM_TRY(
        tvlm_stack_scratch(stack, TVLM_SCRATCH_POINTS, (size_t)cells * (size_t)k * sizeof(float), &matrix));
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_COSINES, (size_t)count * (size_t)cells * sizeof(float),
                                cosines));
    TVLM_TRY(backend->feature_matrix(stack->device, features, 0, matrix, 0));
    const tvlm_gemm product = {.m = count,
                               .n = cells,
                               .k = k,
                               .transpose_b = true,
                               .a = queries,
                               .b = matrix,
                               .c = *cosines,
                               .lda = k,
                               .ldb = k,
                               .ldc = cells,
                               .alpha = 1.0f};
    TVLM_TRY(backend->gemm(stack->device, &product));
    return backend->cosines(stack->device, features, *cosines, count);
}

tvlm_status tvlm_stack_embedded_similarity(tvlm_stack *stack, const tvlm_features *features,
                                           const float *coordinates, int32_t count, int32_t how,
                                           tvlm_texture *out) {
    const tvlm_backend *backend = stack->device->backend;
    const size_t bytes = (size_t)count * (size_t)features->dimension * sizeof(float);
    tvlm_buffer *queries, *cosines;
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_QUERIES, bytes, &queries));
    TVLM_TRY(backend->buffer_write(stack->device, queries, 0, bytes, coordinates));
    if (count == 1) return backend->similarity(stack->device, features, queries, out);
    TVLM_TRY(many(stack, features, queries, count, &cosines));
    return backend->maps(stack->device, cosines, count, how, features->image, out);
}
