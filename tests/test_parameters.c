/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_parameters.c: the ranges of select.h at their ends, the line that refuses what is beyond, and which strategies a parameter
 * is for.
 */
#include <math.h>
#include <string.h>

#include "log_helper.h"
#include "select/own.h"
#include "select/parameters.h"

typedef struct tvlm_select_params params_of;

enum { GRID, FOVEATED, QUADTREE, EXHAUSTIVE, CASCADE, BUDGET, STRATEGIES };

static const tvlm_strategy strategies[STRATEGIES] = {TVLM_STRATEGY_GRID,     TVLM_STRATEGY_FOVEATED,
                                                     TVLM_STRATEGY_QUADTREE, TVLM_STRATEGY_EXHAUSTIVE,
                                                     TVLM_STRATEGY_CASCADE,  TVLM_STRATEGY_BUDGET};

/* Checks parameters for a strategy. NULL: they are accepted; else they are refused with that line. */
static void expect(const params_of *params, int strategy, bool unasked, const char *line) {
    nothing_said();
    const tvlm_status status = tvlm_parameters_check(&noting, params, strategies[strategy], unasked);
    assert_int_equal(status, line == NULL ? TVLM_OK : TVLM_ERROR_ARGUMENT);
    if (strstr(said.last, line == NULL ? "" : line) == NULL || said.errors != (line != NULL))
        fail_msg("'%s' does not say '%s'", said.last, line == NULL ? "" : line);
}

/* ---- Ranges ---- */

/* A number: its place, the ends of its range and what is just beyond them. `refusal` says it of those, `text` being the two. */
typedef struct number {
    size_t offset;
    int strategy;
    float low, high, below, above;
    const char *refusals[2];
} number;

#define NUMBER(member) offsetof(struct tvlm_select_params, member)

static params_of with(size_t offset, float value) {
    params_of params;
    memset(&params, 0, sizeof params);
    memcpy((char *)&params + offset, &value, sizeof value);
    return params;
}

static void test_numbers(void **state) {
    static const number numbers[] = {
        {NUMBER(best.overview),
         GRID,
         1e-6f,
         1.0f,
         -0.25f,
         1.25f,
         {"an overview of -0.25; it is a share of k, from 0 to 1",
          "an overview of 1.25; it is a share of k, from 0 to 1"}},
        {NUMBER(patch),
         GRID,
         1.0f,
         65536.0f,
         0.5f,
         65537.0f,
         {"a patch of 0.5 pixels", "a patch of 65537 pixels"}},
        {NUMBER(budget.share),
         BUDGET,
         1e-6f,
         1.0f,
         -0.5f,
         1.5f,
         {"a share of -0.5; it is above 0 and at most 1", "a share of 1.5; it is above 0 and at most 1"}},
        {NUMBER(budget.tolerance),
         BUDGET,
         1e-6f,
         1.0f,
         -0.5f,
         1.5f,
         {"a tolerance of -0.5; it is a share of the loss, from 0 to 1",
          "a tolerance of 1.5; it is a share of the loss, from 0 to 1"}},
        {NUMBER(budget.emphasis),
         BUDGET,
         1e-6f,
         1e15f,
         -0.5f,
         2e15f,
         {"an emphasis of -0.5; it is from 0 to 1e15", "an emphasis of 2e+15; it is from 0 to 1e15"}},
        {NUMBER(best.diversity),
         GRID,
         1e-6f,
         1.0f,
         -0.5f,
         1.5f,
         {"a diversity of -0.5; it is 0 to 1", "a diversity of 1.5; it is 0 to 1"}},
        {NUMBER(foveated.e0),
         FOVEATED,
         1e-3f,
         1e3f,
         0.00099f,
         1000.5f,
         {"e0 is 0.00099; it is 0.001 to 1000", "e0 is 1000.5; it is 0.001 to 1000"}},
        {NUMBER(best.min_distance),
         GRID,
         1e-6f,
         1e9f,
         -2.0f,
         1.05e9f,
         {"a minimum distance of -2 pixels", "a minimum distance of 1.05e+09 pixels"}},
        {NUMBER(cascade.cull_distance),
         CASCADE,
         1e-6f,
         1e6f,
         9e-7f,
         1.05e6f,
         {"a distance of 9e-07 from edges", "a distance of 1.05e+06 from edges"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        const number *const n = &numbers[i];
        const float ends[] = {0.0f, n->low, n->high};
        for (int e = 0; e < 3; ++e) {
            const params_of inside = with(n->offset, ends[e]);
            expect(&inside, n->strategy, false, NULL);
        }
        for (int e = 0; e < 2; ++e) {
            const params_of beyond = with(n->offset, e == 0 ? n->below : n->above);
            expect(&beyond, n->strategy, false, n->refusals[e]);
        }
        const params_of none = with(n->offset, NAN);
        expect(&none, n->strategy, false, "nan");
    }
}

/* What stands for 0 where 0 is the default is taken by three parameters that may be 0, and by no other. */
static void test_zero(void **state) {
    (void)state;
    params_of params = {.budget.tolerance = TVLM_EXPLICIT_ZERO};
    expect(&params, BUDGET, false, NULL);
    params = (params_of){.budget.emphasis = TVLM_EXPLICIT_ZERO};
    expect(&params, BUDGET, false, NULL);
    params = (params_of){.budget.share = TVLM_EXPLICIT_ZERO};
    expect(&params, BUDGET, false, "it is above 0 and at most 1");
    params = (params_of){.best.diversity = TVLM_EXPLICIT_ZERO};
    expect(&params, GRID, false, "it is 0 to 1");
}

static void test_integers(void **state) {
    (void)state;
    for (int end = 0; end < 3; ++end) {
        static const int32_t counts[] = {0, 1, INT32_MAX}, regions[] = {0, 1, 65536},
                             arrangements[] = {0, TVLM_ARRANGEMENT_SUNFLOWER, TVLM_ARRANGEMENT_LOG_POLAR};
        params_of params = {.k = counts[end]};
        expect(&params, GRID, false, NULL);
        params = (params_of){.cascade.keep_regions = regions[end]};
        expect(&params, CASCADE, false, NULL);
        params = (params_of){.foveated.arrangement = (tvlm_arrangement)arrangements[end]};
        expect(&params, FOVEATED, false, NULL);
    }
    params_of params = {.k = -1};
    expect(&params, GRID, false, "k is -1; it is at least 1");
    params = (params_of){.cascade.keep_regions = -3};
    expect(&params, CASCADE, false, "-3 regions to keep; they are 1 to 65536");
    params = (params_of){.cascade.keep_regions = 1234567};
    expect(&params, CASCADE, false, "1234567 regions to keep; they are 1 to 65536");
    params = (params_of){.cascade.keep_regions = 65537};
    expect(&params, CASCADE, false, "65537 regions to keep; they are 1 to 65536");
    params = (params_of){.foveated.arrangement = (tvlm_arrangement)2};
    expect(&params, FOVEATED, false, "there is no arrangement 2");
}

/* ---- Which strategies ---- */

/* Sets a parameter by its name in the table to a number that is in its range, or to something. */
static params_of given(const tvlm_parameter *p) {
    static const float something[4];
    params_of params;
    memset(&params, 0, sizeof params);
    char *const place = (char *)&params + p->offset;
    const float one = 1.0f;
    const int32_t integer = 1;
    const void *const pointer = something;
    const bool flag = true;
    if (p->type == TVLM_PARAMETER_NUMBER)
        memcpy(place, &one, sizeof one);
    else if (p->type == TVLM_PARAMETER_FLAG)
        memcpy(place, &flag, sizeof flag);
    else if (p->type == TVLM_PARAMETER_OBJECT)
        memcpy(place, &pointer, sizeof(void *));
    else if (p->type == TVLM_PARAMETER_POINTS)
        memcpy(place + p->size, &integer, sizeof integer);
    else
        memcpy(place, &integer, sizeof integer);
    return params;
}

#define ALL    "grid, foveated, quadtree, exhaustive, cascade and budget"
#define SCORED "grid, foveated, quadtree, exhaustive and cascade"
#define CELLS  "grid, foveated, quadtree and cascade"
#define BEST   "grid, exhaustive and cascade"

/* What select.h and score.h say: the members and the strategies that read them. */
static const struct {
    const char *name, *readers;
} readers[] = {{"k", ALL},
               {"overview", BEST},
               {"patch", ALL},
               {"share", "budget"},
               {"tolerance", "budget"},
               {"emphasis", "budget"},
               {"emphasis_channel", "budget"},
               {"stride", CELLS},
               {"diversity", BEST},
               {"level", "exhaustive"},
               {"e0", "foveated"},
               {"fixations", "foveated"},
               {"min_distance", BEST},
               {"arrangement", "foveated"},
               {"keep_regions", "cascade"},
               {"cull_distance", "cascade"},
               {"cover", "cascade"},
               {"dense", "exhaustive"},
               {"weights", SCORED},
               {"scorer", ALL},
               {"scores", ALL},
               {"keep_pass", SCORED},
               {"keep_scores", ALL}};
enum { PARAMETERS = sizeof readers / sizeof *readers };

static bool reads(const char *names, int strategy) {
    return strstr(names, tvlm_strategy_name(strategies[strategy])) != NULL;
}

static void test_readers(void **state) {
    (void)state;
    assert_null(tvlm_parameter_at(-1));
    assert_null(tvlm_parameter_at(PARAMETERS));
    for (int32_t i = 0; i < PARAMETERS; ++i) {
        const tvlm_parameter *const p = tvlm_parameter_at(i);
        assert_non_null(p);
        assert_string_equal(p->name, readers[i].name);
        const params_of params = given(p);
        for (int strategy = 0; strategy < STRATEGIES; ++strategy)
            for (int unasked = 0; unasked < 2; ++unasked) {
                char line[400];
                snprintf(line, sizeof line, "the parameter %s is for the strategy %s, not for %s%s", p->name,
                         readers[i].readers, tvlm_strategy_name(strategies[strategy]),
                         unasked ? ", which is the default" : "");
                expect(&params, strategy, unasked, reads(readers[i].readers, strategy) ? NULL : line);
                if (!reads(readers[i].readers, strategy) && !unasked)
                    assert_null(strstr(said.last, "default"));
            }
    }
}

/* Nothing that is not given is refused, and of two the first of the table is. */
static void test_several(void **state) {
    (void)state;
    params_of params = {0};
    for (int strategy = 0; strategy < STRATEGIES; ++strategy) expect(&params, strategy, true, NULL);
    params = (params_of){.foveated.e0 = 1.0f, .budget.share = 0.5f};
    expect(&params, GRID, false, "the parameter share is for the strategy budget, not for grid");
    params.k = -1; /* ranges first */
    expect(&params, GRID, false, "k is -1");
}

/* ---- Scores of one's own ---- */

static void expect_own(const struct tvlm_query *query, const params_of *params, const char *line) {
    nothing_said();
    assert_int_equal(tvlm_own_check(&noting, query, params), line == NULL ? TVLM_OK : TVLM_ERROR_ARGUMENT);
    assert_string_equal(said.last, line == NULL ? "" : line);
}

/* They are in one place, and nothing that they would make useless stands beside them. */
static void test_own(void **state) {
    static const float values[1] = {1.0f}, weights[3] = {1.0f, 0.0f, 0.0f};
    const struct tvlm_memory memory = {0};
    const struct tvlm_query query = {0};
    const tvlm_scorer scorer = {0};
    struct tvlm_scores own = {.values = values};
    params_of params = {.score.weights = weights, .score.scorer = &scorer, .budget.emphasis_channel = 1};
    (void)state;
    expect_own(&query, &params, NULL); /* there are none */
    params = (params_of){.scores = &own};
    expect_own(NULL, &params, NULL);
    expect_own(&query, &params, "a query and scores of one's own, which it cannot change");
    own.values_in = &memory;
    expect_own(NULL, &params, "scores of one's own on the host and on the device");
    own.values = NULL;
    expect_own(NULL, &params, NULL);
    params.score.weights = weights;
    expect_own(NULL, &params, "weights and scores of one's own, which it cannot change");
    params.score.scorer = &scorer;
    expect_own(NULL, &params, "a scorer and scores of one's own, which it cannot change");
    params.score.weights = NULL;
    expect_own(NULL, &params, "a scorer and scores of one's own, which it cannot change");
    params.score.scorer = NULL;
    params.budget.emphasis_channel = TVLM_CHANNEL_EDGES;
    expect_own(NULL, &params, "an emphasis on a channel, and on scores of one's own");
    own.values_in = NULL;
    expect_own(NULL, &params, "scores of one's own, but none given");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers),  cmocka_unit_test(test_zero),
                                       cmocka_unit_test(test_integers), cmocka_unit_test(test_readers),
                                       cmocka_unit_test(test_several),  cmocka_unit_test(test_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
