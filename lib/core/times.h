/* SPDX-License-Identifier: Apache-2.0 */
/*
 * times.h: the clock that work is timed with, and the median of what was measured.
 */
#ifndef TVLM_CORE_TIMES_H
#define TVLM_CORE_TIMES_H

#include <stdint.h>
#include <stdlib.h>

#include "platform/clock.h"

static inline int tvlm_compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts `count` numbers, one or more, and returns their median. */
static inline double tvlm_median(double *values, int32_t count) {
    qsort(values, (size_t)count, sizeof *values, tvlm_compare_doubles);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

#endif
