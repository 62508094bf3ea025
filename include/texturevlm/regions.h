/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.h: the regions behind the channels cluster_id, cluster_distance, cluster_size and boundary: where
 * they are, which colour they have, and which of them touch. Regions of the application's own can take their
 * place.
 *
 *     int32_t count;
 *     tvlm_region regions[TVLM_REGIONS_MAX];
 *     tvlm_stack_regions(stack, 0, TVLM_REGIONS_MAX, regions, &count);
 *
 * Unless the application hands in labels, an image is divided by SLIC (Achanta et al., "SLIC Superpixels
 * Compared to State-of-the-Art Superpixel Methods", PAMI 2012) into at most tvlm_stack_params.clusters
 * regions, each of them in one piece. Their ids are 0 .. count - 1. In a stream (stream.h) regions keep their
 * ids from frame to frame. There `count` is the number of ids, and `pixels` is 0 for an id that no region has
 * now.
 */
#ifndef TEXTUREVLM_REGIONS_H
#define TEXTUREVLM_REGIONS_H

#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_REGIONS_MAX 2048

/* Positions and lengths are in pixels of the working image, with pixel centres at + 0.5. */
typedef struct tvlm_region {
    /* The centroid, rounded to 1/256 of a pixel. */
    float x, y;
    /* The area. 0 means that no region has this id. */
    int32_t pixels;
    /* The mean colour in CIE L*a*b* (D65), rounded to 1/128. */
    float l, a, b;
    /* The bounding box: left <= column < right and top <= row < bottom. */
    int32_t left, top, right, bottom;
    /* The distance from the centroid to the centre of the farthest pixel. */
    float radius;
    /* The mean colour gradient in the region, in units of L*a*b* a pixel. */
    float texture;
    uint32_t reserved[4];
} tvlm_region;

/*
 * Reads the regions of image `index`, which are made if need be: regions[id] for ids 0 .. *count - 1. To ask
 * only for the count, `regions` may be NULL with capacity 0. The call waits. Errors: ARGUMENT (index;
 * a capacity below the count: *count is set all the same).
 */
TVLM_API tvlm_status tvlm_stack_regions(tvlm_stack *stack, int32_t index, int32_t capacity,
                                        tvlm_region *regions, int32_t *count);

/*
 * Reads the ids of the regions that share a side of a pixel with region `region`, in ascending order.
 * capacity and *count are as for tvlm_stack_regions. The call waits. Errors: ARGUMENT (index, there is no
 * such region, capacity).
 */
TVLM_API tvlm_status tvlm_stack_region_neighbours(tvlm_stack *stack, int32_t index, int32_t region,
                                                  int32_t capacity, int32_t *neighbours, int32_t *count);

/* Reads the id of every pixel's region, row-major. `capacity` is at least width * height of the working
 * image. The call waits. */
TVLM_API tvlm_status tvlm_stack_labels(tvlm_stack *stack, int32_t index, size_t capacity, int32_t *labels);

/*
 * Divides image `index` by labels of the application (from SAM, or any segmenter) instead of by SLIC. The four
 * channels, and everything that is made from regions, follow. `boundary` is then 1 at each pixel whose label
 * differs from that of the pixel to its right or below it.
 *
 *   - Labels may be any numbers. The labels that some pixel of the image gets become the ids 0 .. n - 1, in
 *     ascending order.
 *   - A map of columns x rows labels that has another size than the image is resampled by the nearest label.
 *     row_stride is in labels; 0 means `columns`.
 *   - The labels are copied, and stay when the image changes. NULL brings SLIC back.
 *   - Regions of the application's own stay as they are, in however many pieces.
 *
 * Errors: ARGUMENT (index, sizes, more than TVLM_REGIONS_MAX distinct labels in the map), MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_set_labels(tvlm_stack *stack, int32_t index, const int32_t *labels,
                                           int32_t columns, int32_t rows, size_t row_stride);

#ifdef __cplusplus
}
#endif
#endif
