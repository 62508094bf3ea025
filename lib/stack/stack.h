/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/stack.h: the inside of a stack, for lib/stack and the modules above it. The public one is
 * texturevlm/stack.h.
 */
#ifndef TVLM_STACK_STACK_H
#define TVLM_STACK_STACK_H

#include "stack/bundle.h"
#include "stack/delta.h"
#include "stack/embedding.h"
#include "stack/features.h"
#include "stack/given.h"
#include "stack/grids.h"
#include "stack/guide.h"
#include "stack/input.h"
#include "stack/inside.h"
#include "stack/limits.h"
#include "stack/make.h"
#include "stack/packed.h"
#include "stack/query.h"
#include "stack/resample.h"
#include "stack/temporal.h"
#include "stack/upload.h"

/* Fails with a line unless 0 <= index < images. */
tvlm_status tvlm_stack_check_index(const tvlm_stack *stack, int32_t index);
/* Fails with a line unless there is a channel of that number. */
tvlm_status tvlm_stack_check_channel(const tvlm_stack *stack, int32_t channel);

/* The chunk that holds image `index`. */
tvlm_chunk *tvlm_stack_chunk(tvlm_stack *stack, int32_t index);

/* At least `bytes` of device memory, the same memory at every call as long as it suffices. */
tvlm_status tvlm_stack_scratch(tvlm_stack *stack, tvlm_scratch which, size_t bytes, tvlm_buffer **buffer);

#endif
