/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visual.c: edges, edges_inv, high and low against the reference, alone and in one launch with entropy.
 */
#include "kernels/family.h"
#include "opencl/backend.h"

#include <string.h>

static const char *const names[4] = {"edges", "edges_inv", "high", "low"};

/*
 * Sums of at most 25 products of values of [0, 1] in float, each rounded (6e-8), against double: some 1e-7.
 * Edges have a root of 3 ulp. Near 0 it is the root of a difference that cancels, and so is allowed ten times
 * that.
 */
static const test_tolerance tolerances[4] = {{1e-6f, 1e-7f, TEST_HALF_ULP},
                                             {1e-6f, 1e-7f, TEST_HALF_ULP},
                                             {5e-7f, 1e-7f, TEST_HALF_ULP},
                                             {5e-7f, 1e-7f, TEST_HALF_ULP}};

/* ---- With entropy ---- */

static void make(tvlm_device *device, tvlm_texture *source, tvlm_grid grid, tvlm_texture *out,
                 tvlm_texture *beside) {
    const tvlm_family_settings settings = {0};
    test_generate(device, grid, TVLM_GRID_SOURCE, source,
                  (tvlm_generate_args){.out = out, .beside = beside, .settings = &settings});
}

static void same_texels(tvlm_device *device, tvlm_texture *got, tvlm_texture *expected, const char *what) {
    for (int32_t slice = 0; slice < test_slices(got); ++slice) {
        float *a = test_read(device, got, 0, slice), *b = test_read(device, expected, 0, slice);
        for (size_t i = 0; i < 4 * test_texels(got, 0); ++i)
            if (a[i] != b[i])
                fail_msg("%s of %dx%d, slice %d: texel %zu is %.9g beside the other, and %.9g alone", what,
                         (int)got->width, (int)got->height, (int)slice, i / 4, (double)a[i], (double)b[i]);
        free(a);
        free(b);
    }
}

/* When one launch makes both families, each must be the same as from a launch of its own. */
static void together(const test_trial *trial) {
    static const tvlm_grid grids[2] = {TVLM_GRID_VISUAL, TVLM_GRID_ENTROPY};
    tvlm_device *const device = trial->target->device;
    test_pair source = test_trial_source(trial);
    tvlm_texture *out[2][2];
    for (int beside = 0; beside < 2; ++beside) {
        for (int o = 0; o < 2; ++o) {
            const tvlm_texture shape =
                test_grid_shape(grids[o], trial->size, trial->images, trial->target->format);
            out[beside][o] = test_texture(device, &shape);
        }
        test_poison(device, out[beside][1]);
        make(device, source.got, TVLM_GRID_VISUAL, out[beside][0], beside ? out[beside][1] : NULL);
        if (!beside) make(device, source.got, TVLM_GRID_ENTROPY, out[beside][1], NULL);
    }
    same_texels(device, out[1][0], out[0][0], "visual");
    same_texels(device, out[1][1], out[0][1], "entropy");
    for (int beside = 0; beside < 2; ++beside)
        for (int o = 0; o < 2; ++o) device->backend->texture_destroy(device, &out[beside][o]);
    test_pair_destroy(&source);
}

/* Tiles that are lower than a cell. */
static bool low_tiles(const test_target *target, opencl_tuning *tuning, int n) {
    (void)target;
    tuning->tile_height = tuning->tile_group_height = 8;
    tuning->tile_width = tuning->tile_group_width = 32;
    return n == 0;
}

TEST_FAMILY(visual,
            {"visual", TEST_TUNED, .grid = TVLM_GRID_VISUAL, .components = names, .tolerances = tolerances},
            {"together", TEST_TUNED, .trial = together, .seed = 73},
            {"together in low tiles", TEST_OPENCL, .trial = together, .seed = 73, .tune = low_tiles})
