/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thumbnail.c: which positions are the cells of a thumbnail or tiles at a fraction of the image's size, and
 * the pictures that they are cut out of.
 */
#include "select/thumbnail.h"

#include <math.h>

#include "core/try.h"
#include "stack/grids.h"

/* Coordinates are floats, and may be off by this share of a cell's side. */
#define NEAR 1e-3

/* How many cells of that length a side has. */
static int32_t cells_of(double side, double length) {
    return length > 0.0 ? (int32_t)fmin(round(side / length), INT32_MAX) : 0;
}

static bool is_near(double a, double b, double length) {
    return fabs(a - b) <= NEAR * length;
}

/* The number of the cell that a position stands for, in the thumbnail's grid over an image. -1: it is no
 * cell. */
static int64_t cell_at(const tvlm_thumbnail *t, const tvlm_original *original, const tvlm_position *p) {
    const double wide = (double)original->width / t->columns, high = (double)original->height / t->rows;
    const double column = floor((double)p->x / wide), row = floor((double)p->y / high);
    if (!is_near((double)p->size, wide, wide) || !is_near((double)p->height, high, high) ||
        !is_near((double)p->x, (column + 0.5) * wide, wide) ||
        !is_near((double)p->y, (row + 0.5) * high, high) || column < 0.0 || column >= t->columns ||
        row < 0.0 || row >= t->rows)
        return -1;
    return (int64_t)row * t->columns + (int64_t)column;
}

/* Whether the cells along a side, of `side` texels each, are much longer together than the image: all but one
 * of them have at least twice as many texels as the image has pixels there. */
static bool is_long(int32_t cells, int32_t side, int32_t pixels) {
    return (int64_t)(cells - 1) * side >= 2 * (int64_t)pixels;
}

bool tvlm_thumbnail_fits(const tvlm_stack *stack, const tvlm_thumbnail *thumbnail, int32_t side) {
    return thumbnail->cells == (int64_t)thumbnail->columns * thumbnail->rows ||
           (!is_long(thumbnail->columns, side, tvlm_stack_width(stack)) &&
            !is_long(thumbnail->rows, side, tvlm_stack_height(stack)));
}

tvlm_thumbnail tvlm_thumbnail_of(const tvlm_stack *stack, int32_t index, const tvlm_position *positions,
                                 int32_t count, int32_t side) {
    const tvlm_original original = tvlm_stack_original(stack, index);
    const tvlm_thumbnail none = {0, 0, 0};
    tvlm_thumbnail t = {cells_of(original.width, (double)positions[0].size),
                        cells_of(original.height, (double)positions[0].height), 0};
    if (t.columns < 1 || t.rows < 1) return none;
    for (int64_t last = -1; t.cells < count; ++t.cells) {
        const int64_t number = cell_at(&t, &original, &positions[t.cells]);
        if (number <= last) break;
        last = number;
    }
    return t.cells > 0 && tvlm_thumbnail_fits(stack, &t, side) ? t : none;
}

tvlm_budget_size tvlm_thumbnail_size(const tvlm_thumbnail *thumbnail, int32_t side) {
    return (tvlm_budget_size){thumbnail->columns * side, thumbnail->rows * side, 0.0};
}

/* For each fraction: how many texels it makes of how many pixels along a side. */
static const struct {
    int32_t texels, pixels;
} fractions[TVLM_FRACTIONS] = {[TVLM_THREE_QUARTERS] = {3, 4}, [TVLM_THIRD] = {1, 3}};

static double texel_of(tvlm_fraction fraction) {
    return (double)fractions[fraction].pixels / fractions[fraction].texels;
}

tvlm_budget_size tvlm_fraction_size(tvlm_fraction fraction, int32_t width, int32_t height) {
    const int32_t texels = fractions[fraction].texels, pixels = fractions[fraction].pixels;
    return (tvlm_budget_size){(texels * width + pixels - 1) / pixels, (texels * height + pixels - 1) / pixels,
                              texel_of(fraction)};
}

/* Whether a tile of that side begins at a multiple of it. */
static bool is_on_grid(double centre, double side) {
    const double at = centre / side - 0.5;
    return fabs(at - round(at)) <= NEAR;
}

bool tvlm_is_of_fraction(const tvlm_stack *stack, int32_t index, const tvlm_position *position, int32_t side,
                         tvlm_fraction fraction) {
    const tvlm_original original = tvlm_stack_original(stack, index);
    const double length = (double)position->size / sqrt(original.scale_x * original.scale_y);
    return position->height == 0.0f && is_near(length, side * texel_of(fraction), side) &&
           is_on_grid((double)position->x / original.scale_x, length) &&
           is_on_grid((double)position->y / original.scale_y, length);
}

tvlm_status tvlm_picture_make(tvlm_stack *stack, int32_t index, const tvlm_budget_size *size,
                              tvlm_texture **made) {
    tvlm_device *const device = tvlm_stack_device(stack);
    const tvlm_texture *const source = tvlm_stack_made(stack, index, TVLM_GRID_SOURCE);
    tvlm_texture shape = *source;
    tvlm_budget_plan plan;
    shape.width = size->width;
    shape.height = size->height;
    shape.levels = 1;
    if (size->texel > 0.0) {
        shape.extent_x = (float)(size->width * size->texel);
        shape.extent_y = (float)(size->height * size->texel);
    }
    /* The plan needs a patch's side, but no tiles are measured here, so any value will do. */
    if (!tvlm_budget_plan_make(source, tvlm_stack_image_number(stack, index), TVLM_PATCH_DEFAULT, size, 1,
                               NULL, &plan))
        return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for a thumbnail");
    tvlm_status status = device->backend->texture_create(device, &shape, made);
    if (status == TVLM_OK) status = device->backend->thumbnail(device, source, &plan, *made);
    tvlm_budget_plan_free(&plan);
    return status;
}
