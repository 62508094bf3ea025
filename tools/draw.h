/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h: draws the tool's pictures: a selection over its photo, a score map over its photo, and a sheet of
 * all channels. A function that makes a canvas returns false if there is no memory for it. The caller
 * releases the canvas by canvas_release.
 */
#ifndef TVLM_TOOLS_DRAW_H
#define TVLM_TOOLS_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"
#include "texturevlm/channels.h"
#include "texturevlm/image.h"
#include "texturevlm/input.h"
#include "texturevlm/select.h"

/* A grid of cells. Steps are in pixels of the photo. */
typedef struct draw_grid {
    int32_t columns, rows;
    float step_x, step_y;
} draw_grid;

/* Returns the colour of a rank: rank 0, the best, is warm and bright, the last of `count` is cool. */
color draw_rank_color(int32_t rank, int32_t count);

/* Draws the photo and a legend below it. The chosen cells have frames in the colours of their ranks, and all
 * other parts of the photo are dimmed. */
bool draw_overlay(const tvlm_image *photo, const draw_grid *grid, const tvlm_position *positions,
                  int32_t count, const char *title, struct canvas *out);

/* Does the same for squares of different sizes. Each has a frame, and larger squares lie below smaller ones.
 * With `cells` the squares are cells of a tree, and a position is the centre of the part of its cell that
 * lies in the photo. */
bool draw_squares(const tvlm_image *photo, const tvlm_position *positions, int32_t count, bool cells,
                  const char *title, struct canvas *out);

#define DRAW_CLASS_NAME 64

/* Draws squares as draw_squares does, but each in the colour of its class, 0 .. class_count - 1. The names of
 * the classes are written below. */
bool draw_classes(const tvlm_image *photo, const tvlm_position *positions, int32_t count, bool cells,
                  const int32_t *classes, char (*names)[DRAW_CLASS_NAME], int32_t class_count,
                  struct canvas *out);

/* Writes a text about a budget's positions, such as "4 x 3 thumbnail, 2 empty, 150 tiles". Returns its
 * length, as snprintf does. */
int draw_budget_text(int32_t columns, int32_t rows, int32_t cells, int32_t count, char *text, size_t size);

/* Draws the photo with a budget's positions [count]. The first `cells` of them are cells of the thumbnail, in
 * a grid of columns x rows. They are drawn as fine lines; an empty cell is no position, and has no lines of
 * its own. The tiles are coloured by level, and coarse tiles lie below fine ones. */
bool draw_budget(const tvlm_image *photo, int32_t columns, int32_t rows, const tvlm_position *positions,
                 int32_t cells, int32_t count, const char *title, struct canvas *out);

/* Draws the scores [rows * columns] in colour, smoothly interpolated, over the photo in gray. A legend is
 * written below. */
bool draw_heatmap(const tvlm_image *photo, const draw_grid *grid, const float *scores, const char *title,
                  struct canvas *out);

/*
 * A contact sheet: one tile for each channel, in the order in which channels are added. A channel that is 0
 * everywhere because it has no input, or because this version does not make it, gets no tile. Lines below the
 * tiles name these channels.
 */
typedef struct draw_sheet {
    const tvlm_stack *stack;
    struct canvas canvas;
    /* How many tiles a row has, and the size of the picture in a tile. */
    int32_t columns, tile_width, tile_height;
    int32_t tiles; /* how many are drawn so far */
} draw_sheet;

/*
 * Begins a sheet of `count` channels of width x height. has[count] says which channels have input, and will
 * be added; NULL means that all have. Names are those of `stack`, or those of the library if it is NULL. The
 * caller releases the sheet by canvas_release(&sheet->canvas).
 */
bool draw_sheet_start(const tvlm_stack *stack, const int32_t *channels, const bool *has, int32_t count,
                      int32_t width, int32_t height, const char *title, draw_sheet *sheet);

/*
 * Adds the next channel:
 *   r, g, b, low, rgb_mean   in gray
 *   channels with a sign     in a diverging map with its zero in the middle
 *   identifiers              with a colour for each
 *   all others               in a perceptually uniform map
 * A map is stretched over the values of its tile, except a hundredth of the values at either end. The label
 * tells the true minimum and maximum. Returns false if there is no memory.
 */
bool draw_sheet_add(draw_sheet *sheet, int32_t channel, const float *plane, int32_t width, int32_t height);

#endif
