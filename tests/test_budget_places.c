/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget_places.c: how tiles are numbered, which of several over a place counts, what comes across the sides of tiles,
 * and the order in which tiles are chosen one by one, by the definitions of select/budget_tree.h.
 */
#include <math.h>
#include <string.h>

#include "select/budget_tree.h"
#include "support.h"

/* ---- Numbers ---- */

/* The tile of level 0 at a column and row; -1: beyond the image. */
static int32_t tile_at(const tvlm_budget_tree *t, int32_t column, int32_t row) {
    return column < t->columns && row < t->rows ? row * t->columns + column : -1;
}

/* Tile n of level 0 in tile i of level 1 of a root, and what is said of it. */
static void check_place(const tvlm_budget_tree *t, int32_t root, int32_t i, int32_t n) {
    const int32_t column = root % t->root_columns * 4 + i % 2 * 2 + n % 2,
                  row = root / t->root_columns * 4 + i / 2 * 2 + n / 2;
    const int32_t place = n * t->ones + 4 * root + i, tile = tile_at(t, column, row);
    assert_int_equal(t->tile_of[place], tile);
    assert_int_equal(t->one_of[place], 4 * root + i);
    if (tile >= 0) assert_int_equal(t->place_of[tile], place);
    assert_int_equal(tvlm_budget_corner(t, 0, place), tile);
    if (n == 0) assert_int_equal(tvlm_budget_corner(t, 1, 4 * root + i), tile);
    if (n > 0 || i > 0) return;
    assert_int_equal(tvlm_budget_corner(t, 2, root), tile);
    assert_int_equal(tvlm_budget_corner(t, TVLM_BUDGET_NINE, root), tile);
}

/* Tile k of level 0 in third i of a block. */
static void check_spot(const tvlm_budget_tree *t, int32_t block, int32_t i, int32_t k) {
    const int32_t column = block % t->block_columns * 12 + i % 4 * 3 + k % 3,
                  row = block / t->block_columns * 12 + i / 4 * 3 + k / 3;
    const int32_t third = 16 * block + i, tile = tile_at(t, column, row);
    if (k == 0) assert_int_equal(tvlm_budget_corner(t, TVLM_BUDGET_THIRD, third), tile);
    if (tile < 0) return;
    assert_int_equal(t->third_of[t->place_of[tile]], third);
    assert_int_equal(t->spot_of[t->place_of[tile]], k * t->thirds + third);
}

static void test_numbers(void **state) {
    static const int32_t sizes[][2] = {{1, 1},   {4, 4},   {5, 4},   {4, 5},  {12, 12},
                                       {13, 12}, {12, 13}, {26, 14}, {9, 37}, {3, 50}};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
        const int32_t columns = sizes[s][0], rows = sizes[s][1];
        const int32_t roots = (int32_t)(ceil(columns / 4.0) * ceil(rows / 4.0)),
                      blocks = (int32_t)(ceil(columns / 12.0) * ceil(rows / 12.0));
        tvlm_budget_tree t;
        assert_true(tvlm_budget_tree_make(columns, rows, &t));
        assert_true(t.columns == columns && t.rows == rows && t.roots == roots && t.blocks == blocks);
        assert_true(t.ones == 4 * roots && t.places == 16 * roots && t.thirds == 16 * blocks &&
                    t.spots == 144 * blocks);
        assert_true(t.root_columns == (int32_t)ceil(columns / 4.0) && t.root_columns * t.root_rows == roots);
        assert_int_equal(t.block_columns, (int32_t)ceil(columns / 12.0));
        assert_int_equal(tvlm_budget_kind_count(&t, 0), t.places);
        assert_int_equal(tvlm_budget_kind_count(&t, 1), t.ones);
        assert_int_equal(tvlm_budget_kind_count(&t, 2), roots);
        assert_int_equal(tvlm_budget_kind_count(&t, TVLM_BUDGET_NINE), roots);
        assert_int_equal(tvlm_budget_kind_count(&t, TVLM_BUDGET_THIRD), t.thirds);
        for (int32_t place = 0; place < t.places; ++place)
            check_place(&t, place / 16, place / 4 % 4, place % 4);
        for (int32_t spot = 0; spot < t.spots; ++spot) check_spot(&t, spot / 144, spot / 9 % 16, spot % 9);
        tvlm_budget_tree_free(&t);
    }
}

/* ---- Losses that are given ---- */

/* Choices over an image, and losses of each kind that are the same at every tile. */
typedef struct even {
    tvlm_budget_tree tree;
    tvlm_budget_choice choice;
    tvlm_budget_losses losses;
    float *memory;
} even;

enum { UNDER, ONE, TWO, NINE, THIRD };

static float *row_of(even *e, int kind) {
    return e->memory + (ptrdiff_t)kind * e->tree.places;
}

/* What is lost of each tile in the image: under all tiles, on those of level 1, of level 2, on nines and on thirds. */
static even even_of(int32_t columns, int32_t rows, const float lost[5]) {
    even e;
    memset(&e, 0, sizeof e);
    assert_true(tvlm_budget_tree_make(columns, rows, &e.tree));
    assert_true(tvlm_budget_choice_make(&e.tree, &e.choice));
    e.memory = calloc(5 * (size_t)e.tree.places, sizeof *e.memory);
    assert_non_null(e.memory);
    for (int32_t i = 0; i < e.tree.places; ++i)
        for (int kind = 0; kind < 5; ++kind)
            if (e.tree.tile_of[i] >= 0) row_of(&e, kind)[i] = lost[kind];
    e.losses = (tvlm_budget_losses){.under = row_of(&e, UNDER),
                                    .one = row_of(&e, ONE),
                                    .two = row_of(&e, TWO),
                                    .nine = row_of(&e, NINE),
                                    .third = row_of(&e, THIRD),
                                    .levels = 3};
    return e;
}

static void free_even(even *e) {
    tvlm_budget_choice_free(&e->choice);
    tvlm_budget_tree_free(&e->tree);
    free(e->memory);
}

/* The number of the tile of a kind over a column and row. */
static int32_t number_over(const even *e, int kind, int32_t column, int32_t row) {
    const int32_t place = e->tree.place_of[row * e->tree.columns + column];
    return kind == 0                   ? place
           : kind == 1                 ? e->tree.one_of[place]
           : kind == TVLM_BUDGET_THIRD ? e->tree.third_of[place]
                                       : e->tree.one_of[place] / 4;
}

static void choose(even *e, int kind, int32_t column, int32_t row) {
    e->choice.chosen[kind][number_over(e, kind, column, row)] = 1;
    e->choice.count += kind == TVLM_BUDGET_NINE ? 9 : 1;
}

static void expect_lost(even *e, double lost) {
    const double got = tvlm_budget_lost(&e->tree, &e->losses, &e->choice);
    if (!(fabs(got - lost) < 1e-5)) fail_msg("%.6f is lost, not %.6f", got, lost);
    tvlm_budget_choice_clear(&e->choice);
}

/* ---- Which tile counts ---- */

/* The finest: of level 0, a nine, level 1, a third, level 2. */
static void test_finest(void **state) {
    static const int kinds[] = {0, TVLM_BUDGET_NINE, 1, TVLM_BUDGET_THIRD, 2};
    static const float lost[] = {64.0f, 4.0f, 16.0f, 1.0f, 8.0f};
    static const double own[] = {0.0, 1.0, 4.0, 8.0, 16.0, 64.0};
    even e = even_of(1, 1, lost);
    (void)state;
    for (int first = 0; first <= 5; ++first) {
        tvlm_budget_choice_clear(&e.choice);
        for (int i = first; i < 5; ++i) choose(&e, kinds[i], 0, 0);
        assert_int_equal(tvlm_budget_kind_at(&e.tree, &e.choice, 0), first < 5 ? kinds[first] : -1);
        expect_lost(&e, own[first]);
    }
    free_even(&e);
}

/* A choice lies in one piece of memory, which is all that clearing it clears. */
static void test_choice(void **state) {
    even e = even_of(26, 14, (const float[]){1.0f, 1.0f, 1.0f, 1.0f, 1.0f});
    (void)state;
    size_t bytes = 0;
    for (int kind = 0; kind < TVLM_BUDGET_KINDS; ++kind) {
        assert_true(e.choice.chosen[kind] == e.choice.chosen[0] + bytes);
        bytes += (size_t)tvlm_budget_kind_count(&e.tree, kind);
    }
    assert_int_equal(e.choice.bytes, bytes);
    assert_int_equal(e.choice.count, 0);
    free_even(&e);
}

/* ---- What comes across the sides ---- */

static const float one_each[] = {1.0f, 0.0f, 0.0f, 0.0f, 0.0f};

/* One tile, which loses nothing of its own, on an image that loses 1 of each tile: what is left, and what comes across as many
 * sides of tiles of level 0 as are in the image. */
static void check_across(int kind, int32_t columns, int32_t rows, int32_t column, int32_t row,
                         int32_t covered, int32_t sides) {
    static const double across[] = {0.0, 0.0084, 0.014, 0.0056, 0.011};
    even e = even_of(columns, rows, one_each);
    choose(&e, kind, column, row);
    expect_lost(&e, columns * rows - covered + across[kind] * sides);
    free_even(&e);
}

static void test_across(void **state) {
    (void)state;
    check_across(0, 12, 12, 5, 5, 1, 0);
    check_across(1, 12, 12, 4, 4, 4, 8);
    check_across(1, 12, 12, 0, 0, 4, 4);
    check_across(1, 12, 12, 11, 11, 4, 4);
    check_across(1, 12, 12, 10, 5, 4, 6);
    check_across(2, 12, 12, 5, 5, 16, 16);
    check_across(2, 12, 12, 0, 5, 16, 12);
    check_across(2, 12, 12, 5, 11, 16, 12);
    check_across(TVLM_BUDGET_NINE, 12, 12, 5, 5, 16, 16);
    check_across(TVLM_BUDGET_NINE, 12, 12, 11, 0, 16, 8);
    check_across(TVLM_BUDGET_THIRD, 12, 12, 4, 4, 9, 12);
    check_across(TVLM_BUDGET_THIRD, 12, 12, 0, 10, 9, 6);
    /* Parts of the tile lie beyond the image. */
    check_across(1, 5, 5, 4, 4, 1, 2);
    check_across(1, 5, 4, 4, 0, 2, 3);
    check_across(2, 5, 4, 4, 0, 4, 4);
    check_across(2, 4, 5, 0, 4, 4, 4);
    check_across(2, 6, 7, 4, 4, 6, 5);
}

/* Nothing comes from a tile of the same kind; from a coarser one what that loses, and through finer ones as if they were
 * not there. */
static void test_beside_others(void **state) {
    static const float lost[] = {1.0f, 0.5f, 0.25f, 0.125f, 0.0625f};
    (void)state;
    even e = even_of(12, 12, lost);
    choose(&e, 1, 4, 4);
    choose(&e, 1, 6, 4);
    expect_lost(&e, 144.0 - 8.0 * 0.5 + 0.0084 * 12.0);
    choose(&e, 1, 2, 4);
    choose(&e, 2, 4, 4);
    expect_lost(&e, 144.0 - 4.0 * 0.5 - 16.0 * 0.75 + 0.0084 * (6.0 + 2.0 * 0.25) + 0.014 * 16.0);
    choose(&e, 1, 4, 4);
    choose(&e, 0, 3, 4);
    expect_lost(&e, 144.0 - 4.0 * 0.5 - 1.0 + 0.0084 * 8.0);
    choose(&e, TVLM_BUDGET_NINE, 0, 0);
    choose(&e, 1, 4, 0);
    expect_lost(&e, 144.0 - 16.0 * 0.875 - 4.0 * 0.5 + 0.0084 * 6.0 + 0.0056 * (6.0 + 2.0 * 0.5));
    free_even(&e);
}

/* ---- One by one ---- */

/* Whether these tiles of a kind are chosen, and no others of it. */
static void expect_chosen(const even *e, int kind, const int32_t *corners, int count) {
    int all = 0;
    for (int32_t i = 0; i < tvlm_budget_kind_count(&e->tree, kind); ++i) all += e->choice.chosen[kind][i];
    assert_int_equal(all, count);
    for (int i = 0; i < count; ++i)
        assert_int_equal(e->choice.chosen[kind][number_over(e, kind, corners[i] % e->tree.columns,
                                                            corners[i] / e->tree.columns)],
                         1);
}

static void fill(even *e, int32_t n) {
    assert_true(tvlm_budget_fill(&e->tree, &e->losses, n, &e->choice));
    assert_int_equal(e->choice.count, n);
}

/* Of equal gains the finest, and of those the first in the image, row after row. */
static void test_equal_gains(void **state) {
    /* A tile of level 0 gains 4, one of level 1 four times 1, one of level 2 sixteen times a quarter. */
    even e = even_of(8, 8, (const float[]){4.0f, 3.0f, 3.75f, 4.0f, 4.0f});
    (void)state;
    fill(&e, 5);
    expect_chosen(&e, 0, (const int32_t[]){0, 1, 2, 3, 4}, 5);
    free_even(&e);
    e = even_of(8, 8, (const float[]){4.0f, 0.0f, 3.0f, 4.0f, 4.0f}); /* 4, 16, 16 */
    fill(&e, 6);
    expect_chosen(&e, 0, NULL, 0);
    expect_chosen(&e, 1, (const int32_t[]){0, 2, 4, 6, 16, 18}, 6);
    expect_chosen(&e, 2, NULL, 0);
    free_even(&e);
}

/* A gain becomes less once a tile around it or in it is chosen; what a choice has already is kept. */
static void test_gains(void **state) {
    /* 8, 28, 96: the tile of level 2 first, then those of level 1 on it, which gain 4, or of level 0, which gain 2; those beside
     * gain 28 and 8. */
    even e = even_of(6, 4, (const float[]){8.0f, 1.0f, 2.0f, 8.0f, 8.0f});
    (void)state;
    fill(&e, 1);
    expect_chosen(&e, 2, (const int32_t[]){0}, 1);
    fill(&e, 2); /* the other tile of level 2 has eight tiles in the image, and gains 48 */
    expect_chosen(&e, 2, (const int32_t[]){0, 4}, 2);
    fill(&e, 4);
    expect_chosen(&e, 1, (const int32_t[]){0, 2}, 2);
    fill(&e, 4); /* there are so many already */
    fill(&e, 9);
    expect_chosen(&e, 1, (const int32_t[]){0, 2, 4, 12, 14, 16}, 6);
    expect_chosen(&e, 0, (const int32_t[]){0}, 1);
    free_even(&e);
}

/* A nine takes nine patches or none; a third that lies across the border is none. */
static void test_nines_and_thirds(void **state) {
    even e = even_of(8, 4, (const float[]){9.0f, 9.0f, 9.0f, 0.0f, 9.0f}); /* a nine gains 16 a patch */
    (void)state;
    fill(&e, 8);
    expect_chosen(&e, 0, (const int32_t[]){0, 1, 2, 3, 4, 5, 6, 7}, 8);
    tvlm_budget_choice_clear(&e.choice);
    fill(&e, 10);
    expect_chosen(&e, TVLM_BUDGET_NINE, (const int32_t[]){0}, 1);
    expect_chosen(&e, 0, (const int32_t[]){4}, 1);
    free_even(&e);
    e = even_of(7, 8, (const float[]){9.0f, 9.0f, 9.0f, 9.0f, 0.0f});
    fill(&e, 5);
    expect_chosen(&e, TVLM_BUDGET_THIRD, (const int32_t[]){0, 3, 21, 24}, 4);
    expect_chosen(&e, 0, (const int32_t[]){6}, 1);
    free_even(&e);
    e = even_of(6, 7, (const float[]){9.0f, 9.0f, 9.0f, 9.0f, 0.0f});
    fill(&e, 4);
    expect_chosen(&e, TVLM_BUDGET_THIRD, (const int32_t[]){0, 3, 18, 21}, 4);
    e.losses.levels = 1; /* then there are neither nines nor thirds */
    tvlm_budget_choice_clear(&e.choice);
    fill(&e, 2);
    expect_chosen(&e, 0, (const int32_t[]){0, 1}, 2);
    free_even(&e);
}

/* A third in the corner of an image that is too small for it is none either. */
static void test_too_small(void **state) {
    static const int32_t sizes[][2] = {{2, 3}, {3, 2}, {2, 2}};
    (void)state;
    for (int i = 0; i < 3; ++i) {
        even e = even_of(sizes[i][0], sizes[i][1], (const float[]){9.0f, 9.0f, 9.0f, 9.0f, 0.0f});
        fill(&e, 2);
        expect_chosen(&e, TVLM_BUDGET_THIRD, NULL, 0);
        expect_chosen(&e, 0, (const int32_t[]){0, 1}, 2);
        free_even(&e);
    }
}

static void expect_tile(const even *e, const tvlm_budget_tile *t, int32_t kind, int32_t corner, double gain,
                        double before, double after) {
    assert_int_equal(t->level, kind);
    assert_int_equal(t->corner, corner);
    assert_int_equal(t->number, number_over(e, kind, corner % e->tree.columns, corner / e->tree.columns));
    if (!(fabs(t->gain - gain) < 1e-5 && fabs(t->before - before) < 1e-5 && fabs(t->after - after) < 1e-5))
        fail_msg("kind %d at %d: %g, of %g to %g", (int)kind, (int)corner, t->gain, t->before, t->after);
}

/* Of a choice: by what each gains beside those before it. What its square loses is with all coarser tiles of the choice. */
static void test_order(void **state) {
    tvlm_budget_tile order[16];
    even e = even_of(12, 4, (const float[]){9.0f, 4.0f, 6.0f, 0.0f, 5.0f});
    (void)state;
    choose(&e, 2, 0, 0);
    choose(&e, 1, 2, 2);
    choose(&e, 0, 0, 0);
    choose(&e, 0, 3, 3);
    choose(&e, 0, 5, 0);
    choose(&e, TVLM_BUDGET_NINE, 8, 0);
    assert_true(tvlm_budget_order(&e.tree, &e.losses, &e.choice, order));
    expect_tile(&e, &order[0], 2, 0, 48.0, 144.0, 96.0);
    expect_tile(&e, &order[1], TVLM_BUDGET_NINE, 8, 16.0, 16.0, 0.0);
    expect_tile(&e, &order[2], 0, 5, 9.0, 9.0, 0.0);
    expect_tile(&e, &order[3], 1, 26, 8.0, 24.0, 16.0);
    expect_tile(&e, &order[4], 0, 0, 6.0, 6.0, 0.0);
    expect_tile(&e, &order[5], 0, 39, 4.0, 4.0, 0.0);
    free_even(&e);
    e = even_of(6, 3, (const float[]){9.0f, 4.0f, 6.0f, 0.0f, 5.0f});
    choose(&e, TVLM_BUDGET_THIRD, 3, 0);
    choose(&e, 0, 5, 2);
    assert_true(tvlm_budget_order(&e.tree, &e.losses, &e.choice, order));
    expect_tile(&e, &order[0], TVLM_BUDGET_THIRD, 3, 36.0, 81.0, 45.0);
    expect_tile(&e, &order[1], 0, 17, 5.0, 5.0, 0.0);
    free_even(&e);
}

/* What a tile gains is added up over its own tiles of level 0, each of which loses another power of 2. */
static void test_squares(void **state) {
    static const int kinds[] = {1, 2, TVLM_BUDGET_NINE, TVLM_BUDGET_THIRD}, sides[] = {2, 4, 4, 3},
                     patches[] = {1, 1, 9, 1};
    (void)state;
    for (int k = 0; k < 4; ++k) {
        even e = even_of(12, 12, (const float[]){0.0f, 0.0f, 0.0f, 0.0f, 0.0f});
        const int32_t column = 12 / sides[k] / 2 * sides[k], row = sides[k];
        tvlm_budget_tile order[9];
        for (int i = 0; i < sides[k] * sides[k]; ++i) {
            const int32_t tile = (row + i / sides[k]) * 12 + column + i % sides[k];
            row_of(&e, UNDER)[e.tree.place_of[tile]] = ldexpf(1.0f, i);
        }
        row_of(&e, UNDER)[e.tree.place_of[row * 12 + column - 1]] = 1e6f; /* beside it */
        choose(&e, kinds[k], column, row);
        assert_true(tvlm_budget_order(&e.tree, &e.losses, &e.choice, order));
        const double all = ldexp(1.0, sides[k] * sides[k]) - 1.0;
        expect_tile(&e, &order[0], kinds[k], row * 12 + column, all / patches[k], all / patches[k], 0.0);
        free_even(&e);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_finest),
        cmocka_unit_test(test_choice),      cmocka_unit_test(test_across),
        cmocka_unit_test(test_equal_gains), cmocka_unit_test(test_beside_others),
        cmocka_unit_test(test_gains),       cmocka_unit_test(test_nines_and_thirds),
        cmocka_unit_test(test_order),       cmocka_unit_test(test_too_small),
        cmocka_unit_test(test_squares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
