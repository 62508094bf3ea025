/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_patches_stack.c: patches of stacks: those on the pixel grid to the bit; borders, scales, thumbnails, and what is
 * refused.
 */
#include "stack/inside.h"

#include <math.h>
#include <stdio.h>

#include "core/half.h"
#include "stack_helper.h"
#include "support_stage.h"

enum { WIDTH = 64, HEIGHT = 48, AREA = WIDTH * HEIGHT };

static tvlm_stack *picture(tvlm_device *device, tvlm_format format, float planes[3][AREA]) {
    static const int32_t rgb[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G, TVLM_CHANNEL_B};
    uint64_t seed = 77;
    uint8_t *pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    for (int c = 0; c < 3; ++c)
        assert_int_equal(tvlm_stack_read(stack, 0, rgb[c], 0, AREA, planes[c]), TVLM_OK);
    free(pixels);
    return stack;
}

/* A regular grid at level 0: every value is a pixel's, to the bit. */
static void check_grid(tvlm_device *device, tvlm_format format) {
    static float planes[3][AREA], out[12 * 3 * 256];
    static uint16_t half[12 * 3 * 256];
    tvlm_position positions[12] = {{0}};
    tvlm_stack *stack = picture(device, format, planes);
    size_t bytes;
    for (int32_t i = 0; i < 12; ++i)
        positions[i] =
            (tvlm_position){.x = (float)(i % 4) * 16 + 8, .y = (float)(i / 4) * 16 + 8, .size = 16};
    assert_int_equal(tvlm_patches_size(NULL, 12, &bytes), TVLM_OK);
    assert_int_equal(bytes, sizeof out);
    assert_int_equal(tvlm_patches_extract(stack, positions, 12, NULL, sizeof out, out), TVLM_OK);
    assert_int_equal(tvlm_patches_extract(stack, positions, 12,
                                          tvlm_patches_params(.format = TVLM_FORMAT_F16), sizeof half, half),
                     TVLM_OK);
    for (int32_t i = 0; i < 12 * 3 * 256; ++i) {
        const int32_t patch = i / 768, c = i / 256 % 3, x = patch % 4 * 16 + i % 16,
                      y = patch / 4 * 16 + i / 16 % 16;
        if (memcmp(&out[i], &planes[c][y * WIDTH + x], sizeof out[i]) != 0)
            fail_msg("patch %d, channel %d, %d,%d: %.9g, not %.9g", (int)patch, (int)c, (int)x, (int)y,
                     (double)out[i], (double)planes[c][y * WIDTH + x]);
        assert_int_equal(half[i], tvlm_half_from_float(planes[c][y * WIDTH + x]));
    }
    tvlm_stack_destroy(&stack);
}

/* Beyond the image: the edge's pixel, or the mirror's. On the pixel grid both are exact. */
static void check_borders(tvlm_device *device, tvlm_format format) {
    static float planes[3][AREA], out[3 * 100];
    const tvlm_position corner = {.x = 0, .y = HEIGHT, .size = 10};
    tvlm_stack *stack = picture(device, format, planes);
    for (int border = TVLM_BORDER_CLAMP; border <= TVLM_BORDER_REFLECT; ++border) {
        assert_int_equal(tvlm_patches_extract(stack, &corner, 1,
                                              tvlm_patches_params(.side = 10, .border = (tvlm_border)border),
                                              sizeof out, out),
                         TVLM_OK);
        for (int32_t i = 0; i < 300; ++i) {
            int32_t x = i % 10 - 5, y = HEIGHT - 5 + i / 10 % 10;
            if (border == TVLM_BORDER_CLAMP) {
                x = x < 0 ? 0 : x;
                y = y >= HEIGHT ? HEIGHT - 1 : y;
            } else {
                x = x < 0 ? -1 - x : x;
                y = y >= HEIGHT ? 2 * HEIGHT - 1 - y : y;
            }
            /* Hardware filters have weights of 8 bits; at texel centres they are off by the coordinate. */
            assert_true(fabsf(out[i] - planes[i / 100][y * WIDTH + x]) < 1e-5f);
        }
    }
    tvlm_stack_destroy(&stack);
}

/* A large square is read from the level of its texels' distance: the mean of what each stands for. */
static void check_levels(tvlm_device *device, tvlm_format format) {
    static float planes[3][AREA], out[3 * 16], norm[3 * 16];
    static const float mean[] = {0.5f, 0.25f, 0.125f}, deviation[] = {0.5f, 2.0f, 0.25f};
    const tvlm_position at = {.x = 40, .y = 24, .size = 32};
    tvlm_stack *stack = picture(device, format, planes);
    assert_int_equal(tvlm_patches_extract(stack, &at, 1, tvlm_patches_params(.side = 4), sizeof out, out),
                     TVLM_OK);
    assert_int_equal(tvlm_patches_extract(
                         stack, &at, 1, tvlm_patches_params(.side = 4, .mean = mean, .deviation = deviation),
                         sizeof norm, norm),
                     TVLM_OK);
    for (int32_t i = 0; i < 48; ++i) {
        double sum = 0;
        const int32_t left = 24 + i % 4 * 8, top = 8 + i / 4 % 4 * 8;
        for (int32_t j = 0; j < 64; ++j) sum += (double)planes[i / 16][(top + j / 8) * WIDTH + left + j % 8];
        /* Three levels, each rounded to half: 3 * 2.5e-4. */
        assert_true(fabs((double)out[i] - sum / 64) < (format == TVLM_FORMAT_F16 ? 1e-3 : 1e-5));
        assert_true(fabsf(norm[i] - (out[i] - mean[i / 16]) / deviation[i / 16]) < 1e-6f);
    }
    tvlm_stack_destroy(&stack);
}

/* Positions are in the pixels that were handed in, whatever the working size. */
static void check_scaled(tvlm_device *device, tvlm_format format) {
    static float out[2][3 * 64], planes[3][AREA];
    tvlm_stack *stack = picture(device, format, planes), *large = NULL;
    static float pixels[2 * WIDTH * 2 * HEIGHT * 3];
    for (int32_t y = 0; y < 2 * HEIGHT; ++y)
        for (int32_t x = 0; x < 2 * WIDTH; ++x)
            for (int32_t c = 0; c < 3; ++c)
                pixels[(y * 2 * WIDTH + x) * 3 + c] = planes[c][y / 2 * WIDTH + x / 2];
    const tvlm_image image = {
        .pixels = pixels, .width = 2 * WIDTH, .height = 2 * HEIGHT, .channels = 3, .type = TVLM_PIXEL_F32};
    assert_int_equal(
        tvlm_stack_create_for_image(
            device, &image, tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .format = format), &large),
        TVLM_OK);
    const tvlm_position at = {.x = 20.3f, .y = 30.9f, .size = 19},
                        twice = {.x = 40.6f, .y = 61.8f, .size = 38};
    const struct tvlm_patches_params params = {.side = 8};
    assert_int_equal(tvlm_patches_extract(stack, &at, 1, &params, sizeof out[0], out[0]), TVLM_OK);
    assert_int_equal(tvlm_patches_extract(large, &twice, 1, &params, sizeof out[1], out[1]), TVLM_OK);
    for (int32_t i = 0; i < 192; ++i) assert_true(fabsf(out[0][i] - out[1][i]) < 1e-3f);
    tvlm_stack_destroy(&stack);
    tvlm_stack_destroy(&large);
}

/* ---- The cells of a thumbnail ---- */

/* Lanczos' filter of three lobes, as the book has it. */
static double lanczos(double x) {
    const double pi = 3.14159265358979323846;
    if (x == 0.0) return 1.0;
    return fabs(x) < 3.0 ? 3.0 * sin(pi * x) * sin(pi * x / 3.0) / (pi * pi * x * x) : 0.0;
}

/* Of texel `to` of those that `scale` pixels each become: the weight of pixel `at`, not normalised. */
static double weight_of(double scale, int32_t to, int32_t at) {
    return lanczos((at + 0.5 - (to + 0.5) * scale) / scale);
}

/* Texel x, y of the picture whose texels are wide x high pixels. */
static double reduced(const float *plane, double wide, double high, int32_t x, int32_t y) {
    double sum = 0.0, weights = 0.0;
    for (int32_t j = 0; j < HEIGHT; ++j)
        for (int32_t i = 0; i < WIDTH; ++i) {
            const double weight = weight_of(wide, x, i) * weight_of(high, y, j);
            sum += weight * (double)plane[j * WIDTH + i];
            weights += weight;
        }
    return fmin(fmax(sum / weights, 0.0), 1.0);
}

/* 2 x 2 cells that cover the image, and a tile behind them, which is cut out of the image itself. */
static const tvlm_position cells[5] = {{.x = 16, .y = 12, .size = 32, .height = 24},
                                       {.x = 48, .y = 12, .size = 32, .height = 24},
                                       {.x = 16, .y = 36, .size = 32, .height = 24},
                                       {.x = 48, .y = 36, .size = 32, .height = 24},
                                       {.x = 24, .y = 24, .size = 16}};

static void check_thumbnail(tvlm_device *device, tvlm_format format) {
    static float planes[3][AREA], out[5 * 3 * 256], alone[3 * 256];
    const double tolerance = format == TVLM_FORMAT_F16 ? 1e-3 : 1e-5;
    tvlm_stack *stack = picture(device, format, planes);
    assert_int_equal(tvlm_patches_extract(stack, cells, 5, NULL, sizeof out, out), TVLM_OK);
    for (int32_t i = 0; i < 4 * 3 * 256; ++i) {
        const int32_t cell = i / 768, x = cell % 2 * 16 + i % 16, y = cell / 2 * 16 + i / 16 % 16;
        assert_true(fabs((double)out[i] - reduced(planes[i / 256 % 3], 2.0, 1.5, x, y)) < tolerance);
    }
    for (int32_t i = 0; i < 3 * 256; ++i)
        assert_true(out[4 * 768 + i] == planes[i / 256][(16 + i / 16 % 16) * WIDTH + 16 + i % 16]);
    /* One that does not stand on the grid of its size is a rectangle as any other is. */
    const tvlm_position beside = {.x = 17, .y = 12, .size = 32, .height = 24};
    assert_int_equal(tvlm_patches_extract(stack, &beside, 1, NULL, sizeof alone, alone), TVLM_OK);
    for (int32_t i = 0; i < 256; i += 17) /* a level is the mean of squares, which a tent then reads */
        assert_true(alone[i] != out[i]);
    tvlm_stack_destroy(&stack);
}

/* Texel x, y of 16 x 16 in pixel 8, 8: the pixels around it, by a tent. */
static double between_pixels(const float *plane, int32_t x, int32_t y) {
    double sum = 0.0;
    for (int32_t j = 7; j <= 9; ++j)
        for (int32_t i = 7; i <= 9; ++i)
            sum += fmax(0.0, 1.0 - fabs(i - 8 - (x - 7.5) / 16.0)) *
                   fmax(0.0, 1.0 - fabs(j - 8 - (y - 7.5) / 16.0)) * (double)plane[j * WIDTH + i];
    return sum;
}

/* Cells may be missing: those that are there are cut out of the same picture, whether they are found or said. Positions
 * behind them are none, nor is what comes back to a cell that was. */
static void check_holes(tvlm_device *device, tvlm_format format) {
    static float planes[3][AREA], all[5][3 * 256], out[4][3 * 256];
    static const int kept[][4] = {{1, 2, 4}, {3, 4}, {0, 3, 4}, {2, 3, 4}};
    tvlm_stack *stack = picture(device, format, planes);
    assert_int_equal(tvlm_patches_extract(stack, cells, 5, NULL, sizeof all, all), TVLM_OK);
    for (size_t n = 0; n < 2 * sizeof kept / sizeof *kept; ++n) {
        const int *const of = kept[n / 2], count = of[1] == 4 ? 2 : 3;
        tvlm_position at[3];
        struct tvlm_patches_params params = {0};
        for (int i = 0; i < count; ++i) at[i] = cells[of[i]];
        if (n % 2 == 1)
            params.thumbnail_columns = params.thumbnail_rows = 2, params.thumbnail_cells = count - 1;
        assert_int_equal(tvlm_patches_extract(stack, at, count, &params, sizeof out, out), TVLM_OK);
        for (int i = 0; i < count; ++i) assert_memory_equal(out[i], all[of[i]], sizeof out[i]);
    }
    const tvlm_position back[3] = {cells[2], cells[0], cells[3]};
    assert_int_equal(tvlm_patches_extract(stack, back, 3, NULL, sizeof out, out), TVLM_OK);
    assert_memory_equal(out[0], all[2], sizeof out[0]);
    assert_memory_not_equal(out[1], all[0], sizeof out[1]);
    assert_memory_not_equal(out[2], all[3], sizeof out[2]);
    /* A pixel is on the grid of pixels, but nobody makes a picture of sixteen times the image's size for that. */
    const tvlm_position pixel = {.x = 8.5f, .y = 8.5f, .size = 1, .height = 1};
    assert_int_equal(tvlm_patches_extract(stack, &pixel, 1, NULL, sizeof out[0], out[0]), TVLM_OK);
    const test_target target = {device, format};
    const double off =
        (double)test_sample_tolerance(&target, 16, 1.0f) + (format == TVLM_FORMAT_F16 ? 1e-3 : 1e-5);
    for (int32_t i = 0; i < 3 * 256; ++i)
        assert_true(fabs((double)out[0][i] - between_pixels(planes[i / 256], i % 16, i / 16 % 16)) < off);
    tvlm_stack_destroy(&stack);
}

/* A tile of a fraction, at column 1, row 2 of the grid of such tiles (of thirds row 1), between tiles of the image itself. */
static void check_fraction(tvlm_device *device, tvlm_format format, float pixels, int32_t row) {
    static float planes[3][AREA], out[3 * 3 * 64];
    const double tolerance = format == TVLM_FORMAT_F16 ? 1e-3 : 1e-5;
    const float side = 8.0f * pixels; /* of which 8 texels are a patch */
    const tvlm_position at[3] = {{.x = 12, .y = 4, .size = 8},
                                 {.x = 1.5f * side, .y = ((float)row + 0.5f) * side, .size = side},
                                 {.x = 20, .y = 12, .size = 8}};
    tvlm_stack *stack = picture(device, format, planes);
    assert_int_equal(tvlm_patches_extract(stack, at, 3, tvlm_patches_params(.side = 8), sizeof out, out),
                     TVLM_OK);
    for (int32_t i = 0; i < 3 * 3 * 64; ++i) {
        const int32_t patch = i / 192, x = i % 8, y = i / 8 % 8;
        const float *const plane = planes[i / 64 % 3];
        const double texel = (double)side / 8.0;
        const double expected =
            patch == 1 ? reduced(plane, texel, texel, 8 + x, 8 * row + y)
                       : (double)plane[((patch == 0 ? 0 : 8) + y) * WIDTH + (patch == 0 ? 8 : 16) + x];
        assert_true(fabs((double)out[i] - expected) < tolerance);
    }
    tvlm_stack_destroy(&stack);
}

/* Three quarters; and a third, of which the sides of the image are no multiples. */
static void check_fractions(tvlm_device *device, tvlm_format format) {
    check_fraction(device, format, 4.0f / 3.0f, 2);
    check_fraction(device, format, 3.0f, 1);
}

/* One of several images, by a selection; channels that are not the source's are what they were; a thumbnail that is
 * given is taken. */
static void check_selected(tvlm_device *device, tvlm_format format) {
    enum { K = 9, SIDE = 8, VALUES = K * SIDE * SIDE };
    static const int32_t both[] = {TVLM_CHANNEL_G, TVLM_CHANNEL_EDGES};
    static float planes[3][AREA], two[2 * VALUES], alone[VALUES], given[VALUES];
    tvlm_stack *stack = picture(device, format, planes);
    tvlm_selection *selection = NULL;
    tvlm_selection_info info;
    assert_int_equal(
        tvlm_select(stack, NULL, tvlm_select_params(.k = K, .strategy = TVLM_STRATEGY_BUDGET), &selection),
        TVLM_OK);
    assert_int_equal(tvlm_selection_get_info(selection, &info), TVLM_OK);
    const tvlm_position *const at = tvlm_selection_positions(selection, NULL);
    assert_int_equal(
        tvlm_patches_extract(stack, at, K,
                             tvlm_patches_params(.side = SIDE, .channels = both, .channel_count = 2),
                             sizeof two, two),
        TVLM_OK);
    for (int c = 0; c < 2; ++c) {
        assert_int_equal(
            tvlm_patches_extract(stack, at, K,
                                 tvlm_patches_params(.side = SIDE, .channels = &both[c], .channel_count = 1),
                                 sizeof alone, alone),
            TVLM_OK);
        for (int i = 0; i < VALUES; ++i)
            assert_float_equal(alone[i], two[(2 * (i / 64) + c) * 64 + i % 64], 1e-6f);
    }
    assert_int_equal(
        tvlm_patches_extract(stack, at, K,
                             tvlm_patches_params(.side = SIDE, .channels = both, .channel_count = 1,
                                                 .thumbnail_columns = info.thumbnail_columns,
                                                 .thumbnail_rows = info.thumbnail_rows,
                                                 .thumbnail_cells = info.thumbnail_cells),
                             sizeof given, given),
        TVLM_OK);
    for (int i = 0; i < VALUES; ++i) assert_float_equal(given[i], two[2 * (i / 64) * 64 + i % 64], 1e-6f);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

/* Channels of more textures than a bundle holds are put together. */
static void check_many(tvlm_device *device, tvlm_format format) {
    static const int32_t channels[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_SALIENCY, TVLM_CHANNEL_ENTROPY,
                                       TVLM_CHANNEL_ECCENTRICITY, TVLM_CHANNEL_EDGES};
    static float planes[3][AREA], together[5 * 16], alone[16];
    const tvlm_position at = {.x = 30, .y = 20, .size = 9};
    tvlm_stack *stack = picture(device, format, planes);
    stack->bundle_max = 2;
    assert_int_equal(
        tvlm_patches_extract(stack, &at, 1,
                             tvlm_patches_params(.side = 4, .channels = channels, .channel_count = 5),
                             sizeof together, together),
        TVLM_OK);
    for (int32_t c = 0; c < 5; ++c) {
        assert_int_equal(
            tvlm_patches_extract(stack, &at, 1,
                                 tvlm_patches_params(.side = 4, .channels = &channels[c], .channel_count = 1),
                                 sizeof alone, alone),
            TVLM_OK);
        for (int32_t i = 0; i < 16; ++i) assert_true(fabsf(alone[i] - together[16 * c + i]) < 1e-6f);
    }
    tvlm_stack_destroy(&stack);
}

#define REFUSE(LINE, ...)                                                                                    \
    refused(tvlm_patches_extract(stack, &at, 1, tvlm_patches_params(__VA_ARGS__), sizeof out, out),          \
            TVLM_ERROR_ARGUMENT, LINE)

static void test_refusals(void **state) {
    static float planes[3][AREA], out[3 * 256];
    static const float bad[] = {1, NAN, 1}, zero[] = {1, 1, 0};
    static const int32_t none[] = {0, 9999};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = picture(device, TVLM_FORMAT_F32, planes);
    tvlm_position at = {.x = 8, .y = 8, .size = 16};
    size_t bytes;
    (void)state;
    REFUSE("image 1 of", .index = 1);
    REFUSE("patches of side -1", .side = -1);
    REFUSE("patches of side 1025", .side = 1025);
    REFUSE("room for 3072 bytes", .side = 17);
    REFUSE("mean 1", .mean = bad);
    REFUSE("deviation 2 of patches is 0", .deviation = zero);
    REFUSE("no border 2", .border = (tvlm_border)2);
#define THUMBNAIL(COLUMNS, ROWS, CELLS)                                                                      \
    .thumbnail_columns = (COLUMNS), .thumbnail_rows = (ROWS), .thumbnail_cells = (CELLS)
    REFUSE("2 cells of a thumbnail of 2 x 1 among 1 positions", THUMBNAIL(2, 1, 0));
    REFUSE("0 cells of a thumbnail of 1 x 0", THUMBNAIL(1, 0, 0));
    REFUSE("1 cells of a thumbnail of -1 x -1", THUMBNAIL(-1, -1, 0));
    REFUSE("1 cells of a thumbnail of 0 x 0", THUMBNAIL(0, 0, 1));
    REFUSE("-1 cells of a thumbnail of 1 x 1", THUMBNAIL(1, 1, -1));
    REFUSE("2 cells of a thumbnail of 2 x 2 among 1", THUMBNAIL(2, 2, 2));
    REFUSE("3 cells of a thumbnail of 2 x 1", THUMBNAIL(2, 1, 3));
    REFUSE("2147483647 cells of", THUMBNAIL(INT32_MAX, INT32_MAX, 0));
    REFUSE("10 x 1 cells of side 16, some of them empty, of 64 x 48 pixels", THUMBNAIL(10, 1, 1));
    REFUSE("1 x 7 cells of side 16, some", THUMBNAIL(1, 7, 1));
    assert_int_equal(
        tvlm_patches_extract(stack, &at, 1, tvlm_patches_params(THUMBNAIL(8, 6, 1)), sizeof out, out),
        TVLM_OK);
    REFUSE("9999", .channels = none, .channel_count = 2);
    REFUSE("1 patches of 0 channels", .channels = none, .channel_count = 0);
    at.size = 0;
    REFUSE("size of 0", .side = 16);
    at = (tvlm_position){.x = NAN, .y = 8, .size = 16};
    REFUSE("position 0 is nan", .side = 16);
    assert_int_equal(tvlm_patches_extract(stack, &at, 0, NULL, 0, NULL), TVLM_OK);
    assert_int_equal(tvlm_patches_extract(NULL, &at, 1, NULL, sizeof out, out), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_patches_size(tvlm_patches_params(.side = 2000), 1, &bytes), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_patches_size(NULL, -1, &bytes), TVLM_ERROR_ARGUMENT);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

DEVICE_CHECKS(check_grid, check_borders, check_levels, check_scaled, check_thumbnail, check_holes,
              check_fractions, check_selected, check_many)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_refusals),
    };
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
