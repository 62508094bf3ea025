/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delta_plan.c: plans which parts of a frame are uploaded (stack/delta.h). Nothing here changes the stack or
 * the kept frame, so that a plan that is never applied leaves no trace.
 */
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "stack/delta.h"
#include "stack/inside.h"
#include "stack/resample.h"
#include "stack/upload.h"

#define TILE_MAX 4096
/* If more than this share of the tiles changed, making parts is as much work as making the whole image, and
 * takes more launches. */
#define PARTS_SHARE 0.6f

tvlm_status tvlm_delta_check_params(const tvlm_log *log, const struct tvlm_update_params *params) {
    TVLM_CHECK_RESERVED(log, tvlm_update_params, params);
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

/* ---- Memory ---- */

void tvlm_delta_plan_drop(tvlm_delta_plan *plan) {
    free(plan->resampled);
    plan->resampled = NULL;
    plan->bytes = 0;
    plan->planned = plan->there = false;
}

void tvlm_delta_plan_release(tvlm_delta_plan *plan) {
    tvlm_delta_plan_drop(plan);
    free(plan->changed);
    free(plan->packed);
    *plan = (tvlm_delta_plan){0};
}

static tvlm_status reserve_changed(const tvlm_log *log, tvlm_delta_plan *plan, size_t count) {
    if (plan->changed_room < count) {
        free(plan->changed);
        plan->changed_room = 0;
        plan->changed = tvlm_allocate(count, 1);
        if (plan->changed == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for %zu tiles", count);
        plan->changed_room = count;
    }
    memset(plan->changed, 0, count);
    return TVLM_OK;
}

static tvlm_status reserve_packed(const tvlm_log *log, tvlm_delta_plan *plan, size_t bytes) {
    if (plan->packed_room >= bytes) return TVLM_OK;
    free(plan->packed);
    plan->packed_room = 0;
    plan->packed = tvlm_allocate(bytes, 1);
    if (plan->packed == NULL)
        return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for the pixels on their way");
    plan->packed_room = bytes;
    return TVLM_OK;
}

/* ---- Making a plan ---- */

/* Returns the side of tiles. Tiles are uploaded as squares, so that a tile much larger than the image's
 * shorter side would be mostly empty. */
static int32_t tile_side(const tvlm_stack *stack, int32_t asked) {
    const int32_t side = asked > 0 ? asked : TVLM_TILE_DEFAULT,
                  shorter = stack->width < stack->height ? stack->width : stack->height,
                  most = (shorter + TVLM_TILE_STEP - 1) / TVLM_TILE_STEP * TVLM_TILE_STEP;
    return side < most ? side : most;
}

tvlm_status tvlm_delta_plan_begin(tvlm_stack *stack, int32_t index, const struct tvlm_update_params *params,
                                  tvlm_delta_plan *plan) {
    static const struct tvlm_update_params defaults = {0};
    const tvlm_log *log = &stack->device->log;
    tvlm_delta_plan_drop(plan);
    plan->params = params != NULL ? *params : defaults;
    TVLM_TRY(tvlm_delta_check_params(log, &plan->params));
    const int32_t side = tile_side(stack, plan->params.tile);
    tvlm_tiles *tiles = &plan->tiles;
    *tiles = (tvlm_tiles){.width = stack->width,
                          .height = stack->height,
                          .side = side,
                          .columns = (stack->width - 1) / side + 1,
                          .rows = (stack->height - 1) / side + 1,
                          .image = index - tvlm_stack_chunk(stack, index)->first,
                          .serial = ++stack->device->tiles_made};
    plan->index = index;
    plan->tile_count = tiles->columns * tiles->rows;
    TVLM_TRY(reserve_changed(log, plan, (size_t)plan->tile_count));
    tiles->changed = plan->changed;
    return TVLM_OK;
}

/* Finds the pixels of the image in the stack's size, resampled if need be. */
static tvlm_status find_pixels(const tvlm_stack *stack, const tvlm_image *image, size_t row,
                               tvlm_delta_plan *plan) {
    tvlm_delta_pixels *from = &plan->from;
    *from = (tvlm_delta_pixels){image->pixels,
                                row,
                                image->row_stride != 0 ? image->row_stride : row,
                                row / (size_t)image->width,
                                stack->width,
                                stack->height,
                                image->channels,
                                image->type};
    tvlm_stack_image_size(image, &plan->width, &plan->height);
    if (image->width == stack->width && image->height == stack->height) return TVLM_OK;
    if (tvlm_resample(image, stack->width, stack->height, &plan->resampled, &from->channels) != TVLM_OK)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory to resample %dx%d to %dx%d",
                         (int)image->width, (int)image->height, (int)stack->width, (int)stack->height);
    from->pixels = (const unsigned char *)plan->resampled;
    from->type = TVLM_PIXEL_F32;
    from->pixel_bytes = (size_t)from->channels * sizeof(float);
    from->row = from->row_stride = (size_t)stack->width * from->pixel_bytes;
    return TVLM_OK;
}

/* Returns whether it is enough to make parts of the image. It is if at most PARTS_SHARE of the tiles changed,
 * and always if the chunk holds other images, too. */
static bool parts_are_enough(tvlm_stack *stack, const tvlm_delta_plan *plan) {
    return tvlm_stack_chunk(stack, plan->index)->images > 1 ||
           (float)plan->tiles.count <= PARTS_SHARE * (float)plan->tile_count;
}

/* Finds which tiles changed, and returns whether it is enough to make parts of the image. */
static bool compare(tvlm_stack *stack, tvlm_delta_plan *plan) {
    const tvlm_delta_frame *frame = &stack->delta->frames[plan->index];
    plan->of = stack->originals[plan->index].changes[TVLM_GRID_SOURCE];
    if (tvlm_delta_is_whole(plan) || !tvlm_delta_fits(frame, plan->of, &plan->from)) return false;
    tvlm_delta_compare(frame, &plan->from, plan->params.threshold, &plan->tiles, plan->changed,
                       &plan->tiles.count);
    return parts_are_enough(stack, plan);
}

/* Prepares all rows, without gaps, so that kernels find every element aligned. */
static tvlm_status upload_whole(const tvlm_log *log, tvlm_delta_plan *plan) {
    const tvlm_delta_pixels *from = &plan->from;
    plan->bytes = from->row * (size_t)from->height; /* the image's check showed that it fits */
    plan->layout = (tvlm_pixels){from->width, from->height, from->channels, from->type, 0, from->row};
    plan->upload = from->pixels;
    if (from->row_stride == from->row) return TVLM_OK;
    TVLM_TRY(reserve_packed(log, plan, plan->bytes));
    for (size_t y = 0; y < (size_t)from->height; ++y)
        memcpy(plan->packed + y * from->row, from->pixels + y * from->row_stride, from->row);
    plan->upload = plan->packed;
    return TVLM_OK;
}

static tvlm_status upload_tiles(const tvlm_log *log, tvlm_delta_plan *plan) {
    const tvlm_delta_pixels *from = &plan->from;
    const size_t row = (size_t)plan->tiles.side * from->pixel_bytes;
    plan->bytes = (size_t)plan->tiles.count * (size_t)plan->tiles.side * row;
    plan->layout = (tvlm_pixels){from->width, from->height, from->channels, from->type, 0, row};
    TVLM_TRY(reserve_packed(log, plan, plan->bytes));
    tvlm_delta_pack(from, &plan->tiles, plan->packed);
    plan->upload = plan->packed;
    return TVLM_OK;
}

static tvlm_status make(tvlm_stack *stack, const tvlm_image *image, size_t row, tvlm_delta_plan *plan) {
    const tvlm_log *log = &stack->device->log;
    TVLM_TRY(find_pixels(stack, image, row, plan));
    plan->whole = !plan->keep || !compare(stack, plan);
    if (plan->whole && plan->tiles.count == 0) plan->tiles.count = plan->tile_count;
    TVLM_TRY(plan->whole ? upload_whole(log, plan) : upload_tiles(log, plan));
    plan->planned = true;
    return TVLM_OK;
}

tvlm_status tvlm_delta_plan_make(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                 const struct tvlm_update_params *params, bool keep, tvlm_delta_plan *plan) {
    tvlm_delta *delta;
    size_t row;
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    TVLM_TRY(tvlm_stack_check_image(&stack->device->log, image, &row));
    TVLM_TRY(tvlm_delta_plan_begin(stack, index, params, plan));
    if (keep) TVLM_TRY(tvlm_delta_prepare(stack, &delta));
    plan->keep = keep;
    const tvlm_status status = make(stack, image, row, plan);
    if (status != TVLM_OK) tvlm_delta_plan_drop(plan);
    return status;
}

/* Finds which tiles of pixels that are on the device differ from the source. */
static tvlm_status compare_there(tvlm_stack *stack, tvlm_buffer *buffer, const tvlm_pixels *pixels,
                                 tvlm_delta_plan *plan) {
    const tvlm_device *device = stack->device;
    int32_t *flags = tvlm_allocate((size_t)plan->tile_count, sizeof *flags);
    if (flags == NULL) return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for tiles");
    const tvlm_status status =
        device->backend->source_changed(stack->device, buffer, pixels, plan->tiles.image,
                                        tvlm_stack_chunk(stack, plan->index)->grids[TVLM_GRID_SOURCE],
                                        plan->tiles.side, plan->params.threshold, flags);
    for (int32_t i = 0; status == TVLM_OK && i < plan->tile_count; ++i) {
        plan->changed[i] = flags[i] != 0;
        plan->tiles.count += flags[i] != 0;
    }
    free(flags);
    return status;
}

tvlm_status tvlm_delta_plan_there(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer,
                                  const tvlm_pixels *pixels, int32_t width, int32_t height,
                                  const struct tvlm_update_params *params, tvlm_delta_plan *plan) {
    tvlm_delta *delta; /* not read here: it must exist to count the families that are carried over */
    TVLM_TRY(tvlm_delta_prepare(stack, &delta));
    TVLM_TRY(tvlm_delta_plan_begin(stack, index, params, plan));
    plan->there = true;
    plan->keep = false;
    plan->layout = *pixels;
    plan->width = width;
    plan->height = height;
    plan->whole = tvlm_delta_is_whole(plan) || !stack->originals[index].set;
    if (plan->whole) {
        plan->tiles.count = plan->tile_count;
    } else {
        TVLM_TRY(compare_there(stack, buffer, pixels, plan));
        plan->whole = !parts_are_enough(stack, plan);
    }
    plan->planned = true;
    return TVLM_OK;
}

bool tvlm_delta_plan_stands(const tvlm_stack *stack, const tvlm_delta_plan *plan, bool full) {
    if (!plan->planned || plan->params.full != full) return false;
    return full || plan->of == stack->originals[plan->index].changes[TVLM_GRID_SOURCE];
}
