/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learned.c: packs what the stack's network reads, at its level.
 */
#include "stack/learned.h"

#include "core/learned.h"
#include "core/memory.h"
#include "core/try.h"
#include "stack/bundle.h"
#include "stack/inside.h"
#include "stack/ragged.h"

/* Returns the size of the inputs of one image of a ragged batch: the size that they would have if the image
 * were alone, at the level that it would have then. */
static tvlm_texture_part part_of(const tvlm_stack *stack, int32_t index) {
    int32_t width, height;
    tvlm_stack_size_of(stack, index, &width, &height);
    const tvlm_learned_size size =
        tvlm_learned_size_of(&stack->learned, width, height, tvlm_level_count(width, height));
    return (tvlm_texture_part){size.input_width, size.input_height, (float)width, (float)height};
}

static tvlm_status inputs_texture(tvlm_stack *stack, tvlm_chunk *chunk, const tvlm_learned_size *size) {
    tvlm_texture shape = {.width = size->input_width,
                          .height = size->input_height,
                          .layers = (stack->learned.input_count + 3) / 4,
                          .images = chunk->images,
                          .levels = 1,
                          .format = stack->format,
                          .extent_x = (float)stack->width,
                          .extent_y = (float)stack->height};
    tvlm_texture_part *parts;
    if (chunk->network_inputs != NULL) return TVLM_OK;
    TVLM_TRY(tvlm_stack_parts(stack, chunk->images, &parts));
    for (int32_t i = 0; parts != NULL && i < chunk->images; ++i) parts[i] = part_of(stack, chunk->first + i);
    shape.parts = parts;
    const tvlm_status status =
        stack->device->backend->texture_create(stack->device, &shape, &chunk->network_inputs);
    free(parts);
    return status;
}

tvlm_status tvlm_stack_learned_inputs(tvlm_stack *stack, tvlm_chunk *chunk) {
    const tvlm_learned *const network = &stack->learned;
    const tvlm_learned_size size = tvlm_learned_size_of(network, stack->width, stack->height, stack->levels);
    int32_t refs[TVLM_LEARNED_INPUTS_MAX], taken;
    tvlm_bundle bundle;
    tvlm_stack_bundle(stack, chunk->first, network->inputs, network->input_count, &bundle, refs, &taken);
    if (taken < network->input_count)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_UNSUPPORTED,
                         "a network that reads channels from more than %d textures", (int)stack->bundle_max);
    for (int32_t i = network->input_count; i % 4 != 0; ++i) refs[i] = TVLM_REF_ZERO;
    TVLM_TRY(inputs_texture(stack, chunk, &size));
    return stack->device->backend->pack(stack->device, &bundle, refs, (float)size.level,
                                        chunk->network_inputs);
}
