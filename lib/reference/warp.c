/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warp.c: moves the encoder's vectors into the next frame along the flow, and mixes new ones in (cl/warp.cl
 * explains how).
 */
#include <math.h>

#include "reference/reference.h"
#include "reference/sample.h"
#include "reference/texture.h"

/* One component of a layer at a point of the image. */
static double sample(const tvlm_texture *texture, int32_t layer, int component,
                     const reference_point *point) {
    const tvlm_bundle bundle = {.count = 1, .textures = {(tvlm_texture *)(uintptr_t)texture}};
    return tvlm_reference_sample_at(&bundle, TVLM_REF(0, layer, component), point);
}

/* The centre, in pixels, of that part of a cell that lies in the image. */
static double clipped_centre(int32_t cell, double step, double side) {
    const double begin = cell * step;
    return (begin + fmin(begin + step, fmax(side, begin))) / 2;
}

/* Finds where a cell was a frame ago, as a step from where it is. Returns false where the flow cannot be
 * trusted or leads out of the image. */
static bool find_step(const tvlm_warp *warp, const tvlm_texture *out, int32_t column, int32_t row,
                      double step[2]) {
    const double width = (double)warp->width, height = (double)warp->height;
    const reference_point at = {clipped_centre(column, (double)out->extent_x / out->width, width),
                                clipped_centre(row, (double)out->extent_y / out->height, height),
                                (double)tvlm_warp_level(out), 0};
    const double u = sample(warp->flow, 0, 0, &at), v = sample(warp->flow, 0, 1, &at),
                 confidence = sample(warp->flow, 0, 2, &at);
    const double x = at.x + u, y = at.y + v;
    if (!(confidence >= (double)warp->confidence) || !(hypot(u, v) <= (double)warp->longest) ||
        !(x >= 0 && x <= width && y >= 0 && y <= height))
        return false;
    step[0] = u;
    step[1] = v;
    return true;
}

/* The four cells around a point, which is given in cells, and their bilinear weights. */
typedef struct taps {
    int32_t column[4], row[4];
    double weight[4];
} taps;

static taps taps_at(const tvlm_texture *grid, double x, double y) {
    const reference_between across = tvlm_reference_locate(x, grid->width),
                            down = tvlm_reference_locate(y, grid->height);
    taps found;
    for (int i = 0; i < 4; ++i) {
        found.column[i] = i % 2 ? across.second : across.first;
        found.row[i] = i / 2 ? down.second : down.first;
        found.weight[i] =
            (i % 2 ? across.fraction : 1 - across.fraction) * (i / 2 ? down.fraction : 1 - down.fraction);
    }
    return found;
}

/* Adds to `way` the mean path of those cells around a point that have a path. Returns false where the weights
 * of these cells are too small. */
static bool follow_path(const tvlm_warp *warp, double x, double y, double way[2]) {
    const float *path = reference_data(warp->path);
    const taps around = taps_at(warp->from, x, y);
    double share = 0, sum[2] = {0, 0};
    for (int i = 0; i < 4; ++i) {
        const float *one = path + 4 * (around.row[i] * warp->from->width + around.column[i]);
        const double weight = around.weight[i] * (double)one[2];
        share += weight;
        sum[0] += weight * (double)one[0];
        sum[1] += weight * (double)one[1];
    }
    if (!(share >= (double)TVLM_WARP_SHARE)) return false;
    way[0] += sum[0] / share;
    way[1] += sum[1] / share;
    return true;
}

/* The bilinear mean over the cells that have a vector. Returns false where the weights of these cells are too
 * small. */
static bool gather(const tvlm_warp *warp, double x, double y, int32_t layer, double value[4]) {
    const float *known = reference_data(warp->known);
    const taps around = taps_at(warp->from, x, y);
    double share = 0;
    for (int i = 0; i < 4; ++i) {
        const int32_t column = around.column[i], row = around.row[i];
        share += around.weight[i] * (double)known[row * warp->from->width + column];
        for (int c = 0; c < 4; ++c)
            value[c] += around.weight[i] * (double)tvlm_reference_fetch(warp->from, 0, layer, column, row)[c];
    }
    const bool enough = share >= (double)TVLM_WARP_SHARE;
    for (int c = 0; c < 4; ++c) value[c] = enough ? value[c] / share : 0;
    return enough;
}

/* Makes the vector and the path of one cell. */
static void move(const tvlm_warp *warp, int32_t column, int32_t row, tvlm_texture *out) {
    const double across = (double)out->extent_x / out->width, down = (double)out->extent_y / out->height;
    float *next = (float *)reference_data(warp->next) + 4 * (row * out->width + column);
    double way[2] = {0, 0};
    bool known = warp->flow == NULL || find_step(warp, out, column, row, way);
    known = known && follow_path(warp, column + 0.5 + way[0] / across, row + 0.5 + way[1] / down, way);
    for (int32_t layer = 0; layer < out->layers; ++layer) {
        double value[4] = {0, 0, 0, 0};
        if (known)
            known = gather(warp, column + 0.5 + way[0] / across, row + 0.5 + way[1] / down, layer, value);
        tvlm_reference_store(out, 0, layer, column, row, value);
    }
    next[0] = known ? (float)way[0] : 0.0f;
    next[1] = known ? (float)way[1] : 0.0f;
    next[2] = known ? 1.0f : 0.0f;
    next[3] = 0.0f;
}

tvlm_status tvlm_reference_warp(tvlm_device *device, const tvlm_warp *warp, tvlm_texture *out) {
    (void)device;
    for (int32_t row = 0; row < out->height; ++row)
        for (int32_t column = 0; column < out->width; ++column) move(warp, column, row, out);
    return TVLM_OK;
}

tvlm_status tvlm_reference_blend(tvlm_device *device, const tvlm_texture *old, const tvlm_texture *fresh,
                                 tvlm_buffer *weights, tvlm_texture *out) {
    const float *weight = reference_data(weights);
    (void)device;
    for (int32_t row = 0; row < out->height; ++row)
        for (int32_t column = 0; column < out->width; ++column, ++weight)
            for (int32_t layer = 0; layer < out->layers; ++layer) {
                const float *a = tvlm_reference_fetch(old, 0, layer, column, row),
                            *b = tvlm_reference_fetch(fresh, 0, layer, column, row);
                double value[4];
                for (int c = 0; c < 4; ++c)
                    value[c] = (double)a[c] * (1 - (double)*weight) + (double)b[c] * (double)*weight;
                tvlm_reference_store(out, 0, layer, column, row, value);
            }
    return TVLM_OK;
}
