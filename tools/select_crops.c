/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_crops.c: writes the thumbnail and the tiles of a budget as pictures, for models whose interface
 * takes only pictures.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "select_budget.h"
#include "texturevlm/draw.h"
#include "texturevlm/io.h"
#include "texturevlm/patches.h"

enum { PATH_BYTES = 4096 };

/* The selection that is written, and the place of its files. */
typedef struct crops {
    struct tool *tool;
    const char *folder;
    char stem[512];
    const tvlm_image *image;
    /* The working image, in which tiles are whole squares: its size, its pixels (RGB), and how many pixels of
     * the image a pixel of it is, across and down. */
    int32_t width, height;
    float *pixels;
    double across, down;
    /* The positions, and the patch of each: RGB in planes, 0 to 1. The first `cells` positions are cells of
     * the thumbnail. */
    const tvlm_position *positions;
    const float *patches;
    int32_t count, cells, patch;
    json_writer json;
    int32_t written;
} crops;

static int path_of(const crops *c, const char *ending, char *path) {
    const int length = snprintf(path, PATH_BYTES, "%s/%s%s", c->folder, c->stem, ending);
    return length < PATH_BYTES ? TOOL_DONE : tool_fail(c->tool, "%.64s...: the path is too long", c->folder);
}

static uint8_t to_byte(float value) {
    return (uint8_t)(fminf(fmaxf(value, 0.0f), 255.0f) + 0.5f);
}

/* The pixels x0 <= x < x1, y0 <= y < y1 of the working image. */
typedef struct crop_rect {
    int32_t x0, y0, x1, y1;
} crop_rect;

/* A picture on its way to a file. */
typedef struct crop {
    crop_rect area; /* what it shows */
    int32_t width, height;
    uint8_t *rgb;
} crop;

/* Place i of an axis that is shrunk to `size` places: the mean of the pixels that lie in [low, high). */
typedef struct span {
    double low, high, step;
    int32_t first, end;
} span;

static span span_of(int32_t i, int32_t pixels, int32_t size) {
    const double step = (double)pixels / size;
    const int32_t end = (int32_t)ceil((i + 1) * step);
    return (span){i * step, (i + 1) * step, step, (int32_t)(i * step), end < pixels ? end : pixels};
}

/* How much pixel j counts. */
static float weight_of(const span *s, int32_t j) {
    return (float)((fmin(s->high, j + 1.0) - fmax(s->low, j)) / s->step);
}

/* Adds a row of `pixels` pixels, shrunk to `width` by area, to a row of that width. */
static void add_row(const float *from, int32_t pixels, float weight, int32_t width, float *to) {
    for (int32_t x = 0; x < width; ++x) {
        const span across = span_of(x, pixels, width);
        float sum[3] = {0};
        for (int32_t j = across.first; j < across.end; ++j)
            for (int c = 0; c < 3; ++c) sum[c] += weight_of(&across, j) * from[3 * j + c];
        for (int c = 0; c < 3; ++c) to[3 * x + c] += weight * sum[c];
    }
}

/* Copies an area of the image, resampled by area. */
static bool resample(const crops *c, const crop *to) {
    const int32_t wide = to->area.x1 - to->area.x0, high = to->area.y1 - to->area.y0;
    const size_t row = 3 * (size_t)to->width;
    float *const scaled = malloc(row * sizeof *scaled);
    if (scaled == NULL) return false;
    for (int32_t y = 0; y < to->height; ++y) {
        const span down = span_of(y, high, to->height);
        for (size_t i = 0; i < row; ++i) scaled[i] = 0.0f;
        for (int32_t j = down.first; j < down.end; ++j) {
            const size_t first = (size_t)(to->area.y0 + j) * (size_t)c->width + (size_t)to->area.x0;
            add_row(c->pixels + 3 * first, wide, weight_of(&down, j), to->width, scaled);
        }
        for (size_t i = 0; i < row; ++i) to->rgb[row * (size_t)y + i] = to_byte(scaled[i]);
    }
    free(scaled);
    return true;
}

/* Copies the patch of a position into a picture, at x, y. */
static void put_patch(const crops *c, int32_t position, int32_t x, int32_t y, const crop *to) {
    const size_t side = (size_t)c->patch, plane = side * side;
    const float *const from = c->patches + 3 * plane * (size_t)position;
    for (size_t i = 0; i < plane; ++i) {
        const size_t at = ((size_t)y + i / side) * (size_t)to->width + (size_t)x + i % side;
        for (size_t n = 0; n < 3; ++n) to->rgb[3 * at + n] = to_byte(255.0f * from[plane * n + i]);
    }
}

/* Copies into a picture all tiles of a scale that lie in its area. They fill the picture. */
static void put_tiles(const crops *c, int scale, const crop *to) {
    const float shrink = (float)budget_scales[scale].texels / (float)budget_scales[scale].pixels;
    for (int32_t i = c->cells; i < c->count; ++i) {
        const tvlm_position *const p = &c->positions[i];
        const float left = (float)(p->x / c->across), top = (float)(p->y / c->down);
        const int32_t x = (int32_t)lroundf((left - (float)to->area.x0) * shrink - 0.5f * (float)c->patch);
        const int32_t y = (int32_t)lroundf((top - (float)to->area.y0) * shrink - 0.5f * (float)c->patch);
        if (budget_scale_of(p) == scale && x >= 0 && y >= 0 && x + c->patch <= to->width &&
            y + c->patch <= to->height)
            put_patch(c, i, x, y, to);
    }
}

/* Makes room for a picture. The caller frees made->rgb. */
static int begin_crop(const crops *c, crop_rect area, int32_t width, int32_t height, crop *made) {
    *made = (crop){area, width, height, calloc((size_t)width * (size_t)height, 3)};
    if (made->rgb != NULL) return TOOL_DONE;
    return tool_fail(c->tool, "no memory for a crop");
}

/* Writes a picture, and its entry in the JSON. A `level` below 0 means that the picture has none. */
static int write_crop(crops *c, const char *key, const char *ending, const crop *made, double level) {
    char path[PATH_BYTES];
    int code = path_of(c, ending, path);
    if (code == TOOL_DONE) code = files_output(c->tool, "--crops", path);
    if (code == TOOL_DONE)
        code = tool_status(c->tool,
                           tvlm_png_write(path, made->width, made->height, 3, made->rgb, &c->tool->log));
    json_open_object(&c->json, key, true);
    json_string(&c->json, "file", strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path);
    const int64_t x = llround(made->area.x0 * c->across), y = llround(made->area.y0 * c->down);
    json_integer(&c->json, "x", x);
    json_integer(&c->json, "y", y);
    json_integer(&c->json, "width", llround(made->area.x1 * c->across) - x);
    json_integer(&c->json, "height", llround(made->area.y1 * c->down) - y);
    if (level >= 0.0) json_float(&c->json, "level", (float)level);
    json_close(&c->json);
    return code;
}

/* Fills the empty cells of a thumbnail, if there are any. */
static int fill_empty(const crops *c, const tvlm_selection *selection, const crop *made) {
    tvlm_thumbnail_grid grid = {made->width / c->patch, made->height / c->patch, c->patch, NULL, 0};
    const size_t values = 3 * (size_t)made->width * (size_t)made->height;
    grid.empty = tvlm_selection_empty(selection, &grid.empty_count);
    if (grid.empty_count == 0) return TOOL_DONE;
    float *const picture = calloc(values, sizeof *picture);
    if (picture == NULL) return tool_fail(c->tool, "no memory for a thumbnail");
    for (size_t i = 0; i < values; ++i) picture[i] = (float)made->rgb[i];
    const int code = tool_status(c->tool, tvlm_thumbnail_fill(&grid, 3, picture, &c->tool->log));
    for (size_t i = 0; code == TOOL_DONE && i < values; ++i) made->rgb[i] = to_byte(picture[i]);
    free(picture);
    return code;
}

/* Writes the thumbnail. The places of cells are found from the positions, since cells that are empty are
 * missing. */
static int write_thumbnail(crops *c, const tvlm_selection *selection, const tvlm_selection_info *info) {
    const crop_rect all = {0, 0, c->width, c->height};
    const int32_t columns = info->thumbnail_columns, rows = info->thumbnail_rows;
    crop made;
    int code = begin_crop(c, all, columns * c->patch, rows * c->patch, &made);
    if (code != TOOL_DONE) return code;
    for (int32_t i = 0; i < c->cells; ++i) {
        const int32_t column = (int32_t)(c->positions[i].x * (float)columns / (float)c->image->width),
                      row = (int32_t)(c->positions[i].y * (float)rows / (float)c->image->height);
        put_patch(c, i, column * c->patch, row * c->patch, &made);
    }
    code = fill_empty(c, selection, &made);
    if (code == TOOL_DONE) code = write_crop(c, "thumbnail", "-thumbnail.png", &made, -1.0);
    free(made.rgb);
    return code;
}

static int32_t shrunk(int32_t side, const budget_scale *scale) {
    return (side * scale->texels + scale->pixels - 1) / scale->pixels;
}

/* Writes an area at the scale of its tiles. For a scale that is a level, the image is resampled by area, as
 * levels are. For a scale between levels the tiles themselves are copied, since they are reduced by another
 * filter. */
static int write_area(crops *c, const char *ending, crop_rect area, int number) {
    const budget_scale *const scale = &budget_scales[number];
    crop made;
    int code = begin_crop(c, area, shrunk(area.x1 - area.x0, scale), shrunk(area.y1 - area.y0, scale), &made);
    if (code != TOOL_DONE) return code;
    if (scale->between)
        put_tiles(c, number, &made);
    else if (!resample(c, &made))
        code = tool_fail(c->tool, "no memory for a crop");
    if (code == TOOL_DONE)
        code = write_crop(c, NULL, ending, &made, log2((double)scale->pixels / scale->texels));
    free(made.rgb);
    return code;
}

/* ---- Rectangles ---- */

/* The squares of one scale, in a grid of columns x rows. Their sides are whole pixels. `left` says which of
 * them are chosen and are not in a rectangle yet. */
typedef struct tiles {
    bool *left;
    int32_t columns, rows, side;
} tiles;

static bool is_row_left(const tiles *t, int32_t column, int32_t row, int32_t count) {
    for (int32_t i = 0; i < count; ++i)
        if (!t->left[(size_t)row * (size_t)t->columns + (size_t)(column + i)]) return false;
    return true;
}

/* Takes the widest rectangle that begins at a tile, and among the widest ones the highest. */
static crop_rect take_rectangle(tiles *t, int32_t column, int32_t row) {
    int32_t wide = 0, high = 0;
    while (column + wide < t->columns && is_row_left(t, column + wide, row, 1)) ++wide;
    while (row + high < t->rows && is_row_left(t, column, row + high, wide)) ++high;
    for (int32_t y = row; y < row + high; ++y)
        memset(t->left + (size_t)y * (size_t)t->columns + (size_t)column, 0, (size_t)wide);
    return (crop_rect){column * t->side, row * t->side, (column + wide) * t->side, (row + high) * t->side};
}

static int32_t smaller(int32_t a, int32_t b) {
    return a < b ? a : b;
}

static int write_scale(crops *c, tiles *t, int scale) {
    int code = TOOL_DONE;
    for (int32_t i = 0; code == TOOL_DONE && i < t->columns * t->rows; ++i) {
        char ending[32];
        if (!t->left[i]) continue;
        crop_rect area = take_rectangle(t, i % t->columns, i / t->columns);
        area.x1 = smaller(area.x1, c->width);
        area.y1 = smaller(area.y1, c->height);
        snprintf(ending, sizeof ending, "-%d.png", (int)c->written++);
        code = write_area(c, ending, area, scale);
    }
    return code;
}

static int write_tiles(crops *c) {
    int code = TOOL_DONE;
    json_open_array(&c->json, "crops", false);
    for (int scale = 0; code == TOOL_DONE && scale < BUDGET_SCALES; ++scale) {
        tiles t = {.side = c->patch * budget_scales[scale].pixels};
        t.columns = (c->width + t.side - 1) / t.side;
        t.rows = (c->height + t.side - 1) / t.side;
        t.left = calloc((size_t)t.columns * (size_t)t.rows, sizeof *t.left);
        if (t.left == NULL) return tool_fail(c->tool, "no memory for crops");
        for (int32_t i = c->cells; i < c->count; ++i) {
            const tvlm_position *const p = &c->positions[i];
            const int32_t column = (int32_t)(p->x / c->across) / t.side,
                          row = (int32_t)(p->y / c->down) / t.side;
            if (budget_scale_of(p) == scale) t.left[(size_t)row * (size_t)t.columns + (size_t)column] = true;
        }
        code = write_scale(c, &t, scale);
        free(t.left);
    }
    json_close(&c->json);
    return code;
}

/* ---- All of it ---- */

static int write_all(crops *c, const tvlm_selection *selection) {
    tvlm_selection_info info;
    char path[PATH_BYTES];
    int code = tool_status(c->tool, tvlm_selection_get_info(selection, &info));
    c->positions = tvlm_selection_positions(selection, &c->count);
    c->cells = info.thumbnail_cells;
    json_open_object(&c->json, NULL, false);
    json_integer(&c->json, "width", c->image->width);
    json_integer(&c->json, "height", c->image->height);
    if (code == TOOL_DONE && c->cells > 0) code = write_thumbnail(c, selection, &info);
    if (code == TOOL_DONE) code = write_tiles(c);
    json_close(&c->json);
    if (code == TOOL_DONE) code = path_of(c, ".json", path);
    const char *const text = json_text_of(&c->json);
    if (code == TOOL_DONE && text == NULL) code = tool_fail(c->tool, "no memory for the places of crops");
    if (code == TOOL_DONE)
        code = tool_status(c->tool, tvlm_file_write(path, text, strlen(text), &c->tool->log));
    return code;
}

/* Two images share files only if they have the same name, and then all their files are the same. So it is
 * enough to note the JSON. Pictures are noted when they are written. */
int budget_note_crops(struct tool *tool, const char *folder, const char *path) {
    crops c = {.tool = tool, .folder = folder};
    char places[PATH_BYTES];
    tool_stem(path, c.stem, sizeof c.stem);
    const int code = path_of(&c, ".json", places);
    return code == TOOL_DONE ? files_output(tool, "--crops", places) : code;
}

int budget_write_crops(struct tool *tool, const char *folder, const char *path, const tvlm_image *image,
                       const tvlm_stack_info *working, const tvlm_selection *selection, const float *patches,
                       int32_t patch) {
    crops c = {.tool = tool,
               .folder = folder,
               .image = image,
               .width = working->width,
               .height = working->height,
               .across = (double)image->width / working->width,
               .down = (double)image->height / working->height,
               .patches = patches,
               .patch = patch};
    const size_t values = 3 * (size_t)c.width * (size_t)c.height;
    tool_stem(path, c.stem, sizeof c.stem);
    c.pixels = calloc(values, sizeof *c.pixels);
    uint8_t *const rgb = malloc(values);
    int code = c.pixels != NULL && rgb != NULL
                   ? tool_status(tool, tvlm_draw_image(image, &tool->log, c.width, c.height, rgb))
                   : tool_fail(tool, "no memory for crops");
    if (code == TOOL_DONE) {
        for (size_t i = 0; i < values; ++i) c.pixels[i] = (float)rgb[i];
        code = write_all(&c, selection);
    }
    json_release(&c.json);
    free(rgb);
    free(c.pixels);
    return code;
}
