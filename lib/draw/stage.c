/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/stage.h"

#include <math.h>
#include <stdlib.h>

#include "core/check.h"
#include "core/try.h"
#include "io/picture.h"

#define FAR (1 << 24) /* further than any canvas reaches, and safe from overflow when added to */

static int32_t max_int(int32_t a, int32_t b) {
    return a > b ? a : b;
}
static int32_t min_int(int32_t a, int32_t b) {
    return a < b ? a : b;
}

/* ---- Checks ---- */

tvlm_status tvlm_stage_check_image(const tvlm_image *image, const tvlm_log *log) {
    TVLM_NEED(log, image->pixels);
    TVLM_CHECK_RESERVED(log, tvlm_image, image);
    if (image->width < 1 || image->height < 1 || image->width > TVLM_IO_SIDE_MAX ||
        image->height > TVLM_IO_SIDE_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an image of %dx%d pixels; sides are 1 to %d",
                         (int)image->width, (int)image->height, TVLM_IO_SIDE_MAX);
    if (image->channels < 1 || image->channels > 4)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an image of %d channels; 1 to 4 are possible",
                         (int)image->channels);
    if ((int)image->type < TVLM_PIXEL_U8 || image->type > TVLM_PIXEL_F32)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no pixel type %d", (int)image->type);
    const size_t bytes = image->type == TVLM_PIXEL_U8 ? 1 : image->type == TVLM_PIXEL_U16 ? 2 : 4;
    const size_t row = (size_t)image->width * (size_t)image->channels * bytes;
    if (image->row_stride != 0 && image->row_stride < row)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a row stride of %zu bytes; a row has %zu",
                         image->row_stride, row);
    return TVLM_OK;
}

static bool is_side(float side, bool needed) {
    return isfinite(side) && (needed ? side > 0.0f : side >= 0.0f);
}

tvlm_status tvlm_stage_check_grid(const struct tvlm_draw_params *params, bool needed, const tvlm_log *log) {
    const int32_t columns = params->columns, rows = params->rows;
    TVLM_CHECK_RESERVED(log, tvlm_draw_params, params);
    if (columns < 0 || rows < 0 || columns > TVLM_IO_SIDE_MAX || rows > TVLM_IO_SIDE_MAX ||
        (columns > 0) != (rows > 0) || (needed && columns == 0))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a grid of %d x %d cells", (int)columns, (int)rows);
    if (columns > 0 && (!is_side(params->cell_width, !needed) || !is_side(params->cell_height, !needed)))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "cells of %g x %g pixels", (double)params->cell_width,
                         (double)params->cell_height);
    return TVLM_OK;
}

/* ---- The image on its canvas ---- */

static int32_t scaled_side(int32_t side, double scale) {
    return max_int(1, (int32_t)lround(side * scale));
}

tvlm_status tvlm_stage_make(const tvlm_image *image, const tvlm_log *log, tvlm_stage *stage) {
    const int32_t side = max_int(image->width, image->height);
    const double scale = side > TVLM_STAGE_LONG_MAX   ? (double)TVLM_STAGE_LONG_MAX / side
                         : side < TVLM_STAGE_LONG_MIN ? (double)TVLM_STAGE_LONG_MIN / side
                                                      : 1.0;
    const int32_t width = scaled_side(image->width, scale), height = scaled_side(image->height, scale);
    const int32_t full = max_int(width, TVLM_STAGE_LEGEND_WIDTH), left = (full - width) / 2;
    if (!tvlm_canvas_create(full, height + TVLM_STAGE_LEGEND_HEIGHT, tvlm_stage_background, &stage->canvas))
        return tvlm_stage_no_memory(log);
    stage->photo = (tvlm_rect){left, 0, left + width, height};
    stage->scale_x = (float)width / (float)image->width;
    stage->scale_y = (float)height / (float)image->height;
    if (tvlm_canvas_image(&stage->canvas, stage->photo, image)) return TVLM_OK;
    tvlm_canvas_release(&stage->canvas);
    return tvlm_stage_no_memory(log);
}

int32_t tvlm_stage_pixel(float place) {
    return (int32_t)lroundf(fminf(fmaxf(place, (float)-FAR), (float)FAR));
}

tvlm_rect tvlm_stage_cell(const tvlm_stage *stage, const struct tvlm_draw_params *grid, int32_t column,
                          int32_t row) {
    const float step_x = grid->cell_width * stage->scale_x, step_y = grid->cell_height * stage->scale_y;
    const tvlm_rect photo = stage->photo;
    return (tvlm_rect){photo.x0 + tvlm_stage_pixel((float)column * step_x),
                       photo.y0 + tvlm_stage_pixel((float)row * step_y),
                       min_int(photo.x1, photo.x0 + tvlm_stage_pixel((float)(column + 1) * step_x)),
                       min_int(photo.y1, photo.y0 + tvlm_stage_pixel((float)(row + 1) * step_y))};
}

void tvlm_stage_legend(const tvlm_stage *stage, const char *title, tvlm_colour (*map)(float), const char *low,
                       const char *high) {
    enum { MARGIN = TVLM_STAGE_MARGIN, SCALE = TVLM_STAGE_TEXT_SCALE, BAR_WIDTH = 360, BAR_HEIGHT = 14 };
    tvlm_canvas canvas = stage->canvas;
    const int32_t top = stage->photo.y1 + MARGIN, line = top + 12 * SCALE, width = canvas.width - 2 * MARGIN;
    char text[256];
    tvlm_canvas_fit_text(title != NULL ? title : "", SCALE, width, text, sizeof text);
    tvlm_canvas_text(&canvas, MARGIN, top, SCALE, tvlm_stage_text, text);
    const int32_t bar0 = MARGIN + tvlm_canvas_text_width(low, SCALE) + MARGIN;
    const int32_t bar1 =
        min_int(bar0 + BAR_WIDTH, MARGIN + width - MARGIN - tvlm_canvas_text_width(high, SCALE));
    tvlm_canvas_text(&canvas, MARGIN, line, SCALE, tvlm_stage_faint, low);
    for (int32_t x = bar0; x < bar1; ++x) {
        const tvlm_colour ink = map((float)(x - bar0) / (float)max_int(1, bar1 - bar0 - 1));
        tvlm_canvas_fill(&canvas, (tvlm_rect){x, line, x + 1, line + BAR_HEIGHT}, ink, 1.0f);
    }
    tvlm_canvas_text(&canvas, bar1 + MARGIN, line, SCALE, tvlm_stage_faint, high);
}

/* ---- The caller's picture ---- */

tvlm_status tvlm_stage_finish(tvlm_canvas *canvas, const tvlm_log *log, tvlm_image **picture) {
    const tvlm_io_source source = {.path = "a picture", .log = log};
    const tvlm_io_picture made = {.block = canvas->rgb,
                                  .pixels = canvas->rgb,
                                  .width = canvas->width,
                                  .height = canvas->height,
                                  .channels = 3,
                                  .type = TVLM_PIXEL_U8};
    canvas->rgb = NULL;
    return tvlm_io_picture_wrap(&source, &made, picture);
}
