/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget_solve.c: what a budget answers where what every picture loses is given, and how what was measured becomes that.
 */
#include <math.h>
#include <string.h>

#include "select/budget.h"
#include "support.h"

enum {
    SIDE = 8,
    PLACES = SIDE * SIDE,
    PICTURES = TVLM_BUDGET_FIRST + 4,
    FLOATS = 5 * PLACES + 2 * TVLM_BUDGET_SPOTS * TVLM_BUDGET_THIRDS
};

/* An image of 8 x 8 tiles, four roots. */
typedef struct given {
    tvlm_budget budget;
    float parts[PICTURES][TVLM_BUDGET_PARTS][PLACES];
} given;

static given *make_given(int32_t grid_count, int32_t alone) {
    given *const g = calloc(1, sizeof *g);
    assert_non_null(g);
    g->budget = (tvlm_budget){.patch = 16, .tiles = PLACES, .grid_count = grid_count, .alone = alone};
    assert_true(tvlm_budget_tree_make(SIDE, SIDE, &g->budget.tree));
    return g;
}

static void destroy_given(given *g) {
    tvlm_budget_tree_free(&g->budget.tree);
    free(g);
}

/* Lets the budget see what was given. */
static void add_up(given *g) {
    for (int i = 0; i < g->budget.grid_count; ++i)
        g->budget.cells[i] = tvlm_budget_patches(&g->budget.grids[i]);
    for (int picture = 0; picture < PICTURES; ++picture)
        for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) {
            tvlm_budget_loss *const loss = &g->budget.losses[picture];
            loss->parts[p] = g->parts[picture][p];
            loss->sums[p] = 0.0;
            for (int i = 0; i < PLACES; ++i) loss->sums[p] += (double)g->parts[picture][p][i];
        }
}

static int chosen(const tvlm_budget_choice *choice, int kind, int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += choice->chosen[kind][i];
    return sum;
}

/* Whether all tiles of an answer are of level 0. */
static bool is_fine(const tvlm_budget_choice *choice) {
    return chosen(choice, 1, PLACES / TVLM_BUDGET_CHILDREN) == 0 &&
           chosen(choice, 2, PLACES / TVLM_BUDGET_LEAVES) == 0 &&
           chosen(choice, TVLM_BUDGET_NINE, PLACES / TVLM_BUDGET_LEAVES) == 0 &&
           chosen(choice, TVLM_BUDGET_THIRD, TVLM_BUDGET_THIRDS) == 0;
}

/*
 * A thumbnail of four patches, and one more. Under the first tile of level 1 it loses most of the squared error, none
 * of which that tile loses; but the tile loses detail, so that the whole image loses `detail` times what
 * downsampling does. Every other coarse tile is worse than the thumbnail.
 */
static void give_one_tile(given *g, float detail) {
    g->budget.grids[0] = (tvlm_budget_grid){2, 2};
    for (int i = 0; i < PLACES; ++i)
        for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) {
            const bool inside = g->budget.tree.one_of[i] == 0;
            const float under = p == TVLM_BUDGET_ERROR && inside ? 100.0f : 1.0f;
            g->parts[TVLM_BUDGET_FIRST][p][i] = g->parts[TVLM_BUDGET_LEAST][p][i] = under;
            g->parts[TVLM_BUDGET_ONE][p][i] = g->parts[TVLM_BUDGET_TWO][p][i] =
                g->parts[TVLM_BUDGET_THREE_QUARTERS][p][i] = g->parts[TVLM_BUDGET_A_THIRD][p][i] =
                    3.0f * under;
            if (inside)
                g->parts[TVLM_BUDGET_ONE][p][i] =
                    p == TVLM_BUDGET_ERROR ? 0.0f : 1.0f + (detail - 1.0f) * PLACES / TVLM_BUDGET_CHILDREN;
        }
    add_up(g);
}

/* A tile that would lose more detail than downsampling is not taken, however little more; one that loses less is.
 * What is left over becomes tiles of level 0, though one of level 1 would gain more. (What comes across the sides of
 * the tile is a thousandth.) */
static void test_detail(void **state) {
    static const struct {
        float detail;
        bool taken;
    } cases[] = {{0.97f, true}, {0.99f, true}, {1.01f, false}, {1.05f, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        given *const g = make_given(1, 1);
        tvlm_budget_answer answer;
        give_one_tile(g, cases[i].detail);
        assert_int_equal(tvlm_budget_solve(&g->budget, 5, &answer), TVLM_OK);
        assert_int_equal(answer.choice.count, 1);
        assert_true(answer.parts[TVLM_BUDGET_DETAIL] <= answer.downsampled[TVLM_BUDGET_DETAIL]);
        if (is_fine(&answer.choice) == cases[i].taken) fail_msg("detail %g", (double)cases[i].detail);
        assert_int_equal(chosen(&answer.choice, 0, PLACES), cases[i].taken ? 0 : 1);
        tvlm_budget_answer_free(&answer);
        destroy_given(g);
    }
}

/* Of a second thumbnail that loses much less detail, the squared error may be at most 0.99 of downsampling's: it is
 * predicted, and may be wrong by a hundredth. */
static void test_error(void **state) {
    static const float errors[] = {0.95f, 0.985f, 0.995f, 1.05f};
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i) {
        given *const g = make_given(2, 1);
        tvlm_budget_answer answer;
        g->budget.grids[0] = (tvlm_budget_grid){2, 2};
        g->budget.grids[1] = (tvlm_budget_grid){4, 1};
        for (int at = 0; at < PLACES; ++at)
            for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) {
                for (int picture = 0; picture < TVLM_BUDGET_FIRST; ++picture) g->parts[picture][p][at] = 3.0f;
                g->parts[TVLM_BUDGET_FIRST][p][at] = 1.0f;
                g->parts[TVLM_BUDGET_FIRST + 1][p][at] = p == TVLM_BUDGET_ERROR ? errors[i] : 0.5f;
            }
        add_up(g);
        assert_int_equal(tvlm_budget_solve(&g->budget, 4, &answer), TVLM_OK);
        if (answer.grid != (errors[i] < 0.99f)) fail_msg("a squared error of %g", (double)errors[i]);
        tvlm_budget_answer_free(&answer);
        destroy_given(g);
    }
}

/* ---- Which thumbnail ---- */

/* Thumbnails of four patches, each of which loses so much of every tile, on which every coarser tile is worse. */
static void give_thumbnails(given *g, float lost[][TVLM_BUDGET_PARTS]) {
    static const tvlm_budget_grid grids[] = {{2, 2}, {4, 1}, {1, 4}, {2, 2}};
    memcpy(g->budget.grids, grids, sizeof grids);
    for (int i = 0; i < PLACES; ++i)
        for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) {
            for (int picture = 0; picture < TVLM_BUDGET_FIRST; ++picture) g->parts[picture][p][i] = 8.0f;
            for (int n = 0; n < g->budget.grid_count; ++n) g->parts[TVLM_BUDGET_FIRST + n][p][i] = lost[n][p];
        }
    add_up(g);
}

static bool is_near(double value, double expected) {
    return fabs(value - expected) <= 1e-6 * fabs(expected);
}

/* Downsampling is the first of those of least squared error that get all patches; and is the answer where the blank cells of all
 * of them would be seen. Its tiles are those of the largest loss, a fifth of which is the squared error; where hardly any detail
 * is lost, a fiftieth of all detail stands for what is lost. */
static void test_downsampled(void **state) {
    float lost[][TVLM_BUDGET_PARTS] = {{2.0f, 0.25f}, {1.0f, 1.0f}, {1.0f, 0.5f}, {0.5f, 0.5f}};
    (void)state;
    for (int blank = 0; blank < 2; ++blank) {
        given *const g = make_given(4, 3);
        tvlm_budget_answer answer;
        lost[1][TVLM_BUDGET_DETAIL] = blank ? 0.0f : 1.0f;
        give_thumbnails(g, lost);
        for (int p = 0; p < TVLM_BUDGET_PARTS; ++p)
            g->parts[TVLM_BUDGET_FIRST + 1][p][37] += p == TVLM_BUDGET_ERROR ? 1.0f : 0.0f;
        g->parts[TVLM_BUDGET_FIRST + 2][TVLM_BUDGET_ERROR][5] += 1.0f;
        add_up(g);
        for (int i = 0; i < 4; ++i) g->budget.filled[i] = 65.0;
        assert_int_equal(tvlm_budget_solve(&g->budget, 5, &answer), TVLM_OK);
        assert_int_equal(answer.grid, 1);
        assert_true(answer.downsampled[TVLM_BUDGET_ERROR] == 65.0);
        assert_true(answer.downsampled[TVLM_BUDGET_DETAIL] == (blank ? 0.0 : 64.0));
        assert_true(is_near(answer.weights[TVLM_BUDGET_ERROR], 0.2 / 65.0));
        assert_true(is_near(answer.weights[TVLM_BUDGET_DETAIL], 0.8 / (blank ? 0.02 * 512.0 : 64.0)));
        assert_int_equal(answer.choice.count, 1);
        assert_int_equal(answer.choice.chosen[0][37], 1);
        assert_true(answer.parts[TVLM_BUDGET_ERROR] == 63.0 + 65.0); /* and what filling errs by */
        assert_true(answer.parts[TVLM_BUDGET_DETAIL] == (blank ? 0.0 : 63.0));
        tvlm_budget_answer_free(&answer);
        destroy_given(g);
    }
}

/* As much detail as downsampling loses may be lost. Of thumbnails that lose alike the first is the answer, and of the weights of
 * detail that find it the first. */
static void test_first_of_equals(void **state) {
    float lost[][TVLM_BUDGET_PARTS] = {{1.0f, 1.0f}, {0.5f, 1.0f}, {0.5f, 1.0f}};
    (void)state;
    given *const g = make_given(3, 1);
    tvlm_budget_answer answer;
    give_thumbnails(g, lost);
    assert_int_equal(tvlm_budget_solve(&g->budget, 4, &answer), TVLM_OK);
    assert_int_equal(answer.grid, 1);
    assert_true(answer.parts[TVLM_BUDGET_ERROR] == 32.0 && answer.parts[TVLM_BUDGET_DETAIL] == 64.0);
    assert_true(is_near(answer.lost, 0.2 * 0.5 + 0.8));
    assert_true(is_near(answer.weights[TVLM_BUDGET_ERROR], 0.5 / 64.0));
    assert_true(is_near(answer.weights[TVLM_BUDGET_DETAIL], 0.5 / 64.0));
    tvlm_budget_answer_free(&answer);
    destroy_given(g);
}

/* Where one tile loses more of the squared error, and another more detail, that is taken which is better where detail counts
 * four fifths. Of the former more would be taken where it counts one half. */
static void test_weights_of_detail(void **state) {
    float lost[][TVLM_BUDGET_PARTS] = {{1.0f, 1.0f}, {0.5f, 0.75f}};
    (void)state;
    given *const g = make_given(2, 1);
    tvlm_budget_answer answer;
    give_thumbnails(g, lost);
    g->parts[TVLM_BUDGET_FIRST + 1][TVLM_BUDGET_ERROR][20] = 6.0f;
    g->parts[TVLM_BUDGET_FIRST + 1][TVLM_BUDGET_DETAIL][30] = 5.0f;
    add_up(g);
    assert_int_equal(tvlm_budget_solve(&g->budget, 5, &answer), TVLM_OK);
    assert_int_equal(answer.grid, 1);
    assert_int_equal(answer.choice.chosen[0][30], 1);
    assert_true(is_near(answer.weights[TVLM_BUDGET_ERROR], 0.2 / 64.0));
    assert_true(is_near(answer.weights[TVLM_BUDGET_DETAIL], 0.8 / 64.0));
    tvlm_budget_answer_free(&answer);
    destroy_given(g);
}

/* ---- A tolerance ---- */

/* Four thumbnails, each of which loses less than the one before; what tiles lose is drawn. */
static void draw_pictures(given *g, uint64_t *random) {
    static const tvlm_budget_grid grids[] = {{1, 1}, {2, 1}, {2, 2}, {4, 3}};
    memcpy(g->budget.grids, grids, sizeof grids);
    for (int i = 0; i < PLACES; ++i)
        for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) {
            const float most = (float)(1 + test_random(random) % 97);
            for (int n = 0; n < 4; ++n)
                g->parts[TVLM_BUDGET_FIRST + n][p][i] = most / (1.0f + 0.2f * (float)n);
            g->parts[TVLM_BUDGET_LEAST][p][i] = most;
            g->parts[TVLM_BUDGET_THREE_QUARTERS][p][i] = 0.05f * most;
            g->parts[TVLM_BUDGET_ONE][p][i] = 0.15f * most;
            g->parts[TVLM_BUDGET_TWO][p][i] = 0.5f * most;
            g->parts[TVLM_BUDGET_A_THIRD][p][i] = 0.3f * most;
        }
    add_up(g);
}

/* What a thumbnail with so many tiles loses, of what the least one does. */
static double lost_with(const given *g, int32_t grid, int32_t tiles, tvlm_budget_choice *choice) {
    static float places[FLOATS];
    double weights[TVLM_BUDGET_PARTS], price = 0.0;
    assert_int_equal(tvlm_budget_floats(&g->budget), FLOATS);
    tvlm_budget_weigh_parts(g->budget.losses[TVLM_BUDGET_LEAST].sums, TVLM_BUDGET_COUNTS, weights);
    tvlm_budget_weighed weighed = {.memory = places};
    tvlm_budget_losses losses = tvlm_budget_weigh(&g->budget, grid, weights, &weighed);
    const tvlm_budget_losses coarse = losses;
    tvlm_budget_choose(&g->budget.tree, &losses, tiles, &price, choice);
    losses.levels = 1;
    assert_true(tvlm_budget_fill(&g->budget.tree, &losses, tiles, choice));
    return tvlm_budget_lost(&g->budget.tree, &coarse, choice);
}

/* The answer keeps to the tolerance, with hardly more patches than the best thumbnail needs: all numbers of tiles are tried.
 * One that may lose more never has more. */
static void test_tolerance(void **state) {
    uint64_t random = 41;
    int answers = 0, best = 0;
    (void)state;
    for (int round = 0; round < 12; ++round) {
        given *const g = make_given(4, 4);
        int32_t before = INT32_MAX;
        tvlm_budget_choice choice;
        assert_true(tvlm_budget_choice_make(&g->budget.tree, &choice));
        draw_pictures(g, &random);
        for (double tolerance = 0.02; tolerance < 1.0; tolerance += 0.07) {
            tvlm_budget_answer answer;
            int32_t least = INT32_MAX;
            for (int32_t grid = 0; grid < 4; ++grid)
                for (int32_t tiles = 0; tiles <= PLACES; ++tiles)
                    if (lost_with(g, grid, tiles, &choice) <= tolerance) {
                        const int32_t patches = tvlm_budget_patches(&g->budget.grids[grid]) + tiles;
                        least = patches < least ? patches : least;
                        break;
                    }
            assert_int_equal(tvlm_budget_solve_tolerance(&g->budget, tolerance, &answer), TVLM_OK);
            const int32_t patches = tvlm_budget_patches(&g->budget.grids[answer.grid]) + answer.choice.count;
            assert_true(answer.lost <= tolerance);
            if (patches > least + 2 || patches > before)
                fail_msg("round %d, %g: %d patches, not %d, %d before", round, tolerance, (int)patches,
                         (int)least, (int)before);
            before = patches;
            best += patches <= least;
            ++answers;
            tvlm_budget_answer exact; /* what is lost may be all of the tolerance */
            assert_int_equal(tvlm_budget_solve_tolerance(&g->budget, answer.lost, &exact), TVLM_OK);
            assert_int_equal(tvlm_budget_patches(&g->budget.grids[exact.grid]) + exact.choice.count, patches);
            tvlm_budget_answer_free(&exact);
            tvlm_budget_answer_free(&answer);
        }
        tvlm_budget_choice_free(&choice);
        destroy_given(g);
    }
    if (best < answers * 3 / 4) fail_msg("only %d of %d are the best", best, answers);
}

/* Two rows of equal tiles are all that the thumbnail loses. One patch shows a row of them: so two do where each tile is taken
 * for itself only if the tolerance is large; and what is lost falls with the tiles that are equal, too. */
static void test_equal(void **state) {
    static int32_t origin[PLACES];
    static const tvlm_budget_grid grids[] = {{1, 1}, {2, 1}, {2, 2}, {4, 3}};
    given *const g = make_given(1, 1);
    tvlm_budget_answer apart, together;
    (void)state;
    memcpy(g->budget.grids, grids, sizeof grids);
    for (int tile = 0; tile < PLACES; ++tile) {
        const int row = tile / SIDE, place = g->budget.tree.place_of[tile];
        const float lost = row == 1 ? 3.0f : row == 5 ? 2.0f : 0.0f;
        origin[tile] = lost > 0.0f ? row * SIDE : tile;
        for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) {
            g->parts[TVLM_BUDGET_FIRST][p][place] = g->parts[TVLM_BUDGET_LEAST][p][place] = lost;
            for (int picture = 0; picture < TVLM_BUDGET_LEAST; ++picture) /* as bad as the thumbnail */
                g->parts[picture][p][place] = lost;
        }
    }
    add_up(g);
    assert_int_equal(tvlm_budget_solve_tolerance(&g->budget, 0.05, &apart), TVLM_OK);
    assert_int_equal(apart.choice.count, 2 * SIDE - 1); /* one tile of the second row is a 20th */
    g->budget.origin = origin;
    assert_int_equal(tvlm_budget_solve_tolerance(&g->budget, 0.05, &together), TVLM_OK);
    assert_int_equal(together.choice.count, 2);
    assert_int_equal(together.choice.chosen[0][g->budget.tree.place_of[SIDE]], 1);
    assert_int_equal(together.choice.chosen[0][g->budget.tree.place_of[5 * SIDE]], 1);
    assert_int_equal(chosen(&together.choice, 0, PLACES),
                     2); /* those that are shown beside them are not chosen */
    assert_true(together.lost <= 1e-9);
    tvlm_budget_answer_free(&together);
    assert_int_equal(tvlm_budget_solve_tolerance(&g->budget, 0.45, &together), TVLM_OK);
    assert_int_equal(together.choice.count, 1); /* the row that loses 24 of 40 */
    assert_true(fabs(together.lost - 0.4) < 1e-6);
    tvlm_budget_answer_free(&together);
    tvlm_budget_answer_free(&apart);
    destroy_given(g);
}

/* Thumbnails of one patch, two and four, which lose `lost` of each tile of the first row, of both parts, and nothing below. */
static given *make_rows(const float lost[][SIDE]) {
    static const tvlm_budget_grid grids[] = {{1, 1}, {2, 1}, {2, 2}};
    given *const g = make_given(3, 1);
    memcpy(g->budget.grids, grids, sizeof grids);
    for (int i = 0; i < SIDE; ++i)
        for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) {
            const int32_t place = g->budget.tree.place_of[i];
            for (int picture = 0; picture < TVLM_BUDGET_LEAST; ++picture) g->parts[picture][p][place] = 8.0f;
            g->parts[TVLM_BUDGET_LEAST][p][place] = lost[0][i];
            for (int n = 0; n < 3; ++n) g->parts[TVLM_BUDGET_FIRST + n][p][place] = lost[n][i];
        }
    add_up(g);
    return g;
}

static void expect_tolerated(given *g, double tolerance, int32_t grid, int32_t tiles, double lost) {
    tvlm_budget_answer answer;
    assert_int_equal(tvlm_budget_solve_tolerance(&g->budget, tolerance, &answer), TVLM_OK);
    if (answer.grid != grid || answer.choice.count != tiles || fabs(answer.lost - lost) > 1e-6)
        fail_msg("%g: thumbnail %d, %d tiles, %g lost", tolerance, (int)answer.grid, (int)answer.choice.count,
                 answer.lost);
    assert_int_equal(chosen(&answer.choice, 0, PLACES), tiles);
    for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) assert_true(answer.downsampled[p] == 0.0);
    assert_true(
        is_near(answer.weights[TVLM_BUDGET_ERROR], 0.2 / g->budget.losses[TVLM_BUDGET_LEAST].sums[0]));
    assert_true(
        is_near(answer.weights[TVLM_BUDGET_DETAIL], 0.8 / g->budget.losses[TVLM_BUDGET_LEAST].sums[1]));
    tvlm_budget_answer_free(&answer);
}

/* Of as many patches the thumbnail that comes first is the answer, one of fewer replaces it, and one that loses little needs no
 * tiles at all. Tiles that lose alike are added one by one. */
static void test_rows(void **state) {
    static const float lost[][SIDE] = {{1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f},
                                       {1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 0.5f, 0.0f},
                                       {0.25f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f}};
    (void)state;
    given *g = make_rows(lost);
    expect_tolerated(g, 1.01, 0, 0, 1.0);
    expect_tolerated(g, 0.88, 0, 1,
                     7.0 / 8.0); /* the second thumbnail alone loses 6.5 of 8, with 2 patches, too */
    expect_tolerated(g, 0.815, 1, 0, 6.5 / 8.0); /* the first needs 3 */
    expect_tolerated(g, 0.75, 0, 2, 6.0 / 8.0);  /* the second would need as many patches */
    expect_tolerated(g, 0.69, 1, 1, 5.5 / 8.0);  /* fewer than the first would */
    expect_tolerated(g, 0.5, 2, 0, 0.25 / 8.0);
    expect_tolerated(g, 0.0, 2, 1, 0.0);
    g->budget.filled[2] = 1e6; /* what is filled shows, whatever tiles are taken */
    expect_tolerated(g, 0.5, 0, 4, 4.0 / 8.0);
    for (int i = 0; i < 3; ++i) g->budget.filled[i] = 1e6;
    tvlm_budget_answer none; /* then none is within the tolerance, and all tiles are to be shown */
    assert_int_equal(tvlm_budget_solve_tolerance(&g->budget, 0.5, &none), TVLM_OK);
    assert_int_equal(none.choice.count, PLACES);
    tvlm_budget_answer_free(&none);
    destroy_given(g);
}

/* ---- What was measured ---- */

/* A loss keeps twelve bits, rounded; what is less than a millionth of each pixel is none; and it counts as much as
 * the tile matters. */
static void test_places(void **state) {
    static const float bit = 1.0f / 2048.0f; /* the last that is kept, of losses from 1 on */
    const float losses[] = {
        1.0f, 1.0f + 0.4f * bit, 1.0f + 0.6f * bit, 1.0f + 1.4f * bit, 2.0f - 0.1f * bit, 0.00025f, 0.00026f,
        0.0f};
    const float kept[] = {1.0f, 1.0f, 1.0f + bit, 1.0f + bit, 2.0f, 0.0f, 0.00026f, 0.0f};
    given *const g = make_given(1, 1);
    const tvlm_texture source = {.width = 16 * SIDE, .height = 16 * SIDE};
    float values[2 * PLACES + PLACES];
    (void)state;
    for (int i = 0; i < PLACES; ++i) {
        values[2 * i + TVLM_BUDGET_ERROR] = losses[i % 8];
        values[2 * i + TVLM_BUDGET_DETAIL] = 3.0f;
        values[2 * PLACES + i] = i < PLACES / 2 ? 0.0f : 0.5f;
    }
    add_up(g);
    g->budget.values = values;
    g->budget.measured_count = 1; /* all pictures are alike */
    g->budget.source = &source;
    g->budget.n = PLACES / 2;
    for (int emphasised = 0; emphasised < 2; ++emphasised) {
        tvlm_budget_place(&g->budget, emphasised ? 4.0 : 0.0);
        const tvlm_budget_loss *const first = &g->budget.losses[TVLM_BUDGET_FIRST];
        for (int i = 0; i < PLACES; ++i) {
            const int tile = g->budget.tree.tile_of[i];
            const float weight = emphasised && tile >= PLACES / 2 ? 3.0f : 1.0f;
            assert_true(fabsf(first->parts[TVLM_BUDGET_ERROR][i] - weight * kept[tile % 8]) <
                        (kept[tile % 8] < 1.0f ? 2e-7f : 1e-6f));
            assert_true(first->parts[TVLM_BUDGET_DETAIL][i] == 3.0f * weight);
        }
    }
    destroy_given(g);
}

/* ---- What is read over several tiles ---- */

/* What a tile of 256 pixels, all of whose detail counts, loses at a correlation. */
static float lost_at(double correlation) {
    const double least = 1.0 / (1.0 + exp((1.0 - 0.6) / 0.09));
    return (float)(256.0 * (1.0 / (1.0 + exp((correlation - 0.6) / 0.09)) - least));
}

/* Correlations are found back from losses, and averaged over neighbours before they become losses: where tiles of .45 and
 * .75 take turns as much is read as where all have .6, and where all are alike it is the sum of what they lose. Tiles of
 * level 0 lose nothing, and help those around them. */
static void test_reading(void **state) {
    enum { TURNS = TVLM_BUDGET_FIRST, ALIKE, SHARP };
    static float values[2 * PICTURES * PLACES + PLACES];
    given *const g = make_given(3, 1);
    tvlm_budget_choice choice;
    (void)state;
    for (int picture = 0; picture < PICTURES; ++picture) g->budget.measured[picture] = picture;
    g->budget.measured_count = PICTURES;
    g->budget.values = values;
    for (int picture = 0; picture < PICTURES; ++picture)
        for (int tile = 0; tile < PLACES; ++tile) {
            const bool odd = (tile % SIDE + tile / SIDE) % 2 == 1;
            const double correlation = picture == TURNS   ? (odd ? 0.45 : 0.75)
                                       : picture == ALIKE ? 0.6
                                       : picture == SHARP ? 0.9
                                                          : 0.0;
            values[2 * (picture * PLACES + tile) + TVLM_BUDGET_DETAIL] = lost_at(correlation);
        }
    assert_int_equal(tvlm_budget_prepare_reading(&g->budget), TVLM_OK);
    for (int tile = 0; tile < PLACES; ++tile) g->budget.reading.counts[tile] = 1.0f;
    const double turns = tvlm_budget_unread(&g->budget, 0, NULL),
                 alike = tvlm_budget_unread(&g->budget, 1, NULL);
    const double sharp = tvlm_budget_unread(&g->budget, 2, NULL);
    assert_true(fabs(alike - (double)(PLACES * lost_at(0.6))) < 1e-3 * alike);
    assert_true(fabs(sharp - (double)(PLACES * lost_at(0.9))) < 1e-3 * alike);
    assert_true(fabs(turns - alike) < 0.02 * alike);
    assert_true(tvlm_budget_choice_make(&g->budget.tree, &choice));
    const double none = tvlm_budget_unread(&g->budget, 1, &choice);
    assert_true(none == alike);
    choice.chosen[0][g->budget.tree.place_of[27]] = 1; /* in the middle */
    const double one = tvlm_budget_unread(&g->budget, 1, &choice);
    assert_true(one < alike - (double)lost_at(0.6));
    for (int place = 0; place < PLACES; ++place) choice.chosen[0][place] = 1;
    assert_true(tvlm_budget_unread(&g->budget, 1, &choice) < 1e-3);
    g->budget.reading.counts[0] = 3.0f;
    assert_true(fabs(tvlm_budget_unread(&g->budget, 1, NULL) - alike - 2.0 * (double)lost_at(0.6)) <
                1e-3 * alike);
    tvlm_budget_choice_free(&choice);
    free(g->budget.reading.detail);
    destroy_given(g);
}

/* ---- What stays in view ---- */

/* An image whose left half matters, and loses little; `values` are what its three pictures lose, and m. Downsampling
 * has all sixteen patches, the other thumbnails leave some to tiles. */
static void draw_view(given *g, float values[], uint64_t *random) {
    enum { MEASURED = TVLM_BUDGET_FIRST + 3 };
    static const tvlm_budget_grid grids[] = {{4, 4}, {2, 2}, {2, 1}};
    memcpy(g->budget.grids, grids, sizeof grids);
    for (int tile = 0; tile < PLACES; ++tile) {
        const bool matters = tile % SIDE < SIDE / 2;
        const float least = (float)(1 + test_random(random) % 9) * (matters ? 1.0f : 2.0f);
        const float share = 0.3f + 0.05f * (float)(test_random(random) % 8);
        const float lost[MEASURED] = {share * least, 5.0f * least, 5.0f * least, 5.0f * least,
                                      5.0f * least,  least,        1.5f * least, 2.0f * least};
        for (int picture = 0; picture < MEASURED; ++picture)
            for (int p = 0; p < TVLM_BUDGET_PARTS; ++p)
                values[2 * (picture * PLACES + tile) + p] = lost[picture];
        values[2 * MEASURED * PLACES + tile] = matters ? 1.0f : 0.0f;
    }
    for (int picture = 0; picture < MEASURED; ++picture) g->budget.measured[picture] = picture;
    g->budget.measured_count = MEASURED;
    g->budget.values = values;
    g->budget.n = 16;
    add_up(g);
}

/* The squared error of an answer, each tile counted alike, of what downsampling loses. */
static double error_of(const given *g, const tvlm_budget_answer *answer) {
    float lost[TVLM_BUDGET_FIRST + 4][PLACES];
    double down = 0.0;
    for (int place = 0; place < PLACES; ++place)
        for (int picture = 0; picture < TVLM_BUDGET_FIRST + 3; ++picture) {
            const int tile = g->budget.tree.tile_of[place];
            lost[picture][place] = tvlm_budget_values(&g->budget, picture)[2 * tile + TVLM_BUDGET_ERROR];
            down += picture == TVLM_BUDGET_FIRST ? (double)lost[picture][place] : 0.0;
        }
    const tvlm_budget_losses losses = {.under = lost[TVLM_BUDGET_FIRST + answer->grid],
                                       .one = lost[TVLM_BUDGET_ONE],
                                       .two = lost[TVLM_BUDGET_TWO],
                                       .nine = lost[TVLM_BUDGET_THREE_QUARTERS],
                                       .third = lost[TVLM_BUDGET_A_THIRD],
                                       .levels = TVLM_BUDGET_TREE_LEVELS};
    return tvlm_budget_lost(&g->budget.tree, &losses, &answer->choice) / down;
}

/* An answer is that to the losses that were left. With an emphasis that is one step larger, of those that are tried, the image
 * would be out of view. */
static void check_largest(given *g, const tvlm_budget_answer *answer, const float values[]) {
    const int32_t place = g->budget.tree.place_of[0]; /* a tile that matters */
    const double counts = (double)g->parts[TVLM_BUDGET_LEAST][TVLM_BUDGET_DETAIL][place] /
                          (double)values[2 * TVLM_BUDGET_LEAST * PLACES + TVLM_BUDGET_DETAIL];
    tvlm_budget_answer again, next;
    assert_int_equal(tvlm_budget_solve(&g->budget, g->budget.n, &again), TVLM_OK);
    assert_int_equal(again.grid, answer->grid);
    assert_memory_equal(again.choice.chosen[0], answer->choice.chosen[0], answer->choice.bytes);
    tvlm_budget_place(&g->budget, counts * pow(31.0, 1.0 / 32.0) - 1.0);
    assert_int_equal(tvlm_budget_solve(&g->budget, g->budget.n, &next), TVLM_OK);
    if (error_of(g, &next) <= 1.23) fail_msg("%g is not the most", counts - 1.0);
    tvlm_budget_answer_free(&again);
    tvlm_budget_answer_free(&next);
}

/* What matters gets the most of the emphasis by which the image loses at most 1.23 times what downsampling does. */
static void test_in_view(void **state) {
    static const struct tvlm_query query = {.columns = 1, .rows = 1};
    const tvlm_task task = {.query = &query};
    const tvlm_texture source = {.width = 16 * SIDE, .height = 16 * SIDE};
    static float values[(2 * PICTURES + 1) * PLACES];
    uint64_t random = 77;
    int lowered = 0, kept = 0, tiles = 0;
    (void)state;
    for (int round = 0; round < 40; ++round) {
        given *const g = make_given(3, 1);
        tvlm_budget_answer most, answer, least;
        g->budget.task = &task;
        g->budget.source = &source;
        g->budget.emphasis = 30.0;
        draw_view(g, values, &random);
        tvlm_budget_place(&g->budget, g->budget.emphasis);
        assert_int_equal(tvlm_budget_solve(&g->budget, g->budget.n, &most), TVLM_OK);
        assert_int_equal(tvlm_budget_solve_in_view(&g->budget, &answer), TVLM_OK);
        if (error_of(g, &most) > 1.23) check_largest(g, &answer, values);
        tvlm_budget_place(&g->budget, 0.0);
        assert_int_equal(tvlm_budget_solve(&g->budget, g->budget.n, &least), TVLM_OK);
        const double before = error_of(g, &most), after = error_of(g, &answer);
        if (after > 1.23 * (1.0 + 1e-6)) fail_msg("round %d: %g of what downsampling loses", round, after);
        if (before <= 1.23 && before != after) fail_msg("round %d: %g became %g", round, before, after);
        lowered += before > 1.23;
        kept += before > 1.23 && after > error_of(g, &least) + 1e-6; /* not the whole emphasis is given up */
        tiles += chosen(&answer.choice, 1, PLACES / TVLM_BUDGET_CHILDREN);
        tvlm_budget_answer_free(&most);
        tvlm_budget_answer_free(&least);
        tvlm_budget_answer_free(&answer);
        destroy_given(g);
    }
    assert_true(lowered >= 10 && lowered <= 35 && tiles > 0);
    if (kept < lowered * 9 / 10) fail_msg("%d of %d keep some emphasis", kept, lowered);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_detail),
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_tolerance),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_in_view),
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_downsampled),
        cmocka_unit_test(test_first_of_equals),
        cmocka_unit_test(test_weights_of_detail),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
