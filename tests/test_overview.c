/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_overview.c: the share of a selection that shows the whole image: as small squares as there are enough
 * of, every pixel under one, the rest exactly what it would be alone, and what is refused.
 */
#include "stack/inside.h"
#include "stack_helper.h"

enum { WIDTH = 149, HEIGHT = 83, COLUMNS = 10, ROWS = 6, CELLS = COLUMNS * ROWS };

static tvlm_selection *select_with(tvlm_stack *stack, const struct tvlm_query *query,
                                   const struct tvlm_select_params *params) {
    tvlm_selection *selection = NULL;
    assert_int_equal(tvlm_select(stack, query, params, &selection), TVLM_OK);
    return selection;
}

/* ---- The grid ---- */

static double side_of(int32_t width, int32_t height, double smallest, int32_t columns, int32_t rows) {
    return fmax(smallest, fmax((double)width / columns, (double)height / rows));
}

/* The fewest squares not much larger than the smallest of which `most` cover the image: all grids tried. */
static int32_t fewest_squares(int32_t width, int32_t height, double smallest, int32_t most) {
    double least = INFINITY;
    int32_t fewest = most;
    for (int32_t columns = 1; columns <= most; ++columns)
        least = fmin(least, side_of(width, height, smallest, columns, most / columns));
    for (int32_t columns = 1; columns <= most; ++columns)
        for (int32_t rows = 1; rows * columns < fewest; ++rows)
            if (side_of(width, height, smallest, columns, rows) <= least * (1.0 + 1.0 / 16.0))
                fewest = rows * columns;
    return fewest;
}

static bool lies_under(const tvlm_position *p, float x, float y) {
    return fmaxf(fabsf(x - p->x), fabsf(y - p->y)) <= 0.5f * p->size + 1e-3f; /* the floats' last digits */
}

/* The corners and the middle of every pixel lie under a square. */
static void check_cover(const tvlm_position *p, int32_t count, int32_t width, int32_t height) {
    for (int32_t y = 0; y <= 2 * height; ++y)
        for (int32_t x = 0; x <= 2 * width; ++x) {
            bool covered = false;
            for (int32_t i = 0; i < count && !covered; ++i)
                covered = lies_under(&p[i], 0.5f * (float)x, 0.5f * (float)y);
            if (!covered) fail_msg("%g,%g of %dx%d is not covered", 0.5 * x, 0.5 * y, width, height);
        }
}

/* Different places or different sizes. */
static void check_distinct(const tvlm_position *p, int32_t count) {
    for (int32_t i = 0; i < count; ++i)
        for (int32_t j = 0; j < i; ++j)
            if (p[i].x == p[j].x && p[i].y == p[j].y && p[i].size == p[j].size)
                fail_msg("positions %d and %d are the same square", i, j);
}

static double overlap(double a0, double a1, double b0, double b1) {
    return fmax(0.0, fmin(a1, b1) - fmax(a0, b0));
}

/* The mean of the cells' scores over what the image leaves of the square, by each cell's share of it. */
static double mean_under(const tvlm_position *p, const float *scores, int32_t columns, int32_t rows,
                         double step, int32_t width, int32_t height) {
    const double half = 0.5 * (double)p->size, x = (double)p->x, y = (double)p->y;
    double sum = 0.0, area = 0.0;
    for (int32_t row = 0; row < rows; ++row)
        for (int32_t column = 0; column < columns; ++column) {
            const double wide =
                overlap(x - half, x + half, column * step, fmin((column + 1) * step, (double)width));
            const double high =
                overlap(y - half, y + half, row * step, fmin((row + 1) * step, (double)height));
            sum += wide * high * (double)scores[row * columns + column];
            area += wide * high;
        }
    return sum / area;
}

/* The squares themselves; the grid's columns and rows. */
static void check_squares(const tvlm_position *p, const tvlm_selection_info *info, int32_t width,
                          int32_t height, double smallest, double patch, int32_t most) {
    const int32_t columns = info->overview_columns, rows = info->overview_rows, count = columns * rows;
    const double side = side_of(width, height, smallest, columns, rows);
    assert_int_equal(count, fewest_squares(width, height, smallest, most));
    for (int32_t i = 0; i < count; ++i) {
        assert_true(p[i].column == -1 && p[i].row == -1);
        assert_true(fabs((double)p[i].size - side) < 1e-4 * side);
        assert_true(fabs((double)p[i].level - log2(side / patch)) < 1e-4 && p[i].level >= 0.0f);
        assert_true(fabs((double)p[i].x - (i % columns + 0.5) * width / columns) < 1e-3);
        assert_true(fabs((double)p[i].y - (i / columns + 0.5) * height / rows) < 1e-3);
    }
    check_cover(p, count, width, height);
}

/* ---- Selections ---- */

/* What the parameters give, beside what they would give for the rest of k without an overview. */
static void check_selection(tvlm_stack *stack, const struct tvlm_query *query,
                            const struct tvlm_select_params *params, double smallest, double patch) {
    struct tvlm_select_params alone = *params;
    tvlm_stack_info size;
    tvlm_selection_info info;
    int32_t count, rest;
    assert_int_equal(tvlm_stack_get_info(stack, &size), TVLM_OK);
    tvlm_selection *selection = select_with(stack, query, params);
    const tvlm_position *p = tvlm_selection_positions(selection, &count);
    tvlm_selection_get_info(selection, &info);
    const int32_t squares = info.overview_columns * info.overview_rows;
    check_squares(p, &info, size.width, size.height, smallest, patch,
                  (int32_t)((double)params->best.overview * params->k + 1e-3));
    check_distinct(p, count);
    if (params->best.min_distance == 0.0f) assert_int_equal(count, params->k);
    assert_int_equal(stack->frames[params->score.index].position_count, count - squares);
    alone.k = params->k - squares;
    alone.best.overview = 0.0f;
    if (alone.strategy == TVLM_STRATEGY_DEFAULT) alone.strategy = TVLM_STRATEGY_GRID;
    if (alone.k > 0) {
        tvlm_selection *expected = select_with(stack, query, &alone);
        const tvlm_position *q = tvlm_selection_positions(expected, &rest);
        tvlm_selection_report report, expected_report;
        assert_int_equal(rest, count - squares);
        assert_memory_equal(p + squares, q, (size_t)rest * sizeof *q);
        tvlm_selection_get_report(selection, &report);
        tvlm_selection_get_report(expected, &expected_report);
        assert_memory_equal(&report, &expected_report, sizeof report);
        tvlm_selection_destroy(&expected);
    }
    tvlm_selection_destroy(&selection);
}

static void check_shares(tvlm_device *device, tvlm_format format) {
    static const int32_t sizes[][2] = {{WIDTH, HEIGHT}, {64, 64}, {33, 150}, {200, 17}};
    static const float shares[] = {0.1f, 0.25f, 0.7f, 1.0f};
    for (size_t s = 0; s < (test_small() ? 1 : 4); ++s) {
        const int32_t width = sizes[s][0], height = sizes[s][1];
        const int32_t cells = (width + 15) / 16 * ((height + 15) / 16);
        tvlm_stack *stack = random_stack(device, format, width, height, 7 + s);
        for (size_t i = 0; i < sizeof shares / sizeof *shares; ++i)
            for (int32_t k = 10; k <= cells; k += k < cells && k + 7 > cells ? cells - k : 7)
                check_selection(stack, NULL, tvlm_select_params(.k = k, .best.overview = shares[i]), 16, 16);
        tvlm_stack_destroy(&stack);
    }
}

/* Other strides and patches, the other strategies, a minimum distance. */
static void check_strategies(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 11);
    check_selection(stack, NULL,
                    tvlm_select_params(.k = 15, .score.stride = 32, .patch = 8, .best.overview = 1), 32, 8);
    check_selection(stack, NULL,
                    tvlm_select_params(.k = 20, .strategy = TVLM_STRATEGY_CASCADE, .cascade.keep_regions = 2,
                                       .best.overview = 0.5f),
                    16, 16);
    if (!test_small()) {
        check_selection(stack, NULL, tvlm_select_params(.k = 273, .score.stride = 4, .best.overview = 0.5f),
                        16, 16);
        check_selection(stack, NULL, tvlm_select_params(.k = 273, .score.stride = 4, .best.overview = 1), 16,
                        16);
        check_selection(stack, NULL,
                        tvlm_select_params(.k = 40, .strategy = TVLM_STRATEGY_EXHAUSTIVE, .score.level = 2,
                                           .best.overview = 0.25f),
                        16, 16);
        check_selection(
            stack, NULL,
            tvlm_select_params(.k = 40, .score.stride = 4, .best.min_distance = 25, .best.overview = 0.25f),
            16, 16);
    }
    tvlm_stack_destroy(&stack);
}

/* Scores of squares are means of the cells' own, in order of places, and the best cells follow. */
static void check_scores(tvlm_device *device, tvlm_format format) {
    float scores[CELLS];
    static const float similarity[] = {0.5f, -0.5f, 0.1f, 0.9f};
    const struct tvlm_query query = {.similarity = similarity, .columns = 2, .rows = 2};
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 13);
    tvlm_selection_info info;
    int32_t count;
    tvlm_selection *selection =
        select_with(stack, &query, tvlm_select_params(.k = 30, .best.overview = 0.4f));
    const tvlm_position *p = tvlm_selection_positions(selection, &count);
    tvlm_selection_get_info(selection, &info);
    assert_int_equal(tvlm_score(stack, &query, NULL, CELLS, scores), TVLM_OK);
    const int32_t squares = info.overview_columns * info.overview_rows;
    assert_true(squares == 12 && info.overview_columns == 4);
    for (int32_t i = 0; i < squares; ++i)
        assert_true(fabs((double)p[i].score - mean_under(&p[i], scores, COLUMNS, ROWS, 16.0, WIDTH, HEIGHT)) <
                    1e-5);
    for (int32_t i = squares; i < count; ++i)
        assert_true(p[i].score == scores[p[i].row * COLUMNS + p[i].column] &&
                    (i == squares || p[i].score <= p[i - 1].score));
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

/* All equal: squares in order, cells in order. */
static void check_ties(tvlm_device *device, tvlm_format format) {
    static const float information[] = {1.0f, 0.0f, 0.0f};
    tvlm_stack *stack = NULL;
    int32_t count;
    assert_int_equal(
        tvlm_stack_create(device, tvlm_stack_params(.width = 64, .height = 64, .format = format), &stack),
        TVLM_OK);
    tvlm_selection *selection = select_with(
        stack, NULL, tvlm_select_params(.k = 10, .best.overview = 0.5f, .score.weights = information));
    const tvlm_position *p = tvlm_selection_positions(selection, &count);
    assert_int_equal(count, 10);
    for (int32_t i = 0; i < count; ++i) assert_true(p[i].score == 0.0f);
    for (int32_t i = 0; i < 4; ++i) {
        assert_true(p[i].x == (i % 2 == 0 ? 16.0f : 48.0f) && p[i].y == (i / 2 == 0 ? 16.0f : 48.0f));
        assert_true(p[i].size == 32.0f && p[i].level == 1.0f);
    }
    for (int32_t i = 4; i < count; ++i) assert_true(p[i].column == (i - 4) % 4 && p[i].row == (i - 4) / 4);
    tvlm_selection_destroy(&selection);
    tvlm_selection_info info;
    selection = select_with(stack, NULL, tvlm_select_params(.k = 10, .best.overview = 0.9f)); /* of 10: 9 */
    tvlm_selection_get_info(selection, &info);
    assert_true(info.overview_columns == 3 && info.overview_rows == 3);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

/* One position is one square; where the squares take all of k, nothing is left. */
static void check_tiny(tvlm_device *device, tvlm_format format) {
    static const int32_t sizes[][4] = {{1, 1, 1, 1}, {1, 40, 3, 3}, {33, 1, 3, 2}, {40, 21, 6, 6}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const int32_t cells = sizes[i][2], squares = sizes[i][3];
        tvlm_stack *stack = random_stack(device, format, sizes[i][0], sizes[i][1], 17 + i);
        tvlm_selection_info info;
        int32_t count;
        for (int32_t k = 1; k <= cells; ++k)
            check_selection(stack, NULL, tvlm_select_params(.k = k, .best.overview = 1), 16, 16);
        tvlm_selection *all = select_with(stack, NULL, tvlm_select_params(.best.overview = 1));
        tvlm_selection_get_info(all, &info);
        assert_non_null(tvlm_selection_positions(all, &count));
        assert_int_equal(count, cells);
        assert_int_equal(info.overview_columns * info.overview_rows, squares);
        tvlm_selection_destroy(&all);
        tvlm_stack_destroy(&stack);
    }
}

/* In pixels that were handed in; levels in those of the working image. */
static void check_scaled(tvlm_device *device, tvlm_format format) {
    uint64_t seed = 73;
    uint8_t *pixels = test_random_pixels(&seed, 128, 96, 3);
    const tvlm_image image = u8_image(pixels, 128, 96, 3);
    tvlm_stack *stack = NULL;
    assert_int_equal(
        tvlm_stack_create_for_image(device, &image,
                                    tvlm_stack_params(.width = 64, .height = 48, .format = format), &stack),
        TVLM_OK);
    tvlm_selection *selection =
        select_with(stack, NULL, tvlm_select_params(.k = 5, .best.overview = 1, .patch = 8));
    const tvlm_position *p = tvlm_selection_positions(selection, NULL);
    for (int32_t i = 0; i < 4; ++i) { /* 2 x 2 of 32 working pixels; 3 x 2 would be 6 */
        assert_true(p[i].x == (i % 2 == 0 ? 32.0f : 96.0f) && p[i].y == (i / 2 == 0 ? 24.0f : 72.0f));
        assert_true(p[i].size == 64.0f && p[i].level == 2.0f);
    }
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    free(pixels);
}

/* A batch in chunks gives what each image gives alone, to the bit. */
static void check_batch(tvlm_device *device, tvlm_format format) {
    enum { IMAGES = 3 };
    const int32_t slices = device->info.image_slices_max;
    tvlm_stack *batch = NULL;
    device->info.image_slices_max = 32;
    assert_int_equal(
        tvlm_stack_create(
            device, tvlm_stack_params(.width = 70, .height = 50, .images = IMAGES, .format = format), &batch),
        TVLM_OK);
    device->info.image_slices_max = slices;
    for (int32_t i = 0; i < IMAGES; ++i) {
        uint64_t seed = 83 + (uint64_t)i;
        uint8_t *pixels = test_random_pixels(&seed, 70, 50, 3);
        const tvlm_image image = u8_image(pixels, 70, 50, 3);
        assert_int_equal(tvlm_stack_set_image(batch, i, &image), TVLM_OK);
        free(pixels);
    }
    for (int32_t i = 0; i < IMAGES; ++i) {
        tvlm_stack *single = random_stack(device, format, 70, 50, 83 + (uint64_t)i);
        tvlm_selection *got =
            select_with(batch, NULL, tvlm_select_params(.score.index = i, .k = 12, .best.overview = 0.5f));
        tvlm_selection *expected =
            select_with(single, NULL, tvlm_select_params(.k = 12, .best.overview = 0.5f));
        same_positions(got, expected);
        tvlm_selection_destroy(&got);
        tvlm_selection_destroy(&expected);
        tvlm_stack_destroy(&single);
    }
    tvlm_stack_destroy(&batch);
}

/* ---- Refusals ---- */

#define REFUSE(LINE, ...)                                                                                    \
    refused(tvlm_select(stack, NULL, tvlm_select_params(__VA_ARGS__), &selection), TVLM_ERROR_ARGUMENT, LINE)

static void test_refusals(void **state) {
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, WIDTH, HEIGHT, 101);
    tvlm_selection *selection = NULL;
    (void)state;
    REFUSE("an overview of -0.1", .best.overview = -0.1f);
    REFUSE("an overview of 1.5; it is a share", .best.overview = 1.5f);
    REFUSE("an overview of nan", .best.overview = NAN);
    REFUSE("an overview of inf", .best.overview = INFINITY);
    REFUSE("0.25 of k = 3 is no position", .k = 3, .best.overview = 0.25f);
    REFUSE("0.01 of k = 60 is no position", .best.overview = 0.01f);
    REFUSE("overview is for the strategy grid, exhaustive and cascade, not for foveated",
           .strategy = TVLM_STRATEGY_FOVEATED, .best.overview = 0.5f);
    REFUSE("overview is for the strategy grid, exhaustive and cascade, not for quadtree",
           .strategy = TVLM_STRATEGY_QUADTREE, .best.overview = 0.5f);
    REFUSE("overview with cover", .strategy = TVLM_STRATEGY_CASCADE, .cascade.cover = true,
           .best.overview = 0.5f);
    assert_null(selection);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

DEVICE_CHECKS(check_shares, check_strategies, check_scores, check_ties, check_tiny, check_scaled, check_batch)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
