/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene.c: occlusion and surface normals from depth. Depth of 0 is unknown.
 */
#include <math.h>

#include "reference/reference.h"
#include "reference/texture.h"

/* The depth of a texel. It is 0, unknown, beyond the edge and where it is not above 0. */
static double depth_at(const tvlm_texture *depth, int32_t image, int32_t x, int32_t y) {
    if (x < 0 || y < 0 || x >= depth->width || y >= depth->height) return 0;
    return fmax(0, (double)tvlm_reference_fetch(depth, 0, reference_slice(depth, image, 0), x, y)[0]);
}

/* ---- Occlusion ---- */

/* The share by which a texel is farther away than its neighbour. The share that a plane through the texel and
 * its opposite neighbour would have is subtracted (1 / depth is linear on a plane). */
static double step_to(double here, double neighbour, double opposite) {
    if (neighbour == 0) return 0;
    const double farther = here / neighbour - 1;
    if (opposite == 0) return farther;
    const double expected = 1 - here / opposite;
    return fmin(farther, farther - expected);
}

static double occlusion_at(const tvlm_texture *depth, int32_t image, int32_t x, int32_t y) {
    const double here = depth_at(depth, image, x, y);
    double step = 0;
    if (here == 0) return 0;
    for (int32_t dy = -1; dy <= 1; ++dy)
        for (int32_t dx = -1; dx <= 1; ++dx)
            if (dx != 0 || dy != 0)
                step = fmax(step, step_to(here, depth_at(depth, image, x + dx, y + dy),
                                          depth_at(depth, image, x - dx, y - dy)));
    const double none = (double)TVLM_SCENE_STEP, full = (double)TVLM_SCENE_FULL;
    return fmin(fmax((step - none) / (full - none), 0), 1);
}

tvlm_status tvlm_reference_occlusion(tvlm_device *device, const tvlm_generate_args *args) {
    tvlm_texture *out = args->out;
    (void)device;
    for (int32_t image = 0; image < out->images; ++image)
        for (int32_t y = 0; y < out->height; ++y)
            for (int32_t x = 0; x < out->width; ++x) {
                const double value[4] = {occlusion_at(args->grids[TVLM_GRID_DEPTH], image, x, y)};
                tvlm_reference_store(out, 0, reference_slice(out, image, 0), x, y, value);
            }
    return TVLM_OK;
}

/* ---- Normals ---- */

/* The change of depth from one texel to the next. It is half the difference of both neighbours. Where one
 * neighbour is unknown or lies across a step, it is the difference from the other neighbour. */
static double slope(double before, double here, double after) {
    const double back = here - before, on = after - here;
    if (before == 0 && after == 0) return 0;
    if (before == 0) return on;
    if (after == 0) return back;
    if (fmax(fabs(back), fabs(on)) <= (double)TVLM_SCENE_STEP * here) return (back + on) / 2;
    return fabs(back) <= fabs(on) ? back : on;
}

static void normal_at(const tvlm_texture *depth, const tvlm_camera *camera, int32_t image, int32_t x,
                      int32_t y, double normal[4]) {
    const double here = depth_at(depth, image, x, y);
    for (int c = 0; c < 4; ++c) normal[c] = 0;
    if (here == 0) return;
    const double texel_x = (double)depth->extent_x / depth->width,
                 texel_y = (double)depth->extent_y / depth->height;
    const double step_x = texel_x / (double)camera->fx, step_y = texel_y / (double)camera->fy;
    const double u = ((x + 0.5) * texel_x - (double)camera->cx) / (double)camera->fx;
    const double v = ((y + 0.5) * texel_y - (double)camera->cy) / (double)camera->fy;
    const double dx = slope(depth_at(depth, image, x - 1, y), here, depth_at(depth, image, x + 1, y));
    const double dy = slope(depth_at(depth, image, x, y - 1), here, depth_at(depth, image, x, y + 1));
    /* How the point (u z, v z, z) moves from one texel to the next, across and down. */
    const double across[3] = {step_x * here + u * dx, v * dx, dx},
                 down[3] = {u * dy, step_y * here + v * dy, dy};
    /* The cross product of these two vectors leads away from the camera, as z does here. The normal is its
     * opposite, with z counted towards the camera. So x and y change their signs, and z does not. */
    normal[0] = across[2] * down[1] - across[1] * down[2];
    normal[1] = across[0] * down[2] - across[2] * down[0];
    normal[2] = across[0] * down[1] - across[1] * down[0];
    const double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    for (int c = 0; c < 3 && length > 0; ++c) normal[c] /= length;
}

tvlm_status tvlm_reference_normal(tvlm_device *device, const tvlm_generate_args *args) {
    tvlm_texture *out = args->out;
    (void)device;
    for (int32_t image = 0; image < out->images; ++image)
        for (int32_t y = 0; y < out->height; ++y)
            for (int32_t x = 0; x < out->width; ++x) {
                double value[4];
                normal_at(args->grids[TVLM_GRID_DEPTH], &args->cameras[image], image, x, y, value);
                tvlm_reference_store(out, 0, reference_slice(out, image, 0), x, y, value);
            }
    return TVLM_OK;
}
