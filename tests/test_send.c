/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_send.c: pixels that are sent ahead of the image that they replace: the same texels as of an image that is
 * set, whatever its rows and size; the present image stays until they are taken; what is not taken leaves no
 * trace.
 */
#include "stack_helper.h"

enum { W = 45, H = 31, GAP = 7, IMAGES = 3 };

static void compare(const char *what, tvlm_stack *got, tvlm_stack *expected, int32_t index) {
    static const char *const names[] = {"r", "g", "b", "edges", "entropy"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        size_t count, others;
        const int32_t channel = tvlm_channel_find(names[i]);
        float *a = read_level(got, index, channel, 1, &count);
        float *b = read_level(expected, index, channel, 1, &others);
        assert_int_equal(count, others);
        if (memcmp(a, b, count * sizeof *a) != 0) fail_msg("%s: other texels of %s", what, names[i]);
        free(a);
        free(b);
    }
}

static tvlm_stack *new_stack(tvlm_device *device, tvlm_format format, int32_t images) {
    tvlm_stack *stack = NULL;
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.layout = "r,g,b,edges,entropy", .width = W,
                                                         .height = H, .images = images, .format = format),
                                       &stack),
                     TVLM_OK);
    return stack;
}

/* Positions are in the pixels of the image as it was handed in, or as it says that it was. */
static void compare_places(tvlm_stack *got, tvlm_stack *expected) {
    tvlm_selection *a = NULL, *b = NULL;
    const struct tvlm_select_params params = {.k = 5, .strategy = TVLM_STRATEGY_GRID};
    assert_int_equal(tvlm_select(got, NULL, &params, &a), TVLM_OK);
    assert_int_equal(tvlm_select(expected, NULL, &params, &b), TVLM_OK);
    same_positions(a, b);
    tvlm_selection_destroy(&a);
    tvlm_selection_destroy(&b);
}

/* ---- The same as set ---- */

static void check_one(tvlm_device *device, tvlm_format format, const char *what, const tvlm_image *image) {
    uint64_t seed = 77;
    uint8_t *before = test_random_pixels(&seed, W, H, 3);
    const tvlm_image first = u8_image(before, W, H, 3);
    tvlm_stack *sent = new_stack(device, format, 1), *set = new_stack(device, format, 1);
    assert_int_equal(tvlm_stack_set_image(sent, 0, &first), TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(set, 0, &first), TVLM_OK);
    assert_int_equal(tvlm_stack_send_image(sent, 0, image), TVLM_OK);
    compare(what, sent, set, 0); /* still the first one */
    assert_int_equal(tvlm_stack_set_image(sent, 0, NULL), TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(set, 0, image), TVLM_OK);
    compare(what, sent, set, 0);
    compare_places(sent, set);
    tvlm_stack_destroy(&sent);
    tvlm_stack_destroy(&set);
    free(before);
}

static void check_same(tvlm_device *device, tvlm_format format) {
    uint64_t seed = 5;
    uint8_t *pixels = test_random_pixels(&seed, W + GAP, H + GAP, 4);
    const tvlm_image tight = u8_image(pixels, W, H, 3);
    tvlm_image gaps = u8_image(pixels, W, H, 3), of = tight;
    const tvlm_image larger = u8_image(pixels, W + GAP, H + GAP, 4), smaller = u8_image(pixels, 20, 10, 1);
    gaps.row_stride = 3 * (W + GAP);
    of.of_width = 10 * W;
    of.of_height = 20 * H;
    check_one(device, format, "tight", &tight);
    check_one(device, format, "gaps", &gaps);
    check_one(device, format, "larger", &larger);
    check_one(device, format, "smaller", &smaller);
    check_one(device, format, "of a larger one", &of);
    free(pixels);
}

/* Several in turn, each sent while the one before is worked on, each larger on its way than the last. */
static void check_turns(tvlm_device *device, tvlm_format format) {
    tvlm_stack *sent = new_stack(device, format, 1), *set = new_stack(device, format, 1);
    uint8_t *pixels[6];
    tvlm_image images[6];
    for (int i = 0; i < 6; ++i) {
        uint64_t seed = 100 + (uint64_t)i;
        pixels[i] = test_random_pixels(&seed, W, H, 4);
        images[i] = u8_image(pixels[i], W, H, 1 + i % 4);
    }
    assert_int_equal(tvlm_stack_send_image(sent, 0, &images[0]), TVLM_OK);
    for (int i = 0; i < 6; ++i) {
        assert_int_equal(tvlm_stack_set_image(sent, 0, NULL), TVLM_OK);
        assert_int_equal(tvlm_stack_make_all(sent), TVLM_OK);
        if (i < 5) assert_int_equal(tvlm_stack_send_image(sent, 0, &images[i + 1]), TVLM_OK);
        assert_int_equal(tvlm_stack_set_image(set, 0, &images[i]), TVLM_OK);
        compare("in turn", sent, set, 0);
    }
    tvlm_stack_destroy(&sent);
    tvlm_stack_destroy(&set);
    for (int i = 0; i < 6; ++i) free(pixels[i]);
}

/* One image of a batch: the others stay, and it is for that one alone. */
static void check_batch(tvlm_device *device, tvlm_format format) {
    tvlm_stack *sent = new_stack(device, format, IMAGES), *set = new_stack(device, format, IMAGES);
    uint64_t seed = 9;
    uint8_t *pixels = test_random_pixels(&seed, W, H, 3);
    const tvlm_image image = u8_image(pixels, W, H, 3);
    assert_int_equal(tvlm_stack_send_image(sent, 1, &image), TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(sent, 2, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_set_image(sent, 1, NULL), TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(set, 1, &image), TVLM_OK);
    for (int32_t i = 0; i < IMAGES; ++i) compare("of a batch", sent, set, i);
    tvlm_stack_destroy(&sent);
    tvlm_stack_destroy(&set);
    free(pixels);
}

/* ---- What is not taken ---- */

static void check_dropped(tvlm_device *device, tvlm_format format) {
    tvlm_stack *sent = new_stack(device, format, 1), *set = new_stack(device, format, 1);
    uint64_t seed = 12;
    uint8_t *one = test_random_pixels(&seed, W, H, 3), *two = test_random_pixels(&seed, W, H, 3);
    const tvlm_image first = u8_image(one, W, H, 3), second = u8_image(two, W, H, 3);
    assert_int_equal(tvlm_stack_send_image(sent, 0, &first), TVLM_OK);
    assert_int_equal(tvlm_stack_send_image(sent, 0, &second), TVLM_OK); /* takes its place */
    memset(one, 0, 3 * W * H);
    assert_int_equal(tvlm_stack_set_image(sent, 0, NULL), TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(set, 0, &second), TVLM_OK);
    compare("the second", sent, set, 0);
    /* It is taken once. */
    refused(tvlm_stack_set_image(sent, 0, NULL), TVLM_ERROR_ARGUMENT, "no pixels, and none were sent");
    compare("after a refusal", sent, set, 0);
    assert_int_equal(tvlm_stack_send_image(sent, 0, &first), TVLM_OK);
    tvlm_stack_destroy(&sent); /* with pixels on their way */
    free(one);
    free(two);
    tvlm_stack_destroy(&set);
}

static void check_refused(tvlm_device *device, tvlm_format format) {
    static const uint8_t pixels[W * H * 3];
    tvlm_stack *stack = new_stack(device, format, 1);
    tvlm_image image = u8_image(pixels, W, H, 3);
    device->log = test_log;
    refused(tvlm_stack_send_image(stack, 0, NULL), TVLM_ERROR_ARGUMENT, "no pixels");
    refused(tvlm_stack_send_image(stack, 1, &image), TVLM_ERROR_ARGUMENT, "image 1 of a stack of 1");
    image.channels = 5;
    refused(tvlm_stack_send_image(stack, 0, &image), TVLM_ERROR_ARGUMENT, "5 channels");
    assert_int_equal(tvlm_stack_send_image(NULL, 0, &image), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_set_image(stack, 0, NULL), TVLM_ERROR_ARGUMENT);
    /* What it takes on the device is the stack's. */
    image.channels = 3;
    const size_t bytes = tvlm_stack_bytes(stack);
    assert_int_equal(tvlm_stack_send_image(stack, 0, &image), TVLM_OK);
    assert_int_equal(tvlm_stack_bytes(stack), bytes + (size_t)(W * H * 3));
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS_MAIN(check_same, check_turns, check_batch, check_dropped, check_refused)
