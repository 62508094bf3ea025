/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/guide.h: what the cascade knows of an image before anything is asked, on the host.
 */
#ifndef TVLM_SELECT_GUIDE_H
#define TVLM_SELECT_GUIDE_H

#include "core/backend.h"
#include "texturevlm/stack.h"

struct tvlm_region; /* texturevlm/regions.h */

#define TVLM_GUIDE_GROUPS 4 /* into which a region's vectors fall, at most */

/* What is known of an image before anything is asked: guide.c. On the host. */
typedef struct tvlm_guide {
    tvlm_candidates cells;
    int32_t regions;
    struct tvlm_region *table;
    float *distances; /* [rows * columns] the channel */
    float *nearest;   /* [regions] the smallest distance of its cells */
    int32_t *begins;  /* [regions + 1] where its cells begin in */
    int32_t
        *touched; /* the cells that have a corner or their middle in it, or hold its centroid; ascending */
    int32_t dimension; /* of the means; 0: there are none */
    bool embedded;     /* they are of the embedding, not of the features */
    int32_t *groups;   /* [regions] of vectors, 1 .. TVLM_GUIDE_GROUPS */
    float *means;   /* [regions][TVLM_GUIDE_GROUPS][dimension] of the vectors, each divided by its length */
    float *spreads; /* [regions][TVLM_GUIDE_GROUPS] the root of their mean squared distance from it */
    uint64_t outdated; /* tvlm_stack_outdated of what it is made of when it was made, */
    bool made;         /* if it was */
} tvlm_guide;

/*
 * The guide of image `index` for those cells, made if need be; `features` (NULL: none) are those whose means
 * it has. It waits for whatever it is made of, once. It is kept with the image (tvlm_stack_slot), and valid
 * until the stack changes.
 */
tvlm_status tvlm_guide_of(tvlm_stack *stack, int32_t index, const tvlm_candidates *cells,
                          const tvlm_features *features, bool embedded, const tvlm_guide **guide);

/* guide_means.c: of the vectors of `features`, [height * width] labels of which are given. */
tvlm_status tvlm_guide_means(tvlm_stack *stack, const tvlm_features *features, const int32_t *labels,
                             tvlm_guide *guide);

#endif
