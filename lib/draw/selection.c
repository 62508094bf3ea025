/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.c: positions over their image: cells of a grid, squares, squares of classes, and budgets.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "draw/stage.h"

#define DIMMED    0.56f /* parts that were not chosen keep this share of their brightness */
#define CELL_SEEN 7     /* the least side of a drawn cell, in pixels of the canvas */
#define TINT      0.14f
#define COARSEST  2.0f /* the level of the largest tiles of a budget */
#define BETWEEN   0.7f /* tiles above this level get thick frames: all but those of level 0 or 0.415 */

/* What is drawn, and the stage that it is drawn on. */
typedef struct drawing {
    const tvlm_image *image;
    const tvlm_selection_info *info;
    const tvlm_position *positions;
    int32_t count;
    const struct tvlm_draw_params *params;
    const tvlm_log *log;
    tvlm_stage stage;
} drawing;

static int32_t max_int(int32_t a, int32_t b) {
    return a > b ? a : b;
}
static int32_t min_int(int32_t a, int32_t b) {
    return a < b ? a : b;
}

static tvlm_colour colour_of_rank(int32_t rank, int32_t count) {
    return tvlm_colours_rank(count > 1 ? 1.0f - (float)rank / (float)(count - 1) : 1.0f);
}

static void write_ranks(const drawing *d) {
    char low[48];
    snprintf(low, sizeof low, "rank %d", (int)d->count);
    tvlm_stage_legend(&d->stage, d->params->title, tvlm_colours_rank, low, "1 (best)");
}

/* ---- Cells ---- */

/* Makes cells that were not chosen grayer and darker. White keeps enough of its brightness for the picture to
 * stay readable. */
static void dim(drawing *d, const bool *chosen) {
    const struct tvlm_draw_params *const grid = d->params;
    tvlm_canvas *const canvas = &d->stage.canvas;
    for (int32_t row = 0; row < grid->rows; ++row) {
        for (int32_t column = 0; column < grid->columns; ++column) {
            if (chosen[(size_t)row * (size_t)grid->columns + (size_t)column]) continue;
            const tvlm_rect area = tvlm_stage_cell(&d->stage, grid, column, row);
            for (int32_t y = area.y0; y < area.y1; ++y) {
                for (int32_t x = area.x0; x < area.x1; ++x) {
                    uint8_t *const rgb = canvas->rgb + 3 * ((size_t)y * (size_t)canvas->width + (size_t)x);
                    const float gray = 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2];
                    for (int c = 0; c < 3; ++c) rgb[c] = (uint8_t)(DIMMED * (0.6f * gray + 0.4f * rgb[c]));
                }
            }
        }
    }
}

static bool inside(const struct tvlm_draw_params *grid, const tvlm_position *position) {
    return position->column >= 0 && position->column < grid->columns && position->row >= 0 &&
           position->row < grid->rows;
}

/* Returns the area, enlarged around its centre until each side has at least CELL_SEEN pixels. */
static tvlm_rect seen(tvlm_rect area) {
    const int32_t grow_x = max_int(0, CELL_SEEN - (area.x1 - area.x0)),
                  grow_y = max_int(0, CELL_SEEN - (area.y1 - area.y0));
    area.x0 -= grow_x / 2;
    area.y0 -= grow_y / 2;
    area.x1 += grow_x - grow_x / 2;
    area.y1 += grow_y - grow_y / 2;
    return area;
}

static tvlm_status draw_cells(drawing *d) {
    const struct tvlm_draw_params *const grid = d->params;
    bool *const chosen = tvlm_allocate((size_t)grid->columns * (size_t)grid->rows, sizeof *chosen);
    if (chosen == NULL) return tvlm_stage_no_memory(d->log);
    for (int32_t i = 0; i < d->count; ++i) {
        const tvlm_position *const p = &d->positions[i];
        if (inside(grid, p)) chosen[(size_t)p->row * (size_t)grid->columns + (size_t)p->column] = true;
    }
    dim(d, chosen);
    free(chosen);
    const float cell = fminf(grid->cell_width * d->stage.scale_x, grid->cell_height * d->stage.scale_y);
    const int32_t thickness = cell < 10.0f ? 1 : min_int(4, 1 + (int32_t)(fminf(cell, 64.0f) / 16.0f));
    for (int32_t i = d->count - 1; i >= 0; --i) { /* the best is drawn last, on top of the others */
        const tvlm_position *const p = &d->positions[i];
        if (!inside(grid, p)) continue;
        const tvlm_rect area = seen(tvlm_stage_cell(&d->stage, grid, p->column, p->row));
        const tvlm_colour ink = colour_of_rank(i, d->count);
        tvlm_canvas_fill(&d->stage.canvas, area, ink, TINT);
        tvlm_canvas_frame(&d->stage.canvas, area, thickness, ink, 0.9f);
    }
    write_ranks(d);
    return TVLM_OK;
}

/* ---- Squares ---- */

/* Returns the part of the square that lies on the image. With `clipped`, a position is the centre of that part. */
static tvlm_rect square_area(const drawing *d, const tvlm_position *p, bool clipped) {
    const float half = 0.5f * p->size, right = (float)d->image->width - p->x,
                below = (float)d->image->height - p->y;
    /* A height of 0 means a square. Rectangles always lie in the image. */
    const float half_down = p->height > 0.0f ? 0.5f * p->height : half;
    const float half_x = clipped ? fminf(half, right) : half,
                half_y = clipped ? fminf(half_down, below) : half_down;
    const float scale_x = d->stage.scale_x, scale_y = d->stage.scale_y;
    const tvlm_rect area = d->stage.photo;
    return (tvlm_rect){max_int(area.x0, area.x0 + tvlm_stage_pixel((p->x - half_x) * scale_x)),
                       max_int(area.y0, area.y0 + tvlm_stage_pixel((p->y - half_y) * scale_y)),
                       min_int(area.x1, area.x0 + tvlm_stage_pixel((p->x + half_x) * scale_x)),
                       min_int(area.y1, area.y0 + tvlm_stage_pixel((p->y + half_y) * scale_y))};
}

/* Returns whether a position is the centre of what the image's border leaves of its square. Around fixations,
 * and for texels, it is the centre of the whole square. */
static bool are_clipped(const tvlm_selection_info *info) {
    return info->strategy != TVLM_STRATEGY_FOVEATED &&
           (info->strategy != TVLM_STRATEGY_EXHAUSTIVE || info->overview_columns > 0);
}

/* A position by its size or its level. */
struct ranked {
    float by;
    int32_t rank;
};

/* Puts larger squares first, so that they are drawn first. Of equally large ones the better rank comes
 * last. */
static int compare_sizes(const void *a, const void *b) {
    const struct ranked *p = a, *q = b;
    if (p->by != q->by) return p->by > q->by ? -1 : 1;
    return (q->rank > p->rank) - (q->rank < p->rank);
}

static struct ranked *order_squares(const drawing *d) {
    struct ranked *const order = tvlm_allocate((size_t)d->count, sizeof *order);
    if (order == NULL) return NULL;
    for (int32_t i = 0; i < d->count; ++i) order[i] = (struct ranked){d->positions[i].size, i};
    qsort(order, (size_t)d->count, sizeof *order, compare_sizes);
    return order;
}

static void draw_square(drawing *d, tvlm_rect area, float tint, tvlm_colour ink) {
    tvlm_canvas_fill(&d->stage.canvas, area, ink, tint);
    tvlm_canvas_frame(&d->stage.canvas, area, area.x1 - area.x0 > 80 ? 2 : 1, ink, 0.9f);
}

static tvlm_status draw_squares(drawing *d) {
    const bool clipped = are_clipped(d->info);
    struct ranked *const order = order_squares(d);
    if (order == NULL) return tvlm_stage_no_memory(d->log);
    for (int32_t i = 0; i < d->count; ++i)
        draw_square(d, square_area(d, &d->positions[order[i].rank], clipped), 0.5f * TINT,
                    colour_of_rank(order[i].rank, d->count));
    free(order);
    write_ranks(d);
    return TVLM_OK;
}

/* ---- Classes ---- */

/* Writes the names of classes in their colours, as far as there is room. */
static void name_classes(drawing *d) {
    enum { MARGIN = TVLM_STAGE_MARGIN, SCALE = TVLM_STAGE_TEXT_SCALE };
    tvlm_canvas *const canvas = &d->stage.canvas;
    int32_t x = MARGIN, y = d->stage.photo.y1 + MARGIN;
    for (int32_t i = 0; i < d->params->class_count && y < canvas->height; ++i) {
        char name[256];
        tvlm_canvas_fit_text(d->params->class_names[i], SCALE, canvas->width, name, sizeof name);
        const int32_t width = tvlm_canvas_text_width(name, SCALE) + 2 * MARGIN;
        if (x > MARGIN && x + width > canvas->width) x = MARGIN, y += 12 * SCALE;
        tvlm_canvas_text(canvas, x, y, SCALE, tvlm_colours_identifier(i), name);
        x += width;
    }
}

static tvlm_status draw_classes(drawing *d) {
    const bool clipped = are_clipped(d->info);
    struct ranked *const order = order_squares(d);
    if (order == NULL) return tvlm_stage_no_memory(d->log);
    tvlm_canvas_fill(&d->stage.canvas, d->stage.photo, tvlm_stage_background, 1.0f - DIMMED);
    for (int32_t i = 0; i < d->count; ++i)
        draw_square(d, square_area(d, &d->positions[order[i].rank], clipped), 2.0f * TINT,
                    tvlm_colours_identifier(d->params->classes[order[i].rank]));
    free(order);
    name_classes(d);
    return TVLM_OK;
}

/* ---- Budgets ---- */

static tvlm_colour colour_of_level(float level) {
    return tvlm_colours_rank(1.0f - level / COARSEST);
}

/* An empty cell of the thumbnail is no position, and so gets no lines of its own. */
static void draw_thumbnail(drawing *d) {
    const int32_t columns = d->info->thumbnail_columns, rows = d->info->thumbnail_rows;
    const struct tvlm_draw_params grid = {
        .cell_width = columns > 0 ? (float)d->image->width / (float)columns : 0.0f,
        .cell_height = rows > 0 ? (float)d->image->height / (float)rows : 0.0f};
    for (int32_t i = 0; i < d->info->thumbnail_cells; ++i) {
        const float across = d->positions[i].x / grid.cell_width, down = d->positions[i].y / grid.cell_height;
        const int32_t column = (int32_t)fminf(fmaxf(across, 0.0f), (float)(columns - 1));
        const int32_t row = (int32_t)fminf(fmaxf(down, 0.0f), (float)(rows - 1));
        tvlm_canvas_frame(&d->stage.canvas, tvlm_stage_cell(&d->stage, &grid, column, row), 1,
                          tvlm_stage_text, 0.25f);
    }
}

/* Puts coarser tiles first, and equally coarse ones in the order of their ranks. */
static int compare_levels(const void *a, const void *b) {
    const struct ranked *p = a, *q = b;
    if (p->by != q->by) return p->by > q->by ? -1 : 1;
    return (p->rank > q->rank) - (p->rank < q->rank);
}

static tvlm_status draw_budget(drawing *d) {
    const int32_t cells = d->info->thumbnail_cells, tiles = d->count - cells;
    struct ranked *const order = tvlm_allocate((size_t)tiles, sizeof *order);
    if (order == NULL) return tvlm_stage_no_memory(d->log);
    for (int32_t i = 0; i < tiles; ++i) order[i] = (struct ranked){d->positions[cells + i].level, cells + i};
    qsort(order, (size_t)tiles, sizeof *order, compare_levels);
    draw_thumbnail(d);
    for (int32_t i = 0; i < tiles; ++i) {
        const tvlm_position *const tile = &d->positions[order[i].rank];
        const tvlm_rect area = square_area(d, tile, true);
        const tvlm_colour ink = colour_of_level(tile->level);
        tvlm_canvas_fill(&d->stage.canvas, area, ink, TINT);
        tvlm_canvas_frame(&d->stage.canvas, area, tile->level > BETWEEN ? 2 : 1, ink, 0.9f);
    }
    free(order);
    tvlm_stage_legend(&d->stage, d->params->title, tvlm_colours_rank, "level 2", "level 0");
    return TVLM_OK;
}

/* ---- Any of them ---- */

static tvlm_status check_info(const drawing *d) {
    const tvlm_selection_info *const info = d->info;
    TVLM_CHECK_RESERVED(d->log, tvlm_selection_info, info);
    if ((int)info->strategy < TVLM_STRATEGY_DEFAULT || info->strategy > TVLM_STRATEGY_BUDGET)
        return tvlm_fail(d->log, TVLM_ERROR_ARGUMENT, "there is no strategy %d", (int)info->strategy);
    if (info->width != d->image->width || info->height != d->image->height)
        return tvlm_fail(d->log, TVLM_ERROR_ARGUMENT,
                         "the selection is of an image of %dx%d pixels, and not of %dx%d", (int)info->width,
                         (int)info->height, (int)d->image->width, (int)d->image->height);
    if (info->strategy != TVLM_STRATEGY_BUDGET || d->params->classes != NULL) return TVLM_OK;
    if (info->thumbnail_cells < 0 || info->thumbnail_cells > d->count ||
        (info->thumbnail_cells > 0 && (info->thumbnail_columns < 1 || info->thumbnail_rows < 1)))
        return tvlm_fail(d->log, TVLM_ERROR_ARGUMENT, "%d positions, and %d cells of a thumbnail of %d x %d",
                         (int)d->count, (int)info->thumbnail_cells, (int)info->thumbnail_columns,
                         (int)info->thumbnail_rows);
    return TVLM_OK;
}

static tvlm_status check_positions(const drawing *d) {
    if (d->count < 0 || (d->count > 0 && d->positions == NULL))
        return tvlm_fail(d->log, TVLM_ERROR_ARGUMENT, "%d positions, and %s", (int)d->count,
                         d->positions == NULL ? "no list of them" : "a list of them");
    for (int32_t i = 0; i < d->count; ++i) {
        const tvlm_position *const p = &d->positions[i];
        if (!isfinite(p->x) || !isfinite(p->y) || !isfinite(p->level) || !isfinite(p->size) ||
            !isfinite(p->height) || p->size < 0.0f || p->height < 0.0f)
            return tvlm_fail(d->log, TVLM_ERROR_ARGUMENT, "position %d: %g x %g pixels at %g, %g, level %g",
                             (int)i, (double)p->size, (double)p->height, (double)p->x, (double)p->y,
                             (double)p->level);
    }
    return TVLM_OK;
}

static tvlm_status check_classes(const drawing *d) {
    const struct tvlm_draw_params *const params = d->params;
    if (params->classes == NULL) return TVLM_OK;
    if (params->class_count < 0 || (params->class_count > 0 && params->class_names == NULL))
        return tvlm_fail(d->log, TVLM_ERROR_ARGUMENT, "%d classes without names", (int)params->class_count);
    for (int32_t i = 0; i < params->class_count; ++i)
        if (params->class_names[i] == NULL)
            return tvlm_fail(d->log, TVLM_ERROR_ARGUMENT, "class %d has no name", (int)i);
    for (int32_t i = 0; i < d->count; ++i)
        if (params->classes[i] < 0 || params->classes[i] >= params->class_count)
            return tvlm_fail(d->log, TVLM_ERROR_ARGUMENT, "position %d: class %d of %d", (int)i,
                             (int)params->classes[i], (int)params->class_count);
    return TVLM_OK;
}

static tvlm_status draw_any(drawing *d) {
    if (d->params->classes != NULL) return draw_classes(d);
    if (d->info->strategy == TVLM_STRATEGY_BUDGET) return draw_budget(d);
    const bool squares = d->params->columns == 0 || d->count == 0 || d->positions[0].column < 0;
    return squares ? draw_squares(d) : draw_cells(d);
}

tvlm_status tvlm_draw_selection(const tvlm_image *image, const tvlm_selection_info *info,
                                const tvlm_position *positions, int32_t count,
                                const struct tvlm_draw_params *params, const tvlm_log *log,
                                tvlm_image **picture) {
    static const struct tvlm_draw_params defaults = {0};
    drawing d = {.image = image,
                 .info = info,
                 .positions = positions,
                 .count = count,
                 .params = params != NULL ? params : &defaults,
                 .log = log};
    TVLM_NEED(log, image);
    TVLM_NEED(log, info);
    TVLM_NEED(log, picture);
    TVLM_TRY(tvlm_stage_check_image(image, log));
    TVLM_TRY(tvlm_stage_check_grid(d.params, false, log));
    TVLM_TRY(check_positions(&d));
    TVLM_TRY(check_info(&d));
    TVLM_TRY(check_classes(&d));
    TVLM_TRY(tvlm_stage_make(image, log, &d.stage));
    const tvlm_status status = draw_any(&d);
    if (status == TVLM_OK) return tvlm_stage_finish(&d.stage.canvas, log, picture);
    tvlm_canvas_release(&d.stage.canvas);
    return status;
}
