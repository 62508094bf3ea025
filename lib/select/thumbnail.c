/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thumbnail.c: which positions are the cells of a thumbnail, and the picture that they are cut out of.
 */
#include "select/thumbnail.h"

#include <math.h>

#include "core/try.h"
#include "stack/grids.h"

/* Coordinates are floats: by so much of a cell's side they may be off. */
#define NEAR 1e-3

/* How many cells of that length a side has. */
static int32_t cells_of(double side, double length) {
    return length > 0.0 ? (int32_t)fmin(round(side / length), INT32_MAX) : 0;
}

static bool is_near(double a, double b, double length) {
    return fabs(a - b) <= NEAR * length;
}

tvlm_thumbnail tvlm_thumbnail_of(const tvlm_stack *stack, int32_t index, const tvlm_position *positions,
                                 int32_t count) {
    const tvlm_original original = tvlm_stack_original(stack, index);
    const tvlm_thumbnail none = {0, 0};
    const double width = (double)positions[0].size, height = (double)positions[0].height;
    const tvlm_thumbnail t = {cells_of(original.width, width), cells_of(original.height, height)};
    const int64_t cells = (int64_t)t.columns * t.rows;
    if (t.columns < 1 || t.rows < 1 || cells > count) return none;
    const double wide = (double)original.width / t.columns, high = (double)original.height / t.rows;
    for (int32_t i = 0; i < cells; ++i) {
        const tvlm_position *const p = &positions[i];
        if (!is_near((double)p->size, wide, wide) || !is_near((double)p->height, high, high) ||
            !is_near((double)p->x, (i % t.columns + 0.5) * wide, wide) ||
            !is_near((double)p->y, ((double)(i / t.columns) + 0.5) * high, high))
            return none;
    }
    return t;
}

tvlm_budget_size tvlm_thumbnail_size(const tvlm_thumbnail *thumbnail, int32_t side) {
    return (tvlm_budget_size){thumbnail->columns * side, thumbnail->rows * side, 0.0};
}

tvlm_budget_size tvlm_three_quarters(int32_t width, int32_t height) {
    return (tvlm_budget_size){(3 * width + 3) / 4, (3 * height + 3) / 4, 4.0 / 3.0};
}

/* Whether a tile of that side begins at a multiple of it. */
static bool is_on_grid(double centre, double side) {
    const double at = centre / side - 0.5;
    return fabs(at - round(at)) <= NEAR;
}

bool tvlm_is_ninth(const tvlm_stack *stack, int32_t index, const tvlm_position *position, int32_t side) {
    const tvlm_original original = tvlm_stack_original(stack, index);
    const double length = (double)position->size / sqrt(original.scale_x * original.scale_y);
    return position->height == 0.0f && is_near(length, side * 4.0 / 3.0, side) &&
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
    /* Tiles do not count here: any patch will do. */
    if (!tvlm_budget_plan_make(source, tvlm_stack_image_number(stack, index), TVLM_PATCH_DEFAULT, size, 1,
                               &plan))
        return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for a thumbnail");
    tvlm_status status = device->backend->texture_create(device, &shape, made);
    if (status == TVLM_OK) status = device->backend->thumbnail(device, source, &plan, *made);
    tvlm_budget_plan_free(&plan);
    return status;
}
