/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.c: points that go along a flow, against the reference; and answers that are known.
 */
#include "kernels/family.h"

#include <math.h>
#include <string.h>

enum { STRIDE = 3, BEFORE = 5, BEHIND = 4 }; /* floats: point to point, before the first, behind the last */
enum { POINTS = 200, LONGEST = 6 };

typedef struct setting {
    test_size image;
    int32_t steps;
    float level, confidence;
} setting;

/* Makes a smooth flow of half the image's size, which is unsure in the lower third. */
static test_pair create_flow(const test_target *target, tvlm_device *reference, test_size image,
                             uint64_t *random) {
    const test_size half = test_level_size(image, 1);
    tvlm_texture shape = test_shape(half, 1, 1, target->format);
    shape.extent_x = (float)image.width;
    shape.extent_y = (float)image.height;
    const test_pair pair = test_pair_create(target, reference, &shape);
    const float u = test_random_unit(random), v = test_random_unit(random);
    float *rgba = calloc((size_t)half.width * (size_t)half.height, 4 * sizeof *rgba);
    assert_non_null(rgba);
    for (int32_t i = 0; i < half.width * half.height; ++i) {
        const float across = (float)(i % half.width), down = (float)(i / half.width);
        rgba[4 * i] = (float)LONGEST * sinf(0.05f * across + 6.0f * u);
        rgba[4 * i + 1] = (float)LONGEST * cosf(0.04f * down + 6.0f * v);
        rgba[4 * i + 2] = 3.0f * down > 2.0f * (float)half.height ? 0.1f : 0.9f;
    }
    test_pair_write(&pair, 0, rgba);
    test_pair_levels(&pair);
    free(rgba);
    return pair;
}

/* Makes points inside, on the edges, outside and far outside, and some whose coordinates are no numbers. */
static void fill_points(test_size image, float *points, int32_t count, uint64_t *random) {
    const float special[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e6f, 0.0f};
    for (int32_t i = 0; i < count; ++i) {
        points[STRIDE * i] = (float)image.width * (1.4f * test_random_unit(random) - 0.2f);
        points[STRIDE * i + 1] = (float)image.height * (1.4f * test_random_unit(random) - 0.2f);
        points[STRIDE * i + 2] = 1e9f; /* not looked at */
        if (i % 9 == 4) points[STRIDE * i + i / 9 % 2] = special[i / 9 % 6];
        if (i % 9 == 7) points[STRIDE * i + i / 9 % 2] = i % 2 ? (float)image.width : 0.0f;
    }
}

/* Writes moved[BEFORE + 2 * count + BEHIND]. The floats before and behind the points must stay as they
 * are. */
static void follow(tvlm_device *device, const setting *s, const tvlm_texture *flow, const float *points,
                   int32_t count, float *moved) {
    const size_t floats = BEFORE + STRIDE * (size_t)count, out = BEFORE + 2 * (size_t)count + BEHIND;
    for (size_t i = 0; i < out; ++i) moved[i] = -77.0f;
    tvlm_buffer *from = test_buffer(device, (floats + 1) * sizeof *points, NULL),
                *to = test_buffer(device, out * sizeof *moved, moved);
    assert_int_equal(device->backend->buffer_write(device, from, BEFORE * sizeof *points,
                                                   STRIDE * (size_t)count * sizeof *points, points),
                     TVLM_OK);
    const tvlm_follow args = {.flow = flow,
                              .level = s->level,
                              .confidence = s->confidence,
                              .steps = s->steps,
                              .from = from,
                              .to = to,
                              .from_offset = BEFORE,
                              .to_offset = BEFORE,
                              .from_stride = STRIDE,
                              .count = count};
    if (device->backend->follow(device, &args) != TVLM_OK) fail_msg("follow: %s", test_last_log());
    test_buffer_take(device, &to, out * sizeof *moved, moved);
    device->backend->buffer_destroy(device, &from);
    for (size_t i = 0; i < out; ++i)
        if (i < BEFORE || i >= out - BEHIND) assert_true(moved[i] == -77.0f);
}

/* How far apart two values are. Values of the same bits are equal, infinities too, and so are two NaN. */
static float apart(float got, float expected) {
    return memcmp(&got, &expected, sizeof got) == 0 || (isnan(got) && isnan(expected))
               ? 0.0f
               : fabsf(got - expected);
}

/*
 * A step reads the flow where the last step ended. The slope of the flow carries an error on, to less than
 * half of it each time. At the border between sure and unsure, device and reference may differ by a whole
 * step. Few points may.
 */
static void compare(const test_target *target, const setting *s, const float *points, const float *got,
                    const float *expected, int32_t count) {
    const int32_t side = s->image.width > s->image.height ? s->image.width : s->image.height;
    const float tolerance =
        2.0f * test_sample_tolerance(target, side, 2.0f * (float)LONGEST) + 1e-6f * (float)side;
    double sum = 0.0;
    int32_t beyond = 0;
    for (int32_t i = 0; i < count; ++i)
        for (int c = 0; c < 2; ++c) {
            const float from = points[STRIDE * i + c], a = got[2 * i + c], b = expected[2 * i + c];
            const float most = fmaxf(tolerance, 1e-6f * fabsf(from));
            const float error = apart(a, b);
            if (error <= most)
                sum += (double)error;
            else if (s->confidence > 0.0f && error <= 2.0f * (float)LONGEST)
                ++beyond;
            else
                fail_msg("point %d from %g: %g, not %g (%g allowed)", (int)i, (double)from, (double)a,
                         (double)b, (double)most);
        }
    if (beyond > 1 + count / 50) fail_msg("%d of %d points differ by a step", (int)beyond, (int)count);
    /* A far point may be off by a pixel or more, but few are far. Points that differ by a step are left out
     * of the mean. */
    if (count > 1 && sum / count > (double)tolerance) fail_msg("mean error %g", sum / count);
}

static void check(const test_target *target, tvlm_device *reference, const setting *s, int32_t count,
                  uint64_t *random) {
    static float points[STRIDE * POINTS], got[BEFORE + 2 * POINTS + BEHIND],
        expected[sizeof got / sizeof *got];
    test_pair flow = create_flow(target, reference, s->image, random);
    fill_points(s->image, points, count, random);
    follow(flow.device, s, flow.got, points, count, got);
    follow(flow.reference, s, flow.expected, points, count, expected);
    compare(target, s, points, got + BEFORE, expected + BEFORE, count);
    test_pair_destroy(&flow);
}

static void against_reference(const test_target *target, tvlm_device *reference) {
    static const setting settings[] = {{{97, 61}, 3, 1.0f, -INFINITY}, {{97, 61}, 2, 2.4f, 0.5f},
                                       {{1, 1}, 3, 0.0f, -INFINITY},   {{1, 77}, 1, 1.0f, 0.5f},
                                       {{130, 33}, 2, 30.0f, 0.5f},    {{41, 200}, 0, 1.0f, -INFINITY}};
    static const int32_t counts[] = {0, 1, POINTS};
    uint64_t random = 17;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; ++i)
        for (size_t n = 0; n < sizeof counts / sizeof counts[0]; ++n)
            check(target, reference, &settings[i], counts[n], &random);
}

/* The flow is (4, -2) everywhere, once sure enough and once not. Points are moved in place. */
static void check_known(tvlm_device *device, tvlm_format format, float tolerance) {
    const test_size size = {16, 12};
    const tvlm_texture shape = test_shape(size, 1, 1, format);
    tvlm_texture *flow = test_texture(device, &shape);
    float rgba[16 * 12 * 4], points[4] = {5.25f, 7.5f, NAN, 3.0f};
    for (int i = 0; i < 16 * 12; ++i) memcpy(rgba + 4 * i, (float[4]){4.0f, -2.0f, 0.5f, 0.0f}, 16);
    assert_int_equal(device->backend->texture_write(device, flow, 0, rgba), TVLM_OK);
    assert_int_equal(device->backend->mips(device, &flow, 1), TVLM_OK);
    for (int sure = 0; sure < 2; ++sure) {
        tvlm_buffer *buffer = test_buffer(device, sizeof points, points);
        const tvlm_follow args = {.flow = flow,
                                  .confidence = sure ? 0.4f : 0.6f,
                                  .steps = 3,
                                  .from = buffer,
                                  .to = buffer,
                                  .from_stride = 2,
                                  .count = 2};
        float got[4];
        assert_int_equal(device->backend->follow(device, &args), TVLM_OK);
        test_buffer_take(device, &buffer, sizeof got, got);
        if (sure)
            assert_true(fabsf(got[0] - 1.25f) <= tolerance && fabsf(got[1] - 9.5f) <= tolerance);
        else
            assert_true(got[0] == 5.25f && got[1] == 7.5f);
        assert_true(isnan(got[2]) && got[3] == 3.0f);
    }
    device->backend->texture_destroy(device, &flow);
}

static void known(const test_target *target, tvlm_device *reference) {
    /* The weights of a device's filter need not add up to 1. */
    check_known(target->device, target->format, test_sample_tolerance(target, 16, 4.0f));
    check_known(reference, target->format, 0.0f);
}

TEST_FAMILY(follow, {"follow", .body = against_reference}, {"known", .body = known})
