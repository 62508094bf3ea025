/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/clock.h"

#include <time.h>

double tvlm_now(void) {
    struct timespec time = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
