/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_delta_upload.c: how many bytes go to the device for a frame of which a little changed: tiles of
 * whatever side, of small and of narrow images, in stacks of one image and of several. And that the result is
 * that of the whole image, bit for bit.
 */
#include "stack/inside.h"
#include "stack_helper.h"
#include "texturevlm/stack.h"

enum { IMAGES = 2 };

static tvlm_stack *open_stack(tvlm_device *device, tvlm_format format, int32_t width, int32_t height,
                              int32_t images) {
    tvlm_stack *stack = NULL;
    if (tvlm_stack_create(device,
                          tvlm_stack_params(.layout = "r,edges,entropy", .width = width, .height = height,
                                            .images = images, .format = format),
                          &stack) != TVLM_OK)
        fail_msg("%s", test_last_log());
    return stack;
}

static void compare(tvlm_stack *got, tvlm_stack *expected, int32_t index, const char *name) {
    size_t count, others;
    float *a = read_level(got, index, tvlm_channel_find(name), 0, &count),
          *b = read_level(expected, index, tvlm_channel_find(name), 0, &others);
    assert_int_equal(count, others);
    if (memcmp(a, b, count * sizeof *a) != 0) fail_msg("%s, %dx%d", name, (int)got->width, (int)got->height);
    free(a);
    free(b);
}

/* A float image of four channels; one pixel at a corner changes, then one at the other. */
static void check_shape(tvlm_device *device, tvlm_format format, int32_t width, int32_t height, int32_t tile,
                        int32_t images) {
    const size_t values = 4 * (size_t)width * (size_t)height, bytes = values * sizeof(float);
    /* Of one tile, which is as wide as the image is narrow, and up to 15 pixels wider. */
    const size_t shorter = (size_t)(width < height ? width : height), side = (shorter + 15) / 16 * 16,
                 most = side * side * 4 * sizeof(float);
    tvlm_stack *parts = open_stack(device, format, width, height, images),
               *whole = open_stack(device, format, width, height, images);
    float *pixels = malloc(bytes);
    uint64_t random = 7;
    assert_non_null(pixels);
    for (size_t i = 0; i < values; ++i) pixels[i] = test_random_unit(&random);
    const tvlm_image image = {
        .pixels = pixels, .width = width, .height = height, .channels = 4, .type = TVLM_PIXEL_F32};
    tvlm_delta_report report;
    for (int32_t i = 0; i < images; ++i)
        assert_int_equal(tvlm_stack_update_image(parts, i, &image, tvlm_update_params(.tile = tile), &report),
                         TVLM_OK);
    assert_true(report.whole && report.bytes_uploaded == bytes);
    for (int step = 0; step < 2; ++step) {
        pixels[step == 0 ? 0 : values - 4] += 0.5f;
        assert_int_equal(
            tvlm_stack_update_image(parts, images - 1, &image, tvlm_update_params(.tile = tile), &report),
            TVLM_OK);
        assert_int_equal(tvlm_stack_set_image(whole, images - 1, &image), TVLM_OK);
        assert_int_equal(report.changed, report.whole ? report.tiles : 1);
        if (report.bytes_uploaded > (report.whole ? bytes : most))
            fail_msg("%dx%d, tiles of %d, %d images: %zu bytes go up, of an image of %zu", (int)width,
                     (int)height, (int)tile, (int)images, report.bytes_uploaded, bytes);
        compare(parts, whole, images - 1, "r");
        compare(parts, whole, images - 1, "edges");
        compare(parts, whole, images - 1, "entropy");
    }
    assert_int_equal(
        tvlm_stack_update_image(parts, images - 1, &image, tvlm_update_params(.tile = tile), &report),
        TVLM_OK);
    assert_true(report.changed == 0 && report.bytes_uploaded == 0);
    free(pixels);
    tvlm_stack_destroy(&parts);
    tvlm_stack_destroy(&whole);
}

static void check_bytes(tvlm_device *device, tvlm_format format) {
    static const int32_t shapes[][2] = {{20, 20}, {1, 1}, {333, 5}, {17, 200}, {64, 48}};
    static const int32_t tiles[] = {16, 0, 112, 4096};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i)
        for (size_t k = 0; k < sizeof tiles / sizeof tiles[0]; ++k)
            for (int32_t images = 1; images <= IMAGES; ++images)
                check_shape(device, format, shapes[i][0], shapes[i][1], tiles[k], images);
}

DEVICE_CHECKS_MAIN(check_bytes)
