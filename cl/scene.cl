/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene.cl: derives occlusion and surface normals from depth, where the application does not hand them in.
 * Each texel is made from depth in its 3x3 neighbourhood. Depth of 0 or less is unknown. Both results are 0
 * there, and neighbours are computed without it.
 *
 * Work-item (n, y, slice) makes RUN texels of row y: 1 on GPUs, and more on CPUs, in plain loops without
 * branches, which compilers vectorise.
 */
// check-kernels: -DRUN=1
// check-kernels: -DRUN=16
#include "texture.clh"

#ifndef RUN
#define RUN 1
#endif
#define AROUND (RUN + 2)

/* The depths of texels x - 1 .. x + RUN of a row. They are 0 where depth is unknown, as it is beyond the
 * edge. */
HELPER void load_row(TEXTURE_IN(depth), int x, int y, int slice, float *row) {
    const int4 place = level_place_(TEXTURE(depth), slice, 0);
    const bool inside = y >= 0 && y < depth_size.y;
    for (int i = 0; i < AROUND; ++i) {
        const float z = texel_fetch_at_(TEXTURE(depth), place, slice, 0, x + i - 1, y).x;
        row[i] = inside && x + i - 1 >= 0 && x + i - 1 < depth_size.x && z > 0.0f ? z : 0.0f;
    }
}

/* How many times as far away as its neighbour a texel is; 0 where the neighbour is unknown. */
HELPER float times(float here, float neighbour) {
    return neighbour > 0.0f ? here / neighbour : 0.0f;
}

/*
 * The share by which a texel is farther away than the nearer of two opposite neighbours, limited by how much
 * the surface bends there. `one` and `other` say how many times as far away as each neighbour the texel is.
 * On a plane 1 / depth is linear, so that one + other = 2: a plane has no step, however steep it is.
 */
HELPER float step_of(float one, float other) {
    const float beyond = one > 0.0f && other > 0.0f ? one + other - 2.0f : INFINITY;
    return min(max(one, other) - 1.0f, beyond);
}

/*
 * Writes 1 on the far side of a step in depth, and 0 elsewhere. The value is made from the largest step of
 * the four directions through the texel. It is 0 for steps up to TVLM_SCENE_STEP, and 1 for steps from
 * TVLM_SCENE_FULL on.
 */
kernel void occlusion(TEXTURE_IN(depth), TEXTURE_OUT(result)) {
    const int x = get_global_id(0) * RUN, y = get_global_id(1), slice = get_global_id(2);
    if (x >= result_size.x || y >= result_size.y) return;
    float above[AROUND], row[AROUND], below[AROUND], values[RUN];
    load_row(TEXTURE(depth), x, y - 1, slice, above);
    load_row(TEXTURE(depth), x, y, slice, row);
    load_row(TEXTURE(depth), x, y + 1, slice, below);
    for (int i = 0; i < RUN; ++i) {
        const float here = row[i + 1];
        const float across = step_of(times(here, row[i]), times(here, row[i + 2]));
        const float down = step_of(times(here, above[i + 1]), times(here, below[i + 1]));
        const float falling = step_of(times(here, above[i]), times(here, below[i + 2]));
        const float rising = step_of(times(here, above[i + 2]), times(here, below[i]));
        const float step = max(max(across, down), max(falling, rising));
        const float value = (step - TVLM_SCENE_STEP) / (TVLM_SCENE_FULL - TVLM_SCENE_STEP);
        values[i] = here > 0.0f ? clamp(value, 0.0f, 1.0f) : 0.0f;
    }
    for (int i = 0; i < min(RUN, result_size.x - x); ++i)
        texel_store(result, x + i, y, slice, (float4)(values[i], 0.0f, 0.0f, 0.0f));
}

/*
 * How much depth changes from one texel to the next. It is half the difference of the two neighbours; where
 * one of them is unknown or lies across a step, it is the difference from the one that is nearer in depth.
 */
HELPER float slope(float before, float here, float after) {
    const float back = before > 0.0f ? here - before : INFINITY, on = after > 0.0f ? after - here : INFINITY;
    const float one = fabs(back) <= fabs(on) ? back : on;
    const float both = max(fabs(back), fabs(on)) <= TVLM_SCENE_STEP * here ? 0.5f * (back + on) : one;
    return fabs(one) < INFINITY ? both : 0.0f;
}

/* Writes the unit normal of the surface. cameras[image] = (fx, fy, cx, cy) of a pinhole camera, in pixels. */
kernel void normal(TEXTURE_IN(depth), global const float4 *restrict cameras, TEXTURE_OUT(result)) {
    const int x = get_global_id(0) * RUN, y = get_global_id(1), slice = get_global_id(2);
    if (x >= result_size.x || y >= result_size.y) return;
    float above[AROUND], row[AROUND], below[AROUND], nx[RUN], ny[RUN], nz[RUN];
    load_row(TEXTURE(depth), x, y - 1, slice, above);
    load_row(TEXTURE(depth), x, y, slice, row);
    load_row(TEXTURE(depth), x, y + 1, slice, below);
    /* The point of depth z at (u, v) is (u z, v z, z). From one texel to the next, u and v change by
     * `step`. */
    const float4 camera = cameras[slice];
    const float2 texel = (float2)(depth_extent.x / result_size.x, depth_extent.y / result_size.y);
    const float2 step = (float2)(texel.x / camera.x, texel.y / camera.y);
    const float v = ((y + 0.5f) * texel.y - camera.w) / camera.y;
    for (int i = 0; i < RUN; ++i) {
        const float here = row[i + 1], u = ((x + i + 0.5f) * texel.x - camera.z) / camera.x;
        const float dx = slope(row[i], here, row[i + 2]), dy = slope(above[i + 1], here, below[i + 1]);
        /*
         * (a, b, c) is the cross product of the tangents (step.x z + u dx, v dx, dx) and (u dy, step.y z + v
         * dy, dy), divided by z, with the signs of x and y changed: it points towards the camera, and its z
         * counts towards the camera, too. It is divided by its largest component before it is squared, so
         * that nothing overflows.
         */
        const float a = step.y * dx, b = step.x * dy;
        const float c = step.x * step.y * here + step.x * v * dy + step.y * u * dx;
        const float largest = max(max(fabs(a), fabs(b)), fabs(c));
        const float scale = here > 0.0f && largest > 0.0f ? 1.0f / largest : 0.0f;
        const float p = a * scale, q = b * scale, r = c * scale;
        const float length = sqrt(p * p + q * q + r * r), unit = length > 0.0f ? 1.0f / length : 0.0f;
        nx[i] = p * unit;
        ny[i] = q * unit;
        nz[i] = r * unit;
    }
    for (int i = 0; i < min(RUN, result_size.x - x); ++i)
        texel_store(result, x + i, y, slice, (float4)(nx[i], ny[i], nz[i], 0.0f));
}
