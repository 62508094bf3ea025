/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h: the two halves of CLUSTER: the labels (cluster.c), and what follows from labels, whoever made
 * them (regions.c).
 */
#ifndef TVLM_REFERENCE_CLUSTER_H
#define TVLM_REFERENCE_CLUSTER_H

#include "core/cluster.h"
#include "reference/texture.h"

/* L, a and b in whole steps of 1 / TVLM_LAB_STEPS, none below 0 (a and b from TVLM_LAB_ZERO). */
typedef struct reference_colours {
    int32_t width, height;
    int32_t (*texels)[3];
} reference_colours;

/* One level of the source; texels is NULL when there is no memory, else the caller frees it. */
reference_colours tvlm_reference_colours(const tvlm_texture *source, int32_t level, int32_t slice);

/* The colour of a pixel; outside, of the nearest one inside. */
static inline const int32_t *reference_colour(const reference_colours *colours, int32_t x, int32_t y) {
    x = x < 0 ? 0 : x >= colours->width ? colours->width - 1 : x;
    y = y < 0 ? 0 : y >= colours->height ? colours->height - 1 : y;
    return colours->texels[(size_t)y * (size_t)colours->width + (size_t)x];
}

/*
 * SLIC on one image: dense labels, and how many regions there are; or, from `centres` (NULL: none), labels
 * that are the centres' ids, and how many centres there are. False when there is no memory.
 */
bool tvlm_reference_slic(const tvlm_texture *source, int32_t slice, const reference_colours *full,
                         const tvlm_cluster_plan *plan, const tvlm_cluster_centre *centres, int32_t *labels,
                         int32_t *count);

/*
 * The table of one image (a block as core/cluster.h has it, zeroed before) and its texels, from its labels.
 * False when there is no memory.
 */
bool tvlm_reference_regions(const reference_colours *colours, const int32_t *labels, int32_t count,
                            bool given, const tvlm_region_layout *layout, uint32_t *block, tvlm_texture *out,
                            int32_t image);

#endif
