/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h: the pictures that the tool makes: a selection over its photo, a score map over its photo, and a
 * sheet of all channels. Each function that makes a canvas returns false when there is no memory for it; the
 * caller releases what it got with canvas_release.
 */
#ifndef TVLM_TOOLS_DRAW_H
#define TVLM_TOOLS_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"
#include "texturevlm/image.h"
#include "texturevlm/layout.h"
#include "texturevlm/select.h"

/* The grid of cells, in pixels of the photo. */
typedef struct draw_grid {
    int32_t columns, rows;
    float step_x, step_y;
} draw_grid;

/* The colour of a rank: the best warm and bright, the last of `count` cool. */
color draw_rank_color(int32_t rank, int32_t count);

/* The photo with what was not chosen dimmed, the chosen cells framed in their rank's colour, and a legend
 * below. */
bool draw_overlay(const tvlm_image *photo, const draw_grid *grid, const tvlm_position *positions,
                  int32_t count, const char *title, struct canvas *out);

/* The same for squares of different sizes that cover the photo: each framed, the largest below. `cells`: they
 * are cells of a tree, and a position is the centre of what the photo leaves of one. */
bool draw_squares(const tvlm_image *photo, const tvlm_position *positions, int32_t count, bool cells,
                  const char *title, struct canvas *out);

/* The scores [rows * columns], smoothly interpolated and in colour, over the gray photo, and a legend below.
 */
bool draw_heatmap(const tvlm_image *photo, const draw_grid *grid, const float *scores, const char *title,
                  struct canvas *out);

/*
 * A contact sheet: one tile a channel, in the order in which they are added. Channels that are 0 everywhere
 * for want of input, or because this version does not make them, get no tile: lines below the tiles name
 * them.
 */
typedef struct draw_sheet {
    struct canvas canvas;
    int32_t columns, tile_width, tile_height; /* of the picture in a tile */
    int32_t tiles;                            /* drawn so far */
} draw_sheet;

/*
 * For channels of width x height; has[count]: there is input for it, and it will be added (NULL: for all).
 * Released by canvas_release(&sheet->canvas).
 */
bool draw_sheet_start(const int32_t *channels, const bool *has, int32_t count, int32_t width, int32_t height,
                      const char *title, draw_sheet *sheet);

/*
 * The next channel. r, g, b, low and rgb_mean in gray; what has a sign in a diverging map with its zero in
 * the middle; identifiers in a colour each; all else in a perceptual map. Maps are stretched over the values
 * of the tile, but for a hundredth at either end; the label tells the true minimum and maximum. False: no
 * memory.
 */
bool draw_sheet_add(draw_sheet *sheet, int32_t channel, const float *plane, int32_t width, int32_t height);

#endif
