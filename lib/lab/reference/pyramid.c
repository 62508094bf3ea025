/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/reference/pyramid.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

bool tvlm_reference_pyramid_allocate(reference_pyramid *p) {
    size_t numbers = 0;
    p->count = 0;
    for (int32_t level = 0; level < p->levels; ++level) {
        p->first[level] = p->count;
        p->count += (size_t)tvlm_level_side(p->width, level) * (size_t)tvlm_level_side(p->height, level);
    }
    p->texels = tvlm_multiply(p->count, (size_t)p->components, &numbers)
                    ? tvlm_allocate(numbers, sizeof *p->texels)
                    : NULL;
    return p->texels != NULL;
}

/* ---- Levels ---- */

/*
 * Returns the share that texel `from` of a level has in texel `to` of the next level, along one side. Both
 * levels cover the same length. If this length is side * next units, a texel of the level is `next` units
 * long, and a texel of the next level `side` units.
 */
static double share_of(int32_t side, int32_t next, int32_t from, int32_t to) {
    const int64_t low = (int64_t)from * next > (int64_t)to * side ? (int64_t)from * next : (int64_t)to * side;
    const int64_t end = ((int64_t)from + 1) * next, other = ((int64_t)to + 1) * side;
    const int64_t high = end < other ? end : other;
    return high > low ? (double)(high - low) / side : 0.0;
}

/* Goes over all pairs of a texel of `level` and a finer texel that it is made of. A pair's share says how
 * much of the coarser texel the finer one makes up. With `down`, the coarser texel's value times the share is
 * added to the finer texel. Otherwise the finer texel's value times the share is added to the coarser one. */
static void between_levels(reference_pyramid *p, int32_t level, bool down) {
    const int32_t w = tvlm_level_side(p->width, level - 1), h = tvlm_level_side(p->height, level - 1);
    const int32_t next_w = tvlm_level_side(p->width, level), next_h = tvlm_level_side(p->height, level);
    const size_t components = (size_t)p->components;
    for (int32_t j = 0; j < next_h; ++j)
        for (int32_t i = 0; i < next_w; ++i)
            for (int32_t y = 2 * j; y < h && y < 2 * j + 3; ++y)
                for (int32_t x = 2 * i; x < w && x < 2 * i + 3; ++x) {
                    const double share = share_of(w, next_w, x, i) * share_of(h, next_h, y, j);
                    double *const fine =
                        p->texels + (p->first[level - 1] + (size_t)y * (size_t)w + (size_t)x) * components;
                    double *const coarse =
                        p->texels + (p->first[level] + (size_t)j * (size_t)next_w + (size_t)i) * components;
                    for (size_t c = 0; c < components; ++c)
                        if (down)
                            fine[c] += share * coarse[c];
                        else
                            coarse[c] += share * fine[c];
                }
}

void tvlm_reference_pyramid_reduce(reference_pyramid *p) {
    for (int32_t level = 1; level < p->levels; ++level) between_levels(p, level, false);
}

void tvlm_reference_pyramid_hand_down(reference_pyramid *p) {
    for (int32_t level = p->levels - 1; level > 0; --level) between_levels(p, level, true);
}

/* ---- Points ---- */

/* The two texels of a side beside a position, their weights, and how much the weights change per pixel. */
typedef struct side_taps {
    int32_t at[2];
    double weight[2], change[2];
} side_taps;

static side_taps along(double position, int32_t side, double extent) {
    const double coordinate = position * side / extent;
    const reference_between between = tvlm_reference_locate(coordinate, side);
    const bool inside = coordinate - 0.5 >= 0 && coordinate - 0.5 < side - 1;
    const double change = inside ? side / extent : 0.0;
    return (side_taps){
        {between.first, between.second}, {1.0 - between.fraction, between.fraction}, {-change, change}};
}

/* Adds the taps of a level. The level has weight `weight`, which changes by `change` per level. */
static void add_level(const reference_pyramid *p, int32_t level, double weight, double change, double x,
                      double y, reference_taps *taps) {
    const int32_t width = tvlm_level_side(p->width, level);
    const side_taps across = along(x, width, p->extent_x),
                    down = along(y, tvlm_level_side(p->height, level), p->extent_y);
    for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 2; ++i) {
            const double in_place = across.weight[i] * down.weight[j];
            taps->tap[taps->count++] = (reference_tap){
                .texel = p->first[level] + (size_t)down.at[j] * (size_t)width + (size_t)across.at[i],
                .weight = weight * in_place,
                .dx = weight * across.change[i] * down.weight[j],
                .dy = weight * across.weight[i] * down.change[j],
                .dlevel = change * in_place};
        }
}

reference_taps tvlm_reference_find_taps(const reference_pyramid *p, double x, double y, double level) {
    const double bias = fmax(0.0, fmax(log2(p->extent_x / p->width), log2(p->extent_y / p->height)));
    const double own = level - bias, last = p->levels - 1, clamped = fmin(fmax(own, 0.0), last);
    const int32_t lower = (int32_t)floor(clamped);
    const double fraction = clamped - lower, change = own >= 0.0 && own < last ? 1.0 : 0.0;
    reference_taps taps = {.count = 0};
    add_level(p, lower, 1.0 - fraction, -change, x, y, &taps);
    if (lower + 1 < p->levels) add_level(p, lower + 1, fraction, change, x, y, &taps);
    return taps;
}

static double *texel_of(const reference_pyramid *p, const reference_tap *tap) {
    return p->texels + tap->texel * (size_t)p->components;
}

void tvlm_reference_gather(const reference_pyramid *p, const reference_taps *taps, double *out) {
    memset(out, 0, (size_t)p->components * sizeof *out);
    for (int t = 0; t < taps->count; ++t)
        for (int32_t c = 0; c < p->components; ++c)
            out[c] += taps->tap[t].weight * texel_of(p, &taps->tap[t])[c];
}

void tvlm_reference_scatter(reference_pyramid *p, const reference_taps *taps, const double *given) {
    for (int t = 0; t < taps->count; ++t)
        for (int32_t c = 0; c < p->components; ++c)
            texel_of(p, &taps->tap[t])[c] += taps->tap[t].weight * given[c];
}

void tvlm_reference_step(const reference_pyramid *p, const reference_taps *taps, const double *given,
                         double step[3]) {
    step[0] = step[1] = step[2] = 0.0;
    for (int t = 0; t < taps->count; ++t) {
        const reference_tap *const tap = &taps->tap[t];
        double product = 0.0;
        for (int32_t c = 0; c < p->components; ++c) product += given[c] * texel_of(p, tap)[c];
        step[0] += tap->dx * product;
        step[1] += tap->dy * product;
        step[2] += tap->dlevel * product;
    }
}
