/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/patches.h: patches into memory of the device. The public header is texturevlm/patches.h.
 */
#ifndef TVLM_SELECT_PATCHES_H
#define TVLM_SELECT_PATCHES_H

#include "core/backend.h"
#include "stack/stack.h"
#include "texturevlm/patches.h"

/* tvlm_patches_extract into a buffer, from byte `offset` on. */
tvlm_status tvlm_patches_into(tvlm_stack *stack, const tvlm_position *positions, int32_t count,
                              const struct tvlm_patches_params *params, tvlm_buffer *there, size_t offset);

#endif
