/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_score_program.c: scores as programs (select/score.h): which channels are read with which weights, and how parts combine,
 * by doc/channels.md; and where candidates stand.
 */
#include <string.h>

#include "select/mapped.h"
#include "select/score.h"
#include "stack_helper.h"

enum { NONE = TVLM_CHANNEL_NONE, CENTRE = TVLM_SCORE_TAPS / 2 };

static tvlm_device *device;
static tvlm_stack *stack;

static int open_stack(void **state) {
    (void)state;
    device = open_reference();
    stack = random_stack(device, TVLM_FORMAT_F32, 100, 40, 2);
    return 0;
}

static int close_stack(void **state) {
    (void)state;
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    return 0;
}

/* ---- The three parts ---- */

/* A term of a program: its group and place, the channel, the weight at the candidate itself, and the cap. */
static void expect_term(const tvlm_score_program *p, int group, int place, int32_t channel, float weight,
                        float cap) {
    assert_true(group < p->count);
    assert_int_equal(p->channels[4 * group + place], channel);
    for (int tap = 0; tap < TVLM_SCORE_TAPS; ++tap) {
        const float got = p->groups[group].weight[tap][place];
        if (fabsf(got - (tap == CENTRE ? weight : 0.0f)) > 1e-6f)
            fail_msg("tap %d weighs %g", tap, (double)got);
    }
    assert_true(p->groups[group].cap[place] == cap && !p->groups[group].has_level[place]);
}

static void expect_combination(const tvlm_score_program *p, const float weights[3]) {
    assert_true(p->combination.bias == 0.0f && p->combination.bonus == NULL);
    for (int part = 0; part < 3; ++part) {
        assert_true(p->combination.weight[part] == weights[part]);
        assert_int_equal(p->combination.normalise[part], weights[part] > 0.0f);
    }
}

static void make(tvlm_score_program *p, const struct tvlm_query *query, const float *weights) {
    assert_int_equal(
        tvlm_score_program_make(stack, query, &(struct tvlm_score_params){.weights = weights}, p), TVLM_OK);
    for (int g = 0; g < p->count; ++g) assert_int_equal(p->groups[g].taps, 1);
}

/* I = 0.5 entropy + min(0.5, 2 edges), P = 0.7 saliency - 0.3 eccentricity, and Q where there is a query. */
static void test_parts(void **state) {
    static const float usual[] = {0.3f, 0.7f, 0.0f}, asked[] = {0.1f, 0.1f, 0.8f};
    const struct tvlm_query query = {0};
    (void)state;
    for (int with = 0; with < 2; ++with) {
        tvlm_score_program p;
        make(&p, with ? &query : NULL, NULL);
        assert_int_equal(p.count, with ? 3 : 2);
        expect_term(&p, 0, 0, TVLM_CHANNEL_ENTROPY, 0.5f, INFINITY);
        expect_term(&p, 0, 1, TVLM_CHANNEL_EDGES, 2.0f, 0.5f);
        expect_term(&p, 0, 2, NONE, 0.0f, INFINITY);
        expect_term(&p, 1, 0, TVLM_CHANNEL_SALIENCY, 0.7f, INFINITY);
        expect_term(&p, 1, 1, TVLM_CHANNEL_ECCENTRICITY, -0.3f, INFINITY);
        expect_term(&p, 1, 3, NONE, 0.0f, INFINITY);
        if (with) expect_term(&p, 2, 0, TVLM_CHANNEL_QUERY_SIMILARITY, 1.0f, INFINITY);
        for (int g = 0; g < p.count; ++g) assert_int_equal(p.groups[g].part, g);
        expect_combination(&p, with ? asked : usual);
        tvlm_score_program_free(&p);
    }
}

/* What has no weight is not read, nor is a query that is not there. */
static void test_some_parts(void **state) {
    static const float second[] = {0.0f, 0.25f, 0.0f}, third[] = {0.0f, 0.0f, 2.0f}, none[3] = {0.0f};
    const struct tvlm_query query = {0};
    tvlm_score_program p;
    (void)state;
    make(&p, &query, second);
    assert_int_equal(p.count, 1);
    assert_int_equal(p.groups[0].part, 1);
    expect_term(&p, 0, 0, TVLM_CHANNEL_SALIENCY, 0.7f, INFINITY);
    expect_combination(&p, second);
    tvlm_score_program_free(&p);
    make(&p, &query, third);
    assert_int_equal(p.count, 1);
    assert_int_equal(p.groups[0].part, 2);
    expect_combination(&p, third);
    tvlm_score_program_free(&p);
    make(&p, NULL, third);
    assert_int_equal(p.count, 0);
    expect_combination(&p, none);
    tvlm_score_program_free(&p);
    make(&p, &query, none);
    assert_int_equal(p.count, 0);
    tvlm_score_program_free(&p);
    static const float wrong[][3] = {{-0.5f, 0, 0}, {0, NAN, 0}, {0, 0, INFINITY}, {0, 2e15f, 0}};
    static const char *const lines[] = {"weight 0 is -0.5; weights are from 0 to 1e15", "weight 1 is nan",
                                        "weight 2 is inf", "weight 1 is 2e+15"};
    for (int i = 0; i < 4; ++i) {
        const struct tvlm_score_params params = {.weights = wrong[i]};
        refused(tvlm_score_program_make(stack, NULL, &params, &p), TVLM_ERROR_ARGUMENT, lines[i]);
        tvlm_score_program_free(&p);
    }
}

/* ---- Linear scorers ---- */

static const int32_t channels[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G, TVLM_CHANNEL_B, TVLM_CHANNEL_EDGES,
                                   TVLM_CHANNEL_ENTROPY};

/* Five channels, of which the second has no weight, and a query: four places of one group and one of another. */
static void test_linear(void **state) {
    static const float weights[] = {1.0f, 0.0f, 3.0f, 4.0f, 5.0f},
                       levels[] = {-1.0f, 0.0f, 0.0f, 2.5f, 100.0f};
    const tvlm_scorer scorer = {.channel_count = 5,
                                .channels = channels,
                                .weights = weights,
                                .levels = levels,
                                .bias = 0.25f,
                                .similarity_weight = 6.0f};
    const struct tvlm_score_params params = {.scorer = &scorer};
    static const int32_t read[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_B, TVLM_CHANNEL_EDGES, TVLM_CHANNEL_ENTROPY,
                                   TVLM_CHANNEL_QUERY_SIMILARITY};
    static const float weigh[] = {1.0f, 3.0f, 4.0f, 5.0f, 6.0f}, at[] = {-1.0f, 0.0f, 2.5f, 6.0f, -1.0f};
    const struct tvlm_query query = {0};
    tvlm_score_program p;
    (void)state;
    assert_int_equal(tvlm_stack_levels(stack), 7);
    for (int with = 0; with < 2; ++with) {
        assert_int_equal(tvlm_score_program_make(stack, with ? &query : NULL, &params, &p), TVLM_OK);
        assert_int_equal(p.count, with ? 2 : 1);
        for (int i = 0; i < 4 + with; ++i) {
            const tvlm_score_group *const group = &p.groups[i / 4];
            assert_int_equal(p.channels[i], read[i]);
            assert_true(group->weight[CENTRE][i % 4] == weigh[i] && group->cap[i % 4] == INFINITY);
            assert_true(group->part == 0 && group->taps == 1);
            assert_int_equal(group->has_level[i % 4], at[i] >= 0.0f);
            if (at[i] >= 0.0f) assert_true(group->level[i % 4] == at[i]);
        }
        for (int i = 5; with && i < 8; ++i) assert_int_equal(p.channels[i], NONE);
        assert_true(p.combination.bias == 0.25f && p.combination.weight[0] == 1.0f);
        assert_true(p.combination.weight[1] == 0.0f && !p.combination.normalise[0]);
        tvlm_score_program_free(&p);
    }
}

/* Nine taps, of which the last alone counts for the first channel; the query is read at the candidate itself. */
static void test_taps(void **state) {
    float weights[18];
    const tvlm_scorer scorer = {
        .channel_count = 2, .channels = channels, .taps = 9, .weights = weights, .similarity_weight = -1.0f};
    const struct tvlm_score_params params = {.scorer = &scorer};
    const struct tvlm_query query = {0};
    tvlm_score_program p;
    (void)state;
    for (int i = 0; i < 18; ++i) weights[i] = i < 8 ? 0.0f : (float)i;
    assert_int_equal(tvlm_score_program_make(stack, &query, &params, &p), TVLM_OK);
    assert_int_equal(p.count, 1);
    assert_int_equal(p.groups[0].taps, 9);
    for (int tap = 0; tap < 9; ++tap) {
        assert_true(p.groups[0].weight[tap][0] == weights[tap] &&
                    p.groups[0].weight[tap][1] == weights[9 + tap]);
        assert_true(p.groups[0].weight[tap][2] == (tap == CENTRE ? -1.0f : 0.0f));
    }
    assert_int_equal(p.channels[2], TVLM_CHANNEL_QUERY_SIMILARITY);
    tvlm_score_program_free(&p);
}

/* ---- Scorers that a query changes ---- */

static void expect_weights(const tvlm_scorer *scorer, const struct tvlm_query *query, const float *expected,
                           int count) {
    const struct tvlm_score_params params = {.scorer = scorer};
    tvlm_scorer resolved;
    float *owned;
    assert_int_equal(tvlm_scorer_for_query(stack, &params, query, &resolved, &owned), TVLM_OK);
    assert_int_equal(resolved.taps, scorer->taps > 0 ? scorer->taps : 1);
    assert_int_equal(resolved.outputs, scorer->outputs > 0 ? scorer->outputs : 1);
    for (int i = 0; i < count; ++i)
        if (fabsf(resolved.weights[i] - expected[i]) > 1e-5f)
            fail_msg("weight %d is %g, not %g", i, (double)resolved.weights[i], (double)expected[i]);
    free(owned);
}

/* The mean of two vectors of length 1 is (0.5, 0.5); once (1, 0) is taken off them they are (1, 0) and (-1, 2) / sqrt(5). A matrix
 * has for each dimension a row of channels, which are of the candidate itself; or for each weight a row of dimensions. */
static void test_matrix(void **state) {
    static const float vectors[] = {3.0f, 0.0f, 0.0f, 2.0f}, mean[] = {1.0f, 0.0f};
    static const float by_channel[] = {10.0f, 20.0f, 30.0f, 40.0f};
    float weights[18], of_weights[36], expected[18];
    struct tvlm_query query = {.vectors = vectors, .count = 2, .dimension = 2};
    tvlm_scorer scorer = {.channel_count = 2,
                          .channels = channels,
                          .weights = weights,
                          .query_weights = by_channel,
                          .dimension = 2};
    (void)state;
    for (int i = 0; i < 18; ++i) weights[i] = (float)i;
    expect_weights(&scorer, NULL, weights, 2);
    expect_weights(&scorer, &query, (const float[]){0.0f + 20.0f, 1.0f + 30.0f}, 2);
    scorer.taps = 9;
    memcpy(expected, weights, sizeof expected);
    expected[4] += 20.0f;
    expected[13] += 30.0f;
    expect_weights(&scorer, &query, expected, 18);
    for (int i = 0; i < 36; ++i) of_weights[i] = (float)(i % 2 == 0 ? i : 100 * i);
    for (int i = 0; i < 18; ++i)
        expected[i] = weights[i] + 0.5f * of_weights[2 * i] + 0.5f * of_weights[2 * i + 1];
    scorer.query_weights = of_weights;
    scorer.query_taps = 9;
    expect_weights(&scorer, &query, expected, 18);
    scorer.taps = scorer.query_taps = 1;
    scorer.outputs = 3;
    expect_weights(&scorer, &query, expected, 6);
    scorer.outputs = 1;
    query.mean = mean;
    query.count = 0; /* one, (3, 0) */
    expect_weights(&scorer, &query, (const float[]){of_weights[0], 1.0f + of_weights[2]}, 2);
    query.count = 2; /* (1, 0) and (-1, 2) / sqrt(5) */
    const float x = 0.5f - 0.5f / sqrtf(5.0f), y = 1.0f / sqrtf(5.0f);
    expect_weights(
        &scorer, &query,
        (const float[]){of_weights[0] * x + of_weights[1] * y, 1.0f + of_weights[2] * x + of_weights[3] * y},
        2);
    scorer.channel_count = 0; /* there is nothing to change */
    expect_weights(&scorer, &query, weights, 0);
}

static void expect_refused(const tvlm_scorer *scorer, const struct tvlm_query *query, const float *weights,
                           const char *line) {
    const struct tvlm_score_params params = {.scorer = scorer, .weights = weights};
    tvlm_scorer resolved;
    float *owned = NULL;
    refused(tvlm_scorer_for_query(stack, &params, query, &resolved, &owned), TVLM_ERROR_ARGUMENT, line);
    assert_null(owned);
}

static void test_matrix_refusals(void **state) {
    static const float vectors[2] = {1.0f, 0.0f}, weights[18] = {0.0f}, infinite[4] = {INFINITY, 0, 0, 0};
    const struct tvlm_query query = {.vectors = vectors, .dimension = 2};
    const tvlm_scorer good = {.channel_count = 2,
                              .channels = channels,
                              .weights = weights,
                              .query_weights = weights,
                              .dimension = 2};
    tvlm_scorer s = good;
    (void)state;
    expect_refused(&s, &query, weights, "weights and a scorer: a scorer has weights of its own");
    s.dimension = 0;
    expect_refused(&s, &query, NULL, "query weights for vectors of 0 dimensions");
    s.dimension = TVLM_FEATURES_MAX + 1;
    expect_refused(&s, &query, NULL, "query weights for vectors of");
    s.dimension = 3;
    expect_refused(&s, &query, NULL, "the query has 2 dimensions; the scorer's query weights are for 3");
    s = good;
    s.query_taps = 9;
    expect_refused(&s, &query, NULL, "query weights of 9 taps for a scorer of 1 outputs and 1 taps");
    s = good;
    s.outputs = 2;
    expect_refused(&s, &query, NULL, "query weights of 0 taps for a scorer of 2 outputs and 1 taps");
    s = good;
    s.query_weights = infinite;
    expect_refused(&s, &query, NULL, "a scorer's weight of channel 0");
}

/* ---- Candidates ---- */

static void expect_candidates(struct tvlm_score_params params, int32_t columns, int32_t rows, float step_x,
                              float step_y, float level) {
    tvlm_candidates c;
    assert_int_equal(tvlm_score_candidates(stack, &params, &c), TVLM_OK);
    assert_true(c.columns == columns && c.rows == rows && c.image == 0);
    assert_true(c.step_x == step_x && c.step_y == step_y && fabsf(c.level - level) < 1e-6f);
}

/* Cells of 100 x 40 pixels, of which the last may be cut off, and texels of its levels. */
static void test_candidates(void **state) {
    double x, y;
    tvlm_candidates c;
    (void)state;
    expect_candidates((struct tvlm_score_params){.index = 0}, 7, 3, 16.0f, 16.0f, 4.0f);
    expect_candidates((struct tvlm_score_params){.stride = 1.0f}, 100, 40, 1.0f, 1.0f, 0.0f);
    expect_candidates((struct tvlm_score_params){.stride = 20.0f}, 5, 2, 20.0f, 20.0f, log2f(20.0f));
    expect_candidates((struct tvlm_score_params){.stride = 99.5f}, 2, 1, 99.5f, 99.5f, 6.0f);
    expect_candidates((struct tvlm_score_params){.stride = 1000.0f}, 1, 1, 1000.0f, 1000.0f, 6.0f);
    expect_candidates((struct tvlm_score_params){.dense = true}, 100, 40, 1.0f, 1.0f, 0.0f);
    expect_candidates((struct tvlm_score_params){.dense = true, .level = 3}, 12, 5, 100.0f / 12.0f, 8.0f,
                      3.0f);
    assert_int_equal(tvlm_score_candidates(stack, &(struct tvlm_score_params){.stride = 16.0f}, &c), TVLM_OK);
    tvlm_candidate_centre(stack, &c, 0, &x, &y);
    assert_true(x == 8.0 && y == 8.0);
    tvlm_candidate_centre(stack, &c, 6, &x, &y); /* 96 to 100 */
    assert_true(x == 98.0 && y == 8.0);
    tvlm_candidate_centre(stack, &c, 20, &x, &y); /* 32 to 40 */
    assert_true(x == 98.0 && y == 36.0);
    tvlm_candidate_centre(stack, &c, 8, &x, &y);
    assert_true(x == 24.0 && y == 24.0);
    static const struct {
        struct tvlm_score_params params;
        const char *line;
    } wrong[] = {{{.stride = 0.5f}, "stride 0.5; it is at least 1 pixel"},
                 {{.stride = NAN}, "stride nan"},
                 {{.stride = INFINITY}, "stride inf"},
                 {{.stride = 16.0f, .dense = true},
                  "a stride of 16 with dense: the candidates are the texels of a level"},
                 {{.level = 1}, "level 1 without dense: the candidates are the cells of a stride"},
                 {{.dense = true, .level = 7}, "level 7"},
                 {{.index = 1}, "image 1"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        refused(tvlm_score_candidates(stack, &wrong[i].params, &c), TVLM_ERROR_ARGUMENT, wrong[i].line);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),          cmocka_unit_test(test_some_parts),
        cmocka_unit_test(test_linear),         cmocka_unit_test(test_taps),
        cmocka_unit_test(test_candidates),     cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_matrix_refusals)};
    return cmocka_run_group_tests(tests, open_stack, close_stack);
}
