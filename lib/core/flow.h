/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h: what the two backends are asked for when the flow between two sources is estimated, and the levels
 * at which they do it.
 */
#ifndef TVLM_CORE_FLOW_H
#define TVLM_CORE_FLOW_H

#include <stdint.h>

#include "core/constants.h"

struct tvlm_texture;
struct tvlm_buffer;

/*
 * From image from_image of `from` to image to_image of `to`: sources of one size, with all levels. Level
 * `finest` of the source is the result's grid, w x h: out[3 * (y * w + x)] = u, v in pixels of level 0 and
 * the confidence, floats. finest <= coarsest < levels.
 */
typedef struct tvlm_flow_args {
    const struct tvlm_texture *from, *to;
    int32_t from_image, to_image;
    int32_t finest, coarsest;
    int32_t refinements; /* at the finest level; one at the others; 0: none at all */
    struct tvlm_buffer *out;
} tvlm_flow_args;

/*
 * Patches along a side: patch i begins at texel TVLM_FLOW_STRIDE * (i - 1), so that two cover every texel;
 * but no patch reaches out of the image.
 */
static inline int32_t tvlm_flow_patches(int32_t side) {
    return (side + TVLM_FLOW_STRIDE - 1) / TVLM_FLOW_STRIDE + 1;
}

/* The backward flow is only compared with: a level coarser than the result, where there is one. */
static inline int32_t tvlm_flow_back_level(const tvlm_flow_args *args) {
    return args->finest < args->coarsest ? args->finest + 1 : args->finest;
}

/* Refinements at a level. */
static inline int32_t tvlm_flow_refinements(const tvlm_flow_args *args, int32_t level) {
    return level == args->finest || args->refinements == 0 ? args->refinements : 1;
}

#endif
