/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_grids.c: which thumbnails are tried, and how many of their cells are not blank.
 */
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/try.h"
#include "select/budget.h"

/* The shares of all patches for thumbnails that leave some patches to tiles. 0 stands for one patch.
 * - `few` has six shares. Eleven gained at most 0.01 dB, and took a third longer.
 * - `many` has eleven shares, for images in which some tiles matter more than others, above all with a
 *   question. With six, what was asked for was up to 1.5 dB worse there. */
static const double few[] = {0.7, 0.4, 0.2, 0.1, 0.05, 0.0};
static const double many[] = {0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0};

/* The shares of all patches that finer thumbnails may take for their cells that are not blank. The shares are
 * close together, since what is legible changes within a tenth of the scale. */
static const double kept[] = {1.0, 0.93, 0.8, 0.6, 0.4};
enum { KEPT = sizeof kept / sizeof *kept };

/* How many thumbnails that get all patches are measured. The best of them is downsampling. */
enum { ALONE = 6 };

/* For each side: how many columns or rows fewer, and how many more, are tried than the number with which
 * texels would be squares. */
enum { BELOW = 8, ABOVE = 9, CANDIDATES = 2 * (BELOW + 1 + ABOVE) };

/* The image, in pixels and in patches. */
typedef struct extent {
    const tvlm_budget_ink *ink;
    int32_t columns, rows;
} extent;

typedef struct candidate {
    tvlm_budget_grid grid;
    double cost;
} candidate;

static int compare(const void *a, const void *b) {
    const candidate *p = a, *q = b;
    if (p->cost != q->cost) return p->cost < q->cost ? -1 : 1;
    if (p->grid.columns != q->grid.columns) return p->grid.columns < q->grid.columns ? -1 : 1;
    return (p->grid.rows > q->grid.rows) - (p->grid.rows < q->grid.rows);
}

static int32_t between(int32_t value, int32_t low, int32_t high) {
    return value < low ? low : value > high ? high : value;
}

/* Lists grids of at most n patches whose texels are nearly squares, the cheapest first. Some come twice. */
static void list(const extent *e, int32_t n, candidate candidates[CANDIDATES]) {
    const double width = e->ink->width, height = e->ink->height;
    const int32_t across = (int32_t)sqrt(n * width / height), down = (int32_t)sqrt(n * height / width);
    for (int i = 0; i < CANDIDATES; ++i) {
        candidate *const c = &candidates[i];
        const int32_t away = i / 2 - BELOW;
        int32_t columns = between(across + away, 1, n), rows = n / columns;
        if (i % 2 == 1) {
            rows = between(down + away, 1, n);
            columns = n / rows;
        }
        c->grid = (tvlm_budget_grid){between(columns, 1, e->columns), between(rows, 1, e->rows)};
        c->cost = tvlm_budget_grid_cost(e->ink, c->grid.columns, c->grid.rows);
    }
    qsort(candidates, CANDIDATES, sizeof *candidates, compare);
}

static bool is_listed(const tvlm_budget_grid *grids, int32_t count, const tvlm_budget_grid *grid) {
    for (int32_t i = 0; i < count; ++i)
        if (grids[i].columns == grid->columns && grids[i].rows == grid->rows) return true;
    return false;
}

/* Adds the cheapest `wanted` grids of at most n patches that are not listed yet, or as many as there are.
 * Returns how many grids are listed then. */
static int32_t add_best(const extent *e, int32_t n, int32_t wanted, tvlm_budget_grid *grids, int32_t count) {
    candidate candidates[CANDIDATES];
    list(e, n, candidates);
    for (int i = 0; i < CANDIDATES && wanted > 0 && count < TVLM_BUDGET_GRIDS_MAX; ++i) {
        if (is_listed(grids, count, &candidates[i].grid)) continue;
        grids[count++] = candidates[i].grid;
        --wanted;
    }
    return count;
}

static extent extent_of(const tvlm_budget_ink *ink) {
    const int32_t patch = ink->patch;
    return (extent){ink, (ink->width + patch - 1) / patch, (ink->height + patch - 1) / patch};
}

/* Adds for each share in `kept` the finest grid that keeps at most that share of n cells, if that grid has
 * blank cells. Returns how many grids are listed then; -1: no memory. */
static int32_t add_kept(const tvlm_budget_ink *ink, int32_t n, tvlm_budget_grid *grids, int32_t count) {
    tvlm_budget_fit fits[KEPT];
    for (int i = 0; i < KEPT; ++i) fits[i].n = (int32_t)fmax(floor(kept[i] * n), 1.0);
    if (!tvlm_budget_finest(ink, fits, KEPT)) return -1;
    for (int i = 0; i < KEPT && count < TVLM_BUDGET_GRIDS_MAX; ++i) {
        const tvlm_budget_grid grid = {fits[i].columns, fits[i].rows};
        if (fits[i].kept < tvlm_budget_patches(&grid) && !is_listed(grids, count, &grid))
            grids[count++] = grid;
    }
    return count;
}

/* Lists the thumbnails for n patches. Returns how many there are; -1: no memory. */
static int32_t list_for(const tvlm_budget_ink *ink, int32_t n, bool emphasised,
                        tvlm_budget_grid grids[TVLM_BUDGET_GRIDS_MAX], int32_t *alone) {
    const extent e = extent_of(ink);
    int32_t count = *alone = add_best(&e, n, ALONE, grids, 0), before = n;
    const double *const shares = emphasised ? many : few;
    const size_t share_count = emphasised ? sizeof many / sizeof *many : sizeof few / sizeof *few;
    for (size_t i = 0; i < share_count; ++i) {
        const int32_t own = (int32_t)fmax(floor(shares[i] * n + 0.5), 1.0);
        if (own < before) count = add_best(&e, own, 1, grids, count);
        before = own;
    }
    return add_kept(ink, n, grids, count);
}

/* Lists the thumbnails for a tolerance, of fewer than `most` patches. Returns how many there are. */
static int32_t list_ladder(const tvlm_budget_ink *ink, int32_t most,
                           tvlm_budget_grid grids[TVLM_BUDGET_GRIDS_MAX]) {
    const extent e = extent_of(ink);
    int32_t count = 0;
    for (double n = 1.0; n < most && count < TVLM_BUDGET_GRIDS_MAX; n = fmax(n * 1.5, n + 1.0))
        count = add_best(&e, (int32_t)n, 1, grids, count);
    return count;
}

/* ---- What is seen, and what is kept ---- */

/* Reads the image's colours at a quarter of its size from the device. */
tvlm_status tvlm_budget_look_for_ink(tvlm_budget *budget) {
    tvlm_stack *const stack = budget->task->stack;
    tvlm_device *const device = tvlm_stack_device(stack);
    const int32_t width = budget->source->width, height = budget->source->height;
    const int32_t image = tvlm_stack_image_number(stack, budget->task->params.score.index);
    const size_t bytes = tvlm_budget_ink_bytes(width, height);
    tvlm_buffer *colours;
    budget->colours = tvlm_allocate(bytes, 1);
    if (budget->colours == NULL) return tvlm_budget_no_memory(budget);
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_RANKING, bytes, &colours));
    TVLM_TRY(device->backend->ink(device, budget->source, image, colours, 0));
    TVLM_TRY(device->backend->buffer_read(device, colours, 0, bytes, budget->colours));
    return tvlm_budget_ink_make(budget->colours, width, height, budget->patch, &budget->ink)
               ? TVLM_OK
               : tvlm_budget_no_memory(budget);
}

/* Finds how many cells of each thumbnail are not blank. `blank` has room for a byte for each tile. False: no
 * memory. */
static bool count_cells(tvlm_budget *budget, uint8_t *blank) {
    for (int32_t i = 0; i < budget->grid_count; ++i) {
        const tvlm_budget_grid *const grid = &budget->grids[i];
        budget->cells[i] =
            tvlm_budget_blank(&budget->ink, grid->columns, grid->rows, blank, &budget->filled[i]);
        if (budget->cells[i] < 0) return false;
    }
    return true;
}

tvlm_status tvlm_budget_list_grids(tvlm_budget *budget) {
    TVLM_TRY(tvlm_budget_look_for_ink(budget));
    uint8_t *const blank = tvlm_allocate((size_t)budget->tiles, 1);
    budget->grid_count = budget->n > 0 ? list_for(&budget->ink, budget->n, budget->emphasis > 0.0,
                                                  budget->grids, &budget->alone)
                                       : list_ladder(&budget->ink, budget->tiles, budget->grids);
    const bool made = blank != NULL && budget->grid_count >= 0 && count_cells(budget, blank);
    free(blank);
    return made ? TVLM_OK : tvlm_budget_no_memory(budget);
}
