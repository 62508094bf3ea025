/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_merge.c: tokens merged along the squares of selections, against a scatter-mean that asks of each token in
 * which squares its centre lies; how many texels that takes; and what is refused.
 */
#include "holes_helper.h"
#include "stack_helper.h"
#include "texturevlm/lab/merge.h"

enum { DIMENSION = 10, POSITIONS = 100, TOKENS = 1280 };

/* An image of `columns` x `rows` tokens of 16 pixels, scaled down from one of `scale` times its size. */
typedef struct scene {
    tvlm_stack *stack;
    int32_t columns, rows, scale;
    float features[TOKENS * DIMENSION];
} scene;

static scene make_scene(tvlm_device *device, tvlm_format format, int32_t columns, int32_t rows,
                        int32_t scale) {
    uint64_t random = 9;
    scene s = {.columns = columns, .rows = rows, .scale = scale};
    uint8_t *const pixels = test_random_pixels(&random, 16 * columns * scale, 16 * rows * scale, 3);
    const tvlm_image image = u8_image(pixels, 16 * columns * scale, 16 * rows * scale, 3);
    assert_true(columns * rows <= TOKENS);
    for (int32_t i = 0; i < columns * rows * DIMENSION; ++i) s.features[i] = test_random_unit(&random) - 0.5f;
    assert_int_equal(
        tvlm_stack_create(device,
                          tvlm_stack_params(.width = 16 * columns, .height = 16 * rows, .format = format),
                          &s.stack),
        TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(s.stack, 0, &image), TVLM_OK);
    assert_int_equal(tvlm_stack_set_grid(s.stack, 0, TVLM_CHANNEL_FEATURE_0,
                                         tvlm_grid_input(.data = s.features, .columns = columns, .rows = rows,
                                                         .channels = DIMENSION)),
                     TVLM_OK);
    free(pixels);
    return s;
}

static tvlm_selection *select_of(const scene *s, struct tvlm_select_params params) {
    tvlm_selection *selection = NULL;
    if (tvlm_select(s->stack, NULL, &params, &selection) != TVLM_OK) fail_msg("%s", test_last_log());
    return selection;
}

/* ---- The scatter-mean ---- */

/* The width and height of what a position stands for: of an overview's square that of its share of the image, not
 * its size, which is that of the longer side. */
static void sides_of(const tvlm_selection_info *info, const tvlm_position *p, int32_t i, double sides[2]) {
    const bool overview = i < info->overview_columns * info->overview_rows;
    sides[0] = overview ? (double)info->width / info->overview_columns : (double)p->size;
    sides[1] = overview           ? (double)info->height / info->overview_rows
               : p->height > 0.0f ? (double)p->height
                                  : (double)p->size;
}

/* Whether a point lies in a position's square: of a quadtree's leaf or a budget's tile, whose centre is that of what
 * the image's border left of it, in the whole of which the rest would be. */
static bool holds(const tvlm_selection_info *info, const tvlm_position *p, const double sides[2], double x,
                  double y) {
    const bool clipped = p->height == 0.0f && info->strategy != TVLM_STRATEGY_FOVEATED && p->column < 0 &&
                         sides[0] == sides[1];
    double left = (double)p->x - sides[0] / 2, top = (double)p->y - sides[1] / 2;
    if (clipped && info->overview_columns == 0) {
        left = 0.0;
        top = 0.0;
        while (left + sides[0] <= (double)p->x) left += sides[0];
        while (top + sides[1] <= (double)p->y) top += sides[1];
    }
    return x >= left && x < left + sides[0] && y >= top && y < top + sides[1];
}

/* The position that a token belongs to, or -1. */
static int32_t owner_of(const scene *s, const tvlm_selection *selection, int32_t token) {
    const double side = 16.0 * s->scale;
    const double x = (token % s->columns + 0.5) * side, y = (token / s->columns + 0.5) * side;
    tvlm_selection_info info;
    double least = INFINITY;
    int32_t count, owner = -1;
    const tvlm_position *const positions = tvlm_selection_positions(selection, &count);
    assert_int_equal(tvlm_selection_get_info(selection, &info), TVLM_OK);
    for (int32_t i = 0; i < count; ++i) {
        double sides[2];
        sides_of(&info, &positions[i], i, sides);
        if (!holds(&info, &positions[i], sides, x, y) || sides[0] * sides[1] >= least * (1.0 - 1e-5))
            continue;
        least = sides[0] * sides[1];
        owner = i;
    }
    return owner;
}

static void scatter(const scene *s, const tvlm_selection *selection, double sums[POSITIONS][DIMENSION],
                    double places[POSITIONS][2], int32_t counts[POSITIONS]) {
    memset(sums, 0, sizeof(double) * POSITIONS * DIMENSION);
    memset(places, 0, sizeof(double) * POSITIONS * 2);
    memset(counts, 0, sizeof(int32_t) * POSITIONS);
    for (int32_t token = 0; token < s->columns * s->rows; ++token) {
        const int32_t owner = owner_of(s, selection, token);
        if (owner < 0) continue;
        ++counts[owner];
        places[owner][0] += token % s->columns;
        places[owner][1] += token / s->columns;
        for (int i = 0; i < DIMENSION; ++i) sums[owner][i] += (double)s->features[token * DIMENSION + i];
    }
}

/* Compares with the scatter-mean. Returns how many tokens were merged; *texels is from how many texels. */
static int32_t compare(const scene *s, const tvlm_selection *selection, tvlm_format format, int32_t *texels) {
    static double sums[POSITIONS][DIMENSION], places[POSITIONS][2];
    static float tokens[POSITIONS * DIMENSION + 1];
    int32_t counts[POSITIONS], count, all = 0;
    tvlm_merged_token merged[POSITIONS];
    (void)tvlm_selection_positions(selection, &count);
    assert_in_range(count, 1, POSITIONS);
    tokens[count * DIMENSION] = NAN;
    if (tvlm_merge_tokens(s->stack, selection, NULL, (size_t)count * DIMENSION, tokens, merged) != TVLM_OK)
        fail_msg("%s", test_last_log());
    assert_true(isnan(tokens[count * DIMENSION]));
    scatter(s, selection, sums, places, counts);
    *texels = 0;
    for (int32_t i = 0; i < count; ++i) {
        if (merged[i].count != counts[i])
            fail_msg("position %d: %d tokens, expected %d", (int)i, (int)merged[i].count, (int)counts[i]);
        all += counts[i];
        *texels += merged[i].texels;
        for (int c = 0; c < DIMENSION; ++c) {
            const double expected = counts[i] > 0 ? sums[i][c] / counts[i] : 0.0;
            /* halves below 0.5 are off by 1.2e-4 each, once for each level */
            assert_true(fabs((double)tokens[i * DIMENSION + c] - expected) <
                        (format == TVLM_FORMAT_F16 ? 5e-4 : 1e-6));
        }
        if (counts[i] == 0) continue;
        assert_true(fabs((double)merged[i].x - places[i][0] / counts[i]) < 1e-4);
        assert_true(fabs((double)merged[i].y - places[i][1] / counts[i]) < 1e-4);
    }
    return all;
}

/* `covers`: every token belongs to a position, but for those in empty cells of a thumbnail. */
static void one(const scene *s, struct tvlm_select_params params, tvlm_format format, bool covers) {
    tvlm_selection *selection = select_of(s, params);
    const int32_t tokens = s->columns * s->rows;
    int32_t texels, empty;
    (void)tvlm_selection_empty(selection, &empty);
    const int32_t all = compare(s, selection, format, &texels);
    assert_true(covers && empty == 0 ? all == tokens : all < tokens);
    if (covers && s->columns % 4 == 0) assert_true(texels < tokens); /* some came from levels */
    tvlm_selection_destroy(&selection);
}

/* Sides that are multiples of four tokens, odd ones, and an image that was scaled down. */
static void check_strategies(tvlm_device *device, tvlm_format format) {
    static const int32_t sizes[][3] = {{12, 8, 1}, {13, 7, 1}, {16, 12, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        scene s = make_scene(device, format, sizes[i][0], sizes[i][1], sizes[i][2]);
        one(&s, (struct tvlm_select_params){.k = 6, .strategy = TVLM_STRATEGY_QUADTREE}, format, true);
        one(&s, (struct tvlm_select_params){.k = 20, .strategy = TVLM_STRATEGY_QUADTREE}, format, true);
        one(&s, (struct tvlm_select_params){.k = 30, .strategy = TVLM_STRATEGY_BUDGET}, format, true);
        one(&s, (struct tvlm_select_params){.k = 20, .best.overview = 0.4f}, format, true);
        one(&s, (struct tvlm_select_params){.k = 9, .strategy = TVLM_STRATEGY_GRID}, format, false);
        tvlm_stack_destroy(&s.stack);
    }
}

/* Nines, on waves of four pixels, which they show well, beside a slope, of which no cell is blank: their tokens are those whose centres lie in their tiles. */
static void check_nines(tvlm_device *device, tvlm_format format) {
    enum { COLUMNS = 12, ROWS = 8, WIDE = 16 * COLUMNS, HIGH = 16 * ROWS };
    static uint8_t pixels[WIDE * HIGH];
    scene s = make_scene(device, format, COLUMNS, ROWS, 1);
    int32_t count, nines = 0, texels;
    for (int i = 0; i < WIDE * HIGH; ++i)
        pixels[i] =
            (uint8_t)(i % WIDE < 128 ? 128.0 + 100.0 * sin(i % WIDE * 1.6) * sin((double)(i / WIDE) * 1.6)
                                     : (double)(2 * (i % WIDE - 100) + i / WIDE / 2));
    const tvlm_image image = u8_image(pixels, WIDE, HIGH, 1);
    assert_int_equal(tvlm_stack_set_image(s.stack, 0, &image), TVLM_OK);
    tvlm_selection *selection =
        select_of(&s, (struct tvlm_select_params){.k = 45, .strategy = TVLM_STRATEGY_BUDGET});
    const tvlm_position *const positions = tvlm_selection_positions(selection, &count);
    for (int32_t i = 0; i < count; ++i)
        nines += positions[i].height == 0.0f && fabsf(positions[i].size - 64.0f / 3.0f) < 1e-3f;
    assert_true(nines >= 9);
    assert_int_equal(compare(&s, selection, format, &texels), COLUMNS * ROWS);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&s.stack);
}

/* A thumbnail with empty cells, whose tokens are left out where no tile has them; and tiles at a third. */
static void check_holes(tvlm_device *device, tvlm_format format) {
    static const int32_t sizes[][3] = {{12, 8, 1}, {13, 7, 1}, {16, 12, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        const int32_t columns = sizes[i][0], rows = sizes[i][1], side = 16 * sizes[i][2];
        scene s = make_scene(device, format, columns, rows, sizes[i][2]);
        tvlm_selection *selection = holes_selection(columns * side, rows * side, 5, 3, (float)side);
        int32_t texels;
        assert_non_null(selection);
        const int32_t all = compare(&s, selection, format, &texels);
        assert_in_range(all, columns * rows / 2, columns * rows - 10);
        tvlm_selection_destroy(&selection);
        tvlm_stack_destroy(&s.stack);
    }
}

/* Leaves of 4 x 4 tokens are a texel each, in an image of any shape. */
static void check_texels(tvlm_device *device, tvlm_format format) {
    static const int32_t sizes[][3] = {{8, 8, 4}, {4, 8, 2}, {8, 4, 2}};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; ++n) {
        scene s = make_scene(device, format, sizes[n][0], sizes[n][1], 1);
        tvlm_selection *selection =
            select_of(&s, (struct tvlm_select_params){.k = sizes[n][2], .strategy = TVLM_STRATEGY_QUADTREE});
        int32_t texels;
        assert_int_equal(compare(&s, selection, format, &texels), sizes[n][0] * sizes[n][1]);
        assert_int_equal(texels, sizes[n][2]);
        tvlm_selection_destroy(&selection);
        tvlm_stack_destroy(&s.stack);
    }
}

/* Levels that are no means are not read: every token is a texel. */
static void check_gaussian(tvlm_device *device, tvlm_format format) {
    static const int32_t sizes[][3] = {{8, 8, 4},
                                       {40, 32, 90}}; /* the second: more texels than are read at once */
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; ++n) {
        scene s = make_scene(device, format, sizes[n][0], sizes[n][1], 1);
        int32_t texels;
        assert_int_equal(tvlm_stack_set_reduce(s.stack, TVLM_GAUSSIAN), TVLM_OK);
        tvlm_selection *selection =
            select_of(&s, (struct tvlm_select_params){.k = sizes[n][2], .strategy = TVLM_STRATEGY_QUADTREE});
        assert_int_equal(compare(&s, selection, format, &texels), sizes[n][0] * sizes[n][1]);
        assert_int_equal(texels, sizes[n][0] * sizes[n][1]);
        tvlm_selection_destroy(&selection);
        tvlm_stack_destroy(&s.stack);
    }
}

/* With `whole`, the cells of a thumbnail have all tokens, whatever tiles lie in them; and a square of half a token
 * has the token that it lies in. */
static void check_whole(tvlm_device *device, tvlm_format format) {
    scene s = make_scene(device, format, 12, 8, 1);
    tvlm_selection *selection =
        select_of(&s, (struct tvlm_select_params){.k = 30, .strategy = TVLM_STRATEGY_BUDGET});
    static float tokens[POSITIONS * DIMENSION];
    tvlm_merged_token merged[POSITIONS];
    tvlm_selection_info info;
    int32_t count, empty, sum = 0;
    (void)tvlm_selection_positions(selection, &count);
    assert_int_equal(tvlm_selection_get_info(selection, &info), TVLM_OK);
    assert_int_equal(tvlm_merge_tokens(s.stack, selection, tvlm_merge_params(.whole = true),
                                       (size_t)count * DIMENSION, tokens, merged),
                     TVLM_OK);
    for (int32_t i = 0; i < info.thumbnail_cells; ++i) sum += merged[i].count;
    (void)tvlm_selection_empty(selection, &empty);
    assert_true(empty == 0 ? sum == 12 * 8 : sum < 12 * 8 && sum > 6 * 8); /* but for what is empty */
    for (int32_t i = 0; i < count; ++i) assert_true(merged[i].count > 0);
    tvlm_selection_destroy(&selection);
    selection = select_of(
        &s, (struct tvlm_select_params){.k = 9, .strategy = TVLM_STRATEGY_GRID, .score = {.stride = 8.0f}});
    const tvlm_position *const positions = tvlm_selection_positions(selection, &count);
    assert_int_equal(tvlm_merge_tokens(s.stack, selection, tvlm_merge_params(.whole = true),
                                       (size_t)count * DIMENSION, tokens, merged),
                     TVLM_OK);
    for (int32_t i = 0; i < count; ++i) {
        const int32_t token = (int32_t)(positions[i].y / 16.0f) * 12 + (int32_t)(positions[i].x / 16.0f);
        assert_int_equal(merged[i].count, 1);
        for (int c = 0; c < DIMENSION; ++c)
            assert_true(fabsf(tokens[i * DIMENSION + c] - s.features[token * DIMENSION + c]) <
                        (format == TVLM_FORMAT_F16 ? 5e-4f : 1e-6f));
    }
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&s.stack);
}

/* Leaves cover the image once, also those that its border clips, whose centres are that of what remains. */
static void check_clipped(tvlm_device *device, tvlm_format format) {
    scene s = make_scene(device, format, 13, 7, 1);
    float tokens[7 * DIMENSION];
    tvlm_merged_token merged[7];
    tvlm_selection *selection =
        select_of(&s, (struct tvlm_select_params){.k = 7, .strategy = TVLM_STRATEGY_QUADTREE});
    int32_t count, sum = 0;
    (void)tvlm_selection_positions(selection, &count);
    assert_int_equal(tvlm_merge_tokens(s.stack, selection, tvlm_merge_params(.whole = true), 7 * DIMENSION,
                                       tokens, merged),
                     TVLM_OK);
    for (int32_t i = 0; i < count; ++i) sum += merged[i].count;
    assert_int_equal(sum, 13 * 7);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&s.stack);
}

/* Of several squares of half a token in one token the first has it, and the others have none. */
static void check_ties(tvlm_device *device, tvlm_format format) {
    enum { SQUARES = 60 };
    scene s = make_scene(device, format, 6, 4, 1);
    tvlm_selection *selection = select_of(
        &s, (struct tvlm_select_params){
                .k = SQUARES, .strategy = TVLM_STRATEGY_GRID, .score = {.stride = 8.0f}, .patch = 8.0f});
    float tokens[SQUARES * DIMENSION];
    tvlm_merged_token merged[SQUARES];
    bool taken[24] = {false};
    int32_t count, others = 0;
    const tvlm_position *const positions = tvlm_selection_positions(selection, &count);
    assert_int_equal(count, SQUARES);
    assert_int_equal(tvlm_merge_tokens(s.stack, selection, NULL, SQUARES * DIMENSION, tokens, merged),
                     TVLM_OK);
    for (int32_t i = 0; i < SQUARES; ++i) {
        const int32_t column = (int32_t)(positions[i].x / 16.0f), row = (int32_t)(positions[i].y / 16.0f);
        assert_int_equal(merged[i].count, taken[row * 6 + column] ? 0 : 1);
        assert_true(merged[i].x == (float)column && merged[i].y == (float)row);
        if (merged[i].count == 0) assert_true(tokens[i * DIMENSION] == 0.0f);
        others += merged[i].count == 0;
        taken[row * 6 + column] = true;
    }
    assert_in_range(others, SQUARES - 24, SQUARES);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&s.stack);
}

/* The squares of the foveated strategy overlap anyhow: each token has one of those that it lies in, or none. */
static void check_foveated(tvlm_device *device, tvlm_format format) {
    scene s = make_scene(device, format, 16, 16, 1);
    tvlm_selection *selection =
        select_of(&s, (struct tvlm_select_params){.k = 12, .strategy = TVLM_STRATEGY_FOVEATED});
    int32_t texels;
    assert_true(compare(&s, selection, format, &texels) > 200);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&s.stack);
}

static void check_refusals(tvlm_device *device, tvlm_format format) {
    scene s = make_scene(device, format, 12, 8, 1), other = make_scene(device, format, 8, 8, 1);
    float tokens[9 * DIMENSION];
    tvlm_merged_token merged[9];
    struct tvlm_merge_params newer = {0};
    newer.reserved[0] = 1;
    tvlm_selection *selection =
        select_of(&s, (struct tvlm_select_params){.k = 9, .strategy = TVLM_STRATEGY_GRID});
#define REFUSED(line, ...) refused(tvlm_merge_tokens(__VA_ARGS__), TVLM_ERROR_ARGUMENT, line)
    REFUSED("room for 89 numbers; there are 9 x 10", s.stack, selection, NULL, 89, tokens, merged);
    REFUSED("a selection of 192 x 128 pixels of an image of 128 x 128", other.stack, selection, NULL, 90,
            tokens, merged);
    REFUSED("image 3 of a stack of 1", s.stack, selection, tvlm_merge_params(.index = 3), 90, tokens, merged);
    REFUSED("reserved words", s.stack, selection, &newer, 90, tokens, merged);
    REFUSED("selection is NULL", s.stack, NULL, NULL, 90, tokens, merged);
    REFUSED("tokens is NULL", s.stack, selection, NULL, 90, NULL, merged);
    REFUSED("merged is NULL", s.stack, selection, NULL, 90, tokens, NULL);
    assert_int_equal(tvlm_stack_clear_grid(s.stack, 0, TVLM_CHANNEL_FEATURE_0), TVLM_OK);
    REFUSED("image 0 has no features", s.stack, selection, NULL, 90, tokens, merged);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&other.stack);
    tvlm_stack_destroy(&s.stack);
}

DEVICE_CHECKS_MAIN(check_strategies, check_nines, check_holes, check_texels, check_gaussian, check_whole,
                   check_clipped, check_ties, check_foveated, check_refusals)
