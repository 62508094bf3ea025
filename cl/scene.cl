/*
 * scene.cl: what follows from depth where it is not handed in: occlusion and normals. Depth of 0 or less is
 * unknown: nothing follows from it, and neighbours do without it. One work-item a texel.
 */
#include "texture.clh"

/* Inside the grid; what lies beyond its edge is unknown. */
inline float depth_at(TEXTURE_IN(depth), int x, int y, int slice) {
    if (x < 0 || y < 0 || x >= depth_size.x || y >= depth_size.y) return 0.0f;
    return texel_fetch(depth, x, y, slice, 0).x;
}

/*
 * By which share a texel is farther than its neighbour, less what goes on from the texel to the other side: 1
 * / depth is linear on a plane, so that a plane has none, however steep.
 */
inline float step_to(float here, float neighbour, float opposite) {
    if (neighbour <= 0.0f) return 0.0f;
    const float farther = here / neighbour - 1.0f;
    return opposite > 0.0f ? min(farther, farther + (here / opposite - 1.0f)) : farther;
}

kernel void occlusion(TEXTURE_IN(depth), TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1), slice = get_global_id(2);
    if (x >= result_size.x || y >= result_size.y) return;
    const float here = depth_at(TEXTURE(depth), x, y, slice);
    float step = 0.0f;
    for (int i = 0; here > 0.0f && i < 4; ++i) {
        const int dx = i < 2 ? i : 5 - 2 * i, dy = i != 1; /* |, -, \, / */
        const float a = depth_at(TEXTURE(depth), x + dx, y + dy, slice);
        const float b = depth_at(TEXTURE(depth), x - dx, y - dy, slice);
        step = max(step, max(step_to(here, a, b), step_to(here, b, a)));
    }
    const float value = clamp((step - TVLM_SCENE_STEP) / (TVLM_SCENE_FULL - TVLM_SCENE_STEP), 0.0f, 1.0f);
    texel_store(result, x, y, slice, (float4)(value, 0.0f, 0.0f, 0.0f));
}

/* How much depth changes from one texel to the next: across both neighbours, or, where only one of them is
 * known or they lie on two sides of a step, to the one that is nearer in depth. */
inline float slope(float before, float here, float after) {
    const float back = before > 0.0f ? here - before : INFINITY, on = after > 0.0f ? after - here : INFINITY;
    const float less = min(fabs(back), fabs(on));
    if (isinf(less)) return 0.0f;
    if (max(fabs(back), fabs(on)) <= TVLM_SCENE_STEP * here) return 0.5f * (back + on);
    return fabs(back) <= fabs(on) ? back : on;
}

/* cameras: fx, fy, cx, cy of each image, in pixels of the image. */
kernel void normal(TEXTURE_IN(depth), global const float4 *restrict cameras, TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1), slice = get_global_id(2);
    if (x >= result_size.x || y >= result_size.y) return;
    const float here = depth_at(TEXTURE(depth), x, y, slice);
    float4 value = 0.0f;
    if (here > 0.0f) {
        /* In texels, the camera's point of (u, v, z) is (u z, v z, z). */
        const float4 camera = cameras[slice];
        const float2 texel = (float2)(depth_extent.x / result_size.x, depth_extent.y / result_size.y);
        const float2 step = (float2)(texel.x / camera.x, texel.y / camera.y);
        const float u = ((x + 0.5f) * texel.x - camera.z) / camera.x,
                    v = ((y + 0.5f) * texel.y - camera.w) / camera.y;
        const float dx =
            slope(depth_at(TEXTURE(depth), x - 1, y, slice), here, depth_at(TEXTURE(depth), x + 1, y, slice));
        const float dy =
            slope(depth_at(TEXTURE(depth), x, y - 1, slice), here, depth_at(TEXTURE(depth), x, y + 1, slice));
        /* The cross product of the tangents (step.x z + u dx, v dx, dx) and (u dy, step.y z + v dy, dy), over
         * z. */
        const float3 cross_over_z =
            (float3)(step.y * dx, step.x * dy, step.x * step.y * here + step.x * v * dy + step.y * u * dx);
        const float largest = max(max(fabs(cross_over_z.x), fabs(cross_over_z.y)), fabs(cross_over_z.z));
        const float3 n = cross_over_z / largest;
        value.xyz = largest > 0.0f ? n / sqrt(n.x * n.x + n.y * n.y + n.z * n.z) : value.xyz;
    }
    texel_store(result, x, y, slice, value);
}
