/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_own_scores.c: scores that are handed in, from the host and from memory of the device: every strategy
 * chooses by them, they are kept wherever scores are, and what is refused.
 */
#include "stack/inside.h"
#include "stack_helper.h"
#include "support_stage.h"

enum { WIDTH = 149, HEIGHT = 83, COLUMNS = 10, ROWS = 6, CELLS = COLUMNS * ROWS, TEXELS = WIDTH * HEIGHT };

static tvlm_selection *select_with(tvlm_stack *stack, const struct tvlm_select_params *params) {
    tvlm_selection *selection = NULL;
    if (tvlm_select(stack, NULL, params, &selection) != TVLM_OK) fail_msg("%s", test_last_log());
    return selection;
}

/* ---- The same as computed ---- */

/* The scores that the library computes, handed in, choose what they chose. */
static void check_same(tvlm_stack *stack, const struct tvlm_select_params *params, bool memory) {
    struct tvlm_select_params asked = *params;
    struct tvlm_scores own = {0};
    tvlm_device *const device = tvlm_stack_device(stack);
    tvlm_buffer *buffer = NULL;
    struct tvlm_memory there = {.byte_offset = 12};
    void *handle = NULL;
    asked.keep_scores = true;
    tvlm_selection *computed = select_with(stack, &asked);
    own.values = tvlm_selection_scores(computed, &own.columns, &own.rows);
    const size_t bytes = (size_t)own.columns * (size_t)own.rows * sizeof(float);
    if (memory) {
        assert_int_equal(device->backend->buffer_create(device, bytes + 12, &buffer), TVLM_OK);
        assert_int_equal(device->backend->buffer_write(device, buffer, 12, bytes, own.values), TVLM_OK);
        assert_int_equal(device->backend->buffer_native(device, buffer, &handle), TVLM_OK);
        there.memory = handle;
        own.values = NULL;
        own.values_in = &there;
    }
    asked.scores = &own;
    for (int unchecked = 0; unchecked <= (memory ? 1 : 0); ++unchecked) {
        there.unchecked = unchecked > 0;
        tvlm_selection *chosen = select_with(stack, &asked);
        same_positions(chosen, computed);
        assert_memory_equal(tvlm_selection_scores(chosen, NULL, NULL),
                            tvlm_selection_scores(computed, NULL, NULL), bytes);
        tvlm_selection_destroy(&chosen);
    }
    device->backend->buffer_destroy(device, &buffer);
    tvlm_selection_destroy(&computed);
}

static void check_computed(tvlm_device *device, tvlm_format format) {
    static const float fixation[2] = {40, 30};
    static const struct tvlm_select_params params[] = {
        {.strategy = TVLM_STRATEGY_GRID, .k = 20},
        {.strategy = TVLM_STRATEGY_GRID, .k = 20, .best.min_distance = 30},
        {.k = 20, .best.overview = 0.3f},
        {.strategy = TVLM_STRATEGY_EXHAUSTIVE, .k = 50, .score = {.level = 1}},
        {.strategy = TVLM_STRATEGY_QUADTREE, .k = 13},
        {.strategy = TVLM_STRATEGY_FOVEATED,
         .k = 11,
         .foveated.fixations = fixation,
         .foveated.fixation_count = 1},
        {.strategy = TVLM_STRATEGY_GRID, .k = 7, .score = {.stride = 11.5f}},
    };
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 31);
    for (size_t i = 0; i < sizeof params / sizeof *params; ++i)
        for (int memory = has_strategy(params[i].strategy) ? 0 : 2;
             memory <= (test_is_opencl(device) ? 1 : 0); ++memory)
            check_same(stack, &params[i], memory > 0);
    tvlm_stack_destroy(&stack);
}

/* ---- Other scores ---- */

/* A hill on which the cell (column, row) lies highest. */
static void hill(float *scores, int32_t columns, int32_t rows, int32_t column, int32_t row) {
    for (int32_t i = 0; i < columns * rows; ++i)
        scores[i] = 100.0f - hypotf((float)(i % columns - column), (float)(i / columns - row));
}

static bool holds(const tvlm_position *p, double x, double y) {
    return fabs((double)p->x - x) <= 0.5 * (double)p->size + 1e-3 &&
           fabs((double)p->y - y) <= 0.5 * (double)p->size + 1e-3;
}

/* The best position is on the top of the hill. */
static void check_top(tvlm_stack *stack, const struct tvlm_select_params *params, int32_t column,
                      int32_t row) {
    static float scores[TEXELS];
    const bool dense = params->strategy == TVLM_STRATEGY_EXHAUSTIVE;
    const int32_t columns = dense ? WIDTH : COLUMNS, rows = dense ? HEIGHT : ROWS;
    const double step = dense ? 1.0 : 16.0;
    struct tvlm_select_params asked = *params;
    int32_t count;
    hill(scores, columns, rows, column, row);
    asked.scores = tvlm_scores(.values = scores, .columns = columns, .rows = rows);
    tvlm_selection *selection = select_with(stack, &asked);
    const tvlm_position *p = tvlm_selection_positions(selection, &count);
    assert_true(count > 1);
    if (!holds(&p[0], (column + 0.5) * step, (row + 0.5) * step))
        fail_msg("%s: %g,%g is not where the score is highest", tvlm_strategy_name(params->strategy),
                 (double)p[0].x, (double)p[0].y);
    const tvlm_position *smallest = p;
    for (int32_t i = 1; i < count; ++i) {
        assert_true(p[i].score <= p[0].score);
        if (p[i].size < smallest->size) smallest = &p[i];
    }
    /* Without a fixation the foveated strategy looks there first. */
    const double off =
        hypot((double)smallest->x - (column + 0.5) * step, (double)smallest->y - (row + 0.5) * step);
    if (params->strategy == TVLM_STRATEGY_FOVEATED) assert_true(off < 16.0);
    if (p[0].column >= 0) assert_true(p[0].score == 100.0f);
    tvlm_selection_destroy(&selection);
}

static void check_strategies(tvlm_device *device, tvlm_format format) {
    static const struct tvlm_select_params params[] = {
        {.strategy = TVLM_STRATEGY_GRID, .k = 9},
        {.strategy = TVLM_STRATEGY_QUADTREE, .k = 20},
        {.strategy = TVLM_STRATEGY_EXHAUSTIVE, .k = 30},
        {.strategy = TVLM_STRATEGY_CASCADE, .k = 5},
        {.strategy = TVLM_STRATEGY_CASCADE, .k = 20, .cascade.cover = true},
        {.strategy = TVLM_STRATEGY_FOVEATED, .k = 8, .patch = 8, .foveated.e0 = 0.05f},
    };
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 32);
    for (size_t i = 0; i < sizeof params / sizeof *params; ++i) {
        if (!has_strategy(params[i].strategy)) continue;
        check_top(stack, &params[i], 7, 1);
        check_top(stack, &params[i], 1, 4);
    }
    tvlm_stack_destroy(&stack);
}

/* They are the image's scores: what the next pass and the next frame see of it. */
static void check_kept(tvlm_device *device, tvlm_format format) {
    float scores[CELLS];
    size_t count;
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 33);
    for (int i = 0; i < CELLS; ++i) scores[i] = (float)i - 20.0f;
    const struct tvlm_scores own = {.values = scores, .columns = COLUMNS, .rows = ROWS};
    for (int strategy = TVLM_STRATEGY_GRID; strategy <= TVLM_STRATEGY_QUADTREE; ++strategy) {
        if (!has_strategy((tvlm_strategy)strategy)) continue;
        assert_int_equal(tvlm_stack_clear_grid(stack, 0, TVLM_CHANNEL_PREVIOUS_PASS), TVLM_OK);
        tvlm_selection *selection =
            select_with(stack, tvlm_select_params(.strategy = (tvlm_strategy)strategy, .k = 4,
                                                  .score = {.keep_pass = true}, .scores = &own));
        tvlm_selection_destroy(&selection);
        float *kept = read_level(stack, 0, TVLM_CHANNEL_PREVIOUS_PASS, 0, &count);
        assert_int_equal(count, CELLS);
        for (int i = 0; i < CELLS; ++i)
            assert_true(fabsf(kept[i] - (float)i / (CELLS - 1)) <
                        (format == TVLM_FORMAT_F16 ? 1e-3f : 1e-6f));
        free(kept);
    }
    tvlm_stack_destroy(&stack);
}

/* ---- What is refused ---- */

#define REFUSE(WORDS, ...)                                                                                   \
    refused(tvlm_select(stack, NULL, tvlm_select_params(__VA_ARGS__), &selection), TVLM_ERROR_ARGUMENT, WORDS)

static void check_refusals(tvlm_device *device, tvlm_format format) {
    static const float weights[3] = {1, 0, 0};
    static const float similarity[1] = {0.5f};
    float scores[CELLS];
    tvlm_selection *selection = NULL;
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 34);
    for (int i = 0; i < CELLS; ++i) scores[i] = (float)i;
    struct tvlm_scores own = {.values = scores, .columns = COLUMNS, .rows = ROWS};
    const struct tvlm_memory none = {0};
    for (int strategy = TVLM_STRATEGY_GRID; strategy <= TVLM_STRATEGY_CASCADE; ++strategy) {
        const tvlm_strategy s = (tvlm_strategy)strategy;
        if (!has_strategy(s)) continue;
        own.columns = ROWS;
        own.rows = COLUMNS;
        REFUSE("scores of 6 x 10, but there are", .strategy = s, .k = 4, .scores = &own);
        own.columns = s == TVLM_STRATEGY_EXHAUSTIVE ? WIDTH : COLUMNS;
        own.rows = s == TVLM_STRATEGY_EXHAUSTIVE ? HEIGHT : ROWS;
        float *all = calloc(TEXELS, sizeof *all);
        assert_non_null(all);
        own.values = all;
        all[2 * own.columns + 3] = NAN;
        REFUSE("(row 2, column 3) is not finite", .strategy = s, .k = 4, .scores = &own);
        all[2 * own.columns + 3] = -INFINITY;
        REFUSE("(row 2, column 3) is not finite", .strategy = s, .k = 4, .scores = &own);
        free(all);
        own.values = scores;
    }
    own.columns = COLUMNS;
    own.rows = ROWS;
    REFUSE("weights and scores of one's own", .strategy = TVLM_STRATEGY_GRID, .score = {.weights = weights},
           .scores = &own);
    REFUSE("a scorer and scores of one's own", .strategy = TVLM_STRATEGY_GRID,
           .score = {.scorer = &(tvlm_scorer){0}}, .scores = &own);
    refused(tvlm_select(stack, tvlm_query(.similarity = similarity, .columns = 1, .rows = 1),
                        tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .scores = &own), &selection),
            TVLM_ERROR_ARGUMENT, "a query and scores of one's own");
    REFUSE("none given", .strategy = TVLM_STRATEGY_GRID,
           .scores = &(struct tvlm_scores){.columns = COLUMNS, .rows = ROWS});
    own.values_in = &none;
    REFUSE("on the host and on the device", .strategy = TVLM_STRATEGY_GRID, .scores = &own);
    own.values = NULL;
    REFUSE("the cl_mem is NULL", .strategy = TVLM_STRATEGY_GRID, .scores = &own);
    own.values_in = NULL;
    own.values = scores;
    own.reserved[0] = 1;
    REFUSE("reserved words", .strategy = TVLM_STRATEGY_GRID, .scores = &own);
    assert_null(selection);
    tvlm_stack_destroy(&stack);
}

/* From memory of the device: too small, another offset than numbers have, values that are not finite. */
static void check_memory(tvlm_device *device, tvlm_format format) {
    float scores[CELLS];
    void *handle = NULL;
    int32_t count;
    tvlm_selection *selection = NULL;
    if (!test_is_opencl(device)) return;
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 35);
    for (int i = 0; i < CELLS; ++i) scores[i] = i == 13 ? NAN : (float)i;
    tvlm_buffer *buffer = test_buffer(device, sizeof scores, scores);
    assert_int_equal(device->backend->buffer_native(device, buffer, &handle), TVLM_OK);
    struct tvlm_memory there = {.memory = handle};
    const struct tvlm_scores own = {.values_in = &there, .columns = COLUMNS, .rows = ROWS};
    for (int strategy = TVLM_STRATEGY_GRID; strategy <= TVLM_STRATEGY_QUADTREE; ++strategy)
        if (has_strategy((tvlm_strategy)strategy))
            REFUSE("score 13 (row 1, column 3) is not finite", .k = 4, .strategy = (tvlm_strategy)strategy,
                   .scores = &own);
    REFUSE("score 13 (row 1, column 3) is not finite", .k = 4, .strategy = TVLM_STRATEGY_CASCADE,
           .scores = &own);
    there.byte_offset = 1 << 16;
    REFUSE("scores: 240 bytes from byte 65536 on", .strategy = TVLM_STRATEGY_GRID, .scores = &own);
    there.byte_offset = 2;
    REFUSE("scores: from byte 2 on", .strategy = TVLM_STRATEGY_GRID, .scores = &own);
    there.byte_offset = 0;
    there.unchecked = true; /* NaN comes last then */
    selection =
        select_with(stack, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = CELLS, .scores = &own));
    const tvlm_position *p = tvlm_selection_positions(selection, &count);
    assert_true(count == CELLS && p[0].score == CELLS - 1.0f && p[CELLS - 1].column == 3 &&
                isnan(p[CELLS - 1].score));
    tvlm_selection_destroy(&selection);
    device->backend->buffer_destroy(device, &buffer);
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS_MAIN(check_computed, check_strategies, check_kept, check_refusals, check_memory)
