/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score.h: scores against a straightforward computation from sampled channels, queries, and what is refused.
 */
#include "stack/frame.h"
#include "stack/inside.h"
#include "stack_helper.h"

enum { WIDTH = 149, HEIGHT = 83, CELLS = 10 * 6 }; /* 10 x 6 cells of 16 pixels */

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

/* doc/channels.md, "Scores", to the letter. The query is sampled as it lies in the stack. */
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
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 53);
    for (int i = 0; i < 15; ++i) similarity[i] = 2.0f * test_random_unit(&seed) - 1.0f;
    const struct tvlm_query query = {.similarity = similarity, .columns = 5, .rows = 3};
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
    grid g = cell_grid(stack, 16.0f);
    const float level = g.level;
    float got[CELLS], expected[CELLS];
    assert_int_equal(tvlm_score(stack, query, tvlm_score_params(.scorer = scorer), CELLS, got), TVLM_OK);
    for (int i = 0; i < CELLS; ++i) expected[i] = scorer->bias;
    for (int32_t c = 0; c < scorer->channel_count; ++c)
        for (int tap = 0; tap < scorer->taps; ++tap) {
            const int at = scorer->taps == 1 ? 4 : tap;
            g.level = scorer->levels != NULL && scorer->levels[c] >= 0.0f ? scorer->levels[c] : level;
            float *values = sample_grid(stack, &g, scorer->channels[c], at % 3 - 1, at / 3 - 1);
            for (int i = 0; i < CELLS; ++i)
                expected[i] += scorer->weights[c * scorer->taps + tap] * values[i];
            free(values);
        }
    g.level = level;
    float *similarity = sample_grid(stack, &g, TVLM_CHANNEL_QUERY_SIMILARITY, 0, 0);
    for (int i = 0; i < CELLS; ++i) expected[i] += scorer->similarity_weight * similarity[i];
    free(similarity);
    test_compare("scorer", got, expected, CELLS, 2.0f * score_tolerance, score_tolerance);
}

/* One level for each channel, and then another one: scores of the first are not taken for those of the second. */
static void compare_levels(tvlm_stack *stack, const tvlm_scorer *scorer, const struct tvlm_query *query) {
    static const float levels[2][7] = {{0.0f, -1.0f, 3.0f, 4.0f, 1.5f, 100.0f, 0.0f},
                                       {2.0f, 0.0f, -1.0f, 5.5f, -1.0f, 0.0f, 7.0f}};
    for (int i = 0; i < 2; ++i) {
        tvlm_scorer own = *scorer;
        own.levels = levels[i];
        compare_scorer(stack, &own, query);
    }
}

/* A question's answer has levels where a scorer reads it at one, although its candidates do not. */
static void check_query_level(tvlm_stack *stack) {
    static const int32_t channel = TVLM_CHANNEL_QUERY_SIMILARITY;
    static const float one = 1.0f, level = 7.0f;
    const tvlm_scorer scorer = {.channel_count = 1, .channels = &channel, .weights = &one, .levels = &level};
    float similarity[16 * 16], scores[CELLS];
    grid g = cell_grid(stack, 16.0f);
    for (int i = 0; i < 256; ++i) similarity[i] = i % 2 == 0 ? 1.0f : -0.5f;
    const struct tvlm_query query = {.similarity = similarity, .columns = 16, .rows = 16};
    assert_int_equal(
        tvlm_score(stack, &query, tvlm_score_params(.scorer = &scorer, .stride = 16), CELLS, scores),
        TVLM_OK);
    g.level = level;
    float *expected = sample_grid(stack, &g, channel, 0, 0);
    for (int i = 0; i < CELLS; ++i) assert_float_equal(scores[i], expected[i], 2e-3f);
    for (int i = 0; i < CELLS; ++i)
        assert_float_equal(scores[i], 0.25f, 0.1f); /* not one of the map's two values */
    free(expected);
}

/* taps 0 means 1. */
static void compare_default_taps(tvlm_stack *stack, const tvlm_scorer *scorer) {
    tvlm_scorer unset = *scorer;
    float one[CELLS], none[CELLS];
    unset.taps = 0;
    assert_int_equal(scorer->taps, 1);
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.scorer = scorer), CELLS, one), TVLM_OK);
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.scorer = &unset), CELLS, none), TVLM_OK);
    assert_memory_equal(one, none, sizeof one);
}

static void check_scorers(tvlm_device *device, tvlm_format format) {
    static const int32_t channels[] = {
        TVLM_CHANNEL_EDGES,     TVLM_CHANNEL_TEXT,         TVLM_CHANNEL_X, TVLM_CHANNEL_ENTROPY,
        TVLM_CHANNEL_LAPLACIAN, TVLM_CHANNEL_SALIENCY_MID, TVLM_CHANNEL_R};
    static const float similarity[] = {-0.5f, 0.25f, 3.0f, -9.0f};
    const struct tvlm_query query = {.similarity = similarity, .columns = 2, .rows = 2};
    float weights[7 * 9];
    uint64_t seed = 59;
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 61);
    for (int i = 0; i < 63; ++i) weights[i] = 2.0f * test_random_unit(&seed) - 1.0f;
    tvlm_scorer scorer = {
        .channel_count = 7, .channels = channels, .taps = 1, .weights = weights, .bias = 0.3f};
    compare_scorer(stack, &scorer, NULL);
    compare_default_taps(stack, &scorer);
    scorer.taps = 9;
    compare_scorer(stack, &scorer, NULL);
    scorer.similarity_weight = 0.7f;
    compare_scorer(stack, &scorer, &query);
    compare_scorer(stack, &scorer, NULL); /* similarity is 0 without a query */
    scorer.taps = 1;
    compare_scorer(stack, &scorer, &query);
    compare_levels(stack, &scorer, NULL);
    scorer.taps = 9;
    compare_levels(stack, &scorer, &query);
    scorer.taps = 1;
    check_query_level(stack);
    scorer.channel_count = 0;
    compare_scorer(stack, &scorer, &query);
    compare_scorer(stack, &scorer, NULL);
    tvlm_stack_destroy(&stack);
}

/* A channel that a still has no input for is refused by name, as long as it counts. */
static void check_channels_without_input(tvlm_device *device, tvlm_format format) {
    static const int32_t channels[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_ATTENTION};
    static const float both[] = {1.0f, 1.0f}, one[] = {1.0f, 0.0f}, attention[] = {0.25f, 0.5f};
    const tvlm_scorer scorer = {.channel_count = 2, .channels = channels, .weights = both},
                      without = {.channel_count = 2, .channels = channels, .weights = one};
    const struct tvlm_grid_input input = {.data = attention, .columns = 2, .rows = 1};
    float scores[CELLS];
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 67);
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.scorer = &scorer), CELLS, scores),
                     TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(test_last_log(), "the scorer weighs attention ("));
    assert_non_null(strstr(test_last_log(), ", for which the image has no input"));
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.scorer = &without), CELLS, scores), TVLM_OK);
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_ATTENTION, &input), TVLM_OK);
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.scorer = &scorer), CELLS, scores), TVLM_OK);
    tvlm_stack_set_streamed(stack);
    assert_int_equal(tvlm_stack_clear_grid(stack, 0, TVLM_CHANNEL_ATTENTION), TVLM_OK);
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.scorer = &scorer), CELLS, scores), TVLM_OK);
    tvlm_stack_destroy(&stack);
}

/* Changes one thing after the other that scores are made of. */
static void change(tvlm_stack *stack, int step, struct tvlm_score_params *params) {
    static const float map[] = {0.25f, 1.0f, 0.0f, 0.5f}, own[] = {0.2f, 0.5f, 0.0f};
    uint64_t seed = 3;
    switch (step) {
    case 0: params->weights = own; break;
    case 1: assert_int_equal(tvlm_stack_set_fixation(stack, 3.0f, 5.0f), TVLM_OK); break;
    case 2: {
        const struct tvlm_grid_input input = {.data = map, .columns = 2, .rows = 2};
        assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_SALIENCY, &input), TVLM_OK);
        break;
    }
    case 3: {
        uint8_t *pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
        const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
        assert_int_equal(tvlm_stack_set_image(stack, 0, &image), TVLM_OK);
        free(pixels);
        break;
    }
    default: params->stride = 17.0f; break;
    }
}

/* Scores that are there already are those that would be made, whatever changed before. */
static void check_known_scores(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 71);
    struct tvlm_score_params params = {0};
    float before[CELLS], known[CELLS] = {0}, made[CELLS] = {0};
    assert_int_equal(tvlm_score(stack, NULL, &params, CELLS, before), TVLM_OK);
    for (int step = 0; step < 5; ++step) {
        change(stack, step, &params);
        assert_int_equal(tvlm_score(stack, NULL, &params, CELLS, known), TVLM_OK);
        assert_int_equal(tvlm_score(stack, NULL, &params, CELLS, known), TVLM_OK);
        tvlm_stack_scores_made_of(stack, 0, NULL, 0);
        assert_int_equal(tvlm_score(stack, NULL, &params, CELLS, made), TVLM_OK);
        assert_memory_equal(known, made, sizeof made);
        if (memcmp(before, made, sizeof made) == 0) fail_msg("step %d changes nothing", step);
        memcpy(before, made, sizeof made);
    }
    tvlm_stack_destroy(&stack);
}

/* What has no weight is not made. */
static void check_only_what_counts(tvlm_device *device, tvlm_format format) {
    static const int32_t channels[] = {TVLM_CHANNEL_ENTROPY, TVLM_CHANNEL_LAPLACIAN, TVLM_CHANNEL_Y};
    static const float perspective[] = {0.0f, 1.0f, 0.0f}, nothing[] = {0.0f, 0.0f, 0.0f},
                       weights[] = {0.0f, 2.0f, 1.0f};
    const tvlm_scorer scorer = {.channel_count = 3, .channels = channels, .taps = 1, .weights = weights};
    const tvlm_grid_mask source = TVLM_GRID_BIT(TVLM_GRID_SOURCE);
    float scores[CELLS];
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 67);
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.weights = nothing), CELLS, scores), TVLM_OK);
    for (int i = 0; i < CELLS; ++i) assert_true(scores[i] == 0.0f);
    assert_int_equal(stack->chunks[0].valid, 0);
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.weights = perspective), CELLS, scores),
                     TVLM_OK);
    assert_int_equal(stack->chunks[0].valid, source | TVLM_GRID_BIT(TVLM_GRID_SALIENCY));
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.scorer = &scorer), CELLS, scores), TVLM_OK);
    assert_int_equal(stack->chunks[0].valid,
                     source | TVLM_GRID_BIT(TVLM_GRID_SALIENCY) | TVLM_GRID_BIT(TVLM_GRID_LAPLACIAN));
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
    const struct tvlm_query six = {.similarity = wide, .columns = 3, .rows = 2},
                            two = {.similarity = small, .columns = 1, .rows = 2};
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
    assert_int_equal(stack->question.image, -1);
    const tvlm_sample_point point = {16, 1, 0, 1};
    const int32_t channel = TVLM_CHANNEL_QUERY_SIMILARITY;
    assert_int_equal(tvlm_stack_sample(stack, &point, 1, &channel, 1, scores), TVLM_OK);
    assert_true(scores[0] == 0.0f);
    tvlm_stack_destroy(&stack);
}

/* ---- Refusals ---- */

#define REFUSE_SELECT(LINE, ...)                                                                             \
    refused(tvlm_select(stack, NULL, tvlm_select_params(__VA_ARGS__), &selection), TVLM_ERROR_ARGUMENT, LINE)
#define REFUSE_SCORE(LINE, ...)                                                                              \
    refused(tvlm_score(stack, NULL, tvlm_score_params(__VA_ARGS__), CELLS, scores), TVLM_ERROR_ARGUMENT, LINE)

static void test_score_refusals(void **state) {
    static const int32_t channels[] = {0, 99999}, fine[] = {0, 1};
    static const float weights[] = {1, NAN}, fine_weights[] = {1, 1, 1};
    float scores[CELLS];
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, WIDTH, HEIGHT, 103);
    int32_t columns, rows;
    (void)state;
    REFUSE_SCORE("level 8", .dense = true, .level = 8);
    REFUSE_SCORE("level -1", .dense = true, .level = -1);
    REFUSE_SCORE("a stride of 8 with dense", .dense = true, .stride = 8.0f);
    REFUSE_SCORE("level 2 without dense", .level = 2);
    REFUSE_SCORE(
        "weights and a scorer", .weights = fine_weights,
        .scorer = &(tvlm_scorer){.channel_count = 2, .channels = fine, .taps = 1, .weights = fine_weights});
    REFUSE_SCORE("room for 60", .stride = 8);
    REFUSE_SCORE("no channel 99999",
                 .scorer =
                     &(tvlm_scorer){.channel_count = 2, .channels = channels, .taps = 1, .weights = weights});
    REFUSE_SCORE("weight of channel 1",
                 .scorer =
                     &(tvlm_scorer){.channel_count = 2, .channels = fine, .taps = 1, .weights = weights});
    REFUSE_SCORE("3 taps", .scorer = &(tvlm_scorer){
                               .channel_count = 1, .channels = fine, .taps = 3, .weights = weights});
    REFUSE_SCORE("-1 channels", .scorer = &(tvlm_scorer){
                                    .channel_count = -1, .channels = fine, .taps = 1, .weights = weights});
    REFUSE_SCORE("without channels",
                 .scorer =
                     &(tvlm_scorer){.channel_count = 1, .channels = NULL, .taps = 1, .weights = weights});
    REFUSE_SCORE("without channels",
                 .scorer = &(tvlm_scorer){.channel_count = 1, .channels = fine, .taps = 1, .weights = NULL});
    REFUSE_SCORE("bias",
                 .scorer = &(tvlm_scorer){
                     .channel_count = 1, .channels = fine, .taps = 1, .weights = weights, .bias = NAN});
    REFUSE_SCORE("bias", .scorer = &(tvlm_scorer){.channel_count = 1,
                                                  .channels = fine,
                                                  .taps = 1,
                                                  .weights = weights,
                                                  .similarity_weight = INFINITY});
    REFUSE_SCORE("level of channel 1 is -0.5; it is 0 or more, or -1",
                 .scorer = &(tvlm_scorer){.channel_count = 2,
                                          .channels = fine,
                                          .weights = fine_weights,
                                          .levels = (const float[]){-1.0f, -0.5f}});
    REFUSE_SCORE("level of channel 0 is nan", .scorer = &(tvlm_scorer){.channel_count = 2,
                                                                       .channels = fine,
                                                                       .weights = fine_weights,
                                                                       .levels = (const float[]){NAN, 0.0f}});
    REFUSE_SCORE("level of channel 0 is inf", .scorer = &(tvlm_scorer){.channel_count = 1,
                                                                       .channels = fine,
                                                                       .weights = fine_weights,
                                                                       .levels = (const float[]){INFINITY}});
    assert_int_equal(tvlm_score(NULL, NULL, NULL, CELLS, scores), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_score(stack, NULL, NULL, CELLS, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_score_size(stack, NULL, NULL, &rows), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_score_size(stack, NULL, &columns, &rows), TVLM_OK);
    assert_true(columns == 10 && rows == 6);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* A question is not dropped in silence where no vector of the features has a direction. */
static void check_pointless(tvlm_stack *stack) {
    static const float zero[4] = {0}, tiny[4] = {1e-30f, 0, 0, 1e-30f}, huge[4] = {1e30f, 0, 0, -3e38f},
                       good[4] = {0, 0, 2, 1}, asked[2] = {1, 2};
    const float *const pointless[] = {zero, tiny, huge};
    float scores[CELLS];
    struct tvlm_grid_input input = {.columns = 2, .rows = 1, .channels = 2};
    const struct tvlm_query query = {.vectors = asked, .dimension = 2};
    for (int i = 0; i < 3; ++i) {
        input.data = pointless[i];
        assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0, &input), TVLM_OK);
        refused(tvlm_score(stack, &query, NULL, CELLS, scores), TVLM_ERROR_ARGUMENT,
                "no question can be compared with the features of image 0");
        assert_int_equal(tvlm_score(stack, NULL, NULL, CELLS, scores), TVLM_OK);
    }
    input.data = good; /* one vector suffices */
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0, &input), TVLM_OK);
    assert_int_equal(tvlm_score(stack, &query, NULL, CELLS, scores), TVLM_OK);
}

static void test_query_refusals(void **state) {
    static const float similarity[] = {0, 1, 0, NAN, INFINITY, 0};
    float scores[CELLS];
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, WIDTH, HEIGHT, 107);
    (void)state;
    refused(
        tvlm_score(stack, tvlm_query(.similarity = similarity, .columns = 3, .rows = 2), NULL, CELLS, scores),
        TVLM_ERROR_ARGUMENT, "similarity 3 is not finite");
    refused(tvlm_score(stack, tvlm_query(.similarity = similarity + 4, .columns = 1, .rows = 1), NULL, CELLS,
                       scores),
            TVLM_ERROR_ARGUMENT, "similarity 0 is not finite");
    refused(tvlm_score(stack, tvlm_query(.similarity = NULL, .columns = 3, .rows = 2), NULL, CELLS, scores),
            TVLM_ERROR_ARGUMENT, "without similarities");
    refused(
        tvlm_score(stack, tvlm_query(.similarity = similarity, .columns = 0, .rows = 2), NULL, CELLS, scores),
        TVLM_ERROR_ARGUMENT, "0x2 cells");
    refused(tvlm_score(stack, tvlm_query(.similarity = similarity, .columns = 1, .rows = -2), NULL, CELLS,
                       scores),
            TVLM_ERROR_ARGUMENT, "1x-2 cells");
    check_pointless(stack);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

DEVICE_CHECKS(check_scores, check_scorers, check_channels_without_input, check_known_scores,
              check_only_what_counts, check_queries)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_f32),  cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),        cmocka_unit_test(test_score_refusals),
        cmocka_unit_test(test_query_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
