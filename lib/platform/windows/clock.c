/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/clock.h"

#include <windows.h>

double tvlm_now(void) {
    LARGE_INTEGER ticks, per_second;
    (void)QueryPerformanceFrequency(&per_second); /* neither fails since Windows XP */
    (void)QueryPerformanceCounter(&ticks);
    return (double)ticks.QuadPart / (double)per_second.QuadPart;
}
