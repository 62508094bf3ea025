/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/signals.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

_Static_assert(sizeof(sigset_t) <= sizeof(tvlm_signals), "a set of signals is larger here");

void tvlm_signals_hold(tvlm_signals *before) {
    sigset_t all, old;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &old);
    memcpy(before, &old, sizeof old);
}

void tvlm_signals_release(const tvlm_signals *before) {
    sigset_t old;
    memcpy(&old, before, sizeof old);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
}
