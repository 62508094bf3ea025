/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects.h: what a detector or a person found in an image (truth.h), for those who choose positions: as a map
 * in place of saliency, and as points to look at.
 */
#ifndef TVLM_TOOLS_OBJECTS_H
#define TVLM_TOOLS_OBJECTS_H

#include "truth.h"

/* Hands the objects of the photo `image`, which has width x height pixels in its file, to image `index` of a
 * stack: saliency is 1 in them and 0 elsewhere. `middle`: the stack holds the middle square of the photo. */
int objects_set(struct tool *tool, const truth *objects, const char *image, int32_t width, int32_t height,
                bool middle, tvlm_stack *stack, int32_t index);

#endif
