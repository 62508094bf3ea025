/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h: the clock that work is timed with. Any thread may ask at any time.
 */
#ifndef TVLM_PLATFORM_CLOCK_H
#define TVLM_PLATFORM_CLOCK_H

/* Seconds since some moment in the past, on a clock that is never set back. */
double tvlm_now(void);

#endif
