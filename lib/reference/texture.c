/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texture.c: creates, reads and writes textures in host memory.
 */
#include "reference/texture.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/ragged.h"
#include "core/texel.h"
#include "reference/reference.h"

static int32_t clamp_index(int32_t i, int32_t side) {
    return i < 0 ? 0 : i >= side ? side - 1 : i;
}

/* Where the components of a texel begin in its level. */
static size_t texel_offset(const tvlm_texture *texture, int32_t level, int32_t slice, int32_t x, int32_t y) {
    const size_t width = (size_t)tvlm_level_side(texture->width, level);
    const size_t height = (size_t)tvlm_level_side(texture->height, level);
    return (((size_t)slice * height + (size_t)y) * width + (size_t)x) * 4;
}

/* The number of floats of all slices of one level. Returns false when it does not fit a size_t. */
static bool level_floats(const tvlm_texture *texture, int32_t level, size_t *count) {
    return tvlm_multiply((size_t)tvlm_level_side(texture->width, level),
                         (size_t)tvlm_level_side(texture->height, level), count) &&
           tvlm_multiply(*count, (size_t)texture->layers, count) &&
           tvlm_multiply(*count, (size_t)texture->images, count) && tvlm_multiply(*count, 4, count);
}

/* The number of floats of all levels. Returns false when their bytes do not fit a size_t. */
static bool total_floats(const tvlm_texture *texture, size_t *total) {
    *total = 0;
    if (texture->parts != NULL)
        return tvlm_texture_before(texture, texture->images, total) && tvlm_multiply(*total, 4, total) &&
               *total <= SIZE_MAX / sizeof(float);
    for (int32_t level = 0; level < texture->levels; ++level) {
        size_t count;
        if (!level_floats(texture, level, &count) || count > SIZE_MAX / sizeof(float) - *total) return false;
        *total += count;
    }
    return true;
}

static bool within_limits(const tvlm_device_info *info, const tvlm_texture *shape) {
    return shape->width <= info->image_width_max && shape->height <= info->image_height_max &&
           shape->levels <= REFERENCE_LEVELS_MAX &&
           (int64_t)shape->layers * shape->images <= info->image_slices_max;
}

/* Sets where the levels of a texture begin. Its texels lie at `texels`. There is always a level 0. */
static void place_levels(reference_texture *texture, float *texels) {
    texture->texels = texels;
    texture->levels[0] = texels;
    for (int32_t level = 1; level < texture->base.levels; ++level) {
        size_t count = 0;
        (void)level_floats(&texture->base, level - 1, &count);
        texture->levels[level] = texture->levels[level - 1] + count;
    }
}

reference_texture tvlm_reference_image(const tvlm_texture *texture, int32_t image) {
    reference_texture alone = {.base = tvlm_texture_image(texture, image)};
    size_t before = 0;
    (void)tvlm_texture_before(texture, image, &before); /* cannot fail: the parts are there */
    place_levels(&alone, ((const reference_texture *)texture)->texels + 4 * before);
    return alone;
}

/* Gives a texture a copy of its parts. */
static bool copy_parts(tvlm_texture *texture) {
    if (texture->parts == NULL) return true;
    tvlm_texture_part *copy = tvlm_allocate((size_t)texture->images, sizeof *copy);
    if (copy != NULL) memcpy(copy, texture->parts, (size_t)texture->images * sizeof *copy);
    texture->parts = copy;
    return copy != NULL;
}

/* Texels begin as NaN, so that whoever reads one that was never written notices. */
static void fill_with_nan(float *values, size_t count) {
    for (size_t i = 0; i < count; ++i) values[i] = NAN;
}

tvlm_status tvlm_reference_texture_create(tvlm_device *device, const tvlm_texture *shape,
                                          tvlm_texture **texture) {
    reference_texture *created = NULL;
    float *texels = NULL;
    size_t count = 0;
    if (within_limits(&device->info, shape) && total_floats(shape, &count)) {
        created = tvlm_allocate(1, sizeof *created);
        texels = tvlm_allocate(count, sizeof *texels);
    }
    if (created != NULL) created->base = *shape;
    if (created == NULL || texels == NULL || !copy_parts(&created->base)) {
        free(created);
        free(texels);
        return tvlm_fail(
            &device->log, TVLM_ERROR_DEVICE_MEMORY,
            "reference: no texture of %d x %d, %d images of %d layers: out of memory or larger than "
            "%d x %d x %d slices",
            shape->width, shape->height, shape->images, shape->layers, device->info.image_width_max,
            device->info.image_height_max, device->info.image_slices_max);
    }
    fill_with_nan(texels, count);
    created->base.bytes = count * sizeof *texels;
    place_levels(created, texels); /* the levels of ragged ones are those of their images */
    tvlm_device_takes(device, created->base.bytes);
    *texture = &created->base;
    return TVLM_OK;
}

void tvlm_reference_texture_destroy(tvlm_device *device, tvlm_texture **texture) {
    if (texture == NULL || *texture == NULL) return;
    tvlm_device_gives(device, (*texture)->bytes);
    free(((reference_texture *)*texture)->texels);
    free((void *)(uintptr_t)(*texture)->parts);
    free(*texture);
    *texture = NULL;
}

tvlm_status tvlm_reference_texture_read(tvlm_device *device, tvlm_texture *texture, int32_t level,
                                        int32_t slice, float *rgba) {
    if (texture->parts != NULL) {
        reference_texture alone = tvlm_reference_image(texture, slice / texture->layers);
        return tvlm_reference_texture_read(device, &alone.base, level, slice % texture->layers, rgba);
    }
    const int32_t width = tvlm_level_side(texture->width, level),
                  height = tvlm_level_side(texture->height, level);
    memcpy(rgba, tvlm_reference_fetch(texture, level, slice, 0, 0),
           (size_t)width * (size_t)height * 4 * sizeof(float));
    return TVLM_OK;
}

static void write_plane(tvlm_texture *texture, int32_t slice, const float *rgba) {
    for (int32_t y = 0; y < texture->height; ++y) {
        for (int32_t x = 0; x < texture->width; ++x, rgba += 4) {
            double value[4] = {rgba[0], 0.0, 0.0, 0.0};
            for (int c = 1; c < 4 && !texture->scalar; ++c) value[c] = rgba[c];
            tvlm_reference_store(texture, 0, slice, x, y, value);
        }
    }
}

tvlm_status tvlm_reference_texture_write(tvlm_device *device, tvlm_texture *texture, int32_t slice,
                                         const float *rgba) {
    (void)device;
    if (texture->parts != NULL) {
        reference_texture alone = tvlm_reference_image(texture, slice / texture->layers);
        write_plane(&alone.base, slice % texture->layers, rgba);
    } else {
        write_plane(texture, slice, rgba);
    }
    return TVLM_OK;
}

const float *tvlm_reference_fetch(const tvlm_texture *texture, int32_t level, int32_t slice, int32_t x,
                                  int32_t y) {
    const reference_texture *self = (const reference_texture *)texture;
    x = clamp_index(x, tvlm_level_side(texture->width, level));
    y = clamp_index(y, tvlm_level_side(texture->height, level));
    return self->levels[level] + texel_offset(texture, level, slice, x, y);
}

void tvlm_reference_store(tvlm_texture *texture, int32_t level, int32_t slice, int32_t x, int32_t y,
                          const double value[4]) {
    reference_texture *self = (reference_texture *)texture;
    float *texel = self->levels[level] + texel_offset(texture, level, slice, x, y);
    for (int c = 0; c < 4; ++c)
        texel[c] = tvlm_component_round(tvlm_texture_format(texture), (float)value[c]);
}

reference_between tvlm_reference_locate(double coordinate, int32_t side) {
    const double clamped = fmin(fmax(coordinate - 0.5, 0), side - 1);
    const int32_t first = (int32_t)floor(clamped);
    return (reference_between){first, clamp_index(first + 1, side), clamped - first};
}

tvlm_status tvlm_reference_texture_copy(tvlm_device *device, const tvlm_texture *from, tvlm_texture *to) {
    (void)device;
    memcpy(((reference_texture *)to)->texels, ((const reference_texture *)from)->texels, from->bytes);
    return TVLM_OK;
}
