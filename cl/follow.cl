/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.cl: where points of the last frame are in the present one.
 */
#include "texture.clh"

/*
 * p with p + flow(p) = where the point was, which each step comes closer to; flow of less than `least`
 * confidence moves nothing. places: where the first point is among the floats of `from`, how far the next one
 * is, where the first result goes in `to` (x, y after x, y), how many there are. from and to may be one
 * buffer. Work-item a point.
 */
kernel void follow(TEXTURE_IN(flow), const float level, const float least, const int steps, const int4 places,
                   global const float *from, global float *to) {
    const int i = get_global_id(0);
    if (i >= places.w) return;
    const float2 was = vload2(0, from + places.x + i * places.y);
    float2 now = was;
    /* What is not finite stays: it cannot be looked up. */
    for (int step = 0; step < steps && isfinite(now.x) && isfinite(now.y); ++step) {
        const float4 back = texel_sample(flow, now.x, now.y, 0, level);
        if (back.z >= least) now = was - back.xy;
    }
    vstore2(now, 0, to + places.z + 2 * i);
}
