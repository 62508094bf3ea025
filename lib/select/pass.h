/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/pass.h: scores that are kept for the next pass.
 */
#ifndef TVLM_SELECT_PASS_H
#define TVLM_SELECT_PASS_H

#include "core/backend.h"
#include "stack/stack.h"

/* Makes the scores of those candidates the channel previous_pass of image `index`. */
tvlm_status tvlm_pass_keep(tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates,
                           tvlm_buffer *scores);

#endif
