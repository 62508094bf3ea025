/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget_buy.c: which tiles are worth a price (select/budget_tree.h), against the least cost of each square by its
 * definition; and the prices at which the wanted number of tiles is bought, or a bound is the best one.
 */
#include <math.h>
#include <string.h>

#include "select/budget_tree.h"
#include "support.h"

enum { UNDER, ONE, TWO, NINE, THIRD, KINDS };

/* An image, what it loses at places, and a choice. */
typedef struct image {
    tvlm_budget_tree tree;
    tvlm_budget_choice choice;
    tvlm_budget_losses losses;
    float *memory;
} image;

static float *row_of(const image *m, int kind) {
    return m->memory + (ptrdiff_t)kind * m->tree.places;
}

static int32_t place_of(const image *m, int32_t column, int32_t row) {
    return m->tree.place_of[row * m->tree.columns + column];
}

static float lost_at(const image *m, int kind, int32_t column, int32_t row) {
    return row_of(m, kind)[place_of(m, column, row)];
}

static image make_image(int32_t columns, int32_t rows) {
    image m;
    memset(&m, 0, sizeof m);
    assert_true(tvlm_budget_tree_make(columns, rows, &m.tree));
    assert_true(tvlm_budget_choice_make(&m.tree, &m.choice));
    m.memory = calloc(KINDS * (size_t)m.tree.places + 2 * (size_t)m.tree.spots, sizeof *m.memory);
    assert_non_null(m.memory);
    return m;
}

static void free_image(image *m) {
    tvlm_budget_choice_free(&m->choice);
    tvlm_budget_tree_free(&m->tree);
    free(m->memory);
}

/* Lets the losses be seen: what lies in no whole nine or third becomes TVLM_BUDGET_NEVER there, and spots are filled in. */
static void show(image *m, int32_t levels, bool nines, bool thirds) {
    float *const third_spots = row_of(m, KINDS), *const under_spots = third_spots + m->tree.spots;
    for (int32_t i = 0; i < m->tree.places; ++i) {
        const int32_t tile = m->tree.tile_of[i], columns = m->tree.columns, rows = m->tree.rows;
        if (tile < 0 || tile % columns / 4 * 4 + 4 > columns || tile / columns / 4 * 4 + 4 > rows)
            row_of(m, NINE)[i] = TVLM_BUDGET_NEVER;
        if (tile < 0 || tile % columns / 3 * 3 + 3 > columns || tile / columns / 3 * 3 + 3 > rows)
            row_of(m, THIRD)[i] = TVLM_BUDGET_NEVER;
    }
    for (int32_t i = 0; i < m->tree.places; ++i) {
        third_spots[m->tree.spot_of[i]] = row_of(m, THIRD)[i];
        under_spots[m->tree.spot_of[i]] = row_of(m, UNDER)[i];
    }
    m->losses = (tvlm_budget_losses){.under = row_of(m, UNDER),
                                     .one = row_of(m, ONE),
                                     .two = row_of(m, TWO),
                                     .nine = nines ? row_of(m, NINE) : NULL,
                                     .third = thirds ? row_of(m, THIRD) : NULL,
                                     .third_spots = thirds ? third_spots : NULL,
                                     .under_spots = thirds ? under_spots : NULL,
                                     .levels = levels};
}

/* The same for every tile in the image. */
static image even_image(int32_t columns, int32_t rows, const float lost[KINDS]) {
    image m = make_image(columns, rows);
    for (int32_t i = 0; i < m.tree.places; ++i)
        for (int kind = 0; kind < KINDS; ++kind)
            if (m.tree.tile_of[i] >= 0) row_of(&m, kind)[i] = lost[kind];
    return m;
}

static int count_of(const image *m, int kind) {
    int sum = 0;
    for (int32_t i = 0; i < tvlm_budget_kind_count(&m->tree, kind); ++i) sum += m->choice.chosen[kind][i];
    return sum;
}

/* ---- At a price ---- */

/* How many tiles of each kind are bought. */
static void expect_bought(image *m, double price, int zero, int one, int two, int nine, int third) {
    tvlm_budget_buy(&m->tree, &m->losses, price, &m->choice);
    assert_int_equal(count_of(m, 0), zero);
    assert_int_equal(count_of(m, 1), one);
    assert_int_equal(count_of(m, 2), two);
    assert_int_equal(count_of(m, TVLM_BUDGET_NINE), nine);
    assert_int_equal(count_of(m, TVLM_BUDGET_THIRD), third);
    assert_int_equal(m->choice.count, zero + one + two + 9 * nine + third);
}

/* A tile that gains as much as it costs is not bought; one that gains more is. All numbers are exact. */
static void test_ties(void **state) {
    (void)state;
    image m = even_image(8, 4, (const float[]){2.0f, 2.0f, 2.0f, 2.0f, 2.0f});
    show(&m, 1, false, false);
    expect_bought(&m, 2.0, 0, 0, 0, 0, 0);
    expect_bought(&m, 1.75, 32, 0, 0, 0, 0);
    free_image(&m);
    m = even_image(8, 4, (const float[]){2.0f, 0.0f, 2.0f, 2.0f, 2.0f});
    show(&m, 2, false, false);
    expect_bought(&m, 8.0, 0, 0, 0, 0, 0);
    expect_bought(&m, 7.75, 0, 8, 0, 0, 0);
    show(&m, 1, false, false);
    expect_bought(&m, 7.75, 0, 0, 0, 0, 0);
    free_image(&m);
    m = even_image(8, 4, (const float[]){2.0f, 2.0f, 0.0f, 2.0f, 2.0f});
    show(&m, 3, false, false);
    expect_bought(&m, 32.0, 0, 0, 0, 0, 0);
    expect_bought(&m, 31.75, 0, 0, 2, 0, 0);
    show(&m, 2, false, false);
    expect_bought(&m, 31.75, 0, 0, 0, 0, 0);
    free_image(&m);
    m = even_image(8, 4, (const float[]){2.25f, 2.25f, 2.25f, 0.0f, 2.25f});
    show(&m, 3, true, false);
    expect_bought(&m, 4.0, 0, 0, 0, 0, 0);
    expect_bought(&m, 3.75, 0, 0, 0, 2, 0);
    show(&m, 3, false, false);
    expect_bought(&m, 3.75, 0, 0, 0, 0, 0);
    free_image(&m);
    m = even_image(9, 6, (const float[]){2.0f, 2.0f, 2.0f, 2.0f, 0.0f});
    show(&m, 2, false, true);
    expect_bought(&m, 18.0, 0, 0, 0, 0, 0);
    expect_bought(&m, 17.75, 0, 0, 0, 0, 6);
    show(&m, 1, false, true);
    expect_bought(&m, 17.75, 0, 0, 0, 0, 0);
    free_image(&m);
}

/* Where two ways cost the same, that with fewer kinds is taken: level 1 before level 2, both before nines, and all before
 * thirds. */
static void test_equal_ways(void **state) {
    (void)state;
    image m = even_image(4, 4, (const float[]){8.0f, 1.0f, 1.75f, 8.0f, 8.0f});
    show(&m, 3, false, false); /* four tiles of level 1: 16 + 4 * 4; one of level 2: 28 + 4 */
    expect_bought(&m, 4.0, 0, 4, 0, 0, 0);
    expect_bought(&m, 4.25, 0, 0, 1, 0, 0);
    free_image(&m);
    m = even_image(4, 4, (const float[]){9.0f, 9.0f, 2.0f, 0.0f, 9.0f});
    show(&m, 3, true, false); /* one of level 2: 32 + 4; a nine: 9 * 4 */
    expect_bought(&m, 4.0, 0, 0, 1, 0, 0);
    expect_bought(&m, 3.75, 0, 0, 0, 1, 0);
    free_image(&m);
    m = even_image(12, 12, (const float[]){9.0f, 9.0f, 1.75f, 9.0f, 0.0f});
    show(&m, 3, false, true); /* nine of level 2: 252 + 9 * 36; sixteen thirds: 16 * 36 */
    expect_bought(&m, 36.0, 0, 0, 9, 0, 0);
    expect_bought(&m, 35.75, 0, 0, 0, 0, 16);
    free_image(&m);
}

/* The same in a block that has thirds: of a third that gains as much as it costs, and of a tile on it and one beside it that lose
 * as much as they cost, none is bought. */
static void test_ties_beside_thirds(void **state) {
    (void)state;
    image m = even_image(9, 6, (const float[]){2.0f, 2.0f, 2.0f, 2.0f, 0.0f});
    for (int i = 0; i < 9; ++i) row_of(&m, UNDER)[place_of(&m, i % 3, i / 3)] = 20.0f;
    show(&m, 2, false, true);
    expect_bought(&m, 18.0, 0, 0, 0, 0, 1);
    assert_int_equal(m.choice.chosen[TVLM_BUDGET_THIRD][0], 1);
    row_of(&m, THIRD)[place_of(&m, 1, 1)] = 18.0f; /* on it */
    row_of(&m, UNDER)[place_of(&m, 7, 4)] = 18.0f; /* beside it: the third there is not worth its price */
    for (int i = 0; i < 9; ++i) row_of(&m, THIRD)[place_of(&m, 6 + i % 3, 3 + i / 3)] = 2.0f;
    show(&m, 2, false, true);
    expect_bought(&m, 18.0, 0, 0, 0, 0, 1);
    expect_bought(&m, 17.75, 2, 0, 0, 0, 5);
    free_image(&m);
}

/* ---- The least cost, by its definition ---- */

/* Of the tiles of level 0 of a square, cut off by the border: each is bought, or what is beneath it is lost. */
static double leaves_cost(const image *m, int kind, int32_t column, int32_t row, int32_t side, double price) {
    double sum = 0.0;
    for (int32_t y = row; y < row + side && y < m->tree.rows; ++y)
        for (int32_t x = column; x < column + side && x < m->tree.columns; ++x)
            sum += fmin((double)lost_at(m, kind, x, y), price);
    return sum;
}

static double root_cost(const image *m, int32_t column, int32_t row, double price) {
    const bool whole = column + 4 <= m->tree.columns && row + 4 <= m->tree.rows;
    double on_picture = 0.0, on_two = price;
    for (int i = 0; i < 4; ++i) {
        const int32_t x = column + i % 2 * 2, y = row + i / 2 * 2;
        const double one =
            m->losses.levels > 1 ? price + leaves_cost(m, ONE, x, y, 2, price) : (double)INFINITY;
        on_picture += fmin(one, leaves_cost(m, UNDER, x, y, 2, price));
        on_two += fmin(one, leaves_cost(m, TWO, x, y, 2, price));
    }
    double least = m->losses.levels > 2 ? fmin(on_picture, on_two) : on_picture;
    if (m->losses.nine != NULL && whole)
        least = fmin(least, 9.0 * price + leaves_cost(m, NINE, column, row, 4, price));
    return least;
}

static double block_cost(const image *m, int32_t column, int32_t row, double price) {
    double roots = 0.0, thirds = 0.0;
    for (int32_t y = row; y < row + 12 && y < m->tree.rows; y += 4)
        for (int32_t x = column; x < column + 12 && x < m->tree.columns; x += 4)
            roots += root_cost(m, x, y, price);
    for (int32_t y = row; y < row + 12 && y < m->tree.rows; y += 3)
        for (int32_t x = column; x < column + 12 && x < m->tree.columns; x += 3) {
            const bool whole = x + 3 <= m->tree.columns && y + 3 <= m->tree.rows;
            const double under = leaves_cost(m, UNDER, x, y, 3, price);
            thirds += whole ? fmin(under, price + leaves_cost(m, THIRD, x, y, 3, price)) : under;
        }
    return m->losses.third != NULL && m->losses.levels > 1 ? fmin(roots, thirds) : roots;
}

static double least_cost(const image *m, double price) {
    double sum = 0.0;
    for (int32_t y = 0; y < m->tree.rows; y += 12)
        for (int32_t x = 0; x < m->tree.columns; x += 12) sum += block_cost(m, x, y, price);
    return sum;
}

/* What the choice loses, without what comes across sides, and pays. */
static double cost_of_choice(const image *m, double price) {
    double sum = price * (count_of(m, 0) + count_of(m, 1) + count_of(m, 2) +
                          9 * count_of(m, TVLM_BUDGET_NINE) + count_of(m, TVLM_BUDGET_THIRD));
    for (int32_t y = 0; y < m->tree.rows; ++y)
        for (int32_t x = 0; x < m->tree.columns; ++x) {
            const int32_t place = place_of(m, x, y), kind = tvlm_budget_kind_at(&m->tree, &m->choice, place);
            sum += kind == 0                   ? 0.0
                   : kind == 1                 ? (double)lost_at(m, ONE, x, y)
                   : kind == 2                 ? (double)lost_at(m, TWO, x, y)
                   : kind == TVLM_BUDGET_NINE  ? (double)lost_at(m, NINE, x, y)
                   : kind == TVLM_BUDGET_THIRD ? (double)lost_at(m, THIRD, x, y)
                                               : (double)lost_at(m, UNDER, x, y);
        }
    return sum;
}

/* Losses of areas as large as roots or thirds are alike, so that each kind of tile is the best somewhere. */
static void draw(image *m, uint64_t *random) {
    float areas[16][16];
    for (int i = 0; i < 256; ++i) areas[i / 16][i % 16] = 1.0f + (float)(test_random(random) % 100);
    for (int32_t y = 0; y < m->tree.rows; ++y)
        for (int32_t x = 0; x < m->tree.columns; ++x) {
            const int32_t place = place_of(m, x, y);
            const float own = areas[y / 12][x / 12] * test_random_unit(random) *
                              (test_random(random) % 5 == 0 ? 4.0f : 1.0f);
            const float one = areas[15 - y / 2][15 - x / 2], two = areas[y / 4 + 4][x / 4 + 4];
            row_of(m, UNDER)[place] = own;
            row_of(m, ONE)[place] = own * (0.1f + 0.004f * one);
            row_of(m, TWO)[place] = own * (0.3f + 0.005f * two);
            row_of(m, NINE)[place] = own * 0.001f * two;
            row_of(m, THIRD)[place] = own * (0.1f + 0.006f * areas[15 - y / 12][x / 12]);
        }
}

static void check_costs(image *m, int kinds[TVLM_BUDGET_KINDS]) {
    for (double price = 0.5; price < 1000.0; price *= 1.3) {
        tvlm_budget_buy(&m->tree, &m->losses, price, &m->choice);
        const double least = least_cost(m, price), cost = cost_of_choice(m, price);
        if (!(fabs(cost - least) < 1e-5 * least))
            fail_msg("%dx%d, %d levels, a price of %g: %g, not %g", (int)m->tree.columns, (int)m->tree.rows,
                     (int)m->losses.levels, price, cost, least);
        int patches = 0;
        for (int kind = 0; kind < TVLM_BUDGET_KINDS; ++kind) {
            kinds[kind] += count_of(m, kind);
            patches += count_of(m, kind) * (kind == TVLM_BUDGET_NINE ? 9 : 1);
        }
        assert_int_equal(m->choice.count, patches);
    }
}

static void test_least_cost(void **state) {
    static const int32_t sizes[][2] = {{26, 14}, {12, 12}, {25, 13}, {7, 30}, {3, 2}};
    uint64_t random = 17;
    int kinds[TVLM_BUDGET_KINDS] = {0};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
        for (int round = 0; round < 6; ++round) {
            image m = make_image(sizes[s][0], sizes[s][1]);
            draw(&m, &random);
            for (int32_t levels = 1; levels <= 3; ++levels) {
                show(&m, levels, levels > 1 && round % 2 == 0, levels > 1 && round % 3 > 0);
                check_costs(&m, kinds);
            }
            free_image(&m);
        }
    for (int kind = 0; kind < TVLM_BUDGET_KINDS; ++kind)
        if (kinds[kind] < 100) fail_msg("only %d tiles of kind %d", kinds[kind], kind);
}

/* ---- Prices ---- */

/* Nothing is bought at the highest price: not of a root that loses all, nor of a third that lies in four roots. */
static void test_highest(void **state) {
    (void)state;
    image m = make_image(12, 8);
    for (int i = 0; i < 16; ++i) row_of(&m, UNDER)[place_of(&m, 8 + i % 4, 4 + i / 4)] = 1.0f + (float)i;
    show(&m, 3, false, false);
    const double price = tvlm_budget_highest_price(&m.tree, &m.losses);
    expect_bought(&m, price, 0, 0, 0, 0, 0);
    assert_true(price >= 136.0 && price < 136.01); /* 1 + 2 + ... + 16 */
    expect_bought(&m, 135.99, 0, 0, 1, 0, 0);
    free_image(&m);
    m = make_image(12, 12);
    for (int i = 0; i < 9; ++i) row_of(&m, UNDER)[place_of(&m, 3 + i % 3, 3 + i / 3)] = 1.0f;
    for (int i = 0; i < 144; ++i) row_of(&m, ONE)[i] = row_of(&m, TWO)[i] = 9.0f;
    show(&m, 3, false, true);
    expect_bought(&m, tvlm_budget_highest_price(&m.tree, &m.losses), 0, 0, 0, 0, 0);
    expect_bought(&m, 8.99, 0, 0, 0, 0, 1);
    free_image(&m);
    m = make_image(4, 4);
    show(&m, 3, false, false);
    const double none = tvlm_budget_highest_price(&m.tree, &m.losses);
    assert_true(none > 0.0 && none < 1e-30); /* where nothing is lost, too */
    free_image(&m);
}

enum { SIDE = 48, TILES = SIDE * SIDE };

/* Tiles of level 0, each of which loses a 167th more than another: from 1 to a million, in any order. (Prices that differ by a
 * 250th are taken as equal.) */
static image spread_image(void) {
    image m = make_image(SIDE, SIDE);
    for (int i = 0; i < TILES; ++i)
        row_of(&m, UNDER)[place_of(&m, i % SIDE, i / SIDE)] =
            powf(1e6f, (float)(i * 1237 % TILES) / (float)TILES);
    show(&m, 1, false, false);
    return m;
}

/* At most a 256th of the tiles are missing, whatever price is guessed; and the price that comes back is that at which they are
 * bought. */
static void test_wanted(void **state) {
    static const double guesses[] = {0.0, 1e-20, 0.5, 30.0, 1e20};
    image m = spread_image();
    (void)state;
    for (size_t i = 0; i < sizeof guesses / sizeof *guesses; ++i)
        for (int32_t n = 1; n <= TILES; n = n * 3 / 2 + 1) {
            double price = guesses[i];
            tvlm_budget_choose(&m.tree, &m.losses, n, &price, &m.choice);
            if (m.choice.count > n || m.choice.count < n - n / 256)
                fail_msg("%d of %d, after a guess of %g", (int)m.choice.count, (int)n, guesses[i]);
            const int32_t count = m.choice.count;
            tvlm_budget_buy(&m.tree, &m.losses, price, &m.choice);
            assert_int_equal(m.choice.count, count);
        }
    double price = 3.0;
    for (int32_t n = 0; n >= -1; --n) {
        m.choice.chosen[0][0] = 1;
        m.choice.count = 1;
        tvlm_budget_choose(&m.tree, &m.losses, n, &price, &m.choice);
        assert_true(m.choice.count == 0 && count_of(&m, 0) == 0 && price == 3.0);
    }
    free_image(&m);
}

/* Sixteen tiles that lose 1 to 16. Four are bought at 12.5, so that the others, which lose 78, are the bound, less a ten
 * thousandth; at 1.1 times less one tile more is bought, 11.5 of whose loss at most would be saved. */
static void test_bound(void **state) {
    image m = make_image(4, 4);
    double price = 12.5;
    (void)state;
    for (int i = 0; i < 16; ++i) row_of(&m, UNDER)[place_of(&m, i % 4, i / 4)] = (float)(i + 1);
    show(&m, 1, false, false);
    const double bound = 78.0 * (1.0 - 1e-4);
    assert_true(fabs(tvlm_budget_bound(&m.tree, &m.losses, 4, 70.0, &price) - bound) < 1e-4);
    assert_true(price == 12.5);
    const double same = tvlm_budget_bound(&m.tree, &m.losses, 4, 70.0, &price);
    assert_true(tvlm_budget_bound(&m.tree, &m.losses, 4, same, &price) == same && price == 12.5);
    /* It is tried three times: too few for what is asked, too many, and as before. */
    assert_true(tvlm_budget_bound(&m.tree, &m.losses, 4, 1e9, &price) == same);
    assert_true(fabs(price - 12.5 / 1.1) < 1e-9);
    price = 11.0; /* too low: the price rises three times, past the best one */
    (void)tvlm_budget_bound(&m.tree, &m.losses, 2, 1e9, &price);
    assert_true(fabs(price - 11.0 * 1.331) < 1e-9);
    for (double none = 0.0; none >= -1.0; none -= 1.0) {
        price = none;
        assert_true(tvlm_budget_bound(&m.tree, &m.losses, 4, 1e9, &price) == 0.0 && price == none);
    }
    price = 1e-3; /* no bound is below 0 */
    assert_true(tvlm_budget_bound(&m.tree, &m.losses, 40, 0.0, &price) == 0.0);
    free_image(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ties),       cmocka_unit_test(test_ties_beside_thirds),
        cmocka_unit_test(test_equal_ways), cmocka_unit_test(test_least_cost),
        cmocka_unit_test(test_highest),    cmocka_unit_test(test_wanted),
        cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
