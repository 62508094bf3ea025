/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thumbnail.c: pictures of the source. Known pictures are tested on the reference, and every device against
 * the reference.
 */
#include <stdio.h>

#include "kernels/family.h"
#include "select/budget_plan.h"

static const char *const names[4] = {"r", "g", "b", "luma"};

/* Sums of floats in [0, 1], with weights whose absolute values add up to less than 2. */
static const test_tolerance tolerances[4] = {{1e-5f, 1e-6f, TEST_HALF_ULP},
                                             {1e-5f, 1e-6f, TEST_HALF_ULP},
                                             {1e-5f, 1e-6f, TEST_HALF_ULP},
                                             {1e-5f, 1e-6f, TEST_HALF_ULP}};

/* Makes the picture of the last image, on both. The other images of the textures must stay as they are. */
static test_pair pictures(const test_pair *source, test_size size) {
    const tvlm_budget_size wanted = {size.width, size.height, 0.0};
    const int32_t image = source->got->images - 1;
    tvlm_texture shape = *source->got;
    tvlm_budget_plan plan;
    test_pair made = {.device = source->device, .reference = source->reference};
    shape.width = size.width;
    shape.height = size.height;
    shape.levels = 1;
    made.got = test_texture(made.device, &shape);
    made.expected = test_texture(made.reference, &shape);
    const size_t values = 4 * test_texels(&shape, 0);
    float *const gray = malloc(values * sizeof *gray);
    assert_non_null(gray);
    for (size_t i = 0; i < values; ++i) gray[i] = 0.25f;
    for (int32_t slice = 0; slice < image; ++slice) test_pair_write(&made, slice, gray);
    free(gray);
    assert_true(tvlm_budget_plan_make(source->got, image, 16, &wanted, 1, NULL, &plan));
    assert_int_equal(made.device->backend->thumbnail(made.device, source->got, &plan, made.got), TVLM_OK);
    assert_int_equal(
        made.reference->backend->thumbnail(made.reference, source->expected, &plan, made.expected), TVLM_OK);
    tvlm_budget_plan_free(&plan);
    return made;
}

static void thumbnails(const test_trial *trial) {
    const test_size size = trial->size;
    test_pair source = test_source(trial->target, trial->reference, size, 2,
                                   (test_picture)(trial->index % TEST_PICTURES), trial->random);
    const test_size sizes[] = {
        {1, 1}, {(size.width + 1) / 2, (size.height + 2) / 3}, {size.width, 1 + size.height / 5}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        char what[96];
        test_pair made = pictures(&source, sizes[i]);
        snprintf(what, sizeof what, "%dx%d of %dx%d", (int)sizes[i].width, (int)sizes[i].height,
                 (int)size.width, (int)size.height);
        test_pair_compare(what, &made, names, tolerances);
        test_pair_destroy(&made);
    }
    test_pair_destroy(&source);
}

/* The left half of an image is black, and its right half white. A picture of one texel is then gray, whatever
 * the filter is, since weights are symmetrical. A picture of the image's own size is the image. */
static void known(tvlm_device *device) {
    enum { SIDE = 24 };
    static float rgba[SIDE * SIDE * 4];
    const tvlm_texture shape = test_shape((test_size){SIDE, SIDE}, 1, 1, TVLM_FORMAT_F32);
    for (int i = 0; i < SIDE * SIDE * 4; ++i) rgba[i] = i / 4 % SIDE < SIDE / 2 ? 0.0f : 1.0f;
    test_pair source = {device, device, test_texture(device, &shape), test_texture(device, &shape)};
    test_pair_write(&source, 0, rgba);
    test_pair_mips(&source);
    test_pair one = pictures(&source, (test_size){1, 1}), all = pictures(&source, (test_size){SIDE, SIDE});
    float *const gray = test_read(device, one.got, 0, 0), *const same = test_read(device, all.got, 0, 0);
    for (int c = 0; c < 4; ++c) assert_float_equal(gray[c], 0.5f, 1e-6f);
    assert_memory_equal(same, rgba, sizeof rgba);
    free(gray);
    free(same);
    test_pair_destroy(&one);
    test_pair_destroy(&all);
    test_pair_destroy(&source);
}

TEST_FAMILY(thumbnail, {"known", .known = known}, {"thumbnails", .trial = thumbnails, .seed = 131})
