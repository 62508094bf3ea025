/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/budget_blank.h: which cells of a thumbnail show nothing, so that they may be left out.
 */
#ifndef TVLM_SELECT_BUDGET_BLANK_H
#define TVLM_SELECT_BUDGET_BLANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes of 255 what is on a flat cell, at a quarter of the image's size, may differ by in r, g or b. Paper's
 * noise with a sigma of 3 is within them. A pixel of black on white is 16 of them where 4 divides both sides of the
 * image, and as few as 4 where texels part it; a dot of 2 x 2 pixels always is 15 or more. At half the size a pixel would
 * be seen anyhow, but so would a scan's noise: of three scanned pages hardly a cell was blank. */
#define TVLM_BUDGET_INK 12
/* The same at half of the size, between texels that become one at a quarter: what is finer, and even. */
#define TVLM_BUDGET_FINE 12
/* By how many bytes the colour that a cell is filled with may be off its middle. */
#define TVLM_BUDGET_OFF 6

/* What is seen of an image of width x height pixels: `colours` as the operation `ink` leaves them, wide x high texels.
 * `patch` is the side of a thumbnail's cell in texels. */
typedef struct tvlm_budget_ink {
    const uint8_t *colours;
    int32_t width, height, patch;
    int32_t wide, high;
    /* [row * wide + column]: of how many texels above and left of there one beside or below is more than
     * TVLM_BUDGET_INK off, so that a cell that has both is not blank. */
    uint32_t *steps;
} tvlm_budget_ink;

/* How many bytes `ink` leaves of an image that has all its levels. */
size_t tvlm_budget_ink_bytes(int32_t width, int32_t height);

/* Makes what the functions below need, once for an image; `colours` must outlive it. False: no memory. */
bool tvlm_budget_ink_make(const uint8_t *colours, int32_t width, int32_t height, int32_t patch,
                          tvlm_budget_ink *ink);
void tvlm_budget_ink_free(tvlm_budget_ink *ink);

/*
 * Finds which cells of a thumbnail of columns x rows cells are blank, at most one for each pixel of a side:
 * blank[row * columns + column] is 1 for those, else 0. Returns how many are kept, at least one; -1: no memory.
 * *error, unless NULL, is about the squared error of luma that filling them makes, over their pixels, in [0, 1] each.
 *
 * A cell is blank whose texels of `ink` (all that it touches) differ by at most TVLM_BUDGET_INK, in none of which there is anything finer than they are (TVLM_BUDGET_FINE), and that is filled well:
 * who draws a thumbnail fills it from around it (tvlm_selection_empty), and that colour is at most TVLM_BUDGET_OFF off its
 * middle, the mean of its least and its largest. The line of texels of a kept neighbour that faces it counts with the
 * colours that it covers. Where all cells are blank the first one is kept.
 */
int32_t tvlm_budget_blank(const tvlm_budget_ink *ink, int32_t columns, int32_t rows, uint8_t *blank,
                          double *error);

/* What a grid of cells leaves out, by which those of one number of cells are compared: detail along both sides, and that it
 * leaves out more along one. */
double tvlm_budget_grid_cost(const tvlm_budget_ink *ink, int32_t columns, int32_t rows);

/* The grid of at most n cells whose texels are nearest to squares and to pixels, no finer than the image. */
void tvlm_budget_near_square(const tvlm_budget_ink *ink, int64_t n, int32_t *columns, int32_t *rows);

/* The finest grid of which at most n cells, n >= 1, are kept, and how many are: 0 where none is known. */
typedef struct tvlm_budget_fit {
    int32_t n, columns, rows, kept;
} tvlm_budget_fit;

/*
 * Finds such grids for numbers of cells that fall. They are looked for among near-square ones that grow by a fiftieth: of
 * ever finer grids ever more cells are kept, but for a few, so that one is the finest after which three in turn keep too
 * many. Where hardly anything is blank (of the grid of 1.3 times the first n cells more than .97 are kept) none is known of
 * any. False: no memory.
 */
bool tvlm_budget_finest(const tvlm_budget_ink *ink, tvlm_budget_fit *fits, int32_t count);

#endif
