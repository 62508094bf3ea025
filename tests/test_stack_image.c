/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pixels into a stack: every type, resampling against its definition, the device's limit, and what is
 * refused.
 */
#include "stack/inside.h"
#include "stack/resample.h"
#include "stack_helper.h"

static double mean_of(const float *values, size_t count) {
    double sum = 0.0;
    for (size_t i = 0; i < count; ++i) {
        assert_true(isfinite(values[i]));
        sum += (double)values[i];
    }
    return sum / (double)count;
}

/* ---- Pixels ---- */

/* Any type, any number of channels, gaps between rows: the source follows the definition in image.h. */
static float pixel_value(const tvlm_image *image, size_t x, size_t y, int32_t c) {
    static const size_t bytes[] = {1, 2, 4};
    const size_t n = (size_t)image->channels, size = bytes[image->type];
    const size_t stride = image->row_stride != 0 ? image->row_stride : (size_t)image->width * n * size;
    const unsigned char *row = (const unsigned char *)image->pixels + y * stride;
    float v[4] = {0};
    for (size_t i = 0; i < n; ++i) {
        uint16_t u16 = 0;
        float f32 = 0.0f;
        const unsigned char *at = row + (x * n + i) * size;
        memcpy(&u16, at, image->type == TVLM_PIXEL_U16 ? 2 : 0);
        memcpy(&f32, at, image->type == TVLM_PIXEL_F32 ? 4 : 0);
        if (image->type == TVLM_PIXEL_U8)
            v[i] = (float)at[0] / 255.0f;
        else if (image->type == TVLM_PIXEL_U16)
            v[i] = (float)u16 / 65535.0f;
        else
            v[i] = isnan(f32) ? 0.0f : fminf(fmaxf(f32, 0.0f), 1.0f);
    }
    const float alpha = n == 2 ? v[1] : n == 4 ? v[3] : 1.0f;
    return v[n <= 2 ? 0 : c] * alpha + (1.0f - alpha);
}

static void check_image(tvlm_device *device, tvlm_format format, const tvlm_image *image) {
    tvlm_stack *stack = stack_of(device, format, image);
    for (int32_t c = 0; c < 3; ++c) {
        size_t count;
        float *got = read_level(stack, 0, c, 0, &count), *expected = malloc(count * sizeof *expected);
        assert_non_null(expected);
        for (size_t i = 0; i < count; ++i)
            expected[i] = pixel_value(image, i % (size_t)image->width, i / (size_t)image->width, c);
        test_compare("pixels", got, expected, count, format == TVLM_FORMAT_F16 ? 5e-4f : 2e-6f, 5e-4f);
        free(got);
        free(expected);
    }
    tvlm_stack_destroy(&stack);
}

static void check_pixel_types(tvlm_device *device, tvlm_format format) {
    static const size_t bytes[] = {1, 2, 4};
    uint64_t seed = 5;
    const size_t size = 3072; /* more than 13 x 9 pixels of 16 bytes with their gaps */
    unsigned char *pixels = malloc(size);
    assert_non_null(pixels);
    for (int type = TVLM_PIXEL_U8; type <= TVLM_PIXEL_F32; ++type) {
        for (int32_t channels = 1; channels <= 4; ++channels) {
            for (size_t i = 0; i < size; ++i) pixels[i] = (unsigned char)test_random(&seed);
            for (size_t i = 0; type == TVLM_PIXEL_F32 && i < size / 4; ++i) {
                const float value = i == 7 ? NAN : i == 9 ? INFINITY : 1.5f * test_random_unit(&seed) - 0.25f;
                memcpy(pixels + 4 * i, &value, sizeof value);
            }
            const size_t row = 13 * (size_t)channels * bytes[type];
            tvlm_image image = {.pixels = pixels,
                                .width = 13,
                                .height = 9,
                                .channels = channels,
                                .type = (tvlm_pixel_type)type};
            check_image(device, format, &image);
            image.row_stride = row + (type == TVLM_PIXEL_F32 ? 8 : 5); /* odd: elements are not aligned */
            check_image(device, format, &image);
        }
    }
    free(pixels);
}

/* ---- Resampling ---- */

/* The average of channel c over output texel (i, j) by definition: overlap with every source pixel. */
static double area_average(const float *from, int32_t w, int32_t h, int32_t i, int32_t j, int32_t width,
                           int32_t height) {
    const double x0 = (double)i * w / width, x1 = (double)(i + 1) * w / width;
    const double y0 = (double)j * h / height, y1 = (double)(j + 1) * h / height;
    double sum = 0.0;
    for (int32_t y = 0; y < h; ++y)
        for (int32_t x = 0; x < w; ++x) {
            const double across = fmin(x1, x + 1) - fmax(x0, x), down = fmin(y1, y + 1) - fmax(y0, y);
            if (across > 0 && down > 0)
                sum += across * down * (double)from[(size_t)y * (size_t)w + (size_t)x];
        }
    return sum / ((x1 - x0) * (y1 - y0));
}

static void test_resample_area(void **state) {
    static const int32_t sizes[][4] = {{7, 5, 3, 2},  {16, 16, 4, 8}, {31, 17, 30, 16},
                                       {40, 3, 1, 1}, {9, 9, 9, 4},   {1, 5, 1, 3}};
    uint64_t seed = 29;
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        const int32_t w = sizes[s][0], h = sizes[s][1], width = sizes[s][2], height = sizes[s][3];
        float *from = malloc((size_t)w * (size_t)h * sizeof *from), *got = NULL;
        int32_t channels = 0;
        assert_non_null(from);
        for (size_t i = 0; i < (size_t)w * (size_t)h; ++i) from[i] = test_random_unit(&seed);
        const tvlm_image image = {
            .pixels = from, .width = w, .height = h, .channels = 1, .type = TVLM_PIXEL_F32};
        assert_int_equal(tvlm_resample(&image, width, height, &got, &channels), TVLM_OK);
        assert_int_equal(channels, 1);
        for (int32_t j = 0; j < height; ++j)
            for (int32_t i = 0; i < width; ++i)
                assert_true(
                    fabs((double)got[j * width + i] - area_average(from, w, h, i, j, width, height)) <= 1e-6);
        assert_true(fabs(mean_of(got, (size_t)width * (size_t)height) -
                         mean_of(from, (size_t)w * (size_t)h)) <= 1e-6);
        free(from);
        free(got);
    }
}

static void test_resample_bilinear(void **state) {
    enum { W = 5, H = 4, WIDTH = 13, HEIGHT = 9 };
    float from[W * H], *got = NULL;
    uint64_t seed = 31;
    int32_t channels;
    (void)state;
    for (int i = 0; i < W * H; ++i) from[i] = test_random_unit(&seed);
    const tvlm_image image = {.pixels = from, .width = W, .height = H, .channels = 1, .type = TVLM_PIXEL_F32};
    assert_int_equal(tvlm_resample(&image, WIDTH, HEIGHT, &got, &channels), TVLM_OK);
    for (int j = 0; j < HEIGHT; ++j)
        for (int i = 0; i < WIDTH; ++i) {
            const double x = fmin(fmax((i + 0.5) * W / WIDTH - 0.5, 0), W - 1),
                         y = fmin(fmax((j + 0.5) * H / HEIGHT - 0.5, 0), H - 1);
            const int x0 = (int)x, y0 = (int)y, x1 = x0 + 1 < W ? x0 + 1 : x0, y1 = y0 + 1 < H ? y0 + 1 : y0;
            const double top =
                (1 - (x - x0)) * (double)from[y0 * W + x0] + (x - x0) * (double)from[y0 * W + x1];
            const double bottom =
                (1 - (x - x0)) * (double)from[y1 * W + x0] + (x - x0) * (double)from[y1 * W + x1];
            assert_true(fabs((double)got[j * WIDTH + i] - ((1 - (y - y0)) * top + (y - y0) * bottom)) <=
                        1e-6);
        }
    free(got);
}

/* Every type and channel count, shrunk along one axis and grown along the other: a constant stays exactly. */
static void test_resample_constant(void **state) {
    (void)state;
    for (int32_t n = 1; n <= 4; ++n) {
        uint8_t u8[4 * 11 * 6];
        uint16_t u16[4 * 11 * 6];
        for (int i = 0; i < 11 * 6 * n; ++i) {
            const bool alpha = n % 2 == 0 && i % n == n - 1;
            u8[i] = alpha ? 255 : 77;
            u16[i] = alpha ? 65535 : 30000;
        }
        const tvlm_image images[] = {
            {.pixels = u8, .width = 11, .height = 6, .channels = n, .type = TVLM_PIXEL_U8},
            {.pixels = u16, .width = 11, .height = 6, .channels = n, .type = TVLM_PIXEL_U16}};
        const float expected[] = {77.0f / 255.0f, 30000.0f / 65535.0f};
        for (int k = 0; k < 2; ++k) {
            float *got = NULL;
            int32_t channels;
            assert_int_equal(tvlm_resample(&images[k], 4, 13, &got, &channels), TVLM_OK);
            assert_int_equal(channels, n <= 2 ? 1 : 3);
            for (int i = 0; i < 4 * 13 * channels; ++i) assert_true(got[i] == expected[k]);
            free(got);
        }
    }
}

/* A transparent black pixel is white, before it is averaged. */
static void test_resample_alpha(void **state) {
    static const uint8_t pixels[] = {0, 0, 0, 0, 0, 0, 0, 255};
    const tvlm_image image = u8_image(pixels, 2, 1, 4);
    float *got = NULL;
    int32_t channels;
    (void)state;
    assert_int_equal(tvlm_resample(&image, 1, 1, &got, &channels), TVLM_OK);
    assert_int_equal(channels, 3);
    for (int c = 0; c < 3; ++c) assert_true(got[c] == 0.5f);
    free(got);
}

/* An image of another size, through the stack; images of a batch may differ in size. */
static void check_resampled_image(tvlm_device *device, tvlm_format format) {
    uint64_t seed = 37;
    uint8_t *pixels = test_random_pixels(&seed, 64, 40, 3);
    const tvlm_image image = u8_image(pixels, 64, 40, 3), small = u8_image(pixels, 8, 5, 3);
    tvlm_stack *full = stack_of(device, format, &image), *half = NULL;
    assert_int_equal(
        tvlm_stack_create(device, tvlm_stack_params(.width = 32, .height = 20, .images = 2, .format = format),
                          &half),
        TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(half, 0, &image), TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(half, 1, &small), TVLM_OK);
    assert_true(half->originals[0].width == 64 && half->originals[0].height == 40);
    assert_true(half->originals[1].width == 8 && half->originals[1].height == 5);
    for (int32_t c = 0; c < 3; ++c) {
        size_t count;
        float *got = read_level(half, 0, c, 0, &count), *expected = read_level(full, 0, c, 1, &count);
        test_compare("half size is level 1", got, expected, count, format == TVLM_FORMAT_F16 ? 1e-3f : 1e-6f,
                     1e-3f);
        free(got);
        free(expected);
    }
    tvlm_stack_destroy(&full);
    tvlm_stack_destroy(&half);
    free(pixels);
}

/* ---- Limits and refusals ---- */

/* Scaled to what fits, keeping the shape, with a line; a size that was asked for is not changed. */
static void test_scaled_to_limit(void **state) {
    tvlm_device *device = open_reference();
    tvlm_stack *stack = NULL;
    tvlm_stack_info info;
    uint64_t seed = 41;
    uint8_t *pixels = test_random_pixels(&seed, 200, 100, 3);
    const tvlm_image image = u8_image(pixels, 200, 100, 3);
    (void)state;
    device->info.storage = TVLM_STORAGE_IMAGE;
    device->info.image_width_max = 128;
    device->info.image_height_max = 128;
    assert_int_equal(tvlm_stack_create_for_image(device, &image, NULL, &stack), TVLM_OK);
    assert_int_equal(tvlm_stack_get_info(stack, &info), TVLM_OK);
    assert_true(info.width == 128 && info.height == 64);
    assert_int_equal(info.format, TVLM_FORMAT_F32);
    tvlm_stack_destroy(&stack);
    device->info.storage = TVLM_STORAGE_BUFFER;
    device->info.allocation_max = 50 * 25 * 16 * 3 / 2;
    assert_int_equal(
        tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.layout = "rgb_var"), &stack), TVLM_OK);
    assert_non_null(strstr(test_last_log(), "scaled down from 200x100 to "));
    assert_int_equal(tvlm_stack_get_info(stack, &info), TVLM_OK);
    assert_true(abs(info.width - 2 * info.height) <= 1 && info.width >= 50 && info.width < 60);
    tvlm_stack_destroy(&stack);
    refused(
        tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.width = 200, .height = 100), &stack),
        TVLM_ERROR_DEVICE_MEMORY, "200x100");
    refused(tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.width = 20), &stack),
            TVLM_ERROR_ARGUMENT, "without a height");
    assert_null(stack);
    tvlm_device_destroy(&device);
    free(pixels);
}

static void refuse_image(tvlm_stack *stack, tvlm_image image, const char *line) {
    refused(tvlm_stack_set_image(stack, 0, &image), TVLM_ERROR_ARGUMENT, line);
}

static void test_image_refusals(void **state) {
    static const uint8_t pixels[64] = {0};
    tvlm_device *device = open_reference();
    const tvlm_image good = u8_image(pixels, 4, 4, 3);
    tvlm_stack *stack = stack_of(device, TVLM_FORMAT_F32, &good);
    tvlm_stack *other = NULL;
    (void)state;
    refuse_image(stack,
                 (tvlm_image){.pixels = NULL, .width = 4, .height = 4, .channels = 3, .type = TVLM_PIXEL_U8},
                 "no pixels");
    refuse_image(
        stack, (tvlm_image){.pixels = pixels, .width = 0, .height = 4, .channels = 3, .type = TVLM_PIXEL_U8},
        "0x4");
    refuse_image(
        stack, (tvlm_image){.pixels = pixels, .width = 4, .height = -1, .channels = 3, .type = TVLM_PIXEL_U8},
        "4x-1");
    refuse_image(
        stack, (tvlm_image){.pixels = pixels, .width = 4, .height = 4, .channels = 5, .type = TVLM_PIXEL_U8},
        "5 channels");
    refuse_image(
        stack, (tvlm_image){.pixels = pixels, .width = 4, .height = 4, .channels = 0, .type = TVLM_PIXEL_U8},
        "0 channels");
    refuse_image(
        stack,
        (tvlm_image){.pixels = pixels, .width = 4, .height = 4, .channels = 3, .type = (tvlm_pixel_type)3},
        "type 3");
    refuse_image(stack,
                 (tvlm_image){.pixels = pixels,
                              .width = 4,
                              .height = 4,
                              .channels = 3,
                              .type = TVLM_PIXEL_U8,
                              .row_stride = 11},
                 "a row has 12");
    refuse_image(stack,
                 (tvlm_image){.pixels = pixels,
                              .width = 4,
                              .height = 4,
                              .channels = 3,
                              .type = TVLM_PIXEL_U8,
                              .row_stride = SIZE_MAX / 2},
                 "address space");
    refused(tvlm_stack_set_image(stack, 1, &good), TVLM_ERROR_ARGUMENT, "image 1 of a stack of 1");
    refused(tvlm_stack_set_image(stack, -1, &good), TVLM_ERROR_ARGUMENT, "image -1");
    assert_int_equal(tvlm_stack_set_image(stack, 0, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_set_image(NULL, 0, &good), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_create_for_image(device, NULL, NULL, &other), TVLM_ERROR_ARGUMENT);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

DEVICE_CHECKS(check_pixel_types, check_resampled_image)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_f32),     cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),           cmocka_unit_test(test_resample_area),
        cmocka_unit_test(test_resample_bilinear), cmocka_unit_test(test_resample_constant),
        cmocka_unit_test(test_resample_alpha),    cmocka_unit_test(test_scaled_to_limit),
        cmocka_unit_test(test_image_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
