/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rope_helper.h: the channels of rotary positions by their definition.
 */
#ifndef TVLM_TESTS_ROPE_HELPER_H
#define TVLM_TESTS_ROPE_HELPER_H

#include "stack_helper.h"

/* doc/channels.md, word by word. `axis` is 0 for x and 1 for y, `quarter` 0 for the cosine and 1 for the sine. */
static inline double expected(const struct tvlm_rope_params *rope, int axis, int quarter, int k, double x,
                              double y) {
    const double p = (axis == 0 ? x : y) / (double)rope->patch;
    const double angle = p * pow((double)rope->theta, -2.0 * k / rope->dimension);
    return 0.5 + 0.5 * (quarter == 0 ? cos(angle) : sin(angle));
}

static const struct tvlm_rope_params usual = {.theta = 10000.0f, .dimension = 64, .patch = 16.0f};
static const struct tvlm_rope_params other = {.theta = 100.0f, .dimension = 20, .patch = 3.5f};

#endif
