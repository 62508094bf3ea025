/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sharpness.c: sharpness against the reference, from laplacians that are the same on both sides. It also
 * tests that sharpness is made in parts, and tells a sharp picture from a soft one.
 */
#include <stdio.h>
#include <string.h>

#include "kernels/family.h"
#include "stack_helper.h"
#include "texturevlm/stack.h"

static const char *const names[4] = {"sharpness", "component 1", "component 2", "component 3"};

/* Two sums of at most 256 values in float, against double. Their relative error stays below 256 ulp. Most
 * values are small, or 1. */
static const test_tolerance tolerances[4] = {{8e-6f, 1e-6f, TEST_HALF_ULP}};

/* `offset` is added to all values, and changes no variance. */
static void compare(const test_trial *trial, float offset, float most) {
    const tvlm_format format = trial->target->format;
    const tvlm_texture shape = test_grid_shape(TVLM_GRID_LAPLACIAN, trial->size, trial->images, format),
                       cells = test_grid_shape(TVLM_GRID_SHARPNESS, trial->size, trial->images, format);
    char what[80];
    test_pair laplacian = test_pair_create(trial->target, trial->reference, &shape),
              out = test_pair_create(trial->target, trial->reference, &cells);
    test_pair_fill(&laplacian, trial->random, offset - most, offset + most, false);
    test_pair_levels(&laplacian);
    test_pair_generate(&out, TVLM_GRID_SHARPNESS, TVLM_GRID_LAPLACIAN, &laplacian);
    snprintf(what, sizeof what, "sharpness of %dx%d, +-%g about %g", (int)trial->size.width,
             (int)trial->size.height, (double)most, (double)offset);
    test_pair_compare(what, &out, names, tolerances);
    test_pair_destroy(&laplacian);
    test_pair_destroy(&out);
}

static void sharpness(const test_trial *trial) {
    compare(trial, 0.0f, 0.05f);
    compare(trial, 0.75f, 0.05f);
    compare(trial, 0.0f, 0.0f); /* flat */
    compare(trial, 0.0f, 1.0f); /* 1 everywhere */
}

/* ---- What it is for ---- */

enum { SIDE = 64, CELLS = SIDE / TVLM_CELL };

/* The mean over all cells of a checkerboard of squares of `square` pixels, whose edges are `soft` pixels
 * wide. */
static float sharpness_of(tvlm_device *device, int32_t square, int32_t soft) {
    static uint8_t pixels[SIDE * SIDE];
    tvlm_stack *stack = NULL;
    float cells[CELLS * CELLS], sum = 0.0f;
    for (int32_t y = 0; y < SIDE; ++y)
        for (int32_t x = 0; x < SIDE; ++x) {
            const int32_t inside = x % square, next = x / square % 2;
            const float step = inside < soft ? ((float)inside + 0.5f) / (float)soft : 1.0f;
            pixels[y * SIDE + x] =
                (uint8_t)(128.0f + 100.0f * (next == 0 ? 1.0f - 2.0f * step : 2.0f * step - 1.0f));
        }
    const tvlm_image image = u8_image(pixels, SIDE, SIDE, 1);
    assert_int_equal(
        tvlm_stack_create_for_image(
            device, &image, tvlm_stack_params(.layout = "sharpness", .format = TVLM_FORMAT_F32), &stack),
        TVLM_OK);
    assert_int_equal(tvlm_stack_read(stack, 0, TVLM_CHANNEL_SHARPNESS, 0, CELLS * CELLS, cells), TVLM_OK);
    for (int i = 0; i < CELLS * CELLS; ++i) {
        assert_true(cells[i] >= 0.0f && cells[i] <= 1.0f);
        sum += cells[i];
    }
    tvlm_stack_destroy(&stack);
    return sum / (CELLS * CELLS);
}

/* A corner of a frame changes. Sharpness is then made in parts, and is the same as if all of it were made
 * anew. */
static void parts(const test_target *target, tvlm_device *reference) {
    enum { WIDTH = 203, HEIGHT = 150, COLUMNS = 13, ROWS = 10 };
    const struct tvlm_stack_params params = {
        .layout = "sharpness", .width = WIDTH, .height = HEIGHT, .format = target->format};
    uint64_t random = 5;
    uint8_t *pixels = test_random_pixels(&random, WIDTH, HEIGHT, 3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stack *parted = NULL, *whole = NULL;
    float got[COLUMNS * ROWS], expected[COLUMNS * ROWS];
    tvlm_delta_report report;
    (void)reference;
    assert_int_equal(tvlm_stack_create(target->device, &params, &parted), TVLM_OK);
    assert_int_equal(tvlm_stack_create(target->device, &params, &whole), TVLM_OK);
    assert_int_equal(tvlm_stack_update_image(parted, 0, &image, NULL, &report), TVLM_OK);
    assert_int_equal(tvlm_stack_make_all(parted), TVLM_OK);
    for (int i = 0; i < 40; ++i) pixels[3 * (20 * WIDTH + i) + i % 3] ^= 0x80;
    assert_int_equal(tvlm_stack_update_image(parted, 0, &image, tvlm_update_params(.tile = 32), &report),
                     TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(whole, 0, &image), TVLM_OK);
    assert_int_equal(tvlm_stack_read(parted, 0, TVLM_CHANNEL_SHARPNESS, 0, COLUMNS * ROWS, got), TVLM_OK);
    assert_int_equal(tvlm_stack_read(whole, 0, TVLM_CHANNEL_SHARPNESS, 0, COLUMNS * ROWS, expected), TVLM_OK);
    assert_memory_equal(got, expected, sizeof got);
    bool told = false;
    for (int32_t i = 0; i < report.family_count; ++i)
        if (strcmp(report.families[i].name, "sharpness") == 0) {
            told = true;
            assert_int_equal(report.families[i].update, TVLM_UPDATE_PARTS);
            assert_true(report.families[i].texels < report.families[i].all);
        }
    assert_true(told);
    tvlm_stack_destroy(&parted);
    tvlm_stack_destroy(&whole);
    free(pixels);
}

static void tells_blur(tvlm_device *device) {
    const float sharp = sharpness_of(device, 16, 1), soft = sharpness_of(device, 16, 4),
                softest = sharpness_of(device, 16, 16);
    if (!(sharp > 4.0f * soft && soft > 4.0f * softest))
        fail_msg("sharp %g, soft %g, softest %g", (double)sharp, (double)soft, (double)softest);
}

TEST_FAMILY(sharpness, {"sharpness", TEST_TUNED, .trial = sharpness, .seed = 12288},
            {"in parts", .body = parts}, {"tells blur", .known = tells_blur})
