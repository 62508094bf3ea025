/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grids.c: the shapes of grids, the places of channels in them, and which of them are out of date.
 */
#include "stack/grids.h"
#include "core/check.h"

#include <string.h>

#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/bytes.h"
#include "stack/inside.h"
#include "stack/network.h"
#include "stack/ragged.h"

static int32_t cells(int32_t side) {
    return (side - 1) / TVLM_CELL + 1;
}

/* The shape of a grid of images of that size. */
static tvlm_texture shape_of(const tvlm_stack *stack, tvlm_grid grid, int32_t images, int32_t width,
                             int32_t height) {
    const tvlm_grid_info *info = tvlm_grid_get_info(grid);
    const tvlm_given *given = &stack->given[info->size == TVLM_SIZE_LIKE ? info->like : grid];
    const bool query = stack->question.image >= 0;
    const bool network = info->size == TVLM_SIZE_NETWORK && stack->network != NULL;
    tvlm_texture shape = {.width = width,
                          .height = height,
                          .layers = info->layers,
                          .images = images,
                          .format = stack->format,
                          .extent_x = (float)width,
                          .extent_y = (float)height};
    switch (info->size) {
    case TVLM_SIZE_IMAGE: break;
    case TVLM_SIZE_NETWORK:
        if (network) shape = tvlm_stack_learned_shape(stack, images, width, height);
        break;
    case TVLM_SIZE_HALF:
        shape.width = tvlm_level_side(width, 1);
        shape.height = tvlm_level_side(height, 1);
        break;
    case TVLM_SIZE_QUARTER:
        shape.width = tvlm_level_side(width, 2);
        shape.height = tvlm_level_side(height, 2);
        break;
    case TVLM_SIZE_CELLS:
        shape.width = cells(width);
        shape.height = cells(height);
        shape.extent_x = (float)(shape.width * TVLM_CELL);
        shape.extent_y = (float)(shape.height * TVLM_CELL);
        break;
    case TVLM_SIZE_QUESTION:
        if (query)
            shape.width = stack->question.columns, shape.height = stack->question.rows,
            shape.extent_x = stack->question.extent_x, shape.extent_y = stack->question.extent_y;
        break;
    case TVLM_SIZE_GIVEN:
    case TVLM_SIZE_LIKE:
        /* If no grid was handed in, the size is that of the image. */
        if (given->columns == 0) break;
        if (info->size == TVLM_SIZE_GIVEN) shape.layers = given->layers;
        shape.width = given->columns;
        shape.height = given->rows;
        shape.extent_x = given->extent_x;
        shape.extent_y = given->extent_y;
        break;
    }
    if (stack->format == TVLM_FORMAT_U8) shape.range = tvlm_stack_range(stack, grid);
    shape.levels = tvlm_level_count(shape.width, shape.height);
    for (int c = 0; c < 4; ++c)
        shape.reduce[c] = info->reduce[c] == TVLM_REDUCE_MEAN ? stack->mean_rule : info->reduce[c];
    shape.scalar = tvlm_grid_is_scalar(stack->device, info);
    if (grid >= TVLM_GRID_USER_0 && grid <= TVLM_GRID_USER_LAST)
        memset(shape.reduce, stack->users[grid - TVLM_GRID_USER_0].reduce, sizeof shape.reduce);
    return shape;
}

tvlm_texture tvlm_stack_grid_shape(const tvlm_stack *stack, tvlm_grid grid, int32_t images) {
    return shape_of(stack, grid, images, stack->width, stack->height);
}

tvlm_texture tvlm_stack_image_shape(const tvlm_stack *stack, tvlm_grid grid, int32_t index) {
    int32_t width, height;
    tvlm_stack_size_of(stack, index, &width, &height);
    return shape_of(stack, grid, 1, width, height);
}

tvlm_status tvlm_stack_grid_texture(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid grid,
                                    tvlm_texture **texture) {
    *texture = chunk->grids[grid];
    if (*texture != NULL) return TVLM_OK;
    tvlm_texture shape = tvlm_stack_grid_shape(stack, grid, chunk->images);
    tvlm_texture_part *parts;
    /* Questions about features read only level 0. features.c makes the other levels where they are needed. */
    if (tvlm_grid_get_info(grid)->vectors) shape.levels = 1;
    TVLM_TRY(tvlm_stack_parts(stack, chunk->images, &parts));
    for (int32_t i = 0; parts != NULL && i < chunk->images; ++i) {
        const tvlm_texture own = tvlm_stack_image_shape(stack, grid, chunk->first + i);
        parts[i] = (tvlm_texture_part){own.width, own.height, own.extent_x, own.extent_y};
    }
    shape.parts = parts;
    const tvlm_status status =
        stack->device->backend->texture_create(stack->device, &shape, &chunk->grids[grid]);
    free(parts);
    *texture = chunk->grids[grid];
    return status;
}

/* ---- What is out of date ---- */

void tvlm_stack_drop_query(tvlm_stack *stack) {
    if (stack->question.image < 0) return;
    tvlm_stack_chunk(stack, stack->question.image)->valid &= ~(TVLM_GRID_BIT(TVLM_GRID_QUERY));
    stack->question.image = -1;
}

void tvlm_stack_outdate(const tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid_mask grids) {
    const tvlm_grid_mask stale = tvlm_stack_dependents(stack, grids);
    chunk->valid &= ~stale;
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) chunk->outdated[grid] += stale >> grid & 1;
}

uint64_t tvlm_stack_outdated(const tvlm_stack *stack, int32_t index, tvlm_grid_mask grids) {
    const tvlm_chunk *chunk = &stack->chunks[index / stack->chunk_images];
    uint64_t sum = 0;
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        if ((grids & TVLM_GRID_BIT(grid)) != 0) sum += chunk->outdated[grid];
    return sum;
}

tvlm_texture *tvlm_stack_held(const tvlm_stack *stack, int32_t index, tvlm_grid grid) {
    return stack->chunks[index / stack->chunk_images].grids[grid];
}

tvlm_texture *tvlm_stack_made(const tvlm_stack *stack, int32_t index, tvlm_grid grid) {
    const tvlm_chunk *chunk = &stack->chunks[index / stack->chunk_images];
    return (chunk->valid & TVLM_GRID_BIT(grid)) != 0 ? chunk->grids[grid] : NULL;
}

tvlm_status tvlm_stack_set_reduce(tvlm_stack *stack, tvlm_reduce reduce) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    if (reduce != TVLM_MEAN && reduce != TVLM_GAUSSIAN)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                         "levels of a stack by reduction %d; the mean or a Gaussian is possible",
                         (int)reduce);
    stack->mean_rule = reduce == TVLM_GAUSSIAN ? TVLM_REDUCE_GAUSSIAN : TVLM_REDUCE_MEAN;
    tvlm_stack_drop_query(stack);
    for (int32_t i = 0; i < stack->chunk_count; ++i) {
        tvlm_chunk *const chunk = &stack->chunks[i];
        for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) {
            const tvlm_texture shape = tvlm_stack_grid_shape(stack, (tvlm_grid)grid, chunk->images);
            if (chunk->grids[grid] != NULL)
                memcpy(chunk->grids[grid]->reduce, shape.reduce, sizeof shape.reduce);
        }
        tvlm_stack_outdate(stack, chunk, ~(tvlm_grid_mask)0 >> (64 - TVLM_GRID_COUNT));
    }
    /* What was made from the former levels is out of date. */
    for (int32_t i = 0; i < stack->images; ++i)
        for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) ++stack->originals[i].changes[grid];
    return TVLM_OK;
}

/* ---- What there is of the frame before ---- */

bool tvlm_stack_has_previous(const tvlm_chunk *chunk, tvlm_grid grid) {
    const int previous = tvlm_grid_get_info(grid)->previous;
    return previous == 0 || chunk->previous[previous - 1] != NULL;
}

/* ---- Where channels are ---- */

/* A grid that was handed in takes precedence over the generated one. */
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
    if (place.grid == TVLM_GRID_LEARNED && channel - TVLM_CHANNEL_LEARNED_0 >= stack->learned.output_count)
        return none;
    /* An embedding that was handed in with fewer channels has fewer layers. */
    return tvlm_grid_is_given(place.grid) && stack->given[place.grid].columns > 0 &&
                   place.layer >= stack->given[place.grid].layers
               ? none
               : place;
}

static bool has_channel(const tvlm_stack *stack, int32_t index, int32_t channel) {
    if (tvlm_stack_has_grid(stack, index, tvlm_stack_place(stack, channel).grid)) return true;
    /* A channel that is replaced only in other images is still generated for this one. */
    return channel < TVLM_CHANNEL_USER_0 && tvlm_channel_get_replacement(channel).grid != TVLM_GRID_NONE &&
           tvlm_stack_has_grid(stack, index, tvlm_channel_get_place(channel).grid);
}

/* A network never reads its own outputs (network.c), so that this recursion ends. */
static bool network_has_inputs(const tvlm_stack *stack, int32_t index) {
    for (int32_t i = 0; i < stack->learned.input_count; ++i)
        if (!has_channel(stack, index, stack->learned.inputs[i])) return false;
    return true;
}

bool tvlm_stack_has_grid(const tvlm_stack *stack, int32_t index, tvlm_grid grid) {
    const tvlm_stack_image *image = &stack->originals[index];
    if (grid == TVLM_GRID_NONE) return false;
    /* A formula needs nothing, and an image without pixels is black. */
    if (grid >= TVLM_GRID_COUNT || grid == TVLM_GRID_SOURCE) return true;
    const tvlm_grid_info *info = tvlm_grid_get_info(grid);
    if (stack->sizes != NULL && !info->ragged) return false;
    switch (info->size) {
    case TVLM_SIZE_QUESTION: return stack->question.image == index;
    case TVLM_SIZE_NETWORK: return stack->network != NULL && network_has_inputs(stack, index);
    case TVLM_SIZE_GIVEN: return (image->given & TVLM_GRID_BIT(grid)) != 0;
    case TVLM_SIZE_LIKE: return (image->given & TVLM_GRID_BIT(info->like)) != 0;
    default: return info->previous == 0 || image->remembered[info->previous - 1];
    }
}

tvlm_status tvlm_stack_has_channel(const tvlm_stack *stack, int32_t index, int32_t channel, bool *has) {
    TVLM_NEED(NULL, stack);
    TVLM_NEED(&stack->device->log, has);
    TVLM_TRY(tvlm_stack_check_image_number(stack, index));
    TVLM_TRY(tvlm_stack_check_channel(stack, channel));
    *has = has_channel(stack, index, channel);
    return TVLM_OK;
}

tvlm_status tvlm_stack_find_lacking(const tvlm_stack *stack, int32_t index, const int32_t *channels,
                                    int32_t count, tvlm_channel_info *lacking) {
    bool has = true;
    lacking->channel = TVLM_CHANNEL_NONE;
    for (int32_t c = 0; c < count && has; ++c) {
        TVLM_TRY(tvlm_stack_has_channel(stack, index, channels[c], &has));
        if (!has) TVLM_TRY(tvlm_stack_get_channel_info(stack, channels[c], lacking));
    }
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
