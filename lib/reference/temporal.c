/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporal.c: the temporal channels: what was relevant, salient and looked at in the frame before.
 */
#include <math.h>

#include "reference/reference.h"
#include "reference/sample.h"
#include "reference/texture.h"

/* One component of a texture's first layer at a point of the image. */
static double sample(const tvlm_texture *texture, int component, const reference_point *point) {
    const tvlm_bundle bundle = {.count = 1, .textures = {(tvlm_texture *)(uintptr_t)texture}};
    return tvlm_reference_sample_at(&bundle, TVLM_REF(0, 0, component), point);
}

/* The centre of a cell, whether it lies in the image or not. */
static reference_point cell_centre(int32_t column, int32_t row, double level, int32_t image) {
    return (reference_point){(column + 0.5) * TVLM_CELL, (row + 0.5) * TVLM_CELL, level, image};
}

/* ---- Remembering ---- */

static double relevance_of(float score) {
    return isnan(score) ? 0 : fmin(fmax((double)score, 0), 1);
}

tvlm_status tvlm_reference_relevance(tvlm_device *device, tvlm_buffer *scores, tvlm_texture *out) {
    const float *score = reference_data(scores);
    (void)device;
    for (int32_t y = 0; y < out->height; ++y)
        for (int32_t x = 0; x < out->width; ++x, ++score) {
            const double value[4] = {relevance_of(*score), 0, 0, 0};
            tvlm_reference_store(out, 0, 0, x, y, value);
        }
    return TVLM_OK;
}

/* The largest of the Gaussians around the positions that were looked at. They are not added up, so that
 * positions that lie close together count once. */
static double gaussian(const tvlm_remember_args *args, const reference_point *at) {
    const float *position = (const float *)reference_data(args->positions) + args->positions_at;
    const double sigma = (double)args->sigma;
    double most = 0;
    for (int32_t i = 0; i < args->count; ++i, position += 2) {
        const double apart = hypot((double)position[0] - at->x, (double)position[1] - at->y) / sigma;
        if (apart < (double)TVLM_FIXATION_REACH) most = fmax(most, exp(-apart * apart / 2));
    }
    return most;
}

static void remember_state(const tvlm_remember_args *args, tvlm_texture *out) {
    const float *scores = args->scores != NULL ? reference_data(args->scores) : NULL;
    for (int32_t row = 0; row < out->height; ++row)
        for (int32_t column = 0; column < out->width; ++column) {
            reference_point at = cell_centre(column, row, (double)TVLM_TEMPORAL_LEVEL, args->image);
            double value[4] = {0, 0, 0, 0};
            value[1] = sample(args->saliency, args->component, &at);
            if (args->temporal != NULL)
                value[2] = (double)args->decay *
                           (double)tvlm_reference_fetch(args->temporal, 0, args->image, column, row)[2];
            value[2] = fmin(value[2] + gaussian(args, &at), 1);
            /* The map of relevance has this image alone. */
            at.image = 0;
            if (args->relevance != NULL)
                value[0] = sample(args->relevance, 0, &at);
            else if (scores != NULL)
                value[0] = relevance_of(scores[row * out->width + column]);
            tvlm_reference_store(out, 0, args->image, column, row, value);
        }
}

tvlm_status tvlm_reference_remember(tvlm_device *device, const tvlm_remember_args *args) {
    (void)device;
    if (args->state != NULL) remember_state(args, args->state);
    if (args->luma != NULL) tvlm_reference_remember_luma(args->source, args->image, args->luma);
    return TVLM_OK;
}

/* ---- Moving ---- */

/* The centre, in pixels, of that part of a cell that lies in the image. */
static double clipped_centre(int32_t cell, double side) {
    const double begin = (double)cell * TVLM_CELL;
    return (begin + fmin(begin + TVLM_CELL, side)) / 2;
}

/* Finds where a cell was a frame ago, as a step from where it is. Returns false where the flow cannot be
 * trusted or leads out of the image. */
static bool find_step(const tvlm_generate_args *args, int32_t image, int32_t column, int32_t row,
                      double step[2]) {
    const tvlm_texture *source = args->grids[TVLM_GRID_SOURCE], *flow = args->grids[TVLM_GRID_FLOW];
    const double width = (double)source->extent_x, height = (double)source->extent_y;
    const reference_point at = {clipped_centre(column, width), clipped_centre(row, height),
                                (double)TVLM_TEMPORAL_LEVEL, image};
    const double confidence = sample(flow, 2, &at);
    step[0] = sample(flow, 0, &at);
    step[1] = sample(flow, 1, &at);
    if (!isfinite(step[0]) || !isfinite(step[1]) || !(confidence >= (double)args->carry[image].confidence))
        return false;
    const double x = at.x + step[0], y = at.y + step[1];
    return x >= 0 && x <= width && y >= 0 && y <= height;
}

static void move(const tvlm_generate_args *args, int32_t image, int32_t column, int32_t row,
                 double value[4]) {
    const tvlm_texture *state = args->previous[TVLM_PREVIOUS_STATE];
    double step[2] = {0, 0};
    if (args->carry[image].flow && !find_step(args, image, column, row, step)) return;
    reference_point from = cell_centre(column, row, 0, image);
    from.x += step[0];
    from.y += step[1];
    for (int c = 0; c < 3; ++c) value[c] = sample(state, c, &from);
}

tvlm_status tvlm_reference_temporal(tvlm_device *device, const tvlm_generate_args *args) {
    const bool any = args->previous != NULL && args->previous[TVLM_PREVIOUS_STATE] != NULL;
    tvlm_texture *out = args->out;
    (void)device;
    for (int32_t image = 0; image < out->images; ++image)
        for (int32_t row = 0; row < out->height; ++row)
            for (int32_t column = 0; column < out->width; ++column) {
                double value[4] = {0, 0, 0, 0};
                if (any) move(args, image, column, row, value);
                tvlm_reference_store(out, 0, image, column, row, value);
            }
    return TVLM_OK;
}
