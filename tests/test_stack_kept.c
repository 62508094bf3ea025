/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stack_kept.c: what a stack keeps, and how it counts what went out of date, by hand: grids of chunks, the
 * features of an image as a matrix, its regions, and planes of scorers; and which maps are taken.
 */
#include <math.h>
#include <string.h>

#include "stack/features.h"
#include "stack/grids.h"
#include "stack/input.h"
#include "stack/inside.h"
#include "stack/make.h"
#include "stack/regions.h"
#include "stack_helper.h"

/* ---- What is out of date ---- */

/* Counts are those of the chunk that holds the image, and of each grid alone. */
static void test_counts_of_chunks(void **state) {
    tvlm_chunk chunks[2] = {{.images = 2}, {.images = 1}};
    const tvlm_stack stack = {.chunks = chunks, .chunk_count = 2, .chunk_images = 2, .images = 3};
    tvlm_texture texture;
    (void)state;
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        for (int i = 0; i < 2; ++i) chunks[i].outdated[grid] = (uint64_t)(100 * i + grid + 1);
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) {
        assert_int_equal(tvlm_stack_outdated(&stack, 0, TVLM_GRID_BIT(grid)), grid + 1);
        assert_int_equal(tvlm_stack_outdated(&stack, 1, TVLM_GRID_BIT(grid)), grid + 1);
        assert_int_equal(tvlm_stack_outdated(&stack, 2, TVLM_GRID_BIT(grid)), grid + 101);
    }
    assert_int_equal(tvlm_stack_outdated(&stack, 1, TVLM_GRID_BIT(0) | TVLM_GRID_BIT(TVLM_GRID_COUNT - 1)),
                     1 + TVLM_GRID_COUNT);
    assert_int_equal(tvlm_stack_outdated(&stack, 1, 0), 0);
    chunks[0].grids[3] = &texture, chunks[0].valid = TVLM_GRID_BIT(3) | TVLM_GRID_BIT(5);
    assert_ptr_equal(tvlm_stack_held(&stack, 1, (tvlm_grid)3), &texture);
    assert_ptr_equal(tvlm_stack_made(&stack, 1, (tvlm_grid)3), &texture);
    assert_null(tvlm_stack_held(&stack, 2, (tvlm_grid)3));
    assert_null(tvlm_stack_made(&stack, 2, (tvlm_grid)3));
    chunks[0].valid = TVLM_GRID_BIT(5);
    assert_ptr_equal(tvlm_stack_held(&stack, 1, (tvlm_grid)3), &texture);
    assert_null(tvlm_stack_made(&stack, 1, (tvlm_grid)3));
}

/* What is made from a grid goes out of date with it, and with what the network reads the network's grid; nothing else
 * does. Each time counts once. */
static void test_outdating(void **state) {
    const tvlm_grid_mask all = ~(tvlm_grid_mask)0 >> (64 - TVLM_GRID_COUNT),
                         distance = TVLM_GRID_BIT(TVLM_GRID_DISTANCE),
                         learned = TVLM_GRID_BIT(TVLM_GRID_LEARNED);
    tvlm_chunk chunk = {.valid = all};
    tvlm_stack stack = {.chunks = &chunk, .chunk_count = 1, .chunk_images = 1, .images = 1};
    (void)state;
    tvlm_stack_outdate(&stack, &chunk, distance);
    assert_true(chunk.valid == (all & ~distance));
    stack.network_reads = distance;
    tvlm_stack_outdate(&stack, &chunk, distance);
    assert_true(chunk.valid == (all & ~distance & ~learned));
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        assert_int_equal(chunk.outdated[grid], grid == TVLM_GRID_DISTANCE  ? 2
                                               : grid == TVLM_GRID_LEARNED ? 1
                                                                           : 0);
    tvlm_stack_outdate(&stack, &chunk, 0);
    assert_int_equal(chunk.outdated[TVLM_GRID_DISTANCE], 2);
}

/* ---- Features ---- */

/* A grid that covers the image has cells of any size; another one has square cells of this many pixels. */
static void test_cells_of_features(void **state) {
    const tvlm_stack stack = {.width = 100, .height = 70};
    tvlm_texture grid = {.width = 12, .height = 8, .extent_x = 100.0f, .extent_y = 70.0f};
    (void)state;
    assert_true(tvlm_stack_features_cell(&stack, &grid) == 0.0f);
    grid.extent_x = 96.0f;
    assert_true(tvlm_stack_features_cell(&stack, &grid) == 8.0f);
    grid.extent_x = 100.0f, grid.extent_y = 64.0f, grid.width = 8;
    assert_true(tvlm_stack_features_cell(&stack, &grid) == 12.5f);
}

enum { CELLS = 2 * 2, DIMENSION = 3 };

static tvlm_stack *two_images(tvlm_device *device) {
    tvlm_stack *stack = NULL;
    assert_int_equal(
        tvlm_stack_create(device,
                          tvlm_stack_params(.width = 8, .height = 8, .images = 2, .format = TVLM_FORMAT_F32),
                          &stack),
        TVLM_OK);
    return stack;
}

static void set_features(tvlm_stack *stack, int32_t index, float first) {
    float vectors[CELLS * DIMENSION];
    for (int i = 0; i < CELLS * DIMENSION; ++i) vectors[i] = first + (float)i;
    assert_int_equal(
        tvlm_stack_set_grid(stack, index, TVLM_CHANNEL_FEATURE_0,
                            tvlm_grid_input(.data = vectors, .columns = 2, .rows = 2, .channels = DIMENSION)),
        TVLM_OK);
}

/* That the matrix of so many levels is `first`, `first` + 1 and so on, and then the means of the columns. */
static void expect_matrix(tvlm_stack *stack, int32_t index, int32_t levels, float first) {
    float values[(CELLS + 1) * DIMENSION];
    tvlm_device *const device = stack->device;
    tvlm_features features;
    tvlm_buffer *matrix = NULL;
    const int count = DIMENSION * (levels > 1 ? CELLS + 1 : CELLS);
    if (levels > 1)
        assert_int_equal(tvlm_stack_make(stack, index, TVLM_GRID_BIT(TVLM_GRID_FEATURES)), TVLM_OK);
    assert_int_equal(tvlm_stack_features(stack, index, &features), TVLM_OK);
    assert_int_equal(tvlm_stack_features_matrices(stack, &features, levels, &matrix), TVLM_OK);
    assert_int_equal(device->backend->buffer_read(device, matrix, 0, (size_t)count * sizeof *values, values),
                     TVLM_OK);
    for (int i = 0; i < count; ++i) {
        const float expected = first + (i < CELLS * DIMENSION ? (float)i : (float)(i % DIMENSION) + 4.5f);
        if (values[i] != expected)
            fail_msg("image %d, %d levels, value %d: %g, not %g", (int)index, (int)levels, i,
                     (double)values[i], (double)expected);
    }
}

/* The matrix is kept for the image that was asked for last, until its features change. */
static void test_matrices(void **state) {
    tvlm_device *device = open_reference();
    tvlm_stack *stack = two_images(device);
    (void)state;
    set_features(stack, 0, 100.0f);
    set_features(stack, 1, 200.0f);
    assert_true(tvlm_stack_features_are_means(stack));
    expect_matrix(stack, 0, 1, 100.0f);
    expect_matrix(stack, 1, 1, 200.0f);
    expect_matrix(stack, 0, 1, 100.0f);
    set_features(stack, 0, 300.0f);
    expect_matrix(stack, 0, 1, 300.0f);
    expect_matrix(stack, 0, 2, 300.0f); /* which takes more memory */
    expect_matrix(stack, 1, 2, 200.0f);
    expect_matrix(stack, 1, 1, 200.0f);
    expect_matrix(stack, 0, 1, 300.0f);
    expect_matrix(stack, 0, 2, 300.0f);
    set_features(stack, 0, 400.0f);
    expect_matrix(stack, 0, 2, 400.0f);
    assert_int_equal(tvlm_stack_set_reduce(stack, TVLM_GAUSSIAN), TVLM_OK);
    assert_false(tvlm_stack_features_are_means(stack));
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* A matrix that is kept is not made again. */
static tvlm_backend counting;
static int made, failing = -1; /* the level that cannot be made */
static tvlm_status (*make_matrix)(tvlm_device *device, const tvlm_features *features, int32_t level,
                                  tvlm_buffer *matrix, size_t offset);
static tvlm_status count_matrix(tvlm_device *device, const tvlm_features *features, int32_t level,
                                tvlm_buffer *matrix, size_t offset) {
    ++made;
    if (level == failing) return TVLM_ERROR_DEVICE;
    return make_matrix(device, features, level, matrix, offset);
}

static void test_matrices_that_are_kept(void **state) {
    tvlm_device *device = open_reference();
    tvlm_stack *stack = two_images(device);
    const tvlm_backend *const backend = device->backend;
    tvlm_features features;
    tvlm_buffer *matrix = NULL;
    (void)state;
    counting = *backend;
    make_matrix = backend->feature_matrix;
    counting.feature_matrix = count_matrix;
    device->backend = &counting;
    set_features(stack, 0, 100.0f);
    set_features(stack, 1, 200.0f);
    expect_matrix(stack, 1, 2, 200.0f);
    assert_int_equal(made, 2);
    expect_matrix(stack, 1, 2, 200.0f);
    expect_matrix(stack, 1, 1, 200.0f);
    assert_int_equal(made, 2);
    expect_matrix(stack, 0, 1, 100.0f);
    assert_int_equal(made, 3);
    expect_matrix(stack, 0, 2, 100.0f); /* one more level */
    assert_int_equal(made, 4);
    /* After a failure nothing counts as kept. */
    assert_int_equal(tvlm_stack_features(stack, 1, &features), TVLM_OK);
    failing = 1;
    assert_int_equal(tvlm_stack_features_matrices(stack, &features, 2, &matrix), TVLM_ERROR_DEVICE);
    failing = -1;
    expect_matrix(stack, 0, 1, 100.0f);
    device->backend = backend;
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* ---- Regions ---- */

/* Labels and tables are those of an image of its own chunk. A table of 4 regions takes a header of 4 words, 16 for each
 * region and a row of bits for each, 72 words. */
static void test_images_of_chunks(void **state) {
    static const int32_t counts[2] = {0, 1};
    tvlm_buffer tables, *buffer = NULL;
    tvlm_chunk chunks[2] = {{.images = 2}, {.first = 2, .images = 2, .label_counts = (int32_t *)counts}};
    const tvlm_stack stack = {.chunks = chunks,
                              .chunk_count = 2,
                              .chunk_images = 2,
                              .images = 4,
                              .width = 8,
                              .height = 8,
                              .levels = 4,
                              .settings = {.regions = 4}};
    size_t offset = 7;
    (void)state;
    for (int32_t i = 0; i < 4; ++i) assert_int_equal(tvlm_stack_has_labels(&stack, i), i == 3);
    chunks[1].valid = TVLM_GRID_BIT(TVLM_GRID_CLUSTER), chunks[1].products[TVLM_PRODUCT_REGIONS] = &tables;
    for (int32_t i = 0; i < 2; ++i) assert_false(tvlm_stack_region_table(&stack, i, &buffer, &offset));
    assert_true(buffer == NULL && offset == 7);
    assert_true(tvlm_stack_region_table(&stack, 2, &buffer, &offset));
    assert_true(buffer == &tables && offset == 0);
    assert_true(tvlm_stack_region_table(&stack, 3, &buffer, &offset));
    assert_int_equal(offset, 72 * 4);
}

/* As much is written as there is room for, and nothing behind that. */
static void test_room_for_regions(void **state) {
    tvlm_device *device = open_reference();
    tvlm_stack *stack = two_images(device);
    tvlm_region regions[51];
    int32_t count = 0, neighbours[50];
    (void)state;
    assert_int_equal(tvlm_stack_regions(NULL, 0, 0, NULL, &count), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_region_neighbours(NULL, 0, 0, 0, NULL, &count), TVLM_ERROR_ARGUMENT);
    refused(tvlm_stack_regions(stack, 2, 0, NULL, &count), TVLM_ERROR_ARGUMENT, "image 2");
    refused(tvlm_stack_regions(stack, -1, 0, NULL, &count), TVLM_ERROR_ARGUMENT, "image -1");
    refused(tvlm_stack_region_neighbours(stack, 2, 0, 0, NULL, &count), TVLM_ERROR_ARGUMENT, "image 2");
    refused(tvlm_stack_regions(stack, 0, 1, NULL, &count), TVLM_ERROR_ARGUMENT, "regions");
    refused(tvlm_stack_region_neighbours(stack, 0, 0, 1, NULL, &count), TVLM_ERROR_ARGUMENT, "neighbours");
    refused(tvlm_stack_regions(stack, 0, 0, NULL, NULL), TVLM_ERROR_ARGUMENT, "count");
    refused(tvlm_stack_region_neighbours(stack, 0, 0, 0, NULL, NULL), TVLM_ERROR_ARGUMENT, "count");
    assert_int_equal(tvlm_stack_regions(stack, 0, 0, NULL, &count), TVLM_OK);
    assert_in_range(count, 2, 50);
    for (int i = 0; i < 51; ++i) regions[i] = (tvlm_region){.radius = 100.0f};
    assert_int_equal(tvlm_stack_regions(stack, 0, count, regions, &count), TVLM_OK);
    assert_true(regions[count - 1].radius < 8.0f && regions[count].radius == 100.0f);
    const int32_t all = count;
    count = 0;
    assert_int_equal(tvlm_stack_regions(stack, 0, all - 1, regions, &count), TVLM_ERROR_ARGUMENT);
    assert_int_equal(count, all);
    refused(tvlm_stack_region_neighbours(stack, 0, all, 50, neighbours, &count), TVLM_ERROR_ARGUMENT,
            "region ");
    refused(tvlm_stack_region_neighbours(stack, 0, -1, 50, neighbours, &count), TVLM_ERROR_ARGUMENT,
            "region -1");
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* ---- Maps of queries ---- */

static void test_maps(void **state) {
    static const float map[2] = {0.5f, NAN};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = two_images(device);
    tvlm_selection *selection = NULL;
    (void)state;
#define ASK(...)                                                                                             \
    tvlm_select(stack, tvlm_query(.similarity = map, __VA_ARGS__),                                           \
                tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = 1), &selection)
    refused(ASK(.columns = 0, .rows = 1), TVLM_ERROR_ARGUMENT, "a query of 0x1 cells");
    refused(ASK(.columns = 1, .rows = 0), TVLM_ERROR_ARGUMENT, "a query of 1x0 cells");
    refused(ASK(.columns = -1, .rows = 1), TVLM_ERROR_ARGUMENT, "a query of -1x1 cells");
    refused(ASK(.columns = 1, .rows = 2), TVLM_ERROR_ARGUMENT, "the query's similarity 1 is not finite");
    assert_int_equal(ASK(.columns = 1, .rows = 1), TVLM_OK);
#undef ASK
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* ---- Pixels and planes ---- */

static const uint8_t black[8 * 6];
static const float zeros[8 * 6];

/* A new frame has none of what belongs to the frame before: no scores, no outputs of a scorer. */
static void test_sources(void **state) {
    tvlm_device *device = open_reference();
    tvlm_stack *stack = NULL;
    tvlm_buffer *buffer = NULL;
    tvlm_pixels pixels = {.width = 8, .height = 6, .channels = 1, .row_stride = 8};
    tvlm_image image = u8_image(black, 3, INT32_MAX, 1);
    bool has = false;
    (void)state;
    assert_int_equal(tvlm_stack_create(device, tvlm_stack_params(.width = 8, .height = 6), &stack), TVLM_OK);
    assert_int_equal(device->backend->buffer_create(device, sizeof black, &buffer), TVLM_OK);
    assert_int_equal(device->backend->buffer_write(device, buffer, 0, sizeof black, black), TVLM_OK);
    assert_int_equal(tvlm_stack_input_output(
                         stack, 0, 3, tvlm_grid_input(.data = zeros, .columns = 8, .rows = 6), NULL, 0),
                     TVLM_OK);
    assert_int_equal(tvlm_stack_has_channel(stack, 0, TVLM_CHANNEL_USER_0, &has), TVLM_OK);
    assert_true(has);
    stack->frames[0].scored = true;
    assert_int_equal(tvlm_stack_source_from_buffer(stack, 0, buffer, &pixels), TVLM_OK);
    assert_false(stack->frames[0].scored);
    assert_int_equal(tvlm_stack_has_channel(stack, 0, TVLM_CHANNEL_USER_0, &has), TVLM_OK);
    assert_false(has);
    assert_true(stack->originals[0].set && stack->originals[0].width == 8 && stack->originals[0].height == 6);
    pixels.width = 6;
    refused(tvlm_stack_source_from_buffer(stack, 0, buffer, &pixels), TVLM_ERROR_ARGUMENT,
            "pixels of 6x6 for a stack of 8x6");
    pixels.width = 8, pixels.height = 5;
    refused(tvlm_stack_source_from_buffer(stack, 0, buffer, &pixels), TVLM_ERROR_ARGUMENT,
            "pixels of 8x5 for a stack of 8x6");
    refused(tvlm_stack_source_from_buffer(stack, 1, buffer, &pixels), TVLM_ERROR_ARGUMENT, "image 1");
    refused(tvlm_stack_source_from_buffer(stack, -1, buffer, &pixels), TVLM_ERROR_ARGUMENT, "image -1");
    image.row_stride = SIZE_MAX / 2;
    refused(tvlm_stack_set_image(stack, 0, &image), TVLM_ERROR_ARGUMENT,
            "an image of 3x2147483647 pixels is larger than the address space");
    device->backend->buffer_destroy(device, &buffer);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* An output of a scorer has any values, and a name that the application cannot take. */
static void test_outputs(void **state) {
    tvlm_device *device = open_reference();
    tvlm_stack *stack = two_images(device);
    const struct tvlm_grid_input input = {.data = zeros, .columns = 8, .rows = 6};
    const tvlm_user_plane *const plane = &stack->users[0];
    (void)state;
    memset(stack->users, 0x55, sizeof stack->users);
    assert_int_equal(tvlm_stack_input_output(stack, 1, 3, &input, NULL, 0), TVLM_OK);
    assert_int_equal(stack->user_count, 1);
    assert_string_equal(plane->name, "output_3");
    assert_true(plane->low == -INFINITY && plane->high == INFINITY && plane->output);
    assert_int_equal(plane->reduce, TVLM_REDUCE_MEAN);
    assert_int_equal(tvlm_stack_input_output(stack, 0, 3, &input, NULL, 0), TVLM_OK); /* the same one */
    assert_int_equal(stack->user_count, 1);
    refused(tvlm_stack_set_user(stack, 0, "output_3", 0, 0, TVLM_MEAN, &input, NULL), TVLM_ERROR_ARGUMENT,
            "'output_3' is the name of an output of a scorer, and of the application's own plane");
    refused(tvlm_stack_set_user(stack, 2, "own", 0, 0, TVLM_MEAN, &input, NULL), TVLM_ERROR_ARGUMENT,
            "image 2");
    refused(tvlm_stack_set_user(stack, -1, "own", 0, 0, TVLM_MEAN, &input, NULL), TVLM_ERROR_ARGUMENT,
            "image -1");
    refused(tvlm_stack_set_user(stack, 0, NULL, 0, 0, TVLM_MEAN, &input, NULL), TVLM_ERROR_ARGUMENT,
            "'' is no name of a plane");
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* Only what is asked for, and what is made of it, is made again. */
static void test_invalidating(void **state) {
    const tvlm_grid_mask grids = TVLM_GRID_BIT(TVLM_GRID_SALIENCY) | TVLM_GRID_BIT(TVLM_GRID_TEXT);
    tvlm_device *device = open_reference();
    tvlm_stack *stack = two_images(device);
    (void)state;
    assert_int_equal(tvlm_stack_make(stack, 0, grids), TVLM_OK);
    assert_non_null(tvlm_stack_made(stack, 0, TVLM_GRID_SALIENCY));
    assert_int_equal(tvlm_stack_invalidate(stack, TVLM_CHANNEL_SALIENCY), TVLM_OK);
    assert_null(tvlm_stack_made(stack, 0, TVLM_GRID_SALIENCY));
    assert_non_null(tvlm_stack_made(stack, 0, TVLM_GRID_TEXT));
    assert_int_equal(tvlm_stack_invalidate(NULL, TVLM_CHANNEL_SALIENCY), TVLM_ERROR_ARGUMENT);
    refused(tvlm_stack_invalidate(stack, -1), TVLM_ERROR_ARGUMENT, "channel -1");
    assert_int_equal(tvlm_stack_set_grid(NULL, 0, TVLM_CHANNEL_GAZE, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_clear_grid(NULL, 0, TVLM_CHANNEL_GAZE), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_set_user(NULL, 0, "own", 0, 0, TVLM_MEAN, NULL, NULL), TVLM_ERROR_ARGUMENT);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_of_chunks),
        cmocka_unit_test(test_outdating),
        cmocka_unit_test(test_cells_of_features),
        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_matrices_that_are_kept),
        cmocka_unit_test(test_images_of_chunks),
        cmocka_unit_test(test_room_for_regions),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_invalidating),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
