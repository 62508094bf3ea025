/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h: parts of the program that no signal interrupts. On Windows there is nothing to do: what is called when the user ends
 * a program runs in a thread of its own.
 */
#ifndef TVLM_PLATFORM_SIGNALS_H
#define TVLM_PLATFORM_SIGNALS_H

#include <stdint.h>

/* The signals that this thread held back before. */
typedef struct tvlm_signals {
    uint64_t held[16];
} tvlm_signals;

/* Signals to this thread wait until they are released. */
void tvlm_signals_hold(tvlm_signals *before);
void tvlm_signals_release(const tvlm_signals *before);

#endif
