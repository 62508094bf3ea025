/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h: what the backends are told when the flow between two sources is estimated, and what they agree on
 * about levels and patches.
 */
#ifndef TVLM_CORE_FLOW_H
#define TVLM_CORE_FLOW_H

#include <stdint.h>

#include "core/constants.h"

struct tvlm_texture;
struct tvlm_buffer;

/*
 * The flow leads from image from_image of `from` to image to_image of `to`. Both are sources of one size with
 * all their levels, and finest <= coarsest < levels. The result has the grid of level `finest` of the source,
 * w x h texels: out[3 * (y * w + x)] and the two floats after it become u and v, in pixels of level 0, and
 * the confidence.
 *
 * `refinements` is how many refinements there are at the finest level; each other level has one. 0 means none
 * at any level.
 *
 * If `grid` is not NULL, the same result also goes to level 0 of its image grid_image, which has w x h texels
 * and one layer. There u and v are clamped to [-limit, limit], and values that are not finite become 0.
 */
typedef struct tvlm_flow_args {
    const struct tvlm_texture *from, *to;
    int32_t from_image, to_image;
    int32_t finest, coarsest;
    int32_t refinements;
    struct tvlm_buffer *out;
    struct tvlm_texture *grid;
    int32_t grid_image;
    float limit;
} tvlm_flow_args;

/*
 * How many patches there are along a side. Patch i begins at texel TVLM_FLOW_STRIDE * (i - 1), moved inside
 * the image, so that two patches cover every texel.
 */
static inline int32_t tvlm_flow_patches(int32_t side) {
    return (side + TVLM_FLOW_STRIDE - 1) / TVLM_FLOW_STRIDE + 1;
}

/* The level of the backward flow. That flow is only compared with the forward one, so it is one level coarser
 * than the result, if there is such a level. */
static inline int32_t tvlm_flow_back_level(const tvlm_flow_args *args) {
    return args->finest < args->coarsest ? args->finest + 1 : args->finest;
}

/* How many refinements there are at a level. */
static inline int32_t tvlm_flow_refinements(const tvlm_flow_args *args, int32_t level) {
    return level == args->finest || args->refinements == 0 ? args->refinements : 1;
}

#endif
