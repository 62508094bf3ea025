/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h: the two halves of the family of regions. cluster.c makes labels. regions.c makes the table and
 * the channels from labels, also from labels that are handed in.
 */
#ifndef TVLM_REFERENCE_CLUSTER_H
#define TVLM_REFERENCE_CLUSTER_H

#include "core/cluster.h"
#include "reference/texture.h"

/* L, a and b in whole steps of 1 / TVLM_LAB_STEPS. a and b count from TVLM_LAB_ZERO, so that none is below
 * 0. */
typedef struct reference_colours {
    int32_t width, height;
    int32_t (*texels)[3];
} reference_colours;

/* The colours of one level of the source. `texels` is NULL when there is no memory; otherwise the caller
 * frees it. */
reference_colours tvlm_reference_colours(const tvlm_texture *source, int32_t level, int32_t slice);

/* The colour of a pixel. Outside the image it is that of the nearest pixel inside. */
static inline const int32_t *reference_colour(const reference_colours *colours, int32_t x, int32_t y) {
    x = x < 0 ? 0 : x >= colours->width ? colours->width - 1 : x;
    y = y < 0 ? 0 : y >= colours->height ? colours->height - 1 : y;
    return colours->texels[(size_t)y * (size_t)colours->width + (size_t)x];
}

/*
 * Runs SLIC on one image. Returns false when there is no memory. Without `centres` (NULL) labels become 0 ..
 * *count - 1. With `centres` the regions begin there. Then labels become the ids of the centres, and *count
 * becomes the number of centres.
 */
bool tvlm_reference_slic(const tvlm_texture *source, int32_t slice, const reference_colours *full,
                         const tvlm_cluster_plan *plan, const tvlm_region_centre *centres, int32_t *labels,
                         int32_t *count);

/*
 * Makes the table of one image, and its channels, from its labels. `block` is laid out as core/cluster.h
 * describes, and must be zero. Returns false when there is no memory.
 */
bool tvlm_reference_regions(const reference_colours *colours, const int32_t *labels, int32_t count,
                            bool given, const tvlm_region_layout *layout, uint32_t *block, tvlm_texture *out,
                            int32_t image);

#endif
