/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunks.c: the chunks of a batch, and making them smaller.
 *
 * The number of slices that a grid takes is not known before the grid is handed in; features may have many
 * dimensions. If one texture array cannot hold such a grid for all images of a chunk, the chunks become
 * smaller. What was handed in for the images so far moves into the new chunks. All else is made again when it
 * is next read.
 */
#include "stack/chunks.h"

#include "core/memory.h"
#include "core/try.h"
#include "stack/features.h"
#include "stack/grids.h"
#include "stack/limits.h"

static void release(tvlm_stack *stack, tvlm_chunk *chunk) {
    const tvlm_backend *backend = stack->device->backend;
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        backend->texture_destroy(stack->device, &chunk->grids[grid]);
    for (int product = 0; product < TVLM_PRODUCT_COUNT; ++product)
        backend->buffer_destroy(stack->device, &chunk->products[product]);
    tvlm_stack_features_release(stack, chunk);
    backend->buffer_destroy(stack->device, &chunk->shares);
    free(chunk->label_counts);
    backend->texture_destroy(stack->device, &chunk->network_inputs);
    for (int previous = 0; previous < TVLM_PREVIOUS_COUNT; ++previous)
        backend->texture_destroy(stack->device, &chunk->previous[previous]);
}

void tvlm_stack_chunks_release(tvlm_stack *stack, tvlm_chunk *chunks, int32_t count) {
    for (int32_t i = 0; chunks != NULL && i < count; ++i) release(stack, &chunks[i]);
    free(chunks);
}

tvlm_chunk *tvlm_stack_chunks_create(int32_t all, int32_t images, int32_t *count) {
    *count = (all - 1) / images + 1;
    tvlm_chunk *chunks = tvlm_allocate((size_t)*count, sizeof *chunks);
    for (int32_t i = 0; chunks != NULL && i < *count; ++i) {
        const int32_t left = all - i * images;
        chunks[i].first = i * images;
        chunks[i].images = left < images ? left : images;
    }
    return chunks;
}

/* Returns whether the stack's content can move into smaller chunks. It cannot if the stack keeps earlier
 * frames, labels, or the shares of an embedding: these are not moved. */
static bool can_move(const tvlm_stack *stack) {
    if (stack->delta != NULL) return false;
    for (int32_t i = 0; i < stack->chunk_count; ++i) {
        const tvlm_chunk *chunk = &stack->chunks[i];
        if (chunk->label_counts != NULL || chunk->shares != NULL) return false;
        for (int previous = 0; previous < TVLM_PREVIOUS_COUNT; ++previous)
            if (chunk->previous[previous] != NULL) return false;
    }
    return true;
}

/* Sets the counts of the new chunks above those of all old ones, so that whoever compares counts finds that
 * everything changed. */
static void count_on(const tvlm_stack *stack, tvlm_chunk *chunks, int32_t count) {
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) {
        uint64_t made = 0, outdated = 0;
        for (int32_t i = 0; i < stack->chunk_count; ++i) {
            if (stack->chunks[i].made[grid] > made) made = stack->chunks[i].made[grid];
            if (stack->chunks[i].outdated[grid] > outdated) outdated = stack->chunks[i].outdated[grid];
        }
        for (int32_t i = 0; i < count; ++i) {
            chunks[i].made[grid] = made;
            chunks[i].outdated[grid] = outdated + 1;
        }
    }
}

/* Copies the layers that image `index` has of a grid. */
static tvlm_status move_layers(tvlm_stack *stack, int32_t index, tvlm_grid grid, const tvlm_chunk *from,
                               tvlm_chunk *to) {
    const tvlm_backend *backend = stack->device->backend;
    tvlm_texture *old = from->grids[grid], *texture;
    if (old == NULL) return TVLM_OK; /* nothing was written */
    TVLM_TRY(tvlm_stack_grid_texture(stack, to, grid, &texture));
    float *rgba = tvlm_allocate((size_t)old->width * (size_t)old->height, 4 * sizeof *rgba);
    if (rgba == NULL) return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for a grid");
    tvlm_status status = TVLM_OK;
    for (int32_t layer = 0; status == TVLM_OK && layer < old->layers; ++layer) {
        status =
            backend->texture_read(stack->device, old, 0, (index - from->first) * old->layers + layer, rgba);
        if (status == TVLM_OK)
            status = backend->texture_write(stack->device, texture,
                                            (index - to->first) * texture->layers + layer, rgba);
    }
    free(rgba);
    return status;
}

/* Moves what was handed in for image `index`: its pixels and its grids. */
static tvlm_status move_image(tvlm_stack *stack, int32_t index, tvlm_chunk *to) {
    const tvlm_stack_image *image = &stack->originals[index];
    const tvlm_chunk *from = tvlm_stack_chunk(stack, index);
    to->given |= image->given;
    if (image->set) TVLM_TRY(move_layers(stack, index, TVLM_GRID_SOURCE, from, to));
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        if ((image->given & TVLM_GRID_BIT(grid)) != 0)
            TVLM_TRY(move_layers(stack, index, (tvlm_grid)grid, from, to));
    return TVLM_OK;
}

tvlm_status tvlm_stack_chunks_fit(tvlm_stack *stack, const tvlm_given *size, const char *name) {
    const int32_t images =
        tvlm_stack_chunk_limit(stack->device, size->columns, size->rows, stack->format, size->layers);
    int32_t count;
    if (images >= stack->chunk_images) return TVLM_OK;
    if (!can_move(stack))
        return tvlm_fail(
            &stack->device->log, TVLM_ERROR_DEVICE_MEMORY,
            "%s: %dx%d in %d layers for %d images at once are larger than this device's textures: "
            "hand them in before labels, vectors in a basis, or a second frame",
            name, (int)size->columns, (int)size->rows, (int)size->layers, (int)stack->chunk_images);
    tvlm_chunk *chunks = tvlm_stack_chunks_create(stack->images, images, &count);
    if (chunks == NULL)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for a batch of %d images",
                         (int)stack->images);
    count_on(stack, chunks, count);
    for (int32_t i = 0; i < stack->images; ++i) {
        const tvlm_status status = move_image(stack, i, &chunks[i / images]);
        if (status == TVLM_OK) continue;
        tvlm_stack_chunks_release(stack, chunks, count);
        return status;
    }
    tvlm_stack_drop_query(stack);
    tvlm_stack_chunks_release(stack, stack->chunks, stack->chunk_count);
    stack->chunks = chunks;
    stack->chunk_count = count;
    stack->chunk_images = images;
    for (int32_t i = 0; i < stack->images; ++i)
        stack->frames[i].candidates.image = tvlm_stack_image_number(stack, i);
    return TVLM_OK;
}
