/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h: the rules of selecting, positions in the pixels that were handed in, batches, and what is
 * refused.
 */
#include "stack_helper.h"

enum { WIDTH = 149, HEIGHT = 83, CELLS = 10 * 6 }; /* 10 x 6 cells of 16 pixels */

static float middle(int32_t c, float step, int32_t side) {
    return 0.5f * ((float)c * step + fminf((float)(c + 1) * step, (float)side));
}

/* ---- Selecting ---- */

static tvlm_selection *select_with(tvlm_stack *stack, const struct tvlm_select_params *params) {
    tvlm_selection *selection = NULL;
    assert_int_equal(tvlm_select(stack, NULL, params, &selection), TVLM_OK);
    return selection;
}

/* The selection is the ranking of the scores: best first, ties by lower index. */
static void check_ranking(tvlm_device *device, tvlm_format format) {
    float scores[CELLS];
    int32_t indices[CELLS], count;
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 71);
    tvlm_selection *selection = select_with(stack, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID));
    const tvlm_position *p = tvlm_selection_positions(selection, &count);
    assert_int_equal(count, CELLS); /* fewer than 273 */
    assert_int_equal(tvlm_score(stack, NULL, NULL, CELLS, scores), TVLM_OK);
    assert_int_equal(tvlm_topk(device, scores, CELLS, CELLS, indices, NULL), TVLM_OK);
    for (int32_t i = 0; i < count; ++i) {
        assert_int_equal(p[i].row * 10 + p[i].column, indices[i]);
        assert_true(p[i].score == scores[indices[i]]);
        assert_true(p[i].size == 16.0f && p[i].level == 0.0f);
        assert_true(p[i].x == middle(p[i].column, 16.0f, WIDTH));
        assert_true(p[i].y == middle(p[i].row, 16.0f, HEIGHT));
    }
    tvlm_selection_destroy(&selection);
    selection = select_with(stack, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = 7));
    assert_non_null(tvlm_selection_positions(selection, &count));
    assert_int_equal(count, 7);
    tvlm_selection_destroy(&selection);
    if (!test_small()) {
        selection = select_with(stack, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .score.stride = 4));
        assert_non_null(tvlm_selection_positions(selection, &count));
        assert_int_equal(count, 273);
        tvlm_selection_destroy(&selection);
    }
    assert_null(selection);
    tvlm_stack_destroy(&stack);
}

/* The last column and row are clipped: their position is the centre of what remains. All equal: in order. */
static void check_clipped(tvlm_device *device, tvlm_format format) {
    static const float information[] = {1.0f, 0.0f, 0.0f}, xs[] = {8, 24, 36}, ys[] = {8, 18.5f};
    tvlm_stack *stack = NULL;
    tvlm_selection_info info;
    int32_t count;
    assert_int_equal(
        tvlm_stack_create(device, tvlm_stack_params(.width = 40, .height = 21, .format = format), &stack),
        TVLM_OK);
    tvlm_selection *selection =
        select_with(stack, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .score.weights = information));
    const tvlm_position *p = tvlm_selection_positions(selection, &count);
    tvlm_selection_get_info(selection, &info);
    assert_true(info.width == 40 && info.height == 21 && info.columns == 3 && info.rows == 2);
    assert_int_equal(info.strategy, TVLM_STRATEGY_GRID);
    assert_int_equal(count, 6);
    for (int32_t i = 0; i < 6; ++i) {
        assert_true(p[i].column == i % 3 && p[i].row == i / 3);
        assert_true(p[i].x == xs[i % 3] && p[i].y == ys[i / 3] && p[i].score == 0.0f);
    }
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

/* Positions and sizes are in the pixels that were handed in; levels in those of the working image. */
static void check_scaled(tvlm_device *device, tvlm_format format) {
    uint64_t seed = 73;
    uint8_t *pixels = test_random_pixels(&seed, 128, 96, 3);
    const tvlm_image image = {
        .pixels = pixels, .width = 128, .height = 96, .channels = 3, .type = TVLM_PIXEL_U8};
    tvlm_stack *stack = NULL;
    tvlm_selection_info info;
    int32_t count;
    assert_int_equal(
        tvlm_stack_create_for_image(device, &image,
                                    tvlm_stack_params(.width = 64, .height = 48, .format = format), &stack),
        TVLM_OK);
    tvlm_selection *selection = select_with(
        stack, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .score.stride = 32, .patch = 8));
    const tvlm_position *p = tvlm_selection_positions(selection, &count);
    tvlm_selection_get_info(selection, &info);
    assert_true(info.width == 128 && info.height == 96 && info.columns == 2 && info.rows == 2);
    for (int32_t i = 0; i < count; ++i) {
        assert_true(p[i].x == (p[i].column == 0 ? 32.0f : 96.0f));
        assert_true(p[i].y == (p[i].row == 0 ? 32.0f : 80.0f)); /* 32..48 of 48, doubled */
        assert_true(p[i].size == 64.0f && p[i].level == 2.0f);
    }
    tvlm_selection_destroy(&selection);
    selection =
        select_with(stack, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .score.stride = 8, .k = 1));
    assert_true(tvlm_selection_positions(selection, NULL)[0].level == 0.0f); /* never below 0 */
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    free(pixels);
}

/* Greedy by rank, by looking at every pair. */
static void check_spacing(tvlm_stack *stack, float distance, int32_t k) {
    enum { ALL = 38 * 21 };
    int32_t all_count, count, kept = 0;
    tvlm_selection *all =
        select_with(stack, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .score.stride = 4, .k = ALL));
    tvlm_selection *spaced =
        select_with(stack, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .score.stride = 4, .k = k,
                                              .best.min_distance = distance));
    const tvlm_position *ranked = tvlm_selection_positions(all, &all_count);
    const tvlm_position *got = tvlm_selection_positions(spaced, &count);
    const tvlm_position *chosen[ALL] = {NULL};
    for (int32_t i = 0; i < all_count && kept < k; ++i) {
        bool far = true;
        for (int32_t j = 0; j < kept; ++j)
            if (hypot((double)ranked[i].x - (double)chosen[j]->x,
                      (double)ranked[i].y - (double)chosen[j]->y) < (double)distance)
                far = false;
        if (far) chosen[kept++] = &ranked[i];
    }
    assert_int_equal(count, kept);
    for (int32_t i = 0; i < count; ++i) assert_memory_equal(&got[i], chosen[i], sizeof got[i]);
    tvlm_selection_destroy(&all);
    tvlm_selection_destroy(&spaced);
}

static void check_min_distance(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 79);
    if (!test_small()) {
        check_spacing(stack, 0.5f, 100);
        check_spacing(stack, 4.0f, 300); /* neighbours are exactly that far apart */
        check_spacing(stack, 9.7f, 60);
        check_spacing(stack, 30.0f, 273); /* fewer than k, which is no error */
        check_spacing(stack, 1e9f, 273);
    }
    tvlm_stack_destroy(&stack);
}

/* A batch in chunks gives what each image gives alone, to the bit. */
static void check_batch(tvlm_device *device, tvlm_format format) {
    const int32_t slices = device->info.image_slices_max;
    static const float similarity[] = {0.5f, -0.5f, 0.1f};
    const struct tvlm_query query = {.similarity = similarity, .columns = 3, .rows = 1};
    tvlm_stack *batch = NULL;
    device->info.image_slices_max = 32;
    assert_int_equal(
        tvlm_stack_create(device,
                          tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .images = 5, .format = format),
                          &batch),
        TVLM_OK);
    device->info.image_slices_max = slices;
    for (int32_t i = 0; i < 5; ++i) {
        uint64_t seed = 83 + (uint64_t)i;
        uint8_t *pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
        const tvlm_image image = {
            .pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3, .type = TVLM_PIXEL_U8};
        assert_int_equal(tvlm_stack_set_image(batch, i, &image), TVLM_OK);
        free(pixels);
    }
    for (int32_t i = 0; i < 5; ++i) {
        tvlm_stack *single = random_stack(device, format, WIDTH, HEIGHT, 83 + (uint64_t)i);
        tvlm_selection *got = NULL, *expected = NULL;
        assert_int_equal(tvlm_select(batch, &query,
                                     tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .score.index = i),
                                     &got),
                         TVLM_OK);
        assert_int_equal(
            tvlm_select(single, &query, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID), &expected),
            TVLM_OK);
        same_positions(got, expected);
        tvlm_selection_destroy(&got);
        tvlm_selection_destroy(&expected);
        tvlm_stack_destroy(&single);
    }
    tvlm_stack_destroy(&batch);
}

static void check_tiny(tvlm_device *device, tvlm_format format) {
    static const int32_t sizes[][2] = {{1, 1}, {1, 40}, {33, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        tvlm_stack *stack = NULL;
        int32_t count;
        assert_int_equal(tvlm_stack_create(
                             device,
                             tvlm_stack_params(.width = sizes[i][0], .height = sizes[i][1], .format = format),
                             &stack),
                         TVLM_OK);
        tvlm_selection *selection = select_with(stack, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID));
        const tvlm_position *p = tvlm_selection_positions(selection, &count);
        assert_int_equal(count, i == 0 ? 1 : 3);
        for (int32_t j = 0; j < count; ++j) assert_true(isfinite(p[j].score));
        tvlm_selection_destroy(&selection);
        tvlm_stack_destroy(&stack);
    }
}

/* ---- Refusals ---- */

#define REFUSE_SELECT(LINE, ...)                                                                             \
    refused(tvlm_select(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, __VA_ARGS__),        \
                        &selection),                                                                         \
            TVLM_ERROR_ARGUMENT, LINE)
#define REFUSE_SCORE(LINE, ...)                                                                              \
    refused(tvlm_score(stack, NULL, tvlm_score_params(__VA_ARGS__), CELLS, scores), TVLM_ERROR_ARGUMENT, LINE)

static void test_select_refusals(void **state) {
    static const float bad[3][3] = {{NAN, 1, 1}, {1, -1, 1}, {1, 1, INFINITY}};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, WIDTH, HEIGHT, 101);
    tvlm_selection *selection = NULL;
    (void)state;
    REFUSE_SELECT("k is 500, but there are only 60 candidates", .k = 500);
    REFUSE_SELECT("k is 61, but there are only 60 candidates", .k = 61, .best.min_distance = 10);
    REFUSE_SELECT("k is -1", .k = -1);
    REFUSE_SELECT("stride 0.5", .score.stride = 0.5f);
    REFUSE_SELECT("stride -16", .score.stride = -16.0f);
    REFUSE_SELECT("stride nan", .score.stride = NAN);
    REFUSE_SELECT("stride inf", .score.stride = INFINITY);
    REFUSE_SELECT("patch of nan", .patch = NAN);
    REFUSE_SELECT("patch of -1", .patch = -1.0f);
    REFUSE_SELECT("minimum distance of nan", .best.min_distance = NAN);
    REFUSE_SELECT("minimum distance of -2", .best.min_distance = -2.0f);
    REFUSE_SELECT("image 1 of a stack of 1", .score.index = 1);
    REFUSE_SELECT("image -1 of a stack of 1", .score.index = -1);
    refused(tvlm_select(stack, NULL, tvlm_select_params(.strategy = (tvlm_strategy)9), &selection),
            TVLM_ERROR_ARGUMENT, "no strategy 9");
    REFUSE_SELECT("weight 0 is nan", .score.weights = bad[0]);
    REFUSE_SELECT("weight 1 is -1", .score.weights = bad[1]);
    REFUSE_SELECT("weight 2 is inf", .score.weights = bad[2]);
    assert_int_equal(tvlm_select(NULL, NULL, NULL, &selection), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_select(stack, NULL, NULL, NULL), TVLM_ERROR_ARGUMENT);
    assert_null(selection);
    tvlm_selection_destroy(&selection);
    tvlm_selection_destroy(NULL);
    assert_int_equal(TVLM_STRATEGY_DEFAULT, 0);
    assert_string_equal(tvlm_strategy_name(TVLM_STRATEGY_DEFAULT), "budget");
    assert_string_equal(tvlm_strategy_name(TVLM_STRATEGY_GRID), "grid");
    assert_non_null(tvlm_strategy_name((tvlm_strategy)9));
    assert_int_equal(tvlm_strategy_find("grid"), TVLM_STRATEGY_GRID);
    assert_int_equal(tvlm_strategy_find("gird"), -1);
    assert_int_equal(tvlm_strategy_find(NULL), -1);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

DEVICE_CHECKS(check_ranking, check_clipped, check_scaled, check_min_distance, check_batch, check_tiny)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_select_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
