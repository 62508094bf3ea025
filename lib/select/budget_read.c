/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_read.c: how much of the detail of a thumbnail with its tiles cannot be read, where a word lies over
 * several tiles.
 *
 * Tiles are chosen by what each loses alone. But a word is read as a whole. Where all of a page is near the
 * threshold of reading, what is a little better here makes up for what is a little worse beside it. And a
 * sharp tile beside one that is not sharp helps nobody. So answers are compared by the correlation of detail
 * over a tile and the tiles around it. The same curve that makes the loss of one tile (core/operations.h)
 * makes a loss of that correlation. The correlation of each picture over each tile is found by going back on
 * that curve, from what the picture loses.
 */
#include <math.h>

#include "core/constants.h"
#include "core/memory.h"
#include "select/budget.h"

/* Near its ends the curve is so flat that a loss no longer tells the correlation. Values are kept this far
 * from them. */
#define FLAT 1e-4f

static float correlation_of(float lost, float most, float legible, float least) {
    const float y = lost / most + least;
    const float within = fminf(fmaxf(y, FLAT), 1.0f - FLAT);
    return fminf(legible - TVLM_BUDGET_SOFT * logf(within / (1.0f - within)), 1.0f);
}

tvlm_status tvlm_budget_prepare_reading(tvlm_budget *budget) {
    const size_t tiles = (size_t)budget->tiles, pictures = (size_t)budget->measured_count;
    const float legible = tvlm_budget_legible(budget->patch);
    const float least = tvlm_budget_not_read(1.0f, legible),
                all = tvlm_budget_not_read(0.0f, legible) - least;
    float *const memory = tvlm_allocate(tiles * (pictures + 5), sizeof *memory);
    if (memory == NULL) return tvlm_budget_no_memory(budget);
    tvlm_budget_reading *const r = &budget->reading;
    *r = (tvlm_budget_reading){memory, memory + tiles, memory + 2 * tiles};
    for (size_t i = 0; i < tiles; ++i) {
        /* Some picture shows next to nothing of the detail, as a rule the thumbnail of one patch: so the
         * largest loss is that of detail of which nothing is read. */
        for (size_t p = 0; p < pictures; ++p)
            r->detail[i] =
                fmaxf(r->detail[i], budget->values[2 * (p * tiles + i) + TVLM_BUDGET_DETAIL] / all);
        for (size_t p = 0; p < pictures; ++p)
            r->correlations[p * tiles + i] =
                r->detail[i] > 0.0f ? correlation_of(budget->values[2 * (p * tiles + i) + TVLM_BUDGET_DETAIL],
                                                     r->detail[i], legible, least)
                                    : 1.0f;
    }
    return TVLM_OK;
}

/* The picture that a tile of a kind is cut out of. */
static int32_t picture_of(int32_t kind, int32_t grid) {
    switch (kind) {
    case 1: return TVLM_BUDGET_ONE;
    case 2: return TVLM_BUDGET_TWO;
    case TVLM_BUDGET_NINE: return TVLM_BUDGET_THREE_QUARTERS;
    case TVLM_BUDGET_THIRD: return TVLM_BUDGET_A_THIRD;
    default: return TVLM_BUDGET_FIRST + grid;
    }
}

/* Smooths a line of `count` tiles, which lie `step` apart: each becomes twice itself, plus the tile before
 * and the tile after it. */
static void smooth(const float *from, int32_t count, ptrdiff_t step, float *to) {
    for (int32_t i = 0; i < count; ++i)
        to[i * step] = (i > 0 ? from[(i - 1) * step] : 0.0f) + 2.0f * from[i * step] +
                       (i + 1 < count ? from[(i + 1) * step] : 0.0f);
}

static void smooth_all(const tvlm_budget *budget, float *values, float *between) {
    const int32_t columns = budget->tree.columns, rows = budget->tree.rows;
    for (int32_t y = 0; y < rows; ++y)
        smooth(values + (ptrdiff_t)y * columns, columns, 1, between + (ptrdiff_t)y * columns);
    for (int32_t x = 0; x < columns; ++x) smooth(between + x, rows, columns, values + x);
}

double tvlm_budget_unread(const tvlm_budget *budget, int32_t grid, const tvlm_budget_choice *choice) {
    const tvlm_budget_reading *const r = &budget->reading;
    const size_t tiles = (size_t)budget->tiles;
    const float legible = tvlm_budget_legible(budget->patch), least = tvlm_budget_not_read(1.0f, legible);
    float *const weights = r->detail + tiles * ((size_t)budget->measured_count + 2),
                 *const sums = weights + tiles, *const between = sums + tiles;
    double lost = 0.0;
    for (size_t i = 0; i < tiles; ++i) {
        const int32_t kind =
            choice != NULL ? tvlm_budget_kind_at(&budget->tree, choice, budget->tree.place_of[i]) : -1;
        const size_t picture = (size_t)budget->measured[picture_of(kind, grid)];
        weights[i] = r->detail[i];
        sums[i] = r->detail[i] * (kind == 0 ? 1.0f : r->correlations[picture * tiles + i]);
    }
    smooth_all(budget, weights, between);
    smooth_all(budget, sums, between);
    for (size_t i = 0; i < tiles; ++i) {
        if (r->detail[i] <= 0.0f) continue;
        const float share = fmaxf(tvlm_budget_not_read(sums[i] / weights[i], legible) - least, 0.0f);
        lost += (double)(r->detail[i] * r->counts[i] * share);
    }
    return lost;
}
