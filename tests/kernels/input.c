/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c: the conversion of grids that are handed in, on the device against the reference and against the
 * host. What a stack makes of them is in test_input_grids.c.
 */
#include <float.h>

#include "input_helper.h"
#include "kernels/family.h"

/* Values below 2 are rounded to half, and the division by a vector's length is in float. */
static const test_tolerance conversion = {4e-7f, 2e-7f, 2.0f * TEST_HALF_ULP};

static void check_conversion(const test_trial *trial, int32_t channels, bool half, int mode) {
    static const char *const names[] = {"x", "y", "z", "w"};
    const test_target *const target = trial->target;
    tvlm_device *const reference = trial->reference;
    const test_size size = trial->size;
    const int32_t layers = (channels + 3) / 4;
    grid_bytes grid = random_grid(trial->random, size, channels, half, true);
    const tvlm_texture shape = test_shape(size, layers, 2, target->format);
    test_pair pair = test_pair_create(target, reference, &shape);
    tvlm_buffer *got = test_buffer(target->device, grid.size, grid.bytes);
    tvlm_buffer *expected = test_buffer(reference, grid.size, grid.bytes);
    const test_tolerance tolerances[4] = {conversion, conversion, conversion, conversion};
    char what[96];
    grid.input.mode = mode;
    for (int c = 0; c < 4; ++c) {
        grid.input.low[c] = -0.25f * (float)c;
        grid.input.high[c] = 1.0f;
        grid.input.fill[c] = mode == TVLM_INPUT_UNIT ? 0.0f : 0.125f;
    }
    test_poison(target->device, pair.got);
    for (int32_t image = 0; image < 2; ++image) {
        assert_int_equal(target->device->backend->input(target->device, got, &grid.input, image, pair.got),
                         TVLM_OK);
        assert_int_equal(reference->backend->input(reference, expected, &grid.input, image, pair.expected),
                         TVLM_OK);
    }
    snprintf(what, sizeof what, "%dx%dx%d, %s, mode %d", (int)size.width, (int)size.height, (int)channels,
             half ? "half" : "float", mode);
    test_pair_compare(what, &pair, names, tolerances);
    int64_t first = -2, first_expected = -2;
    assert_int_equal(target->device->backend->input_check(target->device, got, &grid.input, &first), TVLM_OK);
    assert_int_equal(reference->backend->input_check(reference, expected, &grid.input, &first_expected),
                     TVLM_OK);
    assert_int_equal(first, first_expected);
    test_buffer_take(target->device, &got, grid.size, grid.bytes);
    test_buffer_take(reference, &expected, grid.size, grid.bytes);
    test_pair_destroy(&pair);
    free(grid.bytes);
}

static void conversions(const test_trial *trial) {
    static const int32_t channels[] = {1, 3, 16, 61};
    for (size_t c = 0; c < sizeof channels / sizeof channels[0]; ++c)
        for (int mode = TVLM_INPUT_CLAMP; mode <= TVLM_INPUT_BINARY; ++mode)
            check_conversion(trial, channels[c], (trial->index + c) % 2 == 0, mode);
}

/* Whether any vector has a direction. A vector has none if its values are all 0, tiny or not a number, or if
 * one is huge. Values that are not finite count as 0. */
static void directions(const test_target *target, tvlm_device *reference) {
    enum { CELLS = 6 };
    static const struct {
        float value[3];
        bool has;
    } vectors[] = {{{0, 0, 0}, false},        {{1e-16f, 0, 0}, false}, {{2e15f, 1, 0}, false},
                   {{-FLT_MAX, 0, 0}, false}, {{NAN, 0, 0}, false},    {{NAN, 0, 1}, true},
                   {{INFINITY, 2, 0}, true},  {{1e-14f, 0, 0}, true},  {{0, -9e14f, 0}, true}};
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; ++v)
        for (int at = 0; at < CELLS; ++at) {
            const tvlm_input input = {.columns = 3,
                                      .rows = 2,
                                      .channels = 3,
                                      .offset = 8,
                                      .row_stride = 40,
                                      .mode = TVLM_INPUT_CLAMP};
            float values[22] = {0};
            bool any = !vectors[v].has, expected = any;
            memcpy(values + 2 + at / 3 * 10 + at % 3 * 3, vectors[v].value, sizeof vectors[v].value);
            values[11] = values[21] = values[0] = 5.0f; /* between the rows, behind and before them */
            tvlm_buffer *got = test_buffer(target->device, sizeof values, values);
            tvlm_buffer *known = test_buffer(reference, sizeof values, values);
            assert_int_equal(target->device->backend->input_directions(target->device, got, &input, &any),
                             TVLM_OK);
            assert_int_equal(reference->backend->input_directions(reference, known, &input, &expected),
                             TVLM_OK);
            assert_int_equal(any, vectors[v].has);
            assert_int_equal(expected, vectors[v].has);
            target->device->backend->buffer_destroy(target->device, &got);
            reference->backend->buffer_destroy(reference, &known);
        }
}

/* Vectors whose squared lengths a float does not hold, and the zero vector. */
static void extreme_vectors(const test_target *target, tvlm_device *reference) {
    static const float vectors[4][3] = {
        {3e30f, 0, -4e30f}, {1e-30f, 0, 0}, {0, 0, 0}, {FLT_MAX, FLT_MAX, FLT_MAX}};
    static const float third = 0.57735027f;
    static const float expected[4][4] = {
        {0.6f, 0, -0.8f, 0}, {1, 0, 0, 0}, {0, 0, 0, 0}, {third, third, third, 0}};
    const tvlm_input input = {
        .columns = 4, .rows = 1, .channels = 3, .row_stride = 48, .mode = TVLM_INPUT_UNIT};
    const tvlm_texture shape = test_shape((test_size){4, 1}, 1, 1, target->format);
    test_pair pair = test_pair_create(target, reference, &shape);
    tvlm_buffer *got = test_buffer(target->device, sizeof vectors, vectors);
    float taken[4][3];
    assert_int_equal(target->device->backend->input(target->device, got, &input, 0, pair.got), TVLM_OK);
    float *rgba = test_read(target->device, pair.got, 0, 0);
    test_compare("extreme vectors", rgba, expected[0], 16, 1e-3f, 1e-3f);
    free(rgba);
    test_buffer_take(target->device, &got, sizeof taken, taken);
    test_pair_destroy(&pair);
}

TEST_FAMILY(input, {"conversions", .trial = conversions, .seed = 31},
            {"extreme vectors", .body = extreme_vectors}, {"directions", .body = directions})
