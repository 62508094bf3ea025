/* SPDX-License-Identifier: Apache-2.0 */
/* What the tool draws, and what it writes as JSON: its functions that need no device. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

/* The tool is a program, not a library: its files are part of this one. */
#include "../tools/budget_scales.c"
#include "../tools/canvas.c"
#include "../tools/colormap.c"
#include "../tools/draw.c"
#include "../tools/json.c"

static void assert_color(color got, int r, int g, int b, int tolerance) {
    assert_true(abs(got.r - r) <= tolerance);
    assert_true(abs(got.g - g) <= tolerance);
    assert_true(abs(got.b - b) <= tolerance);
}

static color at(const struct canvas *canvas, int32_t x, int32_t y) {
    const uint8_t *const rgb = canvas->rgb + 3 * ((size_t)y * (size_t)canvas->width + (size_t)x);
    return (color){rgb[0], rgb[1], rgb[2]};
}

static int light(color c) {
    return 299 * c.r + 587 * c.g + 114 * c.b;
}

/* ---- Colours ---- */

/* matplotlib's tables at 0, 1/4, 1/2, 3/4 and 1. */
static void maps_match_their_source(void **state) {
    static const uint8_t viridis_table[5][3] = {
        {68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
    static const uint8_t inferno_table[5][3] = {
        {0, 0, 4}, {87, 16, 110}, {188, 55, 84}, {249, 142, 9}, {252, 255, 164}};
    (void)state;
    for (int i = 0; i < 5; ++i) {
        const float t = 0.25f * (float)i;
        assert_color(colormap_viridis(t), viridis_table[i][0], viridis_table[i][1], viridis_table[i][2], 5);
        assert_color(colormap_inferno(t), inferno_table[i][0], inferno_table[i][1], inferno_table[i][2], 10);
    }
    assert_color(colormap_diverging(-1.0f), 59, 76, 192, 0);
    assert_color(colormap_diverging(0.0f), 221, 221, 221, 0);
    assert_color(colormap_diverging(1.0f), 180, 4, 38, 0);
}

static void maps_take_any_number(void **state) {
    static const float numbers[] = {-1e30f, -INFINITY, NAN, 1e30f, INFINITY};
    (void)state;
    for (size_t i = 0; i < 5; ++i) {
        const bool high = i >= 3;
        assert_int_equal(colormap_gray(numbers[i]).r, high ? 255 : 0);
        assert_int_equal(light(colormap_viridis(numbers[i])), light(colormap_viridis(high ? 1.0f : 0.0f)));
        assert_int_equal(light(colormap_inferno(numbers[i])), light(colormap_inferno(high ? 1.0f : 0.0f)));
        assert_int_equal(light(colormap_diverging(numbers[i])), light(colormap_diverging(i == 2 ? 0.0f
                                                                                         : high ? 1.0f
                                                                                                : -1.0f)));
    }
}

static void perceptual_maps_grow_lighter(void **state) {
    (void)state;
    for (int i = 8; i <= 256; i += 8) {
        assert_true(light(colormap_viridis((float)i / 256.0f)) >
                    light(colormap_viridis((float)(i - 8) / 256.0f)));
        assert_true(light(colormap_inferno((float)i / 256.0f)) >
                    light(colormap_inferno((float)(i - 8) / 256.0f)));
    }
    for (int32_t rank = 1; rank < 273; rank += 16)
        assert_true(light(draw_rank_color(rank, 273)) < light(draw_rank_color(0, 273)));
    assert_int_equal(light(draw_rank_color(0, 1)), light(draw_rank_color(0, 273)));
}

static void identifiers_have_their_own_colors(void **state) {
    (void)state;
    for (int32_t i = 0; i < 50; ++i) {
        for (int32_t j = 0; j < i; ++j) {
            const color a = colormap_identifier(i), b = colormap_identifier(j);
            assert_true(abs(a.r - b.r) + abs(a.g - b.g) + abs(a.b - b.b) > 0);
        }
    }
}

/* ---- Canvas ---- */

static void drawing_is_clipped(void **state) {
    struct canvas canvas = {0};
    const color white = {255, 255, 255};
    (void)state;
    assert_true(canvas_create(20, 10, (color){10, 20, 30}, &canvas));
    assert_color(at(&canvas, 19, 9), 10, 20, 30, 0);
    canvas_fill(&canvas, (rect){-5, -5, 2, 2}, white, 1.0f);
    canvas_fill(&canvas, (rect){18, 8, 100, 100}, white, 0.5f);
    canvas_fill(&canvas, (rect){8, 8, 4, 4}, white, 1.0f); /* nothing in it */
    canvas_frame(&canvas, (rect){-3, 3, 30, 7}, 1, white, 1.0f);
    canvas_set(&canvas, -1, 0, white);
    canvas_set(&canvas, 0, 10, white);
    assert_color(at(&canvas, 1, 1), 255, 255, 255, 0);
    assert_color(at(&canvas, 2, 2), 10, 20, 30, 0);
    assert_color(at(&canvas, 18, 9), 133, 138, 143, 0);
    assert_color(at(&canvas, 5, 3), 255, 255, 255, 0);
    assert_color(at(&canvas, 5, 6), 255, 255, 255, 0);
    assert_color(at(&canvas, 5, 5), 10, 20, 30, 0);
    canvas_text(&canvas, 15, 5, 2, white, "Wg\xc3\xa4|~");
    canvas_text(&canvas, -7, -7, 2, white, "Wg");
    canvas_release(&canvas);
    assert_false(canvas_create(0, 5, white, &canvas));
    assert_false(canvas_create(5, 40000, white, &canvas));
}

static void text_is_as_wide_as_it_says(void **state) {
    struct canvas canvas = {0};
    char cut[64];
    (void)state;
    for (char letter = ' '; letter <= '~'; ++letter) {
        const char text[2] = {letter, '\0'};
        const int32_t width = canvas_text_width(text, 3);
        int32_t drawn = 0;
        assert_true(canvas_create(60, 60, (color){0, 0, 0}, &canvas));
        canvas_text(&canvas, 12, 12, 3, (color){255, 255, 255}, text);
        for (int32_t y = 0; y < 60; ++y) {
            for (int32_t x = 0; x < 60; ++x) {
                if (at(&canvas, x, y).r == 0) continue;
                ++drawn;
                assert_true(x >= 12 && x < 12 + width + 3 && y >= 9 && y < 12 + 36);
            }
        }
        assert_true((letter == ' ') == (drawn == 0));
        canvas_release(&canvas);
    }
    canvas_fit_text("cluster_distance", 2, 1000, cut, sizeof cut);
    assert_string_equal(cut, "cluster_distance");
    canvas_fit_text("cluster_distance", 2, 100, cut, sizeof cut);
    assert_true(canvas_text_width(cut, 2) <= 100 && strcmp(cut + strlen(cut) - 2, "..") == 0);
    canvas_fit_text("cluster_distance", 2, 1000, cut, 8);
    assert_true(strlen(cut) < 8);
}

/* The definition: the average of the covered area, pixel by pixel. */
static float area_average(const float *in, int32_t width, double x0, double x1, double y0, double y1) {
    double sum = 0.0;
    for (int32_t y = (int32_t)y0; y < y1; ++y) {
        for (int32_t x = (int32_t)x0; x < x1; ++x)
            sum += (fmin(x1, x + 1.0) - fmax(x0, x)) * (fmin(y1, y + 1.0) - fmax(y0, y)) *
                   (double)in[y * width + x];
    }
    return (float)(sum / ((x1 - x0) * (y1 - y0)));
}

static void shrinking_is_the_area_average(void **state) {
    static const int32_t sizes[][4] = {{17, 13, 5, 4}, {9, 7, 9, 1}, {1, 12, 1, 5}, {31, 2, 8, 2}};
    uint64_t random = 1;
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const int32_t w = sizes[i][0], h = sizes[i][1], ow = sizes[i][2], oh = sizes[i][3];
        float in[256], out[256];
        for (int32_t j = 0; j < w * h; ++j) in[j] = test_random_unit(&random);
        assert_true(resize_floats(in, w, h, 1, out, ow, oh));
        for (int32_t y = 0; y < oh; ++y) {
            for (int32_t x = 0; x < ow; ++x) {
                const double sx = (double)w / ow, sy = (double)h / oh;
                const float expected =
                    area_average(in, w, x * sx, fmin((x + 1) * sx, w), y * sy, fmin((y + 1) * sy, h));
                assert_true(fabsf(out[y * ow + x] - expected) <
                            1e-5f); /* weights and sums in float: some ulps */
            }
        }
    }
}

static void growing_keeps_ramps_and_corners(void **state) {
    float in[6 * 4], out[24 * 16];
    (void)state;
    for (int32_t i = 0; i < 24; ++i) in[i] = (float)(i % 6) + 10.0f * (float)(i / 6);
    assert_true(resize_floats(in, 6, 4, 1, out, 24, 16));
    for (int32_t y = 0; y < 16; ++y) {
        for (int32_t x = 0; x < 24; ++x) {
            const float column = fminf(fmaxf(((float)x + 0.5f) / 4.0f - 0.5f, 0.0f), 5.0f);
            const float row = fminf(fmaxf(((float)y + 0.5f) / 4.0f - 0.5f, 0.0f), 3.0f);
            assert_true(fabsf(out[y * 24 + x] - (column + 10.0f * row)) < 1e-4f);
        }
    }
}

static void the_cubic_passes_through_its_points(void **state) {
    float grid[5 * 3];
    (void)state;
    for (int i = 0; i < 15; ++i) grid[i] = (float)((i * 7) % 11);
    for (int y = 0; y < 3; ++y) {
        for (int x = 0; x < 5; ++x)
            assert_true(fabsf(sample_cubic(grid, 5, 3, (float)x + 0.5f, (float)y + 0.5f) - grid[5 * y + x]) <
                        1e-4f);
    }
    for (int i = 0; i < 15; ++i) grid[i] = 4.0f;
    assert_true(fabsf(sample_cubic(grid, 5, 3, -3.0f, 1.7f) - 4.0f) < 1e-5f);
    assert_true(fabsf(sample_cubic(grid, 5, 3, 2.9f, 99.0f) - 4.0f) < 1e-5f);
}

static void images_of_all_kinds_are_drawn(void **state) {
    static const uint8_t gray_alpha[] = {0, 255, 255, 255,
                                         0, 0,   0,   128}; /* black, white, clear, half clear black */
    static const uint16_t wide[] = {0, 65535, 32768, 65535};
    static const float floats[] = {-1.0f, 0.5f, 2.0f, NAN};
    const tvlm_image images[] = {
        {.pixels = gray_alpha, .width = 2, .height = 2, .channels = 2, .type = TVLM_PIXEL_U8},
        {.pixels = wide, .width = 2, .height = 2, .channels = 1, .type = TVLM_PIXEL_U16},
        {.pixels = floats, .width = 2, .height = 2, .channels = 1, .type = TVLM_PIXEL_F32}};
    static const int expected[3][4] = {{0, 255, 255, 127}, {0, 255, 128, 255}, {0, 128, 255, 0}};
    (void)state;
    for (int i = 0; i < 3; ++i) {
        struct canvas canvas = {0};
        assert_true(canvas_create(4, 4, (color){9, 9, 9}, &canvas));
        assert_true(canvas_image(&canvas, (rect){1, 1, 3, 3}, &images[i]));
        assert_color(at(&canvas, 0, 0), 9, 9, 9, 0);
        assert_color(at(&canvas, 3, 3), 9, 9, 9, 0);
        for (int p = 0; p < 4; ++p)
            assert_color(at(&canvas, 1 + p % 2, 1 + p / 2), expected[i][p], expected[i][p], expected[i][p],
                         0);
        canvas_release(&canvas);
    }
}

/* ---- Pictures ---- */

#define SIDE 64

static void an_overlay_shows_what_was_chosen(void **state) {
    static uint8_t pixels[SIDE * SIDE * 3];
    static const tvlm_position positions[] = {
        {.column = 1, .row = 2}, {.column = 3, .row = 3}, {.column = 9, .row = 0}};
    const tvlm_image photo = {
        .pixels = pixels, .width = SIDE, .height = SIDE, .channels = 3, .type = TVLM_PIXEL_U8};
    const draw_grid grid = {4, 4, 16.0f, 16.0f};
    struct canvas canvas = {0};
    (void)state;
    memset(pixels, 200, sizeof pixels);
    assert_true(
        draw_overlay(&photo, &grid, positions, 3, "title", &canvas)); /* the third lies outside: ignored */
    const int32_t cell = PHOTO_LONG_MIN / 4;
    assert_int_equal(canvas.width, PHOTO_LONG_MIN);
    assert_int_equal(canvas.height, PHOTO_LONG_MIN + LEGEND_HEIGHT);
    assert_true(light(at(&canvas, cell / 2, cell / 2)) < 130 * 1000);                   /* dimmed */
    assert_true(light(at(&canvas, cell + cell / 2, 2 * cell + cell / 2)) > 160 * 1000); /* not */
    const color first = draw_rank_color(0, 3), frame = at(&canvas, cell + 1, 2 * cell + 1);
    assert_color(frame, first.r, first.g, first.b, 25);
    canvas_release(&canvas);
}

/* A budget's thumbnail is fine lines, and its tiles have the colours of their levels, the finer ones above. */
static void a_budget_shows_its_grid_and_tiles(void **state) {
    static uint8_t pixels[SIDE * SIDE * 3];
    static const tvlm_position positions[] = {
        {.x = 16, .y = 32, .size = 32, .height = 64},
        {.x = 48, .y = 32, .size = 32, .height = 64},
        {.x = 40, .y = 40, .size = 16, .level = 0},
        {.x = 48, .y = 48, .size = 32, .level = 1},
        {.x = 10.6667f, .y = 53.3333f, .size = 21.3333f, .level = 0.415f}};
    const tvlm_image photo = {
        .pixels = pixels, .width = SIDE, .height = SIDE, .channels = 3, .type = TVLM_PIXEL_U8};
    const int32_t scale = PHOTO_LONG_MIN / SIDE;
    struct canvas canvas = {0};
    (void)state;
    memset(pixels, 200, sizeof pixels);
    assert_true(draw_budget(&photo, 2, 1, positions, 2, 5, "title", &canvas));
    const color line = at(&canvas, 32 * scale, 8 * scale), zero = level_color(0.0f), one = level_color(1.0f);
    assert_color(at(&canvas, 8 * scale, 32 * scale), 200, 200, 200, 0); /* two columns, one row */
    assert_true(light(line) != 200 * 1000);
    assert_color(at(&canvas, 63 * scale, 60 * scale), (int)lroundf(200 + TINT * (one.r - 200)),
                 (int)lroundf(200 + TINT * (one.g - 200)), (int)lroundf(200 + TINT * (one.b - 200)), 2);
    assert_color(at(&canvas, 33 * scale, 32 * scale), zero.r, zero.g, zero.b, 25); /* frames */
    assert_color(at(&canvas, 63 * scale, 64 * scale - 1), one.r, one.g, one.b, 25);
    const color between = level_color(0.415f); /* a third of a square of 64 pixels */
    assert_color(at(&canvas, 4 * scale, 64 * scale - 1), between.r, between.g, between.b, 25);
    assert_color(at(&canvas, SIDE * scale / 3 - 1, 56 * scale), between.r, between.g, between.b, 25);
    canvas_release(&canvas);
}

/* Adds a frame of that width and what is within it to what a pixel is expected to be; `x` and `y` are from the
 * frame's upper left corner on. */
static void expect_frame(float expected[3], int32_t x, int32_t y, int32_t width, int32_t height, int32_t line,
                         color ink, float alpha, float tint) {
    const float inks[3] = {ink.r, ink.g, ink.b};
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    const bool on_line = x < line || y < line || x >= width - line || y >= height - line;
    for (int c = 0; c < 3; ++c) {
        expected[c] += tint * (inks[c] - expected[c]);
        if (on_line) expected[c] += alpha * (inks[c] - expected[c]);
    }
}

/* Every pixel of a budget's overlay, on a photo that is drawn as large as it is: lines are at the borders of the
 * thumbnail's cells, but of two that are empty, and of the tiles, of which two are clipped by the photo's border. */
static void a_budget_is_drawn_to_the_pixel(void **state) {
    enum { WIDE = PHOTO_LONG_MIN, HIGH = 200, COLUMNS = 4, ROWS = 2 };
    static uint8_t pixels[WIDE * HIGH * 3];
    enum { TILES = 6, CELLS = COLUMNS * ROWS - 2 };
    static const tvlm_position tiles[TILES] = {
        {.x = 168, .y = 72, .size = 16, .level = 0},  {.x = 176, .y = 80, .size = 32, .level = 1},
        {.x = 160, .y = 96, .size = 64, .level = 2},  {.x = 400, .y = 196, .size = 16, .level = 0},
        {.x = 928, .y = 196, .size = 64, .level = 2}, {.x = 168, .y = 72, .size = 48, .level = 1.585f}};
    static const int32_t areas[TILES][4] = {{160, 64, 16, 16}, {160, 64, 32, 32}, {128, 64, 64, 64},
                                            {392, 192, 16, 8}, {896, 192, 64, 8}, {144, 48, 48, 48}};
    static const int order[TILES] = {2, 4, 5, 1, 0, 3}; /* from coarse to fine */
    tvlm_position positions[CELLS + TILES];
    int32_t count = 0;
    const tvlm_image photo = {
        .pixels = pixels, .width = WIDE, .height = HIGH, .channels = 3, .type = TVLM_PIXEL_U8};
    struct canvas canvas = {0};
    (void)state;
    for (int i = 0; i < WIDE * HIGH * 3; ++i) pixels[i] = (uint8_t)(60 + i % WIDE / 8);
    for (int32_t i = 0; i < COLUMNS * ROWS; ++i)
        if (i != 1 && i != 6)
            positions[count++] = (tvlm_position){.x = ((float)(i % COLUMNS) + 0.5f) * WIDE / COLUMNS,
                                                 .y = ((float)(i / COLUMNS) + 0.5f) * HIGH / ROWS,
                                                 .size = (float)WIDE / COLUMNS,
                                                 .height = (float)HIGH / ROWS};
    memcpy(positions + count, tiles, sizeof tiles);
    assert_true(draw_budget(&photo, COLUMNS, ROWS, positions, CELLS, CELLS + TILES, "title", &canvas));
    for (int32_t y = 0; y < HIGH; ++y)
        for (int32_t x = 0; x < WIDE; ++x) {
            const uint8_t *const before = pixels + 3 * (y * WIDE + x);
            float expected[3] = {before[0], before[1], before[2]};
            const int32_t wide = WIDE / COLUMNS, high = HIGH / ROWS;
            const int32_t cell = y / high * COLUMNS + x / wide;
            if (cell != 1 && cell != 6)
                expect_frame(expected, x % wide, y % high, wide, high, 1, text_color, 0.25f, 0.0f);
            for (int i = 0; i < TILES; ++i) {
                const float level = tiles[order[i]].level;
                const int32_t *const area = areas[order[i]];
                expect_frame(expected, x - area[0], y - area[1], area[2], area[3], level > 0.0f ? 2 : 1,
                             level_color(level), 0.9f, TINT);
            }
            assert_color(at(&canvas, x, y), (int)lroundf(expected[0]), (int)lroundf(expected[1]),
                         (int)lroundf(expected[2]), 3);
        }
    canvas_release(&canvas);
}

static void a_budget_is_named(void **state) {
    char text[64];
    (void)state;
    const int length = draw_budget_text(4, 3, 12, 162, text, sizeof text);
    assert_string_equal(text, "4 x 3 thumbnail, 150 tiles");
    assert_int_equal(length, (int)strlen(text));
    draw_budget_text(4, 3, 10, 160, text, sizeof text);
    assert_string_equal(text, "4 x 3 thumbnail, 2 empty, 150 tiles");
}

static void pictures_of_any_shape_are_drawn(void **state) {
    static const int32_t sizes[][2] = {{1, 1}, {1, 700}, {700, 1}, {3000, 40}, {37, 23}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const int32_t w = sizes[i][0], h = sizes[i][1], columns = (w + 15) / 16, rows = (h + 15) / 16;
        uint8_t *const pixels = calloc((size_t)w * (size_t)h, 1);
        float *const scores = calloc((size_t)columns * (size_t)rows, sizeof *scores);
        const tvlm_image photo = {
            .pixels = pixels, .width = w, .height = h, .channels = 1, .type = TVLM_PIXEL_U8};
        const draw_grid grid = {columns, rows, 16.0f, 16.0f};
        const tvlm_position last = {.column = columns - 1, .row = rows - 1};
        struct canvas canvas = {0};
        scores[0] = NAN;
        assert_true(draw_overlay(&photo, &grid, &last, 1,
                                 "a title that is much longer than the picture is wide", &canvas));
        canvas_release(&canvas);
        assert_true(draw_heatmap(&photo, &grid, scores, "", &canvas));
        canvas_release(&canvas);
        free(pixels);
        free(scores);
    }
}

static void a_heat_map_is_warm_where_scores_are_high(void **state) {
    static uint8_t pixels[SIDE * SIDE];
    float scores[16] = {0};
    const tvlm_image photo = {
        .pixels = pixels, .width = SIDE, .height = SIDE, .channels = 1, .type = TVLM_PIXEL_U8};
    const draw_grid grid = {4, 4, 16.0f, 16.0f};
    struct canvas canvas = {0};
    (void)state;
    memset(pixels, 128, sizeof pixels);
    scores[4 * 2 + 1] = 5.0f;
    assert_true(draw_heatmap(&photo, &grid, scores, "title", &canvas));
    const int32_t cell = PHOTO_LONG_MIN / 4;
    const color hot = at(&canvas, cell + cell / 2, 2 * cell + cell / 2),
                cold = at(&canvas, 3 * cell, cell / 2);
    assert_true(hot.r > 150 && hot.g > 150 && light(hot) > 3 * light(cold));
    canvas_release(&canvas);
}

static void a_sheet_has_a_tile_for_each_channel(void **state) {
    static const int32_t channels[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_EDGE_X, TVLM_CHANNEL_EDGES,
                                       TVLM_CHANNEL_ENTROPY};
    static float plane[SIDE * SIDE];
    draw_sheet sheet = {0};
    (void)state;
    assert_true(draw_sheet_start(NULL, channels, NULL, 4, SIDE, SIDE / 2, "title", &sheet));
    const int32_t columns = sheet.columns;
    for (int32_t i = 0; i < 4; ++i) {
        for (int32_t p = 0; p < SIDE * SIDE / 2; ++p)
            plane[p] = p % SIDE < SIDE / 2 ? (i == 1 ? -0.5f : 0.0f) : 0.5f;
        assert_true(draw_sheet_add(&sheet, channels[i], plane, SIDE, SIDE / 2));
        const int32_t x = TILE_GAP + i % columns * (TILE_SIDE + TILE_GAP);
        const int32_t y =
            TITLE_BAND + TILE_LABEL + i / columns * (sheet.tile_height + TILE_LABEL + TILE_GAP) + 60;
        const color left = at(&sheet.canvas, x + 60, y), right = at(&sheet.canvas, x + TILE_SIDE - 60, y);
        const color low = i == 0   ? (color){0, 0, 0}
                          : i == 1 ? colormap_diverging(-1.0f)
                                   : colormap_viridis(0.0f);
        const color high = i == 0   ? (color){128, 128, 128}
                           : i == 1 ? colormap_diverging(1.0f)
                                    : colormap_viridis(1.0f);
        assert_color(left, low.r, low.g, low.b, 1);
        assert_color(right, high.r, high.g, high.b, 1);
    }
    assert_int_equal(sheet.tiles, 4);
    canvas_release(&sheet.canvas);
}

static void a_sheet_names_what_has_no_tile(void **state) {
    int32_t channels[41];
    bool has[41];
    float plane[6] = {0};
    draw_sheet sheet = {0};
    (void)state;
    for (int32_t i = 0; i < 40; ++i) channels[i] = i;
    channels[40] = 7777777; /* no channel at all */
    for (int32_t i = 0; i < 41; ++i) has[i] = i % 5 != 0;
    for (int32_t count = 0; count <= 41; ++count) {
        int32_t expected = 0;
        assert_true(draw_sheet_start(NULL, channels, count % 2 == 0 ? NULL : has, count, 3, 2, "", &sheet));
        for (int32_t i = 0; i < count; ++i) {
            const bool shown = count % 2 == 0 || has[i];
            if (shown) assert_true(draw_sheet_add(&sheet, channels[i], plane, 3, 2));
            expected += shown && i < 40;
        }
        assert_int_equal(sheet.tiles, expected);
        canvas_release(&sheet.canvas);
    }
}

/* Pixels that are not the background's from `top` on, and the last line that has any. */
static int32_t ink_below(const struct canvas *canvas, int32_t top, int32_t *last) {
    int32_t ink = 0;
    for (int32_t y = top; y < canvas->height; ++y)
        for (int32_t x = 0; x < canvas->width; ++x)
            if (light(at(canvas, x, y)) > 2 * light(at(canvas, 0, 0))) ++ink, *last = y;
    return ink;
}

/* Nothing black stands for what nobody handed in; and sixteen numbers are one word. */
static void a_sheet_without_input_is_short(void **state) {
    int32_t channels[17], last = 0;
    bool has[17] = {true};
    float plane[6] = {0.1f, 0.2f};
    draw_sheet sheet = {0}, full = {0};
    (void)state;
    channels[0] = TVLM_CHANNEL_R;
    for (int32_t i = 0; i < 16; ++i) channels[i + 1] = TVLM_CHANNEL_EMBEDDING_0 + i;
    assert_true(draw_sheet_start(NULL, channels, has, 17, 3, 2, "", &sheet));
    assert_true(draw_sheet_start(NULL, channels, NULL, 17, 3, 2, "", &full));
    assert_true(draw_sheet_add(&sheet, channels[0], plane, 3, 2));
    const int32_t below = TITLE_BAND + TILE_LABEL + sheet.tile_height + TILE_GAP;
    assert_true(sheet.canvas.height < full.canvas.height);
    assert_true(ink_below(&sheet.canvas, below, &last) > 100);
    assert_true(last < below + TILE_GAP + 24 && last < sheet.canvas.height); /* one line, inside */
    canvas_release(&sheet.canvas);
    canvas_release(&full.canvas);
}

/* ---- JSON ---- */

static void json_is_exact(void **state) {
    static const float numbers[] = {0.1f, 1.0f / 3.0f, 16777216.0f, -1e-30f, 3.4028235e38f, 1e-45f, 5.5f};
    char text[32];
    json_writer json = {0};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        json_format_float(numbers[i], text, sizeof text);
        assert_true(strtof(text, NULL) == numbers[i]);
    }
    json_open_object(&json, NULL, true);
    json_string(&json, "a\"\\\n", "\xc3\xa4\xff\x01");
    json_float(&json, "f", 0.1f);
    json_float(&json, "n", NAN);
    json_open_array(&json, "e", false);
    json_close(&json);
    json_open_array(&json, "l", false); /* flat, as what it is in */
    json_integer(&json, NULL, -3);
    json_boolean(&json, NULL, true);
    json_string(&json, NULL, NULL);
    json_close(&json);
    json_close(&json);
    assert_string_equal(json_text_of(&json),
                        "{\"a\\\"\\\\\\u000a\": \"\xc3\xa4\xef\xbf\xbd\\u0001\", \"f\": 0.1, \"n\": null, "
                        "\"e\": [], \"l\": [-3, true, null]}\n");
    json_release(&json);
    for (int i = 0; i <= JSON_DEPTH_MAX; ++i) json_open_array(&json, NULL, false);
    assert_null(json_text_of(&json)); /* too deep */
    json_release(&json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_match_their_source),
        cmocka_unit_test(maps_take_any_number),
        cmocka_unit_test(perceptual_maps_grow_lighter),
        cmocka_unit_test(identifiers_have_their_own_colors),
        cmocka_unit_test(drawing_is_clipped),
        cmocka_unit_test(text_is_as_wide_as_it_says),
        cmocka_unit_test(shrinking_is_the_area_average),
        cmocka_unit_test(growing_keeps_ramps_and_corners),
        cmocka_unit_test(the_cubic_passes_through_its_points),
        cmocka_unit_test(images_of_all_kinds_are_drawn),
        cmocka_unit_test(an_overlay_shows_what_was_chosen),
        cmocka_unit_test(a_budget_shows_its_grid_and_tiles),
        cmocka_unit_test(a_budget_is_drawn_to_the_pixel),
        cmocka_unit_test(a_budget_is_named),
        cmocka_unit_test(pictures_of_any_shape_are_drawn),
        cmocka_unit_test(a_heat_map_is_warm_where_scores_are_high),
        cmocka_unit_test(a_sheet_has_a_tile_for_each_channel),
        cmocka_unit_test(a_sheet_names_what_has_no_tile),
        cmocka_unit_test(a_sheet_without_input_is_short),
        cmocka_unit_test(json_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
