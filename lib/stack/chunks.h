/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/chunks.h: the chunks that a batch is held in (stack/inside.h).
 */
#ifndef TVLM_STACK_CHUNKS_H
#define TVLM_STACK_CHUNKS_H

#include "stack/given.h"
#include "stack/inside.h"

/* Returns the empty chunks of a batch of `all` images, and sets *count to their number. Each chunk but the
 * last has `images` images. NULL means that there is no memory. */
tvlm_chunk *tvlm_stack_chunks_create(int32_t all, int32_t images, int32_t *count);

/* Frees the chunks and all that they hold. `chunks` may be NULL. */
void tvlm_stack_chunks_release(tvlm_stack *stack, tvlm_chunk *chunks, int32_t count);

/*
 * Makes the chunks small enough for a grid of that size, which is about to be handed in. It does nothing if
 * they are small enough already. Otherwise all pointers to the stack's textures and chunks become invalid.
 *
 * Errors, with lines that begin with `name`:
 * - DEVICE_MEMORY, also if the stack holds something that cannot move into smaller chunks;
 * - MEMORY.
 */
tvlm_status tvlm_stack_chunks_fit(tvlm_stack *stack, const tvlm_given *size, const char *name);

#endif
