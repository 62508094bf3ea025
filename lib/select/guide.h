/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/guide.h: what the cascade knows of an image before anything is asked, on the host.
 */
#ifndef TVLM_SELECT_GUIDE_H
#define TVLM_SELECT_GUIDE_H

#include "core/backend.h"
#include "texturevlm/stack.h"

struct tvlm_region; /* texturevlm/stack.h */

#define TVLM_GUIDE_GROUPS 4 /* the most groups that a region's vectors fall into */

/* What is known of an image before anything is asked, on the host. */
typedef struct tvlm_guide {
    tvlm_candidates cells;
    int32_t regions;
    struct tvlm_region *table; /* [regions] */
    /* [rows * columns]: the channel distance at each cell. */
    float *distances;
    /* [regions]: the smallest distance of the cells of each region. */
    float *nearest;
    /* The cells of region r stand in `touched` from begins[r] to before begins[r + 1], ascending. They are
     * those that have a corner or their middle in the region, and the one that holds its centroid. begins is
     * [regions + 1]. */
    int32_t *begins;
    int32_t *touched;
    /* The dimension of the means. It is 0 as long as there are none. */
    int32_t dimension;
    /* Whether the means are those of the embedding, not of the features. */
    bool embedded;
    /* [regions]: into how many groups the vectors of each region fall, 1 .. TVLM_GUIDE_GROUPS. */
    int32_t *groups;
    /* [regions][TVLM_GUIDE_GROUPS][dimension]: the mean of each group's vectors. Each vector is brought to
     * length 1 first. */
    float *means;
    /* [regions][TVLM_GUIDE_GROUPS]: the root of the mean squared distance of a group's vectors from their
     * mean. */
    float *spreads;
    /* Whether the guide was made, and what tvlm_stack_outdated returned then for the grids that it is made
     * of. */
    bool made;
    uint64_t outdated;
} tvlm_guide;

/*
 * Returns the guide of image `index` for those cells, with the means of `features` unless these are NULL. The
 * guide is kept with the image (tvlm_stack_slot), and made only where none is kept or the stack has changed.
 * Making it waits, once. *guide is valid until the stack changes.
 */
tvlm_status tvlm_guide_of(tvlm_stack *stack, int32_t index, const tvlm_candidates *cells,
                          const tvlm_features *features, bool embedded, const tvlm_guide **guide);

/* Makes the means (guide_means.c). labels[height * width] tells the region of each of the vectors. */
tvlm_status tvlm_guide_means(tvlm_stack *stack, const tvlm_features *features, const int32_t *labels,
                             tvlm_guide *guide);

#endif
