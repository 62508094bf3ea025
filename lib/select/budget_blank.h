/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/budget_blank.h: which cells of a thumbnail show nothing, so that they may be left out.
 */
#ifndef TVLM_SELECT_BUDGET_BLANK_H
#define TVLM_SELECT_BUDGET_BLANK_H

#include <stdint.h>

/* How many bytes of 255 what is on a flat cell, at a quarter of the image's size, may differ by in r, g or b. Paper's
 * noise with a sigma of 3 is within them. A pixel of black on white is 16 of them where 4 divides both sides of the
 * image, and as few as 4 where texels part it; a dot of 2 x 2 pixels always is 15 or more. At half the size a pixel would
 * be seen anyhow, but so would a scan's noise: of three scanned pages hardly a cell was blank. */
#define TVLM_BUDGET_INK 12
/* By how many bytes the colour that a cell is filled with may be off its middle. */
#define TVLM_BUDGET_OFF 6

/* What is seen of an image of width x height pixels: `blocks` as the operation `ink` leaves them. `patch` is the side
 * of a thumbnail's cell in texels. */
typedef struct tvlm_budget_ink {
    const uint8_t *blocks;
    int32_t width, height, patch;
} tvlm_budget_ink;

/*
 * Finds which cells of a thumbnail of columns x rows cells are blank, at most one for each pixel of a side:
 * blank[row * columns + column] is 1 for those, else 0. Returns how many are kept, at least one; -1: no memory.
 *
 * A cell is blank whose blocks (all that it touches) differ by at most TVLM_BUDGET_INK, and that is filled well: who
 * draws a thumbnail fills it from around it (tvlm_selection_empty), and that colour is at most TVLM_BUDGET_OFF off its
 * middle, the mean of its least and its largest. The line of texels of a kept neighbour that faces it counts with the
 * middles of the blocks that it lies in. Where all cells are blank the first one is kept.
 */
int32_t tvlm_budget_blank(const tvlm_budget_ink *ink, int32_t columns, int32_t rows, uint8_t *blank);

/* The grid of at most n cells whose texels are nearest to squares and to pixels, no finer than the image. */
void tvlm_budget_near_square(const tvlm_budget_ink *ink, int64_t n, int32_t *columns, int32_t *rows);

/*
 * Finds the finest such grid of which at most n cells, n >= 1, are kept, by bisection: of ever finer grids ever more are,
 * but for a few. `blank` has room for as many cells as there are patches in the image. Returns how many are kept; -1: no
 * memory.
 */
int32_t tvlm_budget_finest(const tvlm_budget_ink *ink, int32_t n, int32_t *columns, int32_t *rows,
                           uint8_t *blank);

#endif
