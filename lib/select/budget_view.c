/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_view.c: how strongly what matters may count, so that the image as a whole stays in view.
 *
 * The loss of a tile counts 1 + L m, where L is the emphasis and m, in [0, 1], is how much the tile matters.
 * The choice that is wanted has the least such loss among those that stay within a limit: a limit on the
 * squared error over the image, with each tile counted alike.
 *
 * Everett (1963) turns the limit into a price a >= 0 on that error: for some a, the wanted choice is the one
 * of least loss among all choices, where tiles count a + 1 + L m. Such weights are, but for a factor, those
 * of a smaller L. So the largest L is looked for whose choice is within the limit.
 */
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/try.h"
#include "select/budget.h"

/* How many times the squared error of downsampling is allowed: 0.9 dB. In the end 1 dB is allowed. But what
 * is predicted is the error of luma, and the error of colours is a little larger. */
#define ALLOWED 1.23

/* How many smaller emphases are tried. */
enum { STEPS = 5 };

static double error_at(const tvlm_budget *budget, int32_t picture, int32_t tile) {
    return (double)tvlm_budget_values(budget, picture)[2 * (size_t)tile + TVLM_BUDGET_ERROR];
}

/* The squared error of downsampling at its best over the image, with each tile counted alike. */
static double downsampled(const tvlm_budget *budget) {
    double least = INFINITY;
    for (int32_t i = 0; i < budget->alone; ++i) {
        double sum = 0.0;
        for (int32_t tile = 0; tile < budget->tiles; ++tile)
            sum += error_at(budget, TVLM_BUDGET_FIRST + i, tile);
        least = fmin(least, sum);
    }
    return least;
}

static void place_error(const tvlm_budget *budget, int32_t picture, float *out) {
    for (int32_t i = 0; i < budget->tree.places; ++i) {
        const int32_t tile = budget->tree.tile_of[i];
        out[i] = tile >= 0 ? (float)error_at(budget, picture, tile) : 0.0f;
    }
}

/* The squared error of an answer over the image, with each tile counted alike. `memory` has room for
 * 5 * places floats. */
static double lost_by(const tvlm_budget *budget, const tvlm_budget_answer *answer, float *memory) {
    const size_t places = (size_t)budget->tree.places;
    const tvlm_budget_losses losses = {.under = memory,
                                       .one = memory + places,
                                       .two = memory + 2 * places,
                                       .nine = memory + 3 * places,
                                       .third = memory + 4 * places,
                                       .levels = TVLM_BUDGET_TREE_LEVELS};
    place_error(budget, TVLM_BUDGET_FIRST + answer->grid, memory);
    place_error(budget, TVLM_BUDGET_ONE, memory + places);
    place_error(budget, TVLM_BUDGET_TWO, memory + 2 * places);
    place_error(budget, TVLM_BUDGET_THREE_QUARTERS, memory + 3 * places);
    place_error(budget, TVLM_BUDGET_A_THIRD, memory + 4 * places);
    return tvlm_budget_lost(&budget->tree, &losses, &answer->choice);
}

/* Replaces an answer that shows too little of the image. Smaller emphases are tried, and the largest of them
 * that shows enough is taken. The emphasis 0 always does, since with it the image is shown no worse than by
 * downsampling. */
static tvlm_status lower(tvlm_budget *budget, double emphasis, double limit, float *memory,
                         tvlm_budget_answer *answer) {
    double low = 0.0, high = emphasis;
    tvlm_budget_answer_free(answer);
    tvlm_budget_place(budget, low);
    TVLM_TRY(tvlm_budget_solve(budget, budget->n, answer));
    for (int step = 0; step < STEPS; ++step) {
        const double middle = sqrt((1.0 + low) * (1.0 + high)) - 1.0;
        tvlm_budget_answer tried = {0};
        tvlm_budget_place(budget, middle);
        TVLM_TRY(tvlm_budget_solve(budget, budget->n, &tried));
        const bool holds = lost_by(budget, &tried, memory) <= limit;
        *(holds ? &low : &high) = middle;
        if (holds) {
            const tvlm_budget_answer before = *answer;
            *answer = tried;
            tried = before;
        }
        tvlm_budget_answer_free(&tried);
    }
    tvlm_budget_place(budget, low);
    return TVLM_OK;
}

tvlm_status tvlm_budget_solve_in_view(tvlm_budget *budget, tvlm_budget_answer *answer) {
    const double emphasis = budget->emphasis;
    TVLM_TRY(tvlm_budget_solve(budget, budget->n, answer));
    if (emphasis == 0.0) return TVLM_OK;
    const double limit = ALLOWED * downsampled(budget);
    float *const memory = tvlm_allocate(5 * (size_t)budget->tree.places, sizeof *memory);
    if (memory == NULL) {
        tvlm_budget_answer_free(answer);
        return tvlm_budget_no_memory(budget);
    }
    tvlm_status status = TVLM_OK;
    if (lost_by(budget, answer, memory) > limit) status = lower(budget, emphasis, limit, memory, answer);
    free(memory);
    if (status != TVLM_OK) tvlm_budget_answer_free(answer);
    return status;
}
