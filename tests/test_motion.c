/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_motion.c: motion and what it keeps of a frame, against the reference; and through a stack: two frames.
 */
#include "support_stage.h"

#include <math.h>
#include <string.h>

static const char *const names[4] = {"motion", "component 1", "component 2", "component 3"};

/* One difference of two values that are the same on both sides: at most the last place of a float below 1. */
static const test_tolerance tolerances[4] = {{6e-8f, 6e-8f, TEST_HALF_ULP}};

/* What is kept is a copy. */
static const test_tolerance exact[4];

static test_size half_of(test_size size) {
    return (test_size){tvlm_level_side(size.width, 1), tvlm_level_side(size.height, 1)};
}

static test_pair create(const test_target *target, tvlm_device *reference, test_size size, int32_t images,
                        int32_t levels) {
    tvlm_texture shape = test_shape(size, 1, images, target->format);
    if (levels > 0) shape.levels = levels;
    shape.scalar = true;
    const test_pair pair = test_pair_create(target, reference, &shape);
    test_poison(pair.device, pair.got);
    return pair;
}

/* Random luma; image 1 has no previous frame. */
static void fill_previous(const test_pair *pair, uint64_t *random) {
    const size_t texels = test_texels(pair->got, 0);
    float *rgba = calloc(4 * texels, sizeof *rgba);
    assert_non_null(rgba);
    for (int32_t slice = 0; slice < test_slices(pair->got); ++slice) {
        for (size_t i = 0; i < texels; ++i) rgba[4 * i] = slice != 1 ? test_random_unit(random) : -1.0f;
        test_pair_write(pair, slice, rgba);
    }
    free(rgba);
}

static void make(tvlm_device *device, tvlm_texture *source, tvlm_texture *luma, tvlm_texture *out) {
    tvlm_texture *grids[TVLM_GRID_COUNT] = {[TVLM_GRID_SOURCE] = source};
    tvlm_texture *previous[TVLM_PREVIOUS_COUNT] = {[TVLM_PREVIOUS_LUMA] = luma};
    const tvlm_generate_args args = {.grids = grids, .out = out, .previous = previous};
    if (device->backend->generate[TVLM_GRID_MOTION](device, &args) != TVLM_OK)
        fail_msg("motion: %s", test_last_log());
}

static void assert_zero(tvlm_device *device, tvlm_texture *texture, int32_t slice) {
    float *rgba = test_read(device, texture, 0, slice);
    for (size_t i = 0; i < 4 * test_texels(texture, 0); ++i)
        if (rgba[i] != 0.0f) fail_msg("slice %d, [%zu] is %g, not 0", (int)slice, i, (double)rgba[i]);
    free(rgba);
}

static void check_size(const test_target *target, tvlm_device *reference, test_size size, int32_t images,
                       test_picture picture, uint64_t *random) {
    test_pair source = test_source(target, reference, size, images, picture, random);
    test_pair luma = create(target, reference, half_of(size), images, 1);
    test_pair out = create(target, reference, half_of(size), images, 0);
    fill_previous(&luma, random);
    make(out.device, source.got, luma.got, out.got);
    make(out.reference, source.expected, luma.expected, out.expected);
    test_pair_compare("motion", &out, names, tolerances);
    if (images > 1) assert_zero(out.device, out.got, 1);

    for (int32_t image = 0; image < images; ++image) {
        tvlm_remember_args args = {.luma = luma.got, .source = source.got, .image = image};
        assert_int_equal(target->device->backend->remember(target->device, &args), TVLM_OK);
        args.luma = luma.expected;
        args.source = source.expected;
        assert_int_equal(reference->backend->remember(reference, &args), TVLM_OK);
    }
    test_pair_compare("the luma that is kept", &luma, names, exact);
    make(out.device, source.got, luma.got, out.got); /* the same frame again */
    make(out.reference, source.expected, luma.expected, out.expected);
    for (int32_t image = 0; image < images; ++image) {
        assert_zero(out.device, out.got, image);
        assert_zero(out.reference, out.expected, image);
    }
    test_poison(out.device, out.got);
    make(out.device, source.got, NULL, out.got); /* no previous frame */
    for (int32_t image = 0; image < images; ++image) assert_zero(out.device, out.got, image);
    test_pair_destroy(&out);
    test_pair_destroy(&luma);
    test_pair_destroy(&source);
}

static void stages(const test_target *target, tvlm_device *reference) {
    size_t count;
    const test_size *sizes = test_sizes(&count);
    uint64_t random = 707;
    /* Kernels for CPUs read sixteen texels of the half of a row at once, and these are two such runs. */
    check_size(target, reference, (test_size){66, 4}, 1, TEST_PICTURE_RANDOM, &random);
    for (size_t i = 0; i < count; ++i)
        for (int picture = 0; picture < TEST_PICTURES; ++picture)
            check_size(target, reference, sizes[i], picture == TEST_PICTURE_RANDOM ? 3 : 1,
                       (test_picture)picture, &random);
}

/* ---- Through a stack ---- */

enum { WIDTH = 37, HEIGHT = 22, HALF_W = 18, HALF_H = 11 };

static void set_gray(tvlm_stack *stack, int32_t index, uint8_t value, uint8_t *pixels) {
    memset(pixels, value, WIDTH * HEIGHT);
    const tvlm_image image = {
        .pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 1, .type = TVLM_PIXEL_U8};
    assert_int_equal(tvlm_stack_set_image(stack, index, &image), TVLM_OK);
}

static void check_motion(tvlm_stack *stack, int32_t index, float expected, float tolerance) {
    float values[HALF_W * HALF_H];
    int32_t width, height;
    assert_int_equal(tvlm_stack_channel_size(stack, TVLM_CHANNEL_MOTION, 0, &width, &height), TVLM_OK);
    assert_int_equal(width, HALF_W);
    assert_int_equal(height, HALF_H);
    assert_int_equal(tvlm_stack_read(stack, index, TVLM_CHANNEL_MOTION, 0, HALF_W * HALF_H, values), TVLM_OK);
    for (size_t i = 0; i < HALF_W * HALF_H; ++i)
        if (!(fabsf(values[i] - expected) <= tolerance))
            fail_msg("image %d, [%zu]: motion %g, not %g", (int)index, i, (double)values[i],
                     (double)expected);
}

/* Two streams in one batch: image 1 begins a frame later. */
static void two_streams(const test_target *target, tvlm_device *reference) {
    uint8_t pixels[WIDTH * HEIGHT];
    tvlm_stack *stack = NULL;
    tvlm_stack_info before, after;
    const float rounding = target->format == TVLM_FORMAT_F16 ? 1e-3f : 1e-6f;
    (void)reference;
    assert_int_equal(tvlm_stack_create(target->device,
                                       tvlm_stack_params(.layout = "motion", .width = WIDTH, .height = HEIGHT,
                                                         .images = 2, .format = target->format),
                                       &stack),
                     TVLM_OK);
    set_gray(stack, 0, 51, pixels);
    set_gray(stack, 1, 255, pixels);
    assert_int_equal(tvlm_stack_get_info(stack, &before), TVLM_OK);
    assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
    check_motion(stack, 0, 0.0f, 0.0f);
    assert_int_equal(tvlm_stack_get_info(stack, &after), TVLM_OK);
    assert_int_equal(before.device_bytes, after.device_bytes); /* a still pays nothing */
    assert_int_equal(tvlm_stack_advance(stack, 0, NULL), TVLM_OK);
    set_gray(stack, 0, 153, pixels);
    check_motion(stack, 0, 0.4f, rounding);
    check_motion(stack, 1, 0.0f, 0.0f);
    assert_int_equal(tvlm_stack_advance(stack, 0, NULL), TVLM_OK);
    assert_int_equal(tvlm_stack_advance(stack, 1, NULL), TVLM_OK);
    set_gray(stack, 0, 153, pixels);
    set_gray(stack, 1, 0, pixels);
    check_motion(stack, 0, 0.0f, 0.0f);
    check_motion(stack, 1, 1.0f, rounding);
    assert_int_equal(tvlm_stack_forget(stack, 1), TVLM_OK);
    check_motion(stack, 1, 0.0f, 0.0f);
    tvlm_stack_destroy(&stack);
}

static void motion(const test_target *target, tvlm_device *reference) {
    test_with_tunings(target, reference, stages);
    two_streams(target, reference);
    two_streams(&(test_target){reference, target->format}, reference);
}

static void test_motion(void **state) {
    (void)state;
    test_on_targets(motion);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_motion)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
