/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/budget_blank.h: which cells of a thumbnail show nothing, so that they may be left out.
 */
#ifndef TVLM_SELECT_BUDGET_BLANK_H
#define TVLM_SELECT_BUDGET_BLANK_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/backend.h"
#include "core/constants.h"

/*
 * A cell is flat if its texels at a quarter of the image's size differ by at most so many bytes of 255, in
 * each of r, g and b. Why this many, and why at this size:
 * - A paper's noise with a sigma of 3 is within them.
 * - A black pixel on white makes a difference of 16 where 4 divides both sides of the image, and of as little
 *   as 4 where the pixel is divided among texels. A dot of 2 x 2 pixels always makes one of 15 or more.
 * - At half the size a single pixel would always be seen, but so would a scan's noise: of three scanned pages
 *   hardly a cell was blank then.
 */
#define TVLM_BUDGET_INK 12
/* The same limit at half the size, for the texels that become one texel at a quarter. It finds what is finer
 * than a texel at a quarter of the size, and so even that no difference is left at a quarter. */
#define TVLM_BUDGET_FINE 12
/* By how many bytes of 255 the colour that a cell is filled with may differ from the cell's middle. */
#define TVLM_BUDGET_OFF 6

/* What decides which cells of an image of width x height pixels are blank. `colours` are wide x high texels,
 * as the operation `ink` (core/operations.h) writes them. `patch` is the side of a thumbnail's cell in texels
 * of the thumbnail. */
typedef struct tvlm_budget_ink {
    const uint8_t *colours;
    int32_t width, height, patch;
    int32_t wide, high;
    /* A summed area table, [row * wide + column]: how many of the texels above and left of there make a
     * *step*, which is a difference of more than TVLM_BUDGET_INK from the next texel or from the one below. A
     * cell that has both texels of a step is not blank. */
    uint32_t *steps;
} tvlm_budget_ink;

/* How many bytes the operation `ink` writes for an image that has all its levels. */
static inline size_t tvlm_budget_ink_bytes(int32_t width, int32_t height) {
    return (size_t)tvlm_level_side(width, TVLM_INK_LEVEL) * (size_t)tvlm_level_side(height, TVLM_INK_LEVEL) *
           TVLM_INK_BYTES;
}

/* Makes what the functions below need, once for an image. `colours` must outlive *ink. False: no memory. */
bool tvlm_budget_ink_make(const uint8_t *colours, int32_t width, int32_t height, int32_t patch,
                          tvlm_budget_ink *ink);

static inline void tvlm_budget_ink_free(tvlm_budget_ink *ink) {
    free(ink->steps);
    ink->steps = NULL;
}

/*
 * Finds which cells of a thumbnail of columns x rows cells are blank. Along a side there is at most one cell
 * for each pixel. blank[row * columns + column] becomes 1 for a blank cell, else 0. Returns how many cells
 * are kept; -1: no memory. At least one cell is kept: where all are blank, it is the first. *error, unless
 * `error` is NULL, becomes about the squared error of luma that filling the blank cells makes. It is a sum
 * over their pixels, each of which adds 0 to 1.
 *
 * A cell is blank if all of this holds for the texels of `ink` that it touches:
 * - They differ by at most TVLM_BUDGET_INK.
 * - None of them hides anything that is finer than a texel (TVLM_BUDGET_FINE).
 * - The cell is filled well. Who draws a thumbnail fills a blank cell with a colour from around it
 *   (tvlm_selection_empty). That colour must be at most TVLM_BUDGET_OFF off the cell's middle, which is the
 *   mean of its least and its largest value. A kept neighbour counts with the line of its texels that faces
 *   the cell. The line has the image's colours there.
 */
int32_t tvlm_budget_blank(const tvlm_budget_ink *ink, int32_t columns, int32_t rows, uint8_t *blank,
                          double *error);

/* The cost of a grid, by which grids of one number of cells are compared. It grows with the detail that the
 * grid leaves out along both sides, and with how much more it leaves out along one side than along the
 * other. */
static inline double tvlm_budget_grid_cost(const tvlm_budget_ink *ink, int32_t columns, int32_t rows) {
    const double x = fmin(1.0, (double)columns * ink->patch / ink->width),
                 y = fmin(1.0, (double)rows * ink->patch / ink->height);
    return -log(x) - log(y) + 0.5 * fabs(log(x / y));
}

/* Finds the grid of at most n cells whose texels are nearest to squares and nearest to pixels. It is no finer
 * than the image. */
void tvlm_budget_near_square(const tvlm_budget_ink *ink, int64_t n, int32_t *columns, int32_t *rows);

/* The finest grid that keeps at most n cells, n >= 1, and how many it keeps. Where no grid is known, all
 * members but n are 0. */
typedef struct tvlm_budget_fit {
    int32_t n, columns, rows, kept;
} tvlm_budget_fit;

/*
 * Finds the finest grid for each n of fits[count], which fall from one to the next. Grids with near-square
 * texels are tried, each of a fiftieth more cells than the one before. A finer grid nearly always keeps more
 * cells than a coarser one. So a grid counts as the finest if the next three all keep too many. Where hardly
 * anything is blank, no grid is known for any n. That is so where a grid of 1.3 times the first n cells keeps
 * more than .97 of its cells. False: no memory.
 */
bool tvlm_budget_finest(const tvlm_budget_ink *ink, tvlm_budget_fit *fits, int32_t count);

#endif
