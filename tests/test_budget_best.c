/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget_best.c: thumbnails that get better one after the other, by little: each is tried, although what is known of those
 * before it lets some be passed over.
 */
#include <string.h>

#include "select/budget.h"
#include "support.h"

enum { SIDE = 8, PLACES = SIDE * SIDE, GRIDS = 6, PICTURES = TVLM_BUDGET_FIRST + GRIDS };

typedef struct given {
    tvlm_budget budget;
    float parts[PICTURES][TVLM_BUDGET_PARTS][PLACES];
} given;

/* Downsampling of eight patches loses 1 of each tile; the others have two patches, and leave six to tiles of level 0. What they
 * lose of each tile is given. */
static void give(given *g, const float *lost) {
    memset(g, 0, sizeof *g);
    g->budget = (tvlm_budget){.patch = 16, .tiles = PLACES, .grid_count = GRIDS, .alone = 1};
    assert_true(tvlm_budget_tree_make(SIDE, SIDE, &g->budget.tree));
    for (int picture = 0; picture < PICTURES; ++picture)
        for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) {
            tvlm_budget_loss *const loss = &g->budget.losses[picture];
            loss->parts[p] = g->parts[picture][p];
            for (int i = 0; i < PLACES; ++i) {
                loss->parts[p][i] = picture < TVLM_BUDGET_FIRST ? 8.0f : lost[picture - TVLM_BUDGET_FIRST];
                loss->sums[p] += (double)loss->parts[p][i];
            }
        }
    for (int i = 0; i < GRIDS; ++i) {
        g->budget.grids[i] = i == 0 ? (tvlm_budget_grid){4, 2} : (tvlm_budget_grid){2, 1};
        g->budget.cells[i] = tvlm_budget_patches(&g->budget.grids[i]);
    }
}

static void expect_best(const float *lost, int32_t grid) {
    static given g;
    tvlm_budget_answer answer;
    give(&g, lost);
    assert_int_equal(tvlm_budget_solve(&g.budget, 8, &answer), TVLM_OK);
    const int32_t tiles = grid == 0 ? 0 : 6;
    if (answer.grid != grid || answer.choice.count != tiles)
        fail_msg("thumbnail %d and %d tiles", (int)answer.grid, (int)answer.choice.count);
    const double expected = (double)lost[grid] * (PLACES - tiles);
    for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) {
        const double off = answer.parts[p] - expected;
        assert_true(off < 1e-4 && off > -1e-4);
    }
    tvlm_budget_answer_free(&answer);
    tvlm_budget_tree_free(&g.budget.tree);
}

/* Wherever the best one stands, and however little it is better by: a thirtieth, a hundredth or a thousandth. */
static void test_best(void **state) {
    static const float by[] = {0.97f, 0.99f, 0.999f};
    (void)state;
    for (int n = 0; n < 3; ++n) {
        float lost[GRIDS] = {1.0f, 0.9f};
        for (int i = 2; i < GRIDS; ++i) lost[i] = lost[i - 1] * by[n];
        expect_best(lost, GRIDS - 1);
        for (int best = 1; best < GRIDS; ++best) {
            for (int i = 1; i < GRIDS; ++i) lost[i] = i == best ? 0.9f * by[n] : 0.9f;
            expect_best(lost, best);
        }
    }
    expect_best((const float[GRIDS]){1.0f, 1.2f, 1.3f, 2.0f, 1.2f, 1.3f}, 0); /* all are worse */
    expect_best((const float[GRIDS]){1.0f, 0.5f, 1.5f, 0.499f, 1.3f, 0.6f}, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_best)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
