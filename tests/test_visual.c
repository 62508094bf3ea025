/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_visual.c: edges, edges_inv, high, low against the reference; and the same with entropy beside them.
 */
#include "opencl/backend.h"
#include "support_stage.h"

#include <stdio.h>
#include <string.h>

static const char *const names[4] = {"edges", "edges_inv", "high", "low"};

/*
 * Sums of at most 25 products of [0, 1] in float, each rounded (6e-8), against double: some 1e-7. edges: sqrt
 * is 3 ulp, and near 0 takes the root of a cancelled difference, hence ten times that.
 */
static const test_tolerance tolerances[4] = {{1e-6f, 1e-7f, TEST_HALF_ULP},
                                             {1e-6f, 1e-7f, TEST_HALF_ULP},
                                             {5e-7f, 1e-7f, TEST_HALF_ULP},
                                             {5e-7f, 1e-7f, TEST_HALF_ULP}};

static void visual(const test_target *target, tvlm_device *reference) {
    test_family(target, reference, TVLM_GRID_VISUAL, names, tolerances);
}

/* ---- With entropy ---- */

static void make(tvlm_device *device, tvlm_texture *source, tvlm_grid grid, tvlm_texture *out,
                 tvlm_texture *beside) {
    tvlm_texture *grids[TVLM_GRID_COUNT] = {[TVLM_GRID_SOURCE] = source};
    const tvlm_family_settings settings = {0};
    const tvlm_generate_args args = {.grids = grids, .out = out, .beside = beside, .settings = &settings};
    if (device->backend->generate[grid](device, &args) != TVLM_OK) fail_msg("%s", test_last_log());
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

/* Both families of one launch are those that each has in a launch of its own. */
static void together(const test_target *target, tvlm_device *reference) {
    size_t count;
    const test_size *sizes = test_sizes(&count);
    tvlm_device *const device = target->device;
    uint64_t random = 73;
    for (size_t i = 0; i < count; ++i) {
        test_pair source = test_source(target, reference, sizes[i], 2, TEST_PICTURE_RANDOM, &random);
        const tvlm_texture shape = test_shape(sizes[i], 1, 2, target->format);
        const test_size cells = {(sizes[i].width + TVLM_CELL - 1) / TVLM_CELL,
                                 (sizes[i].height + TVLM_CELL - 1) / TVLM_CELL};
        const tvlm_texture cell_shape = test_shape(cells, 1, 2, target->format);
        tvlm_texture *out[2][2];
        for (int beside = 0; beside < 2; ++beside) {
            out[beside][0] = test_texture(device, &shape);
            out[beside][1] = test_texture(device, &cell_shape);
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
}

/* Tiles that are no whole cells. */
static void with_low_tiles(const test_target *target, tvlm_device *reference) {
    if (!test_is_opencl(target->device)) return;
    opencl_tuning *const tuning = &((opencl_device *)target->device)->tuning;
    const opencl_tuning usual = *tuning;
    tuning->tile_height = tuning->tile_group_height = 8;
    tuning->tile_width = tuning->tile_group_width = 32;
    together(target, reference);
    *tuning = usual;
}

static void tuned(const test_target *target, tvlm_device *reference) {
    test_with_tunings(target, reference, visual);
    test_with_tunings(target, reference, together);
    with_low_tiles(target, reference);
}

static void test_visual(void **state) {
    (void)state;
    test_on_targets(tuned);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_visual)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
