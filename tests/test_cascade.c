/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strategies cascade and exhaustive: what they choose beside the grid and every texel's score, what they
 * read, that cells read alone are those read together, and what a guide says of regions.
 */
#include "select/guide.h"
#include "select/score.h"
#include "stack/query.h"
#include "stack_helper.h"

enum { WIDTH = 149, HEIGHT = 131, COLUMNS = 10, ROWS = 9, CELLS = COLUMNS * ROWS, DIMENSION = 10 };
enum { GRID_W = 13, GRID_H = 11, VECTORS = GRID_W * GRID_H };

/* Smooth vectors with noise, some of them zero. */
static void make_features(uint64_t *seed, float *features) {
    for (int32_t i = 0; i < VECTORS; ++i)
        for (int32_t d = 0; d < DIMENSION; ++d) {
            const float x = (float)(i % GRID_W) / GRID_W, y = (float)(i / GRID_W) / GRID_H;
            const float value = sinf(6.0f * x * (float)(d + 1)) + cosf(5.0f * y + (float)d);
            features[i * DIMENSION + d] = i % 29 == 7 ? 0.0f : value + test_random_unit(seed);
        }
}

static tvlm_stack *featured_stack(tvlm_device *device, tvlm_format format, int32_t clusters, float cell) {
    uint64_t seed = 91;
    float features[VECTORS * DIMENSION];
    uint8_t *const pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stack *stack = NULL;
    assert_int_equal(tvlm_stack_create_for_image(
                         device, &image, tvlm_stack_params(.format = format, .clusters = clusters), &stack),
                     TVLM_OK);
    free(pixels);
    make_features(&seed, features);
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                                         tvlm_grid_input(.data = features, .columns = GRID_W, .rows = GRID_H,
                                                         .channels = DIMENSION, .cell = cell)),
                     TVLM_OK);
    return stack;
}

static void make_queries(float *queries, int32_t count) {
    uint64_t seed = 17;
    for (int32_t i = 0; i < count * DIMENSION; ++i) queries[i] = test_random_unit(&seed) - 0.4f;
}

static tvlm_selection *chosen(tvlm_stack *stack, const struct tvlm_query *query,
                              const struct tvlm_select_params *params) {
    tvlm_selection *selection = NULL;
    const tvlm_status status = tvlm_select(stack, query, params, &selection);
    if (status != TVLM_OK) fail_msg("%s", test_last_log());
    return selection;
}

static const int32_t linear_channels[] = {TVLM_CHANNEL_EDGES, TVLM_CHANNEL_LOW, TVLM_CHANNEL_X,
                                          TVLM_CHANNEL_SALIENCY, TVLM_CHANNEL_ENTROPY};
static const float linear_weights[5 * 9] = {
    0.9f,  -0.4f, 0.3f, 0.2f,  0.1f, -0.7f, 0.3f, 0.8f, -0.1f, 0.2f, 0.1f, 0.5f, -0.3f, 0.4f, 0.6f,
    -0.2f, 0.1f,  0.3f, -0.1f, 0.2f, 0.3f,  0.1f, 0.0f, 0.3f,  0.2f, 0.1f, 0.1f, 0.3f,  0.1f, 0.4f,
    0.2f,  0.6f,  0.1f, -0.2f, 0.1f, 0.2f,  0.1f, 0.2f, 0.1f,  0.3f, 0.2f, 0.1f, 0.1f,  0.2f, 0.3f};

/* ---- With all regions, it is the grid ---- */

/*
 * A linear scorer has no ranges: a cell's score is the grid's, whatever else was seen. Tolerance: sums of up
 * to 46 terms below 1, in another order.
 */
static void check_linear(tvlm_device *device, tvlm_format format, int32_t taps, float stride, float cell,
                         int32_t vectors, tvlm_query_combine combine) {
    float queries[3 * DIMENSION];
    tvlm_stack *stack = featured_stack(device, format, 12, cell);
    const tvlm_scorer scorer = {.channel_count = 5,
                                .channels = linear_channels,
                                .taps = taps,
                                .weights = linear_weights,
                                .similarity_weight = 2.0f,
                                .bias = 0.25f};
    make_queries(queries, 3);
    const struct tvlm_query query = {
        .vectors = queries, .count = vectors, .dimension = DIMENSION, .combine = combine};
    const struct tvlm_score_params grid = {.scorer = &scorer, .stride = stride};
    int32_t columns, rows, count;
    assert_int_equal(tvlm_score_size(stack, &grid, &columns, &rows), TVLM_OK);
    const size_t cells = (size_t)columns * (size_t)rows;
    float *const scores = malloc(cells * sizeof *scores), *const found = calloc(cells, sizeof *found),
                 *const expected = calloc(cells, sizeof *expected);
    assert_true(scores != NULL && found != NULL && expected != NULL);
    assert_int_equal(tvlm_score(stack, &query, &grid, cells, scores), TVLM_OK);
    for (int keep = 3; keep <= 99; keep += 96) {
        tvlm_selection *selection =
            chosen(stack, &query,
                   tvlm_select_params(.k = keep > 12 ? (int32_t)cells : 1, .strategy = TVLM_STRATEGY_CASCADE,
                                      .score.stride = stride, .score.scorer = &scorer,
                                      .cascade.keep_regions = keep, .cascade.cull_distance = 2.0f));
        const tvlm_position *const p = tvlm_selection_positions(selection, &count);
        assert_int_equal(count, keep > 12 ? cells : 1);
        for (int32_t i = 0; i < count; ++i) {
            const size_t at = (size_t)p[i].row * (size_t)columns + (size_t)p[i].column;
            found[i] = p[i].score;
            expected[i] = scores[at];
            assert_true(i == 0 || p[i].score <= p[i - 1].score);
        }
        test_compare("scores", found, expected, (size_t)count, 4e-5f, 1e-5f);
        tvlm_selection_destroy(&selection);
    }
    free(scores);
    free(found);
    free(expected);
    tvlm_stack_destroy(&stack);
}

static void check_scores(tvlm_device *device, tvlm_format format) {
    check_linear(device, format, 1, 16.0f, 0.0f, 1, TVLM_COMBINE_MAX);
    check_linear(device, format, 9, 16.0f, 0.0f, 1, TVLM_COMBINE_MAX);
    if (test_small()) return;
    check_linear(device, format, 1, 9.5f, 12.0f, 1, TVLM_COMBINE_MAX);
    check_linear(device, format, 9, 40.0f, 0.0f, 3,
                 TVLM_COMBINE_MEAN); /* own levels between two of the features */
    check_linear(device, format, 1, 23.0f, 12.0f, 3, TVLM_COMBINE_MAX);
}

/*
 * The default score: with all regions in view its ranges are the grid's, and so are its scores. Tolerance:
 * parts' rounding, over ranges of about 0.3.
 */
static void check_parts(tvlm_device *device, tvlm_format format) {
    float vector[DIMENSION], scores[CELLS], found[CELLS], expected[CELLS];
    tvlm_stack *stack = featured_stack(device, format, 12, 0.0f);
    int32_t count;
    make_queries(vector, 1);
    for (int asked = 0; asked < 2; ++asked) {
        const struct tvlm_query query = {.vectors = vector, .dimension = DIMENSION};
        const struct tvlm_query *const q = asked ? &query : NULL;
        assert_int_equal(tvlm_score(stack, q, NULL, CELLS, scores), TVLM_OK);
        tvlm_selection *selection =
            chosen(stack, q,
                   tvlm_select_params(.strategy = TVLM_STRATEGY_CASCADE, .cascade.keep_regions = 99,
                                      .cascade.cull_distance = 2.0f));
        const tvlm_position *const p = tvlm_selection_positions(selection, &count);
        assert_int_equal(count, CELLS);
        for (int32_t i = 0; i < CELLS; ++i) {
            found[i] = p[i].score;
            expected[i] = scores[p[i].row * COLUMNS + p[i].column];
        }
        test_compare("scores", found, expected, CELLS, 1e-4f, 2e-5f);
        tvlm_selection_destroy(&selection);
    }
    tvlm_stack_destroy(&stack);
}

/* ---- Few regions ---- */

/*
 * Squares that cover 256 x 256 pixels, of which only the upper right 64 x 64 are looked into: 16 of the
 * patch's side there, and what quarters leave of the rest. More are not made, whatever k.
 */
static void check_cover(tvlm_stack *stack, const struct tvlm_query *query, const float weights[3]) {
    for (int32_t k = 22; k <= 300; k += 278) {
        const struct tvlm_select_params params = {.k = k,
                                                  .score.weights = weights,
                                                  .strategy = TVLM_STRATEGY_CASCADE,
                                                  .cascade.keep_regions = 1,
                                                  .cascade.cull_distance = 2.0f,
                                                  .cascade.cover = true};
        int32_t count, small = 0;
        float area = 0.0f;
        tvlm_selection_report report;
        tvlm_selection *selection = chosen(stack, query, &params);
        const tvlm_position *const p = tvlm_selection_positions(selection, &count);
        tvlm_selection_get_report(selection, &report);
        assert_int_equal(count, 22);
        assert_int_equal(report.stage_count, 2);
        assert_int_equal(report.stages[1].kept, 22);
        for (int32_t i = 0; i < count; ++i) {
            const bool inside = p[i].x > 192.0f && p[i].y < 64.0f;
            assert_true(p[i].size == (inside ? 16.0f : p[i].x > 128.0f && p[i].y < 128.0f ? 64.0f : 128.0f));
            assert_true(p[i].level == log2f(p[i].size / 16.0f));
            assert_true(p[i].score == (inside ? 1.0f : 0.0f));
            small += inside;
            area += p[i].size * p[i].size;
        }
        assert_int_equal(small, 16);
        assert_true(area == 65536.0f);
        tvlm_selection_destroy(&selection);
    }
    tvlm_selection *none = NULL;
    refused(tvlm_select(stack, query,
                        tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .cascade.cover = true), &none),
            TVLM_ERROR_ARGUMENT, "cover is for the strategy cascade, not for grid");
    refused(tvlm_select(stack, query,
                        tvlm_select_params(.strategy = TVLM_STRATEGY_CASCADE, .cascade.cover = true,
                                           .best.min_distance = 3.0f),
                        &none),
            TVLM_ERROR_ARGUMENT, "min_distance with cover");
    assert_null(none);
}

/* The left half asks to be found: the cascade looks nowhere else, and its report says what it read. */
static void check_few(tvlm_device *device, tvlm_format format) {
    enum { SIDE = 256, LABELS = 4, SQUARES = SIDE / 16 };
    float features[16 * 16 * 4] = {0}, vector[4] = {1.0f, 0.0f, 0.0f, 0.0f};
    int32_t labels[LABELS * LABELS], count;
    uint64_t seed = 5;
    uint8_t *const pixels = test_random_pixels(&seed, SIDE, SIDE, 3);
    const tvlm_image image = u8_image(pixels, SIDE, SIDE, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    tvlm_selection_report grid, cascade;
    free(pixels);
    for (int32_t i = 0; i < LABELS * LABELS; ++i) labels[i] = 100 + i;
    assert_int_equal(tvlm_stack_set_labels(stack, 0, labels, LABELS, LABELS, 0), TVLM_OK);
    for (int32_t i = 0; i < 256; ++i) features[4 * i + (i / 16 < 4 && i % 16 >= 12 ? 0 : 1)] = 2.0f;
    assert_int_equal(
        tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                            tvlm_grid_input(.data = features, .columns = 16, .rows = 16, .channels = 4)),
        TVLM_OK);
    const float weights[3] = {0.0f, 0.0f, 1.0f};
    const struct tvlm_query query = {.vectors = vector, .dimension = 4};
    tvlm_selection *selection = chosen(
        stack, &query, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = 2, .score.weights = weights));
    tvlm_selection_get_report(selection, &grid);
    tvlm_selection_destroy(&selection);
    selection = chosen(stack, &query,
                       tvlm_select_params(.k = 2, .score.weights = weights, .strategy = TVLM_STRATEGY_CASCADE,
                                          .cascade.keep_regions = 1, .cascade.cull_distance = 2.0f));
    tvlm_selection_get_report(selection, &cascade);
    const tvlm_position *const p = tvlm_selection_positions(selection, &count);
    assert_int_equal(count, 2);
    for (int32_t i = 0; i < 2; ++i) assert_true(p[i].row < 4 && p[i].column >= 12 && p[i].score == 1.0f);
    tvlm_selection_destroy(&selection);
    /* The similarities are scalar in images. */
    const size_t texel = format == TVLM_FORMAT_F16 ? 8 : 16;
    const bool scalar = device->stores_scalar[format] && device->info.storage == TVLM_STORAGE_IMAGE;
    const size_t cosine = scalar ? texel / 4 : texel;
    assert_int_equal(grid.stage_count, 1);
    assert_int_equal(grid.stages[0].candidates, SQUARES * SQUARES);
    assert_int_equal(grid.stages[0].bytes, SQUARES * SQUARES * (4 * cosine) + 256 * (texel + 4));
    assert_int_equal(cascade.stage_count, 2);
    assert_string_equal(cascade.stages[0].name, "regions");
    assert_int_equal(cascade.stages[0].candidates, LABELS * LABELS);
    assert_int_equal(cascade.stages[0].kept, 1);
    /* 4 x 4 cells of the region, and the 4 left of it, whose right corners are pixels of it. */
    assert_string_equal(cascade.stages[1].name, "cells");
    assert_int_equal(cascade.stages[1].candidates, 20);
    assert_int_equal(cascade.stages[1].kept, 2);
    assert_int_equal(cascade.stages[1].bytes, 20 * (4 * cosine) + 20 * (texel + 4));
    check_cover(stack, &query, weights);
    tvlm_stack_destroy(&stack);
}

/* Nothing of another question, of other regions or of other features is left. */
static void check_changes(tvlm_device *device, tvlm_format format) {
    float queries[2 * DIMENSION], features[VECTORS * DIMENSION], first[8], again[8];
    tvlm_stack *stack = featured_stack(device, format, 12, 0.0f);
    int32_t labels[2] = {1, 2}, count;
    uint64_t seed = 1234;
    tvlm_selection_report report;
    make_queries(queries, 2);
    const struct tvlm_select_params params = {.k = 8, .strategy = TVLM_STRATEGY_CASCADE};
    for (int step = 0; step < 5; ++step) {
        if (step == 3) assert_int_equal(tvlm_stack_set_labels(stack, 0, labels, 2, 1, 0), TVLM_OK);
        if (step == 4) {
            make_features(&seed, features);
            for (int32_t i = 0; i < VECTORS * DIMENSION; ++i) features[i] = -features[i];
            assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                                                 tvlm_grid_input(.data = features, .columns = GRID_W,
                                                                 .rows = GRID_H, .channels = DIMENSION)),
                             TVLM_OK);
        }
        const struct tvlm_query query = {.vectors = queries + (step == 1 ? DIMENSION : 0),
                                         .dimension = DIMENSION};
        tvlm_selection *selection = chosen(stack, &query, &params);
        const tvlm_position *const p = tvlm_selection_positions(selection, &count);
        tvlm_selection_get_report(selection, &report);
        assert_int_equal(count, 8);
        for (int32_t i = 0; i < 8; ++i)
            (step == 0 ? first : again)[i] = p[i].score + 100.0f * p[i].x + p[i].y;
        if (step == 1 || step == 4) assert_memory_not_equal(first, again, sizeof first);
        if (step == 2) assert_memory_equal(first, again, sizeof first);
        if (step >= 3) assert_int_equal(report.stages[0].candidates, 2);
        tvlm_selection_destroy(&selection);
    }
    tvlm_stack_destroy(&stack);
}

/* An image without edges is far from all of them: nothing is culled then. A minimum distance holds. */
static void check_flat(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = NULL;
    int32_t count;
    assert_int_equal(
        tvlm_stack_create(device, tvlm_stack_params(.width = 80, .height = 48, .format = format), &stack),
        TVLM_OK);
    tvlm_selection *selection = chosen(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_CASCADE));
    assert_non_null(tvlm_selection_positions(selection, &count));
    assert_int_equal(count, 15);
    tvlm_selection_destroy(&selection);
    selection = chosen(stack, NULL,
                       tvlm_select_params(.strategy = TVLM_STRATEGY_CASCADE, .best.min_distance = 30.0f));
    const tvlm_position *const p = tvlm_selection_positions(selection, &count);
    assert_in_range(count, 2, 6);
    for (int32_t i = 0; i < count; ++i)
        for (int32_t j = 0; j < i; ++j) assert_true(hypotf(p[i].x - p[j].x, p[i].y - p[j].y) >= 30.0f);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

/* The kept pass: the seen cells' scores; the rest has the lowest. */
static void check_pass(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = featured_stack(device, format, 12, 0.0f);
    size_t texels;
    int32_t count;
    tvlm_selection *selection = chosen(
        stack, NULL, tvlm_select_params(.k = 4, .strategy = TVLM_STRATEGY_CASCADE, .score.keep_pass = true));
    const tvlm_position *const p = tvlm_selection_positions(selection, &count);
    float *const pass = read_level(stack, 0, TVLM_CHANNEL_PREVIOUS_PASS, 0, &texels);
    assert_int_equal(texels, CELLS);
    for (size_t i = 0; i < texels; ++i) assert_true(pass[i] >= 0.0f && pass[i] <= 1.0f);
    assert_true(pass[p[0].row * COLUMNS + p[0].column] == 1.0f);
    free(pass);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

/* ---- Exhaustive ---- */

static void check_exhaustive(tvlm_device *device, tvlm_format format) {
    for (int32_t level = 2; level <= 4; level += 2) {
        tvlm_stack *stack = featured_stack(device, format, 12, 0.0f);
        const int32_t width = WIDTH >> level, height = HEIGHT >> level, all = width * height;
        float *const scores = malloc((size_t)all * sizeof *scores);
        int32_t *const best = malloc((size_t)all * sizeof *best), count;
        tvlm_selection_info info;
        tvlm_selection *selection =
            chosen(stack, NULL,
                   tvlm_select_params(.k = 30, .strategy = TVLM_STRATEGY_EXHAUSTIVE, .score.level = level));
        assert_int_equal(
            tvlm_score(stack, NULL, tvlm_score_params(.dense = true, .level = level), (size_t)all, scores),
            TVLM_OK);
        assert_int_equal(tvlm_topk(device, scores, all, all, best, NULL), TVLM_OK);
        tvlm_selection_get_info(selection, &info);
        assert_true(info.columns == width && info.rows == height);
        const tvlm_position *const p = tvlm_selection_positions(selection, &count);
        assert_int_equal(count, 30);
        for (int32_t i = 0; i < count; ++i) {
            assert_int_equal(p[i].row * width + p[i].column, best[i]);
            assert_true(p[i].score == scores[best[i]]);
            assert_true(fabsf(p[i].x - ((float)p[i].column + 0.5f) * WIDTH / (float)width) < 1e-3f);
            assert_true(fabsf(p[i].size - (float)WIDTH / (float)width) < 1e-3f);
        }
        free(scores);
        free(best);
        tvlm_selection_destroy(&selection);
        tvlm_stack_destroy(&stack);
    }
}

/* ---- What is wrong; cells and guides ---- */

static void check_refused(tvlm_device *device, tvlm_format format) {
    float vector[DIMENSION + 1] = {1.0f};
    tvlm_stack *stack = featured_stack(device, format, 12, 0.0f);
    tvlm_selection *selection = NULL;
    const struct tvlm_select_params cascade = {.k = 3, .strategy = TVLM_STRATEGY_CASCADE};
#define REFUSED(query, line, ...)                                                                            \
    refused(tvlm_select(stack, query, tvlm_select_params(__VA_ARGS__), &selection), TVLM_ERROR_ARGUMENT, line)
    REFUSED(NULL, "stride is for the strategy grid, foveated, quadtree and cascade, not for exhaustive",
            .strategy = TVLM_STRATEGY_EXHAUSTIVE, .score.stride = 16.0f);
    REFUSED(NULL, "level 8", .strategy = TVLM_STRATEGY_EXHAUSTIVE, .score.level = 8);
    REFUSED(NULL, "level -1", .strategy = TVLM_STRATEGY_EXHAUSTIVE, .score.level = -1);
    REFUSED(NULL, "regions to keep", .strategy = TVLM_STRATEGY_CASCADE, .cascade.keep_regions = -1);
    REFUSED(NULL, "from edges", .strategy = TVLM_STRATEGY_CASCADE, .cascade.cull_distance = -1.0f);
    REFUSED(NULL, "from edges", .strategy = TVLM_STRATEGY_CASCADE, .cascade.cull_distance = NAN);
    REFUSED(NULL, "only 90 candidates", .strategy = TVLM_STRATEGY_CASCADE, .k = CELLS + 1);
    REFUSED(NULL, "there is no strategy", .strategy = (tvlm_strategy)99);
    refused(
        tvlm_select(stack, tvlm_query(.vectors = vector, .dimension = DIMENSION + 1), &cascade, &selection),
        TVLM_ERROR_ARGUMENT, "11 dimensions, but the features have 10");
    vector[0] = 0.0f;
    refused(tvlm_select(stack, tvlm_query(.vectors = vector, .dimension = DIMENSION), &cascade, &selection),
            TVLM_ERROR_ARGUMENT, "zero vector");
    vector[3] = NAN;
    refused(tvlm_select(stack, tvlm_query(.vectors = vector, .dimension = DIMENSION), &cascade, &selection),
            TVLM_ERROR_ARGUMENT, "not finite");
    assert_null(selection);
    tvlm_stack_destroy(&stack);
}

/* Cells asked one by one, in any order, twice, of the second image of a batch. Tolerance: as test_similarity.
 */
static void check_cells(tvlm_device *device, tvlm_format format) {
    enum { COUNT = 300 };
    float features[VECTORS * DIMENSION], queries[2 * DIMENSION], all[2 * VECTORS], found[COUNT],
        expected[COUNT];
    int32_t cells[COUNT];
    uint64_t seed = 3;
    tvlm_stack *stack = NULL;
    tvlm_sparse_query sparse;
    assert_int_equal(
        tvlm_stack_create(device,
                          tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .images = 2, .format = format),
                          &stack),
        TVLM_OK);
    for (int32_t index = 0; index < 2; ++index) {
        make_features(&seed, features);
        assert_int_equal(tvlm_stack_set_grid(stack, index, TVLM_CHANNEL_FEATURE_0,
                                             tvlm_grid_input(.data = features, .columns = GRID_W,
                                                             .rows = GRID_H, .channels = DIMENSION)),
                         TVLM_OK);
    }
    make_queries(queries, 2);
    assert_int_equal(tvlm_similarity(stack, 1, queries, 2, DIMENSION, 2 * VECTORS, all), TVLM_OK);
    for (int32_t i = 0; i < COUNT; ++i) cells[i] = (int32_t)(test_random(&seed) % VECTORS);
    for (int32_t count = 1; count <= 2; ++count) {
        const struct tvlm_query query = {.vectors = queries, .count = count, .dimension = DIMENSION};
        assert_int_equal(tvlm_sparse_query_begin(stack, 1, &query, &sparse), TVLM_OK);
        assert_int_equal(tvlm_sparse_query_cells(stack, &sparse, cells, COUNT, found), TVLM_OK);
        for (int32_t i = 0; i < COUNT; ++i)
            expected[i] = count == 1 ? all[cells[i]] : fmaxf(all[cells[i]], all[VECTORS + cells[i]]);
        test_compare("cosines", found, expected, COUNT, 2e-6f, 5e-7f);
        tvlm_sparse_query_end(&sparse);
    }
    tvlm_stack_destroy(&stack);
}

/* What a guide lists is what the label map says, pixel by pixel. */
static void check_guide(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = featured_stack(device, format, 12, 0.0f);
    tvlm_candidates cells;
    const tvlm_guide *guide;
    int32_t *const labels = malloc(WIDTH * HEIGHT * sizeof *labels);
    assert_int_equal(tvlm_score_candidates(stack, tvlm_score_params(.stride = 16), &cells), TVLM_OK);
    assert_int_equal(tvlm_guide_of(stack, 0, &cells, NULL, false, &guide), TVLM_OK);
    assert_int_equal(tvlm_stack_labels(stack, 0, WIDTH * HEIGHT, labels), TVLM_OK);
    assert_int_equal(guide->begins[0], 0);
    for (int32_t r = 0; r < guide->regions; ++r) {
        bool touched[CELLS] = {false};
        assert_true(guide->begins[r + 1] > guide->begins[r]);
        for (int32_t i = guide->begins[r]; i < guide->begins[r + 1]; ++i) {
            assert_true(i == guide->begins[r] || guide->touched[i] > guide->touched[i - 1]);
            touched[guide->touched[i]] = true;
            assert_true(guide->nearest[r] <= guide->distances[guide->touched[i]]);
        }
        for (int32_t y = 0; y < HEIGHT; ++y) /* the pixels at corners, and in the middle of whole cells */
            for (int32_t x = 0; x < WIDTH; ++x) {
                const bool corner = x % 16 == 0 && y % 16 == 0;
                if (corner && labels[y * WIDTH + x] == r) assert_true(touched[y / 16 * COLUMNS + x / 16]);
            }
        for (int32_t cell = 0; cell < CELLS;
             ++cell) { /* nobody is listed without a pixel there, or next to it */
            const int32_t left = cell % COLUMNS * 16, top = cell / COLUMNS * 16;
            bool inside = false;
            for (int32_t y = top; y <= top + 16 && y < HEIGHT; ++y)
                for (int32_t x = left; x <= left + 16 && x < WIDTH; ++x) inside |= labels[y * WIDTH + x] == r;
            const bool home = (int32_t)guide->table[r].x / 16 == cell % COLUMNS &&
                              (int32_t)guide->table[r].y / 16 == cell / COLUMNS;
            assert_true(!touched[cell] || inside || home);
        }
    }
    free(labels);
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS(check_scores, check_parts, check_few, check_changes, check_flat, check_pass, check_exhaustive,
              check_refused, check_cells, check_guide)

/* ---- Devices agree ---- */

/* The cells that a strategy chooses, best first. */
static int32_t choose_on(tvlm_device *device, tvlm_format format, const struct tvlm_query *query,
                         const struct tvlm_select_params *params, tvlm_position *positions) {
    tvlm_stack *stack = featured_stack(device, format, 12, 0.0f);
    tvlm_selection *selection = chosen(stack, query, params);
    int32_t count;
    const tvlm_position *const p = tvlm_selection_positions(selection, &count);
    memcpy(positions, p, (size_t)count * sizeof *p);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    return count;
}

/* At least 99 % of the positions are the reference's: of scores that are all but equal, the last may change
 * places. */
static void compare_with_reference(const test_target *target, tvlm_device *reference) {
    static const tvlm_strategy strategies[] = {TVLM_STRATEGY_GRID, TVLM_STRATEGY_CASCADE,
                                               TVLM_STRATEGY_EXHAUSTIVE};
    enum { K = 200 };
    static tvlm_position got[K], expected[K];
    float vector[DIMENSION];
    make_queries(vector, 1);
    for (int i = 0; i < 6; ++i) {
        const struct tvlm_query query = {.vectors = vector, .dimension = DIMENSION};
        const struct tvlm_query *const q = i < 3 ? &query : NULL;
        const bool exhaustive = strategies[i % 3] == TVLM_STRATEGY_EXHAUSTIVE;
        const struct tvlm_select_params params = {.k = K,
                                                  .strategy = strategies[i % 3],
                                                  .score.stride = exhaustive ? 0.0f : 4.0f,
                                                  .score.level = exhaustive ? 2 : 0,
                                                  .cascade.keep_regions = i % 3 == 1 ? 3 : 0};
        assert_int_equal(choose_on(target->device, target->format, q, &params, got), K);
        assert_int_equal(choose_on(reference, target->format, q, &params, expected), K);
        int same = 0;
        for (int a = 0; a < K; ++a)
            for (int b = 0; b < K; ++b)
                same += got[a].column == expected[b].column && got[a].row == expected[b].row;
        if (same < K * 99 / 100)
            fail_msg("%s, %s: %d of %d positions", tvlm_strategy_name(strategies[i % 3]),
                     q != NULL ? "a query" : "no query", same, K);
    }
}

static void test_agreement(void **state) {
    (void)state;
    if (test_for_each_target(compare_with_reference) == 0) skip();
}

static void test_names(void **state) {
    (void)state;
    assert_int_equal(tvlm_strategy_find("exhaustive"), TVLM_STRATEGY_EXHAUSTIVE);
    assert_int_equal(tvlm_strategy_find("cascade"), TVLM_STRATEGY_CASCADE);
    assert_string_equal(tvlm_strategy_name(TVLM_STRATEGY_CASCADE), "cascade");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_f32), cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),       cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
