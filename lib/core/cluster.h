/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h: what both backends and the stack agree on about regions: how an image is divided before the
 * first pass, and how the tables that CLUSTER leaves behind (TVLM_PRODUCT_REGIONS) lie in memory.
 */
#ifndef TVLM_CORE_CLUSTER_H
#define TVLM_CORE_CLUSTER_H

#include "core/backend.h"
#include "texturevlm/regions.h"

/* The cells whose middles are SLIC's first centres: column i begins at i * side / columns, rounded down, at
 * any level. */
typedef struct tvlm_cluster_plan {
    int32_t columns, rows; /* their product is the most regions there can be */
    int32_t coarse;        /* the level of the source on which the passes begin: 0 or 1 */
    float weight;          /* of a squared pixel beside a squared colour step */
} tvlm_cluster_plan;

/*
 * At most settings->clusters cells, as many and as square as can be. `levels` are those that the source has.
 * The weight is (compactness / S)^2 of the paper, S^2 the area of a cell.
 */
tvlm_cluster_plan tvlm_cluster_plan_for(int32_t width, int32_t height, int32_t levels,
                                        const tvlm_family_settings *settings);

/* Pixels that the sums of a centre handed in stand for: its place is kept to 1 / this. */
#define TVLM_CLUSTER_CENTRE_PIXELS 256

/*
 * A centre handed in as the sums of a pass before the first, whose texels are scale_x x scale_y pixels: x, y,
 * L, a, b of TVLM_CLUSTER_CENTRE_PIXELS texels. Whole numbers, so that all devices begin at the same place.
 */
void tvlm_cluster_centre_sums(const tvlm_cluster_centre *centre, float scale_x, float scale_y,
                              int64_t sums[5]);

/*
 * An image's block of TVLM_PRODUCT_REGIONS, in words of 32 bits: a header of TVLM_REGION_HEADER (the number
 * of regions; 1 where its labels were handed in), `capacity` tvlm_region whose radius is still squared, and
 * from `neighbours` on `capacity` rows of `row` words, bit j of row i set where regions i and j touch.
 */
typedef struct tvlm_region_layout {
    int32_t capacity, neighbours, row, words;
} tvlm_region_layout;

/* For images of which some may have labels of the application's: label_counts as in tvlm_generate_args. */
tvlm_region_layout tvlm_region_layout_for(const tvlm_cluster_plan *plan, const int32_t *label_counts,
                                          int32_t images);

#endif
