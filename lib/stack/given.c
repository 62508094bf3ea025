/* SPDX-License-Identifier: Apache-2.0 */
/*
 * given.c: the grids that are handed in. Such a grid has one size for all images of the stack, a texture for
 * each chunk, and a bit for each image that has one.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "stack/bundle.h"
#include "stack/features.h"
#include "stack/given.h"
#include "stack/grids.h"
#include "stack/inside.h"

/* Destroys the textures of a grid, and of all grids that always have its size (TVLM_SIZE_LIKE), because the
 * next ones will have another size. */
static void destroy_textures(tvlm_stack *stack, tvlm_grid grid) {
    const tvlm_backend *backend = stack->device->backend;
    for (int32_t i = 0; i < stack->chunk_count; ++i) {
        tvlm_chunk *chunk = &stack->chunks[i];
        backend->texture_destroy(stack->device, &chunk->grids[grid]);
        if (tvlm_grid_get_info(grid)->vectors) tvlm_stack_features_release(stack, chunk);
        for (int other = 0; other < TVLM_GRID_COUNT; ++other) {
            const tvlm_grid_info *info = tvlm_grid_get_info((tvlm_grid)other);
            if (info->size == TVLM_SIZE_LIKE && info->like == grid)
                backend->texture_destroy(stack->device, &chunk->grids[other]);
        }
        tvlm_stack_outdate(stack, chunk, TVLM_GRID_BIT(grid));
    }
}

static bool same_size(const tvlm_given *a, const tvlm_given *b) {
    return a->columns == b->columns && a->rows == b->rows && a->layers == b->layers &&
           a->dimension == b->dimension && a->extent_x == b->extent_x && a->extent_y == b->extent_y;
}

/* Sets the chunk's bit for a grid from the bits of its images. */
static void count_chunk(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid grid) {
    chunk->given &= ~TVLM_GRID_BIT(grid);
    for (int32_t i = 0; i < chunk->images; ++i)
        chunk->given |= stack->originals[chunk->first + i].given & TVLM_GRID_BIT(grid);
}

/* Notes that an image's grid was replaced or is gone. The grids that follow it are cleared. If it holds the
 * encoder's vectors, a question about the image is dropped. */
static void change(tvlm_stack *stack, int32_t index, tvlm_grid grid) {
    ++stack->originals[index].changes[grid];
    for (int other = 0; other < TVLM_GRID_COUNT; ++other)
        if (tvlm_grid_get_info((tvlm_grid)other)->follows & TVLM_GRID_BIT(grid))
            tvlm_stack_given_clear(stack, index, (tvlm_grid)other);
    if (tvlm_grid_get_info(grid)->vectors && stack->question.image == index) tvlm_stack_drop_query(stack);
}

bool tvlm_stack_given_pause(tvlm_stack *stack, int32_t index, tvlm_grid grid) {
    tvlm_stack_image *image = &stack->originals[index];
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    if ((image->given & TVLM_GRID_BIT(grid)) == 0) return false;
    image->given &= ~TVLM_GRID_BIT(grid);
    change(stack, index, grid);
    count_chunk(stack, chunk, grid);
    tvlm_stack_outdate(stack, chunk, TVLM_GRID_BIT(grid));
    --stack->given[grid].images;
    return true;
}

void tvlm_stack_given_clear(tvlm_stack *stack, int32_t index, tvlm_grid grid) {
    tvlm_given *given = &stack->given[grid];
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    if (!tvlm_stack_given_pause(stack, index, grid)) return;
    if (given->images > 0) {
        if ((chunk->given & TVLM_GRID_BIT(grid)) == 0)
            stack->device->backend->texture_destroy(stack->device, &chunk->grids[grid]);
        return;
    }
    destroy_textures(stack, grid);
    memset(given, 0, sizeof *given);
}

tvlm_status tvlm_stack_given_begin(tvlm_stack *stack, int32_t index, tvlm_grid grid, const tvlm_given *size,
                                   const char *name, tvlm_texture **texture) {
    const bool has = (stack->originals[index].given & TVLM_GRID_BIT(grid)) != 0;
    tvlm_given *given = &stack->given[grid];
    if (!same_size(given, size)) {
        if (given->images > has)
            return tvlm_fail(
                &stack->device->log, TVLM_ERROR_ARGUMENT,
                "%s of image %d: a grid of %dx%d, but other images of the stack have %dx%d (or cells of "
                "another size): clear those first",
                name, (int)index, (int)size->columns, (int)size->rows, (int)given->columns, (int)given->rows);
        if (has) tvlm_stack_given_clear(stack, index, grid);
        /* An earlier call that failed may have left a texture. */
        destroy_textures(stack, grid);
        *given = *size;
        given->images = 0;
    }
    const tvlm_status status = tvlm_stack_grid_texture(stack, tvlm_stack_chunk(stack, index), grid, texture);
    if (status != TVLM_OK && given->images == 0) memset(given, 0, sizeof *given);
    return status;
}

void tvlm_stack_given_end(tvlm_stack *stack, int32_t index, tvlm_grid grid) {
    tvlm_stack_image *image = &stack->originals[index];
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    const bool first = stack->given[grid].images == 0;
    if ((image->given & TVLM_GRID_BIT(grid)) == 0) ++stack->given[grid].images;
    image->given |= TVLM_GRID_BIT(grid);
    change(stack, index, grid);
    chunk->given |= TVLM_GRID_BIT(grid);
    /* If this is the first such grid in the stack, every chunk has the grid from now on. */
    for (int32_t i = 0; first && i < stack->chunk_count; ++i)
        tvlm_stack_outdate(stack, &stack->chunks[i], TVLM_GRID_BIT(grid));
    tvlm_stack_outdate(stack, chunk, TVLM_GRID_BIT(grid));
}

void tvlm_stack_given_make_room(tvlm_stack *stack, tvlm_grid grid, const tvlm_given *size) {
    if (same_size(&stack->given[grid], size)) return;
    for (int32_t i = 0; i < stack->images; ++i) tvlm_stack_given_clear(stack, i, grid);
}

void tvlm_stack_given_exchange(tvlm_stack *stack, tvlm_grid grid, tvlm_texture **texture) {
    tvlm_texture **held = &stack->chunks[0].grids[grid], *own = *held;
    *held = *texture;
    *texture = own;
    tvlm_stack_given_end(stack, 0, grid);
}

int32_t tvlm_stack_given_dimension(const tvlm_stack *stack, tvlm_grid grid) {
    return stack->given[grid].dimension;
}

/* ---- Images without a grid ---- */

/* Makes a texture of the generated channels that a replacing grid stands for, resampled to the size of that
 * grid. It has one level, and holds all images of the chunk. *packed stays as it is if the generated channels
 * are not made. */
static tvlm_status pack_replaced(tvlm_stack *stack, const tvlm_chunk *chunk, tvlm_grid grid,
                                 tvlm_texture **packed) {
    int32_t first = TVLM_CHANNEL_NONE, refs[4] = {TVLM_REF_ZERO, TVLM_REF_ZERO, TVLM_REF_ZERO, TVLM_REF_ZERO};
    const int32_t count = tvlm_grid_get_replaced(grid, &first);
    const tvlm_channel_place place = tvlm_channel_get_place(first);
    tvlm_texture shape = tvlm_stack_grid_shape(stack, grid, chunk->images);
    shape.scalar = false; /* pack writes all components */
    tvlm_bundle bundle = tvlm_stack_bundle_view(stack);
    if (count == 0 || place.grid >= TVLM_GRID_COUNT || (chunk->valid & TVLM_GRID_BIT(place.grid)) == 0)
        return TVLM_OK;
    bundle.count = 1;
    bundle.textures[0] = chunk->grids[place.grid];
    bundle.unit = tvlm_grid_is_unit(place.grid);
    /* The part of the image that the grid's texels cover. */
    bundle.width = shape.extent_x;
    bundle.height = shape.extent_y;
    for (int32_t c = 0; c < count; ++c) {
        refs[c] = TVLM_REF(0, place.layer, place.component + c);
        if (tvlm_grid_is_unit(place.grid)) refs[c] += TVLM_REF_UNIT(bundle.textures[0]->layers);
    }
    const float across = shape.extent_x / (float)shape.width, down = shape.extent_y / (float)shape.height;
    shape.levels = 1;
    TVLM_TRY(stack->device->backend->texture_create(stack->device, &shape, packed));
    const tvlm_status status = stack->device->backend->pack(stack->device, &bundle, refs,
                                                            fmaxf(0.0f, log2f(fmaxf(across, down))), *packed);
    if (status != TVLM_OK) stack->device->backend->texture_destroy(stack->device, packed);
    return status;
}

/* Fills the layers of an image that has no such grid: from `packed` or, if that is NULL, with zeros. The
 * values of a mask are rounded to 0 or 1. */
static tvlm_status fill_image(tvlm_stack *stack, int32_t image, tvlm_grid grid, tvlm_texture *packed,
                              tvlm_texture *texture, float *rgba) {
    const tvlm_backend *backend = stack->device->backend;
    const size_t count = 4 * (size_t)texture->width * (size_t)texture->height;
    const bool is_mask = tvlm_grid_get_info(grid)->in.mode == TVLM_INPUT_BINARY;
    memset(rgba, 0, count * sizeof *rgba);
    for (int32_t layer = 0; layer < texture->layers; ++layer) {
        const int32_t slice = image * texture->layers + layer;
        if (packed != NULL) TVLM_TRY(backend->texture_read(stack->device, packed, 0, slice, rgba));
        for (size_t i = 0; packed != NULL && is_mask && i < count; ++i)
            rgba[i] = rgba[i] >= 0.5f ? 1.0f : 0.0f;
        TVLM_TRY(backend->texture_write(stack->device, texture, slice, rgba));
    }
    return TVLM_OK;
}

tvlm_status tvlm_stack_given_complete(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid grid,
                                      tvlm_texture *texture) {
    tvlm_texture *packed = NULL;
    float *rgba = NULL;
    tvlm_status status = TVLM_OK;
    for (int32_t i = 0; status == TVLM_OK && i < chunk->images; ++i) {
        if ((stack->originals[chunk->first + i].given & TVLM_GRID_BIT(grid)) != 0) continue;
        if (rgba == NULL) {
            rgba = tvlm_allocate((size_t)texture->width * (size_t)texture->height, 4 * sizeof *rgba);
            if (rgba == NULL)
                return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for a grid");
            status = pack_replaced(stack, chunk, grid, &packed);
        }
        if (status == TVLM_OK) status = fill_image(stack, i, grid, packed, texture, rgba);
    }
    stack->device->backend->texture_destroy(stack->device, &packed);
    free(rgba);
    return status;
}
