/*
 * score.h and select.h: scores against a straightforward computation from sampled channels, the rules of
 * selecting, and what a failing device leaves behind. On the reference device, and once more on every device
 * under test.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stack/stack.h"
#include "support.h"

enum { WIDTH = 149, HEIGHT = 83, CELLS = 10 * 6 }; /* 10 x 6 cells of 16 pixels */

static tvlm_device *open_reference(void) {
    tvlm_device *device = NULL;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "reference", .log = &test_log), &device),
                     TVLM_OK);
    return device;
}

static tvlm_stack *random_stack(tvlm_device *device, tvlm_format format, uint64_t seed) {
    uint8_t *pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    const tvlm_image image = {pixels, WIDTH, HEIGHT, 3, TVLM_PIXEL_U8, 0};
    tvlm_stack *stack = NULL;
    assert_int_equal(tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.format = format), &stack),
                     TVLM_OK);
    free(pixels);
    return stack;
}

/* What a score may lose: a part's values by hardware filtering, divided by the part's range. */
static const float score_tolerance = 5e-3f;

/* ---- Scores, straightforwardly ---- */

typedef struct grid {
    int32_t columns, rows;
    float step_x, step_y, level;
} grid;

static grid cell_grid(const tvlm_stack *stack, float stride) {
    return (grid){(int32_t)ceilf((float)stack->width / stride), (int32_t)ceilf((float)stack->height / stride),
                  stride, stride, log2f(stride)};
}

static grid level_grid(const tvlm_stack *stack, int32_t level) {
    const int32_t w = tvlm_level_side(stack->width, level), h = tvlm_level_side(stack->height, level);
    return (grid){w, h, (float)stack->width / (float)w, (float)stack->height / (float)h, (float)level};
}

static float middle(int32_t c, float step, int32_t side) {
    return 0.5f * ((float)c * step + fminf((float)(c + 1) * step, (float)side));
}

/* A channel at every candidate, moved by (dx, dy) steps. */
static float *sample_grid(tvlm_stack *stack, const grid *g, int32_t channel, int dx, int dy) {
    const int32_t count = g->columns * g->rows;
    tvlm_sample_point *points = malloc((size_t)count * sizeof *points);
    float *values = malloc((size_t)count * sizeof *values);
    assert_true(points != NULL && values != NULL);
    for (int32_t i = 0; i < count; ++i) {
        const float x = middle(i % g->columns, g->step_x, stack->width) + (float)dx * g->step_x;
        const float y = middle(i / g->columns, g->step_y, stack->height) + (float)dy * g->step_y;
        points[i] = (tvlm_sample_point){x, y, g->level, 0};
    }
    assert_int_equal(tvlm_stack_sample(stack, points, count, &channel, 1, values), TVLM_OK);
    free(points);
    return values;
}

static void normalise(float *values, int32_t count) {
    float low = INFINITY, high = -INFINITY;
    for (int32_t i = 0; i < count; ++i) low = fminf(low, values[i]), high = fmaxf(high, values[i]);
    for (int32_t i = 0; i < count; ++i) values[i] = high > low ? (values[i] - low) / (high - low) : 0.0f;
}

/* CHANNELS.md, "Scores", to the letter. The query is sampled as it lies in the stack. */
static float *expected_score(tvlm_stack *stack, const grid *g, const float weights[3]) {
    static const int32_t channels[] = {TVLM_CHANNEL_ENTROPY, TVLM_CHANNEL_EDGES, TVLM_CHANNEL_SALIENCY,
                                       TVLM_CHANNEL_ECCENTRICITY, TVLM_CHANNEL_QUERY_SIMILARITY};
    const int32_t count = g->columns * g->rows;
    float *values[5], *parts[3], *scores = calloc((size_t)count, sizeof *scores);
    assert_non_null(scores);
    for (int c = 0; c < 5; ++c) values[c] = sample_grid(stack, g, channels[c], 0, 0);
    for (int32_t i = 0; i < count; ++i) {
        values[0][i] = 0.5f * values[0][i] + 0.5f * fminf(1.0f, 4.0f * values[1][i]);
        values[2][i] = 0.7f * values[2][i] + 0.3f * (1.0f - values[3][i]);
    }
    parts[0] = values[0], parts[1] = values[2], parts[2] = values[4];
    for (int p = 0; p < 3; ++p) {
        normalise(parts[p], count);
        for (int32_t i = 0; i < count; ++i) scores[i] += weights[p] * parts[p][i];
    }
    for (int c = 0; c < 5; ++c) free(values[c]);
    return scores;
}

static void compare_scores(tvlm_stack *stack, const struct tvlm_query *query,
                           const struct tvlm_score_params *params, const grid *g, const float weights[3]) {
    const int32_t count = g->columns * g->rows;
    int32_t columns, rows;
    float *got = malloc((size_t)count * sizeof *got);
    assert_non_null(got);
    assert_int_equal(tvlm_score_size(stack, params, &columns, &rows), TVLM_OK);
    assert_true(columns == g->columns && rows == g->rows);
    assert_int_equal(tvlm_score(stack, query, params, (size_t)count, got), TVLM_OK);
    float *expected = expected_score(stack, g, weights);
    test_compare("score", got, expected, (size_t)count, score_tolerance, score_tolerance);
    free(got);
    free(expected);
}

static void check_scores(tvlm_device *device, tvlm_format format) {
    static const float still[] = TVLM_WEIGHTS_STILL, asked[] = TVLM_WEIGHTS_QUERY, own[] = {0.2f, 0.0f, 2.0f};
    static const float strides[] = {0.0f, 16.0f, 7.5f, 1.0f, 40.0f, 1000.0f};
    float similarity[5 * 3];
    uint64_t seed = 47;
    tvlm_stack *stack = random_stack(device, format, 53);
    for (int i = 0; i < 15; ++i) similarity[i] = 2.0f * test_random_unit(&seed) - 1.0f;
    const struct tvlm_query query = {similarity, 5, 3};
    for (size_t i = 0; i < sizeof strides / sizeof strides[0]; ++i) {
        struct tvlm_score_params params = {.stride = strides[i]};
        const grid g = cell_grid(stack, strides[i] > 0.0f ? strides[i] : 16.0f);
        if (test_small() && strides[i] == 1.0f) continue;
        compare_scores(stack, NULL, &params, &g, still);
        compare_scores(stack, &query, &params, &g, asked);
        params.weights = own;
        compare_scores(stack, &query, &params, &g, own);
        compare_scores(stack, NULL, &params, &g, (const float[]){0.2f, 0.0f, 0.0f});
    }
    for (int32_t level = 0; level < stack->levels; level += 2) {
        const struct tvlm_score_params params = {.dense = true, .level = level};
        const grid g = level_grid(stack, level);
        compare_scores(stack, NULL, &params, &g, still);
        compare_scores(stack, &query, &params, &g, asked);
    }
    tvlm_stack_destroy(&stack);
}

/* ---- Linear scorers ---- */

static void compare_scorer(tvlm_stack *stack, const tvlm_scorer *scorer, const struct tvlm_query *query) {
    const grid g = cell_grid(stack, 16.0f);
    float got[CELLS], expected[CELLS];
    assert_int_equal(tvlm_score(stack, query, tvlm_score_params(.scorer = scorer), CELLS, got), TVLM_OK);
    for (int i = 0; i < CELLS; ++i) expected[i] = scorer->bias;
    for (int32_t c = 0; c < scorer->channel_count; ++c)
        for (int tap = 0; tap < scorer->taps; ++tap) {
            const int at = scorer->taps == 1 ? 4 : tap;
            float *values = sample_grid(stack, &g, scorer->channels[c], at % 3 - 1, at / 3 - 1);
            for (int i = 0; i < CELLS; ++i)
                expected[i] += scorer->weights[c * scorer->taps + tap] * values[i];
            free(values);
        }
    float *similarity = sample_grid(stack, &g, TVLM_CHANNEL_QUERY_SIMILARITY, 0, 0);
    for (int i = 0; i < CELLS; ++i) expected[i] += scorer->similarity_weight * similarity[i];
    free(similarity);
    test_compare("scorer", got, expected, CELLS, 2.0f * score_tolerance, score_tolerance);
}

static void check_scorers(tvlm_device *device, tvlm_format format) {
    static const int32_t channels[] = {
        TVLM_CHANNEL_EDGES,     TVLM_CHANNEL_MOTION,       TVLM_CHANNEL_X, TVLM_CHANNEL_ENTROPY,
        TVLM_CHANNEL_LAPLACIAN, TVLM_CHANNEL_SALIENCY_MID, TVLM_CHANNEL_R};
    static const float similarity[] = {-0.5f, 0.25f, 3.0f, -9.0f};
    const struct tvlm_query query = {similarity, 2, 2};
    float weights[7 * 9];
    uint64_t seed = 59;
    tvlm_stack *stack = random_stack(device, format, 61);
    for (int i = 0; i < 63; ++i) weights[i] = 2.0f * test_random_unit(&seed) - 1.0f;
    tvlm_scorer scorer = {7, channels, 1, weights, 0.3f, 0.0f};
    compare_scorer(stack, &scorer, NULL);
    scorer.taps = 9;
    compare_scorer(stack, &scorer, NULL);
    scorer.similarity_weight = 0.7f;
    compare_scorer(stack, &scorer, &query);
    compare_scorer(stack, &scorer, NULL); /* similarity is 0 without a query */
    scorer.taps = 1;
    compare_scorer(stack, &scorer, &query);
    scorer.channel_count = 0;
    compare_scorer(stack, &scorer, &query);
    compare_scorer(stack, &scorer, NULL);
    tvlm_stack_destroy(&stack);
}

/* What has no weight is not made. */
static void check_only_what_counts(tvlm_device *device, tvlm_format format) {
    static const int32_t channels[] = {TVLM_CHANNEL_ENTROPY, TVLM_CHANNEL_LAPLACIAN, TVLM_CHANNEL_Y};
    static const float perspective[] = {0.0f, 1.0f, 0.0f}, nothing[] = {0.0f, 0.0f, 0.0f},
                       weights[] = {0.0f, 2.0f, 1.0f};
    const tvlm_scorer scorer = {3, channels, 1, weights, 0.0f, 0.0f};
    const uint32_t source = 1u << TVLM_GRID_SOURCE;
    float scores[CELLS];
    tvlm_stack *stack = random_stack(device, format, 67);
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.weights = nothing), CELLS, scores), TVLM_OK);
    for (int i = 0; i < CELLS; ++i) assert_true(scores[i] == 0.0f);
    assert_int_equal(stack->chunks[0].valid, 0);
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.weights = perspective), CELLS, scores),
                     TVLM_OK);
    assert_int_equal(stack->chunks[0].valid, source | 1u << TVLM_GRID_SALIENCY);
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.scorer = &scorer), CELLS, scores), TVLM_OK);
    assert_int_equal(stack->chunks[0].valid, source | 1u << TVLM_GRID_SALIENCY | 1u << TVLM_GRID_LAPLACIAN);
    stack->bundle_max = 1;
    assert_int_equal(tvlm_score(stack, NULL, NULL, CELLS, scores), TVLM_ERROR_UNSUPPORTED);
    tvlm_stack_destroy(&stack);
}

/* ---- Queries ---- */

static void check_query_read(tvlm_stack *stack, int32_t index, int32_t columns, int32_t rows,
                             const float *expected) {
    float texels[16];
    int32_t width, height;
    assert_int_equal(tvlm_stack_channel_size(stack, TVLM_CHANNEL_QUERY_SIMILARITY, 0, &width, &height),
                     TVLM_OK);
    assert_true(width == columns && height == rows);
    assert_int_equal(tvlm_stack_read(stack, index, TVLM_CHANNEL_QUERY_SIMILARITY, 0, 16, texels), TVLM_OK);
    for (int i = 0; i < columns * rows; ++i)
        assert_true(fabsf(texels[i] - (expected != NULL ? expected[i] : 0.0f)) <= 1e-3f);
}

/* The last question is what the stack holds, for its own image; others are 0; without one it is 0 everywhere.
 */
static void check_queries(tvlm_device *device, tvlm_format format) {
    static const float wide[] = {0.5f, -7.0f, 0.25f, 1.5f, -0.125f, 0.0f},
                       clamped[] = {0.5f, -1.0f, 0.25f, 1.0f, -0.125f, 0.0f};
    static const float small[] = {0.75f, -0.75f};
    const struct tvlm_query six = {wide, 3, 2}, two = {small, 1, 2};
    const int32_t slices = device->info.image_slices_max;
    float scores[4];
    tvlm_stack *stack = NULL;
    device->info.image_slices_max = 32; /* chunks of two images */
    assert_int_equal(
        tvlm_stack_create(device, tvlm_stack_params(.width = 32, .height = 32, .images = 3, .format = format),
                          &stack),
        TVLM_OK);
    device->info.image_slices_max = slices;
    for (int32_t index = 0; index < 3; ++index) {
        assert_int_equal(tvlm_score(stack, &six, tvlm_score_params(.index = index), 4, scores), TVLM_OK);
        for (int32_t other = 0; other < 3; ++other)
            check_query_read(stack, other, 3, 2, other == index ? clamped : NULL);
    }
    assert_int_equal(tvlm_score(stack, &two, tvlm_score_params(.index = 1), 4, scores), TVLM_OK);
    check_query_read(stack, 0, 1, 2, NULL);
    check_query_read(stack, 1, 1, 2, small);
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.index = 1), 4, scores), TVLM_OK);
    assert_int_equal(stack->query_image, -1);
    const tvlm_sample_point point = {16, 1, 0, 1};
    const int32_t channel = TVLM_CHANNEL_QUERY_SIMILARITY;
    assert_int_equal(tvlm_stack_sample(stack, &point, 1, &channel, 1, scores), TVLM_OK);
    assert_true(scores[0] == 0.0f);
    tvlm_stack_destroy(&stack);
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
    tvlm_stack *stack = random_stack(device, format, 71);
    tvlm_selection *selection = select_with(stack, NULL);
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
    selection = select_with(stack, tvlm_select_params(.k = 7));
    assert_non_null(tvlm_selection_positions(selection, &count));
    assert_int_equal(count, 7);
    tvlm_selection_destroy(&selection);
    if (!test_small()) {
        selection = select_with(stack, tvlm_select_params(.stride = 4));
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
    tvlm_selection *selection = select_with(stack, tvlm_select_params(.weights = information));
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
    const tvlm_image image = {pixels, 128, 96, 3, TVLM_PIXEL_U8, 0};
    tvlm_stack *stack = NULL;
    tvlm_selection_info info;
    int32_t count;
    assert_int_equal(
        tvlm_stack_create_for_image(device, &image,
                                    tvlm_stack_params(.width = 64, .height = 48, .format = format), &stack),
        TVLM_OK);
    tvlm_selection *selection = select_with(stack, tvlm_select_params(.stride = 32, .patch = 8));
    const tvlm_position *p = tvlm_selection_positions(selection, &count);
    tvlm_selection_get_info(selection, &info);
    assert_true(info.width == 128 && info.height == 96 && info.columns == 2 && info.rows == 2);
    for (int32_t i = 0; i < count; ++i) {
        assert_true(p[i].x == (p[i].column == 0 ? 32.0f : 96.0f));
        assert_true(p[i].y == (p[i].row == 0 ? 32.0f : 80.0f)); /* 32..48 of 48, doubled */
        assert_true(p[i].size == 64.0f && p[i].level == 2.0f);
    }
    tvlm_selection_destroy(&selection);
    selection = select_with(stack, tvlm_select_params(.stride = 8, .k = 1));
    assert_true(tvlm_selection_positions(selection, NULL)[0].level == 0.0f); /* never below 0 */
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    free(pixels);
}

/* Greedy by rank, by looking at every pair. */
static void check_spacing(tvlm_stack *stack, float distance, int32_t k) {
    enum { ALL = 38 * 21 };
    int32_t all_count, count, kept = 0;
    tvlm_selection *all = select_with(stack, tvlm_select_params(.stride = 4, .k = ALL));
    tvlm_selection *spaced =
        select_with(stack, tvlm_select_params(.stride = 4, .k = k, .min_distance = distance));
    const tvlm_position *ranked = tvlm_selection_positions(all, &all_count);
    const tvlm_position *got = tvlm_selection_positions(spaced, &count);
    const tvlm_position *chosen[ALL];
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
    tvlm_stack *stack = random_stack(device, format, 79);
    if (!test_small()) {
        check_spacing(stack, 0.5f, 100);
        check_spacing(stack, 4.0f, 300); /* neighbours are exactly that far apart */
        check_spacing(stack, 9.7f, 60);
        check_spacing(stack, 30.0f, 273); /* fewer than k, which is no error */
        check_spacing(stack, 1e30f, 273);
    }
    tvlm_stack_destroy(&stack);
}

/* A batch in chunks gives what each image gives alone, to the bit. */
static void check_batch(tvlm_device *device, tvlm_format format) {
    const int32_t slices = device->info.image_slices_max;
    static const float similarity[] = {0.5f, -0.5f, 0.1f};
    const struct tvlm_query query = {similarity, 3, 1};
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
        const tvlm_image image = {pixels, WIDTH, HEIGHT, 3, TVLM_PIXEL_U8, 0};
        assert_int_equal(tvlm_stack_set_image(batch, i, &image), TVLM_OK);
        free(pixels);
    }
    for (int32_t i = 0; i < 5; ++i) {
        tvlm_stack *single = random_stack(device, format, 83 + (uint64_t)i);
        tvlm_selection *got = NULL, *expected = NULL;
        int32_t count, expected_count;
        assert_int_equal(tvlm_select(batch, &query, tvlm_select_params(.index = i), &got), TVLM_OK);
        assert_int_equal(tvlm_select(single, &query, NULL, &expected), TVLM_OK);
        const tvlm_position *p = tvlm_selection_positions(got, &count);
        const tvlm_position *q = tvlm_selection_positions(expected, &expected_count);
        assert_int_equal(count, expected_count);
        assert_memory_equal(p, q, (size_t)count * sizeof *p);
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
        tvlm_selection *selection = select_with(stack, NULL);
        const tvlm_position *p = tvlm_selection_positions(selection, &count);
        assert_int_equal(count, i == 0 ? 1 : 3);
        for (int32_t j = 0; j < count; ++j) assert_true(isfinite(p[j].score));
        tvlm_selection_destroy(&selection);
        tvlm_stack_destroy(&stack);
    }
}

/* ---- A backend that counts, and fails when told to ---- */

static const tvlm_backend *real;
static int calls_left, creations; /* calls that still succeed; < 0: all */

static bool failing(void) {
    return calls_left >= 0 && calls_left-- == 0;
}

#define PASS(CALL) return failing() ? TVLM_ERROR_DEVICE : real->CALL

static tvlm_status fake_buffer_create(tvlm_device *d, size_t bytes, tvlm_buffer **b) {
    ++creations;
    PASS(buffer_create(d, bytes, b));
}
static tvlm_status fake_buffer_write(tvlm_device *d, tvlm_buffer *b, size_t offset, size_t bytes,
                                     const void *host) {
    PASS(buffer_write(d, b, offset, bytes, host));
}
static tvlm_status fake_buffer_read(tvlm_device *d, tvlm_buffer *b, size_t offset, size_t bytes, void *host) {
    PASS(buffer_read(d, b, offset, bytes, host));
}
static tvlm_status fake_texture_create(tvlm_device *d, const tvlm_texture *shape, tvlm_texture **t) {
    ++creations;
    PASS(texture_create(d, shape, t));
}
static tvlm_status fake_texture_read(tvlm_device *d, tvlm_texture *t, int32_t level, int32_t slice,
                                     float *rgba) {
    PASS(texture_read(d, t, level, slice, rgba));
}
static tvlm_status fake_texture_write(tvlm_device *d, tvlm_texture *t, int32_t slice, const float *rgba) {
    PASS(texture_write(d, t, slice, rgba));
}
static tvlm_status fake_source(tvlm_device *d, tvlm_buffer *b, const tvlm_pixels *p, int32_t image,
                               tvlm_texture *t) {
    PASS(source(d, b, p, image, t));
}
static tvlm_status fake_mips(tvlm_device *d, tvlm_texture *t) {
    PASS(mips(d, t));
}
static tvlm_status fake_sample(tvlm_device *d, const tvlm_bundle *bundle, const int32_t *refs, int32_t count4,
                               tvlm_buffer *points, int32_t count, tvlm_buffer *out) {
    PASS(sample(d, bundle, refs, count4, points, count, out));
}
static tvlm_status fake_pack(tvlm_device *d, const tvlm_bundle *bundle, const int32_t *refs, float level,
                             tvlm_texture *t) {
    PASS(pack(d, bundle, refs, level, t));
}
static tvlm_status fake_score(tvlm_device *d, const tvlm_bundle *bundle, const tvlm_score_group *groups,
                              int32_t count, const tvlm_score_combination *combination,
                              const tvlm_candidates *candidates, tvlm_buffer *scores) {
    PASS(score(d, bundle, groups, count, combination, candidates, scores));
}
static tvlm_status fake_topk(tvlm_device *d, tvlm_buffer *scores, int32_t n, int32_t k, tvlm_buffer *result) {
    PASS(topk(d, scores, n, k, result));
}
#define FAKE_GENERATE(ID, NAME)                                                                              \
    static tvlm_status fake_##NAME(tvlm_device *d, tvlm_texture *const *grids, tvlm_texture *out) {          \
        PASS(generate[TVLM_GRID_##ID](d, grids, out));                                                       \
    }
TVLM_GENERATED_GRIDS(FAKE_GENERATE)

static void fake_backend(tvlm_device *device, tvlm_backend *fake) {
    real = device->backend;
    *fake = *real;
    fake->buffer_create = fake_buffer_create;
    fake->buffer_write = fake_buffer_write;
    fake->buffer_read = fake_buffer_read;
    fake->texture_create = fake_texture_create;
    fake->texture_read = fake_texture_read;
    fake->texture_write = fake_texture_write;
    fake->source = fake_source;
    fake->mips = fake_mips;
    fake->sample = fake_sample;
    fake->pack = fake_pack;
    fake->score = fake_score;
    fake->topk = fake_topk;
#define SET_GENERATE(ID, NAME) fake->generate[TVLM_GRID_##ID] = fake_##NAME;
    TVLM_GENERATED_GRIDS(SET_GENERATE)
    device->backend = fake;
    calls_left = -1;
}

/* Everything that reaches the device; the result in out[4]. */
static tvlm_status work(tvlm_stack *stack, const tvlm_image *image, float out[4]) {
    static const float similarity[] = {0.5f, -0.5f, 0.1f, 0.9f};
    static const int32_t channel = TVLM_CHANNEL_RGB_VAR;
    const tvlm_sample_point point = {9, 7, 0.5f, 1};
    tvlm_packed *packed = NULL;
    tvlm_selection *selection = NULL;
    float plane[20 * 15];
    TVLM_TRY(tvlm_stack_set_image(stack, 1, image));
    TVLM_TRY(tvlm_stack_generate(stack));
    TVLM_TRY(tvlm_stack_sample(stack, &point, 1, &channel, 1, &out[0]));
    TVLM_TRY(tvlm_stack_read(stack, 1, TVLM_CHANNEL_EDGES, 4, 2, &out[1]));
    TVLM_TRY(tvlm_stack_pack(stack, tvlm_pack_params(.channels = &channel, .channel_count = 1, .level = 1),
                             &packed));
    const tvlm_status status = tvlm_packed_read(packed, 1, 20 * 15, plane);
    out[2] = plane[77];
    tvlm_packed_destroy(&packed);
    TVLM_TRY(status);
    TVLM_TRY(
        tvlm_select(stack, tvlm_query(similarity, 2, 2), tvlm_select_params(.index = 1, .k = 2), &selection));
    out[3] = tvlm_selection_positions(selection, NULL)[0].score;
    tvlm_selection_destroy(&selection);
    return TVLM_OK;
}

/* Every call of the backend fails once: an error, no leak, and the stack works again as if nothing had been.
 */
static void test_failing_backend(void **state) {
    tvlm_device *device = open_reference();
    tvlm_backend fake;
    uint64_t seed = 89;
    uint8_t *pixels = test_random_pixels(&seed, 40, 30, 3);
    const tvlm_image image = {pixels, 40, 30, 3, TVLM_PIXEL_U8, 0};
    float expected[4] = {0}, got[4];
    (void)state;
    fake_backend(device, &fake);
    for (int fail_at = -1;; ++fail_at) {
        tvlm_stack *stack = NULL;
        assert_int_equal(
            tvlm_stack_create(device, tvlm_stack_params(.width = 40, .height = 30, .images = 2), &stack),
            TVLM_OK);
        calls_left = fail_at;
        const tvlm_status status = work(stack, &image, fail_at < 0 ? expected : got);
        const bool reached = calls_left < 0 && fail_at >= 0;
        assert_int_equal(status, reached ? TVLM_ERROR_DEVICE : TVLM_OK);
        calls_left = -1;
        assert_int_equal(work(stack, &image, got), TVLM_OK);
        assert_memory_equal(got, expected, sizeof got);
        tvlm_stack_destroy(&stack);
        if (fail_at >= 0 && !reached) break;
        assert_true(fail_at < 1000);
    }
    device->backend = real;
    tvlm_device_destroy(&device);
    free(pixels);
}

/* Asking again, with another image and another query, takes no new device memory. */
static void test_repeated_select_allocates_nothing(void **state) {
    static const float similarity[] = {0.5f, -0.5f, 0.1f, 0.9f};
    tvlm_device *device = open_reference();
    tvlm_backend fake;
    uint64_t seed = 97;
    uint8_t *pixels = test_random_pixels(&seed, 40, 30, 3);
    const tvlm_image image = {pixels, 40, 30, 3, TVLM_PIXEL_U8, 0};
    tvlm_stack *stack = NULL;
    (void)state;
    fake_backend(device, &fake);
    assert_int_equal(tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.images = 2), &stack),
                     TVLM_OK);
    for (int32_t round = 0; round < 4; ++round) {
        tvlm_selection *selection = NULL;
        assert_int_equal(tvlm_stack_set_image(stack, round % 2, &image), TVLM_OK);
        assert_int_equal(tvlm_select(stack, tvlm_query(similarity, 2, 2),
                                     tvlm_select_params(.index = round % 2), &selection),
                         TVLM_OK);
        tvlm_selection_destroy(&selection);
        if (round == 0) creations = 0;
    }
    assert_int_equal(creations, 0);
    tvlm_stack_destroy(&stack);
    device->backend = real;
    tvlm_device_destroy(&device);
    free(pixels);
}

/* ---- Refusals ---- */

static void refused(tvlm_status status, const char *line) {
    assert_int_equal(status, TVLM_ERROR_ARGUMENT);
    if (strstr(test_last_log(), line) == NULL) fail_msg("'%s' does not say '%s'", test_last_log(), line);
}

#define REFUSE_SELECT(LINE, ...)                                                                             \
    refused(tvlm_select(stack, NULL, tvlm_select_params(__VA_ARGS__), &selection), LINE)
#define REFUSE_SCORE(LINE, ...)                                                                              \
    refused(tvlm_score(stack, NULL, tvlm_score_params(__VA_ARGS__), CELLS, scores), LINE)

static void test_select_refusals(void **state) {
    static const float bad[3][3] = {{NAN, 1, 1}, {1, -1, 1}, {1, 1, INFINITY}};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, 101);
    tvlm_selection *selection = NULL;
    (void)state;
    REFUSE_SELECT("k is 500, but there are only 60 candidates", .k = 500);
    REFUSE_SELECT("k is 61, but there are only 60 candidates", .k = 61, .min_distance = 10);
    REFUSE_SELECT("k is -1", .k = -1);
    REFUSE_SELECT("stride 0.5", .stride = 0.5f);
    REFUSE_SELECT("stride -16", .stride = -16.0f);
    REFUSE_SELECT("stride nan", .stride = NAN);
    REFUSE_SELECT("stride inf", .stride = INFINITY);
    REFUSE_SELECT("patch of nan", .patch = NAN);
    REFUSE_SELECT("patch of -1", .patch = -1.0f);
    REFUSE_SELECT("minimum distance of nan", .min_distance = NAN);
    REFUSE_SELECT("minimum distance of -2", .min_distance = -2.0f);
    REFUSE_SELECT("image 1 of a stack of 1", .index = 1);
    REFUSE_SELECT("image -1 of a stack of 1", .index = -1);
    REFUSE_SELECT("no strategy 1", .strategy = (tvlm_strategy)1);
    REFUSE_SELECT("weight 0 is nan", .weights = bad[0]);
    REFUSE_SELECT("weight 1 is -1", .weights = bad[1]);
    REFUSE_SELECT("weight 2 is inf", .weights = bad[2]);
    assert_int_equal(tvlm_select(NULL, NULL, NULL, &selection), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_select(stack, NULL, NULL, NULL), TVLM_ERROR_ARGUMENT);
    assert_null(selection);
    tvlm_selection_destroy(&selection);
    tvlm_selection_destroy(NULL);
    assert_string_equal(tvlm_strategy_name(TVLM_STRATEGY_GRID), "grid");
    assert_non_null(tvlm_strategy_name((tvlm_strategy)9));
    assert_int_equal(tvlm_strategy_find("grid"), TVLM_STRATEGY_GRID);
    assert_int_equal(tvlm_strategy_find("gird"), -1);
    assert_int_equal(tvlm_strategy_find(NULL), -1);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

static void test_score_refusals(void **state) {
    static const int32_t channels[] = {0, 99999}, fine[] = {0, 1};
    static const float weights[] = {1, NAN};
    float scores[CELLS];
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, 103);
    int32_t columns, rows;
    (void)state;
    REFUSE_SCORE("level 8", .dense = true, .level = 8);
    REFUSE_SCORE("level -1", .dense = true, .level = -1);
    REFUSE_SCORE("room for 60", .stride = 8);
    REFUSE_SCORE("no channel 99999", .scorer = &(tvlm_scorer){2, channels, 1, weights, 0, 0});
    REFUSE_SCORE("weight of channel 1", .scorer = &(tvlm_scorer){2, fine, 1, weights, 0, 0});
    REFUSE_SCORE("3 taps", .scorer = &(tvlm_scorer){1, fine, 3, weights, 0, 0});
    REFUSE_SCORE("0 taps", .scorer = &(tvlm_scorer){1, fine, 0, weights, 0, 0});
    REFUSE_SCORE("-1 channels", .scorer = &(tvlm_scorer){-1, fine, 1, weights, 0, 0});
    REFUSE_SCORE("without channels", .scorer = &(tvlm_scorer){1, NULL, 1, weights, 0, 0});
    REFUSE_SCORE("without channels", .scorer = &(tvlm_scorer){1, fine, 1, NULL, 0, 0});
    REFUSE_SCORE("bias", .scorer = &(tvlm_scorer){1, fine, 1, weights, NAN, 0});
    REFUSE_SCORE("bias", .scorer = &(tvlm_scorer){1, fine, 1, weights, 0, INFINITY});
    assert_int_equal(tvlm_score(NULL, NULL, NULL, CELLS, scores), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_score(stack, NULL, NULL, CELLS, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_score_size(stack, NULL, NULL, &rows), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_score_size(stack, NULL, &columns, &rows), TVLM_OK);
    assert_true(columns == 10 && rows == 6);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

static void test_query_refusals(void **state) {
    static const float similarity[] = {0, 1, 0, NAN, INFINITY, 0};
    float scores[CELLS];
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, 107);
    (void)state;
    refused(tvlm_score(stack, tvlm_query(similarity, 3, 2), NULL, CELLS, scores),
            "similarity 3 is not finite");
    refused(tvlm_score(stack, tvlm_query(similarity + 4, 1, 1), NULL, CELLS, scores),
            "similarity 0 is not finite");
    refused(tvlm_score(stack, tvlm_query(NULL, 3, 2), NULL, CELLS, scores), "without similarities");
    refused(tvlm_score(stack, tvlm_query(similarity, 0, 2), NULL, CELLS, scores), "0x2 cells");
    refused(tvlm_score(stack, tvlm_query(similarity, 1, -2), NULL, CELLS, scores), "1x-2 cells");
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* ---- Running it all ---- */

typedef void device_check(tvlm_device *device, tvlm_format format);

static device_check *const checks[] = {
    check_scores,  check_scorers, check_only_what_counts, check_queries, check_ranking,
    check_clipped, check_scaled,  check_min_distance,     check_batch,   check_tiny};
#define CHECK_COUNT (sizeof checks / sizeof checks[0])

static void on_reference(tvlm_format format) {
    tvlm_device *device = open_reference();
    for (size_t i = 0; i < CHECK_COUNT; ++i) checks[i](device, format);
    tvlm_device_destroy(&device);
}

static void test_reference_f32(void **state) {
    (void)state;
    on_reference(TVLM_FORMAT_F32);
}

static void test_reference_f16(void **state) {
    (void)state;
    on_reference(TVLM_FORMAT_F16);
}

static void on_target(const test_target *target, tvlm_device *reference) {
    (void)reference;
    for (size_t i = 0; i < CHECK_COUNT; ++i) checks[i](target->device, target->format);
}

static void test_targets(void **state) {
    (void)state;
    if (test_for_each_target(on_target) == 0) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_failing_backend),
        cmocka_unit_test(test_repeated_select_allocates_nothing),
        cmocka_unit_test(test_select_refusals),
        cmocka_unit_test(test_score_refusals),
        cmocka_unit_test(test_query_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
