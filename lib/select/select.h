/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/select.h: selections into memory of the device. The public header is texturevlm/select.h.
 */
#ifndef TVLM_SELECT_SELECT_H
#define TVLM_SELECT_SELECT_H

#include "core/backend.h"
#include "texturevlm/select.h"

/* tvlm_select into a buffer, from byte `offset` on. */
tvlm_status tvlm_select_into(tvlm_stack *stack, const struct tvlm_query *query,
                             const struct tvlm_select_params *params, tvlm_buffer *out, size_t offset,
                             int32_t *count);

#endif
