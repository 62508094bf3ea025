/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_transfers.c: the way from a camera's buffer to the chosen patches, in an application's own context:
 * pixels, features, and what is asked come in as cl_mem, positions and patches go out as cl_mem. Nothing is
 * read back, nothing waits, and no memory is made anew. What is written is what kernels are told, such as
 * which channels to read: it does not grow with the picture, and is counted in bytes.
 */
#include <stdio.h>
#include <string.h>

#include "layer_helper.h"
#include "opencl/backend.h"
#include "support_stage.h"
#include "texturevlm/opencl.h"

enum {
    WIDTH = 320,
    HEIGHT = 240,
    PIXELS = WIDTH * HEIGHT * 3,
    DIMENSION = 24,
    COLUMNS = 20,
    ROWS = 15,
    CELLS = COLUMNS * ROWS,
    K = 40,
    SIDE = 16,
    PATCHES = K * 3 * SIDE * SIDE * (int)sizeof(float),
    TOLD = 256 /* bytes that kernels may be told for a frame */
};

static const layer_control *layer;

typedef struct way {
    cl_context context;
    cl_command_queue queue;
    tvlm_device *device;
    tvlm_stack *stack;
    cl_mem camera, features, query, scores, positions, patches;
    uint8_t pixels[PIXELS];
    float vectors[CELLS * DIMENSION], asked[DIMENSION], own[CELLS];
} way;

static cl_mem memory_of(const way *w, size_t bytes, void *data) {
    const cl_mem made = clCreateBuffer(w->context, data != NULL ? CL_MEM_COPY_HOST_PTR : CL_MEM_READ_WRITE,
                                       bytes, data, NULL);
    assert_non_null(made);
    return made;
}

/* The device under test's own context stands for the application's. */
static void start(way *w, const test_target *target, uint64_t seed) {
    cl_device_id id = NULL;
    uint8_t *random = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    memcpy(w->pixels, random, PIXELS);
    free(random);
    for (int i = 0; i < CELLS * DIMENSION; ++i) w->vectors[i] = test_random_unit(&seed) - 0.5f;
    for (int i = 0; i < DIMENSION; ++i) w->asked[i] = test_random_unit(&seed) - 0.5f;
    for (int i = 0; i < CELLS; ++i) w->own[i] = test_random_unit(&seed);
    const opencl_device *own = (const opencl_device *)target->device;
    w->context = own->context;
    w->queue = own->queue;
    id = own->id;
    const struct tvlm_device_params params = {.storage = target->device->info.storage, .log = &test_log};
    assert_int_equal(tvlm_device_open_opencl(w->context, id, w->queue, &params, &w->device), TVLM_OK);
    assert_int_equal(
        tvlm_stack_create(w->device,
                          tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .format = target->format),
                          &w->stack),
        TVLM_OK);
    w->camera = memory_of(w, PIXELS, w->pixels);
    w->features = memory_of(w, sizeof w->vectors, w->vectors);
    w->query = memory_of(w, sizeof w->asked, w->asked);
    w->scores = memory_of(w, sizeof w->own, w->own);
    w->positions = memory_of(w, K * sizeof(tvlm_position), NULL);
    w->patches = memory_of(w, PATCHES, NULL);
}

static void stop(way *w) {
    const cl_mem all[] = {w->camera, w->features, w->query, w->scores, w->positions, w->patches};
    tvlm_stack_destroy(&w->stack);
    tvlm_device_destroy(&w->device);
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) clReleaseMemObject(all[i]);
}

/* What is asked of a frame. */
typedef struct wish {
    const char *name;
    bool query, own;
    struct tvlm_select_params params;
} wish;

static const wish wishes[] = {
    {.name = "nothing", .params = {.k = K, .strategy = TVLM_STRATEGY_GRID}},
    {.name = "a query", .query = true, .params = {.k = K, .strategy = TVLM_STRATEGY_GRID}},
    {.name = "scores of one's own", .own = true, .params = {.k = K, .strategy = TVLM_STRATEGY_GRID}},
    {.name = "every texel of a level",
     .params = {.k = K, .strategy = TVLM_STRATEGY_EXHAUSTIVE, .score = {.level = 2}}},
};

/* A frame from the camera's buffer to patches. */
static void run_frame(way *w, const wish *asked) {
    const tvlm_image frame = {.width = WIDTH, .height = HEIGHT, .channels = 3};
    const struct tvlm_grid_input features = {
        .columns = COLUMNS, .rows = ROWS, .channels = DIMENSION, .replace_nonfinite = true};
    const struct tvlm_memory vectors = {.memory = w->query, .unchecked = true};
    const struct tvlm_memory values = {.memory = w->scores, .unchecked = true};
    const struct tvlm_memory positions = {.memory = w->positions, .unchecked = true};
    const struct tvlm_query query = {.vectors_in = &vectors, .dimension = DIMENSION};
    const struct tvlm_scores own = {.values_in = &values, .columns = COLUMNS, .rows = ROWS};
    struct tvlm_select_params params = asked->params;
    int32_t count = 0;
    if (asked->own) params.scores = &own;
    assert_int_equal(tvlm_stack_set_image_opencl(w->stack, 0, &frame, w->camera, 0), TVLM_OK);
    if (asked->query)
        assert_int_equal(
            tvlm_stack_set_grid_opencl(w->stack, 0, TVLM_CHANNEL_FEATURE_0, &features, w->features, 0),
            TVLM_OK);
    assert_int_equal(
        tvlm_select_opencl(w->stack, asked->query ? &query : NULL, &params, w->positions, 0, &count),
        TVLM_OK);
    assert_int_equal(count, K);
    assert_int_equal(tvlm_patches_extract_at_opencl(w->stack, &positions, K, NULL, w->patches, 0), TVLM_OK);
}

/* What the same way gives through the host. */
static void expect_frame(way *w, const wish *asked, tvlm_position positions[K], float *patches) {
    const tvlm_image frame = {.pixels = w->pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    const struct tvlm_grid_input features = {
        .data = w->vectors, .columns = COLUMNS, .rows = ROWS, .channels = DIMENSION};
    const struct tvlm_query query = {.vectors = w->asked, .dimension = DIMENSION};
    const struct tvlm_scores own = {.values = w->own, .columns = COLUMNS, .rows = ROWS};
    struct tvlm_select_params params = asked->params;
    tvlm_selection *selection = NULL;
    if (asked->own) params.scores = &own;
    assert_int_equal(tvlm_stack_set_image(w->stack, 0, &frame), TVLM_OK);
    assert_int_equal(tvlm_stack_set_grid(w->stack, 0, TVLM_CHANNEL_FEATURE_0, &features), TVLM_OK);
    assert_int_equal(tvlm_select(w->stack, asked->query ? &query : NULL, &params, &selection), TVLM_OK);
    memcpy(positions, tvlm_selection_positions(selection, NULL), K * sizeof *positions);
    assert_int_equal(tvlm_patches_extract(w->stack, positions, K, NULL, PATCHES, patches), TVLM_OK);
    tvlm_selection_destroy(&selection);
}

/* The same patches; unit vectors differ in the last digits, and two near scores may change places. */
static void check_frame(way *w, const wish *asked) {
    static float expected[PATCHES / sizeof(float)], got[PATCHES / sizeof(float)];
    tvlm_position positions[K], found[K];
    int same = 0;
    expect_frame(w, asked, positions, expected);
    run_frame(w, asked);
    assert_int_equal(
        clEnqueueReadBuffer(w->queue, w->positions, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL),
        CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(w->queue, w->patches, CL_TRUE, 0, PATCHES, got, 0, NULL, NULL),
                     CL_SUCCESS);
    for (int i = 0; i < K; ++i) {
        const size_t values = PATCHES / K / sizeof(float);
        if (positions[i].column != found[i].column || positions[i].row != found[i].row) continue;
        assert_true(positions[i].x == found[i].x && positions[i].y == found[i].y);
        assert_memory_equal(expected + (size_t)i * values, got + (size_t)i * values, PATCHES / K);
        ++same;
    }
    assert_true(asked->query ? same >= K - 2 : same == K);
}

static void check_way(way *w, const wish *asked) {
    check_frame(w, asked);
    run_frame(w, asked); /* what is made once has been made */
    const layer_commands before = layer->commands();
    run_frame(w, asked);
    const layer_commands commands = commands_after(layer, before);
    printf("    %s: %ld kernels, %ld writes of %ld bytes, %ld reads, %ld waits\n", asked->name,
           commands.kernels, commands.writes, commands.written, commands.reads, commands.waits);
    assert_int_equal(commands.reads, 0);
    assert_int_equal(commands.waits, 0);
    assert_int_equal(commands.memory, 0);
    assert_true(commands.written <= TOLD);
    assert_true(commands.kernels > 4);
}

/* Where what was handed in is checked, a few bytes come back, and nothing else. */
static void check_checked(way *w) {
    const struct tvlm_memory vectors = {.memory = w->query}, positions = {.memory = w->positions};
    const struct tvlm_query query = {.vectors_in = &vectors, .dimension = DIMENSION};
    const layer_commands before = layer->commands();
    assert_int_equal(tvlm_select_opencl(w->stack, &query,
                                        tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = K),
                                        w->positions, 0, NULL),
                     TVLM_OK);
    assert_int_equal(tvlm_patches_extract_at_opencl(w->stack, &positions, K, NULL, w->patches, 0), TVLM_OK);
    const layer_commands commands = commands_after(layer, before);
    assert_int_equal(commands.reads, 2);
    assert_int_equal(commands.read, 2 * sizeof(cl_int));
}

static void ways(const test_target *target, tvlm_device *reference) {
    static way w;
    (void)reference;
    start(&w, target, 91);
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; ++i) check_way(&w, &wishes[i]);
    run_frame(&w, &wishes[1]);
    check_checked(&w);
    stop(&w);
}

static void test_ways(void **state) {
    (void)state;
    test_on_targets(ways);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ways)};
    layer = use_layer();
    if (layer == NULL) return 77;
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
