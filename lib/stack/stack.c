/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.c: what is known of a stack without asking the device, and the checks that all files of this folder
 * share.
 */
#include "stack/stack.h"
#include "core/check.h"
#include "core/owner.h"

#include <math.h>

#include "core/try.h"
#include "stack/inside.h"
#include "stack/ragged.h"

/* The farthest that a fixation may be. A fixation beyond that would be meaningless, and the squares of its
 * distances would leave the range of floats. */
#define FIXATION_MAX 1e9f

/* ---- Checks that several files share ---- */

tvlm_status tvlm_stack_check_index(const tvlm_stack *stack, int32_t index) {
    TVLM_TRY(tvlm_stack_check_image_number(stack, index));
    if (stack->sizes == NULL) return TVLM_OK;
    return tvlm_fail(
        &stack->device->log, TVLM_ERROR_ARGUMENT,
        "a batch of images of different sizes is read, sampled and packed; nothing else is done with it");
}

tvlm_status tvlm_stack_check_channel(const tvlm_stack *stack, int32_t channel) {
    tvlm_channel_info info;
    const int32_t plane = channel < TVLM_CHANNEL_USER_0 ? -1 : channel - TVLM_CHANNEL_USER_0;
    if (plane < 0 ? tvlm_channel_get_info(channel, &info) == TVLM_OK : plane < stack->user_count)
        return TVLM_OK;
    return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "there is no channel %d", (int)channel);
}

tvlm_chunk *tvlm_stack_chunk(tvlm_stack *stack, int32_t index) {
    return &stack->chunks[index / stack->chunk_images];
}

tvlm_status tvlm_stack_scratch(tvlm_stack *stack, tvlm_scratch which, size_t bytes, tvlm_buffer **buffer) {
    tvlm_buffer **kept = &stack->scratch[which];
    if (*kept == NULL || (*kept)->bytes < bytes) {
        stack->device->backend->buffer_destroy(stack->device, kept);
        *kept = NULL;
        TVLM_TRY(stack->device->backend->buffer_create(stack->device, bytes > 0 ? bytes : 16, kept));
    }
    *buffer = *kept;
    return TVLM_OK;
}

void tvlm_stack_scratch_done(tvlm_stack *stack, tvlm_scratch which) {
    tvlm_buffer **kept = &stack->scratch[which];
    if (*kept != NULL && (*kept)->bytes > TVLM_SCRATCH_KEPT)
        stack->device->backend->buffer_destroy(stack->device, kept);
}

tvlm_slot *tvlm_stack_slot(tvlm_stack *stack, int32_t index) {
    return &stack->originals[index].slot;
}

tvlm_slot *tvlm_stack_common_slot(tvlm_stack *stack) {
    return &stack->slot;
}

/* ---- What is known ---- */

tvlm_device *tvlm_stack_device(const tvlm_stack *stack) {
    return stack->device;
}

const tvlm_log *tvlm_stack_log(const tvlm_stack *stack) {
    return &stack->device->log;
}

int32_t tvlm_stack_width(const tvlm_stack *stack) {
    return stack->width;
}

int32_t tvlm_stack_height(const tvlm_stack *stack) {
    return stack->height;
}

int32_t tvlm_stack_levels(const tvlm_stack *stack) {
    return stack->levels;
}

tvlm_format tvlm_stack_texel_format(const tvlm_stack *stack) {
    return stack->format;
}

tvlm_original tvlm_stack_original(const tvlm_stack *stack, int32_t index) {
    const tvlm_stack_image *image = &stack->originals[index];
    return (tvlm_original){image->width, image->height, (double)image->width / stack->width,
                           (double)image->height / stack->height};
}

int32_t tvlm_stack_image_number(const tvlm_stack *stack, int32_t index) {
    return index % stack->chunk_images;
}

/* Marks the network's outputs as out of date: the network may read formulas, which are not in any grid. */
static void outdate_formulas(tvlm_stack *stack) {
    for (int32_t i = 0; i < stack->chunk_count; ++i) {
        stack->chunks[i].valid &= ~TVLM_GRID_BIT(TVLM_GRID_LEARNED);
        ++stack->chunks[i].outdated[TVLM_GRID_LEARNED];
    }
}

tvlm_status tvlm_stack_set_fixation(tvlm_stack *stack, float x, float y) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    if (stack->sizes != NULL)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                         "a fixation of images of different sizes; each has its own, the middle");
    if (!(fabsf(x) <= FIXATION_MAX && fabsf(y) <= FIXATION_MAX))
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                         "fixation (%g, %g) is not a place near the image", (double)x, (double)y);
    const double right = fmax(fabs((double)x), fabs((double)stack->width - x));
    const double down = fmax(fabs((double)y), fabs((double)stack->height - y));
    stack->fixation_x = x;
    stack->fixation_y = y;
    stack->farthest = (float)hypot(right, down);
    outdate_formulas(stack);
    return TVLM_OK;
}

tvlm_status tvlm_stack_set_rope(tvlm_stack *stack, const struct tvlm_rope_params *params) {
    static const struct tvlm_rope_params none = {0};
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    const tvlm_log *const log = &stack->device->log;
    TVLM_CHECK_RESERVED(log, tvlm_rope_params, params);
    if (params == NULL) params = &none;
    const tvlm_rope rope = {.theta = params->theta != 0.0f ? params->theta : 10000.0f,
                            .dimension = params->dimension != 0 ? params->dimension : 64,
                            .patch = params->patch != 0.0f ? params->patch : 16.0f};
    if (!(rope.theta > 1.0f) || !isfinite(rope.theta))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "rotary positions of base %g; it is above 1",
                         (double)rope.theta);
    if (rope.dimension < 2 || rope.dimension > 2 * TVLM_ROPE_MAX || rope.dimension % 2 != 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "rotary positions of %d dimensions; an even number from 2 to %d is possible",
                         (int)rope.dimension, 2 * TVLM_ROPE_MAX);
    if (!(rope.patch > 0.0f) || !isfinite(rope.patch))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "rotary positions in patches of %g pixels",
                         (double)rope.patch);
    stack->rope = rope;
    outdate_formulas(stack);
    return TVLM_OK;
}

tvlm_status tvlm_stack_get_info(const tvlm_stack *stack, tvlm_stack_info *info) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_NEED(&stack->device->log, info);
    *info = (tvlm_stack_info){.width = stack->width,
                              .height = stack->height,
                              .images = stack->images,
                              .levels = stack->levels,
                              .format = stack->format};
    if (stack->candidates != NULL) info->device_bytes += stack->candidates->bytes;
    for (int32_t i = 0; i < stack->chunk_count; ++i) {
        for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
            if (stack->chunks[i].grids[grid] != NULL)
                info->device_bytes += stack->chunks[i].grids[grid]->bytes;
        if (stack->chunks[i].inverse != NULL) info->device_bytes += stack->chunks[i].inverse->bytes;
        if (stack->chunks[i].shares != NULL) info->device_bytes += stack->chunks[i].shares->bytes;
        if (stack->chunks[i].network_inputs != NULL)
            info->device_bytes += stack->chunks[i].network_inputs->bytes;
        if (stack->chunks[i].matrix != NULL) info->device_bytes += stack->chunks[i].matrix->bytes;
        for (int previous = 0; previous < TVLM_PREVIOUS_COUNT; ++previous)
            if (stack->chunks[i].previous[previous] != NULL)
                info->device_bytes += stack->chunks[i].previous[previous]->bytes;
    }
    if (stack->relevance != NULL) info->device_bytes += stack->relevance->bytes;
    return TVLM_OK;
}

static size_t buffer_bytes(const tvlm_buffer *buffer) {
    return buffer != NULL ? buffer->bytes : 0;
}

size_t tvlm_stack_bytes(const tvlm_stack *stack) {
    tvlm_stack_info info;
    if (stack == NULL) return 0;
    TVLM_ENTER_TO_FREE(stack->device); /* it has no status to refuse with, and waits */
    if (tvlm_stack_get_info(stack, &info) != TVLM_OK) return 0;
    size_t bytes = info.device_bytes;
    for (int32_t i = 0; i < stack->chunk_count; ++i)
        for (int product = 0; product < TVLM_PRODUCT_COUNT; ++product)
            bytes += buffer_bytes(stack->chunks[i].products[product]);
    for (int32_t i = 0; i < stack->images; ++i) {
        bytes += buffer_bytes(stack->frames[i].scores);
        bytes += buffer_bytes(stack->frames[i].looked);
    }
    for (int i = 0; i < TVLM_SCRATCH_COUNT; ++i) bytes += buffer_bytes(stack->scratch[i]);
    bytes += buffer_bytes(stack->sent.buffer);
    return bytes;
}

const int32_t *tvlm_stack_channels(const tvlm_stack *stack, int32_t *count) {
    if (count != NULL) *count = stack != NULL ? stack->channel_count : 0;
    return stack != NULL ? stack->channels : NULL;
}

tvlm_status tvlm_stack_level_size(const tvlm_stack *stack, int32_t level, int32_t *width, int32_t *height) {
    TVLM_NEED(NULL, stack);
    TVLM_NEED(&stack->device->log, width);
    TVLM_NEED(&stack->device->log, height);
    if (level < 0 || level >= stack->levels)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "level %d of an image of %d levels",
                         (int)level, (int)stack->levels);
    *width = tvlm_level_side(stack->width, level);
    *height = tvlm_level_side(stack->height, level);
    return TVLM_OK;
}
