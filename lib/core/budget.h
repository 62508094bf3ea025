/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h: pictures of an image, and what each of them loses of every tile. lib/select works these plans
 * out, and the backends follow them.
 */
#ifndef TVLM_CORE_BUDGET_H
#define TVLM_CORE_BUDGET_H

#include <stddef.h>
#include <stdint.h>

/*
 * One axis of a resize. For place o of the result, the plan's table of floats holds from index offset + o *
 * (taps + TVLM_BUDGET_HEAD) on: the first source place, how many there are (both whole numbers), and `taps`
 * weights, of which those that are not used are 0.
 */
typedef struct tvlm_budget_axis {
    int32_t offset, taps;
} tvlm_budget_axis;

/*
 * A picture of luma: level `from` of the source is reduced to width x height texels, along columns and then
 * along rows, and clamped to [0, 1]; that is enlarged to the size of the image, along rows and then along
 * columns, and clamped. It has the layout of TVLM_BUDGET_PICTURE ints, as kernels read it.
 */
typedef struct tvlm_budget_picture {
    int32_t width, height;
    int32_t from, unused;
    tvlm_budget_axis reduce_x, reduce_y, enlarge_x, enlarge_y;
    /* Where its texels begin in the memory between the passes: what lies between two passes (it is used
     * before the next such is made), and the picture itself. */
    int32_t between, texels;
    int32_t unused_too[2];
} tvlm_budget_picture;

/*
 * Several pictures of one image. Tiles are squares of `patch` pixels, clipped by the right and the lower border,
 * `columns` x `rows` of them. Detail is measured by their blocks, TVLM_BUDGET_BLOCKS along each side: block b
 * begins at pixel TVLM_BUDGET_EDGE(b, patch), so that where the patch cannot be divided some are a pixel longer.
 */
typedef struct tvlm_budget_plan {
    int32_t image; /* of the source */
    int32_t patch, columns, rows;
    float legible;  /* the correlation at which detail is read half of the time, by windows of such tiles */
    int32_t levels; /* how many levels of the source are read */
    int32_t count;
    const tvlm_budget_picture *pictures;
    const float *table;
    size_t table_floats;
    size_t between_texels, picture_texels; /* the memory between the passes, in floats */
} tvlm_budget_plan;

#endif
