/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_helper.h: one reference device, and pictures, textures and random numbers for its tests.
 */
#ifndef TVLM_TESTS_REFERENCE_HELPER_H
#define TVLM_TESTS_REFERENCE_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/backend.h"
#include "core/half.h"
#include "reference/reference.h"

static tvlm_device *device;
static const tvlm_backend *backend;

static inline int open_device(void **state) {
    (void)state;
    if (tvlm_reference_open(NULL, &device) != TVLM_OK) return -1;
    backend = device->backend;
    return 0;
}

static inline int close_device(void **state) {
    (void)state;
    backend->destroy(device);
    return 0;
}

#define assert_near(got, expected, tolerance) near_at(got, expected, tolerance, __LINE__)
static inline void near_at(double got, double expected, double tolerance, int line) {
    if (fabs(got - expected) <= tolerance) return; /* NaN does not */
    fail_msg("line %d: %.9g instead of %.9g", line, got, expected);
}

static uint64_t random_state = 1;

/* A random number by splitmix64. */
static inline uint64_t random_bits(void) {
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline float random_unit(void) {
    return (float)(random_bits() >> 40) / 16777216.0f;
}

static inline int32_t random_between(int32_t low, int32_t high) {
    return low + (int32_t)(random_bits() % (uint64_t)(high - low + 1));
}

static inline size_t texels_of(int32_t width, int32_t height) {
    return (size_t)width * (size_t)height;
}

static inline tvlm_texture *create(const tvlm_texture *shape) {
    tvlm_texture *texture = NULL;
    assert_int_equal(backend->texture_create(device, shape, &texture), TVLM_OK);
    return texture;
}

/* Creates a float texture of one slice over an image of its own size, with all levels, which are means. */
static inline tvlm_texture *create_simple(int32_t width, int32_t height) {
    return create(&(tvlm_texture){.width = width,
                                  .height = height,
                                  .layers = 1,
                                  .images = 1,
                                  .levels = tvlm_level_count(width, height),
                                  .format = TVLM_FORMAT_F32,
                                  .extent_x = (float)width,
                                  .extent_y = (float)height});
}

/* Reads one level of slice 0. The caller frees it. */
static inline float *read_level(tvlm_texture *texture, int32_t level) {
    const size_t count =
        texels_of(tvlm_level_side(texture->width, level), tvlm_level_side(texture->height, level));
    float *texels = calloc(count * 4, sizeof *texels);
    assert_non_null(texels);
    assert_int_equal(backend->texture_read(device, texture, level, 0, texels), TVLM_OK);
    return texels;
}

/* A picture as a function of the pixel. */
typedef void painter(int32_t x, int32_t y, float rgb[3]);

/* Makes the source of a picture, with its levels. */
static inline tvlm_texture *paint(int32_t width, int32_t height, painter *picture) {
    tvlm_texture *source = create_simple(width, height);
    const size_t bytes = texels_of(width, height) * 3 * sizeof(float);
    float *rgb = malloc(bytes);
    assert_non_null(rgb);
    for (int32_t y = 0; y < height; ++y)
        for (int32_t x = 0; x < width; ++x) picture(x, y, rgb + 3 * (texels_of(width, y) + (size_t)x));
    tvlm_buffer *buffer = NULL;
    const tvlm_pixels layout = {width, height, 3, TVLM_PIXEL_F32, 0, (size_t)width * 3 * sizeof(float)};
    assert_int_equal(backend->buffer_create(device, bytes, &buffer), TVLM_OK);
    assert_int_equal(backend->buffer_write(device, buffer, 0, bytes, rgb), TVLM_OK);
    assert_int_equal(backend->source(device, buffer, &layout, 0, source), TVLM_OK);
    assert_int_equal(backend->mips(device, &source, 1), TVLM_OK);
    backend->buffer_destroy(device, &buffer);
    free(rgb);
    return source;
}

/* Makes the grid `id` of a source, at the size that the registry gives it. */
static inline tvlm_texture *generate(tvlm_grid id, tvlm_texture *source) {
    int32_t width = source->width, height = source->height;
    float extent_x = (float)width, extent_y = (float)height;
    if (id == TVLM_GRID_SALIENCY) {
        width = tvlm_level_side(width, 2);
        height = tvlm_level_side(height, 2);
    } else if (id == TVLM_GRID_ENTROPY) {
        width = (width + 15) / 16;
        height = (height + 15) / 16;
        extent_x = (float)(16 * width);
        extent_y = (float)(16 * height);
    }
    tvlm_texture *out = create(&(tvlm_texture){.width = width,
                                               .height = height,
                                               .layers = 1,
                                               .images = 1,
                                               .levels = 1,
                                               .format = TVLM_FORMAT_F32,
                                               .extent_x = extent_x,
                                               .extent_y = extent_y});
    tvlm_texture *grids[TVLM_GRID_COUNT] = {[TVLM_GRID_SOURCE] = source};
    assert_int_equal(backend->generate[id](device, &(tvlm_generate_args){.grids = grids, .out = out}),
                     TVLM_OK);
    return out;
}

/* Whether a family is one of those that this file looks at as one: they need the source, all of it, and
 * nothing else. */
static inline bool made_of_source(tvlm_grid id) {
    return backend->generate[id] != NULL && tvlm_grid_get_info(id)->needs == 1u << TVLM_GRID_SOURCE &&
           (id == TVLM_GRID_VISUAL || id == TVLM_GRID_SALIENCY || id == TVLM_GRID_LAPLACIAN ||
            id == TVLM_GRID_ENTROPY || id == TVLM_GRID_GRADIENT);
}

/* Makes grid `id` of a picture and reads its level 0. The caller frees it. */
static inline float *generate_texels(tvlm_grid id, int32_t width, int32_t height, painter *picture) {
    tvlm_texture *source = paint(width, height, picture);
    tvlm_texture *out = generate(id, source);
    float *texels = read_level(out, 0);
    backend->texture_destroy(device, &out);
    backend->texture_destroy(device, &source);
    return texels;
}

static inline void paint_gray(int32_t x, int32_t y, float rgb[3]) {
    (void)x, (void)y;
    rgb[0] = rgb[1] = rgb[2] = 0.3f;
}

static inline void paint_step(int32_t x, int32_t y, float rgb[3]) {
    (void)y;
    rgb[0] = rgb[1] = rgb[2] = x < 8 ? 0.0f : 1.0f;
}

/* Paints repeatable noise, which depends on the place alone. It can be mirrored: an axis whose size is set is
 * flipped. */
static int32_t mirror_width, mirror_height;
static inline void paint_noise(int32_t x, int32_t y, float rgb[3]) {
    if (mirror_width > 0) x = mirror_width - 1 - x;
    if (mirror_height > 0) y = mirror_height - 1 - y;
    const uint64_t kept = random_state;
    random_state = (uint64_t)y * 65537u + (uint64_t)x;
    for (int c = 0; c < 3; ++c) rgb[c] = random_unit();
    random_state = kept;
}

#endif
