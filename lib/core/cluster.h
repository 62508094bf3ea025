/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h: what both backends and the stack agree on about regions: how an image is divided before SLIC's
 * first pass, and how the tables that the family leaves behind (TVLM_PRODUCT_REGIONS) lie in memory. Names say
 * `region` for one of them, and `cluster` for the family.
 */
#ifndef TVLM_CORE_CLUSTER_H
#define TVLM_CORE_CLUSTER_H

#include "core/backend.h"
#include "texturevlm/stack.h"

/*
 * The cells whose middles are SLIC's first centres. At any level, column i of cells begins at i * side /
 * columns, rounded down; rows likewise. There can be at most columns * rows regions.
 */
typedef struct tvlm_cluster_plan {
    int32_t columns, rows;
    /* The level of the source on which the passes begin: 0 or 1. */
    int32_t coarse;
    /* The weight of a squared distance in pixels beside a squared distance in colour steps. */
    float weight;
} tvlm_cluster_plan;

/*
 * Divides an image into at most settings->regions cells, as many and as square as possible. `levels` is how
 * many the source has. The weight is (compactness / S)^2 of the paper on SLIC, S^2 being the area of a cell.
 */
tvlm_cluster_plan tvlm_cluster_plan_for(int32_t width, int32_t height, int32_t levels,
                                        const tvlm_family_settings *settings);

/* A centre that is handed in is turned into sums over this many pixels. That keeps its place to 1 / this
 * number of a texel. */
#define TVLM_REGION_CENTRE_PIXELS 256

/*
 * Turns a centre that is handed in into the sums that a pass before the first one would have left: x, y, L, a
 * and b, each summed over TVLM_REGION_CENTRE_PIXELS texels of scale_x x scale_y pixels. The sums are whole
 * numbers, so that all devices begin at the same place.
 */
void tvlm_region_centre_sums(const tvlm_region_centre *centre, float scale_x, float scale_y, int64_t sums[5]);

/*
 * How an image's block of TVLM_PRODUCT_REGIONS lies in memory. It has `words` words of 32 bits:
 *   - a header of TVLM_REGION_HEADER words: the number of regions, and 1 if their labels were handed in;
 *   - `capacity` times tvlm_region, whose radius is still squared;
 *   - from word `neighbours` on, `capacity` rows of `row` words: bit j of row i is set where regions i and j
 *     touch.
 */
typedef struct tvlm_region_layout {
    int32_t capacity, neighbours, row, words;
} tvlm_region_layout;

/* The layout for a batch in which the application has handed in labels for some images. label_counts is as in
 * tvlm_generate_args. */
tvlm_region_layout tvlm_region_layout_for(const tvlm_cluster_plan *plan, const int32_t *label_counts,
                                          int32_t images);

#endif
