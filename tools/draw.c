/* SPDX-License-Identifier: Apache-2.0 */
#include "draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget_scales.h"

#define PHOTO_LONG_MAX 1600 /* the longest side of a drawn photo */
#define PHOTO_LONG_MIN 960
#define LEGEND_HEIGHT  58
#define LEGEND_WIDTH   480 /* the smallest width for a legend */
#define MARGIN         10
#define TEXT_SCALE     2

static const color background = {24, 25, 28}, text_color = {232, 232, 232}, faint_text = {150, 152, 158};

static int32_t max_int(int32_t a, int32_t b) {
    return a > b ? a : b;
}
static int32_t min_int(int32_t a, int32_t b) {
    return a < b ? a : b;
}

/* ---- The photo on its canvas, with room for a legend ---- */

struct stage {
    struct canvas *canvas;
    rect photo;
    float scale_x, scale_y; /* pixels of the canvas for each pixel of the photo */
};

static int32_t scaled_side(int32_t side, double scale) {
    return max_int(1, (int32_t)lround(side * scale));
}

static bool make_stage(const tvlm_image *photo, struct canvas *out, struct stage *stage) {
    const int32_t side = max_int(photo->width, photo->height);
    const double scale = side > PHOTO_LONG_MAX   ? (double)PHOTO_LONG_MAX / side
                         : side < PHOTO_LONG_MIN ? (double)PHOTO_LONG_MIN / side
                                                 : 1.0;
    const int32_t width = scaled_side(photo->width, scale), height = scaled_side(photo->height, scale);
    const int32_t full = max_int(width, LEGEND_WIDTH), left = (full - width) / 2;
    if (!canvas_create(full, height + LEGEND_HEIGHT, background, out)) return false;
    stage->canvas = out;
    stage->photo = (rect){left, 0, left + width, height};
    stage->scale_x = (float)width / (float)photo->width;
    stage->scale_y = (float)height / (float)photo->height;
    if (canvas_image(out, stage->photo, photo)) return true;
    canvas_release(out);
    return false;
}

static rect cell_area(const struct stage *stage, const draw_grid *grid, int32_t column, int32_t row) {
    const float step_x = grid->step_x * stage->scale_x, step_y = grid->step_y * stage->scale_y;
    const rect photo = stage->photo;
    return (rect){photo.x0 + (int32_t)lroundf((float)column * step_x),
                  photo.y0 + (int32_t)lroundf((float)row * step_y),
                  min_int(photo.x1, photo.x0 + (int32_t)lroundf((float)(column + 1) * step_x)),
                  min_int(photo.y1, photo.y0 + (int32_t)lroundf((float)(row + 1) * step_y))};
}

/* Draws the title, and a bar of colours between two words. */
static void draw_legend(const struct stage *stage, const char *title, color (*map)(float), const char *low,
                        const char *high) {
    struct canvas *const canvas = stage->canvas;
    const int32_t top = stage->photo.y1 + MARGIN, line = 12 * TEXT_SCALE, width = canvas->width - 2 * MARGIN;
    char text[256];
    canvas_fit_text(title, TEXT_SCALE, width, text, sizeof text);
    canvas_text(canvas, MARGIN, top, TEXT_SCALE, text_color, text);
    const int32_t bar0 = MARGIN + canvas_text_width(low, TEXT_SCALE) + MARGIN;
    const int32_t bar1 = min_int(bar0 + 360, MARGIN + width - MARGIN - canvas_text_width(high, TEXT_SCALE));
    canvas_text(canvas, MARGIN, top + line, TEXT_SCALE, faint_text, low);
    for (int32_t x = bar0; x < bar1; ++x) {
        const color ink = map((float)(x - bar0) / (float)max_int(1, bar1 - bar0 - 1));
        canvas_fill(canvas, (rect){x, top + line, x + 1, top + line + 14}, ink, 1.0f);
    }
    canvas_text(canvas, bar1 + MARGIN, top + line, TEXT_SCALE, faint_text, high);
}

/* ---- Overlay ---- */

#define RANK_LOW 0.35f /* colours of ranks begin here: the darkest third is not seen on a dark photo */

#define DIMMED    0.56f /* parts that were not chosen keep this share of their brightness */
#define CELL_SEEN 7     /* the least side of a drawn cell, in pixels of the canvas */
#define TINT      0.14f

static color rank_map(float t) {
    return colormap_inferno(RANK_LOW + (0.92f - RANK_LOW) * t);
}

color draw_rank_color(int32_t rank, int32_t count) {
    return rank_map(count > 1 ? 1.0f - (float)rank / (float)(count - 1) : 1.0f);
}

/* Makes cells that were not chosen grayer and darker. White keeps enough of its brightness for the picture to
 * stay readable. */
static void dim(const struct stage *stage, const bool *chosen, const draw_grid *grid) {
    for (int32_t row = 0; row < grid->rows; ++row) {
        for (int32_t column = 0; column < grid->columns; ++column) {
            if (chosen[(size_t)row * (size_t)grid->columns + (size_t)column]) continue;
            const rect area = cell_area(stage, grid, column, row);
            for (int32_t y = area.y0; y < area.y1; ++y) {
                for (int32_t x = area.x0; x < area.x1; ++x) {
                    uint8_t *const rgb =
                        stage->canvas->rgb + 3 * ((size_t)y * (size_t)stage->canvas->width + (size_t)x);
                    const float gray = 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2];
                    for (int c = 0; c < 3; ++c) rgb[c] = (uint8_t)(DIMMED * (0.6f * gray + 0.4f * rgb[c]));
                }
            }
        }
    }
}

static bool inside(const draw_grid *grid, const tvlm_position *position) {
    return position->column >= 0 && position->column < grid->columns && position->row >= 0 &&
           position->row < grid->rows;
}

/* Returns the area, enlarged around its centre until each side has at least CELL_SEEN pixels. */
static rect seen(rect area) {
    const int32_t grow_x = max_int(0, CELL_SEEN - (area.x1 - area.x0)),
                  grow_y = max_int(0, CELL_SEEN - (area.y1 - area.y0));
    area.x0 -= grow_x / 2;
    area.y0 -= grow_y / 2;
    area.x1 += grow_x - grow_x / 2;
    area.y1 += grow_y - grow_y / 2;
    return area;
}

bool draw_overlay(const tvlm_image *photo, const draw_grid *grid, const tvlm_position *positions,
                  int32_t count, const char *title, struct canvas *out) {
    struct stage stage;
    bool *const chosen = calloc((size_t)grid->columns * (size_t)grid->rows, sizeof *chosen);
    if (chosen == NULL || !make_stage(photo, out, &stage)) {
        free(chosen);
        return false;
    }
    for (int32_t i = 0; i < count; ++i) {
        if (inside(grid, &positions[i]))
            chosen[(size_t)positions[i].row * (size_t)grid->columns + (size_t)positions[i].column] = true;
    }
    dim(&stage, chosen, grid);
    free(chosen);
    const float cell = fminf(grid->step_x * stage.scale_x, grid->step_y * stage.scale_y);
    const int32_t thickness = cell < 10.0f ? 1 : min_int(4, 1 + (int32_t)(cell / 16.0f));
    for (int32_t i = count - 1; i >= 0; --i) { /* the best is drawn last, on top of the others */
        if (!inside(grid, &positions[i])) continue;
        const rect area = seen(cell_area(&stage, grid, positions[i].column, positions[i].row));
        const color ink = draw_rank_color(i, count);
        canvas_fill(out, area, ink, TINT);
        canvas_frame(out, area, thickness, ink, 0.9f);
    }
    char low[48];
    snprintf(low, sizeof low, "rank %d", count);
    draw_legend(&stage, title, rank_map, low, "1 (best)");
    return true;
}

/* ---- Squares ---- */

struct ranked_square {
    float size;
    int32_t rank;
};

static int compare_squares(const void *a, const void *b) {
    const struct ranked_square *p = a, *q = b;
    if (p->size != q->size) return p->size > q->size ? -1 : 1;
    return (q->rank > p->rank) - (q->rank < p->rank);
}

/* Returns the part of the square that lies on the photo. */
static rect square_area(const struct stage *stage, const tvlm_image *photo, const tvlm_position *p,
                        bool cell) {
    const float half = 0.5f * p->size, right = (float)photo->width - p->x,
                below = (float)photo->height - p->y;
    const float half_down = p->height > 0.0f ? 0.5f * p->height : half; /* a rectangle lies in the photo */
    const float half_x = cell ? fminf(half, right) : half,
                half_y = cell ? fminf(half_down, below) : half_down;
    const rect area = stage->photo;
    return (rect){max_int(area.x0, area.x0 + (int32_t)lroundf((p->x - half_x) * stage->scale_x)),
                  max_int(area.y0, area.y0 + (int32_t)lroundf((p->y - half_y) * stage->scale_y)),
                  min_int(area.x1, area.x0 + (int32_t)lroundf((p->x + half_x) * stage->scale_x)),
                  min_int(area.y1, area.y0 + (int32_t)lroundf((p->y + half_y) * stage->scale_y))};
}

/* Returns the indices of the squares, the largest square first, and of equally large squares the better one
 * last. Returns NULL if there is no memory. */
static struct ranked_square *order_squares(const tvlm_position *positions, int32_t count) {
    struct ranked_square *const order = calloc((size_t)max_int(1, count), sizeof *order);
    for (int32_t i = 0; order != NULL && i < count; ++i)
        order[i] = (struct ranked_square){positions[i].size, i};
    if (order != NULL) qsort(order, (size_t)count, sizeof *order, compare_squares);
    return order;
}

static void draw_square(const struct stage *stage, rect area, float tint, color ink) {
    canvas_fill(stage->canvas, area, ink, tint);
    canvas_frame(stage->canvas, area, area.x1 - area.x0 > 80 ? 2 : 1, ink, 0.9f);
}

bool draw_squares(const tvlm_image *photo, const tvlm_position *positions, int32_t count, bool cells,
                  const char *title, struct canvas *out) {
    struct stage stage;
    struct ranked_square *const order = order_squares(positions, count);
    if (order == NULL || !make_stage(photo, out, &stage)) {
        free(order);
        return false;
    }
    for (int32_t i = 0; i < count; ++i)
        draw_square(&stage, square_area(&stage, photo, &positions[order[i].rank], cells), 0.5f * TINT,
                    draw_rank_color(order[i].rank, count));
    free(order);
    char low[48];
    snprintf(low, sizeof low, "rank %d", count);
    draw_legend(&stage, title, rank_map, low, "1 (best)");
    return true;
}

/* Writes the names of classes in their colours, as many as there is room for. */
static void name_classes(const struct stage *stage, char (*names)[DRAW_CLASS_NAME], int32_t count) {
    int32_t x = MARGIN, y = stage->photo.y1 + MARGIN;
    for (int32_t i = 0; i < count; ++i) {
        const int32_t width = canvas_text_width(names[i], TEXT_SCALE) + 2 * MARGIN;
        if (x > MARGIN && x + width > stage->canvas->width) x = MARGIN, y += 12 * TEXT_SCALE;
        canvas_text(stage->canvas, x, y, TEXT_SCALE, colormap_identifier(i), names[i]);
        x += width;
    }
}

bool draw_classes(const tvlm_image *photo, const tvlm_position *positions, int32_t count, bool cells,
                  const int32_t *classes, char (*names)[DRAW_CLASS_NAME], int32_t class_count,
                  struct canvas *out) {
    struct stage stage;
    struct ranked_square *const order = order_squares(positions, count);
    if (order == NULL || !make_stage(photo, out, &stage)) {
        free(order);
        return false;
    }
    canvas_fill(out, stage.photo, background, 1.0f - DIMMED);
    for (int32_t i = 0; i < count; ++i)
        draw_square(&stage, square_area(&stage, photo, &positions[order[i].rank], cells), 2.0f * TINT,
                    colormap_identifier(classes[order[i].rank]));
    free(order);
    name_classes(&stage, names, class_count);
    return true;
}

/* ---- Budgets ---- */

#define COARSEST 2.0f /* the level of the largest tiles */

static color level_color(float level) {
    return rank_map(1.0f - level / COARSEST);
}

int draw_budget_text(int32_t columns, int32_t rows, int32_t cells, int32_t count, char *text, size_t size) {
    const int32_t empty = columns * rows - cells;
    if (empty == 0)
        return snprintf(text, size, "%d x %d thumbnail, %d tiles", (int)columns, (int)rows,
                        (int)(count - cells));
    return snprintf(text, size, "%d x %d thumbnail, %d empty, %d tiles", (int)columns, (int)rows, (int)empty,
                    (int)(count - cells));
}

bool draw_budget(const tvlm_image *photo, int32_t columns, int32_t rows, const tvlm_position *positions,
                 int32_t cells, int32_t count, const char *title, struct canvas *out) {
    const draw_grid grid = {columns, rows, columns > 0 ? (float)photo->width / (float)columns : 0.0f,
                            rows > 0 ? (float)photo->height / (float)rows : 0.0f};
    struct stage stage;
    if (!make_stage(photo, out, &stage)) return false;
    for (int32_t i = 0; i < cells; ++i) {
        const int32_t column = (int32_t)(positions[i].x / grid.step_x),
                      row = (int32_t)(positions[i].y / grid.step_y);
        canvas_frame(out, cell_area(&stage, &grid, column, row), 1, text_color, 0.25f);
    }
    for (int scale = BUDGET_SCALES - 1; scale >= 0; --scale)
        for (int32_t i = cells; i < count; ++i) {
            const tvlm_position *const tile = &positions[i];
            if (budget_scale_of(tile) != scale) continue;
            const rect area = square_area(&stage, photo, tile, true);
            canvas_fill(out, area, level_color(tile->level), TINT);
            canvas_frame(out, area, scale > 1 ? 2 : 1, level_color(tile->level), 0.9f);
        }
    draw_legend(&stage, title, rank_map, "level 2", "level 0");
    return true;
}

/* ---- Heat map ---- */

static void value_range(const float *scores, size_t count, float *low, float *high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < count; ++i) {
        if (!isfinite(scores[i])) continue;
        *low = fminf(*low, scores[i]);
        *high = fmaxf(*high, scores[i]);
    }
    if (*low > *high) *low = *high = 0.0f;
}

static uint8_t blend_byte(float gray, float over, float alpha) {
    return (uint8_t)fminf(255.0f, (1.0f - alpha) * gray + alpha * over + 0.5f);
}

bool draw_heatmap(const tvlm_image *photo, const draw_grid *grid, const float *scores, const char *title,
                  struct canvas *out) {
    struct stage stage;
    float low, high;
    if (!make_stage(photo, out, &stage)) return false;
    value_range(scores, (size_t)grid->columns * (size_t)grid->rows, &low, &high);
    const float scale = high > low ? 1.0f / (high - low) : 0.0f;
    const float to_x = 1.0f / (grid->step_x * stage.scale_x), to_y = 1.0f / (grid->step_y * stage.scale_y);
    for (int32_t y = stage.photo.y0; y < stage.photo.y1; ++y) {
        for (int32_t x = stage.photo.x0; x < stage.photo.x1; ++x) {
            const float score =
                sample_cubic(scores, grid->columns, grid->rows, ((float)(x - stage.photo.x0) + 0.5f) * to_x,
                             ((float)(y - stage.photo.y0) + 0.5f) * to_y);
            const color ink = colormap_inferno((score - low) * scale);
            uint8_t *const rgb = out->rgb + 3 * ((size_t)y * (size_t)out->width + (size_t)x);
            const float gray = 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2];
            /* A low score shows the gray photo. A high score shows its colour, with the light of the photo.
             * */
            const float t = fminf(fmaxf((score - low) * scale, 0.0f), 1.0f);
            const float alpha = 0.55f + 0.3f * t, light = 0.68f + 0.32f * gray / 255.0f;
            rgb[0] = blend_byte(0.55f * gray, (float)ink.r * light, alpha);
            rgb[1] = blend_byte(0.55f * gray, (float)ink.g * light, alpha);
            rgb[2] = blend_byte(0.55f * gray, (float)ink.b * light, alpha);
        }
    }
    char low_text[48], high_text[48];
    snprintf(low_text, sizeof low_text, "score %.3g", (double)low);
    snprintf(high_text, sizeof high_text, "%.3g", (double)high);
    draw_legend(&stage, title, colormap_inferno, low_text, high_text);
    return true;
}

/* ---- Contact sheet ---- */

#define TILE_SIDE    248
#define TILE_GAP     10
#define TILE_LABEL   44 /* room for two lines of text */
#define TITLE_BAND   40
#define FOOT_LINE    24
#define SHEET_ASPECT 1.5

typedef enum tile_style { TILE_GRAY, TILE_STRETCHED, TILE_SIGNED, TILE_IDENTIFIER, TILE_EMPTY } tile_style;

/* Returns how a channel is shown. A channel about which nothing is known is shown empty. */
static tile_style style_of(const tvlm_stack *stack, int32_t channel, tvlm_channel_info *info) {
    const tvlm_status status = stack != NULL ? tvlm_stack_get_channel_info(stack, channel, info)
                                             : tvlm_channel_get_info(channel, info);
    if (status != TVLM_OK || !info->available) return TILE_EMPTY;
    if (info->identifier) return TILE_IDENTIFIER;
    if (channel <= TVLM_CHANNEL_B || channel == TVLM_CHANNEL_LOW || channel == TVLM_CHANNEL_RGB_MEAN)
        return TILE_GRAY;
    return info->low < 0.0f || channel == TVLM_CHANNEL_HIGH ? TILE_SIGNED : TILE_STRETCHED;
}

/* Returns the neutral value of a signed channel. It is 0 for all of them but `high`, which is 0.5 + 0.5 (Y -
 * low). */
static float middle_of(int32_t channel) {
    return channel == TVLM_CHANNEL_HIGH ? 0.5f : 0.0f;
}

/* The text below the tiles: words in wrapped lines. If the canvas is NULL, the lines are only counted. */
typedef struct foot {
    struct canvas *canvas;
    int32_t top, width, x, lines;
} foot;

static void foot_word(foot *to, const char *word, bool begins) {
    const int32_t wide = canvas_text_width(word, TEXT_SCALE);
    if (begins || (to->x + wide > to->width - TILE_GAP && to->x > TILE_GAP)) {
        to->x = TILE_GAP;
        ++to->lines;
    }
    if (to->canvas != NULL)
        canvas_text(to->canvas, to->x, to->top + (to->lines - 1) * FOOT_LINE, TEXT_SCALE, faint_text, word);
    to->x += wide;
}

/* Why a channel has no tile. */
typedef enum foot_reason { FOOT_NONE, FOOT_NO_INPUT, FOOT_NOT_MADE } foot_reason;

static foot_reason reason_of(const tvlm_stack *stack, const int32_t *channels, const bool *has, int32_t i,
                             tvlm_channel_info *info) {
    if (style_of(stack, channels[i], info) == TILE_EMPTY) return FOOT_NOT_MADE;
    return has == NULL || has[i] ? FOOT_NONE : FOOT_NO_INPUT;
}

/* Returns the place where the number at the end of a name begins ("embedding_12"), or 0 if there is none. */
static size_t number_of(const char *name) {
    const char *const last = strrchr(name, '_');
    return last != NULL && last[1] >= '0' && last[1] <= '9' ? (size_t)(last + 1 - name) : 0;
}

/* Returns how many channels, from `first` on, have consecutive numbers and no tile for the given reason. */
static int32_t numbered_run(const tvlm_stack *stack, const int32_t *channels, const bool *has, int32_t count,
                            int32_t first, foot_reason reason) {
    tvlm_channel_info one, next;
    (void)reason_of(stack, channels, has, first, &one);
    const size_t stem = number_of(one.name);
    int32_t i = first + 1;
    while (stem > 0 && i < count && channels[i] == channels[i - 1] + 1 &&
           reason_of(stack, channels, has, i, &next) == reason && strncmp(one.name, next.name, stem) == 0)
        ++i;
    return i - first;
}

static void foot_list(foot *to, const tvlm_stack *stack, const int32_t *channels, const bool *has,
                      int32_t count, foot_reason reason, const char *opening) {
    bool begun = false;
    for (int32_t i = 0, run = 1; i < count; i += run) {
        tvlm_channel_info info = {.name = ""}, last;
        char word[2 * TVLM_CHANNEL_NAME_SIZE + 4];
        run = 1;
        if (reason_of(stack, channels, has, i, &info) != reason || info.name[0] == '\0') continue;
        if (!begun) foot_word(to, opening, true);
        begun = true;
        run = numbered_run(stack, channels, has, count, i, reason);
        snprintf(word, sizeof word, " %s", info.name);
        if (run > 1) {
            (void)reason_of(stack, channels, has, i + run - 1, &last);
            snprintf(word, sizeof word, " %s..%s", info.name, last.name + number_of(last.name));
        }
        foot_word(to, word, false);
    }
}

/* Draws the names of the channels without a tile. Returns how many lines they take. */
static int32_t draw_foot(struct canvas *canvas, const tvlm_stack *stack, const int32_t *channels,
                         const bool *has, int32_t count, int32_t top, int32_t width) {
    foot to = {.canvas = canvas, .top = top, .width = width};
    foot_list(&to, stack, channels, has, count, FOOT_NO_INPUT, "no input:");
    foot_list(&to, stack, channels, has, count, FOOT_NOT_MADE, "0 in this version:");
    return to.lines;
}

/* Returns how many places stay empty if there are at most `columns` columns, and rows are as even as
 * possible. */
static int32_t blank_places(int32_t tiles, int32_t columns) {
    const int32_t rows = (tiles + columns - 1) / columns;
    return rows > 0 ? (tiles + rows - 1) / rows * rows - tiles : 0;
}

bool draw_sheet_start(const tvlm_stack *stack, const int32_t *channels, const bool *has, int32_t count,
                      int32_t width, int32_t height, const char *title, draw_sheet *sheet) {
    const double scale = (double)TILE_SIDE / max_int(width, height);
    tvlm_channel_info info;
    int32_t tiles = 0;
    for (int32_t i = 0; i < count; ++i) tiles += reason_of(stack, channels, has, i, &info) == FOOT_NONE;
    *sheet = (draw_sheet){.stack = stack,
                          .tile_width = max_int(8, scaled_side(width, scale)),
                          .tile_height = max_int(8, scaled_side(height, scale))};
    const double step_x = TILE_SIDE + TILE_GAP, step_y = sheet->tile_height + TILE_LABEL + TILE_GAP;
    const int32_t wished = (int32_t)lround(sqrt(tiles * SHEET_ASPECT * step_y / step_x));
    sheet->columns = max_int(min_int(tiles, 3), min_int(wished, 48));
    sheet->columns = max_int(sheet->columns, 1);
    if (blank_places(tiles, sheet->columns + 1) < blank_places(tiles, sheet->columns)) ++sheet->columns;
    const int32_t rows = (tiles + sheet->columns - 1) / sheet->columns;
    if (rows > 0) sheet->columns = (tiles + rows - 1) / rows; /* the rows become as even as possible */
    const int32_t full_width = max_int(LEGEND_WIDTH, TILE_GAP + sheet->columns * (TILE_SIDE + TILE_GAP));
    const int32_t foot_lines = draw_foot(NULL, stack, channels, has, count, 0, full_width);
    const int64_t foot_top = TITLE_BAND + (int64_t)rows * (int64_t)step_y + TILE_GAP;
    const int64_t full_height = foot_top + (int64_t)foot_lines * FOOT_LINE;
    if (full_height > INT32_MAX ||
        !canvas_create(full_width, (int32_t)full_height, background, &sheet->canvas))
        return false;
    char text[256];
    canvas_fit_text(title, TEXT_SCALE, full_width - 2 * TILE_GAP, text, sizeof text);
    canvas_text(&sheet->canvas, TILE_GAP, (TITLE_BAND - CANVAS_TEXT_HEIGHT * TEXT_SCALE) / 2 + 2, TEXT_SCALE,
                text_color, text);
    (void)draw_foot(&sheet->canvas, stack, channels, has, count, (int32_t)foot_top, full_width);
    return true;
}

/* The values at the two ends of a tile's colour map. */
struct span {
    float low, high;
};

static int compare_floats(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Finds a span that leaves out a hundredth of the values below it, and a hundredth above it. So a few bright
 * pixels do not make the rest dark. */
static bool find_span(tile_style style, const float *values, size_t count, float middle, struct span *span) {
    float *const sorted = calloc(count, sizeof *sorted);
    if (sorted == NULL) return false;
    for (size_t i = 0; i < count; ++i) sorted[i] = isfinite(values[i]) ? values[i] : 0.0f;
    qsort(sorted, count, sizeof *sorted, compare_floats);
    span->low = sorted[count / 100];
    span->high = sorted[count - 1 - count / 100];
    free(sorted);
    if (style == TILE_SIGNED) {
        const float most = fmaxf(fabsf(span->low - middle), fabsf(span->high - middle));
        span->low = middle - most;
        span->high = middle + most;
    }
    return true;
}

static color tile_color(tile_style style, float value, struct span span) {
    const float t = span.high > span.low ? (value - span.low) / (span.high - span.low) : 0.5f;
    switch (style) {
    case TILE_GRAY: return colormap_gray(value);
    case TILE_SIGNED: return colormap_diverging(2.0f * t - 1.0f);
    case TILE_IDENTIFIER: return colormap_identifier((int32_t)fminf(fmaxf(value, 0.0f), 1e9f));
    case TILE_STRETCHED: return colormap_viridis(t);
    case TILE_EMPTY: break;
    }
    return background;
}

/* Scales a plane of identifiers by taking the nearest one, since identifiers must not be averaged. */
static void pick_nearest(const float *plane, int32_t width, int32_t height, float *out, int32_t out_width,
                         int32_t out_height) {
    for (int32_t y = 0; y < out_height; ++y) {
        const int32_t from_y = (int32_t)(((int64_t)2 * y + 1) * height / ((int64_t)2 * out_height));
        for (int32_t x = 0; x < out_width; ++x) {
            const int32_t from_x = (int32_t)(((int64_t)2 * x + 1) * width / ((int64_t)2 * out_width));
            out[(size_t)y * (size_t)out_width + (size_t)x] =
                plane[(size_t)from_y * (size_t)width + (size_t)from_x];
        }
    }
}

static void draw_label(draw_sheet *sheet, const tvlm_channel_info *channel, int32_t x, int32_t y, float low,
                       float high) {
    char name[64], range[64], shown[64];
    snprintf(name, sizeof name, "%d %s", channel->channel, channel->name);
    snprintf(range, sizeof range, "[%.3g %.3g]", (double)low, (double)high);
    canvas_fit_text(name, TEXT_SCALE, TILE_SIDE, shown, sizeof shown);
    canvas_text(&sheet->canvas, x, y, TEXT_SCALE, text_color, shown);
    canvas_fit_text(range, TEXT_SCALE, TILE_SIDE, shown, sizeof shown);
    canvas_text(&sheet->canvas, x, y + TILE_LABEL / 2 - 1, TEXT_SCALE, faint_text, shown);
}

bool draw_sheet_add(draw_sheet *sheet, int32_t channel, const float *plane, int32_t width, int32_t height) {
    const int32_t tile_width = sheet->tile_width, tile_height = sheet->tile_height;
    const size_t count = (size_t)tile_width * (size_t)tile_height;
    const int32_t left = TILE_GAP + sheet->tiles % sheet->columns * (TILE_SIDE + TILE_GAP);
    const int32_t top = TITLE_BAND + sheet->tiles / sheet->columns * (tile_height + TILE_LABEL + TILE_GAP);
    tvlm_channel_info info;
    const tile_style style = style_of(sheet->stack, channel, &info);
    float low, high;
    struct span span;
    if (style == TILE_EMPTY) return true;
    float *const scaled = calloc(count, sizeof *scaled);
    bool done = scaled != NULL;
    if (done && style == TILE_IDENTIFIER)
        pick_nearest(plane, width, height, scaled, tile_width, tile_height);
    else if (done)
        done = resize_floats(plane, width, height, 1, scaled, tile_width, tile_height);
    done = done && find_span(style, scaled, count, middle_of(channel), &span);
    if (done) {
        value_range(plane, (size_t)width * (size_t)height, &low, &high);
        draw_label(sheet, &info, left, top, low, high);
        const int32_t x0 = left, y0 = top + TILE_LABEL;
        for (int32_t y = 0; y < tile_height; ++y) {
            for (int32_t x = 0; x < tile_width; ++x)
                canvas_set(&sheet->canvas, x0 + x, y0 + y,
                           tile_color(style, scaled[(size_t)y * (size_t)tile_width + (size_t)x], span));
        }
        ++sheet->tiles;
    }
    free(scaled);
    return done;
}
