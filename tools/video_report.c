/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_report.c: draws how many tokens a second a video takes over its time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "texturevlm/draw.h"
#include "texturevlm/io.h"
#include "video_clip.h"

enum { WIDTH = 960, HEIGHT = 320, LEFT = 64, RIGHT = 16, TOP = 40, BELOW = 32, LINES = 4 };

/* From the bottom of a bar to its top: cells of thumbnails, and squares from coarse to fine (video_seen.c). */
static const uint8_t colours[VIDEO_REPORT_KINDS][3] = {
    {150, 150, 150}, {0, 120, 220}, {240, 120, 0}, {230, 180, 0}};
static const char *const names[VIDEO_REPORT_KINDS] = {"thumbnails", "coarse", "middle", "fine"};

/* A picture on its way. */
typedef struct chart {
    struct tool *tool;
    uint8_t *rgb;
    double most; /* tokens a second at the top */
} chart;

static void fill(const chart *c, int32_t left, int32_t top, int32_t right, int32_t bottom,
                 const uint8_t colour[3]) {
    for (int32_t y = top; y < bottom; ++y)
        for (int32_t x = left; x < right; ++x) memcpy(c->rgb + 3 * (y * WIDTH + x), colour, 3);
}

static int write_text(const chart *c, int32_t x, int32_t y, const char *text) {
    return tool_status(c->tool, tvlm_draw_text(text, tvlm_draw_text_params(.x = x, .y = y, .room = WIDTH - x),
                                               &c->tool->log, WIDTH, HEIGHT, c->rgb, NULL));
}

static int32_t height_of(const chart *c, double tokens) {
    return (int32_t)(tokens / c->most * (HEIGHT - TOP - BELOW) + 0.5);
}

static double tokens_of(const video_report_slot *slot) {
    double sum = 0.0;
    for (int kind = 0; kind < VIDEO_REPORT_KINDS; ++kind) sum += slot->tokens[kind];
    return sum / slot->seconds;
}

/* A number of which quarters are easily read, and that is at least `most`. */
static double round_up(double most) {
    static const double steps[] = {4.0, 8.0, 20.0, 40.0};
    for (double ten = 1.0;; ten *= 10.0)
        for (size_t i = 0; i < sizeof steps / sizeof *steps; ++i)
            if (steps[i] * ten >= most) return steps[i] * ten;
}

/* Where the last of the slots ends. It need not be the last one that came: times go back where two recordings were put behind each
 * other. */
static double end_of(const video_report_slot *slots, int32_t count) {
    double end = 0.0;
    for (int32_t i = 0; i < count; ++i) end = fmax(end, slots[i].time + slots[i].seconds);
    return end;
}

/* The column of a time. */
static int32_t column_of(double time, double end) {
    return LEFT + (int32_t)(fmin(fmax(time / end, 0.0), 1.0) * (WIDTH - LEFT - RIGHT));
}

static int draw_scale(const chart *c, double end) {
    static const uint8_t line[3] = {215, 215, 215};
    char text[64];
    for (int i = 0; i <= LINES; ++i) {
        const int32_t y = HEIGHT - BELOW - height_of(c, c->most * i / (double)LINES);
        fill(c, LEFT, y, WIDTH - RIGHT, y + 1, line);
        snprintf(text, sizeof text, "%g", c->most * i / (double)LINES);
        TOOL_TRY(write_text(c, 8, y - 4, text));
    }
    TOOL_TRY(write_text(c, LEFT, HEIGHT - BELOW + 10, "0 s"));
    snprintf(text, sizeof text, "%.1f s", end);
    return write_text(c, WIDTH - RIGHT - 60, HEIGHT - BELOW + 10, text);
}

static int draw_legend(const chart *c) {
    int32_t x = LEFT + 120;
    for (int kind = 0; kind < VIDEO_REPORT_KINDS; ++kind, x += 110) {
        fill(c, x, HEIGHT - BELOW + 10, x + 10, HEIGHT - BELOW + 18, colours[kind]);
        TOOL_TRY(write_text(c, x + 14, HEIGHT - BELOW + 10, names[kind]));
    }
    return write_text(c, 8, TOP - 16, "tokens a second");
}

static void draw_bars(const chart *c, const video_report_slot *slots, int32_t count, double end) {
    for (int32_t i = 0; i < count; ++i) {
        const int32_t left = column_of(slots[i].time, end);
        const int32_t right = column_of(slots[i].time + slots[i].seconds, end);
        double sum = 0.0;
        for (int kind = 0; kind < VIDEO_REPORT_KINDS; ++kind) {
            const int32_t bottom = HEIGHT - BELOW - height_of(c, sum);
            sum += slots[i].tokens[kind] / slots[i].seconds;
            fill(c, left, HEIGHT - BELOW - height_of(c, sum), right > left ? right : left + 1, bottom,
                 colours[kind]);
        }
    }
}

int video_report_write(struct tool *tool, const char *path, const char *title, const video_report_slot *slots,
                       int32_t count) {
    chart c = {tool, malloc((size_t)WIDTH * HEIGHT * 3), 0.0};
    if (c.rgb == NULL) return tool_fail(tool, "no memory for a picture");
    memset(c.rgb, 255, (size_t)WIDTH * HEIGHT * 3);
    for (int32_t i = 0; i < count; ++i)
        c.most = tokens_of(&slots[i]) > c.most ? tokens_of(&slots[i]) : c.most;
    c.most = round_up(c.most);
    const double end = end_of(slots, count);
    int code = draw_scale(&c, end);
    draw_bars(&c, slots, count, end);
    if (code == TOOL_DONE) code = draw_legend(&c);
    if (code == TOOL_DONE) code = write_text(&c, 8, 8, title);
    if (code == TOOL_DONE)
        code = tool_status(tool, tvlm_png_write(path, WIDTH, HEIGHT, 3, c.rgb, &tool->log));
    free(c.rgb);
    return code;
}
