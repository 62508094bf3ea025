/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fill.c: the empty cells of thumbnails are filled as select.h says it, by a plain definition: a cell's colour is asked
 * of its neighbours that are nearer to a cell that is kept.
 */
#include <math.h>
#include <stdio.h>

#include "holes_helper.h"
#include "support_stage.h"
#include "texturevlm/patches.h"

enum { COLUMNS_MAX = 9, ROWS_MAX = 7, SIDE_MAX = 5, CHANNELS_MAX = 3, CELLS = COLUMNS_MAX * ROWS_MAX };
enum { VALUES = CELLS * SIDE_MAX * SIDE_MAX * CHANNELS_MAX };

typedef struct thumbnail {
    int32_t columns, rows, side, channels;
    bool empty[ROWS_MAX][COLUMNS_MAX];
    int32_t distance[ROWS_MAX]
                    [COLUMNS_MAX]; /* to the next cell that is kept, in steps to one of four neighbours */
    float picture[VALUES];
} thumbnail;

static float *texel_of(thumbnail *t, int32_t x, int32_t y) {
    return t->picture + ((size_t)y * (size_t)(t->columns * t->side) + (size_t)x) * (size_t)t->channels;
}

static bool is_inside(const thumbnail *t, int32_t column, int32_t row) {
    return column >= 0 && column < t->columns && row >= 0 && row < t->rows;
}

static void find_distances(thumbnail *t) {
    for (int32_t row = 0; row < t->rows; ++row)
        for (int32_t column = 0; column < t->columns; ++column) {
            t->distance[row][column] = INT32_MAX;
            for (int32_t y = 0; y < t->rows; ++y)
                for (int32_t x = 0; x < t->columns; ++x)
                    if (!t->empty[y][x] && abs(y - row) + abs(x - column) < t->distance[row][column])
                        t->distance[row][column] = abs(y - row) + abs(x - column);
        }
}

/* The mean of the texels of a kept cell that face the neighbour so many columns and rows on. */
static double facing(thumbnail *t, int32_t column, int32_t row, int32_t right, int32_t down,
                     int32_t channel) {
    double sum = 0.0;
    for (int32_t i = 0; i < t->side; ++i) {
        const int32_t x = column * t->side + (right > 0 ? t->side - 1 : right < 0 ? 0 : i);
        const int32_t y = row * t->side + (down > 0 ? t->side - 1 : down < 0 ? 0 : i);
        sum += (double)texel_of(t, x, y)[channel];
    }
    return sum / t->side;
}

static double colour_of(thumbnail *t, int32_t column, int32_t row, int32_t channel) {
    static const int32_t steps[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
    double sum = 0.0;
    int32_t count = 0;
    for (int n = 0; n < 4; ++n) {
        const int32_t x = column + steps[n][0], y = row + steps[n][1];
        if (!is_inside(t, x, y) || t->distance[y][x] >= t->distance[row][column]) continue;
        sum += t->empty[y][x] ? colour_of(t, x, y, channel)
                              : facing(t, x, y, -steps[n][0], -steps[n][1], channel);
        ++count;
    }
    return sum / count;
}

/* Fills a picture of noise, and compares all of it. */
static void compare(thumbnail *t, uint64_t *random) {
    static thumbnail filled;
    tvlm_cell empty[CELLS];
    int32_t count = 0;
    for (size_t i = 0; i < VALUES; ++i) t->picture[i] = test_random_unit(random);
    for (int32_t row = 0; row < t->rows; ++row)
        for (int32_t column = 0; column < t->columns; ++column)
            if (t->empty[row][column]) empty[count++] = (tvlm_cell){column, row};
    filled = *t;
    const tvlm_thumbnail_grid grid = {t->columns, t->rows, t->side, empty, count};
    assert_int_equal(tvlm_thumbnail_fill(&grid, t->channels, filled.picture, NULL), TVLM_OK);
    find_distances(t);
    for (int32_t y = 0; y < t->rows * t->side; ++y)
        for (int32_t x = 0; x < t->columns * t->side; ++x)
            for (int32_t c = 0; c < t->channels; ++c) {
                const int32_t column = x / t->side, row = y / t->side;
                const double expected =
                    t->empty[row][column] ? colour_of(t, column, row, c) : (double)texel_of(t, x, y)[c];
                const double got = (double)texel_of(&filled, x, y)[c];
                assert_true(t->empty[row][column] ? fabs(got - expected) < 1e-6 : got == expected);
            }
}

static void test_definition(void **state) {
    static thumbnail t;
    uint64_t random = 5;
    (void)state;
    for (int n = 0; n < 60; ++n) {
        t.columns = 1 + (int32_t)(test_random(&random) % COLUMNS_MAX);
        t.rows = 1 + (int32_t)(test_random(&random) % ROWS_MAX);
        t.side = 1 + (int32_t)(test_random(&random) % SIDE_MAX);
        t.channels = 1 + (int32_t)(test_random(&random) % CHANNELS_MAX);
        const uint64_t kept = 1 + test_random(&random) % 6; /* one cell in so many */
        for (int32_t row = 0; row < t.rows; ++row)
            for (int32_t column = 0; column < t.columns; ++column)
                t.empty[row][column] = kept > 1 && test_random(&random) % kept != 0;
        t.empty[t.rows / 2][t.columns / 3] = false;
        compare(&t, &random);
    }
}

/* A cell between two others has the mean of the lines that face it; what lies beyond it has its colour. */
static void test_lines(void **state) {
    float picture[2][5 * 2] = {{9, 1, 0, 0, 5, 9, 7, 7, 0, 0}, {9, 3, 0, 0, 7, 9, 7, 7, 0, 0}};
    const tvlm_cell empty[] = {{1, 0}, {3, 0}, {4, 0}};
    (void)state;
    assert_int_equal(tvlm_thumbnail_fill(&(tvlm_thumbnail_grid){5, 1, 2, empty, 3}, 1, picture[0], NULL),
                     TVLM_OK);
    for (int y = 0; y < 2; ++y) {
        assert_true(picture[y][2] == 4.0f && picture[y][3] == 4.0f); /* of 1, 3 and 5, 7 */
        for (int x = 6; x < 10; ++x) assert_true(picture[y][x] == 9.0f);
        assert_true(picture[y][1] == 1.0f + 2.0f * (float)y && picture[y][5] == 9.0f);
    }
}

static int lines;

static void count_line(void *user, tvlm_log_level level, const char *message) {
    (void)user;
    (void)level;
    lines += message[0] != '\0';
}

static const tvlm_log counting = {.write = count_line};

static void test_refusals(void **state) {
    float picture[4] = {1, 2, 3, 4};
    const tvlm_cell all[] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}}, beyond[] = {{2, 0}, {0, -1}};
    const struct {
        tvlm_thumbnail_grid grid;
        int32_t channels;
    } bad[] = {
        {{2, 2, 1, all, 4}, 1},  {{2, 2, 1, beyond, 1}, 1}, {{2, 2, 1, beyond + 1, 1}, 1},
        {{0, 2, 1, all, 1}, 1},  {{2, 0, 1, all, 1}, 1},    {{2, 2, 0, all, 1}, 1},
        {{2, 2, 1, NULL, 1}, 1}, {{2, 2, 1, all, -1}, 1},   {{2, 2, 1, all, 1}, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i)
        assert_int_equal(tvlm_thumbnail_fill(&bad[i].grid, bad[i].channels, picture, &counting),
                         TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_thumbnail_fill(NULL, 1, picture, &counting), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_thumbnail_fill(&bad[0].grid, 1, NULL, &counting), TVLM_ERROR_ARGUMENT);
    assert_int_equal(lines, (int)(sizeof bad / sizeof *bad) + 2); /* each says one */
    assert_int_equal(tvlm_thumbnail_fill(&(tvlm_thumbnail_grid){2, 2, 1, NULL, 0}, 1, picture, &counting),
                     TVLM_OK);
    assert_int_equal(tvlm_thumbnail_fill(NULL, 1, picture, NULL), TVLM_ERROR_ARGUMENT);
    for (int i = 0; i < 4; ++i) assert_true(picture[i] == (float)(i + 1));
}

static char told[256];

static void keep_line(void *user, tvlm_log_level level, const char *message) {
    (void)user;
    (void)level;
    snprintf(told, sizeof told, "%s", message);
}

static const tvlm_log keeping = {.write = keep_line};

static void expect_line(tvlm_thumbnail_grid grid, int32_t channels, const char *line) {
    float picture[6] = {0};
    assert_int_equal(tvlm_thumbnail_fill(&grid, channels, picture, &keeping), TVLM_ERROR_ARGUMENT);
    assert_string_equal(told, line);
}

/* What is wrong is said with its numbers. */
static void test_words(void **state) {
    const tvlm_cell all[] = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}};
    (void)state;
    expect_line((tvlm_thumbnail_grid){0, 2, 1, NULL, 0}, 1,
                "a thumbnail of 0 x 2 cells of 1 texels and 1 channels");
    expect_line((tvlm_thumbnail_grid){3, 0, 1, NULL, 0}, 1,
                "a thumbnail of 3 x 0 cells of 1 texels and 1 channels");
    expect_line((tvlm_thumbnail_grid){3, 2, 0, NULL, 0}, 1,
                "a thumbnail of 3 x 2 cells of 0 texels and 1 channels");
    expect_line((tvlm_thumbnail_grid){3, 2, 1, NULL, 0}, 0,
                "a thumbnail of 3 x 2 cells of 1 texels and 0 channels");
    expect_line((tvlm_thumbnail_grid){3, 2, 1, all, -1}, 1, "-1 empty cells, and no list of them");
    expect_line((tvlm_thumbnail_grid){3, 2, 1, NULL, 1}, 1, "1 empty cells, and no list of them");
    static const tvlm_cell beyond[] = {{3, 0}, {0, 2}, {-1, 0}, {0, -1}};
    static const char *const beside[] = {"an empty cell 3, 0 of a thumbnail of 3 x 2 cells",
                                         "an empty cell 0, 2 of a thumbnail of 3 x 2 cells",
                                         "an empty cell -1, 0 of a thumbnail of 3 x 2 cells",
                                         "an empty cell 0, -1 of a thumbnail of 3 x 2 cells"};
    for (int i = 0; i < 4; ++i) expect_line((tvlm_thumbnail_grid){3, 2, 1, &beyond[i], 1}, 1, beside[i]);
    expect_line((tvlm_thumbnail_grid){3, 2, 1, all, 6}, 1, "all 6 cells of a thumbnail are empty");
    expect_line((tvlm_thumbnail_grid){1, 2, 1, (const tvlm_cell[]){{0, 0}, {0, 1}}, 2}, 1,
                "all 2 cells of a thumbnail are empty");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
