/* SPDX-License-Identifier: Apache-2.0 */
/* test_delta_options.c: updates in parts: thresholds, types of pixels, families carried over, bad input,
 * resampling. */
#include "delta_helper.h"

#include <math.h>

static void check_threshold(const test_target *target) {
    const test_size size = {130, 70};
    uint8_t *pixels = calloc(130 * 70, 1);
    assert_non_null(pixels);
    const tvlm_image image = u8_image(pixels, size.width, size.height, 1);
    tvlm_stack *stack = create(target, size, 1);
    tvlm_delta_report report;
    const struct tvlm_update_params params = {.threshold = 3.0f / 255.0f};
    check(tvlm_stack_update_image(stack, 0, &image, &params, &report));
    for (int step = 1; step <= 4; ++step) { /* small differences add up */
        pixels[0] = (uint8_t)step;
        check(tvlm_stack_update_image(stack, 0, &image, &params, &report));
        assert_int_equal(report.changed, step == 4 ? 1 : 0);
    }
    pixels[0] = 3;
    check(tvlm_stack_update_image(stack, 0, &image, NULL, &report));
    assert_int_equal(report.changed, 1);
    free(pixels);
    tvlm_stack_destroy(&stack);
}

/* The same in 16 bits and floats, with rows apart and at odd bytes, and a NaN. */
static void check_types(const test_target *target) {
    enum { W = 70, H = 66, STRIDE = W * 12 + 8 };
    unsigned char *rows = calloc(H, STRIDE);
    assert_non_null(rows);
    for (int type = TVLM_PIXEL_U16; type <= TVLM_PIXEL_F32; ++type) {
        const bool is_float = type == TVLM_PIXEL_F32;
        const tvlm_image image = {.pixels = rows,
                                  .width = W,
                                  .height = H,
                                  .channels = 3,
                                  .type = (tvlm_pixel_type)type,
                                  .row_stride = STRIDE};
        tvlm_stack *stack = create(target, (test_size){W, H}, 1);
        tvlm_delta_report report;
        memset(rows, 0, (size_t)H * STRIDE);
        check(tvlm_stack_update_image(stack, 0, &image, NULL, &report));
        assert_true(report.whole);
        unsigned char *at = rows + 65 * STRIDE + 69 * (is_float ? 12 : 6); /* the last pixel */
        const float values[2] = {0.01f, NAN};
        const uint16_t words[2] = {655, 0};
        memcpy(at, is_float ? (const void *)&values[0] : (const void *)&words[0], is_float ? 4 : 2);
        check(tvlm_stack_update_image(stack, 0, &image, tvlm_update_params(.threshold = 0.011f), &report));
        assert_int_equal(report.changed, 0);
        check(tvlm_stack_update_image(stack, 0, &image, tvlm_update_params(.threshold = 0.009f), &report));
        assert_int_equal(report.changed, 1);
        float red[W * H];
        check(tvlm_stack_read(stack, 0, 0, 0, W * H, red));
        assert_true(fabsf(red[W * H - 1] - 0.01f) < 2e-5f && red[0] == 0.0f);
        memcpy(at, is_float ? (const void *)&values[1] : (const void *)&words[1], is_float ? 4 : 2);
        check(tvlm_stack_update_image(stack, 0, &image, tvlm_update_params(.threshold = 0.009f), &report));
        assert_int_equal(report.changed, 1);
        check(tvlm_stack_read(stack, 0, 0, 0, W * H, red));
        assert_true(red[W * H - 1] == 0.0f);
        tvlm_stack_destroy(&stack);
    }
    free(rows);
}

static void check_carrying(const test_target *target) {
    const test_size size = {256, 192}; /* 12 tiles */
    movie m = movie_of(size, 3, 41);
    const tvlm_image image = frame_of(&m);
    tvlm_stack *stack = create(target, size, 1);
    tvlm_delta_report report;
    size_t count;
    const struct tvlm_update_params params = {
        .saliency_share = 0.2f, .cluster_share = 1.0f, .carried_frames = 3};
    check(tvlm_stack_update_image(stack, 0, &image, &params, NULL));
    check(tvlm_stack_make_all(stack));
    float *before = read_level(stack, 0, TVLM_CHANNEL_SALIENCY, 0, &count);
    for (int i = 1; i <= 4; ++i) { /* a tile each */
        put_object(&m, 8, 8, 30);
        check(tvlm_stack_update_image(stack, 0, &image, &params, &report));
        assert_family(&report, "saliency", i == 3 ? TVLM_UPDATE_LATER : TVLM_UPDATE_CARRIED);
        assert_family(&report, "cluster", i == 4 ? TVLM_UPDATE_LATER : TVLM_UPDATE_CARRIED);
        float *now = read_level(stack, 0, TVLM_CHANNEL_SALIENCY, 0, &count);
        if (i < 3) assert_memory_equal(now, before, count * sizeof *now);
        if (i == 3) assert_memory_not_equal(now, before, count * sizeof *now);
        free(now);
        check(tvlm_stack_make_all(stack)); /* what is stale is made, and counts from 0 again */
    }
    free(before);
    free(m.pixels);
    tvlm_stack_destroy(&stack);
}

static void check_refusals(const test_target *target) {
    const test_size size = {20, 20};
    movie m = movie_of(size, 3, 51);
    const tvlm_image image = frame_of(&m), none = u8_image(NULL, 20, 20, 3);
    tvlm_stack *stack = create(target, size, 1);
#define REFUSED(LINE, ...)                                                                                   \
    refused(tvlm_stack_update_image(stack, 0, &image, tvlm_update_params(__VA_ARGS__), NULL),                \
            TVLM_ERROR_ARGUMENT, LINE)
    REFUSED("tiles of 40 pixels", .tile = 40);
    REFUSED("tiles of -16 pixels", .tile = -16);
    REFUSED("tiles of 8192 pixels", .tile = 8192);
    REFUSED("a threshold of -1", .threshold = -1.0f);
    REFUSED("a threshold of nan", .threshold = NAN);
    REFUSED("a share of -2", .cluster_share = -2.0f);
    REFUSED("for -1 frames", .carried_frames = -1);
    refused(tvlm_stack_update_image(stack, 1, &image, NULL, NULL), TVLM_ERROR_ARGUMENT, "image 1 of a stack");
    refused(tvlm_stack_update_image(stack, 0, &none, NULL, NULL), TVLM_ERROR_ARGUMENT, "no pixels");
    free(m.pixels);
    tvlm_stack_destroy(&stack);
}

/* Frames of another size are resampled and compared then. */
static void check_resampled(const test_target *target) {
    movie m = movie_of((test_size){301, 203}, 3, 61);
    tvlm_stack *parts = create(target, (test_size){150, 100}, 1),
               *full = create(target, (test_size){150, 100}, 1);
    (void)push("resampled", parts, full, 0, &m, tvlm_update_params(.tile = 16));
    put_object(&m, 60, 60, 12);
    const tvlm_delta_report report = push("resampled", parts, full, 0, &m, tvlm_update_params(.tile = 16));
    assert_true(!report.whole && report.changed > 0 && report.changed < 9);
    assert_int_equal(parts->originals[0].width, 301);
    release(&m, parts, full);
}

/* Sides for which lists of changed parts have no numbers; in OpenCL's buffers alone, since neither images nor the reference have such
 * sides. */
static void check_long_sides(const test_target *target) {
    static const test_size sizes[] = {{8, 70000}, {70000, 8}};
    if (target->device->info.storage != TVLM_STORAGE_BUFFER || test_small() ||
        target->device->info.type == TVLM_DEVICE_REFERENCE)
        return;
    for (int i = 0; i < 2; ++i) {
        movie m = movie_of(sizes[i], 1, 71);
        tvlm_stack *parts = create_of(target, "r,edges,distance", sizes[i], 1),
                   *full = create_of(target, "r,edges,distance", sizes[i], 1);
        (void)push("long sides", parts, full, 0, &m, NULL);
        put_object(&m, sizes[i].width - 8, sizes[i].height - 8, 8);
        (void)push("long sides", parts, full, 0, &m, NULL);
        release(&m, parts, full);
    }
}

static void options(const test_target *target, tvlm_device *reference) {
    (void)reference;
    check_threshold(target);
    check_types(target);
    check_carrying(target);
    check_refusals(target);
    check_resampled(target);
    check_long_sides(target);
}

static void test_options(void **state) {
    (void)state;
    test_on_targets(options);
}

static void test_reference(void **state) {
    (void)state;
    tvlm_device *device = open_reference();
    const test_target target = {device, TVLM_FORMAT_F32};
    check_threshold(&target);
    check_types(&target);
    check_resampled(&target);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference), cmocka_unit_test(test_options)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
