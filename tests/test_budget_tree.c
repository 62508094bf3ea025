/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget_tree.c: the tiles that a budget chooses, against all choices there are.
 */
#include <math.h>
#include <string.h>

#include "select/budget.h"
#include "support.h"

/* A tree of one root: places and losses drawn at random, some of them equal. */
typedef struct small_tree {
    tvlm_budget_tree tree;
    tvlm_budget_losses losses;
    float under[16], one[16], two[16], nine[16];
} small_tree;

static void draw_tree(small_tree *t, uint64_t *random) {
    assert_true(tvlm_budget_tree_make(4, 4, &t->tree));
    for (int i = 0; i < 16; ++i) {
        t->under[i] = (float)(test_random(random) % 8);
        t->one[i] = t->under[i] * 0.25f;
        t->two[i] = t->under[i] * 0.5f;
        t->nine[i] = t->under[i] * 0.0625f;
    }
    t->losses =
        (tvlm_budget_losses){.under = t->under, .one = t->one, .two = t->two, .nine = t->nine, .levels = 3};
}

/* The loss of a choice by its definition, without what comes across sides. */
static double plain_loss(const small_tree *t, const tvlm_budget_choice *c) {
    double sum = 0.0;
    for (int i = 0; i < 16; ++i)
        sum += c->chosen[0][i]       ? 0.0
               : c->chosen[3][0]     ? (double)t->nine[i]
               : c->chosen[1][i % 4] ? (double)t->one[i]
               : c->chosen[2][0]     ? (double)t->two[i]
                                     : (double)t->under[i];
    return sum;
}

/* The least loss of n tiles: for each set of coarse tiles the finest ones that pay most. */
static double least_loss(const small_tree *t, tvlm_budget_choice *c, int32_t n) {
    double least = 1e30;
    for (int coarse = 0; coarse < 64; ++coarse) {
        int32_t left = n - 9 * (coarse >> 5);
        memset(c->chosen[0], 0, 16);
        for (int i = 0; i < 4; ++i) left -= c->chosen[1][i] = (uint8_t)(coarse >> i & 1);
        left -= c->chosen[2][0] = (uint8_t)(coarse >> 4 & 1);
        c->chosen[3][0] = (uint8_t)(coarse >> 5);
        if (left < 0) continue;
        for (; left > 0; --left) {
            double most = -1.0;
            int best = 0;
            for (int i = 0; i < 16; ++i) {
                const double before = plain_loss(t, c);
                if (c->chosen[0][i]) continue;
                c->chosen[0][i] = 1;
                if (before - plain_loss(t, c) > most) {
                    most = before - plain_loss(t, c);
                    best = i;
                }
                c->chosen[0][i] = 0;
            }
            c->chosen[0][best] = 1;
        }
        least = fmin(least, plain_loss(t, c));
    }
    return least;
}

/* A Lagrangian finds the best choices on the convex hull; what is filled up is never far from the best, and
 * mostly the best. */
static void test_choices(void **state) {
    uint64_t random = 99;
    int best = 0, all = 0;
    (void)state;
    for (int round = 0; round < 40; ++round) {
        small_tree t;
        tvlm_budget_choice choice, other;
        draw_tree(&t, &random);
        assert_true(tvlm_budget_choice_make(&t.tree, &choice) && tvlm_budget_choice_make(&t.tree, &other));
        double price = 0.0; /* then each is a guess at the next */
        for (int32_t n = 0; n <= 16; ++n, ++all) {
            tvlm_budget_choose(&t.tree, &t.losses, n, &price, &choice);
            assert_true(choice.count <= n);
            assert_true(tvlm_budget_fill(&t.tree, &t.losses, n, &choice));
            assert_int_equal(choice.count, n);
            int32_t counted = 0;
            for (int i = 0; i < 21; ++i) counted += choice.chosen[0][i];
            counted += 9 * choice.chosen[3][0];
            assert_int_equal(counted, n);
            const double least = least_loss(&t, &other, n), got = plain_loss(&t, &choice);
            assert_true(got >= least - 1e-6 && got <= 1.25 * least + 4.0);
            best += got <= least + 1e-6;
        }
        tvlm_budget_choice_free(&choice);
        tvlm_budget_choice_free(&other);
        tvlm_budget_tree_free(&t.tree);
    }
    if (best < all * 3 / 4) fail_msg("only %d of %d choices are the best", best, all);
}

/* Gains add up to what the choice gains, and none is larger than the one before. */
static void test_order(void **state) {
    uint64_t random = 7;
    int nines = 0;
    (void)state;
    for (int round = 0; round < 20; ++round) {
        small_tree t;
        tvlm_budget_choice choice;
        tvlm_budget_tile order[16];
        double whole = 0.0, gains = 0.0, price = 0.0;
        draw_tree(&t, &random);
        assert_true(tvlm_budget_choice_make(&t.tree, &choice));
        tvlm_budget_choose(&t.tree, &t.losses, 9 + round % 4, &price, &choice);
        assert_true(tvlm_budget_order(&t.tree, &t.losses, &choice, order));
        for (int i = 0; i < 16; ++i) whole += (double)t.under[i];
        for (int32_t i = 0, count = 0; count < choice.count; ++i) {
            const int32_t patches = order[i].level == TVLM_BUDGET_NINE ? TVLM_BUDGET_PATCHES : 1;
            assert_true(i == 0 || order[i].gain <= order[i - 1].gain + 1e-6);
            assert_true(order[i].gain >= 0.0);
            gains += patches * order[i].gain;
            count += patches;
            nines += patches > 1;
        }
        assert_true(fabs(whole - gains - plain_loss(&t, &choice)) < 1e-5);
        tvlm_budget_choice_free(&choice);
        tvlm_budget_tree_free(&t.tree);
    }
    assert_true(nines > 0);
}

/* No bound is above what is lost, whatever the price that it is asked at; and with a good price most are near. */
static void test_bound(void **state) {
    uint64_t random = 5;
    int near = 0, all = 0;
    (void)state;
    for (int round = 0; round < 20; ++round) {
        small_tree t;
        tvlm_budget_choice choice;
        double price = 0.0;
        draw_tree(&t, &random);
        assert_true(tvlm_budget_choice_make(&t.tree, &choice));
        for (int32_t n = 1; n < 16; ++n) {
            const double least = least_loss(&t, &choice, n);
            for (double guess = 0.01; guess < 100.0; guess *= 1.7) {
                double tried = guess;
                assert_true(tvlm_budget_bound(&t.tree, &t.losses, n, 1e30, &tried) <= least + 1e-3);
            }
            tvlm_budget_choose(&t.tree, &t.losses, n, &price, &choice);
            double tried = price, none = 0.0;
            assert_true(tvlm_budget_bound(&t.tree, &t.losses, n, 0.5 * least, &none) == 0.0);
            near += tvlm_budget_bound(&t.tree, &t.losses, n, 0.5 * least, &tried) >= 0.5 * least;
            ++all;
        }
        tvlm_budget_choice_free(&choice);
        tvlm_budget_tree_free(&t.tree);
    }
    if (near < all * 3 / 4) fail_msg("only %d of %d bounds are near", near, all);
}

/* ---- Thirds ---- */

enum { WIDE = 26, HIGH = 14 };

/* A tree of three blocks by two, of which the last are parts; what is lost under a third is drawn, one for all its nine. */
typedef struct wide_tree {
    tvlm_budget_tree tree;
    tvlm_budget_losses losses;
    float *memory;
} wide_tree;

/* Thirds lose a tenth of what is under them, where they are in the image as a whole; other tiles as much as that. */
static void draw_wide(wide_tree *t, bool thirds, uint64_t *random) {
    float drawn[(HIGH + 2) / 3][(WIDE + 2) / 3];
    assert_true(tvlm_budget_tree_make(WIDE, HIGH, &t->tree));
    const size_t places = (size_t)t->tree.places, spots = (size_t)t->tree.spots;
    float *const under = t->memory = calloc(2 * places + 2 * spots, sizeof *under), *const third =
                                                                                        under + places;
    float *const under_spots = third + places, *const third_spots = under_spots + spots;
    assert_non_null(under);
    for (int i = 0; i < (HIGH + 2) / 3 * ((WIDE + 2) / 3); ++i)
        drawn[i / ((WIDE + 2) / 3)][i % ((WIDE + 2) / 3)] = (float)(1 + test_random(random) % 1000);
    for (size_t i = 0; i < spots; ++i) third_spots[i] = TVLM_BUDGET_NEVER;
    for (int32_t i = 0; i < t->tree.places; ++i) {
        const int32_t tile = t->tree.tile_of[i];
        third[i] = TVLM_BUDGET_NEVER;
        if (tile < 0) continue;
        const int32_t column = tile % WIDE / 3, row = tile / WIDE / 3;
        const bool whole = column < WIDE / 3 && row < HIGH / 3;
        under[i] = whole ? drawn[row][column] : 1.0f;
        if (whole) third[i] = 0.1f * under[i];
        under_spots[t->tree.spot_of[i]] = under[i];
        third_spots[t->tree.spot_of[i]] = third[i];
    }
    t->losses = (tvlm_budget_losses){.under = under, .one = under, .two = under, .levels = 3};
    if (thirds) {
        t->losses.third = third;
        t->losses.third_spots = third_spots;
        t->losses.under_spots = under_spots;
    }
}

static void free_wide(wide_tree *t) {
    free(t->memory);
    tvlm_budget_tree_free(&t->tree);
}

/* Thirds are chosen by what is under them, the most of them first; each covers its nine tiles; none lies across the
 * border; and they come in the order of their gains. */
static void test_thirds(void **state) {
    enum { WHOLE = WIDE / 3 * (HIGH / 3) };
    uint64_t random = 3;
    (void)state;
    for (int32_t n = 1; n <= WHOLE; n += 5) {
        wide_tree t;
        tvlm_budget_choice choice;
        tvlm_budget_tile order[WHOLE];
        double price = 0.0, least_chosen = INFINITY, most_left = 0.0, lost = 0.0;
        draw_wide(&t, true, &random);
        assert_true(tvlm_budget_choice_make(&t.tree, &choice));
        tvlm_budget_choose(&t.tree, &t.losses, n, &price, &choice);
        int32_t count = 0;
        for (int32_t i = 0; i < tvlm_budget_kind_count(&t.tree, TVLM_BUDGET_THIRD); ++i) {
            const int32_t corner = tvlm_budget_corner(&t.tree, TVLM_BUDGET_THIRD, i);
            const bool whole = corner >= 0 && corner % WIDE + 3 <= WIDE && corner / WIDE + 3 <= HIGH;
            if (!whole) {
                assert_int_equal(choice.chosen[TVLM_BUDGET_THIRD][i], 0);
                continue;
            }
            assert_true(corner % WIDE % 3 == 0 && corner / WIDE % 3 == 0);
            const double under = (double)t.losses.under[t.tree.place_of[corner]];
            if (choice.chosen[TVLM_BUDGET_THIRD][i]) {
                least_chosen = fmin(least_chosen, under);
                ++count;
            } else {
                most_left = fmax(most_left, under);
            }
            lost -= choice.chosen[TVLM_BUDGET_THIRD][i] ? 9.0 * 0.9 * under : 0.0;
        }
        assert_int_equal(count, choice.count);
        if (count <= n - 3 || count > n || least_chosen < most_left)
            fail_msg("%d of %d thirds, of %g at least beside %g", (int)count, (int)n, least_chosen,
                     most_left);
        for (int32_t i = 0; i < t.tree.places; ++i) lost += (double)t.losses.under[i];
        assert_true(tvlm_budget_lost(&t.tree, &t.losses, &choice) >= lost - 0.1); /* and what comes across */
        assert_true(tvlm_budget_order(&t.tree, &t.losses, &choice, order));
        for (int32_t i = 0; i < count; ++i) {
            assert_int_equal(order[i].level, TVLM_BUDGET_THIRD);
            assert_true(i == 0 || order[i].gain <= order[i - 1].gain);
            assert_int_equal(order[i].corner,
                             tvlm_budget_corner(&t.tree, TVLM_BUDGET_THIRD, order[i].number));
            assert_true(fabs(order[i].before - order[i].after - order[i].gain) < 1e-2 &&
                        fabs(order[i].after - 0.1 * order[i].before) < 1e-2);
        }
        tvlm_budget_choice_free(&choice);
        free_wide(&t);
    }
}

/* Without them the same image has none, and pays more. */
static void test_without_thirds(void **state) {
    uint64_t random = 3, again = 3;
    wide_tree with, without;
    tvlm_budget_choice a, b;
    (void)state;
    draw_wide(&with, true, &random);
    draw_wide(&without, false, &again);
    assert_true(tvlm_budget_choice_make(&with.tree, &a) && tvlm_budget_choice_make(&without.tree, &b));
    tvlm_budget_buy(&with.tree, &with.losses, 400.0, &a);
    tvlm_budget_buy(&without.tree, &without.losses, 400.0, &b);
    for (int32_t i = 0; i < tvlm_budget_kind_count(&without.tree, TVLM_BUDGET_THIRD); ++i)
        assert_int_equal(b.chosen[TVLM_BUDGET_THIRD][i], 0);
    assert_true(tvlm_budget_lost(&with.tree, &with.losses, &a) + 400.0 * a.count <
                tvlm_budget_lost(&without.tree, &without.losses, &b) + 400.0 * b.count);
    tvlm_budget_choice_free(&a);
    tvlm_budget_choice_free(&b);
    free_wide(&with);
    free_wide(&without);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choices), cmocka_unit_test(test_order),          cmocka_unit_test(test_bound),
        cmocka_unit_test(test_thirds),  cmocka_unit_test(test_without_thirds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
