/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/regions.h: the regions of an image (family CLUSTER), and where those of the next frame begin.
 */
#ifndef TVLM_STACK_REGIONS_H
#define TVLM_STACK_REGIONS_H

#include "core/cluster.h"
#include "stack/stack.h"

/* Returns how the working image is divided into the cells that regions begin in. */
tvlm_cluster_plan tvlm_stack_cluster_plan(const tvlm_stack *stack);

/* Returns whether labels were handed in for image `index`. */
bool tvlm_stack_has_labels(const tvlm_stack *stack, int32_t index);

/* Finds the table of regions of image `index`: the buffer that it is in, and its offset there in bytes. It
 * makes nothing; it returns false if the table is not up to date. */
bool tvlm_stack_region_table(const tvlm_stack *stack, int32_t index, tvlm_buffer **buffer, size_t *offset);

/* Sets where the regions of a stack of one image begin when they are next made. There is one centre for each
 * cell of the plan; NULL means the middles of the cells. The centres stay the caller's, and must be valid
 * until others are set. */
void tvlm_stack_set_centres(tvlm_stack *stack, const tvlm_region_centre *centres);

#endif
