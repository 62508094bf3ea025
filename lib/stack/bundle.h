/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/bundle.h: channels as the textures and references that a reader of several families gets.
 */
#ifndef TVLM_STACK_BUNDLE_H
#define TVLM_STACK_BUNDLE_H

#include "stack/stack.h"

/* Returns a bundle without textures. It holds what the formulas need. */
tvlm_bundle tvlm_stack_bundle_view(const tvlm_stack *stack);

/* Returns the same for one image. In a ragged batch it has the size of that image. */
tvlm_bundle tvlm_stack_image_view(const tvlm_stack *stack, int32_t index);

/* Returns how many textures a bundle of this stack can hold: TVLM_BUNDLE_MAX, or less in tests. */
int32_t tvlm_stack_bundle_limit(const tvlm_stack *stack);

/*
 * Makes a bundle of the textures in which the channels of image `index` are stored. It takes as many of the
 * first channels as fit into one bundle, and sets *taken to their number. Their references go to
 * refs[0 .. *taken - 1]. The reference of a channel that is not available is TVLM_REF_ZERO. The grids must
 * have been made.
 */
void tvlm_stack_bundle(const tvlm_stack *stack, int32_t index, const int32_t *channels, int32_t count,
                       tvlm_bundle *bundle, int32_t *refs, int32_t *taken);

#endif
