/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/regions.h: the regions of an image (family CLUSTER), and where those of the next frame begin.
 */
#ifndef TVLM_STACK_REGIONS_H
#define TVLM_STACK_REGIONS_H

#include "core/cluster.h"
#include "stack/stack.h"

/* How the working image is divided into cells that regions begin in. */
tvlm_cluster_plan tvlm_stack_cluster_plan(const tvlm_stack *stack);

/* Labels were handed in for image `index`. */
bool tvlm_stack_has_labels(const tvlm_stack *stack, int32_t index);

/* Where the table of regions of image `index` is, in bytes from the buffer's beginning; false where it is not
 * up to date. Makes nothing. */
bool tvlm_stack_region_table(const tvlm_stack *stack, int32_t index, tvlm_buffer **buffer, size_t *offset);

/* Of a stack of one image: where its regions begin when they are next made, one centre a cell of the plan;
 * NULL: in the middles of the cells. The caller's, until they are set again. */
void tvlm_stack_set_centres(tvlm_stack *stack, const tvlm_cluster_centre *centres);

#endif
