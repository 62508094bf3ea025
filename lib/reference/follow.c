/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.c: finds points of the last frame in the present one, along the flow.
 */
#include <math.h>

#include "reference/reference.h"
#include "reference/sample.h"
#include "reference/texture.h"

/* Looks for the place p now, by fixed-point iteration. For it, p + flow(p) is the place where the point was.
 * `now` may be the memory of `from`. A point that is not finite stays. */
static void move(const tvlm_follow *follow, const float *from, float now[2]) {
    tvlm_texture *flow = (tvlm_texture *)(uintptr_t)follow->flow;
    const tvlm_bundle bundle = {.count = 1, .textures = {flow}};
    const float was[2] = {from[0], from[1]};
    now[0] = was[0];
    now[1] = was[1];
    for (int32_t step = 0; step < follow->steps; ++step) {
        const reference_point at = {(double)now[0], (double)now[1], (double)follow->level, 0};
        if (!isfinite(at.x) || !isfinite(at.y)) return;
        if (!(tvlm_reference_sample_at(&bundle, TVLM_REF(0, 0, 2), &at) >= (double)follow->confidence))
            continue;
        now[0] = (float)((double)was[0] - tvlm_reference_sample_at(&bundle, TVLM_REF(0, 0, 0), &at));
        now[1] = (float)((double)was[1] - tvlm_reference_sample_at(&bundle, TVLM_REF(0, 0, 1), &at));
    }
}

tvlm_status tvlm_reference_follow(tvlm_device *device, const tvlm_follow *follow) {
    const float *from = (const float *)reference_data(follow->from) + follow->from_offset;
    float *to = (float *)reference_data(follow->to) + follow->to_offset;
    (void)device;
    for (int32_t i = 0; i < follow->count; ++i)
        move(follow, from + (size_t)i * (size_t)follow->from_stride, to + 2 * (size_t)i);
    return TVLM_OK;
}
