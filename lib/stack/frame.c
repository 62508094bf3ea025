/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.c: what remains of the questions about the present frame (stack/frame.h).
 */
#include "stack/frame.h"

#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "stack/given.h"
#include "stack/inside.h"

tvlm_status tvlm_stack_scores(tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates,
                              tvlm_buffer **buffer) {
    const tvlm_backend *backend = stack->device->backend;
    tvlm_frame *frame = &stack->frames[index];
    const size_t bytes = (size_t)candidates->columns * (size_t)candidates->rows * sizeof(float);
    frame->scored = false;
    tvlm_stack_scores_made_of(stack, index, NULL, 0);
    frame->candidates = *candidates;
    if (frame->scores == NULL || frame->scores->bytes < bytes) {
        backend->buffer_destroy(stack->device, &frame->scores);
        TVLM_TRY(backend->buffer_create(stack->device, bytes, &frame->scores));
    }
    *buffer = frame->scores;
    return TVLM_OK;
}

void tvlm_stack_mark_scored(tvlm_stack *stack, int32_t index) {
    stack->frames[index].scored = true;
}

void tvlm_stack_scores_made_of(tvlm_stack *stack, int32_t index, void *made_of, size_t bytes) {
    tvlm_frame *frame = &stack->frames[index];
    free(frame->made_of);
    frame->made_of = made_of;
    frame->made_of_bytes = bytes;
}

tvlm_buffer *tvlm_stack_scores_of(const tvlm_stack *stack, int32_t index, const void *made_of, size_t bytes) {
    const tvlm_frame *frame = &stack->frames[index];
    const bool same = frame->scored && frame->made_of != NULL && made_of != NULL &&
                      frame->made_of_bytes == bytes && memcmp(frame->made_of, made_of, bytes) == 0;
    return same ? frame->scores : NULL;
}

tvlm_status tvlm_stack_candidates(tvlm_stack *stack, const tvlm_texture *shape, tvlm_texture **texture) {
    const tvlm_backend *const backend = stack->device->backend;
    const tvlm_texture *const held = stack->candidates;
    if (held == NULL || held->width != shape->width || held->height != shape->height ||
        held->layers != shape->layers || held->extent_x != shape->extent_x ||
        held->extent_y != shape->extent_y) {
        backend->texture_destroy(stack->device, &stack->candidates);
        TVLM_TRY(backend->texture_create(stack->device, shape, &stack->candidates));
    }
    *texture = stack->candidates;
    return TVLM_OK;
}

tvlm_buffer *tvlm_stack_last_scores(const tvlm_stack *stack, int32_t index) {
    return stack->frames[index].scores;
}

static tvlm_status reserve_positions(const tvlm_stack *stack, tvlm_frame *frame, int32_t count) {
    if (count <= frame->position_capacity) return TVLM_OK;
    float *made = tvlm_allocate((size_t)count, 2 * sizeof *made);
    if (made == NULL)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for %d positions", (int)count);
    free(frame->positions);
    frame->positions = made;
    frame->position_capacity = count;
    return TVLM_OK;
}

tvlm_status tvlm_stack_keep_positions(tvlm_stack *stack, int32_t index, int32_t count, float **positions) {
    tvlm_frame *frame = &stack->frames[index];
    frame->position_count = 0;
    frame->positions_there = false;
    frame->copied = NULL;
    TVLM_TRY(reserve_positions(stack, frame, count));
    frame->position_count = count;
    *positions = frame->positions;
    return TVLM_OK;
}

tvlm_status tvlm_stack_looked(tvlm_stack *stack, int32_t index, int32_t count, tvlm_buffer **buffer) {
    const tvlm_backend *backend = stack->device->backend;
    tvlm_frame *frame = &stack->frames[index];
    const size_t bytes = (size_t)count * 2 * sizeof(float);
    frame->position_count = 0;
    frame->copied = NULL;
    if (frame->looked == NULL || frame->looked->bytes < bytes) {
        backend->buffer_destroy(stack->device, &frame->looked);
        TVLM_TRY(backend->buffer_create(stack->device, bytes, &frame->looked));
    }
    *buffer = frame->looked;
    return TVLM_OK;
}

void tvlm_stack_mark_looked(tvlm_stack *stack, int32_t index, int32_t count) {
    stack->frames[index].position_count = count;
    stack->frames[index].positions_there = true;
}

tvlm_status tvlm_stack_positions(tvlm_stack *stack, int32_t index, const float **positions, int32_t *count) {
    tvlm_frame *frame = &stack->frames[index];
    const size_t bytes = (size_t)frame->position_count * 2 * sizeof *frame->positions;
    if (frame->positions_there && bytes > 0) {
        TVLM_TRY(reserve_positions(stack, frame, frame->position_count));
        TVLM_TRY(
            stack->device->backend->buffer_read(stack->device, frame->looked, 0, bytes, frame->positions));
        frame->positions_there = false;
    }
    *count = frame->position_count;
    *positions = frame->positions;
    return TVLM_OK;
}

void tvlm_stack_positions_copied(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer, size_t at) {
    stack->frames[index].copied = buffer;
    stack->frames[index].copied_at = at;
}

void tvlm_stack_set_streamed(tvlm_stack *stack) {
    stack->streamed = true;
}

bool tvlm_stack_is_streamed(const tvlm_stack *stack) {
    return stack->streamed;
}

void tvlm_stack_set_bonus(tvlm_stack *stack, int32_t index, const float *bonus, int32_t columns,
                          int32_t rows) {
    tvlm_frame *frame = &stack->frames[index];
    frame->bonus = bonus;
    frame->bonus_columns = columns;
    frame->bonus_rows = rows;
}

const float *tvlm_stack_bonus(const tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates) {
    const tvlm_frame *frame = &stack->frames[index];
    const bool same = frame->bonus_columns == candidates->columns && frame->bonus_rows == candidates->rows;
    return same ? frame->bonus : NULL;
}

void tvlm_stack_new_frame(tvlm_stack *stack, int32_t index) {
    stack->frames[index].scored = false;
    stack->frames[index].position_count = 0;
    stack->frames[index].copied = NULL;
    tvlm_stack_given_clear(stack, index, TVLM_GRID_PREVIOUS_PASS);
    for (int32_t i = 0; i < stack->user_count; ++i)
        if (stack->users[i].output) tvlm_stack_given_clear(stack, index, (tvlm_grid)(TVLM_GRID_USER_0 + i));
}
