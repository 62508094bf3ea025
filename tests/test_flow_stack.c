/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_flow_stack.c: what optical flow says of motions that are known: none, a pixel, a large one, nothing in common;
 * Middlebury's pairs, where they are.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stack_helper.h"
#include "texturevlm/io.h"
#include "texturevlm/io_flow.h"
#include "texturevlm/stream.h"
#include "video/flow.h"

/* ---- Known motions ---- */

enum { WIDTH = 200, HEIGHT = 160 };

/* Waves of many lengths and directions, different for each seed; where (x, y) is not a whole number, too. */
static double scene(uint64_t seed, double x, double y) {
    double sum = 0.0;
    for (int i = 0; i < 24; ++i) {
        const double angle = 6.283 * (double)test_random_unit(&seed),
                     phase = 6.283 * (double)test_random_unit(&seed),
                     length = 8.0 * pow(24.0, (double)test_random_unit(&seed));
        sum += sqrt(length / 48.0) * sin((x * cos(angle) + y * sin(angle)) * 6.283 / length + phase);
    }
    return 0.5 + 0.06 * sum;
}

static void fill(uint8_t *pixels, uint64_t seed, double dx, double dy) {
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x)
            pixels[y * WIDTH + x] = (uint8_t)lrint(255.0 * fmin(1.0, fmax(0.0, scene(seed, x - dx, y - dy))));
}

typedef struct known {
    tvlm_stack *stack; /* of two images */
    tvlm_flow *flow;
    tvlm_flow_info info;
    float *values;
} known;

static void compute(known *k, const struct tvlm_flow_params *params) {
    if (tvlm_flow_compute(k->stack, 0, k->stack, 1, params, &k->flow) != TVLM_OK)
        fail_msg("flow: %s", test_last_log());
    assert_int_equal(tvlm_flow_get_info(k->flow, &k->info), TVLM_OK);
    const size_t count = 3 * (size_t)k->info.width * (size_t)k->info.height;
    free(k->values);
    k->values = malloc(count * sizeof *k->values);
    assert_non_null(k->values);
    assert_int_equal(tvlm_flow_read(k->flow, count, k->values), TVLM_OK);
}

static known begin(tvlm_device *device, tvlm_format format) {
    known k = {0};
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.layout = "r", .width = WIDTH, .height = HEIGHT,
                                                         .images = 2, .format = format),
                                       &k.stack),
                     TVLM_OK);
    return k;
}

static void set(known *k, int32_t index, uint64_t seed, double dx, double dy) {
    static uint8_t pixels[WIDTH * HEIGHT];
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 1);
    fill(pixels, seed, dx, dy);
    assert_int_equal(tvlm_stack_set_image(k->stack, index, &image), TVLM_OK);
}

static void end(known *k) {
    tvlm_flow_destroy(&k->flow);
    tvlm_flow_destroy(&k->flow);
    tvlm_stack_destroy(&k->stack);
    free(k->values);
}

/* Mean distance from (u, v), and mean confidence, away from the border by more than `border` pixels. */
static void measure(const known *k, float u, float v, float border, double *error, double *confidence) {
    double count = 0.0;
    *error = *confidence = 0.0;
    for (int32_t y = 0; y < k->info.height; ++y)
        for (int32_t x = 0; x < k->info.width; ++x) {
            const float px = ((float)x + 0.5f) * WIDTH / (float)k->info.width,
                        py = ((float)y + 0.5f) * HEIGHT / (float)k->info.height;
            const float *at = k->values + 3 * (y * k->info.width + x);
            if (px < border || py < border || px > WIDTH - border || py > HEIGHT - border) continue;
            *error += (double)hypotf(at[0] - u, at[1] - v);
            *confidence += (double)at[2];
            count += 1.0;
        }
    *error /= count;
    *confidence /= count;
}

static void check_same(tvlm_device *device, tvlm_format format) {
    for (int full = 0; full < 2; ++full) {
        known k = begin(device, format);
        set(&k, 0, 7, 0, 0);
        set(&k, 1, 7, 0, 0);
        compute(&k, tvlm_flow_params(.full = full != 0));
        assert_int_equal(k.info.width, full ? WIDTH : WIDTH / 2);
        assert_int_equal(k.info.image_height, HEIGHT);
        for (int32_t i = 0; i < k.info.width * k.info.height; ++i) {
            if (k.values[3 * i] != 0.0f || k.values[3 * i + 1] != 0.0f)
                fail_msg("texel %d moves by %g, %g", (int)i, (double)k.values[3 * i],
                         (double)k.values[3 * i + 1]);
            assert_true(k.values[3 * i + 2] == 1.0f);
        }
        end(&k);
    }
}

static void check_motions(tvlm_device *device, tvlm_format format) {
    static const struct {
        float u, v, error, confidence;
    } motions[] = {
        {1, 0, 0.06f, 0.85f}, {0, -1, 0.06f, 0.85f}, {0.5f, 0.25f, 0.06f, 0.85f}, {22, 5, 0.5f, 0.8f}};
    known k = begin(device, format);
    set(&k, 0, 9, 0, 0);
    for (size_t i = 0; i < sizeof motions / sizeof motions[0]; ++i) {
        double error, confidence;
        set(&k, 1, 9, (double)motions[i].u, (double)motions[i].v);
        compute(&k, NULL);
        measure(&k, motions[i].u, motions[i].v, 30.0f, &error, &confidence);
        if (!(error <= (double)motions[i].error) || !(confidence >= (double)motions[i].confidence))
            fail_msg("motion %g, %g: off by %g on average, confidence %g", (double)motions[i].u,
                     (double)motions[i].v, error, confidence);
    }
    end(&k);
}

/* ---- A square that moves over a ground ---- */

enum { SQUARE = 96, LEFT = 44, TOP = 32 }; /* of the last frame */

static bool in_square(double x, double y, int dx, int dy) {
    return x >= LEFT + dx && y >= TOP + dy && x < LEFT + dx + SQUARE && y < TOP + dy + SQUARE;
}

static void set_square(known *k, int32_t index, int dx, int dy) {
    static uint8_t pixels[WIDTH * HEIGHT];
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 1);
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x) {
            const double value =
                in_square(x + 0.5, y + 0.5, dx, dy) ? scene(23, x - dx, y - dy) : scene(21, x, y);
            pixels[y * WIDTH + x] = (uint8_t)lrint(255.0 * fmin(1.0, fmax(0.0, value)));
        }
    assert_int_equal(tvlm_stack_set_image(k->stack, index, &image), TVLM_OK);
}

/* Texels of the present frame: the square's own, those whose flow is its motion, and those that it has
 * uncovered; and of which the flow is as sure as a stream asks for. */
typedef struct square_texels {
    size_t own, own_sure, found, uncovered, uncovered_sure;
} square_texels;

static square_texels count_square(const known *k, int dx, int dy) {
    square_texels t = {0};
    for (int32_t i = 0; i < k->info.width * k->info.height; ++i) {
        const double x = (i % k->info.width + 0.5) * WIDTH / k->info.width,
                     y = (double)(i / k->info.width + 0.5) * HEIGHT / k->info.height;
        const float *at = k->values + 3 * i;
        const bool sure = at[2] >= TVLM_STREAM_CONFIDENCE_DEFAULT, own = in_square(x, y, dx, dy);
        const bool uncovered = !own && in_square(x, y, 0, 0);
        t.own += own;
        t.own_sure += own && sure;
        t.found += own && hypotf(at[0] + (float)dx, at[1] + (float)dy) <= 1.0f;
        t.uncovered += uncovered;
        t.uncovered_sure += uncovered && sure;
    }
    return t;
}

/* From the present frame to the last: what the square has uncovered is nowhere in that one. */
static void check_uncovered(tvlm_device *device, tvlm_format format) {
    static const int motions[][2] = {{8, 0}, {0, -12}, {12, 5}};
    known k = begin(device, format);
    set_square(&k, 1, 0, 0);
    for (size_t m = 0; m < sizeof motions / sizeof motions[0]; ++m) {
        const int dx = motions[m][0], dy = motions[m][1];
        char what[200];
        set_square(&k, 0, dx, dy);
        compute(&k, NULL);
        const square_texels t = count_square(&k, dx, dy);
        snprintf(what, sizeof what,
                 "motion %d, %d: sure of %zu of %zu uncovered, of %zu of %zu own; %zu found", dx, dy,
                 t.uncovered_sure, t.uncovered, t.own_sure, t.own, t.found);
        if (getenv("TVLM_TEST_FIGURES") != NULL) printf("FIGURES\t%s\n", what);
        if (t.uncovered_sure > t.uncovered / 5 || t.own_sure < t.own * 4 / 5 || t.found < t.own * 4 / 5)
            fail_msg("%s", what);
    }
    end(&k);
}

/* Two scenes; and flat ones of two grays, where nothing ever fails to return. */
static void check_strangers(tvlm_device *device, tvlm_format format) {
    known k = begin(device, format);
    double error, confidence;
    set(&k, 0, 11, 0, 0);
    set(&k, 1, 12, 0, 0);
    compute(&k, NULL);
    measure(&k, 0.0f, 0.0f, 0.0f, &error, &confidence);
    size_t sure = 0;
    const size_t texels = (size_t)k.info.width * (size_t)k.info.height;
    for (size_t i = 0; i < texels; ++i) sure += k.values[3 * i + 2] >= 0.5f;
    if (!(confidence <= 0.2) || sure > texels / 20)
        fail_msg("nothing in common: confidence %g, %zu of %zu from a half on", confidence, sure, texels);
    static uint8_t gray[WIDTH * HEIGHT];
    for (int32_t i = 0; i < 2; ++i) {
        const tvlm_image image = u8_image(gray, WIDTH, HEIGHT, 1);
        memset(gray, i == 0 ? 80 : 140, sizeof gray);
        assert_int_equal(tvlm_stack_set_image(k.stack, i, &image), TVLM_OK);
    }
    compute(&k, NULL);
    for (size_t i = 0; i < texels; ++i) assert_true(k.values[3 * i + 2] < 0.1f);
    end(&k);
}

/* ---- Into a stack, and what is refused ---- */

static void check_set(tvlm_device *device, tvlm_format format) {
    known k = begin(device, format);
    set(&k, 0, 9, 0, 0);
    set(&k, 1, 9, 2, 1);
    compute(&k, NULL);
    static const int32_t channels[3] = {TVLM_CHANNEL_FLOW_U, TVLM_CHANNEL_FLOW_V,
                                        TVLM_CHANNEL_FLOW_CONFIDENCE};
    assert_int_equal(tvlm_stack_set_flow(k.stack, 1, k.flow), TVLM_OK);
    float *got[3], *expected[3];
    size_t count;
    for (int c = 0; c < 3; ++c) got[c] = read_level(k.stack, 1, channels[c], 0, &count);
    assert_int_equal(count, k.info.width * k.info.height);
    assert_int_equal(tvlm_stack_set_grid(k.stack, 1, TVLM_CHANNEL_FLOW_U,
                                         tvlm_grid_input(.data = k.values, .columns = k.info.width,
                                                         .rows = k.info.height, .channels = 3)),
                     TVLM_OK);
    for (int c = 0; c < 3; ++c) {
        expected[c] = read_level(k.stack, 1, channels[c], 0, &count);
        assert_memory_equal(got[c], expected[c], count * sizeof *got[c]);
        free(got[c]);
        free(expected[c]);
    }
    const tvlm_buffer *const before = k.flow->buffer;
    compute(&k, NULL); /* asked again, a flow keeps its memory */
    assert_ptr_equal(before, k.flow->buffer);
    end(&k);
}

static void check_refused(tvlm_device *device, tvlm_format format) {
    known k = begin(device, format);
    tvlm_stack *other = NULL;
    float value;
    tvlm_device *second = open_reference();
    tvlm_stack *foreign = NULL, *coarser = NULL;
    assert_int_equal(
        tvlm_stack_create(device, tvlm_stack_params(.layout = "r", .width = 40, .height = 30), &other),
        TVLM_OK);
    assert_int_equal(tvlm_stack_create(second,
                                       tvlm_stack_params(.layout = "r", .width = WIDTH, .height = HEIGHT),
                                       &foreign),
                     TVLM_OK);
    assert_int_equal(
        tvlm_stack_create(
            device,
            tvlm_stack_params(.layout = "r", .width = WIDTH, .height = HEIGHT,
                              .format = format == TVLM_FORMAT_F16 ? TVLM_FORMAT_F32 : TVLM_FORMAT_F16),
            &coarser),
        TVLM_OK);
    refused(tvlm_flow_compute(k.stack, 0, other, 0, NULL, &k.flow), TVLM_ERROR_ARGUMENT,
            "images of 200x160 and 40x30");
    refused(tvlm_flow_compute(k.stack, 2, k.stack, 0, NULL, &k.flow), TVLM_ERROR_ARGUMENT, "2");
    refused(tvlm_flow_compute(k.stack, 0, foreign, 0, NULL, &k.flow), TVLM_ERROR_ARGUMENT,
            "different devices");
    refused(tvlm_flow_compute(k.stack, 0, coarser, 0, NULL, &k.flow), TVLM_ERROR_ARGUMENT,
            "different formats, f");
    refused(tvlm_flow_compute(k.stack, 0, NULL, 0, NULL, &k.flow), TVLM_ERROR_ARGUMENT, "stack_to is NULL");
    assert_null(k.flow);
    compute(&k, NULL); /* of black images */
    refused(tvlm_flow_read(k.flow, 1, &value), TVLM_ERROR_ARGUMENT, "room for 1 floats");
    refused(tvlm_stack_set_flow(other, 0, k.flow), TVLM_ERROR_ARGUMENT, "a flow of 200x160 pixels");
    refused(tvlm_stack_set_flow(foreign, 0, k.flow), TVLM_ERROR_ARGUMENT, "another device");
    refused(tvlm_stack_set_flow(k.stack, 0, NULL), TVLM_ERROR_ARGUMENT, "no flow");
    tvlm_stack_destroy(&other);
    tvlm_stack_destroy(&foreign);
    tvlm_stack_destroy(&coarser);
    tvlm_device_destroy(&second);
    end(&k);
}

DEVICE_CHECKS(check_same, check_motions, check_uncovered, check_strangers, check_set, check_refused)

/* ---- Middlebury ---- */

static double endpoint_error(tvlm_device *device, const char *name) {
    char path[3][600], part[64];
    static const char *const files[3] = {"frame10.png", "frame11.png", "flow10.flo"};
    tvlm_image *images[2] = {NULL, NULL};
    tvlm_flo *truth = NULL;
    tvlm_flow *flow = NULL;
    tvlm_flow_info info;
    double sum = 0.0, count = 0.0;
    for (int i = 0; i < 3; ++i) {
        snprintf(part, sizeof part, "flow/%s/%s", name, files[i]);
        if (!test_shared_path(part, path[i], sizeof path[i])) return -1.0;
    }
    for (int i = 0; i < 2; ++i) assert_int_equal(tvlm_image_load(path[i], &test_log, &images[i]), TVLM_OK);
    assert_int_equal(tvlm_flo_read(path[2], &test_log, &truth), TVLM_OK);
    tvlm_stack *from = stack_of(device, TVLM_FORMAT_AUTO, images[0]),
               *to = stack_of(device, TVLM_FORMAT_AUTO, images[1]);
    assert_int_equal(tvlm_flow_compute(from, 0, to, 0, NULL, &flow), TVLM_OK);
    assert_int_equal(tvlm_stack_set_flow(from, 0, flow), TVLM_OK);
    assert_int_equal(tvlm_flow_get_info(flow, &info), TVLM_OK);
    static const int32_t channels[2] = {TVLM_CHANNEL_FLOW_U, TVLM_CHANNEL_FLOW_V};
    tvlm_sample_point *points = malloc((size_t)truth->width * sizeof *points);
    float *got = malloc(2 * (size_t)truth->width * sizeof *got);
    assert_non_null(points);
    assert_non_null(got);
    for (int32_t y = 0; y < truth->height; ++y) {
        for (int32_t x = 0; x < truth->width; ++x)
            points[x] = (tvlm_sample_point){(float)x + 0.5f, (float)y + 0.5f, 0.0f, 0};
        assert_int_equal(tvlm_stack_sample(from, points, truth->width, channels, 2, got), TVLM_OK);
        for (int32_t x = 0; x < truth->width; ++x) {
            const float *at = truth->vectors + 2 * (y * truth->width + x);
            if (!(fabsf(at[0]) < 1e9f) || !(fabsf(at[1]) < 1e9f)) continue;
            sum += (double)hypotf(got[2 * x] - at[0], got[2 * x + 1] - at[1]);
            count += 1.0;
        }
    }
    free(points);
    free(got);
    tvlm_flow_destroy(&flow);
    tvlm_flo_destroy(&truth);
    tvlm_stack_destroy(&from);
    tvlm_stack_destroy(&to);
    for (int i = 0; i < 2; ++i) tvlm_image_destroy(&images[i]);
    return sum / count;
}

static int pairs_checked;

/* The mean error is no worse than that of OpenCV's DIS with its medium preset, 0.396 (bench/flow.py). */
static void check_pairs(const test_target *target, tvlm_device *reference) {
    static const char *const names[] = {"Grove2", "RubberWhale", "Urban2"};
    double sum = 0.0;
    (void)reference;
    if (target->format == TVLM_FORMAT_F16) return; /* the stacks choose theirs */
    for (int i = 0; i < 3; ++i) {
        const double error = endpoint_error(target->device, names[i]);
        if (error < 0.0) return;
        printf("%s: endpoint error %.3f\n", names[i], error);
        sum += error;
    }
    ++pairs_checked;
    if (!(sum / 3.0 <= 0.396)) fail_msg("mean endpoint error %g", sum / 3.0);
}

static void test_pairs(void **state) {
    (void)state;
    if (test_small() || test_for_each_target(check_pairs) == 0 || pairs_checked == 0) skip();
}

/* Whole frames are large, and kernels/flow.c runs the same kernels. */
static void test_known(void **state) {
    if (test_small()) skip();
    test_targets(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference_f32),
                                       cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_known),
                                       cmocka_unit_test(test_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
