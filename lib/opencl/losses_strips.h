/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses_strips.h: an image in strips, so that what lies between the kernels of cl/losses.cl takes little memory.
 *
 * A strip is some rows of tiles. To make its losses, its pictures need some rows more of the image than it has itself, since
 * Lanczos' filter reaches beyond it. So two strips make some rows of pictures twice, which is the price.
 */
#ifndef TVLM_OPENCL_LOSSES_STRIPS_H
#define TVLM_OPENCL_LOSSES_STRIPS_H

#include "core/backend.h"

typedef struct opencl_strip {
    int32_t tile, tiles; /* its first row of tiles, and how many there are */
    /* Its first row of pixels, and where they end. Of level n it needs the rows that lie where it lies, and
     * `margin` rows more on either side, as far as there are so many (level_rows of cl/losses.cl). */
    int32_t first, end, margin;
    /* How many floats its parts take: the luma of these rows, and the two memories of a plan. */
    size_t luma, between, texels;
} opencl_strip;

/* The whole image. It needs no table, and the plan's own pictures are its pictures. */
opencl_strip tvlm_opencl_strip_whole(const tvlm_texture *source, const tvlm_budget_plan *plan);

/* The strip with these rows of tiles, whose last ones may lie beyond the image. Where `pictures` is not NULL, it
 * becomes the strip's pictures, each with the rows that the strip needs. It has room for plan->count. The plan's table
 * is read. */
opencl_strip tvlm_opencl_strip_at(const tvlm_texture *source, const tvlm_budget_plan *plan, int32_t tile,
                                  int32_t tiles, tvlm_budget_picture *pictures);

/* All strips of an image: how many rows of tiles each has, the last one excepted, and the most floats that any takes. */
typedef struct opencl_strips {
    int32_t tiles;
    size_t luma, between, texels;
} opencl_strips;

/* Divides an image so that a strip takes at most so many floats, with what is known of its tiles, or has but one row of tiles. Where
 * one strip does, that is the whole image, and the plan's table is not read. */
opencl_strips tvlm_opencl_strips(const tvlm_texture *source, const tvlm_budget_plan *plan, size_t floats);

/* The rows of level n whose luma a strip has. */
tvlm_budget_rows tvlm_opencl_strip_rows(const tvlm_texture *source, const opencl_strip *strip, int32_t level);

#endif
