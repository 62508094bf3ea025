/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all strategies have in common: their names, the parameters that each of them refuses, the scores that
 * a selection keeps, and that no strategy scores twice or puts its question twice.
 */
#include "core/backend.h"
#include "stack_helper.h"

enum { WIDTH = 149, HEIGHT = 131, COLUMNS = 10, ROWS = 9, CELLS = COLUMNS * ROWS, DIMENSION = 4 };

static const tvlm_strategy strategies[] = {TVLM_STRATEGY_GRID, TVLM_STRATEGY_FOVEATED, TVLM_STRATEGY_QUADTREE,
                                           TVLM_STRATEGY_EXHAUSTIVE, TVLM_STRATEGY_CASCADE};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

/* `budget`, which comes next, scores nothing: tests/test_budget.c. */

/* With features of 4 dimensions. */
static tvlm_stack *small_stack(tvlm_device *device, tvlm_format format) {
    uint64_t seed = 77;
    float features[CELLS * DIMENSION];
    uint8_t *const pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stack *const stack = stack_of(device, format, &image);
    free(pixels);
    for (int i = 0; i < CELLS * DIMENSION; ++i) features[i] = test_random_unit(&seed) - 0.3f;
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                                         tvlm_grid_input(.data = features, .columns = COLUMNS, .rows = ROWS,
                                                         .channels = DIMENSION)),
                     TVLM_OK);
    return stack;
}

static tvlm_selection *chosen(tvlm_stack *stack, const struct tvlm_query *query,
                              const struct tvlm_select_params *params) {
    tvlm_selection *selection = NULL;
    if (tvlm_select(stack, query, params, &selection) != TVLM_OK) fail_msg("%s", test_last_log());
    return selection;
}

/* ---- Names ---- */

static void test_names(void **state) {
    (void)state;
    for (int i = 0; i < STRATEGIES; ++i) {
        const char *const name = tvlm_strategy_name(strategies[i]);
        assert_int_equal(strategies[i], TVLM_STRATEGY_GRID + i);
        assert_int_equal(tvlm_strategy_find(name), strategies[i]);
    }
    assert_int_equal(tvlm_strategy_find("budget"), TVLM_STRATEGY_BUDGET);
    assert_int_equal(TVLM_STRATEGY_BUDGET, TVLM_STRATEGY_GRID + STRATEGIES);
    const tvlm_strategy none = (tvlm_strategy)(TVLM_STRATEGY_BUDGET + 1);
    assert_int_equal(tvlm_strategy_find(tvlm_strategy_name(none)), -1);
    assert_string_equal(tvlm_strategy_name((tvlm_strategy)-1), "unknown");
}

/* ---- The default ---- */

static tvlm_strategy chosen_by(tvlm_stack *stack, const struct tvlm_select_params *params) {
    tvlm_selection_info info;
    tvlm_selection *selection = chosen(stack, NULL, params);
    tvlm_selection_get_info(selection, &info);
    tvlm_selection_destroy(&selection);
    return info.strategy;
}

/* The budget, and what it chooses where it is named; with an overview the grid; and the parameters of others
 * are refused with a line that says why. */
static void test_default(void **state) {
    tvlm_device *device = open_reference();
    tvlm_stack *stack = small_stack(device, TVLM_FORMAT_F32);
    tvlm_selection *none = NULL;
    (void)state;
    assert_int_equal(chosen_by(stack, NULL), TVLM_STRATEGY_BUDGET);
    assert_int_equal(chosen_by(stack, tvlm_select_params(.k = 9)), TVLM_STRATEGY_BUDGET);
    assert_int_equal(chosen_by(stack, tvlm_select_params(.k = 9, .best.overview = 0.5f)), TVLM_STRATEGY_GRID);
    tvlm_selection *unnamed = chosen(stack, NULL, tvlm_select_params(.k = 9));
    tvlm_selection *named = chosen(stack, NULL, tvlm_select_params(.k = 9, .strategy = TVLM_STRATEGY_BUDGET));
    same_positions(unnamed, named);
    tvlm_selection_destroy(&unnamed);
    tvlm_selection_destroy(&named);
    refused(
        tvlm_select(stack, NULL, tvlm_select_params(.score.stride = 8.0f), &none), TVLM_ERROR_ARGUMENT,
        "stride is for the strategy grid, foveated, quadtree and cascade, not for budget, which is the default");
    refused(tvlm_select(stack, NULL, tvlm_select_params(.best.overview = 0.5f, .budget.share = 0.5f), &none),
            TVLM_ERROR_ARGUMENT, "share is for the strategy budget, not for grid");
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* ---- Parameters of other strategies ---- */

/* Whether the library's table says that a strategy reads a parameter. */
static bool reads(tvlm_strategy strategy, const char *name) {
    const tvlm_parameter *p = NULL;
    int32_t i = 0;
    do p = tvlm_parameter_at(i++);
    while (p != NULL && strcmp(p->name, name) != 0);
    assert_non_null(p);
    return (p->strategies >> strategy & 1u) != 0;
}

/* One parameter each, with a value that a strategy takes which reads it. */
static const struct {
    const char *name;
    struct tvlm_select_params params;
} parameters[] = {
    {"stride", {.score = {.stride = 8.0f}}},
    {"level", {.score = {.level = 3}}},
    {"dense", {.score = {.dense = true}}},
    {"min_distance", {.best.min_distance = 5.0f}},
    {"overview", {.best.overview = 0.5f}},
    {"fixations", {.foveated.fixations = (const float[]){20.0f, 30.0f}, .foveated.fixation_count = 1}},
    {"e0", {.foveated.e0 = 0.3f}},
    {"arrangement", {.foveated.arrangement = TVLM_ARRANGEMENT_LOG_POLAR}},
    {"keep_regions", {.cascade.keep_regions = 2}},
    {"cull_distance", {.cascade.cull_distance = 0.5f}},
    {"cover", {.cascade.cover = true}},
    {"weights", {.score = {.weights = (const float[]){0.5f, 0.5f, 0.0f}}}},
    {"keep_pass", {.score = {.keep_pass = true}}},
    {"share", {.budget.share = 0.25f}},
    {"tolerance", {.budget.tolerance = 0.5f}},
    {"emphasis", {.budget.emphasis = 2.0f}},
    {"emphasis_channel", {.budget.emphasis_channel = TVLM_CHANNEL_EDGES}},
};

/* Every strategy takes a parameter, or names it in its refusal: none is ignored. */
static void test_parameters(void **state) {
    tvlm_device *device = open_reference();
    tvlm_stack *stack = small_stack(device, TVLM_FORMAT_F32);
    char line[64];
    int taken = 0;
    (void)state;
    for (size_t p = 0; p < sizeof parameters / sizeof *parameters; ++p)
        for (int i = 0; i <= STRATEGIES; ++i) {
            const tvlm_strategy strategy = i < STRATEGIES ? strategies[i] : TVLM_STRATEGY_BUDGET;
            struct tvlm_select_params params = parameters[p].params;
            tvlm_selection *selection = NULL;
            /* A share and a tolerance take the place of k. */
            params.k = params.budget.share + params.budget.tolerance > 0.0f && i == STRATEGIES ? 0 : 12;
            params.strategy = strategy;
            const tvlm_status status = tvlm_select(stack, NULL, &params, &selection);
            assert_int_equal(tvlm_select_check(NULL, NULL, &params), status);
            if (reads(strategy, parameters[p].name)) {
                assert_int_equal(status, has_strategy(strategy) ? TVLM_OK : TVLM_ERROR_UNSUPPORTED);
                ++taken;
            } else {
                snprintf(line, sizeof line, "the parameter %s is for the strategy", parameters[p].name);
                refused(status, TVLM_ERROR_ARGUMENT, line);
                assert_null(selection);
            }
            tvlm_selection_destroy(&selection);
        }
    assert_int_equal(taken, 4 + 1 + 1 + 3 + 3 + 3 * 1 + 3 * 1 + 2 * 5 + 4 * 1);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* ---- The table ---- */

/* Every parameter has a name of its own, strategies that read it, help, and a place in the struct that no other has. */
static void test_table(void **state) {
    const uint32_t all = (2u << TVLM_STRATEGY_BUDGET) - (1u << TVLM_STRATEGY_GRID);
    const tvlm_parameter *p, *other;
    int32_t count = 0;
    (void)state;
    for (; (p = tvlm_parameter_at(count)) != NULL; ++count) {
        assert_true(p->strategies != 0 && (p->strategies & ~all) == 0);
        assert_true(p->size > 0 && p->offset + p->size <= sizeof(struct tvlm_select_params));
        assert_true(p->low <= p->high && p->help != NULL && p->help[0] != '\0');
        assert_true((p->type == TVLM_PARAMETER_CHOICE) == (p->words != NULL && p->word == 0.0f));
        for (int32_t i = 0; i < count; ++i) {
            other = tvlm_parameter_at(i);
            assert_string_not_equal(other->name, p->name);
            assert_true(other->offset + other->size <= p->offset || p->offset + p->size <= other->offset);
        }
    }
    assert_int_equal(count, 23);
    assert_null(tvlm_parameter_at(-1));
}

/* The ends of a range are taken, and what lies beyond them is refused with a line that has the value. */
static void test_ranges(void **state) {
    const tvlm_parameter *p;
    int checked = 0;
    (void)state;
    for (int32_t i = 0; (p = tvlm_parameter_at(i)) != NULL; ++i) {
        if (p->type != TVLM_PARAMETER_NUMBER || strcmp(p->name, "stride") == 0) continue;
        const float values[] = {(float)p->low, (float)p->high, nextafterf((float)p->high, INFINITY), -3.0f,
                                NAN};
        for (size_t v = 0; v < sizeof values / sizeof *values; ++v) {
            struct tvlm_select_params params = {.strategy = TVLM_STRATEGY_GRID};
            while ((p->strategies >> params.strategy & 1u) == 0) ++params.strategy;
            memcpy((char *)&params + p->offset, &values[v], sizeof values[v]);
            const tvlm_status status = tvlm_select_check(NULL, NULL, &params);
            const bool patch = strcmp(p->name, "patch") == 0 || !has_strategy(params.strategy);
            if (status != (v < 2 ? TVLM_OK : TVLM_ERROR_ARGUMENT) && !patch)
                fail_msg("%s = %g: %d", p->name, (double)values[v], (int)status);
            ++checked;
        }
    }
    assert_int_equal(checked, 5 * 9);
}

/* What is said without a stack is what is said with one; what depends on an image is not asked. */
static void test_check(void **state) {
    const float value = 1.0f;
    const struct tvlm_scores own = {.values = &value, .columns = 1, .rows = 1};
    const struct tvlm_query query = {.vectors = &value, .dimension = 1};
    const struct {
        const struct tvlm_query *query;
        struct tvlm_select_params params;
        const char *line;
    } wrong[] = {
        {NULL, {.k = -1}, "k is -1; it is at least 1"},
        {NULL, {.best.min_distance = -1.0f}, "a minimum distance of -1 pixels"},
        {NULL, {.k = 5, .budget.share = 0.5f}, "k, share and tolerance exclude each other"},
        {NULL, {.budget.share = 2.0f}, "a share of 2; it is above 0 and at most 1"},
        {NULL, {.patch = 3.5f}, "a patch of 3.5 pixels"},
        {NULL, {.strategy = (tvlm_strategy)77}, "there is no strategy 77"},
        {&query, {.scores = &own}, "a query and scores of one's own"},
        {NULL, {.reserved = {1}}, "reserved words"},
    };
    tvlm_device *device = open_reference();
    tvlm_stack *stack = small_stack(device, TVLM_FORMAT_F32);
    tvlm_selection *none = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        refused(tvlm_select(stack, wrong[i].query, &wrong[i].params, &none), TVLM_ERROR_ARGUMENT,
                wrong[i].line);
        refused(tvlm_select_check(&test_log, wrong[i].query, &wrong[i].params), TVLM_ERROR_ARGUMENT,
                wrong[i].line);
    }
    if (!has_strategy(TVLM_STRATEGY_FOVEATED))
        refused(tvlm_select_check(&test_log, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_FOVEATED)),
                TVLM_ERROR_UNSUPPORTED, "the strategy foveated is of the lab");
    assert_int_equal(tvlm_select_check(NULL, NULL, NULL), TVLM_OK);
    assert_int_equal(tvlm_select_check(NULL, &query, tvlm_select_params(.k = 1000000, .score.index = 7)),
                     TVLM_OK);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* ---- Scores that are kept ---- */

/* Those of tvlm_score to the bit; of the cascade those of the positions, and nowhere a lower one. */
static void check_scores(tvlm_device *device, tvlm_format format) {
    static float expected[WIDTH * HEIGHT];
    const float vector[DIMENSION] = {1.0f, -0.5f, 0.25f, 0.0f};
    const struct tvlm_query query = {.vectors = vector, .dimension = DIMENSION};
    tvlm_stack *stack = small_stack(device, format);
    for (int i = 0; i < 2 * STRATEGIES; ++i) {
        const struct tvlm_query *const q = i < STRATEGIES ? &query : NULL;
        const tvlm_strategy strategy = strategies[i % STRATEGIES];
        if (!has_strategy(strategy)) continue;
        const bool dense = strategy == TVLM_STRATEGY_EXHAUSTIVE;
        const struct tvlm_score_params score = {.level = dense ? 3 : 0};
        struct tvlm_select_params params = {
            .k = 9, .strategy = strategy, .score = score, .keep_scores = true};
        tvlm_selection *const kept = chosen(stack, q, &params);
        params.keep_scores = false;
        tvlm_selection *const plain = chosen(stack, q, &params);
        int32_t columns, rows, count;
        const float *const scores = tvlm_selection_scores(kept, &columns, &rows);
        const tvlm_position *const p = tvlm_selection_positions(kept, &count);
        same_positions(kept, plain);
        assert_null(tvlm_selection_scores(plain, NULL, NULL));
        assert_int_equal(tvlm_score(stack, q, tvlm_score_params(.level = score.level, .dense = dense),
                                    WIDTH * HEIGHT, expected),
                         TVLM_OK);
        assert_true(dense ? columns == WIDTH >> 3 && rows == HEIGHT >> 3
                          : columns == COLUMNS && rows == ROWS);
        if (strategy != TVLM_STRATEGY_CASCADE)
            assert_memory_equal(scores, expected, (size_t)(columns * rows) * sizeof *scores);
        for (int32_t n = 0; n < count && p[n].column >= 0; ++n)
            assert_true(scores[p[n].row * columns + p[n].column] == p[n].score);
        tvlm_selection_destroy(&(tvlm_selection *){kept});
        tvlm_selection_destroy(&(tvlm_selection *){plain});
    }
    tvlm_stack_destroy(&stack);
}

/* What a cascade did not look at has the lowest of its scores, whether it chooses cells or covers. */
static void check_cascade(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = small_stack(device, format);
    for (int cover = 0; cover < 2; ++cover) {
        tvlm_selection *selection = chosen(
            stack, NULL,
            tvlm_select_params(.k = 1, .strategy = TVLM_STRATEGY_CASCADE, .cascade.keep_regions = 1,
                               .score = {.stride = 4}, .cascade.cover = cover > 0, .keep_scores = true));
        tvlm_selection_report report;
        int32_t columns, rows, lowest = 0;
        const float *const scores = tvlm_selection_scores(selection, &columns, &rows);
        tvlm_selection_get_report(selection, &report);
        float low = INFINITY;
        for (int32_t i = 0; i < columns * rows; ++i) low = fminf(low, scores[i]);
        for (int32_t i = 0; i < columns * rows; ++i) lowest += scores[i] == low;
        assert_true(report.stages[1].candidates < columns * rows);
        assert_true(lowest >= columns * rows - report.stages[1].candidates + 1);
        tvlm_selection_destroy(&selection);
    }
    tvlm_stack_destroy(&stack);
}

/* ---- Nothing twice ---- */

static struct {
    const tvlm_backend *real;
    int scores, questions, cells;
} counted;

static tvlm_status count_score(tvlm_device *device, const tvlm_bundle *bundle, const tvlm_score_group *groups,
                               int32_t group_count, const tvlm_score_combination *combination,
                               const tvlm_candidates *candidates, const tvlm_ranking *ranking,
                               tvlm_buffer *scores) {
    ++counted.scores;
    return counted.real->score(device, bundle, groups, group_count, combination, candidates, ranking, scores);
}

static tvlm_status count_similarity(tvlm_device *device, const tvlm_features *features, tvlm_buffer *query,
                                    tvlm_texture *out) {
    ++counted.questions;
    return counted.real->similarity(device, features, query, out);
}

static tvlm_status count_cells(tvlm_device *device, const tvlm_features *features, tvlm_buffer *query,
                               tvlm_buffer *cells, int32_t count, tvlm_buffer *out) {
    ++counted.cells;
    return counted.real->similarity_cells(device, features, query, cells, count, out);
}

static void check_counts(tvlm_device *device, tvlm_format format) {
    static const float vector[DIMENSION] = {1.0f, 0.0f, 0.5f, 0.0f}, fixation[2] = {30.0f, 30.0f};
    const struct tvlm_query query = {.vectors = vector, .dimension = DIMENSION};
    const struct {
        struct tvlm_select_params params;
        int scores, questions, cells;
    } cases[] = {
        {{.strategy = TVLM_STRATEGY_GRID}, 1, 1, 0},
        {{.strategy = TVLM_STRATEGY_GRID, .best.overview = 0.5f, .best.min_distance = 20.0f}, 1, 1, 0},
        {{.strategy = TVLM_STRATEGY_FOVEATED}, 2, 1, 0}, /* a coarse map for the peak, and the grid */
        {{.strategy = TVLM_STRATEGY_FOVEATED, .foveated.fixations = fixation, .foveated.fixation_count = 1},
         1,
         1,
         0},
        {{.strategy = TVLM_STRATEGY_QUADTREE}, 1, 1, 0},
        {{.strategy = TVLM_STRATEGY_EXHAUSTIVE, .score.level = 2}, 1, 1, 0},
        {{.strategy = TVLM_STRATEGY_CASCADE}, 0, 0, 1},
        {{.strategy = TVLM_STRATEGY_CASCADE, .cascade.cover = true}, 0, 0, 1},
    };
    tvlm_stack *stack = small_stack(device, format);
    tvlm_backend hooked = *device->backend;
    hooked.score = count_score;
    hooked.similarity = count_similarity;
    hooked.similarity_cells = count_cells;
    counted.real = device->backend;
    device->backend = &hooked;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct tvlm_select_params params = cases[i].params;
        if (!has_strategy(params.strategy)) continue;
        params.k = 12;
        params.keep_scores = true;
        counted.scores = counted.questions = counted.cells = 0;
        tvlm_selection *selection = chosen(stack, &query, &params);
        assert_non_null(tvlm_selection_scores(selection, NULL, NULL));
        if (counted.scores != cases[i].scores || counted.questions != cases[i].questions ||
            counted.cells != cases[i].cells)
            fail_msg("case %zu: scored %d times, asked %d times and %d times of some cells", i,
                     counted.scores, counted.questions, counted.cells);
        tvlm_selection_destroy(&selection);
    }
    device->backend = counted.real;
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS(check_scores, check_cascade, check_counts)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),         cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_default),       cmocka_unit_test(test_check),
        cmocka_unit_test(test_table),         cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_reference_f32), cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
