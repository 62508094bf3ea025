/*
 * delta.c: the next frame into a stack, of which only what changed is made again: texturevlm/delta.h.
 */
#include "stack/delta.h"

#include <string.h>

#include "core/memory.h"

#define TILE_MAX 4096
/* Beyond this share parts are as much work as the whole, and launches more. */
#define PARTS_SHARE 0.6f

/* Made again in parts. The two last ones if they were made with what lies between their stages kept. */
static const tvlm_grid_mask in_parts = TVLM_GRID_BIT(TVLM_GRID_VISUAL) | TVLM_GRID_BIT(TVLM_GRID_LAPLACIAN) |
                                       TVLM_GRID_BIT(TVLM_GRID_ENTROPY) | TVLM_GRID_BIT(TVLM_GRID_GRADIENT) |
                                       TVLM_GRID_BIT(TVLM_GRID_MOTION) | TVLM_GRID_BIT(TVLM_GRID_DISTANCE) |
                                       TVLM_GRID_BIT(TVLM_GRID_TEXT);
static const tvlm_grid_mask in_stages = TVLM_GRID_BIT(TVLM_GRID_DISTANCE) | TVLM_GRID_BIT(TVLM_GRID_TEXT);
static const tvlm_grid carried_grids[2] = {TVLM_GRID_SALIENCY, TVLM_GRID_CLUSTER};

/* One call. */
typedef struct update {
    tvlm_stack *stack;
    tvlm_chunk *chunk;
    int32_t index;
    const struct tvlm_update_params *params;
    tvlm_delta_report *report;
    tvlm_tiles tiles;
} update;

/* ---- What is kept ---- */

static tvlm_status prepare_delta(tvlm_stack *stack, tvlm_delta **delta) {
    if (stack->delta == NULL) {
        tvlm_delta *made = tvlm_allocate(1, sizeof *made);
        if (made != NULL) made->frames = tvlm_allocate((size_t)stack->images, sizeof *made->frames);
        if (made == NULL || made->frames == NULL) {
            free(made);
            return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory to keep frames");
        }
        stack->delta = made;
    }
    *delta = stack->delta;
    return TVLM_OK;
}

void tvlm_stack_delta_release(tvlm_stack *stack) {
    tvlm_delta *delta = stack->delta;
    if (delta == NULL) return;
    for (int32_t i = 0; i < stack->images; ++i) free(delta->frames[i].pixels);
    free(delta->frames);
    free(delta->changed);
    free(delta->upload);
    free(delta);
    stack->delta = NULL;
}

void tvlm_stack_delta_forget(tvlm_stack *stack, int32_t index) {
    if (stack->delta != NULL) stack->delta->frames[index].valid = false;
}

void tvlm_stack_delta_made(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid grid, bool kept) {
    chunk->kept &= ~TVLM_GRID_BIT(grid);
    if (kept) chunk->kept |= TVLM_GRID_BIT(grid);
    if (stack->delta == NULL) return;
    for (int i = 0; i < 2; ++i)
        for (int32_t image = 0; grid == carried_grids[i] && image < chunk->images; ++image) {
            stack->delta->frames[chunk->first + image].share[i] = 0.0f;
            stack->delta->frames[chunk->first + image].frames[i] = 0;
        }
}

/* ---- Tiles ---- */

static tvlm_status make_tiles(update *u) {
    tvlm_stack *stack = u->stack;
    tvlm_delta *delta = stack->delta;
    const int32_t side = u->params->tile > 0 ? u->params->tile : TVLM_TILE_DEFAULT;
    u->tiles = (tvlm_tiles){.width = stack->width,
                            .height = stack->height,
                            .side = side,
                            .columns = (stack->width - 1) / side + 1,
                            .rows = (stack->height - 1) / side + 1,
                            .image = u->index - u->chunk->first,
                            .serial = ++stack->device->tiles_made};
    const size_t count = (size_t)u->tiles.columns * (size_t)u->tiles.rows;
    if (delta->changed_count < count) {
        free(delta->changed);
        delta->changed_count = 0;
        delta->changed = tvlm_allocate(count, 1);
        if (delta->changed == NULL)
            return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for %zu tiles", count);
        delta->changed_count = count;
    }
    u->tiles.changed = delta->changed;
    u->report->tiles = (int32_t)count;
    return TVLM_OK;
}

/* ---- Families ---- */

static void tell(const update *u, tvlm_grid grid, tvlm_update how, int64_t texels) {
    tvlm_delta_report *report = u->report;
    const tvlm_texture *texture = u->chunk->grids[grid];
    if (report->family_count == TVLM_DELTA_FAMILIES || texture == NULL) return;
    const int64_t all = (int64_t)texture->width * texture->height;
    if (how == TVLM_UPDATE_WHOLE) texels = all;
    report->families[report->family_count++] =
        (tvlm_delta_family){tvlm_grid_get_info(grid)->name, how, how <= TVLM_UPDATE_WHOLE ? texels : 0, all};
}

/* Level 0 and those above of one grid, around the tiles. */
static tvlm_status make_parts(update *u, tvlm_grid grid) {
    tvlm_stack *stack = u->stack;
    const tvlm_backend *backend = stack->device->backend;
    tvlm_texture *texture = u->chunk->grids[grid];
    int64_t texels = 0;
    u->tiles.reach = tvlm_grid_reach(grid, stack->width, stack->height);
    tvlm_generate_args args = tvlm_stack_generate_args(stack, u->chunk, texture);
    u->tiles.texels = &texels;
    args.tiles = &u->tiles;
    TVLM_TRY(backend->generate[grid](stack->device, &args));
    u->tiles.texels = NULL;
    if (texture->levels > 1) TVLM_TRY(backend->mips_tiles(stack->device, texture, &u->tiles));
    u->chunk->valid |= TVLM_GRID_BIT(grid);
    tell(u, grid, TVLM_UPDATE_PARTS, texels);
    return TVLM_OK;
}

static bool can_be_carried(const update *u, tvlm_grid grid) {
    tvlm_delta_frame *frame = &u->stack->delta->frames[u->index];
    const float limits[2] = {u->params->saliency_share, u->params->cluster_share};
    const int32_t most = u->params->carried_frames > 0 ? u->params->carried_frames : TVLM_CARRIED_FRAMES;
    for (int i = 0; i < 2; ++i) {
        if (grid != carried_grids[i]) continue;
        frame->share[i] += (float)u->tiles.count / (float)u->report->tiles;
        ++frame->frames[i];
        return frame->share[i] <= limits[i] && frame->frames[i] <= most;
    }
    return false;
}

static bool has_needs(const tvlm_chunk *chunk, tvlm_grid grid) {
    return (tvlm_grid_get_info(grid)->needs & ~chunk->valid) == 0;
}

/* The source's tiles are written; what was valid and hangs on it follows, in the registry's order. */
static tvlm_status make_families(update *u) {
    const tvlm_backend *backend = u->stack->device->backend;
    tvlm_chunk *chunk = u->chunk;
    const tvlm_grid_mask valid = chunk->valid;
    tvlm_stack_outdate(chunk, TVLM_GRID_BIT(TVLM_GRID_SOURCE));
    const tvlm_grid_mask stale = valid & ~chunk->valid;
    if (stale & TVLM_GRID_BIT(TVLM_GRID_SOURCE)) {
        tvlm_texture *source = chunk->grids[TVLM_GRID_SOURCE];
        u->tiles.reach = 0;
        if (source->levels > 1) TVLM_TRY(backend->mips_tiles(u->stack->device, source, &u->tiles));
        chunk->valid |= TVLM_GRID_BIT(TVLM_GRID_SOURCE);
    }
    for (int i = TVLM_GRID_SOURCE + 1; i < TVLM_GRID_COUNT; ++i) {
        const tvlm_grid grid = (tvlm_grid)i;
        const tvlm_grid_mask bit = TVLM_GRID_BIT(grid);
        if ((stale & bit) == 0) continue;
        if ((in_parts & bit) != 0 && has_needs(chunk, grid) && ((in_stages & ~chunk->kept) & bit) == 0) {
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

/* ---- A frame of which parts changed ---- */

/* `pixels` are on the device. Whatever fails, what is valid is right. */
static tvlm_status update_parts(update *u, tvlm_buffer *buffer, const tvlm_pixels *pixels, bool packed) {
    tvlm_stack *stack = u->stack;
    tvlm_stack_drop_query(stack);
    if (u->tiles.count > 0) {
        tvlm_status status = stack->device->backend->source_tiles(
            stack->device, buffer, pixels, packed, &u->tiles, u->chunk->grids[TVLM_GRID_SOURCE]);
        tell(u, TVLM_GRID_SOURCE, TVLM_UPDATE_PARTS, tile_texels(&u->tiles));
        if (status == TVLM_OK) status = make_families(u);
        if (status != TVLM_OK) {
            tvlm_stack_outdate(u->chunk, TVLM_GRID_BIT(TVLM_GRID_SOURCE));
            tvlm_stack_delta_forget(stack, u->index);
            return status;
        }
    }
    tvlm_stack_new_frame(stack, u->index);
    return TVLM_OK;
}

static tvlm_status reserve_upload(tvlm_stack *stack, size_t bytes) {
    tvlm_delta *delta = stack->delta;
    if (delta->upload_bytes >= bytes) return TVLM_OK;
    free(delta->upload);
    delta->upload_bytes = 0;
    delta->upload = tvlm_allocate(bytes, 1);
    if (delta->upload == NULL)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for the tiles that changed");
    delta->upload_bytes = bytes;
    return TVLM_OK;
}

static tvlm_status send_tiles(update *u, const tvlm_delta_pixels *from) {
    tvlm_stack *stack = u->stack;
    const size_t row = (size_t)u->tiles.side * from->pixel_bytes;
    const size_t bytes = (size_t)u->tiles.count * (size_t)u->tiles.side * row;
    const tvlm_pixels pixels = {from->width, from->height, from->channels, from->type, 0, row};
    tvlm_buffer *buffer = NULL;
    TVLM_TRY(reserve_upload(stack, bytes));
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_PIXELS, bytes, &buffer));
    tvlm_delta_take(&stack->delta->frames[u->index], from, &u->tiles, stack->delta->upload);
    const tvlm_status status =
        stack->device->backend->buffer_write(stack->device, buffer, 0, bytes, stack->delta->upload);
    if (status != TVLM_OK) {
        tvlm_stack_delta_forget(stack, u->index); /* it has tiles that the source has not */
        return status;
    }
    u->report->bytes_uploaded = bytes;
    return update_parts(u, buffer, &pixels, true);
}

/* ---- A frame taken whole ---- */

static void tell_whole(update *u, size_t bytes) {
    const tvlm_grid_mask stale =
        u->chunk->valid & tvlm_grids_with_dependents(TVLM_GRID_BIT(TVLM_GRID_SOURCE));
    u->report->whole = true;
    u->report->changed = u->report->tiles;
    u->report->bytes_uploaded = bytes;
    tell(u, TVLM_GRID_SOURCE, TVLM_UPDATE_WHOLE, 0);
    for (int grid = TVLM_GRID_SOURCE + 1; grid < TVLM_GRID_COUNT; ++grid)
        if (stale & TVLM_GRID_BIT(grid)) tell(u, (tvlm_grid)grid, TVLM_UPDATE_LATER, 0);
}

static tvlm_status take_whole(update *u, const tvlm_delta_pixels *from) {
    const tvlm_image image = {from->pixels,   from->width, from->height,
                              from->channels, from->type,  from->row_stride};
    tvlm_texture *source;
    TVLM_TRY(tvlm_stack_grid_texture(u->stack, u->chunk, TVLM_GRID_SOURCE, &source));
    tell_whole(u, from->row * (size_t)from->height);
    TVLM_TRY(tvlm_stack_set_image(u->stack, u->index, &image));
    return tvlm_delta_keep(&u->stack->device->log, &u->stack->delta->frames[u->index], from);
}

static tvlm_status take(update *u, const tvlm_delta_pixels *from) {
    tvlm_delta *delta = u->stack->delta;
    tvlm_delta_frame *frame = &delta->frames[u->index];
    TVLM_TRY(make_tiles(u));
    if (u->params->full || !tvlm_delta_fits(frame, from)) return take_whole(u, from);
    tvlm_delta_compare(frame, from, u->params->threshold, &u->tiles, delta->changed, &u->tiles.count);
    u->report->changed = u->tiles.count;
    if (u->chunk->images == 1 && (float)u->tiles.count > PARTS_SHARE * (float)u->report->tiles) {
        const int32_t changed = u->tiles.count;
        const tvlm_status status = take_whole(u, from);
        u->report->changed = changed;
        return status;
    }
    return send_tiles(u, from);
}

/* ---- delta.h ---- */

static tvlm_status check_params(const tvlm_log *log, const struct tvlm_update_params *params) {
    if (params->tile < 0 || params->tile > TILE_MAX || params->tile % TVLM_TILE_STEP != 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "tiles of %d pixels; multiples of %d up to %d are possible", (int)params->tile,
                         TVLM_TILE_STEP, TILE_MAX);
    if (!(params->threshold >= 0.0f && params->threshold <= 1.0f))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a threshold of %g; it is 0 to 1",
                         (double)params->threshold);
    if (!(params->saliency_share >= 0.0f && params->cluster_share >= 0.0f))
        return tvlm_fail(
            log, TVLM_ERROR_ARGUMENT, "a share of %g; it is not below 0",
            (double)(params->saliency_share >= 0.0f ? params->cluster_share : params->saliency_share));
    if (params->carried_frames < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "carried over for %d frames", (int)params->carried_frames);
    return TVLM_OK;
}

/* The image in the stack's size; *resampled is to be freed. */
static tvlm_status pixels_of(const tvlm_stack *stack, const tvlm_image *image, size_t row,
                             tvlm_delta_pixels *pixels, float **resampled) {
    *pixels = (tvlm_delta_pixels){image->pixels,
                                  row,
                                  image->row_stride != 0 ? image->row_stride : row,
                                  row / (size_t)image->width,
                                  stack->width,
                                  stack->height,
                                  image->channels,
                                  image->type};
    if (image->width == stack->width && image->height == stack->height) return TVLM_OK;
    if (tvlm_resample(image, stack->width, stack->height, resampled, &pixels->channels) != TVLM_OK)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory to resample %dx%d to %dx%d",
                         (int)image->width, (int)image->height, (int)stack->width, (int)stack->height);
    pixels->pixels = (const unsigned char *)*resampled;
    pixels->type = TVLM_PIXEL_F32;
    pixels->pixel_bytes = (size_t)pixels->channels * sizeof(float);
    pixels->row = pixels->row_stride = (size_t)stack->width * pixels->pixel_bytes;
    return TVLM_OK;
}

tvlm_status tvlm_stack_update_image(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                    const struct tvlm_update_params *params, tvlm_delta_report *report) {
    static const struct tvlm_update_params defaults = {0};
    tvlm_delta_report unread;
    tvlm_delta_pixels pixels;
    tvlm_delta *delta;
    float *resampled = NULL;
    size_t row;
    if (stack == NULL) return TVLM_ERROR_ARGUMENT;
    if (params == NULL) params = &defaults;
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    TVLM_TRY(tvlm_stack_check_image(&stack->device->log, image, &row));
    TVLM_TRY(check_params(&stack->device->log, params));
    TVLM_TRY(prepare_delta(stack, &delta));
    update u = {.stack = stack,
                .chunk = tvlm_stack_chunk(stack, index),
                .index = index,
                .params = params,
                .report = report != NULL ? report : &unread};
    *u.report = (tvlm_delta_report){0};
    TVLM_TRY(pixels_of(stack, image, row, &pixels, &resampled));
    const tvlm_status status = take(&u, &pixels);
    free(resampled);
    TVLM_TRY(status);
    stack->originals[index].width = image->width;
    stack->originals[index].height = image->height;
    return TVLM_OK;
}

/* Of opencl.h: the pixels are on the device, and so is what they are compared with: the source. */
tvlm_status tvlm_stack_update_from_buffer(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer,
                                          const tvlm_pixels *pixels, const struct tvlm_update_params *params,
                                          tvlm_delta_report *report) {
    static const struct tvlm_update_params defaults = {0};
    tvlm_delta_report unread;
    tvlm_delta *delta;
    if (params == NULL) params = &defaults;
    TVLM_TRY(check_params(&stack->device->log, params));
    TVLM_TRY(prepare_delta(stack, &delta));
    update u = {.stack = stack,
                .chunk = tvlm_stack_chunk(stack, index),
                .index = index,
                .params = params,
                .report = report != NULL ? report : &unread};
    *u.report = (tvlm_delta_report){0};
    TVLM_TRY(make_tiles(&u));
    if (params->full || !stack->originals[index].set) {
        tvlm_texture *source;
        TVLM_TRY(tvlm_stack_grid_texture(stack, u.chunk, TVLM_GRID_SOURCE, &source));
        tell_whole(&u, 0);
        return tvlm_stack_source_from_buffer(stack, index, buffer, pixels);
    }
    int32_t *flags = tvlm_allocate((size_t)u.report->tiles, sizeof *flags);
    if (flags == NULL) return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for tiles");
    const tvlm_status status = stack->device->backend->source_changed(
        stack->device, buffer, pixels, u.tiles.image, u.chunk->grids[TVLM_GRID_SOURCE], u.tiles.side,
        params->threshold, flags);
    for (int32_t i = 0; status == TVLM_OK && i < u.report->tiles; ++i) {
        delta->changed[i] = flags[i] != 0;
        u.tiles.count += flags[i] != 0;
    }
    free(flags);
    TVLM_TRY(status);
    u.report->changed = u.tiles.count;
    tvlm_stack_delta_forget(stack, index);
    stack->originals[index].width = stack->width;
    stack->originals[index].height = stack->height;
    return update_parts(&u, buffer, pixels, false);
}
