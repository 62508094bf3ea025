/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/stage.h"
#include "texturevlm/input.h"

#define PANEL_SIDE   TVLM_SHEET_PANEL
#define PANEL_GAP    TVLM_SHEET_GAP
#define PANEL_LABEL  TVLM_SHEET_LABEL
#define TITLE_BAND   TVLM_SHEET_TITLE
#define TEXT_SCALE   TVLM_STAGE_TEXT_SCALE
#define FOOT_LINE    24
#define SHEET_ASPECT 1.5

static int32_t max_int(int32_t a, int32_t b) {
    return a > b ? a : b;
}
static int32_t min_int(int32_t a, int32_t b) {
    return a < b ? a : b;
}
static int32_t scaled_side(int32_t side, double scale) {
    return max_int(1, (int32_t)lround(side * scale));
}

typedef enum panel_style {
    PANEL_GRAY,
    PANEL_STRETCHED,
    PANEL_SIGNED,
    PANEL_IDENTIFIER,
    PANEL_EMPTY
} panel_style;

/* Returns how a channel is shown. A channel about which nothing is known is shown empty. */
static panel_style style_of(const tvlm_stack *stack, int32_t channel, tvlm_channel_info *info) {
    const tvlm_status status = stack != NULL ? tvlm_stack_get_channel_info(stack, channel, info)
                                             : tvlm_channel_get_info(channel, info);
    if (status != TVLM_OK || !info->available) return PANEL_EMPTY;
    if (info->identifier) return PANEL_IDENTIFIER;
    if (channel <= TVLM_CHANNEL_B || channel == TVLM_CHANNEL_LOW || channel == TVLM_CHANNEL_RGB_MEAN)
        return PANEL_GRAY;
    return info->low < 0.0f || channel == TVLM_CHANNEL_HIGH ? PANEL_SIGNED : PANEL_STRETCHED;
}

/* Returns the neutral value of a signed channel. It is 0 for all of them but `high`, which is 0.5 + 0.5 (Y -
 * low). */
static float middle_of(int32_t channel) {
    return channel == TVLM_CHANNEL_HIGH ? 0.5f : 0.0f;
}

bool tvlm_sheet_shows(const tvlm_stack *stack, int32_t channel) {
    tvlm_channel_info info;
    return style_of(stack, channel, &info) != PANEL_EMPTY;
}

/* The text below the panels: words in wrapped lines. If the canvas is NULL, the lines are only counted. */
typedef struct foot {
    tvlm_canvas *canvas;
    int32_t top, width, x, lines;
} foot;

static void foot_word(foot *to, const char *word, bool begins) {
    const int32_t wide = tvlm_canvas_text_width(word, TEXT_SCALE);
    if (begins || (to->x + wide > to->width - PANEL_GAP && to->x > PANEL_GAP)) {
        to->x = PANEL_GAP;
        ++to->lines;
    }
    if (to->canvas != NULL)
        tvlm_canvas_text(to->canvas, to->x, to->top + (to->lines - 1) * FOOT_LINE, TEXT_SCALE,
                         tvlm_stage_faint, word);
    to->x += wide;
}

/* Why a channel has no panel. */
typedef enum foot_reason { FOOT_NONE, FOOT_NO_INPUT, FOOT_NOT_MADE } foot_reason;

static foot_reason reason_of(const tvlm_stack *stack, const int32_t *channels, const bool *has, int32_t i,
                             tvlm_channel_info *info) {
    if (style_of(stack, channels[i], info) == PANEL_EMPTY) return FOOT_NOT_MADE;
    return has == NULL || has[i] ? FOOT_NONE : FOOT_NO_INPUT;
}

/* Returns the place where the number at the end of a name begins ("embedding_12"), or 0 if there is none. */
static size_t number_of(const char *name) {
    const char *const last = strrchr(name, '_');
    return last != NULL && last[1] >= '0' && last[1] <= '9' ? (size_t)(last + 1 - name) : 0;
}

/* Returns how many channels, from `first` on, have consecutive numbers and no panel for the given reason. */
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

/* Draws the names of the channels without a panel. Returns how many lines they take. */
static int32_t draw_foot(tvlm_canvas *canvas, const tvlm_stack *stack, const int32_t *channels,
                         const bool *has, int32_t count, int32_t top, int32_t width) {
    foot to = {.canvas = canvas, .top = top, .width = width};
    foot_list(&to, stack, channels, has, count, FOOT_NO_INPUT, "no input:");
    foot_list(&to, stack, channels, has, count, FOOT_NOT_MADE, "0 in this version:");
    return to.lines;
}

/* Returns how many places stay empty if there are at most `columns` columns, and rows are as even as
 * possible. */
static int32_t blank_places(int32_t panels, int32_t columns) {
    const int32_t rows = (panels + columns - 1) / columns;
    return rows > 0 ? (panels + rows - 1) / rows * rows - panels : 0;
}

bool tvlm_sheet_start(const tvlm_stack *stack, const int32_t *channels, const bool *has, int32_t count,
                      int32_t width, int32_t height, const char *title, tvlm_sheet *sheet) {
    const double scale = (double)PANEL_SIDE / max_int(width, height);
    tvlm_channel_info info;
    int32_t panels = 0;
    for (int32_t i = 0; i < count; ++i) panels += reason_of(stack, channels, has, i, &info) == FOOT_NONE;
    *sheet = (tvlm_sheet){.stack = stack,
                          .panel_width = max_int(8, scaled_side(width, scale)),
                          .panel_height = max_int(8, scaled_side(height, scale))};
    const double step_x = PANEL_SIDE + PANEL_GAP, step_y = sheet->panel_height + PANEL_LABEL + PANEL_GAP;
    const int32_t wished = (int32_t)lround(sqrt(panels * SHEET_ASPECT * step_y / step_x));
    sheet->columns = max_int(min_int(panels, 3), min_int(wished, 48));
    sheet->columns = max_int(sheet->columns, 1);
    if (blank_places(panels, sheet->columns + 1) < blank_places(panels, sheet->columns)) ++sheet->columns;
    const int32_t rows = (panels + sheet->columns - 1) / sheet->columns;
    if (rows > 0) sheet->columns = (panels + rows - 1) / rows; /* the rows become as even as possible */
    const int32_t full_width =
        max_int(TVLM_STAGE_LEGEND_WIDTH, PANEL_GAP + sheet->columns * (PANEL_SIDE + PANEL_GAP));
    const int32_t foot_lines = draw_foot(NULL, stack, channels, has, count, 0, full_width);
    const int64_t foot_top = TITLE_BAND + (int64_t)rows * (int64_t)step_y + PANEL_GAP;
    const int64_t full_height = foot_top + (int64_t)foot_lines * FOOT_LINE;
    if (full_height > INT32_MAX ||
        !tvlm_canvas_create(full_width, (int32_t)full_height, tvlm_stage_background, &sheet->canvas))
        return false;
    char text[256];
    tvlm_canvas_fit_text(title != NULL ? title : "", TEXT_SCALE, full_width - 2 * PANEL_GAP, text,
                         sizeof text);
    tvlm_canvas_text(&sheet->canvas, PANEL_GAP, (TITLE_BAND - TVLM_CANVAS_TEXT_HEIGHT * TEXT_SCALE) / 2 + 2,
                     TEXT_SCALE, tvlm_stage_text, text);
    (void)draw_foot(&sheet->canvas, stack, channels, has, count, (int32_t)foot_top, full_width);
    return true;
}

/* The values at the two ends of a panel's colour map. */
struct span {
    float low, high;
};

static int compare_floats(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Finds a span that leaves out a hundredth of the values below it, and a hundredth above it. So a few bright
 * pixels do not make the rest dark. */
static bool find_span(panel_style style, const float *values, size_t count, float middle, struct span *span) {
    float *const sorted = calloc(count, sizeof *sorted);
    if (sorted == NULL) return false;
    for (size_t i = 0; i < count; ++i) sorted[i] = isfinite(values[i]) ? values[i] : 0.0f;
    qsort(sorted, count, sizeof *sorted, compare_floats);
    span->low = sorted[count / 100];
    span->high = sorted[count - 1 - count / 100];
    free(sorted);
    if (style == PANEL_SIGNED) {
        const float most = fmaxf(fabsf(span->low - middle), fabsf(span->high - middle));
        span->low = middle - most;
        span->high = middle + most;
    }
    return true;
}

static tvlm_colour panel_colour(panel_style style, float value, struct span span) {
    const float t = span.high > span.low ? (value - span.low) / (span.high - span.low) : 0.5f;
    switch (style) {
    case PANEL_GRAY: return tvlm_colours_gray(value);
    case PANEL_SIGNED: return tvlm_colours_diverging(2.0f * t - 1.0f);
    case PANEL_IDENTIFIER: return tvlm_colours_identifier((int32_t)fminf(fmaxf(value, 0.0f), 1e9f));
    case PANEL_STRETCHED: return tvlm_colours_viridis(t);
    case PANEL_EMPTY: break;
    }
    return tvlm_stage_background;
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

static void draw_label(tvlm_sheet *sheet, const tvlm_channel_info *channel, int32_t x, int32_t y, float low,
                       float high) {
    char name[64], range[64], shown[64];
    snprintf(name, sizeof name, "%d %s", channel->channel, channel->name);
    snprintf(range, sizeof range, "[%.3g %.3g]", (double)low, (double)high);
    tvlm_canvas_fit_text(name, TEXT_SCALE, PANEL_SIDE, shown, sizeof shown);
    tvlm_canvas_text(&sheet->canvas, x, y, TEXT_SCALE, tvlm_stage_text, shown);
    tvlm_canvas_fit_text(range, TEXT_SCALE, PANEL_SIDE, shown, sizeof shown);
    tvlm_canvas_text(&sheet->canvas, x, y + PANEL_LABEL / 2 - 1, TEXT_SCALE, tvlm_stage_faint, shown);
}

bool tvlm_sheet_add(tvlm_sheet *sheet, int32_t channel, const float *plane, int32_t width, int32_t height) {
    const int32_t panel_width = sheet->panel_width, panel_height = sheet->panel_height;
    const size_t count = (size_t)panel_width * (size_t)panel_height;
    const int32_t left = PANEL_GAP + sheet->panels % sheet->columns * (PANEL_SIDE + PANEL_GAP);
    const int32_t top =
        TITLE_BAND + sheet->panels / sheet->columns * (panel_height + PANEL_LABEL + PANEL_GAP);
    tvlm_channel_info info;
    const panel_style style = style_of(sheet->stack, channel, &info);
    float low, high;
    struct span span;
    if (style == PANEL_EMPTY) return true;
    float *const scaled = calloc(count, sizeof *scaled);
    bool done = scaled != NULL;
    if (done && style == PANEL_IDENTIFIER)
        pick_nearest(plane, width, height, scaled, panel_width, panel_height);
    else if (done)
        done = tvlm_canvas_resize(plane, width, height, 1, scaled, panel_width, panel_height);
    done = done && find_span(style, scaled, count, middle_of(channel), &span);
    if (done) {
        tvlm_canvas_range(plane, (size_t)width * (size_t)height, &low, &high);
        draw_label(sheet, &info, left, top, low, high);
        const int32_t x0 = left, y0 = top + PANEL_LABEL;
        for (int32_t y = 0; y < panel_height; ++y) {
            for (int32_t x = 0; x < panel_width; ++x)
                tvlm_canvas_set(
                    &sheet->canvas, x0 + x, y0 + y,
                    panel_colour(style, scaled[(size_t)y * (size_t)panel_width + (size_t)x], span));
        }
        ++sheet->panels;
    }
    free(scaled);
    return done;
}
