/* SPDX-License-Identifier: Apache-2.0 */
/* What pictures are made with: maps of colours, the canvas, and the sheet. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/canvas.h"
#include "draw/sheet.h"
#include "support.h"

static void assert_colour(tvlm_colour got, int r, int g, int b, int tolerance) {
    assert_true(abs(got.r - r) <= tolerance);
    assert_true(abs(got.g - g) <= tolerance);
    assert_true(abs(got.b - b) <= tolerance);
}

static tvlm_colour at(const tvlm_canvas *canvas, int32_t x, int32_t y) {
    const uint8_t *const rgb = canvas->rgb + 3 * ((size_t)y * (size_t)canvas->width + (size_t)x);
    return (tvlm_colour){rgb[0], rgb[1], rgb[2]};
}

static int light(tvlm_colour c) {
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
        assert_colour(tvlm_colours_viridis(t), viridis_table[i][0], viridis_table[i][1], viridis_table[i][2],
                      5);
        assert_colour(tvlm_colours_inferno(t), inferno_table[i][0], inferno_table[i][1], inferno_table[i][2],
                      10);
    }
    assert_colour(tvlm_colours_diverging(-1.0f), 59, 76, 192, 0);
    assert_colour(tvlm_colours_diverging(0.0f), 221, 221, 221, 0);
    assert_colour(tvlm_colours_diverging(1.0f), 180, 4, 38, 0);
}

static void maps_take_any_number(void **state) {
    static const float numbers[] = {-1e30f, -INFINITY, NAN, 1e30f, INFINITY};
    (void)state;
    for (size_t i = 0; i < 5; ++i) {
        const bool high = i >= 3;
        assert_int_equal(tvlm_colours_gray(numbers[i]).r, high ? 255 : 0);
        assert_int_equal(light(tvlm_colours_viridis(numbers[i])),
                         light(tvlm_colours_viridis(high ? 1.0f : 0.0f)));
        assert_int_equal(light(tvlm_colours_inferno(numbers[i])),
                         light(tvlm_colours_inferno(high ? 1.0f : 0.0f)));
        assert_int_equal(light(tvlm_colours_diverging(numbers[i])),
                         light(tvlm_colours_diverging(i == 2 ? 0.0f
                                                      : high ? 1.0f
                                                             : -1.0f)));
    }
}

static void perceptual_maps_grow_lighter(void **state) {
    (void)state;
    for (int i = 8; i <= 256; i += 8) {
        assert_true(light(tvlm_colours_viridis((float)i / 256.0f)) >
                    light(tvlm_colours_viridis((float)(i - 8) / 256.0f)));
        assert_true(light(tvlm_colours_inferno((float)i / 256.0f)) >
                    light(tvlm_colours_inferno((float)(i - 8) / 256.0f)));
    }
    for (int i = 1; i <= 16; ++i)
        assert_true(light(tvlm_colours_rank((float)i / 16.0f)) >
                    light(tvlm_colours_rank((float)(i - 1) / 16.0f)));
    assert_true(light(tvlm_colours_rank(0.0f)) > 2 * light(tvlm_colours_inferno(0.1f))); /* seen on black */
}

static void identifiers_have_their_own_colours(void **state) {
    (void)state;
    for (int32_t i = 0; i < 50; ++i) {
        for (int32_t j = 0; j < i; ++j) {
            const tvlm_colour a = tvlm_colours_identifier(i), b = tvlm_colours_identifier(j);
            assert_true(abs(a.r - b.r) + abs(a.g - b.g) + abs(a.b - b.b) > 0);
        }
    }
}

/* ---- Canvas ---- */

static void drawing_is_clipped(void **state) {
    tvlm_canvas canvas = {0};
    const tvlm_colour white = {255, 255, 255};
    (void)state;
    assert_true(tvlm_canvas_create(20, 10, (tvlm_colour){10, 20, 30}, &canvas));
    assert_colour(at(&canvas, 19, 9), 10, 20, 30, 0);
    tvlm_canvas_fill(&canvas, (tvlm_rect){-5, -5, 2, 2}, white, 1.0f);
    tvlm_canvas_fill(&canvas, (tvlm_rect){18, 8, 100, 100}, white, 0.5f);
    tvlm_canvas_fill(&canvas, (tvlm_rect){8, 8, 4, 4}, white, 1.0f); /* nothing in it */
    tvlm_canvas_frame(&canvas, (tvlm_rect){-3, 3, 30, 7}, 1, white, 1.0f);
    tvlm_canvas_set(&canvas, -1, 0, white);
    tvlm_canvas_set(&canvas, 0, 10, white);
    assert_colour(at(&canvas, 1, 1), 255, 255, 255, 0);
    assert_colour(at(&canvas, 2, 2), 10, 20, 30, 0);
    assert_colour(at(&canvas, 18, 9), 133, 138, 143, 0);
    assert_colour(at(&canvas, 5, 3), 255, 255, 255, 0);
    assert_colour(at(&canvas, 5, 6), 255, 255, 255, 0);
    assert_colour(at(&canvas, 5, 5), 10, 20, 30, 0);
    tvlm_canvas_text(&canvas, 15, 5, 2, white, "Wg\xc3\xa4|~");
    tvlm_canvas_text(&canvas, -7, -7, 2, white, "Wg");
    tvlm_canvas_release(&canvas);
    assert_false(tvlm_canvas_create(0, 5, white, &canvas));
    assert_false(tvlm_canvas_create(5, 40000, white, &canvas));
}

static void text_is_as_wide_as_it_says(void **state) {
    tvlm_canvas canvas = {0};
    char cut[64];
    (void)state;
    for (char letter = ' '; letter <= '~'; ++letter) {
        const char text[2] = {letter, '\0'};
        const int32_t width = tvlm_canvas_text_width(text, 3);
        int32_t drawn = 0;
        assert_true(tvlm_canvas_create(60, 60, (tvlm_colour){0, 0, 0}, &canvas));
        tvlm_canvas_text(&canvas, 12, 12, 3, (tvlm_colour){255, 255, 255}, text);
        for (int32_t y = 0; y < 60; ++y) {
            for (int32_t x = 0; x < 60; ++x) {
                if (at(&canvas, x, y).r == 0) continue;
                ++drawn;
                assert_true(x >= 12 && x < 12 + width + 3 && y >= 9 && y < 12 + 36);
            }
        }
        assert_true((letter == ' ') == (drawn == 0));
        tvlm_canvas_release(&canvas);
    }
    tvlm_canvas_fit_text("cluster_distance", 2, 1000, cut, sizeof cut);
    assert_string_equal(cut, "cluster_distance");
    tvlm_canvas_fit_text("cluster_distance", 2, 100, cut, sizeof cut);
    assert_true(tvlm_canvas_text_width(cut, 2) <= 100 && strcmp(cut + strlen(cut) - 2, "..") == 0);
    tvlm_canvas_fit_text("cluster_distance", 2, 1000, cut, 8);
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
        assert_true(tvlm_canvas_resize(in, w, h, 1, out, ow, oh));
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
    assert_true(tvlm_canvas_resize(in, 6, 4, 1, out, 24, 16));
    for (int32_t y = 0; y < 16; ++y) {
        for (int32_t x = 0; x < 24; ++x) {
            const float column = fminf(fmaxf(((float)x + 0.5f) / 4.0f - 0.5f, 0.0f), 5.0f);
            const float row = fminf(fmaxf(((float)y + 0.5f) / 4.0f - 0.5f, 0.0f), 3.0f);
            assert_true(fabsf(out[y * 24 + x] - (column + 10.0f * row)) < 1e-4f);
        }
    }
}

/* The kernel of Catmull and Rom's spline by its distance (Keys 1981, a = -1/2). */
static double keys(double d) {
    d = fabs(d);
    if (d >= 2.0) return 0.0;
    return d <= 1.0 ? 1.5 * d * d * d - 2.5 * d * d + 1.0 : -0.5 * d * d * d + 2.5 * d * d - 4.0 * d + 2.0;
}

static void the_cubic_is_keys_kernel(void **state) {
    enum { WIDE = 7, HIGH = 5 };
    float grid[WIDE * HIGH];
    uint64_t random = 5;
    (void)state;
    for (int i = 0; i < WIDE * HIGH; ++i) grid[i] = (float)(test_random(&random) % 100) / 10.0f;
    for (int n = 0; n < 3000; ++n) {
        const double x = 2.5 + (double)(test_random(&random) % 2000) / 1000.0,
                     y = 2.0 + (double)(test_random(&random) % 1000) / 1000.0;
        double expected = 0.0;
        for (int row = 0; row < HIGH; ++row)
            for (int column = 0; column < WIDE; ++column)
                expected += (double)grid[row * WIDE + column] * keys(x - 0.5 - column) * keys(y - 0.5 - row);
        assert_true(fabs((double)tvlm_canvas_cubic(grid, WIDE, HIGH, (float)x, (float)y) - expected) < 1e-4);
    }
}

static void the_cubic_passes_through_its_points(void **state) {
    float grid[5 * 3];
    (void)state;
    for (int i = 0; i < 15; ++i) grid[i] = (float)((i * 7) % 11);
    for (int y = 0; y < 3; ++y) {
        for (int x = 0; x < 5; ++x)
            assert_true(fabsf(tvlm_canvas_cubic(grid, 5, 3, (float)x + 0.5f, (float)y + 0.5f) -
                              grid[5 * y + x]) < 1e-4f);
    }
    for (int i = 0; i < 15; ++i) grid[i] = 4.0f;
    assert_true(fabsf(tvlm_canvas_cubic(grid, 5, 3, -3.0f, 1.7f) - 4.0f) < 1e-5f);
    assert_true(fabsf(tvlm_canvas_cubic(grid, 5, 3, 2.9f, 99.0f) - 4.0f) < 1e-5f);
    float line[40]; /* a grid of one column or one row */
    for (int i = 0; i < 40; ++i) line[i] = (float)(i * i);
    assert_true(fabsf(tvlm_canvas_cubic(line, 1, 40, 0.5f, 30.5f) - 900.0f) < 1e-3f);
    assert_true(fabsf(tvlm_canvas_cubic(line, 40, 1, 30.5f, 0.5f) - 900.0f) < 1e-3f);
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
        tvlm_canvas canvas = {0};
        assert_true(tvlm_canvas_create(4, 4, (tvlm_colour){9, 9, 9}, &canvas));
        assert_true(tvlm_canvas_image(&canvas, (tvlm_rect){1, 1, 3, 3}, &images[i]));
        assert_colour(at(&canvas, 0, 0), 9, 9, 9, 0);
        assert_colour(at(&canvas, 3, 3), 9, 9, 9, 0);
        for (int p = 0; p < 4; ++p)
            assert_colour(at(&canvas, 1 + p % 2, 1 + p / 2), expected[i][p], expected[i][p], expected[i][p],
                          0);
        tvlm_canvas_release(&canvas);
    }
}

/* ---- To the pixel ---- */

static bool in_frame(int32_t x, int32_t y, tvlm_rect area, int32_t line) {
    const int32_t across = x - area.x0 < area.x1 - 1 - x ? x - area.x0 : area.x1 - 1 - x;
    const int32_t down = y - area.y0 < area.y1 - 1 - y ? y - area.y0 : area.y1 - 1 - y;
    if (across < 0 || down < 0) return false;
    return across < line || down < line;
}

/* Each pixel of a frame is mixed once, those of its corners too; what lies beside the canvas is left out. */
static void frames_are_exact(void **state) {
    enum { SIDES = 7, WIDE = 9, HIGH = 8 };
    (void)state;
    for (int32_t n = 0; n < SIDES * SIDES * 3 * 2; ++n) {
        const int32_t x0 = n % 2 == 0 ? 1 : -2, y0 = n % 2 == 0 ? 1 : 4, line = 1 + n / 2 % 3;
        const tvlm_rect area = {x0, y0, x0 + 1 + n / 6 % SIDES, y0 + 1 + n / 6 / SIDES};
        tvlm_canvas canvas = {0};
        assert_true(tvlm_canvas_create(WIDE, HIGH, (tvlm_colour){0, 0, 0}, &canvas));
        tvlm_canvas_frame(&canvas, area, line, (tvlm_colour){200, 100, 51}, 0.5f);
        for (int32_t y = 0; y < HIGH; ++y)
            for (int32_t x = 0; x < WIDE; ++x) {
                const bool inked = in_frame(x, y, area, line);
                assert_colour(at(&canvas, x, y), inked ? 100 : 0, inked ? 50 : 0, inked ? 26 : 0, 0);
            }
        tvlm_canvas_release(&canvas);
    }
}

static void canvases_have_limits(void **state) {
    const int32_t most = TVLM_CANVAS_SIDE_MAX;
    const tvlm_colour white = {255, 255, 255};
    tvlm_canvas canvas = {0};
    (void)state;
    assert_true(tvlm_canvas_create(most, 1, white, &canvas));
    assert_colour(at(&canvas, most - 1, 0), 255, 255, 255, 0);
    tvlm_canvas_release(&canvas);
    assert_true(tvlm_canvas_create(1, most, white, &canvas));
    tvlm_canvas_release(&canvas);
    assert_false(tvlm_canvas_create(most + 1, 1, white, &canvas) ||
                 tvlm_canvas_create(1, most + 1, white, &canvas));
    assert_false(tvlm_canvas_create(1, 0, white, &canvas) || tvlm_canvas_create(0, 1, white, &canvas));
}

/* As many letters as fit before the dots, in pixels and in bytes. */
static void cut_text_is_as_long_as_it_can(void **state) {
    static const char text[] = "cluster_ill";
    const size_t letters = sizeof text - 1;
    (void)state;
    for (int32_t width = 0; width <= tvlm_canvas_text_width(text, 2) + 1; ++width)
        for (size_t size = 3; size <= sizeof text + 4; ++size) {
            const bool whole = tvlm_canvas_text_width(text, 2) <= width;
            char expected[32] = "", cut[32], tried[32];
            for (size_t n = 0; n <= letters && n + 3 <= size; ++n) {
                snprintf(tried, sizeof tried, "%.*s%s", (int)n, text, n < letters ? ".." : "");
                if (n == 0 || whole || (n < letters && tvlm_canvas_text_width(tried, 2) <= width))
                    memcpy(expected, tried, sizeof tried);
            }
            tvlm_canvas_fit_text(text, 2, width, cut, size);
            assert_string_equal(cut, expected);
        }
}

static void compare_canvases(tvlm_canvas *a, tvlm_canvas *b) {
    assert_memory_equal(a->rgb, b->rgb, (size_t)a->width * (size_t)a->height * 3);
    tvlm_canvas_release(a);
    tvlm_canvas_release(b);
}

/* Letters are drawn each behind the other, enlarged where that is asked, and what has no letter is a question mark. */
static void text_is_its_letters(void **state) {
    const tvlm_colour black = {0, 0, 0}, ink = {1, 2, 3};
    tvlm_canvas small = {0}, large = {0}, whole = {0}, parts = {0};
    (void)state;
    assert_true(tvlm_canvas_create(30, 20, black, &small) && tvlm_canvas_create(90, 60, black, &large));
    tvlm_canvas_text(&small, 2, 3, 1, ink, "Wg");
    tvlm_canvas_text(&large, 6, 9, 3, ink, "Wg");
    for (int32_t y = 0; y < 60; ++y)
        for (int32_t x = 0; x < 90; ++x) {
            const tvlm_colour expected = at(&small, x / 3, y / 3);
            assert_colour(at(&large, x, y), expected.r, expected.g, expected.b, 0);
        }
    tvlm_canvas_release(&small);
    tvlm_canvas_release(&large);
    assert_true(tvlm_canvas_create(60, 20, black, &whole) && tvlm_canvas_create(60, 20, black, &parts));
    tvlm_canvas_text(&whole, 1, 2, 2, ink, "Wg");
    tvlm_canvas_text(&parts, 1, 2, 2, ink, "W");
    tvlm_canvas_text(&parts, 1 + tvlm_canvas_text_width("W", 2), 2, 2, ink, "g");
    compare_canvases(&whole, &parts);
    assert_true(tvlm_canvas_create(60, 20, black, &whole) && tvlm_canvas_create(60, 20, black, &parts));
    tvlm_canvas_text(&whole, 1, 2, 2, ink, " \x1f~\x7f\xe4");
    tvlm_canvas_text(&parts, 1 + tvlm_canvas_text_width(" ", 2), 2, 2, ink, "?~??");
    compare_canvases(&whole, &parts);
}

/* How much input j counts for output i: its part of what the output covers, or, where there are more outputs than inputs, by
 * its distance. */
static double weight_of(int32_t in, int32_t out, int32_t i, int32_t j) {
    const double ratio = (double)in / out, low = i * ratio, high = (i + 1) * ratio;
    if (in > out) return fmax(fmin(high, j + 1.0) - fmax(low, j), 0.0) / ratio;
    return fmax(1.0 - fabs(fmin(fmax((i + 0.5) * ratio - 0.5, 0.0), in - 1.0) - j), 0.0);
}

static void sizes_change_by_each_axis(void **state) {
    static const int32_t sizes[][5] = {{3, 5, 5, 3, 1}, {1, 4, 1, 4, 2}, {5, 5, 5, 5, 3},
                                       {2, 3, 3, 2, 4}, {6, 7, 7, 6, 1}, {7, 1, 3, 4, 3},
                                       {8, 4, 2, 4, 2}, {4, 9, 9, 2, 3}, {5, 1, 4, 1, 1}};
    float in[9 * 9 * 4], out[9 * 9 * 4];
    uint64_t random = 9;
    (void)state;
    for (size_t i = 0; i < sizeof in / sizeof *in; ++i) in[i] = test_random_unit(&random);
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; ++n) {
        const int32_t w = sizes[n][0], h = sizes[n][1], ow = sizes[n][2], oh = sizes[n][3],
                      channels = sizes[n][4];
        assert_true(tvlm_canvas_resize(in, w, h, channels, out, ow, oh));
        for (int32_t i = 0; i < ow * oh * channels; ++i) {
            double expected = 0.0;
            for (int32_t j = 0; j < w * h; ++j)
                expected += weight_of(w, ow, i / channels % ow, j % w) *
                            weight_of(h, oh, i / channels / ow, j / w) *
                            (double)in[j * channels + i % channels];
            assert_true(fabs((double)out[i] - expected) < 1e-5);
        }
    }
}

/* Beside its grid the edge goes on, however far. */
static void the_cubic_repeats_edges(void **state) {
    enum { WIDE = 4, HIGH = 3 };
    float grid[WIDE * HIGH];
    (void)state;
    for (int i = 0; i < WIDE * HIGH; ++i) grid[i] = (float)(i * 7 % 11);
    for (int n = 0; n < 31 * 29; ++n) {
        const double x = -4.75 + n % 31 * 0.45, y = -4.6 + (double)(n / 31) * 0.43;
        double expected = 0.0;
        for (int row = -9; row < HIGH + 9; ++row)
            for (int column = -9; column < WIDE + 9; ++column) {
                const int r = row < 0      ? 0
                              : row < HIGH ? row
                                           : HIGH - 1,
                          c = column < 0      ? 0
                              : column < WIDE ? column
                                              : WIDE - 1;
                expected += (double)grid[r * WIDE + c] * keys(x - 0.5 - column) * keys(y - 0.5 - row);
            }
        assert_true(fabs((double)tvlm_canvas_cubic(grid, WIDE, HIGH, (float)x, (float)y) - expected) < 1e-4);
    }
    for (int row = 0; row < HIGH; ++row) {
        assert_true(fabsf(tvlm_canvas_cubic(grid, WIDE, HIGH, -1e9f, (float)row + 0.5f) - grid[row * WIDE]) <
                    1e-4f);
        assert_true(fabsf(tvlm_canvas_cubic(grid, WIDE, HIGH, 1e9f, (float)row + 0.5f) -
                          grid[row * WIDE + WIDE - 1]) < 1e-4f);
    }
}

/* Pictures of colours, with gaps between their rows, and where they are clear. */
static void images_of_colours_are_drawn(void **state) {
    static const uint8_t rgb[] = {1, 2, 3, 4, 5, 6, 99, 99, 7, 8, 9, 10, 11, 12};
    static const uint16_t rgba[] = {0,   257, 514, 65535, 65535, 0,    0,    0,
                                    257, 0,   0,   65535, 771,   1028, 1285, 65535};
    const tvlm_image images[] = {
        {.pixels = rgb, .width = 2, .height = 2, .channels = 3, .type = TVLM_PIXEL_U8, .row_stride = 8},
        {.pixels = rgba, .width = 2, .height = 2, .channels = 4, .type = TVLM_PIXEL_U16}};
    static const uint8_t expected[2][12] = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                                            {0, 1, 2, 255, 255, 255, 1, 0, 0, 3, 4, 5}};
    (void)state;
    for (int i = 0; i < 2; ++i) {
        tvlm_canvas canvas = {0};
        assert_true(tvlm_canvas_create(2, 2, (tvlm_colour){9, 9, 9}, &canvas));
        assert_true(tvlm_canvas_image(&canvas, (tvlm_rect){0, 0, 2, 2}, &images[i]));
        assert_memory_equal(canvas.rgb, expected[i], 12);
        tvlm_canvas_release(&canvas);
    }
}

static void ranges_are_of_numbers(void **state) {
    static const float values[] = {NAN, 3.0f, -INFINITY, -2.0f, INFINITY, 5.0f};
    float low, high;
    (void)state;
    tvlm_canvas_range(values, 6, &low, &high);
    assert_true(low == -2.0f && high == 5.0f);
    tvlm_canvas_range(values, 2, &low, &high);
    assert_true(low == 3.0f && high == 3.0f);
    tvlm_canvas_range(values, 1, &low, &high);
    assert_true(low == 0.0f && high == 0.0f);
}

/* ---- Sheets ---- */

#define SIDE 64

static void a_sheet_has_a_panel_for_each_channel(void **state) {
    static const int32_t channels[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_EDGE_X, TVLM_CHANNEL_EDGES,
                                       TVLM_CHANNEL_ENTROPY};
    static float plane[SIDE * SIDE];
    tvlm_sheet sheet = {0};
    (void)state;
    assert_true(tvlm_sheet_start(NULL, channels, NULL, 4, SIDE, SIDE / 2, "title", &sheet));
    const int32_t columns = sheet.columns;
    for (int32_t i = 0; i < 4; ++i) {
        for (int32_t p = 0; p < SIDE * SIDE / 2; ++p)
            plane[p] = p % SIDE < SIDE / 2 ? (i == 1 ? -0.5f : 0.0f) : 0.5f;
        assert_true(tvlm_sheet_add(&sheet, channels[i], plane, SIDE, SIDE / 2));
        const int32_t x = TVLM_SHEET_GAP + i % columns * (TVLM_SHEET_PANEL + TVLM_SHEET_GAP);
        const int32_t y = TVLM_SHEET_TITLE + TVLM_SHEET_LABEL +
                          i / columns * (sheet.panel_height + TVLM_SHEET_LABEL + TVLM_SHEET_GAP) + 60;
        const tvlm_colour left = at(&sheet.canvas, x + 60, y),
                          right = at(&sheet.canvas, x + TVLM_SHEET_PANEL - 60, y);
        const tvlm_colour low = i == 0   ? (tvlm_colour){0, 0, 0}
                                : i == 1 ? tvlm_colours_diverging(-1.0f)
                                         : tvlm_colours_viridis(0.0f);
        const tvlm_colour high = i == 0   ? (tvlm_colour){128, 128, 128}
                                 : i == 1 ? tvlm_colours_diverging(1.0f)
                                          : tvlm_colours_viridis(1.0f);
        assert_colour(left, low.r, low.g, low.b, 1);
        assert_colour(right, high.r, high.g, high.b, 1);
    }
    assert_int_equal(sheet.panels, 4);
    tvlm_canvas_release(&sheet.canvas);
}

static void a_sheet_names_what_has_no_panel(void **state) {
    int32_t channels[41];
    bool has[41];
    float plane[6] = {0};
    tvlm_sheet sheet = {0};
    (void)state;
    for (int32_t i = 0; i < 40; ++i) channels[i] = i;
    channels[40] = 7777777; /* no channel at all */
    for (int32_t i = 0; i < 41; ++i) has[i] = i % 5 != 0;
    for (int32_t count = 0; count <= 41; ++count) {
        int32_t expected = 0;
        assert_true(tvlm_sheet_start(NULL, channels, count % 2 == 0 ? NULL : has, count, 3, 2, "", &sheet));
        for (int32_t i = 0; i < count; ++i) {
            const bool shown = count % 2 == 0 || has[i];
            if (shown) assert_true(tvlm_sheet_add(&sheet, channels[i], plane, 3, 2));
            expected += shown && i < 40;
        }
        assert_int_equal(sheet.panels, expected);
        tvlm_canvas_release(&sheet.canvas);
    }
}

/* Pixels that are not the background's from `top` on, and the last line that has any. */
static int32_t ink_below(const tvlm_canvas *canvas, int32_t top, int32_t *last) {
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
    tvlm_sheet sheet = {0}, full = {0};
    (void)state;
    channels[0] = TVLM_CHANNEL_R;
    for (int32_t i = 0; i < 16; ++i) channels[i + 1] = TVLM_CHANNEL_EMBEDDING_0 + i;
    assert_true(tvlm_sheet_start(NULL, channels, has, 17, 3, 2, "", &sheet));
    assert_true(tvlm_sheet_start(NULL, channels, NULL, 17, 3, 2, "", &full));
    assert_true(tvlm_sheet_add(&sheet, channels[0], plane, 3, 2));
    const int32_t below = TVLM_SHEET_TITLE + TVLM_SHEET_LABEL + sheet.panel_height + TVLM_SHEET_GAP;
    assert_true(sheet.canvas.height < full.canvas.height);
    assert_true(ink_below(&sheet.canvas, below, &last) > 100);
    assert_true(last < below + TVLM_SHEET_GAP + 24 && last < sheet.canvas.height); /* one line, inside */
    tvlm_canvas_release(&sheet.canvas);
    tvlm_canvas_release(&full.canvas);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_exact),
        cmocka_unit_test(canvases_have_limits),
        cmocka_unit_test(cut_text_is_as_long_as_it_can),
        cmocka_unit_test(text_is_its_letters),
        cmocka_unit_test(sizes_change_by_each_axis),
        cmocka_unit_test(the_cubic_repeats_edges),
        cmocka_unit_test(images_of_colours_are_drawn),
        cmocka_unit_test(ranges_are_of_numbers),
        cmocka_unit_test(maps_match_their_source),
        cmocka_unit_test(maps_take_any_number),
        cmocka_unit_test(perceptual_maps_grow_lighter),
        cmocka_unit_test(identifiers_have_their_own_colours),
        cmocka_unit_test(drawing_is_clipped),
        cmocka_unit_test(text_is_as_wide_as_it_says),
        cmocka_unit_test(shrinking_is_the_area_average),
        cmocka_unit_test(growing_keeps_ramps_and_corners),
        cmocka_unit_test(the_cubic_is_keys_kernel),
        cmocka_unit_test(the_cubic_passes_through_its_points),
        cmocka_unit_test(images_of_all_kinds_are_drawn),
        cmocka_unit_test(a_sheet_has_a_panel_for_each_channel),
        cmocka_unit_test(a_sheet_names_what_has_no_panel),
        cmocka_unit_test(a_sheet_without_input_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
