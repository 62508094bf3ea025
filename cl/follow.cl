/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.cl: finds where points of the last frame are in the present one, given the flow from the present
 * frame back to the last. For a point that was at q it solves p + flow(p) = q by fixed-point iteration. A
 * work-item follows one point.
 */
#include "texture.clh"

/*
 * Work-item i follows point i: it looks for the p for which p + flow(p) is the place where the point was, by
 * `steps` steps of fixed-point iteration. Flow whose confidence is below `least` moves nothing. `level` is
 * the level of the image at which the flow is read; points are in pixels of the image.
 *
 * places = (index in `from` of the first point's x, floats from one point to the next, index in `to` of the
 * first result's x, how many points there are). y follows x, and results follow each other. `from` and `to`
 * may be one buffer.
 */
kernel void follow(TEXTURE_IN(flow), const float level, const float least, const int steps, const int4 places,
                   global const float *from, global float *to) {
    const int i = get_global_id(0);
    if (i >= places.w) return;
    const float2 was = vload2(0, from + places.x + i * places.y);
    float2 now = was;
    /* A point that is not finite stays as it is, since the flow cannot be read there. */
    for (int step = 0; step < steps && isfinite(now.x) && isfinite(now.y); ++step) {
        const float4 back = texel_sample(flow, now.x, now.y, 0, level);
        if (back.z >= least) now = was - back.xy;
    }
    vstore2(now, 0, to + places.z + 2 * i);
}
