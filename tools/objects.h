/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects.h: objects that a detector or a person found in an image (truth.h), for commands that choose
 * positions. They are a map in place of saliency, and points to look at.
 */
#ifndef TVLM_TOOLS_OBJECTS_H
#define TVLM_TOOLS_OBJECTS_H

#include "truth.h"

/* Hands in the objects of the photo `image` to image `index` of a stack: saliency is 1 in the objects and 0
 * elsewhere. The photo has width x height pixels in its file. `middle` says that the stack holds the middle
 * square of the photo. */
int objects_set(struct tool *tool, const truth *objects, const char *image, int32_t width, int32_t height,
                bool middle, tvlm_stack *stack, int32_t index);

#endif
