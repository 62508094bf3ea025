/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/bundle.h: channels as the textures and references that a reader of several families gets.
 */
#ifndef TVLM_STACK_BUNDLE_H
#define TVLM_STACK_BUNDLE_H

#include "stack/stack.h"

/* A bundle without textures: what the formulas need. */
tvlm_bundle tvlm_stack_bundle_view(const tvlm_stack *stack);

/* Textures that one bundle holds, at most: TVLM_BUNDLE_MAX. */
int32_t tvlm_stack_bundle_limit(const tvlm_stack *stack);

/*
 * Puts the textures that hold image `index` of as many of the first channels as fit into a bundle: *taken of
 * them, whose references go to refs[0 .. *taken - 1]. The grids must have been made. Channels that are not
 * available are TVLM_REF_ZERO.
 */
void tvlm_stack_bundle(const tvlm_stack *stack, int32_t index, const int32_t *channels, int32_t count,
                       tvlm_bundle *bundle, int32_t *refs, int32_t *taken);

#endif
