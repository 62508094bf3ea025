/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_logpolar.c: rings and sectors lie where the header says, far rings are averages, what is put back is the
 * image, and what cannot be is refused. tests/python/check_logpolar.py compares with OpenCV.
 */
#include "texturevlm/lab/logpolar.h"

#include "stack_helper.h"

enum { WIDTH = 96, HEIGHT = 80 };

#define TURN 6.283185307179586

/* An image whose red grows along x and whose green grows along y, so that a value says where it is from. */
static tvlm_stack *ramps(tvlm_device *device, tvlm_format format) {
    float *const pixels = malloc(sizeof *pixels * WIDTH * HEIGHT * 3);
    assert_non_null(pixels);
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x) {
            float *const pixel = pixels + 3 * (y * WIDTH + x);
            pixel[0] = ((float)x + 0.5f) / WIDTH;
            pixel[1] = ((float)y + 0.5f) / HEIGHT;
            pixel[2] = 0.25f;
        }
    const tvlm_image image = {
        .pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3, .type = TVLM_PIXEL_F32};
    tvlm_stack *const stack = stack_of(device, format, &image);
    free(pixels);
    return stack;
}

static float *take(tvlm_stack *stack, const struct tvlm_logpolar_params *params, tvlm_logpolar_info *info) {
    assert_int_equal(tvlm_logpolar_get_info(stack, params, info), TVLM_OK);
    const size_t count = (size_t)info->rings * (size_t)info->sectors * (size_t)info->channel_count;
    float *const samples = malloc(count * sizeof *samples);
    assert_non_null(samples);
    assert_int_equal(tvlm_logpolar(stack, params, count, samples), TVLM_OK);
    return samples;
}

static void check_places(tvlm_device *device, tvlm_format format) {
    static const float at[2] = {50.0f, 36.0f};
    struct tvlm_logpolar_params params = {
        .fixation = at, .inner = 2.0f, .outer = 20.0f, .rings = 12, .sectors = 16};
    const float tolerance =
        format == TVLM_FORMAT_F16 ? 2e-3f : 1e-4f; /* of a half near 1, and of positions */
    tvlm_stack *stack = ramps(device, format);
    for (int plain = 0; plain < 2; ++plain) {
        tvlm_logpolar_info info;
        params.plain = plain == 1;
        float *const samples = take(stack, &params, &info);
        assert_true(info.x == 50.0f && info.y == 36.0f && info.inner == 2.0f && info.outer == 20.0f);
        assert_true(info.rings == 12 && info.sectors == 16 && info.channel_count == 3);
        for (int sector = 0; sector < 16; ++sector)
            for (int ring = 0; ring < 12; ++ring) {
                const float *const sample = samples + 3 * (sector * 12 + ring);
                const double r = 2.0 * (pow(10.0, ring / 12.0) - 1.0), a = TURN * sector / 16.0;
                const double x = (50.0 + r * cos(a)) / WIDTH, y = (36.0 + r * sin(a)) / HEIGHT;
                if (fabs((double)sample[0] - x) > (double)tolerance ||
                    fabs((double)sample[1] - y) > (double)tolerance ||
                    fabs((double)sample[2] - 0.25) > (double)tolerance)
                    fail_msg("ring %d, sector %d: %g, %g in place of %g, %g", ring, sector, (double)sample[0],
                             (double)sample[1], x, y);
            }
        free(samples);
    }
    tvlm_stack_destroy(&stack);
}

/* By default the rings reach the farthest corner from the middle, and samples are square. */
static void check_defaults(tvlm_device *device, tvlm_format format) {
    static const int32_t edges = TVLM_CHANNEL_EDGES;
    tvlm_logpolar_info info;
    tvlm_stack *stack = ramps(device, format);
    assert_int_equal(tvlm_logpolar_get_info(stack, NULL, &info), TVLM_OK);
    assert_true(info.x == 48.0f && info.y == 40.0f && info.inner == 1.0f && info.channel_count == 3);
    assert_true(fabsf(info.outer - hypotf(48.0f, 40.0f) - 1.0f) < 1e-3f);
    assert_int_equal(info.rings, TVLM_LOGPOLAR_RINGS);
    assert_int_equal(info.sectors, (int)round(TURN * 128.0 / log(hypot(48.0, 40.0) + 1.0)));
    assert_int_equal(
        tvlm_logpolar_get_info(
            stack, tvlm_logpolar_params(.channels = &edges, .channel_count = 1, .rings = 4), &info),
        TVLM_OK);
    assert_true(info.channel_count == 1 && info.rings == 4);
    tvlm_stack_destroy(&stack);
}

/* A board of single pixels: to far rings it is gray, and single points see what they happen to meet. */
static void check_aliasing(tvlm_device *device, tvlm_format format) {
    enum { RINGS = 24, FAR_RINGS = 6 };
    uint8_t *const pixels = malloc(WIDTH * HEIGHT);
    double error[2] = {0.0, 0.0};
    assert_non_null(pixels);
    for (int i = 0; i < WIDTH * HEIGHT; ++i)
        pixels[i] = (uint8_t)(((i % WIDTH) + (i / WIDTH)) % 2 == 0 ? 255 : 0);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 1);
    tvlm_stack *stack = stack_of(device, format, &image);
    for (int plain = 0; plain < 2; ++plain) {
        tvlm_logpolar_info info;
        float *const samples = take(
            stack, tvlm_logpolar_params(.rings = RINGS, .sectors = 30, .outer = 38.0f, .plain = plain == 1),
            &info);
        for (int sector = 0; sector < 30; ++sector)
            for (int ring = RINGS - FAR_RINGS; ring < RINGS; ++ring)
                error[plain] += fabs((double)samples[3 * (sector * RINGS + ring)] - 0.5) / (30 * FAR_RINGS);
        free(samples);
    }
    assert_true(error[0] < 0.02 && error[1] > 0.1);
    tvlm_stack_destroy(&stack);
    free(pixels);
}

/* Ramps are what they were, but where sectors are wide. */
static void check_back(tvlm_device *device, tvlm_format format) {
    static float image[HEIGHT / 2 * WIDTH / 2 * 3];
    tvlm_logpolar_info info;
    tvlm_stack *stack = ramps(device, format);
    float *const samples = take(stack, tvlm_logpolar_params(.rings = 96, .sectors = 200), &info);
    assert_int_equal(tvlm_logpolar_back(&info, samples, WIDTH, HEIGHT, WIDTH / 2, HEIGHT / 2, image),
                     TVLM_OK);
    for (int y = 4; y < HEIGHT / 2 - 4; ++y)
        for (int x = 6; x < WIDTH / 2 - 6; ++x) {
            const float *const pixel = image + 3 * (y * (WIDTH / 2) + x);
            assert_true(fabsf(pixel[0] - ((float)x + 0.5f) * 2.0f / WIDTH) < 0.02f);
            assert_true(fabsf(pixel[1] - ((float)y + 0.5f) * 2.0f / HEIGHT) < 0.02f);
        }
    free(samples);
    tvlm_stack_destroy(&stack);
}

static void check_refusals(tvlm_device *device, tvlm_format format) {
    static const float nowhere[2] = {NAN, 0.0f};
    static const int32_t none = 9999;
    const struct {
        struct tvlm_logpolar_params params;
        const char *line;
    } cases[] = {
        {{.fixation = nowhere}, "a fixation that is not finite"},
        {{.inner = -1.0f}, "an inner length of -1 and"},
        {{.inner = 9.0f, .outer = 8.0f}, "of 9 and an outer one of 8 pixels"},
        {{.outer = INFINITY}, "of 1 and an outer one of inf"},
        {{.rings = -3}, "-3 rings"},
        {{.sectors = 2}, "2 sectors"},
        {{.rings = 100000, .sectors = 100000}, "are too many"},
        {{.index = 1}, "image 1"},
        {{.channels = &none, .channel_count = 1}, "9999"},
        {{.channels = &none}, "0 channels"},
        {{.reserved = {1}}, "reserved"},
    };
    float samples[12];
    tvlm_logpolar_info info;
    tvlm_stack *stack = random_stack(device, format, 20, 20, 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        refused(tvlm_logpolar(stack, &cases[i].params, SIZE_MAX, samples), TVLM_ERROR_ARGUMENT,
                cases[i].line);
    refused(tvlm_logpolar(stack, tvlm_logpolar_params(.rings = 2, .sectors = 3), 12, samples),
            TVLM_ERROR_ARGUMENT, "room for 12 numbers; there are 18");
    assert_int_equal(tvlm_logpolar(stack, NULL, 12, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_logpolar(NULL, NULL, 12, samples), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_logpolar_get_info(stack, NULL, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_logpolar_get_info(stack, tvlm_logpolar_params(.rings = 1, .sectors = 3), &info),
                     TVLM_OK);
    assert_int_equal(tvlm_logpolar_back(&info, samples, 20, 20, 1, 0, samples), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_logpolar_back(&info, NULL, 20, 20, 1, 1, samples), TVLM_ERROR_ARGUMENT);
    info.sectors = 0;
    assert_int_equal(tvlm_logpolar_back(&info, samples, 20, 20, 1, 1, samples), TVLM_ERROR_ARGUMENT);
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS_MAIN(check_places, check_defaults, check_aliasing, check_back, check_refusals)
