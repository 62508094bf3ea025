/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_clip_solve.c: the tokens of a video, against all choices there are.
 */
#include <math.h>
#include <string.h>

#include "clip/solve.h"
#include "support.h"

enum { SLOTS = 3, KINDS = CLIP_THUMBNAIL + 2, CELLS = 3 };

/* A video of three slots and two tiles of level 0, beside each other, with a thumbnail of one token and one of three. */
typedef struct small_clip {
    tvlm_budget_tree tree;
    clip_losses losses;
} small_clip;

static void make_clip(int32_t columns, int32_t rows, int32_t slots, small_clip *c) {
    assert_true(tvlm_budget_tree_make(columns, rows, &c->tree));
    c->losses = (clip_losses){.tree = &c->tree, .slots = slots, .kinds = KINDS, .cells = {1, CELLS}};
    c->losses.lost = calloc(tvlm_clip_losses_floats(&c->losses), sizeof *c->losses.lost);
    assert_non_null(c->losses.lost);
}

static void free_clip(small_clip *c) {
    free(c->losses.lost);
    tvlm_budget_tree_free(&c->tree);
}

/* Lets each token lose a whole number in each slot, so that sums are exact. It cannot be shown in more than `longest`. */
static void draw_losses(small_clip *c, int32_t longest, uint64_t *random) {
    for (int32_t kind = 0; kind < KINDS; ++kind)
        for (int32_t slot = 0; slot < c->losses.slots; ++slot)
            for (int32_t length = 1; length <= c->losses.slots - slot; ++length)
                for (int32_t place = 0; place < c->tree.places; ++place) {
                    const float before =
                        length > 1 ? clip_lost(&c->losses, kind, slot, length - 1)[place] : 0.0f;
                    const int coarse = kind >= CLIP_THUMBNAIL ? 12 : kind == CLIP_FOUR ? 9 : 5;
                    const int more = (int)(test_random(random) % 8) + coarse + length;
                    clip_lost(&c->losses, kind, slot, length)[place] = c->tree.tile_of[place] < 0 ? 0.0f
                                                                       : length > longest ? TVLM_BUDGET_NEVER
                                                                       : kind == CLIP_TILE
                                                                           ? (float)(length - 1)
                                                                           : before + (float)more;
                }
}

/* What is shown at the two places. */
typedef struct state {
    int32_t kind[2], from[2];
} state;

/* The least cost of the slots from `slot` on, over all that can be bought. */
static double least_cost(const small_clip *c, double price, int32_t slot, const state *before) {
    static const int32_t thumbnails[] = {-1, CLIP_THUMBNAIL, CLIP_THUMBNAIL + 1},
                         fours[] = {-1, CLIP_FOUR, CLIP_NINE};
    double least = INFINITY;
    if (slot == c->losses.slots) return 0.0;
    for (int choice = slot == 0 ? 1 : 0; choice < 72; ++choice) {
        const int32_t kinds[] = {thumbnails[choice % 3], fours[choice / 3 % 3],
                                 choice / 9 % 2 ? CLIP_TWO : -1};
        state now = *before;
        double cost = 0.0;
        if (slot == 0 && kinds[0] < 0) continue;
        if (slot > 0 && c->losses.held && kinds[0] == CLIP_THUMBNAIL + 1) continue;
        for (int i = 0; i < 3; ++i) {
            if (kinds[i] < 0) continue;
            cost += price * clip_tokens_of(&c->losses, kinds[i]);
            now = (state){{kinds[i], kinds[i]}, {slot, slot}};
        }
        for (int place = 0; place < 2; ++place) {
            if (choice / 18 >> place & 1) {
                cost += price;
                now.kind[place] = CLIP_TILE;
                now.from[place] = slot;
            }
            const int32_t length = slot - now.from[place] + 1, at = c->tree.place_of[place];
            cost +=
                (double)clip_lost(&c->losses, now.kind[place], now.from[place], length)[at] -
                (length > 1 ? (double)clip_lost(&c->losses, now.kind[place], now.from[place], length - 1)[at]
                            : 0.0);
        }
        if (cost < least) {
            cost += least_cost(c, price, slot + 1, &now);
            if (cost < least) least = cost;
        }
    }
    return least;
}

/* A choice is the best there is, costs what it says, and loses what it says. */
static void test_best(void **unused) {
    (void)unused;
    uint64_t random = 7;
    for (int round = 0; round < (test_quick() ? 6 : 40); ++round) {
        small_clip c;
        clip_choice choice = {0};
        double lost;
        const double price = (double)(round % 8);
        make_clip(2, 1, SLOTS, &c);
        c.losses.held = round % 4 > 1;
        draw_losses(&c, 2 + round % 2, &random);
        if (c.losses.held) c.losses.cells[1] = 0;
        clip_solver *const solver = tvlm_clip_solver_make(&c.losses);
        assert_non_null(solver);
        assert_true(tvlm_clip_solve(solver, price, &choice));
        assert_true(choice.lost + price * choice.spent == least_cost(&c, price, 0, &(state){{0}, {0}}));
        assert_true(tvlm_clip_replay(&c.losses, &choice, c.losses.slots, &lost));
        assert_true(lost == choice.lost);
        tvlm_clip_choice_free(&choice);
        tvlm_clip_solver_free(solver);
        free_clip(&c);
    }
}

/* The tokens of a choice that are not thumbnails. */
static int32_t count_kind(const clip_choice *choice, int32_t kind) {
    int32_t count = 0;
    for (int32_t i = 0; i < choice->count; ++i) count += choice->tokens[i].kind == kind;
    return count;
}

/* Several roots, partly beyond the image: whatever is shown loses what the choice says, and no token lies beyond the image. */
static void test_replay(void **unused) {
    (void)unused;
    uint64_t random = 11;
    small_clip c;
    clip_choice choice = {0};
    make_clip(9, 5, 7, &c);
    draw_losses(&c, 5, &random);
    clip_solver *const solver = tvlm_clip_solver_make(&c.losses);
    for (double price = 0.0; price < 100.0; price = 3.0 * price + 0.5) {
        double lost;
        assert_true(tvlm_clip_solve(solver, price, &choice));
        assert_true(tvlm_clip_replay(&c.losses, &choice, c.losses.slots, &lost));
        assert_true(fabs(lost - choice.lost) <= 1e-6 * lost);
        for (int32_t i = 0; i < choice.count; ++i) {
            const clip_token *const t = &choice.tokens[i];
            assert_true(t->from >= 0 && t->from < t->until && t->until <= 7);
            if (t->kind < CLIP_THUMBNAIL) assert_true(tvlm_budget_corner(&c.tree, t->kind, t->number) >= 0);
            if (i > 0) assert_true(choice.tokens[i - 1].from <= t->from);
        }
    }
    tvlm_clip_choice_free(&choice);
    tvlm_clip_solver_free(solver);
    free_clip(&c);
}

/* A budget is kept, and hardly anything of it is left: what the price leaves is spent on tiles. */
static void test_budget(void **unused) {
    (void)unused;
    uint64_t random = 5;
    small_clip c;
    make_clip(8, 8, 6, &c);
    draw_losses(&c, 6, &random);
    clip_solver *const solver = tvlm_clip_solver_make(&c.losses);
    double before = INFINITY;
    for (int32_t most = 1; most <= 64 * 6; most += 19) {
        clip_choice choice = {0}, plain = {0};
        double price = most % 2 ? 0.0 : 3.0, lost;
        assert_true(tvlm_clip_solve_budget(solver, most, &price, &choice));
        assert_true(choice.spent <= most && choice.count > 0);
        assert_true(tvlm_clip_fill(&c.losses, most, &choice));
        assert_true(choice.spent <= most);
        assert_true(most < 20 || choice.spent >= most - 8);
        assert_true(tvlm_clip_replay(&c.losses, &choice, c.losses.slots, &lost));
        assert_true(lost == choice.lost);
        assert_true(lost <= before * 1.02);
        before = lost;
        assert_true(tvlm_clip_downsample(&c.losses, most, &plain));
        assert_true(plain.count > 0 && plain.spent <= most);
        assert_true(tvlm_clip_replay(&c.losses, &plain, c.losses.slots, &lost));
        assert_true(fabs(lost - plain.lost) < 1e-3);
        assert_true(choice.lost <= plain.lost);
        tvlm_clip_choice_free(&choice);
        tvlm_clip_choice_free(&plain);
    }
    tvlm_clip_solver_free(solver);
    free_clip(&c);
}

/* Where nothing moves, what was bought once is held to the end, and everything is seen in full. */
static void test_still(void **unused) {
    (void)unused;
    small_clip c;
    clip_choice choice = {0};
    double price = 0.0;
    make_clip(4, 4, 6, &c);
    for (int32_t kind = CLIP_TWO; kind < KINDS; ++kind)
        for (int32_t slot = 0; slot < 6; ++slot)
            for (int32_t length = 1; length <= 6 - slot; ++length)
                for (int32_t place = 0; place < 16; ++place)
                    clip_lost(&c.losses, kind, slot, length)[place] = (float)(kind * length);
    clip_solver *const solver = tvlm_clip_solver_make(&c.losses);
    assert_true(tvlm_clip_solve_budget(solver, 17, &price, &choice));
    assert_int_equal(choice.spent, 17);
    assert_int_equal(count_kind(&choice, CLIP_TILE), 16);
    assert_true(choice.lost == 0.0);
    for (int32_t i = 0; i < choice.count; ++i)
        assert_true(choice.tokens[i].from == 0 && choice.tokens[i].until == 6);
    tvlm_clip_choice_free(&choice);
    tvlm_clip_solver_free(solver);
    free_clip(&c);
}

/* What is filled in takes the place of what was shown, which ends there. */
static void test_fill(void **unused) {
    (void)unused;
    small_clip c;
    clip_choice choice = {0};
    make_clip(1, 1, 4, &c);
    for (int32_t kind = 0; kind < KINDS; ++kind)
        for (int32_t slot = 0; slot < 4; ++slot)
            for (int32_t length = 1; length <= 4 - slot;
                 ++length) /* a tile is right in its own slot only, a thumbnail never */
                clip_lost(&c.losses, kind, slot, length)[0] =
                    (float)(kind >= CLIP_THUMBNAIL ? 10 * length : 2 * (length - 1));
    assert_true(tvlm_clip_choice_add(&c.losses, &(clip_token){0, 4, CLIP_THUMBNAIL, 0}, &choice));
    assert_true(tvlm_clip_choice_add(&c.losses, &(clip_token){1, 4, CLIP_TILE, 0}, &choice));
    assert_true(tvlm_clip_fill(&c.losses, 2, &choice));
    assert_int_equal(choice.count, 2);
    assert_true(choice.lost == 10.0 + 0.0 + 2.0 + 2.0);
    assert_true(tvlm_clip_fill(&c.losses, 3, &choice));
    assert_int_equal(choice.count, 3);
    assert_int_equal(choice.tokens[1].from, 0); /* ten are saved there, and on top of a tile two at most */
    assert_int_equal(choice.tokens[1].until, 1);
    assert_true(tvlm_clip_fill(&c.losses, 4, &choice));
    assert_int_equal(choice.tokens[2].until, 2);
    assert_int_equal(choice.tokens[3].from, 2);
    assert_int_equal(choice.tokens[3].until, 4);
    assert_true(choice.lost == 2.0);
    assert_true(tvlm_clip_fill(&c.losses, 100, &choice));
    assert_int_equal(choice.spent, 5); /* nothing is left to be saved */
    assert_true(choice.lost == 0.0);
    tvlm_clip_choice_free(&choice);
    free_clip(&c);
}

/* Two tiles of level 1 beside each other, and what is shown around them. A thumbnail loses 10 a slot and place, tiles 1. */
static void test_across(void **unused) {
    (void)unused;
    small_clip c;
    clip_choice choice = {0};
    double lost;
    make_clip(6, 4, 3, &c);
    for (int32_t kind = 0; kind < KINDS; ++kind)
        for (int32_t slot = 0; slot < 3; ++slot)
            for (int32_t length = 1; length <= 3 - slot; ++length)
                for (int32_t place = 0; place < c.tree.places; ++place)
                    clip_lost(&c.losses, kind, slot, length)[place] = (float)((kind >= CLIP_THUMBNAIL ? 10
                                                                               : kind == CLIP_TILE    ? 0
                                                                                                      : 1) *
                                                                              length);
    assert_true(tvlm_clip_choice_add(&c.losses, &(clip_token){0, 3, CLIP_THUMBNAIL, 0}, &choice));
    assert_true(tvlm_clip_across(&c.losses, &choice, &lost) && lost == 0.0);
    const int32_t first = c.tree.one_of[c.tree.place_of[0]], second = c.tree.one_of[c.tree.place_of[2]];
    assert_true(tvlm_clip_choice_add(&c.losses, &(clip_token){1, 3, CLIP_TWO, first}, &choice));
    assert_true(tvlm_clip_across(&c.losses, &choice, &lost));
    assert_true(fabs(lost - tvlm_budget_across(CLIP_TWO) * 2 * 40) <
                1e-9); /* two to the right, two below, for two slots */
    assert_true(tvlm_clip_choice_add(&c.losses, &(clip_token){1, 2, CLIP_TWO, second}, &choice));
    assert_true(tvlm_clip_across(&c.losses, &choice, &lost));
    assert_true(fabs(lost - tvlm_budget_across(CLIP_TWO) * (2 * 20 + 1 * 40)) < 1e-9);
    assert_true(
        tvlm_clip_choice_add(&c.losses, &(clip_token){1, 3, CLIP_TILE, c.tree.place_of[12]}, &choice));
    assert_true(
        tvlm_clip_across(&c.losses, &choice, &lost)); /* below the first tile half of it is right now */
    assert_true(fabs(lost - tvlm_budget_across(CLIP_TWO) * (2 * 10 + 1 * 40)) < 1e-9);
    tvlm_clip_choice_free(&choice);
    free_clip(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best),  cmocka_unit_test(test_replay), cmocka_unit_test(test_budget),
        cmocka_unit_test(test_still), cmocka_unit_test(test_fill),   cmocka_unit_test(test_across),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
