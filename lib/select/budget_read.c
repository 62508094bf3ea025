/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_read.c: how much of the detail of a thumbnail with its tiles cannot be read, where a word lies over
 * several tiles.
 *
 * Tiles are chosen by what each loses alone. But a word is read as a whole. Where all of a page is hardly
 * legible, a tile that is a little better makes up for a tile beside it that is a little worse. And a sharp
 * tile does not help if the tile beside it is not sharp. So answers are compared by the correlation of detail
 * over a tile and the tiles around it. That correlation becomes a loss by the same curve as the correlation
 * of one tile (core/operations.h). The correlation of each picture over each tile is found from what the
 * picture loses, by the inverse of that curve.
 */
#include <math.h>

#include "core/constants.h"
#include "core/memory.h"
#include "select/budget.h"

/* Near its ends the curve is so flat that a loss no longer tells the correlation. Values are kept this far
 * from both ends. */
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
    const size_t floats = tiles * (pictures + 5) + (size_t)budget->tree.columns; /* columns: a row of 0 */
    float *const memory = tvlm_allocate(floats * sizeof *memory + pictures, 1);
    if (memory == NULL) return tvlm_budget_no_memory(budget);
    tvlm_budget_reading *const r = &budget->reading;
    *r = (tvlm_budget_reading){memory, memory + tiles, memory + 2 * tiles, (bool *)(memory + floats)};
    /* As a rule the thumbnail of one patch shows next to nothing of the detail. So the largest loss of any
     * picture is taken as the loss where nothing can be read. */
    for (size_t p = 0; p < pictures; ++p) {
        const float *const values = budget->values + 2 * p * tiles + TVLM_BUDGET_DETAIL;
        for (size_t i = 0; i < tiles; ++i) {
            const float detail = values[2 * i] / all;
            r->detail[i] = r->detail[i] < detail ? detail : r->detail[i];
        }
    }
    return TVLM_OK;
}

/* The correlations of a measured picture over all tiles. */
static const float *correlations_of(const tvlm_budget *budget, size_t picture) {
    const tvlm_budget_reading *const r = &budget->reading;
    const size_t tiles = (size_t)budget->tiles;
    float *const correlations = r->correlations + picture * tiles;
    if (r->known[picture]) return correlations;
    const float legible = tvlm_budget_legible(budget->patch), least = tvlm_budget_not_read(1.0f, legible);
    const float *const values = budget->values + 2 * picture * tiles + TVLM_BUDGET_DETAIL;
    for (size_t i = 0; i < tiles; ++i)
        correlations[i] =
            r->detail[i] > 0.0f ? correlation_of(values[2 * i], r->detail[i], legible, least) : 1.0f;
    r->known[picture] = true;
    return correlations;
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

/* Smooths along rows: each tile becomes twice itself, plus the tile before and the tile after it. */
static void smooth_row(const float *restrict from, int32_t columns, float *restrict to) {
    for (int32_t x = 0; x < columns; ++x)
        to[x] = (x > 0 ? from[x - 1] : 0.0f) + 2.0f * from[x] + (x + 1 < columns ? from[x + 1] : 0.0f);
}

/* Does the same across rows, for one row between two others. */
static void smooth_rows(const float *above, const float *row, const float *below, int32_t columns,
                        float *restrict to) {
    for (int32_t x = 0; x < columns; ++x) to[x] = above[x] + 2.0f * row[x] + below[x];
}

/* `between` has room for a row more than there are, which is all 0. */
static void smooth_all(const tvlm_budget *budget, float *values, float *between) {
    const int32_t columns = budget->tree.columns, rows = budget->tree.rows;
    const float *const none = between + (ptrdiff_t)rows * columns;
    for (int32_t y = 0; y < rows; ++y)
        smooth_row(values + (ptrdiff_t)y * columns, columns, between + (ptrdiff_t)y * columns);
    for (int32_t y = 0; y < rows; ++y) {
        const float *const row = between + (ptrdiff_t)y * columns;
        smooth_rows(y > 0 ? row - columns : none, row, y + 1 < rows ? row + columns : none, columns,
                    values + (ptrdiff_t)y * columns);
    }
}

/* The parts of the memory of `reading` in which correlations are averaged over tiles. */
typedef struct averages {
    float *weights, *sums, *between;
} averages;

static averages averages_of(const tvlm_budget *budget) {
    const size_t tiles = (size_t)budget->tiles;
    float *const memory = budget->reading.detail + tiles * ((size_t)budget->measured_count + 2);
    return (averages){memory, memory + tiles, memory + 2 * tiles};
}

/* What is lost where a->sums has the correlation over each tile. a->sums is overwritten. */
static double add_up_unread(const tvlm_budget *budget, const averages *a) {
    const tvlm_budget_reading *const r = &budget->reading;
    const size_t tiles = (size_t)budget->tiles;
    const float legible = tvlm_budget_legible(budget->patch), least = tvlm_budget_not_read(1.0f, legible);
    double lost = 0.0;
    for (size_t i = 0; i < tiles; ++i) {
        a->weights[i] = r->detail[i];
        a->sums[i] *= r->detail[i];
    }
    smooth_all(budget, a->weights, a->between);
    smooth_all(budget, a->sums, a->between);
    for (size_t i = 0; i < tiles; ++i) {
        if (r->detail[i] <= 0.0f) continue;
        const float share = fmaxf(tvlm_budget_not_read(a->sums[i] / a->weights[i], legible) - least, 0.0f);
        lost += (double)(r->detail[i] * r->counts[i] * share);
    }
    return lost;
}

double tvlm_budget_unread_in_parts(const tvlm_budget *budget, int32_t grid, int32_t under,
                                   const float *hidden) {
    const averages a = averages_of(budget);
    const int32_t below = under < 0 ? TVLM_BUDGET_LEAST : TVLM_BUDGET_FIRST + under;
    const float *const shown = correlations_of(budget, (size_t)budget->measured[TVLM_BUDGET_FIRST + grid]),
                       *const beneath = correlations_of(budget, (size_t)budget->measured[below]);
    for (size_t i = 0; i < (size_t)budget->tiles; ++i)
        a.sums[i] = (1.0f - hidden[i]) * shown[i] + hidden[i] * beneath[i];
    return add_up_unread(budget, &a);
}

double tvlm_budget_unread(const tvlm_budget *budget, int32_t grid, const tvlm_budget_choice *choice) {
    const averages a = averages_of(budget);
    const float *correlations[TVLM_BUDGET_KINDS + 1] = {NULL}; /* [1 + kind]; [0]: without a tile */
    for (size_t i = 0; i < (size_t)budget->tiles; ++i) {
        const int32_t kind =
            choice != NULL ? tvlm_budget_kind_at(&budget->tree, choice, budget->tree.place_of[i]) : -1;
        const float **const shown = &correlations[kind + 1];
        if (*shown == NULL)
            *shown = correlations_of(budget, (size_t)budget->measured[picture_of(kind, grid)]);
        a.sums[i] = kind == 0 ? 1.0f : (*shown)[i];
    }
    return add_up_unread(budget, &a);
}
