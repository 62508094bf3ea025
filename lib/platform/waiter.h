/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiter.h: waits for bytes to read, such as those that another program prints, and can be stopped.
 */
#ifndef TVLM_PLATFORM_WAITER_H
#define TVLM_PLATFORM_WAITER_H

#include <stdbool.h>

typedef struct tvlm_waiter tvlm_waiter;

/* `file` is an open file, which stays the caller's. NULL: errno says why. */
tvlm_waiter *tvlm_waiter_open(int file);

/* Waits until a read would return at once, with bytes, at the end, or with an error. false: it was stopped. */
bool tvlm_waiter_wait(const tvlm_waiter *waiter);

/* Ends a wait, and lets no later one wait. Any thread may call it while another one waits. */
void tvlm_waiter_stop(const tvlm_waiter *waiter);

/* NULL is fine. Nobody may wait. */
void tvlm_waiter_close(tvlm_waiter **waiter);

#endif
