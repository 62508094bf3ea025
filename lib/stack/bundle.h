/*
 * stack/bundle.h: channels as the textures and references that a reader of several families gets.
 */
#ifndef TVLM_STACK_BUNDLE_H
#define TVLM_STACK_BUNDLE_H

#include "stack/inside.h"

/* A bundle without textures: what the formulas need. */
tvlm_bundle tvlm_stack_bundle_view(const tvlm_stack *stack);

/*
 * Puts the textures of as many of the first channels as fit into a bundle: *taken of them, whose references
 * go to refs[0 .. *taken - 1]. The grids must have been ensured. Channels that are not available are
 * TVLM_REF_ZERO.
 */
void tvlm_stack_bundle(const tvlm_stack *stack, const tvlm_chunk *chunk, const int32_t *channels,
                       int32_t count, tvlm_bundle *bundle, int32_t *refs, int32_t *taken);

#endif
