/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_predict.c: predictions of what pictures of an image would lose, and what is refused.
 *   - Downsampling loses what tvlm_select says.
 *   - To leave a token out loses more than to keep it, unless it is blank or repeats another one.
 */
#include "export/repeated.h"
#include "stack_helper.h"
#include "texturevlm/export.h"

enum { WIDTH = 208, HEIGHT = 144, PATCH = 16, COLUMNS = 13, ROWS = 9, TOKENS = COLUMNS * ROWS };

#define by_patch tvlm_select_params(.patch = PATCH)

static tvlm_prediction *predict(tvlm_device *device, tvlm_format format, const uint8_t *pixels,
                                const tvlm_picture *pictures, int32_t count) {
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    const struct tvlm_select_params params = {.patch = PATCH};
    tvlm_stack *stack = stack_of(device, format, &image);
    tvlm_prediction *prediction = NULL;
    if (tvlm_predict(stack, NULL, &params, pictures, count, &prediction) != TVLM_OK)
        fail_msg("%s", test_last_log());
    tvlm_stack_destroy(&stack); /* a prediction does not need it */
    return prediction;
}

static float loss_of(tvlm_prediction *prediction, int32_t index, const uint8_t *kept) {
    float loss = -1.0f;
    assert_int_equal(tvlm_prediction_loss(prediction, index, kept, &loss), TVLM_OK);
    return loss;
}

static float loss_with(tvlm_prediction *prediction, int32_t index, int32_t n, uint8_t *kept) {
    float loss = -1.0f;
    assert_int_equal(tvlm_prediction_keep(prediction, index, n, kept, &loss), TVLM_OK);
    return loss;
}

/* Noise, most of it in the middle and less and less towards the sides. No token is blank. */
static uint8_t *uneven(uint64_t seed) {
    uint8_t *pixels = malloc(WIDTH * HEIGHT * 3);
    assert_non_null(pixels);
    for (int32_t i = 0; i < WIDTH * HEIGHT * 3; ++i) {
        const int32_t x = i / 3 % WIDTH, away = abs(x - WIDTH / 2);
        const int32_t noise = (int32_t)(test_random(&seed) % 255) - 127;
        pixels[i] = (uint8_t)(128 + noise * (WIDTH / 2 + 60 - away) / (WIDTH / 2 + 60));
    }
    return pixels;
}

/* Strokes in three columns of tokens, from row `from` of tokens to row `to`. */
enum { INKED = 3 };
static void write_strokes(uint8_t *pixels, int32_t from, int32_t to, uint8_t gray) {
    for (int32_t y = from * PATCH; y < to * PATCH; ++y)
        for (int32_t x = PATCH + 4; x < (1 + INKED) * PATCH - 4; ++x)
            if (y % 5 < 2 && x % 7 < 4) memset(pixels + 3 * (y * WIDTH + x), gray, 3);
}

/* White, with black strokes in the first `black` rows of tokens and faint ones in the others. */
static uint8_t *page(int32_t black, uint8_t faint) {
    uint8_t *pixels = malloc(WIDTH * HEIGHT * 3);
    assert_non_null(pixels);
    memset(pixels, 255, WIDTH * HEIGHT * 3);
    write_strokes(pixels, 0, black, 20);
    write_strokes(pixels, black, ROWS, faint);
    return pixels;
}

/* ---- Checks on each device ---- */

/* Of the pictures that tvlm_select may call downsampling to k patches, one loses about what it says: how much
 * detail there is depends a little on which pictures are measured together. */
static void check_downsampled(tvlm_device *device, tvlm_format format) {
    enum { K = 30 };
    tvlm_picture pictures[TVLM_PICTURES_MAX];
    int32_t count = 0, same = 0;
    tvlm_selection_info info;
    tvlm_selection *selection = NULL;
    uint8_t *pixels = uneven(3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    const struct tvlm_select_params params = {.k = K, .patch = PATCH, .strategy = TVLM_STRATEGY_BUDGET};
    assert_int_equal(tvlm_select(stack, NULL, &params, &selection), TVLM_OK);
    assert_int_equal(tvlm_selection_get_info(selection, &info), TVLM_OK);
    for (int32_t columns = 3; columns <= 9; ++columns)
        for (int32_t rows = 3; rows <= 9; ++rows)
            if (columns * rows <= K && columns * rows > K - 8 && count < TVLM_PICTURES_MAX)
                pictures[count++] = (tvlm_picture){columns, rows};
    tvlm_prediction *prediction = predict(device, format, pixels, pictures, count);
    for (int32_t i = 0; i < count; ++i)
        same += fabsf(loss_of(prediction, i, NULL) - info.loss_downsampled) < 0.003f;
    assert_in_range(same, 1, 3);
    tvlm_prediction_destroy(&prediction);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    free(pixels);
}

/* A picture of one token loses all, the image itself nothing, and one that lies between what is between. */
static void check_sizes(tvlm_device *device, tvlm_format format) {
    static const tvlm_picture pictures[] = {{1, 1}, {4, 3}, {7, 5}, {COLUMNS, ROWS}, {40, 30}, {300, 200}};
    uint8_t *pixels = uneven(4);
    tvlm_prediction *prediction = predict(device, format, pixels, pictures, 6);
    assert_true(fabsf(loss_of(prediction, 0, NULL) - 1.0f) < 1e-5f);
    assert_true(loss_of(prediction, 1, NULL) < 0.999f);
    assert_true(loss_of(prediction, 2, NULL) < loss_of(prediction, 1, NULL));
    for (int32_t i = 3; i < 6; ++i) assert_true(loss_of(prediction, i, NULL) < 1e-6f);
    tvlm_prediction_destroy(&prediction);
    free(pixels);
}

static void check_kept(tvlm_device *device, tvlm_format format) {
    static const tvlm_picture pictures[] = {{COLUMNS, ROWS}, {10, 7}};
    uint8_t *pixels = uneven(5), kept[TOKENS], other[TOKENS];
    uint64_t random = 9;
    tvlm_prediction *prediction = predict(device, format, pixels, pictures, 2);
    for (int32_t index = 0; index < 2; ++index) {
        const int32_t tokens = pictures[index].columns * pictures[index].rows;
        assert_true(loss_with(prediction, index, tokens, NULL) == loss_of(prediction, index, NULL));
        assert_true(fabsf(loss_with(prediction, index, 0, NULL) - 1.0f) < 1e-4f);
        const float best = loss_with(prediction, index, tokens / 3, kept);
        assert_true(best == loss_of(prediction, index, kept));
        int32_t count = 0, inner = 0;
        for (int32_t i = 0; i < tokens; ++i) {
            const int32_t column = i % pictures[index].columns, last = pictures[index].columns - 1;
            count += kept[i];
            inner += kept[i] && column > last / 5 && column < last - last / 5;
        }
        assert_int_equal(count, tokens / 3);
        assert_true(inner >= count * 9 / 10); /* where there is most to see */
        for (int turn = 0; turn < 5; ++turn) {
            memset(other, 0, sizeof other);
            for (int32_t i = 0; i < tokens / 3;) {
                uint8_t *const one = &other[test_random(&random) % (uint64_t)tokens];
                i += !*one;
                *one = 1;
            }
            assert_true(loss_of(prediction, index, other) > best);
        }
    }
    tvlm_prediction_destroy(&prediction);
    free(pixels);
}

/* Paper need not be kept: what is around it shows what is there. Ink must be. */
static void check_blank(tvlm_device *device, tvlm_format format) {
    static const tvlm_picture pictures[] = {{COLUMNS, ROWS}};
    uint8_t *pixels = page(ROWS, 20), kept[TOKENS];
    tvlm_prediction *prediction = predict(device, format, pixels, pictures, 1);
    const float all = loss_of(prediction, 0, NULL);
    assert_true(all < 1e-6f);
    assert_true(loss_with(prediction, 0, INKED * ROWS, kept) == all);
    for (int32_t i = 0; i < TOKENS; ++i)
        assert_int_equal(kept[i], i % COLUMNS >= 1 && i % COLUMNS < 1 + INKED);
    kept[2] = 0;
    assert_true(loss_of(prediction, 0, kept) > 0.02f);
    tvlm_prediction_destroy(&prediction);
    free(pixels);
}

/* Text of 16 levels on white under a black heading looks blank, and yet it must be kept. */
static void check_faint(tvlm_device *device, tvlm_format format) {
    enum { BLACK = 1 };
    static const tvlm_picture pictures[] = {{COLUMNS, ROWS}};
    uint8_t *pixels = page(BLACK, 239), kept[TOKENS];
    tvlm_prediction *prediction = predict(device, format, pixels, pictures, 1);
    int32_t n = 0;
    assert_int_equal(tvlm_prediction_least(prediction, 0, 0.03f, &n), TVLM_OK);
    assert_in_range(n, INKED * ROWS / 2, TOKENS);
    assert_true(loss_with(prediction, 0, INKED * ROWS, kept) < 1e-6f);
    for (int32_t i = 0; i < TOKENS; ++i)
        assert_int_equal(kept[i], i % COLUMNS >= 1 && i % COLUMNS < 1 + INKED);
    assert_true(loss_with(prediction, 0, INKED * BLACK, NULL) > 0.03f);
    tvlm_prediction_destroy(&prediction);
    free(pixels);
}

/*
 * A line down the page, and one across the rows of tokens below it, on which a dot stands. Along them each token
 * repeats the one before, and the first is enough: but for the dot's, and for the one behind it.
 */
static void check_repeated(tvlm_device *device, tvlm_format format) {
    enum { DOWN = 3, ACROSS = 6, DOT = 8 };
    static const tvlm_picture pictures[] = {{COLUMNS, ROWS}};
    uint8_t *pixels = page(0, 255), kept[TOKENS], shown[TOKENS];
    for (int32_t y = 0; y < ACROSS * PATCH; ++y) memset(pixels + 3 * (y * WIDTH + DOWN * PATCH + 5), 0, 3);
    for (int32_t x = 0; x < WIDTH; ++x) memset(pixels + 3 * ((ACROSS * PATCH + 10) * WIDTH + x), 0, 3);
    for (int32_t i = 0; i < 9; ++i)
        memset(pixels + 3 * ((ACROSS * PATCH + 5 + i / 3) * WIDTH + DOT * PATCH + 6 + i % 3), 0, 3);
    tvlm_prediction *prediction = predict(device, format, pixels, pictures, 1);
    int32_t least = 0;
    assert_int_equal(tvlm_prediction_least(prediction, 0, 1e-6f, &least), TVLM_OK);
    /* Two beginnings, the dot's, and the one behind it. */
    assert_int_equal(least, 4);
    assert_true(loss_with(prediction, 0, least, kept) < 1e-6f);
    assert_int_equal(tvlm_prediction_shown(prediction, 0, kept, shown), TVLM_OK);
    for (int32_t row = 0; row < ROWS; ++row)
        for (int32_t column = 0; column < COLUMNS; ++column) {
            const bool down = column == DOWN && row < ACROSS, across = row == ACROSS;
            const bool begins =
                (down && row == 0) || (across && (column == 0 || column == DOT || column == DOT + 1));
            assert_int_equal(kept[row * COLUMNS + column], begins);
            assert_int_equal(shown[row * COLUMNS + column], begins   ? TVLM_TOKEN_KEPT
                                                            : down   ? TVLM_TOKEN_ABOVE
                                                            : across ? TVLM_TOKEN_LEFT
                                                                     : TVLM_TOKEN_BLANK);
        }
    /* The second of the line stands for those below it, but not for the first. */
    kept[DOWN] = 0;
    kept[COLUMNS + DOWN] = 1;
    const float without = loss_of(prediction, 0, kept);
    assert_true(without > 0.0f && without < 0.3f);
    assert_int_equal(tvlm_prediction_shown(prediction, 0, kept, shown), TVLM_OK);
    assert_int_equal(shown[DOWN], TVLM_TOKEN_LOST);
    assert_int_equal(shown[2 * COLUMNS + DOWN], TVLM_TOKEN_ABOVE);
    /* The first token of the longest line is worth all of it, more than the dot is. */
    (void)loss_with(prediction, 0, 1, kept);
    assert_int_equal(kept[ACROSS * COLUMNS], 1);
    assert_int_equal(tvlm_prediction_shown(prediction, 0, NULL, shown), TVLM_OK);
    for (int32_t i = 0; i < TOKENS; ++i) assert_int_equal(shown[i], TVLM_TOKEN_KEPT);
    tvlm_prediction_destroy(&prediction);
    free(pixels);
}

/* Where a line ends before a blank token something that is kept says where, however faint the line is. */
static void check_ends(tvlm_device *device, tvlm_format format) {
    enum { ROW = 4, FIRST = 2, LAST = 6 };
    static const tvlm_picture pictures[] = {{COLUMNS, ROWS}};
    static const uint8_t grays[] = {0, 128, 200};
    uint8_t kept[TOKENS], shown[TOKENS];
    for (size_t g = 0; g < sizeof grays; ++g)
        for (int down = 0; down < 2; ++down) {
            uint8_t *pixels = page(0, 255);
            for (int32_t i = FIRST * PATCH; i < (LAST + 1) * PATCH; ++i)
                memset(pixels + 3 * (down ? i * WIDTH + ROW * PATCH + 5 : (ROW * PATCH + 5) * WIDTH + i),
                       grays[g], 3);
            tvlm_prediction *prediction = predict(device, format, pixels, pictures, 1);
            int32_t least = 0;
            assert_int_equal(tvlm_prediction_least(prediction, 0, 1e-6f, &least), TVLM_OK);
            assert_true(loss_with(prediction, 0, least, kept) < 1e-6f);
            assert_int_equal(tvlm_prediction_shown(prediction, 0, kept, shown), TVLM_OK);
            for (int32_t i = FIRST; i <= LAST; ++i) {
                const int32_t token = down ? i * COLUMNS + ROW : ROW * COLUMNS + i;
                if (i == LAST) /* or the blank one behind, where the line would spoil its colour */
                    assert_true(kept[token] || kept[token + (down ? COLUMNS : 1)]);
                else
                    assert_int_equal(kept[token], i == FIRST);
                if (i > FIRST && i < LAST)
                    assert_int_equal(shown[token], down ? TVLM_TOKEN_ABOVE : TVLM_TOKEN_LEFT);
            }
            tvlm_prediction_destroy(&prediction);
            free(pixels);
        }
}

/* Hatchings of one mean and one range, side by side: none repeats another. Nor do the tokens of a code of dots. */
static void check_fine(tvlm_device *device, tvlm_format format) {
    enum { EACH = 3 };
    static const tvlm_picture pictures[] = {{COLUMNS, ROWS}};
    uint8_t *pixels = malloc(WIDTH * HEIGHT * 3), shown[TOKENS];
    static const uint8_t none[TOKENS];
    uint64_t random = 11;
    assert_non_null(pixels);
    for (int code = 0; code < 2; ++code) {
        for (int32_t y = 0; y < HEIGHT; ++y)
            for (int32_t x = 0; x < WIDTH; ++x) {
                const int32_t kind = x / (EACH * PATCH) % 4;
                const int32_t at = kind == 0 ? x + y : kind == 1 ? x - y + HEIGHT : kind == 2 ? x : y;
                const bool ink =
                    code ? (x / 2 + 3 * (y / 2) + (int32_t)(test_random(&random) % 2)) % 2 == 0 : at % 4 == 0;
                memset(pixels + 3 * (y * WIDTH + x), ink ? 0 : 255, 3);
            }
        tvlm_prediction *prediction = predict(device, format, pixels, pictures, 1);
        uint8_t kept[TOKENS];
        memset(kept, 1, sizeof kept);
        for (int32_t i = 0; i < TOKENS; ++i) {
            const int32_t column = i % COLUMNS, kind = column / EACH % 4;
            kept[i] = 0;
            assert_int_equal(tvlm_prediction_shown(prediction, 0, kept, shown), TVLM_OK);
            /* Only what stands, or lies, goes on; along the other direction it does not, nor do the slanted ones. */
            const bool repeats = !code && ((kind == 2 && i >= COLUMNS) || (kind == 3 && column % EACH > 0));
            assert_int_equal(shown[i] != TVLM_TOKEN_LOST, repeats);
            kept[i] = 1;
        }
        assert_true(loss_of(prediction, 0, none) > 0.9f);
        tvlm_prediction_destroy(&prediction);
    }
    free(pixels);
}

static void check_least(tvlm_device *device, tvlm_format format) {
    static const tvlm_picture pictures[] = {{COLUMNS, ROWS}, {7, 5}};
    static const float tolerances[] = {0.9f, 0.5f, 0.2f, 0.05f, 0.001f};
    uint8_t *pixels = uneven(6);
    int32_t n, before = 0;
    tvlm_prediction *prediction = predict(device, format, pixels, pictures, 2);
    for (size_t i = 0; i < sizeof tolerances / sizeof *tolerances; ++i) {
        assert_int_equal(tvlm_prediction_least(prediction, 0, tolerances[i], &n), TVLM_OK);
        assert_in_range(n, before, TOKENS);
        assert_true(loss_with(prediction, 0, n, NULL) <= tolerances[i]);
        assert_true(n == 0 || loss_with(prediction, 0, n - 1, NULL) > tolerances[i]);
        before = n;
    }
    assert_int_equal(tvlm_prediction_least(prediction, 1, 0.5f * loss_of(prediction, 1, NULL), &n), TVLM_OK);
    assert_int_equal(n, -1);
    tvlm_prediction_destroy(&prediction);
    free(pixels);
}

/* With an overview beside it, a picture without tokens loses what the overview does, and one with all of them
 * nothing. What is kept is what the overview shows worst, and without it all is as before. */
static void check_overview(tvlm_device *device, tvlm_format format) {
    static const tvlm_picture pictures[] = {{COLUMNS, ROWS}, {4, 3}, {1, 1}};
    enum { N = TOKENS / 4 };
    uint8_t *pixels = uneven(7), kept[TOKENS], alone[TOKENS];
    tvlm_prediction *prediction = predict(device, format, pixels, pictures, 3);
    const float before = loss_with(prediction, 0, N, alone), overview = loss_of(prediction, 1, NULL);
    assert_int_equal(tvlm_prediction_set_overview(prediction, 1), TVLM_OK);
    assert_true(fabsf(loss_with(prediction, 0, 0, NULL) - overview) < 1e-4f);
    assert_true(loss_of(prediction, 0, NULL) < 1e-6f);
    assert_true(fabsf(loss_of(prediction, 1, NULL) - overview) < 1e-6f);
    const float beside = loss_with(prediction, 0, N, kept);
    assert_true(beside < before && beside < overview);
    assert_true(beside <= loss_of(prediction, 0, alone)); /* the ranking is that of what the overview loses */
    int32_t few = 0, many = 0;
    assert_int_equal(tvlm_prediction_least(prediction, 0, 0.5f * overview, &few), TVLM_OK);
    assert_int_equal(tvlm_prediction_set_overview(prediction, -1), TVLM_OK);
    assert_int_equal(tvlm_prediction_least(prediction, 0, 0.5f * overview, &many), TVLM_OK);
    assert_true(few < many);
    assert_true(loss_with(prediction, 0, N, kept) == before);
    assert_memory_equal(kept, alone, TOKENS);
    /* A picture of one token is what there is beneath without an overview, too. */
    assert_int_equal(tvlm_prediction_set_overview(prediction, 2), TVLM_OK);
    assert_true(fabsf(loss_with(prediction, 0, N, NULL) - before) < 1e-4f);
    assert_int_equal(tvlm_prediction_set_overview(prediction, 3), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_prediction_set_overview(prediction, -2), TVLM_ERROR_ARGUMENT);
    tvlm_prediction_destroy(&prediction);
    free(pixels);
}

DEVICE_CHECKS(check_downsampled, check_sizes, check_kept, check_blank, check_faint, check_repeated,
              check_ends, check_fine, check_least, check_overview)

/* ---- Which tokens repeat another ---- */

typedef struct box {
    int32_t left, top, right, bottom;
} box;

static box pixels_of(int32_t column, int32_t row, int32_t columns, int32_t rows, int32_t wide, int32_t high) {
    return (box){column * wide / columns, row * high / rows, ((column + 1) * wide + columns - 1) / columns,
                 ((row + 1) * high + rows - 1) / rows};
}

/* Whether all pixels of a box are equal to the one at its left end (or, `down`, to the one at its upper end). */
static bool is_even(const float *rgba, int32_t wide, box b, bool down) {
    for (int32_t y = b.top; y < b.bottom; ++y)
        for (int32_t x = b.left; x < b.right; ++x)
            if (memcmp(rgba + 4 * (y * wide + x), rgba + 4 * (down ? b.top * wide + x : y * wide + b.left),
                       4 * sizeof *rgba) != 0)
                return false;
    return true;
}

/* Against what the header says, word for word: pixels that change seldom along rows, columns, or both. */
static void test_what_repeats(void **state) {
    enum { WIDE = 41, HIGH = 33 };
    static float rgba[WIDE * HIGH * 4];
    static uint8_t repeats[WIDE * HIGH];
    uint64_t random = 77;
    int32_t found[4] = {0};
    (void)state;
    for (int turn = 0; turn < 200; ++turn) {
        const uint64_t change = turn % 2 == 0 ? 40 : 400;
        for (int32_t i = 0; i < WIDE * HIGH; ++i) {
            const int32_t from = turn % 4 < 2 ? i - 1 : i - WIDE;
            const bool begins = turn % 4 < 2 ? i % WIDE == 0 : i < WIDE;
            if (begins)
                for (int c = 0; c < 4; ++c) rgba[4 * i + c] = (float)(test_random(&random) % 3);
            else
                memcpy(rgba + 4 * i, rgba + 4 * from, 4 * sizeof *rgba);
            if (test_random(&random) % change == 0)
                rgba[4 * i + (int32_t)(test_random(&random) % 4)] += 0.001f;
        }
        const int32_t columns = 2 + (int32_t)(test_random(&random) % 16),
                      rows = 2 + (int32_t)(test_random(&random) % 13);
        const bool small = columns > WIDE / 4 || rows > HIGH / 4;
        tvlm_repeated repeated;
        assert_true(tvlm_repeated_make(rgba, WIDE, HIGH, &repeated));
        tvlm_repeated_find(&repeated, columns, rows, repeats);
        for (int32_t i = 0; i < columns * rows; ++i) {
            const int32_t column = i % columns, row = i / columns;
            const box own = pixels_of(column, row, columns, rows, WIDE, HIGH);
            const box left = {pixels_of(column - 1, row, columns, rows, WIDE, HIGH).left, own.top, own.right,
                              own.bottom},
                      above = {own.left, pixels_of(column, row - 1, columns, rows, WIDE, HIGH).top, own.right,
                               own.bottom};
            const int expected =
                (!small && column > 0 && is_even(rgba, WIDE, left, false) ? TVLM_REPEATS_LEFT : 0) |
                (!small && row > 0 && is_even(rgba, WIDE, above, true) ? TVLM_REPEATS_ABOVE : 0);
            assert_int_equal(repeats[i], expected);
            ++found[expected];
        }
        tvlm_repeated_free(&repeated);
    }
    assert_true(found[0] > 1000 && found[1] > 300 && found[2] > 300);
}

/* Runs longer than two bytes hold: tokens of half as many texels each. */
static void test_long_runs(void **state) {
    enum { LONG = 140000 };
    float *const rgba = calloc(LONG, 4 * 4 * sizeof *rgba);
    uint8_t repeats[8];
    tvlm_repeated repeated;
    (void)state;
    assert_non_null(rgba);
    for (int down = 0; down < 2; ++down) {
        const int32_t wide = down ? 4 : LONG, high = down ? LONG : 4;
        assert_true(tvlm_repeated_make(rgba, wide, high, &repeated));
        tvlm_repeated_find(&repeated, down ? 1 : 8, down ? 8 : 1, repeats);
        for (int i = 0; i < 8; ++i)
            assert_int_equal(repeats[i], i == 0 ? 0 : down ? TVLM_REPEATS_ABOVE : TVLM_REPEATS_LEFT);
        tvlm_repeated_find(&repeated, down ? 1 : 2, down ? 2 : 1, repeats);
        assert_int_equal(repeats[1], 0); /* further than is counted */
        tvlm_repeated_free(&repeated);
    }
    free(rgba);
}

/* ---- Devices agree ---- */

static void on_each(const test_target *target, tvlm_device *reference) {
    static const tvlm_picture pictures[] = {{COLUMNS, ROWS}, {9, 6}};
    uint8_t *pixels = uneven(7), got[TOKENS], expected[TOKENS];
    tvlm_prediction *here = predict(target->device, target->format, pixels, pictures, 2),
                    *there = predict(reference, target->format, pixels, pictures, 2);
    for (int32_t index = 0; index < 2; ++index) {
        const int32_t tokens = pictures[index].columns * pictures[index].rows;
        int32_t differ = 0;
        const float difference =
            loss_with(here, index, tokens / 2, got) - loss_with(there, index, tokens / 2, expected);
        assert_true(fabsf(difference) < 1e-3f);
        for (int32_t i = 0; i < tokens; ++i) differ += got[i] != expected[i];
        assert_true(differ <= (target->format == TVLM_FORMAT_F16 ? 4 : 0));
    }
    tvlm_prediction_destroy(&here);
    tvlm_prediction_destroy(&there);
    free(pixels);
}

static void test_devices_agree(void **state) {
    (void)state;
    if (test_for_each_target(on_each) == 0) skip();
}

/* ---- Refusals ---- */

static void test_refusals(void **state) {
    static const tvlm_picture good[] = {{4, 3}}, none[] = {{4, 3}, {0, 3}}, huge[] = {{4, 4097}};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, 64, 48, 1);
    tvlm_prediction *p = NULL;
    float loss;
    int32_t n;
    uint8_t shown[12];
    (void)state;
    assert_int_equal(tvlm_predict(NULL, NULL, by_patch, good, 1, &p), TVLM_ERROR_ARGUMENT);
    refused(tvlm_predict(stack, NULL, by_patch, NULL, 1, &p), TVLM_ERROR_ARGUMENT, "pictures is NULL");
    refused(tvlm_predict(stack, NULL, by_patch, good, 1, NULL), TVLM_ERROR_ARGUMENT, "prediction is NULL");
    refused(tvlm_predict(stack, NULL, by_patch, good, 0, &p), TVLM_ERROR_ARGUMENT,
            "0 pictures; it must be 1 to 32");
    refused(tvlm_predict(stack, NULL, by_patch, good, 33, &p), TVLM_ERROR_ARGUMENT, "33 pictures");
    refused(tvlm_predict(stack, NULL, by_patch, none, 2, &p), TVLM_ERROR_ARGUMENT,
            "picture 1 is 0 x 3 tokens");
    refused(tvlm_predict(stack, NULL, by_patch, huge, 1, &p), TVLM_ERROR_ARGUMENT,
            "picture 0 is 4 x 4097 tokens");
    refused(tvlm_predict(stack, NULL, tvlm_select_params(.patch = 2), good, 1, &p), TVLM_ERROR_ARGUMENT,
            "a patch of 2 pixels");
    refused(tvlm_predict(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID), good, 1, &p),
            TVLM_ERROR_ARGUMENT, "of the strategy budget");
    refused(tvlm_predict(stack, NULL, tvlm_select_params(.score = {.index = 1}), good, 1, &p),
            TVLM_ERROR_ARGUMENT, "1");
    assert_null(p);
    assert_int_equal(tvlm_predict(stack, NULL, NULL, good, 1, &p), TVLM_OK);
    assert_int_equal(tvlm_prediction_loss(NULL, 0, NULL, &loss), TVLM_ERROR_ARGUMENT);
    refused(tvlm_prediction_loss(p, 0, NULL, NULL), TVLM_ERROR_ARGUMENT, "loss is NULL");
    refused(tvlm_prediction_loss(p, 1, NULL, &loss), TVLM_ERROR_ARGUMENT, "picture 1 of a prediction of 1");
    refused(tvlm_prediction_keep(p, -1, 1, NULL, &loss), TVLM_ERROR_ARGUMENT, "picture -1");
    refused(tvlm_prediction_keep(p, 0, 13, NULL, &loss), TVLM_ERROR_ARGUMENT, "13 of 12 tokens");
    refused(tvlm_prediction_keep(p, 0, -1, NULL, &loss), TVLM_ERROR_ARGUMENT, "-1 of 12 tokens");
    refused(tvlm_prediction_shown(p, 0, NULL, NULL), TVLM_ERROR_ARGUMENT, "shown is NULL");
    refused(tvlm_prediction_shown(p, 2, NULL, shown), TVLM_ERROR_ARGUMENT, "picture 2 of a prediction of 1");
    assert_int_equal(tvlm_prediction_shown(NULL, 0, NULL, shown), TVLM_ERROR_ARGUMENT);
    refused(tvlm_prediction_least(p, 0, 1.5f, &n), TVLM_ERROR_ARGUMENT, "a tolerance of 1.5");
    refused(tvlm_prediction_least(p, 0, NAN, &n), TVLM_ERROR_ARGUMENT, "a tolerance of");
    refused(tvlm_prediction_least(p, 0, 0.5f, NULL), TVLM_ERROR_ARGUMENT, "n is NULL");
    tvlm_prediction_destroy(&p);
    assert_null(p);
    tvlm_prediction_destroy(&p);
    tvlm_prediction_destroy(NULL);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* The most pictures and tokens, all and none of them kept, and the first and last tolerance. */
static void test_limits(void **state) {
    static const tvlm_picture long_ones[] = {{4096, 1}, {1, 4096}}, beyond[] = {{4097, 1}, {1, 4097}, {1, 0}};
    tvlm_picture many[TVLM_PICTURES_MAX];
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, 64, 48, 1);
    tvlm_prediction *p = NULL;
    float all, none, whole, loss, lost[7];
    int32_t n;
    (void)state;
    for (int i = 0; i < TVLM_PICTURES_MAX; ++i) many[i] = (tvlm_picture){1 + i % 4, 1 + i / 4 % 3};
    assert_int_equal(tvlm_predict(stack, NULL, NULL, many, TVLM_PICTURES_MAX, &p), TVLM_OK);
    assert_int_equal(tvlm_prediction_loss(p, TVLM_PICTURES_MAX - 1, NULL, &loss), TVLM_OK);
    refused(tvlm_prediction_loss(p, TVLM_PICTURES_MAX, NULL, &loss), TVLM_ERROR_ARGUMENT,
            "picture 32 of a prediction of 32");
    tvlm_prediction_destroy(&p);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(tvlm_predict(stack, NULL, NULL, &long_ones[i], 1, &p), TVLM_OK);
        tvlm_prediction_destroy(&p);
    }
    for (int i = 0; i < 3; ++i)
        refused(tvlm_predict(stack, NULL, NULL, &beyond[i], 1, &p), TVLM_ERROR_ARGUMENT,
                "each must be 1 to 4096");
    assert_int_equal(tvlm_predict(stack, NULL, NULL, &(tvlm_picture){3, 2}, 1, &p), TVLM_OK);
    assert_int_equal(tvlm_prediction_loss(p, 0, NULL, &whole), TVLM_OK);
    assert_int_equal(tvlm_prediction_keep(p, 0, 6, NULL, &all), TVLM_OK);
    assert_int_equal(tvlm_prediction_keep(p, 0, 0, NULL, &none), TVLM_OK);
    assert_true(all == whole && all > 0.0f && none > all);
    /* What a number of tokens loses is a tolerance that it meets, as the first that does. */
    for (int32_t k = 0; k <= 6; ++k) assert_int_equal(tvlm_prediction_keep(p, 0, k, NULL, &lost[k]), TVLM_OK);
    for (int32_t k = 0; k <= 6; ++k) {
        int32_t first = k;
        while (first > 0 && lost[first - 1] <= fminf(lost[k], 1.0f)) --first;
        assert_int_equal(tvlm_prediction_least(p, 0, fminf(lost[k], 1.0f), &n), TVLM_OK);
        assert_int_equal(n, first);
    }
    assert_int_equal(tvlm_prediction_least(p, 0, 1.0f, &n), TVLM_OK);
    assert_int_equal(tvlm_prediction_least(p, 0, 0.0f, &n), TVLM_OK);
    assert_int_equal(n, -1);
    refused(tvlm_prediction_least(p, 0, 1.0000001f, &n), TVLM_ERROR_ARGUMENT, "a tolerance of 1");
    refused(tvlm_prediction_least(p, 0, -1e-30f, &n), TVLM_ERROR_ARGUMENT, "a tolerance of -1e-30");
    tvlm_prediction_destroy(&p);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_f32), cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),       cmocka_unit_test(test_devices_agree),
        cmocka_unit_test(test_what_repeats),  cmocka_unit_test(test_long_runs),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
