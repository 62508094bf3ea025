/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saliency.c: saliency and its three scales against the reference, from identical levels of the source.
 */
#include <stdio.h>
#include <string.h>

#include "kernels/family.h"
#include "opencl/backend.h"

static const char *const names[4] = {"saliency", "saliency_fine", "saliency_mid", "saliency_coarse"};

/*
 * L*a*b* is in float: pow is 16 ulp, cbrt 2 ulp, and then a difference of values near 1 is multiplied by 500.
 * That is some 1e-4 of a distance of 100, and so 1e-6 before the division by the image's largest contrast.
 * This contrast is above 0.02 in these pictures. In the flat picture it is below the floor, and all is 0.
 *
 * The prior has no threshold. The cost of a path is a smallest sum, which is off by no more than its steps
 * are. Its division by at least 10 makes up for their number.
 */
static const test_tolerance tolerances[4] = {{5e-5f, 1e-5f, TEST_HALF_ULP},
                                             {5e-5f, 1e-5f, TEST_HALF_ULP},
                                             {5e-5f, 1e-5f, TEST_HALF_ULP},
                                             {5e-5f, 1e-5f, TEST_HALF_ULP}};

/* Makes saliency on both from the source, compares, and returns both. */
static test_pair generate_and_compare(const char *what, const test_target *target, const test_pair *source) {
    const tvlm_texture *const from = source->got;
    const tvlm_texture shape = test_grid_shape(TVLM_GRID_SALIENCY, (test_size){from->width, from->height},
                                               from->images, target->format);
    const test_pair out = test_pair_create(target, source->reference, &shape);
    test_pair_generate(&out, TVLM_GRID_SALIENCY, TVLM_GRID_SOURCE, source);
    test_pair_compare(what, &out, names, tolerances);
    return out;
}

/*
 * Sizes whose border is read at a level above the first one, sizes with the full side of TVLM_SALIENCY_SIDE
 * there, and long ones. They are made as on a GPU, with 256 work-items for the border and no runs, and as on
 * a CPU, with 16 and with runs.
 */
static void levels_and_groups(const test_target *target, tvlm_device *reference) {
    static const test_size all[] = {{641, 22}, {3, 1300}, {333, 174}, {321, 323}};
    const size_t count = test_small() ? 2 : sizeof all / sizeof *all; /* the first two are long */
    uint64_t random = 83;
    for (size_t i = 0; i < count; ++i) {
        const int32_t images = i == 2 ? 3 : 1;
        char what[80];
        test_pair source = test_source(target, reference, all[i], images, TEST_PICTURE_RANDOM, &random);
        snprintf(what, sizeof what, "saliency of %dx%d", (int)all[i].width, (int)all[i].height);
        test_pair out = generate_and_compare(what, target, &source);
        test_pair_destroy(&out);
        test_pair_destroy(&source);
    }
}

static bool as_gpu_and_cpu(const test_target *target, opencl_tuning *tuning, int n) {
    tuning->run = n == 0 ? 1 : 16;
    tuning->group_width = tuning->group_height = n == 0 ? 16 : 8;
    return n < (test_has_long_loops(target->device) ? 2 : 1);
}

/* A square on an even ground is salient. The ground is not, since it reaches the image's border. */
static void figure_and_ground(const test_target *target, tvlm_device *reference) {
    enum { SIDE = 128, FROM = 40, TO = 72 };
    const test_size size = {SIDE, SIDE};
    const tvlm_texture shape = test_shape(size, 1, 1, target->format);
    test_pair source = test_pair_create(target, reference, &shape);
    float *rgba = malloc(sizeof *rgba * 4 * SIDE * SIDE);
    assert_non_null(rgba);
    for (int y = 0; y < SIDE; ++y)
        for (int x = 0; x < SIDE; ++x) {
            const bool figure = x >= FROM && x < TO && y >= FROM && y < TO;
            const float value[4] = {figure ? 0.8f : 0.3f, 0.4f, figure ? 0.2f : 0.3f, 0.4f};
            memcpy(rgba + 4 * (y * SIDE + x), value, sizeof value);
        }
    test_pair_write(&source, 0, rgba);
    free(rgba);
    test_pair_levels(&source);
    test_pair out = generate_and_compare("a square", target, &source);
    float *made = test_read(target->device, out.got, 0, 0);
    const float middle = made[4 * (14 * (SIDE / 4) + 14)], ground = made[4 * (3 * (SIDE / 4) + 3)];
    free(made);
    if (!(middle > 0.9f) || !(ground < 0.05f))
        fail_msg("a square has %g in its middle, and its ground %g", (double)middle, (double)ground);
    test_pair_destroy(&source);
    test_pair_destroy(&out);
}

TEST_FAMILY(saliency, {"saliency", .grid = TVLM_GRID_SALIENCY, .components = names, .tolerances = tolerances},
            {"levels and groups", .body = levels_and_groups, .tune = as_gpu_and_cpu},
            {"figure and ground", .body = figure_and_ground})
