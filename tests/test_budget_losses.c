/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget_losses.c: losses as tiles are chosen by them: weights, what equal tiles lose together, what is made once, and
 * what an answer is delivered with. What pictures lose is given, and what is expected is worked out from that.
 */
#include <math.h>
#include <string.h>

#include "select/budget.h"
#include "support.h"

/* An image of 5 x 3 tiles: two roots, whose places are partly beyond it, and one block. */
enum { COLUMNS = 5, ROWS = 3, TILES = COLUMNS * ROWS, PLACES = 32, SPOTS = 16 * 9, GRIDS = 3 };

typedef struct given {
    tvlm_budget budget;
    float parts[TVLM_BUDGET_FIRST + GRIDS][TVLM_BUDGET_PARTS][PLACES];
    float memory[5 * PLACES + 2 * SPOTS];
} given;

/* What a picture loses of one part of a tile: whole numbers, all of them different. */
static float loss_of(int picture, int part, int tile) {
    return (float)(1 + tile + 20 * (part + 2 * picture));
}

static void add_up(given *g) {
    for (int picture = 0; picture < TVLM_BUDGET_FIRST + GRIDS; ++picture)
        for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) {
            tvlm_budget_loss *const loss = &g->budget.losses[picture];
            loss->parts[p] = g->parts[picture][p];
            loss->sums[p] = 0.0;
            for (int i = 0; i < PLACES; ++i) loss->sums[p] += (double)loss->parts[p][i];
        }
}

static given *make_given(void) {
    given *const g = calloc(1, sizeof *g);
    assert_non_null(g);
    g->budget = (tvlm_budget){.patch = 16, .tiles = TILES, .grid_count = GRIDS, .alone = 1};
    assert_true(tvlm_budget_tree_make(COLUMNS, ROWS, &g->budget.tree));
    assert_int_equal(g->budget.tree.places, PLACES);
    assert_int_equal(g->budget.tree.spots, SPOTS);
    for (int picture = 0; picture < TVLM_BUDGET_FIRST + GRIDS; ++picture)
        for (int p = 0; p < TVLM_BUDGET_PARTS; ++p)
            for (int tile = 0; tile < TILES; ++tile)
                g->parts[picture][p][g->budget.tree.place_of[tile]] = loss_of(picture, p, tile);
    for (size_t i = 0; i < sizeof g->memory / sizeof *g->memory; ++i) g->memory[i] = -7.0f;
    add_up(g);
    return g;
}

static void destroy_given(given *g) {
    tvlm_budget_tree_free(&g->budget.tree);
    free(g);
}

/* ---- Weights ---- */

/* Each part counts as it should beside the other; one of which nothing is lost has no weight. */
static void test_parts(void **state) {
    double weights[TVLM_BUDGET_PARTS];
    (void)state;
    tvlm_budget_weigh_parts((double[]){4.0, 16.0}, 0.75, weights);
    assert_true(weights[TVLM_BUDGET_ERROR] == 0.0625 && weights[TVLM_BUDGET_DETAIL] == 0.046875);
    tvlm_budget_weigh_parts((double[]){0.0, 0.25}, 0.75, weights);
    assert_true(weights[TVLM_BUDGET_ERROR] == 0.0 && weights[TVLM_BUDGET_DETAIL] == 3.0);
    tvlm_budget_weigh_parts((double[]){0.25, 0.0}, 0.75, weights);
    assert_true(weights[TVLM_BUDGET_ERROR] == 1.0 && weights[TVLM_BUDGET_DETAIL] == 0.0);
}

/* As a share of what the thumbnail of one patch loses, a fifth of which is the squared error. */
static void test_share(void **state) {
    given *const g = make_given();
    const double *const least = g->budget.losses[TVLM_BUDGET_LEAST].sums;
    const double parts[TVLM_BUDGET_PARTS] = {0.5 * least[0], 0.25 * least[1]};
    (void)state;
    assert_true(fabs(tvlm_budget_share_lost(&g->budget, least) - 1.0) < 1e-12);
    assert_true(fabs(tvlm_budget_share_lost(&g->budget, parts) - (0.2 * 0.5 + 0.8 * 0.25)) < 1e-12);
    destroy_given(g);
}

static const double two_three[TVLM_BUDGET_PARTS] = {2.0, 3.0};

/* What a picture loses of a tile with the weights 2 and 3. */
static float two_three_of(int picture, int tile) {
    return 2.0f * loss_of(picture, 0, tile) + 3.0f * loss_of(picture, 1, tile);
}

/* Whether losses at places are those of a picture. */
static bool are_of(const given *g, const float *lost, int picture) {
    for (int place = 0; place < PLACES; ++place) {
        const int tile = g->budget.tree.tile_of[place];
        if (lost[place] != (tile >= 0 ? two_three_of(picture, tile) : 0.0f)) return false;
    }
    return true;
}

/* The same in the order of spots: tile k of a third is at k * thirds + third. */
static bool are_in_spots(const float *lost, int picture) {
    for (int spot = 0; spot < SPOTS; ++spot) {
        const int third = spot % 16, k = spot / 16, column = third % 4 * 3 + k % 3,
                  row = third / 4 * 3 + k / 3;
        const bool inside = column < COLUMNS && row < ROWS;
        if (lost[spot] != (inside ? two_three_of(picture, row * COLUMNS + column) : 0.0f)) return false;
    }
    return true;
}

static void test_pictures(void **state) {
    given *const g = make_given();
    tvlm_budget_weighed weighed = {.memory = g->memory};
    (void)state;
    assert_int_equal(tvlm_budget_floats(&g->budget), 5 * PLACES + 2 * SPOTS);
    for (int grid = 0; grid < GRIDS; ++grid) {
        const tvlm_budget_losses losses = tvlm_budget_weigh(&g->budget, grid, two_three, &weighed);
        assert_true(are_of(g, losses.under, TVLM_BUDGET_FIRST + grid));
        assert_true(are_of(g, losses.one, TVLM_BUDGET_ONE));
        assert_true(are_of(g, losses.two, TVLM_BUDGET_TWO));
        assert_true(are_of(g, losses.nine, TVLM_BUDGET_THREE_QUARTERS));
        assert_true(are_of(g, losses.third, TVLM_BUDGET_A_THIRD));
        assert_true(are_in_spots(losses.under_spots, TVLM_BUDGET_FIRST + grid));
        assert_true(are_in_spots(losses.third_spots, TVLM_BUDGET_A_THIRD));
        assert_int_equal(losses.levels, 3);
    }
    destroy_given(g);
}

/* ---- What is made once ---- */

/* What is lost under the last tile, and on its tile of level 1. */
typedef struct seen {
    float under, one;
} seen;

static seen weigh_last(given *g, int grid, double error, double detail, tvlm_budget_weighed *weighed) {
    const int place = g->budget.tree.place_of[TILES - 1];
    const double weights[TVLM_BUDGET_PARTS] = {error, detail};
    const tvlm_budget_losses losses = tvlm_budget_weigh(&g->budget, grid, weights, weighed);
    return (seen){losses.under[place], losses.one[place]};
}

/* Changes both by `by`, for every thumbnail, which what was made before does not show. */
static void change(given *g, float by) {
    const int place = g->budget.tree.place_of[TILES - 1];
    for (int picture = 0; picture < TVLM_BUDGET_FIRST + GRIDS; ++picture)
        for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) g->parts[picture][p][place] = by;
}

/* The same losses are not made again; those of another thumbnail without those of tiles; with another weight all. */
static void test_once(void **state) {
    (void)state;
    for (int grid = 0; grid < GRIDS; ++grid) {
        given *const g = make_given();
        tvlm_budget_weighed weighed = {.memory = g->memory};
        const int other = (grid + 1) % GRIDS;
        seen last;
        change(g, 1.0f);
        last = weigh_last(g, grid, 1.0, 1.0, &weighed);
        assert_true(last.under == 2.0f && last.one == 2.0f);
        change(g, 5.0f);
        last = weigh_last(g, grid, 1.0, 1.0, &weighed);
        assert_true(last.under == 2.0f && last.one == 2.0f);
        last = weigh_last(g, other, 1.0, 1.0, &weighed);
        assert_true(last.under == 10.0f && last.one == 2.0f);
        change(g, 6.0f);
        last = weigh_last(g, other, 1.0, 1.0, &weighed);
        assert_true(last.under == 10.0f && last.one == 2.0f);
        last = weigh_last(g, other, 2.0, 1.0, &weighed);
        assert_true(last.under == 18.0f && last.one == 18.0f);
        change(g, 7.0f);
        last = weigh_last(g, other, 2.0, 3.0, &weighed);
        assert_true(last.under == 35.0f && last.one == 35.0f);
        change(g, 8.0f);
        last = weigh_last(g, other, 2.0, 3.0, &weighed);
        assert_true(last.under == 35.0f && last.one == 35.0f);
        last = weigh_last(g, other, 3.0, 3.0, &weighed);
        assert_true(last.under == 48.0f && last.one == 48.0f);
        change(g, 9.0f);
        last = weigh_last(g, other, 3.0, 2.0, &weighed);
        assert_true(last.under == 45.0f && last.one == 45.0f);
        destroy_given(g);
    }
}

/* Where nothing is lost all weights are 0, as they are in memory that has nothing yet. */
static void test_nothing_yet(void **state) {
    given *const g = make_given();
    tvlm_budget_weighed weighed = {.memory = g->memory};
    (void)state;
    const tvlm_budget_losses losses = tvlm_budget_weigh(&g->budget, 0, (double[]){0.0, 0.0}, &weighed);
    for (int i = 0; i < PLACES; ++i) assert_true(losses.under[i] == 0.0f && losses.one[i] == 0.0f);
    destroy_given(g);
}

/* ---- Equal tiles ---- */

/* The first of equal tiles has the loss of all; one that cannot be takes no part, neither as the first nor as another. */
static void test_equal(void **state) {
    int32_t origin[TILES];
    given *const g = make_given();
    tvlm_budget_weighed weighed = {.memory = g->memory};
    const int32_t *const at = g->budget.tree.place_of;
    (void)state;
    for (int i = 0; i < TILES; ++i) origin[i] = i;
    origin[1] = origin[7] = origin[14] = 0;
    origin[6] = 5;
    g->budget.origin = origin;
    for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) {
        g->parts[TVLM_BUDGET_A_THIRD][p][at[7]] = p == 0 ? TVLM_BUDGET_NEVER : 0.0f;
        g->parts[TVLM_BUDGET_A_THIRD][p][at[5]] = p == 0 ? TVLM_BUDGET_NEVER : 0.0f;
    }
    const tvlm_budget_losses losses = tvlm_budget_weigh(&g->budget, 0, (double[]){1.0, 0.0}, &weighed);
    const int under = TVLM_BUDGET_FIRST, third = TVLM_BUDGET_A_THIRD;
    for (int i = 0; i < TILES; ++i) {
        const float own = i == 0 ? loss_of(under, 0, 0) + loss_of(under, 0, 1) + loss_of(under, 0, 7) +
                                       loss_of(under, 0, 14)
                          : i == 5 ? loss_of(under, 0, 5) + loss_of(under, 0, 6)
                                   : loss_of(under, 0, i);
        assert_true(losses.under[at[i]] == (origin[i] == i ? own : 0.0f));
    }
    assert_true(losses.third[at[0]] == loss_of(third, 0, 0) + loss_of(third, 0, 1) + loss_of(third, 0, 14));
    assert_true(losses.third[at[7]] == TVLM_BUDGET_NEVER && losses.third[at[5]] == TVLM_BUDGET_NEVER);
    assert_true(losses.third[at[1]] == 0.0f && losses.third[at[6]] == 0.0f && losses.third[at[14]] == 0.0f);
    assert_true(losses.third_spots[g->budget.tree.spot_of[at[0]]] == losses.third[at[0]]);
    destroy_given(g);
}

/* ---- What is handed out ---- */

/* An answer of two tiles of level 0 on the second thumbnail: what is under each place, its sum, shares, and the tiles, of which
 * the one that gains more comes first. */
static void test_itemised(void **state) {
    given *const g = make_given();
    const tvlm_budget_loss *const least = &g->budget.losses[TVLM_BUDGET_LEAST];
    tvlm_budget_answer answer = {.grid = 1, .weights = {2.0, 3.0}};
    double whole = 0.0;
    (void)state;
    assert_true(tvlm_budget_choice_make(&g->budget.tree, &answer.choice));
    answer.choice.chosen[0][g->budget.tree.place_of[3]] = 1;
    answer.choice.chosen[0][g->budget.tree.place_of[8]] = 1;
    answer.choice.count = 2;
    for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) {
        answer.parts[p] = (p == 0 ? 0.5 : 0.125) * least->sums[p];
        answer.downsampled[p] = (p == 0 ? 0.25 : 0.75) * least->sums[p];
    }
    answer.whole = 1e9;
    assert_int_equal(tvlm_budget_itemise(&g->budget, &answer), TVLM_OK);
    assert_true(are_of(g, answer.under, TVLM_BUDGET_FIRST + 1));
    for (int tile = 0; tile < TILES; ++tile) whole += (double)two_three_of(TVLM_BUDGET_FIRST + 1, tile);
    assert_true(answer.whole == whole);
    assert_true(fabs(answer.share - (0.2 * 0.5 + 0.8 * 0.125)) < 1e-12);
    assert_true(fabs(answer.share_downsampled - (0.2 * 0.25 + 0.8 * 0.75)) < 1e-12);
    for (int i = 0; i < 2; ++i) {
        const int tile = i == 0 ? 8 : 3;
        const double before = (double)two_three_of(TVLM_BUDGET_FIRST + 1, tile);
        assert_int_equal(answer.tiles[i].level, 0);
        assert_int_equal(answer.tiles[i].corner, tile);
        assert_int_equal(answer.tiles[i].number, g->budget.tree.place_of[tile]);
        assert_true(answer.tiles[i].gain == before && answer.tiles[i].before == before &&
                    answer.tiles[i].after == 0.0);
    }
    tvlm_budget_answer_free(&answer);
    destroy_given(g);
}

/* Of a given thumbnail a part counts by what all of it loses of that part. */
static void test_given(void **state) {
    given *const g = make_given();
    const double *const sums = g->budget.losses[TVLM_BUDGET_FIRST].sums;
    float *lost;
    double share;
    (void)state;
    assert_int_equal(tvlm_budget_weigh_given(&g->budget, &lost, &share), TVLM_OK);
    for (int i = 0; i < TILES; ++i) {
        const double expected = 0.2 * (double)loss_of(TVLM_BUDGET_FIRST, 0, i) / sums[0] +
                                0.8 * (double)loss_of(TVLM_BUDGET_FIRST, 1, i) / sums[1];
        assert_true(fabs((double)lost[i] - expected) < 1e-7);
    }
    assert_true(fabs(share - tvlm_budget_share_lost(&g->budget, sums)) < 1e-12);
    free(lost);
    memset(g->parts[TVLM_BUDGET_FIRST], 0, sizeof g->parts[TVLM_BUDGET_FIRST]);
    add_up(g);
    assert_int_equal(tvlm_budget_weigh_given(&g->budget, &lost, &share), TVLM_OK);
    for (int i = 0; i < TILES; ++i) assert_true(lost[i] == 0.0f);
    assert_true(share == 0.0);
    free(lost);
    destroy_given(g);
}

/* One that loses detail alone is all detail. */
static void test_given_without_error(void **state) {
    given *const g = make_given();
    float *lost;
    double share, sum = 0.0;
    (void)state;
    memset(g->parts[TVLM_BUDGET_FIRST][TVLM_BUDGET_ERROR], 0, sizeof g->parts[0][0]);
    add_up(g);
    assert_int_equal(tvlm_budget_weigh_given(&g->budget, &lost, &share), TVLM_OK);
    for (int i = 0; i < TILES; ++i) sum += (double)lost[i];
    assert_true(fabs(sum - 1.0) < 1e-6);
    free(lost);
    destroy_given(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_nothing_yet),
        cmocka_unit_test(test_itemised),
        cmocka_unit_test(test_given),
        cmocka_unit_test(test_given_without_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
