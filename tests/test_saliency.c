/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_saliency.c: saliency and its three scales against the reference, from identical levels of the source.
 */
#include <stdio.h>
#include <string.h>

#include "opencl/backend.h"
#include "support_stage.h"

static const char *const names[4] = {"saliency", "saliency_fine", "saliency_mid", "saliency_coarse"};

/*
 * L*a*b* in float: pow is 16 ulp, cbrt 2 ulp, then 500 * a difference of values near 1: some 1e-4 of a
 * distance of 100, so 1e-6 before the division by the image's largest contrast, which is above 0.02 in these
 * pictures (that of the flat one is below the floor, and all is 0). Nothing in the prior decides anything: a
 * path's cost is a smallest sum, which moves by no more than its steps do, and its division by at least 10
 * makes up for their number.
 */
static const test_tolerance tolerances[4] = {{5e-5f, 1e-5f, TEST_HALF_ULP},
                                             {5e-5f, 1e-5f, TEST_HALF_ULP},
                                             {5e-5f, 1e-5f, TEST_HALF_ULP},
                                             {5e-5f, 1e-5f, TEST_HALF_ULP}};

static void saliency(const test_target *target, tvlm_device *reference) {
    test_family(target, reference, TVLM_GRID_SALIENCY, names, tolerances);
}

static void test_saliency(void **state) {
    (void)state;
    test_on_targets(saliency);
}

/* `out` of both made from `source` of both, and compared. */
static void generate_and_compare(const char *what, const test_pair *source, const test_pair *out) {
    tvlm_texture *got[TVLM_GRID_COUNT] = {[TVLM_GRID_SOURCE] = source->got};
    tvlm_texture *expected[TVLM_GRID_COUNT] = {[TVLM_GRID_SOURCE] = source->expected};
    test_poison(out->device, out->got);
    const tvlm_generate_args device = {.grids = got, .out = out->got};
    const tvlm_generate_args reference = {.grids = expected, .out = out->expected};
    if (out->device->backend->generate[TVLM_GRID_SALIENCY](out->device, &device) != TVLM_OK)
        fail_msg("%s: %s", what, test_last_log());
    assert_int_equal(out->reference->backend->generate[TVLM_GRID_SALIENCY](out->reference, &reference),
                     TVLM_OK);
    test_pair_compare(what, out, names, tolerances);
}

static tvlm_texture quarter_shape(test_size size, int32_t images, tvlm_format format) {
    tvlm_texture shape = test_shape(
        (test_size){tvlm_level_side(size.width, 2), tvlm_level_side(size.height, 2)}, 1, images, format);
    shape.extent_x = (float)size.width;
    shape.extent_y = (float)size.height;
    return shape;
}

/*
 * Sizes whose border is looked at above the first level, at the full side of TVLM_SALIENCY_SIDE, and long
 * ones; with one work-item for a run and for the border, as on a CPU, and with many, as on a GPU.
 */
static void levels_and_groups(const test_target *target, tvlm_device *reference) {
    static const test_size all[] = {{641, 22}, {3, 1300}, {333, 174}, {321, 323}};
    const size_t count = test_small() ? 2 : sizeof all / sizeof *all; /* the small ones are long */
    uint64_t random = 83;
    opencl_tuning *tuning =
        test_is_opencl(target->device) ? &((opencl_device *)target->device)->tuning : NULL;
    for (size_t i = 0; i < count; ++i) {
        const int32_t images = i == 2 ? 3 : 1;
        test_pair source = test_source(target, reference, all[i], images, TEST_PICTURE_RANDOM, &random);
        const tvlm_texture shape = quarter_shape(all[i], images, target->format);
        test_pair out = test_pair_create(target, reference, &shape);
        for (int gpu = test_has_long_loops(target->device) ? 0 : 1; gpu < (tuning != NULL ? 2 : 1); ++gpu) {
            char what[80];
            opencl_tuning usual;
            snprintf(what, sizeof what, "saliency of %dx%d, %s", (int)all[i].width, (int)all[i].height,
                     gpu ? "as on a GPU" : "as on a CPU");
            if (tuning != NULL) {
                usual = *tuning;
                tuning->run = gpu ? 1 : 16;
                tuning->group_width = tuning->group_height = gpu ? 16 : 8;
            }
            generate_and_compare(what, &source, &out);
            if (tuning != NULL) *tuning = usual;
        }
        test_pair_destroy(&out);
        test_pair_destroy(&source);
    }
}

static void test_levels_and_groups(void **state) {
    (void)state;
    test_on_targets(levels_and_groups);
}

/* What a square on an even ground is for, and what it means that the image's border is the ground. */
static void figure_and_ground(const test_target *target, tvlm_device *reference) {
    enum { SIDE = 128, FROM = 40, TO = 72 };
    const test_size size = {SIDE, SIDE};
    const tvlm_texture shape = test_shape(size, 1, 1, target->format),
                       out_shape = quarter_shape(size, 1, target->format);
    const test_pair source = test_pair_create(target, reference, &shape);
    test_pair pairs[2] = {source, test_pair_create(target, reference, &out_shape)};
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
    test_pair_mips(&source);
    test_pair_equalise(&source);
    generate_and_compare("a square", &source, &pairs[1]);
    float *made = test_read(target->device, pairs[1].got, 0, 0);
    const float middle = made[4 * (14 * (SIDE / 4) + 14)], ground = made[4 * (3 * (SIDE / 4) + 3)];
    free(made);
    if (!(middle > 0.9f) || !(ground < 0.05f))
        fail_msg("a square has %g in its middle, and its ground %g", (double)middle, (double)ground);
    test_pair_destroy(&pairs[0]);
    test_pair_destroy(&pairs[1]);
}

static void test_figure_and_ground(void **state) {
    (void)state;
    test_on_targets(figure_and_ground);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_saliency),
                                       cmocka_unit_test(test_levels_and_groups),
                                       cmocka_unit_test(test_figure_and_ground)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
