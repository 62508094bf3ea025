/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vocab_stack.c: finds the nearest centres of an image's features, and makes channels of them.
 */
#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "lab/vocab.h"
#include "stack/features.h"
#include "stack/stack.h"
#include "texturevlm/input.h"

/* A half-precision float can hold every whole number up to this one. */
#define HALF_NUMBER_MAX 2048

static tvlm_status check(const tvlm_stack *stack, const struct tvlm_vocab_params *about,
                         const tvlm_features *features) {
    tvlm_stack_info info;
    TVLM_TRY(tvlm_stack_get_info(stack, &info));
    if (about->dimension != features->dimension)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT,
                         "a vocabulary of %d dimensions, but the features have %d", (int)about->dimension,
                         (int)features->dimension);
    if (info.format != TVLM_FORMAT_F32 && about->count > HALF_NUMBER_MAX + 1)
        return tvlm_fail(
            tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT,
            "a vocabulary of %d centres; a stack holds the numbers of more than %d in format f32 "
            "alone",
            (int)about->count, HALF_NUMBER_MAX + 1);
    return TVLM_OK;
}

/* Hands in the numbers of the centres and the residuals, two values for each cell, on the grid of the
 * features. */
static tvlm_status take_in(tvlm_stack *stack, const tvlm_features *features, const int32_t *ids,
                           const float *residuals, float *values) {
    const tvlm_texture *const grid = features->texture;
    const size_t cells = (size_t)grid->width * (size_t)grid->height;
    const struct tvlm_grid_input input = {.data = values,
                                          .columns = grid->width,
                                          .rows = grid->height,
                                          .channels = 2,
                                          .cell = tvlm_stack_features_cell(stack, grid)};
    for (size_t i = 0; i < cells; ++i) {
        values[2 * i] = (float)ids[i];
        values[2 * i + 1] = residuals[i];
    }
    return tvlm_stack_set_grid(stack, features->index, TVLM_CHANNEL_VOCAB_ID, &input);
}

tvlm_status tvlm_stack_assign(tvlm_stack *stack, int32_t index, const tvlm_vocab *vocab) {
    struct tvlm_vocab_params about;
    tvlm_features features;
    tvlm_buffer *matrix;
    TVLM_NEED(NULL, stack);
    tvlm_device *const device = tvlm_stack_device(stack);
    TVLM_ENTER(device);
    const tvlm_log *const log = tvlm_stack_log(stack);
    TVLM_NEED(log, vocab);
    TVLM_TRY(tvlm_vocab_get_params(vocab, &about));
    TVLM_TRY(tvlm_stack_features(stack, index, &features));
    TVLM_TRY(check(stack, &about, &features));
    TVLM_TRY(tvlm_stack_features_matrix(stack, &features, &matrix));
    const size_t cells = (size_t)features.texture->width * (size_t)features.texture->height;
    const size_t numbers = cells * (size_t)features.dimension;
    float *const vectors = tvlm_allocate(numbers, sizeof *vectors);
    int32_t *const ids = tvlm_allocate(cells, sizeof *ids);
    float *const residuals = tvlm_allocate(3 * cells, sizeof *residuals);
    tvlm_status status = TVLM_OK;
    if (vectors == NULL || ids == NULL || residuals == NULL)
        status = tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for %zu cells", cells);
    if (status == TVLM_OK)
        status = device->backend->buffer_read(device, matrix, 0, numbers * sizeof *vectors, vectors);
    if (status == TVLM_OK) status = tvlm_vocab_assign(device, vocab, vectors, (int64_t)cells, ids, residuals);
    if (status == TVLM_OK) status = take_in(stack, &features, ids, residuals, residuals + cells);
    free(vectors);
    free(ids);
    free(residuals);
    return status;
}
