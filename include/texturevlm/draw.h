/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h: pictures of what the library finds: a selection over its image, scores over their image, and the
 * channels of a stack. The functions are in the second library, texturevlm-io, since a picture ends in a file.
 *
 *     int32_t count;
 *     const tvlm_position *at = tvlm_selection_positions(selection, &count);
 *     tvlm_selection_info info;
 *     tvlm_image *picture = NULL;
 *     tvlm_selection_get_info(selection, &info);
 *     if (tvlm_draw_selection(image, &info, at, count, tvlm_draw_params(.title = "photo"), log, &picture) == TVLM_OK) {
 *         tvlm_png_write("look.png", picture->width, picture->height, 3, picture->pixels, log);
 *         tvlm_image_destroy(&picture);
 *     }
 *
 * *Pictures* are 8-bit RGB, without gaps between their rows. tvlm_draw_selection, tvlm_draw_heatmap and
 * tvlm_draw_channels make one that is the caller's, who releases it with tvlm_image_destroy (io.h). An image is
 * drawn so large that its longer side has 960 to 1600 pixels, and on a picture at least 480 pixels wide. The same
 * input gives the same bytes on each machine.
 *
 * The other functions draw into `rgb`, which is the caller's: pixels[height][width][3]. With them a program adds
 * to a picture, or makes one of its own.
 *
 * *Images* are taken as everywhere in this library (image.h): with 1 to 4 channels of any type, composited on
 * white. Neither side may have more than 2^24 pixels.
 *
 * *Text* is drawn in letters 8 pixels high times `scale`. A byte that is not printable ASCII is drawn as '?'.
 *
 * *Errors* of all functions, each with a line in the log:
 *   - ARGUMENT: an argument is NULL that may not be, or is outside the range that is given here;
 *   - MEMORY: there is none, or a side of the picture would be above 32767 pixels.
 *
 * *Threads:* all functions are safe on any thread. Only tvlm_draw_channels uses a device (device.h).
 */
#ifndef TEXTUREVLM_DRAW_H
#define TEXTUREVLM_DRAW_H

#include "image.h"
#include "select.h"
#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Over an image ---- */

/* What is drawn beside the positions or scores. All zero: no title, and no grid. */
struct tvlm_draw_params {
    /* A line below the image, as much of it as there is room for; NULL: none. */
    const char *title;

    /* The grid of the candidates: how many cells it has, at most 2^24 along a side, and the sides of a cell in pixels
     * of the image, which need not be whole numbers. The last cells of a row or column are clipped by the image's
     * border. */
    int32_t columns, rows;
    float cell_width, cell_height;

    /*
     * Only for tvlm_draw_selection: a class for each position, 0 .. class_count - 1, in place of its rank. Each
     * square has the colour of its class, the rest of the image is dark, and the names of the classes are below
     * it, as many as there is room for, in place of the title. NULL: there are no classes.
     */
    const int32_t *classes;
    const char *const *class_names; /* [class_count] */
    int32_t class_count;
    uint64_t reserved[4];
};
#define tvlm_draw_params(...) TVLM_PARAMS(tvlm_draw_params, __VA_ARGS__)

/*
 * Draws positions over their image: positions[count], which may be all that a selection has or a part of them, the
 * best first. `info` is that of the selection (tvlm_selection_get_info), and says how they are drawn:
 * - Cells of the grid, where params->columns is not 0: each has a frame in the colour of its rank, the best is
 *   bright, and what is not chosen is dimmed. A cell outside of the grid is left out.
 * - Squares, where there is no grid, or where the first position stands for no cell: each has a frame in the colour
 *   of its rank. Larger squares lie below smaller ones.
 * - A budget: the cells of the thumbnail are fine lines, and the tiles have the colours of their levels, the coarse
 *   ones below the fine ones. The first info->thumbnail_cells positions are the cells; there must be so many.
 *
 * `image` has the size that `info` tells. `count` may be 0, with `positions` NULL. What is read of a position is x,
 * y, size, height, level, column and row. The first five are finite; size and height are not negative.
 */
TVLM_API tvlm_status tvlm_draw_selection(const tvlm_image *image, const tvlm_selection_info *info,
                                         const tvlm_position *positions, int32_t count,
                                         const struct tvlm_draw_params *params, const tvlm_log *log,
                                         tvlm_image **picture);

/*
 * Draws scores[rows * columns] (tvlm_selection_scores, tvlm_score) over the image in gray: low ones dark, high ones
 * bright, with a smooth curve between the centres of cells. Below it are the lowest and the highest score. A score that
 * is not finite is drawn as the lowest. `params` gives the grid: columns and rows are not 0. Sides of a cell that are
 * 0 mean the image's sides, divided by columns and rows.
 */
TVLM_API tvlm_status tvlm_draw_heatmap(const tvlm_image *image, const float *scores,
                                       const struct tvlm_draw_params *params, const tvlm_log *log,
                                       tvlm_image **picture);

/* ---- Channels ---- */

/* Which channels are drawn, and at what size they are read. All zero: those of the stack's layout, at full size. */
struct tvlm_draw_channels_params {
    int32_t index; /* the image of the batch */
    const int32_t *channels;
    int32_t channel_count;
    /* The size that channels are read at, as tvlm_pack_params has it: 0 means the size of `level`. Both are 0, or
     * neither is. */
    int32_t width, height;
    int32_t level;     /* 0 to the stack's last level */
    const char *title; /* a line above the channels; NULL: none */
    uint64_t reserved[4];
};
#define tvlm_draw_channels_params(...) TVLM_PARAMS(tvlm_draw_channels_params, __VA_ARGS__)

/*
 * Draws a sheet of channels, with a panel for each, its number, its name and its range:
 * - r, g, b, low and rgb_mean in gray;
 * - channels with a sign in TVLM_COLOURS_DIVERGING, with their neutral value in the middle;
 * - identifiers in TVLM_COLOURS_IDENTIFIER;
 * - all others in TVLM_COLOURS_VIRIDIS.
 *
 * A map is stretched over the values of its panel, except a hundredth of the values at either end. The label tells
 * the true minimum and maximum. A channel without input (tvlm_stack_has_channel), or that this version does not
 * make, has no panel; lines below the panels name these.
 *
 * Reads the channels of all images of the batch from the device, which must not be a ragged one. Waits. Errors also:
 * those of tvlm_stack_pack, which are told to the device's log.
 */
TVLM_API tvlm_status tvlm_draw_channels(tvlm_stack *stack, const struct tvlm_draw_channels_params *params,
                                        const tvlm_log *log, tvlm_image **picture);

/* ---- Pieces, for pictures of one's own ---- */

/* Colours for numbers. What is beyond the range that is given here is drawn as its nearest end, and NaN as 0. */
typedef enum tvlm_colours {
    TVLM_COLOURS_GRAY = 0,  /* 0 .. 1: black to white */
    TVLM_COLOURS_VIRIDIS,   /* 0 .. 1: Matplotlib's, from dark to yellow; perceptually uniform */
    TVLM_COLOURS_INFERNO,   /* 0 .. 1: Matplotlib's, from black to light yellow; perceptually uniform */
    TVLM_COLOURS_RANK,      /* 0 .. 1: of the last rank to the first one, as tvlm_draw_selection has them */
    TVLM_COLOURS_DIVERGING, /* -1 .. 1: blue, light gray at 0, red (Moreland 2009) */
    TVLM_COLOURS_IDENTIFIER /* 0 .. 10^9, whole numbers: neighbouring ones have hues that are far apart */
} tvlm_colours;

/* Writes the colours of values[count] as rgb[count][3]. `count` may be 0. */
TVLM_API tvlm_status tvlm_draw_colours(tvlm_colours colours, const float *values, size_t count,
                                       const tvlm_log *log, uint8_t *rgb);

/* Writes the image at a size of width x height, each 1 to 32767, as rgb[height][width][3]. Along each axis it is
 * averaged over area if it shrinks, and interpolated linearly if it grows. */
TVLM_API tvlm_status tvlm_draw_image(const tvlm_image *image, const tvlm_log *log, int32_t width,
                                     int32_t height, uint8_t *rgb);

/* Where and how a text is drawn. All zero: small and black, from the upper left corner on. */
struct tvlm_draw_text_params {
    int32_t x, y;  /* the text's upper left corner, in pixels; -2^24 to 2^24 */
    int32_t scale; /* 1 to 1000; 0 means 1 */
    int32_t room;  /* how wide the text may be, in pixels. What is cut ends with "..". 0: as wide as it is */
    uint8_t red, green, blue;
    uint64_t reserved[2];
};
#define tvlm_draw_text_params(...) TVLM_PARAMS(tvlm_draw_text_params, __VA_ARGS__)

/*
 * Draws a line of at most 65535 letters onto rgb[height][width][3], and clips it there. *wide becomes its width in
 * pixels, also beyond the border; `wide` may be NULL. With `rgb` NULL the text is only measured, and width and
 * height are not read; else they are 1 to 32767.
 */
TVLM_API tvlm_status tvlm_draw_text(const char *text, const struct tvlm_draw_text_params *params,
                                    const tvlm_log *log, int32_t width, int32_t height, uint8_t *rgb,
                                    int32_t *wide);

#ifdef __cplusplus
}
#endif
#endif
