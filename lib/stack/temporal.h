/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/temporal.h: what the next frame takes over from the present one.
 */
#ifndef TVLM_STACK_TEMPORAL_H
#define TVLM_STACK_TEMPORAL_H

#include "stack/stack.h"

struct tvlm_advance_params; /* texturevlm/stream.h */

/* Checks the parameters. It fails with ARGUMENT if one is wrong, and a line that says which. */
tvlm_status tvlm_stack_check_advance(const tvlm_log *log, const struct tvlm_advance_params *params);

#endif
