/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_interop_out.c: what comes out into memory of the device equals what comes out on the host: scores,
 * rankings, positions, patches at them, exports; and questions whose vectors are there. The buffers are a device's own,
 * handed in as an application's.
 */
#include "holes_helper.h"
#include "stack/frame.h"
#include "stack/inside.h"
#include "stack_helper.h"
#include "support_stage.h"
#include "texturevlm/lab/trainer.h"
#include "texturevlm/opencl.h"

enum {
    WIDTH = 149,
    HEIGHT = 83,
    COLUMNS = 10,
    ROWS = 6,
    CELLS = COLUMNS * ROWS,
    OFFSET = 12,
    DIMENSION = 20,
    BEYOND = 1 << 16
};

/* ---- Memory ---- */

static cl_mem handle_of(tvlm_device *device, tvlm_buffer *buffer) {
    void *handle = NULL;
    assert_int_equal(device->backend->buffer_native(device, buffer, &handle), TVLM_OK);
    return handle;
}

/* A buffer of OFFSET bytes and what is given. */
static tvlm_buffer *behind_offset(tvlm_device *device, size_t bytes, const void *data) {
    unsigned char *all = calloc(OFFSET + bytes, 1);
    assert_non_null(all);
    if (data != NULL) memcpy(all + OFFSET, data, bytes);
    tvlm_buffer *buffer = test_buffer(device, OFFSET + bytes, all);
    free(all);
    return buffer;
}

/* Reads what is behind `offset`, and checks that nothing before and behind it was touched. */
static void take(tvlm_device *device, tvlm_buffer **buffer, size_t offset, size_t bytes, void *data) {
    unsigned char *all = malloc(offset + bytes);
    assert_non_null(all);
    test_buffer_take(device, buffer, offset + bytes, all);
    for (size_t i = 0; i < offset; ++i) assert_int_equal(all[i], 0);
    memcpy(data, all + offset, bytes);
    free(all);
}

/* ---- Scores and rankings ---- */

static void check_scores(tvlm_device *device, tvlm_format format) {
    float expected[CELLS], got[CELLS];
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 51);
    assert_int_equal(tvlm_score(stack, NULL, NULL, CELLS, expected), TVLM_OK);
    tvlm_buffer *out = behind_offset(device, sizeof got, NULL);
    cl_mem memory = handle_of(device, out);
    assert_int_equal(tvlm_score_opencl(stack, NULL, NULL, memory, OFFSET), TVLM_OK);
    refused(tvlm_score_opencl(stack, NULL, NULL, memory, OFFSET + BEYOND), TVLM_ERROR_ARGUMENT,
            "scores: 240 bytes from byte");
    refused(tvlm_score_opencl(stack, NULL, NULL, memory, 1), TVLM_ERROR_ARGUMENT, "from byte 1 on");
    refused(tvlm_score_opencl(stack, NULL, NULL, NULL, 0), TVLM_ERROR_ARGUMENT, "out is NULL");
    take(device, &out, OFFSET, sizeof got, got);
    assert_memory_equal(got, expected, sizeof got);
    tvlm_stack_destroy(&stack);
}

static void check_ranking(tvlm_device *device, tvlm_format format) {
    enum { N = 5000, K = 300 };
    static float scores[N];
    float values[K];
    int32_t indices[K];
    struct {
        int32_t index;
        float score;
    } got[K];
    uint64_t random = 9;
    (void)format;
    for (int i = 0; i < N; ++i) scores[i] = (float)(test_random(&random) % 1000);
    assert_int_equal(tvlm_topk(device, scores, N, K, indices, values), TVLM_OK);
    for (size_t offset = 0; offset <= OFFSET; offset += OFFSET) {
        tvlm_buffer *from = offset > 0 ? behind_offset(device, sizeof scores, scores)
                                       : test_buffer(device, sizeof scores, scores);
        tvlm_buffer *to = behind_offset(device, sizeof got - OFFSET + offset, NULL);
        cl_mem in = handle_of(device, from), out = handle_of(device, to);
        assert_int_equal(tvlm_topk_opencl(device, in, offset, N, K, out, offset), TVLM_OK);
        refused(tvlm_topk_opencl(device, in, offset, N, N + 1, out, offset), TVLM_ERROR_ARGUMENT, "k is");
        refused(tvlm_topk_opencl(device, in, offset, 0, 0, out, offset), TVLM_ERROR_ARGUMENT, "n is 0");
        refused(tvlm_topk_opencl(device, in, offset + BEYOND, N, K, out, offset), TVLM_ERROR_ARGUMENT,
                "scores: 20000 bytes from byte");
        refused(tvlm_topk_opencl(device, in, offset, N, N, out, offset), TVLM_ERROR_ARGUMENT,
                "the ranking: 40000 bytes from byte");
        refused(tvlm_topk_opencl(device, NULL, 0, N, K, out, 0), TVLM_ERROR_ARGUMENT, "scores is NULL");
        refused(tvlm_topk_opencl(device, in, 0, N, K, NULL, 0), TVLM_ERROR_ARGUMENT, "ranking is NULL");
        take(device, &to, offset, sizeof got, got);
        device->backend->buffer_destroy(device, &from);
        for (int i = 0; i < K; ++i) assert_true(got[i].index == indices[i] && got[i].score == values[i]);
    }
}

/* ---- Positions ---- */

/* The same positions as tvlm_select's, to the bit where cells are whole pixels of the image. */
static void check_selection(tvlm_stack *stack, const struct tvlm_select_params *params, float tolerance) {
    static tvlm_position got[CELLS];
    tvlm_device *const device = tvlm_stack_device(stack);
    tvlm_selection *selection = NULL;
    int32_t count = -1, expected_count;
    assert_int_equal(tvlm_select(stack, NULL, params, &selection), TVLM_OK);
    const tvlm_position *expected = tvlm_selection_positions(selection, &expected_count);
    const size_t bytes = (size_t)expected_count * sizeof *expected;
    tvlm_buffer *out = behind_offset(device, bytes, NULL);
    cl_mem memory = handle_of(device, out);
    if (tvlm_select_opencl(stack, NULL, params, memory, OFFSET, &count) != TVLM_OK)
        fail_msg("%s", test_last_log());
    assert_int_equal(count, expected_count);
    assert_int_equal(tvlm_select_opencl(stack, NULL, params, memory, OFFSET, NULL), TVLM_OK);
    refused(tvlm_select_opencl(stack, NULL, params, memory, OFFSET + BEYOND, &count), TVLM_ERROR_ARGUMENT,
            "the cl_mem has");
    take(device, &out, OFFSET, bytes, got);
    for (int32_t i = 0; tolerance > 0.0f && i < count; ++i) {
        assert_true(fabsf(got[i].x - expected[i].x) <= tolerance * expected[i].x);
        assert_true(fabsf(got[i].y - expected[i].y) <= tolerance * expected[i].y);
        got[i].x = expected[i].x;
        got[i].y = expected[i].y;
    }
    assert_memory_equal(got, expected, bytes);
    tvlm_selection_destroy(&selection);
}

static const struct tvlm_select_params ways[] = {
    {.strategy = TVLM_STRATEGY_GRID, .k = 20},
    {.strategy = TVLM_STRATEGY_GRID, .k = 0},
    {.strategy = TVLM_STRATEGY_GRID, .k = 9, .score = {.stride = 14}, .patch = 10},
    {.strategy = TVLM_STRATEGY_EXHAUSTIVE, .k = 30, .score = {.level = 2}},
    {.strategy = TVLM_STRATEGY_GRID, .k = 12, .best.min_distance = 40},
    {.k = 20, .best.overview = 0.5f},
    {.strategy = TVLM_STRATEGY_QUADTREE, .k = 13},
    {.strategy = TVLM_STRATEGY_FOVEATED, .k = 11},
    {.strategy = TVLM_STRATEGY_CASCADE, .k = 6},
    {.k = 17},
};

static void check_selections(tvlm_device *device, tvlm_format format) {
    uint64_t seed = 52;
    int32_t count;
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 52), *small = NULL;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
        const bool whole =
            ways[i].strategy != TVLM_STRATEGY_EXHAUSTIVE; /* texels of a level are no pixels wide */
        check_selection(stack, &ways[i], whole ? 0.0f : 1e-6f);
    }
    tvlm_buffer *out = test_buffer(device, CELLS * sizeof(tvlm_position), NULL);
    cl_mem memory = handle_of(device, out);
    refused(tvlm_select_opencl(stack, NULL,
                               tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = CELLS + 1), memory, 0,
                               &count),
            TVLM_ERROR_ARGUMENT, "k is 61");
    refused(tvlm_select_opencl(stack, NULL,
                               tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .keep_scores = true),
                               memory, 0, &count),
            TVLM_ERROR_ARGUMENT, "keep_scores");
    refused(tvlm_select_opencl(stack, NULL, NULL, NULL, 0, &count), TVLM_ERROR_ARGUMENT, "positions is NULL");
    device->backend->buffer_destroy(device, &out);
    /* An image that is larger than its stack. */
    uint8_t *pixels = test_random_pixels(&seed, 3 * WIDTH, 2 * HEIGHT + 5, 3);
    const tvlm_image image = u8_image(pixels, 3 * WIDTH, 2 * HEIGHT + 5, 3);
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .format = format),
                                       &small),
                     TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(small, 0, &image), TVLM_OK);
    for (size_t i = 0; i < 4; ++i) check_selection(small, &ways[i], 1e-6f);
    free(pixels);
    tvlm_stack_destroy(&small);
    tvlm_stack_destroy(&stack);
}

/* What was selected on the device is remembered as looked at, as what was selected on the host is. */
static void check_remembered(tvlm_device *device, tvlm_format format) {
    float *fixations[2];
    size_t count = 0;
    for (int there = 0; there < 2; ++there) {
        tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 53);
        const struct tvlm_select_params *params = tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = 5);
        tvlm_selection *selection = NULL;
        tvlm_buffer *out = test_buffer(device, 5 * sizeof(tvlm_position), NULL);
        if (there > 0)
            assert_int_equal(tvlm_select_opencl(stack, NULL, params, handle_of(device, out), 0, NULL),
                             TVLM_OK);
        else
            assert_int_equal(tvlm_select(stack, NULL, params, &selection), TVLM_OK);
        const float *positions;
        int32_t known;
        if (there > 0 && format == TVLM_FORMAT_F32) { /* a stream asks for them, too */
            assert_int_equal(tvlm_stack_positions(stack, 0, &positions, &known), TVLM_OK);
            assert_int_equal(known, 5);
        }
        assert_int_equal(tvlm_stack_advance(stack, 0, NULL), TVLM_OK);
        fixations[there] = read_level(stack, 0, TVLM_CHANNEL_FIXATION, 0, &count);
        device->backend->buffer_destroy(device, &out);
        tvlm_selection_destroy(&selection);
        tvlm_stack_destroy(&stack);
    }
    assert_memory_equal(fixations[0], fixations[1], count * sizeof(float));
    float most = 0.0f;
    for (size_t i = 0; i < count; ++i) most = fmaxf(most, fixations[1][i]);
    assert_true(most > 0.0f);
    free(fixations[0]);
    free(fixations[1]);
}

/* ---- Patches ---- */

/* A thumbnail that is named is found among positions on the device, too; and into a buffer as well as to the host. Of
 * the selection's positions the first `count` are taken. */
static void compare_thumbnail(tvlm_device *device, tvlm_stack *stack, const tvlm_selection *selection,
                              int32_t count) {
    enum { MOST = 32, SIDE = 8, BYTES = 3 * SIDE * SIDE * 4 };
    static unsigned char expected[MOST * BYTES], got[2][MOST * BYTES];
    const size_t bytes = (size_t)count * BYTES;
    struct tvlm_patches_params params = {.side = SIDE};
    tvlm_selection_info info;
    assert_in_range(count, 1, MOST);
    assert_int_equal(tvlm_selection_get_info(selection, &info), TVLM_OK);
    tvlm_position some[MOST];
    memcpy(some, tvlm_selection_positions(selection, NULL), (size_t)count * sizeof *some);
    assert_int_equal(tvlm_patches_extract(stack, some, count, &params, bytes, expected), TVLM_OK);
    tvlm_buffer *at = behind_offset(device, (size_t)count * sizeof *some, some);
    for (int way = 0; way < 2; ++way) {
        tvlm_buffer *out = behind_offset(device, bytes, NULL);
        const struct tvlm_memory there = {.memory = handle_of(device, at), .byte_offset = OFFSET};
        cl_mem to = handle_of(device, out);
        if (way == 1) {
            params.thumbnail_columns = info.thumbnail_columns;
            params.thumbnail_rows = info.thumbnail_rows;
            params.thumbnail_cells = info.thumbnail_cells;
        }
        assert_int_equal(way == 0 ? tvlm_patches_extract_opencl(stack, some, count, &params, to, OFFSET)
                                  : tvlm_patches_extract_at_opencl(stack, &there, count, &params, to, OFFSET),
                         TVLM_OK);
        take(device, &out, OFFSET, bytes, got[way]);
    }
    assert_memory_equal(got[0], expected, bytes);
    for (size_t i = 0; i < bytes; i += sizeof(float)) { /* places are worked out in float there */
        float values[2];
        memcpy(&values[0], got[1] + i, sizeof(float));
        memcpy(&values[1], expected + i, sizeof(float));
        assert_float_equal(values[0], values[1], 1e-3f);
    }
    device->backend->buffer_destroy(device, &at);
}

/* Of a strategy; and of one with empty cells, without those of its tiles that are read in another way there. */
static void check_thumbnail(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 54);
    tvlm_selection *selection = NULL, *holes = holes_selection(WIDTH, HEIGHT, 4, 3, 8.0f);
    tvlm_selection_info info;
    assert_non_null(holes);
    assert_int_equal(
        tvlm_select(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_BUDGET, .k = 12), &selection),
        TVLM_OK);
    compare_thumbnail(device, stack, selection, 12);
    assert_int_equal(tvlm_selection_get_info(holes, &info), TVLM_OK);
    compare_thumbnail(device, stack, holes, info.thumbnail_cells + 1);
    tvlm_selection_destroy(&holes);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

static void check_patches(tvlm_device *device, tvlm_format format) {
    enum { K = 17, SIDE = 14, BYTES = K * 3 * SIDE * SIDE * 4 };
    static unsigned char expected[BYTES], got[BYTES];
    const struct tvlm_patches_params params = {.side = SIDE};
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 54);
    tvlm_selection *selection = NULL;
    assert_int_equal(
        tvlm_select(stack, NULL,
                    tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = K, .score = {.stride = 14}),
                    &selection),
        TVLM_OK);
    const tvlm_position *positions = tvlm_selection_positions(selection, NULL);
    tvlm_position some[K];
    memcpy(some, positions, sizeof some);
    assert_int_equal(tvlm_patches_extract(stack, positions, K, &params, BYTES, expected), TVLM_OK);
    tvlm_buffer *at = behind_offset(device, sizeof some, some), *out = behind_offset(device, BYTES, NULL);
    struct tvlm_memory there = {.memory = handle_of(device, at), .byte_offset = OFFSET};
    cl_mem to = handle_of(device, out);
    for (int unchecked = 0; unchecked < 2; ++unchecked) {
        there.unchecked = unchecked > 0;
        assert_int_equal(tvlm_patches_extract_at_opencl(stack, &there, K, &params, to, OFFSET), TVLM_OK);
    }
    take(device, &out, OFFSET, BYTES, got);
    assert_memory_equal(got, expected, BYTES); /* whole pixels: to the bit */

    /* Rectangles, which the cells of a budget's thumbnail are, between two levels. */
    for (int i = 3; i < K; i += 5) some[i].height = 40.0f;
    assert_int_equal(tvlm_patches_extract(stack, some, K, &params, BYTES, expected), TVLM_OK);
    assert_int_equal(device->backend->buffer_write(device, at, OFFSET, sizeof some, some), TVLM_OK);
    out = behind_offset(device, BYTES, NULL);
    assert_int_equal(
        tvlm_patches_extract_at_opencl(stack, &there, K, &params, handle_of(device, out), OFFSET), TVLM_OK);
    take(device, &out, OFFSET, BYTES, got);
    for (size_t i = 0; i < BYTES; i += sizeof(float)) {
        float values[2];
        memcpy(&values[0], got + i, sizeof(float));
        memcpy(&values[1], expected + i, sizeof(float));
        assert_float_equal(values[0], values[1], 1e-4f);
    }

    out = behind_offset(device, BYTES, NULL);
    to = handle_of(device, out);
    refused(tvlm_patches_extract_at_opencl(stack, &there, K + BEYOND, &params, to, 0), TVLM_ERROR_ARGUMENT,
            "bytes from byte 12 on");
    refused(tvlm_patches_extract_at_opencl(stack, &there, K, &params, to, OFFSET + BEYOND),
            TVLM_ERROR_ARGUMENT, "patches from byte");
    refused(tvlm_patches_extract_at_opencl(stack, NULL, K, &params, to, 0), TVLM_ERROR_ARGUMENT,
            "positions is NULL");
    refused(tvlm_patches_extract_at_opencl(stack, &there, -1, &params, to, 0), TVLM_ERROR_ARGUMENT,
            "-1 positions");
    some[9].size = 0.0f;
    assert_int_equal(device->backend->buffer_write(device, at, OFFSET, sizeof some, some), TVLM_OK);
    there.unchecked = false;
    refused(tvlm_patches_extract_at_opencl(stack, &there, K, &params, to, 0), TVLM_ERROR_ARGUMENT,
            "position 9 has");
    there.unchecked = true;
    assert_int_equal(tvlm_patches_extract_at_opencl(stack, &there, K, &params, to, 0), TVLM_OK);
    device->backend->buffer_destroy(device, &at);
    device->backend->buffer_destroy(device, &out);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

/* ---- Questions ---- */

/* The same scores, but for the rounding of unit vectors. */
static void check_question(tvlm_stack *stack, const struct tvlm_query *query,
                           const struct tvlm_score_params *params) {
    tvlm_device *const device = tvlm_stack_device(stack);
    const size_t bytes = (size_t)(query->count > 0 ? query->count : 1) * DIMENSION * sizeof(float);
    tvlm_buffer *vectors = behind_offset(device, bytes, query->vectors);
    struct tvlm_memory there = {.memory = handle_of(device, vectors), .byte_offset = OFFSET};
    struct tvlm_query asked = *query;
    float expected[CELLS], got[CELLS];
    assert_int_equal(tvlm_score(stack, query, params, CELLS, expected), TVLM_OK);
    asked.vectors = NULL;
    asked.vectors_in = &there;
    for (int unchecked = 0; unchecked < 2; ++unchecked) {
        there.unchecked = unchecked > 0;
        if (tvlm_score(stack, &asked, params, CELLS, got) != TVLM_OK) fail_msg("%s", test_last_log());
        test_compare("a question on the device", got, expected, CELLS, 2e-5f, 2e-6f);
        assert_true(got[0] != got[CELLS - 1]);
    }
    tvlm_selection *selections[2] = {NULL, NULL};
    const struct tvlm_select_params *cascade =
        tvlm_select_params(.strategy = TVLM_STRATEGY_CASCADE, .k = 5, .score = *params);
    assert_int_equal(tvlm_select(stack, query, cascade, &selections[0]), TVLM_OK);
    assert_int_equal(tvlm_select(stack, &asked, cascade, &selections[1]), TVLM_OK);
    same_positions(selections[1], selections[0]); /* this one reads the vectors back */
    for (int i = 0; i < 2; ++i) tvlm_selection_destroy(&selections[i]);
    there.byte_offset = OFFSET + BEYOND;
    refused(tvlm_score(stack, &asked, params, CELLS, got), TVLM_ERROR_ARGUMENT, "the query's vectors: ");
    there.byte_offset = OFFSET;
    asked.vectors = query->vectors;
    refused(tvlm_score(stack, &asked, params, CELLS, got), TVLM_ERROR_ARGUMENT,
            "vectors on the host and on the device");
    device->backend->buffer_destroy(device, &vectors);
}

static void check_bad_vectors(tvlm_stack *stack, float *vectors) {
    tvlm_device *const device = tvlm_stack_device(stack);
    float got[CELLS], still[CELLS];
    struct tvlm_memory there = {0};
    for (int i = 0; i < DIMENSION; ++i) vectors[2 * DIMENSION + i] = 0.0f;
    for (int bad = 0; bad < 2; ++bad) {
        vectors[2 * DIMENSION + 3] = bad > 0 ? NAN : 0.0f;
        for (int only = 0; only < 2; ++only) { /* among others, and alone */
            tvlm_buffer *buffer = test_buffer(device, 3 * DIMENSION * sizeof *vectors, vectors);
            const struct tvlm_query query = {
                .vectors_in = &there, .count = only > 0 ? 1 : 3, .dimension = DIMENSION};
            there = (struct tvlm_memory){.memory = handle_of(device, buffer),
                                         .byte_offset = only > 0 ? 2 * DIMENSION * sizeof(float) : 0};
            refused(tvlm_score(stack, &query, NULL, CELLS, got), TVLM_ERROR_ARGUMENT,
                    only > 0 ? "query 0 is a zero vector" : "query 2 is a zero vector");
            there.unchecked = true;
            assert_int_equal(tvlm_score(stack, &query, NULL, CELLS, got), TVLM_OK);
            for (int i = 0; i < CELLS; ++i) assert_true(isfinite(got[i]));
            device->backend->buffer_destroy(device, &buffer);
        }
    }
    /* Alone it is like nothing: only the image's own parts are left. */
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.weights = (const float[]){0.1f, 0.1f, 0.8f}),
                                CELLS, still),
                     TVLM_OK);
    assert_memory_equal(got, still, sizeof got);
}

static void check_questions(tvlm_device *device, tvlm_format format) {
    static const int32_t channels[2] = {TVLM_CHANNEL_EDGES, TVLM_CHANNEL_ENTROPY};
    static const float weights[2] = {0.5f, 0.25f};
    float features[12 * DIMENSION], vectors[3 * DIMENSION], mean[DIMENSION], matrix[2 * DIMENSION];
    uint64_t random = 11;
    struct tvlm_basis *basis = NULL;
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 55);
    for (size_t i = 0; i < sizeof features / sizeof *features; ++i)
        features[i] = test_random_unit(&random) - 0.5f;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i)
        vectors[i] = 3.0f * test_random_unit(&random) - 1.0f;
    for (int i = 0; i < DIMENSION; ++i) mean[i] = 0.3f * test_random_unit(&random);
    for (int i = 0; i < 2 * DIMENSION; ++i) matrix[i] = test_random_unit(&random) - 0.5f;
    assert_int_equal(tvlm_stack_set_grid(
                         stack, 0, TVLM_CHANNEL_FEATURE_0,
                         tvlm_grid_input(.data = features, .columns = 4, .rows = 3, .channels = DIMENSION)),
                     TVLM_OK);
    const struct tvlm_score_params plain = {0};
    const tvlm_scorer scorer = {.channel_count = 2,
                                .channels = channels,
                                .weights = weights,
                                .similarity_weight = 1.0f,
                                .query_weights = matrix,
                                .dimension = DIMENSION};
    const struct tvlm_score_params scored = {.scorer = &scorer};
    struct tvlm_query query = {.vectors = vectors, .dimension = DIMENSION};
    check_question(stack, &query, &plain);
    check_question(stack, &query, &scored);
    query.mean = mean;
    check_question(stack, &query, &plain);
    query.count = 3;
    check_question(stack, &query, &plain);
    query.mean = NULL;
    query.combine = TVLM_COMBINE_MEAN;
    check_question(stack, &query, &plain);
    assert_int_equal(tvlm_basis_of_image(stack, 0, tvlm_image_basis_params(.k = 4), &basis), TVLM_OK);
    assert_int_equal(tvlm_stack_embed(stack, 0, basis), TVLM_OK);
    query.basis = basis;
    check_question(stack, &query, &plain);
    check_bad_vectors(stack, vectors);
    tvlm_basis_destroy(&basis);
    tvlm_stack_destroy(&stack);
}

/* ---- Exports ---- */

/* Every tensor of two pictures, as it is read to the host. */
static void check_export(tvlm_device *device, tvlm_format format) {
    static const tvlm_export_model models[] = {TVLM_EXPORT_QWEN2_VL, TVLM_EXPORT_CLIP};
    uint64_t seed = 57;
    uint8_t *pixels = test_random_pixels(&seed, 60, 90, 3);
    const tvlm_image images[2] = {u8_image(pixels, 60, 90, 3), u8_image(pixels, 90, 60, 3)};
    for (size_t m = 0; m < sizeof models / sizeof *models; ++m) {
        tvlm_export *exported = NULL;
        const struct tvlm_export_params params = {
            .model = models[m], .format = format, .side = m > 0 ? 56 : 0, .patch = m > 0 ? 14 : 0};
        assert_int_equal(tvlm_export_create(device, &params, &exported), TVLM_OK);
        assert_int_equal(tvlm_export_run(exported, images, 2, NULL, NULL), TVLM_OK);
        for (int32_t i = 0; i < tvlm_export_tensor_count(exported); ++i) {
            tvlm_export_tensor tensor;
            assert_int_equal(tvlm_export_get_tensor(exported, i, &tensor), TVLM_OK);
            unsigned char *expected = malloc(tensor.bytes), *got = malloc(tensor.bytes);
            assert_true(expected != NULL && got != NULL);
            assert_int_equal(tvlm_export_read(exported, i, tensor.bytes, expected), TVLM_OK);
            tvlm_buffer *out = behind_offset(device, tensor.bytes, NULL);
            cl_mem memory = handle_of(device, out);
            assert_int_equal(tvlm_export_read_opencl(exported, i, memory, OFFSET), TVLM_OK);
            refused(tvlm_export_read_opencl(exported, i, memory, OFFSET + BEYOND * 64), TVLM_ERROR_ARGUMENT,
                    tensor.name);
            refused(tvlm_export_read_opencl(exported, i, NULL, 0), TVLM_ERROR_ARGUMENT, "data is NULL");
            take(device, &out, OFFSET, tensor.bytes, got);
            assert_memory_equal(got, expected, tensor.bytes);
            free(expected);
            free(got);
        }
        tvlm_buffer *none = test_buffer(device, 16, NULL);
        refused(tvlm_export_read_opencl(exported, 99, handle_of(device, none), 0), TVLM_ERROR_ARGUMENT,
                "no tensor 99");
        device->backend->buffer_destroy(device, &none);
        tvlm_export_destroy(&exported);
    }
    free(pixels);
}

/* ---- Features without a direction ---- */

static void check_pointless(tvlm_device *device, tvlm_format format) {
    static const float zero[4] = {0}, huge[4] = {1e30f, 0, 0, -3e38f}, good[4] = {0, 0, 2, 1},
                       asked[2] = {1, 2};
    const float *const given[] = {zero, huge, good};
    float scores[CELLS];
    const struct tvlm_query query = {.vectors = asked, .dimension = 2};
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 56);
    for (int i = 0; i < 3; ++i) {
        tvlm_buffer *buffer = test_buffer(device, 16, given[i]);
        struct tvlm_grid_input input = {.columns = 2, .rows = 1, .channels = 2};
        assert_int_equal(tvlm_stack_set_grid_opencl(stack, 0, TVLM_CHANNEL_FEATURE_0, &input,
                                                    handle_of(device, buffer), 0),
                         TVLM_OK);
        if (i < 2)
            refused(tvlm_score(stack, &query, NULL, CELLS, scores), TVLM_ERROR_ARGUMENT,
                    "no question can be compared with the features of image 0");
        else
            assert_int_equal(tvlm_score(stack, &query, NULL, CELLS, scores), TVLM_OK);
        device->backend->buffer_destroy(device, &buffer);
    }
    tvlm_stack_destroy(&stack);
}

static int devices_seen; /* the reference has no memory of OpenCL */

static void all_of_it(const test_target *target, tvlm_device *reference) {
    static device_check *const checks[] = {check_scores,     check_ranking,   check_selections,
                                           check_remembered, check_thumbnail, check_patches,
                                           check_questions,  check_export,    check_pointless};
    (void)reference;
    if (!test_is_opencl(target->device)) return;
    ++devices_seen;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; ++i) checks[i](target->device, target->format);
}

static void test_targets(void **state) {
    (void)state;
    test_on_targets(all_of_it);
    if (devices_seen == 0) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_targets)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed != 0 ? failed : devices_seen == 0 ? 77 : 0;
}
