/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.h: the regions behind cluster_id, cluster_distance, cluster_size and boundary: where they are, what
 * colour, which of them touch; and regions of the application's own instead.
 *
 * Without labels of the application's an image is divided by SLIC (Achanta et al., "SLIC Superpixels Compared
 * to State-of-the-Art Superpixel Methods", PAMI 2012) into at most tvlm_stack_params.clusters regions, each
 * in one piece; their ids are 0 .. count - 1. In a stream (stream.h) regions keep their ids from frame to
 * frame, and count is that of the ids: of those that no region has now, `pixels` is 0.
 */
#ifndef TEXTUREVLM_REGIONS_H
#define TEXTUREVLM_REGIONS_H

#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_REGIONS_MAX 2048

/* Positions and lengths in pixels of the working image, centres at +0.5. */
typedef struct tvlm_region {
    float x, y;                       /* centroid, to 1/256 */
    int32_t pixels;                   /* its area, >= 1; 0: no region has this id */
    float l, a, b;                    /* mean CIE L*a*b* (D65), to 1/128 */
    int32_t left, top, right, bottom; /* bounding box: left <= column < right */
    float radius;                     /* from the centroid to the centre of its farthest pixel */
    float texture;                    /* mean colour gradient in it, L*a*b* a pixel */
    uint32_t reserved[4];
} tvlm_region;

/*
 * The regions of image `index`, made if need be: regions[id], ids 0 .. *count - 1. `regions` may be NULL with
 * capacity 0 to ask for the count only. Waits. Errors: ARGUMENT (index; capacity below *count, which is set
 * all the same).
 */
TVLM_API tvlm_status tvlm_stack_regions(tvlm_stack *stack, int32_t index, int32_t capacity,
                                        tvlm_region *regions, int32_t *count);

/*
 * The regions that share a side of a pixel with region `region`: ascending ids, as tvlm_stack_regions asks
 * and counts. Errors: ARGUMENT (index, there is no such region, capacity).
 */
TVLM_API tvlm_status tvlm_stack_region_neighbours(tvlm_stack *stack, int32_t index, int32_t region,
                                                  int32_t capacity, int32_t *neighbours, int32_t *count);

/* The region of every pixel of the working image, row-major; `capacity` is at least width * height. Waits. */
TVLM_API tvlm_status tvlm_stack_labels(tvlm_stack *stack, int32_t index, size_t capacity, int32_t *labels);

/*
 * Divides image `index` as the application says (SAM, any segmenter), in place of SLIC: the four channels and
 * all above follow, and boundary is 1 wherever labels differ (at the pixel before the step, going right or
 * down). Any ids; those that a pixel gets become 0 .. n - 1 in ascending order. columns x rows of another
 * size than the image's are resampled nearest. row_stride in labels, 0: columns. The labels are copied, and
 * stay when the image changes; NULL labels bring SLIC back. Regions of the application's are left as they
 * are, in however many pieces. Errors: ARGUMENT (index, sizes, more than TVLM_REGIONS_MAX distinct labels in
 * the map), MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_set_labels(tvlm_stack *stack, int32_t index, const int32_t *labels,
                                           int32_t columns, int32_t rows, size_t row_stride);

#ifdef __cplusplus
}
#endif
#endif
