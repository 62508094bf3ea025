/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.c: reads the texels of a channel's own grid.
 */
#include <math.h>

#include "core/check.h"
#include "core/formula.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/bundle.h"
#include "stack/grids.h"
#include "stack/inside.h"
#include "stack/make.h"
#include "stack/ragged.h"

/* Finds the size of a channel's grid at one of the grid's own levels, for image `index` or, if that is -1,
 * for the stack. Channels that are stored nowhere have the image's size. */
static tvlm_status channel_size(const tvlm_stack *stack, int32_t index, int32_t channel, int32_t level,
                                int32_t *width, int32_t *height) {
    TVLM_TRY(tvlm_stack_check_channel(stack, channel));
    const tvlm_grid place = tvlm_stack_place(stack, channel).grid,
                    grid = place < TVLM_GRID_COUNT ? place : TVLM_GRID_SOURCE;
    const tvlm_texture shape = index >= 0 && stack->sizes != NULL
                                   ? tvlm_stack_image_shape(stack, grid, index)
                                   : tvlm_stack_grid_shape(stack, grid, stack->images);
    if (level < 0 || level >= shape.levels)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "level %d of a channel of %d levels",
                         (int)level, (int)shape.levels);
    *width = tvlm_level_side(shape.width, level);
    *height = tvlm_level_side(shape.height, level);
    return TVLM_OK;
}

tvlm_status tvlm_stack_channel_size(tvlm_stack *stack, int32_t channel, int32_t level, int32_t *width,
                                    int32_t *height) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_NEED(&stack->device->log, width);
    TVLM_NEED(&stack->device->log, height);
    return channel_size(stack, -1, channel, level, width, height);
}

tvlm_status tvlm_stack_channel_size_of(tvlm_stack *stack, int32_t index, int32_t channel, int32_t level,
                                       int32_t *width, int32_t *height) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_NEED(&stack->device->log, width);
    TVLM_NEED(&stack->device->log, height);
    TVLM_TRY(tvlm_stack_check_image_number(stack, index));
    return channel_size(stack, index, channel, level, width, height);
}

/* Computes a channel of the family position at the centres of texels. */
static void read_formula(const tvlm_stack *stack, int32_t index, tvlm_channel_place place, int32_t width,
                         int32_t height, float *texels) {
    const tvlm_bundle view = tvlm_stack_image_view(stack, index);
    const int32_t ref = TVLM_REF(TVLM_BUNDLE_FORMULA, place.layer, place.component);
    for (int32_t y = 0; y < height; ++y)
        for (int32_t x = 0; x < width; ++x)
            *texels++ = (float)tvlm_formula_at(&view, ref, (x + 0.5) * (double)view.width / width,
                                               (y + 0.5) * (double)view.height / height);
}

/* Returns what a component of a vector of that length becomes when the vector is scaled to unit length. */
static float of_unit(float component, double length) {
    return length >= (double)TVLM_UNIT_FLOOR ? (float)((double)component / length) : 0.0f;
}

static tvlm_status read_stored(tvlm_stack *stack, const tvlm_chunk *chunk, int32_t image,
                               tvlm_channel_place place, int32_t level, size_t count, float *texels) {
    tvlm_texture *texture = chunk->grids[place.grid];
    const bool unit = tvlm_grid_is_unit(place.grid);
    float *rgba = tvlm_allocate(count, 4 * sizeof *rgba);
    double *squares = unit ? tvlm_allocate(count, sizeof *squares) : NULL;
    tvlm_status status = TVLM_OK;
    if (rgba == NULL || (unit && squares == NULL))
        status = tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory to read a channel");
    for (int32_t layer = 0; status == TVLM_OK && layer < texture->layers; ++layer) {
        if (!unit && layer != place.layer) continue;
        status = stack->device->backend->texture_read(stack->device, texture, level,
                                                      image * texture->layers + layer, rgba);
        for (size_t i = 0; status == TVLM_OK && layer == place.layer && i < count; ++i)
            texels[i] = rgba[4 * i + (size_t)place.component];
        for (size_t i = 0; status == TVLM_OK && unit && i < 4 * count; ++i)
            squares[i / 4] += (double)rgba[i] * (double)rgba[i];
    }
    for (size_t i = 0; status == TVLM_OK && unit && i < count; ++i)
        texels[i] = of_unit(texels[i], sqrt(squares[i]));
    free(squares);
    free(rgba);
    return status;
}

tvlm_status tvlm_stack_read(tvlm_stack *stack, int32_t index, int32_t channel, int32_t level, size_t capacity,
                            float *texels) {
    int32_t width, height;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_NEED(&stack->device->log, texels);
    TVLM_TRY(tvlm_stack_check_image_number(stack, index));
    TVLM_TRY(channel_size(stack, index, channel, level, &width, &height));
    const size_t count = (size_t)width * (size_t)height;
    if (capacity < count)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "room for %zu texels; the level has %zu",
                         capacity, count);
    const tvlm_channel_place place = tvlm_stack_place(stack, channel);
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    if (place.grid == TVLM_GRID_FORMULA) {
        read_formula(stack, index, place, width, height, texels);
        return TVLM_OK;
    }
    if (place.grid < TVLM_GRID_COUNT) TVLM_TRY(tvlm_stack_ensure(stack, chunk, TVLM_GRID_BIT(place.grid)));
    if (place.grid >= TVLM_GRID_COUNT || (chunk->valid >> place.grid & 1) == 0) {
        for (size_t i = 0; i < count; ++i) texels[i] = 0.0f;
        return TVLM_OK;
    }
    return read_stored(stack, chunk, index - chunk->first, place, level, count, texels);
}
