/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grids: their shapes, and making them when something first reads them.
 */
#include "stack/stack.h"

#include <string.h>

#include "core/memory.h"

static int32_t cells(int32_t side) {
    return (side - 1) / TVLM_ENTROPY_CELL + 1;
}

tvlm_texture tvlm_stack_grid_shape(const tvlm_stack *stack, tvlm_grid grid, int32_t images) {
    const tvlm_grid_info *info = tvlm_grid_get_info(grid);
    const tvlm_given *given = &stack->given[info->size == TVLM_SIZE_DEPTH ? TVLM_GRID_DEPTH : grid];
    const bool query = stack->query_image >= 0;
    tvlm_texture shape = {.width = stack->width,
                          .height = stack->height,
                          .layers = info->layers,
                          .images = images,
                          .format = stack->format,
                          .extent_x = (float)stack->width,
                          .extent_y = (float)stack->height};
    switch (info->size) {
    case TVLM_SIZE_IMAGE: break;
    case TVLM_SIZE_HALF:
        shape.width = tvlm_level_side(stack->width, 1);
        shape.height = tvlm_level_side(stack->height, 1);
        break;
    case TVLM_SIZE_QUARTER:
        shape.width = tvlm_level_side(stack->width, 2);
        shape.height = tvlm_level_side(stack->height, 2);
        break;
    case TVLM_SIZE_CELLS:
        shape.width = cells(stack->width);
        shape.height = cells(stack->height);
        shape.extent_x = (float)(shape.width * TVLM_ENTROPY_CELL);
        shape.extent_y = (float)(shape.height * TVLM_ENTROPY_CELL);
        break;
    case TVLM_SIZE_GIVEN:
        if (query && grid == TVLM_GRID_QUERY)
            shape.width = stack->query_columns, shape.height = stack->query_rows,
            shape.extent_x = stack->query_extent_x, shape.extent_y = stack->query_extent_y;
        if (given->columns > 0) shape.layers = given->layers;
        /* fall through */
    case TVLM_SIZE_DEPTH:
        if (given->columns == 0) break; /* nothing behind it: the image's */
        shape.width = given->columns;
        shape.height = given->rows;
        shape.extent_x = given->extent_x;
        shape.extent_y = given->extent_y;
        break;
    }
    shape.levels = tvlm_level_count(shape.width, shape.height);
    memcpy(shape.reduce, info->reduce, sizeof shape.reduce);
    if (grid >= TVLM_GRID_USER_0 && grid <= TVLM_GRID_USER_LAST)
        memset(shape.reduce, stack->users[grid - TVLM_GRID_USER_0].reduce, sizeof shape.reduce);
    return shape;
}

tvlm_status tvlm_stack_grid_texture(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid grid,
                                    tvlm_texture **texture) {
    if (chunk->grids[grid] == NULL) {
        tvlm_texture shape = tvlm_stack_grid_shape(stack, grid, chunk->images);
        if (grid == TVLM_GRID_FEATURES) shape.levels = 1; /* questions read no others: features.c */
        TVLM_TRY(stack->device->backend->texture_create(stack->device, &shape, &chunk->grids[grid]));
    }
    *texture = chunk->grids[grid];
    return TVLM_OK;
}

/* Images that nobody has set are black: one byte a pixel, uploaded once for all of them. */
static tvlm_status blacken(tvlm_stack *stack, const tvlm_chunk *chunk, tvlm_texture *source) {
    const tvlm_backend *backend = stack->device->backend;
    const size_t bytes = (size_t)stack->width * (size_t)stack->height;
    const tvlm_pixels pixels = {stack->width, stack->height, 1, TVLM_PIXEL_U8, 0, (size_t)stack->width};
    tvlm_buffer *buffer = NULL;
    for (int32_t i = 0; i < chunk->images; ++i) {
        if (stack->originals[chunk->first + i].set) continue;
        if (buffer == NULL) {
            TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_PIXELS, bytes, &buffer));
            void *zeros = tvlm_allocate(bytes, 1);
            if (zeros == NULL)
                return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for a black image");
            const tvlm_status status = backend->buffer_write(stack->device, buffer, 0, bytes, zeros);
            free(zeros);
            TVLM_TRY(status);
        }
        TVLM_TRY(backend->source(stack->device, buffer, &pixels, i, source));
        stack->originals[chunk->first + i].set = true;
    }
    return TVLM_OK;
}

tvlm_generate_args tvlm_stack_generate_args(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_texture *out) {
    return (tvlm_generate_args){.grids = chunk->grids,
                                .out = out,
                                .settings = &stack->settings,
                                .products = chunk->products,
                                .label_counts = chunk->label_counts,
                                .previous = chunk->previous,
                                .carry = tvlm_stack_carries(stack, chunk),
                                .keep = stack->delta != NULL,
                                .cameras = stack->cameras + chunk->first,
                                .centres = stack->centres};
}

static tvlm_status make_grid(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid grid) {
    const tvlm_backend *backend = stack->device->backend;
    tvlm_texture *texture;
    TVLM_TRY(tvlm_stack_grid_texture(stack, chunk, grid, &texture));
    if (grid == TVLM_GRID_SOURCE) {
        TVLM_TRY(blacken(stack, chunk, texture));
    } else if (tvlm_grid_is_given(grid)) {
        if (grid == TVLM_GRID_FEATURES) TVLM_TRY(tvlm_stack_features_levels(stack, chunk));
        texture = chunk->grids[grid];
        TVLM_TRY(tvlm_stack_given_complete(stack, chunk, grid, texture));
    } else {
        if (backend->generate[grid] == NULL)
            return tvlm_fail(&stack->device->log, TVLM_ERROR_UNSUPPORTED,
                             "backend %s does not make the grid '%s'", backend->name,
                             tvlm_grid_get_info(grid)->name);
        const tvlm_generate_args args = tvlm_stack_generate_args(stack, chunk, texture);
        TVLM_TRY(backend->generate[grid](stack->device, &args));
        tvlm_stack_delta_made(stack, chunk, grid, args.keep);
    }
    if (texture->levels > 1) TVLM_TRY(backend->mips(stack->device, texture));
    chunk->valid |= TVLM_GRID_BIT(grid);
    return TVLM_OK;
}

/* Whether there is anything to make it of. */
static bool can_be_made(const tvlm_stack *stack, const tvlm_chunk *chunk, tvlm_grid grid) {
    int32_t first;
    if (grid == TVLM_GRID_QUERY || !tvlm_stack_has_previous(chunk, grid)) return false;
    if (tvlm_grid_get_replaced(grid, &first) > 0) return stack->given[grid].images > 0;
    if (tvlm_grid_is_given(grid)) return (chunk->given & TVLM_GRID_BIT(grid)) != 0;
    return tvlm_grid_get_info(grid)->size != TVLM_SIZE_DEPTH ||
           (chunk->given & TVLM_GRID_BIT(TVLM_GRID_DEPTH)) != 0;
}

/* And what replacing grids stand for, where some images have none. */
static tvlm_grid_mask with_replaced(const tvlm_stack *stack, const tvlm_chunk *chunk, tvlm_grid_mask mask) {
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) {
        int32_t channel;
        if ((mask & TVLM_GRID_BIT(grid)) == 0 || tvlm_grid_get_replaced((tvlm_grid)grid, &channel) == 0)
            continue;
        const tvlm_grid made = tvlm_channel_get_place(channel).grid;
        for (int32_t i = 0; made < TVLM_GRID_COUNT && i < chunk->images; ++i)
            if ((stack->originals[chunk->first + i].given & TVLM_GRID_BIT(grid)) == 0)
                mask |= TVLM_GRID_BIT(made);
    }
    return mask;
}

/* Of grids that have only their level 0 so far. */
static tvlm_status make_levels(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid_mask mask) {
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        if ((mask & TVLM_GRID_BIT(grid)) != 0)
            TVLM_TRY(stack->device->backend->mips(stack->device, chunk->grids[grid]));
    chunk->flat &= ~mask;
    return TVLM_OK;
}

/* The registry's order satisfies every need. The query comes with a question (select/query.c), never from
 * here. */
tvlm_status tvlm_stack_ensure(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid_mask mask) {
    const tvlm_grid_mask stale = mask & ~chunk->valid;
    stack->asked |= mask;
    TVLM_TRY(make_levels(stack, chunk, mask & chunk->valid & chunk->flat));
    const tvlm_grid_mask missing = tvlm_grids_with_needs(with_replaced(stack, chunk, stale)) & ~chunk->valid;
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        if ((missing & TVLM_GRID_BIT(grid)) != 0 && can_be_made(stack, chunk, (tvlm_grid)grid))
            TVLM_TRY(make_grid(stack, chunk, (tvlm_grid)grid));
    return TVLM_OK;
}

void tvlm_stack_drop_query(tvlm_stack *stack) {
    if (stack->query_image < 0) return;
    tvlm_stack_chunk(stack, stack->query_image)->valid &= ~(TVLM_GRID_BIT(TVLM_GRID_QUERY));
    stack->query_image = -1;
}

void tvlm_stack_outdate(tvlm_chunk *chunk, tvlm_grid_mask grids) {
    static const tvlm_grid_mask guides =
        TVLM_GRID_BIT(TVLM_GRID_CLUSTER) | TVLM_GRID_BIT(TVLM_GRID_DISTANCE) |
        TVLM_GRID_BIT(TVLM_GRID_FEATURES) | TVLM_GRID_BIT(TVLM_GRID_EMBEDDING);
    const tvlm_grid_mask stale = tvlm_grids_with_dependents(grids);
    chunk->valid &= ~stale;
    if ((stale & guides) != 0) ++chunk->guided;
}

/* What is handed in stands before what would be made. */
tvlm_channel_place tvlm_stack_place(const tvlm_stack *stack, int32_t channel) {
    const tvlm_channel_place none = {TVLM_GRID_NONE, 0, 0},
                             replacement = tvlm_channel_get_replacement(channel);
    if (channel >= TVLM_CHANNEL_USER_0) {
        const int32_t plane = channel - TVLM_CHANNEL_USER_0;
        return plane < stack->user_count ? (tvlm_channel_place){(tvlm_grid)(TVLM_GRID_USER_0 + plane), 0, 0}
                                         : none;
    }
    if (replacement.grid != TVLM_GRID_NONE && stack->given[replacement.grid].images > 0) return replacement;
    const tvlm_channel_place place = tvlm_channel_get_place(channel);
    /* An embedding of fewer channels has fewer layers. */
    return tvlm_grid_is_given(place.grid) && stack->given[place.grid].columns > 0 &&
                   place.layer >= stack->given[place.grid].layers
               ? none
               : place;
}

/* Whether the image has what a grid holds, or is made of. */
static bool image_has(const tvlm_stack *stack, int32_t index, tvlm_grid grid) {
    const tvlm_stack_image *image = &stack->originals[index];
    if (grid == TVLM_GRID_NONE) return false;
    if (grid == TVLM_GRID_QUERY) return stack->query_image == index;
    if (grid >= TVLM_GRID_COUNT || grid == TVLM_GRID_SOURCE) return true; /* a formula; pixels, or black */
    if (tvlm_grid_is_given(grid)) return (image->given & TVLM_GRID_BIT(grid)) != 0;
    if (tvlm_grid_get_info(grid)->size == TVLM_SIZE_DEPTH)
        return (image->given & TVLM_GRID_BIT(TVLM_GRID_DEPTH)) != 0;
    return tvlm_stack_remembers(image, grid);
}

tvlm_status tvlm_stack_has_channel(const tvlm_stack *stack, int32_t index, int32_t channel, bool *has) {
    if (stack == NULL || has == NULL) return TVLM_ERROR_ARGUMENT;
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    TVLM_TRY(tvlm_stack_check_channel(stack, channel));
    *has = image_has(stack, index, tvlm_stack_place(stack, channel).grid);
    /* What only other images replace is still made for this one. */
    if (!*has && channel < TVLM_CHANNEL_USER_0 &&
        tvlm_channel_get_replacement(channel).grid != TVLM_GRID_NONE)
        *has = image_has(stack, index, tvlm_channel_get_place(channel).grid);
    return TVLM_OK;
}

tvlm_grid_mask tvlm_stack_grids_of(const tvlm_stack *stack, const int32_t *channels, int32_t count) {
    tvlm_grid_mask mask = 0;
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_grid grid = tvlm_stack_place(stack, channels[i]).grid;
        if (grid < TVLM_GRID_COUNT) mask |= TVLM_GRID_BIT(grid);
    }
    return mask;
}

tvlm_status tvlm_stack_generate(tvlm_stack *stack) {
    if (stack == NULL) return TVLM_ERROR_ARGUMENT;
    const tvlm_grid_mask mask = tvlm_stack_grids_of(stack, stack->channels, stack->channel_count);
    for (int32_t i = 0; i < stack->chunk_count; ++i)
        TVLM_TRY(tvlm_stack_ensure(stack, &stack->chunks[i], mask));
    return TVLM_OK;
}

tvlm_status tvlm_stack_texture(tvlm_stack *stack, int32_t index, int32_t channel, tvlm_texture **texture,
                               int32_t *layer, int32_t *component, int32_t *first_image) {
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    TVLM_TRY(tvlm_stack_check_channel(stack, channel));
    const tvlm_channel_place place = tvlm_stack_place(stack, channel);
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    if (place.grid < TVLM_GRID_COUNT) TVLM_TRY(tvlm_stack_ensure(stack, chunk, TVLM_GRID_BIT(place.grid)));
    if (place.grid >= TVLM_GRID_COUNT || (chunk->valid >> place.grid & 1) == 0)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "channel %d is not stored in a texture",
                         (int)channel);
    *texture = chunk->grids[place.grid];
    *layer = place.layer;
    *component = place.component;
    *first_image = chunk->first;
    return TVLM_OK;
}
