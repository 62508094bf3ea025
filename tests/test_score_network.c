/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scorers of several outputs, with weights that a query gives for all taps, and scorers that are networks: against sums
 * that are written out over what tvlm_stack_sample reads at the candidates. Also what becomes of the outputs, and what is
 * refused.
 */
#include "network_helper.h"
#include "stack_helper.h"
#include "texturevlm/input.h"
#include "texturevlm/lab/explain.h"
#include "texturevlm/select.h"

enum { WIDTH = 149, HEIGHT = 83, CELLS_MAX = 149 * 83, D = 5, CHANNELS = 5, OUTPUTS = 3 };

static const int32_t channels[CHANNELS] = {TVLM_CHANNEL_R, TVLM_CHANNEL_EDGES, TVLM_CHANNEL_X,
                                           TVLM_CHANNEL_QUERY_SIMILARITY, TVLM_CHANNEL_ENTROPY};

static const float query_vector[D] = {3.0f, -4.0f, 0.0f, 1.0f, 2.0f};

static tvlm_stack *stack_with_features(tvlm_device *device, tvlm_format format) {
    float features[3 * 2 * D];
    uint64_t seed = 71;
    for (int i = 0; i < 3 * 2 * D; ++i) features[i] = test_random_unit(&seed) - 0.4f;
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 5);
    const struct tvlm_grid_input input = {.data = features, .columns = 3, .rows = 2, .channels = D};
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0, &input), TVLM_OK);
    return stack;
}

/* Candidates, and what lies at them and a step around them: values[row][column][tap][channel]. */
typedef struct candidates {
    struct tvlm_score_params params;
    int32_t columns, rows;
    float *values;
} candidates;

static float centre(int32_t cell, float step, int32_t side) {
    return 0.5f * ((float)cell * step + fminf((float)(cell + 1) * step, (float)side));
}

static void sample_candidates(tvlm_stack *stack, candidates *c) {
    assert_int_equal(tvlm_score_size(stack, &c->params, &c->columns, &c->rows), TVLM_OK);
    const int32_t count = 9 * c->columns * c->rows;
    const float step_x = c->params.dense ? (float)WIDTH / (float)c->columns : c->params.stride,
                step_y = c->params.dense ? (float)HEIGHT / (float)c->rows : c->params.stride;
    const float level = c->params.dense ? (float)c->params.level : log2f(c->params.stride);
    tvlm_sample_point *const points = malloc((size_t)count * sizeof *points);
    c->values = malloc((size_t)count * CHANNELS * sizeof *c->values);
    assert_true(points != NULL && c->values != NULL);
    for (int32_t i = 0; i < count; ++i) {
        const int32_t tap = i % 9, x = i / 9 % c->columns, y = i / 9 / c->columns;
        points[i] = (tvlm_sample_point){centre(x, step_x, WIDTH) + (float)(tap % 3 - 1) * step_x,
                                        centre(y, step_y, HEIGHT) + (float)(tap / 3 - 1) * step_y, level,
                                        c->params.index};
    }
    assert_int_equal(tvlm_stack_sample(stack, points, count, channels, CHANNELS, c->values), TVLM_OK);
    free(points);
}

static double value_at(const candidates *c, int32_t x, int32_t y, int32_t tap, int32_t channel) {
    return (double)c->values[((y * c->columns + x) * 9 + tap) * CHANNELS + channel];
}

/* The planes of the outputs as they are in the stack; the first one is the score. */
static float *read_outputs(tvlm_stack *stack, const struct tvlm_query *query, const candidates *c,
                           int32_t outputs) {
    const size_t count = (size_t)c->columns * (size_t)c->rows;
    float *const all = malloc((size_t)outputs * count * sizeof *all);
    assert_non_null(all);
    assert_int_equal(tvlm_score(stack, query, &c->params, count, all), TVLM_OK);
    for (int32_t o = 1; o < outputs; ++o) {
        char name[32];
        size_t texels;
        snprintf(name, sizeof name, "output_%d", (int)o);
        const int32_t channel = tvlm_stack_channel_find(stack, name);
        assert_int_not_equal(channel, TVLM_CHANNEL_NONE);
        float *const plane = read_level(stack, c->params.index, channel, 0, &texels);
        assert_int_equal(texels, count);
        memcpy(all + (size_t)o * count, plane, count * sizeof *plane);
        free(plane);
    }
    return all;
}

/* ---- Weights that a query gives ---- */

typedef struct mapped {
    float weights[OUTPUTS * CHANNELS * 9], matrix[OUTPUTS * CHANNELS * 9 * D];
    tvlm_scorer scorer;
} mapped;

static void mapped_make(mapped *m, int32_t taps, int32_t outputs, uint64_t seed) {
    for (int i = 0; i < OUTPUTS * CHANNELS * 9; ++i) m->weights[i] = 0.2f * test_network_value(&seed);
    for (int i = 0; i < OUTPUTS * CHANNELS * 9 * D; ++i) m->matrix[i] = 0.2f * test_network_value(&seed);
    m->scorer = (tvlm_scorer){.channel_count = CHANNELS,
                              .channels = channels,
                              .taps = taps,
                              .weights = m->weights,
                              .bias = 0.5f,
                              .similarity_weight = 0.75f,
                              .query_weights = m->matrix,
                              .query_taps = taps,
                              .dimension = D,
                              .outputs = outputs};
}

/* A convolution whose kernel is the weights and M q. */
static double attend(const mapped *m, const candidates *c, int32_t output, int32_t x, int32_t y) {
    const tvlm_scorer *const s = &m->scorer;
    double sum = 0.0, length = 0.0;
    if (output == 0) sum = (double)s->bias + (double)s->similarity_weight * value_at(c, x, y, 4, 3);
    for (int d = 0; d < D; ++d) length += (double)query_vector[d] * (double)query_vector[d];
    for (int32_t n = 0; n < CHANNELS * s->taps; ++n) {
        const int32_t tap = s->taps == 9 ? n % 9 : 4, i = output * CHANNELS * s->taps + n;
        double weight = (double)s->weights[i];
        for (int d = 0; d < D; ++d)
            weight += (double)s->query_weights[i * D + d] * (double)query_vector[d] / sqrt(length);
        sum += weight * value_at(c, x, y, tap, n / s->taps);
    }
    return sum;
}

static void compare_mapped(tvlm_stack *stack, candidates *c, const mapped *m, tvlm_format format) {
    const int32_t outputs = m->scorer.outputs;
    const size_t count = (size_t)c->columns * (size_t)c->rows;
    c->params.scorer = &m->scorer;
    float *const got = read_outputs(stack, tvlm_query(.vectors = query_vector, .dimension = D), c, outputs);
    float *const expected = malloc((size_t)outputs * count * sizeof *expected);
    assert_non_null(expected);
    for (int32_t n = 0; n < outputs * c->rows * c->columns; ++n)
        expected[n] = (float)attend(m, c, n / c->columns / c->rows, n % c->columns, n / c->columns % c->rows);
    /* The score is a float; the planes have the stack's format. */
    const bool half = format == TVLM_FORMAT_F16;
    test_compare("score", got, expected, count, 1e-5f, 2e-6f);
    test_compare("outputs", got + count, expected + count, ((size_t)outputs - 1) * count,
                 half ? 2e-3f : 1e-5f, half ? 5e-4f : 2e-6f);
    free(got);
    free(expected);
}

static const struct tvlm_score_params grids[] = {
    {.stride = 16.0f}, {.stride = 7.0f}, {.stride = 64.0f}, {.dense = true, .level = 2}};

static void check_attention(tvlm_device *device, tvlm_format format) {
    const struct tvlm_query *const query = tvlm_query(.vectors = query_vector, .dimension = D);
    tvlm_stack *stack = stack_with_features(device, format);
    float scores[CELLS_MAX];
    mapped m;
    for (size_t i = 0; i < (test_small() ? 3 : sizeof grids / sizeof *grids); ++i)
        for (int32_t taps = 1; taps <= 9; taps += 8) {
            candidates c = {.params = grids[i]};
            mapped_make(&m, taps, i % 2 == 0 ? OUTPUTS : 2, 17 + i);
            /* The question fills query_similarity, which is sampled then. */
            assert_int_equal(tvlm_score(stack, query, &c.params, CELLS_MAX, scores), TVLM_OK);
            sample_candidates(stack, &c);
            compare_mapped(stack, &c, &m, format);
            free(c.values);
        }
    tvlm_stack_destroy(&stack);
}

/* A matrix of all taps that is 0 but in the middle is the matrix of the candidate. */
static void check_old_shape(tvlm_device *device, tvlm_format format) {
    const struct tvlm_query *const query = tvlm_query(.vectors = query_vector, .dimension = D);
    float old[D * CHANNELS], got[60], expected[60];
    tvlm_stack *stack = stack_with_features(device, format);
    mapped m;
    mapped_make(&m, 9, 1, 3);
    for (int i = 0; i < CHANNELS * 9; ++i)
        for (int d = 0; d < D; ++d) {
            if (i % 9 == 4)
                old[d * CHANNELS + i / 9] = m.matrix[i * D + d];
            else
                m.matrix[i * D + d] = 0.0f;
        }
    assert_int_equal(tvlm_score(stack, query, tvlm_score_params(.scorer = &m.scorer), 60, got), TVLM_OK);
    m.scorer.query_weights = old;
    m.scorer.query_taps = m.scorer.outputs = 0;
    assert_int_equal(tvlm_score(stack, query, tvlm_score_params(.scorer = &m.scorer), 60, expected), TVLM_OK);
    assert_memory_equal(got, expected, sizeof got);
    tvlm_stack_destroy(&stack);
}

/* ---- Networks ---- */

/* A layer of the definition, from [channel][row][column] to the same, with zeros beyond the border. */
static double *convolve(const tvlm_network_layer *layer, const double *in, int32_t width, int32_t height) {
    const int32_t side = layer->side, border = side / 2;
    double *const out = calloc((size_t)(layer->outputs * width * height), sizeof *out);
    assert_non_null(out);
    for (int32_t n = 0; n < layer->outputs * width * height; ++n) {
        const int32_t x = n % width, y = n / width % height, o = n / width / height;
        double sum = layer->bias != NULL ? (double)layer->bias[o] : 0.0;
        for (int32_t t = 0; t < layer->inputs * side * side; ++t) {
            const int32_t u = x + t % side - border, v = y + t / side % side - border, c = t / side / side;
            if (u >= 0 && u < width && v >= 0 && v < height)
                sum += (double)layer->weights[o * layer->inputs * side * side + t] *
                       in[(c * height + v) * width + u];
        }
        out[n] = layer->activation == TVLM_ACTIVATION_RELU      ? fmax(sum, 0.0)
                 : layer->activation == TVLM_ACTIVATION_SIGMOID ? 1.0 / (1.0 + exp(-sum))
                                                                : sum;
    }
    return out;
}

static float *run_network(const tvlm_network *network, const candidates *c) {
    const int32_t count = c->columns * c->rows;
    double *values = malloc((size_t)(CHANNELS * count) * sizeof *values);
    float *const result = malloc((size_t)(network->output_count * count) * sizeof *result);
    assert_true(values != NULL && result != NULL);
    for (int32_t n = 0; n < CHANNELS * count; ++n)
        values[n] = value_at(c, n % count % c->columns, n % count / c->columns, 4, n / count);
    for (int32_t i = 0; i < network->layer_count; ++i) {
        double *const next = convolve(&network->layers[i], values, c->columns, c->rows);
        free(values);
        values = next;
    }
    for (int32_t n = 0; n < network->output_count * count; ++n) result[n] = (float)values[n];
    free(values);
    return result;
}

static const test_layer nets[][4] = {
    {{6, 1, 1, TVLM_ACTIVATION_RELU}, {1, 1, 1, TVLM_ACTIVATION_NONE}},
    {{20, 3, 1, TVLM_ACTIVATION_RELU}, {3, 3, 1, TVLM_ACTIVATION_SIGMOID}},
    {{2, 3, 1, TVLM_ACTIVATION_NONE}},
};

static void network_make(test_network *made, const test_layer *layers, uint64_t seed) {
    test_network_make(made, CHANNELS, layers, true, &seed);
    memcpy(made->inputs, channels, sizeof channels);
}

static void check_networks(tvlm_device *device, tvlm_format format) {
    const struct tvlm_query *const query = tvlm_query(.vectors = query_vector, .dimension = D);
    tvlm_stack *stack = stack_with_features(device, format);
    float scores[CELLS_MAX];
    for (size_t i = 0; i < (test_small() ? 3 : sizeof grids / sizeof *grids); ++i) {
        const size_t kind = i % (sizeof nets / sizeof *nets);
        candidates c = {.params = grids[i]};
        test_network made;
        network_make(&made, nets[kind], 23 + i);
        const tvlm_scorer scorer = {.network = &made.network};
        const int32_t outputs = made.network.output_count;
        assert_int_equal(tvlm_score(stack, query, &c.params, CELLS_MAX, scores), TVLM_OK);
        sample_candidates(stack, &c);
        c.params.scorer = &scorer;
        float *const got = read_outputs(stack, query, &c, outputs), *const expected =
                                                                        run_network(&made.network, &c);
        const size_t count = (size_t)c.columns * (size_t)c.rows;
        /* In half, what the network reads is rounded once more. */
        const float most = format == TVLM_FORMAT_F16 ? 4e-3f : 1e-4f;
        test_compare("score", got, expected, count, most, most);
        test_compare("outputs", got + count, expected + count, ((size_t)outputs - 1) * count, most, most);
        free(got);
        free(expected);
        free(c.values);
        test_network_release(&made);
    }
    tvlm_stack_destroy(&stack);
}

/* The first position of the grid is the cell of the largest score; the second image has scores of its own. */
static void check_selects(tvlm_device *device, tvlm_format format) {
    uint64_t seed = 9;
    uint8_t *pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    const test_layer layers[] = {{4, 3, 1, TVLM_ACTIVATION_RELU}, {2, 1, 1, TVLM_ACTIVATION_NONE}, {0}};
    test_network made;
    float scores[60];
    int32_t count, best = 0;
    test_network_make(&made, 3, layers, true, &seed);
    const tvlm_scorer scorer = {.network = &made.network};
    tvlm_stack *stack = NULL;
    tvlm_selection *selection = NULL;
    assert_int_equal(
        tvlm_stack_create(device,
                          tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .images = 2, .format = format),
                          &stack),
        TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(stack, 1, &image), TVLM_OK);
    for (int32_t index = 0; index < 2; ++index) {
        const struct tvlm_select_params params = {
            .strategy = TVLM_STRATEGY_GRID, .k = 5, .score = {.index = index, .scorer = &scorer}};
        assert_int_equal(
            tvlm_score(stack, NULL, tvlm_score_params(.index = index, .scorer = &scorer), 60, scores),
            TVLM_OK);
        assert_int_equal(tvlm_select(stack, NULL, &params, &selection), TVLM_OK);
        const tvlm_position *const p = tvlm_selection_positions(selection, &count);
        best = 0;
        for (int i = 1; i < 60; ++i) best = scores[i] > scores[best] ? i : best;
        assert_int_equal(p[0].row * 10 + p[0].column, best);
        assert_true(p[0].score == scores[best]);
        tvlm_selection_destroy(&selection);
    }
    assert_true(best > 0); /* the first image is black: all of it is the same but at the border */
    tvlm_stack_destroy(&stack);
    test_network_release(&made);
    free(pixels);
}

/* ---- What becomes of the outputs ---- */

static bool has(tvlm_stack *stack, const char *name) {
    bool there = false;
    const int32_t channel = tvlm_stack_channel_find(stack, name);
    if (channel != TVLM_CHANNEL_NONE)
        assert_int_equal(tvlm_stack_has_channel(stack, 0, channel, &there), TVLM_OK);
    return there;
}

static void check_planes(tvlm_device *device, tvlm_format format) {
    const test_layer layers[] = {{3, 1, 1, TVLM_ACTIVATION_NONE}, {0}};
    const float own[4] = {1.0f, 2.0f, 3.0f, 4.0f}, one = 1.0f;
    const struct tvlm_grid_input input = {.data = own, .columns = 2, .rows = 2};
    uint64_t seed = 31;
    uint8_t *pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    test_network made;
    float scores[60], plane[60];
    size_t count;
    test_network_make(&made, 3, layers, true, &seed);
    tvlm_scorer scorer = {.network = &made.network};
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 5);
    const struct tvlm_score_params params = {.scorer = &scorer};
    assert_int_equal(tvlm_score(stack, NULL, &params, 60, scores), TVLM_OK);
    assert_true(has(stack, "output_1") && has(stack, "output_2") && !has(stack, "output_0"));
    /* A scorer may weigh an output of the one before. */
    const int32_t channel = tvlm_stack_channel_find(stack, "output_1");
    const tvlm_scorer weighs = {.channel_count = 1, .channels = &channel, .taps = 1, .weights = &one};
    float *const kept = read_level(stack, 0, channel, 0, &count);
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.scorer = &weighs), 60, plane), TVLM_OK);
    /* The last cells are clipped, so that they are read between two texels. */
    for (int i = 0; i < 9; ++i) assert_true(fabsf(plane[i] - kept[i]) < 1e-3f);
    free(kept);
    /* Its name is taken, and an application's own keeps the outputs away. */
    refused(tvlm_stack_set_user(stack, 0, "output_2", 0.0f, 0.0f, TVLM_MEAN, &input, NULL),
            TVLM_ERROR_ARGUMENT, "'output_2' is the name of an output of a scorer");
    assert_int_equal(tvlm_stack_set_image(stack, 0, &image), TVLM_OK);
    assert_true(!has(stack, "output_1") && !has(stack, "output_2"));
    assert_int_equal(tvlm_score(stack, NULL, &params, 60, scores), TVLM_OK);
    assert_true(has(stack, "output_1"));
    tvlm_stack_destroy(&stack);
    stack = random_stack(device, format, WIDTH, HEIGHT, 5);
    assert_int_equal(tvlm_stack_set_user(stack, 0, "output_1", 0.0f, 0.0f, TVLM_MEAN, &input, NULL), TVLM_OK);
    refused(tvlm_score(stack, NULL, &params, 60, scores), TVLM_ERROR_ARGUMENT,
            "'output_1' is the name of an output of a scorer, and of the application's own plane");
    tvlm_stack_destroy(&stack);
    test_network_release(&made);
    free(pixels);
}

DEVICE_CHECKS(check_attention, check_old_shape, check_networks, check_selects, check_planes)

/* ---- What is refused ---- */

static void refuse(tvlm_stack *stack, const tvlm_scorer *scorer, const struct tvlm_query *query,
                   const char *line) {
    float scores[60];
    refused(tvlm_score(stack, query, tvlm_score_params(.scorer = scorer), 60, scores), TVLM_ERROR_ARGUMENT,
            line);
}

static void test_refusals(void **state) {
    static const float three[3] = {1.0f, 0.0f, 0.0f};
    const struct tvlm_query *const query = tvlm_query(.vectors = query_vector, .dimension = D);
    const test_layer strided[] = {{4, 3, 2, TVLM_ACTIVATION_NONE}, {1, 1, 1, TVLM_ACTIVATION_NONE}, {0}};
    const test_layer many[] = {{18, 1, 1, TVLM_ACTIVATION_NONE}, {0}};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = stack_with_features(device, TVLM_FORMAT_F32);
    tvlm_selection *selection = NULL;
    int32_t count = 0;
    float scores[60];
    test_network made;
    mapped m;
    (void)state;
    mapped_make(&m, 9, 3, 1);
    m.scorer.outputs = 18;
    refuse(stack, &m.scorer, query, "a scorer of 18 outputs; 1 to 17 are possible");
    m.scorer.outputs = -1;
    refuse(stack, &m.scorer, query, "a scorer of -1 outputs");
    mapped_make(&m, 9, 3, 1);
    m.scorer.query_taps = 0;
    refuse(stack, &m.scorer, query, "query weights of 0 taps for a scorer of 3 outputs and 9 taps");
    m.scorer.query_taps = 1;
    refuse(stack, &m.scorer, query, "query weights of 1 taps");
    mapped_make(&m, 9, 3, 1);
    m.matrix[(2 * CHANNELS * 9 + 1 * 9 + 3) * D] = NAN;
    refuse(stack, &m.scorer, query, "weight of channel 3 is not finite");
    mapped_make(&m, 9, 3, 1);
    m.weights[0] = 1e16f;
    refuse(stack, &m.scorer, query, "weight of channel 0 is beyond 1e15");
    mapped_make(&m, 9, 3, 1);
    m.weights[OUTPUTS * CHANNELS * 9 - 1] = INFINITY;
    refuse(stack, &m.scorer, query, "weight of channel 41 is not finite");
    mapped_make(&m, 9, 3, 1);
    refuse(stack, &m.scorer, tvlm_query(.vectors = three, .dimension = 3), "the query has 3 dimensions");
    refuse(stack, &m.scorer, NULL, "weighs query_similarity");
    network_make(&made, nets[0], 5);
    tvlm_scorer scorer = {.network = &made.network, .bias = 1.0f};
    refuse(stack, &scorer, query, "has weights beside it");
    scorer.bias = 0.0f;
    refuse(stack, &scorer, NULL, "weighs query_similarity");
    refused(tvlm_score(stack, query, tvlm_score_params(.scorer = &scorer, .weights = three), 60, scores),
            TVLM_ERROR_ARGUMENT, "weights and a scorer");
    made.layers[1].inputs = 7;
    refuse(stack, &scorer, query, "layer 1 of the network reads 7 channels, but there are 6");
    made.layers[1].inputs = 6;
    made.values[0][3] = NAN;
    refuse(stack, &scorer, query, "layer 0 of the network: number 3 of its weights is not finite");
    made.values[0][3] = 0.0f;
    refused(tvlm_select(stack, query,
                        tvlm_select_params(.strategy = TVLM_STRATEGY_CASCADE, .score.scorer = &scorer),
                        &selection),
            TVLM_ERROR_ARGUMENT, "a scorer that is a network");
    const struct tvlm_select_params grid = {.strategy = TVLM_STRATEGY_GRID, .k = 3, .score.scorer = &scorer};
    assert_int_equal(tvlm_select(stack, query, &grid, &selection), TVLM_OK);
    refused(tvlm_explain(stack, query, &grid, selection, 0, NULL, &count), TVLM_ERROR_ARGUMENT,
            "a scorer that is a network");
    tvlm_selection_destroy(&selection);
    test_network_release(&made);
    network_make(&made, strided, 5);
    refuse(stack, &scorer, query, "layer 0 of a scorer's network has a stride of 2");
    test_network_release(&made);
    network_make(&made, many, 5);
    refuse(stack, &scorer, query, "a scorer of 18 outputs");
    test_network_release(&made);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
