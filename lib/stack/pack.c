/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.c: packed arrays: channels of several families, four to a slice, in one texture for each chunk.
 */
#include <math.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/bundle.h"
#include "stack/grids.h"
#include "stack/inside.h"
#include "stack/make.h"
#include "stack/packed.h"
#include "stack/ragged.h"

typedef struct packing {
    const int32_t *channels;
    int32_t channel_count;
    int32_t width, height;
    float level;
} packing;

static int32_t side_at(int32_t side, double level) {
    const double shrunk = floor((double)side * exp2(-level));
    return shrunk > 1.0 ? (int32_t)shrunk : 1;
}

/*
 * Returns the level that is read to pack at a size.
 * - If the size is that of level n, it is exactly n. The logarithm would not be, since an odd side shrinks by
 *   a bit more than 2^n.
 * - Otherwise it is log2 of the larger factor by which a side shrinks, or 0 if both sides grow.
 */
static float level_of_size(const tvlm_stack *stack, int32_t width, int32_t height) {
    for (int32_t level = 0; level < stack->levels; ++level)
        if (width == tvlm_level_side(stack->width, level) && height == tvlm_level_side(stack->height, level))
            return (float)level;
    const double across = (double)stack->width / width, down = (double)stack->height / height;
    return (float)fmax(0.0, log2(across > down ? across : down));
}

static tvlm_status resolve_channels(const tvlm_stack *stack, const struct tvlm_pack_params *params,
                                    packing *p) {
    const tvlm_log *log = &stack->device->log;
    p->channels = params->channels != NULL ? params->channels : stack->channels;
    p->channel_count = params->channels != NULL ? params->channel_count : stack->channel_count;
    if (params->channels == NULL && params->channel_count != 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d channels to pack, but none given",
                         (int)params->channel_count);
    if (p->channel_count < 1 || p->channel_count > TVLM_LAYOUT_CHANNELS_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d channels to pack; 1 to %d are possible",
                         (int)p->channel_count, TVLM_LAYOUT_CHANNELS_MAX);
    for (int32_t i = 0; i < p->channel_count; ++i) TVLM_TRY(tvlm_stack_check_channel(stack, p->channels[i]));
    return TVLM_OK;
}

static tvlm_status resolve_size(const tvlm_stack *stack, const struct tvlm_pack_params *params, packing *p) {
    const tvlm_log *log = &stack->device->log;
    if (!isfinite(params->level) || params->level < 0.0f)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "level %g to pack", (double)params->level);
    if (stack->sizes != NULL && (params->width != 0 || params->height != 0))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a packed array of %dx%d of images of different sizes, which keep their own",
                         (int)params->width, (int)params->height);
    if (params->width < 0 || params->height < 0 || (params->width == 0) != (params->height == 0))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a packed array of %dx%d", (int)params->width,
                         (int)params->height);
    p->level = fminf(params->level, (float)(stack->levels - 1));
    p->width = params->width > 0 ? params->width : side_at(stack->width, (double)p->level);
    p->height = params->height > 0 ? params->height : side_at(stack->height, (double)p->level);
    if (params->width > 0 && params->level == 0.0f) p->level = level_of_size(stack, p->width, p->height);
    return TVLM_OK;
}

static tvlm_status packed_make(const tvlm_stack *stack, const packing *p, tvlm_packed **packed) {
    tvlm_packed *made = tvlm_allocate(1, sizeof *made);
    tvlm_texture **textures = tvlm_allocate((size_t)stack->chunk_count, sizeof(tvlm_texture *));
    if (made == NULL || textures == NULL) {
        free(made);
        free(textures);
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for a packed array");
    }
    *made = (tvlm_packed){stack->device,
                          p->width,
                          p->height,
                          p->channel_count,
                          (p->channel_count + 3) / 4,
                          stack->images,
                          stack->chunk_images,
                          stack->chunk_count,
                          textures};
    *packed = made;
    return TVLM_OK;
}

/* Returns the size at which one image of a ragged batch is packed. */
static tvlm_texture_part part_at(const tvlm_stack *stack, int32_t index, float level) {
    const float own = fminf(level, (float)(tvlm_stack_levels_of(stack, index) - 1));
    int32_t width, height;
    tvlm_stack_size_of(stack, index, &width, &height);
    return (tvlm_texture_part){side_at(width, (double)own), side_at(height, (double)own), (float)width,
                               (float)height};
}

static tvlm_status create_texture(const tvlm_stack *stack, const tvlm_chunk *chunk, const packing *p,
                                  tvlm_texture **texture) {
    tvlm_texture shape = {.width = p->width,
                          .height = p->height,
                          .layers = (p->channel_count + 3) / 4,
                          .images = chunk->images,
                          .levels = 1,
                          .format = stack->format,
                          .extent_x = (float)stack->width,
                          .extent_y = (float)stack->height};
    tvlm_texture_part *parts;
    TVLM_TRY(tvlm_stack_parts(stack, chunk->images, &parts));
    for (int32_t i = 0; parts != NULL && i < chunk->images; ++i)
        parts[i] = part_at(stack, chunk->first + i, p->level);
    shape.parts = parts;
    const tvlm_status status = stack->device->backend->texture_create(stack->device, &shape, texture);
    free(parts);
    return status;
}

static tvlm_status pack_chunk(tvlm_stack *stack, tvlm_chunk *chunk, const packing *p, int32_t *refs,
                              tvlm_texture **texture) {
    const int32_t layers = (p->channel_count + 3) / 4;
    tvlm_bundle bundle;
    int32_t taken;
    TVLM_TRY(tvlm_stack_ensure(stack, chunk, tvlm_stack_grids_of(stack, p->channels, p->channel_count)));
    tvlm_stack_bundle(stack, chunk->first, p->channels, p->channel_count, &bundle, refs, &taken);
    if (taken < p->channel_count)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_UNSUPPORTED,
                         "a packed array of channels from more than %d textures; pack fewer families at once",
                         (int)stack->bundle_max);
    for (int32_t i = p->channel_count; i < 4 * layers; ++i) refs[i] = TVLM_REF_ZERO;
    TVLM_TRY(create_texture(stack, chunk, p, texture));
    return stack->device->backend->pack(stack->device, &bundle, refs, p->level, *texture);
}

static tvlm_status pack_all(tvlm_stack *stack, const packing *p, tvlm_packed *packed) {
    int32_t *refs = tvlm_allocate((size_t)packed->layers * 4, sizeof *refs);
    if (refs == NULL)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for a packed array");
    tvlm_status status = TVLM_OK;
    for (int32_t i = 0; status == TVLM_OK && i < stack->chunk_count; ++i)
        status = pack_chunk(stack, &stack->chunks[i], p, refs, &packed->textures[i]);
    free(refs);
    return status;
}

tvlm_status tvlm_stack_pack(tvlm_stack *stack, const struct tvlm_pack_params *params, tvlm_packed **packed) {
    static const struct tvlm_pack_params defaults = {0};
    tvlm_packed *made = NULL;
    packing p = {0};
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_NEED(&stack->device->log, packed);
    if (params == NULL) params = &defaults;
    TVLM_CHECK_RESERVED(&stack->device->log, tvlm_pack_params, params);
    TVLM_TRY(resolve_channels(stack, params, &p));
    TVLM_TRY(resolve_size(stack, params, &p));
    TVLM_TRY(packed_make(stack, &p, &made));
    const tvlm_status status = pack_all(stack, &p, made);
    if (status != TVLM_OK)
        tvlm_packed_destroy(&made);
    else
        *packed = made;
    return status;
}

void tvlm_packed_destroy(tvlm_packed **packed) {
    if (packed == NULL || *packed == NULL) return;
    TVLM_ENTER_TO_FREE((*packed)->device);
    tvlm_packed *p = *packed;
    for (int32_t i = 0; i < p->chunk_count; ++i)
        p->device->backend->texture_destroy(p->device, &p->textures[i]);
    free(p->textures);
    free(p);
    *packed = NULL;
}

tvlm_status tvlm_packed_size(const tvlm_packed *packed, int32_t *width, int32_t *height, int32_t *channels) {
    TVLM_NEED(NULL, packed);
    if (width != NULL) *width = packed->width;
    if (height != NULL) *height = packed->height;
    if (channels != NULL) *channels = packed->channel_count;
    return TVLM_OK;
}

/* Finds the size of one image. The image must exist. */
static void size_of(const tvlm_packed *packed, int32_t index, int32_t *width, int32_t *height) {
    const tvlm_texture *const texture = packed->textures[index / packed->chunk_images];
    const int32_t image = index % packed->chunk_images;
    *width = texture->parts != NULL ? texture->parts[image].width : packed->width;
    *height = texture->parts != NULL ? texture->parts[image].height : packed->height;
}

tvlm_status tvlm_packed_size_of(const tvlm_packed *packed, int32_t index, int32_t *width, int32_t *height) {
    TVLM_NEED(NULL, packed);
    TVLM_NEED(&packed->device->log, width);
    TVLM_NEED(&packed->device->log, height);
    if (index < 0 || index >= packed->images)
        return tvlm_fail(&packed->device->log, TVLM_ERROR_ARGUMENT, "image %d of a packed array of %d",
                         (int)index, (int)packed->images);
    size_of(packed, index, width, height);
    return TVLM_OK;
}

tvlm_status tvlm_packed_texture(tvlm_packed *packed, int32_t index, tvlm_texture **texture,
                                int32_t *first_image) {
    if (index < 0 || index >= packed->images)
        return tvlm_fail(&packed->device->log, TVLM_ERROR_ARGUMENT, "image %d of a packed array of %d",
                         (int)index, (int)packed->images);
    *texture = packed->textures[index / packed->chunk_images];
    *first_image = index / packed->chunk_images * packed->chunk_images;
    return TVLM_OK;
}

tvlm_status tvlm_packed_read(tvlm_packed *packed, int32_t index, size_t capacity, float *out) {
    tvlm_texture *texture;
    int32_t first;
    TVLM_NEED(NULL, packed);
    TVLM_ENTER(packed->device);
    TVLM_NEED(&packed->device->log, out);
    TVLM_TRY(tvlm_packed_texture(packed, index, &texture, &first));
    const tvlm_log *log = &packed->device->log;
    int32_t width, height;
    size_of(packed, index, &width, &height);
    const size_t plane = (size_t)width * (size_t)height;
    size_t needed = SIZE_MAX;
    if (!tvlm_multiply(plane, (size_t)packed->channel_count, &needed) || capacity < needed)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "room for %zu floats; the array has %zu", capacity,
                         needed);
    float *rgba = tvlm_allocate(plane, 4 * sizeof *rgba);
    if (rgba == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to read a packed array");
    tvlm_status status = TVLM_OK;
    for (int32_t layer = 0; status == TVLM_OK && layer < packed->layers; ++layer) {
        const int32_t slice = (index - first) * packed->layers + layer;
        status = packed->device->backend->texture_read(packed->device, texture, 0, slice, rgba);
        for (int32_t c = 4 * layer; status == TVLM_OK && c < packed->channel_count && c < 4 * layer + 4; ++c)
            for (size_t i = 0; i < plane; ++i) out[(size_t)c * plane + i] = rgba[4 * i + (size_t)(c & 3)];
    }
    free(rgba);
    return status;
}
