/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporal.c: what is kept of a frame, and how much of that the next frame takes over. The public functions
 * are those of texturevlm/stream.h.
 *
 * What is remembered is in textures of the chunk (chunk->previous), which are written only when a frame ends.
 * The grids MOTION and TEMPORAL are made from them as often as they are asked for. The fixation, which
 * outlives many frames, goes to and fro between TEMPORAL and one of these textures, so that no kernel reads
 * what it writes.
 */
#include "texturevlm/stream.h"

#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/frame.h"
#include "stack/given.h"
#include "stack/grids.h"
#include "stack/inside.h"
#include "stack/make.h"
#include "stack/temporal.h"

#define SIGMA_MIN 0.1f
#define SIGMA_MAX 1e6f

/* ---- Making and clearing what is remembered ---- */

/* Clears what is remembered of one image. A luma of -1 means that there was no frame. */
static tvlm_status clear_slice(const tvlm_stack *stack, tvlm_chunk *chunk, tvlm_previous which,
                               int32_t slice) {
    tvlm_texture *texture = chunk->previous[which];
    const size_t count = (size_t)texture->width * (size_t)texture->height;
    float *texels = tvlm_allocate(count, 4 * sizeof *texels);
    if (texels == NULL)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory to clear a frame");
    for (size_t i = 0; which == TVLM_PREVIOUS_LUMA && i < count; ++i) texels[4 * i] = -1.0f;
    const tvlm_status status = stack->device->backend->texture_write(stack->device, texture, slice, texels);
    free(texels);
    return status;
}

/* Creates the texture if there is none. A new texture says that there was no frame. */
static tvlm_status previous_texture(const tvlm_stack *stack, tvlm_chunk *chunk, tvlm_previous which) {
    tvlm_texture **held = &chunk->previous[which];
    if (*held != NULL) return TVLM_OK;
    tvlm_texture shape = tvlm_stack_grid_shape(stack, tvlm_grid_of_previous(which), chunk->images);
    shape.levels = 1;
    tvlm_status status = stack->device->backend->texture_create(stack->device, &shape, held);
    for (int32_t i = 0; status == TVLM_OK && i < chunk->images; ++i)
        status = clear_slice(stack, chunk, which, i);
    if (status != TVLM_OK) stack->device->backend->texture_destroy(stack->device, held);
    return status;
}

/* Marks the grids as out of date that were made from the last frame. */
static void drop_made(const tvlm_stack *stack, tvlm_chunk *chunk) {
    for (int i = 0; i < TVLM_PREVIOUS_COUNT; ++i)
        tvlm_stack_outdate(stack, chunk, TVLM_GRID_BIT(tvlm_grid_of_previous((tvlm_previous)i)));
}

/* ---- Relevance and positions ---- */

/* Makes a texture for a map of that shape, unless the last map's texture fits. It has more than one level
 * only if its cells are narrower than the cells at which it is read. */
static tvlm_status relevance_texture(tvlm_stack *stack, int32_t columns, int32_t rows, float extent_x,
                                     float extent_y) {
    const float step = fmaxf(extent_x / (float)columns, extent_y / (float)rows);
    const tvlm_texture shape = {.width = columns,
                                .height = rows,
                                .layers = 1,
                                .images = 1,
                                .levels =
                                    step >= exp2f(TVLM_TEMPORAL_LEVEL) ? 1 : tvlm_level_count(columns, rows),
                                .format = stack->format,
                                .extent_x = extent_x,
                                .extent_y = extent_y};
    tvlm_texture **held = &stack->relevance;
    if (*held != NULL && (*held)->width == columns && (*held)->height == rows &&
        (*held)->extent_x == extent_x && (*held)->extent_y == extent_y)
        return TVLM_OK;
    stack->device->backend->texture_destroy(stack->device, held);
    return stack->device->backend->texture_create(stack->device, &shape, held);
}

static tvlm_status upload_relevance(tvlm_stack *stack, const struct tvlm_advance_params *params,
                                    tvlm_buffer **buffer) {
    const size_t bytes = (size_t)params->columns * (size_t)params->rows * sizeof *params->relevance;
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_SAMPLES, bytes, buffer));
    TVLM_TRY(
        relevance_texture(stack, params->columns, params->rows, (float)stack->width, (float)stack->height));
    return stack->device->backend->buffer_write(stack->device, *buffer, 0, bytes, params->relevance);
}

/* Returns whether there is one score for each cell of the state, so that nothing need be resampled. */
static bool are_of_cells(const tvlm_candidates *c, const tvlm_texture *state) {
    return c->columns == state->width && c->rows == state->height && c->step_x == (float)TVLM_CELL &&
           c->step_y == (float)TVLM_CELL;
}

/* Finds what was relevant in this frame. Fills in either args->scores, if the scores can be read as they are,
 * or args->relevance with its levels; neither, if nothing is known. */
static tvlm_status find_relevance(tvlm_stack *stack, int32_t index, const struct tvlm_advance_params *params,
                                  tvlm_remember_args *args) {
    const tvlm_backend *backend = stack->device->backend;
    const tvlm_frame *frame = &stack->frames[index];
    const tvlm_candidates *c = &frame->candidates;
    tvlm_buffer *scores = frame->scores;
    if (params->relevance == NULL && frame->scored && are_of_cells(c, args->state)) {
        args->scores = scores;
        return TVLM_OK;
    }
    if (params->relevance != NULL)
        TVLM_TRY(upload_relevance(stack, params, &scores));
    else if (frame->scored)
        TVLM_TRY(relevance_texture(stack, c->columns, c->rows, (float)c->columns * c->step_x,
                                   (float)c->rows * c->step_y));
    else
        return TVLM_OK;
    TVLM_TRY(backend->relevance(stack->device, scores, stack->relevance));
    if (stack->relevance->levels > 1) TVLM_TRY(backend->mips(stack->device, &stack->relevance, 1));
    args->relevance = stack->relevance;
    return TVLM_OK;
}

/* Keeps the positions that the application handed in, in place of those that were selected. */
static tvlm_status take_positions(tvlm_stack *stack, int32_t index,
                                  const struct tvlm_advance_params *params) {
    const tvlm_stack_image *original = &stack->originals[index];
    const double scale_x = (double)stack->width / original->width,
                 scale_y = (double)stack->height / original->height;
    float *kept;
    TVLM_TRY(tvlm_stack_keep_positions(stack, index, params->position_count, &kept));
    for (int32_t i = 0; i < params->position_count; ++i) {
        kept[2 * i] = (float)(params->positions[2 * i] * scale_x);
        kept[2 * i + 1] = (float)(params->positions[2 * i + 1] * scale_y);
    }
    return TVLM_OK;
}

static tvlm_status upload_positions(tvlm_stack *stack, int32_t index, tvlm_remember_args *args) {
    const tvlm_frame *frame = &stack->frames[index];
    const size_t bytes = (size_t)frame->position_count * 2 * sizeof *frame->positions;
    args->count = frame->position_count;
    args->positions = frame->positions_there ? frame->looked : frame->copied;
    args->positions_at = frame->positions_there ? 0 : frame->copied_at;
    if (args->positions != NULL && bytes > 0) return TVLM_OK;
    args->positions_at = 0;
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_POINTS, bytes, &args->positions));
    if (bytes == 0) return TVLM_OK;
    return stack->device->backend->buffer_write(stack->device, args->positions, 0, bytes, frame->positions);
}

/* ---- Remembering ---- */

static tvlm_status find_luma(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_remember_args *args) {
    TVLM_TRY(tvlm_stack_ensure(stack, chunk, TVLM_GRID_BIT(TVLM_GRID_SOURCE)));
    TVLM_TRY(previous_texture(stack, chunk, TVLM_PREVIOUS_LUMA));
    args->source = chunk->grids[TVLM_GRID_SOURCE];
    args->luma = chunk->previous[TVLM_PREVIOUS_LUMA];
    return TVLM_OK;
}

static tvlm_status find_state(tvlm_stack *stack, int32_t index, const struct tvlm_advance_params *params,
                              tvlm_remember_args *args) {
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    const bool fixated = chunk->previous[TVLM_PREVIOUS_STATE] != NULL;
    tvlm_texture *saliency;
    int32_t layer, first;
    TVLM_TRY(
        tvlm_stack_texture(stack, index, TVLM_CHANNEL_SALIENCY, &saliency, &layer, &args->component, &first));
    if (fixated) TVLM_TRY(tvlm_stack_ensure_level_0(stack, chunk, TVLM_GRID_TEMPORAL));
    TVLM_TRY(previous_texture(stack, chunk, TVLM_PREVIOUS_STATE));
    args->state = chunk->previous[TVLM_PREVIOUS_STATE];
    TVLM_TRY(find_relevance(stack, index, params, args));
    if (params->positions != NULL) TVLM_TRY(take_positions(stack, index, params));
    TVLM_TRY(upload_positions(stack, index, args));
    args->saliency = saliency;
    args->temporal = fixated ? chunk->grids[TVLM_GRID_TEMPORAL] : NULL;
    return TVLM_OK;
}

/* Keeps what the next frame needs for the channels of the layout and for all that was ever asked for. The
 * backend writes all of it in one operation, so that nothing has changed if an earlier step fails. */
static tvlm_status remember(tvlm_stack *stack, int32_t index, const struct tvlm_advance_params *params) {
    const tvlm_grid_mask kept =
        stack->asked | tvlm_stack_grids_of(stack, stack->channels, stack->channel_count);
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    tvlm_remember_args args = {.image = index - chunk->first,
                               .decay = tvlm_or_default(params->decay, TVLM_DECAY_DEFAULT),
                               .sigma = params->sigma > 0.0f ? params->sigma : TVLM_SIGMA_DEFAULT};
    if (kept & TVLM_GRID_BIT(TVLM_GRID_TEMPORAL)) TVLM_TRY(find_state(stack, index, params, &args));
    if (kept & TVLM_GRID_BIT(TVLM_GRID_MOTION)) TVLM_TRY(find_luma(stack, chunk, &args));
    if (args.state == NULL && args.luma == NULL) return TVLM_OK;
    TVLM_TRY(stack->device->backend->remember(stack->device, &args));
    if (args.state != NULL) stack->originals[index].remembered[TVLM_PREVIOUS_STATE] = true;
    if (args.luma != NULL) stack->originals[index].remembered[TVLM_PREVIOUS_LUMA] = true;
    return TVLM_OK;
}

/* ---- temporal.h ---- */

static tvlm_status check_values(const tvlm_log *log, const char *what, const float *values, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (!isfinite(values[i]))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: value %zu is not finite", what, i);
    return TVLM_OK;
}

tvlm_status tvlm_stack_check_advance(const tvlm_log *log, const struct tvlm_advance_params *params) {
    TVLM_CHECK_RESERVED(log, tvlm_advance_params, params);
    if (params->relevance != NULL) {
        if (params->columns < 1 || params->rows < 1)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a relevance of %dx%d values", (int)params->columns,
                             (int)params->rows);
        TVLM_TRY(check_values(log, "relevance", params->relevance,
                              (size_t)params->columns * (size_t)params->rows));
    }
    if (params->relevance == NULL && (params->columns != 0 || params->rows != 0))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a relevance of %dx%d values, but none given",
                         (int)params->columns, (int)params->rows);
    if (params->position_count < 0 || (params->position_count > 0 && params->positions == NULL))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d positions, but none given",
                         (int)params->position_count);
    if (params->positions != NULL)
        TVLM_TRY(check_values(log, "positions", params->positions, 2 * (size_t)params->position_count));
    const float decay = tvlm_or_default(params->decay, TVLM_DECAY_DEFAULT);
    const float confidence = tvlm_or_default(params->confidence, TVLM_CONFIDENCE_DEFAULT);
    if (!(decay >= 0.0f && decay <= 1.0f))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a decay of %g; it is 0 to 1", (double)decay);
    if (params->sigma != 0.0f && !(params->sigma >= SIGMA_MIN && params->sigma <= SIGMA_MAX))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a sigma of %g pixels; %g to %g are possible",
                         (double)params->sigma, (double)SIGMA_MIN, (double)SIGMA_MAX);
    if (!(confidence >= 0.0f) || !isfinite(confidence))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a confidence of %g", (double)confidence);
    return TVLM_OK;
}

tvlm_status tvlm_stack_advance(tvlm_stack *stack, int32_t index, const struct tvlm_advance_params *params) {
    static const struct tvlm_advance_params defaults = {0};
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    if (params == NULL) params = &defaults;
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    TVLM_TRY(tvlm_stack_check_advance(&stack->device->log, params));
    TVLM_TRY(remember(stack, index, params));
    stack->carries[index].confidence = tvlm_or_default(params->confidence, TVLM_CONFIDENCE_DEFAULT);
    tvlm_stack_new_frame(stack, index);
    /* The flow led from the present frame to the one before it, and the present frame is over now. */
    (void)tvlm_stack_given_pause(stack, index, TVLM_GRID_FLOW);
    drop_made(stack, tvlm_stack_chunk(stack, index));
    return TVLM_OK;
}

tvlm_status tvlm_stack_forget(tvlm_stack *stack, int32_t index) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    for (int i = 0; i < TVLM_PREVIOUS_COUNT; ++i) {
        stack->originals[index].remembered[i] = false;
        if (chunk->previous[i] != NULL)
            TVLM_TRY(clear_slice(stack, chunk, (tvlm_previous)i, index - chunk->first));
    }
    drop_made(stack, chunk);
    return TVLM_OK;
}
