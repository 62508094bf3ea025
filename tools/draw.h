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
#include "texturevlm/input.h"
#include "texturevlm/layout.h"
#include "texturevlm/select.h"

/* A grid of cells. Steps are in pixels of the photo. */
typedef struct draw_grid {
    int32_t columns, rows;
    float step_x, step_y;
} draw_grid;

/* Returns the colour of a rank: rank 0, the best, is warm and bright, the last of `count` is cool. */
color draw_rank_color(int32_t rank, int32_t count);

/* Draws the photo with what was not chosen dimmed, the chosen cells framed in the colours of their ranks, and
 * a legend below. */
bool draw_overlay(const tvlm_image *photo, const draw_grid *grid, const tvlm_position *positions,
                  int32_t count, const char *title, struct canvas *out);

/* Does the same for squares of different sizes: each is framed, and larger ones lie below smaller ones. With
 * `cells` they are cells of a tree, and a position is the centre of what the photo leaves of one. */
bool draw_squares(const tvlm_image *photo, const tvlm_position *positions, int32_t count, bool cells,
                  const char *title, struct canvas *out);

#define DRAW_CLASS_NAME 64

/* Draws squares as draw_squares does, each in the colour of its class, 0 .. class_count - 1, and the names of
 * the classes below. */
bool draw_classes(const tvlm_image *photo, const tvlm_position *positions, int32_t count, bool cells,
                  const int32_t *classes, char (*names)[DRAW_CLASS_NAME], int32_t class_count,
                  struct canvas *out);

/* Writes what a budget's positions are: "4 x 3 thumbnail, 2 empty, 150 tiles". Returns its length, as snprintf does. */
int draw_budget_text(int32_t columns, int32_t rows, int32_t cells, int32_t count, char *text, size_t size);

/* Draws the photo with a budget's positions [count]: the first of them, the cells of its thumbnail in a grid of
 * columns x rows, as fine lines, so that those that are empty have none of their own; its tiles coloured by level, the
 * coarse ones below. */
bool draw_budget(const tvlm_image *photo, int32_t columns, int32_t rows, const tvlm_position *positions,
                 int32_t cells, int32_t count, const char *title, struct canvas *out);

/* Draws the scores [rows * columns], smoothly interpolated and in colour, over the gray photo, and a legend
 * below. */
bool draw_heatmap(const tvlm_image *photo, const draw_grid *grid, const float *scores, const char *title,
                  struct canvas *out);

/*
 * A contact sheet: one tile for each channel, in the order in which they are added. Channels that are 0
 * everywhere for want of input, or because this version does not make them, get no tile: lines below the
 * tiles name them.
 */
typedef struct draw_sheet {
    const tvlm_stack *stack;
    struct canvas canvas;
    /* How many tiles a row has, and the size of the picture in a tile. */
    int32_t columns, tile_width, tile_height;
    int32_t tiles; /* how many are drawn so far */
} draw_sheet;

/*
 * Begins a sheet of `count` channels of width x height. has[count] says for which of them there is input, so
 * that they will be added; NULL: for all. Names are those of `stack`, or of the library where that is NULL. The caller releases it by canvas_release(&sheet->canvas).
 */
bool draw_sheet_start(const tvlm_stack *stack, const int32_t *channels, const bool *has, int32_t count,
                      int32_t width, int32_t height, const char *title, draw_sheet *sheet);

/*
 * Adds the next channel:
 *   r, g, b, low, rgb_mean   in gray
 *   what has a sign          in a diverging map with its zero in the middle
 *   identifiers              in a colour each
 *   all others               in a perceptually uniform map
 * Maps are stretched over the values of the tile, but for a hundredth at either end; the label tells the true
 * minimum and maximum. False: no memory.
 */
bool draw_sheet_add(draw_sheet *sheet, int32_t channel, const float *plane, int32_t width, int32_t height);

#endif
