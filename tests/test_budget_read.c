/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget_read.c: how much detail cannot be read over several tiles (select/budget.h), against its definition in plain double:
 * correlations are found from losses, averaged over a tile and those around it by how much detail they have, and become losses.
 */
#include <math.h>
#include <string.h>

#include "core/constants.h"
#include "select/budget.h"
#include "support.h"

enum { MOST = 7 * 5, GRIDS = 2, MEASURED = TVLM_BUDGET_FIRST + GRIDS };

typedef struct given {
    tvlm_budget budget;
    float values[2 * MEASURED * MOST];
    double legible, detail[MOST], counts[MOST];
} given;

static double not_read(const given *g, double correlation) {
    return 1.0 / (1.0 + exp((correlation - g->legible) / (double)TVLM_BUDGET_SOFT));
}

/* The number of a picture among those that are measured: the last is the first. */
static int measured(int picture) {
    return MEASURED - 1 - picture;
}

static float *loss_of(given *g, int picture, int tile) {
    return &g->values[2 * (measured(picture) * g->budget.tiles + tile) + TVLM_BUDGET_DETAIL];
}

/* What pictures lose is drawn; of some tiles none loses anything. */
static given *make_given(int32_t columns, int32_t rows, int32_t patch, uint64_t *random) {
    given *const g = calloc(1, sizeof *g);
    assert_non_null(g);
    g->budget = (tvlm_budget){.patch = patch, .tiles = columns * rows, .grid_count = GRIDS, .alone = 1};
    g->budget.values = g->values;
    g->budget.measured_count = MEASURED;
    assert_true(tvlm_budget_tree_make(columns, rows, &g->budget.tree));
    g->legible = (double)tvlm_budget_legible(patch);
    for (int i = 0; i < MEASURED; ++i) g->budget.measured[i] = measured(i);
    for (int tile = 0; tile < columns * rows; ++tile) {
        const uint64_t kind = test_random(random) % 6;
        const float most = kind == 0 ? 0.0f : (kind == 1 ? 0.3f : 10.0f + 90.0f * test_random_unit(random));
        for (int i = 0; i < MEASURED; ++i) {
            const float share = i == TVLM_BUDGET_LEAST ? 1.0f : test_random_unit(random);
            *loss_of(g, i, tile) = most * (test_random(random) % 8 == 0 ? 0.0f : share);
            loss_of(g, i, tile)[-1] = 1000.0f; /* the squared error, which does not count */
            const double lost = (double)*loss_of(g, i, tile) / (not_read(g, 0.0) - not_read(g, 1.0));
            g->detail[tile] = fmax(g->detail[tile], lost);
        }
        g->counts[tile] = 1.0 + (double)test_random_unit(random);
    }
    assert_int_equal(tvlm_budget_prepare_reading(&g->budget), TVLM_OK);
    for (int tile = 0; tile < columns * rows; ++tile) {
        assert_true(fabs((double)g->budget.reading.detail[tile] - g->detail[tile]) <= 1e-5 * g->detail[tile]);
        g->budget.reading.counts[tile] = (float)g->counts[tile];
    }
    return g;
}

static void destroy_given(given *g) {
    free(g->budget.reading.detail);
    tvlm_budget_tree_free(&g->budget.tree);
    free(g);
}

/* The correlation at which a picture loses what it does of a tile, as far as the curve tells it. */
static double correlation_of(given *g, int picture, int tile) {
    if (g->detail[tile] == 0.0) return 1.0;
    const double y = (double)*loss_of(g, picture, tile) / g->detail[tile] + not_read(g, 1.0);
    const double within = fmin(fmax(y, 1e-4), 1.0 - 1e-4);
    return fmin(g->legible - (double)TVLM_BUDGET_SOFT * log(within / (1.0 - within)), 1.0);
}

/* What is lost where these are the correlations. */
static double plain(const given *g, const double *correlations) {
    const int32_t columns = g->budget.tree.columns, rows = g->budget.tree.rows;
    double lost = 0.0;
    for (int32_t i = 0; i < columns * rows; ++i) {
        double sum = 0.0, all = 0.0;
        for (int32_t dy = -1; dy <= 1; ++dy)
            for (int32_t dx = -1; dx <= 1; ++dx) {
                const int32_t x = i % columns + dx, y = i / columns + dy, at = y * columns + x;
                if (x < 0 || x >= columns || y < 0 || y >= rows) continue;
                const double weight = (2 - abs(dx)) * (2 - abs(dy)) * g->detail[at];
                sum += weight * correlations[at];
                all += weight;
            }
        if (g->detail[i] > 0.0)
            lost += g->detail[i] * g->counts[i] * fmax(not_read(g, sum / all) - not_read(g, 1.0), 0.0);
    }
    return lost;
}

static void expect(double got, double expected) {
    if (!(fabs(got - expected) <= 2e-4 * expected + 1e-4)) fail_msg("%g, not %g", got, expected);
}

static const int32_t sizes[][3] = {{7, 5, 16}, {1, 5, 8}, {7, 1, 32}, {1, 1, 14}, {4, 4, 16}, {5, 2, 16}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Each thumbnail alone, and that of one patch; and with tiles of every kind, of which the finest is what is read. Picture by
 * picture, in turn. */
static void test_unread(void **state) {
    static const int kinds[] = {0, TVLM_BUDGET_NINE, 1, TVLM_BUDGET_THIRD, 2};
    static const int pictures[] = {-1, TVLM_BUDGET_THREE_QUARTERS, TVLM_BUDGET_ONE, TVLM_BUDGET_A_THIRD,
                                   TVLM_BUDGET_TWO};
    uint64_t random = 21;
    (void)state;
    for (int s = 0; s < SIZES; ++s)
        for (int grid = TVLM_BUDGET_LEAST - TVLM_BUDGET_FIRST; grid < GRIDS; ++grid) {
            given *const g = make_given(sizes[s][0], sizes[s][1], sizes[s][2], &random);
            double correlations[MOST];
            tvlm_budget_choice choice;
            assert_true(tvlm_budget_choice_make(&g->budget.tree, &choice));
            for (int tile = 0; tile < g->budget.tiles; ++tile)
                correlations[tile] = correlation_of(g, TVLM_BUDGET_FIRST + grid, tile);
            const double alone = plain(g, correlations);
            expect(tvlm_budget_unread(&g->budget, grid, NULL), alone);
            expect(tvlm_budget_unread(&g->budget, grid, &choice), alone);
            for (size_t i = 0; i < choice.bytes; ++i) choice.chosen[0][i] = test_random(&random) % 5 == 0;
            for (int tile = 0; tile < g->budget.tiles; ++tile) {
                const int kind = tvlm_budget_kind_at(&g->budget.tree, &choice, g->budget.tree.place_of[tile]);
                for (int i = 0; i < 5; ++i)
                    if (kind == kinds[i])
                        correlations[tile] = kind == 0 ? 1.0 : correlation_of(g, pictures[i], tile);
            }
            for (int again = 0; again < 2; ++again) {
                expect(tvlm_budget_unread(&g->budget, grid, &choice), plain(g, correlations));
                expect(tvlm_budget_unread(&g->budget, grid, NULL), alone);
            }
            tvlm_budget_choice_free(&choice);
            destroy_given(g);
        }
}

/* A share of each tile is hidden, and shows what the thumbnail of one patch does. */
static void test_in_parts(void **state) {
    uint64_t random = 22;
    (void)state;
    for (int s = 0; s < SIZES; ++s)
        for (int turn = 0; turn < 2 * GRIDS; ++turn) {
            given *const g = make_given(sizes[s][0], sizes[s][1], sizes[s][2], &random);
            const int grid = turn % GRIDS, under = turn < GRIDS ? -1 : (grid + 1) % GRIDS;
            const int below = under < 0 ? TVLM_BUDGET_LEAST : TVLM_BUDGET_FIRST + under;
            double correlations[MOST];
            float hidden[MOST];
            for (int tile = 0; tile < g->budget.tiles; ++tile) {
                hidden[tile] = 0.25f * (float)(test_random(&random) % 5);
                correlations[tile] =
                    (1.0 - (double)hidden[tile]) * correlation_of(g, TVLM_BUDGET_FIRST + grid, tile) +
                    (double)hidden[tile] * correlation_of(g, below, tile);
            }
            expect(tvlm_budget_unread_in_parts(&g->budget, grid, under, hidden), plain(g, correlations));
            destroy_given(g);
        }
}

/* A picture's correlations are found when it is first shown, and once. */
static void test_known(void **state) {
    uint64_t random = 23;
    given *const g = make_given(4, 4, 16, &random);
    (void)state;
    for (int i = 0; i < MEASURED; ++i) assert_false(g->budget.reading.known[i]);
    const double lost = tvlm_budget_unread(&g->budget, 1, NULL);
    for (int i = 0; i < MEASURED; ++i)
        assert_true(g->budget.reading.known[measured(i)] == (i == TVLM_BUDGET_FIRST + 1));
    for (int tile = 0; tile < g->budget.tiles; ++tile) *loss_of(g, TVLM_BUDGET_FIRST + 1, tile) = 0.0f;
    assert_true(tvlm_budget_unread(&g->budget, 1, NULL) == lost);
    destroy_given(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unread), cmocka_unit_test(test_in_parts),
                                       cmocka_unit_test(test_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
