/* SPDX-License-Identifier: Apache-2.0 */
/*
 * motion.c: motion, and what it keeps of a frame, against the reference; and two streams through a stack.
 */
#include "kernels/family.h"

#include <math.h>
#include <string.h>

static const char *const names[4] = {"motion", "component 1", "component 2", "component 3"};

/* A difference of two values that are the same on both sides is off by at most the last place of a float
 * below 1. */
static const test_tolerance tolerances[4] = {{6e-8f, 6e-8f, TEST_HALF_ULP}};

/* What is kept is a copy. */
static const test_tolerance exact[4];

/* Creates textures of half the size. With `levels` 0 they have all levels. */
static test_pair create(const test_trial *trial, int32_t levels) {
    const test_size half = test_level_size(trial->size, 1);
    tvlm_texture shape = test_shape(half, 1, trial->images, trial->target->format);
    if (levels > 0) shape.levels = levels;
    shape.scalar = true;
    const test_pair pair = test_pair_create(trial->target, trial->reference, &shape);
    test_poison(pair.device, pair.got);
    return pair;
}

/* Fills in random luma. Image 1 has no previous frame, for which the luma is -1. */
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
    tvlm_texture *previous[TVLM_PREVIOUS_COUNT] = {[TVLM_PREVIOUS_LUMA] = luma};
    test_generate(device, TVLM_GRID_MOTION, TVLM_GRID_SOURCE, source,
                  (tvlm_generate_args){.out = out, .previous = previous});
}

static void remember(tvlm_device *device, tvlm_texture *luma, tvlm_texture *source, int32_t image) {
    const tvlm_remember_args args = {.luma = luma, .source = source, .image = image};
    assert_int_equal(device->backend->remember(device, &args), TVLM_OK);
}

static void frames(const test_trial *trial) {
    const int32_t images = trial->images;
    test_pair source = test_trial_source(trial);
    test_pair luma = create(trial, 1), out = create(trial, 0);
    fill_previous(&luma, trial->random);
    make(out.device, source.got, luma.got, out.got);
    make(out.reference, source.expected, luma.expected, out.expected);
    test_pair_compare("motion", &out, names, tolerances);
    if (images > 1) test_is_zero(out.device, out.got, 1);

    for (int32_t image = 0; image < images; ++image) {
        remember(out.device, luma.got, source.got, image);
        remember(out.reference, luma.expected, source.expected, image);
    }
    test_pair_compare("the luma that is kept", &luma, names, exact);
    make(out.device, source.got, luma.got, out.got); /* the same frame again */
    make(out.reference, source.expected, luma.expected, out.expected);
    for (int32_t image = 0; image < images; ++image) {
        test_is_zero(out.device, out.got, image);
        test_is_zero(out.reference, out.expected, image);
    }
    test_poison(out.device, out.got);
    make(out.device, source.got, NULL, out.got); /* no previous frame */
    for (int32_t image = 0; image < images; ++image) test_is_zero(out.device, out.got, image);
    test_pair_destroy(&out);
    test_pair_destroy(&luma);
    test_pair_destroy(&source);
}

/* Kernels for CPUs read sixteen texels of a row at once, in the half size. This size has two such runs in a
 * row. */
static const test_size two_runs[] = {{66, 4}, {0, 0}};

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
    assert_int_equal(before.device_bytes, after.device_bytes); /* a still takes no memory for it */
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

static void streams(const test_target *target, tvlm_device *reference) {
    two_streams(target, reference);
    two_streams(&(test_target){reference, target->format}, reference);
}

TEST_FAMILY(motion, {"motion", TEST_TUNED, .trial = frames, .pictures = true, .seed = 708},
            {"two runs", TEST_TUNED, .trial = frames, .sizes = two_runs, .seed = 707},
            {"two streams", .body = streams})
