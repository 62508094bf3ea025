/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene.c: occlusion and normals from depth, against the reference. ../test_scene_stack.c has known scenes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/family.h"

/* Fills in slanted planes, boxes in front of them, noise, and holes, which are 0 or below. */
static void fill_depth(const test_pair *depth, uint64_t *random) {
    const int32_t width = depth->got->width, height = depth->got->height;
    float *rgba = calloc((size_t)width * (size_t)height, 4 * sizeof *rgba);
    assert_non_null(rgba);
    for (int32_t slice = 0; slice < test_slices(depth->got); ++slice) {
        const float a = 0.2f + test_random_unit(random), b = 0.3f * test_random_unit(random);
        const float left = test_random_unit(random), right = left + test_random_unit(random);
        for (int32_t y = 0; y < height; ++y)
            for (int32_t x = 0; x < width; ++x) {
                const float u = ((float)x + 0.5f) / (float)width, v = ((float)y + 0.5f) / (float)height;
                float z = 1.0f / (a + b * u - 0.1f * v);
                if (u > left && u < right && v > 0.4f) z = 0.5f + 0.2f * u;
                if (u < 0.3f && v < 0.3f) z += 0.4f * test_random_unit(random);
                if (test_random(random) % 40 == 0) z = (float)(test_random(random) % 2) - 1.0f;
                rgba[4 * ((size_t)y * (size_t)width + (size_t)x)] = z;
            }
        test_pair_write(depth, slice, rgba);
    }
    test_pair_levels(depth);
    free(rgba);
}

static void generate(tvlm_device *device, tvlm_grid grid, tvlm_texture *depth, tvlm_texture *out) {
    static const tvlm_camera cameras[2] = {{100, 120, 30, 20}, {500, 300, 0, 100}};
    test_poison(device, out);
    test_generate(device, grid, TVLM_GRID_DEPTH, depth, (tvlm_generate_args){.out = out, .cameras = cameras});
}

/*
 * The depths on the two sides of a texel may differ by about TVLM_SCENE_STEP, or by equally much. Then device
 * and reference may take different sides, and their normals have nothing to do with each other. One texel in
 * a thousand may be such, and one in any case.
 */
static void compare_but_for_few(const char *what, const test_pair *pair, test_tolerance tolerance) {
    const size_t texels = test_texels(pair->got, 0);
    for (int32_t slice = 0; slice < test_slices(pair->got); ++slice) {
        float *got = test_read(pair->device, pair->got, 0, slice);
        float *expected = test_read(pair->reference, pair->expected, 0, slice);
        size_t few = 0;
        for (size_t i = 0; i < texels; ++i) {
            float worst = 0.0f;
            for (size_t c = 0; c < 4; ++c) worst = fmaxf(worst, fabsf(got[4 * i + c] - expected[4 * i + c]));
            if (!(worst > 0.01f)) continue;
            ++few;
            memcpy(got + 4 * i, expected + 4 * i, 4 * sizeof *got);
        }
        if (few > 1 + texels / 1000) fail_msg("%s: %zu of %zu texels differ", what, few, texels);
        for (size_t c = 0; c < 4; ++c)
            test_compare_stage(what, got + c, expected + c, texels, 4, tolerance,
                               pair->got->format == TVLM_FORMAT_F16);
        free(got);
        free(expected);
    }
}

static void both(const test_trial *trial) {
    /* u and v are differences of coordinates in float. They are off by a few ulp of 1, and slopes are about a
     * hundredth. */
    static const test_tolerance normal = {5e-4f, 2e-5f, TEST_HALF_ULP},
                                occlusion = {2e-5f, 1e-6f, TEST_HALF_ULP};
    tvlm_texture shape = test_shape(trial->size, 1, 2, trial->target->format);
    shape.extent_x = 2.5f * (float)trial->size.width; /* coarser than the image */
    test_pair depth = test_pair_create(trial->target, trial->reference, &shape);
    fill_depth(&depth, trial->random);
    for (int k = 0; k < 2; ++k) {
        const tvlm_grid grid = k == 0 ? TVLM_GRID_OCCLUSION : TVLM_GRID_NORMAL;
        test_pair out = test_pair_create(trial->target, trial->reference, &shape);
        char what[64];
        generate(out.device, grid, depth.got, out.got);
        generate(out.reference, grid, depth.expected, out.expected);
        snprintf(what, sizeof what, "%s of %dx%d", tvlm_grid_get_info(grid)->name, (int)trial->size.width,
                 (int)trial->size.height);
        compare_but_for_few(what, &out, k == 0 ? occlusion : normal);
        test_pair_destroy(&out);
    }
    test_pair_destroy(&depth);
}

TEST_FAMILY(scene, {"occlusion and normals", TEST_TUNED, .trial = both, .seed = 3})
