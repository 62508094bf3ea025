/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h: grids that are handed in. The conversion on the device against the reference and against the host;
 * what a stack makes of them (levels, sizes, replacement, planes of the application's own); what it refuses.
 */
#include <float.h>

#include "core/half.h"
#include "core/input.h"
#include "opencl/backend.h"
#include "stack/inside.h"
#include "stack_helper.h"
#include "support_stage.h"
#include "texturevlm/opencl.h"

/* ---- The conversion ---- */

typedef struct grid_bytes {
    unsigned char *bytes;
    size_t size;
    tvlm_input input;
} grid_bytes;

/* Random values in rows with gaps behind an offset; one in sixteen not finite where asked. */
static grid_bytes random_grid(uint64_t *random, test_size size, int32_t channels, bool half, bool wild) {
    const size_t value = half ? 2 : 4;
    grid_bytes grid = {
        .input = {.columns = size.width, .rows = size.height, .channels = channels, .half = half}};
    grid.input.offset = 3 * value;
    grid.input.row_stride = ((size_t)size.width * (size_t)channels + 5) * value;
    grid.size = grid.input.offset + (size_t)size.height * grid.input.row_stride;
    grid.bytes = calloc(grid.size, 1);
    assert_non_null(grid.bytes);
    for (size_t i = 0; i < grid.size / value; ++i) {
        float f = 3.0f * test_random_unit(random) - 1.5f;
        if (wild && test_random(random) % 16 == 0) f = test_random(random) % 2 == 0 ? NAN : -INFINITY;
        if (test_random(random) % 32 == 0) f = 0.0f;
        const uint16_t h = tvlm_half_from_float(f);
        if (half)
            memcpy(grid.bytes + i * value, &h, value);
        else
            memcpy(grid.bytes + i * value, &f, value);
    }
    return grid;
}

/* Rounding to half of values below 2; the division by a vector's length in float. */
static const test_tolerance conversion = {4e-7f, 2e-7f, 2.0f * TEST_HALF_ULP};

static void check_conversion(const test_target *target, tvlm_device *reference, test_size size,
                             int32_t channels, bool half, int mode, uint64_t *random) {
    static const char *const names[] = {"x", "y", "z", "w"};
    const int32_t layers = (channels + 3) / 4;
    grid_bytes grid = random_grid(random, size, channels, half, true);
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

static void conversions(const test_target *target, tvlm_device *reference) {
    static const int32_t channels[] = {1, 3, 16, 61};
    uint64_t random = 31;
    size_t count;
    const test_size *sizes = test_sizes(&count);
    for (size_t i = 0; i < count; ++i)
        for (size_t c = 0; c < sizeof channels / sizeof channels[0]; ++c)
            for (int mode = TVLM_INPUT_CLAMP; mode <= TVLM_INPUT_BINARY; ++mode)
                check_conversion(target, reference, sizes[i], channels[c], (i + c) % 2 == 0, mode, &random);
}

/* Whether any vector has a direction: none of zeros, of tiny, of huge and of no numbers, the last of which
 * count as 0. */
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

/* Lengths that squares in float do not hold, and the zero vector. */
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

static void test_conversion(void **state) {
    (void)state;
    test_on_targets(conversions);
    test_on_targets(extreme_vectors);
    test_on_targets(directions);
}

/* ---- Stacks ---- */

static tvlm_stack *small_stack(tvlm_device *device, tvlm_format format, int32_t images) {
    tvlm_stack *stack = NULL;
    assert_int_equal(
        tvlm_stack_create(
            device, tvlm_stack_params(.width = 40, .height = 24, .images = images, .format = format), &stack),
        TVLM_OK);
    return stack;
}

static void expect_level(tvlm_stack *stack, int32_t index, int32_t channel, int32_t level,
                         const float *expected, size_t expected_count, const char *what) {
    size_t count;
    float *got = read_level(stack, index, channel, level, &count);
    if (count != expected_count) fail_msg("%s: %zu texels, not %zu", what, count, expected_count);
    test_compare(what, got, expected, count, 1e-3f, 1e-3f);
    free(got);
}

static void expect_zero(tvlm_stack *stack, int32_t index, int32_t channel) {
    size_t count;
    float *got = read_level(stack, index, channel, 0, &count);
    for (size_t i = 0; i < count; ++i) assert_true(got[i] == 0.0f);
    free(got);
}

/* Each attention its own size; clamped; levels are means; cleared again. */
static void check_attention(tvlm_device *device, tvlm_format format) {
    static const float six[] = {0, 1, 0.5f, -3, 7, 0.25f}, clamped[] = {0, 1, 0.5f, 0, 1, 0.25f};
    static const float two[] = {0.25f, 0.75f};
    static const int32_t channels[] = {TVLM_CHANNEL_ATTENTION, TVLM_CHANNEL_GAZE,
                                       TVLM_CHANNEL_ATTENTION_PREV};
    tvlm_stack *stack = small_stack(device, format, 1);
    tvlm_stack_info info;
    const tvlm_sample_point points[] = {
        {20, 12, 0, 0}, {0, 0, 0, 0}, {20, 12, 9, 0}, {13.0f + 1.0f / 3.0f, 6, 0, 0}};
    float got[4 * 3];
    assert_int_equal(
        tvlm_stack_set_grid(stack, 0, channels[0], tvlm_grid_input(.data = six, .columns = 3, .rows = 2)),
        TVLM_OK);
    assert_int_equal(
        tvlm_stack_set_grid(stack, 0, channels[1], tvlm_grid_input(.data = two, .columns = 1, .rows = 2)),
        TVLM_OK);
    expect_level(stack, 0, channels[0], 0, clamped, 6, "attention");
    expect_level(stack, 0, channels[0], 1, (const float[]){11.0f / 24.0f}, 1, "attention, level 1");
    expect_level(stack, 0, channels[1], 0, two, 2, "gaze");
    expect_zero(stack, 0, channels[2]);
    assert_int_equal(tvlm_stack_sample(stack, points, 4, channels, 3, got), TVLM_OK);
    const float expected[] = {1.0f, 0.5f, 0.0f, 0, 0.25f, 0, 11.0f / 24.0f, 0.5f, 0, 0.5f, 0.25f, 0};
    test_compare("sampled", got, expected, 12, 2e-2f, 5e-3f); /* filters of 8 bits */
    assert_int_equal(stack->chunks[0].valid & TVLM_GRID_BIT(TVLM_GRID_SOURCE), 0);
    assert_int_equal(tvlm_stack_clear_grid(stack, 0, channels[0]), TVLM_OK);
    expect_zero(stack, 0, channels[0]);
    assert_null(stack->chunks[0].grids[TVLM_GRID_ATTENTION]);
    assert_int_equal(tvlm_stack_clear_grid(stack, -1, channels[1]), TVLM_OK);
    assert_int_equal(tvlm_stack_get_info(stack, &info), TVLM_OK);
    assert_int_equal(info.device_bytes, 0);
    tvlm_stack_destroy(&stack);
}

/* Another size of the only image's grid replaces the texture; of a batch it is refused until all are cleared.
 */
static void check_sizes(tvlm_device *device, tvlm_format format) {
    static const float values[] = {0.5f, 0.25f, 0.75f, 1.0f};
    const int32_t slices = device->info.image_slices_max;
    tvlm_stack *stack = small_stack(device, format, 1);
    const struct tvlm_grid_input wide = {.data = values, .columns = 4, .rows = 1};
    const struct tvlm_grid_input square = {.data = values, .columns = 2, .rows = 2};
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_GAZE, &wide), TVLM_OK);
    expect_level(stack, 0, TVLM_CHANNEL_GAZE, 0, values, 4, "wide");
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_GAZE, &square), TVLM_OK);
    expect_level(stack, 0, TVLM_CHANNEL_GAZE, 1, (const float[]){0.625f}, 1, "square");
    tvlm_stack_destroy(&stack);

    device->info.image_slices_max = 32; /* two images a chunk */
    stack = small_stack(device, format, 5);
    device->info.image_slices_max = slices;
    assert_int_equal(stack->chunk_count, 3);
    assert_int_equal(tvlm_stack_set_grid(stack, 3, TVLM_CHANNEL_GAZE, &wide), TVLM_OK);
    expect_level(stack, 3, TVLM_CHANNEL_GAZE, 0, values, 4, "third");
    for (int32_t i = 0; i < 5; ++i)
        if (i != 3) expect_zero(stack, i, TVLM_CHANNEL_GAZE);
    assert_null(stack->chunks[0].grids[TVLM_GRID_GAZE]); /* costs nothing where nobody has it */
    refused(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_GAZE, &square), TVLM_ERROR_ARGUMENT,
            "gaze of image 0: a grid of 2x2, but other images of the stack have 4x1");
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_GAZE, &wide), TVLM_OK);
    assert_int_equal(tvlm_stack_clear_grid(stack, -1, TVLM_CHANNEL_GAZE), TVLM_OK);
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_GAZE, &square), TVLM_OK);
    expect_level(stack, 0, TVLM_CHANNEL_GAZE, 0, values, 4, "square of a batch");
    expect_zero(stack, 1, TVLM_CHANNEL_GAZE);
    tvlm_stack_destroy(&stack);
}

/* A grid of cells covers columns * cell, beyond the image as well. */
static void check_cells(tvlm_device *device, tvlm_format format) {
    static const float values[] = {0, 0.25f, 0.5f};
    static const int32_t channel = TVLM_CHANNEL_ATTENTION;
    tvlm_stack *stack = small_stack(device, format, 1); /* 40 x 24 */
    const struct tvlm_grid_input cells = {.data = values, .columns = 3, .rows = 1, .cell = 16};
    struct tvlm_grid_input other = cells;
    const tvlm_sample_point points[] = {{8, 3, 0, 0}, {24, 3, 0, 0}, {40, 23, 0, 0}};
    float got[3];
    assert_int_equal(tvlm_stack_set_grid(stack, 0, channel, &cells), TVLM_OK);
    assert_int_equal(tvlm_stack_sample(stack, points, 3, &channel, 1, got), TVLM_OK);
    test_compare("cells", got, values, 3, 2e-3f, 2e-3f);
    other.columns = 1;
    refused(tvlm_stack_set_grid(stack, 0, channel, &other), TVLM_ERROR_ARGUMENT,
            "1x1 cells of 16 pixels cover 16x16, more than a cell off the image's 40x24");
    other = cells, other.cell = 40;
    refused(tvlm_stack_set_grid(stack, 0, channel, &other), TVLM_ERROR_ARGUMENT, "more than a cell");
    other.cell = NAN;
    refused(tvlm_stack_set_grid(stack, 0, channel, &other), TVLM_ERROR_ARGUMENT, "cells of nan pixels");
    other.cell = -1;
    refused(tvlm_stack_set_grid(stack, 0, channel, &other), TVLM_ERROR_ARGUMENT, "cells of -1 pixels");
    assert_int_equal(tvlm_stack_sample(stack, points, 3, &channel, 1, got), TVLM_OK);
    test_compare("after refusals", got, values, 3, 2e-3f, 2e-3f);
    tvlm_stack_destroy(&stack);
}

/* Half, strides, odd addresses, and values that are not finite. */
static void check_memory(tvlm_device *device, tvlm_format format) {
    static const float expected[] = {0.5f, 0.25f, 1.0f, 0.0f};
    unsigned char bytes[64] = {0};
    tvlm_stack *stack = small_stack(device, format, 1);
    for (size_t i = 0; i < 4; ++i) {
        const uint16_t half = tvlm_half_from_float(expected[i]);
        memcpy(bytes + 1 + i / 2 * 10 + i % 2 * 2, &half, 2);
    }
    struct tvlm_grid_input input = {.data = bytes + 1, .columns = 2, .rows = 2, .type = TVLM_VALUE_F16};
    input.row_stride = 10;
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_GAZE, &input), TVLM_OK);
    expect_level(stack, 0, TVLM_CHANNEL_GAZE, 0, expected, 4, "half with gaps");
    bytes[1 + 10 + 3] = 0x7c; /* row 1, column 1: infinite */
    refused(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_GAZE, &input), TVLM_ERROR_ARGUMENT,
            "gaze: value 3 (row 1, column 1, channel 0) is not finite");
    expect_level(stack, 0, TVLM_CHANNEL_GAZE, 0, expected, 4, "as it was");
    input.replace_nonfinite = true;
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_GAZE, &input), TVLM_OK);
    expect_level(stack, 0, TVLM_CHANNEL_GAZE, 0, expected, 4, "replaced");
    tvlm_stack_destroy(&stack);
}

/* Ids become dense, are reduced by mode and read nearest. */
static void check_objects(tvlm_device *device, tvlm_format format) {
    static const float ids[] = {70000, 70000, -5, 12, 70000, 12, 12, 12, -5, -5, -5, -5, -5, -5, 12, 12};
    static const float dense[] = {2, 2, 0, 1, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
    static const int32_t channel = TVLM_CHANNEL_OBJECT_ID;
    enum { SIDE = 48 };
    tvlm_stack *stack = small_stack(device, format, 1);
    float many[SIDE * SIDE], got[2], whole = 0.5f;
    const tvlm_sample_point points[] = {{14.0f, 2.0f, 0, 0}, {39.0f, 23.0f, 1.4f, 0}};
    const struct tvlm_grid_input input = {.data = ids, .columns = 4, .rows = 4};
    assert_int_equal(tvlm_stack_set_grid(stack, 0, channel, &input), TVLM_OK);
    expect_level(stack, 0, channel, 0, dense, 16, "objects");
    expect_level(stack, 0, channel, 1, (const float[]){2, 1, 0, 0}, 4,
                 "objects, level 1"); /* ties: the lower id */
    assert_int_equal(tvlm_stack_sample(stack, points, 2, &channel, 1, got), TVLM_OK);
    assert_true(got[0] == 2.0f && got[1] == 1.0f);
    for (int32_t i = 0; i < SIDE * SIDE; ++i) many[i] = (float)i;
    const struct tvlm_grid_input too_many = {.data = many, .columns = SIDE, .rows = SIDE};
    refused(tvlm_stack_set_grid(stack, 0, channel, &too_many), TVLM_ERROR_ARGUMENT,
            "2304 different ids; at most 2049");
    for (int32_t i = 0; i < SIDE * SIDE; ++i) many[i] = (float)(i < 2049 ? 3 * i : 0);
    assert_int_equal(tvlm_stack_set_grid(stack, 0, channel, &too_many), TVLM_OK);
    refused(tvlm_stack_set_grid(stack, 0, channel, tvlm_grid_input(.data = &whole, .columns = 1, .rows = 1)),
            TVLM_ERROR_ARGUMENT, "object_id: value 0 is 0.5; ids are whole numbers");
    tvlm_stack_destroy(&stack);
}

static void check_flow(tvlm_device *device, tvlm_format format) {
    static const float two[] = {1.5f, -2, 100, 0.25f}, three[] = {1.5f, -2, 0.5f, 3, 4, 7, 1e9f, -1e9f, -3};
    const float most = format == TVLM_FORMAT_F16 ? 65504.0f : 1e9f;
    size_t count;
    tvlm_stack *stack = small_stack(device, format, 1);
    assert_int_equal(
        tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FLOW_U,
                            tvlm_grid_input(.data = two, .columns = 2, .rows = 1, .channels = 2)),
        TVLM_OK);
    expect_level(stack, 0, TVLM_CHANNEL_FLOW_U, 0, (const float[]){1.5f, 100}, 2, "flow_u");
    expect_level(stack, 0, TVLM_CHANNEL_FLOW_V, 0, (const float[]){-2, 0.25f}, 2, "flow_v");
    expect_level(stack, 0, TVLM_CHANNEL_FLOW_CONFIDENCE, 0, (const float[]){1, 1}, 2, "confidence");
    assert_int_equal(
        tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FLOW_CONFIDENCE,
                            tvlm_grid_input(.data = three, .columns = 3, .rows = 1, .channels = 3)),
        TVLM_OK);
    float *u = read_level(stack, 0, TVLM_CHANNEL_FLOW_U, 0, &count);
    assert_true(count == 3 && u[0] == 1.5f && u[2] == most);
    free(u);
    expect_level(stack, 0, TVLM_CHANNEL_FLOW_CONFIDENCE, 0, (const float[]){0.5f, 1, 0}, 3,
                 "confidence handed in");
    tvlm_stack_destroy(&stack);
}

/* ---- In place of what the library makes ---- */

static void check_replaced(tvlm_device *device, tvlm_format format) {
    enum { WIDTH = 64, HEIGHT = 48, IMAGES = 3 };
    static const float map[] = {0, 0.5f, 1, 0.25f}, mask[] = {0.75f, 0.25f, 0.5f, 0.49f};
    const int32_t slices = device->info.image_slices_max;
    uint64_t seed = 5;
    uint8_t *pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stack *stack = NULL;
    size_t count;
    device->info.image_slices_max = 32;
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .images = IMAGES,
                                                         .format = format),
                                       &stack),
                     TVLM_OK);
    device->info.image_slices_max = slices;
    for (int32_t i = 0; i < IMAGES; ++i) assert_int_equal(tvlm_stack_set_image(stack, i, &image), TVLM_OK);
    const struct tvlm_grid_input input = {.data = map, .columns = 2, .rows = 2};
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_SALIENCY, &input), TVLM_OK);
    expect_level(stack, 0, TVLM_CHANNEL_SALIENCY, 0, map, 4, "a map instead");
    /* The other channels of the family stay, and images without a map keep their saliency, at the map's size.
     */
    float *fine = read_level(stack, 0, TVLM_CHANNEL_SALIENCY_FINE, 0, &count);
    assert_int_equal(count, 16 * 12);
    free(fine);
    for (int32_t i = 1; i < IMAGES; ++i) {
        float *own = read_level(stack, i, TVLM_CHANNEL_SALIENCY, 0, &count), mean = 0;
        assert_int_equal(count, 4);
        for (size_t k = 0; k < count; ++k) mean += own[k] / 4.0f;
        assert_true(mean > 0.0f && mean < 1.0f);
        free(own);
    }
    /* One alone: nothing is generated. */
    for (int32_t i = 1; i < IMAGES; ++i)
        assert_int_equal(tvlm_stack_set_grid(stack, i, TVLM_CHANNEL_SALIENCY, &input), TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(stack, 0, &image), TVLM_OK);
    expect_level(stack, 0, TVLM_CHANNEL_SALIENCY, 0, map, 4, "after a new image");
    assert_int_equal(stack->chunks[0].valid & TVLM_GRID_BIT(TVLM_GRID_SALIENCY), 0);
    /* Taken back: what the library makes, at its size. */
    assert_int_equal(tvlm_stack_clear_grid(stack, -1, TVLM_CHANNEL_SALIENCY), TVLM_OK);
    float *own = read_level(stack, 0, TVLM_CHANNEL_SALIENCY, 0, &count);
    assert_int_equal(count, 16 * 12);
    free(own);
    const struct tvlm_grid_input text = {.data = mask, .columns = 2, .rows = 2};
    assert_int_equal(tvlm_stack_set_grid(stack, 2, TVLM_CHANNEL_TEXT, &text), TVLM_OK);
    expect_level(stack, 2, TVLM_CHANNEL_TEXT, 0, (const float[]){1, 0, 1, 0}, 4, "a mask");
    expect_level(stack, 2, TVLM_CHANNEL_TEXT, 1, (const float[]){1}, 1, "a mask by max");
    expect_zero(stack, 0, TVLM_CHANNEL_MOTION);
    assert_int_equal(tvlm_stack_set_grid(stack, 1, TVLM_CHANNEL_MOTION, &input), TVLM_OK);
    expect_level(stack, 1, TVLM_CHANNEL_MOTION, 0, map, 4, "motion");
    expect_zero(stack, 0, TVLM_CHANNEL_MOTION);
    tvlm_stack_destroy(&stack);
    free(pixels);
}

/* ---- Planes of the application's own ---- */

static void check_user(tvlm_device *device, tvlm_format format) {
    static const float heat[] = {-3, 0, 1, 9}, clamped[] = {-1, 0, 1, 2}, ids[] = {5, 5, 9, 5};
    const struct tvlm_grid_input input = {.data = heat, .columns = 2, .rows = 2};
    const struct tvlm_grid_input labels = {.data = ids, .columns = 4, .rows = 1};
    tvlm_stack *stack = small_stack(device, format, 2);
    tvlm_channel_info info;
    int32_t channel = -7, second = -7, list[4] = {0}, count = 0;
    assert_int_equal(tvlm_stack_set_user(stack, 0, "heat", -1, 2, TVLM_MAX, &input, &channel), TVLM_OK);
    assert_int_equal(channel, TVLM_CHANNEL_USER_0);
    assert_int_equal(tvlm_stack_set_user(stack, 1, "my-ids", 0, 0, TVLM_MODE, &labels, &second), TVLM_OK);
    assert_int_equal(second, TVLM_CHANNEL_USER_0 + 1);
    expect_level(stack, 0, channel, 0, clamped, 4, "heat");
    expect_level(stack, 0, channel, 1, (const float[]){2}, 1, "heat by max");
    expect_zero(stack, 1, channel);
    expect_level(stack, 1, second, 1, (const float[]){5, 5}, 2, "ids by mode");
    assert_int_equal(tvlm_stack_channel_find(stack, "heat"), channel);
    assert_int_equal(tvlm_stack_channel_find(stack, "edges"), TVLM_CHANNEL_EDGES);
    assert_int_equal(tvlm_stack_channel_find(stack, "cold"), TVLM_CHANNEL_NONE);
    assert_int_equal(tvlm_stack_get_channel_info(stack, second, &info), TVLM_OK);
    assert_true(strcmp(info.name, "my-ids") == 0 && strcmp(info.family, "user") == 0 && info.identifier);
    assert_int_equal(tvlm_stack_parse(stack, "edges, heat ,my-ids,r", 4, list, &count), TVLM_OK);
    assert_true(count == 4 && list[0] == 3 && list[1] == channel && list[2] == second && list[3] == 0);
    assert_int_equal(tvlm_stack_parse(stack, "heat", 4, list, &count), TVLM_OK);
    assert_true(count == 1 && list[0] == channel);
    assert_int_equal(tvlm_stack_parse(stack, "visual12", 0, NULL, &count), TVLM_OK);
    assert_int_equal(count, 12);
    refused(tvlm_stack_parse(stack, "heat,edgs", 4, list, &count), TVLM_ERROR_ARGUMENT,
            "did you mean 'edges'?");

    /* Sampled, packed and scored like any other. */
    const tvlm_sample_point point = {35, 20, 0, 0};
    const float weight = 1;
    const tvlm_scorer scorer = {.channel_count = 1, .taps = 1, .channels = &channel, .weights = &weight};
    float got = 0, plane[4] = {0}, scores[6];
    tvlm_packed *packed = NULL;
    assert_int_equal(tvlm_stack_sample(stack, &point, 1, &channel, 1, &got), TVLM_OK);
    assert_true(fabsf(got - 2.0f) <= 1e-3f);
    assert_int_equal(
        tvlm_stack_pack(stack,
                        tvlm_pack_params(.channels = &channel, .channel_count = 1, .width = 2, .height = 2),
                        &packed),
        TVLM_OK);
    assert_int_equal(tvlm_packed_read(packed, 0, 4, plane), TVLM_OK);
    tvlm_packed_destroy(&packed);
    assert_true(plane[3] == 2.0f);
    assert_int_equal(
        tvlm_score(stack, NULL, &(struct tvlm_score_params){.scorer = &scorer, .stride = 16}, 6, scores),
        TVLM_OK);
    assert_true(scores[5] > scores[0]);

    /* Refused, and then nothing has changed. */
    refused(tvlm_stack_set_user(stack, 0, "heat", 0, 2, TVLM_MAX, &input, NULL), TVLM_ERROR_ARGUMENT,
            "another range");
    refused(tvlm_stack_set_user(stack, 0, "edges", 0, 1, TVLM_MEAN, &input, NULL), TVLM_ERROR_ARGUMENT,
            "own name");
    refused(tvlm_stack_set_user(stack, 0, "full40", 0, 1, TVLM_MEAN, &input, NULL), TVLM_ERROR_ARGUMENT,
            "own name");
    refused(tvlm_stack_set_user(stack, 0, "a,b", 0, 1, TVLM_MEAN, &input, NULL), TVLM_ERROR_ARGUMENT,
            "no name");
    refused(tvlm_stack_set_user(stack, 0, "", 0, 1, TVLM_MEAN, &input, NULL), TVLM_ERROR_ARGUMENT, "no name");
    refused(tvlm_stack_set_user(stack, 0, "a2345678901234567890123456789012", 0, 1, TVLM_MEAN, &input, NULL),
            TVLM_ERROR_ARGUMENT, "no name");
    refused(tvlm_stack_set_user(stack, 0, "new", 1, 0, TVLM_MEAN, &input, NULL), TVLM_ERROR_ARGUMENT,
            "range");
    refused(tvlm_stack_set_user(stack, 0, "new", 0, 1, (tvlm_reduce)4, &input, NULL), TVLM_ERROR_ARGUMENT,
            "reduction");
    refused(tvlm_stack_set_user(stack, 0, "new", 0, 1, TVLM_MEAN, NULL, NULL), TVLM_ERROR_ARGUMENT,
            "no data");
    refused(tvlm_stack_set_user(stack, 0, "new", 0, 0, TVLM_MODE,
                                tvlm_grid_input(.data = (const float[]){2049}, .columns = 1, .rows = 1),
                                NULL),
            TVLM_ERROR_ARGUMENT, "of -2048 .. 2048");
    assert_int_equal(stack->user_count, 2);
    for (int32_t i = 2; i < TVLM_USER_PLANES_MAX; ++i) {
        char name[8];
        snprintf(name, sizeof name, "p%d", (int)i);
        assert_int_equal(tvlm_stack_set_user(stack, 0, name, 0, 0, TVLM_MEAN, &input, NULL), TVLM_OK);
    }
    refused(tvlm_stack_set_user(stack, 0, "onemore", 0, 1, TVLM_MEAN, &input, NULL), TVLM_ERROR_ARGUMENT,
            "16 planes");
    assert_int_equal(tvlm_stack_clear_grid(stack, -1, channel), TVLM_OK);
    expect_zero(stack, 0, channel);
    tvlm_stack_destroy(&stack);
}

/* ---- cl_mem ---- */

/* What a stack of the device makes of a buffer is what it makes of the same bytes on the host. */
static void check_buffer(tvlm_device *device, tvlm_format format, int32_t channel, int32_t channels,
                         bool half) {
    uint64_t random = 41 + (uint64_t)channel;
    const test_size size = {7, 5};
    grid_bytes grid = random_grid(&random, size, channels, half, false);
    tvlm_stack *host = small_stack(device, format, 1), *own = small_stack(device, format, 1);
    if (channel == TVLM_CHANNEL_OBJECT_ID)
        for (size_t i = 0; !half && i < grid.size / 4; ++i)
            memcpy(grid.bytes + 4 * i, &(float){(float)(i * 7 % 50)}, 4);
    tvlm_buffer *buffer = NULL;
    assert_int_equal(device->backend->buffer_create(device, grid.size, &buffer), TVLM_OK);
    assert_int_equal(device->backend->buffer_write(device, buffer, 0, grid.size, grid.bytes), TVLM_OK);
    const struct tvlm_grid_input input = {.data = grid.bytes + grid.input.offset,
                                          .columns = size.width,
                                          .rows = size.height,
                                          .channels = channels,
                                          .type = half ? TVLM_VALUE_F16 : TVLM_VALUE_F32,
                                          .row_stride = grid.input.row_stride};
    cl_mem memory = ((opencl_buffer *)buffer)->memory;
    assert_int_equal(tvlm_stack_set_grid(host, 0, channel, &input), TVLM_OK);
    if (tvlm_stack_set_grid_opencl(own, 0, channel, &input, memory, grid.input.offset) != TVLM_OK)
        fail_msg("%s", test_last_log());
    for (int32_t level = 0; level < 2; ++level) {
        size_t count;
        float *expected = read_level(host, 0, channel, level, &count),
              *got = read_level(own, 0, channel, level, &count);
        test_compare("a cl_mem", got, expected, count, 2e-3f, 1e-3f);
        free(expected);
        free(got);
    }
    refused(tvlm_stack_set_grid_opencl(own, 0, channel, &input, memory, grid.size - 8), TVLM_ERROR_ARGUMENT,
            "reaches beyond the cl_mem");
    refused(tvlm_stack_set_grid_opencl(own, 0, channel, &input, memory, 1), TVLM_ERROR_ARGUMENT,
            "at offset 1");
    const float nan = NAN;
    if (!half) {
        assert_int_equal(
            device->backend->buffer_write(device, buffer, grid.input.offset + grid.input.row_stride, 4, &nan),
            TVLM_OK);
        char line[64];
        snprintf(line, sizeof line, "value %d (row 1, column 0, channel 0) is not finite",
                 (int)(size.width * channels));
        refused(tvlm_stack_set_grid_opencl(own, 0, channel, &input, memory, grid.input.offset),
                TVLM_ERROR_ARGUMENT, line);
    }
    device->backend->buffer_destroy(device, &buffer);
    tvlm_stack_destroy(&host);
    tvlm_stack_destroy(&own);
    free(grid.bytes);
}

static void buffers(const test_target *target, tvlm_device *reference) {
    (void)reference;
    if (!test_is_opencl(target->device)) return;
    check_buffer(target->device, target->format, TVLM_CHANNEL_ATTENTION, 1, false);
    check_buffer(target->device, target->format, TVLM_CHANNEL_DEPTH, 1, true);
    check_buffer(target->device, target->format, TVLM_CHANNEL_EMBEDDING_0, 23, true);
    check_buffer(target->device, target->format, TVLM_CHANNEL_FLOW_U, 2, false);
    check_buffer(target->device, target->format, TVLM_CHANNEL_NORMAL_Y, 3, false);
    check_buffer(target->device, target->format, TVLM_CHANNEL_OBJECT_ID, 1, false);
    check_buffer(target->device, target->format, TVLM_CHANNEL_TEXT, 1, false);
}

static void test_buffers(void **state) {
    (void)state;
    test_on_targets(buffers);
}

/* ---- Refusals ---- */

#define REFUSE(LINE, CHANNEL, ...)                                                                           \
    refused(tvlm_stack_set_grid(stack, 0, CHANNEL, tvlm_grid_input(__VA_ARGS__)), TVLM_ERROR_ARGUMENT, LINE)

static void test_refusals(void **state) {
    static const float values[300] = {0};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = small_stack(device, TVLM_FORMAT_F32, 2);
    const int32_t gaze = TVLM_CHANNEL_GAZE;
    (void)state;
    REFUSE("gaze: no data", gaze, .columns = 1, .rows = 1);
    REFUSE("gaze: a grid of 0x1 cells", gaze, .data = values, .rows = 1);
    REFUSE("gaze: a grid of 3x-1 cells", gaze, .data = values, .columns = 3, .rows = -1);
    REFUSE("gaze: a grid of 2 channels; it has 1", gaze, .data = values, .columns = 1, .rows = 1,
           .channels = 2);
    REFUSE("flow: a grid of 1 channels; it has 2 to 3", TVLM_CHANNEL_FLOW_U, .data = values, .columns = 1,
           .rows = 1);
    REFUSE("it has 1 to 64", TVLM_CHANNEL_EMBEDDING_0, .data = values, .columns = 1, .rows = 1,
           .channels = 65);
    REFUSE("gaze: there is no type 2", gaze, .data = values, .columns = 1, .rows = 1,
           .type = (tvlm_value_type)2);
    REFUSE("gaze: a row stride of 4 bytes at offset 0; rows have 8 bytes", gaze, .data = values, .columns = 2,
           .rows = 1, .row_stride = 4);
    REFUSE("a row stride of 9 bytes", gaze, .data = values, .columns = 2, .rows = 1, .row_stride = 9);
    REFUSE("too large", gaze, .data = values, .columns = 65536, .rows = 65536);
    REFUSE("larger than the address space", gaze, .data = values, .columns = 2, .rows = 3,
           .row_stride = SIZE_MAX / 8 * 4);
    REFUSE("channel 'edges' is not one that is handed in", TVLM_CHANNEL_EDGES, .data = values, .columns = 1,
           .rows = 1);
    REFUSE("channel 'x' is not", TVLM_CHANNEL_X, .data = values, .columns = 1, .rows = 1);
    REFUSE("no channel 70000", 70000, .data = values, .columns = 1, .rows = 1);
    REFUSE("depth: a camera of fx nan", TVLM_CHANNEL_DEPTH, .data = values, .columns = 1, .rows = 1,
           .fx = NAN);
    refused(tvlm_stack_set_grid(stack, 2, gaze, tvlm_grid_input(.data = values, .columns = 1, .rows = 1)),
            TVLM_ERROR_ARGUMENT, "image 2 of a stack of 2");
    refused(tvlm_stack_set_grid(stack, 0, gaze, NULL), TVLM_ERROR_ARGUMENT, "no data");
    refused(tvlm_stack_clear_grid(stack, 0, TVLM_CHANNEL_R), TVLM_ERROR_ARGUMENT, "'r' is not one");
    refused(tvlm_stack_clear_grid(stack, 2, gaze), TVLM_ERROR_ARGUMENT, "image 2");
    refused(tvlm_stack_invalidate(stack, 70000), TVLM_ERROR_ARGUMENT, "no channel 70000");
    assert_int_equal(tvlm_stack_clear_grid(stack, 1, gaze), TVLM_OK); /* there is none: no error */
    assert_int_equal(tvlm_stack_set_grid(NULL, 0, gaze, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_clear_grid(NULL, 0, gaze), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_invalidate(NULL, 0), TVLM_ERROR_ARGUMENT);
    expect_zero(stack, 0, gaze);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

DEVICE_CHECKS(check_attention, check_sizes, check_cells, check_memory, check_objects, check_flow,
              check_replaced, check_user)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conversion),    cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets),
        cmocka_unit_test(test_buffers),       cmocka_unit_test(test_refusals),
    };
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
