/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create.c: creates and destroys stacks.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/bytes.h"
#include "stack/chunks.h"
#include "stack/delta.h"
#include "stack/grids.h"
#include "stack/inside.h"
#include "stack/limits.h"
#include "stack/network.h"
#include "stack/ragged.h"
#include "stack/send.h"
#include "stack/upload.h"

/* Logs the families of the layout that this version does not make, if there are any. */
static void log_missing_families(const tvlm_stack *stack, const char *layout) {
    char families[512] = "";
    size_t used = 0;
    for (int32_t i = 0; i < stack->channel_count; ++i) {
        tvlm_channel_info info;
        if (tvlm_channel_get_info(stack->channels[i], &info) != TVLM_OK || info.available) continue;
        /* No family's name is part of another's. */
        if (strstr(families, info.family) != NULL) continue;
        const size_t length = strlen(info.family);
        if (used + length + 3 > sizeof families) break;
        if (used > 0) families[used++] = ',', families[used++] = ' ';
        memcpy(families + used, info.family, length + 1);
        used += length;
    }
    if (used > 0)
        tvlm_log_message(&stack->device->log, TVLM_LOG_INFO,
                         "layout %.64s: 0 everywhere, not made by this version: %s", layout, families);
}

static tvlm_status parse_layout(tvlm_stack *stack, const char *layout) {
    const tvlm_log *log = &stack->device->log;
    TVLM_TRY(tvlm_learned_parse(&stack->learned, layout, log, 0, NULL, &stack->channel_count));
    stack->channels = tvlm_allocate((size_t)stack->channel_count, sizeof *stack->channels);
    if (stack->channels == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a list of channels");
    TVLM_TRY(tvlm_learned_parse(&stack->learned, layout, log, stack->channel_count, stack->channels,
                                &stack->channel_count));
    log_missing_families(stack, layout);
    return TVLM_OK;
}

static int32_t max_layers(const tvlm_stack *stack) {
    /* The number of layers of a packed array of the layout. */
    int32_t layers = (stack->channel_count + 3) / 4;
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) {
        const tvlm_grid_info *info = tvlm_grid_get_info((tvlm_grid)grid);
        /* Grids that are handed in have a size of their own, which is not known yet. */
        if (info->size != TVLM_SIZE_GIVEN && info->size != TVLM_SIZE_NETWORK && info->layers > layers)
            layers = info->layers;
    }
    const int32_t learned = tvlm_stack_network_layers(stack);
    return learned > layers ? learned : layers;
}

static tvlm_status make_images(tvlm_stack *stack) {
    const int32_t limit =
        tvlm_stack_chunk_limit(stack->device, stack->width, stack->height, stack->format, max_layers(stack));
    const int32_t cached =
        tvlm_stack_cached_images(stack->device, stack->width, stack->height, stack->format);
    stack->chunk_images = limit < cached ? limit : cached;
    if (stack->chunk_images > stack->images) stack->chunk_images = stack->images;
    stack->chunks = tvlm_stack_chunks_create(stack->images, stack->chunk_images, &stack->chunk_count);
    stack->originals = tvlm_allocate((size_t)stack->images, sizeof *stack->originals);
    stack->frames = tvlm_allocate((size_t)stack->images, sizeof *stack->frames);
    stack->carries = tvlm_allocate((size_t)stack->images, sizeof *stack->carries);
    stack->cameras = tvlm_allocate((size_t)stack->images, sizeof *stack->cameras);
    if (stack->chunks == NULL || stack->originals == NULL || stack->frames == NULL ||
        stack->carries == NULL || stack->cameras == NULL)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for a batch of %d images",
                         (int)stack->images);
    for (int32_t i = 0; i < stack->images; ++i) {
        stack->originals[i].width = stack->width;
        stack->originals[i].height = stack->height;
    }
    return TVLM_OK;
}

/* Refuses a size that needs more memory than the stack may take. */
static tvlm_status check_memory(tvlm_device *device, const struct tvlm_stack_params *params) {
    tvlm_stack_demand demand;
    if (params->memory_max == 0) return TVLM_OK;
    TVLM_TRY(tvlm_stack_demand_of(device, params, &demand));
    const double needed = tvlm_stack_bytes_of(&demand, params->width, params->height);
    if (needed <= demand.memory) return TVLM_OK;
    return tvlm_fail(&device->log, TVLM_ERROR_DEVICE_MEMORY,
                     "a stack of %dx%d needs %.0f bytes; memory_max is %.0f", (int)params->width,
                     (int)params->height, ceil(needed), demand.memory);
}

static tvlm_status check_params(tvlm_device *device, const struct tvlm_stack_params *params) {
    const tvlm_log *log = &device->log;
    if (params->width < 1 || params->height < 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a stack of %dx%d pixels", (int)params->width,
                         (int)params->height);
    TVLM_TRY(tvlm_stack_check_options(log, params));
    TVLM_TRY(tvlm_stack_check_size(device, params->width, params->height,
                                   tvlm_stack_format(device, params->format)));
    return check_memory(device, params);
}

static tvlm_status fill(tvlm_stack *stack, const struct tvlm_stack_params *params) {
    const float *fixation = params->fixation;
    stack->width = params->width;
    stack->height = params->height;
    stack->images = params->images > 0 ? params->images : 1;
    stack->levels = tvlm_level_count(stack->width, stack->height);
    stack->format = tvlm_stack_format(stack->device, params->format);
    stack->settings =
        (tvlm_family_settings){.regions = params->clusters > 0 ? params->clusters : 50,
                               .compactness = params->compactness > 0.0f ? params->compactness : 10.0f};
    stack->question.image = -1;
    stack->bundle_max = TVLM_BUNDLE_MAX;
    TVLM_TRY(tvlm_stack_take_network(stack, params->network));
    TVLM_TRY(tvlm_stack_set_fixation(stack, fixation != NULL ? fixation[0] : 0.5f * (float)stack->width,
                                     fixation != NULL ? fixation[1] : 0.5f * (float)stack->height));
    TVLM_TRY(tvlm_stack_set_rope(stack, NULL));
    TVLM_TRY(parse_layout(stack, params->layout != NULL ? params->layout : TVLM_LAYOUT_DEFAULT));
    TVLM_TRY(tvlm_stack_check_bytes(stack));
    TVLM_TRY(make_images(stack));
    TVLM_TRY(tvlm_stack_take_sizes(stack, params->sizes));
    TVLM_TRY(
        tvlm_stack_check_ragged(stack, tvlm_stack_grids_of(stack, stack->channels, stack->channel_count)));
    return tvlm_stack_check_ragged(
        stack, tvlm_stack_grids_of(stack, stack->learned.inputs, stack->learned.input_count));
}

tvlm_status tvlm_stack_create(tvlm_device *device, const struct tvlm_stack_params *params,
                              tvlm_stack **stack) {
    static const struct tvlm_stack_params none = {0};
    TVLM_NEED(NULL, device);
    TVLM_ENTER(device);
    TVLM_NEED(&device->log, stack);
    TVLM_CHECK_RESERVED(&device->log, tvlm_stack_params, params);
    struct tvlm_stack_params chosen = params != NULL ? *params : none;
    TVLM_TRY(tvlm_stack_check_sizes(device, &chosen));
    if (chosen.width == 0 && chosen.height == 0)
        chosen.width = chosen.height = tvlm_layout_side(chosen.layout);
    TVLM_TRY(check_params(device, &chosen));
    tvlm_stack *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for a stack");
    made->device = device;
    const tvlm_status status = fill(made, &chosen);
    if (status != TVLM_OK)
        tvlm_stack_destroy(&made);
    else
        *stack = made;
    return status;
}

void tvlm_stack_destroy(tvlm_stack **stack) {
    if (stack == NULL || *stack == NULL) return;
    TVLM_ENTER_TO_FREE((*stack)->device);
    tvlm_stack *s = *stack;
    const tvlm_backend *backend = s->device->backend;
    tvlm_stack_chunks_release(s, s->chunks, s->chunk_count);
    for (int i = 0; i < TVLM_SCRATCH_COUNT; ++i) backend->buffer_destroy(s->device, &s->scratch[i]);
    backend->texture_destroy(s->device, &s->candidates);
    for (int32_t i = 0; s->frames != NULL && i < s->images; ++i) {
        backend->buffer_destroy(s->device, &s->frames[i].scores);
        backend->buffer_destroy(s->device, &s->frames[i].looked);
        free(s->frames[i].positions);
        free(s->frames[i].made_of);
    }
    backend->texture_destroy(s->device, &s->relevance);
    tvlm_stack_release_sent(s);
    tvlm_stack_delta_release(s);
    free(s->frames);
    free(s->carries);
    for (int32_t i = 0; s->originals != NULL && i < s->images; ++i)
        if (s->originals[i].slot.release != NULL) s->originals[i].slot.release(s->originals[i].slot.data);
    if (s->slot.release != NULL) s->slot.release(s->slot.data);
    free(s->originals);
    free(s->sizes);
    free(s->views);
    free(s->cameras);
    free(s->channels);
    free(s->network);
    free(s);
    *stack = NULL;
}

/* ---- A stack of an image's size ---- */

static void say_smaller(const tvlm_log *log, const tvlm_image *image, const struct tvlm_stack_params *params,
                        tvlm_stack_bound bound, double memory) {
    char why[128] = "that this device can hold";
    if (bound == TVLM_BOUND_NONE || bound == TVLM_BOUND_SIDE) return; /* the caller asked for this size */
    if (bound == TVLM_BOUND_MEMORY)
        snprintf(why, sizeof why, "for which %.0f MiB of this device's memory are enough", memory / 0x1p20);
    tvlm_log_message(log, TVLM_LOG_WARNING, "scaled down from %dx%d to %dx%d, the largest of its shape %s",
                     (int)image->width, (int)image->height, (int)params->width, (int)params->height, why);
}

/* Chooses width and height if none are given: the image's own size, or the largest size of the same shape
 * that fits. */
static tvlm_status choose_size(tvlm_device *device, const tvlm_image *image, size_t row,
                               struct tvlm_stack_params *params) {
    tvlm_stack_demand demand;
    if (params->width == 0 && params->height == 0)
        params->width = params->height = tvlm_layout_side(params->layout);
    if (params->width != 0 && params->height != 0) return TVLM_OK;
    if (params->width != 0 || params->height != 0)
        return tvlm_fail(&device->log, TVLM_ERROR_ARGUMENT,
                         "a width without a height, or a height without a width");
    TVLM_TRY(tvlm_stack_demand_of(device, params, &demand));
    params->width = demand.width = image->width;
    params->height = demand.height = image->height;
    demand.pixel_bytes = (int32_t)(row / (size_t)image->width);
    const tvlm_stack_bound bound = tvlm_stack_largest(&demand, &params->width, &params->height);
    say_smaller(&device->log, image, params, bound, demand.memory);
    params->memory_max = 0; /* the size needs no more than this, or is 1 x 1, which counts as fitting */
    return TVLM_OK;
}

tvlm_status tvlm_stack_create_of_size(tvlm_device *device, const tvlm_image *image,
                                      const struct tvlm_stack_params *params, tvlm_stack **stack) {
    struct tvlm_stack_params chosen = {0};
    size_t row;
    TVLM_CHECK_RESERVED(&device->log, tvlm_stack_params, params);
    if (params != NULL) chosen = *params;
    if (chosen.sizes != NULL)
        return tvlm_fail(&device->log, TVLM_ERROR_ARGUMENT,
                         "sizes of all images of a batch, which tvlm_stack_create makes");
    TVLM_TRY(tvlm_stack_check_image(&device->log, image, &row));
    TVLM_TRY(choose_size(device, image, row, &chosen));
    return tvlm_stack_create(device, &chosen, stack);
}

tvlm_status tvlm_stack_create_for_image(tvlm_device *device, const tvlm_image *image,
                                        const struct tvlm_stack_params *params, tvlm_stack **stack) {
    tvlm_stack *made = NULL;
    TVLM_NEED(NULL, device);
    TVLM_ENTER(device);
    TVLM_NEED(&device->log, stack);
    TVLM_TRY(tvlm_stack_create_of_size(device, image, params, &made));
    const tvlm_status status = tvlm_stack_set_image(made, 0, image);
    if (status != TVLM_OK)
        tvlm_stack_destroy(&made);
    else
        *stack = made;
    return status;
}
