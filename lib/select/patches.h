/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/patches.h: patches into memory of the device. The public header is texturevlm/patches.h.
 */
#ifndef TVLM_SELECT_PATCHES_H
#define TVLM_SELECT_PATCHES_H

#include "core/backend.h"
#include "stack/stack.h"
#include "texturevlm/patches.h"

/* The positions at which patches are cut out. `positions` are on the host. If it is NULL, they are in the
 * buffer `list`, from byte list_offset on. Those in a buffer are checked, which waits, unless `unchecked` is
 * set. */
typedef struct tvlm_patches_at {
    const tvlm_position *positions;
    tvlm_buffer *list;
    size_t list_offset;
    bool unchecked;
} tvlm_patches_at;

/* tvlm_patches_extract into a buffer, from byte `offset` on. */
tvlm_status tvlm_patches_into(tvlm_stack *stack, const tvlm_patches_at *at, int32_t count,
                              const struct tvlm_patches_params *params, tvlm_buffer *there, size_t offset);

#endif
