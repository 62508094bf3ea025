/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.h: what the pictures over an image share: the checks of what they are made from, the image on its canvas
 * with room for a legend, and how a canvas becomes the caller's picture.
 */
#ifndef TVLM_DRAW_STAGE_H
#define TVLM_DRAW_STAGE_H

#include "draw/canvas.h"
#include "texturevlm/draw.h"

/* The longest side of an image that is drawn. */
#define TVLM_STAGE_LONG_MAX      1600
#define TVLM_STAGE_LONG_MIN      960
#define TVLM_STAGE_LEGEND_HEIGHT 58
#define TVLM_STAGE_LEGEND_WIDTH  480 /* the smallest width for a legend */
#define TVLM_STAGE_MARGIN        10
#define TVLM_STAGE_TEXT_SCALE    2

static const tvlm_colour tvlm_stage_background = {24, 25, 28}, tvlm_stage_text = {232, 232, 232},
                         tvlm_stage_faint = {150, 152, 158};

typedef struct tvlm_stage {
    tvlm_canvas canvas;
    tvlm_rect photo;        /* where the image is */
    float scale_x, scale_y; /* pixels of the canvas for each pixel of the image */
} tvlm_stage;

/* Refuses an image that tvlm_canvas_image cannot read. */
tvlm_status tvlm_stage_check_image(const tvlm_image *image, const tvlm_log *log);

/* Refuses a grid whose cells could not be found. `needed`: one without columns is refused, too. */
tvlm_status tvlm_stage_check_grid(const struct tvlm_draw_params *params, bool needed, const tvlm_log *log);

/* Draws the image, which was checked. On success the caller ends by tvlm_stage_finish, or releases the canvas. */
tvlm_status tvlm_stage_make(const tvlm_image *image, const tvlm_log *log, tvlm_stage *stage);

/* Rounds a place on the canvas. What is far outside stays outside. */
int32_t tvlm_stage_pixel(float place);

/* Where a cell is on the canvas, clipped to the right and below as the image is. */
tvlm_rect tvlm_stage_cell(const tvlm_stage *stage, const struct tvlm_draw_params *grid, int32_t column,
                          int32_t row);

/* Draws the title, which may be NULL, and a bar of colours between two words. */
void tvlm_stage_legend(const tvlm_stage *stage, const char *title, tvlm_colour (*map)(float), const char *low,
                       const char *high);

/* Makes *picture of the canvas, which is released if that fails. */
tvlm_status tvlm_stage_finish(tvlm_canvas *canvas, const tvlm_log *log, tvlm_image **picture);

/* Logs that there is no memory for a picture, and returns TVLM_ERROR_MEMORY. */
static inline tvlm_status tvlm_stage_no_memory(const tvlm_log *log) {
    (void)tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a picture, or a side of it is above 32767 pixels");
    return TVLM_ERROR_MEMORY;
}

#endif
