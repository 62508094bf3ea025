/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_given.c: grids that are handed in at the edges of what is taken: the last size, a cell more or less, each value
 * alone, the place of a bad value, and grids that differ in one respect alone. What is made of them is tested in
 * test_input_grids.c.
 */
#include "input_helper.h"
#include "stack/input.h"
#include "stack/inside.h"

static tvlm_device *device;
static const float zeros[64];

static tvlm_stack *stack_sized(int32_t width, int32_t height, int32_t images) {
    tvlm_stack *stack = NULL;
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.width = width, .height = height, .images = images),
                                       &stack),
                     TVLM_OK);
    return stack;
}

static tvlm_status put(tvlm_stack *stack, int32_t channel, struct tvlm_grid_input input) {
    return tvlm_stack_set_grid(stack, 0, channel, &input);
}
#define PUT(CHANNEL, ...)  put(stack, CHANNEL, (struct tvlm_grid_input){__VA_ARGS__})
#define REFUSES(LINE, ...) refused(PUT(__VA_ARGS__), TVLM_ERROR_ARGUMENT, LINE)

/* 2^31 - 1 values are not too many: what is refused then is the cells' size, and nothing of them is read. */
static void test_most_values(void **state) {
    const int32_t depth = TVLM_CHANNEL_DEPTH, flow = TVLM_CHANNEL_FLOW_U;
    tvlm_stack *stack = stack_sized(8, 8, 1);
    (void)state;
    REFUSES("depth: cells of -1", depth, .data = zeros, .columns = INT32_MAX, .rows = 1, .cell = -1);
    REFUSES("depth: cells of -1", depth, .data = zeros, .columns = 1, .rows = INT32_MAX, .cell = -1);
    REFUSES("depth: a grid of 1073741824x2x1 values is too large", depth, .data = zeros, .columns = 1 << 30,
            .rows = 2, .cell = -1);
    REFUSES("flow: cells of -1", flow, .data = zeros, .columns = INT32_MAX / 2, .rows = 1, .channels = 2,
            .cell = -1);
    REFUSES("1073741824x1x2 values is too large", flow, .data = zeros, .columns = 1 << 30, .rows = 1,
            .channels = 2, .cell = -1);
    REFUSES("46341x46341x1 values is too large", depth, .data = zeros, .columns = 46341, .rows = 46341,
            .cell = -1);
    REFUSES("depth: cells of -1", depth, .data = zeros, .columns = 46340, .rows = 46340, .cell = -1);
    tvlm_stack_destroy(&stack);
}

/* The last byte of two rows is the last of the address space, or one further. What can be addressed is refused for its
 * cells' size, and nothing of it is read. */
static void test_address_space(void **state) {
    const size_t row = 2 * sizeof(float);
    struct tvlm_grid_input input = {.data = zeros, .columns = 2, .rows = 1, .cell = -1};
    tvlm_stack *stack = stack_sized(8, 8, 1);
    (void)state;
#define AT(OFFSET) tvlm_stack_input(stack, 0, TVLM_CHANNEL_GAZE, &input, NULL, OFFSET)
    refused(AT(0 - row - 4), TVLM_ERROR_ARGUMENT, "gaze: cells of -1");
    refused(AT(0 - row), TVLM_ERROR_ARGUMENT, "gaze: larger than the address space");
    refused(AT(0 - row + 4), TVLM_ERROR_ARGUMENT, "gaze: larger than the address space");
    input.rows = 2;
    input.row_stride = 0 - (size_t)16;
    refused(AT(4), TVLM_ERROR_ARGUMENT, "gaze: cells of -1");
    refused(AT(8), TVLM_ERROR_ARGUMENT, "gaze: larger than the address space");
    input.rows = 3;
    refused(AT(0), TVLM_ERROR_ARGUMENT, "gaze: larger than the address space");
#undef AT
    tvlm_stack_destroy(&stack);
}

/* What the library keeps of its own answers is no grid that is handed in; and a grid has cells. */
static void test_no_grids(void **state) {
    tvlm_stack *stack = stack_sized(8, 8, 1);
    (void)state;
    REFUSES("channel 'word_0' is not one that is handed in", TVLM_CHANNEL_WORD_0, .data = zeros, .columns = 1,
            .rows = 1);
    REFUSES("channel 'previous_pass' is not one", TVLM_CHANNEL_PREVIOUS_PASS, .data = zeros, .columns = 1,
            .rows = 1);
    REFUSES("gaze: a grid of 3x0 cells", TVLM_CHANNEL_GAZE, .data = zeros, .columns = 3);
    tvlm_stack_destroy(&stack);
}

/* Of 40 x 24 pixels in cells of 8, which are 5 x 3: a cell more or less is taken, two are not. */
static void test_cells_more_or_less(void **state) {
    static const float many[80 * 48];
    const int32_t gaze = TVLM_CHANNEL_GAZE;
    tvlm_stack *stack = stack_sized(40, 24, 1);
    (void)state;
    for (int32_t columns = 4; columns <= 6; ++columns)
        for (int32_t rows = 2; rows <= 4; ++rows)
            assert_int_equal(PUT(gaze, .data = zeros, .columns = columns, .rows = rows, .cell = 8), TVLM_OK);
    assert_int_equal(PUT(gaze, .data = many, .columns = 80, .rows = 48, .cell = 0.5f), TVLM_OK);
    REFUSES("3x3 cells of 8 pixels cover 24x24, more than", gaze, .data = zeros, .columns = 3, .rows = 3,
            .cell = 8);
    REFUSES("7x3 cells", gaze, .data = zeros, .columns = 7, .rows = 3, .cell = 8);
    REFUSES("5x1 cells", gaze, .data = zeros, .columns = 5, .rows = 1, .cell = 8);
    REFUSES("5x5 cells of 8 pixels cover 40x40, more than a cell off the image's 40x24", gaze, .data = zeros,
            .columns = 5, .rows = 5, .cell = 8);
    tvlm_stack_destroy(&stack);
}

/* Each number of a camera is looked at, and each has its own default. */
static void test_cameras(void **state) {
    const int32_t depth = TVLM_CHANNEL_DEPTH;
    tvlm_stack *stack = stack_sized(40, 24, 1);
    const tvlm_camera *const camera = &stack->cameras[0];
    (void)state;
#define CAMERA .data = zeros, .columns = 1, .rows = 1
    REFUSES("depth: a camera of fx inf, fy 0, cx 0, cy 0", depth, CAMERA, .fx = INFINITY);
    REFUSES("a camera of fx 0, fy inf, cx 0, cy 0", depth, CAMERA, .fy = INFINITY);
    REFUSES("a camera of fx 0, fy 0, cx inf, cy 0", depth, CAMERA, .cx = INFINITY);
    REFUSES("a camera of fx 0, fy 0, cx 0, cy inf", depth, CAMERA, .cy = INFINITY);
    REFUSES("a camera of fx -1, fy 1", depth, CAMERA, .fx = -1, .fy = 1);
    REFUSES("a camera of fx 1, fy -1", depth, CAMERA, .fx = 1, .fy = -1);
    assert_int_equal(PUT(depth, CAMERA), TVLM_OK);
    assert_true(camera->fx == 40 && camera->fy == 40 && camera->cx == 20 && camera->cy == 12);
    assert_int_equal(PUT(depth, CAMERA, .fx = 3, .cx = -5), TVLM_OK);
    assert_true(camera->fx == 3 && camera->fy == 40 && camera->cx == -5 && camera->cy == 0);
    assert_int_equal(PUT(depth, CAMERA, .fy = 7, .cy = 9), TVLM_OK);
    assert_true(camera->fx == 40 && camera->fy == 7 && camera->cx == 0 && camera->cy == 9);
    assert_int_equal(PUT(depth, CAMERA, .fx = 0.5f, .fy = 0.25f), TVLM_OK);
    assert_true(camera->fx == 0.5f && camera->fy == 0.25f);
    tvlm_stack_destroy(&stack);
    stack = stack_sized(24, 40, 2);
    assert_int_equal(tvlm_stack_set_grid(stack, 1, depth, tvlm_grid_input(CAMERA)), TVLM_OK);
    assert_true(stack->cameras[1].fx == 40 && stack->cameras[1].fy == 40);
    assert_true(stack->cameras[1].cx == 12 && stack->cameras[1].cy == 20);
#undef CAMERA
    tvlm_stack_destroy(&stack);
}

/* In a grid of 3 x 2 cells a message says where the bad value is: in the second row, the third column. */
static void test_place_of_a_bad_value(void **state) {
    tvlm_stack *stack = stack_sized(40, 24, 1);
    float flow[3 * 2 * 3] = {0}, numbers[3 * 2] = {1, 2, 3, 4, 5, 6};
    (void)state;
    flow[16] = NAN;
    REFUSES("flow: value 16 (row 1, column 2, channel 1) is not finite", TVLM_CHANNEL_FLOW_U, .data = flow,
            .columns = 3, .rows = 2, .channels = 3);
    numbers[5] = 0.5f;
    REFUSES("vocab: cell 5 has number 0.5", TVLM_CHANNEL_VOCAB_ID, .data = numbers, .columns = 3, .rows = 2);
    REFUSES("object_id: value 5 is 0.5", TVLM_CHANNEL_OBJECT_ID, .data = numbers, .columns = 3, .rows = 2);
    /* Where it is asked for, what is not finite becomes 0. */
    numbers[5] = NAN;
    assert_int_equal(
        PUT(TVLM_CHANNEL_VOCAB_ID, .data = numbers, .columns = 3, .rows = 2, .replace_nonfinite = true),
        TVLM_OK);
    expect_level(stack, 0, TVLM_CHANNEL_VOCAB_ID, 0, (const float[]){1, 2, 3, 4, 5, 0}, 6, "numbers");
    tvlm_stack_destroy(&stack);
}

/* Ids may be halves, which are numbered as others are. */
static void test_ids_of_halves(void **state) {
    static const float ids[6] = {3, 1, -4, 1, 5, 9}, numbers[6] = {2, 1, 0, 1, 3, 4};
    uint16_t halves[6];
    tvlm_stack *stack = stack_sized(40, 24, 1);
    (void)state;
    tvlm_half_from_floats(ids, halves, 6);
    assert_int_equal(
        PUT(TVLM_CHANNEL_OBJECT_ID, .data = halves, .columns = 3, .rows = 2, .type = TVLM_VALUE_F16),
        TVLM_OK);
    expect_level(stack, 0, TVLM_CHANNEL_OBJECT_ID, 0, numbers, 6, "ids");
    tvlm_stack_destroy(&stack);
}

/* ---- From memory of the device ---- */

static tvlm_status put_from(tvlm_stack *stack, int32_t channel, struct tvlm_grid_input input,
                            const float *values, size_t count, size_t offset) {
    tvlm_buffer *buffer = NULL;
    const size_t bytes = count * sizeof *values;
    assert_int_equal(device->backend->buffer_create(device, bytes, &buffer), TVLM_OK);
    assert_int_equal(device->backend->buffer_write(device, buffer, 0, bytes, values), TVLM_OK);
    const tvlm_status status = tvlm_stack_input(stack, 0, channel, &input, buffer, offset);
    device->backend->buffer_destroy(device, &buffer);
    return status;
}
#define PUT_FROM(CHANNEL, COUNT, OFFSET, ...)                                                                \
    put_from(stack, CHANNEL, (struct tvlm_grid_input){__VA_ARGS__}, values, COUNT, OFFSET)

/* Two rows of two values with a gap of one between them, behind one more: the last row may end where the memory ends. */
static void test_memory_of_the_device(void **state) {
    float values[6] = {NAN, 3, 1, NAN, 2, 0}, expected[4] = {3, 1, 2, 0};
    const int32_t depth = TVLM_CHANNEL_DEPTH, ids = TVLM_CHANNEL_OBJECT_ID;
    tvlm_stack *stack = stack_sized(8, 8, 1);
    (void)state;
#define GAPS .columns = 2, .rows = 2, .row_stride = 12
    assert_int_equal(PUT_FROM(depth, 6, 4, GAPS), TVLM_OK);
    expect_level(stack, 0, depth, 0, expected, 4, "depth");
    assert_int_equal(PUT_FROM(ids, 6, 4, GAPS), TVLM_OK);
    expect_level(stack, 0, ids, 0, expected, 4, "ids");
    refused(PUT_FROM(depth, 5, 4, GAPS), TVLM_ERROR_ARGUMENT,
            "depth: the grid reaches beyond the cl_mem's 20 bytes");
    refused(PUT_FROM(depth, 6, 8, GAPS), TVLM_ERROR_ARGUMENT,
            "depth: the grid reaches beyond the cl_mem's 24 bytes");
    refused(PUT_FROM(depth, 6, 2, GAPS), TVLM_ERROR_ARGUMENT,
            "depth: a row stride of 12 bytes at offset 2; rows have 8 bytes, values 4");
    refused(PUT_FROM(depth, 6, 0, GAPS), TVLM_ERROR_ARGUMENT,
            "depth: value 0 (row 0, column 0, channel 0) is not finite");
    refused(PUT_FROM(ids, 6, 0, GAPS), TVLM_ERROR_ARGUMENT, "object_id: value 0 (row 0, column 0");
    REFUSES("depth: value 0 (row 0, column 0, channel 0) is not finite", depth, .data = values, GAPS);
    expect_level(stack, 0, depth, 0, expected, 4, "as it was");
#undef GAPS
    tvlm_stack_destroy(&stack);
}

/* Features without a direction are no answer to a question: from the host, and from the device where they are looked
 * at, which they are not where what is not finite is replaced. */
static void test_no_directions(void **state) {
    static const float values[4] = {0}, query[2] = {1, 0};
    const int32_t features = TVLM_CHANNEL_FEATURE_0;
    static const char none[] = "no question can be compared with the features of image 0";
    tvlm_stack *stack = stack_sized(8, 8, 1);
    tvlm_selection *selection = NULL;
    (void)state;
#define ASK()                                                                                                \
    tvlm_select(stack, tvlm_query(.vectors = query, .dimension = 2),                                         \
                tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = 1), &selection)
#define VECTORS .columns = 2, .rows = 1, .channels = 2
    assert_int_equal(PUT(features, .data = values, VECTORS), TVLM_OK);
    refused(ASK(), TVLM_ERROR_ARGUMENT, none);
    assert_int_equal(PUT_FROM(features, 4, 0, VECTORS, .replace_nonfinite = true), TVLM_OK);
    assert_int_equal(ASK(), TVLM_OK);
    tvlm_selection_destroy(&selection);
    assert_int_equal(PUT_FROM(features, 4, 0, VECTORS), TVLM_OK);
    refused(ASK(), TVLM_ERROR_ARGUMENT, none);
    assert_int_equal(PUT(features, .data = query, .columns = 1, .rows = 1, .channels = 2), TVLM_OK);
    assert_int_equal(ASK(), TVLM_OK);
    tvlm_selection_destroy(&selection);
#undef ASK
#undef VECTORS
    tvlm_stack_destroy(&stack);
}

/* 2049 ids fit and 2050 do not; an application's own are kept as they are, from -2048 to 2048. */
static void test_most_ids(void **state) {
    enum { COUNT = 2050 };
    static float many[COUNT];
    const float own[4] = {-2048, 2048, -0.0f, NAN}, beyond[2] = {0, -2049};
    tvlm_stack *stack = stack_sized(40, 24, 1);
    int32_t channel = -1;
    size_t count;
    (void)state;
    for (int32_t i = 0; i < COUNT; ++i) many[i] = (float)(5 * i);
    REFUSES("2050 different ids; at most 2049 fit", TVLM_CHANNEL_OBJECT_ID, .data = many, .columns = COUNT,
            .rows = 1);
    many[0] = many[COUNT - 1]; /* the last of 2049 ids, 0 .. 2048 */
    assert_int_equal(PUT(TVLM_CHANNEL_OBJECT_ID, .data = many, .columns = COUNT, .rows = 1), TVLM_OK);
    float *ids = read_level(stack, 0, TVLM_CHANNEL_OBJECT_ID, 0, &count);
    assert_int_equal(count, COUNT);
    for (int32_t i = 1; i < COUNT; ++i) assert_true(ids[i] == (float)(i - 1));
    assert_true(ids[0] == 2048.0f);
    free(ids);
    const struct tvlm_grid_input input = {.data = own, .columns = 4, .rows = 1, .replace_nonfinite = true};
    assert_int_equal(tvlm_stack_set_user(stack, 0, "own", 0, 0, TVLM_MODE, &input, &channel), TVLM_OK);
    ids = read_level(stack, 0, channel, 0, &count);
    assert_true(count == 4 && ids[0] == -2048.0f && ids[1] == 2048.0f);
    assert_true(ids[2] == 0.0f && !signbit(ids[2]) && ids[3] == 0.0f);
    free(ids);
    refused(tvlm_stack_set_user(stack, 0, "own", 0, 0, TVLM_MODE,
                                tvlm_grid_input(.data = beyond, .columns = 2, .rows = 1), NULL),
            TVLM_ERROR_ARGUMENT, "own: value 1 is -2049; ids are whole numbers of -2048 .. 2048");
    tvlm_stack_destroy(&stack);
}

/* ---- Sizes ---- */

/* Another size of the only grid is read in that size, whether columns, rows or cells are others. */
static void test_another_size(void **state) {
    static const float values[] = {1, 0, 1, 0, 0, 1, 0, 1};
    static const int32_t gaze = TVLM_CHANNEL_GAZE;
    const tvlm_sample_point point = {39.0f, 12.0f, 0, 0};
    tvlm_stack *stack = stack_sized(40, 24, 1);
    float got;
    (void)state;
    assert_int_equal(PUT(gaze, .data = values, .columns = 4, .rows = 1), TVLM_OK);
    expect_level(stack, 0, gaze, 0, values, 4, "4 x 1");
    assert_int_equal(PUT(gaze, .data = values, .columns = 4, .rows = 2), TVLM_OK);
    expect_level(stack, 0, gaze, 0, values, 8, "4 x 2");
    assert_int_equal(PUT(gaze, .data = values, .columns = 3, .rows = 2), TVLM_OK);
    expect_level(stack, 0, gaze, 0, values, 6, "3 x 2");
    /* Two columns, 0 and 1: the last pixel is within the second one; or, of two cells of 39, at its edge. */
    assert_int_equal(PUT(gaze, .data = values + 3, .columns = 3, .rows = 1), TVLM_OK);
    assert_int_equal(tvlm_stack_sample(stack, &point, 1, &gaze, 1, &got), TVLM_OK);
    assert_float_equal(got, 1.0f, 1e-6f);
    assert_int_equal(PUT(gaze, .data = values + 3, .columns = 3, .rows = 1, .cell = 20), TVLM_OK);
    assert_int_equal(tvlm_stack_sample(stack, &point, 1, &gaze, 1, &got), TVLM_OK);
    assert_float_equal(got, 0.45f, 1e-6f); /* 9 of 20 pixels beyond the middle of the second cell, at 30 */
    tvlm_stack_destroy(&stack);
}

/* Image 0 has a grid; one of image 1 that differs in one respect is refused, and the same one is taken. */
static void check_other(int32_t width, int32_t height, int32_t channel, struct tvlm_grid_input has,
                        struct tvlm_grid_input other) {
    tvlm_stack *stack = stack_sized(width, height, 2);
    assert_int_equal(tvlm_stack_set_grid(stack, 0, channel, &has), TVLM_OK);
    refused(tvlm_stack_set_grid(stack, 1, channel, &other), TVLM_ERROR_ARGUMENT,
            "but other images of the stack have");
    assert_int_equal(tvlm_stack_set_grid(stack, 1, channel, &has), TVLM_OK);
    tvlm_stack_destroy(&stack);
}
#define INPUT(...) ((struct tvlm_grid_input){.data = ones, __VA_ARGS__})

static void test_other_sizes_of_a_batch(void **state) {
    static float ones[64];
    const int32_t gaze = TVLM_CHANNEL_GAZE, features = TVLM_CHANNEL_FEATURE_0;
    (void)state;
    for (int i = 0; i < 64; ++i) ones[i] = 1.0f;
    check_other(40, 24, gaze, INPUT(.columns = 5, .rows = 3), INPUT(.columns = 4, .rows = 3));
    check_other(40, 24, gaze, INPUT(.columns = 5, .rows = 3), INPUT(.columns = 5, .rows = 2));
    /* In cells of 8 it covers 40 x 24: of these images more below, or at the right. */
    check_other(40, 20, gaze, INPUT(.columns = 5, .rows = 3), INPUT(.columns = 5, .rows = 3, .cell = 8));
    check_other(36, 24, gaze, INPUT(.columns = 5, .rows = 3), INPUT(.columns = 5, .rows = 3, .cell = 8));
    check_other(40, 24, TVLM_CHANNEL_EMBEDDING_0, INPUT(.columns = 1, .rows = 1, .channels = 5),
                INPUT(.columns = 1, .rows = 1, .channels = 4));
    check_other(40, 24, features, INPUT(.columns = 1, .rows = 1, .channels = 5),
                INPUT(.columns = 1, .rows = 1, .channels = 6)); /* in as many layers */
}

/* ---- Planes of the application's own ---- */

static void test_planes(void **state) {
    static const float values[4] = {4, -1e6f, 7, 1e6f};
    const struct tvlm_grid_input input = {.data = values, .columns = 2, .rows = 2};
    tvlm_stack *stack = stack_sized(40, 24, 2);
    int32_t channel = -7;
    (void)state;
#define SET(NAME, LOW, HIGH, RULE) tvlm_stack_set_user(stack, 0, NAME, LOW, HIGH, RULE, &input, &channel)
    refused(SET("even", 5, 5, TVLM_MEAN), TVLM_ERROR_ARGUMENT, "even: a range of 5 .. 5");
    refused(SET("even", 0, NAN, TVLM_MEAN), TVLM_ERROR_ARGUMENT, "even: a range of 0 .. nan");
    assert_int_equal(channel, -7); /* only what was taken has a channel */
    assert_int_equal(SET("least", 0, 0, TVLM_MIN), TVLM_OK);
    expect_level(stack, 0, channel, 0, values, 4, "without a range");
    expect_level(stack, 0, channel, 1, (const float[]){-1e6f}, 1, "by min");
    assert_int_equal(SET("least", 0, 0, TVLM_MIN), TVLM_OK);
    assert_int_equal(channel, TVLM_CHANNEL_USER_0);
    assert_int_equal(SET("most", -2, 5, TVLM_MAX), TVLM_OK);
    assert_int_equal(channel, TVLM_CHANNEL_USER_0 + 1);
    expect_level(stack, 0, channel, 0, (const float[]){4, -2, 5, 5}, 4, "with a range");
    assert_int_equal(SET("smooth", 0, 1, TVLM_GAUSSIAN), TVLM_OK);
    refused(SET("most", -1, 5, TVLM_MAX), TVLM_ERROR_ARGUMENT, "most: it had another range or reduction");
    refused(SET("most", -2, 6, TVLM_MAX), TVLM_ERROR_ARGUMENT, "most: it had another range or reduction");
    refused(SET("most", -2, 5, TVLM_MIN), TVLM_ERROR_ARGUMENT, "most: it had another range or reduction");
    assert_int_equal(channel, TVLM_CHANNEL_USER_0 + 2);
#undef SET
    tvlm_stack_destroy(&stack);
}

/* ---- Taking back ---- */

static void test_clearing_one(void **state) {
    static const float half[1] = {0.5f};
    static const int32_t gaze = TVLM_CHANNEL_GAZE;
    const struct tvlm_grid_input input = {.data = half, .columns = 1, .rows = 1};
    tvlm_stack *stack = stack_sized(40, 24, 3);
    (void)state;
    for (int32_t i = 0; i < 3; ++i) assert_int_equal(tvlm_stack_set_grid(stack, i, gaze, &input), TVLM_OK);
    refused(tvlm_stack_clear_grid(stack, -2, gaze), TVLM_ERROR_ARGUMENT, "image -2 of a stack of 3");
    assert_int_equal(tvlm_stack_clear_grid(stack, 1, gaze), TVLM_OK);
    expect_level(stack, 0, gaze, 0, half, 1, "before it");
    expect_zero(stack, 1, gaze);
    expect_level(stack, 2, gaze, 0, half, 1, "behind it");
    assert_int_equal(tvlm_stack_invalidate(stack, TVLM_CHANNEL_X), TVLM_OK); /* it is stored nowhere */
    tvlm_stack_destroy(&stack);
}

/* What comes from the device's memory goes to its own image, in a chunk that does not begin with image 0, too. */
static void test_image_of_a_later_chunk(void **state) {
    static const float values[4] = {3, 1, 2, 0};
    static const int32_t depth = TVLM_CHANNEL_DEPTH, features = TVLM_CHANNEL_FEATURE_0;
    const int32_t slices = device->info.image_slices_max;
    tvlm_buffer *buffer = NULL;
    (void)state;
    device->info.image_slices_max = 32; /* two images a chunk */
    tvlm_stack *stack = stack_sized(8, 8, 4);
    device->info.image_slices_max = slices;
    assert_int_equal(stack->chunks[1].first, 2);
    assert_int_equal(device->backend->buffer_create(device, sizeof values, &buffer), TVLM_OK);
    assert_int_equal(device->backend->buffer_write(device, buffer, 0, sizeof values, values), TVLM_OK);
    const struct tvlm_grid_input input = {.data = values, .columns = 2, .rows = 2};
    assert_int_equal(tvlm_stack_input(stack, 3, depth, &input, buffer, 0), TVLM_OK);
    expect_level(stack, 3, depth, 0, values, 4, "depth");
    expect_zero(stack, 2, depth);
    assert_int_equal(tvlm_stack_set_grid(stack, 3, features, &input), TVLM_OK);
    expect_level(stack, 3, features, 0, values, 4, "features");
    expect_zero(stack, 2, features);
    device->backend->buffer_destroy(device, &buffer);
    tvlm_stack_destroy(&stack);
}

/* The first map of a batch changes the size of that channel in all its images, in other chunks as well. */
static void test_first_map_of_a_batch(void **state) {
    static const float map[4] = {0.25f, 0.25f, 0.25f, 0.25f};
    const int32_t slices = device->info.image_slices_max, saliency = TVLM_CHANNEL_SALIENCY;
    size_t count;
    (void)state;
    device->info.image_slices_max = 16; /* an image a chunk */
    tvlm_stack *stack = stack_sized(64, 48, 2);
    device->info.image_slices_max = slices;
    assert_int_equal(stack->chunk_count, 2);
    float *own = read_level(stack, 1, saliency, 0, &count);
    assert_int_equal(count, 16 * 12);
    free(own);
    assert_int_equal(PUT(saliency, .data = map, .columns = 2, .rows = 2), TVLM_OK);
    own = read_level(stack, 1, saliency, 0, &count);
    assert_int_equal(count, 4);
    for (int i = 0; i < 4; ++i) assert_true(own[i] == 0.0f); /* a black image */
    free(own);
    tvlm_stack_destroy(&stack);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_most_values),
        cmocka_unit_test(test_address_space),
        cmocka_unit_test(test_no_grids),
        cmocka_unit_test(test_cells_more_or_less),
        cmocka_unit_test(test_cameras),
        cmocka_unit_test(test_place_of_a_bad_value),
        cmocka_unit_test(test_ids_of_halves),
        cmocka_unit_test(test_memory_of_the_device),
        cmocka_unit_test(test_no_directions),
        cmocka_unit_test(test_most_ids),
        cmocka_unit_test(test_another_size),
        cmocka_unit_test(test_other_sizes_of_a_batch),
        cmocka_unit_test(test_planes),
        cmocka_unit_test(test_clearing_one),
        cmocka_unit_test(test_image_of_a_later_chunk),
        cmocka_unit_test(test_first_map_of_a_batch),
    };
    if (tvlm_device_open(tvlm_device_params(.name = "reference", .log = &test_log), &device) != TVLM_OK)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tvlm_device_destroy(&device);
    return failed;
}
