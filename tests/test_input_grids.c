/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_input_grids.c: what a stack makes of grids that are handed in (input.h): levels, sizes, cells, memory,
 * identifiers, flow, what takes the place of the library's own; and what it refuses.
 */
#include "input_helper.h"
#include "stack/inside.h"

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

/* Numbers of centres are kept as they are, reduced by mode and read nearest, also where half does not hold them and the
 * stack is of floats; their residuals are reduced by the mean. */
static void check_numbers(tvlm_device *device, tvlm_format format) {
    const float high = format == TVLM_FORMAT_F32 ? 65535.0f : 2048.0f, next = high - 1.0f;
    const float cells[] = {high, 0.5f, high, 1.0f, 7, 0,    3, 3.0f, /* the last residual is clamped */
                           next, 0,    0,    0,    7, 0.5f, 7, 0,    5, 1, 5, 1,
                           6,    1,    6,    1,    5, 0,    5, 0,    6, 0, 2, 0};
    const float ids[] = {high, high, 7, 3, next, 0, 7, 7, 5, 5, 6, 6, 5, 5, 6, 2};
    static const int32_t channels[] = {TVLM_CHANNEL_VOCAB_ID, TVLM_CHANNEL_VOCAB_RESIDUAL};
    tvlm_stack *stack = small_stack(device, format, 1);
    float got[4], bad[2] = {0};
    const tvlm_sample_point points[] = {{9.0f, 2.0f, 0, 0}, {39.0f, 23.0f, 1.4f, 0}};
    assert_int_equal(
        tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_VOCAB_RESIDUAL,
                            tvlm_grid_input(.data = cells, .columns = 4, .rows = 4, .channels = 2)),
        TVLM_OK);
    expect_level(stack, 0, channels[0], 0, ids, 16, "numbers");
    expect_level(stack, 0, channels[0], 1, (const float[]){high, 7, 5, 6}, 4, "numbers, level 1");
    expect_level(stack, 0, channels[1], 1, (const float[]){0.375f, 0.625f, 0.5f, 0.5f}, 4,
                 "residuals, level 1");
    assert_int_equal(tvlm_stack_sample(stack, points, 2, channels, 2, got), TVLM_OK);
    assert_true(got[0] == high && got[2] == 2.0f);
    const struct tvlm_grid_input one = {.data = ids, .columns = 4, .rows = 4};
    assert_int_equal(tvlm_stack_set_grid(stack, 0, channels[0], &one), TVLM_OK);
    expect_level(stack, 0, channels[0], 0, ids, 16, "numbers alone");
    expect_level(stack, 0, channels[1], 0, (const float[16]){0}, 16, "no residuals");
    const struct tvlm_grid_input wrong = {.data = bad, .columns = 2, .rows = 1};
    bad[1] = 0.5f;
    refused(tvlm_stack_set_grid(stack, 0, channels[0], &wrong), TVLM_ERROR_ARGUMENT,
            "vocab: cell 1 has number 0.5; numbers of centres are whole");
    bad[1] = -1.0f;
    refused(tvlm_stack_set_grid(stack, 0, channels[0], &wrong), TVLM_ERROR_ARGUMENT, "cell 1 has number -1");
    bad[1] = high + 1.0f;
    refused(tvlm_stack_set_grid(stack, 0, channels[0], &wrong), TVLM_ERROR_ARGUMENT,
            format == TVLM_FORMAT_F32 ? "of 0 .. 65535" : "2048, and above that in stacks of format f32");
    bad[1] = NAN;
    refused(tvlm_stack_set_grid(stack, 0, channels[0], &wrong), TVLM_ERROR_ARGUMENT, "is not finite");
    expect_level(stack, 0, channels[0], 0, ids, 16, "numbers after refusals");
    refused(tvlm_stack_set_grid(stack, 0, channels[0],
                                tvlm_grid_input(.data = cells, .columns = 2, .rows = 2, .channels = 3)),
            TVLM_ERROR_ARGUMENT, "vocab: a grid of 3 channels; it has 1 to 2");
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

DEVICE_CHECKS(check_attention, check_sizes, check_cells, check_memory, check_objects, check_numbers,
              check_flow, check_replaced)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference_f32),
                                       cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets),
                                       cmocka_unit_test(test_refusals)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
