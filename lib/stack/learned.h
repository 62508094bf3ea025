/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/learned.h: what the stack's network reads.
 */
#ifndef TVLM_STACK_LEARNED_H
#define TVLM_STACK_LEARNED_H

#include "stack/stack.h"

struct tvlm_chunk;

/* Packs what the network reads into chunk->network_inputs. The grids that hold it must have been made. */
tvlm_status tvlm_stack_learned_inputs(tvlm_stack *stack, struct tvlm_chunk *chunk);

#endif
