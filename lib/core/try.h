/* SPDX-License-Identifier: Apache-2.0 */
/*
 * try.h: what a function does with the status of one that it calls.
 */
#ifndef TVLM_CORE_TRY_H
#define TVLM_CORE_TRY_H

#include "texturevlm/status.h"

/* Returns the status of the call where that is not OK. It is for functions that have nothing to release by
 * then. */
#define TVLM_TRY(call)                                                                                       \
    do {                                                                                                     \
        const tvlm_status tvlm_try_status = (call);                                                          \
        if (tvlm_try_status != TVLM_OK) return tvlm_try_status;                                              \
    } while (0)

#endif
