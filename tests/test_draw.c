/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures: what texturevlm/draw.h promises, and refuses. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device_helper.h"
#include "draw/sheet.h"
#include "draw/stage.h"
#include "texturevlm/draw.h"
#include "texturevlm/io.h"

static void assert_colour(tvlm_colour got, int r, int g, int b, int tolerance) {
    assert_true(abs(got.r - r) <= tolerance);
    assert_true(abs(got.g - g) <= tolerance);
    assert_true(abs(got.b - b) <= tolerance);
}

static tvlm_colour of(const tvlm_image *picture, int32_t x, int32_t y) {
    const uint8_t *const rgb = (const uint8_t *)picture->pixels + 3 * (y * picture->width + x);
    return (tvlm_colour){rgb[0], rgb[1], rgb[2]};
}

static int light(tvlm_colour c) {
    return 299 * c.r + 587 * c.g + 114 * c.b;
}

/* ---- Pictures ---- */

#define SIDE 64

static tvlm_image photo_of(const uint8_t *pixels, int32_t width, int32_t height, int32_t channels) {
    return (tvlm_image){.pixels = pixels, .width = width, .height = height, .channels = channels};
}

static tvlm_selection_info info_of(const tvlm_image *photo, tvlm_strategy strategy) {
    return (tvlm_selection_info){.width = photo->width, .height = photo->height, .strategy = strategy};
}

static void an_overlay_shows_what_was_chosen(void **state) {
    static uint8_t pixels[SIDE * SIDE * 3];
    static const tvlm_position positions[] = {
        {.column = 1, .row = 2}, {.column = 3, .row = 3}, {.column = 9, .row = 0}};
    const tvlm_image photo = photo_of(pixels, SIDE, SIDE, 3);
    const tvlm_selection_info info = info_of(&photo, TVLM_STRATEGY_GRID);
    const int32_t cell = TVLM_STAGE_LONG_MIN / 4;
    tvlm_image *picture = NULL;
    (void)state;
    memset(pixels, 200, sizeof pixels);
    assert_int_equal(tvlm_draw_selection(&photo, &info, positions, 3, /* the third lies outside: ignored */
                                         tvlm_draw_params(.title = "title", .columns = 4, .rows = 4,
                                                          .cell_width = 16.0f, .cell_height = 16.0f),
                                         NULL, &picture),
                     TVLM_OK);
    assert_int_equal(picture->width, TVLM_STAGE_LONG_MIN);
    assert_int_equal(picture->height, TVLM_STAGE_LONG_MIN + TVLM_STAGE_LEGEND_HEIGHT);
    assert_true(picture->channels == 3 && picture->type == TVLM_PIXEL_U8 && picture->row_stride == 0);
    assert_true(light(of(picture, cell / 2, cell / 2)) < 130 * 1000);                   /* dimmed */
    assert_true(light(of(picture, cell + cell / 2, 2 * cell + cell / 2)) > 160 * 1000); /* not */
    const tvlm_colour first = tvlm_colours_rank(1.0f), frame = of(picture, cell + 1, 2 * cell + 1);
    assert_colour(frame, first.r, first.g, first.b, 25);
    tvlm_image_destroy(&picture);
}

/* Without a grid cells are squares of their size, and nothing is dimmed. A square that the border clips is drawn
 * around what remains of it, unless it is of those around a fixation. */
static void squares_are_drawn_where_there_is_no_grid(void **state) {
    static uint8_t pixels[SIDE * SIDE * 3];
    static const tvlm_position positions[] = {{.x = 8, .y = 8, .size = 16, .column = 0, .row = 0},
                                              {.x = 60, .y = 40, .size = 16, .column = -1, .row = -1}};
    static const struct {
        tvlm_strategy strategy;
        int32_t left; /* where the second square begins, in pixels of the photo */
    } rows[] = {{TVLM_STRATEGY_QUADTREE, 56}, {TVLM_STRATEGY_GRID, 56}, {TVLM_STRATEGY_FOVEATED, 52}};
    const tvlm_image photo = photo_of(pixels, SIDE, SIDE, 3);
    const int32_t scale = TVLM_STAGE_LONG_MIN / SIDE;
    const tvlm_colour first = tvlm_colours_rank(1.0f), last = tvlm_colours_rank(0.0f);
    (void)state;
    memset(pixels, 200, sizeof pixels);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const tvlm_selection_info info = info_of(&photo, rows[i].strategy);
        tvlm_image *picture = NULL;
        assert_int_equal(tvlm_draw_selection(&photo, &info, positions, 2, NULL, NULL, &picture), TVLM_OK);
        assert_colour(of(picture, 40 * scale, 8 * scale), 200, 200, 200, 0);
        assert_colour(of(picture, 0, 8 * scale), first.r, first.g, first.b, 25);
        assert_colour(of(picture, rows[i].left * scale, 40 * scale), last.r, last.g, last.b, 25);
        assert_colour(of(picture, rows[i].left * scale - 1, 40 * scale), 200, 200, 200, 0);
        tvlm_image_destroy(&picture);
    }
}

static void classes_have_their_colours_and_names(void **state) {
    static uint8_t pixels[SIDE * SIDE * 3];
    static const tvlm_position positions[] = {{.x = 16, .y = 16, .size = 32}, {.x = 48, .y = 48, .size = 32}};
    static const int32_t classes[] = {1, 0};
    static const char *const names[] = {
        "one", "a name that is longer than any picture is wide, so that it ends with dots "
               "and not in the middle of a letter"};
    const tvlm_image photo = photo_of(pixels, SIDE, SIDE, 3);
    const tvlm_selection_info info = info_of(&photo, TVLM_STRATEGY_BUDGET); /* without its thumbnail */
    const tvlm_colour second = tvlm_colours_identifier(1), first = tvlm_colours_identifier(0);
    tvlm_image *picture = NULL;
    int32_t named = 0;
    (void)state;
    assert_int_equal(
        tvlm_draw_selection(&photo, &info, positions, 2,
                            tvlm_draw_params(.classes = classes, .class_names = names, .class_count = 2),
                            NULL, &picture),
        TVLM_OK);
    assert_colour(of(picture, 0, 100), second.r, second.g, second.b, 30);
    assert_colour(of(picture, TVLM_STAGE_LONG_MIN - 1, TVLM_STAGE_LONG_MIN - 100), first.r, first.g, first.b,
                  30);
    for (int32_t x = 0; x < picture->width; ++x)
        named +=
            memcmp(&(tvlm_colour){first.r, first.g, first.b},
                   (const uint8_t *)picture->pixels + 3 * ((TVLM_STAGE_LONG_MIN + 18) * picture->width + x),
                   3) == 0;
    assert_true(named > 0);
    tvlm_image_destroy(&picture);
}

static tvlm_colour level_colour(float level) {
    return tvlm_colours_rank(1.0f - level / 2.0f);
}

#define TINT 0.14f

/* A budget's thumbnail is fine lines, and its tiles have the colours of their levels, the finer ones above. */
static void a_budget_shows_its_grid_and_tiles(void **state) {
    static uint8_t pixels[SIDE * SIDE * 3];
    static const tvlm_position positions[] = {
        {.x = 16, .y = 32, .size = 32, .height = 64},
        {.x = 48, .y = 32, .size = 32, .height = 64},
        {.x = 40, .y = 40, .size = 16, .level = 0},
        {.x = 48, .y = 48, .size = 32, .level = 1},
        {.x = 10.6667f, .y = 53.3333f, .size = 21.3333f, .level = 0.415f}};
    const tvlm_image photo = photo_of(pixels, SIDE, SIDE, 3);
    tvlm_selection_info info = info_of(&photo, TVLM_STRATEGY_BUDGET);
    const int32_t scale = TVLM_STAGE_LONG_MIN / SIDE;
    tvlm_image *picture = NULL;
    (void)state;
    info.thumbnail_columns = 2, info.thumbnail_rows = 1, info.thumbnail_cells = 2;
    memset(pixels, 200, sizeof pixels);
    assert_int_equal(tvlm_draw_selection(&photo, &info, positions, 5, NULL, NULL, &picture), TVLM_OK);
    const tvlm_colour line = of(picture, 32 * scale, 8 * scale), zero = level_colour(0.0f),
                      one = level_colour(1.0f);
    assert_colour(of(picture, 8 * scale, 32 * scale), 200, 200, 200, 0); /* two columns, one row */
    assert_true(light(line) != 200 * 1000);
    assert_colour(of(picture, 63 * scale, 60 * scale), (int)lroundf(200 + TINT * (one.r - 200)),
                  (int)lroundf(200 + TINT * (one.g - 200)), (int)lroundf(200 + TINT * (one.b - 200)), 2);
    assert_colour(of(picture, 33 * scale, 32 * scale), zero.r, zero.g, zero.b, 25); /* frames */
    assert_colour(of(picture, 63 * scale, 64 * scale - 1), one.r, one.g, one.b, 25);
    const tvlm_colour between = level_colour(0.415f); /* a third of a square of 64 pixels */
    assert_colour(of(picture, 4 * scale, 64 * scale - 1), between.r, between.g, between.b, 25);
    assert_colour(of(picture, SIDE * scale / 3 - 1, 56 * scale), between.r, between.g, between.b, 25);
    tvlm_image_destroy(&picture);
}

/* Adds a frame of that width and what is within it to what a pixel is expected to be; `x` and `y` are from the
 * frame's upper left corner on. */
static void expect_frame(float expected[3], int32_t x, int32_t y, int32_t width, int32_t height, int32_t line,
                         tvlm_colour ink, float alpha, float tint) {
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
    enum { WIDE = TVLM_STAGE_LONG_MIN, HIGH = 200, COLUMNS = 4, ROWS = 2 };
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
    const tvlm_image photo = photo_of(pixels, WIDE, HIGH, 3);
    tvlm_selection_info info = info_of(&photo, TVLM_STRATEGY_BUDGET);
    tvlm_image *picture = NULL;
    (void)state;
    info.thumbnail_columns = COLUMNS, info.thumbnail_rows = ROWS, info.thumbnail_cells = CELLS;
    for (int i = 0; i < WIDE * HIGH * 3; ++i) pixels[i] = (uint8_t)(60 + i % WIDE / 8);
    for (int32_t i = 0; i < COLUMNS * ROWS; ++i)
        if (i != 1 && i != 6)
            positions[count++] = (tvlm_position){.x = ((float)(i % COLUMNS) + 0.5f) * WIDE / COLUMNS,
                                                 .y = ((float)(i / COLUMNS) + 0.5f) * HIGH / ROWS,
                                                 .size = (float)WIDE / COLUMNS,
                                                 .height = (float)HIGH / ROWS};
    memcpy(positions + count, tiles, sizeof tiles);
    assert_int_equal(tvlm_draw_selection(&photo, &info, positions, CELLS + TILES, NULL, NULL, &picture),
                     TVLM_OK);
    for (int32_t y = 0; y < HIGH; ++y)
        for (int32_t x = 0; x < WIDE; ++x) {
            const uint8_t *const before = pixels + 3 * (y * WIDE + x);
            float expected[3] = {before[0], before[1], before[2]};
            const int32_t wide = WIDE / COLUMNS, high = HIGH / ROWS;
            const int32_t cell = y / high * COLUMNS + x / wide;
            if (cell != 1 && cell != 6)
                expect_frame(expected, x % wide, y % high, wide, high, 1, tvlm_stage_text, 0.25f, 0.0f);
            for (int i = 0; i < TILES; ++i) {
                const float level = tiles[order[i]].level;
                const int32_t *const area = areas[order[i]];
                expect_frame(expected, x - area[0], y - area[1], area[2], area[3], level > 0.0f ? 2 : 1,
                             level_colour(level), 0.9f, TINT);
            }
            assert_colour(of(picture, x, y), (int)lroundf(expected[0]), (int)lroundf(expected[1]),
                          (int)lroundf(expected[2]), 3);
        }
    tvlm_image_destroy(&picture);
}

static void pictures_of_any_shape_are_drawn(void **state) {
    static const int32_t sizes[][2] = {{1, 1}, {1, 700}, {700, 1}, {3000, 40}, {37, 23}};
    static const char title[] = "a title that is much longer than the picture is wide";
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const int32_t w = sizes[i][0], h = sizes[i][1], columns = (w + 15) / 16, rows = (h + 15) / 16;
        uint8_t *const pixels = calloc((size_t)w * (size_t)h, 1);
        float *const scores = calloc((size_t)columns * (size_t)rows, sizeof *scores);
        const tvlm_image photo = photo_of(pixels, w, h, 1);
        const tvlm_selection_info info = info_of(&photo, TVLM_STRATEGY_GRID);
        const struct tvlm_draw_params params = {
            .title = title, .columns = columns, .rows = rows, .cell_width = 16.0f, .cell_height = 16.0f};
        const tvlm_position last = {.column = columns - 1, .row = rows - 1};
        tvlm_image *picture = NULL;
        scores[0] = NAN;
        assert_int_equal(tvlm_draw_selection(&photo, &info, &last, 1, &params, NULL, &picture), TVLM_OK);
        tvlm_image_destroy(&picture);
        assert_int_equal(tvlm_draw_heatmap(&photo, scores, &params, NULL, &picture), TVLM_OK);
        tvlm_image_destroy(&picture);
        assert_int_equal(tvlm_draw_selection(&photo, &info, NULL, 0, NULL, NULL, &picture), TVLM_OK);
        tvlm_image_destroy(&picture);
        free(pixels);
        free(scores);
    }
}

static void a_heat_map_is_warm_where_scores_are_high(void **state) {
    static uint8_t pixels[SIDE * SIDE];
    float scores[16] = {0};
    const tvlm_image photo = photo_of(pixels, SIDE, SIDE, 1);
    const int32_t cell = TVLM_STAGE_LONG_MIN / 4;
    tvlm_image *given = NULL, *usual = NULL;
    (void)state;
    memset(pixels, 128, sizeof pixels);
    scores[4 * 2 + 1] = 5.0f;
    scores[15] = INFINITY;
    assert_int_equal(tvlm_draw_heatmap(
                         &photo, scores,
                         tvlm_draw_params(.columns = 4, .rows = 4, .cell_width = 16.0f, .cell_height = 16.0f),
                         NULL, &given),
                     TVLM_OK);
    const tvlm_colour hot = of(given, cell + cell / 2, 2 * cell + cell / 2),
                      cold = of(given, 3 * cell, cell / 2);
    assert_true(hot.r > 150 && hot.g > 150 && light(hot) > 3 * light(cold));
    assert_int_equal(
        tvlm_draw_heatmap(&photo, scores, tvlm_draw_params(.columns = 4, .rows = 4), NULL, &usual), TVLM_OK);
    assert_memory_equal(given->pixels, usual->pixels, 3 * (size_t)given->width * (size_t)given->height);
    tvlm_image_destroy(&given);
    tvlm_image_destroy(&usual);
}

/* The sheet of a stack is that of its planes, whatever groups they are read in. */
static void a_stack_is_drawn_as_its_planes_are(void **state) {
    enum { WIDE = 40, HIGH = 24, PLANE = WIDE * HIGH, LEVEL_PLANE = PLANE / 4 };
    static const int32_t channels[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_EDGE_X, TVLM_CHANNEL_QUERY_SIMILARITY,
                                       TVLM_CHANNEL_EDGES, TVLM_CHANNEL_ENTROPY};
    static uint8_t pixels[PLANE * 3];
    static float planes[5 * LEVEL_PLANE];
    const bool has[] = {true, true, false, true, true};
    const tvlm_image photo = photo_of(pixels, WIDE, HIGH, 3);
    uint64_t random = 5;
    tvlm_device *device = NULL;
    tvlm_stack *stack = NULL;
    tvlm_packed *packed = NULL;
    tvlm_image *picture = NULL;
    tvlm_sheet sheet = {0};
    (void)state;
    for (int i = 0; i < PLANE * 3; ++i) pixels[i] = (uint8_t)(255.0f * test_random_unit(&random));
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "reference"), &device), TVLM_OK);
    assert_int_equal(
        tvlm_stack_create_for_image(device, &photo, tvlm_stack_params(.layout = "full40"), &stack), TVLM_OK);
    assert_int_equal(
        tvlm_stack_pack(stack, tvlm_pack_params(.channels = channels, .channel_count = 5, .level = 1.0f),
                        &packed),
        TVLM_OK);
    assert_int_equal(tvlm_packed_read(packed, 0, 5 * LEVEL_PLANE, planes), TVLM_OK);
    assert_true(tvlm_sheet_start(stack, channels, has, 5, WIDE / 2, HIGH / 2, "title", &sheet));
    for (int i = 0; i < 5; ++i)
        if (has[i])
            assert_true(tvlm_sheet_add(&sheet, channels[i], planes + i * LEVEL_PLANE, WIDE / 2, HIGH / 2));
    assert_int_equal(tvlm_draw_channels(stack,
                                        tvlm_draw_channels_params(.channels = channels, .channel_count = 5,
                                                                  .level = 1, .title = "title"),
                                        NULL, &picture),
                     TVLM_OK);
    assert_true(picture->width == sheet.canvas.width && picture->height == sheet.canvas.height);
    assert_memory_equal(picture->pixels, sheet.canvas.rgb,
                        3 * (size_t)picture->width * (size_t)picture->height);
    tvlm_image_destroy(&picture);
    assert_int_equal(tvlm_draw_channels(stack, NULL, NULL, &picture), TVLM_OK); /* all of the layout */
    assert_true(picture->height > sheet.canvas.height);
    tvlm_image_destroy(&picture);
    tvlm_canvas_release(&sheet.canvas);
    tvlm_packed_destroy(&packed);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* ---- Pieces ---- */

static void colours_are_those_of_the_maps(void **state) {
    static const float values[] = {-2.0f, -1.0f, 0.0f, 0.3f, 1.0f, 2.0f, NAN, INFINITY};
    enum { COUNT = sizeof values / sizeof *values };
    static tvlm_colour (*const maps[])(float) = {tvlm_colours_gray, tvlm_colours_viridis,
                                                 tvlm_colours_inferno, tvlm_colours_rank,
                                                 tvlm_colours_diverging};
    uint8_t rgb[3 * COUNT];
    (void)state;
    for (int map = 0; map < 5; ++map) {
        assert_int_equal(tvlm_draw_colours((tvlm_colours)map, values, COUNT, NULL, rgb), TVLM_OK);
        for (int i = 0; i < COUNT; ++i) {
            const float end = fminf(fmaxf(values[i], 0.0f), 1.0f); /* 0 for NaN, too */
            const tvlm_colour c = maps[map](map == TVLM_COLOURS_RANK ? end : values[i]);
            assert_true(rgb[3 * i] == c.r && rgb[3 * i + 1] == c.g && rgb[3 * i + 2] == c.b);
        }
    }
    assert_int_equal(tvlm_draw_colours(TVLM_COLOURS_IDENTIFIER, (float[]){7.0f}, 1, NULL, rgb), TVLM_OK);
    assert_int_equal(rgb[1], tvlm_colours_identifier(7).g);
    assert_int_equal(tvlm_draw_colours(TVLM_COLOURS_GRAY, NULL, 0, NULL, NULL), TVLM_OK);
}

static void an_image_is_drawn_at_any_size(void **state) {
    static const uint8_t pixels[] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120};
    const tvlm_image photo = photo_of(pixels, 2, 2, 3);
    uint8_t rgb[12];
    (void)state;
    assert_int_equal(tvlm_draw_image(&photo, NULL, 2, 2, rgb), TVLM_OK);
    assert_memory_equal(rgb, pixels, sizeof rgb);
    assert_int_equal(tvlm_draw_image(&photo, NULL, 1, 1, rgb), TVLM_OK);
    assert_true(rgb[0] == 55 && rgb[1] == 65 && rgb[2] == 75);
}

static void text_is_drawn_and_measured(void **state) {
    uint8_t rgb[40 * 20 * 3], before[sizeof rgb];
    int32_t whole = 0, cut = 0, measured = 0;
    (void)state;
    memset(rgb, 200, sizeof rgb);
    memset(before, 200, sizeof before);
    assert_int_equal(tvlm_draw_text("Wide text", NULL, NULL, 0, 0, NULL, &measured), TVLM_OK);
    assert_int_equal(measured, tvlm_canvas_text_width("Wide text", 1));
    assert_int_equal(tvlm_draw_text("Wide text", tvlm_draw_text_params(.x = 100), NULL, 40, 20, rgb, &whole),
                     TVLM_OK);
    assert_int_equal(whole, measured);
    assert_memory_equal(rgb, before, sizeof rgb); /* it lies beside the picture */
    assert_int_equal(tvlm_draw_text("Wide text", tvlm_draw_text_params(.y = 4, .room = 30, .red = 255), NULL,
                                    40, 20, rgb, &cut),
                     TVLM_OK);
    assert_true(cut <= 30 && cut > 10);
    for (int i = 0; i < 40 * 20; ++i) {
        const bool ink = memcmp(rgb + 3 * i, (uint8_t[]){255, 0, 0}, 3) == 0;
        assert_true(ink || memcmp(rgb + 3 * i, before, 3) == 0);
        assert_true(!ink || i % 40 < 31);
    }
    assert_true(memcmp(rgb, before, sizeof rgb) != 0);
}

/* ---- Refusals ---- */

/* Each with one line, and without a picture. */
#define REFUSED(CALL)                                                                                        \
    do {                                                                                                     \
        nothing_said();                                                                                      \
        const tvlm_status refused = (CALL);                                                                  \
        if (refused != TVLM_ERROR_ARGUMENT || said.errors != 1 || picture != NULL)                           \
            fail_msg("%s: %s, %d lines: %s", #CALL, tvlm_status_string(refused), said.errors, said.last);    \
    } while (0)

static const uint8_t gray[4 * 4];

static void wrong_images_are_refused(void **state) {
    const tvlm_image good = photo_of(gray, 4, 4, 1);
    const float scores[1] = {1.0f};
    tvlm_image wrong[9], *picture = NULL;
    uint8_t rgb[3];
    (void)state;
    for (int i = 0; i < 9; ++i) wrong[i] = good;
    wrong[0].pixels = NULL;
    wrong[1].width = 0;
    wrong[2].height = -3;
    wrong[3].width = (1 << 24) + 1;
    wrong[4].channels = 0;
    wrong[5].channels = 5;
    wrong[6].type = (tvlm_pixel_type)3;
    wrong[7].row_stride = 3;
    wrong[8].reserved[2] = 1;
    for (int i = 0; i < 9; ++i) {
        const tvlm_selection_info info = info_of(&wrong[i], TVLM_STRATEGY_GRID);
        REFUSED(tvlm_draw_selection(&wrong[i], &info, NULL, 0, NULL, &noting, &picture));
        REFUSED(tvlm_draw_heatmap(&wrong[i], scores, tvlm_draw_params(.columns = 1, .rows = 1), &noting,
                                  &picture));
        REFUSED(tvlm_draw_image(&wrong[i], &noting, 1, 1, rgb));
    }
}

static void wrong_selections_are_refused(void **state) {
    static const int32_t classes[] = {0, 2};
    static const char *const names[] = {"one", "two"}, *const without[] = {"one", NULL};
    const tvlm_image photo = photo_of(gray, 4, 4, 1);
    const tvlm_selection_info info = info_of(&photo, TVLM_STRATEGY_GRID), size = {.width = 4, .height = 5},
                              strategy = info_of(&photo, (tvlm_strategy)7);
    tvlm_selection_info budget = info_of(&photo, TVLM_STRATEGY_BUDGET), later = info;
    const tvlm_position good[] = {{.x = 1, .y = 1, .size = 2}, {.x = 2, .y = 2, .size = 2}};
    tvlm_position wrong[7];
    tvlm_image *picture = NULL;
    (void)state;
    REFUSED(tvlm_draw_selection(NULL, &info, good, 2, NULL, &noting, &picture));
    REFUSED(tvlm_draw_selection(&photo, NULL, good, 2, NULL, &noting, &picture));
    REFUSED(tvlm_draw_selection(&photo, &info, NULL, 2, NULL, &noting, &picture));
    REFUSED(tvlm_draw_selection(&photo, &info, good, -1, NULL, &noting, &picture));
    REFUSED(tvlm_draw_selection(&photo, &info, good, 2, NULL, &noting, NULL));
    REFUSED(tvlm_draw_selection(&photo, &size, good, 2, NULL, &noting, &picture));
    REFUSED(tvlm_draw_selection(&photo, &strategy, good, 2, NULL, &noting, &picture));
    later.reserved[3] = 1;
    REFUSED(tvlm_draw_selection(&photo, &later, good, 2, NULL, &noting, &picture));
    budget.thumbnail_columns = 2, budget.thumbnail_rows = 1, budget.thumbnail_cells = 3;
    REFUSED(tvlm_draw_selection(&photo, &budget, good, 2, NULL, &noting, &picture));
    budget.thumbnail_columns = 0, budget.thumbnail_cells = 2;
    REFUSED(tvlm_draw_selection(&photo, &budget, good, 2, NULL, &noting, &picture));
    for (int i = 0; i < 7; ++i) wrong[i] = good[0];
    wrong[0].x = NAN, wrong[1].y = INFINITY, wrong[2].size = NAN, wrong[3].size = -1.0f;
    wrong[4].height = -1.0f, wrong[5].level = NAN, wrong[6].height = INFINITY;
    for (int i = 0; i < 7; ++i)
        REFUSED(tvlm_draw_selection(&photo, &info, &wrong[i], 1, NULL, &noting, &picture));
    REFUSED(tvlm_draw_selection(&photo, &info, good, 2,
                                tvlm_draw_params(.classes = classes, .class_names = names, .class_count = 2),
                                &noting, &picture)); /* class 2 of 2 */
    REFUSED(tvlm_draw_selection(
        &photo, &info, good, 1,
        tvlm_draw_params(.classes = classes, .class_names = without, .class_count = 2), &noting, &picture));
    REFUSED(tvlm_draw_selection(&photo, &info, good, 1,
                                tvlm_draw_params(.classes = classes, .class_count = 1), &noting, &picture));
    REFUSED(
        tvlm_draw_selection(&photo, &info, good, 2, tvlm_draw_params(.reserved = {1}), &noting, &picture));
}

static void wrong_grids_are_refused(void **state) {
    static const struct tvlm_draw_params grids[] = {
        {.columns = -1, .rows = 1, .cell_width = 4, .cell_height = 4},
        {.columns = 1, .cell_width = 4, .cell_height = 4},
        {.rows = 1, .cell_width = 4, .cell_height = 4},
        {.columns = 1 << 25, .rows = 1, .cell_width = 4, .cell_height = 4},
        {.columns = 1, .rows = 1, .cell_width = NAN, .cell_height = 4},
        {.columns = 1, .rows = 1, .cell_width = 4, .cell_height = -4},
        {.columns = 1, .rows = 1, .cell_width = INFINITY, .cell_height = 4}};
    const tvlm_image photo = photo_of(gray, 4, 4, 1);
    const tvlm_selection_info info = info_of(&photo, TVLM_STRATEGY_GRID);
    const float scores[1] = {1.0f};
    tvlm_image *picture = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; ++i) {
        REFUSED(tvlm_draw_selection(&photo, &info, NULL, 0, &grids[i], &noting, &picture));
        REFUSED(tvlm_draw_heatmap(&photo, scores, &grids[i], &noting, &picture));
    }
    REFUSED(tvlm_draw_selection(&photo, &info, NULL, 0, tvlm_draw_params(.columns = 1, .rows = 1), &noting,
                                &picture)); /* cells without a size */
    REFUSED(tvlm_draw_heatmap(&photo, scores, tvlm_draw_params(.title = ""), &noting, &picture));
    REFUSED(tvlm_draw_heatmap(&photo, scores, NULL, &noting, &picture));
    REFUSED(tvlm_draw_heatmap(&photo, NULL, tvlm_draw_params(.columns = 1, .rows = 1), &noting, &picture));
    REFUSED(tvlm_draw_heatmap(NULL, scores, tvlm_draw_params(.columns = 1, .rows = 1), &noting, &picture));
    REFUSED(tvlm_draw_heatmap(&photo, scores, tvlm_draw_params(.columns = 1, .rows = 1), &noting, NULL));
}

static void wrong_channels_are_refused(void **state) {
    static const int32_t none[] = {7777777};
    static const struct tvlm_draw_channels_params wrong[] = {
        {.index = 1},           {.index = -1}, {.channels = none, .channel_count = 0},
        {.width = 3},           {.height = 3}, {.width = -3, .height = 3},
        {.level = 99},          {.level = -1}, {.channels = none, .channel_count = 1},
        {.reserved = {0, 0, 1}}};
    const tvlm_image photo = photo_of(gray, 4, 4, 1);
    tvlm_device *device = NULL;
    tvlm_stack *stack = NULL;
    tvlm_image *picture = NULL;
    (void)state;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "reference", .log = &noting), &device),
                     TVLM_OK);
    assert_int_equal(
        tvlm_stack_create_for_image(device, &photo, tvlm_stack_params(.layout = "r,g,b"), &stack), TVLM_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        REFUSED(tvlm_draw_channels(stack, &wrong[i], &noting, &picture));
    REFUSED(tvlm_draw_channels(NULL, NULL, &noting, &picture));
    REFUSED(tvlm_draw_channels(stack, NULL, &noting, NULL));
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

#define DRAWN(CALL) assert_int_equal(CALL, TVLM_OK)

static void wrong_pieces_are_refused(void **state) {
    static char endless[70000];
    const tvlm_image photo = photo_of(gray, 4, 4, 1);
    const float value = 0.5f;
    uint8_t rgb[12];
    tvlm_image *picture = NULL;
    (void)state;
    REFUSED(tvlm_draw_colours((tvlm_colours)6, &value, 1, &noting, rgb));
    REFUSED(tvlm_draw_colours((tvlm_colours)-1, &value, 1, &noting, rgb));
    REFUSED(tvlm_draw_colours(TVLM_COLOURS_GRAY, NULL, 1, &noting, rgb));
    REFUSED(tvlm_draw_colours(TVLM_COLOURS_GRAY, &value, 1, &noting, NULL));
    REFUSED(tvlm_draw_image(NULL, &noting, 2, 2, rgb));
    REFUSED(tvlm_draw_image(&photo, &noting, 2, 2, NULL));
    REFUSED(tvlm_draw_image(&photo, &noting, 0, 2, rgb));
    REFUSED(tvlm_draw_image(&photo, &noting, 2, 32768, rgb));
    REFUSED(tvlm_draw_text(NULL, NULL, &noting, 2, 2, rgb, NULL));
    REFUSED(tvlm_draw_text("a", NULL, &noting, 0, 2, rgb, NULL));
    REFUSED(tvlm_draw_text("a", tvlm_draw_text_params(.scale = -1), &noting, 2, 2, rgb, NULL));
    REFUSED(tvlm_draw_text("a", tvlm_draw_text_params(.scale = 1001), &noting, 2, 2, rgb, NULL));
    REFUSED(tvlm_draw_text("a", tvlm_draw_text_params(.room = -1), &noting, 2, 2, rgb, NULL));
    REFUSED(tvlm_draw_text("a", tvlm_draw_text_params(.x = INT32_MAX), &noting, 2, 2, rgb, NULL));
    REFUSED(tvlm_draw_text("a", tvlm_draw_text_params(.y = INT32_MIN), &noting, 2, 2, rgb, NULL));
    REFUSED(tvlm_draw_text("a", tvlm_draw_text_params(.reserved = {0, 1}), &noting, 2, 2, rgb, NULL));
    memset(endless, 'W', sizeof endless - 1);
    endless[65536] = '\0';
    REFUSED(tvlm_draw_text(endless, NULL, &noting, 2, 2, rgb, NULL));
    endless[65535] = '\0';
    assert_int_equal(tvlm_draw_text(endless, tvlm_draw_text_params(.scale = 1000), &noting, 2, 2, rgb, NULL),
                     TVLM_OK);
}

/* The last places, sizes and sides that pieces may have, and the first that they may not. */
static void pieces_end_where_the_manual_says(void **state) {
    enum { FAR = 1 << 24, SIDE_MOST = 32767 };
    static uint8_t rgb[3 * (SIDE_MOST + 1)];
    const tvlm_image photo = photo_of(gray, 4, 4, 1);
    const float value = 0.5f;
    tvlm_image *picture = NULL;
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        DRAWN(tvlm_draw_text("a", tvlm_draw_text_params(.x = sign * FAR), &noting, 1, 1, rgb, NULL));
        DRAWN(tvlm_draw_text("a", tvlm_draw_text_params(.y = sign * FAR), &noting, 1, 1, rgb, NULL));
        REFUSED(tvlm_draw_text("a", tvlm_draw_text_params(.x = sign * (FAR + 1)), &noting, 1, 1, rgb, NULL));
        REFUSED(tvlm_draw_text("a", tvlm_draw_text_params(.y = sign * (FAR + 1)), &noting, 1, 1, rgb, NULL));
    }
    DRAWN(tvlm_draw_image(&photo, &noting, SIDE_MOST, 1, rgb));
    DRAWN(tvlm_draw_image(&photo, &noting, 1, SIDE_MOST, rgb));
    REFUSED(tvlm_draw_image(&photo, &noting, SIDE_MOST + 1, 1, rgb));
    REFUSED(tvlm_draw_image(&photo, &noting, 1, SIDE_MOST + 1, rgb));
    REFUSED(tvlm_draw_image(&photo, &noting, 1, 0, rgb));
    DRAWN(tvlm_draw_colours(TVLM_COLOURS_IDENTIFIER, &value, 1, &noting, rgb));
}

/* What is far beyond any picture is drawn beside it, without harm. */
static void extremes_are_drawn_beside_the_picture(void **state) {
    static const tvlm_position positions[] = {{.x = 3e38f, .y = -3e38f, .size = 3e38f},
                                              {.x = 1, .y = 1, .size = 3e38f, .height = 3e38f},
                                              {.x = 2, .y = 2, .size = 1e-38f}};
    static const float scores[] = {-3e38f, 3e38f, NAN, -INFINITY};
    const tvlm_image photo = photo_of(gray, 4, 4, 1);
    (void)state;
    for (int strategy = TVLM_STRATEGY_DEFAULT; strategy <= TVLM_STRATEGY_BUDGET; ++strategy)
        for (int i = 0; i < 3; ++i) {
            const tvlm_selection_info info = info_of(&photo, (tvlm_strategy)strategy);
            const float side = i == 0 ? 1e-38f : i == 1 ? 3e38f : 2.0f;
            const struct tvlm_draw_params params = {
                .columns = 2, .rows = 2, .cell_width = side, .cell_height = side};
            tvlm_image *picture = NULL;
            assert_int_equal(tvlm_draw_selection(&photo, &info, positions, 3, &params, NULL, &picture),
                             TVLM_OK);
            tvlm_image_destroy(&picture);
            assert_int_equal(tvlm_draw_heatmap(&photo, scores, &params, NULL, &picture), TVLM_OK);
            tvlm_image_destroy(&picture);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_overlay_shows_what_was_chosen),
        cmocka_unit_test(squares_are_drawn_where_there_is_no_grid),
        cmocka_unit_test(classes_have_their_colours_and_names),
        cmocka_unit_test(a_budget_shows_its_grid_and_tiles),
        cmocka_unit_test(a_budget_is_drawn_to_the_pixel),
        cmocka_unit_test(pictures_of_any_shape_are_drawn),
        cmocka_unit_test(a_heat_map_is_warm_where_scores_are_high),
        cmocka_unit_test(a_stack_is_drawn_as_its_planes_are),
        cmocka_unit_test(colours_are_those_of_the_maps),
        cmocka_unit_test(an_image_is_drawn_at_any_size),
        cmocka_unit_test(text_is_drawn_and_measured),
        cmocka_unit_test(wrong_images_are_refused),
        cmocka_unit_test(wrong_selections_are_refused),
        cmocka_unit_test(wrong_grids_are_refused),
        cmocka_unit_test(wrong_channels_are_refused),
        cmocka_unit_test(wrong_pieces_are_refused),
        cmocka_unit_test(pieces_end_where_the_manual_says),
        cmocka_unit_test(extremes_are_drawn_beside_the_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
