/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make.c: makes grids when something first reads them. What a grid needs is made first, and then the grid.
 * The grid's levels wait until something reads them, so that the levels of several grids are made together.
 */
#include "stack/make.h"
#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/features.h"
#include "stack/given.h"
#include "stack/grids.h"
#include "stack/inside.h"
#include "stack/learned.h"
#include "stack/ragged.h"

/* Makes those images black that nobody has set. Zeros, one byte for each pixel, are uploaded once for all of
 * these images. */
static tvlm_status blacken(tvlm_stack *stack, const tvlm_chunk *chunk, tvlm_texture *source) {
    const tvlm_backend *backend = stack->device->backend;
    const size_t bytes = (size_t)stack->width * (size_t)stack->height;
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
        tvlm_pixels pixels = {.channels = 1, .type = TVLM_PIXEL_U8};
        tvlm_stack_size_of(stack, chunk->first + i, &pixels.width, &pixels.height);
        pixels.row_stride = (size_t)pixels.width;
        TVLM_TRY(backend->source(stack->device, buffer, &pixels, i, source));
        stack->originals[chunk->first + i].set = true;
        ++stack->originals[chunk->first + i].changes[TVLM_GRID_SOURCE];
    }
    return TVLM_OK;
}

/* Returns what the backend is told of the step from the last frame to this one. First notes for which images
 * a flow was handed in. */
static const tvlm_carry *carries(tvlm_stack *stack, const tvlm_chunk *chunk) {
    for (int32_t i = chunk->first; i < chunk->first + chunk->images; ++i)
        stack->carries[i].flow = (stack->originals[i].given & TVLM_GRID_BIT(TVLM_GRID_FLOW)) != 0;
    return stack->carries + chunk->first;
}

tvlm_generate_args tvlm_stack_generate_args(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_texture *out) {
    return (tvlm_generate_args){.grids = chunk->grids,
                                .out = out,
                                .settings = &stack->settings,
                                .products = chunk->products,
                                .label_counts = chunk->label_counts,
                                .previous = chunk->previous,
                                .carry = carries(stack, chunk),
                                .keep = stack->delta != NULL,
                                .cameras = stack->cameras + chunk->first,
                                .network = stack->network,
                                .inputs = chunk->network_inputs,
                                .centres = stack->centres};
}

/* Returns the grid of `missing` that is made beside this one, or TVLM_GRID_COUNT if there is none. */
static tvlm_grid beside(tvlm_grid grid, tvlm_grid_mask missing) {
    for (int other = 0; other < TVLM_GRID_COUNT; ++other)
        if ((missing & TVLM_GRID_BIT(other)) != 0 &&
            tvlm_grid_get_info((tvlm_grid)other)->beside == 1 + (int)grid)
            return (tvlm_grid)other;
    return TVLM_GRID_COUNT;
}

/* Makes level 0 of a generated grid, and of the `other` one that is made beside it, if there is one. */
static tvlm_status generate(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid grid, tvlm_grid other,
                            tvlm_texture *texture) {
    const tvlm_backend *backend = stack->device->backend;
    tvlm_grid_mask made = TVLM_GRID_BIT(grid);
    if (backend->generate[grid] == NULL)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_UNSUPPORTED,
                         "backend %s does not make the grid '%s'", backend->name,
                         tvlm_grid_get_info(grid)->name);
    tvlm_generate_args args = tvlm_stack_generate_args(stack, chunk, texture);
    if (other < TVLM_GRID_COUNT) {
        TVLM_TRY(tvlm_stack_grid_texture(stack, chunk, other, &args.beside));
        made |= TVLM_GRID_BIT(other);
    }
    TVLM_TRY(backend->generate[grid](stack->device, &args));
    if (other < TVLM_GRID_COUNT) ++chunk->made[other];
    chunk->kept &= ~made;
    if (args.keep) chunk->kept |= made;
    return TVLM_OK;
}

/* Makes level 0 of a grid, and of the `other` one that is made beside it, if there is one. */
static tvlm_status make_grid(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid grid, tvlm_grid other) {
    tvlm_texture *texture;
    TVLM_TRY(tvlm_stack_grid_texture(stack, chunk, grid, &texture));
    if (grid == TVLM_GRID_SOURCE) {
        TVLM_TRY(blacken(stack, chunk, texture));
    } else if (tvlm_grid_is_given(grid)) {
        if (tvlm_grid_get_info(grid)->vectors) TVLM_TRY(tvlm_stack_features_levels(stack, chunk));
        texture = chunk->grids[grid];
        TVLM_TRY(tvlm_stack_given_complete(stack, chunk, grid, texture));
    } else {
        if (tvlm_grid_get_info(grid)->size == TVLM_SIZE_NETWORK)
            TVLM_TRY(tvlm_stack_learned_inputs(stack, chunk));
        TVLM_TRY(generate(stack, chunk, grid, other, texture));
    }
    ++chunk->made[grid];
    return TVLM_OK;
}

/* Returns whether there is anything to make the grid from. */
static bool can_be_made(const tvlm_stack *stack, const tvlm_chunk *chunk, tvlm_grid grid) {
    const tvlm_grid_info *info = tvlm_grid_get_info(grid);
    int32_t first;
    if (info->size == TVLM_SIZE_QUESTION || !tvlm_stack_has_previous(chunk, grid)) return false;
    if (info->size == TVLM_SIZE_NETWORK) return stack->network != NULL;
    if (tvlm_grid_get_replaced(grid, &first) > 0) return stack->given[grid].images > 0;
    if (tvlm_grid_is_given(grid)) return (chunk->given & TVLM_GRID_BIT(grid)) != 0;
    return info->size != TVLM_SIZE_LIKE || (chunk->given & TVLM_GRID_BIT(info->like)) != 0;
}

/* Adds to `mask` the generated grids that replacing grids stand for, if some images of the chunk have no
 * replacing grid. */
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

/* Makes the levels of the grids in `mask`, which have only their level 0 so far. */
static tvlm_status make_levels(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid_mask mask) {
    tvlm_texture *textures[TVLM_GRID_COUNT];
    int32_t count = 0;
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        if ((mask & TVLM_GRID_BIT(grid)) != 0 && chunk->grids[grid]->levels > 1)
            textures[count++] = chunk->grids[grid];
    if (count > 0) TVLM_TRY(stack->device->backend->mips(stack->device, textures, count));
    chunk->valid |= mask;
    chunk->flat &= ~mask;
    return TVLM_OK;
}

/*
 * Returns the grids whose levels are all read when this one is made:
 * - for a grid that replaces generated channels, the grid of these channels, which fills the images for which
 *   no grid was handed in;
 * - for any other grid, the grids that it needs, unless it reads only their level 0.
 */
static tvlm_grid_mask levels_read(tvlm_grid grid) {
    const tvlm_grid_info *info = tvlm_grid_get_info(grid);
    int32_t channel;
    if (tvlm_grid_get_replaced(grid, &channel) == 0) return info->level_0 ? 0 : info->needs;
    const tvlm_grid made = tvlm_channel_get_place(channel).grid;
    return made < TVLM_GRID_COUNT ? TVLM_GRID_BIT(made) : 0;
}

/* Makes the grids of `missing` that can be made. *flat is the set of grids that have only their level 0 so
 * far. These are not valid before they have all levels. */
static tvlm_status make_grids(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid_mask missing,
                              tvlm_grid_mask *flat) {
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) {
        if ((missing & TVLM_GRID_BIT(grid)) == 0 || !can_be_made(stack, chunk, (tvlm_grid)grid)) continue;
        const tvlm_grid_mask read = *flat & levels_read((tvlm_grid)grid);
        TVLM_TRY(make_levels(stack, chunk, read));
        *flat &= ~read;
        const tvlm_grid other = beside((tvlm_grid)grid, missing);
        TVLM_TRY(make_grid(stack, chunk, (tvlm_grid)grid, other));
        *flat |= TVLM_GRID_BIT(grid);
        if (other < TVLM_GRID_COUNT) *flat |= TVLM_GRID_BIT(other);
        if (other < TVLM_GRID_COUNT) missing &= ~TVLM_GRID_BIT(other);
    }
    return TVLM_OK;
}

/* In the registry's order, every grid comes after those that it needs. The query's grid comes with a question
 * (query.c), and is never made here. */
tvlm_status tvlm_stack_ensure(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid_mask mask) {
    const tvlm_grid_mask stale = mask & ~chunk->valid;
    TVLM_TRY(tvlm_stack_check_ragged(stack, mask));
    stack->asked |= mask;
    /* The grids that a network reads must have all their levels before the network is run. */
    if ((stale & TVLM_GRID_BIT(TVLM_GRID_LEARNED)) != 0 && stack->network != NULL)
        TVLM_TRY(tvlm_stack_ensure(
            stack, chunk, tvlm_stack_grids_of(stack, stack->learned.inputs, stack->learned.input_count)));
    tvlm_grid_mask missing = tvlm_grids_with_needs(with_replaced(stack, chunk, stale)) & ~chunk->valid;
    tvlm_grid_mask flat = mask & chunk->valid & chunk->flat;
    if ((missing | flat) != 0) {
        missing |= chunk->later & ~chunk->valid;
        chunk->later = 0;
    }
    TVLM_TRY(make_grids(stack, chunk, missing, &flat));
    return make_levels(stack, chunk, flat);
}

tvlm_status tvlm_stack_ensure_level_0(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid grid) {
    const tvlm_grid_mask mask = TVLM_GRID_BIT(grid);
    tvlm_grid_mask flat = 0;
    if ((chunk->valid & mask) != 0) return TVLM_OK;
    TVLM_TRY(make_grids(stack, chunk, tvlm_grids_with_needs(mask) & ~chunk->valid, &flat));
    return make_levels(stack, chunk, flat & ~mask);
}

tvlm_status tvlm_stack_make(tvlm_stack *stack, int32_t index, tvlm_grid_mask mask) {
    return tvlm_stack_ensure(stack, tvlm_stack_chunk(stack, index), mask);
}

tvlm_status tvlm_stack_make_later(tvlm_stack *stack, int32_t index, tvlm_grid grid) {
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    TVLM_TRY(tvlm_stack_ensure_level_0(stack, chunk, grid));
    chunk->later |= TVLM_GRID_BIT(grid) & ~chunk->valid;
    return TVLM_OK;
}

tvlm_status tvlm_stack_make_all(tvlm_stack *stack) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
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
