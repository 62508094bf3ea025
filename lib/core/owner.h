/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner.h: notices that two threads are in one device at the same time, which device.h forbids. They would
 * share its scratch memory and the arguments of its kernels, and results would be wrong without a word.
 */
#ifndef TVLM_CORE_OWNER_H
#define TVLM_CORE_OWNER_H

#include "core/operands.h"
#include "core/try.h"
#include "platform/compiler.h"

/*
 * For public functions, after they have checked that their handle is there. The calling thread has the device
 * until the function returns; then the work that was enqueued is sent to the device. Functions that call each
 * other may nest. Refuses with ARGUMENT and a line while another thread has the device.
 */
#define TVLM_ENTER(device)                                                                                   \
    TVLM_AT_END(tvlm_device_leave) tvlm_device *entered = NULL;                                              \
    TVLM_TRY(tvlm_device_enter((device), __func__, &entered))

/* The same for functions that free something, and so must not fail: writes the line, and then waits until the
 * other thread has left. */
#define TVLM_ENTER_TO_FREE(device)                                                                           \
    TVLM_AT_END(tvlm_device_leave) tvlm_device *entered = NULL;                                              \
    tvlm_device_enter_to_free((device), __func__, &entered)

tvlm_status tvlm_device_enter(tvlm_device *device, const char *function, tvlm_device **entered);
void tvlm_device_enter_to_free(tvlm_device *device, const char *function, tvlm_device **entered);

/* Does nothing where *entered is NULL, because the device was not entered. */
void tvlm_device_leave(tvlm_device **entered);

#endif
