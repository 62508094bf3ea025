/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delta.c: texturevlm/stack.h. The next frame is taken into a stack, and only what changed is made again.
 */
#include "stack/delta.h"

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/frame.h"
#include "stack/grids.h"
#include "stack/inside.h"
#include "stack/make.h"
#include "stack/network.h"
#include "stack/upload.h"

/* What one call works on. `tiles` are those of the plan. */
typedef struct update {
    tvlm_stack *stack;
    tvlm_chunk *chunk;
    tvlm_delta_plan *plan;
    tvlm_tiles *tiles;
    tvlm_delta_report *report;
} update;

/* ---- What is kept ---- */

void tvlm_stack_delta_release(tvlm_stack *stack) {
    tvlm_delta *delta = stack->delta;
    if (delta == NULL) return;
    for (int32_t i = 0; i < stack->images; ++i) free(delta->frames[i].pixels);
    tvlm_delta_plan_release(&delta->plan);
    free(delta->frames);
    free(delta);
    stack->delta = NULL;
}

bool tvlm_delta_is_carried(const tvlm_stack *stack, int32_t index, tvlm_grid grid) {
    const int which = tvlm_grid_get_info(grid)->carried - 1;
    if (stack->delta == NULL || which < 0) return false;
    const tvlm_chunk *chunk = &stack->chunks[index / stack->chunk_images];
    const tvlm_delta_frame *frame = &stack->delta->frames[index];
    return (chunk->valid & TVLM_GRID_BIT(grid)) != 0 && frame->frames[which] > 0 &&
           frame->made[which] == chunk->made[grid];
}

void tvlm_delta_drop_carried(tvlm_stack *stack, int32_t index) {
    for (int i = 0; i < TVLM_CARRIED_COUNT; ++i) {
        const tvlm_grid grid = tvlm_grid_of_carried((tvlm_carried)i);
        if (tvlm_delta_is_carried(stack, index, grid))
            tvlm_stack_outdate(stack, tvlm_stack_chunk(stack, index), TVLM_GRID_BIT(grid));
    }
}

/* ---- Families ---- */

#define ONE_MORE(...) +1
_Static_assert(1 TVLM_GENERATED_GRIDS(ONE_MORE) TVLM_REPLACING_GRIDS(ONE_MORE) <= TVLM_DELTA_FAMILIES,
               "a report has room for the source and every grid that follows from it");
#undef ONE_MORE

/* Adds a family to the report: how its grid is updated and, if it is made in parts, the number of texels. */
static void tell(const update *u, tvlm_grid grid, tvlm_update how, int64_t texels) {
    tvlm_delta_report *report = u->report;
    const tvlm_texture *texture = u->chunk->grids[grid];
    if (texture == NULL) return;
    const int64_t all = (int64_t)texture->width * texture->height;
    if (how == TVLM_UPDATE_WHOLE) texels = all;
    report->families[report->family_count++] =
        (tvlm_delta_family){.name = tvlm_grid_get_info(grid)->name,
                            .update = how,
                            .texels = how <= TVLM_UPDATE_WHOLE ? texels : 0,
                            .all = all};
}

/* Makes level 0 of one grid, and the levels above it, around the changed tiles. */
static tvlm_status make_parts(update *u, tvlm_grid grid) {
    tvlm_stack *stack = u->stack;
    const tvlm_backend *backend = stack->device->backend;
    tvlm_texture *texture = u->chunk->grids[grid];
    int64_t texels = 0;
    u->tiles->reach = tvlm_grid_reach(grid, stack->width, stack->height);
    tvlm_generate_args args = tvlm_stack_generate_args(stack, u->chunk, texture);
    u->tiles->texels = &texels;
    args.tiles = u->tiles;
    TVLM_TRY(backend->generate[grid](stack->device, &args));
    u->tiles->texels = NULL;
    if (texture->levels > 1) TVLM_TRY(backend->mips_tiles(stack->device, texture, u->tiles));
    u->chunk->valid |= TVLM_GRID_BIT(grid);
    tell(u, grid, TVLM_UPDATE_PARTS, texels);
    return TVLM_OK;
}

/* Counts this frame towards the limits of a family that may be kept although the picture changed. Returns
 * whether the family is still within its limits. */
static bool can_be_carried(const update *u, tvlm_grid grid) {
    const struct tvlm_update_params *params = &u->plan->params;
    tvlm_delta_frame *frame = &u->stack->delta->frames[u->plan->index];
    const float limits[TVLM_CARRIED_COUNT] = {
        [TVLM_CARRIED_SALIENCY] = params->saliency_share, [TVLM_CARRIED_CLUSTER] = params->cluster_share};
    const int32_t most = params->carried_frames > 0 ? params->carried_frames : TVLM_CARRIED_FRAMES;
    const int which = tvlm_grid_get_info(grid)->carried - 1;
    if (which < 0) return false;
    /* The counts begin again when the grid was made anew since the last update. */
    if (frame->made[which] != u->chunk->made[grid]) {
        frame->made[which] = u->chunk->made[grid];
        frame->share[which] = 0.0f;
        frame->frames[which] = 0;
    }
    frame->share[which] += (float)u->tiles->count / (float)u->report->tiles;
    ++frame->frames[which];
    return frame->share[which] <= limits[which] && frame->frames[which] <= most;
}

/* Returns whether the grid can be made in parts, and all that is needed for that exists. */
static bool can_be_parted(const tvlm_chunk *chunk, tvlm_grid grid) {
    const tvlm_grid_info *info = tvlm_grid_get_info(grid);
    return tvlm_grid_is_local(grid) && (info->needs & ~chunk->valid) == 0 &&
           (!info->stages || (chunk->kept & TVLM_GRID_BIT(grid)) != 0);
}

/* Updates every grid that was valid and depends on the source, in the registry's order. The source's tiles
 * are written already. */
static tvlm_status make_families(update *u) {
    const tvlm_backend *backend = u->stack->device->backend;
    tvlm_chunk *chunk = u->chunk;
    const tvlm_grid_mask valid = chunk->valid;
    tvlm_stack_outdate(u->stack, chunk, TVLM_GRID_BIT(TVLM_GRID_SOURCE));
    const tvlm_grid_mask stale = valid & ~chunk->valid;
    if (stale & TVLM_GRID_BIT(TVLM_GRID_SOURCE)) {
        tvlm_texture *source = chunk->grids[TVLM_GRID_SOURCE];
        u->tiles->reach = 0;
        if (source->levels > 1) TVLM_TRY(backend->mips_tiles(u->stack->device, source, u->tiles));
        chunk->valid |= TVLM_GRID_BIT(TVLM_GRID_SOURCE);
    }
    for (int i = TVLM_GRID_SOURCE + 1; i < TVLM_GRID_COUNT; ++i) {
        const tvlm_grid grid = (tvlm_grid)i;
        const tvlm_grid_mask bit = TVLM_GRID_BIT(grid);
        if ((stale & bit) == 0) continue;
        if (can_be_parted(chunk, grid)) {
            TVLM_TRY(make_parts(u, grid));
        } else if (can_be_carried(u, grid)) {
            chunk->valid |= bit;
            tell(u, grid, TVLM_UPDATE_CARRIED, 0);
        } else {
            tell(u, grid, TVLM_UPDATE_LATER, 0);
        }
    }
    return TVLM_OK;
}

/* Counts the pixels of the changed tiles. */
static int64_t tile_texels(const tvlm_tiles *tiles) {
    int64_t texels = 0;
    for (int32_t row = 0; row < tiles->rows; ++row)
        for (int32_t column = 0; column < tiles->columns; ++column) {
            const int32_t right = tiles->width - column * tiles->side,
                          below = tiles->height - row * tiles->side;
            if (tiles->changed[(size_t)row * (size_t)tiles->columns + (size_t)column])
                texels += (int64_t)(right < tiles->side ? right : tiles->side) *
                          (below < tiles->side ? below : tiles->side);
        }
    return texels;
}

/* ---- A frame by its plan ---- */

/* Takes the changed tiles of a frame whose pixels are on the device, in `buffer`. After a failure, only grids
 * whose content is right count as valid. */
static tvlm_status update_parts(update *u, tvlm_buffer *buffer, const tvlm_pixels *pixels, bool packed) {
    tvlm_stack *stack = u->stack;
    tvlm_stack_drop_query(stack);
    if (u->tiles->count > 0) {
        /* The source counts as changed even if what follows fails. */
        ++stack->originals[u->plan->index].changes[TVLM_GRID_SOURCE];
        tvlm_status status = stack->device->backend->source_tiles(
            stack->device, buffer, pixels, packed, u->tiles, u->chunk->grids[TVLM_GRID_SOURCE]);
        tell(u, TVLM_GRID_SOURCE, TVLM_UPDATE_PARTS, tile_texels(u->tiles));
        if (status == TVLM_OK) status = make_families(u);
        if (status != TVLM_OK) {
            tvlm_stack_outdate(stack, u->chunk, TVLM_GRID_BIT(TVLM_GRID_SOURCE));
            return status;
        }
    }
    tvlm_stack_new_frame(stack, u->plan->index);
    return TVLM_OK;
}

static void tell_whole(update *u) {
    const tvlm_grid_mask stale =
        u->chunk->valid & tvlm_stack_dependents(u->stack, TVLM_GRID_BIT(TVLM_GRID_SOURCE));
    u->report->whole = true;
    tell(u, TVLM_GRID_SOURCE, TVLM_UPDATE_WHOLE, 0);
    for (int grid = TVLM_GRID_SOURCE + 1; grid < TVLM_GRID_COUNT; ++grid)
        if (stale & TVLM_GRID_BIT(grid)) tell(u, (tvlm_grid)grid, TVLM_UPDATE_LATER, 0);
}

static tvlm_status update_whole(update *u, tvlm_buffer *buffer, const tvlm_pixels *pixels) {
    tvlm_texture *source;
    TVLM_TRY(tvlm_stack_grid_texture(u->stack, u->chunk, TVLM_GRID_SOURCE, &source));
    tell_whole(u);
    return tvlm_stack_source_from_buffer(u->stack, u->plan->index, buffer, pixels);
}

static tvlm_status upload(update *u, tvlm_buffer **buffer) {
    tvlm_stack *stack = u->stack;
    const size_t bytes = u->plan->bytes;
    if (*buffer != NULL || bytes == 0) return TVLM_OK;
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_PIXELS, bytes, buffer));
    return stack->device->backend->buffer_write(stack->device, *buffer, 0, bytes, u->plan->upload);
}

/* Carries out a plan. The host's copy of the frame is changed only after the work on the source was enqueued,
 * so that the copying overlaps with the device's work. */
static tvlm_status apply(update *u, tvlm_buffer *buffer) {
    const tvlm_delta_plan *plan = u->plan;
    const uint64_t *changes = &u->stack->originals[plan->index].changes[TVLM_GRID_SOURCE];
    TVLM_TRY(upload(u, &buffer));
    u->report->bytes_uploaded = plan->bytes;
    if (plan->whole) {
        TVLM_TRY(update_whole(u, buffer, &plan->layout));
        if (!plan->keep) return TVLM_OK;
        return tvlm_delta_keep(&u->stack->device->log, &u->stack->delta->frames[plan->index], *changes,
                               &plan->from);
    }
    /* Differences below the threshold may remain between this frame and the source, so that the source no
     * longer counts as what the host keeps. */
    if (plan->there) ++u->stack->originals[plan->index].changes[TVLM_GRID_SOURCE];
    TVLM_TRY(update_parts(u, buffer, &plan->layout, !plan->there));
    if (!plan->keep) return TVLM_OK;
    tvlm_delta_take(&u->stack->delta->frames[plan->index], *changes, &plan->from, u->tiles, plan->packed);
    return TVLM_OK;
}

static update begin(tvlm_stack *stack, tvlm_delta_plan *plan, tvlm_delta_report *report) {
    *report = (tvlm_delta_report){.tiles = plan->tile_count, .changed = plan->tiles.count};
    return (update){stack, tvlm_stack_chunk(stack, plan->index), plan, &plan->tiles, report};
}

static void set_original(tvlm_stack *stack, int32_t index, int32_t width, int32_t height) {
    stack->originals[index].width = width;
    stack->originals[index].height = height;
}

tvlm_status tvlm_delta_apply(tvlm_stack *stack, tvlm_delta_plan *plan, tvlm_buffer *buffer,
                             tvlm_delta_report *report) {
    tvlm_delta_report unread;
    update u = begin(stack, plan, report != NULL ? report : &unread);
    const tvlm_status status = apply(&u, buffer);
    if (status == TVLM_OK) set_original(stack, plan->index, plan->width, plan->height);
    tvlm_delta_plan_drop(plan);
    return status;
}

/* ---- texturevlm/stack.h ---- */

tvlm_status tvlm_stack_update_image(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                    const struct tvlm_update_params *params, tvlm_delta_report *report) {
    tvlm_delta *delta;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    const bool first = stack->delta == NULL;
    TVLM_TRY(tvlm_delta_prepare(stack, &delta));
    const tvlm_status status = tvlm_delta_plan_make(stack, index, image, params, true, &delta->plan);
    if (status != TVLM_OK && first) tvlm_stack_delta_release(stack); /* a refused call leaves nothing */
    if (status != TVLM_OK) return status;
    return tvlm_delta_apply(stack, &delta->plan, NULL, report);
}
