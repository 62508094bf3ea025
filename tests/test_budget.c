/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget.c: the strategy `budget` (test_budget_tree.c: its tree). Known answers on drawn images; exact numbers; the predicted loss against downsampling's and along prefixes; tolerances, duplicates, emphasis;
 * what is refused; every device against the reference.
 */
#include "select/budget.h"
#include "sides_helper.h"
#include "stack_helper.h"
#include "support_stage.h"

/* ---- Drawn images ---- */

enum { WIDTH = 208, HEIGHT = 144, COLUMNS = WIDTH / 16, ROWS = HEIGHT / 16, ALL = COLUMNS * ROWS };

typedef uint8_t drawing(int x, int y, uint64_t *random);

static uint8_t flat(int x, int y, uint64_t *random) {
    (void)x, (void)y, (void)random;
    return 90;
}
static uint8_t noise(int x, int y, uint64_t *random) {
    (void)x, (void)y;
    return (uint8_t)test_random(random);
}
/* A slope, and noise in the tiles 8 .. 11 of the rows 4 .. 6. */
static uint8_t corner(int x, int y, uint64_t *random) {
    const bool in = x >= 128 && x < 192 && y >= 64 && y < 112;
    if (in) return (uint8_t)test_random(random);
    return (uint8_t)(40 + x / 2);
}

/* Waves that are lost at half of the size, and not at three quarters, beside almost nothing. */
static uint8_t waves(int x, int y, uint64_t *random) {
    (void)random;
    return (uint8_t)(128.0 + (x < 128 ? 100.0 : 1.0) * sin(1.6 * x) * sin(1.6 * y));
}

/* Blots of every size, on noise that is as strong as the column is far to the right: hardly two tiles lose alike. */
static uint8_t blots(int x, int y, uint64_t *random) {
    const double waves = sin(x * 0.31 + y * 0.05) + sin(y * 0.23 - x * 0.02) + sin((x + y) * 0.07);
    const double noise = ((double)(test_random(random) % 256) / 255.0 - 0.5) * x / WIDTH;
    return (uint8_t)(128.0 + 25.0 * waves + 80.0 * noise);
}

/* Paper with strokes as of text in its upper third. */
static uint8_t page(int x, int y, uint64_t *random) {
    (void)random;
    return x >= 16 && x < WIDTH - 16 && y >= 8 && y < HEIGHT / 3 && x % 5 < 2 && y % 8 < 5 ? 20 : 255;
}

static tvlm_stack *drawn(tvlm_device *device, tvlm_format format, drawing *draw) {
    static uint8_t pixels[WIDTH * HEIGHT];
    uint64_t random = 4711;
    for (int i = 0; i < WIDTH * HEIGHT; ++i) pixels[i] = draw(i % WIDTH, i / WIDTH, &random);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 1);
    return stack_of(device, format, &image);
}

static tvlm_selection *budget(tvlm_stack *stack, const struct tvlm_select_params *given,
                              tvlm_selection_info *info) {
    struct tvlm_select_params params = *given;
    tvlm_selection *selection = NULL;
    params.strategy = TVLM_STRATEGY_BUDGET;
    if (tvlm_select(stack, NULL, &params, &selection) != TVLM_OK) fail_msg("%s", test_last_log());
    assert_int_equal(tvlm_selection_get_info(selection, info), TVLM_OK);
    assert_int_equal(info->strategy, TVLM_STRATEGY_BUDGET);
    return selection;
}

/* A tile of a nine, of patches of that side. */
static bool is_ninth(const tvlm_position *p, int32_t patch) {
    return fabsf(p->size - (float)patch * 4.0f / 3.0f) < 1e-3f && fabsf(p->level - 0.41504f) < 1e-4f &&
           p->height == 0.0f;
}

/* A tile of the image at a third of its size. */
static bool is_third(const tvlm_position *p, int32_t patch) {
    return p->size == 3.0f * (float)patch && fabsf(p->level - 1.58496f) < 1e-4f && p->height == 0.0f;
}

/* How many tiles of that side there are. */
static int32_t tiles_of(int32_t patch) {
    return ((WIDTH + patch - 1) / patch) * ((HEIGHT + patch - 1) / patch);
}

/* The thumbnail's cells and the empty ones tile the image: each comes once, row after row. */
static void check_cells(const tvlm_selection *selection, const tvlm_selection_info *info) {
    const int32_t cells = info->thumbnail_cells, all = info->thumbnail_columns * info->thumbnail_rows;
    int32_t left_out, next = 0, next_empty = 0;
    const tvlm_position *const p = tvlm_selection_positions(selection, NULL);
    const tvlm_cell *const empty = tvlm_selection_empty(selection, &left_out);
    assert_int_equal(cells + left_out, all);
    for (int32_t i = 0; i < all; ++i) {
        const int32_t column = i % info->thumbnail_columns, row = i / info->thumbnail_columns;
        if (next_empty < left_out && empty[next_empty].column == column && empty[next_empty].row == row) {
            ++next_empty;
            continue;
        }
        assert_true(next < cells);
        assert_true(fabsf(p[next].size * (float)info->thumbnail_columns - WIDTH) < 1e-3f);
        assert_true(fabsf(p[next].height * (float)info->thumbnail_rows - HEIGHT) < 1e-3f);
        assert_true(fabsf(p[next].x - p[next].size * ((float)column + 0.5f)) < 1e-3f);
        assert_true(fabsf(p[next].y - p[next].height * ((float)row + 0.5f)) < 1e-3f);
        ++next;
    }
    assert_true(next == cells && next_empty == left_out);
}

/* Whether one of the positions is a finer tile within another one. */
static bool has_finer(const tvlm_position *p, int32_t i, int32_t count) {
    for (int32_t n = 0; n < count; ++n)
        if (p[n].level < p[i].level && fabsf(p[n].x - p[i].x) < 0.5f * p[i].size &&
            fabsf(p[n].y - p[i].y) < 0.5f * p[i].size)
            return true;
    return false;
}

/* Exactly k; the thumbnail's cells tile the image; tiles are aligned, all different, by falling gain; squares of 12 x 12
 * tiles have thirds or the other coarse ones; and the predicted loss is never above downsampling's. */
static void check_selection(const tvlm_selection *selection, const tvlm_selection_info *info, int32_t patch,
                            int32_t k) {
    enum { MOST = WIDTH / 4 * (HEIGHT / 4) };
    int32_t count;
    const tvlm_position *const p = tvlm_selection_positions(selection, &count);
    const int32_t cells = info->thumbnail_cells;
    const int32_t columns = (WIDTH + patch - 1) / patch, block = 12 * patch;
    /* The squares of nines that lie in the image as a whole, and their tiles. */
    const int32_t nines_across = WIDTH / (4 * patch) * 3, nines_down = HEIGHT / (4 * patch) * 3;
    const float ninth = (float)patch * 4.0f / 3.0f;
    bool seen[3][MOST] = {{false}}, ninths[MOST] = {false}, thirds[MOST] = {false};
    bool has_thirds[MOST] = {false}, has_others[MOST] = {false};
    assert_int_equal(count, k);
    assert_true(cells >= 1 && cells <= k);
    assert_true(info->loss <= info->loss_downsampled && info->loss >= 0.0f);
    check_cells(selection, info);
    double gained = 0.0;
    for (int32_t i = cells; i < count; ++i) {
        const int32_t in = (int32_t)p[i].y / block * columns + (int32_t)p[i].x / block;
        if (is_third(&p[i], patch)) {
            const int32_t across = (int32_t)p[i].x / (3 * patch), down = (int32_t)p[i].y / (3 * patch);
            assert_true(p[i].x == ((float)across + 0.5f) * p[i].size && p[i].column == -1);
            assert_true(p[i].y == ((float)down + 0.5f) * p[i].size);
            assert_true((across + 1) * 3 * patch <= WIDTH && (down + 1) * 3 * patch <= HEIGHT);
            assert_false(thirds[down * columns + across]);
            thirds[down * columns + across] = has_thirds[in] = true;
            gained += (double)p[i].score;
            continue;
        }
        if (p[i].level > 0.0f) has_others[in] = true;
        if (is_ninth(&p[i], patch)) {
            const int32_t across = (int32_t)(p[i].x / ninth), down = (int32_t)(p[i].y / ninth);
            assert_true(fabsf(p[i].x - ((float)across + 0.5f) * ninth) < 1e-3f);
            assert_true(fabsf(p[i].y - ((float)down + 0.5f) * ninth) < 1e-3f);
            assert_true(across < nines_across && down < nines_down && p[i].column == -1);
            assert_false(ninths[down * nines_across + across]);
            ninths[down * nines_across + across] = true;
            gained += (double)p[i].score;
            continue;
        }
        const int32_t level = (int32_t)p[i].level, side = patch << level;
        const int32_t column = (int32_t)p[i].x / side, row = (int32_t)p[i].y / side;
        const int32_t right = (column + 1) * side, below = (row + 1) * side;
        assert_true(p[i].size == (float)side && p[i].height == 0.0f && p[i].column == -1);
        assert_true(p[i].x == 0.5f * (float)(column * side + (right < WIDTH ? right : WIDTH)));
        assert_true(p[i].y == 0.5f * (float)(row * side + (below < HEIGHT ? below : HEIGHT)));
        assert_false(seen[level][row * columns + column]);
        seen[level][row * columns + column] = true;
        /* What a tile gains rises, if by very little, once a finer one shows what it would show worse. */
        assert_true(i == cells || p[i].score <= p[i - 1].score + 1e-5f);
        gained += (double)p[i].score;
        /* A tile is worth its patch with the finer ones in it: alone it may be worse than what is beneath. */
        assert_true(p[i].lost_before >= p[i].lost_after - 1e-6f || has_finer(p, i, count));
        assert_true(p[i].lost_after >= 0.0f);
        assert_true(level > 0 || p[i].lost_after == 0.0f);
        assert_true(gained >= -1e-6); /* cut off anywhere it is no worse than the thumbnail alone */
    }
    assert_true(gained <= 1.0 + 1e-5);
    for (int32_t i = 0; i < MOST; ++i) assert_false(has_thirds[i] && has_others[i]);
    /* A square of 4 x 4 tiles has all nine, or none. */
    for (int32_t i = 0; i < nines_across * nines_down; ++i) {
        const int32_t row = i / nines_across, column = i % nines_across;
        assert_true(ninths[i] == ninths[row / 3 * 3 * nines_across + column / 3 * 3]);
    }
}

static void check_numbers(tvlm_device *device, tvlm_format format) {
    static drawing *const drawings[] = {flat, noise, corner, waves};
    static const int32_t ks[] = {1, 2, 3, 7, 20, 58, ALL - 1};
    for (size_t d = 0; d < sizeof drawings / sizeof *drawings; ++d) {
        tvlm_stack *stack = drawn(device, format, drawings[d]);
        for (size_t i = 0; i < sizeof ks / sizeof *ks; ++i) {
            tvlm_selection_info info;
            tvlm_selection *selection = budget(stack, tvlm_select_params(.k = ks[i]), &info);
            check_selection(selection, &info, 16, ks[i]);
            tvlm_selection_destroy(&selection);
        }
        tvlm_stack_destroy(&stack);
    }
}

/* The same of every side: of a few patches, a third of all, and all but one. */
static void check_sides(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = drawn(device, format, waves);
    size_t count = sizeof all_sides / sizeof *all_sides;
    const int32_t *const sides = test_is_opencl(device) ? sides_for_devices(&count) : all_sides;
    for (size_t s = 0; s < count; ++s) {
        const int32_t all = tiles_of(sides[s]), ks[] = {1, all / 3, all - 1};
        for (size_t i = 0; i < sizeof ks / sizeof *ks; ++i) {
            tvlm_selection_info info;
            tvlm_selection *selection =
                budget(stack, tvlm_select_params(.k = ks[i], .patch = (float)sides[s]), &info);
            check_selection(selection, &info, sides[s], ks[i]);
            tvlm_selection_destroy(&selection);
        }
    }
    tvlm_stack_destroy(&stack);
}

/* What three quarters of the size show is bought so: nines, each whole, and only where the waves are. */
static void check_nines(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = drawn(device, format, waves);
    tvlm_selection_info info;
    tvlm_selection *selection = budget(stack, tvlm_select_params(.k = 45), &info);
    int32_t count, ninths = 0;
    const tvlm_position *const p = tvlm_selection_positions(selection, &count);
    for (int32_t i = 0; i < count; ++i) {
        ninths += is_ninth(&p[i], 16);
        assert_true(!is_ninth(&p[i], 16) || (p[i].x < 128.0f && p[i].y < 128.0f));
    }
    assert_true(ninths >= 18 && ninths % 9 == 0);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

/* Of a page the blank cells of the thumbnail are left out, which is finer for it; none of them has ink. Noise has none. */
static void check_page(tvlm_device *device, tvlm_format format) {
    enum { K = 50 };
    tvlm_stack *stack = drawn(device, format, page);
    tvlm_selection_info info;
    int32_t left_out;
    tvlm_selection *selection = budget(stack, tvlm_select_params(.k = K), &info);
    const tvlm_cell *const empty = tvlm_selection_empty(selection, &left_out);
    check_selection(selection, &info, 16, K);
    assert_true(left_out > K / 2 && info.thumbnail_columns * info.thumbnail_rows > K * 3 / 2);
    for (int32_t i = 0; i < left_out; ++i) {
        const int32_t left = empty[i].column * WIDTH / info.thumbnail_columns,
                      right = ((empty[i].column + 1) * WIDTH + info.thumbnail_columns - 1) /
                              info.thumbnail_columns,
                      top = empty[i].row * HEIGHT / info.thumbnail_rows,
                      bottom = ((empty[i].row + 1) * HEIGHT + info.thumbnail_rows - 1) / info.thumbnail_rows;
        for (int32_t y = top; y < bottom; ++y)
            for (int32_t x = left; x < right; ++x) assert_int_equal(page(x, y, NULL), 255);
    }
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    stack = drawn(device, format, noise);
    selection = budget(stack, tvlm_select_params(.k = K), &info);
    (void)tvlm_selection_empty(selection, &left_out);
    assert_int_equal(left_out, 0);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

/* All patches and more: every tile of level 0, no thumbnail. And half of them by a share. */
static void check_all(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = drawn(device, format, noise);
    tvlm_selection_info info;
    int32_t count;
    for (int32_t k = ALL; k <= ALL + 1000; k += 1000) {
        tvlm_selection *selection = budget(stack, tvlm_select_params(.k = k), &info);
        const tvlm_position *const p = tvlm_selection_positions(selection, &count);
        assert_int_equal(count, ALL);
        assert_int_equal(info.thumbnail_columns, 0);
        for (int32_t i = 0; i < count; ++i)
            assert_true(p[i].level == 0.0f && p[i].x == (float)(i % COLUMNS * 16 + 8) &&
                        p[i].y == (float)(i / COLUMNS * 16 + 8));
        tvlm_selection_destroy(&selection);
    }
    tvlm_selection *half = budget(stack, tvlm_select_params(.budget.share = 0.5f), &info);
    (void)tvlm_selection_positions(half, &count);
    assert_int_equal(count, ALL / 2);
    tvlm_selection_destroy(&half);
    tvlm_stack_destroy(&stack);
}

/* The only detail is in twelve tiles: once the slope has its thumbnail, they are what is bought. */
static void check_corner(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = drawn(device, format, corner);
    tvlm_selection_info info;
    int32_t count, inside = 0;
    tvlm_selection *selection = budget(stack, tvlm_select_params(.k = 24), &info);
    const tvlm_position *const p = tvlm_selection_positions(selection, &count);
    for (int32_t i = info.thumbnail_cells; i < count; ++i)
        inside += p[i].level == 0.0f && p[i].x > 128 && p[i].x < 192 && p[i].y > 64 && p[i].y < 112;
    assert_int_equal(inside, 12);
    assert_true(info.loss < 0.1f * info.loss_downsampled);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

/* ---- Tolerances ---- */

/* The loss is kept, by ever fewer patches; and one patch less would not do. */
static void check_tolerance(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = drawn(device, format, corner);
    tvlm_selection_info info;
    int32_t last = ALL + 1;
    for (float tolerance = 0.02f; tolerance < 1.0f; tolerance *= 2.0f) {
        int32_t count;
        tvlm_selection *selection = budget(stack, tvlm_select_params(.budget.tolerance = tolerance), &info);
        (void)tvlm_selection_positions(selection, &count);
        assert_true(info.loss <= tolerance && count <= last);
        last = count;
        tvlm_selection_destroy(&selection);
    }
    tvlm_selection *one = budget(stack, tvlm_select_params(.budget.tolerance = 1.0f), &info);
    (void)tvlm_selection_positions(one, &last);
    assert_int_equal(last, 1);
    tvlm_selection_destroy(&one);
    tvlm_stack_destroy(&stack);
}

/* Nothing lost: of a flat image one tile is kept, of noise all, of a picture beside itself one half. */
static void check_duplicates(tvlm_device *device, tvlm_format format) {
    static drawing *const drawings[] = {flat, noise, corner};
    static const int32_t kept[] = {1, ALL, COLUMNS + 12}; /* the slope: a row of tiles; the noise */
    for (size_t d = 0; d < sizeof drawings / sizeof *drawings; ++d) {
        tvlm_stack *stack = drawn(device, format, drawings[d]);
        tvlm_selection_info info;
        int32_t count, left_out;
        tvlm_selection *selection =
            budget(stack, tvlm_select_params(.budget.tolerance = TVLM_EXPLICIT_ZERO), &info);
        const tvlm_position *const p = tvlm_selection_positions(selection, &count);
        const tvlm_duplicate *const duplicates = tvlm_selection_duplicates(selection, &left_out);
        assert_int_equal(count, d < 2 ? kept[d] : count);
        assert_int_equal(count + left_out, ALL);
        if (d == 2) assert_true(count >= kept[d] && count <= kept[d] + 8); /* what is beside the noise */
        bool is_kept[ALL] = {false};
        for (int32_t i = 0; i < count; ++i)
            is_kept[(int32_t)p[i].y / 16 * COLUMNS + (int32_t)p[i].x / 16] = true;
        for (int32_t i = 0; i < left_out; ++i) {
            assert_false(is_kept[duplicates[i].row * COLUMNS + duplicates[i].column]);
            assert_true(is_kept[duplicates[i].of_row * COLUMNS + duplicates[i].of_column]);
        }
        tvlm_selection_destroy(&selection);
        tvlm_stack_destroy(&stack);
    }
}

/* No two tiles of noise are equal, in an image that is higher than wide, too, whose lower tiles are cut by its border. */
static void check_different(tvlm_device *device, tvlm_format format) {
    enum { WIDE = 32, HIGH = 72, TILES = 2 * 5 };
    uint64_t random = 8;
    uint8_t *const pixels = test_random_pixels(&random, WIDE, HIGH, 3);
    const tvlm_image image = u8_image(pixels, WIDE, HIGH, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    tvlm_selection_info info;
    int32_t count, left_out;
    tvlm_selection *selection =
        budget(stack, tvlm_select_params(.budget.tolerance = TVLM_EXPLICIT_ZERO), &info);
    (void)tvlm_selection_positions(selection, &count);
    (void)tvlm_selection_duplicates(selection, &left_out);
    assert_int_equal(count, TILES);
    assert_int_equal(left_out, 0);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    free(pixels);
}

/* Two halves that are the same tiles row after row, beside noise. */
static uint8_t stripes(int x, int y, uint64_t *random) {
    const uint8_t drawn = noise(x, y, random);
    return (uint8_t)(x < WIDTH / 2 ? x % 16 * 15 : drawn);
}

/* Within a tolerance a tile that is equal to one of level 0 that was chosen is named, and costs nothing; none is named that
 * is chosen itself, or whose tile was not. */
static void check_named(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = drawn(device, format, stripes);
    int32_t named = 0;
    for (float tolerance = 0.02f; tolerance < 0.5f; tolerance *= 2.0f) {
        tvlm_selection_info info;
        int32_t count, equal;
        tvlm_selection *selection = budget(stack, tvlm_select_params(.budget.tolerance = tolerance), &info);
        const tvlm_position *const p = tvlm_selection_positions(selection, &count);
        const tvlm_duplicate *const duplicates = tvlm_selection_duplicates(selection, &equal);
        bool is_fine[ALL] = {false};
        for (int32_t i = info.thumbnail_cells; i < count; ++i)
            if (p[i].level == 0.0f) is_fine[(int32_t)p[i].y / 16 * COLUMNS + (int32_t)p[i].x / 16] = true;
        for (int32_t i = 0; i < equal; ++i) {
            assert_false(is_fine[duplicates[i].row * COLUMNS + duplicates[i].column]);
            assert_true(is_fine[duplicates[i].of_row * COLUMNS + duplicates[i].of_column]);
        }
        assert_true(info.loss <= tolerance);
        named += equal;
        tvlm_selection_destroy(&selection);
    }
    assert_true(named > 0);
    tvlm_stack_destroy(&stack);
}

/* ---- Emphasis, scores ---- */

/* How many tiles of a selection lie in the left half. */
static int32_t on_the_left(tvlm_stack *stack, const struct tvlm_query *query,
                           struct tvlm_select_params params) {
    tvlm_selection *selection = NULL;
    tvlm_selection_info info;
    int32_t count, left = 0;
    params.strategy = TVLM_STRATEGY_BUDGET;
    if (tvlm_select(stack, query, &params, &selection) != TVLM_OK) fail_msg("%s", test_last_log());
    const tvlm_position *const p = tvlm_selection_positions(selection, &count);
    (void)tvlm_selection_get_info(selection, &info);
    for (int32_t i = info.thumbnail_cells; i < count; ++i) left += p[i].x < WIDTH / 2;
    tvlm_selection_destroy(&selection);
    return left;
}

/* Noise everywhere, and only its left half matters: by a query, a scorer, and a channel. */
static void check_emphasis(tvlm_device *device, tvlm_format format) {
    static const float map[2] = {1.0f, 0.0f};
    static const int32_t channel = TVLM_CHANNEL_SALIENCY;
    static const float weight = 1.0f;
    const struct tvlm_query query = {.similarity = map, .columns = 2, .rows = 1};
    const struct tvlm_scorer scorer = {
        .channel_count = 1, .channels = &channel, .taps = 1, .weights = &weight};
    tvlm_stack *stack = drawn(device, format, noise);
    assert_int_equal(
        tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_SALIENCY,
                            tvlm_grid_input(.data = map, .columns = 2, .rows = 1, .channels = 1)),
        TVLM_OK);
    const int32_t even = on_the_left(stack, NULL, (struct tvlm_select_params){.k = 40});
    assert_true(on_the_left(stack, &query, (struct tvlm_select_params){.k = 40}) > even);
    assert_true(on_the_left(stack, NULL, (struct tvlm_select_params){.k = 40, .score = {.scorer = &scorer}}) >
                even);
    assert_true(on_the_left(stack, NULL, (struct tvlm_select_params){.k = 40, .budget.emphasis = 30.0f}) >
                even);
    assert_int_equal(on_the_left(stack, &query,
                                 (struct tvlm_select_params){.k = 40, .budget.emphasis = TVLM_EXPLICIT_ZERO}),
                     even);
    tvlm_stack_destroy(&stack);
}

/* With a question the tiles go to what is asked, whatever part of the image that is and however much the rest has in
 * common with it. Of blots the rest loses more. */
static void check_question(tvlm_device *device, tvlm_format format) {
    static const float quarter[4] = {1.0f, 0.5f, 0.5f, 0.0f}, most[4] = {1.0f, 1.0f, 1.0f, 0.4f};
    const struct tvlm_query few = {.similarity = quarter, .columns = 4, .rows = 1};
    const struct tvlm_query many = {.similarity = most, .columns = 4, .rows = 1};
    tvlm_stack *stack = drawn(device, format, blots);
    const struct tvlm_select_params params = {.k = 40, .strategy = TVLM_STRATEGY_BUDGET};
    tvlm_selection_info info;
    for (int asked = 0; asked < 2; ++asked) {
        tvlm_selection *selection = NULL;
        int32_t count, within = 0;
        const float end =
            asked == 0 ? 0.5f * WIDTH : 0.8f * WIDTH; /* it fades from 1/8 to 3/8, and from 5/8 */
        assert_int_equal(tvlm_select(stack, asked == 0 ? &few : &many, &params, &selection), TVLM_OK);
        const tvlm_position *const p = tvlm_selection_positions(selection, &count);
        assert_int_equal(tvlm_selection_get_info(selection, &info), TVLM_OK);
        const int32_t cells = info.thumbnail_cells;
        for (int32_t i = cells; i < count; ++i) within += p[i].x < end;
        assert_true(count - cells >= 20);
        if (within < (count - cells) * 2 / 3) /* what is legible there needs no more */
            fail_msg("question %d: %d of %d tiles are where it asks", asked, (int)within,
                     (int)(count - cells));
        tvlm_selection_destroy(&selection);
    }
    tvlm_stack_destroy(&stack);
}

/* The scores are what the thumbnail loses of each tile, of all that it loses. */
static void check_scores(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = drawn(device, format, corner);
    tvlm_selection_info info;
    int32_t columns, rows, count, most = 0;
    double sum = 0.0;
    tvlm_selection *selection = budget(stack, tvlm_select_params(.k = 24, .keep_scores = true), &info);
    const float *const scores = tvlm_selection_scores(selection, &columns, &rows);
    const tvlm_position *const p = tvlm_selection_positions(selection, &count);
    assert_true(columns == COLUMNS && rows == ROWS);
    for (int32_t i = 0; i < ALL; ++i) {
        sum += (double)scores[i];
        most = scores[i] > scores[most] ? i : most;
    }
    assert_true(fabs(sum - 1.0) < 1e-4);
    const tvlm_position *const first = &p[info.thumbnail_cells];
    assert_int_equal(most, (int32_t)first->y / 16 * COLUMNS + (int32_t)first->x / 16);
    assert_true(fabsf(scores[most] - first->score) < 1e-5f);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

/* ---- Sizes ---- */

/* Sides that are no multiples of anything, single pixels, other patches. */
static void check_sizes(tvlm_device *device, tvlm_format format) {
    static const int32_t sizes[][2] = {{1, 1}, {1, 200}, {200, 1}, {17, 16}, {97, 61}, {130, 67}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        for (size_t s = 0; s < 4; ++s) {
            tvlm_stack *stack = random_stack(device, format, sizes[i][0], sizes[i][1], 5 + i);
            const int32_t side = all_sides[s];
            const int32_t all = ((sizes[i][0] + side - 1) / side) * ((sizes[i][1] + side - 1) / side);
            for (int32_t k = 1; k <= all + 1; k += 1 + all / 5) {
                tvlm_selection_info info;
                int32_t count;
                tvlm_selection *selection =
                    budget(stack, tvlm_select_params(.k = k, .patch = (float)side), &info);
                (void)tvlm_selection_positions(selection, &count);
                assert_int_equal(count, k < all ? k : all);
                assert_true(info.loss <= info.loss_downsampled);
                tvlm_selection_destroy(&selection);
            }
            tvlm_stack_destroy(&stack);
        }
}

DEVICE_CHECKS(check_numbers, check_sides, check_nines, check_page, check_all, check_corner, check_tolerance,
              check_duplicates, check_different, check_named, check_emphasis, check_question, check_scores,
              check_sizes)

/* ---- Devices ---- */

/* At least 99 of 100 positions are the reference's: which of many tiles that lose alike are taken is not asked. */
static void side_as_reference(const test_target *target, tvlm_device *reference, int32_t patch) {
    const int32_t tiles = tiles_of(patch), step = 1 + tiles / 4;
    int32_t same = 0, all = 0;
    for (int32_t k = 1 + tiles / 12; k < tiles; k += step) {
        tvlm_stack *stacks[2] = {drawn(target->device, target->format, blots),
                                 drawn(reference, target->format, blots)};
        tvlm_selection *found[2];
        const tvlm_position *p[2];
        int32_t count;
        for (int i = 0; i < 2; ++i) {
            tvlm_selection_info info;
            found[i] = budget(stacks[i], tvlm_select_params(.k = k, .patch = (float)patch), &info);
            p[i] = tvlm_selection_positions(found[i], &count);
        }
        for (int32_t i = 0; i < count; ++i)
            for (int32_t j = 0; j < count; ++j)
                same += p[0][i].x == p[1][j].x && p[0][i].y == p[1][j].y && p[0][i].size == p[1][j].size &&
                        p[0][i].height == p[1][j].height;
        all += count;
        for (int i = 0; i < 2; ++i) {
            tvlm_selection_destroy(&found[i]);
            tvlm_stack_destroy(&stacks[i]);
        }
    }
    if (same < all - all / 100)
        fail_msg("patch %d: %d of %d positions are the reference's", (int)patch, (int)same, (int)all);
}

static void same_as_reference(const test_target *target, tvlm_device *reference) {
    size_t count;
    const int32_t *const sides = sides_for_devices(&count);
    for (size_t i = 0; i < count; ++i) side_as_reference(target, reference, sides[i]);
}

static void test_devices(void **state) {
    (void)state;
    if (test_for_each_target(same_as_reference) == 0) skip();
}

/* One read, whatever is asked, and all pictures in one operation: of six launches (lib/opencl/losses.c). */
static struct {
    const tvlm_backend *real;
    int reads, measured;
} counted;

static tvlm_status count_read(tvlm_device *device, tvlm_buffer *buffer, size_t offset, size_t bytes,
                              void *host) {
    ++counted.reads;
    return counted.real->buffer_read(device, buffer, offset, bytes, host);
}

static tvlm_status count_losses(tvlm_device *device, const tvlm_texture *source, const tvlm_budget_plan *plan,
                                tvlm_buffer *losses, size_t offset) {
    ++counted.measured;
    return counted.real->losses(device, source, plan, losses, offset);
}

static void test_reads(void **state) {
    static const struct tvlm_select_params cases[] = {
        {.k = 58}, {.k = 58, .budget.emphasis = 3.0f}, {.budget.tolerance = 0.2f}};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = drawn(device, TVLM_FORMAT_F32, corner);
    tvlm_backend hooked = *device->backend;
    (void)state;
    hooked.buffer_read = count_read;
    hooked.losses = count_losses;
    counted.real = device->backend;
    device->backend = &hooked;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        tvlm_selection_info info;
        counted.reads = counted.measured = 0;
        tvlm_selection *selection = budget(stack, &cases[i], &info);
        assert_int_equal(counted.reads, 2); /* what is blank, and what is lost */
        assert_int_equal(counted.measured, 1);
        tvlm_selection_destroy(&selection);
    }
    device->backend = counted.real;
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* ---- Refusals ---- */

/* What is asked of the budget is refused with a line that has `line` in it, and gives no selection. */
static void budget_refused(tvlm_stack *stack, const struct tvlm_query *query,
                           struct tvlm_select_params params, const char *line) {
    tvlm_selection *selection = NULL;
    params.strategy = TVLM_STRATEGY_BUDGET;
    refused(tvlm_select(stack, query, &params, &selection), TVLM_ERROR_ARGUMENT, line);
    assert_null(selection);
}

static void test_refusals(void **state) {
    static const struct {
        struct tvlm_select_params params;
        const char *line;
    } cases[] = {
        {{.k = 4, .budget.share = 0.5f}, "k, share and tolerance exclude each other"},
        {{.budget.share = 0.5f, .budget.tolerance = 0.5f}, "k, share and tolerance exclude each other"},
        {{.budget.share = 1.5f}, "a share of 1.5"},
        {{.budget.share = -0.5f}, "a share of -0.5"},
        {{.budget.share = NAN}, "a share of"},
        {{.budget.share = 0.001f}, "less than one patch"},
        {{.budget.tolerance = -0.25f}, "a tolerance of -0.25"},
        {{.budget.tolerance = 1.5f}, "a tolerance of 1.5"},
        {{.budget.tolerance = NAN}, "a tolerance of"},
        {{.patch = 3.0f}, "a patch of 3 pixels; for budget it is a whole number from 4 to 64"},
        {{.patch = 65.0f}, "a patch of 65 pixels; for budget it is a whole number from 4 to 64"},
        {{.patch = 14.5f}, "a patch of 14.5 pixels; for budget it is a whole number from 4 to 64"},
        {{.patch = NAN}, "a patch of"},
        {{.budget.emphasis = -2.0f}, "an emphasis of -2"},
        {{.budget.emphasis = INFINITY}, "an emphasis of inf"},
        {{.budget.emphasis = 2.0f, .budget.emphasis_channel = TVLM_CHANNEL_DEPTH},
         "the channel depth (52), for which"},
        {{.budget.emphasis = 2.0f, .budget.emphasis_channel = TVLM_CHANNEL_QUERY_SIMILARITY},
         "query_similarity"},
        {{.budget.emphasis = 2.0f, .budget.emphasis_channel = 99999}, "99999"},
    };
    tvlm_device *device = open_reference();
    tvlm_stack *stack = drawn(device, TVLM_FORMAT_F32, corner);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        budget_refused(stack, NULL, cases[i].params, cases[i].line);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* What says what matters is looked at also where it changes nothing; and only one thing says it. */
static void test_matters(void **state) {
    static const float map[2] = {1.0f, 0.0f}, weights[1] = {NAN}, one = 1.0f, scores[4] = {1, 2, 3, 4};
    static const int32_t channel = TVLM_CHANNEL_EDGES;
    const struct tvlm_query query = {.similarity = map, .columns = 2, .rows = 1};
    const struct tvlm_query wrong = {.similarity = map, .columns = 0, .rows = 1};
    const struct tvlm_scores few = {.values = scores, .columns = 2, .rows = 2};
    const struct {
        struct tvlm_select_params params;
        const struct tvlm_query *query;
        const char *line;
    } cases[] = {
        {{.k = ALL}, &wrong, "a query of 0x1 cells"},
        {{.budget.tolerance = TVLM_EXPLICIT_ZERO}, &wrong, "a query of 0x1 cells"},
        {{.k = 20, .budget.emphasis = TVLM_EXPLICIT_ZERO}, &wrong, "a query of 0x1 cells"},
        {{.k = ALL, .scores = &few}, NULL, "scores of 2 x 2, but there are"},
        {{.k = ALL,
          .score = {.scorer =
                        &(tvlm_scorer){
                            .channel_count = 1, .channels = &channel, .taps = 1, .weights = weights}}},
         NULL,
         "finite"},
        {{.k = 20,
          .budget.emphasis = 2.0f,
          .budget.emphasis_channel = TVLM_CHANNEL_SALIENCY,
          .score = {.scorer = &(
                        tvlm_scorer){.channel_count = 1, .channels = &channel, .taps = 1, .weights = &one}}},
         NULL,
         "an emphasis on a channel, and a scorer"},
        {{.k = 20, .budget.emphasis = 2.0f, .budget.emphasis_channel = TVLM_CHANNEL_SALIENCY},
         &query,
         "an emphasis on a channel, and a query"},
    };
    tvlm_device *device = open_reference();
    tvlm_stack *stack = drawn(device, TVLM_FORMAT_F32, corner);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        budget_refused(stack, cases[i].query, cases[i].params, cases[i].line);
    assert_true(on_the_left(stack, &query,
                            (struct tvlm_select_params){.k = 40,
                                                        .budget.emphasis = 30.0f,
                                                        .budget.emphasis_channel =
                                                            TVLM_CHANNEL_QUERY_SIMILARITY}) > 0);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets),
        cmocka_unit_test(test_devices),       cmocka_unit_test(test_reads),
        cmocka_unit_test(test_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
